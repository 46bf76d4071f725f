"""What helps to read a case: its question unfolded in place, one side in the whole width."""

from __future__ import annotations

from textual import events
from textual.content import Content

from store.records import CaseView
from tui.pathlines import question_lines, question_text
from tui.screens.casepanes import CasePanes
from tui.widgets.stock import Columns, Paragraph

LEAST_SIDES = 8
"""Lines that stay for the sides, frames included, while a long question is unfolded."""
AROUND = 4
"""Lines of a case screen that are neither the question's nor the sides'."""


class CaseReading(CasePanes):
    """Two sides of a case below its question."""

    _question_drawn: tuple[int, bool] | None = None
    """Which question stands on the screen, and whether unfolded."""

    def clear(self) -> None:
        super().clear()
        self.unfolded = False

    async def open(self, case_id: int, *, item_id: int | None = None) -> bool:
        self.unfolded = self.unfolded and case_id == self.case_id
        return await super().open(case_id, item_id=item_id)

    def draw(self) -> None:
        case = self.case
        if case is not None:
            if self._question_drawn != (case.case_id, self.unfolded):
                self._draw_question(case)
            self.query_one("#sides", Columns).set_class(self.session.one_side, "-one")
        super().draw()

    def on_resize(self, _event: events.Resize) -> None:
        # Textual calls this beside the one of `CasePanes`.
        if self.case is not None:
            self._draw_question(self.case)

    def _draw_question(self, case: CaseView) -> None:
        """Show the question in a few lines, or unfolded in as many as leave room for the sides."""
        height = self.app.size.height
        limit = question_lines(height)
        if self.unfolded:
            limit = max(limit, height - AROUND - LEAST_SIDES)
        self.query_one("#question", Paragraph).show(
            Content.styled(" Q  ", "bold"),
            question_text(case, whole=self.unfolded),
            limit=limit,
            more="… (j: more)" if self.unfolded else "… (o: all)",
        )
        self._question_drawn = (case.case_id, self.unfolded)

    def action_unfold(self) -> None:
        """Show the whole question in place, or its first lines again."""
        if self.case is None:
            return
        question = self.query_one("#question", Paragraph)
        if not self.unfolded and not question.is_cut:
            self.refuse("that is the whole question")
            return
        self.unfolded = not self.unfolded
        self._draw_question(self.case)
        if not self.unfolded:
            self.say_state()
        elif question.is_cut:
            self.say("o folds the question; until then j and k scroll it, not the steps")
        else:
            self.say("the question in full: o folds it")

    def scroll_question(self, by: int) -> bool:
        """Scroll an unfolded question that is longer than its room; False where none is."""
        return self.unfolded and self.query_one("#question", Paragraph).scroll_lines(by)

    def action_move(self, by: int) -> None:
        if not self.scroll_question(by):
            super().action_move(by)

    def action_page(self, by: int) -> None:
        if not self.scroll_question(by * max(1, self.app.size.height - AROUND - LEAST_SIDES - 1)):
            super().action_page(by)

    def action_wide(self) -> None:
        """Give the side in hand the whole width, or both their halves again."""
        self.session.one_side = not self.session.one_side
        self.draw()
        if self.session.one_side:
            self.say("one side at a time: tab shows the other, z both")
        else:
            self.say_state()
