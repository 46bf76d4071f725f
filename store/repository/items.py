"""Items: stable keys of what is labelled, made from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.keys import CRITERIA, FORMS, TraceItemKey, is_name, split_path_key
from store.records import ItemRef
from store.repository.deduction_rows import find_reply
from store.repository.rows import chunks

DEDUCTION = "deduction"


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


Edges = Sequence[tuple[str, str]]
Maker = Callable[[Session, str, Edges | None], StoredItem]

_MAKERS: dict[str, Maker] = {}


def register_maker(kind: str, find: Maker) -> None:
    """Let items of a kind that hangs on no trace be found, or made, by their key.

    `find` takes the key, and the statements of a cycle where a file gives them. It raises
    `ConflictError` for a key that names nothing in the database.
    """
    _MAKERS[kind] = find


class TraceItems:
    """Items by key, made on demand, inside one session.

    Those of traces (paths, steps, criteria, edits) are made here, others by their `register_maker`.
    """

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[str, StoredItem] = {}

    def find(self, key: str, edges: Edges | None = None) -> StoredItem:
        """Return the item of a key, making it when its trace is stored.

        `edges` are the statements of a cycle, which can be made by them.

        Raises
        ------
        ConflictError
            When the key is of another form, or names no trace, or no step of it.
        """
        if key in self._known and edges is None:
            return self._known[key]
        if key.startswith(f"{DEDUCTION}:"):
            return self._reply(key)
        maker = _MAKERS.get(key.partition(":")[0])
        if maker is not None:
            found = maker(self._s, key, edges)
            self._known[key] = replace(found, made=False)
            return found
        try:
            parts = TraceItemKey.parse(key)
        except ValueError as error:
            raise ConflictError(str(error)) from error
        proper = str(parts)  # %2f is %2F
        found = self._stored(proper) or self._made(proper, parts)
        self._known[key] = replace(found, made=False)
        return found

    def _reply(self, key: str) -> StoredItem:
        """Return the item of a reply to a deduction problem, making it when the reply is stored."""
        found = is_name(key) and find_reply(self._s, key)
        if not found:
            raise ConflictError(
                f"{key} names no reply in the database; medoid deduce ask makes those of "
                f"{FORMS[DEDUCTION]}"
            )
        item_id, proper, made = found
        item = StoredItem(item_id, proper, DEDUCTION, 0, 0, made=made)
        self._known[key] = replace(item, made=False)
        return item

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
        name = parts.decomposition
        editing_id = None
        if parts.editing is not None:
            editing_id = self._editing(parts.editing, trace_id or 0, parts.step or 0)
            if editing_id is None:
                raise ConflictError(
                    f"{key} names no edit: the database has no edit {parts.editing!r} of this "
                    "step, medoid counterfactual makes it"
                )
        decomposition_id = None if name is None else self._decomposition(name, trace_id or 0)
        if name is not None and decomposition_id is None:
            raise ConflictError(
                f"{key} names no facts: the database has no decomposition {name!r} of this trace, "
                "medoid decompose makes it"
            )
        row = t.Item(
            key=key,
            kind=parts.kind,
            trace_id=trace_id,
            question_id=question_id or 0,
            step=parts.step,
            decomposition_id=decomposition_id,
            editing_id=editing_id,
        )
        self._s.add(row)
        self._s.flush()
        return StoredItem(row.id or 0, key, parts.kind, trace_id or 0, n_steps, made=True)

    def _decomposition(self, name: str, trace_id: int) -> int | None:
        """Return the id of the decomposition of this name, where it has split the trace."""
        return self._s.exec(
            select(t.Decomposition.id)
            .join(
                t.DecomposedTrace,
                col(t.DecomposedTrace.decomposition_id) == col(t.Decomposition.id),
            )
            .where(t.Decomposition.name == name, t.DecomposedTrace.trace_id == trace_id)
        ).first()

    def _editing(self, name: str, trace_id: int, step: int) -> int | None:
        """Return the id of the editing of this name, where it has rewritten the step."""
        edit = t.CounterfactualEdit
        return self._s.exec(
            select(t.CounterfactualEditing.id)
            .join(edit, col(edit.editing_id) == col(t.CounterfactualEditing.id))
            .where(
                t.CounterfactualEditing.name == name,
                edit.trace_id == trace_id,
                edit.step == step,
                col(edit.text).is_not(None),
            )
        ).first()


class Items(Base):
    """Items of traces by key, and those that hang on a path or a decomposition."""

    def step_items(self, path_item_id: int) -> tuple[ItemRef, ...]:
        """Return the step items of a path item in order, making them on first use."""
        with self._read() as s:
            wanted = _steps_of(s, path_item_id)
        return self._refs(wanted)

    def criterion_items(self, decomposition_id: int, trace_id: int) -> tuple[ItemRef, ...]:
        """Return the criterion items of a decomposed trace, making them on first use.

        Raises
        ------
        ConflictError
            When the decomposition has not split this trace.
        """
        with self._read() as s:
            wanted = criteria_of(s, decomposition_id, trace_id)
        return self._refs(wanted)

    def make_items(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the ids of the items of these keys, making those that are not there.

        Raises
        ------
        ConflictError
            When a key names no trace, step or decomposition in the database. None is made then.
        """
        with self._write() as s:
            items = TraceItems(s)
            return {key: items.find(key).id for key in keys}

    def item_ids(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the ids of the items of these keys that are there; none is made."""
        found: dict[str, int] = {}
        with self._read() as s:
            for part in chunks(list(dict.fromkeys(keys))):
                rows = s.exec(select(t.Item.key, t.Item.id).where(col(t.Item.key).in_(part)))
                found.update((key, ident or 0) for key, ident in rows)
        return found

    def item_keys(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the keys of items, id → key."""
        found: dict[int, str] = {}
        with self._read() as s:
            for part in chunks(sorted(set(ids))):
                rows = s.exec(select(t.Item.id, t.Item.key).where(col(t.Item.id).in_(part)))
                found.update((ident or 0, key) for ident, key in rows)
        return found

    def queued_items(self) -> dict[str, int]:
        """Return the path items of the queue, key → id, by key: an order that tells nothing."""
        with self._read() as s:
            rows = s.exec(
                select(t.Item.key, t.Item.id)
                .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id))
                .distinct()
                .order_by(col(t.Item.key))
            ).all()
        return {key: ident or 0 for key, ident in rows}

    def _refs(self, wanted: list[TraceItemKey]) -> tuple[ItemRef, ...]:
        with self._read() as s:
            found = _found(s, wanted)
        if len(found) < len(wanted):
            with self._write() as s:
                items = TraceItems(s)
                found = {str(part): items.find(str(part)).id for part in wanted}
        return tuple(
            ItemRef(found[str(p)], str(p), p.step, p.criterion, p.decomposition) for p in wanted
        )


