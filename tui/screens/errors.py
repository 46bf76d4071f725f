"""Labelling errors in replies to deduction problems: several categories may hold."""

from __future__ import annotations

from dataclasses import replace

from textual import work
from textual.app import ComposeResult
from textual.content import Content

from pipeline.deduction_view import SCHEMA, Marked, marked_reply
from store import SealedError
from store.deduction_records import DeductionFilter, DeductionView
from store.records import LabelRecord, SchemaRecord, Verdict
from tui import wording
from tui.actions import bindings_of
from tui.deductionlines import expected_rows, place_of, reply_in_full, reply_rows, said_rows
from tui.deductionlist import (
    FILTERS,
    SAMPLE,
    SEED,
    ReplyList,
    find_start,
    next_open,
    read_replies,
)
from tui.pace import Pace, pace_forms
from tui.reversal import WORDS, Act
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.casepanes import Target
from tui.screens.replies import show_question
from tui.screens.several import Several
from tui.screens.sheets import InFullScreen
from tui.session import ActiveClock, Session
from tui.text import safe
from tui.widgets.bars import Keys, Line, Status
from tui.widgets.labelbar import LabelBar
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Pane, Paragraph

NOTHING = "nobody was asked yet: run  medoid deduce ask"
AFTER_REVEAL = "revealed: e changes your label, kept as a second row"


async def open_errors(screen: WorkScreen) -> None:
    """Go to where one stopped labelling errors in replies."""
    session = screen.session
    try:
        replies, start = await session.read(lambda: find_start(session.store, session.rater.id))
        schema = await session.read(lambda: session.store.schema(SCHEMA))
    except Exception as problem:  # whatever the database says is shown, never a crash
        screen.fail(problem)
        return
    await screen.app.push_screen(ErrorsScreen(session, schema, replies, start))


