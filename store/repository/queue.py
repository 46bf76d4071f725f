"""The queue of cases: paged, filtered, searched, in an order that nothing sealed touches."""

from __future__ import annotations

import json
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
        narrowed = [*_search(search), *_in_group(dataset, pool)]
        with self._read() as s:
            mine = _Mine(rater_id, schema, outdated_categories(s, schema))
            query = case_query(t.AuditCase, t.Pool, t.Question)
            query = _shown(query.where(*narrowed), mine, show).order_by(*keys)
            n_before = 0
            if after is not None:
                n_before, *values = json.loads(after)
                query = query.where(*_later(keys, values))
            rows = s.exec(query.limit(limit + 1)).all()
            more = len(rows) > limit
            rows = rows[:limit]
            cursor = None
            if more:
                case, _, question = rows[-1]
                last = {
                    "random": (case.random_key, case.id),
                    "question": (question.dataset, question.external_id, case.id),
                }[sort]
                cursor = json.dumps([n_before + len(rows), *last])
            return Page(
                tuple(_case_rows(s, mine, rows, n_before)),
                _total(s, mine, narrowed, show),
                cursor,
            )

    def neighbour_case(
        self,
        rater_id: int,
        case_id: int | None,
        *,
        direction: Literal["next", "previous"] = "next",
        show: CaseFilter = "all",
        schema: str = "path",
    ) -> int | None:
        """Return the id of the case after or before this one in random order, None at the end.

        With `case_id` None, the first (or last) case.
        """
        forward = direction == "next"
        keys = _sort_keys("random")
        with self._read() as s:
            mine = _Mine(rater_id, schema, outdated_categories(s, schema))
            query = _shown(select(t.AuditCase.id), mine, show)
            query = query.order_by(*(keys if forward else [k.desc() for k in keys]))
            if case_id is not None:
                here = (s.get_one(t.AuditCase, case_id).random_key, case_id)
                query = query.where(tuple_(*keys) > here if forward else tuple_(*keys) < here)
            found: int | None = s.exec(query.limit(1)).first()
            return found

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


def _case_rows(
    s: Session, mine: _Mine, rows: list[tuple[t.AuditCase, t.Pool, t.Question]], n_before: int
) -> list[CaseRow]:
    counts = _progress(s, mine, [c.id or 0 for c, _, _ in rows])
    revealed = set(s.exec(select(t.Reveal.question_id).where(t.Reveal.rater_id == mine.rater_id)))
    out = []
    for position, (case, pool, question) in enumerate(rows, start=n_before + 1):
        n_items, n_mine, n_flagged = counts.get(case.id or 0, (0, 0, 0))
        out.append(
            CaseRow(
                case_id=case.id or 0,
                position=position,
                dataset=question.dataset,
                question_id=question.external_id,
                question=question.text,
                pool=pool.name,
                n_items=n_items,
                n_mine=n_mine,
                flagged=n_flagged > 0,
                revealed=question.id in revealed,
            )
        )
    return out


def _progress(s: Session, mine: _Mine, case_ids: list[int]) -> dict[int, tuple[int, int, int]]:
    """Return how many paths each case has, how many are decided, and how many are flagged."""
    item = func.distinct(col(t.CaseItem.item_id))
    rows = s.exec(
        select(
            col(t.CaseItem.case_id),
            func.count(item),
            func.count(item).filter(mine.decides()),
            func.count(item).filter(col(t.Label.flagged)),
        )
        .join(t.Label, mine.is_mine(col(t.CaseItem.item_id)), isouter=True)
        .where(col(t.CaseItem.case_id).in_(case_ids))
        .group_by(col(t.CaseItem.case_id))
    ).all()
    return {case_id: (n, decided, flagged) for case_id, n, decided, flagged in rows}


def _total(s: Session, mine: _Mine, narrowed: list[ColumnElement[bool]], show: CaseFilter) -> int:
    """Count the whole filtered list; what is unlabelled is all but what is done."""

    def count(show: CaseFilter) -> int:
        query = (case_query if narrowed else select)(func.count(col(t.AuditCase.id)))
        found: int = s.exec(_shown(query.where(*narrowed), mine, show)).one()
        return found

    return count("all") - count("done") if show == "unlabelled" else count(show)


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


def _in_group(dataset: str | None, pool: str | None) -> list[ColumnElement[bool]]:
    """Return the clauses that keep one dataset, one pool name, or both."""
    wanted = ((col(t.Question.dataset), dataset), (col(t.Pool.name), pool))
    return [column == value for column, value in wanted if value is not None]


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
    decided = exists().where(mine.is_mine(col(t.CaseItem.item_id)), mine.decides())
    return exists().where(col(t.CaseItem.case_id) == col(t.AuditCase.id), ~decided)


def decided_paths(rater_id: int, schema: str = "path", outdated: tuple[str, ...] = ()) -> Any:
    """Return a query of the cases this rater has decided paths of: case_id, n_decided, n_items."""
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
            func.count(func.distinct(col(t.CaseItem.item_id))).label("n_decided"),
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
