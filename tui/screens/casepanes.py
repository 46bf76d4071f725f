"""A case as a sealed rater sees it: what is drawn, and how one moves through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from textual import events, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from store.records import CaseView, LabelRecord, PathView, SchemaRecord
from tui import wording
from tui.actions import footer_of
from tui.caselist import CaseList
from tui.pace import pace_forms
from tui.pathlines import (
    WRONG,
    answer_title,
    path_rows,
    place_name,
)
from tui.resume import Stop
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import ActiveClock, Session
from tui.steplabels import step_mark
from tui.text import cells, safe
from tui.walk import SIDES, Place, name_of, next_open, path_at, place_of
from tui.widgets.bars import Keys, Line, Status
from tui.widgets.labelbar import LabelBar
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Guide, Pane, Paragraph

WIDE = 110
"""Columns from which there is a third pane."""
SEALS = {"full": "sealed: full", "judge": "sealed: judge", "open": "open: nothing sealed"}


@dataclass(frozen=True, slots=True)
class Target:
    """What a digit labels: an item, under which schema, how it stands, what it is called."""

    item_id: int
    schema: SchemaRecord
    label: LabelRecord | None
    name: str


@dataclass(frozen=True, slots=True)
class CaseRead:
    """A case with the rater's own labels on the steps of its paths, by item and step."""

    case: CaseView
    steps: dict[int, dict[int, LabelRecord]]


