"""A finding as it is shown: the drawing, the statements, the model's own words, what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from textual import events, work
from textual.app import ComposeResult
from textual.content import Content

from pipeline.relation_review import ReviewCase, review_case
from pipeline.relation_truth import ReviewTruth, review_truth
from store.records import LabelRecord, SchemaRecord
from store.relation_records import RelationCase
from tui import wording
from tui.actions import bindings_of
from tui.pace import Pace, pace_forms
from tui.relationlist import (
    CAUSE,
    SCHEMA,
    STATED,
    Findings,
)
from tui.reviewlines import (
    asked_schema,
    case_title,
    drawing,
    edge_rows,
    labels_said,
    truth_lines,
    words_lines,
)
from tui.screens.base import breadcrumb
from tui.screens.casepanes import WIDE, Target
from tui.screens.labelling import Labelling
from tui.session import ActiveClock, Session
from tui.text import safe, visible
from tui.widgets.bars import Keys, Line, Status
from tui.widgets.labelbar import LabelBar
from tui.widgets.lines import Lines, Row
from tui.widgets.stock import Columns, Guide, Pane

NONE_YET = "nothing here was chosen to review yet: f finds what this model contradicts itself in"
NO_SAMPLE = "no single statements were drawn to be labelled: medoid items make draws some"
WORDS_LINES = 4
"""Lines of the model's own words on the statement under the cursor, at 24 rows."""

Question = Literal["edge", "cause"]


