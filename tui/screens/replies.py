"""One model's replies to deduction problems beside the expected values, step by step."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from pipeline.deduction_view import Marked, Series, marked_reply, open_replies
from store.deduction_records import DeductionText
from store.records import SchemaRecord
from tui import wording
from tui.actions import bindings_of
from tui.deductionlines import expected_rows, place_of, reply_in_full, reply_rows
from tui.pathlines import question_lines
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.sheets import InFullScreen
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Paragraph


def show_question(screen: WorkScreen, text: DeductionText | None) -> None:
    """Show the question of a reply."""
    screen.query_one("#question", Paragraph).show(
        Content.styled(" Q  ", "bold"),
        Content("") if text is None else safe(text.question, newlines=True),
        limit=question_lines(screen.app.size.height),
        more="… (r: all)",
    )


class RepliesScreen(WorkScreen):
    """One model's replies in one style beside the expected values, step by step.

    Only replies to numbers of which nothing waits, sealed, for this rater.
    """

    NAME = "replies"
    BINDINGS = bindings_of("replies")

    def __init__(
        self,
        session: Session,
        schema: SchemaRecord,
        series: Series,
        texts: tuple[DeductionText, ...],
        n_sealed: int,
    ) -> None:
        super().__init__(session)
        self.schema = schema
        self.series = series
        self.texts = texts
        self.n_sealed = n_sealed
        self.at = 0
        self.marked: Marked | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        with Columns(id="sides"):
            yield Lines(id="lines", classes="side -here")
            yield Lines(id="known", classes="side")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#known", Lines).border_title = "expected"
        self._focused = "lines"
        await self.open(0)

    def lines(self) -> Lines:
        """Return the side in hand."""
        return self.query_one(f"#{self._focused}", Lines)

    _focused = "lines"

    def action_other(self) -> None:
        """Take the other side in hand."""
        self._focused = "known" if self._focused == "lines" else "lines"
        for name in ("lines", "known"):
            self.query_one(f"#{name}", Lines).set_class(name == self._focused, "-here")

    async def open(self, at: int) -> None:
        """Show a reply of the list."""
        text, store, rater, schema = (
            self.texts[at],
            self.session.store,
            self.session.rater.id,
            self.schema,
        )
        marked = await self.attempt(lambda: marked_reply(store, text, rater, schema))
        if marked is None:
            return
        self.at, self.marked = at, marked
        place = f"{at + 1:,}/{len(self.texts):,}"
        top = breadcrumb("deduction", self.series.scored.solver, place)
        self.query_one("#top", Line).show(top)
        self.query_one("#lines", Lines).border_title = place_of(text, solver=False)
        show_question(self, text)
        key = text.completion_id
        self.query_one("#lines", Lines).show(lambda width: reply_rows(text, width), key=key)
        self.query_one("#known", Lines).show(lambda width: expected_rows(marked, width), key=key)
        self.say_state()

    def say_state(self) -> None:
        """Say how many replies are not shown."""
        if self.n_sealed:
            n = wording.count(self.n_sealed, "reply").replace("replys", "replies")
            self.say(f"{n} more to numbers that wait for your labels: not shown")
        else:
            self.say("✓ right   ✗ wrong   ↩ as in the original   – not stated")

    async def action_next_case(self) -> None:
        await self._step(1)

    async def action_previous_case(self) -> None:
        await self._step(-1)

    async def _step(self, by: int) -> None:
        if 0 <= self.at + by < len(self.texts):
            await self.open(self.at + by)
        else:
            self.refuse("this is the last reply" if by > 0 else "this is the first one")

    async def action_wrong(self) -> None:
        """Go to the next reply in which a value is wrong or missing."""
        store, rater, schema = self.session.store, self.session.rater.id, self.schema
        order: list[int] = [*range(self.at + 1, len(self.texts)), *range(self.at)]

        def found() -> int:
            for i in order:
                marked = marked_reply(store, self.texts[i], rater, schema, shown=False)
                if any(v.status != "right" for v in marked.verdicts):
                    return i
            return -1

        at = await self.attempt(found)
        if at is not None and at >= 0:
            await self.open(at)
        elif at is not None:
            self.refuse("no other reply has a wrong or missing value")

    def action_raw(self) -> None:
        text = self.texts[self.at]
        self.app.push_screen(InFullScreen(lambda width: reply_in_full(text, width)))


async def open_series(screen: WorkScreen, schema: SchemaRecord, series: Series) -> None:
    """Show a model's replies in one style."""
    session, scored = screen.session, series.scored
    found = await screen.attempt(
        lambda: open_replies(session.store, session.rater.id, schema, scored.solver, scored.style)
    )
    if found is None:
        return
    texts, n_sealed = found
    if not texts:
        screen.refuse("every reply is to numbers that wait for your labels: l labels them")
        return
    await screen.app.push_screen(RepliesScreen(session, schema, series, texts, n_sealed))
