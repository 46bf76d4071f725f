"""The relation sets as they are read, and the findings of one as a rater walks through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.relation_records import AskingRecord
from tui.relationlines import SetRow

if TYPE_CHECKING:
    from store import Store

SCHEMA, CAUSE, STATED = "cycle", "cycle-cause", "pair"
"""The label schemas of findings, of why an edge is wrong, and of single statements."""


def read_sets(store: Store, rater_id: int) -> tuple[SetRow, ...]:
    """Return the sets that models were asked about; safe on any thread."""
    sizes = {s.id: s.n_objects for s in store.relation_sets()}
    return tuple(
        SetRow(a, sizes[a.set_id], store.relation_counts(a.id))
        for a in store.relation_askings(asks="pairs")
    )


def sees_truth(store: Store, rater_id: int, asking: AskingRecord) -> bool:
    """Return whether the truth of a set may be shown to a rater: where nothing is sealed."""
    return store.schema(SCHEMA).seal == "open"
