"""Counterfactual edits of steps, and what a model answers with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete, insert
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer, encode_answer
from store.columns import canonical, content_hash, utc_now
from store.engine import Base
from store.intervention_records import (
    CounterfactualRecord,
    CounterfactualRunRecord,
    EditingRecord,
    EditPlace,
    EditRecord,
)
from store.keys import is_name
from store.model_records import REPLIED
from store.repository.items import ConflictError
from store.repository.rows import add_missing, chunks


class Counterfactuals(Base):
    """Edits by editing, and answers by run: which model is asked again with whose edits."""

    def editing(
        self, name: str, model: str, prompt_version: str, parameters: Mapping[str, Any]
    ) -> EditingRecord:
        """Return the editing of this name, adding it on first use.

        Raises
        ------
        ValueError
            When the name cannot stand in a key, or belongs to another model, prompt or parameters.
        """
        if not is_name(name):
            raise ValueError(f"editing {name!r}: a name without control characters is right")
        wanted = {"model": model, "prompt_version": prompt_version, "parameters": dict(parameters)}
        with self._write() as s:
            if _named(s, name) is None:
                row = {"name": name, **wanted, "created_at": utc_now()}
                add_missing(s, t.CounterfactualEditing, [row])
            found = _named(s, name)
        if found is None:
            raise RuntimeError(f"editing {name!r} is not there after it was added")
        other = [k for k, v in wanted.items() if canonical(getattr(found, k)) != canonical(v)]
        if other:
            raise ValueError(
                f"editing {name!r} is in the database with another {', '.join(other)}: "
                "give this one another name"
            )
        return found

    def editings(self) -> tuple[EditingRecord, ...]:
        """Return all editings, oldest first."""
        with self._read() as s:
            editing = t.CounterfactualEditing
            rows = s.exec(select(editing).order_by(col(editing.id))).all()
            return tuple(editing_record(r) for r in rows)

    def editing_named(self, name: str) -> EditingRecord:
        """Return the editing of this name.

        Raises
        ------
        ValueError
            Naming those that there are.
        """
        known = {e.name: e for e in self.editings()}
        if name not in known:
            there = ", ".join(known) or "none yet"
            raise ValueError(f"no editing {name!r} in the database; there are: {there}")
        return known[name]

    def save_edits(self, editing_id: int, rows: Iterable[EditRecord]) -> int:
        """Store edits in one transaction; return how many were new.

        What is stored never changes, as labels rest on it: the same again is known.

        Raises
        ------
        ValueError
            When an outcome is no reply, or there is no such step.
        ConflictError
            When a step is edited otherwise under this editing already. Nothing is stored then.
        """
        new = {(row.trace_id, row.step): row for row in rows}
        with self._write() as s:
            name = s.get_one(t.CounterfactualEditing, editing_id).name
            missing = []
            for part in chunks(sorted({trace for trace, _ in new})):
                sizes = {r[0]: r[1] for r in s.execute(_SIZES.where(col(t.Trace.id).in_(part)))}
                known = _edits(s, editing_id, col(t.CounterfactualEdit.trace_id).in_(part))
                for place in sorted(p for p in new if p[0] in part):
                    row, before = new[place], known.get(place)
                    _check_edit(row, sizes.get(row.trace_id))
                    if before is None:
                        missing.append(_edit_values(editing_id, row))
                    elif (before.text, before.fault) != (row.text, row.fault):
                        raise ConflictError(
                            f"trace {row.trace_id}, step {row.step} has another edit under "
                            f"editing {name!r} already, which labels rest on: "
                            "give this one another name"
                        )
            n_new = add_missing(s, t.CounterfactualEdit, missing)
        self._let_others_write()
        return n_new

    def edits(self, editing_id: int, pool_id: int) -> dict[EditPlace, EditRecord]:
        """Return the edits of a pool's traces by trace id and step, faulty ones included."""
        in_pool = select(t.Trace.id).where(t.Trace.pool_id == pool_id)
        with self._read() as s:
            return _edits(s, editing_id, col(t.CounterfactualEdit.trace_id).in_(in_pool))

    def counterfactual_run(
        self, editing_id: int, model: str, prompt_version: str, parameters: Mapping[str, Any]
    ) -> CounterfactualRunRecord:
        """Return the run with these inputs, adding it on first use."""
        said = {
            "editing_id": editing_id,
            "model": model,
            "prompt_version": prompt_version,
            "parameters": dict(parameters),
        }
        key = content_hash(said)
        run = t.CounterfactualRun
        with self._write() as s:
            if s.exec(select(run.id).where(run.key == key)).first() is None:
                add_missing(s, run, [{"key": key, **said, "created_at": utc_now()}])
            return read_runs(s, run.key == key)[0]

    def counterfactual_runs(self) -> tuple[CounterfactualRunRecord, ...]:
        """Return all runs, oldest first."""
        with self._read() as s:
            return read_runs(s)

    def save_counterfactual(self, run_id: int, rows: Iterable[CounterfactualRecord]) -> int:
        """Store answers in one transaction; return how many were new or changed.

        An answer to the same trace, step and repeat is replaced.

        Raises
        ------
        ValueError
            When an outcome is no reply. Nothing is stored.
        """
        new: dict[tuple[int, int, int], CounterfactualRecord] = {}
        for row in rows:
            if row.outcome not in REPLIED:
                raise ValueError(
                    f"trace {row.trace_id}, step {row.step} ended as {row.outcome!r}, which is no "
                    f"reply; one of {', '.join(REPLIED)} is right"
                )
            new[row.trace_id, row.step, row.repeat] = row
        n = 0
        answer = t.CounterfactualAnswer
        with self._write() as s:
            s.get_one(t.CounterfactualRun, run_id)
            for part in chunks(sorted({place[0] for place in new})):
                stored = _answers(s, run_id, col(answer.trace_id).in_(part))
                known = {(r.trace_id, r.step, r.repeat): r for of in stored.values() for r in of}
                changed = [k for k, r in new.items() if k[0] in part and known.get(k) != r]
                for trace_id, step, repeat in changed:
                    if (trace_id, step, repeat) in known:
                        s.execute(
                            delete(answer).where(
                                col(answer.run_id) == run_id,
                                col(answer.trace_id) == trace_id,
                                col(answer.step) == step,
                                col(answer.repeat) == repeat,
                            )
                        )
                if changed:
                    s.execute(insert(answer), [_answer_values(run_id, new[k]) for k in changed])
                n += len(changed)
        self._let_others_write()
        return n

    def counterfactual_answers(
        self, run_id: int, pool_id: int
    ) -> dict[int, tuple[CounterfactualRecord, ...]]:
        """Return a run's answers to a pool's traces by trace id, by step and repeat."""
        in_pool = select(t.Trace.id).where(t.Trace.pool_id == pool_id)
        with self._read() as s:
            return _answers(s, run_id, col(t.CounterfactualAnswer.trace_id).in_(in_pool))


