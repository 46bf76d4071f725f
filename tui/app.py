"""The workbench as a Textual app."""

from __future__ import annotations

import asyncio
import getpass
import os
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App

from store import Store, open_store
from tui import wording
from tui.palette import RegistryCommands
from tui.screens.overview import OverviewScreen
from tui.session import FileGuard, Session, database_file


def default_rater() -> str:
    """Return ``$MEDOID_RATER``, else the login name."""
    named = os.environ.get("MEDOID_RATER", "").strip()
    return named or getpass.getuser()


class MedoidApp(App[None]):
    """Label, look, compare: the workbench on one database.

    `db` is a path or URL, `rater` the name that labels are saved under. The database is opened
    when the app starts; when that fails the app leaves with code 2 and says why.
    """

    TITLE = "medoid"
    CSS_PATH: ClassVar[str] = "styles/medoid.tcss"
    COMMANDS = {RegistryCommands}  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, db: str | Path, *, rater: str | None = None) -> None:
        super().__init__()
        self._db = db
        self._rater = rater
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The open project; there is none before the app has started."""
        if self._session is None:
            raise RuntimeError("the database is not open yet")
        return self._session

    async def on_mount(self) -> None:
        try:
            self._session = await asyncio.to_thread(self._open)
        except Exception as problem:  # the user reads it on the terminal after the app has left
            self.exit(return_code=2, message=Text(f"medoid: {wording.error(problem)}"))
            return
        await self.push_screen(OverviewScreen(self._session))

    def _open(self) -> Session:
        store: Store = open_store(self._db)
        try:
            rater = store.rater((self._rater or default_rater()).strip())
            return Session(store, rater, store.schema(), FileGuard(database_file(store.url)))
        except BaseException:
            store.close()
            raise

    async def on_event(self, event: events.Event) -> None:
        """Drop keys typed before a failed write was known: they were meant for another state."""
        if (
            isinstance(event, events.Key)
            and self._session is not None
            and event.time < self._session.failed_at
        ):
            return
        await super().on_event(event)

    def on_unmount(self) -> None:
        if self._session is not None:
            self._session.store.close()