class ErrorsScreen(Several):
    """One reply to label for errors; expected values and verdicts only once it is revealed.

    While sealed it holds a `DeductionView`, in which there is nothing behind the seal.
    """

    NAME = "errors"
    BINDINGS = bindings_of("errors")
    DONE = "all are labelled: p or n to one you want to change, or u"

    def __init__(
        self, session: Session, schema: SchemaRecord, replies: ReplyList, item_id: int | None
    ) -> None:
        super().__init__(session)
        self.schema = schema
        self.replies = replies
        self.item_id = item_id
        self.view: DeductionView | None = None
        self.marked: Marked | None = None
        self.said: tuple[Verdict, ...] = ()
        self.clock = ActiveClock()

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        with Columns(id="sides"):
            yield Lines(id="lines", classes="side -here")
            yield Lines(id="known", classes="side")
            yield Pane(id="guide-pane")
        yield Status(id="message")
        yield LabelBar(id="prompt")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#guide-pane", Pane).border_title = "guideline"
        self.query_one("#known", Lines).border_title = "behind the seal"
        await self.open(self.item_id)

    # -- what is shown

    async def open(self, item_id: int | None) -> bool:
        """Show a reply; None shows that there is none."""
        store, rater = self.session.store, self.session.rater.id
        view = None
        if item_id is not None:
            view = await self.attempt(
                lambda: store.deduction_view(item_id, rater, self.schema.name)
            )
            if view is None:
                return False
        self.view, self.item_id = view, item_id
        self.marked, self.said, self.toggled, self.changing = None, (), None, False
        self._focused = "lines"
        self.finished = False
        self.clock.start()
        self.draw()
        self.say_state()
        self.read_pace()
        return True

    _focused = "lines"

    def lines(self) -> Lines:
        """Return the side in hand."""
        return self.query_one(f"#{self._focused}", Lines)

    def action_other(self) -> None:
        """Take the other side in hand, where there is one."""
        if self.marked is None:
            self.refuse("there is one side only before the reveal: b")
            return
        self._focused = "known" if self._focused == "lines" else "lines"
        self._show_sides()

    def _show_sides(self) -> None:
        shown = self.marked is not None
        self.query_one("#known", Lines).display = shown
        self.query_one("#guide-pane", Pane).set_class(shown, "-hidden")
        for name in ("lines", "known"):
            self.query_one(f"#{name}", Lines).set_class(name == self._focused, "-here")

    @property
    def target(self) -> Target | None:
        """What a digit labels."""
        view = self.view
        if view is None:
            return None
        return Target(view.text.item_id, self.schema, view.label, "reply")

    def draw(self) -> None:
        view = self.view
        self._draw_top()
        self._show_sides()
        prompt = self.query_one(LabelBar)
        show_question(self, None if view is None else view.text)
        reply = self.query_one("#lines", Lines)
        if view is None:
            reply.show(lambda width: [], key=None)
            prompt.show(Content(" nothing to label in this list"))
            return
        text = view.text
        reply.border_title = place_of(text, solver=self.marked is not None)
        reply.show(lambda width: reply_rows(text, width), key=text.completion_id)
        marked = self.marked
        if marked is not None:
            own, said = wording.label(view.label), self.said
            self.query_one("#known", Lines).show(
                lambda width: [*said_rows(own, said, width), *expected_rows(marked, width)],
                key=text.completion_id,
            )
        prompt.ask(self.schema, "reply", self._taken())

    def _draw_top(self) -> None:
        replies = self.replies
        at = replies.index(self.item_id)
        show = "" if replies.show == "all" else f" {replies.show}"
        where = f"reply {at + 1:,}/{len(replies.rows):,}{show}" if at is not None else "none"
        saved = self.session.saved_at
        when = "" if saved is None else f"● saved {wording.clock(saved)}"
        if self.session.unsaved:
            when = "○ NOT SAVED"
        self.query_one("#top", Line).show(breadcrumb("deduction", "errors", where), f"{when} ")

    def fail(self, problem: BaseException) -> None:
        super().fail(problem)
        self._draw_top()

    def say_state(self) -> None:
        """Say the comment on the reply in hand, or how it stands."""
        view = self.view
        if view is None and not self.replies.queue.n_all:
            self.say(f"no replies are drawn to be labelled: m draws {SAMPLE}")
        elif view is None:
            self.say("f shows others")
        elif view.label is not None and view.label.note:
            self.say(Content("comment: ") + safe(view.label.note))
        elif self.marked is not None:
            self.say(AFTER_REVEAL)
        elif view.label is None:
            self.say("several may hold: each digit takes one on or off, enter saves and goes on")
        else:
            hint = "" if view.revealed else "   b: the judge and the expected values"
            self.say(Content("your label: ") + wording.label(view.label) + Content(hint))

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def read_pace(self) -> None:
        """Bring the pace up to date without making a key wait for it."""
        store, rater, name = self.session.store, self.session.rater.id, self.schema.name
        try:
            own = await self.session.read(lambda: store.progress(rater, name))
            seconds = await self.session.read(lambda: store.pace(rater, schema=name))
            forms = pace_forms(Pace(own.n_decided, own.n_items, seconds))
        except Exception:  # a figure on the side is not worth a message; the next one comes
            forms = ()
        self.query_one("#message", Status).quiet(forms)

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into the reply that is shown."""
        if self.view is not None and self.view.text.item_id == record.item_id:
            self.view = replace(self.view, label=record)

    # -- the seal

    def may_change(self) -> bool:
        view = self.view
        sealed = self.schema.seal != "open"
        if view is not None and view.revealed and sealed and not self.changing:
            self.refuse(AFTER_REVEAL)
            return False
        return True

    def action_change(self) -> None:
        """Let the digits change a label that was revealed."""
        if self.view is None or not self.view.revealed:
            self.refuse("nothing is revealed yet: the digits change your label")
            return
        self.changing = True
        self.finished = False
        self.say("the digits change your label now; enter saves it as a second row")

    async def action_reveal(self) -> None:
        """Look behind the seal of this reply, and of all to its numbers; again: hide it."""
        view, store, rater = self.view, self.session.store, self.session.rater.id
        if view is None or not await self.settle():
            return
        if self.marked is not None:
            self.marked, self.said, self._focused = None, (), "lines"
            self.draw()
            return
        item, schema, text = view.text.item_id, self.schema, view.text
        try:
            if not view.revealed:
                await self.session.read(lambda: store.reveal_deduction(item, rater, schema))
            marked = await self.session.read(lambda: marked_reply(store, text, rater, schema))
            said = await self.session.read(lambda: store.deduction_verdicts(item, rater, schema))
        except SealedError as sealed:
            self.draw()
            self.refuse(Content("sealed: ") + safe(str(sealed)))
            return
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.fail(problem)
            return
        if self.view is not None and self.view.text.item_id == item:
            self.view = replace(self.view, revealed=True)
            self.marked, self.said = marked, said
            self.draw()
            self.say_state()

    # -- moving

    async def labelled(self, told: Content, *, changed_mind: bool) -> None:
        """Go on to the next reply that waits; stay where a label was only changed."""
        self.draw()
        if changed_mind or (self.view is not None and self.view.revealed):
            self.say(told)
            self.read_pace()
        else:
            await self.next_waiting(told)

    async def next_waiting(self, told: Content | None = None) -> None:
        store, rater, here = self.session.store, self.session.rater.id, self.item_id
        try:
            found = await self.session.read(lambda: next_open(store, rater, here))
        except Exception as problem:
            self.fail(problem)
            return
        lead = Content("") if told is None else told + "   "
        if found is None:
            self.finished = True
            self.draw()
            self.read_pace()
            self.say(lead + "that was the last reply: b reveals, esc goes back")
        elif found == here:
            self.refuse("this reply has no label yet: n leaves it as it is")
        elif await self.open(found) and told is not None:
            self.say(lead + "u: back there")

    async def action_next_case(self) -> None:
        await self._step(1)

    async def action_previous_case(self) -> None:
        await self._step(-1)

    async def _step(self, by: int) -> None:
        if not await self.settle():
            return
        found = self.replies.beside(self.item_id, by)
        if found is None or found == self.item_id:
            self.draw()
            self.refuse("this is the last reply of the list" if by > 0 else "this is the first one")
        else:
            await self.open(found)

    async def action_filter(self) -> None:
        """Show the next kind of replies."""
        if await self.settle():
            await self._load(FILTERS[(FILTERS.index(self.replies.show) + 1) % len(FILTERS)])

    async def _load(self, show: DeductionFilter) -> None:
        store, rater = self.session.store, self.session.rater.id
        found = await self.attempt(lambda: read_replies(store, rater, show))
        if found is not None:
            kept = self.item_id if found.index(self.item_id) is not None else None
            self.replies = found
            await self.open(kept or found.beside(None, 0))

    async def action_draw_sample(self) -> None:
        """Draw the sample where there is none; an old one is left to the command line."""
        store = self.session.store
        if self.replies.queue.n_all:
            n = self.replies.queue.n_all
            self.refuse(f"{n:,} replies are drawn already; medoid deduce sample draws others")
            return
        before = self.session.saved_at
        drawn = await self.attempt(lambda: store.make_deduction_sample(SAMPLE, SEED), write=True)
        self.session.saved_at = before  # no label was saved
        if drawn is not None and drawn.n_sampled == 0:
            self.refuse(NOTHING)
        elif drawn is not None:
            await self._load("unlabelled")
            if self.view is not None:
                self.say(f"{drawn.n_sampled:,} of {drawn.n_population:,} drawn (seed {SEED})")

    # -- undo, reading

    async def _reverse(self, act: Act) -> None:
        """Undo or redo, then go to the reply it was about, where it was one here."""
        done = await self.reversed(act)
        if done is None:
            return
        item = done.result.item_id
        if self.replies.index(item) is None or done.result.schema != self.schema.name:
            self.say(done.told_afar(self.size.width - 1))
        elif await self.open(item):
            self.say(Content(f"{WORDS[act]}: ") + done.change)

    def action_raw(self) -> None:
        view = self.view
        if view is not None:
            self.app.push_screen(InFullScreen(lambda width: reply_in_full(view.text, width)))
