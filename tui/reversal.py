"""Undo and redo from any screen: what was done, and how to say it in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.content import Content

from store.records import CaseView, UndoResult
from tui import wording
from tui.session import Session
from tui.text import cells, cut, cut_middle, one_line, safe
from tui.walk import name_of, place_of

Act = Literal["undo", "redo"]
WORDS: dict[Act, str] = {"undo": "undone", "redo": "done again"}
QUESTION_CELLS = 20
"""Cells of a question's id that are always shown."""
LEAST_CELLS = 8
"""Cells in which a pool or a question can be told from others."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """An undo or redo: on what it was (`name`), and what it changed, in words.

    `case` is None where the item is in no case; `schema` names the schema of the label where it
    is another one than those in use.
    """

    act: Act
    result: UndoResult
    case: CaseView | None
    name: Content
    change: Content
    schema: str | None = None

    def told(self) -> Content:
        """Return what was done, for a screen that shows the case."""
        return self._said(self.name)

    def told_afar(
        self, width: int, *, dataset: str | None = None, pool: str | None = None
    ) -> Content:
        """Return what was done, with its case, for a screen that shows no case.

        The case is named by its question's id, and as far as there is room by its dataset and
        pool, or by its wording where the screen is about that dataset and pool alone.
        """
        case = self.case
        if case is None:
            return self._said(self.name)
        if (case.dataset, case.pool) != (dataset, pool):
            more = safe(case.dataset) + Content(" · ") + safe(case.pool)
            marks, shorten = ("(", ")"), cut_middle
        else:
            more, marks, shorten = one_line(case.question), ("“", "”"), cut
        question = cut_middle(safe(case.question_id), QUESTION_CELLS)
        rest = Content(", ") + self.name
        room = width - cells(self._said(question + rest)) - 3
        if room < LEAST_CELLS:
            return self._said(question + rest)
        shown = Content(f" {marks[0]}") + shorten(more, room) + Content(marks[1])
        return self._said(question + shown + rest)

    def _said(self, what: Content) -> Content:
        under = Content("") if self.schema is None else Content(" under ") + safe(self.schema)
        return Content(WORDS[self.act]) + under + Content(": ") + what + Content(": ") + self.change


def reverse(session: Session, act: Act) -> Reversal | None:
    """Undo or redo the rater's last act; None when there is none. On any thread, once."""
    store, rater = session.store, session.rater.id
    do = store.undo if act == "undo" else store.redo
    result = do(rater, session_id=session.sitting_id)
    if result is None:
        return None
    schema = store.schema(result.schema)
    rows = store.label_history(rater, result.item_id, schema)
    before = rows[-2] if len(rows) > 1 else None
    case = None if result.case_id is None else store.case(result.case_id, rater, session.schema)
    path_item = result.path_item_id or result.item_id
    if result.decomposition_id is not None or result.editing_id is not None:
        case = None  # criterion and edit are known by their keys: they are no path of the case
    place = None if case is None else place_of(case, path_item)
    if place is not None:
        name = Content(name_of(place, result.step))
    else:
        name = safe("another item" if result.label is None else result.label.item)
    in_use = [session.schema.name, session.step_schema.name if session.step_schema else None]
    return Reversal(
        act=act,
        result=result,
        case=case,
        name=name,
        change=wording.change(before, result.label),
        schema=None if result.schema in in_use else result.schema,
    )
