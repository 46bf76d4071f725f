"""Writing what files hold: questions, traces, labels, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlmodel import Session, col, select

from scoring.types import NormalForm
from store import tables as t
from store.codec import encode_answer, encode_issues, encode_steps
from store.columns import canonical, content_hash, folded
from store.engine import Base
from store.keys import is_name, path_key
from store.records import NewQuestion, NewTrace
from store.repository.ablations import link_ablation
from store.repository.items import ConflictError
from store.repository.label_imports import LabelBatch, Outcome, row_id
from store.repository.relation_imports import RelationBatch
from store.repository.seen import Seen

QuestionOutcome = Literal["added", "known", "completed"]
"""What became of a question by itself; ``completed``: a known one was given what it lacked."""

LOOK_UP = 500
"""Keys to a query."""


@dataclass
class _PoolState:
    id: int
    samples: dict[str, str]
    parameters: Any = None


class ImportBatch(LabelBatch):
    """Lines of one import, written in one transaction.

    Each method returns whether the line added something, was known already, or changed a label;
    it raises `ConflictError`, leaving nothing behind, when the line contradicts the database.
    `relations` takes the lines about relations.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._questions: dict[tuple[str, str], t.Question] = {}
        self._unknown: set[tuple[str, str]] = set()
        self._pools: dict[tuple[int, str], _PoolState] = {}
        self._seen: Seen | None = None
        self.relations = RelationBatch(session)

    def add_trace(self, new: NewTrace) -> Outcome:
        """Store a trace with its question and pool."""
        parts = (new.question.dataset, new.question.external_id, new.pool, new.sample)
        _check_names(*parts)
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

    def link_ablation(
        self, new: NewTrace, medoid_trace_id: int, source_hash: str, scoring_key: str
    ) -> None:
        """Record that a stored trace's pool was sampled with another trace's reasoning forbidden.

        Raises
        ------
        ConflictError
            When the pool was sampled with another one forbidden.
        """
        pool = self._pool(self._question(new.question), new)
        link_ablation(self._s, pool.id, medoid_trace_id, source_hash, scoring_key)

    def look_up(self, questions: Iterable[NewQuestion]) -> None:
        """Find out in few queries which of many questions are known."""
        by_dataset: dict[str, set[str]] = {}
        for q in questions:
            if is_name(q.dataset) and is_name(q.external_id):
                by_dataset.setdefault(q.dataset, set()).add(q.external_id)
        for dataset, wanted in by_dataset.items():
            ids = sorted(wanted)
            for start in range(0, len(ids), LOOK_UP):
                part = ids[start : start + LOOK_UP]
                rows = self._s.exec(
                    select(t.Question).where(
                        t.Question.dataset == dataset, col(t.Question.external_id).in_(part)
                    )
                ).all()
                self._questions.update({(dataset, r.external_id): r for r in rows})
            self._unknown.update((dataset, i) for i in ids if (dataset, i) not in self._questions)

    def add_question(self, new: NewQuestion, *, kind_stated: bool = True) -> QuestionOutcome:
        """Store a question by itself.

        A known one must say the same: wording, options, percent rule, answer kind (unless that was
        only guessed), gold, and the further fields both have. It is given the gold and the fields
        that it lacks, nothing else. No message tells a gold answer.
        """
        _check_names(new.dataset, new.external_id)
        row = self._known_question(new)
        if row is None:
            self._new_question(new)
            return "added"
        gold = _agreed_gold(row, new, kind_stated)
        lacking = _lacking_fields(row, new)
        gains_gold = gold is not None and row.gold_text is None
        if gains_gold:
            row.gold_text, row.gold = new.gold_text, encode_answer(gold)
        if lacking:
            row.extra = {**(row.extra or {}), **lacking}
        self._s.add(row)
        return "completed" if gains_gold or lacking else "known"

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
            from scoring.parsing import normalize_answer

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
        if row is None and key not in self._unknown:
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
            return self._new_question(new)
        _same_question(row, new)
        if row.gold_text is None and new.gold_text is not None:
            row.gold_text, row.gold = new.gold_text, encode_answer(new.gold)
            self._s.add(row)
        return row

    def _new_question(self, new: NewQuestion) -> t.Question:
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
        self._questions[new.dataset, new.external_id] = row
        self._seen = self._seen or Seen(self._s)
        self._seen.note(row_id(row), new.text, new.options)
        return row

    def _known_pool(self, question_id: int, name: str) -> _PoolState | None:
        state = self._pools.get((question_id, name))
        if state is None:
            pool = self._s.exec(
                select(t.Pool.id, t.Pool.parameters).where(
                    t.Pool.question_id == question_id, t.Pool.name == name
                )
            ).one_or_none()
            if pool is None:
                return None
            pool_id, parameters = pool
            samples = self._s.exec(
                select(t.Trace.sample, t.Trace.source_hash).where(t.Trace.pool_id == pool_id)
            ).all()
            state = _PoolState(pool_id or 0, dict(samples), parameters)
            self._pools[question_id, name] = state
        return state

    def _pool(self, question: t.Question, new: NewTrace) -> _PoolState:
        key = (row_id(question), new.pool)
        state = self._known_pool(*key)
        if state is None:
            row = t.Pool(
                question_id=key[0],
                name=new.pool,
                model=new.model,
                variant=new.variant,
                parameters=dict(new.parameters) if new.parameters else None,
            )
            self._s.add(row)
            self._s.flush()
            state = self._pools[key] = _PoolState(row_id(row), {}, row.parameters)
        elif new.parameters and canonical(state.parameters) != canonical(dict(new.parameters)):
            raise ConflictError(
                f"pool {new.pool} of {new.question.dataset}/{new.question.external_id} was sampled "
                "otherwise, or came from a file: give this one another variant"
            )
        return state