class CasePanes(WorkScreen):
    """Two sides of a case.

    It holds a `CaseView` and labels of the rater's own, so it cannot show what is sealed. What a
    lower seal level allows beside it is held by the widgets of `context_widgets` alone.
    """

    NAME = "case"

    def __init__(
        self, session: Session, cases: CaseList, case_id: int | None, stop: Stop | None = None
    ) -> None:
        """`case_id` None makes the screen ahead of its first case (see `tui.screens.keeping`)."""
        super().__init__(session)
        self.cases = cases
        self.case_id = case_id or 0
        self._stop = stop
        self.over_list = True
        self.clear()

    def clear(self) -> None:
        """Forget whatever belongs to the cases that were shown."""
        self.case: CaseView | None = None
        self.place = Place(0, 0)
        self.clock = ActiveClock()
        self.changing = False
        self.finished = False
        self.marks: dict[int, int | None] = {}
        self.steps: dict[int, dict[int, LabelRecord]] = {}
        self._cursors: dict[int, int] = {}
        self._spent: dict[int, float] = {}
        """Active seconds on paths that were left before a label was saved."""

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        yield from self.above()
        with Columns(id="sides"):
            yield Lines(id="side-0", classes="side")
            yield Lines(id="side-1", classes="side")
            yield from self.beside()
        yield Status(id="message")
        yield LabelBar(id="prompt")
        yield Keys(id="keys")

    def above(self) -> Iterator[Widget]:
        """Yield what stands between the question and the sides."""
        return iter(())

    def beside(self) -> Iterator[Widget]:
        """Yield what stands beside the sides on a wide terminal."""
        yield Pane(id="guide-pane")

    async def on_mount(self) -> None:
        for pane in self.query("#guide-pane"):
            pane.border_title = "guideline"
        if self.case_id:
            await self.open_first(self.case_id, self._stop)

    async def open_first(self, case_id: int, stop: Stop | None) -> bool:
        """Show the case one comes to from a list: where the rater goes on, if that is known."""
        return await self.open(case_id) if stop is None else await self.open_at(stop)

    async def reopen(self, cases: CaseList, case_id: int, stop: Stop | None) -> bool:
        """Show a case of another list on a screen that was left; False when it cannot be read."""
        self.cases = cases
        self.clear()
        self.show_footer(self.mode)
        self.show_guide(self.session.schema)
        return await self.open_first(case_id, stop)

    def on_screen_resume(self) -> None:
        if self.case is not None:
            self.show_pace()

    def on_resize(self, _event: events.Resize) -> None:
        self.show_guide(self.session.schema)

    def show_guide(self, schema: SchemaRecord) -> None:
        """Show a schema's guideline beside the sides, where there is room; made on first use."""
        for pane in self.query("#guide-pane"):
            if self.app.size.width < WIDE:
                continue
            known = [guide for guide in pane.query(Guide) if guide.name == schema.name]
            for guide in pane.query(Guide):
                guide.display = guide in known
            if not known:
                pane.mount(Guide(schema.guideline, name=schema.name))

    def on_key(self, _event: events.Key) -> None:
        self.clock.tick()

    # -- what is shown

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        """Show a case, at an item or at the first path without a decision."""
        read = await self.attempt(lambda: self._read(case_id))
        if read is None:
            return False
        self.stop_clock()
        case = self.case = read.case
        self.case_id, self.steps = case_id, read.steps
        self.changing = False
        self.finished = item_id is None and case.n_left == 0
        self.cases.find(case_id)
        wanted = place_of(case, item_id) if item_id is not None else next_open(case, None)
        self.place = wanted or Place(0, 0)
        self.start_clock()
        self.draw()
        self.say_state()
        self.read_pace()
        return True

    async def open_at(self, stop: Stop) -> bool:
        """Show a case where the rater goes on."""
        return await self.open(stop.case_id, item_id=stop.item_id)

    def start_clock(self) -> None:
        """Count the seconds of the path in hand, on from those it took before."""
        path = self.path
        self.clock.start(0.0 if path is None else self._spent.pop(path.item_id, 0.0))

    def stop_clock(self) -> None:
        """Keep the seconds of the path in hand, which is left, for when it is come back to."""
        path = self.path
        if path is not None:
            self._spent[path.item_id] = self.clock.read()

    def _read(self, case_id: int) -> CaseRead:
        store, rater = self.session.store, self.session.rater.id
        case = store.case(case_id, rater, self.session.schema)
        if self.session.step_schema is None:
            return CaseRead(case, {})
        steps = store.step_labels_of(rater, [p.item_id for p in case.paths])
        return CaseRead(case, steps)

    def read_pace(self) -> None:
        """Bring the pace up to date, once the answer to the key is on the screen."""
        self.call_after_refresh(self._read_pace)

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def _read_pace(self) -> None:
        try:
            self.session.pace = await self.session.read(self.session.read_pace)
        except Exception:  # a figure on the side is not worth a message; the next one comes
            self.session.pace = None
        self.show_pace()

    def show_pace(self) -> None:
        sitting, pace = self.session.sitting, self.session.pace
        mark = "" if sitting is None else sitting.mark
        forms = (mark,) if pace is None else pace_forms(replace(pace, session=mark))
        self.query_one("#message", Status).quiet(forms)

    @property
    def path(self) -> PathView | None:
        """The path that a label goes to."""
        return None if self.case is None else path_at(self.case, self.place)

    @property
    def target(self) -> Target | None:
        """What a digit labels."""
        path = self.path
        if path is None:
            return None
        return Target(path.item_id, self.session.schema, path.label, name_of(self.place))

    def lines(self) -> Lines:
        return self.query_one(f"#side-{self.place.side}", Lines)

    def draw(self) -> None:
        case = self.case
        if case is None:
            return
        self._draw_top(case)
        for side in (0, 1):
            self._draw_side(case, side)
        self._draw_prompt(case)

    def _draw_top(self, case: CaseView) -> None:
        row = self.cases.row
        listed = ""
        if row is None or self.outside:
            place = "outside the list"
        else:
            place = f"case {row.position:,} of {self.cases.snapshot.page.total:,}"
            listed = f" · list: {self.cases.query.show}"
        seal = "revealed" if case.revealed and case.seal != "open" else SEALS[case.seal]
        saved = self.session.saved_at
        when = "" if saved is None else f"   ● saved {wording.clock(saved)}"
        if self.unsaved:
            when = "   ○ not saved yet"
        if self.session.unsaved:
            when = "   ○ NOT SAVED"
        right, left = f"{seal}{when} ", breadcrumb(case.dataset, place + listed)
        if cells(left) + cells(Content(right)) >= self.app.size.width:
            left = breadcrumb(case.dataset, place)
        self.query_one("#top", Line).show(left, right)

    @property
    def unsaved(self) -> bool:
        """Whether something was keyed in that is saved later: by a digit, or when the path is left."""
        return self.path is not None and self.path.item_id in self.marks

    @property
    def outside(self) -> bool:
        """Whether the case on the screen is none of the list."""
        row = self.cases.row
        return row is None or row.case_id != self.case_id

    def fail(self, problem: BaseException) -> None:
        super().fail(problem)
        if self.case is not None:
            self._draw_top(self.case)

    def _shown_turn(self, case: CaseView, side: int) -> int:
        return min(self.place.turn, len(case.sides[side]) - 1)

    def _draw_side(self, case: CaseView, side: int) -> None:
        lines = self.query_one(f"#side-{side}", Lines)
        name = SIDES[side]
        here = side == self.place.side
        lines.set_class(here, "-here")
        lines.active = here
        paths = case.sides[side]
        if not paths:
            lines.border_title = Content(name)
            lines.border_subtitle = Content("no path")
            lines.show(lambda width: [])
            return
        path = paths[self._shown_turn(case, side)]
        mark = "▸ " if here else ""
        lines.border_title = Content.assemble(mark, (name, "bold"), " · ") + answer_title(path)
        lines.border_subtitle = self._subtitle(path, self._shown_turn(case, side), len(paths))
        wrong, pending = self.wrong_step(path), path.item_id in self.marks
        cursor = self._cursors.get(path.item_id, 0) if path.steps else None
        marks = self.step_marks(path)
        lines.show(
            lambda width: path_rows(path, width, wrong=wrong, marks=marks, pending=pending),
            cursor=cursor,
            key=path.item_id,
        )

    def step_marks(self, path: PathView) -> Mapping[int, Content]:
        """Return the one-cell marks of the steps that carry a label of the rater's."""
        schema = self.session.step_schema
        labels = self.steps.get(path.item_id, {})
        return {} if schema is None else {i: step_mark(r, schema) for i, r in labels.items()}

    def standing(self, path: PathView) -> Content:
        """Return how a path stands, in words."""
        return wording.label(path.label)

    def _subtitle(self, path: PathView, turn: int, n: int) -> Content:
        text = Content(f"path {turn + 1} of {n} · ")
        if path.item_id in self.marks:
            text = text + Content(f"○{WRONG}{_or_none(self.marks[path.item_id])} · ")
        text = text + self.standing(path)
        if self._commented(path):
            text = text + Content(" · ✎")
        if path.issues:
            text = text + Content(f" · △{len(path.issues)}")
        return text

    def _commented(self, path: PathView) -> bool:
        """Return whether the rater wrote a comment on the path or on a step of it."""
        labels = [path.label, *self.steps.get(path.item_id, {}).values()]
        return any(label is not None and label.note for label in labels)

    def wrong_step(self, path: PathView) -> int | None:
        if path.item_id in self.marks:
            return self.marks[path.item_id]
        return None if path.label is None else path.label.first_wrong_step

    def _draw_prompt(self, case: CaseView) -> None:
        prompt = self.query_one("#prompt", LabelBar)
        if self.finished and not self.changing:
            look = "look again" if case.revealed else "reveal the judge"
            said = Content(f" all {len(case.paths)} labelled: ") + _bold("enter") + " next case"
            prompt.show(said if case.seal == "open" else said + "   " + _bold("b") + f" {look}")
            return
        prompt.ask(self.session.schema, SIDES[self.place.side], self.chosen())

    def chosen(self) -> tuple[str, ...]:
        """Return the categories that are taken on the path in hand, where several may be."""
        path = self.path
        if path is None or path.label is None or not self.session.schema.multi:
            return ()
        return path.label.categories

    def show_footer(self, mode: str) -> None:
        """Show the keys of the case or of its steps."""
        self.query_one("#keys", Keys).show_keys(footer_of(mode))

    def say_state(self) -> None:
        """Say how the path in hand stands, and what is left."""
        case, path = self.case, self.path
        if case is None:
            return
        self.say("this case has no paths" if path is None else self.state(case, path))

    def state(self, case: CaseView, path: PathView) -> Content:
        """Return what is worth knowing about the path in hand."""
        mark = self.marks.get(path.item_id)
        if mark is not None:
            return Content(f"{place_name(path, mark)} is marked first wrong: now the digit")
        if path.label is not None and path.label.at_odds:
            return Content("≠ your label ") + wording.at_odds(path.label)
        if path.label is not None and path.label.note:
            return Content("comment: ") + safe(path.label.note)
        return Content(self.left(case))

    def left(self, case: CaseView) -> str:
        if case.revealed_elsewhere and case.n_left:
            return f"{case.n_left} left · seen already: labels count as after the reveal"
        return f"{case.n_left} of {len(case.paths)} to label" if case.n_left else ""


def _or_none(step: int | None) -> str:
    return wording.NONE if step is None else str(step)


def _bold(text: str) -> Content:
    return Content.styled(text, "bold")
