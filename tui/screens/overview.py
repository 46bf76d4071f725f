"""The overview: one row per dataset and pool, and what to do next."""

from __future__ import annotations

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from store.records import CaseFilter, OverviewRow
from tui.actions import bindings_of, footer_of
from tui.caselist import CaseList, Query
from tui.overviewlines import (
    EMPTY,
    Overview,
    accuracy_shown,
    detail,
    figures,
    first_row,
    heads,
    name_room,
    next_step,
    row_name,
)
from tui.resume import Stop, resume
from tui.screens.base import Reversing, breadcrumb
from tui.session import Session
from tui.text import cut_middle, fit, safe, wrap
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row
from tui.widgets.stages import StageLine


class OverviewScreen(Reversing):
    """The first screen. `first` is shown until the figures are read for the first time."""

    NAME = "overview"
    BINDINGS = bindings_of("overview")

    class Loaded(Message):
        """The figures were read."""

        def __init__(self, overview: Overview) -> None:
            super().__init__()
            self.overview = overview

    class Found(Message):
        """Where the rater goes on in a row was found, and the list that it is in was read."""

        def __init__(
            self, overview: Overview, at: int, place: Stop | None, cases: CaseList
        ) -> None:
            super().__init__()
            self.overview = overview
            self.at = at
            self.place = place
            self.cases = cases

    class Failed(Message):
        """The figures could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    overview: Overview | None = None
    _file = Content("")

    def __init__(self, session: Session, first: Overview | None = None) -> None:
        super().__init__(session)
        self._first = first
        self._found: OverviewScreen.Found | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield StageLine(self.session)
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        store = self.session.store
        self._file = safe(store.file.name if store.file else store.url.rpartition("/")[2])
        self._head()
        self.say("reading …")

    def _head(self) -> None:
        session = self.session
        right = Content("rater: ") + safe(session.rater.name) + Content(" ")
        if session.schema.name != "path":
            right = Content("schema: ") + safe(session.schema.name) + Content("  ·  ") + right
        if session.sitting is not None:
            right = Content(f"{session.sitting.mark}  ·  ") + right
        self.query_one("#top", Line).show(breadcrumb() + Content(" ▸ ") + self._file, right)

    def on_screen_resume(self) -> None:
        first, self._first = self._first, None
        if first is None:
            self.reread()
        else:
            self._show(first)

    def reread(self) -> None:
        self._head()
        self.action_reload()

    def action_reload(self) -> None:
        self.run_worker(
            self._load, thread=True, group="overview", exclusive=True, exit_on_error=False
        )

    def _load(self) -> None:
        store, rater, schema = self.session.store, self.session.rater.id, self.session.schema.name
        try:
            scoring = store.primary_scoring()
            overview = Overview(
                store.overview(rater, schema),
                scoring,
                0 if scoring is None else store.n_unscored_pools(scoring.id),
                store.last_act(rater, schema),
            )
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))
        else:
            self.post_message(self.Loaded(overview))

    def on_overview_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_overview_screen_loaded(self, message: Loaded) -> None:
        self._show(message.overview)

    def _show(self, overview: Overview) -> None:
        before, self.overview = self.overview, overview
        rows = self.overview.rows
        lines = self.lines()
        cursor = lines.cursor if before is not None and before.rows else first_row(self.overview)
        if not rows:
            cursor = None
        self.query_one("#columns", Lines).show(lambda width: heads(width) if rows else [])
        lines.show(self._build, cursor=cursor, key=self.NAME)
        self.moved()

    def _build(self, width: int) -> list[Row]:
        if self.overview is None:
            return []
        if not self.overview.rows:
            return [Row(line) for text in EMPTY for line in wrap(Content(text), width)]
        out = []
        for i, row in enumerate(self.overview.rows):
            room = name_room(width)
            name = fit(cut_middle(row_name(row), room), room)
            shown = accuracy_shown(row, self.session.schema.seal)
            out.append(Row(name + figures(row, shown), i, True))
        return out

    @property
    def row(self) -> OverviewRow | None:
        """The row under the cursor."""
        at = self.lines().cursor
        if self.overview is None or at is None or at >= len(self.overview.rows):
            return None
        return self.overview.rows[at]

    def moved(self) -> None:
        """Show what belongs to the row under the cursor, and the next step."""
        overview, row = self.overview, self.row
        if overview is None:
            return
        shown = row is not None and accuracy_shown(row, self.session.schema.seal)
        self.query_one("#detail", Lines).show(lambda width: detail(overview, row, shown, width))
        if self.told is not None:
            self.say(self.told)
            return
        self.say(next_step(overview, row))
        at = self.lines().cursor
        if row is not None and at is not None and row.n_cases_done < row.n_cases:
            self._find_stop(overview, at, row)

    @work(thread=True, group="stop", exclusive=True, exit_on_error=False)
    def _find_stop(self, overview: Overview, at: int, row: OverviewRow) -> None:
        cases = self._list(row)
        try:
            stop = resume(cases, self.session)
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))
        else:
            self.post_message(self.Found(overview, at, stop, cases))

    def _list(self, row: OverviewRow) -> CaseList:
        """Return the list that `enter` walks through, still to be read."""
        show: CaseFilter = "unlabelled" if row.n_cases_done < row.n_cases else "all"
        query = Query(row.dataset, row.pool, show, schema=self.session.schema.name)
        return CaseList(self.session.store, self.session.rater.id, query)

    def _is_here(self, message: Found) -> bool:
        """Return whether something was found for the row under the cursor as it is now."""
        return message.overview is self.overview and message.at == self.lines().cursor

    def on_overview_screen_found(self, message: Found) -> None:
        self._found = message
        if self._is_here(message) and self.told is None:
            width = self.size.width
            self.say(next_step(message.overview, self.row, message.place, known=True, width=width))

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    async def action_start(self) -> None:
        await self._start()

    def _ready(self) -> OverviewRow | None:
        """Return the row under the cursor when it has cases; else say what to do first."""
        row = self.row
        if row is not None and row.n_cases > 0:
            return row
        self.refuse(next_step(self.overview, row) if self.overview else "still reading")
        return None

    async def _start(self) -> bool:
        """Go to where one stopped in this row, else to the first case that waits."""
        row, session = self._ready(), self.session
        if row is None:
            return False
        found, self._found = self._found, None
        if found is not None and self._is_here(found):
            cases, stop = found.cases, found.place
        else:
            cases = self._list(row)
            try:
                stop = await session.read(lambda: resume(cases, session))
            except Exception as problem:
                self.fail(problem)
                return False
        from tui.screens.keeping import show_case, show_list

        if cases.row is not None and cases.query.show == "unlabelled":
            here = cases.row.case_id
            await show_case(self.medoid, session, cases, here, stop, over_list=False)
        else:
            await show_list(self.medoid, session, cases)
        return True

    async def action_session(self) -> None:
        """Ask for a size and begin; while a session is under way, show how it stands."""
        from tui.screens.sitting import SizeScreen, show_summary

        if self.session.sitting is not None:
            await show_summary(self.medoid, self.session)
            return
        row = self._ready()
        if row is None:
            return
        if row.n_cases_done == row.n_cases:
            self.refuse("every case of this row is labelled by you: there is nothing to begin")
            return
        self.app.push_screen(SizeScreen(), self._begin)

    async def _begin(self, size: int | None) -> None:
        session = self.session
        if size is None:
            return
        try:
            session.sitting = await session.read(lambda: session.begin(size or None))
        except Exception as problem:
            self.fail(problem)
            return
        self._head()
        await self._start()

    async def action_cases(self) -> None:
        row = self._ready()
        if row is None:
            return
        from tui.screens.keeping import show_list

        query = Query(row.dataset, row.pool, "all", schema=self.session.schema.name)
        cases = CaseList(self.session.store, self.session.rater.id, query)
        await show_list(self.medoid, self.session, cases)

    def action_topology(self) -> None:
        row = self._ready()
        if row is not None:
            from tui.screens.topology import TopologyScreen

            self.app.push_screen(TopologyScreen(self.session, row.dataset, row.pool))

    def action_sensitivity(self) -> None:
        row = self._ready()
        if row is not None:
            from tui.screens.sensitivity import SensitivityScreen

            gold = accuracy_shown(row, self.session.schema.seal)
            self.app.push_screen(SensitivityScreen(self.session, row.dataset, row.pool, gold=gold))

    async def action_decompositions(self) -> None:
        from tui.screens.samples import open_samples

        await open_samples(self)

    async def action_edits(self) -> None:
        from tui.screens.edits import open_edits

        await open_edits(self)

    async def action_ablations(self) -> None:
        from tui.screens.ablations import open_ablations

        await open_ablations(self)

    async def action_relations(self) -> None:
        from tui.screens.relations import open_relations

        await open_relations(self)

    def action_deduction(self) -> None:
        from tui.screens.deduction import DeductionScreen

        self.app.push_screen(DeductionScreen(self.session))

    def action_agreement(self) -> None:
        from tui.screens.agreement import AgreementScreen

        self.app.push_screen(AgreementScreen(self.session))

    def action_runs(self) -> None:
        from tui.screens.runs import RunsScreen

        self.app.push_screen(RunsScreen(self.session))

    def on_stage_line_changed(self, message: StageLine.Changed) -> None:
        hint = ("runs",) if message.running else ()
        self.query_one("#keys", Keys).show_keys(footer_of(self.mode, hint))
