"""Saving a label, a flag or a comment of the item in hand, and showing what was saved."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from textual.content import Content

from store.records import Category, LabelRecord, LabelState, PathView
from tui import wording
from tui.screens.casemarks import CaseMarks
from tui.screens.casepanes import Target
from tui.text import safe
from tui.walk import SIDES, Place, name_of, next_open

UNCHANGED = "unchanged: nothing was saved"
GRACE = 0.3
"""Seconds in which nothing is labelled on a page that came by itself: it was not read yet."""
UNDRAWN = 3.0
"""Seconds after which such a page counts as drawn, whatever the screen says."""
SECOND_ROW = "kept as a second row, marked as made after the reveal"


class CaseSaves(CaseMarks):
    """A case that can save."""

    def clear(self) -> None:
        super().clear()
        self.unchanged = False
        self.now: Callable[[], float] = time.monotonic
        self._turned_at: float | None = None
        self._drawn = True

    def turned(self) -> None:
        """Note that another page came without a key that asked for it."""
        self._turned_at, self._drawn = self.now(), False
        self.call_after_refresh(self._note_drawn)

    def _note_drawn(self) -> None:
        self._drawn = True

    def just_turned(self) -> bool:
        """Return whether the page turned by itself so lately that a key was meant for the last."""
        if self._turned_at is None:
            return False
        since = self.now() - self._turned_at
        return since < GRACE or (not self._drawn and since < UNDRAWN)

    async def commit(self, target: Target, choice: Category, step: int | None) -> None:
        """Save one category, or the state it stands for."""
        name = choice.name if choice.state == "labelled" else None
        record = await self.save(target, choice.state, category=name, step=step)
        if record is not None:
            await self.took(record)

    async def save(
        self,
        target: Target,
        state: LabelState,
        *,
        category: str | None = None,
        categories: tuple[str, ...] | None = None,
        step: int | None = None,
        note: str | None = None,
    ) -> LabelRecord | None:
        """Save a label; `unchanged` tells whether it stood so already, so that no row was added."""
        before = self.session.saved_at
        record = await self.committed(
            target.item_id,
            target.schema,
            state,
            category=category,
            categories=categories,
            step=step,
            note=note,
            seconds=self.clock.read(),
        )
        if record is not None:
            self.unchanged = target.label is not None and target.label.id == record.id
            if self.unchanged:
                self.session.saved_at = before
            else:
                self.fresh_mark = None
        return record

    async def took(self, record: LabelRecord) -> None:
        path, cursor = self.path, self.lines().cursor
        if self.stepping and path is not None and cursor is not None:
            self.changing = False
            self.took_step(path, cursor, record)
            if self.unchanged:
                self.say(UNCHANGED)
        else:
            await self.took_path(record, advance=True)

    async def took_path(self, record: LabelRecord, *, advance: bool) -> None:
        """Show a committed path label; go on, or stay where it was a change of mind."""
        self.marks.pop(record.item_id, None)
        before, place, case_id = self.path, self.place, self.case_id
        here = name_of(place)
        self.take(record)
        unchanged = self.unchanged
        if not unchanged:
            self.clock.start()  # the seconds up to here are on the label
            self.count(record)
        if self.changing:
            self.changing = False
            self.draw()
            self.say(UNCHANGED if unchanged else SECOND_ROW)
        elif advance:
            self._advance()
            turned = self.place.turn != place.turn
            warned = None if before is None else self.warning(replace(before, label=record))
            if self.finished and self.session.auto_next and not warned:
                await self.next_waiting()
                turned = self.case_id != case_id
            if turned and not self.session.schema.multi:
                self.turned()
            await self.arrive()
            self._tell(record, place, turned=turned)
            if warned or unchanged:
                lead = f"{UNCHANGED}   " if unchanged else ""
                told = Content(f"△ {here}: ") + safe(warned) if warned else Content("")
                self.say(Content(lead) + told)
        else:
            self.draw()
            if unchanged:
                self.say(UNCHANGED)
        if not unchanged:
            await self.counted()

    def _tell(self, record: LabelRecord, place: Place, *, turned: bool) -> None:
        """Say what was saved where its page is no longer on the screen."""
        name = Content(f"● {SIDES[place.side]}{place.turn + 1} ")
        self.session.told = name + wording.label(record)
        if turned:
            left = "" if self.case is None else self.left(self.case)
            self.say(self.session.told + (f" · {left}" if left else ""))

    def count(self, record: LabelRecord) -> None:
        """Count a path's label for the session under way, and bring the pace up to date."""
        self.session.note(record)
        self.show_pace()
        self.read_pace()

    async def counted(self) -> None:
        """Do what is due when a path was labelled."""

    def _advance(self) -> None:
        if self.case is None:
            return
        left = next_open(self.case, self.place)
        self.go(left or self.place)
        # A digit too many must not fall on the path that was labelled last.
        self.finished = left is None
        if self.finished:
            self.draw()

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into the case that is shown."""
        if self.case is None:
            return

        def put(path: PathView) -> PathView:
            return replace(path, label=record) if path.item_id == record.item_id else path

        a, b = self.case.sides
        self.case = replace(self.case, sides=(tuple(map(put, a)), tuple(map(put, b))))

    async def annotate(
        self, target: Target, *, flagged: bool | None = None, note: str | None = None
    ) -> None:
        record = await self.annotated(target.item_id, target.schema, flagged=flagged, note=note)
        if record is None:
            return
        self.fresh_mark = None
        path, cursor = self.path, self.lines().cursor
        if self.stepping and path is not None and cursor is not None:
            self.steps.setdefault(path.item_id, {})[cursor] = record
        else:
            self.take(record)
        self.draw()
        if flagged is None:
            self.say_state()
        else:
            self.say(f"{target.name}: {'flagged' if flagged else 'the flag is off'}")
