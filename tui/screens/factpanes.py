"""A decomposed trace as its rater sees it: what is drawn, and how one moves through it."""

from __future__ import annotations

from dataclasses import replace

from textual import work
from textual.app import ComposeResult
from textual.content import Content

from store.model_records import CriterionView, DecompositionView
from store.records import LabelRecord, SchemaRecord
from tui import wording
from tui.factlines import asking, criterion_name, fact_rows, heads, made_by, standing
from tui.pace import Pace, pace_forms
from tui.pathlines import question_lines
from tui.samplelist import SampleList, next_waiting
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.casepanes import Target
from tui.screens.sheets import InFullScreen
from tui.session import ActiveClock, Session
from tui.text import safe
from tui.widgets.bars import Keys, Line, Status
from tui.widgets.labelbar import LabelBar
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Pane, Paragraph, Stack


class FactPanes(WorkScreen):
    """Steps beside their facts, and the criteria to label.

    It holds a `DecompositionView`, in which there is nobody's label but the rater's own, so it
    cannot show a judge's.
    """

    NAME = "facts"

    def __init__(
        self, session: Session, sample: SampleList, schema: SchemaRecord, trace_id: int
    ) -> None:
        super().__init__(session)
        self.sample = sample
        self.schema = schema
        self.trace_id = trace_id
        self.view: DecompositionView | None = None
        self.at = 0
        self.finished = False
        self.clock = ActiveClock()
        self.own = sample.sample.progress
        self._drawn: int | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        with Columns(id="sides"):
            with Stack():
                yield Lines(id="columns")
                yield Lines(id="lines")
            yield Pane(id="guide-pane")
        yield Line(id="criteria")
        yield Status(id="message")
        yield LabelBar(id="prompt")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#guide-pane", Pane).border_title = "guideline"
        await self.open(self.trace_id)

    # -- what is shown

    async def open(self, trace_id: int, *, item_id: int | None = None) -> bool:
        """Show a trace, at an item or at the first criterion without a decision."""
        store, rater, made = self.session.store, self.session.rater.id, self.decomposition_id
        view = await self.attempt(
            lambda: store.decomposition_view(made, trace_id, rater, self.schema.name)
        )
        if view is None:
            return False
        self.view, self.trace_id = view, trace_id
        self.sample.find(trace_id)
        places = [i for i, c in enumerate(view.criteria) if c.item_id == item_id]
        wanted = places[0] if places else self.next_open(-1)
        self.finished = wanted is None
        self.at = wanted or 0
        self.clock.start()
        self.draw()
        self.say_state()
        self.read_pace()
        return True

    @property
    def decomposition_id(self) -> int:
        """Which decomposition is labelled."""
        return self.sample.sample.decomposition.id

    @property
    def criterion(self) -> CriterionView | None:
        """The criterion that a label goes to."""
        criteria = () if self.view is None else self.view.criteria
        return criteria[self.at] if self.at < len(criteria) else None

    @property
    def target(self) -> Target | None:
        """What a digit labels."""
        c = self.criterion
        if c is None:
            return None
        return Target(c.item_id, self.schema, c.label, criterion_name(c.criterion))

    def next_open(self, here: int) -> int | None:
        """Return the next criterion without a decision, from the first again at the end."""
        criteria = () if self.view is None else self.view.criteria
        order = [*range(here + 1, len(criteria)), *range(min(max(here, 0), len(criteria)))]
        waits = (i for i in order if not _decided(criteria[i].label))
        return next(waits, None)

    def draw(self) -> None:
        view = self.view
        if view is None:
            return
        self._draw_top(view)
        self.query_one("#question", Paragraph).show(
            Content.styled(" Q  ", "bold"),
            safe(view.question, newlines=True),
            limit=question_lines(self.app.size.height),
            more="… (r: all)",
        )
        self.query_one("#columns", Lines).show(lambda width: heads(view, width))
        lines = self.lines()
        cursor = lines.cursor if lines.cursor is not None else 0
        same = self.trace_id == self._drawn
        n_items = len(view.steps) + len(view.invented)
        lines.show(
            lambda width: fact_rows(view, width),
            cursor=(cursor if same else 0) if n_items else None,
            key=self.trace_id,
        )
        self._drawn = self.trace_id
        told = standing(view.criteria, -1 if self.finished else self.at, self.size.width)
        self.query_one("#criteria", Line).show(told)
        self._draw_prompt()

    def _draw_top(self, view: DecompositionView) -> None:
        row, sample = self.sample.row, self.sample.sample
        if row is not None and row.trace_id == view.trace_id:
            kind = {"all": "", "unlabelled": " to label"}.get(sample.show, f" {sample.show}")
            place = f"trace {row.position:,} of {len(sample.rows):,}{kind}"
        else:
            place = "trace outside the list"
        place += f" · {self.own.n_cases_done:,} of {self.own.n_cases:,} done"
        saved = self.session.saved_at
        when = "" if saved is None else f"● saved {wording.clock(saved)}"
        if self.session.unsaved:
            when = "○ NOT SAVED"
        self.query_one("#top", Line).show(breadcrumb(view.decomposition.name, place), f"{when} ")

    def _draw_prompt(self) -> None:
        target, criterion = self.target, self.criterion
        prompt = self.query_one("#prompt", LabelBar)
        if self.finished and self.view is not None:
            said = Content(f" all {len(self.view.criteria)} labelled: ")
            said += Content.styled("enter", "bold") + " next trace   "
            prompt.show(said + Content.styled("tab", "bold") + " change one")
        elif target is not None and criterion is not None:
            prompt.ask(asking(self.schema, criterion.criterion), target.name)

    def fail(self, problem: BaseException) -> None:
        super().fail(problem)
        if self.view is not None:
            self._draw_top(self.view)

    def say_state(self) -> None:
        """Say the comment on the criterion in hand, or what is left."""
        criterion, view = self.criterion, self.view
        if criterion is None or view is None:
            return
        if criterion.label is not None and criterion.label.note:
            self.say(Content("comment: ") + safe(criterion.label.note))
        else:
            left = view.n_left
            self.say(f"{left} of {len(view.criteria)} to label" if left else "")

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def read_pace(self) -> None:
        """Bring the pace up to date without making a key wait for it."""
        store, rater, made = self.session.store, self.session.rater.id, self.decomposition_id
        try:
            own = await self.session.read(
                lambda: store.decomposition_progress(made, rater, self.schema.name)
            )
            seconds = await self.session.read(lambda: store.pace(rater, schema=self.schema.name))
            self.own = own
            if self.view is not None:
                self._draw_top(self.view)
            forms = pace_forms(Pace(own.n_decided, own.n_items, seconds))
        except Exception:  # a figure on the side is not worth a message; the next one comes
            forms = ()
        self.query_one("#message", Status).quiet(forms)

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into the trace that is shown."""
        if self.view is None:
            return
        criteria = tuple(
            replace(c, label=record) if c.item_id == record.item_id else c
            for c in self.view.criteria
        )
        self.view = replace(self.view, criteria=criteria)

    # -- moving

    def action_criterion(self, by: int) -> None:
        if self.view is None or not self.view.criteria:
            return
        # From the end, tab goes to the first one: what was labelled may be changed there.
        n = len(self.view.criteria)
        self.at = (0 if by > 0 else n - 1) if self.finished else (self.at + by) % n
        self.finished = False
        self.draw()
        self.say_state()

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)

    async def action_next_case(self) -> None:
        await self.step(1)

    async def action_previous_case(self) -> None:
        await self.step(-1)

    async def step(self, by: int) -> None:
        """Open the next or previous trace of the list."""
        row = self.sample.step(by)
        if row is None:
            self.refuse("this is the last trace of the list" if by > 0 else "this is the first one")
        else:
            await self.open(row.trace_id)

    async def action_go_on(self) -> None:
        """Go to what needs a label next, on this trace, else on the next one."""
        if self.view is None:
            return
        left = self.next_open(self.at)
        if left is not None:
            self.at, self.finished = left, False
            self.draw()
            self.say_state()
        elif self.view.n_left:
            self.refuse("this criterion has no label yet: n leaves the trace as it is")
        else:
            await self.next_waiting()

    async def next_waiting(self, told: Content | None = None) -> None:
        """Open the next trace of the sample that waits; say there what was done on this one."""
        store, rater, made = self.session.store, self.session.rater.id, self.decomposition_id
        here = self.trace_id
        try:
            found = await self.session.read(lambda: next_waiting(store, rater, made, here))
        except Exception as problem:
            self.fail(problem)
            return
        lead = Content("") if told is None else told + "   "
        if found is None:
            self.finished = True
            self.draw()
            self.read_pace()
            self.say(lead + "that was the last trace: esc goes back")
        elif await self.open(found) and told is not None:
            self.say(lead + "u: back there")

    def action_raw(self) -> None:
        view = self.view
        if view is not None:
            self.app.push_screen(InFullScreen(lambda width: made_by(view, width)))


def _decided(label: LabelRecord | None) -> bool:
    return label is not None and label.decided
