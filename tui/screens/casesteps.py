"""Labels on the steps of the path in hand, and what they suggest for the path."""

from __future__ import annotations

from textual.content import Content

from store.records import CaseView, ItemRef, LabelRecord, PathView
from tui import wording
from tui.pathlines import answer_place, place_name
from tui.resume import Stop
from tui.screens.casemoves import CaseMoves
from tui.screens.casepanes import Target
from tui.steplabels import Implied, implied, mismatch, next_step, open_step
from tui.text import safe
from tui.walk import SIDES, Place, decided, name_of
from tui.widgets.labelbar import LabelBar, keyed


class CaseSteps(CaseMoves):
    """A case whose digits go to the steps of one path while `stepping`."""

    def clear(self) -> None:
        super().clear()
        self.stepping = False
        self.steps_finished = False
        self._by_itself = False
        self._refs: dict[int, dict[int, int]] = {}
        self._path_seconds = 0.0

    @property
    def mode(self) -> str:
        """Which part of the registry holds: that of the case, or that of its steps."""
        return "steps" if self.stepping else "case"

    # -- what a digit goes to

    @property
    def target(self) -> Target | None:
        path, cursor, schema = self.path, self.lines().cursor, self.session.step_schema
        if not self.stepping or path is None or cursor is None or schema is None:
            return super().target
        item_id = self._refs.get(path.item_id, {}).get(cursor)
        if item_id is None:
            return None
        label = self.step_labels(path).get(cursor)
        return Target(item_id, schema, label, name_of(self.place, cursor))

    def step_labels(self, path: PathView) -> dict[int, LabelRecord]:
        """Return the rater's own labels on a path's steps."""
        return self.steps.get(path.item_id, {})

    # -- in and out

    async def action_steps(self) -> None:
        if self.stepping:
            self.leave_steps()
        elif await self.settle():
            await self.enter_steps()

    async def enter_steps(self, step: int | None = None) -> bool:
        """Turn the digits to the steps, at a step or at the first one without a label."""
        path = self.path
        if path is None or self.session.step_schema is None:
            self.refuse("this project has no schema for steps")
            return False
        if not path.steps:
            self.refuse("this path has no steps")
            return False
        if path.item_id not in self._refs:
            store, before = self.session.store, self.session.saved_at
            refs: tuple[ItemRef, ...] | None = await self.attempt(
                lambda: store.step_items(path.item_id), write=True
            )
            self.session.saved_at = before  # no label was saved
            if refs is None:
                return False
            self._refs[path.item_id] = {r.step: r.item_id for r in refs if r.step is not None}
        self._path_seconds = self.clock.read()
        self.clock.start()
        first = step if step is not None else self.open_step(path, -1)
        self.stepping, self.finished, self._by_itself = True, False, False
        self.show_guide(self.session.step_schema)
        self.steps_finished = first is None
        self.stand_on(path, 0 if first is None else first)
        self.show_footer(self.mode)
        self.draw()
        self.say_state()
        return True

    def leave_steps(self) -> None:
        """Turn the digits back to the path."""
        self._end_steps()
        self.draw()
        self.say_state()

    def _end_steps(self) -> None:
        if self.stepping:
            self.stepping = self.steps_finished = False
            # Seconds since the last step's label belong to no step: they are the path's.
            self.clock.start(self._path_seconds + self.clock.read())
            self.show_footer(self.mode)
            self.show_guide(self.session.schema)

    def open_step(self, path: PathView, after: int) -> int | None:
        """Return the next step without a decision, from the start again at the end."""
        return open_step(len(path.steps), self.step_labels(path), after)

    def stand_on(self, path: PathView, step: int) -> None:
        """Put the cursor on a step."""
        self._cursors[path.item_id] = step
        self.lines().select(step)

    async def open_at(self, stop: Stop) -> bool:
        if not await super().open_at(stop):
            return False
        path = self.path
        if stop.stepping:
            return await self.enter_steps(stop.step)
        if stop.step is not None and path is not None:
            self.stand_on(path, stop.step)
        return True

    def go(self, place: Place) -> None:
        self._end_steps()
        super().go(place)

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        self._end_steps()
        return await super().open(case_id, item_id=item_id)

    def moved(self) -> None:
        super().moved()
        if self.stepping:
            self.steps_finished = False
            if self.case is not None:
                self._draw_prompt(self.case)

    async def action_back(self) -> None:
        if self.stepping:
            self.leave_steps()
        elif await self.settle():
            await super().action_back()

    async def action_go_on(self) -> None:
        """Go to what needs a label next: a step, a path, a case."""
        path = self.path
        if not self.stepping or path is None:
            await super().action_go_on()
            return
        left = self.open_step(path, self.lines().cursor or 0)
        if self.steps_finished or left is None:
            self.leave_steps()
            return
        self.stand_on(path, left)
        self.draw()
        self.say_state()

    async def action_sticky(self) -> None:
        """Turn on or off that every path is entered by its steps."""
        self.session.steps_first = not self.session.steps_first
        if self.session.steps_first:
            if self.stepping or (await self.settle() and await self._enter_by_itself()):
                self.say("steps come first on every path now: S ends it")
            return
        if self.stepping and self._by_itself:
            self.leave_steps()
        if self.stepping:
            self.say("paths come first again; you are still in these steps: s leaves them")
        else:
            self.say("paths are labelled at once again: s labels steps")

    async def _enter_by_itself(self) -> bool:
        """Enter the steps because all paths are to be entered so, until `S` ends that."""
        self._by_itself = await self.enter_steps()
        return self._by_itself

    async def arrive(self) -> None:
        path = self.path
        fresh = path is not None and path.steps and not decided(path.label)
        if self.session.steps_first and fresh and not self.stepping:
            await self._enter_by_itself()

    # -- after a label

    def took_step(self, path: PathView, step: int, record: LabelRecord) -> None:
        """Show a committed step label and go to the next step."""
        self.steps.setdefault(path.item_id, {})[step] = record
        self.clock.start()
        following = next_step(len(path.steps), self.step_labels(path), step)
        # A digit too many must not fall on the step that was labelled last, nor on the path.
        self.steps_finished = following is None
        self.stand_on(path, step if following is None else following)
        self.draw()
        self.say_state()

    def suggestion(self, path: PathView) -> Implied | None:
        """Return what the steps imply for the path, unless it is so already."""
        labels = self.step_labels(path)
        found = implied(self.session.schema, len(path.steps), labels)
        if found is None or (path.label is not None and decided(path.label)):
            return None
        return found

    def warning(self, path: PathView) -> str | None:
        """Return where the path's label and those of its steps do not go together."""
        labels = self.step_labels(path)
        return mismatch(self.session.schema, len(path.steps), labels, path.label)

    # -- what is said

    def state(self, case: CaseView, path: PathView) -> Content:
        if self.stepping:
            return self._step_state(path)
        warned, suggested = self.warning(path), self.suggestion(path)
        if self.marks.get(path.item_id) is not None:
            return super().state(case, path)
        if warned:
            return Content("△ ") + safe(warned)
        if suggested:
            return self._suggested(suggested)
        return super().state(case, path)

    def _step_state(self, path: PathView) -> Content:
        labels, target = self.step_labels(path), self.target
        done = sum(decided(r) for r in labels.values())
        warned = self.warning(path)
        mark = self.marks.get(path.item_id)
        if mark is not None:
            told = " is first wrong: will be saved with the path's digit"
            return Content(place_name(path, mark) + told)
        if warned:
            return Content("△ ") + safe(warned)
        if target is not None and target.label is not None and target.label.note:
            return Content("comment: ") + safe(target.label.note)
        return Content(f"{done} of {len(path.steps)} steps labelled")

    def _suggested(self, found: Implied) -> Content:
        return Content("your steps suggest ") + self._named(found) + Content(": y takes it")

    def _named(self, found: Implied) -> Content:
        key = next(k for k, c in keyed(self.session.schema).items() if c == found.category)
        said = wording.decision("labelled", found.category.name, found.first_wrong_step)
        return Content(f"{key} ") + said

    def _draw_prompt(self, case: CaseView) -> None:
        path, cursor, schema = self.path, self.lines().cursor, self.session.step_schema
        if not self.stepping or path is None or schema is None or cursor is None:
            super()._draw_prompt(case)
            return
        prompt = self.query_one("#prompt", LabelBar)
        if self.steps_finished:
            said = Content(f" all {len(path.steps)} steps labelled:   ")
            found = self.suggestion(path)
            if found is not None:
                said += Content.styled("y", "bold") + " takes " + self._named(found) + "   "
            prompt.show(said + Content.styled("s", "bold") + " back to the path")
        elif cursor == answer_place(path):
            said = Content(" the answer is no step: ") + Content.styled("w", "bold")
            said += " marks it first wrong   " + Content.styled("s", "bold")
            prompt.show(said + " back to the path")
        else:
            prompt.ask(schema, f"{SIDES[self.place.side]} step {cursor}")
