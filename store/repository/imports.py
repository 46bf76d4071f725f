"""Writing what files hold: questions, traces, labels, verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session, select

from scoring.parsing import normalize_answer
from store import tables as t
from store.codec import encode_answer, encode_issues, encode_steps
from store.columns import content_hash, folded
from store.engine import Base
from store.keys import is_name, path_key
from store.records import NewQuestion, NewTrace
from store.repository.items import ConflictError
from store.repository.label_imports import LabelBatch, Outcome, row_id


@dataclass
class _PoolState:
    id: int
    samples: dict[str, str]


class ImportBatch(LabelBatch):
    """Lines of one import, written in one transaction.

    Each method returns whether the line added something, was known already, or changed a label;
    it raises `ConflictError`, leaving nothing behind, when the line contradicts the database.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._questions: dict[tuple[str, str], t.Question] = {}
        self._pools: dict[tuple[int, str], _PoolState] = {}

    def add_trace(self, new: NewTrace) -> Outcome:
        """Store a trace with its question and pool."""
        parts = (new.question.dataset, new.question.external_id, new.pool, new.sample)
        for part in parts:
            if not is_name(part):
                raise ConflictError(
                    f"{part!r} in a key: a name without control characters is right"
                )
        digest = content_hash(new.source)
        known = self._sample_hash(new)
        if known not in (None, digest):
            raise ConflictError(
                f"{path_key(*parts)} is in the database with another text; "
                "give this one another sample or pool"
            )
        question = self._question(new.question)
        if known is not None:
            return "known"
        pool = self._pool(question, new)
        self._s.add(
            t.Trace(
                pool_id=pool.id,
                sample=new.sample,
                form=new.form,
                source=new.source,
                source_hash=digest,
                steps=encode_steps(new.trace.steps),
                answer_text=new.trace.answer_text,
                answer=encode_answer(new.trace.answer),
                issues=encode_issues(new.trace.issues),
                n_steps=len(new.trace.steps),
                n_unannotated=new.trace.unannotated,
                parsed=new.trace.answer is not None,
                strict=new.strict,
                parser=new.parser,
                extra=dict(new.extra) if new.extra else None,
            )
        )
        pool.samples[new.sample] = digest
        return "added"

    def _sample_hash(self, new: NewTrace) -> str | None:
        """Return the hash of what is stored under a trace's key, None when nothing is."""
        question = self._known_question(new.question)
        if question is None:
            return None
        state = self._known_pool(row_id(question), new.pool)
        return None if state is None else state.samples.get(new.sample)

    def settled_question(self, new: NewQuestion, *, kind_stated: bool) -> NewQuestion:
        """Return the question under the answer kind, options and percent rule it already has.

        Every trace of a question is read under the same rules, whichever line came first.
        """
        row = self._known_question(new)
        if row is None:
            return new
        name = f"question {new.dataset}/{new.external_id}"
        if kind_stated and new.answer_kind != row.answer_kind:
            raise ConflictError(
                f"{name} has answer kind {row.answer_kind} in the database, not {new.answer_kind}"
            )
        if new.options is not None and row.options != new.options:
            raise ConflictError(f"{name} has other options in the database")
        if new.percent == "ratio" != row.percent:
            raise ConflictError(f"{name} has the percent rule {row.percent} in the database")
        kind: Any = row.answer_kind
        gold = new.gold
        if new.gold_text is not None:
            gold = normalize_answer(
                new.gold_text,
                kind,
                options=row.options,
                percent=row.percent,
            )
            if gold is None:
                raise ConflictError(f"{name}: the gold {new.gold_text!r} is no {kind} answer")
        return replace(new, answer_kind=kind, options=row.options, percent=row.percent, gold=gold)

    def _known_question(self, new: NewQuestion) -> t.Question | None:
        key = (new.dataset, new.external_id)
        row = self._questions.get(key)
        if row is None:
            row = self._s.exec(
                select(t.Question).where(
                    t.Question.dataset == new.dataset, t.Question.external_id == new.external_id
                )
            ).one_or_none()
            if row is not None:
                self._questions[key] = row
        return row

    def _question(self, new: NewQuestion) -> t.Question:
        row = self._known_question(new)
        if row is None:
            row = t.Question(
                dataset=new.dataset,
                external_id=new.external_id,
                text=new.text,
                gold_text=new.gold_text,
                gold=encode_answer(new.gold),
                answer_kind=new.answer_kind,
                options=new.options,
                percent=new.percent,
                extra=dict(new.extra) if new.extra else None,
            )
            self._s.add(row)
            self._s.flush()
            text = folded(new.dataset, new.external_id, new.text)
            self._s.add(t.QuestionSearch(question_id=row_id(row), folded=text))
        else:
            _same_question(row, new)
            if row.gold_text is None and new.gold_text is not None:
                row.gold_text, row.gold = new.gold_text, encode_answer(new.gold)
                self._s.add(row)
        self._questions[new.dataset, new.external_id] = row
        return row

    def _known_pool(self, question_id: int, name: str) -> _PoolState | None:
        state = self._pools.get((question_id, name))
        if state is None:
            pool_id = self._s.exec(
                select(t.Pool.id).where(t.Pool.question_id == question_id, t.Pool.name == name)
            ).one_or_none()
            if pool_id is None:
                return None
            samples = self._s.exec(
                select(t.Trace.sample, t.Trace.source_hash).where(t.Trace.pool_id == pool_id)
            ).all()
            state = self._pools[question_id, name] = _PoolState(pool_id, dict(samples))
        return state

    def _pool(self, question: t.Question, new: NewTrace) -> _PoolState:
        key = (row_id(question), new.pool)
        state = self._known_pool(*key)
        if state is None:
            row = t.Pool(question_id=key[0], name=new.pool, model=new.model, variant=new.variant)
            self._s.add(row)
            self._s.flush()
            state = self._pools[key] = _PoolState(row_id(row), {})
        return state


def _same_question(row: t.Question, new: NewQuestion) -> None:
    name = f"question {new.dataset}/{new.external_id}"
    if row.text != new.text:
        raise ConflictError(f"{name} is in the database with another wording: {row.text[:80]!r}")
    both_gold = new.gold_text is not None and row.gold_text is not None
    if both_gold and row.gold != encode_answer(new.gold):
        # Whoever imports may have to label the question: the stored answer is not told.
        raise ConflictError(
            f"{name} has another gold answer in the database than {new.gold_text!r}"
        )


class Imports(Base):
    """Import side of the store."""

    @contextmanager
    def importing(self) -> Iterator[ImportBatch]:
        """Open one transaction for many lines: all of it is kept, or nothing on an exception."""
        with self._write() as session:
            yield ImportBatch(session)
        self._let_others_write()
