"""What solvers wrote after given steps, and the values that readers found in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_numbers, encode_numbers
from store.columns import canonical, utc_now
from store.deduction_records import (
    CompletionRecord,
    PrefixRecord,
    ReadingRecord,
    SolverRecord,
)
from store.engine import Base
from store.keys import is_name
from store.model_records import REPLIED
from store.repository.rows import add_missing, chunks

Place = tuple[int, int, str]
"""Mutation, number of given steps, style: what a solver is asked once."""


class Deductions(Base):
    """Solvers, given steps in other styles, completions, readings of them."""

    def solver(
        self, name: str, model: str, prompt_version: str, parameters: Mapping[str, Any]
    ) -> SolverRecord:
        """Return the solver of this name, adding it on first use.

        Raises
        ------
        ValueError
            When the name cannot stand in a key, or belongs to another model, prompt or parameters.
        """
        if not is_name(name):
            raise ValueError(f"solver {name!r}: a name without control characters is right")
        wanted = {"model": model, "prompt_version": prompt_version, "parameters": dict(parameters)}
        with self._write() as s:
            if _named(s, name) is None:
                row = {"name": name, **wanted, "created_at": utc_now()}
                add_missing(s, t.DeductionSolver, [row])
            found = _named(s, name)
        if found is None:
            raise RuntimeError(f"solver {name!r} is not there after it was added")
        other = [k for k, v in wanted.items() if canonical(getattr(found, k)) != canonical(v)]
        if other:
            raise ValueError(
                f"solver {name!r} is in the database with another {', '.join(other)}: "
                "give this one another name"
            )
        return found

    def solvers(self) -> tuple[SolverRecord, ...]:
        """Return all solvers, oldest first."""
        with self._read() as s:
            solver = t.DeductionSolver
            return tuple(_solver(r) for r in s.exec(select(solver).order_by(col(solver.id))))

    def save_prefixes(self, rows: Iterable[PrefixRecord]) -> int:
        """Store paraphrased prefixes; return how many were new. What is there stays as it is."""
        new = {(r.mutation_id, r.k, r.style, r.model): r for r in rows}
        for row in new.values():
            _check_outcome(row.outcome, f"prefix of mutation {row.mutation_id}")
            if (row.text is None) == (row.fault is None):
                raise ValueError("a prefix has either a text or a fault")
        prefix = t.DeductionPrefix
        with self._write() as s:
            known: set[tuple[int, int, str, str]] = set()
            for part in chunks(sorted({place[0] for place in new})):
                found = s.exec(select(prefix).where(col(prefix.mutation_id).in_(part)))
                known |= {(r.mutation_id, r.k, r.style, r.model) for r in found}
            missing = [_prefix_values(r) for place, r in new.items() if place not in known]
            n = add_missing(s, prefix, missing)
        self._let_others_write()
        return n

    def prefixes(
        self, mutation_ids: Sequence[int], style: str
    ) -> dict[tuple[int, int], tuple[PrefixRecord, ...]]:
        """Return the paraphrases in a style by mutation and k, the first usable one first."""
        prefix = t.DeductionPrefix
        out: dict[tuple[int, int], list[PrefixRecord]] = {}
        with self._read() as s:
            for part in chunks(sorted(set(mutation_ids))):
                rows = s.exec(
                    select(prefix)
                    .where(prefix.style == style, col(prefix.mutation_id).in_(part))
                    .order_by(col(prefix.created_at), col(prefix.model))
                )
                for r in rows:
                    out.setdefault((r.mutation_id, r.k), []).append(_prefix(r))
        return {k: tuple(sorted(v, key=lambda p: p.text is None)) for k, v in out.items()}

    def save_completions(self, solver_id: int, rows: Iterable[CompletionRecord]) -> int:
        """Store completions; return how many were new. What is there stays as it is."""
        new = {(r.mutation_id, r.k, r.style): r for r in rows}
        for row in new.values():
            _check_outcome(row.outcome, f"completion of mutation {row.mutation_id}")
        with self._write() as s:
            s.get_one(t.DeductionSolver, solver_id)
            known = _places(s, solver_id)
            missing = [
                _completion_values(solver_id, r) for place, r in new.items() if place not in known
            ]
            n = add_missing(s, t.DeductionCompletion, missing)
        self._let_others_write()
        return n

    def completion_places(self, solver_id: int) -> frozenset[Place]:
        """Return what a solver was asked already: mutation, k and style."""
        with self._read() as s:
            return frozenset(_places(s, solver_id))

    def completions(
        self, solver_id: int, *, style: str | None = None, ids: Sequence[int] | None = None
    ) -> tuple[CompletionRecord, ...]:
        """Return a solver's completions by id; those of a style, or of these ids, where given."""
        completion = t.DeductionCompletion
        query = select(completion).where(completion.solver_id == solver_id)
        if style is not None:
            query = query.where(completion.style == style)
        query = query.order_by(col(completion.id))
        with self._read() as s:
            if ids is None:
                return tuple(completion_record(r) for r in s.exec(query))
            found: list[CompletionRecord] = []
            for part in chunks(sorted(set(ids))):
                rows = s.exec(query.where(col(completion.id).in_(part)))
                found += [completion_record(r) for r in rows]
            return tuple(found)

    def save_readings(self, rows: Iterable[ReadingRecord]) -> int:
        """Store readings; return how many were new. What is there stays as it is."""
        new = {(r.completion_id, r.reader, r.version): r for r in rows}
        for row in new.values():
            _check_outcome(row.outcome, f"reading of completion {row.completion_id}")
        reading = t.DeductionReading
        with self._write() as s:
            known: set[tuple[int, str, str]] = set()
            for part in chunks(sorted({place[0] for place in new})):
                found = s.exec(select(reading).where(col(reading.completion_id).in_(part)))
                known |= {(r.completion_id, r.reader, r.version) for r in found}
            missing = [_reading_values(r) for place, r in new.items() if place not in known]
            n = add_missing(s, reading, missing)
        self._let_others_write()
        return n

    def readings(self, solver_id: int, reader: str) -> dict[int, ReadingRecord]:
        """Return one reader's newest readings of a solver's completions, by completion id."""
        reading, completion = t.DeductionReading, t.DeductionCompletion
        query = (
            select(reading)
            .join(completion, col(completion.id) == col(reading.completion_id))
            .where(completion.solver_id == solver_id, reading.reader == reader)
            .order_by(col(reading.created_at))
        )
        with self._read() as s:
            return {r.completion_id: reading_record(r) for r in s.exec(query)}

    def readers(self, solver_id: int) -> dict[str, int]:
        """Return who has read a solver's completions, and how many each could; most first."""
        reading, completion = t.DeductionReading, t.DeductionCompletion
        could = func.count(func.distinct(col(reading.completion_id))).filter(
            col(reading.outcome) == "ok", col(reading.reason) == ""
        )
        query = (
            plain_select(col(reading.reader), could)
            .join(completion, col(completion.id) == col(reading.completion_id))
            .where(col(completion.solver_id) == solver_id)
            .group_by(col(reading.reader))
            .order_by(could.desc(), col(reading.reader))
        )
        with self._read() as s:
            return {name: int(n) for name, n in s.execute(query)}


