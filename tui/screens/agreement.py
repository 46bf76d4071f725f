"""How far raters agree: all of them, and one pair of them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from pipeline.agreement import Matrix, PairReport, agreement_matrix, pair_report
from pipeline.criteria_agreement import CriteriaReport, criteria_report
from pipeline.validating import validate_judge
from scoring.agreement import JudgeVerdict
from tui import wording
from tui.actions import bindings_of
from tui.agreementlines import matrix_lines, pair_heads, pair_lines, pair_rows, pairs_of
from tui.categorylines import category_rows
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row

NONE_YET = "fewer than two raters have labels: label some paths, or import labels"


class AgreementScreen(WorkScreen):
    """Raters against raters: κ with n, and its interval drawn."""

    NAME = "agreement"
    BINDINGS = bindings_of("agreement")

    class Read(Message):
        """The matrix was read."""

        def __init__(self, matrix: Matrix) -> None:
            super().__init__()
            self.matrix = matrix

    class Failed(Message):
        """It could not be."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session, schema: str | None = None) -> None:
        super().__init__(session)
        self.matrix: Matrix | None = None
        self.schema = schema or session.schema.name

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self._head()

    def on_screen_resume(self) -> None:
        self._read()

    def _head(self) -> None:
        schema = Content("schema ") + safe(self.schema) + Content(" ")
        self.query_one("#top", Line).show(breadcrumb("agreement"), schema)

    def _read(self) -> None:
        store, schema = self.session.store, self.schema
        self.say("reading …")

        def work() -> None:
            try:
                matrix = agreement_matrix(store, schema)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Read(matrix))

        self.run_worker(work, thread=True, group="agreement", exclusive=True, exit_on_error=False)

    def on_agreement_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_agreement_screen_read(self, message: Read) -> None:
        if message.matrix.schema != self.schema:
            return
        matrix = self.matrix = message.matrix
        pairs, before = pairs_of(matrix), self.lines().cursor
        self.query_one("#columns", Lines).show(lambda width: pair_heads(width) if pairs else [])
        cursor = (before if before is not None and before < len(pairs) else 0) if pairs else None
        self.lines().show(lambda width: pair_rows(matrix, width), cursor=cursor, key=self.schema)
        self.moved()
        self.say("enter: the table of these two" if pairs else NONE_YET)

    def moved(self) -> None:
        matrix, at = self.matrix, self.lines().cursor
        if matrix is not None:
            self.query_one("#detail", Lines).show(lambda width: matrix_lines(matrix, at, width))

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    @property
    def pair(self) -> tuple[str, str] | None:
        """The raters under the cursor."""
        at = self.lines().cursor
        if self.matrix is None or at is None:
            return None
        i, j = pairs_of(self.matrix)[at]
        return self.matrix.raters[i].name, self.matrix.raters[j].name

    def action_open(self) -> None:
        if self.pair is None:
            self.refuse(NONE_YET)
        else:
            self.app.push_screen(PairScreen(self.session, self.pair, self.schema))

    def action_audit(self) -> None:
        from tui.screens.audit import AuditScreen

        self.app.push_screen(AuditScreen(self.session))

    async def action_next_schema(self) -> None:
        """Go to the next schema under which somebody has labelled."""
        store = self.session.store

        def labelled() -> list[str]:
            names = dict.fromkeys(s.name for s in store.schemas())
            return [n for n in names if any(r.n_labelled for r in store.raters(n))]

        names = await self.attempt(labelled)
        if not names or names == [self.schema]:
            self.refuse("no other schema has labels")
            return
        at = names.index(self.schema) if self.schema in names else -1
        self.schema = names[(at + 1) % len(names)]
        self._head()
        self._read()


@dataclass(frozen=True, slots=True)
class PairRead:
    """A pair's report, and of a judge for which use it may be trusted, where that can be said.

    `categories` is the agreement on each category by itself, where several may hold.
    """

    report: PairReport
    verdict: JudgeVerdict | None
    categories: CriteriaReport | None = None


def _pair_rows(read: PairRead, width: int) -> list[Row]:
    """Lay out a pair; where several categories may hold, each by itself first."""
    rows = pair_lines(read.report, read.verdict, width)
    if read.categories is None:
        return rows
    return [*category_rows(read.categories, width), Row(Content("")), *rows]


class PairScreen(WorkScreen):
    """Two raters: their table, coefficients with intervals drawn, and what explains them."""

    NAME = "pair"
    BINDINGS = bindings_of("pair")

    class Read(Message):
        """The report was made."""

        def __init__(self, read: PairRead) -> None:
            super().__init__()
            self.read = read

    class Failed(Message):
        """It could not be."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session, raters: tuple[str, str], schema: str) -> None:
        super().__init__(session)
        self.raters = raters
        self.schema = schema

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        a, b = self.raters
        self.query_one("#top", Line).show(
            breadcrumb("agreement", f"{a} against {b}"), safe(self.schema) + Content(" ")
        )

    def on_screen_resume(self) -> None:
        self.say("reading …")
        self.run_worker(self._read, thread=True, group="pair", exclusive=True, exit_on_error=False)

    def _read(self) -> None:
        store = self.session.store
        try:
            report = pair_report(store, *self.raters, self.schema)
            several = report.multi
            categories = criteria_report(store, *self.raters, self.schema) if several else None
            verdict = None
            if report.kinds.count("judge") == 1 and not report.multi:
                at = report.kinds.index("judge")
                verdict = validate_judge(
                    store, self.raters[at], truth=self.raters[1 - at], schema=self.schema
                ).report.verdict
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))
        else:
            self.post_message(self.Read(PairRead(report, verdict, categories)))

    def on_pair_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_pair_screen_read(self, message: Read) -> None:
        read = message.read
        self.lines().show(lambda width: _pair_rows(read, width), key=self.raters)
        n = read.report.kappa.n
        self.say(
            f"{wording.count(n, 'item')} labelled by both   enter: where they differ",
            "made before the reveal ",
        )

    def action_open(self) -> None:
        from tui.screens.disagreements import DisagreementsScreen

        self.app.push_screen(DisagreementsScreen(self.session, self.raters, self.schema))
