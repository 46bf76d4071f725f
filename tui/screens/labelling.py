"""Labelling one thing of a list with single keys: the acts, whatever the thing is."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.content import Content

from store.records import LabelRecord, LabelState, SchemaRecord
from tui import wording
from tui.screens.base import Undoing
from tui.screens.casepanes import WIDE, Target
from tui.session import ActiveClock
from tui.widgets.labelbar import keyed
from tui.widgets.stock import Guide, Pane

UNCHANGED = "unchanged: nothing was saved"
LEFT_OUT = "labelled without the seal: κ leaves it out"


class Labelling(Undoing):
    """A screen with one `target` in hand that a digit labels."""

    DONE: ClassVar[str] = ""
    """Why a digit does nothing once all is labelled."""

    finished = False
    _guided: str | None = None
    """Which schema's guideline stands beside what is labelled."""
    clock: ActiveClock
    schema: SchemaRecord

    @property
    def target(self) -> Target | None:
        """What a digit labels."""
        raise NotImplementedError

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into what is shown."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show what is in hand."""
        raise NotImplementedError

    def say_state(self) -> None:
        """Say the comment on what is in hand, or what is left."""
        raise NotImplementedError

    async def labelled(self, told: Content, *, changed_mind: bool) -> None:
        """Go on after a label; a label that was only changed leaves the place alone."""
        raise NotImplementedError

    def on_resize(self, _event: events.Resize) -> None:
        """Show the guideline where there is room; it is made on first use."""
        pane = self.query_one("#guide-pane", Pane)
        if self.app.size.width >= WIDE and not pane.query(Guide):
            self._guided = self.schema.name
            pane.mount(Guide(self.schema.guideline))

    def on_key(self, _event: events.Key) -> None:
        self.clock.tick()

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
        # A digit too many must not fall on what was labelled last.
        if self.finished:
            self.refuse(self.DONE)
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
        before = self.session.saved_at
        record = await self.committed(
            target.item_id,
            target.schema,
            state,
            category=category,
            note=note,
            seconds=self.clock.read(),
        )
        if record is None:
            return
        unchanged = target.label is not None and target.label.id == record.id
        if unchanged:
            self.session.saved_at = before
        await self._took(target, record, unchanged=unchanged)

    async def _took(self, target: Target, record: LabelRecord, *, unchanged: bool) -> None:
        """Show a committed label and go on."""
        changed_mind = target.label is not None and target.label.decided
        self.take(record)
        self.clock.start()
        told = Content(UNCHANGED) if unchanged else told_of(target, record)
        await self.labelled(told, changed_mind=changed_mind)

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

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.schema.guideline, self.NAME))


def told_of(target: Target, record: LabelRecord) -> Content:
    """Return what was saved, in words; and where κ leaves it out, that it does."""
    said = Content(f"saved: {target.name} ") + wording.label(record)
    return said if record.before_reveal is not False else said + f"   △ {LEFT_OUT}"
