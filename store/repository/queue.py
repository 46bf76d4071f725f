"""The queue of cases: paged, filtered, searched, in an order that nothing sealed touches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, exists, func, tuple_
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import folded
from store.engine import Base
from store.records import CaseFilter, CaseRow, Page
from store.repository.cases import CaseSort, case_query
from store.repository.rows import is_decided, is_standing, outdated_categories


class Queue(Base):
    """Queue views. Nothing here returns what the seal hides."""

    def cases(
        self,
        rater_id: int,
        *,
        show: CaseFilter = "all",
        sort: CaseSort = "random",
        search: str = "",
        dataset: str | None = None,
        pool: str | None = None,
        after: str | None = None,
        limit: int = 200,
        schema: str = "path",
    ) -> Page[CaseRow]:
        """Return one page of the queue in an order that no verdict or score touches.

        `search` keeps questions whose dataset, id or wording contains the text, whatever its
        case; `dataset` and `pool` keep the cases of that dataset and of the pools of that name.
        What is labelled, done or flagged is so under `schema`.
        """
        keys = _sort_keys(sort)
        group, found = _in_group(dataset, pool), _search(search)
        with self._read() as s:
            mine = _Mine(rater_id, schema, outdated_categories(s, schema))
            n_all = 0 if show in LISTED else _count(s, mine, [*group, *found], "all")
            walked = group
            if sort == "random" and group and n_all and not found and _is_large(s, n_all, limit):
                walked = _in_group(dataset, pool, by_index=False)
            query = case_query(*_COLUMNS).where(*walked, *found)
            query = _shown(query, mine, show).order_by(*keys)
            n_before = 0
            if after is not None:
                n_before, *values = json.loads(after)
                query = query.where(*_later(keys, values))
            rows = s.execute(query.limit(limit + 1)).all()
            more = len(rows) > limit
            rows = rows[:limit]
            cursor = None
            if more:
                end = rows[-1]
                last = {
                    "random": (end.random_key, end.case_id),
                    "question": (end.dataset, end.external_id, end.case_id),
                }[sort]
                cursor = json.dumps([n_before + len(rows), *last])
            total = n_all if show == "all" else _count(s, mine, [*group, *found], show, n_all)
            return Page(tuple(_case_rows(s, mine, rows, n_before)), total, cursor)

    def neighbour_case(
        self,
        rater_id: int,
        case_id: int | None,
        *,
        direction: Literal["next", "previous"] = "next",
        show: CaseFilter = "all",
        dataset: str | None = None,
        pool: str | None = None,
        schema: str = "path",
    ) -> int | None:
        """Return the id of the case after or before this one in random order, None at the end.

        With `case_id` None, the first (or last) case. `dataset` and `pool` narrow as for `cases`.
        """
        forward = direction == "next"
        keys = _sort_keys("random")
        narrowed = _in_group(dataset, pool)
        with self._read() as s:
            mine = _Mine(rater_id, schema, outdated_categories(s, schema))
            query = (case_query if narrowed else select)(t.AuditCase.id)
            query = _shown(query.where(*narrowed), mine, show)
            query = query.order_by(*(keys if forward else [k.desc() for k in keys]))
            if case_id is not None:
                here = (s.get_one(t.AuditCase, case_id).random_key, case_id)
                query = query.where(tuple_(*keys) > here if forward else tuple_(*keys) < here)
            found: int | None = s.exec(query.limit(1)).first()
            return found

    def cursors_to(
        self,
        rater_id: int,
        case_id: int,
        *,
        show: CaseFilter = "all",
        dataset: str | None = None,
        pool: str | None = None,
        limit: int = 200,
        schema: str = "path",
    ) -> tuple[str, ...]:
        """Return the cursors of all pages in random order up to the page that holds a case.

        None are needed for the first page. The list is that of `cases` with the same arguments; a
        case that is not in it is taken to stand where it would.
        """
        keys = _sort_keys("random")
        narrowed = _in_group(dataset, pool)
        with self._read() as s:
            mine = _Mine(rater_id, schema, outdated_categories(s, schema))
            here = (s.get_one(t.AuditCase, case_id).random_key, case_id)
            place = func.row_number().over(order_by=keys).label("place")
            query = (case_query if narrowed else select)(place, *keys)
            earlier = _shown(query.where(*narrowed, tuple_(*keys) < here), mine, show).subquery()
            ends = select(*earlier.c).where(earlier.c.place % limit == 0).order_by(earlier.c.place)
            return tuple(json.dumps([*row]) for row in s.exec(ends))

    def case_position(self, case_id: int) -> tuple[int, int]:
        """Return the 1-based place of a case in random order, and how many there are."""
        with self._read() as s:
            here = (s.get_one(t.AuditCase, case_id).random_key, case_id)
            count = select(func.count()).select_from(t.AuditCase)
            earlier = s.exec(count.where(tuple_(*_sort_keys("random")) < here)).one()
            return earlier + 1, s.exec(count).one()


@dataclass(frozen=True, slots=True)
class _Mine:
    """Whose labels count, under which schema, and which of its categories no longer do."""

    rater_id: int
    schema: str
    outdated: tuple[str, ...]

    def is_mine(self, item_id: Any) -> ColumnElement[bool]:
        """Return the clause that a label is this rater's standing one on an item."""
        return and_(
            col(t.Label.item_id) == item_id,
            col(t.Label.rater_id) == self.rater_id,
            col(t.Label.schema_name) == self.schema,
            is_standing(t.Label),
        )

    def decides(self) -> ColumnElement[bool]:
        """Return the clause that a label decides its item."""
        return is_decided(t.Label, self.outdated)


