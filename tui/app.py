"""The workbench as a Textual app."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App

from store.first_look import FirstLook, look_ahead
from tui import wording
from tui.opening import load_screens, open_session, session_at_first_look
from tui.overviewlines import at_first_look
from tui.palette import RegistryCommands
from tui.rater import default_rater
from tui.screens.overview import OverviewScreen
from tui.session import Session


class MedoidApp(App[None]):
    """Label, look, compare: the workbench on one database.

    `db` is a path or URL, `rater` the name that labels are saved under, `schema` the one that
    paths are labelled by. The database is opened when the app starts, after a first look that
    the first screen shows meanwhile; when that fails the app leaves with code 2 and says why.
    `look` is that first look where it was begun already (see `look_ahead`).
    """

    TITLE = "medoid"
    CSS_PATH: ClassVar[str] = "styles/medoid.tcss"
    COMMANDS = {RegistryCommands}  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        db: str | Path,
        *,
        rater: str | None = None,
        schema: str = "path",
        look: Future[FirstLook | None] | None = None,
    ) -> None:
        super().__init__()
        self._look = look
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
            rater = (self._rater or default_rater()).strip()
            begun = self._look or look_ahead(self._db, rater, self._schema)
            look = await asyncio.wrap_future(begun)
            if look is None:
                opening = asyncio.to_thread(open_session, self._db, rater, self._schema)
                self._session = await opening
        except Exception as problem:
            self._give_up(problem)
            return
        if look is not None:
            await self._show_first(look)
        elif self._session is not None:
            await self.push_screen(OverviewScreen(self._session))
            self.run_worker(self._get_ready(self._session), group="opening", exit_on_error=False)

    async def _show_first(self, look: FirstLook) -> None:
        """Show the first screen, and open the store once it is painted."""
        session, later = session_at_first_look(look)
        self._session = session
        overview = OverviewScreen(session, at_first_look(look))

        async def open_store() -> None:
            act = partial(open_session, self._db, look.rater.name, self._schema)
            try:
                opened = await asyncio.to_thread(later.open, act)
            except Exception as problem:
                self._give_up(problem)
                return
            session.store, session.rater = opened.store, opened.rater
            session.schema, session.step_schema = opened.schema, opened.step_schema
            overview.reread()
            await self._get_ready(session)

        await self.push_screen(overview)
        self.call_after_refresh(
            lambda: self.run_worker(open_store(), group="opening", exit_on_error=False)
        )

    async def _get_ready(self, session: Session) -> None:
        """Load and make what the next keys need."""
        await asyncio.to_thread(load_screens)
        from tui.screens.keeping import make_ready

        await make_ready(self, session)

    def _give_up(self, problem: Exception) -> None:
        """Leave; the user reads why on the terminal."""
        self.exit(return_code=2, message=Text(f"medoid: {wording.error(problem)}"))

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
        from tui.screens.case import CaseScreen
        from tui.screens.several import Several
        from tui.screens.sitting import SummaryScreen, show_summary

        case = next((s for s in self.screen_stack if isinstance(s, CaseScreen)), None)
        if case is not None and not await case.settle():
            return  # it says on the screen that the label was not saved
        if case is not None and case.ask_before_losing(self.action_quit):
            return
        for screen in self.screen_stack:
            if isinstance(screen, Several) and not await screen.settle():
                return
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
