"""Labelling a case: one key a label, saved when the screen says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from store.records import CaseView
from tui import wording
from tui.actions import bindings_of
from tui.pathlines import answer_title
from tui.reversal import Act, Reversal
from tui.screens.caselabels import CaseLabels
from tui.screens.context import Context, context_pane, context_strip
from tui.walk import SIDES

if TYPE_CHECKING:
    from store import RevealCheck


class CaseScreen(CaseLabels):
    """The case screen with its keys."""

    BINDINGS = bindings_of("case")

    def clear(self) -> None:
        super().clear()
        for context in self.query(Context):
            context.forget()

    def above(self) -> Iterator[Widget]:
        yield from context_strip(self.session)

    def beside(self) -> Iterator[Widget]:
        panes = list(context_pane(self.session))
        yield from panes or super().beside()

    def draw(self) -> None:
        super().draw()
        for context in self.query(Context):
            context.show_path(self.case_id, None if self.path is None else self.path.item_id)

    async def counted(self) -> None:
        sitting = self.session.sitting
        if sitting is not None and sitting.full:
            await self.nothing_left()

    async def nothing_left(self) -> None:
        from tui.screens.sitting import show_summary

        await show_summary(self.medoid, self.session)

    # -- undo and redo

    async def action_undo(self) -> None:
        await self.reverse("undo")

    async def action_redo(self) -> None:
        await self.reverse("redo")

    async def reverse(self, act: Act) -> None:
        """Undo or redo, then go to the path or step it was about and say what changed."""
        if self.toggled is not None and act == "undo":
            self.toggled = self.fresh_mark = None
            if self.path is not None:
                self.marks.pop(self.path.item_id, None)
            self.draw()
            self.say("what was not saved yet is dropped")
            return
        if act == "undo" and self.drop_mark():
            self.say("the mark is taken back: it was not saved yet")
            return
        if not await self.settle():
            return
        reversal = await self.reversed(act)
        if reversal is not None:
            await self._show(reversal)

    async def _show(self, reversal: Reversal) -> None:
        done = reversal.result
        here, before = self.case_id, self.path
        was_in = before.item_id if self.stepping and before is not None else None
        path_item = done.path_item_id or done.item_id
        self.marks.pop(path_item, None)
        case_id = self.case_id if done.case_id is None else done.case_id
        if not await self.open(case_id, item_id=path_item):
            return
        if case_id != here and self.came_from is None:
            self.came_from = here
        told = reversal.told()
        if done.step is not None and await self.enter_steps(done.step):
            # Entering finished steps bars digits; what was just undone is to be labelled again.
            self.steps_finished = False
            self.draw()
            if was_in != path_item:
                told = Content(f"back in the steps of {SIDES[self.place.side]} · ") + told
        self.say(told)

    # -- looking behind the seal

    async def action_reveal(self) -> None:
        if not await self.settle():
            return
        case = self.case
        if case is None:
            return
        if case.seal == "open":
            self.refuse("nothing is sealed here: i shows it all")
            return
        if case.revealed and case.n_left == 0:
            await self._look()
            return
        store, session = self.session.store, self.session
        check: RevealCheck | None = await self.attempt(
            lambda: store.reveal_check(case.case_id, session.rater.id, session.schema)
        )
        if check is None:
            return
        if not check.ok:
            self.refuse(f"{wording.count(check.n_left, 'path')} to label before the reveal")
            return
        if check.n_left_elsewhere > 0 and not case.revealed:
            from tui.screens.modals import ConfirmScreen

            async def answered(yes: bool | None) -> None:
                if yes:
                    await self._reveal(case)

            self.app.push_screen(ConfirmScreen(_warning(check)), answered)
            return
        await self._reveal(case)

    async def _reveal(self, case: CaseView) -> None:
        store, session = self.session.store, self.session
        before = session.saved_at
        try:
            await self.written(lambda: store.reveal(case.case_id, session.rater.id, session.schema))
        except Exception as problem:
            self.fail(problem)
            return
        session.saved_at = before
        self.case = replace(case, revealed=True)
        for context in self.query(Context):
            context.forget()
        self.draw()
        await self._look()

    async def action_context(self) -> None:
        """Show everything that the seal level allows now."""
        case = self.case
        if case is None:
            return
        if case.seal == "full" and not case.revealed:
            self.refuse("sealed: full. b reveals once every path is labelled")
        elif await self.settle():
            await self._look()

    async def _look(self) -> None:
        from tui.screens.revealed import RevealedScreen, read_revealed

        view = await self.attempt(lambda: read_revealed(self.session, self.case_id))
        if view is not None:
            self.say_state()
            await self.app.push_screen(RevealedScreen(self.session, view, self))

    def action_change(self) -> None:
        case = self.case
        if case is None:
            return
        if not case.revealed or case.seal == "open":
            self.refuse("a digit labels, and changes a label until the reveal")
            return
        self.changing = True
        self.draw()
        self.say("the next digit is kept as a second row, made after the reveal; tab: other side")

    # -- sheets

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        step_schema = self.session.step_schema
        if self.stepping and step_schema is not None:
            self.app.push_screen(HelpScreen(step_schema.guideline, self.mode))
        else:
            super().action_help()

    def action_raw(self) -> None:
        if self.case is not None and self.path is not None:
            from tui.screens.sheets import RawScreen

            self.app.push_screen(RawScreen(self.case, self.path, SIDES[self.place.side]))

    def action_graph(self) -> None:
        if self.path is not None:
            from tui.graphlines import steps_drawn
            from tui.screens.graph import GraphScreen

            side = SIDES[self.place.side]
            self.app.push_screen(
                GraphScreen([steps_drawn(side, answer_title(self.path), self.path)])
            )


def _warning(check: RevealCheck) -> str:
    n = wording.count(check.n_left_elsewhere, "path")
    return (
        f"{n} of this question in other pools are not labelled by you yet. "
        "After the reveal, labels on them count as made after it."
    )