_SIZES: Any = select(t.Trace.id, t.Trace.n_steps)


def _named(s: Session, name: str) -> EditingRecord | None:
    editing = t.CounterfactualEditing
    row = s.exec(select(editing).where(editing.name == name)).one_or_none()
    return None if row is None else editing_record(row)


def editing_record(row: t.CounterfactualEditing) -> EditingRecord:
    """Return what callers see of an editing."""
    return EditingRecord(
        row.id or 0, row.name, row.model, row.prompt_version, row.parameters, row.created_at
    )


def read_runs(s: Session, *clauses: Any) -> tuple[CounterfactualRunRecord, ...]:
    """Return runs, oldest first, inside an open session."""
    rows = s.exec(
        select(t.CounterfactualRun, t.CounterfactualEditing.name)
        .join(
            t.CounterfactualEditing,
            col(t.CounterfactualEditing.id) == col(t.CounterfactualRun.editing_id),
        )
        .where(*clauses)
        .order_by(col(t.CounterfactualRun.id))
    ).all()
    return tuple(
        CounterfactualRunRecord(
            r.id or 0, r.key, r.editing_id, name, r.model, r.prompt_version, r.parameters,
            r.created_at,
        )
        for r, name in rows
    )  # fmt: skip


def _check_edit(row: EditRecord, n_steps: int | None) -> None:
    place = f"trace {row.trace_id}, step {row.step}"
    if row.outcome not in REPLIED:
        raise ValueError(
            f"{place} ended as {row.outcome!r}, which is no reply; "
            f"one of {', '.join(REPLIED)} is right"
        )
    if n_steps is None or not 0 <= row.step < n_steps:
        raise ValueError(f"{place} is no step of a trace in the database")
    if (row.text is None) == (row.fault is None) or (row.text is not None and not row.text.strip()):
        raise ValueError(f"{place}: either a text or a fault is right")


def _edits(s: Session, editing_id: int, clause: Any) -> dict[EditPlace, EditRecord]:
    edit = t.CounterfactualEdit
    rows = s.exec(
        select(edit)
        .where(edit.editing_id == editing_id, clause)
        .order_by(col(edit.trace_id), col(edit.step))
    ).all()
    return {
        (r.trace_id, r.step): EditRecord(
            trace_id=r.trace_id,
            step=r.step,
            outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
            text=r.text,
            fault=r.fault,
            reason=r.reason,
            reply_key=r.reply_key,
            source_hash=r.source_hash,
        )
        for r in rows
    }


def _edit_values(editing_id: int, row: EditRecord) -> dict[str, Any]:
    return {
        "editing_id": editing_id,
        "trace_id": row.trace_id,
        "step": row.step,
        "source_hash": row.source_hash,
        "outcome": row.outcome,
        "fault": row.fault,
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "text": row.text,
    }


def _answers(s: Session, run_id: int, *clauses: Any) -> dict[int, tuple[CounterfactualRecord, ...]]:
    answer = t.CounterfactualAnswer
    rows = s.exec(
        select(answer)
        .where(answer.run_id == run_id, *clauses)
        .order_by(col(answer.trace_id), col(answer.step), col(answer.repeat))
    )
    found: dict[int, list[CounterfactualRecord]] = {}
    for r in rows:
        found.setdefault(r.trace_id, []).append(
            CounterfactualRecord(
                trace_id=r.trace_id,
                step=r.step,
                repeat=r.repeat,
                source_hash=r.source_hash,
                outcome=r.outcome,  # type: ignore[arg-type]  # constrained by the table
                answer=decode_answer(r.answer),
                reason=r.reason,
                reply_key=r.reply_key,
            )
        )
    return {trace: tuple(of) for trace, of in found.items()}


def _answer_values(run_id: int, row: CounterfactualRecord) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "trace_id": row.trace_id,
        "step": row.step,
        "repeat": row.repeat,
        "source_hash": row.source_hash,
        "outcome": row.outcome,
        "reply_key": row.reply_key,
        "reason": row.reason,
        "answer": encode_answer(row.answer),
    }
