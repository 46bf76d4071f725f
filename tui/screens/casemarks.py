"""The first wrong step of a path: marked by the cursor or by its number, saved with the label."""

from __future__ import annotations

from textual.content import Content

from store.records import CaseView, Category, PathView
from tui.pathlines import answer_place, last_place, place_name
from tui.screens.casesteps import CaseSteps
from tui.text import safe
from tui.walk import SIDES, Place, decided
from tui.widgets.labelbar import LabelBar

AFTER_REVEAL = "the judge was revealed: e changes your label, kept as a second row"


class CaseMarks(CaseSteps):
    """A case with the keys that mark a first wrong step."""

    def clear(self) -> None:
        super().clear()
        self.typed: str | None = None
        self.fresh_mark: int | None = None
        """The path whose mark was set after everything that was saved."""

    def fits(self, path: PathView, choice: Category) -> bool:
        step = self.marks.get(path.item_id)
        if step is None or choice.takes_first_wrong_step:
            return True
        told = f" takes no first wrong step: w at {place_name(path, step)} takes the mark off"
        self.refuse(safe(choice.name) + Content(told))
        return False

    def step_for(self, path: PathView, choice: Category) -> int | None:
        """Return the first wrong step that a category is saved with."""
        if path.item_id in self.marks or not choice.takes_first_wrong_step:
            return self.marks.get(path.item_id)
        return None if path.label is None else path.label.first_wrong_step

    def may_mark(self, path: PathView) -> bool:
        """Return whether a mark may be set now: after the reveal only on purpose."""
        case = self.case
        shown = case is not None and case.revealed and case.seal != "open"
        if shown and decided(path.label) and not self.changing:
            self.refuse(AFTER_REVEAL)
            return False
        return True

    def action_wrong(self) -> None:
        path, cursor = self.path, self.lines().cursor
        self.typed = None
        if path is None or cursor is None:
            self.refuse("there is no step to mark")
            return
        if not self.may_mark(path):
            return
        self.mark(path, None if self.wrong_step(path) == cursor else cursor)

    def mark(self, path: PathView, step: int | None) -> None:
        """Mark a step first wrong, to be saved with the digit; None takes the mark off."""
        standing = path.label.first_wrong_step if path.label else None
        if step is None and standing is None:
            self.marks.pop(path.item_id, None)
        else:
            self.marks[path.item_id] = step
        self.fresh_mark = path.item_id
        self.finished = False  # a mark on a labelled path is meant for another label
        self.draw()
        self.say_state()

    def drop_mark(self) -> bool:
        """Take back the mark on the path in hand if that was the last act; tell whether it was."""
        path = self.path
        if path is None or self.fresh_mark != path.item_id or path.item_id not in self.marks:
            return False
        self.fresh_mark = None
        del self.marks[path.item_id]
        self.draw()
        return True

    def action_number(self) -> None:
        """Let the next digits be the number of the first wrong step."""
        path = self.path
        if path is None or not path.steps:
            self.refuse("there is no step to mark")
            return
        if not self.may_mark(path):
            return
        self.typed = "" if self.typed is None else None
        self.draw()

    def type_digit(self, key: str) -> None:
        path = self.path
        typed = (self.typed or "") + key
        if path is None:
            return
        last = last_place(path)
        if int(typed) > last:
            self.refuse(f"there is no step {typed}: 0 to {last}")
            self.typed = ""
            self.draw()
            return
        self.typed = typed
        # Another digit would go past the last step (and no number but 0 starts with 0).
        if int(typed) * 10 > last or typed == "0":
            self.end_typing()
        else:
            self.draw()

    def end_typing(self) -> None:
        path, typed = self.path, self.typed
        self.typed = None
        if path is None or not typed:
            self.draw()
            return
        self.stand_on(path, int(typed))
        self.mark(path, int(typed))

    def _draw_prompt(self, case: CaseView) -> None:
        path = self.path
        if self.typed is None or path is None:
            super()._draw_prompt(case)
            return
        side, last = SIDES[self.place.side], last_place(path)
        ends = f"enter: step {self.typed}" if self.typed else "esc: none"
        more = "" if answer_place(path) is None else f" ({last}: the answer)"
        asked = Content.styled(f" {side}: first wrong step, 0 to {last}{more}: ", "bold")
        self.query_one("#prompt", LabelBar).show(asked + f"{self.typed}▁   {ends}")

    def go(self, place: Place) -> None:
        self.typed = None
        super().go(place)

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        self.typed = None
        return await super().open(case_id, item_id=item_id)

    async def action_back(self) -> None:
        if self.typed is not None:
            self.typed = None
            self.draw()
            return
        path = self.path
        if path is not None and path.item_id in self.marks and not self.session.schema.multi:
            del self.marks[path.item_id]
            self.fresh_mark = None
            self.draw()
            self.say("the mark is taken back: it was not saved; esc again goes back")
            return
        await super().action_back()