def _check_names(*parts: str) -> None:
    for part in parts:
        if not is_name(part):
            raise ConflictError(f"{part!r} in a key: a name without control characters is right")


def _agreed_gold(row: t.Question, new: NewQuestion, kind_stated: bool) -> NormalForm | None:
    """Return a question's gold answer under the kind the database has; refuse what contradicts it.

    Whoever imports may have to label the question: neither answer is told.
    """
    name = f"question {new.dataset}/{new.external_id}"
    if row.text != new.text:
        raise ConflictError(f"{name} is in the database with another wording: {row.text[:80]!r}")
    if kind_stated and new.answer_kind != row.answer_kind:
        raise ConflictError(
            f"{name} has answer kind {row.answer_kind} in the database, not {new.answer_kind}; what "
            "is there was read under it"
        )
    if new.options is not None and _by_letter(row.options) != _by_letter(new.options):
        raise ConflictError(
            f"{name} has other options in the database, or other letters for them (where options "
            "are shuffled, the seed decides)"
        )
    if new.percent == "ratio" != row.percent:
        raise ConflictError(f"{name} has the percent rule {row.percent} in the database")
    gold = new.gold
    rules = (row.answer_kind, row.percent, row.options is None)
    if new.gold_text is not None and rules != (new.answer_kind, new.percent, new.options is None):
        from scoring.parsing import normalize_answer

        kind: Any = row.answer_kind
        gold = normalize_answer(new.gold_text, kind, options=row.options, percent=row.percent)
        if gold is None:
            raise ConflictError(f"{name}: the gold answer is no {kind} answer")
    if gold is not None and row.gold_text is not None and row.gold != encode_answer(gold):
        raise ConflictError(f"{name} has another gold answer in the database")
    return gold


def _by_letter(options: Any) -> Any:
    """Return a list of options as letter → text."""
    if not isinstance(options, list):
        return options
    return {chr(ord("A") + i): text for i, text in enumerate(options)}


def _lacking_fields(row: t.Question, new: NewQuestion) -> dict[str, Any]:
    """Return the further fields that a stored question has not; both must say the same of others."""
    stored, given = row.extra or {}, dict(new.extra or {})
    other = [k for k, v in given.items() if k in stored and canonical(stored[k]) != canonical(v)]
    if other:
        raise ConflictError(
            f"question {new.dataset}/{new.external_id} has something else in the database under "
            f"{', '.join(repr(name[:40]) for name in sorted(other)[:5])}"
        )
    return {k: v for k, v in given.items() if k not in stored}


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
