"""What every screen of the workbench shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events
from textual.content import Content
from textual.screen import ModalScreen, Screen

from tui import wording
from tui.actions import footer_of
from tui.reversal import Act, Reversal, reverse
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines

if TYPE_CHECKING:
    from store.records import LabelRecord, LabelState, SchemaRecord
    from tui.app import MedoidApp

T = TypeVar("T")
PATIENCE = 0.4
"""Seconds after which a write is said to be waiting."""


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
        self.moved()

    def action_page(self, by: int) -> None:
        self.lines().page(by)
        self.moved()

    def action_top(self) -> None:
        self.lines().top()
        self.moved()

    def action_bottom(self) -> None:
        self.lines().bottom()
        self.moved()

    def moved(self) -> None:
        """Do what is due when the cursor may stand elsewhere."""


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

    @property
    def mode(self) -> str:
        """Which part of the registry holds now."""
        return self.NAME

    async def on_mount(self) -> None:
        self.query_one("#keys", Keys).show_keys(footer_of(self.mode))

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

    async def attempt(self, act: Callable[[], T], *, write: bool = False) -> T | None:
        """Read or write off the UI's thread; when that fails, say so and return None."""
        try:
            return await (self.written(act) if write else self.session.read(act))
        except Exception as problem:  # shown with its cause; the state stays for another try
            self.fail(problem)
            return None

    async def written(self, act: Callable[[], T]) -> T:
        """Wait for a write's commit; say so when it takes long, as behind another's lock."""
        waiting = self.set_timer(
            PATIENCE, lambda: self.say("not saved yet: waiting for the disk …")
        )
        try:
            return await self.session.write(act)
        finally:
            waiting.stop()

    async def committed(
        self,
        item_id: int,
        schema: SchemaRecord,
        state: LabelState,
        *,
        category: str | None = None,
        categories: tuple[str, ...] | None = None,
        step: int | None = None,
        note: str | None = None,
        seconds: float | None = None,
    ) -> LabelRecord | None:
        """Save a label; None, and said, when that failed."""
        session = self.session
        return await self.attempt(
            lambda: session.store.commit_label(
                session.rater.id,
                item_id,
                schema,
                state=state,
                category=category,
                categories=categories,
                first_wrong_step=step,
                note=note,
                active_seconds=seconds,
                session_id=session.sitting_id,
                beside=session.schema,
            ),
            write=True,
        )

    async def annotated(
        self, item_id: int, schema: SchemaRecord, *, flagged: bool | None, note: str | None
    ) -> LabelRecord | None:
        """Save a flag or a comment; None, and said, when that failed."""
        session = self.session
        return await self.attempt(
            lambda: session.store.annotate(
                session.rater.id,
                item_id,
                schema,
                flagged=flagged,
                note=note,
                session_id=session.sitting_id,
                beside=session.schema,
            ),
            write=True,
        )

    async def reversed(self, act: Act) -> Reversal | None:
        """Undo or redo the last act; None, and said, when there is none or that failed."""
        before = self.session.saved_at
        try:
            done: Reversal | None = await self.written(lambda: reverse(self.session, act))
        except Exception as problem:
            self.fail(problem)
            return None
        if done is None:
            self.session.saved_at = before
            self.refuse(f"nothing to {act}")
        elif done.result.label is not None:
            self.session.note(done.result.label)
        return done

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        shown = self.NAME in ("case", "revealed")
        self.app.push_screen(
            HelpScreen(self.session.schema.guideline if shown else None, self.NAME)
        )

    async def action_back(self) -> None:
        await self.app.pop_screen()


class Undoing(WorkScreen):
    """A screen on which undo and redo are one act and its opposite."""

    async def action_undo(self) -> None:
        await self._reverse("undo")

    async def action_redo(self) -> None:
        await self._reverse("redo")

    async def _reverse(self, act: Act) -> None:
        """Undo or redo, and show what that changed."""
        raise NotImplementedError


class Reversing(Undoing):
    """A screen of lists, on which undo and redo say what they did and leave the place alone."""

    told: Content | None = None
    """What was undone or done again last, shown until the next key."""

    def tell(self, done: Reversal) -> Content:
        """Return in one line what was undone or done again."""
        return done.told_afar(self.size.width - 1)

    def reread(self) -> None:
        """Read again what a label may have changed."""
        raise NotImplementedError

    async def _reverse(self, act: Act) -> None:
        done = await self.reversed(act)
        if done is not None:
            self.told = self.tell(done)
            self.say(self.told)
            self.reread()

    def on_key(self, _event: events.Key) -> None:
        self.told = None


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
