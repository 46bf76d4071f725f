"""Items: stable keys of what is labelled, made from what is stored."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select as plain_select
from sqlmodel import Session, col

from store import tables as t
from store.keys import is_name, path_key, split_path_key


class ConflictError(ValueError):
    """A line contradicts what the database holds; nothing of it was written."""


@dataclass(frozen=True, slots=True)
class PathItem:
    """An item with its trace's number of steps."""

    id: int
    trace_id: int
    n_steps: int


class PathItems:
    """Path items of a database by key, made on demand, inside one session."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[str, PathItem] = {}

    def find(self, key: str) -> PathItem:
        """Return the item of a key, making it when its trace is stored.

        Raises
        ------
        ConflictError
            When the key is no path key, or names no trace in the database.
        """
        if key not in self._known:
            try:
                parts = split_path_key(key)
            except ValueError as error:
                raise ConflictError(str(error)) from error
            proper = path_key(*parts)  # %2f is %2F
            self._known[key] = self._stored(proper) or self._made(proper, parts)
        return self._known[key]

    def _stored(self, key: str) -> PathItem | None:
        if not is_name(key):
            return None
        row = self._s.execute(
            plain_select(col(t.Item.id), col(t.Trace.id), col(t.Trace.n_steps))
            .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
            .where(col(t.Item.key) == key)
        ).one_or_none()
        return None if row is None else PathItem(row[0] or 0, row[1] or 0, row[2])

    def _made(self, key: str, parts: tuple[str, str, str, str]) -> PathItem:
        dataset, external, pool, sample = parts
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
        row = t.Item(key=key, kind="path", trace_id=trace_id, question_id=question_id or 0)
        self._s.add(row)
        self._s.flush()
        return PathItem(row.id or 0, trace_id or 0, n_steps)
