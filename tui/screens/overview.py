"""The overview: one row per dataset and pool, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from store.records import OverviewRow, ScoringRecord
from tui import wording
from tui.actions import bindings_of
from tui.caselist import CaseList, Query
from tui.screens.base import WorkScreen, breadcrumb
from tui.text import fit, safe, wrap
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row

COLUMNS = (
    ("quest.", 6),
    ("traces", 7),
    ("parsed", 7),
    ("SC", 5),
    ("GSC", 5),
    ("differ", 7),
    ("mine", 8),
)


@dataclass(frozen=True, slots=True)
class Overview:
    """What the overview shows, read at once."""

    rows: tuple[OverviewRow, ...]
    scoring: ScoringRecord | None
    n_unscored: int


class OverviewScreen(WorkScreen):
    """The first screen."""

    NAME = "overview"
    BINDINGS = bindings_of("overview")

    class Loaded(Message):
        """The figures were read."""

        def __init__(self, overview: Overview) -> None:
            super().__init__()
            self.overview = overview

    class Failed(Message):
        """The figures could not be read."""

        def __init__(self, problem: Exception) -> None:
            super().__init__()
            self.problem = problem

    overview: Overview | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        file = safe(self.session.store.url.removeprefix("sqlite:///").rpartition("/")[2])
        self.query_one("#top", Line).show(
            breadcrumb() + Content(" ▸ ") + file,
            Content("rater: ") + safe(self.session.rater.name) + Content(" "),
        )
        self.say("reading …")

    def on_screen_resume(self) -> None:
        self.action_reload()

    def action_reload(self) -> None:
        self.run_worker(
            self._load, thread=True, group="overview", exclusive=True, exit_on_error=False
        )

    def _load(self) -> None:
        store = self.session.store
        try:
            scoring = store.primary_scoring()
            overview = Overview(
                store.overview(self.session.rater.id),
                scoring,
                0 if scoring is None else store.n_unscored_pools(scoring.id),
            )
        except Exception as problem:  # whatever the database says is shown, never a crash
            self.post_message(self.Failed(problem))
        else:
            self.post_message(self.Loaded(overview))

    def on_overview_screen_failed(self, message: Failed) -> None:
        self.fail(message.problem)

    def on_overview_screen_loaded(self, message: Loaded) -> None:
        before, self.overview = self.overview, message.overview
        rows = self.overview.rows
        lines = self.lines()
        cursor = lines.cursor if before is not None and before.rows else _first_waiting(rows)
        if not rows:
            cursor = None
        self.query_one("#columns", Lines).show(lambda width: _heads(width) if rows else [])
        lines.show(self._build, cursor=cursor, key=self.NAME)
        self._point()

    def _build(self, width: int) -> list[Row]:
        if self.overview is None:
            return []
        if not self.overview.rows:
            return [Row(line) for text in EMPTY for line in wrap(Content(text), width)]
        tail = sum(w for _, w in COLUMNS)
        out = []
        for i, row in enumerate(self.overview.rows):
            name = Content("  ") + safe(row.dataset) + Content(" · ") + safe(row.pool)
            out.append(Row(fit(name, max(width - tail, 8)) + _figures(row), i, True))
        return out

    @property
    def row(self) -> OverviewRow | None:
        """The row under the cursor."""
        at = self.lines().cursor
        if self.overview is None or at is None or at >= len(self.overview.rows):
            return None
        return self.overview.rows[at]

    def _point(self) -> None:
        """Show what belongs to the row under the cursor, and the next step."""
        overview, row = self.overview, self.row
        if overview is None:
            return
        self.query_one("#detail", Lines).show(lambda width: _detail(overview, row, width))
        self.say(_next_step(overview, row))

    def action_move(self, by: int) -> None:
        super().action_move(by)
        self._point()

    def action_page(self, by: int) -> None:
        super().action_page(by)
        self._point()

    def action_top(self) -> None:
        super().action_top()
        self._point()

    def action_bottom(self) -> None:
        super().action_bottom()
        self._point()

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self._point()

    async def action_start(self) -> None:
        row = self.row
        if row is None or row.n_cases == 0:
            self.refuse(_next_step(self.overview, row) if self.overview else "still reading")
            return
        show: Query = Query(
            row.dataset, row.pool, "unlabelled" if row.n_cases_done < row.n_cases else "all"
        )
        cases = CaseList(self.session.store, self.session.rater.id, show)
        try:
            cases.take(await self.session.read(cases.read))
        except Exception as problem:
            self.fail(problem)
            return
        from tui.screens.queue import QueueScreen

        queue = QueueScreen(self.session, cases)
        await self.app.push_screen(queue)
        if cases.row is not None and show.show == "unlabelled":
            await queue.open_case()

    async def action_cases(self) -> None:
        row = self.row
        if row is None or row.n_cases == 0:
            self.refuse(_next_step(self.overview, row) if self.overview else "still reading")
            return
        from tui.screens.queue import QueueScreen

        query = Query(row.dataset, row.pool, "all")
        cases = CaseList(self.session.store, self.session.rater.id, query)
        await self.app.push_screen(QueueScreen(self.session, cases))


EMPTY = (
    " This database is empty.",
    "",
    " Read traces into it:     medoid import FILE…",
    " then score them:         medoid score",
    "",
    " Or look at the bundled project first:     medoid demo",
)


def _heads(width: int) -> list[Row]:
    right = Content("".join(name.rjust(cells) for name, cells in COLUMNS))
    return [Row(fit(Content("  dataset · pool"), max(width - len(right.plain), 8)) + right)]


def _figures(row: OverviewRow) -> Content:
    scored = row.n_scored > 0
    values = (
        f"{row.n_questions:,}",
        f"{row.n_traces:,}",
        wording.percent(row.n_parsed, row.n_traces),
        wording.share(row.sc_correct / row.n_gold) if row.n_gold else wording.NONE,
        wording.share(row.gsc_correct / row.n_gold) if row.n_gold else wording.NONE,
        f"{row.n_disagree:,}" if scored else wording.NONE,
        f"{row.n_cases_done:,}/{row.n_cases:,}" if row.n_cases else wording.NONE,
    )
    return Content("".join(v.rjust(w) for v, (_, w) in zip(values, COLUMNS, strict=True)))


def _first_waiting(rows: tuple[OverviewRow, ...]) -> int | None:
    for i, row in enumerate(rows):
        if row.n_cases_done < row.n_cases:
            return i
    return 0 if rows else None


def _detail(overview: Overview, row: OverviewRow | None, width: int) -> list[Row]:
    texts: list[Content] = []
    if row is not None:
        texts += [
            Content(
                f"traces usable {row.n_usable:,}, strictly in format {row.n_strict:,} · "
                f"steps unannotated "
                f"{wording.percent(row.n_unannotated_steps, row.n_steps)} of {row.n_steps:,}"
            ),
            Content(
                f"scored {row.n_scored:,}/{row.n_questions:,} · SC, GSC: share right of "
                f"{row.n_gold:,} with gold · differ: unlike answers"
                if row.n_scored
                else "not scored yet"
            ),
        ]
    if overview.scoring is not None:
        texts.append(provenance(overview.scoring))
    if overview.n_unscored and overview.scoring is not None:
        texts.append(
            Content(f"{wording.count(overview.n_unscored, 'pool')} not scored: run medoid score")
        )
    return [
        Row(Content(" ") + line, None) for text in texts for line in wrap(text, max(width - 1, 1))
    ]


def provenance(scoring: ScoringRecord) -> Content:
    """Return under which parameters scores were computed."""
    p = scoring.parameters
    settings = " ".join(
        f"{sign}={p[name]}"
        for sign, name in (("β", "beta"), ("γ", "gamma"), ("α", "alpha"), ("τ", "tau"))
        if name in p
    )
    decomposed = (
        Content("one fact per step")
        if scoring.decomposition == "none"
        else Content("facts ") + safe(scoring.decomposition)
    )
    return Content(" · ").join(
        [
            safe(scoring.embedder)
            + Content("@")
            + safe(scoring.embedder_revision.removeprefix("sha256:")[:8]),
            decomposed,
            safe(settings),
            Content("medoid ") + safe(scoring.tool_version),
        ]
    )


def _next_step(overview: Overview, row: OverviewRow | None) -> Content:
    if row is None:
        return Content("next: import traces, then score them")
    if row.n_scored == 0:
        return Content("next: these traces have no scores yet; run  medoid score")
    if row.n_cases == 0:
        return Content("next: no cases were chosen for a human yet; run  medoid items make")
    left = row.n_cases - row.n_cases_done
    if left == 0:
        return Content("done: every case of this row is labelled by you    enter: look at them")
    return (
        Content(f"next: {wording.count(left, 'case')} in ")
        + safe(row.dataset)
        + Content(f" {'waits' if left == 1 else 'wait'} for you    enter: start there")
    )
