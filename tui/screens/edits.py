"""Labelling edited steps: is the edit plausible, and another fact?"""

from __future__ import annotations

from dataclasses import replace

from textual import work
from textual.app import ComposeResult
from textual.content import Content

from store.intervention_records import EditFilter, EditingRecord, EditPlace, EditView
from store.records import LabelRecord, SchemaRecord
from tui import wording
from tui.actions import bindings_of
from tui.editlines import QUESTION, answer_line, edit_rows, in_full
from tui.editlist import (
    FILTERS,
    SAMPLE,
    SCHEMA,
    SEED,
    EditList,
    find_start,
    next_open,
    read_list,
)
from tui.pace import Pace, pace_forms
from tui.pathlines import question_lines
from tui.reversal import WORDS, Act
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.casepanes import Target
from tui.screens.labelling import Labelling
from tui.screens.sheets import InFullScreen
from tui.session import ActiveClock, Session
from tui.text import safe
from tui.widgets.bars import Keys, Line, Status
from tui.widgets.labelbar import LabelBar
from tui.widgets.lines import Lines
from tui.widgets.stock import Columns, Pane, Paragraph

NONE_YET = "no step is edited yet: run  medoid counterfactual"
SEALED = "{n} sealed: an edit tells which path is the medoid; reveal the case first"


def is_sealed(session: Session) -> bool:
    """Return whether the rater must not learn which trace is a pool's medoid, nor gold."""
    return session.schema.seal == "full"


async def open_edits(screen: WorkScreen) -> None:
    """Go to where one stopped labelling edited steps."""
    session = screen.session
    sealed = is_sealed(session)
    try:
        start = await session.read(
            lambda: find_start(session.store, session.rater.id, sealed=sealed)
        )
        if start is None:
            screen.refuse(NONE_YET)
            return
        schema = await session.read(lambda: session.store.schema(SCHEMA))
    except Exception as problem:  # whatever the database says is shown, never a crash
        screen.fail(problem)
        return
    await screen.app.push_screen(EditsScreen(session, schema, *start))


def _edits(n: int) -> str:
    return f"{wording.count(n, 'edit')} {'is' if n == 1 else 'are'}"


