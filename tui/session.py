"""What a running workbench holds: the open store, the rater, the schema, and the way to write."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from store import Store, StoreError
from store.records import RaterRecord, SchemaRecord

T = TypeVar("T")

IDLE_LIMIT = 60.0
"""Seconds without a key after which a rater no longer counts as active."""


def database_file(url: str) -> Path | None:
    """Return the file behind a SQLite URL, None for anything else.

    >>> database_file("sqlite:////tmp/a.db"), database_file("sqlite://")
    (PosixPath('/tmp/a.db'), None)
    """
    name = url.partition("?")[0].removeprefix("sqlite:///")
    if name == url or not url.startswith("sqlite:///") or name in ("", ":memory:"):
        return None
    return Path(name)


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


class ActiveClock:
    """Counts the seconds a rater spends on an item; a pause counts for a minute at most."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._seconds = 0.0
        self._last = now()

    def start(self) -> None:
        """Begin an item."""
        self._seconds = 0.0
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
class Session:
    """An open project and who works on it."""

    store: Store
    rater: RaterRecord
    schema: SchemaRecord
    guard: FileGuard
    saved_at: datetime | None = None
    failed_at: float = 0.0
    unsaved: bool = False

    async def write(self, act: Callable[[], T]) -> T:
        """Run a write off the UI's thread and wait for its commit.

        `saved_at` moves (and `unsaved` is cleared) only after the commit returned and the file is still the one opened.
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
