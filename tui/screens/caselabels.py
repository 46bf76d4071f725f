"""Labels on the item in hand: digits, skips, first wrong steps, flags, comments."""

from __future__ import annotations

from tui.screens.casemarks import AFTER_REVEAL
from tui.screens.casepanes import Target
from tui.screens.caseseveral import CaseSeveral
from tui.walk import decided
from tui.widgets.labelbar import keyed


class CaseLabels(CaseSeveral):
    """A case with the keys that save something about a path or a step."""

    async def action_choose(self, key: str) -> None:
        if self.typed is not None:
            self.type_digit(key)
            return
        target, path = self.target, self.path
        if target is None or path is None:
            if self.stepping:
                self.refuse("the answer is no step: w marks it first wrong, s goes to the path")
            return
        choice = keyed(target.schema).get(key)
        if choice is None:
            keys = [*keyed(target.schema)]
            self.refuse(f"{key} is no category: {keys[0]} to {keys[-1]}")
        elif self._may_label(target):
            if self.stepping:
                await self.commit(target, choice, None)
            elif target.schema.multi:
                self.toggle(choice)
            elif self.fits(path, choice):
                await self.commit(target, choice, self.step_for(path, choice))

    def _may_label(self, target: Target) -> bool:
        """Return whether a label may be set now: after the reveal only on purpose."""
        if self.case is None:
            return False
        if self.just_turned():
            self.refuse("the page has just turned by itself: that key was ignored")
            return False
        sealed = self.case.seal != "open"
        if sealed and self.case.revealed and decided(target.label) and not self.changing:
            self.refuse(AFTER_REVEAL)
            return False
        if self.stepping and self.steps_finished:
            self.refuse("all steps are labelled: s goes back to the path; k or u to change one")
            return False
        if self.finished and not self.changing and target.item_id not in self.marks:
            self.refuse("all are labelled: enter goes on; tab, ← or u to change one")
            return False
        return True

    async def action_take(self) -> None:
        """Label the path as its steps suggest."""
        path = self.path
        suggested = None if path is None else self.suggestion(path)
        if path is None or suggested is None:
            self.refuse("your step labels suggest nothing for this path")
            return
        if self.stepping:
            self.leave_steps()
        target = self.target
        if target is not None and self._may_label(target):
            await self.commit(target, suggested.category, suggested.first_wrong_step)

    async def action_skip(self) -> None:
        await self._skip(None)

    async def _skip(self, reason: str | None) -> None:
        target = self.target
        if target is not None and self._may_label(target):
            self.toggled = None
            record = await self.save(target, "skipped", note=reason)
            if record is not None:
                await self.took(record)

    def action_reason(self) -> None:
        """Ask why, then skip."""
        target = self.target
        if target is None or not self._may_label(target):
            return
        from tui.screens.modals import NoteScreen

        async def done(text: str | None) -> None:
            if text is not None:
                await self._skip(text or None)

        note = target.label.note if target.label is not None and target.label.note else ""
        self.app.push_screen(NoteScreen(f"Why skip {target.name}?", note), done)

    def action_auto(self) -> None:
        """Turn on or off that a case whose paths are all labelled is left by itself."""
        self.session.auto_next = not self.session.auto_next
        if self.session.auto_next:
            self.say("the next case comes by itself now: A ends it; p goes back, u undoes")
        else:
            self.say("a case is left by enter again")

    # -- flag and comment

    async def action_flag(self) -> None:
        target = self.target
        if target is not None:
            flagged = not (target.label is not None and target.label.flagged)
            await self.annotate(target, flagged=flagged)

    def action_comment(self) -> None:
        target = self.target
        if target is None:
            return
        from tui.screens.modals import NoteScreen

        note = target.label.note if target.label is not None and target.label.note else ""

        async def done(text: str | None) -> None:
            if text is not None and text != note:
                await self.annotate(target, note=text)

        self.app.push_screen(NoteScreen(f"Comment on {target.name}", note, removes=True), done)
