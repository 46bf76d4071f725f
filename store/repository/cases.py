"""Audit cases: made from scores, queued, shown sealed, revealed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, func, or_
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import answer_key, decode_answer, decode_trace
from store.engine import Base, SealedError
from store.keys import path_key
from store.records import (
    CaseFilter,
    CaseRow,
    CaseView,
    LabelState,
    Page,
    PathView,
    SchemaRecord,
)
from store.repository.labels import label_record

CaseSort = Literal["random", "question"]
DECIDED: tuple[LabelState, ...] = ("labelled", "unsure", "skipped")


@dataclass(frozen=True, slots=True)
class RevealCheck:
    """Whether a rater may reveal a case's question now.

    `n_left` paths of this case are undecided; `n_left_elsewhere` paths of the same question in
    other pools are, and would count as labelled after the reveal.
    """

    ok: bool
    n_left: int
    n_left_elsewhere: int


def digest(*parts: str) -> str:
    """Return a hash of texts that no separator can confuse."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Cases(Base):
    """Queue and case views. Nothing here returns what the seal hides."""

    def cases(
        self,
        rater_id: int,
        *,
        show: CaseFilter = "all",
        sort: CaseSort = "random",
        search: str = "",
        after: str | None = None,
        limit: int = 200,
    ) -> Page[CaseRow]:
        """Return one page of the queue in an order that no verdict or score touches.

        `search` keeps questions whose dataset, id or wording contains the text.
        """
        with self._read() as s:
            where = _case_filter(rater_id, show, search)
            total = s.exec(_case_query(func.count()).where(*where)).one()
            keys = _sort_keys(sort)
            query = _case_query(t.AuditCase, t.Pool, t.Question).where(*where).order_by(*keys)
            n_before = 0
            if after is not None:
                position, *values = after.split("\x1f")
                n_before = int(position)
                query = query.where(_later(keys, values))
            rows = s.exec(query.limit(limit + 1)).all()
            more = len(rows) > limit
            rows = rows[:limit]
            counts = _progress(s, rater_id, [c.id or 0 for c, _, _ in rows])
            revealed = set(
                s.exec(select(t.Reveal.question_id).where(t.Reveal.rater_id == rater_id))
            )
        out = []
        for offset, (case, pool, question) in enumerate(rows, start=1):
            n_items, n_mine, n_flagged = counts.get(case.id or 0, (0, 0, 0))
            out.append(
                CaseRow(
                    case_id=case.id or 0,
                    position=n_before + offset,
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
        cursor = None
        if more:
            case, pool, question = rows[-1]
            last = {
                "random": (case.random_key, case.id),
                "question": (question.dataset, question.external_id, case.id),
            }[sort]
            cursor = "\x1f".join([str(n_before + len(rows)), *map(str, last)])
        return Page(tuple(out), total, cursor)

    def neighbour_case(
        self,
        rater_id: int,
        case_id: int | None,
        *,
        direction: Literal["next", "previous"] = "next",
        show: CaseFilter = "all",
    ) -> int | None:
        """Return the id of the case after or before this one in random order, None at the end.

        With `case_id` None, the first (or last) case.
        """
        forward = direction == "next"
        order, ident = col(t.AuditCase.random_key), col(t.AuditCase.id)
        query = _case_query(t.AuditCase.id).where(*_case_filter(rater_id, show, ""))
        with self._read() as s:
            if case_id is not None:
                here = s.get_one(t.AuditCase, case_id).random_key
                query = query.where(
                    or_(order > here, and_(order == here, ident > case_id))
                    if forward
                    else or_(order < here, and_(order == here, ident < case_id))
                )
            query = (
                query.order_by(order, ident)
                if forward
                else query.order_by(order.desc(), ident.desc())
            )
            found: int | None = s.exec(query.limit(1)).first()
            return found

    def case_position(self, case_id: int) -> tuple[int, int]:
        """Return the 1-based place of a case in random order, and how many there are."""
        with self._read() as s:
            key = s.get_one(t.AuditCase, case_id).random_key
            order, ident = col(t.AuditCase.random_key), col(t.AuditCase.id)
            earlier = s.exec(
                select(func.count())
                .select_from(t.AuditCase)
                .where(or_(order < key, and_(order == key, ident < case_id)))
            ).one()
            total = s.exec(select(func.count()).select_from(t.AuditCase)).one()
        return earlier + 1, total

    def case(self, case_id: int, rater_id: int, schema: SchemaRecord) -> CaseView:
        """Return a case as a sealed rater sees it, sides in this rater's own order.

        Which side is A depends on the rater's name, the case and the answers alone, so it is
        random to the rater, and stays as it was when the case is opened again.
        """
        with self._read() as s:
            return read_case(s, case_id, rater_id, schema)

    def reveal_check(self, case_id: int, rater_id: int, schema: SchemaRecord) -> RevealCheck:
        """Return whether this rater may reveal the case's question, and what is undecided."""
        with self._read() as s:
            return _reveal_check(s, case_id, rater_id, schema)

    def reveal(self, case_id: int, rater_id: int, schema: SchemaRecord) -> None:
        """Record that this rater looks behind the seal of the case's question.

        Raises
        ------
        SealedError
            While a path of the case is undecided.
        """
        with self._write() as s:
            check = _reveal_check(s, case_id, rater_id, schema)
            if not check.ok:
                raise SealedError(f"{check.n_left} paths of this question are not labelled yet")
            question_id = _question_of(s, case_id)
            if not is_revealed(s, rater_id, question_id):
                s.add(t.Reveal(rater_id=rater_id, question_id=question_id))


def _case_query(*what: Any) -> Any:
    return (
        select(*what)
        .select_from(t.AuditCase)
        .join(t.Pool, col(t.Pool.id) == col(t.AuditCase.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
    )


def _sort_keys(sort: CaseSort) -> list[Any]:
    ident = col(t.AuditCase.id)
    if sort == "random":
        return [col(t.AuditCase.random_key), ident]
    return [col(t.Question.dataset), col(t.Question.external_id), ident]


def _later(keys: list[Any], values: list[str]) -> ColumnElement[bool]:
    typed: list[Any] = [*values[:-1], int(values[-1])]
    clauses = []
    for i, key in enumerate(keys):
        clauses.append(
            and_(*(k == v for k, v in zip(keys[:i], typed, strict=False)), key > typed[i])
        )
    return or_(*clauses)


def _my_latest(rater_id: int) -> Any:
    """This rater's newest row per item, as a subquery of item_id, state, flagged."""
    newest = (
        select(func.max(col(t.Label.id)).label("id"))
        .where(t.Label.rater_id == rater_id)
        .group_by(col(t.Label.schema_id), col(t.Label.item_id))
        .subquery()
    )
    return (
        select(
            col(t.Label.item_id).label("item_id"),
            col(t.Label.state).label("state"),
            col(t.Label.flagged).label("flagged"),
        )
        .join(newest, newest.c.id == col(t.Label.id))
        .subquery()
    )


def _case_filter(rater_id: int, filter_: CaseFilter, search: str) -> list[ColumnElement[bool]]:
    clauses: list[ColumnElement[bool]] = []
    if search:
        pattern = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        clauses.append(
            or_(
                *(
                    column.ilike(pattern, escape="\\")
                    for column in (
                        col(t.Question.text),
                        col(t.Question.external_id),
                        col(t.Question.dataset),
                    )
                )
            )
        )
    if filter_ == "flagged":
        clauses.append(col(t.AuditCase.id).in_(_touched(rater_id, flagged=True)))
    elif filter_ == "done":
        clauses.append(col(t.AuditCase.id).in_(done_cases(rater_id)))
    elif filter_ == "unlabelled":
        clauses.append(col(t.AuditCase.id).not_in(done_cases(rater_id)))
    return clauses


def _touched(rater_id: int, *, flagged: bool) -> Select[Any]:
    mine = _my_latest(rater_id)
    return (
        select(col(t.CaseItem.case_id))
        .join(mine, mine.c.item_id == col(t.CaseItem.item_id))
        .where(mine.c.flagged == flagged)
    )


def done_cases(rater_id: int) -> Any:
    """Return a query of the cases in which this rater has decided every path."""
    mine = _my_latest(rater_id)
    size = (
        select(func.count())
        .where(t.CaseItem.case_id == t.AuditCase.id)
        .correlate(t.AuditCase)
        .scalar_subquery()
    )
    touched = (
        select(col(t.CaseItem.case_id).label("case_id"), func.count().label("n"))
        .join(mine, mine.c.item_id == col(t.CaseItem.item_id))
        .where(mine.c.state.in_(DECIDED))
        .group_by(col(t.CaseItem.case_id))
        .subquery()
    )
    return (
        select(col(t.AuditCase.id))
        .join(touched, touched.c.case_id == col(t.AuditCase.id))
        .where(touched.c.n == size)
    )


def _progress(s: Session, rater_id: int, case_ids: list[int]) -> dict[int, tuple[int, int, int]]:
    mine = _my_latest(rater_id)
    rows = s.exec(
        select(
            col(t.CaseItem.case_id),
            func.count(),
            func.count(mine.c.item_id).filter(mine.c.state.in_(DECIDED)),
            func.count(mine.c.item_id).filter(mine.c.flagged),
        )
        .join(mine, mine.c.item_id == col(t.CaseItem.item_id), isouter=True)
        .where(col(t.CaseItem.case_id).in_(case_ids))
        .group_by(col(t.CaseItem.case_id))
    ).all()
    return {case_id: (n, decided, flagged) for case_id, n, decided, flagged in rows}


def read_case(s: Session, case_id: int, rater_id: int, schema: SchemaRecord) -> CaseView:
    """Read a case inside an open session."""
    pool, question = s.exec(_case_query(t.Pool, t.Question).where(t.AuditCase.id == case_id)).one()
    rater = s.get_one(t.Rater, rater_id).name
    rows = s.exec(
        select(t.Item, t.Trace)
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id))
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .where(t.CaseItem.case_id == case_id)
    ).all()
    labels = _labels_of(s, rater_id, schema.id, [i.id or 0 for i, _ in rows])
    views = [_path_view(item, trace, labels.get(item.id or 0)) for item, trace in rows]
    revealed = is_revealed(s, rater_id, question.id or 0)
    return CaseView(
        case_id=case_id,
        dataset=question.dataset,
        question_id=question.external_id,
        question=question.text,
        answer_kind=question.answer_kind,
        options=question.options,
        pool=pool.name,
        seal=schema.seal,
        sides=_sides(views, rater, path_key(question.dataset, question.external_id, pool.name, "")),
        revealed=revealed,
        revealed_elsewhere=revealed and not _reveal_check(s, case_id, rater_id, schema).ok,
    )


def _sides(
    views: list[PathView], rater: str, case_key: str
) -> tuple[tuple[PathView, ...], tuple[PathView, ...]]:
    ordered = sorted(views, key=lambda v: digest(rater, "path", v.item))
    groups: dict[str, list[PathView]] = {}
    for view in ordered:
        groups.setdefault("" if view.answer is None else answer_key(view.answer), []).append(view)
    if len(groups) == 1:
        return tuple(ordered[::2]), tuple(ordered[1::2])
    keys = sorted(groups, key=lambda k: digest(rater, "side", case_key, k))
    a = [v for k in keys[::2] for v in groups[k]]
    b = [v for k in keys[1::2] for v in groups[k]]
    return tuple(a), tuple(b)


def _path_view(item: t.Item, trace: t.Trace, label: t.Label | None) -> PathView:
    parsed = decode_trace(trace.steps, trace.answer_text, trace.answer, trace.issues)
    return PathView(
        item_id=item.id or 0,
        item=item.key,
        trace_id=trace.id or 0,
        steps=parsed.steps,
        answer_text=parsed.answer_text,
        answer=decode_answer(trace.answer),
        issues=parsed.issues,
        form=trace.form,
        source=trace.source,
        label=None if label is None else label_record(label, item.key),
    )


def _labels_of(
    s: Session, rater_id: int, schema_id: int, item_ids: list[int]
) -> dict[int, t.Label]:
    newest = (
        select(func.max(col(t.Label.id)).label("id"))
        .where(
            t.Label.rater_id == rater_id,
            t.Label.schema_id == schema_id,
            col(t.Label.item_id).in_(item_ids),
        )
        .group_by(col(t.Label.item_id))
        .subquery()
    )
    rows = s.exec(select(t.Label).join(newest, newest.c.id == col(t.Label.id))).all()
    return {r.item_id: r for r in rows}


def is_revealed(s: Session, rater_id: int, question_id: int) -> bool:
    """Return whether this rater has looked behind the seal of a question."""
    return (
        s.exec(
            select(t.Reveal.id).where(
                t.Reveal.rater_id == rater_id, t.Reveal.question_id == question_id
            )
        ).first()
        is not None
    )


def _question_of(s: Session, case_id: int) -> int:
    found: int = s.exec(_case_query(t.Question.id).where(t.AuditCase.id == case_id)).one()
    return found


def _reveal_check(s: Session, case_id: int, rater_id: int, schema: SchemaRecord) -> RevealCheck:
    question_id = _question_of(s, case_id)
    rows = s.exec(
        select(t.CaseItem.case_id, t.CaseItem.item_id)
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .where(t.Item.question_id == question_id)
    ).all()
    labels = _labels_of(s, rater_id, schema.id, [item for _, item in rows])
    left = [case for case, item in rows if item not in labels or labels[item].state not in DECIDED]
    here = sum(case == case_id for case in left)
    return RevealCheck(here == 0, here, len(left) - here)
