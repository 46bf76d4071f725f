"""Medoid ablation: the questions with ΔA and ΔF, and a medoid beside its alternatives."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from pipeline.ablating import PROTOCOLS, Protocol
from tui import wording
from tui.ablationlines import (
    TARGETS,
    Ablations,
    Beside,
    Target,
    beside_heads,
    beside_rows,
    beside_state,
    chart_rows,
    heads,
    question_rows,
    read_ablations,
    read_beside,
)
from tui.actions import bindings_of
from tui.pathlines import question_lines
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.edits import is_sealed
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines
from tui.widgets.stock import Paragraph

NONE_YET = "nothing is ablated yet: run  medoid ablate"
SEALED = "{n} sealed, as ΔA tells gold: reveal the case first"
LEAST_CHART, CHART_SHARE = 7, 2
"""Lines of the scatter at least, and of how many lines of a screen it takes one."""


async def open_ablations(screen: WorkScreen) -> None:
    """Show what the rater may see of medoid ablation, or say why that is nothing."""
    session = screen.session
    screen.say("reading …")
    try:
        found = await session.read(
            lambda: read_ablations(
                session.store, session.rater.id, "broad", sealed=is_sealed(session)
            )
        )
    except Exception as problem:  # whatever the database says is shown, never a crash
        screen.fail(problem)
        return
    if found is None:
        screen.refuse(NONE_YET)
    elif not found.questions:
        screen.refuse(SEALED.format(n=_questions(found.n_hidden)))
    else:
        await screen.app.push_screen(AblationsScreen(session, found))


def _questions(n: int) -> str:
    return f"{wording.count(n, 'question')} {'is' if n == 1 else 'are'}"


class AblationsScreen(WorkScreen):
    """ΔA against ΔF, and the questions behind the points. Gold is behind both: only what the rater
    has revealed, or has no case, is here."""

    NAME = "ablations"
    BINDINGS = bindings_of("ablations")

    def __init__(self, session: Session, found: Ablations) -> None:
        super().__init__(session)
        self.found = found
        self.measured: Target = "gold"

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="chart")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.draw(0)

    def on_screen_resume(self) -> None:
        self.say_state()

    def on_resize(self) -> None:
        if self.is_mounted:
            self.draw(self.lines().cursor)

    def draw(self, cursor: int | None) -> None:
        found = self.found
        right = f"F against {'gold' if self.measured == 'gold' else 'the own answer'} "
        self.query_one("#top", Line).show(breadcrumb("ablation", found.protocol), right)
        self.query_one("#columns", Lines).show(heads)
        self.lines().show(
            lambda width: question_rows(found, self.measured, width),
            cursor=cursor if found.questions else None,
            key=(found.protocol, "questions"),
        )
        self.moved()
        self.say_state()

    def moved(self) -> None:
        """Mark the question under the cursor in the scatter."""
        chart = self.query_one("#chart", Lines)
        height = max(LEAST_CHART, self.size.height // CHART_SHARE)
        chart.styles.height = height
        cursor = self.lines().cursor or 0
        chart.show(
            lambda width: chart_rows(self.found, self.measured, cursor, height, width),
            key="chart",
        )

    def say_state(self) -> None:
        """Say how many questions are not shown, and why."""
        found = self.found
        if found.n_hidden:
            self.say(SEALED.format(n=_questions(found.n_hidden)))
        elif not found.questions:
            self.say("no question is right by GSC alone: f shows all")
        else:
            run = "no early answers yet" if found.run is None else f"F by {found.run}"
            self.say(
                safe(f"{wording.count(len(found.questions), 'question')}; {run}; ◆ is the cursor")
            )

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    def action_target(self) -> None:
        """Measure F against the other target."""
        self.measured = TARGETS[1 - TARGETS.index(self.measured)]
        self.draw(self.lines().cursor)

    async def action_protocol(self) -> None:
        """Show the questions of the other protocol."""
        other: Protocol = PROTOCOLS[1 - PROTOCOLS.index(self.found.protocol)]
        store, rater, sealed = self.session.store, self.session.rater.id, is_sealed(self.session)
        found = await self.attempt(lambda: read_ablations(store, rater, other, sealed=sealed))
        if found is not None:
            self.found = found
            self.draw(0)

    async def action_open(self) -> None:
        """Show the medoid of the question under the cursor beside its alternatives."""
        at = self.lines().cursor
        if at is None or at >= len(self.found.questions):
            self.refuse("there is no question here")
            return
        await self.app.push_screen(AblationScreen(self.session, self.found, at))


class AblationScreen(WorkScreen):
    """One question: its medoid and one alternative at a time, word by word."""

    NAME = "ablation"
    BINDINGS = bindings_of("ablation")

    def __init__(self, session: Session, found: Ablations, at: int) -> None:
        super().__init__(session)
        self.found = found
        self.at = at
        self.alternative = 0
        self.beside: Beside | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        await self.open(self.at)

    async def open(self, at: int) -> None:
        """Show a question, its first alternative beside the medoid."""
        store, question = self.session.store, self.found.questions[at]
        found = await self.attempt(lambda: read_beside(store, question))
        if found is not None:
            self.at, self.beside, self.alternative = at, found, 0
            self.draw()

    def draw(self) -> None:
        beside = self.beside
        if beside is None:
            return
        q, at = beside.question, self.alternative
        place = f"question {self.at + 1}/{len(self.found.questions)}"
        self.query_one("#top", Line).show(breadcrumb("ablation", q.ablated, place))
        self.query_one("#question", Paragraph).show(
            Content.styled(" Q  ", "bold"),
            safe(beside.text, newlines=True),
            limit=question_lines(self.app.size.height),
            more="…",
        )
        self.query_one("#columns", Lines).show(lambda width: beside_heads(beside, at, width))
        self.lines().show(lambda width: beside_rows(beside, at, width), key=(q.pool_id, at))
        self.say(beside_state(beside, at))

    def action_turn(self, by: int) -> None:
        """Put another alternative beside the medoid."""
        n = 0 if self.beside is None else len(self.beside.alternatives)
        if not 0 <= self.alternative + by < n:
            self.refuse("this is the last alternative" if by > 0 else "this is the first one")
            return
        self.alternative += by
        self.draw()

    async def action_next_case(self) -> None:
        await self._step(1)

    async def action_previous_case(self) -> None:
        await self._step(-1)

    async def _step(self, by: int) -> None:
        if 0 <= self.at + by < len(self.found.questions):
            await self.open(self.at + by)
        else:
            self.refuse("this is the last question" if by > 0 else "this is the first one")
