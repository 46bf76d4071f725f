"""A case after the reveal: what the seal hid, next to what the rater said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.content import Content

from tui.actions import bindings_of
from tui.pathlines import answer_title, question_text
from tui.revealedlines import (
    RevealedView,
    counted_label,
    path_lines,
    summary_lines,
    support_of,
)
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row
from tui.widgets.stock import Columns, Paragraph

if TYPE_CHECKING:
    from tui.screens.case import CaseScreen

WIDE = 110


MORE = "m: distances of the pool "
HEADS = {"full": "revealed", "judge": "shown before the reveal", "open": "open"}


def read_revealed(session: Session, case_id: int) -> RevealedView:
    """Read what the seal level shows of a case; the store refuses what it hides."""
    store, rater = session.store, session.rater.id
    revealed = store.case_context(case_id, rater, session.schema)
    counted = {
        path.item_id: counted_label(store.label_history(rater, path.item_id, session.schema))
        for path in revealed.case.paths
    }
    if session.step_schema is None:
        return RevealedView(revealed, counted)
    steps = store.step_labels_of(rater, [p.item_id for p in revealed.case.paths])
    return RevealedView(revealed, counted, steps)


class RevealedScreen(WorkScreen):
    """Made from a revealed case only: without one there is no such screen."""

    NAME = "revealed"
    BINDINGS = bindings_of("revealed")

    def __init__(self, session: Session, view: RevealedView, case_screen: CaseScreen) -> None:
        super().__init__(session)
        self.view = view
        self._on_paths = False
        self._case_screen = case_screen

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        with Columns(id="sides"):
            yield Lines(id="lines")
            yield Lines(id="paths")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        case = self.view.revealed.case
        head = HEADS["full" if case.revealed and case.seal == "judge" else case.seal]
        self.query_one("#top", Line).show(
            breadcrumb(case.dataset, case.question_id, head), safe(case.pool) + Content(" ")
        )
        self.query_one("#question", Paragraph).show(" Q  ", question_text(case), limit=2)
        self.say(self._going_on(), MORE)

    def _going_on(self) -> str:
        return "enter: next path" if self.view.revealed.case.n_left else "enter: next case"

    def on_resize(self, event: events.Resize) -> None:
        wide = event.size.width >= WIDE
        paths = self.query_one("#paths", Lines)
        paths.display = wide
        self._on_paths = self._on_paths and wide
        view = self.view

        def summary(width: int) -> list[Row]:
            rows = summary_lines(view, width)
            return [Row(line) for line in (rows if wide else rows + path_lines(view, width))]

        self.query_one("#lines", Lines).show(summary, key="summary")
        if wide:
            paths.show(lambda width: [Row(x) for x in path_lines(view, width)], key="paths")

    def lines(self) -> Lines:
        return self.query_one("#paths" if self._on_paths else "#lines", Lines)

    def action_other(self) -> None:
        if not self.query_one("#paths", Lines).display:
            self.refuse("the paths stand below, in the same column")
            return
        self._on_paths = not self._on_paths
        self.say("j/k scroll the paths" if self._on_paths else self._going_on(), MORE)

    # -- leaving: every key is the case screen's, which lies below

    async def _on_case(self) -> CaseScreen:
        await self.app.pop_screen()
        return self._case_screen

    async def action_go_on(self) -> None:
        await (await self._on_case()).action_go_on()

    async def action_next_case(self) -> None:
        await (await self._on_case()).step(1)

    async def action_previous_case(self) -> None:
        await (await self._on_case()).step(-1)

    async def action_undo(self) -> None:
        await (await self._on_case()).reverse("undo")

    async def action_redo(self) -> None:
        await (await self._on_case()).reverse("redo")

    async def action_change(self) -> None:
        (await self._on_case()).action_change()

    def action_graph(self) -> None:
        from tui.graphlines import steps_drawn
        from tui.screens.graph import SupportScreen

        view = self.view
        graphs = [
            steps_drawn(name, answer_title(path), path, support_of(view, path))
            for name, path in view.named_paths
        ]
        self.app.push_screen(SupportScreen(self.session, view.revealed, view.named_paths, graphs))

    def action_distances(self) -> None:
        from tui.screens.distances import DistancesScreen

        self.app.push_screen(DistancesScreen(self.session, self.view.revealed))
