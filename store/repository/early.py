"""Early answers: what a model answers given the first facts of a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete, insert
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer, encode_answer
from store.columns import content_hash, utc_now
from store.engine import Base
from store.model_records import NO_DECOMPOSITION, REPLIED, EarlyRecord, EarlyRunRecord
from store.repository.rows import add_missing, chunks


class Early(Base):
    """Early answers by run: a model, a prompt, parameters, and whose facts."""

    def early_run(
        self,
        model: str,
        prompt_version: str,
        parameters: Mapping[str, Any],
        decomposition: str = NO_DECOMPOSITION,
    ) -> EarlyRunRecord:
        """Return the run with these inputs, adding it on first use.

        Raises
        ------
        ValueError
            When there is no such decomposition.
        """
        said = {
            "model": model,
            "prompt_version": prompt_version,
            "decomposition": decomposition,
            "parameters": dict(parameters),
        }
        key = content_hash(said)
        with self._read() as s:
            found = _by_key(s, key)
        if found is None:
            with self._write() as s:
                _need_decomposition(s, decomposition)
                if _by_key(s, key) is None:
                    add_missing(s, t.EarlyRun, [{"key": key, **said, "created_at": utc_now()}])
                found = _by_key(s, key)
        if found is None:
            raise RuntimeError("an early-answer run is not there after it was added")
        return found

    def early_runs(self) -> tuple[EarlyRunRecord, ...]:
        """Return all runs, oldest first."""
        with self._read() as s:
            rows = s.exec(select(t.EarlyRun).order_by(col(t.EarlyRun.id))).all()
            return tuple(_run_record(r) for r in rows)

    def save_early(self, run_id: int, rows: Iterable[EarlyRecord]) -> int:
        """Store early answers in one transaction; return how many were new or changed.

        An answer to the same prefix is replaced. So is all that a trace has of other facts (of
        another `source_hash`): one trace never mixes two.

        Raises
        ------
        ValueError
            When an outcome is no reply, or a prefix is not one of the facts'. Nothing is stored.
        """
        new: defaultdict[int, dict[int, EarlyRecord]] = defaultdict(dict)
        for row in rows:
            _check(row)
            new[row.trace_id][row.prefix] = row
            if len({r.source_hash for r in new[row.trace_id].values()}) > 1:
                raise ValueError(
                    f"trace {row.trace_id} is given early answers of two sets of facts"
                )
        n = 0
        with self._write() as s:
            s.get_one(t.EarlyRun, run_id)
            for part in chunks(sorted(new)):
                stored = _stored(s, run_id, col(t.EarlyAnswer.trace_id).in_(part))
                for trace_id in part:
                    n += _replace(s, run_id, stored.get(trace_id, ()), new[trace_id])
        self._let_others_write()
        return n

    def early_answers(
        self, run_id: int, pool_id: int | None = None
    ) -> dict[int, tuple[EarlyRecord, ...]]:
        """Return a run's answers by trace id, prefixes in order; of one pool where it is given."""
        clauses: list[Any] = []
        if pool_id is not None:
            in_pool = select(t.Trace.id).where(t.Trace.pool_id == pool_id)
            clauses.append(col(t.EarlyAnswer.trace_id).in_(in_pool))
        with self._read() as s:
            return _stored(s, run_id, *clauses)


def _by_key(s: Session, key: str) -> EarlyRunRecord | None:
    row = s.exec(select(t.EarlyRun).where(t.EarlyRun.key == key)).one_or_none()
    return None if row is None else _run_record(row)


def _run_record(row: t.EarlyRun) -> EarlyRunRecord:
    return EarlyRunRecord(
        id=row.id or 0,
        key=row.key,
        model=row.model,
        prompt_version=row.prompt_version,
        decomposition=row.decomposition,
        parameters=row.parameters,
        created_at=row.created_at,
    )


def _need_decomposition(s: Session, name: str) -> None:
    if name == NO_DECOMPOSITION:
        return
    if s.exec(select(t.Decomposition.id).where(t.Decomposition.name == name)).first() is None:
        raise ValueError(f"no decomposition {name!r} in the database: medoid decompose makes it")


def _check(row: EarlyRecord) -> None:
    place = f"trace {row.trace_id}, prefix {row.prefix}"
    if row.outcome not in REPLIED:
        raise ValueError(
            f"{place} ended as {row.outcome!r}, which is no reply; "
            f"one of {', '.join(REPLIED)} is right"
        )
    if not 0 <= row.prefix <= row.n_facts:
        raise ValueError(
            f"{place}: there are {row.n_facts} facts; a prefix from 0 to that is right"
        )


def _stored(s: Session, run_id: int, *clauses: Any) -> dict[int, tuple[EarlyRecord, ...]]:
    rows = s.exec(
        select(t.EarlyAnswer)
        .where(t.EarlyAnswer.early_run_id == run_id, *clauses)
        .order_by(col(t.EarlyAnswer.trace_id), col(t.EarlyAnswer.prefix))
    )
    found: dict[int, list[EarlyRecord]] = {}
    for r in rows:
        found.setdefault(r.trace_id, []).append(
            EarlyRecord(
                trace_id=r.trace_id,
                prefix=r.prefix,
                n_facts=r.n_facts,
                source_hash=r.source_hash,
                outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
                answer=decode_answer(r.answer),
                reason=r.reason,
                reply_key=r.reply_key,
            )
        )
    return {trace: tuple(answers) for trace, answers in found.items()}


def _replace(
    s: Session, run_id: int, stored: Iterable[EarlyRecord], new: Mapping[int, EarlyRecord]
) -> int:
    """Write a trace's answers where they are not the same already."""
    before = {r.prefix: r for r in stored}
    source = next(iter(new.values())).source_hash
    changed = {p: r for p, r in new.items() if before.get(p) != r}
    gone = [p for p, r in before.items() if p in changed or r.source_hash != source]
    if gone:
        s.execute(
            delete(t.EarlyAnswer).where(
                col(t.EarlyAnswer.early_run_id) == run_id,
                col(t.EarlyAnswer.trace_id) == before[gone[0]].trace_id,
                col(t.EarlyAnswer.prefix).in_(gone),
            )
        )
    if changed:
        s.execute(insert(t.EarlyAnswer), [_values(run_id, r) for r in changed.values()])
    return len(changed)


def _values(run_id: int, row: EarlyRecord) -> dict[str, Any]:
    return {
        "early_run_id": run_id,
        "trace_id": row.trace_id,
        "prefix": row.prefix,
        "n_facts": row.n_facts,
        "source_hash": row.source_hash,
        "outcome": row.outcome,
        "reply_key": row.reply_key,
        "reason": row.reason,
        "answer": encode_answer(row.answer),
    }
