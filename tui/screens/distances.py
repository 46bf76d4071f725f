"""The distances of a revealed pool as a heat map, grouped by answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.content import Content

from tui import wording
from tui.actions import bindings_of
from tui.heatlines import Grouped, grouped, heat_legend, heat_lines, trace_lines
from tui.screens.base import Sheet
from tui.screens.pools import read
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row

if TYPE_CHECKING:
    from pipeline.pool_view import PoolView
    from store.records import RevealedCase

SHIFT = 8
"""Columns that a key scrolls a matrix wider than the screen."""


class DistancesScreen(Sheet):
    """Made from a revealed case only: without one there is no such screen."""

    NAME = "distances"
    BINDINGS = bindings_of("distances")
    pool: PoolView | None = None
    group: Grouped | None = None

    def __init__(self, session: Session, revealed: RevealedCase) -> None:
        super().__init__()
        self._session = session
        self._revealed = revealed
        self._left = 0

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="legend")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#top", Line).show(Content.styled(" Distances", "bold"), "reading … ")
        self._read()

    @work(group="pool", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        top = self.query_one("#top", Line)
        title = Content.styled(" Distances", "bold")
        try:
            pool = await read(self._session, self._revealed)
        except Exception as problem:  # whatever the database says is shown, never a crash
            top.show(title, Content("not read: ") + safe(wording.error(problem)) + Content(" "))
            return
        self.pool, self.group = pool, grouped(pool)
        n = len(pool.traces)
        top.show(title, f"{wording.count(n, 'trace')} that {'votes' if n == 1 else 'vote'} ")
        self.query_one("#legend", Lines).show(
            lambda width: [Row(line) for line in heat_legend(pool, width)]
        )
        self._draw(0 if n else None)

    def _draw(self, cursor: int | None) -> None:
        pool, group = self.pool, self.group
        if pool is None or group is None:
            return
        left = self._left
        self.lines().show(
            lambda width: heat_lines(pool, group, width, left=left), cursor=cursor, key=self.NAME
        )
        self.moved()

    def moved(self) -> None:
        pool, group, at = self.pool, self.group, self.lines().cursor

        def build(width: int) -> list[Row]:
            if pool is None or group is None or at is None:
                return []
            return [Row(line) for line in trace_lines(pool, group, at, width)]

        self.query_one("#detail", Lines).show(build)

    def action_scroll(self, by: int) -> None:
        """Scroll the columns of a matrix that is wider than the screen."""
        n = 0 if self.pool is None else len(self.pool.traces)
        self._left = max(0, min(self._left + by * SHIFT, max(n - SHIFT, 0)))
        self._draw(self.lines().cursor)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()
