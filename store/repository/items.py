"""Items: stable keys of what is labelled, made from what is stored."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.keys import path_key, split_path_key


class ConflictError(ValueError):
    """A line contradicts what the database holds; nothing of it was written."""


@dataclass(frozen=True, slots=True)
class PathItem:
    """An item with its trace's number of steps."""

    id: int
    trace_id: int
    n_steps: int


class PathItems:
    """Path items of a database by key, read once and made on demand, inside one session."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._items: dict[str, PathItem] | None = None
        self._traces: dict[str, tuple[int, int, int]] = {}

    def forget(self) -> None:
        """Read the traces again next time: some were added."""
        self._items = None

    def find(self, key: str) -> PathItem:
        """Return the item of a key, making it when its trace is stored.

        Raises
        ------
        ConflictError
            When the key is no path key, or names no trace in the database.
        """
        items = self._load()
        if key in items:
            return items[key]
        if key not in self._traces:
            try:
                split_path_key(key)
            except ValueError as error:
                raise ConflictError(str(error)) from error
            raise ConflictError(f"{key} names no trace in the database: import its traces first")
        trace_id, question_id, n_steps = self._traces[key]
        row = t.Item(key=key, kind="path", trace_id=trace_id, question_id=question_id)
        self._s.add(row)
        self._s.flush()
        items[key] = PathItem(row.id or 0, trace_id, n_steps)
        return items[key]

    def _load(self) -> dict[str, PathItem]:
        if self._items is None:
            self._s.flush()
            rows = self._s.execute(
                plain_select(
                    col(t.Question.id),
                    col(t.Question.dataset),
                    col(t.Question.external_id),
                    col(t.Pool.name),
                    col(t.Trace.sample),
                    col(t.Trace.id),
                    col(t.Trace.n_steps),
                )
                .join(t.Pool, col(t.Pool.question_id) == col(t.Question.id))
                .join(t.Trace, col(t.Trace.pool_id) == col(t.Pool.id))
            )
            self._traces = {
                path_key(dataset, external, pool, sample): (
                    trace_id or 0,
                    question_id or 0,
                    n_steps,
                )
                for question_id, dataset, external, pool, sample, trace_id, n_steps in rows
            }
            steps = {trace_id: n for trace_id, _, n in self._traces.values()}
            self._items = {
                key: PathItem(item_id or 0, trace_id or 0, steps.get(trace_id or 0, 0))
                for item_id, key, trace_id in self._s.exec(
                    select(t.Item.id, t.Item.key, t.Item.trace_id)
                )
            }
        return self._items
