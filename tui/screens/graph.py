"""The graphs of paths: structure while sealed; after the reveal, what supports each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.content import Content

from store.records import PathView
from tui import wording
from tui.actions import bindings_of
from tui.charts import SUPPORT_LEGEND
from tui.graphlines import Drawn, facts_drawn, graph_lines, node_lines, too_many
from tui.pathlines import answer_title
from tui.screens.base import Sheet
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row

if TYPE_CHECKING:
    from pipeline.pool_view import PoolView
    from store.records import RevealedCase

SHORT = 3
"""Nearest facts shown below the graph; enter shows those of all other traces."""


class GraphScreen(Sheet):
    """Which node depends on which; the cursor goes from node to node, along edges too."""

    NAME = "graph"
    BINDINGS = bindings_of("graph")
    pool: PoolView | None = None

    def __init__(self, graphs: Sequence[Drawn]) -> None:
        super().__init__()
        self.graphs = tuple(graphs)
        self._whole = False

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self._head("◂ uses the lane's node   ∴ conclusion   ? says nothing ")
        self._draw(self._item(0, 0) if any(g.nodes for g in self.graphs) else None)

    def _head(self, legend: str) -> None:
        self.query_one("#top", Line).show(Content.styled(" Graph", "bold"), legend)

    # -- items: node k of graph g, numbered through

    def _item(self, graph: int, node: int) -> int:
        return sum(len(g.nodes) for g in self.graphs[:graph]) + node

    @property
    def at(self) -> tuple[Drawn, int, int] | None:
        """The graph and node under the cursor, and the number of the graph's first item."""
        cursor, first = self.lines().cursor, 0
        if cursor is None:
            return None
        for graph in self.graphs:
            if cursor < first + len(graph.nodes):
                return graph, cursor - first, first
            first += len(graph.nodes)
        return None

    def _draw(self, cursor: int | None) -> None:
        def build(width: int) -> list[Row]:
            rows: list[Row] = []
            if any(g.supported for g in self.graphs):
                rows.append(Row(Content(f" support  {SUPPORT_LEGEND}")))
            first = 0
            for graph in self.graphs:
                title = Content.styled(f" {graph.name} ", "bold") + graph.title
                if too_many(graph):
                    title += Content("  (lanes of the node under the cursor)")
                rows.append(Row(title))
                here = None if cursor is None else cursor - first
                inside = here if here is not None and 0 <= here < len(graph.nodes) else None
                rows += graph_lines(graph, width, first=first, here=inside)
                rows.append(Row(Content("")))
                first += len(graph.nodes)
            return rows

        self.lines().show(build, cursor=cursor, key=self.NAME)
        self._detail()

    def _detail(self) -> None:
        at, limit = self.at, None if self._whole else SHORT

        def build(width: int) -> list[Row]:
            if at is None:
                return []
            graph, node, _ = at
            told = node_lines(graph, node, width, view=self.pool, limit=limit)
            return [Row(line) for line in told]

        self.query_one("#detail", Lines).show(build)

    def moved(self) -> None:
        at = self.at
        if at is not None and too_many(at[0]):
            self._draw(self.lines().cursor)
        else:
            self._detail()

    def _go(self, node: int | None) -> None:
        at = self.at
        if at is None or node is None:
            self.app.bell()
            return
        self.lines().select(at[2] + node)
        self.moved()

    def action_parent(self) -> None:
        """Go to the last node that the one under the cursor uses."""
        at = self.at
        self._go(None if at is None else max(at[0].nodes[at[1]].parents, default=None))

    def action_child(self) -> None:
        """Go to the first node that uses the one under the cursor."""
        at = self.at
        self._go(None if at is None else min(at[0].children(at[1]), default=None))

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()


class SupportScreen(GraphScreen):
    """The graphs of a revealed case: made from what the seal let through, read off the UI."""

    NAME = "support"
    BINDINGS = bindings_of("support")

    def __init__(
        self,
        session: Session,
        revealed: RevealedCase,
        paths: Sequence[tuple[str, PathView]],
        graphs: Sequence[Drawn],
    ) -> None:
        super().__init__(graphs)
        self._session = session
        self._revealed = revealed
        self._paths = tuple(paths)

    async def on_mount(self) -> None:
        await super().on_mount()
        self._read()

    @work(group="pool", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        from tui.screens.pools import read

        try:
            pool = await read(self._session, self._revealed)
        except Exception as problem:  # said here; the structure is shown all the same
            self.query_one("#top", Line).show(
                Content.styled(" Graph", "bold"),
                Content("no evidence: ") + safe(wording.error(problem)) + Content(" "),
            )
            return
        self.pool = pool
        by_id = {t.trace_id: t for t in pool.traces}
        self.graphs = tuple(
            facts_drawn(name, answer_title(path), by_id[path.trace_id], path)
            if path.trace_id in by_id
            else drawn
            for (name, path), drawn in zip(self._paths, self.graphs, strict=True)
        )
        self._draw(self._item(0, 0) if any(g.nodes for g in self.graphs) else None)

    def action_evidence(self) -> None:
        """Show the nearest facts of all other traces, or the nearest ones only again."""
        self._whole = not self._whole
        self.set_class(self._whole, "-whole")
        self._detail()

    def action_page(self, by: int) -> None:
        if self._whole:
            self.query_one("#detail", Lines).page(by)
        else:
            super().action_page(by)
