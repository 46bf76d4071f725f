"""What is running, how far it is, and what ran: read from the store every second."""

from __future__ import annotations

from datetime import UTC, datetime

from textual.app import ComposeResult
from textual.message import Message

from store.model_records import RunRecord
from tui import wording
from tui.actions import bindings_of
from tui.runlines import run_details, run_heads, run_row, state_of
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row

SECONDS = 1.0
"""Between two looks at the store."""
LIMIT = 200
"""So many of the newest runs are shown."""
NONE_YET = "nothing ran yet: medoid generate, decompose, judge and the others show here"


class RunsScreen(WorkScreen):
    """The runs, newest first; the cursor stays on its run while others come."""

    NAME = "runs"
    BINDINGS = bindings_of("runs")

    class Read(Message):
        """The runs were read, and when."""

        def __init__(self, runs: tuple[RunRecord, ...], now: datetime) -> None:
            super().__init__()
            self.runs = runs
            self.now = now

    class Failed(Message):
        """The runs could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.runs: tuple[RunRecord, ...] | None = None
        self._now = datetime.now(UTC)

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self.query_one("#top", Line).show(breadcrumb("runs"))
        self.say("reading …")
        self.look()
        self.set_interval(SECONDS, self.look)

    def look(self) -> None:
        """Read the runs off the UI's thread, unless the last reading still waits."""
        if self.is_current and not any(w.group == "runs" for w in self.workers):
            self.run_worker(self._read, thread=True, group="runs", exit_on_error=False)

    def _read(self) -> None:
        try:
            runs = self.session.store.runs(LIMIT)
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))
        else:
            self.post_message(self.Read(runs, datetime.now(UTC)))

    def on_runs_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_runs_screen_read(self, message: Read) -> None:
        self.runs, self._now = message.runs, message.now
        lines = self.lines()
        known = [run.id for run in message.runs]
        cursor = lines.cursor if lines.cursor in known else next(iter(known), None)
        counts = [state_of(run) for run in message.runs]
        n_running, n_stale = counts.count("running"), counts.count("stale")
        told = f"{n_running} running" + (f" · {n_stale} stale" if n_stale else "") + " "
        self.query_one("#top", Line).show(breadcrumb("runs"), told)
        self.query_one("#columns", Lines).show(lambda width: run_heads(width) if known else [])
        lines.show(
            lambda width: [run_row(run, width) for run in message.runs],
            cursor=cursor,
            key=self.NAME,
        )
        self.moved()
        n = wording.count(len(known), "run")
        most = f"the newest {n}" if len(known) == LIMIT else n
        self.say(f"{most}, newest first" if known else NONE_YET)

    @property
    def run_in_hand(self) -> RunRecord | None:
        """The run under the cursor."""
        at = self.lines().cursor
        return next((run for run in self.runs or () if run.id == at), None)

    def moved(self) -> None:
        run, now = self.run_in_hand, self._now

        def build(width: int) -> list[Row]:
            return [] if run is None else run_details(run, now, width)

        self.query_one("#detail", Lines).show(build)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()
