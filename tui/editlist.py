"""The sampled edits as a rater walks through them, and where they go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.intervention_records import EditFilter, EditingRecord, EditPlace, EditQueue, EditRow

if TYPE_CHECKING:
    from store import Store

FILTERS: tuple[EditFilter, ...] = ("unlabelled", "all", "done", "flagged")
SCHEMA = "counterfactual"
"""The label schema of edited steps."""
SAMPLE, SEED = 50, 0
"""How many edits are drawn when none were, and by which seed."""


@dataclass(frozen=True, slots=True)
class EditList:
    """The sampled edits of one editing that a filter keeps, as they were read.

    `others` are all editings, in the order of their making.
    """

    editing: EditingRecord
    show: EditFilter
    queue: EditQueue
    others: tuple[EditingRecord, ...]

    @property
    def rows(self) -> tuple[EditRow, ...]:
        """The edits."""
        return self.queue.rows

    def index(self, place: EditPlace | None) -> int | None:
        """Return where an edit stands in the list; None when it is not in it."""
        return next((i for i, r in enumerate(self.rows) if r.place == place), None)

    def beside(self, place: EditPlace | None, by: int) -> EditPlace | None:
        """Return the edit after or before one; the first, for one that is not in the list."""
        here = self.index(place)
        if here is None:
            return self.rows[0].place if self.rows else None
        return self.rows[here + by].place if 0 <= here + by < len(self.rows) else None


def read_list(
    store: Store, rater_id: int, editing: EditingRecord, show: EditFilter, *, sealed: bool
) -> EditList:
    """Read the sample; safe on any thread."""
    queue = store.edit_queue(editing.id, rater_id, sealed=sealed, show=show)
    return EditList(editing, show, queue, store.editings())


def find_start(
    store: Store, rater_id: int, *, sealed: bool
) -> tuple[EditList, EditPlace | None] | None:
    """Return where the rater goes on; None where nothing was edited. Safe on any thread.

    That is the edit of the last act while it waits, else the next of its editing that waits, else
    the first of another; where none waits, the whole list of the newest editing.
    """
    editings = list(store.editings())
    if not editings:
        return None
    last = store.last_edit(rater_id)
    if last is not None:
        editings.sort(key=lambda e: e.id != last[0])
    for editing in editings:
        found = read_list(store, rater_id, editing, "unlabelled", sealed=sealed)
        if found.rows:
            place = last[1] if last is not None and last[0] == editing.id else None
            due = next_open(store, rater_id, editing.id, place, sealed=sealed)
            return found, due
    newest = editings[0] if last is not None else editings[-1]
    whole = read_list(store, rater_id, newest, "all", sealed=sealed)
    return whole, whole.rows[0].place if whole.rows else None


def next_open(
    store: Store, rater_id: int, editing_id: int, here: EditPlace | None, *, sealed: bool
) -> EditPlace | None:
    """Return the edit in hand while it waits, else the next that does, from the first again."""
    rows = store.edit_queue(editing_id, rater_id, sealed=sealed).rows
    at = next((i for i, r in enumerate(rows) if r.place == here), 0)
    order = [*rows[at:], *rows[:at]]
    return next((r.place for r in order if not r.decided), None)
