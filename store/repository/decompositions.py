"""Decompositions: named ways of splitting traces into facts, and the facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from scoring.types import Fact
from store import tables as t
from store.codec import decode_steps
from store.columns import canonical, utc_now
from store.keys import is_name, path_key
from store.model_records import (
    NO_DECOMPOSITION,
    REPLIED,
    CriterionView,
    DecomposedRecord,
    DecompositionCounts,
    DecompositionRecord,
    DecompositionView,
    StepFacts,
)
from store.records import LabelRecord
from store.repository.items import ConflictError, Items
from store.repository.rows import add_missing, chunks, is_standing, label_record, need_schema


class Decompositions(Items):
    """Facts of traces. They are no secret: they tell neither gold, votes nor verdicts."""

    def decomposition(
        self, name: str, model: str, prompt_version: str, parameters: Mapping[str, Any]
    ) -> DecompositionRecord:
        """Return the decomposition of this name, adding it on first use.

        Raises
        ------
        ValueError
            When the name cannot stand in a key, or belongs to another model, prompt or parameters.
        """
        if not is_name(name) or name == NO_DECOMPOSITION:
            raise ValueError(
                f"decomposition {name!r}: a name without control characters, other than "
                f"{NO_DECOMPOSITION!r}, is right"
            )
        wanted = {
            "model": model,
            "prompt_version": prompt_version,
            "parameters": dict(parameters),
        }
        with self._read() as s:
            found = _named(s, name)
        if found is None:
            with self._write() as s:
                if _named(s, name) is None:
                    row = {"name": name, **wanted, "created_at": utc_now()}
                    add_missing(s, t.Decomposition, [row])
                found = _named(s, name)
        if found is None:
            raise RuntimeError(f"decomposition {name!r} is not there after it was added")
        other = [k for k, v in wanted.items() if canonical(getattr(found, k)) != canonical(v)]
        if other:
            raise ValueError(
                f"decomposition {name!r} is in the database with another {', '.join(other)}: "
                "give this one another name"
            )
        return found

    def decompositions(self) -> tuple[DecompositionRecord, ...]:
        """Return all decompositions, oldest first."""
        with self._read() as s:
            rows = s.exec(select(t.Decomposition).order_by(col(t.Decomposition.id))).all()
            return tuple(_record(r) for r in rows)

    def decomposition_named(self, name: str) -> DecompositionRecord:
        """Return the decomposition of this name.

        Raises
        ------
        ValueError
            Naming those that there are.
        """
        with self._read() as s:
            found = _named(s, name)
            if found is None:
                names = ", ".join(s.exec(_NAMES)) or "none yet"
                raise ValueError(f"no decomposition {name!r} in the database; there are: {names}")
            return found

    def save_decomposed(self, decomposition_id: int, rows: Iterable[DecomposedRecord]) -> int:
        """Store traces' facts in one transaction; return how many traces were new.

        What is stored never changes, as labels and scores rest on it: the same again is known.

        Raises
        ------
        ValueError
            When an outcome is no reply, or a fact, step or text is not the trace's.
        ConflictError
            When a trace has other facts under this decomposition already. Nothing is stored then.
        """
        new = {row.trace_id: row for row in rows}
        with self._write() as s:
            name = s.get_one(t.Decomposition, decomposition_id).name
            missing = []
            for part in chunks(sorted(new)):
                traces = _traces(s, part)
                known = _stored(s, decomposition_id, col(t.DecomposedTrace.trace_id).in_(part))
                for trace_id in part:
                    row = new[trace_id]
                    values = _checked_row(row, traces.get(trace_id))
                    before = known.get(trace_id)
                    if before is None:
                        missing.append({"decomposition_id": decomposition_id, **values})
                    elif _content(before) != _content(row):
                        raise ConflictError(
                            f"trace {trace_id} has other facts under decomposition {name!r} "
                            "already, which labels and scores rest on: give this one another name"
                        )
            n_new = add_missing(s, t.DecomposedTrace, missing)
        self._let_others_write()
        return n_new

    def decomposed(self, decomposition_id: int, pool_id: int) -> dict[int, DecomposedRecord]:
        """Return the decomposed traces of a pool, by trace id."""
        in_pool = select(t.Trace.id).where(t.Trace.pool_id == pool_id)
        with self._read() as s:
            return _stored(s, decomposition_id, col(t.DecomposedTrace.trace_id).in_(in_pool))

    def decomposed_trace(self, decomposition_id: int, trace_id: int) -> DecomposedRecord | None:
        """Return a trace's facts, None when the decomposition has not split it."""
        with self._read() as s:
            clause = col(t.DecomposedTrace.trace_id) == trace_id
            return _stored(s, decomposition_id, clause).get(trace_id)

    def decomposed_ids(self, decomposition_id: int) -> frozenset[int]:
        """Return the ids of all traces that a decomposition has a row for, whatever its outcome."""
        with self._read() as s:
            return frozenset(
                s.exec(
                    select(t.DecomposedTrace.trace_id).where(
                        t.DecomposedTrace.decomposition_id == decomposition_id
                    )
                )
            )

    def sampled_ids(self, decomposition_id: int) -> frozenset[int]:
        """Return the ids of the traces that were drawn for people to label."""
        sample = t.DecompositionSample
        with self._read() as s:
            return frozenset(
                s.exec(select(sample.trace_id).where(sample.decomposition_id == decomposition_id))
            )

    def decomposition_counts(self, decomposition_id: int) -> DecompositionCounts:
        """Return a decomposition in figures."""
        row: Any = t.DecomposedTrace
        has_facts = row.n_facts > 0

        def total(column: Any) -> Any:
            return func.coalesce(func.sum(column).filter(has_facts), 0)

        with self._read() as s:
            n_traces = s.exec(
                select(func.count()).select_from(t.Trace).where(t.Trace.n_steps > 0)
            ).one()
            rows = s.execute(
                plain_select(
                    row.outcome,
                    func.count(),
                    func.count().filter(has_facts),
                    total(col(t.Trace.n_steps)),
                    total(row.n_facts),
                    total(row.n_dropped),
                    func.coalesce(func.sum(row.n_invented), 0),
                )
                .join(t.Trace, col(t.Trace.id) == row.trace_id)
                .where(row.decomposition_id == decomposition_id)
                .group_by(row.outcome)
            ).all()
        sums = [sum(int(r[i]) for r in rows) for i in range(1, 7)]
        by_outcome = {r[0]: r[1] for r in sorted(rows, key=lambda r: REPLIED.index(r[0]))}
        n_done, n_with_facts, n_steps, n_facts, n_dropped, n_invented = sums
        return DecompositionCounts(
            n_traces, n_done, n_with_facts, by_outcome, n_steps, n_facts, n_dropped, n_invented
        )

    def decomposition_view(
        self, decomposition_id: int, trace_id: int, rater_id: int, schema: str = "decomposition"
    ) -> DecompositionView:
        """Return a decomposed trace as a sealed rater may see it, with their own labels.

        Its criterion items are made on first use; those of sampled traces are there already.

        Raises
        ------
        ConflictError
            When the decomposition has not split this trace.
        """
        refs = self.criterion_items(decomposition_id, trace_id)
        with self._read() as s:
            row = s.get_one(t.DecomposedTrace, (decomposition_id, trace_id))
            trace = s.get_one(t.Trace, trace_id)
            pool = s.get_one(t.Pool, trace.pool_id)
            question = s.get_one(t.Question, pool.question_id)
            labels = _own_labels(s, rater_id, schema, [r.item_id for r in refs])
            facts: dict[int, list[str]] = {}
            for step, text in row.facts:
                facts.setdefault(step, []).append(text)
            return DecompositionView(
                decomposition=_record(s.get_one(t.Decomposition, decomposition_id)),
                trace_id=trace_id,
                trace=path_key(question.dataset, question.external_id, pool.name, trace.sample),
                dataset=question.dataset,
                question_id=question.external_id,
                question=question.text,
                pool=pool.name,
                sample=trace.sample,
                outcome=row.outcome,  # type: ignore[arg-type]  # constrained by the table
                reason=row.reason,
                steps=tuple(
                    StepFacts(x, tuple(facts.get(x.index, ())), x.index in row.dropped)
                    for x in decode_steps(trace.steps)
                ),
                invented=tuple(row.invented),
                n_facts=row.n_facts,
                criteria=tuple(
                    CriterionView(r.item_id, r.key, r.criterion or "", labels.get(r.item_id))
                    for r in refs
                ),
            )


