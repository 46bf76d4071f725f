"""The relation sets as they are read, and the findings of one as a rater walks through them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from store.relation_records import AskingRecord, RelationFilter, RelationRow
from tui.relationlines import SetRow

if TYPE_CHECKING:
    from store import Store

FILTERS: tuple[RelationFilter, ...] = ("unlabelled", "all", "done", "flagged")
SCHEMA, CAUSE, STATED = "cycle", "cycle-cause", "pair"
"""The label schemas of findings, of why an edge is wrong, and of single statements."""


def read_sets(store: Store, rater_id: int) -> tuple[SetRow, ...]:
    """Return the sets that models were asked about, with one's own progress; safe on any thread."""
    sizes = {s.id: s.n_objects for s in store.relation_sets()}
    rows = []
    for asking in store.relation_askings(asks="pairs"):
        queue = store.relation_queue(rater_id, SCHEMA, asking_id=asking.id)
        row = SetRow(asking, sizes[asking.set_id], store.relation_counts(asking.id))
        if queue:
            row = replace(row, n_review=len(queue), n_mine=sum(r.decided for r in queue))
        rows.append(row)
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class SetCheck:
    """Whether the truth of a whole set may be shown: what there is to reveal, or why it may not."""

    items: dict[str, tuple[int, ...]]
    revealed: bool
    why: str | None


def check_set(store: Store, rater_id: int, asking: AskingRecord) -> SetCheck:
    """Return whether a rater may see the truth of a set whole.

    That tells what is true in every finding about the set, whichever model it is about and however
    it was drawn; so each must be decided by them, and there must be one.
    """
    rows = {
        schema: [
            row
            for other in store.relation_askings(asking.set_id, asks="pairs")
            for row in store.relation_queue(rater_id, schema, asking_id=other.id)
        ]
        for schema in (SCHEMA, STATED)
    }
    every = [row for found in rows.values() for row in found]
    n_left = sum(not row.decided for row in every)
    why = None
    if not every:
        why = "nothing of this set was reviewed yet: f finds what to review"
    elif n_left:
        n = f"{n_left:,} finding{'' if n_left == 1 else 's'}"
        why = f"{n} of this set to decide before the reveal: label or skip (x) them"
    items = {schema: tuple(r.item_id for r in found) for schema, found in rows.items() if found}
    return SetCheck(items, bool(every) and all(r.revealed for r in every), why)


def reveal_set(store: Store, rater_id: int, check: SetCheck) -> int:
    """Record that a rater looks behind the seal of a whole set; return how many items are new."""
    return sum(
        store.reveal_relations(items, rater_id, store.schema(schema))
        for schema, items in check.items.items()
    )


def sees_truth(store: Store, rater_id: int, asking: AskingRecord) -> bool:
    """Return whether the truth of a whole set may be shown to a rater.

    Where nothing is sealed; else once they revealed every finding about it.
    """
    if store.schema(SCHEMA).seal == "open":
        return True
    return check_set(store, rater_id, asking).revealed


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one set and model that a filter keeps, as they were read.

    `schema` says whether these are contradictions or single statements that were drawn; `n_all` is
    their number without the filter.
    """

    asking: AskingRecord
    schema: str
    show: RelationFilter
    rows: tuple[RelationRow, ...]
    n_all: int

    def index(self, item_id: int | None) -> int | None:
        """Return where an item stands in the list; None when it is not in it."""
        return next((i for i, r in enumerate(self.rows) if r.item_id == item_id), None)

    def beside(self, item_id: int | None, by: int) -> int | None:
        """Return the item after or before one; the first, for one that is not in the list."""
        here = self.index(item_id)
        if here is None:
            return self.rows[0].item_id if self.rows else None
        return self.rows[here + by].item_id if 0 <= here + by < len(self.rows) else None


def read_findings(
    store: Store, rater_id: int, asking: AskingRecord, schema: str, show: RelationFilter
) -> Findings:
    """Read a queue; safe on any thread."""
    rows = store.relation_queue(rater_id, schema, asking_id=asking.id)
    kept = store.relation_queue(rater_id, schema, asking_id=asking.id, show=show)
    return Findings(asking, schema, show, kept, len(rows))


def find_start(
    store: Store, rater_id: int, asking: AskingRecord, schema: str = SCHEMA
) -> tuple[Findings, int | None]:
    """Return where the rater goes on in a set: at the finding that is due; None where none waits."""
    waiting = read_findings(store, rater_id, asking, schema, "unlabelled")
    if waiting.rows:
        here = store.last_relation(rater_id, schema)
        return waiting, next_open(store, rater_id, asking, schema, here)
    whole = read_findings(store, rater_id, asking, schema, "all")
    return whole, whole.rows[0].item_id if whole.rows else None


def next_open(
    store: Store, rater_id: int, asking: AskingRecord, schema: str, here: int | None
) -> int | None:
    """Return the finding in hand while it waits, else the next that does, from the first again."""
    rows = store.relation_queue(rater_id, schema, asking_id=asking.id)
    at = next((i for i, r in enumerate(rows) if r.item_id == here), 0)
    order = [*rows[at:], *rows[:at]]
    return next((r.item_id for r in order if not r.decided), None)


def asking_of_item(store: Store, item: str) -> tuple[AskingRecord, str] | None:
    """Return the asking that an item's key names, and the schema of its queue; None for others."""
    from store.keys import RelationItemKey

    try:
        key = RelationItemKey.parse(item)
    except ValueError:
        return None
    for asking in store.relation_askings(asks="pairs"):
        if (asking.set, asking.name) == (key.set, key.asking):
            return asking, SCHEMA if key.kind == "cycle" else STATED
    return None
