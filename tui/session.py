"""What a running workbench holds: the open store, the rater, the schema, and the way to write."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from store import StoreError
from store.records import LabelRecord, RaterRecord, SchemaRecord, SessionRecord
from tui.pace import Pace

if TYPE_CHECKING:
    from textual.content import Content

    from pipeline.relation_sealed import Headline
    from store import Store

T = TypeVar("T")

IDLE_LIMIT = 60.0
"""Seconds without a key after which a rater no longer counts as active."""


class FileGuard:
    """Notices that the database file was deleted or replaced while it is open.

    SQLite goes on writing into a deleted file without an error; such a label would be lost.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._identity = self._look()

    def _look(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Raise `StoreError` when the file is no longer the one that was opened."""
        if self._look() != self._identity:
            raise StoreError(
                f"nothing was saved: the database file is gone or another one. Put it back: "
                f"{self._file}"
            )


def path_schema(store: Store, name: str) -> SchemaRecord:
    """Return the newest version of a schema that paths are labelled by.

    Raises
    ------
    StoreError
        When it is for items of another kind.
    ValueError
        When there is none of this name.
    """
    schema = store.schema(name)
    if schema.item_kind != "path":
        known = ", ".join(dict.fromkeys(s.name for s in store.schemas() if s.item_kind == "path"))
        raise StoreError(
            f"schema {name} is for {schema.item_kind} items; the workbench labels paths: "
            f"a schema of kind path is right, here {known}"
        )
    return schema


class ActiveClock:
    """Counts the seconds a rater spends on an item; a pause counts for a minute at most."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._seconds = 0.0
        self._last = now()

    def start(self, seconds: float = 0.0) -> None:
        """Begin an item, or take one up again that already took some seconds."""
        self._seconds = seconds
        self._last = self._now()

    def tick(self) -> None:
        """Note that a key was pressed."""
        now = self._now()
        self._seconds += min(now - self._last, IDLE_LIMIT)
        self._last = now

    def read(self) -> float:
        """Return the seconds up to now."""
        self.tick()
        return round(self._seconds, 2)


@dataclass(slots=True)
class Sitting:
    """A session of labelling under way: how many items it is for, and which were decided in it."""

    record: SessionRecord
    decided: set[int] = field(default_factory=set)
    size: int | None = None

    @property
    def full(self) -> bool:
        """Whether as many items were decided as it was meant for."""
        return self.size is not None and len(self.decided) >= self.size

    @property
    def mark(self) -> str:
        """A few words for the screen."""
        n = len(self.decided)
        return f"session {n}" if self.size is None else f"session {n}/{self.size}"


@dataclass(slots=True)
class Session:
    """An open project, who works on it, and under which schemas paths and steps are labelled."""

    store: Store
    rater: RaterRecord
    schema: SchemaRecord
    guard: FileGuard
    step_schema: SchemaRecord | None = None
    sitting: Sitting | None = None
    pace: Pace | None = None
    steps_first: bool = False
    auto_next: bool = False
    one_side: bool = False
    saved_at: datetime | None = None
    failed_at: float = 0.0
    unsaved: bool = False
    told: Content | None = None
    """The label that was saved last, in words."""
    headlines: dict[tuple[int, int], Headline] = field(default_factory=dict)
    """How far models contradict themselves, by asking and number of answers; it takes seconds."""

    @property
    def sitting_id(self) -> int | None:
        """The session that labels are saved under."""
        return None if self.sitting is None else self.sitting.record.id

    def read_pace(self) -> Pace:
        """Read how far and how fast the rater is; safe on any thread, changes nothing here."""
        own = self.store.progress(self.rater.id, self.schema.name)
        seconds = self.store.pace(self.rater.id, schema=self.schema.name)
        return Pace(own.n_decided, own.n_items, seconds)

    def note(self, record: LabelRecord) -> None:
        """Count a path's label for the session of labelling under way, or no longer."""
        if self.sitting is not None and record.schema == self.schema.name:
            decided = self.sitting.decided
            (decided.add if record.decided else decided.discard)(record.item_id)

    def begin(self, size: int | None) -> Sitting:
        """Start a session of labelling on any thread; the caller puts it into `sitting`."""
        return Sitting(self.store.start_session(self.rater.id, size), size=size)

    def end(self) -> None:
        """End the session of labelling, if there is one; safe on any thread."""
        if self.sitting is not None:
            self.store.end_session(self.sitting.record.id)

    async def write(self, act: Callable[[], T]) -> T:
        """Run a write off the UI's thread and wait for its commit.

        `saved_at` moves and `unsaved` is cleared only after the commit returned and the file is
        still the one that was opened.
        `failed_at` is when a failure was known: keys typed before it were meant for another state.
        """
        try:
            self.guard.check()
            done = await asyncio.to_thread(act)
            self.guard.check()
        except BaseException:
            self.failed_at = time.monotonic()
            self.unsaved = True
            raise
        self.unsaved = False
        self.saved_at = datetime.now().astimezone()
        return done

    async def read(self, act: Callable[[], T]) -> T:
        """Run a read off the UI's thread and wait for it."""
        return await asyncio.to_thread(act)