class EditsScreen(Labelling):
    """One edited step in its trace, with the answers before and after.

    It holds an `EditView`, in which there is nobody's label but the rater's own, so it cannot show
    a judge's.
    """

    NAME = "edits"
    BINDINGS = bindings_of("edits")
    DONE = "all are labelled: p or n to one you want to change, or u"

    def __init__(
        self, session: Session, schema: SchemaRecord, edits: EditList, place: EditPlace | None
    ) -> None:
        super().__init__(session)
        self.schema = schema
        self.edits = edits
        self.place = place
        self.view: EditView | None = None
        self.clock = ActiveClock()

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Paragraph(id="question")
        yield Line(id="criteria")
        with Columns(id="sides"):
            yield Lines(id="lines")
            yield Pane(id="guide-pane")
        yield Status(id="message")
        yield LabelBar(id="prompt")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#guide-pane", Pane).border_title = "guideline"
        await self.open(self.place)

    # -- what is shown

    async def open(self, place: EditPlace | None) -> bool:
        """Show an edit; None shows that there is none."""
        store, rater, editing = self.session.store, self.session.rater.id, self.edits.editing.id
        sealed = is_sealed(self.session)
        view = None
        if place is not None:
            view = await self.attempt(lambda: store.edit_view(editing, place, rater, sealed=sealed))
            if view is None:
                return False
        self.view, self.place = view, place
        self.finished = False
        self.clock.start()
        self.draw()
        self.say_state()
        self.read_pace()
        return True

    @property
    def target(self) -> Target | None:
        """What a digit labels."""
        view = self.view
        if view is None:
            return None
        return Target(view.item_id, self.schema, view.label, f"edit of step {view.step}")

    def draw(self) -> None:
        view = self.view
        self._draw_top()
        question, prompt = self.query_one("#question", Paragraph), self.query_one(LabelBar)
        if view is None:
            question.show(Content(""), Content(""), limit=1, more="")
            self.query_one("#criteria", Line).show("")
            self.lines().show(lambda width: [], key=None)
            prompt.show(Content(" nothing to label in this list"))
            return
        question.show(
            Content.styled(" Q  ", "bold"),
            safe(view.question, newlines=True),
            limit=question_lines(self.app.size.height),
            more="… (r: all)",
        )
        self.query_one("#criteria", Line).show(answer_line(view))
        self.lines().show(
            lambda width: edit_rows(view, width), cursor=view.step, key=(view.trace_id, view.step)
        )
        record = view.label
        chosen = (record.category,) if record is not None and record.category else ()
        prompt.ask(replace(self.schema, question=QUESTION), "edit", chosen)

    def _draw_top(self) -> None:
        edits = self.edits
        at = edits.index(self.place)
        show = "" if edits.show == "all" else f" {edits.show}"
        where = f"edit {at + 1:,}/{len(edits.rows):,}{show}" if at is not None else "edits"
        saved = self.session.saved_at
        when = "" if saved is None else f"● saved {wording.clock(saved)}"
        if self.session.unsaved:
            when = "○ NOT SAVED"
        self.query_one("#top", Line).show(
            breadcrumb(f"edits {edits.editing.name}", where), f"{when} "
        )

    def fail(self, problem: BaseException) -> None:
        super().fail(problem)
        self._draw_top()

    def say_state(self) -> None:
        """Say the comment on the edit in hand, or how far one is."""
        view, queue = self.view, self.edits.queue
        if view is not None and view.label is not None and view.label.note:
            self.say(Content("comment: ") + safe(view.label.note))
        elif view is None and not queue.n_all:
            self.say("no edits are drawn to be labelled: m draws 50")
        elif view is None and queue.n_sealed:
            self.say(SEALED.format(n=_edits(queue.n_sealed)))
        elif view is None:
            self.say("f shows others")
        else:
            label = view.label
            self.say("" if label is None else Content("your label: ") + wording.label(label))

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def read_pace(self) -> None:
        """Bring the pace up to date without making a key wait for it."""
        store, rater, editing = self.session.store, self.session.rater.id, self.edits.editing.id
        sealed = is_sealed(self.session)
        try:
            own = await self.session.read(lambda: store.edit_queue(editing, rater, sealed=sealed))
            seconds = await self.session.read(lambda: store.pace(rater, schema=SCHEMA))
            forms = pace_forms(Pace(own.n_decided, own.n_open, seconds))
        except Exception:  # a figure on the side is not worth a message; the next one comes
            forms = ()
        self.query_one("#message", Status).quiet(forms)

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into the edit that is shown."""
        if self.view is not None and self.view.item_id == record.item_id:
            self.view = replace(self.view, label=record)

    # -- moving

    async def labelled(self, told: Content, *, changed_mind: bool) -> None:
        """Go on to the next edit that waits; stay where a label was only changed."""
        self.draw()
        if changed_mind:
            self.say(told)
            self.read_pace()
        else:
            await self._next_waiting(told)

    async def action_go_on(self) -> None:
        await self._next_waiting()

    async def _next_waiting(self, told: Content | None = None) -> None:
        store, rater, editing = self.session.store, self.session.rater.id, self.edits.editing.id
        here, sealed = self.place, is_sealed(self.session)
        try:
            found = await self.session.read(
                lambda: next_open(store, rater, editing, here, sealed=sealed)
            )
        except Exception as problem:
            self.fail(problem)
            return
        lead = Content("") if told is None else told + "   "
        if found is None:
            self.finished = True
            self.read_pace()
            self.say(lead + "that was the last edit: esc goes back")
        elif found == here:
            self.refuse("this edit has no label yet: n leaves it as it is")
        elif await self.open(found) and told is not None:
            self.say(lead + "u: back there")

    async def action_next_case(self) -> None:
        await self._step(1)

    async def action_previous_case(self) -> None:
        await self._step(-1)

    async def _step(self, by: int) -> None:
        found = self.edits.beside(self.place, by)
        if found is None or found == self.place:
            self.refuse("this is the last edit of the list" if by > 0 else "this is the first one")
        else:
            await self.open(found)

    async def action_filter(self) -> None:
        """Show the next kind of edits."""
        show = FILTERS[(FILTERS.index(self.edits.show) + 1) % len(FILTERS)]
        await self._load(self.edits.editing, show)

    async def action_other(self) -> None:
        """Go to the next editing."""
        known = self.edits.others
        if len(known) < 2:
            self.refuse("there is one editing only")
            return
        at = [e.id for e in known].index(self.edits.editing.id)
        await self._load(known[(at + 1) % len(known)], self.edits.show)

    async def _load(self, editing: EditingRecord, show: EditFilter) -> None:
        store, rater, sealed = self.session.store, self.session.rater.id, is_sealed(self.session)
        found = await self.attempt(lambda: read_list(store, rater, editing, show, sealed=sealed))
        if found is not None:
            same = found.editing.id == self.edits.editing.id
            kept = self.place if same and found.index(self.place) is not None else None
            self.edits = found
            await self.open(kept or found.beside(None, 0))

    async def action_draw_sample(self) -> None:
        """Draw the sample where there is none; an old one is left to the command line."""
        store, editing = self.session.store, self.edits.editing
        if self.edits.queue.n_all:
            n = wording.count(self.edits.queue.n_all, "edit")
            self.refuse(f"{n} are drawn already; medoid counterfactual --sample N draws others")
            return
        before = self.session.saved_at
        drawn = await self.attempt(
            lambda: store.make_counterfactual_sample(editing.id, SAMPLE, SEED), write=True
        )
        self.session.saved_at = before  # no label was saved
        if drawn is not None and drawn.n_sampled == 0:
            self.refuse("no step of this editing has an edit")
        elif drawn is not None:
            await self._load(editing, "unlabelled")
            if self.view is not None:
                self.say(f"{drawn.n_sampled:,} of {drawn.n_population:,} drawn (seed {SEED})")

    # -- undo, reading, help

    async def _reverse(self, act: Act) -> None:
        """Undo or redo, then go to the edit it was about, where it was one here."""
        done = await self.reversed(act)
        if done is None:
            return
        result = done.result
        here = result.editing_id == self.edits.editing.id
        if not here or result.trace_id is None or result.step is None:
            self.say(done.told_afar(self.size.width - 1))
            return
        if await self.open((result.trace_id, result.step)):
            self.say(Content(f"{WORDS[act]}: ") + done.change)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)

    def action_raw(self) -> None:
        view = self.view
        if view is not None:
            self.app.push_screen(InFullScreen(lambda width: in_full(view, width)))