class ReviewPanes(Labelling):
    """One finding: statements that cannot all hold, each with the model's own words.

    It holds a `ReviewCase`, in which there is nobody's label but the rater's own and no truth;
    `truth` is None until the rater has looked behind the seal of this finding.
    """

    NAME = "review"
    BINDINGS = bindings_of("review")
    DONE = "all are decided: p or n to one you want to change, or u"
    _drawn: int | None = None

    def __init__(
        self,
        session: Session,
        schemas: dict[str, SchemaRecord],
        findings: Findings,
        item_id: int | None,
    ) -> None:
        super().__init__(session)
        self.schemas = schemas
        self.findings = findings
        self.item_id = item_id
        self.shown: ReviewCase | None = None
        self.truth: ReviewTruth | None = None
        self.question: Question = "edge"
        self.schema = schemas[findings.schema]
        self.clock = ActiveClock()

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="drawing")
        with Columns(id="sides"):
            yield Lines(id="lines")
            yield Pane(id="guide-pane")
        yield Lines(id="detail")
        yield Status(id="message")
        yield LabelBar(id="prompt")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#guide-pane", Pane).border_title = "guideline"
        await self.open(self.item_id)

    def on_resize(self, _event: events.Resize) -> None:
        """Draw for the new width; the guideline is `Labelling`'s."""
        if self.case is not None:
            self.draw()

    # -- what is shown

    async def open(self, item_id: int | None, question: Question | None = None) -> bool:
        """Show a finding; None shows that there is none."""
        store, session = self.session.store, self.session
        shown, truth = None, None
        if item_id is not None:

            def read() -> tuple[ReviewCase, ReviewTruth | None]:
                found = review_case(store, item_id, session.rater.id)
                schema = self.schemas[self.findings.schema]
                if not found.case.revealed and schema.seal == "full":
                    return found, None
                return found, review_truth(store, item_id, session.rater.id, schema)

            pair = await self.attempt(read)
            if pair is None:
                return False
            shown, truth = pair
        self.shown, self.truth, self.item_id = shown, truth, item_id
        self.finished = False
        self.question = question or ("cause" if self._waits_for_cause() else "edge")
        self.clock.start()
        self.draw()
        self.say_state()
        self.read_pace()
        return True

    @property
    def case(self) -> RelationCase | None:
        """The finding in hand."""
        return None if self.shown is None else self.shown.case

    def label(self, schema: str) -> LabelRecord | None:
        """Return one's own label on the finding in hand under a schema."""
        return None if self.case is None else self.case.labels.get(schema)

    @property
    def wrong(self) -> str | None:
        """The category of the edge that the rater called wrong; None without one."""
        label = self.label(SCHEMA)
        named = label is not None and label.state == "labelled" and label.category != "none"
        return label.category if label is not None and named else None

    def _waits_for_cause(self) -> bool:
        cause = self.label(CAUSE)
        return self.wrong is not None and not (cause is not None and cause.decided)

    @property
    def target(self) -> Target | None:
        """What a digit labels: which edge is wrong, then why."""
        case = self.case
        if case is None:
            return None
        name = CAUSE if self.question == "cause" else self.findings.schema
        schema = self.schemas[name]
        at = self.findings.index(case.item_id)
        what = f"finding {at + 1}" if at is not None else "this finding"
        return Target(
            case.item_id,
            asked_schema(schema, len(case.edges), WIDE),
            self.label(name),
            f"why, {what}" if name == CAUSE else what,
        )

    def draw(self) -> None:
        shown, truth = self.shown, self.truth
        self._draw_top()
        prompt = self.query_one(LabelBar)
        if shown is None:
            self.query_one("#drawing", Lines).styles.height = 0
            self.lines().show(lambda width: [], key=None)
            self.query_one("#detail", Lines).show(lambda width: [])
            prompt.show(Content(" nothing to review in this list"))
            return
        same = shown.case.item_id == self._drawn
        here = (self.lines().cursor or 0) if same else 0
        self._drawn = shown.case.item_id

        def build(width: int) -> list[Row]:
            rows = edge_rows(shown, truth, width)
            if truth is not None:
                rows += [Row(Content("")), *(Row(x) for x in truth_lines(truth.truth, width))]
            return rows

        self.lines().show(build, cursor=here, key=shown.case.item_id)
        self.moved()
        self._ask(shown.case, prompt)

    def moved(self) -> None:
        """Let the drawing stand out where the cursor is, and show the model's words on it."""
        shown, at = self.shown, self.lines().cursor
        if shown is None:
            return
        figure, detail = self.query_one("#drawing", Lines), self.query_one("#detail", Lines)
        lines = drawing(shown, self.wrong, at, max(min(self.size.width, 100) - 2, 10))
        figure.styles.height = len(lines) + 1 if lines else 0
        figure.show(lambda width: [Row(line) for line in lines])
        stated = None if at is None else shown.edges[at]
        height = WORDS_LINES + max(self.size.height - 24, 0) // 4
        detail.styles.max_height = height + 1
        detail.show(lambda width: [Row(x) for x in words_lines(stated, width, height)])

    def _ask(self, case: RelationCase, prompt: LabelBar) -> None:
        name = CAUSE if self.question == "cause" else self.findings.schema
        self._guide(name)
        record, width = self.label(name), self.size.width
        schema = asked_schema(self.schemas[name], len(case.edges), width)
        chosen: tuple[str, ...] = ()
        if record is not None and record.category:
            at = [c.name for c in self.schemas[name].categories].index(record.category)
            key = self.schemas[name].categories[at].key
            chosen = tuple(c.name for c in schema.categories if c.key == key)
        head = {CAUSE: f"why is {(self.wrong or '')[4:]} wrong", STATED: "is it right"}.get(
            name, "which is wrong"
        )
        prompt.ask(schema, head, chosen, letters=True)

    def _guide(self, name: str) -> None:
        """Let the guideline be that of what is asked, here and in the help."""
        self.schema = self.schemas[name]
        guides = self.query(Guide)
        if guides and self._guided != name:
            self._guided = name
            guides.first().update(visible(self.schema.guideline, newlines=True))

    def _draw_top(self) -> None:
        findings, case = self.findings, self.case
        at = findings.index(self.item_id)
        word = "open" if findings.show == "unlabelled" else findings.show
        show = "" if findings.show == "all" else f" {word}"
        where = f"{at + 1:,}/{len(findings.rows):,}{show}" if at is not None else "findings"
        saved = self.session.saved_at
        when = "" if saved is None else f"● saved {wording.clock(saved)}"
        if self.session.unsaved:
            when = "○ NOT SAVED"
        seal = "" if case is None else "revealed" if self.truth is not None else "sealed"
        right = f"{seal}  {when} " if when else f"{seal} "
        title = "findings" if case is None else case_title(case)
        self.query_one("#top", Line).show(breadcrumb(findings.asking.set, title, where), right)

    def fail(self, problem: BaseException) -> None:
        super().fail(problem)
        self._draw_top()

    def say_state(self) -> None:
        """Say the comment on the finding in hand, or how far one is."""
        case, findings = self.case, self.findings
        if case is None:
            empty = NONE_YET if findings.schema == SCHEMA else NO_SAMPLE
            self.say(empty if not findings.n_all else "f shows others")
            return
        labels = [self.label(n) for n in case.labels]
        notes = [x.note for x in labels if x is not None and x.note]
        if notes:
            self.say(Content("comment: ") + safe(notes[0]))
        elif case.seen and not case.revealed and not any(x is not None for x in labels):
            self.say("△ a reveal showed what is true here: a label counts as made after it")
        else:
            self.say(labels_said(labels))

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def read_pace(self) -> None:
        """Bring the pace up to date without making a key wait for it."""
        store, rater, findings = self.session.store, self.session.rater.id, self.findings
        try:
            rows = await self.session.read(
                lambda: store.relation_queue(rater, findings.schema, asking_id=findings.asking.id)
            )
            seconds = await self.session.read(lambda: store.pace(rater, schema=findings.schema))
            forms = pace_forms(Pace(sum(r.decided for r in rows), len(rows), seconds))
        except Exception:  # a figure on the side is not worth a message; the next one comes
            forms = ()
        self.query_one("#message", Status).quiet(forms)

    def take(self, record: LabelRecord) -> None:
        """Put a committed label into the finding that is shown."""
        shown = self.shown
        if shown is not None and shown.case.item_id == record.item_id:
            case = replace(shown.case, labels={**shown.case.labels, record.schema: record})
            self.shown = replace(shown, case=case)
