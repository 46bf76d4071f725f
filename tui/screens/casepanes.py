"""A case as a sealed rater sees it: what is drawn, and how one moves through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content

from store.records import CaseView, PathView
from tui import wording
from tui.caselist import CaseList
from tui.pathlines import answer_title, path_rows
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import ActiveClock, Session
from tui.text import safe
from tui.walk import Place, next_open, path_at, place_of, places
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Guide, Pane, Paragraph

T = TypeVar("T")
SIDES = ("A", "B")
PATIENCE = 0.4
"""Seconds after which a write is said to be waiting."""


class CasePanes(WorkScreen):
    """Two sides of a case. It holds a `CaseView` and nothing else: it cannot show what is sealed."""

    NAME = "case"

    def __init__(self, session: Session, cases: CaseList, case_id: int) -> None:
        super().__init__(session)
        self.cases = cases
        self.case_id = case_id
        self.case: CaseView | None = None
        self.place = Place(0, 0)
        self.clock = ActiveClock()
        self.changing = False
        self.finished = False
        self.marks: dict[int, int | None] = {}
        self._cursors: dict[int, int] = {}

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        with Columns(id="sides"):
            yield Lines(id="side-0", classes="side")
            yield Lines(id="side-1", classes="side")
            with Pane(id="guide-pane"):
                yield Guide(self.session.schema.guideline, id="guide")
        yield Line(id="message")
        yield Line(id="prompt")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#guide-pane", Pane).border_title = "guideline"
        await self.open(self.case_id)

    def on_key(self, _event: events.Key) -> None:
        self.clock.tick()

    # -- what is shown

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        """Show a case, at an item or at the first path without a decision."""
        case = await self.attempt(lambda: self._read(case_id))
        if case is None:
            return False
        self.case, self.case_id = case, case_id
        self.changing = self.finished = False
        self.cases.find(case_id)
        wanted = place_of(case, item_id) if item_id is not None else next_open(case, None)
        self.place = wanted or Place(0, 0)
        self.clock.start()
        self.draw()
        self.say_state()
        return True

    def _read(self, case_id: int) -> CaseView:
        return self.session.store.case(case_id, self.session.rater.id, self.session.schema)

    async def attempt(self, act: Callable[[], T], *, write: bool = False) -> T | None:
        try:
            return await (self.written(act) if write else self.session.read(act))
        except Exception as problem:  # shown with its cause; the state stays for another try
            self.fail(problem)
            return None

    async def written(self, act: Callable[[], T]) -> T:
        """Wait for a write's commit; say so when it takes long, as behind another's lock."""
        waiting = self.set_timer(
            PATIENCE, lambda: self.say("not saved yet: waiting for the disk …")
        )
        try:
            return await self.session.write(act)
        finally:
            waiting.stop()

    @property
    def path(self) -> PathView | None:
        """The path that a label goes to."""
        return None if self.case is None else path_at(self.case, self.place)

    def lines(self) -> Lines:
        return self.query_one(f"#side-{self.place.side}", Lines)

    def draw(self) -> None:
        case = self.case
        if case is None:
            return
        self._draw_top(case)
        self.query_one("#question", Paragraph).show(
            Content.styled(" Q  ", "bold"), _question(case), more="… (r: all)"
        )
        for side in (0, 1):
            self._draw_side(case, side)
        self._draw_prompt(case)

    def _draw_top(self, case: CaseView) -> None:
        row = self.cases.row
        if row is not None and row.case_id == case.case_id:
            show = self.cases.query.show
            place = f"case {row.position:,}/{self.cases.snapshot.page.total:,}"
            place += "" if show == "all" else f" {show}"
        else:
            place = "case outside the list"
        seal = "revealed" if case.revealed else f"sealed: {case.seal}"
        saved = self.session.saved_at
        when = "" if saved is None else f"   ● saved {wording.clock(saved)}"
        if self.session.unsaved:
            when = "   ○ NOT SAVED"
        self.query_one("#top", Line).show(breadcrumb(case.dataset, place), f"{seal}{when} ")

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
        wrong = self.wrong_step(path)
        cursor = self._cursors.get(path.item_id, 0) if path.steps else None
        lines.show(
            lambda width: path_rows(path, width, wrong=wrong), cursor=cursor, key=path.item_id
        )

    def _subtitle(self, path: PathView, turn: int, n: int) -> Content:
        text = Content(f"path {turn + 1} of {n} · ") + wording.label(path.label)
        if path.issues:
            text = text + Content(f" · △{len(path.issues)}")
        return text

    def wrong_step(self, path: PathView) -> int | None:
        if path.item_id in self.marks:
            return self.marks[path.item_id]
        return None if path.label is None else path.label.first_wrong_step

    def _draw_prompt(self, case: CaseView) -> None:
        prompt = self.query_one("#prompt", Line)
        n = len(case.paths)
        if case.n_left == 0 and not self.changing:
            look = "b look again" if case.revealed else "b reveal the judge"
            parts = [(f" all {n} labelled: ", ""), ("enter", "bold"), (" next case   ", "")]
            prompt.show(Content.assemble(*parts, (look[0], "bold"), look[1:]))
            return
        choices = Content("   ").join(
            Content.styled(str(i), "bold") + Content(" ") + safe(c.name)
            for i, c in enumerate(self.session.schema.categories, start=1)
        )
        asked = Content.styled(f" {SIDES[self.place.side]}: ", "bold")
        prompt.show(asked + safe(self.session.schema.question) + Content("   ") + choices)
        prompt.shorten(asked + choices)

    def say_state(self) -> None:
        """Say how the path in hand stands, and what is left."""
        case, path = self.case, self.path
        if case is None:
            return
        if path is None:
            self.say("this case has no paths")
            return
        mark = self.marks.get(path.item_id)
        text = Content("")
        if mark is not None:
            text = Content(f"step {mark} is marked first wrong: now the digit")
        elif path.label is not None and path.label.note:
            text = Content("comment: ") + safe(path.label.note)
        self.say(text, self.left(case))

    def left(self, case: CaseView) -> str:
        if case.revealed_elsewhere and case.n_left:
            return f"{case.n_left} left · seen in another pool: labels count as after the reveal "
        if case.n_left:
            return f"{case.n_left} of {len(case.paths)} to label, then b reveals "
        return ""

    # -- moving

    def action_move(self, by: int) -> None:
        super().action_move(by)
        self._remember()

    def action_page(self, by: int) -> None:
        super().action_page(by)
        self._remember()

    def action_top(self) -> None:
        super().action_top()
        self._remember()

    def action_bottom(self) -> None:
        super().action_bottom()
        self._remember()

    def _remember(self) -> None:
        cursor, path = self.lines().cursor, self.path
        if cursor is not None and path is not None:
            self._cursors[path.item_id] = cursor

    def go(self, place: Place) -> None:
        self.place = place
        self.finished = False
        self.clock.start()
        self.draw()
        self.say_state()

    def action_other(self) -> None:
        case = self.case
        if case is None:
            return
        side = 1 - self.place.side
        if case.sides[side]:
            self.go(Place(self._shown_turn(case, side), side))

    def action_turn(self, by: int) -> None:
        case = self.case
        if case is None:
            return
        turns = max(len(side) for side in case.sides)
        turn = self.place.turn + by
        if not 0 <= turn < turns:
            self.refuse("these are the last paths" if by > 0 else "these are the first paths")
            return
        order = [p for p in places(case) if p.turn == turn]
        same = [p for p in order if p.side == self.place.side]
        self.go((same or order)[0])

    def on_lines_picked(self, message: Lines.Picked) -> None:
        case = self.case
        side = 1 if message.lines.id == "side-1" else 0
        if case is None or not case.sides[side]:
            return
        if side != self.place.side:
            self.go(Place(self._shown_turn(case, side), side))
        if message.item is not None:
            self.lines().select(message.item)
            self._remember()

    async def action_next_case(self) -> None:
        await self.step(1)

    async def action_previous_case(self) -> None:
        await self.step(-1)

    async def step(self, by: int) -> None:
        try:
            row = await self.session.read(lambda: self.cases.step(by))
        except Exception as problem:
            self.fail(problem)
            return
        if row is None:
            self.refuse("this is the last case of the list" if by > 0 else "this is the first case")
            return
        await self.open(row.case_id)

    async def action_go_on(self) -> None:
        """Go to what needs a label next, on this case, else on the next one."""
        if self.case is None:
            return
        left = next_open(self.case, self.place)
        if left is not None:
            if left != self.place:
                self.go(left)
            else:
                self.refuse("this path has no label yet: n leaves the case as it is")
            return
        await self.next_waiting()

    async def next_waiting(self) -> None:
        """Open the next case of the list; at its end, one that was left out before."""
        row = await self.attempt(lambda: self.cases.step(1))
        if row is not None:
            await self.open(row.case_id)
            return
        store, rater = self.session.store, self.session.rater.id
        query = replace(self.cases.query, show="unlabelled", search="")
        rest = CaseList(store, rater, query)
        snapshot = await self.attempt(rest.read)
        if snapshot is None:
            return
        if not snapshot.page.rows:
            self.say("that was the last case: every case of this row is labelled. esc goes back")
            return
        self.cases.take(snapshot)
        await self.open(snapshot.page.rows[0].case_id)
        self.say(f"end of the list; {wording.count(snapshot.page.total, 'case')} left out before")


def _question(case: CaseView) -> Content:
    text = safe(case.question)
    if case.options:
        return text + Content(" ") + safe(f"(options: {_options(case.options)})")
    return text


def _options(options: object) -> str:
    if isinstance(options, dict):
        return "; ".join(f"{k}) {v}" for k, v in options.items())
    if isinstance(options, list):
        return "; ".join(str(o) for o in options)
    return str(options)