def _check_outcome(outcome: str, what: str) -> None:
    if outcome not in REPLIED:
        raise ValueError(
            f"{what} ended as {outcome!r}, which is no reply; one of {', '.join(REPLIED)} is right"
        )


def _named(s: Session, name: str) -> SolverRecord | None:
    solver = t.DeductionSolver
    row = s.exec(select(solver).where(solver.name == name)).one_or_none()
    return None if row is None else _solver(row)


def _solver(row: t.DeductionSolver) -> SolverRecord:
    return SolverRecord(
        row.id or 0, row.name, row.model, row.prompt_version, row.parameters, row.created_at
    )


def _places(s: Session, solver_id: int) -> set[Place]:
    completion = t.DeductionCompletion
    query = select(completion.mutation_id, completion.k, completion.style).where(
        completion.solver_id == solver_id
    )
    return {(mutation, k, style) for mutation, k, style in s.exec(query)}


def _prefix(r: t.DeductionPrefix) -> PrefixRecord:
    return PrefixRecord(
        mutation_id=r.mutation_id,
        k=r.k,
        style=r.style,
        model=r.model,
        prompt_version=r.prompt_version,
        outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
        text=r.text,
        fault=r.fault,
        reason=r.reason,
        reply_key=r.reply_key,
    )


def _prefix_values(row: PrefixRecord) -> dict[str, Any]:
    return {
        "mutation_id": row.mutation_id,
        "k": row.k,
        "style": row.style,
        "model": row.model,
        "prompt_version": row.prompt_version,
        "outcome": row.outcome,
        "fault": row.fault,
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "text": row.text,
    }


def completion_record(r: t.DeductionCompletion) -> CompletionRecord:
    """Return what callers see of a completion."""
    return CompletionRecord(
        mutation_id=r.mutation_id,
        k=r.k,
        style=r.style,
        way=r.way,  # type: ignore[arg-type]  # constrained by the table
        prefix=r.prefix,
        outcome=r.outcome,  # type: ignore[arg-type]
        text=r.text,
        reason=r.reason,
        reply_key=r.reply_key,
        prompt_version=r.prompt_version,
        id=r.id or 0,
        solver_id=r.solver_id,
    )


def _completion_values(solver_id: int, row: CompletionRecord) -> dict[str, Any]:
    return {
        "mutation_id": row.mutation_id,
        "solver_id": solver_id,
        "k": row.k,
        "style": row.style,
        "way": row.way,
        "outcome": row.outcome,
        "prompt_version": row.prompt_version,
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "prefix": row.prefix,
        "text": row.text,
    }


def reading_record(r: t.DeductionReading) -> ReadingRecord:
    """Return what callers see of a reading."""
    return ReadingRecord(
        completion_id=r.completion_id,
        reader=r.reader,
        version=r.version,
        values=decode_numbers(r.stated),
        how=r.how,
        outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
        reason=r.reason,
        reply_key=r.reply_key,
    )


def _reading_values(row: ReadingRecord) -> dict[str, Any]:
    return {
        "completion_id": row.completion_id,
        "reader": row.reader,
        "version": row.version,
        "outcome": row.outcome,
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "stated": encode_numbers(row.values),
        "how": dict(row.how),
    }


__all__ = ["Deductions", "Place", "completion_record", "reading_record"]
