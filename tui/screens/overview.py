"""The overview: one row per dataset and pool, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from store.records import CaseFilter, OverviewRow, ScoringRecord, SealLevel
from tui import wording
from tui.actions import bindings_of
from tui.caselist import CaseList, Query, resume
from tui.screens.base import WorkScreen, breadcrumb
from tui.text import cells, cut_middle, fit, safe, wrap
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

FEW = 20
"""Questions with gold below which a share tells too much about each of them."""


def accuracy_shown(row: OverviewRow, seal: SealLevel) -> bool:
    """Return whether a rater may see the shares right of SC and GSC in a row.

    They are made of gold, which a `full` seal hides. They are shown all the same once every case
    of the row is done, and where they cannot be turned into the gold of one question: of at least
    `FEW` questions with gold, each method is right on some and wrong on some.
    """
    if seal != "full" or row.n_cases_done >= row.n_cases:
        return True
    mixed = all(0 < right < row.n_gold for right in (row.sc_correct, row.gsc_correct))
    return row.n_gold >= FEW and mixed


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
    _file = Content("")

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        store = self.session.store
        self._file = safe(store.file.name if store.file else store.url.rpartition("/")[2])
        self._head()
        self.say("reading …")

    def _head(self) -> None:
        session = self.session
        right = Content("rater: ") + safe(session.rater.name) + Content(" ")
        if session.schema.name != "path":
            right = Content("schema: ") + safe(session.schema.name) + Content("  ·  ") + right
        if session.sitting is not None:
            right = Content(f"{session.sitting.mark}  ·  ") + right
        self.query_one("#top", Line).show(breadcrumb() + Content(" ▸ ") + self._file, right)

    def on_screen_resume(self) -> None:
        self._head()
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
                store.overview(self.session.rater.id, self.session.schema.name),
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
        out = []
        for i, row in enumerate(self.overview.rows):
            room = _room(width)
            name = fit(cut_middle(_name(row), room), room)
            shown = accuracy_shown(row, self.session.schema.seal)
            out.append(Row(name + _figures(row, shown), i, True))
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
        shown = row is not None and accuracy_shown(row, self.session.schema.seal)
        self.query_one("#detail", Lines).show(lambda width: _detail(overview, row, shown, width))
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
        await self._start()

    def _ready(self) -> OverviewRow | None:
        """Return the row under the cursor when it has cases; else say what to do first."""
        row = self.row
        if row is not None and row.n_cases > 0:
            return row
        self.refuse(_next_step(self.overview, row) if self.overview else "still reading")
        return None

    async def _start(self) -> bool:
        """Go to where one stopped in this row, else to the first case that waits."""
        row, session = self._ready(), self.session
        if row is None:
            return False
        show: CaseFilter = "unlabelled" if row.n_cases_done < row.n_cases else "all"
        query = Query(row.dataset, row.pool, show, schema=session.schema.name)
        cases = CaseList(session.store, session.rater.id, query)
        try:
            await session.read(lambda: resume(cases, session))
        except Exception as problem:
            self.fail(problem)
            return False
        from tui.screens.queue import QueueScreen

        queue = QueueScreen(session, cases)
        await self.app.push_screen(queue)
        if cases.row is not None and show == "unlabelled":
            await queue.open_case()
        return True

    async def action_session(self) -> None:
        """Ask for a size and begin; while a session is under way, show how it stands."""
        from tui.screens.sitting import SizeScreen, show_summary

        if self.session.sitting is not None:
            await show_summary(self.medoid, self.session)
            return
        row = self._ready()
        if row is None:
            return
        if row.n_cases_done == row.n_cases:
            self.refuse("every case of this row is labelled by you: there is nothing to begin")
            return
        self.app.push_screen(SizeScreen(), self._begin)

    async def _begin(self, size: int | None) -> None:
        session = self.session
        if size is None:
            return
        try:
            session.sitting = await session.read(lambda: session.begin(size or None))
        except Exception as problem:
            self.fail(problem)
            return
        self._head()
        await self._start()

    async def action_cases(self) -> None:
        row = self._ready()
        if row is None:
            return
        from tui.screens.queue import QueueScreen

        query = Query(row.dataset, row.pool, "all", schema=self.session.schema.name)
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


def _name(row: OverviewRow) -> Content:
    return Content("  ") + safe(row.dataset) + Content(" · ") + safe(row.pool)


def _room(width: int) -> int:
    """Return the cells that are left for a row's name."""
    return max(width - sum(w for _, w in COLUMNS), 8)


def _heads(width: int) -> list[Row]:
    right = Content("".join(name.rjust(cells) for name, cells in COLUMNS))
    return [Row(fit(Content("  dataset · pool"), _room(width)) + right)]


def _figures(row: OverviewRow, accuracy: bool) -> Content:
    scored = row.n_scored > 0
    n_gold = row.n_gold if accuracy else 0
    values = (
        f"{row.n_questions:,}",
        f"{row.n_traces:,}",
        wording.percent(row.n_parsed, row.n_traces),
        wording.share(row.sc_correct / n_gold) if n_gold else wording.NONE,
        wording.share(row.gsc_correct / n_gold) if n_gold else wording.NONE,
        f"{row.n_disagree:,}" if scored else wording.NONE,
        f"{row.n_cases_done:,}/{row.n_cases:,}" if row.n_cases else wording.NONE,
    )
    return Content("".join(v.rjust(w) for v, (_, w) in zip(values, COLUMNS, strict=True)))


def _first_waiting(rows: tuple[OverviewRow, ...]) -> int | None:
    for i, row in enumerate(rows):
        if row.n_cases_done < row.n_cases:
            return i
    return 0 if rows else None


def _detail(overview: Overview, row: OverviewRow | None, accuracy: bool, width: int) -> list[Row]:
    texts: list[Content] = []
    if row is not None:
        if cells(_name(row)) > _room(width):
            texts.append(_name(row)[2:])
        shares = (
            f"SC, GSC: share right of {row.n_gold:,} with gold"
            if accuracy
            else "SC, GSC: shown when your cases of this row are revealed or done"
        )
        texts += [
            Content(
                f"traces usable {row.n_usable:,}, strictly in format {row.n_strict:,} · "
                f"steps unannotated "
                f"{wording.percent(row.n_unannotated_steps, row.n_steps)} of {row.n_steps:,}"
            ),
            Content(
                f"scored {row.n_scored:,}/{row.n_questions:,} · {shares} · differ: unlike answers"
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
