"""Labels on the item in hand: digits, skips, first wrong steps, flags, comments."""

from __future__ import annotations

from dataclasses import replace

from textual.content import Content

from store.records import Category, LabelRecord, LabelState, PathView
from tui.screens.casemarks import CaseMarks
from tui.screens.casepanes import SIDES, Target
from tui.text import safe
from tui.walk import decided, next_open
from tui.widgets.labelbar import keyed

UNCHANGED = "unchanged: nothing was saved"
SECOND_ROW = "kept as a second row, marked as made after the reveal"


class CaseLabels(CaseMarks):
    """A case with the keys that save something about a path or a step."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self.toggled: tuple[str, ...] | None = None
        self.unchanged = False

    # -- digits

    async def action_choose(self, key: str) -> None:
        if self.typed is not None:
            self.type_digit(key)
            return
        target, path = self.target, self.path
        if target is None or path is None:
            return
        choice = keyed(target.schema).get(key)
        if choice is None:
            keys = [*keyed(target.schema)]
            self.refuse(f"{key} is no category: {keys[0]} to {keys[-1]}")
        elif self._may_label(target):
            if target.schema.multi and (choice.name in self.chosen() or self.fits(path, choice)):
                self._toggle(path, choice)
            elif target.schema.multi:
                return
            elif self.stepping:
                await self.commit(target, choice, None)
            elif self.fits(path, choice):
                await self.commit(target, choice, self.step_for(path, choice))

    def _may_label(self, target: Target) -> bool:
        """Return whether a label may be set now: after the reveal only on purpose."""
        if self.case is None:
            return False
        sealed = self.case.seal != "open"
        if sealed and self.case.revealed and decided(target.label) and not self.changing:
            self.refuse("the judge was revealed: e changes your label, kept as a second row")
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

    # -- several categories at once: saved when the path is left

    @property
    def unsaved(self) -> bool:
        return self.toggled is not None

    def chosen(self) -> tuple[str, ...]:
        return super().chosen() if self.toggled is None else self.toggled

    def standing(self, path: PathView) -> Content:
        here = self.path
        if self.toggled is None or here is None or path.item_id != here.item_id:
            return super().standing(path)
        return Content("○ not saved: ") + safe(" + ".join(self.toggled) or "nothing")

    def _toggle(self, path: PathView, choice: Category) -> None:
        """Take a category on or off; one that excludes the others, and unsure, stand alone."""
        schema = self.session.schema
        alone = {c.name for c in schema.categories if _alone(c)}
        before = set(self.chosen())
        if self.toggled is None and path.label is not None and path.label.state == "unsure":
            before = {c.name for c in schema.categories if c.state == "unsure"}
        if choice.name in before:
            after = before - {choice.name}
        elif choice.name in alone:
            after = {choice.name}
        else:
            after = (before - alone) | {choice.name}
        self.toggled = tuple(c.name for c in schema.categories if c.name in after)
        self.draw()
        self.say("not saved yet: enter saves it, and so does leaving the path; u drops it")

    async def settle(self) -> bool:
        if self.toggled is None:
            return True
        return await self._save_toggled(advance=False)

    async def action_go_on(self) -> None:
        if self.typed is not None:
            self.end_typing()
        elif self.toggled:
            await self._save_toggled(advance=True)
        else:
            self.toggled = None
            await super().action_go_on()

    async def _save_toggled(self, *, advance: bool) -> bool:
        path, target = self.path, self.target
        if path is None or target is None or self.toggled is None:
            return True
        if not self.toggled:
            self.toggled = None
            self.draw()
            return True
        chosen = [c for c in self.session.schema.categories if c.name in self.toggled]
        if not all(self.fits(path, c) for c in chosen):
            return False
        unsure = chosen[0].state == "unsure"
        taking = all(c.takes_first_wrong_step for c in chosen)
        record = await self._write(
            target,
            "unsure" if unsure else "labelled",
            categories=None if unsure else self.toggled,
            step=self.step_for(path, chosen[0]) if taking else None,
        )
        if record is None:
            return False
        self.toggled = None
        await self.took_path(record, advance=advance)
        return True

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        self.toggled = None
        return await super().open(case_id, item_id=item_id)

    # -- saving

    async def commit(self, target: Target, choice: Category, step: int | None) -> None:
        """Save one category, or the state it stands for."""
        name = choice.name if choice.state == "labelled" else None
        record = await self._write(target, choice.state, category=name, step=step)
        if record is not None:
            await self._took(record)

    async def action_skip(self) -> None:
        await self._skip(None)

    async def _skip(self, reason: str | None) -> None:
        target = self.target
        if target is not None and self._may_label(target):
            self.toggled = None
            record = await self._write(target, "skipped", note=reason)
            if record is not None:
                await self._took(record)

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

    async def _write(
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
        store, session = self.session.store, self.session
        seconds, before = self.clock.read(), session.saved_at
        record = await self.attempt(
            lambda: store.commit_label(
                session.rater.id,
                target.item_id,
                target.schema,
                state=state,
                category=category,
                categories=categories,
                first_wrong_step=step,
                note=note,
                active_seconds=seconds,
                session_id=session.sitting_id,
            ),
            write=True,
        )
        if record is not None:
            self.unchanged = target.label is not None and target.label.id == record.id
            if self.unchanged:
                session.saved_at = before
            else:
                self.fresh_mark = None
        return record

    async def _took(self, record: LabelRecord) -> None:
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
        before, here = self.path, f"{SIDES[self.place.side]} path {self.place.turn + 1}"
        self.take(record)
        unchanged = self.unchanged
        if not unchanged:
            self.count(record)
        if self.changing:
            self.changing = False
            self.draw()
            self.say(UNCHANGED if unchanged else SECOND_ROW)
        elif advance:
            self._advance()
            warned = None if before is None else self.warning(replace(before, label=record))
            if self.finished and self.session.auto_next and not warned:
                await self.next_waiting()
            await self.arrive()
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

    def count(self, record: LabelRecord) -> None:
        """Count a path's label for the session under way, and bring the pace up to date."""
        sitting = self.session.sitting
        if sitting is not None:
            (sitting.decided.add if record.decided else sitting.decided.discard)(record.item_id)
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
            await self._annotate(target, flagged=flagged)

    def action_comment(self) -> None:
        target = self.target
        if target is None:
            return
        from tui.screens.modals import NoteScreen

        note = target.label.note if target.label is not None and target.label.note else ""

        async def done(text: str | None) -> None:
            if text is not None and text != note:
                await self._annotate(target, note=text)

        self.app.push_screen(NoteScreen(f"Comment on {target.name}", note, removes=True), done)

    async def _annotate(
        self, target: Target, *, flagged: bool | None = None, note: str | None = None
    ) -> None:
        store, session = self.session.store, self.session
        record = await self.attempt(
            lambda: store.annotate(
                session.rater.id,
                target.item_id,
                target.schema,
                flagged=flagged,
                note=note,
                session_id=session.sitting_id,
            ),
            write=True,
        )
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


def _alone(category: Category) -> bool:
    return category.excludes_others or category.state != "labelled" or category.name == "none"
