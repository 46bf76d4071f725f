"""Opening a project: the first screen stands while the store is still on its way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from store.first_look import FirstLook
from tui.session import FileGuard, Session, path_schema

if TYPE_CHECKING:
    from store import Store


def open_session(db: str | Path, rater: str, schema: str) -> Session:
    """Open a project for a rater who labels paths by a schema; load everything that takes.

    Raises
    ------
    StoreError, ValueError
        When the database, the schema or the rater cannot be used.
    """
    from store import open_store

    store = open_store(db)
    try:
        return Session(
            store,
            store.rater(rater),
            path_schema(store, schema),
            FileGuard(store.file),
            step_schema=store.schema("step"),
        )
    except BaseException:
        store.close()
        raise


class LaterStore:
    """Stands for a store that is still being opened: what is asked of it waits until it is.

    It may be asked on worker threads only, as every store. Nobody waits before `open` was called,
    and where that failed everybody hears why.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.url = str(file)
        self._done = threading.Event()
        self._begun = self._closed = False
        self._store: Store | None = None
        self._problem: BaseException | None = None

    def open(self, act: Callable[[], Session]) -> Session:
        """Open it, on any thread, and let those who wait go on."""
        self._begun = True
        try:
            session = act()
        except BaseException as problem:
            self._problem = problem
            raise
        else:
            self._store = session.store
            return session
        finally:
            self._done.set()
            if self._closed:
                self.close()

    def close(self) -> None:
        """Close the store, as soon as it is there; one that nobody opens yet never will be."""
        self._closed = True
        if self._store is not None:
            self._store.close()
        elif not self._begun:
            self._done.set()

    def __getattr__(self, name: str) -> Any:
        self._done.wait()
        if self._store is None:
            raise self._problem or RuntimeError("the project was left before it was open")
        return getattr(self._store, name)


def session_at_first_look(look: FirstLook) -> tuple[Session, LaterStore]:
    """Return a session whose store is still to be opened."""
    later = LaterStore(look.file)
    guard = FileGuard(look.file)
    session = Session(
        cast("Store", later), look.rater, look.schema, guard, step_schema=look.step_schema
    )
    return session, later


@cache
def load_screens() -> None:
    """Import what the next keys need, so that none waits for it; once in a process.

    By now the store is loaded, too. All of that stays: looking through it in every collection of
    garbage to come would hold up a key now and then by a tenth of a second.
    """
    import tui.screens.keeping  # noqa: F401

    gc.freeze()
