"""The list of cases as a rater walks through it: one page of a keyset query at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from store.records import CaseFilter, CaseRow, Page

if TYPE_CHECKING:
    from store import Store

CaseSort = Literal["random", "question"]

PAGE = 200
FILTERS: tuple[CaseFilter, ...] = ("unlabelled", "all", "done", "flagged")
SORTS: tuple[CaseSort, ...] = ("random", "question")


@dataclass(frozen=True, slots=True)
class Query:
    """Which cases, in which order."""

    dataset: str | None = None
    pool: str | None = None
    show: CaseFilter = "unlabelled"
    sort: CaseSort = "random"
    search: str = ""
    schema: str = "path"

    def next_filter(self) -> Query:
        """Return the query with the next filter in turn."""
        return replace(self, show=FILTERS[(FILTERS.index(self.show) + 1) % len(FILTERS)])

    def next_sort(self) -> Query:
        """Return the query with the other order."""
        return replace(self, sort=SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page as it was read: its query, its number from 0, and the cursors of pages so far."""

    query: Query
    number: int
    cursors: tuple[str | None, ...]
    page: Page[CaseRow]


def read_page(
    store: Store, rater_id: int, query: Query, cursors: tuple[str | None, ...], number: int
) -> Snapshot:
    """Read a page whose cursor is known already (page 0 always is)."""
    page = store.cases(
        rater_id,
        show=query.show,
        sort=query.sort,
        search=query.search,
        dataset=query.dataset,
        pool=query.pool,
        after=cursors[number],
        limit=PAGE,
        schema=query.schema,
    )
    return Snapshot(query, number, (*cursors[: number + 1], page.cursor), page)


class CaseList:
    """A page of cases and the place in it; the place moves over page ends.

    The page stays as it was read while cases are worked on, so going back leads to the case that
    was left even when it no longer matches the filter.
    """

    def __init__(self, store: Store, rater_id: int, query: Query) -> None:
        self._store = store
        self._rater_id = rater_id
        self.query = query
        self.snapshot = Snapshot(query, 0, (None,), Page((), 0, None))
        self.index = 0

    @property
    def rows(self) -> tuple[CaseRow, ...]:
        """The rows of this page."""
        return self.snapshot.page.rows

    @property
    def row(self) -> CaseRow | None:
        """The row at the place in hand."""
        return self.rows[self.index] if 0 <= self.index < len(self.rows) else None

    def read(self, number: int = 0) -> Snapshot:
        """Read a page of the present query; safe on any thread, changes nothing here."""
        cursors = self.snapshot.cursors if self.snapshot.query == self.query else (None,)
        return read_page(self._store, self._rater_id, self.query, cursors, number)

    def read_to(self, case_id: int) -> Snapshot:
        """Read the page of the present query, in random order, that holds a case."""
        query = self.query
        cursors = self._store.cursors_to(
            self._rater_id,
            case_id,
            show=query.show,
            dataset=query.dataset,
            pool=query.pool,
            limit=PAGE,
            schema=query.schema,
        )
        return read_page(self._store, self._rater_id, query, (None, *cursors), len(cursors))

    def take(self, snapshot: Snapshot, *, case_id: int | None = None, index: int = 0) -> None:
        """Show a page; stand on the case, or where it is gone on the row at `index`."""
        self.snapshot = snapshot
        self.query = snapshot.query
        self.index = max(0, min(index, len(self.rows) - 1))
        if case_id is not None:
            self.find(case_id)

    def find(self, case_id: int) -> bool:
        """Stand on a case of this page; False when it is not here."""
        for i, row in enumerate(self.rows):
            if row.case_id == case_id:
                self.index = i
                return True
        return False

    def step(self, by: int) -> CaseRow | None:
        """Go to the next or previous row, reading another page at its end; None at the ends."""
        at = self.index + by
        if 0 <= at < len(self.rows):
            self.index = at
            return self.row
        number = self.snapshot.number + by
        if number < 0 or (by > 0 and self.snapshot.page.cursor is None):
            return None
        snapshot = self.read(number)
        if not snapshot.page.rows:
            return None
        self.take(snapshot, index=0 if by > 0 else PAGE)
        return self.row