def _steps_of(s: Session, path_item_id: int) -> list[TraceItemKey]:
    item, n_steps = s.exec(
        select(t.Item, t.Trace.n_steps)
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .where(t.Item.id == path_item_id)
    ).one()
    if item.kind != "path":
        raise ValueError(f"{item.key} is a {item.kind}, not a path")
    trace = split_path_key(item.key)
    return [TraceItemKey("step", trace, step=n) for n in range(n_steps)]


def criteria_of(s: Session, decomposition_id: int, trace_id: int) -> list[TraceItemKey]:
    """Return the keys of a decomposed trace's criterion items."""
    name = s.get_one(t.Decomposition, decomposition_id).name
    dataset, external, pool, sample = s.exec(
        select(t.Question.dataset, t.Question.external_id, t.Pool.name, t.Trace.sample)
        .join(t.Pool, col(t.Pool.question_id) == col(t.Question.id))
        .join(t.Trace, col(t.Trace.pool_id) == col(t.Pool.id))
        .where(t.Trace.id == trace_id)
    ).one()
    trace = (dataset, external, pool, sample)
    return [TraceItemKey("criterion", trace, decomposition=name, criterion=c) for c in CRITERIA]


def _found(s: Session, wanted: list[TraceItemKey]) -> dict[str, int]:
    keys = [str(w) for w in wanted]
    rows = s.exec(select(t.Item.key, t.Item.id).where(col(t.Item.key).in_(keys))).all()
    return {key: ident or 0 for key, ident in rows}