LISTED: tuple[CaseFilter, ...] = ("done", "flagged")
"""Filters that start from a list of cases; the others, from all of them."""
_COLUMNS: tuple[Any, ...] = (
    col(t.AuditCase.id).label("case_id"),
    col(t.AuditCase.random_key),
    col(t.Pool.name).label("pool"),
    col(t.Question.id).label("question_id"),
    col(t.Question.dataset),
    col(t.Question.external_id),
    col(t.Question.text).label("question"),
)


def _case_rows(s: Session, mine: _Mine, rows: Sequence[Any], n_before: int) -> list[CaseRow]:
    counts = _progress(s, mine, [row.case_id for row in rows])
    revealed = set(
        s.exec(
            select(t.Reveal.question_id).where(
                t.Reveal.rater_id == mine.rater_id,
                col(t.Reveal.question_id).in_([row.question_id for row in rows]),
            )
        )
    )
    out = []
    for position, row in enumerate(rows, start=n_before + 1):
        n_items, n_mine, n_flagged = counts.get(row.case_id, (0, 0, 0))
        out.append(
            CaseRow(
                case_id=row.case_id,
                position=position,
                dataset=row.dataset,
                question_id=row.external_id,
                question=row.question,
                pool=row.pool,
                n_items=n_items,
                n_mine=n_mine,
                flagged=n_flagged > 0,
                revealed=row.question_id in revealed,
            )
        )
    return out


def _progress(s: Session, mine: _Mine, case_ids: list[int]) -> dict[int, tuple[int, int, int]]:
    """Return how many paths each case has, how many are decided, and how many are flagged.

    A path has one standing label of a rater's at most, so rows can be counted.
    """
    rows = s.exec(
        select(
            col(t.CaseItem.case_id),
            func.count(),
            func.count().filter(mine.decides()),
            func.count().filter(col(t.Label.flagged)),
        )
        .join(t.Label, mine.is_mine(col(t.CaseItem.item_id)), isouter=True)
        .where(col(t.CaseItem.case_id).in_(case_ids))
        .group_by(col(t.CaseItem.case_id))
    ).all()
    return {case_id: (n, decided, flagged) for case_id, n, decided, flagged in rows}


def _count(
    s: Session,
    mine: _Mine,
    narrowed: list[ColumnElement[bool]],
    show: CaseFilter,
    n_all: int = 0,
) -> int:
    """Count the whole filtered list; what is unlabelled is all but what is done."""
    if show == "unlabelled":
        return n_all - _count(s, mine, narrowed, "done")
    query = (case_query if narrowed else select)(func.count(col(t.AuditCase.id)))
    found: int = s.exec(_shown(query.where(*narrowed), mine, show)).one()
    return found


