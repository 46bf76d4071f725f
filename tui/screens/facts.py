"""Labelling a decomposed trace: one key a criterion, then the next trace of the sample."""

from __future__ import annotations

from textual.content import Content

from store.records import LabelRecord, LabelState
from tui import wording
from tui.actions import bindings_of
from tui.reversal import WORDS, Act
from tui.screens.casepanes import Target
from tui.screens.factpanes import FactPanes
from tui.widgets.labelbar import keyed

UNCHANGED = "unchanged: nothing was saved"
LEFT_OUT = "labelled without the seal: κ leaves it out"


class FactsScreen(FactPanes):
    """The decomposed trace with its keys."""

    BINDINGS = bindings_of("facts")

    # -- labels

    async def action_choose(self, key: str) -> None:
        target = self.target
        if target is None:
            return
        choice = keyed(target.schema).get(key)
        if choice is None:
            keys = [*keyed(target.schema)]
            self.refuse(f"{key} is no category: {keys[0]} to {keys[-1]}")
        elif self._may_label():
            name = choice.name if choice.state == "labelled" else None
            await self._commit(target, choice.state, category=name)

    def _may_label(self) -> bool:
        # A digit too many must not fall on the criterion that was labelled last.
        if self.finished:
            self.refuse("all are labelled: enter goes on; tab or u to change one")
        return not self.finished

    async def action_skip(self) -> None:
        target = self.target
        if target is not None and self._may_label():
            await self._commit(target, "skipped")

    def action_reason(self) -> None:
        """Ask why, then skip."""
        target = self.target
        if target is None or not self._may_label():
            return
        from tui.screens.modals import NoteScreen

        async def done(text: str | None) -> None:
            if text is not None:
                await self._commit(target, "skipped", note=text or None)

        note = target.label.note if target.label is not None and target.label.note else ""
        self.app.push_screen(NoteScreen(f"Why skip {target.name}?", note), done)

    async def _commit(
        self,
        target: Target,
        state: LabelState,
        *,
        category: str | None = None,
        note: str | None = None,
    ) -> None:
        store, session = self.session.store, self.session
        seconds, saved_before = self.clock.read(), session.saved_at
        record = await self.attempt(
            lambda: store.commit_label(
                session.rater.id,
                target.item_id,
                target.schema,
                state=state,
                category=category,
                note=note,
                active_seconds=seconds,
                session_id=session.sitting_id,
                beside=session.schema,
            ),
            write=True,
        )
        if record is None:
            return
        unchanged = target.label is not None and target.label.id == record.id
        if unchanged:
            session.saved_at = saved_before
        await self._took(target, record, unchanged=unchanged)

    async def _took(self, target: Target, record: LabelRecord, *, unchanged: bool) -> None:
        """Show a committed label and go on: to another criterion, or to the next trace."""
        changed_mind = target.label is not None and target.label.decided
        self.take(record)
        self.clock.start()
        told = Content(UNCHANGED) if unchanged else _told(target, record)
        left = self.next_open(self.at)
        if left is None and not changed_mind:
            await self.next_waiting(told)
            return
        self.finished = left is None
        self.at = self.at if left is None else left
        self.draw()
        self.say(told)
        self.read_pace()

    # -- flag and comment

    async def action_flag(self) -> None:
        target = self.target
        if target is not None:
            flagged = not (target.label is not None and target.label.flagged)
            if await self._annotate(target, flagged=flagged):
                self.say(f"{target.name}: {'flagged' if flagged else 'the flag is off'}")

    def action_comment(self) -> None:
        target = self.target
        if target is None:
            return
        from tui.screens.modals import NoteScreen

        note = target.label.note if target.label is not None and target.label.note else ""

        async def done(text: str | None) -> None:
            if text is not None and text != note and await self._annotate(target, note=text):
                self.say_state()

        self.app.push_screen(NoteScreen(f"Comment on {target.name}", note, removes=True), done)

    async def _annotate(
        self, target: Target, *, flagged: bool | None = None, note: str | None = None
    ) -> bool:
        record = await self.annotated(target.item_id, target.schema, flagged=flagged, note=note)
        if record is None:
            return False
        self.take(record)
        self.draw()
        return True

    # -- undo and redo

    async def action_undo(self) -> None:
        await self._reverse("undo")

    async def action_redo(self) -> None:
        await self._reverse("redo")

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


def _told(target: Target, record: LabelRecord) -> Content:
    said = Content(f"saved: {target.name} ") + wording.label(record)
    return said if record.before_reveal is not False else said + f"   △ {LEFT_OUT}"
