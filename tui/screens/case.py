"""Labelling a case: one key a label, saved when the screen says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from textual.content import Content

from store import RevealCheck
from store.records import CaseView, Category, LabelRecord, PathView, UndoResult
from tui import wording
from tui.actions import bindings_of
from tui.screens.casepanes import SIDES, CasePanes
from tui.text import safe
from tui.walk import decided, next_open


class CaseScreen(CasePanes):
    """The case screen with its keys."""

    BINDINGS = bindings_of("case")

    # -- labelling

    async def action_choose(self, key: str) -> None:
        categories = self.session.schema.categories
        if not 1 <= int(key) <= len(categories):
            self.refuse(f"{key} is no category: 1 to {len(categories)}")
            return
        if not self._may_label():
            return
        choice = categories[int(key) - 1]
        path = self.path
        if path is None:
            return
        step = self.marks.get(path.item_id)
        if step is not None and not choice.takes_first_wrong_step:
            self.refuse(
                safe(choice.name)
                + Content(f" takes no first wrong step: w at step {step} takes the mark off")
            )
            self.marks[path.item_id] = step
            return
        if path.item_id not in self.marks and choice.takes_first_wrong_step and path.label:
            step = path.label.first_wrong_step
        await self._commit(path, choice, step)

    async def action_skip(self) -> None:
        path = self.path
        if path is None or not self._may_label():
            return
        await self._commit(path, None, None)

    def _may_label(self) -> bool:
        """Return whether a label may be set now: after the reveal only on purpose."""
        path = self.path
        if self.case is None or path is None:
            return False
        if self.case.revealed and decided(path.label) and not self.changing:
            self.refuse("the judge was revealed: e changes your label, kept as a second row")
            return False
        if self.finished and not self.changing and path.item_id not in self.marks:
            self.refuse("all are labelled: enter goes on; tab, ← or u to change one")
            return False
        return True

    async def _commit(self, path: PathView, choice: Category | None, step: int | None) -> None:
        store, session = self.session.store, self.session
        seconds = self.clock.read()

        def act() -> LabelRecord:
            return store.commit_label(
                session.rater.id,
                path.item_id,
                session.schema,
                state="skipped" if choice is None else choice.state,
                category=choice.name if choice and choice.state == "labelled" else None,
                first_wrong_step=step,
                active_seconds=seconds,
            )

        record = await self.attempt(act, write=True)
        if record is None:
            return
        self.marks.pop(path.item_id, None)
        self._take(record)
        if self.changing:
            self.changing = False
            self.draw()
            self.say("kept as a second row, marked as made after the reveal")
            return
        self._advance()

    def _advance(self) -> None:
        if self.case is None:
            return
        left = next_open(self.case, self.place)
        self.go(left or self.place)
        # A digit too many must not fall on the path that was labelled last.
        self.finished = left is None

    def _take(self, record: LabelRecord) -> None:
        """Put a committed label into the case that is shown."""
        if self.case is None:
            return

        def put(path: PathView) -> PathView:
            return replace(path, label=record) if path.item_id == record.item_id else path

        a, b = self.case.sides
        self.case = replace(self.case, sides=(tuple(map(put, a)), tuple(map(put, b))))

    def action_wrong(self) -> None:
        path, cursor = self.path, self.lines().cursor
        if path is None or cursor is None:
            self.refuse("there is no step to mark")
            return
        if self.wrong_step(path) == cursor:
            standing = path.label.first_wrong_step if path.label else None
            if standing is None:
                self.marks.pop(path.item_id, None)
            else:
                self.marks[path.item_id] = None
        else:
            self.marks[path.item_id] = cursor
        self.draw()
        self.say_state()

    async def action_flag(self) -> None:
        path = self.path
        if path is None:
            return
        flagged = not (path.label is not None and path.label.flagged)
        await self._annotate(path, flagged=flagged)

    def action_comment(self) -> None:
        path = self.path
        if path is None:
            return
        from tui.screens.modals import CommentScreen

        note = path.label.note if path.label is not None and path.label.note else ""

        async def done(text: str | None) -> None:
            if text is not None and text != note:
                await self._annotate(path, note=text)

        self.app.push_screen(CommentScreen(SIDES[self.place.side], note), done)

    async def _annotate(
        self, path: PathView, *, flagged: bool | None = None, note: str | None = None
    ) -> None:
        store, session = self.session.store, self.session
        record = await self.attempt(
            lambda: store.annotate(
                session.rater.id, path.item_id, session.schema, flagged=flagged, note=note
            ),
            write=True,
        )
        if record is not None:
            self._take(record)
            self.draw()
            self.say_state()

    async def action_undo(self) -> None:
        await self.reverse("undo")

    async def action_redo(self) -> None:
        await self.reverse("redo")

    async def reverse(self, act: Literal["undo", "redo"]) -> None:
        """Undo or redo, then go to the path it was about."""
        store, rater = self.session.store, self.session.rater.id
        before = self.session.saved_at
        try:
            done: UndoResult | None = await self.written(
                lambda: store.undo(rater) if act == "undo" else store.redo(rater)
            )
        except Exception as problem:
            self.fail(problem)
            return
        if done is None:
            self.session.saved_at = before
            self.refuse(f"nothing to {act}")
            return
        self.marks.pop(done.item_id, None)
        case_id = self.case_id if done.case_id is None else done.case_id
        if await self.open(case_id, item_id=done.item_id):
            word = "undone" if act == "undo" else "done again"
            self.say(
                Content(f"{word}: {SIDES[self.place.side]} path {self.place.turn + 1} is ")
                + wording.label(done.label),
                self.left(self.case) if self.case else "",
            )

    # -- looking behind the seal

    async def action_reveal(self) -> None:
        case = self.case
        if case is None:
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
        self.draw()
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
        if not case.revealed:
            self.refuse("a digit labels, and changes a label until the reveal")
            return
        self.changing = True
        self.draw()
        self.say("the next digit is kept as a second row, made after the reveal; tab: other side")

    # -- sheets

    def action_raw(self) -> None:
        if self.case is not None and self.path is not None:
            from tui.screens.sheets import RawScreen

            self.app.push_screen(RawScreen(self.case, self.path, SIDES[self.place.side]))

    def action_graph(self) -> None:
        if self.path is not None:
            from tui.screens.sheets import GraphScreen

            self.app.push_screen(GraphScreen([(SIDES[self.place.side], self.path, None)]))


def _warning(check: RevealCheck) -> str:
    n = wording.count(check.n_left_elsewhere, "path")
    return (
        f"{n} of this question in other pools are not labelled by you yet. "
        "After the reveal, labels on them count as made after it."
    )
