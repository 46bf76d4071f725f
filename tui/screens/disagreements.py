"""Where two raters differ: a list, the case behind each line, and a third label on it."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.screen import ModalScreen

from pipeline.disagreements import Disagreement, Disagreements, disagreements
from store.records import Category, SchemaRecord, Verdict
from tui import wording
from tui.actions import bindings_of
from tui.agreementlines import disagreement_heads, disagreement_row, said_lines
from tui.caselist import CaseList, Query
from tui.screens.base import WorkScreen, breadcrumb
from tui.screens.modals import NoteScreen
from tui.session import Session
from tui.taking import take
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines
from tui.widgets.stock import Paragraph, Stack

NO_STEP = "a step's number, or an empty line where none can be named"


class DisagreementsScreen(WorkScreen):
    """The disagreements of two raters on questions that the one who looks has revealed."""

    NAME = "disagreements"
    BINDINGS = bindings_of("disagreements")

    class Read(Message):
        """The list was read."""

        def __init__(self, found: Disagreements, schema: SchemaRecord) -> None:
            super().__init__()
            self.found = found
            self.schema = schema

    class Said(Message):
        """What everybody says of an item was read."""

        def __init__(self, item_id: int, said: tuple[Verdict, ...]) -> None:
            super().__init__()
            self.item_id = item_id
            self.said = said

    class Failed(Message):
        """It could not be."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session, raters: tuple[str, str], schema: str) -> None:
        super().__init__(session)
        self.raters = raters
        self.schema_name = schema
        self.found: Disagreements | None = None
        self.schema: SchemaRecord | None = None
        self.told: str | None = None
        self._left = False

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        a, b = self.raters
        self.query_one("#top", Line).show(breadcrumb("agreement", f"{a} against {b}", "differ"))

    def on_screen_resume(self) -> None:
        """Read again what a case may have changed; a question laid over the list changes nothing."""
        if self._left or self.found is None:
            self._left = False
            self._read()

    def _read(self) -> None:
        session, raters, name = self.session, self.raters, self.schema_name
        self.say("reading …")

        def work() -> None:
            try:
                found = disagreements(session.store, *raters, session.rater.id, name)
                schema = session.store.schema(name)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Read(found, schema))

        self.run_worker(work, thread=True, group="differ", exclusive=True, exit_on_error=False)

    def on_disagreements_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_disagreements_screen_read(self, message: Read) -> None:
        before = self.row
        found, self.schema = message.found, message.schema
        self.found = found
        ids = [r.item_id for r in found.rows]
        at = ids.index(before.item_id) if before is not None and before.item_id in ids else 0
        self.query_one("#columns", Lines).show(
            lambda width: disagreement_heads(self.raters, width) if ids else []
        )
        self.lines().show(self._build, cursor=at if ids else None, key=self.NAME)
        self._say_state()
        self.moved()

    def on_key(self, _event: Key) -> None:
        self.told = None

    def _build(self, width: int) -> list[LateRow]:
        rows = () if self.found is None else self.found.rows
        return [LateRow(partial(disagreement_row, r, i, width), i) for i, r in enumerate(rows)]

    def _say_state(self) -> None:
        found = self.found
        if found is None:
            return
        sealed = f"{wording.count(found.n_sealed, 'question')} still sealed for you "
        told = self.told
        if told is None and found.rows:
            n_open = sum(r.adjudication is None for r in found.rows)
            n = wording.count(len(found.rows), "disagreement")
            told = f"{n} in {found.n_compared:,}, {n_open} undecided"
        elif told is None and found.n_sealed and not found.n_compared:
            told = "nothing is open to you yet: label, then b"
        elif told is None:
            told = f"no disagreement in {wording.count(found.n_compared, 'item')}"
        self.say(told, sealed if found.n_sealed else "")

    @property
    def row(self) -> Disagreement | None:
        """The disagreement under the cursor."""
        at = self.lines().cursor
        rows = () if self.found is None else self.found.rows
        return rows[at] if at is not None and at < len(rows) else None

    def moved(self) -> None:
        row, schema, session = self.row, self.schema, self.session
        if row is None or schema is None:
            self.query_one("#detail", Lines).show(lambda _width: [])
            return

        def work() -> None:
            try:
                said = session.store.said_on(row.item_id, session.rater.id, schema)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Said(row.item_id, said))

        self.run_worker(work, thread=True, group="said", exclusive=True, exit_on_error=False)

    def on_disagreements_screen_said(self, message: Said) -> None:
        row = self.row
        if row is not None and row.item_id == message.item_id:
            self.query_one("#detail", Lines).show(
                lambda width: said_lines(row, message.said, width)
            )

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    # -- acts

    async def action_open(self) -> None:
        """Open the case of the path under the cursor, at that path."""
        row, session = self.row, self.session
        if row is None:
            self._refuse_nothing()
            return
        if row.case_id is None:
            await self._open_finding(row)
            return
        from tui.screens.keeping import show_case

        cases = CaseList(session.store, session.rater.id, Query(show="all"))
        case_id = row.case_id
        snapshot = await self.attempt(lambda: cases.read_to(case_id))
        if snapshot is None:
            return
        cases.take(snapshot, case_id=case_id)
        self._left = True
        case = await show_case(self.medoid, session, cases, case_id)
        await case.open(case_id, item_id=row.item_id)

    async def _open_finding(self, row: Disagreement) -> None:
        """Open a pair or cycle of relations, which is in no case."""
        from tui.relationlist import asking_of_item
        from tui.screens.review import open_review

        store = self.session.store
        found = await self.attempt(lambda: (asking_of_item(store, row.item),))
        if found is None:
            return
        if found[0] is None:
            self.refuse("this item is in no case of the queue: nothing to open")
            return
        asking, schema = found[0]
        self._left = await open_review(self, asking, row.item_id, schema)

    def _refuse_nothing(self) -> None:
        self._say_state()
        self.app.bell()

    def action_adjudicate(self) -> None:
        """Ask for the label, where it goes wrong, and why; then save a third label."""
        row, schema = self.row, self.schema
        if row is None or schema is None:
            self._refuse_nothing()
            return

        def chosen(taken: tuple[Category, ...] | None) -> None:
            if taken is None:
                self.say("nothing was decided")
            elif any(c.takes_first_wrong_step and c.state == "labelled" for c in taken):
                self._ask_step(row, schema, taken)
            else:
                self._ask_reason(row, schema, taken, None)

        self.app.push_screen(ChoiceScreen(schema), chosen)

    def _ask_step(
        self, row: Disagreement, schema: SchemaRecord, taken: tuple[Category, ...]
    ) -> None:
        name = "+".join(c.name for c in taken)
        named = {s for c, s in zip(row.said, row.steps, strict=True) if c == name}
        start = str(named.pop()) if len(named) == 1 and None not in named else ""

        def stepped(text: str | None) -> None:
            if text is None:
                self.say("nothing was decided")
            elif text and not text.isdecimal():
                self.refuse(f"not a step: {NO_STEP}")
            else:
                self._ask_reason(row, schema, taken, int(text) if text else None)

        self.app.push_screen(NoteScreen("First wrong step: its number", start), stepped)

    def _ask_reason(
        self,
        row: Disagreement,
        schema: SchemaRecord,
        taken: tuple[Category, ...],
        step: int | None,
    ) -> None:
        before = "" if row.adjudication is None else row.adjudication.reason

        async def reasoned(reason: str | None) -> None:
            if reason is None:
                self.say("nothing was decided")
            elif not reason:
                self.refuse("not decided: an adjudication needs a reason")
            else:
                await self._adjudicate(row, schema, taken, step, reason)

        self.app.push_screen(NoteScreen("Why is this label right?", before), reasoned)

    async def _adjudicate(
        self,
        row: Disagreement,
        schema: SchemaRecord,
        taken: tuple[Category, ...],
        step: int | None,
        reason: str,
    ) -> None:
        session = self.session
        names = tuple(c.name for c in taken if c.state == "labelled")
        made = await self.attempt(
            lambda: session.store.adjudicate(
                row.item_id,
                session.rater.id,
                schema,
                state=taken[0].state,
                category=names[0] if names and not schema.multi else None,
                categories=names if names and schema.multi else None,
                first_wrong_step=step,
                reason=reason,
            ),
            write=True,
        )
        if made is not None:
            self.told = "decided; the raters' labels stay"
            self._read()


