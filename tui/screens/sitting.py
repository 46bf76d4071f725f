"""Sessions of a chosen size: how many items, and at the end what was done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from store.records import SessionSummary
from tui import wording
from tui.actions import bindings_of
from tui.charts import bar
from tui.screens.base import Sheet
from tui.session import Session, Sitting
from tui.text import cells, fit, hang, safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row
from tui.widgets.stock import Entry, Stack

if TYPE_CHECKING:
    from tui.app import MedoidApp

MOST = 99_999
GRACE = 0.7
"""Seconds in which a key does nothing on the summary: it was meant for the path before."""
HEAD = 16
BAR_CELLS = 20


class SizeScreen(ModalScreen[int | None]):
    """Asks how many items the session is for: 0 for no limit, None when there is to be none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def compose(self) -> ComposeResult:
        with Stack(classes="dialog"):
            yield Line(id="dialog-title")
            yield Entry(
                placeholder="open-ended", id="size", max_length=len(str(MOST)), restrict="[0-9]*"
            )
            yield Line(id="dialog-keys")

    def on_mount(self) -> None:
        self.query_one("#dialog-title", Line).show("How many paths is this session for?")
        self.query_one("#dialog-keys", Line).show(
            "enter: start   an empty line: open-ended   esc: no session"
        )
        self.query_one(Entry).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(int(event.value or 0))

    def action_leave(self) -> None:
        self.dismiss(None)


class SummaryScreen(Sheet):
    """What was done in a session; the rater's own labels only."""

    NAME = "summary"
    BINDINGS = bindings_of("summary")

    def __init__(self, session: Session, summary: SessionSummary, *, leaving: bool) -> None:
        super().__init__()
        self._session = session
        self._summary = summary
        self._leaving = leaving
        self._shown_at = 0.0

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self._shown_at = time.monotonic()
        sitting = self._session.sitting
        mark = "" if sitting is None else f"{sitting.mark} "
        self.query_one("#top", Line).show(Content.styled(" This session", "bold"), mark)
        names = self._session.schema.names
        self.lines().show(
            lambda width: [Row(x) for x in summary_lines(self._summary, names, width)]
        )
        over = sitting is not None and sitting.full
        stops = "leaves medoid" if self._leaving else "ends it and goes to the overview"
        goes_on = "begins another like it" if over else "goes on with it"
        told = self._session.told if over else None
        right = "" if told is None else told + Content(" ")
        self.query_one("#message", Line).show(f" enter {goes_on}; q {stops}", right)

    async def action_go_on(self) -> None:
        """Go back to the paths; a session that is full is followed by another like it."""
        if self._too_early():
            return
        session, sitting = self._session, self._session.sitting
        if sitting is not None and sitting.full:
            try:
                session.sitting = await session.read(lambda: _next(session))
            except Exception as problem:  # said; the key can be pressed again
                self._fail(problem)
                return
        self.dismiss(None)

    def _fail(self, problem: BaseException) -> None:
        text = Content(f" NOT DONE: {wording.error(problem)}")
        self.query_one("#message", Line).show_whole(text)

    def _too_early(self) -> bool:
        return time.monotonic() < self._shown_at + GRACE

    async def action_stop(self) -> None:
        """End the session; leave, or go to the overview."""
        if self._too_early():
            return
        session, app = self._session, self.app
        try:
            await session.read(session.end)
        except Exception as problem:  # said; ctrl+q twice leaves in any case
            self._fail(problem)
            return
        session.sitting = None
        if self._leaving:
            app.exit()
            return
        self.dismiss(None)
        from tui.screens.overview import OverviewScreen

        while len(app.screen_stack) > 1 and not isinstance(app.screen, OverviewScreen):
            await app.pop_screen()


def _next(session: Session) -> Sitting:
    session.end()
    return session.begin(None if session.sitting is None else session.sitting.size)


async def show_summary(app: MedoidApp, session: Session, *, leaving: bool = False) -> bool:
    """Show how the session stands; False when there is none or it cannot be read."""
    sitting = session.sitting
    if sitting is None:
        return False
    name, number = session.schema.name, sitting.record.id
    try:
        summary = await session.read(lambda: session.store.session_summary(number, name))
    except Exception:  # leaving must not hang on a figure
        return False
    await app.push_screen(SummaryScreen(session, summary, leaving=leaving))
    return True


MEDIAN = "a path: its own label and those on its steps"
ACTIVE = "paths and steps; a pause counts 1 min at most"


def summary_lines(
    summary: SessionSummary, names: tuple[str, ...], width: int = 80
) -> list[Content]:
    """Lay out a session's figures."""
    s = summary
    out = [Content("")]
    out.append(_row("decided", f"{s.n_decided:,}"))
    for name in (*names, *(n for n in s.per_category if n not in names)):
        out.append(_share(name, s.per_category.get(name, 0), s.n_decided))
    out.append(_share("unsure", s.n_unsure, s.n_decided))
    out.append(_share("skipped", s.n_skipped, s.n_decided))
    out.append(Content(""))
    out += [_row(f"{name} labels", f"{n:,}") for name, n in s.others.items()]
    out.append(_row("flagged", f"{s.n_flagged:,}"))
    out.append(_row("undone", f"{s.n_undone:,}"))
    out.append(Content(""))
    seconds = wording.NONE if s.median_seconds is None else f"{s.median_seconds:.1f} s"
    out += _explained(_row("median", seconds), MEDIAN, width)
    out += _explained(_row("active", wording.duration(s.active_seconds)), ACTIVE, width)
    out.append(_row("by the clock", wording.duration(s.wall_seconds)))
    return out


def _row(head: str, value: str) -> Content:
    return Content("  ") + fit(safe(head), HEAD) + Content.styled(f"{value:>5}", "bold")


def _explained(row: Content, counted: str, width: int) -> list[Content]:
    """Return a figure with what is counted in it."""
    return hang(row + Content("  "), Content(counted), width)


def _share(head: str, n: int, whole: int) -> Content:
    drawn = bar(n, BAR_CELLS, top=whole) if whole else ""
    line = _row(f"  {head}", f"{n:,}") + "  "
    return line + Content.styled(drawn, "$primary") if cells(drawn) else line
