"""Items: stable keys of what is labelled, made from what is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.keys import CRITERIA, TraceItemKey, is_name, split_path_key
from store.records import ItemRef


class ConflictError(ValueError):
    """A line contradicts what the database holds; nothing of it was written."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item with its trace's number of steps; `made` says that asking for it made it."""

    id: int
    key: str
    kind: str
    trace_id: int
    n_steps: int
    made: bool = False


class TraceItems:
    """Items of traces (paths, steps, criteria) by key, made on demand, inside one session."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[str, StoredItem] = {}

    def find(self, key: str) -> StoredItem:
        """Return the item of a key, making it when its trace is stored.

        Raises
        ------
        ConflictError
            When the key is of another form, or names no trace, or no step of it.
        """
        if key in self._known:
            return self._known[key]
        try:
            parts = TraceItemKey.parse(key)
        except ValueError as error:
            raise ConflictError(str(error)) from error
        proper = str(parts)  # %2f is %2F
        found = self._stored(proper) or self._made(proper, parts)
        self._known[key] = replace(found, made=False)
        return found

    def _stored(self, key: str) -> StoredItem | None:
        if not is_name(key):
            return None
        row = self._s.execute(
            plain_select(col(t.Item.id), col(t.Item.kind), col(t.Trace.id), col(t.Trace.n_steps))
            .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
            .where(col(t.Item.key) == key)
        ).one_or_none()
        return None if row is None else StoredItem(row[0] or 0, key, row[1], row[2] or 0, row[3])

    def _made(self, key: str, parts: TraceItemKey) -> StoredItem:
        dataset, external, pool, sample = parts.trace
        found = (
            is_name(key)
            and self._s.execute(
                plain_select(col(t.Trace.id), col(t.Trace.n_steps), col(t.Question.id))
                .join(t.Pool, col(t.Pool.id) == col(t.Trace.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .where(
                    col(t.Question.dataset) == dataset,
                    col(t.Question.external_id) == external,
                    col(t.Pool.name) == pool,
                    col(t.Trace.sample) == sample,
                )
            ).one_or_none()
        )
        if not found:
            raise ConflictError(f"{key} names no trace in the database: import its traces first")
        trace_id, n_steps, question_id = found
        if parts.step is not None and parts.step >= n_steps:
            raise ConflictError(f"{key} names no step: the trace has {n_steps}, numbered from 0")
        row = t.Item(
            key=key,
            kind=parts.kind,
            trace_id=trace_id,
            question_id=question_id or 0,
            step=parts.step,
        )
        self._s.add(row)
        self._s.flush()
        return StoredItem(row.id or 0, key, parts.kind, trace_id or 0, n_steps, made=True)


class Items(Base):
    """Items that hang on a path: its steps, and the criteria of its decomposition."""

    def step_items(self, path_item_id: int) -> tuple[ItemRef, ...]:
        """Return the step items of a path item in order, making them on first use."""
        return self._parts(path_item_id, "step")

    def criterion_items(self, path_item_id: int) -> tuple[ItemRef, ...]:
        """Return the items of a path's decomposition criteria, making them on first use."""
        return self._parts(path_item_id, "criterion")

    def _parts(self, path_item_id: int, kind: str) -> tuple[ItemRef, ...]:
        with self._read() as s:
            wanted = _wanted(s, path_item_id, kind)
            found = _found(s, wanted)
        if len(found) < len(wanted):
            with self._write() as s:
                items = TraceItems(s)
                found = {str(part): items.find(str(part)).id for part in wanted}
        return tuple(ItemRef(found[str(p)], str(p), p.step, p.criterion) for p in wanted)


def _wanted(s: Session, path_item_id: int, kind: str) -> list[TraceItemKey]:
    item, n_steps = s.exec(
        select(t.Item, t.Trace.n_steps)
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .where(t.Item.id == path_item_id)
    ).one()
    if item.kind != "path":
        raise ValueError(f"{item.key} is a {item.kind}, not a path")
    trace = split_path_key(item.key)
    if kind == "step":
        return [TraceItemKey(kind, trace, step=n) for n in range(n_steps)]
    return [TraceItemKey(kind, trace, criterion=c) for c in CRITERIA]


def _found(s: Session, wanted: list[TraceItemKey]) -> dict[str, int]:
    keys = [str(w) for w in wanted]
    rows = s.exec(select(t.Item.key, t.Item.id).where(col(t.Item.key).in_(keys))).all()
    return {key: ident or 0 for key, ident in rows}
