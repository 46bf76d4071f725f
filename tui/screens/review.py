"""Reviewing what a model contradicts itself in: which statement is wrong, and why."""

from __future__ import annotations

from dataclasses import replace

from textual.content import Content

from store.records import SchemaRecord
from store.relation_records import AskingRecord, RelationCase, RelationFilter
from tui import wording
from tui.relationlist import (
    CAUSE,
    FILTERS,
    SCHEMA,
    STATED,
    Findings,
    find_start,
    next_open,
    read_findings,
)
from tui.reversal import WORDS, Act
from tui.reviewlines import in_full
from tui.screens.base import WorkScreen
from tui.screens.casepanes import Target
from tui.screens.reviewpanes import NONE_YET, Question, ReviewPanes
from tui.screens.setviews import open_view
from tui.screens.sheets import InFullScreen
from tui.widgets.labelbar import keyed
from tui.widgets.lines import Lines


async def open_review(
    screen: WorkScreen, asking: AskingRecord, item_id: int | None = None, schema: str = SCHEMA
) -> bool:
    """Go to where one stopped reviewing a set, or to one finding; False where there is none."""
    session = screen.session

    def read() -> tuple[Findings, int | None, dict[str, SchemaRecord]]:
        store, rater = session.store, session.rater.id
        schemas = {name: store.schema(name) for name in (SCHEMA, CAUSE, STATED)}
        if item_id is not None:
            return read_findings(store, rater, asking, schema, "all"), item_id, schemas
        return *find_start(store, rater, asking, schema), schemas

    found = await screen.attempt(read)
    if found is None:
        return False
    findings, start, schemas = found
    if start is None:
        screen.refuse(NONE_YET)
        return False
    await screen.app.push_screen(ReviewScreen(session, schemas, findings, start))
    return True


