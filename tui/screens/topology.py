"""The topology map: divergence against entropy of the cases whose scores may be seen."""

from __future__ import annotations

from functools import partial

from textual import events, work
from textual.app import ComposeResult

from tui import wording
from tui.actions import bindings_of
from tui.caselist import CaseList, Query
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.topologylines import Mapped, case_row, heads, map_lines, mapped, regime_lines
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines, Row

LEAST_LIST = 5
"""Lines of the list below the map, at least."""


class TopologyScreen(WorkScreen):
    """A map and the list of its points; enter jumps to the case."""

    NAME = "topology"
    BINDINGS = bindings_of("topology")
    found: Mapped | None = None

    def __init__(self, session: Session, dataset: str, pool: str) -> None:
        super().__init__(session)
        self._dataset = dataset
        self._pool = pool

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="map")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#top", Line).show(breadcrumb(self._dataset, self._pool, "topology"))
        self.say("reading …")

    def on_screen_resume(self) -> None:
        self._read()

    @work(group="topology", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        session = self.session

        def load() -> Mapped:
            import scoring.graphs  # noqa: F401  (slow to load: here, off the UI's thread)

            rows = session.store.topology(
                session.rater.id, session.schema, dataset=self._dataset, pool=self._pool
            )
            return mapped(rows)

        try:
            self.found = await session.read(load)
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.fail(problem)
            return
        self._draw(self.lines().cursor)

    def _draw(self, cursor: int | None) -> None:
        found = self.found
        if found is None:
            return
        shown = (*found.cases, *found.off)
        at = None if not shown else min(cursor or 0, len(shown) - 1)
        self.query_one("#columns", Lines).show(lambda width: heads(width) if shown else [])
        self.lines().show(
            lambda width: [
                LateRow(partial(case_row, c, found, width), i) for i, c in enumerate(shown)
            ],
            cursor=at,
            key=self.NAME,
        )
        n, m = len(found.rows.cases), found.rows.n_cases
        if m == 0:
            self.say("no case here yet: medoid score makes them")
        elif n == 0:
            opened = self.session.schema.seal == "open"
            how = "opened it" if opened else "revealed it (b)"
            self.say(f"none of {wording.count(m, 'case')} yet: a case shows here once you {how}")
        else:
            self.say(
                "enter: go to the case under the cursor", f"{n:,} of {m:,} cases may be shown "
            )
        self.moved()

    def moved(self) -> None:
        found, at = self.found, self.lines().cursor
        if found is None:
            return
        here = at if at is not None and at < len(found.cases) else None
        regimes = len(regime_lines(found, 80)) if found.cases else 0
        height = max(self.size.height - LEAST_LIST - 4 - regimes, 8) if found.cases else 0
        chart = self.query_one("#map", Lines)
        chart.styles.height = height + regimes
        chart.show(
            lambda width: [
                Row(line)
                for line in (*map_lines(found, here, width, height), *regime_lines(found, width))
            ]
        )

    def on_resize(self, _event: events.Resize) -> None:
        self.moved()

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    async def action_open(self) -> None:
        """Go to the case under the cursor."""
        from tui.screens.case import CaseScreen

        found, at = self.found, self.lines().cursor
        if found is None or at is None:
            self.refuse("there is no case to go to")
            return
        case = (*found.cases, *found.off)[at]
        session = self.session
        query = Query(case.dataset, case.pool, "all", schema=session.schema.name)
        cases = CaseList(session.store, session.rater.id, query)
        snapshot = await self.attempt(lambda: cases.read_to(case.case_id))
        if snapshot is None:
            return
        cases.take(snapshot, case_id=case.case_id)
        await self.app.push_screen(CaseScreen(session, cases, case.case_id, None))
