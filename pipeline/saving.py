"""Rows are saved in a thread of their own, so that a busy database never holds up the asking."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")

BATCH = 100
"""Rows to a transaction at most."""

BEAT_SECONDS = 0.5
IDLE_SECONDS = 5.0


class Saver(Generic[T]):
    """A thread that saves what it is given, in order, as many at a time as have come.

    `beat` is called now and then from the same thread, also while nothing comes, so that others
    see the run is alive. When saving fails, `on_error` is called and `close` raises the error.
    """

    def __init__(
        self,
        save: Callable[[Sequence[T]], None],
        *,
        on_error: Callable[[], None],
        beat: Callable[[], None],
    ) -> None:
        self._save = save
        self._on_error = on_error
        self._beat = beat
        self._queue: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._closed = False
        self._last_beat = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="medoid-saver", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._end()

    def put(self, item: T) -> None:
        """Hand over a row; returns at once."""
        self._queue.put(item)

    def close(self) -> None:
        """Wait until everything is saved; raise what went wrong."""
        self._end()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _end(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        ended = False
        while not ended:
            batch, ended = self._next()
            if self._error is not None:
                continue  # what comes after a failure is kept as replies, and read by the next run
            try:
                if batch:
                    self._save(batch)
                pause = BEAT_SECONDS if batch else IDLE_SECONDS
                if not ended and time.monotonic() - self._last_beat >= pause:
                    self._beat()
                    self._last_beat = time.monotonic()
            except BaseException as error:
                self._error = error
                self._on_error()

    def _next(self) -> tuple[list[T], bool]:
        """Return what has come, waiting a moment for something, and whether it is the end."""
        batch: list[T] = []
        try:
            while len(batch) < BATCH:
                item = self._queue.get(block=not batch, timeout=BEAT_SECONDS)
                if item is None:
                    return batch, True
                batch.append(item)
        except queue.Empty:
            pass
        return batch, False
