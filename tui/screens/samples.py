"""The decomposed traces to label: a seeded sample of each decomposition."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from store.model_records import DecomposedFilter, DecomposedRow, DecompositionRecord
from tui import wording
from tui.actions import bindings_of
from tui.factlines import DROPPED, INVENTED
from tui.samplelist import (
    FILTERS,
    SAMPLE,
    SCHEMA,
    SEED,
    Sample,
    SampleList,
    Start,
    find_start,
    read_sample,
)
from tui.screens.base import Reversing, WorkScreen, breadcrumb
from tui.session import Session
from tui.text import cut, fit, one_line, safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines, Row

COLUMNS = (("steps", 6), ("facts", 6), (DROPPED, 4), (INVENTED, 4), ("mine", 6), ("flag", 6))
NONE_YET = "no trace is split into facts yet: run  medoid decompose"


async def open_samples(screen: WorkScreen) -> None:
    """Go to where one stopped labelling decompositions, over the list of the sample."""
    session = screen.session
    start: Start | None
    try:
        start = await session.read(lambda: find_start(session.store, session.rater.id))
        if start is None:
            screen.refuse(NONE_YET)
            return
        made, show = start.decomposition, FILTERS[0 if start.trace_id is not None else 1]
        sample = await session.read(
            lambda: read_sample(session.store, session.rater.id, made, show)
        )
    except Exception as problem:  # whatever the database says is shown, never a crash
        screen.fail(problem)
        return
    samples = SamplesScreen(session, SampleList(sample))
    await screen.app.push_screen(samples)
    if start.trace_id is not None:
        samples.sample.find(start.trace_id)
        await samples.open_trace(start.trace_id)


class SamplesScreen(Reversing):
    """The sampled traces of one decomposition."""

    NAME = "samples"
    BINDINGS = bindings_of("samples")

    class Loaded(Message):
        """The sample was read."""

        def __init__(
            self, sample: Sample, trace_id: int | None, index: int, told: str | None
        ) -> None:
            super().__init__()
            self.sample = sample
            self.trace_id = trace_id
            self.index = index
            self.told = told

    class Failed(Message):
        """The sample could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, session: Session, sample: SampleList) -> None:
        super().__init__(session)
        self.sample = sample
        self._fresh = True

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        self._draw()

    def on_screen_resume(self) -> None:
        if self._fresh:
            self._fresh = False
        else:
            self.reread()

    def reread(self) -> None:
        row, now = self.sample.row, self.sample.sample
        self._load(
            now.decomposition,
            now.show,
            trace_id=None if row is None else row.trace_id,
            index=self.sample.index,
        )

    def _load(
        self,
        made: DecompositionRecord,
        show: DecomposedFilter,
        *,
        trace_id: int | None = None,
        index: int = 0,
        told: str | None = None,
    ) -> None:
        store, rater = self.session.store, self.session.rater.id

        def work() -> None:
            try:
                sample = read_sample(store, rater, made, show)
            except Exception as problem:  # whatever the database says is shown, never a crash
                self.post_message(self.Failed(problem))
            else:
                self.post_message(self.Loaded(sample, trace_id, index, told))

        self.run_worker(work, thread=True, group="samples", exclusive=True, exit_on_error=False)

    def on_samples_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_samples_screen_loaded(self, message: Loaded) -> None:
        self.sample.take(message.sample, trace_id=message.trace_id, index=message.index)
        self._draw()
        if message.told is not None:
            self.say(message.told)

    def _draw(self) -> None:
        sample = self.sample.sample
        right = Content(f"{sample.show}: {wording.count(len(sample.rows), 'trace')} ")
        if len(sample.others) > 1:
            at = sample.others.index(sample.decomposition.name) + 1
            right = Content(f"{at} of {len(sample.others)}  ·  ") + right
        top = breadcrumb("decompositions", sample.decomposition.name)
        self.query_one("#top", Line).show(top, right)
        self.query_one("#columns", Lines).show(lambda width: _heads(width) if sample.rows else [])
        cursor = self.sample.index if sample.rows else None
        self.lines().show(self._build, cursor=cursor, key=self.NAME)
        self.say(self.told if self.told is not None else self._state(sample), _counted(sample))

    def _state(self, sample: Sample) -> str:
        if sample.rows:
            return "enter: open the trace under the cursor"
        if sample.progress.n_cases == 0:
            n, m = sample.counts.n_with_facts, min(SAMPLE, sample.counts.n_with_facts)
            if n == 0:
                return "no trace of this decomposition has facts"
            return f"none is chosen to label yet: m draws {m:,} of {n:,} at random (seed {SEED})"
        if sample.show == "unlabelled":
            return "nothing is left to label here: f shows the others"
        return f"no trace is {sample.show}: f shows the others"

    def _build(self, width: int) -> list[LateRow]:
        room = _room(width)
        return [LateRow(partial(_line, row, room), i) for i, row in enumerate(self.sample.rows)]

    # -- moving

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    def moved(self) -> None:
        self.sample.index = self.lines().cursor or 0

    # -- acts

    async def action_open(self) -> None:
        row = self.sample.row
        if row is None:
            self.refuse(self._state(self.sample.sample))
        else:
            await self.open_trace(row.trace_id)

    async def open_trace(self, trace_id: int) -> None:
        """Open a trace to label it."""
        from tui.screens.facts import FactsScreen

        store = self.session.store
        schema = await self.attempt(lambda: store.schema(SCHEMA))
        if schema is not None:
            screen = FactsScreen(self.session, self.sample, schema, trace_id)
            await self.app.push_screen(screen)

    def action_filter(self) -> None:
        now = self.sample.sample
        self._load(now.decomposition, FILTERS[(FILTERS.index(now.show) + 1) % len(FILTERS)])

    async def action_other(self) -> None:
        """Go to the next decomposition, in the order of their making."""
        store = self.session.store
        known = await self.attempt(store.decompositions)
        if known is None:
            return
        if len(known) < 2:
            self.refuse("there is one decomposition only")
            return
        now = self.sample.sample
        at = [d.id for d in known].index(now.decomposition.id)
        self._load(known[(at + 1) % len(known)], now.show)

    async def action_draw_sample(self) -> None:
        """Draw the sample where there is none; an old one is left to the command line."""
        sample, store = self.sample.sample, self.session.store
        made = sample.decomposition
        if sample.progress.n_cases:
            n = wording.count(sample.progress.n_cases, "trace")
            self.refuse(f"{n} are drawn already; medoid decompose --sample N draws others")
            return
        before = self.session.saved_at
        drawn = await self.attempt(
            lambda: store.make_decomposition_sample(made.id, SAMPLE, SEED), write=True
        )
        self.session.saved_at = before  # no label was saved
        if drawn is not None and drawn.n_sampled == 0:
            self.refuse("no trace of this decomposition has facts")
        elif drawn is not None:
            n = f"{drawn.n_sampled:,} of {drawn.n_population:,}"
            self._load(made, "unlabelled", told=f"{n} drawn (seed {SEED}): enter opens the first")


def _counted(sample: Sample) -> str:
    own = sample.progress
    return f"{own.n_cases_done:,} of {own.n_cases:,} mine done " if own.n_cases else ""


def _room(width: int) -> int:
    return max(width - sum(w for _, w in COLUMNS), 8)


def _heads(width: int) -> list[Row]:
    right = Content("".join(name.rjust(cells) for name, cells in COLUMNS))
    return [Row(fit(Content("      #  question · sample"), _room(width)) + right)]


def _line(row: DecomposedRow, room: int) -> Content:
    place = Content(f"  {row.position:>5}  ")
    tail = Content(" · ") + cut(safe(row.sample), 8)
    question = cut(one_line(row.question), max(room - len(place.plain) - len(tail.plain) - 1, 4))
    mine = f"{row.n_mine}/{row.n_items}"
    figures = (
        f"{row.n_steps:,}",
        f"{row.n_facts:,}",
        f"{row.n_dropped:,}" if row.n_dropped else "",
        f"{row.n_invented:,}" if row.n_invented else "",
        mine,
        "!" if row.flagged else "",
    )
    said = "".join(text.rjust(w) for text, (_, w) in zip(figures, COLUMNS, strict=True))
    return fit(place + question + tail, room) + Content(said)
