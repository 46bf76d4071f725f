"""The overview laid out in lines: figures by dataset and pool, and what is next."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from store.first_look import FirstLook
from store.records import LastAct, OverviewRow, ScoringRecord, SealLevel
from tui import wording
from tui.resume import Stop
from tui.reversal import LEAST_CELLS
from tui.text import cells, cut, cut_middle, fit, one_line, safe, wrap
from tui.widgets.lines import Row

COLUMNS = (
    ("quest.", 6),
    ("traces", 7),
    ("parsed", 7),
    ("SC", 5),
    ("GSC", 5),
    ("differ", 7),
    ("mine", 8),
)

QUESTION_CELLS = 18
"""Cells that a question's id takes at most in the line that says what is next."""
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
    last: LastAct | None


def at_first_look(look: FirstLook) -> Overview:
    """Return what a first look at a project shows."""
    return Overview(look.rows, look.scoring, look.n_unscored, look.last)


EMPTY = (
    " There are no traces in this database.",
    "",
    " Read traces into it:        medoid import FILE…",
    " then score them:            medoid score",
    " Relations, if any are here:   o",
    " Deductions, if any are here:  p",
    "",
    " Or look at the bundled project first:  medoid demo",
)


def row_name(row: OverviewRow) -> Content:
    """Return a row's dataset and pool, after the cursor's two cells."""
    pool = safe(row.pool) if row.pool else Content("no traces yet")
    return Content("  ") + safe(row.dataset) + Content(" · ") + pool


def name_room(width: int) -> int:
    """Return the cells that are left for a row's name."""
    return max(width - sum(w for _, w in COLUMNS), 8)


def heads(width: int) -> list[Row]:
    """Return the line of column heads."""
    right = Content("".join(name.rjust(cells) for name, cells in COLUMNS))
    return [Row(fit(Content("  dataset · pool"), name_room(width)) + right)]


def figures(row: OverviewRow, accuracy: bool) -> Content:
    """Return a row's figures; SC and GSC as dashes unless their accuracy may be seen."""
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


def first_row(overview: Overview) -> int | None:
    """Return the row of the last act where cases of it wait, else the first whose cases do."""
    rows, last = overview.rows, overview.last
    waiting = [i for i, row in enumerate(rows) if row.n_cases_done < row.n_cases]
    for i in waiting:
        if last is not None and (rows[i].dataset, rows[i].pool) == (last.dataset, last.pool):
            return i
    return next(iter(waiting), 0 if rows else None)


def detail(overview: Overview, row: OverviewRow | None, accuracy: bool, width: int) -> list[Row]:
    """Lay out what belongs to one row, and under which parameters all were scored."""
    texts: list[Content] = []
    if row is not None and not row.pool:
        texts.append(Content("questions of a question file, which no model was asked yet"))
    elif row is not None:
        if cells(row_name(row)) > name_room(width):
            texts.append(row_name(row)[2:])
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


def next_step(
    overview: Overview,
    row: OverviewRow | None,
    stop: Stop | None = None,
    *,
    known: bool = False,
    width: int = 80,
) -> Content:
    """Return what is next in a row, and once that is `known`, where enter leads."""
    if row is None:
        return Content("next: import traces, then score them")
    if not row.pool:
        return Content("next: these questions have no traces yet; run  medoid generate")
    if row.n_scored == 0:
        return Content("next: these traces have no scores yet; run  medoid score")
    if row.n_cases == 0:
        return Content("next: no cases were chosen for a human yet; run  medoid items make")
    left = row.n_cases - row.n_cases_done
    if left == 0:
        return Content("done: every case of this row is labelled by you    enter: look at them")
    waits = "waits" if left == 1 else "wait"
    if stop is not None:
        name = Content("next: ") + cut_middle(safe(stop.question_id), QUESTION_CELLS)
        told = f", {stop.name} · {wording.count(left, 'case')} {waits}    enter: go on there"
        room = width - cells(name) - cells(told) - 4
        if room >= LEAST_CELLS:
            name += Content(" “") + cut(one_line(stop.question), room) + Content("”")
        return name + Content(told)
    return (
        Content(f"next: {wording.count(left, 'case')} in ")
        + safe(row.dataset)
        + Content(f" {waits} for you{'    enter: start there' if known else ''}")
    )