class ReviewScreen(ReviewPanes):
    """What keys do to a finding: label it, look behind its seal, go on, undo."""

    # -- labels

    async def action_choose(self, key: str) -> None:
        """Choose by a digit; the full schema is what is committed under."""
        target = self.target
        if target is None:
            return
        choice = keyed(target.schema, letters=True).get(key)
        if choice is None:
            keys = [k for k in keyed(target.schema, letters=True) if k.isdigit()]
            self.refuse(f"{key} names nothing here: {', '.join(keys)}, or s for cannot tell")
        elif self._may_label():
            name = choice.name if choice.state == "labelled" else None
            await self._commit(self._full(target), choice.state, category=name)

    async def action_unsure(self) -> None:
        """Say that it cannot be told."""
        target = self.target
        if target is not None and self._may_label():
            await self._commit(self._full(target), "unsure")

    def _full(self, target: Target) -> Target:
        return replace(target, schema=self.schemas[target.schema.name])

    async def labelled(self, told: Content, *, changed_mind: bool) -> None:
        """Ask why after an edge; else go on, or stay where a label was only changed."""
        if self.question == "edge" and self.wrong is not None:
            self.question = "cause"
            self.draw()
            self.say(told)
            return
        self.question = "edge"
        self.draw()
        if changed_mind:
            self.say(told)
            self.read_pace()
        else:
            await self._next_waiting(told)

    def action_other(self) -> None:
        """Ask the other question: which edge, or why."""
        if self.findings.schema == SCHEMA and self.wrong is not None:
            self.question = "edge" if self.question == "cause" else "cause"
            self.draw()
        else:
            self.refuse("why is asked once an edge is called wrong")

    async def action_reveal(self) -> None:
        """Look behind the seal of this finding."""
        case, session = self.case, self.session
        if case is None:
            return
        if self.truth is not None:
            self.refuse("nothing is sealed here any more")
            return
        schema = self.schemas[self.findings.schema]
        check = await self.attempt(
            lambda: session.store.relation_reveal_check([case.item_id], session.rater.id, schema)
        )
        if check is None:
            return
        if not check.ok:
            self.refuse("label this finding before the reveal, or skip it (x)")
        elif check.n_left > 0:
            from tui.screens.modals import ConfirmScreen

            async def answered(yes: bool | None) -> None:
                if yes:
                    await self._reveal(case)

            others = wording.count(check.n_left, "finding")
            self.app.push_screen(
                ConfirmScreen(
                    f"This shows what is true of its objects: {others} that you have not decided "
                    "will count as labelled after the reveal."
                ),
                answered,
            )
        else:
            await self._reveal(case)

    async def _reveal(self, case: RelationCase) -> None:
        session, before = self.session, self.session.saved_at
        schema = self.schemas[self.findings.schema]
        done = await self.attempt(
            lambda: session.store.reveal_relations([case.item_id], session.rater.id, schema),
            write=True,
        )
        session.saved_at = before  # no label was saved
        if done is not None and await self.open(case.item_id, "edge"):
            self.say("revealed: enter goes on; a label changed now is kept as a second row")

    # -- moving

    async def action_go_on(self) -> None:
        await self._next_waiting()

    async def _next_waiting(self, told: Content | None = None) -> None:
        store, rater, findings = self.session.store, self.session.rater.id, self.findings
        here = self.item_id
        found = await self.attempt(
            lambda: (next_open(store, rater, findings.asking, findings.schema, here),)
        )
        if found is None:
            return
        lead = Content("") if told is None else told + "   "
        if found[0] is None:
            self.finished = True
            self.read_pace()
            self.say(lead + "that was the last finding: esc goes back")
        elif found[0] == here:
            self.refuse("this finding has no label yet: n leaves it as it is")
        elif await self.open(found[0]) and told is not None:
            self.say(lead + "u: back there")

    async def action_next_case(self) -> None:
        await self._step(1)

    async def action_previous_case(self) -> None:
        await self._step(-1)

    async def _step(self, by: int) -> None:
        found = self.findings.beside(self.item_id, by)
        if found is None or found == self.item_id:
            self.refuse("this is the last finding of the list" if by > 0 else "this is the first")
        else:
            await self.open(found)

    async def action_filter(self) -> None:
        """Show the next kind of findings."""
        show = FILTERS[(FILTERS.index(self.findings.show) + 1) % len(FILTERS)]
        await self._load(self.findings.schema, show)

    async def action_single(self) -> None:
        """Go from contradictions to single statements that were drawn, and back."""
        other = STATED if self.findings.schema == SCHEMA else SCHEMA
        await self._load(other, "unlabelled")

    async def _load(self, schema: str, show: RelationFilter) -> None:
        store, rater, asking = self.session.store, self.session.rater.id, self.findings.asking
        found = await self.attempt(lambda: read_findings(store, rater, asking, schema, show))
        if found is not None:
            kept = self.item_id if found.index(self.item_id) is not None else None
            self.findings, self.schema = found, self.schemas[schema]
            await self.open(kept or found.beside(None, 0))

    # -- undo, views, reading

    async def _reverse(self, act: Act) -> None:
        """Undo or redo, then go to the finding it was about, where it was one here."""
        done = await self.reversed(act)
        if done is None:
            return
        result = done.result
        if self.findings.index(result.item_id) is None or result.schema not in self.schemas:
            self.say(done.told_afar(self.size.width - 1))
            return
        question: Question = "cause" if result.schema == CAUSE else "edge"
        if await self.open(result.item_id, question):
            self.say(Content(f"{WORDS[act]}: ") + done.change)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    async def action_view(self, what: str) -> None:
        """Lay a view of the whole set over the finding."""
        axis = None if self.case is None else self.case.axis
        await open_view(self, self.findings.asking, what, axis)

    def action_raw(self) -> None:
        shown, truth = self.shown, self.truth
        if shown is not None:
            self.app.push_screen(InFullScreen(lambda width: in_full(shown, truth, width)))
