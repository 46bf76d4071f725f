"""Audit cases: shown sealed, revealed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import func
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import answer_key, decode_answer, decode_trace
from store.engine import Base
from store.errors import SealedError
from store.keys import path_key
from store.records import CaseView, PathView, SchemaRecord
from store.repository.rows import label_record, need_schema
from store.repository.seen import is_revealed, record_reveal, same_questions

CaseSort = Literal["random", "question"]


@dataclass(frozen=True, slots=True)
class RevealCheck:
    """Whether a rater may reveal a case's question now.

    `n_left` paths of this case are undecided; `n_left_elsewhere` paths of the same question in
    other pools, or under another dataset's name for it, are, and would count as labelled after
    the reveal.
    """

    ok: bool
    n_left: int
    n_left_elsewhere: int


def digest(*parts: str) -> str:
    """Return a hash of texts that no separator can confuse."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Cases(Base):
    """Case views. Nothing here returns what the seal hides."""

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
            questions = same_questions(s, question_of(s, case_id))
            return _reveal_check(s, case_id, questions, rater_id, schema)

    def reveal(self, case_id: int, rater_id: int, schema: SchemaRecord) -> None:
        """Record that this rater looks behind the seal of the case's question.

        Raises
        ------
        SealedError
            While a path of the case is undecided.
        """
        with self._write() as s:
            questions = same_questions(s, question_of(s, case_id))
            check = _reveal_check(s, case_id, questions, rater_id, schema)
            if not check.ok:
                raise SealedError(f"{check.n_left} paths of this question are not labelled yet")
            record_reveal(s, rater_id, questions)


def case_query(*what: Any) -> Any:
    """Return a query over the cases with their pools and questions."""
    return (
        select(*what)
        .select_from(t.AuditCase)
        .join(t.Pool, col(t.Pool.id) == col(t.AuditCase.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
    )


def read_case(s: Session, case_id: int, rater_id: int, schema: SchemaRecord) -> CaseView:
    """Read a case inside an open session."""
    pool, question = s.exec(case_query(t.Pool, t.Question).where(t.AuditCase.id == case_id)).one()
    rater = s.get_one(t.Rater, rater_id).name
    rows = s.exec(
        select(t.Item, t.Trace)
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id))
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .where(t.CaseItem.case_id == case_id)
    ).all()
    items = [i.id or 0 for i, _ in rows]
    labels = labels_of(s, rater_id, schema.name, items)
    newest = need_schema(s, schema.name)
    views = [_path_view(item, trace, labels.get(item.id or 0), newest) for item, trace in rows]
    revealed = is_revealed(s, rater_id, question.id or 0)
    sealed = labels_of(s, rater_id, schema.name, items, before_reveal=True)
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
        revealed_elsewhere=revealed
        and schema.seal != "open"
        and any(_is_left(sealed.get(i), newest) for i in items),
    )


def _is_left(label: t.Label | None, newest: SchemaRecord) -> bool:
    """Return whether an item still waits for a decision under the newest version."""
    return label is None or not label_record(label, "", newest).decided


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


def _path_view(
    item: t.Item, trace: t.Trace, label: t.Label | None, newest: SchemaRecord
) -> PathView:
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
        label=None if label is None else label_record(label, item.key, newest),
    )


def labels_of(
    s: Session, rater_id: int, schema: str, item_ids: list[int], *, before_reveal: bool = False
) -> dict[int, t.Label]:
    """Return the newest row of each item; of those not made after a reveal where that is asked."""
    query = select(func.max(col(t.Label.id)).label("id")).where(
        t.Label.rater_id == rater_id,
        t.Label.schema_name == schema,
        col(t.Label.item_id).in_(item_ids),
    )
    if before_reveal:
        query = query.where(col(t.Label.before_reveal).is_not(False))
    newest = query.group_by(col(t.Label.item_id)).subquery()
    rows = s.exec(select(t.Label).join(newest, newest.c.id == col(t.Label.id))).all()
    return {r.item_id: r for r in rows}


def question_of(s: Session, case_id: int) -> int:
    """Return the id of a case's question."""
    found: int = s.exec(case_query(t.Question.id).where(t.AuditCase.id == case_id)).one()
    return found


def _reveal_check(
    s: Session, case_id: int, questions: list[int], rater_id: int, schema: SchemaRecord
) -> RevealCheck:
    rows = s.exec(
        select(t.CaseItem.case_id, t.CaseItem.item_id)
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .where(col(t.Item.question_id).in_(questions))
    ).all()
    labels = labels_of(s, rater_id, schema.name, [item for _, item in rows])
    newest = need_schema(s, schema.name)
    left = [case for case, item in rows if _is_left(labels.get(item), newest)]
    here = sum(case == case_id for case in left)
    return RevealCheck(here == 0, here, len(left) - here)