_NAMES = select(t.Decomposition.name).order_by(col(t.Decomposition.id))


def _named(s: Session, name: str) -> DecompositionRecord | None:
    row = s.exec(select(t.Decomposition).where(t.Decomposition.name == name)).one_or_none()
    return None if row is None else _record(row)


def _record(row: t.Decomposition) -> DecompositionRecord:
    return DecompositionRecord(
        row.id or 0, row.name, row.model, row.prompt_version, row.parameters, row.created_at
    )


def _traces(s: Session, ids: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return trace id → number of steps, hash of the source."""
    rows = s.exec(
        select(t.Trace.id, t.Trace.n_steps, t.Trace.source_hash).where(col(t.Trace.id).in_(ids))
    )
    return {ident or 0: (n_steps, digest) for ident, n_steps, digest in rows}


def _stored(s: Session, decomposition_id: int, clause: Any) -> dict[int, DecomposedRecord]:
    rows = s.exec(
        select(t.DecomposedTrace)
        .where(t.DecomposedTrace.decomposition_id == decomposition_id, clause)
        .order_by(col(t.DecomposedTrace.trace_id))
    ).all()
    return {
        r.trace_id: DecomposedRecord(
            trace_id=r.trace_id,
            outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
            facts=tuple(Fact(text, step) for step, text in r.facts),
            dropped=tuple(r.dropped),
            invented=tuple(r.invented),
            reason=r.reason,
            reply_key=r.reply_key,
            source_hash=r.source_hash,
        )
        for r in rows
    }


def _content(row: DecomposedRecord) -> Any:
    return (row.outcome, row.facts, row.dropped, row.invented)


def _checked_row(row: DecomposedRecord, trace: tuple[int, str] | None) -> dict[str, Any]:
    """Return what is stored of a decomposed trace, checked against the trace."""
    place = f"trace {row.trace_id}"
    if trace is None:
        raise ValueError(f"{place} is not in the database")
    if row.outcome not in REPLIED:
        raise ValueError(
            f"{place} ended as {row.outcome!r}, which is no reply; "
            f"one of {', '.join(REPLIED)} is right"
        )
    n_steps, source_hash = trace
    if row.source_hash not in ("", source_hash):
        raise ValueError(f"{place} has another text in the database than these facts were made of")
    steps = [fact.step for fact in row.facts]
    for step in (*steps, *row.dropped):
        if not 0 <= step < n_steps:
            raise ValueError(f"{place} has no step {step}; it has {n_steps}, numbered from 0")
    if steps != sorted(steps) or not all(fact.text.strip() for fact in row.facts):
        raise ValueError(f"{place}: facts are texts in the order of their steps")
    if set(steps) & set(row.dropped):
        raise ValueError(f"{place}: a step with facts is not dropped")
    return {
        "trace_id": row.trace_id,
        "source_hash": source_hash,
        "outcome": row.outcome,
        "n_facts": len(row.facts),
        "n_dropped": len(row.dropped),
        "n_invented": len(row.invented),
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "facts": [[fact.step, fact.text] for fact in row.facts],
        "dropped": list(row.dropped),
        "invented": list(row.invented),
    }


def _own_labels(
    s: Session, rater_id: int, schema: str, item_ids: list[int]
) -> dict[int, LabelRecord]:
    newest = need_schema(s, schema)
    rows = s.exec(
        select(t.Label, t.Item.key)
        .join(t.Item, col(t.Item.id) == col(t.Label.item_id))
        .where(
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema,
            col(t.Label.item_id).in_(item_ids),
            is_standing(t.Label),
        )
    ).all()
    return {row.item_id: label_record(row, key, newest) for row, key in rows}
