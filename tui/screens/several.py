"""Labelling one thing of a list where several categories may hold: digits take them on and off."""

from __future__ import annotations

from textual.content import Content

from store.records import Category, LabelRecord
from tui.screens.labelling import UNCHANGED, Labelling, told_of
from tui.text import safe
from tui.widgets.labelbar import keyed

NOT_SAVED = "not saved yet: enter saves, u drops"


class Several(Labelling):
    """A screen whose label is saved when the thing in hand is left."""

    toggled: tuple[str, ...] | None = None
    """What is taken and not saved yet; None when nothing was changed."""
    changing = False
    """Whether a label that was made before a reveal is being changed after it."""

    def _taken(self) -> tuple[str, ...]:
        """Return what is taken on the thing in hand, unsure as one of the choices."""
        target = self.target
        if self.toggled is not None:
            return self.toggled
        label = None if target is None else target.label
        if label is None or not label.decided:
            return ()
        if label.state == "unsure":
            return tuple(c.name for c in self.schema.categories if c.state == "unsure")
        return label.categories or ((label.category,) if label.category else ())

    def may_change(self) -> bool:
        """Return whether a label may be set now, else say why not."""
        return True

    async def action_choose(self, key: str) -> None:
        target = self.target
        if target is None:
            return
        choice = keyed(target.schema).get(key)
        if choice is None:
            keys = [*keyed(target.schema)]
            self.refuse(f"{key} is no category: {keys[0]} to {keys[-1]}")
        elif self.may_change() and self._may_label():
            if target.schema.multi:
                self._toggle(choice)
            else:
                await super().action_choose(key)

    def _toggle(self, choice: Category) -> None:
        """Take a category on or off; one that excludes the others, and unsure, stand alone."""
        alone = {
            c.name for c in self.schema.categories if c.excludes_others or c.state != "labelled"
        }
        before = set(self._taken())
        if choice.name in before:
            after = before - {choice.name}
        else:
            after = {choice.name} if choice.name in alone else (before - alone) | {choice.name}
        self.toggled = tuple(c.name for c in self.schema.categories if c.name in after)
        self.draw()
        self.say(Content("○ ") + safe(" + ".join(self.toggled) or "nothing") + f"   {NOT_SAVED}")

    async def settle(self) -> bool:
        """Save what is taken before the thing in hand is left; False, and said, when that failed."""
        return await self._save() is not False

    async def _save(self) -> LabelRecord | bool | None:
        """Save what is taken: the label, None where there was nothing to save, False on failure."""
        target, taken = self.target, self.toggled
        if target is None or not taken:
            self.toggled = None
            return None
        chosen = [c for c in self.schema.categories if c.name in taken]
        unsure = chosen[0].state == "unsure"
        before = self.session.saved_at
        record = await self.committed(
            target.item_id,
            target.schema,
            "unsure" if unsure else "labelled",
            categories=None if unsure else taken,
            seconds=self.clock.read(),
        )
        if record is None:
            return False
        if target.label is not None and target.label.id == record.id:
            self.session.saved_at = before
        self.toggled = None
        self.changing = False
        self.take(record)
        self.clock.start()
        return record

    async def action_go_on(self) -> None:
        """Save what is taken, then go to the next that waits."""
        target = self.target
        changed_mind = target is not None and target.label is not None and target.label.decided
        saved = await self._save()
        if isinstance(saved, LabelRecord) and target is not None:
            unchanged = target.label is not None and target.label.id == saved.id
            said = Content(UNCHANGED) if unchanged else told_of(target, saved)
            await self.labelled(said, changed_mind=changed_mind)
        elif saved is None:
            await self.next_waiting()

    async def next_waiting(self, told: Content | None = None) -> None:
        """Go to the next thing that waits."""
        raise NotImplementedError

    async def action_skip(self) -> None:
        if self.may_change():
            self.toggled = None
            await super().action_skip()

    def action_reason(self) -> None:
        if self.may_change():
            self.toggled = None
            super().action_reason()

    async def action_undo(self) -> None:
        """Drop what is not saved yet; else take back the last act."""
        if self.toggled is None:
            await super().action_undo()
            return
        self.toggled = None
        self.draw()
        self.say("dropped: it was not saved")

    async def action_redo(self) -> None:
        if await self.settle():
            await super().action_redo()

    async def action_back(self) -> None:
        if await self.settle():
            await super().action_back()
