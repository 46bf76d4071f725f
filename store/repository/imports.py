"""Writing what files hold: questions, traces, labels, verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlmodel import Session, col, select

from scoring.parsing import normalize_answer
from store import tables as t
from store.codec import encode_answer, encode_issues, encode_steps
from store.columns import content_hash, folded, utc_now
from store.engine import Base
from store.keys import is_name, path_key
from store.records import NewLabel, NewQuestion, NewTrace, SchemaRecord
from store.repository.items import ConflictError, PathItems
from store.repository.labels import latest_label_id
from store.repository.schemas import schema_record

Outcome = Literal["added", "known", "changed"]


@dataclass
class _PoolState:
    id: int
    samples: dict[str, str]


class ImportBatch:
    """Lines of one import, written in one transaction.

    Each method returns whether the line added something, was known already, or changed a label;
    it raises `ConflictError`, leaving nothing behind, when the line contradicts the database.
    """

    def __init__(self, session: Session) -> None:
        self._s = session
        self._questions: dict[tuple[str, str], t.Question] = {}
        self._pools: dict[tuple[int, str], _PoolState] = {}
        self._raters: dict[str, t.Rater] = {}
        self._schemas: dict[str, SchemaRecord] = {}
        self._items = PathItems(session)

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
        state = self._known_pool(_id(question), new.pool)
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
            self._s.add(t.QuestionSearch(question_id=_id(row), folded=text))
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
        key = (_id(question), new.pool)
        state = self._known_pool(*key)
        if state is None:
            row = t.Pool(question_id=key[0], name=new.pool, model=new.model, variant=new.variant)
            self._s.add(row)
            self._s.flush()
            state = self._pools[key] = _PoolState(_id(row), {})
        return state

    def add_label(self, new: NewLabel) -> Outcome:
        """Append a label or verdict; an identical one is known already.

        A different label by the same rater on the same item supersedes the earlier one.
        """
        schema = self._schema(new)
        self._check_rater(new)
        item = self._items.find(new.item)
        rater = self._rater(new)
        digest = content_hash(_label_content(new))
        known = select(t.Label.id).where(
            t.Label.content_hash == digest,
            t.Label.item_id == item.id,
            t.Label.rater_id == rater.id,
        )
        if self._s.exec(known).first() is not None:
            return "known"
        before = latest_label_id(self._s, _id(rater), schema.id, item.id)
        label = t.Label(
            item_id=item.id,
            schema_id=schema.id,
            rater_id=_id(rater),
            act="import",
            state=new.state,
            category=new.category,
            first_wrong_step=new.first_wrong_step,
            flagged=new.flagged,
            note=new.note,
            active_seconds=new.active_seconds,
            seal=new.seal,
            before_reveal=new.before_reveal,
            supersedes=before,
            content_hash=digest,
            created_at=new.created_at or utc_now(),
        )
        self._s.add(label)
        self._s.flush()
        flags = verdict_flags(new, item.n_steps)
        if any((new.rationale, new.raw, new.prompt_version, new.extra, flags)):
            self._s.add(
                t.VerdictDetail(
                    label_id=_id(label),
                    rationale=new.rationale,
                    raw=new.raw,
                    prompt_version=new.prompt_version,
                    flags=flags,
                    extra=dict(new.extra) if new.extra else None,
                )
            )
        return "added" if before is None else "changed"

    def _known_rater(self, name: str) -> t.Rater | None:
        row = self._raters.get(name)
        if row is None:
            row = self._s.exec(select(t.Rater).where(t.Rater.name == name)).one_or_none()
        return row

    def _check_rater(self, new: NewLabel) -> None:
        if not is_name(new.rater):
            raise ConflictError(f"rater {new.rater!r}: a name without control characters is right")
        row = self._known_rater(new.rater)
        if row is not None and row.kind != new.rater_kind:
            raise ConflictError(
                f"rater {new.rater!r} is a {row.kind} in the database, not a {new.rater_kind}"
            )

    def _rater(self, new: NewLabel) -> t.Rater:
        row = self._known_rater(new.rater)
        if row is None:
            row = t.Rater(name=new.rater, kind=new.rater_kind)
            self._s.add(row)
            self._s.flush()
        self._raters[new.rater] = row
        return row

    def _schema(self, new: NewLabel) -> SchemaRecord:
        schema = self._schemas.get(new.schema)
        if schema is None:
            row = self._s.exec(
                select(t.LabelSchema)
                .where(t.LabelSchema.name == new.schema)
                .order_by(col(t.LabelSchema.version).desc())
            ).first()
            if row is None:
                raise ConflictError(f"no schema {new.schema!r} in the database")
            schema = self._schemas[new.schema] = schema_record(row)
        names = [c.name for c in schema.categories if c.state == "labelled"]
        if new.state == "labelled" and new.category not in names:
            raise ConflictError(
                f"category {new.category!r} is not in schema {schema.name} "
                f"version {schema.version}: {', '.join(names)}"
            )
        if new.state != "labelled" and new.category is not None:
            raise ConflictError(f"state {new.state} goes without a category, not {new.category!r}")
        return schema


def _label_content(new: NewLabel) -> dict[str, Any]:
    return {
        "item": new.item,
        "schema": new.schema,
        "rater": new.rater,
        "state": new.state,
        "category": new.category,
        "first_wrong_step": new.first_wrong_step,
        "flagged": new.flagged,
        "note": new.note,
        "rationale": new.rationale,
        "raw": new.raw,
        "prompt_version": new.prompt_version,
        "created_at": new.created_at,
        "before_reveal": new.before_reveal,
    }


def _same_question(row: t.Question, new: NewQuestion) -> None:
    name = f"question {new.dataset}/{new.external_id}"
    if row.text != new.text:
        raise ConflictError(f"{name} is in the database with another wording: {row.text[:80]!r}")
    both_gold = new.gold_text is not None and row.gold_text is not None
    if both_gold and row.gold != encode_answer(new.gold):
        raise ConflictError(
            f"{name} has the gold answer {row.gold_text!r} in the database, not {new.gold_text!r}"
        )


def verdict_flags(new: NewLabel, n_steps: int) -> list[str]:
    """Return what is odd about a label: a judge against itself, a step that does not exist."""
    flags = []
    if new.state == "labelled" and new.rater_kind == "judge":
        if new.category == "faithful" and new.first_wrong_step is not None:
            flags.append("faithful_with_wrong_step")
        if new.category == "spurious" and new.first_wrong_step is None:
            flags.append("spurious_without_step")
    if new.first_wrong_step is not None and not 0 <= new.first_wrong_step < n_steps:
        flags.append("step_out_of_range")
    return flags


def _id(row: Any) -> int:
    value: int | None = row.id
    if value is None:
        raise RuntimeError(f"{type(row).__name__} has no id before it is flushed")
    return value


class Imports(Base):
    """Import side of the store."""

    @contextmanager
    def importing(self) -> Iterator[ImportBatch]:
        """Open one transaction for many lines: all of it is kept, or nothing on an exception."""
        with self._write() as session:
            yield ImportBatch(session)
        self._let_others_write()
