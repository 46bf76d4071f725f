"""The sampled traces of a decomposition as a rater walks through them, and where they go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.model_records import (
    DecomposedFilter,
    DecomposedRow,
    DecompositionCounts,
    DecompositionRecord,
)
from store.records import Progress

if TYPE_CHECKING:
    from store import Store

PAGE = 500
FILTERS: tuple[DecomposedFilter, ...] = ("unlabelled", "all", "done", "flagged")
SCHEMA = "decomposition"
"""The label schema of criteria."""
SAMPLE, SEED = 50, 0
"""How many traces are drawn when none were, and by which seed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The sampled traces of a decomposition that a filter keeps, as they were read.

    `others` are the names of all decompositions, in the order of their making.
    """

    decomposition: DecompositionRecord
    show: DecomposedFilter
    rows: tuple[DecomposedRow, ...]
    progress: Progress
    counts: DecompositionCounts
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """Where labelling begins: a decomposition, and the trace that is due, None where none is."""

    decomposition: DecompositionRecord
    trace_id: int | None


def read_sample(
    store: Store, rater_id: int, decomposition: DecompositionRecord, show: DecomposedFilter
) -> Sample:
    """Read the sample; safe on any thread."""
    rows: list[DecomposedRow] = []
    after = None
    while True:
        page = store.decomposition_rows(
            decomposition.id, rater_id, show=show, after=after, limit=PAGE
        )
        rows += page.rows
        after = page.cursor
        if after is None:
            break
    return Sample(
        decomposition,
        show,
        tuple(rows),
        store.decomposition_progress(decomposition.id, rater_id),
        store.decomposition_counts(decomposition.id),
        tuple(d.name for d in store.decompositions()),
    )


def find_start(store: Store, rater_id: int) -> Start | None:
    """Return where the rater goes on; None where nothing is decomposed. Safe on any thread.

    That is the trace of the last act while a criterion of it is open, else the next trace that
    waits in that decomposition, else the first one of another. Where none waits, it is the
    decomposition of the last act, or else the newest.
    """
    known = {d.id: d for d in store.decompositions()}
    if not known:
        return None
    last = store.last_decomposed(rater_id)
    ids = list(known)
    if last is not None:
        due = due_trace(store, rater_id, *last)
        if due is not None:
            return Start(known[last[0]], due)
        ids.remove(last[0])
    for ident in ids:
        due = due_trace(store, rater_id, ident)
        if due is not None:
            return Start(known[ident], due)
    return Start(known[last[0]] if last is not None else known[max(known)], None)


def due_trace(
    store: Store, rater_id: int, decomposition_id: int, after: int | None = None
) -> int | None:
    """Return the trace that is due: this one while it waits, the next after it, or the first."""
    if after is not None:
        view = store.decomposition_view(decomposition_id, after, rater_id)
        if view.n_left:
            return after
    return next_waiting(store, rater_id, decomposition_id, after)


def next_waiting(
    store: Store, rater_id: int, decomposition_id: int, after: int | None = None
) -> int | None:
    """Return the next sampled trace that waits, from the first again at the end."""
    for place in dict.fromkeys((after, None)):
        found = store.neighbour_decomposed(decomposition_id, rater_id, place, show="unlabelled")
        if found is not None:
            return found
    return None


class SampleList:
    """A sample that was read, and the place in it.

    It stays as it was read while traces are labelled, so that one can go back to those that no
    longer match the filter.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.index = 0

    @property
    def rows(self) -> tuple[DecomposedRow, ...]:
        """The sampled traces."""
        return self.sample.rows

    @property
    def row(self) -> DecomposedRow | None:
        """The row at the place in hand."""
        return self.rows[self.index] if 0 <= self.index < len(self.rows) else None

    def take(self, sample: Sample, *, trace_id: int | None = None, index: int = 0) -> None:
        """Show another reading; stand on a trace, or where it is gone on the row at `index`."""
        self.sample = sample
        self.index = max(0, min(index, len(self.rows) - 1))
        if trace_id is not None:
            self.find(trace_id)

    def find(self, trace_id: int) -> bool:
        """Stand on a trace; False when it is not here."""
        for i, row in enumerate(self.rows):
            if row.trace_id == trace_id:
                self.index = i
                return True
        return False

    def step(self, by: int) -> DecomposedRow | None:
        """Go to the next or previous row; None at the ends."""
        if not 0 <= self.index + by < len(self.rows):
            return None
        self.index += by
        return self.row
