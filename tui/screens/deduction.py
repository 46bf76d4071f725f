"""Deduction: models and styles with base and decay, and the way to replies, charts and labels."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.message import Message

from pipeline.deduction_view import SCHEMA, Figures, Series, deduction_figures
from store.records import SchemaRecord
from tui import wording
from tui.actions import bindings_of
from tui.deductionlines import series_detail, series_heads, series_rows
from tui.screens.base import Reversing, breadcrumb
from tui.session import Session
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines

NOTHING = "no model was asked for deductions yet: run  medoid deduce ask"

SEALED = "every reply was drawn to be labelled and waits for you: l labels them"


class DeductionScreen(Reversing):
    """Models × styles. Replies that wait, sealed, for this rater are counted in no figure."""

    NAME = "deduction"
    BINDINGS = bindings_of("deduction")

    class Read(Message):
        """The figures were computed."""

        def __init__(self, figures: Figures | None, schema: SchemaRecord) -> None:
            super().__init__()
            self.figures = figures
            self.schema = schema

    class Failed(Message):
        """They could not be."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.figures: Figures | None = None
        self.schema: SchemaRecord | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#top", Line).show(breadcrumb("deduction"))
        self.say("reading …")

    def on_screen_resume(self) -> None:
        self.reread()

    def reread(self) -> None:
        store, rater = self.session.store, self.session.rater.id

        def work() -> None:
            try:
                schema = store.schema(SCHEMA)
                figures = deduction_figures(store, rater, schema)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Read(figures, schema))

        self.run_worker(work, thread=True, group="deduction", exclusive=True, exit_on_error=False)

    def on_deduction_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_deduction_screen_read(self, message: Read) -> None:
        self.figures, self.schema = message.figures, message.schema
        figures = message.figures
        shown = figures is not None and bool(figures.series)
        self.query_one("#columns", Lines).show(lambda width: series_heads(width) if shown else [])
        if figures is None or not figures.series:
            self.lines().show(lambda width: [], key=self.NAME)
            self.say(NOTHING if figures is None else SEALED)
            return
        before = self.lines().cursor or 0
        cursor = before if before < len(figures.series) else 0
        self.lines().show(lambda width: series_rows(figures, width), cursor=cursor, key=self.NAME)
        report = figures.report
        n = len(report.problems)
        survive = "survives" if n == 1 else "survive"
        right = f"{wording.count(n, 'problem')} {survive} for every model "
        self.query_one("#top", Line).show(breadcrumb("deduction"), right)
        self.moved()
        self._say_state(figures)

    def _say_state(self, figures: Figures) -> None:
        if self.told is not None:
            self.say(self.told)
        elif figures.n_hidden:
            n = f"{figures.n_hidden:,} {'reply' if figures.n_hidden == 1 else 'replies'}"
            self.say(f"{n} counted in no figure: drawn for labels, not revealed by you")
        elif not any(s.n_sampled for s in figures.series):
            self.say("no replies are drawn to be labelled for errors: l, then m draws some")
        else:
            self.say("base: 1 = ideal; decay: 0 = none, not comparable across numbers of hops")

    @property
    def series(self) -> Series | None:
        """The model and style under the cursor."""
        at = self.lines().cursor
        if self.figures is None or at is None or at >= len(self.figures.series):
            return None
        return self.figures.series[at]

    def moved(self) -> None:
        figures, at = self.figures, self.lines().cursor
        if figures is not None and at is not None and at < len(figures.series):
            self.query_one("#detail", Lines).show(lambda width: series_detail(figures, at, width))

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    # -- acts

    async def action_open(self) -> None:
        """Show the replies of the model and style under the cursor."""
        series, schema = self.series, self.schema
        if series is None or schema is None:
            self.refuse(NOTHING)
            return
        from tui.screens.replies import open_series

        await open_series(self, schema, series)

    async def action_label(self) -> None:
        """Label errors in sampled replies, from where one stopped."""
        from tui.screens.errors import open_errors

        await open_errors(self)

    def action_charts(self) -> None:
        """Show the figures as charts."""
        if self.series is None or self.figures is None:
            self.refuse(NOTHING)
            return
        from tui.screens.deductioncharts import ChartsScreen

        self.app.push_screen(ChartsScreen(self.session, self.figures, self.lines().cursor or 0))

    def action_agreement(self) -> None:
        """Show how far raters agree on errors."""
        from tui.screens.agreement import AgreementScreen

        self.app.push_screen(AgreementScreen(self.session, SCHEMA))

    def action_survivors(self) -> None:
        """Show which templates failed which check."""
        figures = self.figures
        if figures is None:
            self.refuse(NOTHING)
            return
        from tui.deductionlines import survivors_lines
        from tui.screens.sheets import InFullScreen

        self.app.push_screen(InFullScreen(lambda width: survivors_lines(figures, width)))
