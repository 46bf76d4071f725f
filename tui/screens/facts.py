"""Labelling a decomposed trace: one key a criterion, then the next trace of the sample."""

from __future__ import annotations

from textual.content import Content

from tui.actions import bindings_of
from tui.reversal import WORDS, Act
from tui.screens.factpanes import FactPanes
from tui.screens.labelling import Labelling


class FactsScreen(FactPanes, Labelling):
    """The decomposed trace with its keys."""

    BINDINGS = bindings_of("facts")
    DONE = "all are labelled: enter goes on; tab or u to change one"

    async def labelled(self, told: Content, *, changed_mind: bool) -> None:
        """Go on: to another criterion, or to the next trace."""
        left = self.next_open(self.at)
        if left is None and not changed_mind:
            await self.next_waiting(told)
            return
        self.finished = left is None
        self.at = self.at if left is None else left
        self.draw()
        self.say(told)
        self.read_pace()

    # -- undo and redo

    async def _reverse(self, act: Act) -> None:
        """Undo or redo, then go to the trace and criterion it was about, where it was one here."""
        done = await self.reversed(act)
        if done is None:
            return
        result = done.result
        if result.decomposition_id != self.decomposition_id or result.trace_id is None:
            self.say(done.told_afar(self.size.width - 1))
            return
        if await self.open(result.trace_id, item_id=result.item_id) and self.target is not None:
            lead = f"{WORDS[act]}: {self.target.name}: "
            self.say(Content(lead) + done.change)