class ChoiceScreen(ModalScreen[tuple[Category, ...] | None]):
    """Asks for one of a schema's choices by its key; for several, where several may hold."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter", "done", show=False),
    ]

    def __init__(self, schema: SchemaRecord) -> None:
        super().__init__()
        self._schema = schema
        self._choices = {c.key: c for c in schema.categories if c.state != "skipped"}
        self._taken: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        with Stack(classes="dialog"):
            yield Line(id="dialog-title")
            yield Paragraph(id="confirm")
            yield Line(id="dialog-keys")

    def on_mount(self) -> None:
        self.query_one("#dialog-title", Line).show(safe(self._schema.question))
        several = "digits: the labels that are right   enter: these"
        one = "a digit: the label that is right"
        keys = several if self._schema.multi else one
        self.query_one("#dialog-keys", Line).show(f"{keys}   esc: leave it")
        self._draw()

    def _draw(self) -> None:
        parts = [
            Content.assemble(("● " if c.name in self._taken else ""), (key, "bold"), " ")
            + safe(c.name)
            for key, c in self._choices.items()
        ]
        self.query_one("#confirm", Paragraph).show("", Content("   ").join(parts), limit=4)

    def on_key(self, event: Key) -> None:
        chosen = self._choices.get(event.character or "")
        if chosen is None:
            return
        event.stop()
        if self._schema.multi:
            self._taken = take(self._schema, self._taken, chosen)
            self._draw()
        else:
            self.dismiss((chosen,))

    def action_done(self) -> None:
        if self._taken:
            self.dismiss(tuple(c for c in self._schema.categories if c.name in self._taken))
        else:
            self.app.bell()

    def action_leave(self) -> None:
        self.dismiss(None)
