"""The relation sets that models were asked about, and how far each contradicts itself."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from pipeline.relation_sealed import Headline, headline_apart
from pipeline.relation_view import asked_set
from tui.actions import bindings_of
from tui.relationlines import SetRow, detail, found_said, heads, set_line, set_name, state
from tui.relationlist import check_set, read_sets, reveal_set
from tui.screens.base import Reversing, breadcrumb
from tui.screens.setviews import open_view
from tui.session import Session
from tui.text import cells
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines, Row


class RelationsScreen(Reversing):
    """A row per set and model; figures that take time come one after the other."""

    NAME = "relations"
    BINDINGS = bindings_of("relations")

    class Loaded(Message):
        """The rows were read."""

        def __init__(self, rows: tuple[SetRow, ...]) -> None:
            super().__init__()
            self.rows = rows

    class Figured(Message):
        """How far a model contradicts itself was worked out."""

        def __init__(self, row: SetRow, found: Headline) -> None:
            super().__init__()
            self.row = row
            self.found = found

    class Failed(Message):
        """Something could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.rows: tuple[SetRow, ...] | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#top", Line).show(breadcrumb("relations"))
        self.say("reading …")

    def on_screen_resume(self) -> None:
        self.reread()

    def reread(self) -> None:
        self.run_worker(
            self._load, thread=True, group="relations", exclusive=True, exit_on_error=False
        )

    def _load(self) -> None:
        store, rater, kept = self.session.store, self.session.rater.id, self.session.headlines
        worker = get_current_worker()
        try:
            rows = read_sets(store, rater)
            self.post_message(self.Loaded(rows))
            for row in rows:
                if worker.is_cancelled:
                    return
                if (row.asking.id, row.counts.n) not in kept:
                    found = headline_apart(asked_set(store, row.asking))
                    self.post_message(self.Figured(row, found))
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))

    def on_relations_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_relations_screen_figured(self, message: Figured) -> None:
        self.session.headlines[message.row.asking.id, message.row.counts.n] = message.found
        self._draw()

    def on_relations_screen_loaded(self, message: Loaded) -> None:
        self.rows = message.rows
        self._draw()
        self.say(state(message.rows) if self.told is None else self.told)

    def found(self, row: SetRow) -> Headline | None:
        """Return what was worked out of a row, None while it was not."""
        return self.session.headlines.get((row.asking.id, row.counts.n))

    def _draw(self) -> None:
        rows = self.rows or ()
        cursor = min(self.lines().cursor or 0, len(rows) - 1) if rows else None
        self.query_one("#columns", Lines).show(lambda width: [Row(heads(width))] if rows else [])
        self.lines().show(self._build, cursor=cursor, key=self.NAME)
        self.moved()

    def _build(self, width: int) -> list[LateRow]:
        return [
            LateRow(partial(set_line, row, self.found(row), width), i)
            for i, row in enumerate(self.rows or ())
        ]

    @property
    def row(self) -> SetRow | None:
        """The row under the cursor."""
        at, rows = self.lines().cursor, self.rows or ()
        return rows[at] if at is not None and at < len(rows) else None

    def moved(self) -> None:
        row = self.row
        found = None if row is None else self.found(row)

        def build(width: int) -> list[Row]:
            long = row is not None and cells(set_name(row.asking)) > width // 3
            name = [Row(Content(" ") + set_name(row.asking))] if row is not None and long else []
            return [*name, *detail(row, found, width)]

        self.query_one("#detail", Lines).show(build)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    async def action_open(self) -> None:
        """Go to where one stopped reviewing the set under the cursor."""
        from tui.screens.review import open_review

        row = self.row
        if row is None:
            self.refuse(state(self.rows or ()))
        else:
            await open_review(self, row.asking)

    async def action_find(self) -> None:
        """Find what a model contradicts itself in, and let that be the queue."""
        row, session = self.row, self.session
        if row is None:
            self.refuse(state(self.rows or ()))
            return
        from pipeline.relation_review import make_review

        before = session.saved_at
        made = await self.attempt(lambda: make_review(session.store, row.asking), write=True)
        session.saved_at = before  # no label was saved
        if made is not None:
            self.told = Content(found_said(made))
            self.say(self.told)
            self.reread()

    async def action_reveal(self) -> None:
        """Look behind the seal of the whole set under the cursor."""
        row, session = self.row, self.session
        if row is None:
            self.refuse(state(self.rows or ()))
            return
        store, rater, before = session.store, session.rater.id, session.saved_at
        check = await self.attempt(lambda: check_set(store, rater, row.asking))
        if check is None:
            return
        if check.why is not None:
            self.refuse(check.why)
            return
        done = await self.attempt(lambda: reveal_set(store, rater, check), write=True)
        session.saved_at = before  # no label was saved
        if done is not None:
            self.told = Content("revealed: o shows true places, v the true map, t the family")
            self.say(self.told)

    async def action_view(self, what: str) -> None:
        """Lay a view of the set under the cursor over the list."""
        row = self.row
        if row is None:
            self.refuse(state(self.rows or ()))
        else:
            await open_view(self, row.asking, what)


async def open_relations(screen: Reversing) -> None:
    """Show the relation sets, where there are any."""
    session = screen.session
    rows = await screen.attempt(lambda: read_sets(session.store, session.rater.id))
    if rows is None:
        return
    if not rows:
        screen.refuse(state(rows))
        return
    await screen.app.push_screen(RelationsScreen(session))
