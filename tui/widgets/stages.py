"""A line about the newest run at work, read from the store now and then, off the UI's thread."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message

from store.model_records import RunRecord
from tui.runlines import newest_running, stage_line
from tui.session import Session
from tui.widgets.bars import Line

SECONDS = 1.0
"""Between two looks at the store."""
LOOK_AT = 20
"""So many of the newest runs are looked at."""


class StageLine(Line):
    """Shown while a run is at work; it says so to its screen when that changes."""

    class Changed(Message):
        """A run began, or the last one ended."""

        def __init__(self, running: bool) -> None:
            super().__init__()
            self.running = running

    class Read(Message):
        """The runs were read."""

        def __init__(self, runs: tuple[RunRecord, ...]) -> None:
            super().__init__()
            self.runs = runs

    def __init__(self, session: Session) -> None:
        super().__init__(id="stages")
        self._session = session
        self.display = False

    def on_mount(self) -> None:
        self.set_interval(SECONDS, self.look)

    def look(self) -> None:
        """Read the runs, unless the last reading still waits or nobody sees the line."""
        # A screen right below another one counts as current, too, whether it shows or not.
        if self.screen is self.app.screen and not any(w.node is self for w in self.workers):
            self.run_worker(self._read, thread=True, group="stages", exit_on_error=False)

    def _read(self) -> None:
        try:
            runs = self._session.store.runs(LOOK_AT)
        except Exception:  # a line on the side is not worth a message; the next look comes
            return
        self.post_message(self.Read(runs))

    def on_stage_line_read(self, message: Read) -> None:
        found = newest_running(message.runs)
        if found is not None:
            width = self.content_size.width or self.app.size.width
            self.show(stage_line(*found, width))
        else:
            self.show(Content(""))
        if self.display != (found is not None):
            self.display = found is not None
            self.post_message(self.Changed(self.display))
