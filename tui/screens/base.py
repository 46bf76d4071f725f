"""What every screen of the workbench shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.screen import ModalScreen, Screen

from tui import wording
from tui.actions import footer_of
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines

if TYPE_CHECKING:
    from tui.app import MedoidApp


def breadcrumb(*parts: str) -> Content:
    """Return the path of places at the top left; parts may be names we did not write."""
    return Content(" ") + Content(" ▸ ").join([Content.styled("medoid", "bold"), *map(safe, parts)])


class Scrolling:
    """Keys that move through the screen's main lines."""

    def lines(self) -> Lines:
        """Return the lines the moving keys act on."""
        raise NotImplementedError

    def action_move(self, by: int) -> None:
        self.lines().move(by)

    def action_page(self, by: int) -> None:
        self.lines().page(by)

    def action_top(self) -> None:
        self.lines().top()

    def action_bottom(self) -> None:
        self.lines().bottom()


class WorkScreen(Scrolling, Screen[None]):
    """A full screen with a first line, a message line and a footer."""

    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-two"), (110, "-wide")]  # noqa: RUF012

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    @property
    def medoid(self) -> MedoidApp:
        """The app, with its type."""
        from tui.app import MedoidApp

        if not isinstance(self.app, MedoidApp):
            raise TypeError("a workbench screen runs in MedoidApp only")
        return self.app

    async def on_mount(self) -> None:
        self.query_one("#keys", Keys).show_keys(footer_of(self.NAME))

    def lines(self) -> Lines:
        return self.query_one("#lines", Lines)

    def say(self, left: Content | str, right: Content | str = "") -> None:
        """Put a message into the message line, where it stays until the next one."""
        line = self.query_one("#message", Line)
        line.remove_class("-error")
        line.show(_pad(left), right)

    def fail(self, problem: BaseException) -> None:
        """Say what went wrong; marked by a word, not only by colour."""
        line = self.query_one("#message", Line)
        line.add_class("-error")
        line.show_whole(_pad(Content(f"NOT DONE: {wording.error(problem)}")))

    def refuse(self, left: Content | str) -> None:
        """Say why a key did nothing."""
        self.say(left)
        self.app.bell()

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        shown = self.NAME in ("case", "revealed")
        self.app.push_screen(
            HelpScreen(self.session.schema.guideline if shown else None, self.NAME)
        )

    async def action_back(self) -> None:
        await self.app.pop_screen()


class Sheet(Scrolling, ModalScreen[None]):
    """A reading screen laid over another one."""

    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""

    async def on_mount(self) -> None:
        self.query_one("#keys", Keys).show_keys(footer_of(self.NAME))

    def lines(self) -> Lines:
        return self.query_one("#lines", Lines)

    def action_back(self) -> None:
        self.dismiss(None)


def _pad(text: Content | str) -> Content:
    return Content(" ") + (text if isinstance(text, Content) else Content(text))
