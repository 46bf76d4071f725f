"""The sampled replies as a rater walks through them, and where they go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.deduction_records import DeductionFilter, DeductionQueueRead, DeductionRow

if TYPE_CHECKING:
    from store import Store

FILTERS: tuple[DeductionFilter, ...] = ("unlabelled", "all", "done", "flagged")
SAMPLE, SEED = 50, 0
"""How many replies are drawn when none were, and by which seed."""


@dataclass(frozen=True, slots=True)
class ReplyList:
    """The sampled replies that a filter keeps, as they were read."""

    show: DeductionFilter
    queue: DeductionQueueRead

    @property
    def rows(self) -> tuple[DeductionRow, ...]:
        """The replies."""
        return self.queue.rows

    def index(self, item_id: int | None) -> int | None:
        """Return where a reply stands in the list; None when it is not in it."""
        return next((i for i, r in enumerate(self.rows) if r.item_id == item_id), None)

    def beside(self, item_id: int | None, by: int) -> int | None:
        """Return the reply after or before one; the first, for one that is not in the list."""
        here = self.index(item_id)
        if here is None:
            return self.rows[0].item_id if self.rows else None
        return self.rows[here + by].item_id if 0 <= here + by < len(self.rows) else None


def read_replies(store: Store, rater_id: int, show: DeductionFilter) -> ReplyList:
    """Read the sample; safe on any thread."""
    return ReplyList(show, store.deduction_queue(rater_id, show=show))


def find_start(store: Store, rater_id: int) -> tuple[ReplyList, int | None]:
    """Return where the rater goes on; safe on any thread.

    That is the reply of the last act while it waits, else the next that waits; where none waits,
    the whole list.
    """
    waiting = read_replies(store, rater_id, "unlabelled")
    if waiting.rows:
        return waiting, next_open(store, rater_id, store.last_deduction(rater_id))
    whole = read_replies(store, rater_id, "all")
    return whole, whole.rows[0].item_id if whole.rows else None


def next_open(store: Store, rater_id: int, here: int | None) -> int | None:
    """Return the reply in hand while it waits, else the next that does, from the first again."""
    rows = store.deduction_queue(rater_id).rows
    at = next((i for i, r in enumerate(rows) if r.item_id == here), 0)
    order = [*rows[at:], *rows[:at]]
    return next((r.item_id for r in order if not r.decided), None)
