"""The audit: how many of the wins of SC alone and of GSC alone rest on sound reasoning."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from pipeline.audit import AuditReport, audit_report
from store.compare_records import ADJUDICATED
from tui import wording
from tui.actions import bindings_of
from tui.agreementlines import audit_lines
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines


class AuditScreen(WorkScreen):
    """Faithful and spurious shares per dataset and model, by one rater's labels.

    Who is right on how many questions is made of gold, so only questions that the one who looks
    has revealed count, unless nothing is sealed.
    """

    NAME = "audit"
    BINDINGS = bindings_of("audit")

    class Read(Message):
        """The audit was made; `raters` are all whose labels it can be made of."""

        def __init__(self, report: AuditReport, raters: tuple[str, ...]) -> None:
            super().__init__()
            self.report = report
            self.raters = raters

    class Failed(Message):
        """It could not be."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.rater = session.rater.name
        self.raters: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self._read()

    def _read(self) -> None:
        session, rater = self.session, self.rater
        whose = Content("labels of ") + safe(rater) + Content(" ")
        self.query_one("#top", Line).show(breadcrumb("agreement", "wins"), whose)
        self.say("reading …")

        def work() -> None:
            try:
                known = session.store.raters(session.schema.name)
                names = tuple(
                    r.name
                    for r in known
                    if r.name != ADJUDICATED and (r.n_labelled or r.name == rater)
                )
                report = audit_report(
                    session.store, rater, session.schema.name, viewer=session.rater.id
                )
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Read(report, names))

        self.run_worker(work, thread=True, group="audit", exclusive=True, exit_on_error=False)

    def on_audit_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_audit_screen_read(self, message: Read) -> None:
        report, self.raters = message.report, message.raters
        if report.rater != self.rater:
            return
        self.lines().show(lambda width: audit_lines(report, width), key=self.rater)
        n = report.n_held
        self.say(
            f"{wording.count(n, 'question')} sealed for you and left out"
            if n
            else "every question of the queue counts",
            "█ faithful  ░ spurious ",
        )

    def action_rater(self) -> None:
        names = self.raters
        if len(names) < 2:
            self.refuse("nobody else has labelled paths")
            return
        at = names.index(self.rater) if self.rater in names else -1
        self.rater = names[(at + 1) % len(names)]
        self._read()
