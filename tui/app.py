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

from store import Store, StoreError, open_store
from tui import wording
from tui.palette import RegistryCommands
from tui.screens.case import CaseScreen
from tui.screens.overview import OverviewScreen
from tui.screens.sitting import SummaryScreen, show_summary
from tui.session import FileGuard, Session


def default_rater() -> str:
    """Return ``$MEDOID_RATER``, else the login name."""
    named = os.environ.get("MEDOID_RATER", "").strip()
    return named or getpass.getuser()


class MedoidApp(App[None]):
    """Label, look, compare: the workbench on one database.

    `db` is a path or URL, `rater` the name that labels are saved under, `schema` the one that
    paths are labelled by. The database is opened when the app starts; when that fails the app
    leaves with code 2 and says why.
    """

    TITLE = "medoid"
    CSS_PATH: ClassVar[str] = "styles/medoid.tcss"
    COMMANDS = {RegistryCommands}  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, db: str | Path, *, rater: str | None = None, schema: str = "path") -> None:
        super().__init__()
        self._db = db
        self._rater = rater
        self._schema = schema
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
            schema = store.schema(self._schema)
            if schema.item_kind != "path":
                raise StoreError(
                    f"schema {schema.name} is for {schema.item_kind} items; "
                    "the workbench labels paths: choose a schema of kind path"
                )
            rater = store.rater((self._rater or default_rater()).strip())
            guard = FileGuard(store.file)
            return Session(store, rater, schema, guard, step_schema=store.schema("step"))
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

    async def action_quit(self) -> None:
        """Save what waits for the path to be left, show the session's summary, leave."""
        case = next((s for s in self.screen_stack if isinstance(s, CaseScreen)), None)
        if case is not None and not await case.settle():
            return  # it says on the screen that the label was not saved
        asked = any(isinstance(s, SummaryScreen) for s in self.screen_stack)
        if (
            self._session is None
            or asked
            or not await show_summary(self, self._session, leaving=True)
        ):
            self.exit()

    def on_unmount(self) -> None:
        if self._session is not None:
            self._session.store.close()