def _is_large(s: Session, n_group: int, limit: int) -> bool:
    """Return whether a page of a group is sooner found by walking through all cases in order.

    A page of `limit` cases is then met after about limit · cases / group of them, while the other
    way, sorting the group, costs as much as the group has cases.
    """
    n_cases = s.exec(select(func.count()).select_from(t.AuditCase)).one()
    return n_group**2 > limit * n_cases


def _sort_keys(sort: CaseSort) -> list[Any]:
    ident = col(t.AuditCase.id)
    if sort == "random":
        return [col(t.AuditCase.random_key), ident]
    return [col(t.Question.dataset), col(t.Question.external_id), ident]


def _later(keys: list[Any], values: list[Any]) -> list[ColumnElement[bool]]:
    """Return the clauses for what follows a row; the first lets an index find the place."""
    return [tuple_(*keys[:-1]) >= tuple(values[:-1]), tuple_(*keys) > tuple(values)]


def _search(search: str) -> list[ColumnElement[bool]]:
    if not search:
        return []
    found = select(t.QuestionSearch.question_id).where(
        col(t.QuestionSearch.folded).contains(folded(search), autoescape=True)
    )
    return [col(t.Question.id).in_(found)]


def _in_group(
    dataset: str | None, pool: str | None, *, by_index: bool = True
) -> list[ColumnElement[bool]]:
    """Return the clauses that keep one dataset, one pool name, or both.

    Unless `by_index`, they are written as expressions, which no index holds.
    """
    wanted = ((col(t.Question.dataset), dataset), (col(t.Pool.name), pool))
    return [
        (column if by_index else column.concat("")) == value
        for column, value in wanted
        if value is not None
    ]


def _shown(query: Any, mine: _Mine, show: CaseFilter) -> Any:
    """Return the query with a filter.

    The lists of cases are joined: in an IN, SQLite may try each of them for every other row.
    """
    if show == "unlabelled":
        return query.where(_has_open_path(mine))
    if show == "all":
        return query
    if show == "flagged":
        wanted = _flagged_cases(mine).subquery()
    else:
        wanted = done_cases(mine.rater_id, mine.schema, mine.outdated).subquery()
    return query.join(wanted, wanted.c.case_id == col(t.AuditCase.id))


def _flagged_cases(mine: _Mine) -> Any:
    return (
        select(col(t.CaseItem.case_id))
        .join(t.Label, mine.is_mine(col(t.CaseItem.item_id)))
        .where(col(t.Label.flagged))
        .distinct()
    )


def _has_open_path(mine: _Mine) -> ColumnElement[bool]:
    """Return the clause that some path of the case is undecided; stops at the first."""
    # Of an id, not of everything: so the index alone tells.
    decided = exists(col(t.Label.id)).where(mine.is_mine(col(t.CaseItem.item_id)), mine.decides())
    item = exists(col(t.CaseItem.item_id))
    return item.where(col(t.CaseItem.case_id) == col(t.AuditCase.id), ~decided)


def decided_paths(rater_id: int, schema: str = "path", outdated: tuple[str, ...] = ()) -> Any:
    """Return a query of the cases this rater has decided paths of: case_id, n_decided, n_items.

    A path has one standing label of a rater's at most, so rows can be counted.
    """
    mine = _Mine(rater_id, schema, outdated)
    whole = t.CaseItem.__table__.alias()  # type: ignore[attr-defined]
    size = (
        select(func.count())
        .select_from(whole)
        .where(whole.c.case_id == t.CaseItem.case_id)
        .correlate(t.CaseItem)
        .scalar_subquery()
    )
    return (
        select(
            col(t.CaseItem.case_id),
            func.count().label("n_decided"),
            size.label("n_items"),
        )
        .join(t.Label, mine.is_mine(col(t.CaseItem.item_id)))
        .where(mine.decides())
        .group_by(col(t.CaseItem.case_id))
    )


def done_cases(rater_id: int, schema: str = "path", outdated: tuple[str, ...] = ()) -> Any:
    """Return a query of the cases in which this rater has decided every path."""
    mine = decided_paths(rater_id, schema, outdated).subquery()
    return select(mine.c.case_id).where(mine.c.n_decided == mine.c.n_items)
