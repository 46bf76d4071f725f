"""Runs of stages in lines.

Every rater sees them, so only what is named here is ever shown of a run: how far it is, and what
became of its requests. Whatever else a stage notes (a count of verdicts, of right answers) stays
out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from textual.content import Content

from store.model_records import RunRecord
from tui import wording
from tui.rates import rate_text
from tui.text import cells, cut, cut_middle, fit, hang, safe
from tui.widgets.lines import Row

OUTCOMES = ("ok", "refused", "empty", "truncated", "invalid", "failed", "unasked")
"""How a request may end. Words of a schema are none of these."""
WHAT = ("model", "pool", "decomposition", "embedder", "dataset")
"""Parameters that say what a run was about."""
STATES = {
    "running": "▶ running",
    "stale": "? stale",
    "done": "✓ done",
    "stopped": "■ stopped",
    "failed": "✗ failed",
    "interrupted": "‖ broken off",
}
BAR = 6
STAGE, STATE = 13, 13
RIGHT = (("done", 13), ("rate", 8), ("left", 11))
MARGIN = 2
LINE_BAR = 8


@dataclass(frozen=True, slots=True)
class Figures:
    """A run in figures; None where it has none, or where they make no sense any more."""

    state: str
    share: float | None
    rate: float | None
    seconds_left: float | None
    tokens: int | None
    cost: float | None
    currency: str
    outcomes: Mapping[str, int]
    cached: int | None
    retries: int | None
    in_flight: int | None
    stopped: str


def state_of(run: RunRecord) -> str:
    """Return how a run stands: its state, or ``stale`` where it only seems to be running."""
    return "stale" if run.stale else run.state


def figures(run: RunRecord) -> Figures:
    """Read a run's figures: while it runs from what it says of itself, then from its summary."""
    state, said = state_of(run), run.detail
    ended = run.state != "running" and bool(run.summary)
    told = run.summary if ended else said
    share = run.done / run.total if run.total else None
    rate = _number(said.get("rate"))
    if ended:
        asked, seconds = _number(told.get("n_asked")), _number(told.get("seconds"))
        rate = asked / seconds if asked and seconds else None
    tokens = _number(told.get("tokens"))
    if ended:
        parts = [_number(told.get(f"{kind}_tokens")) for kind in ("prompt", "completion")]
        tokens = None if None in parts else sum(p or 0 for p in parts)
    left = None
    if state == "running" and run.total is not None and rate:
        left = max(run.total - run.done, 0) / rate
    return Figures(
        state=state,
        share=None if share is None else min(share, 1.0),
        rate=None if state == "stale" else rate,
        seconds_left=left,
        tokens=_whole(tokens),
        cost=_number(told.get("cost")),
        currency=str(told.get("currency") or ""),
        outcomes=_outcomes(told.get("outcomes")),
        cached=_whole(_number(told.get("n_cached" if ended else "cached"))),
        retries=_whole(_number(told.get("retries"))),
        in_flight=_whole(_number(said.get("concurrency"))) if state == "running" else None,
        stopped=str(run.summary.get("stopped") or ""),
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _outcomes(found: Any) -> dict[str, int]:
    if not isinstance(found, Mapping):
        return {}
    counts = {name: _whole(_number(found.get(name))) for name in OUTCOMES}
    return {name: n for name, n in counts.items() if n}


def progress_bar(share: float | None, width: int) -> str:
    """Return a bar whose empty part can be seen too, so that it needs no colour.

    >>> progress_bar(0.5, 8), progress_bar(0.999, 4), progress_bar(None, 4)
    ('▮▮▮▮▯▯▯▯', '▮▮▮▯', '    ')
    """
    if share is None:
        return " " * width
    full = width if share >= 1 else int(share * width)
    return "▮" * full + "▯" * (width - full)


def done_text(done: int, total: int | None) -> str:
    """Return how much is done, in at most twelve cells.

    >>> done_text(755, 1234), done_text(12345, 2345678), done_text(7, None), done_text(0, None)
    ('755/1,234', '1 % of 2.3M', '7', '–')
    """
    if not total:
        return f"{done:,}" if done else wording.NONE
    exact = f"{done:,}/{total:,}"
    if len(exact) < RIGHT[0][1]:
        return exact
    size = f"{total / 1e6:.1f}M" if total >= 1e6 else f"{total / 1e3:.0f}k"
    return f"{wording.percent(done, total)} of {size}"


def about(run: RunRecord) -> Content:
    """Return what a run works with: its model, else its pool or embedder."""
    found = (run.parameters.get(name) for name in WHAT)
    named = next((x for x in found if isinstance(x, str) and x), None)
    return safe(wording.NONE if named is None else named)


def run_heads(width: int) -> list[Row]:
    """Return the line above the runs."""
    right = "".join(name.rjust(n) for name, n in RIGHT)
    left = fit(Content("  stage"), STAGE + MARGIN) + fit(Content("model"), _room(width))
    return [Row(left + fit(Content("state"), STATE + BAR) + Content(right))]


def run_row(run: RunRecord, width: int) -> Row:
    """Lay out a run in one line; its item is its id."""
    f = figures(run)
    left = wording.NONE if f.seconds_left is None else wording.duration(f.seconds_left)
    texts = (done_text(run.done, run.total), rate_text(f.rate), left)
    right = "".join(text.rjust(n) for text, (_, n) in zip(texts, RIGHT, strict=True))
    what = cut_middle(about(run), _room(width) - 1)
    return Row(
        Content("  ")
        + fit(safe(run.stage), STAGE)
        + fit(what, _room(width))
        + Content(STATES[f.state].ljust(STATE) + progress_bar(f.share, BAR) + right),
        run.id,
        True,
    )


def _room(width: int) -> int:
    return max(width - MARGIN - STAGE - STATE - BAR - sum(n for _, n in RIGHT), 6)


def run_details(run: RunRecord, now: datetime, width: int) -> list[Row]:
    """Lay out what else is known about a run."""
    f = figures(run)
    texts = [_about_in_full(run), _when(run, now), _used(run, f), _ended(f)]
    if f.state == "stale":
        texts.append(
            Content(
                "stale: it says it runs, but it is silent or its process is gone. What came is "
                "kept: the same command goes on from there"
            )
        )
    elif f.stopped:
        texts.append(Content("stopped: ") + safe(f.stopped))
    for reason, n in _reasons(run):
        texts.append(Content(f"{n:,} failed: ") + cut(safe(reason), 3 * max(width, 1)))
    return [Row(line) for text in texts if text for line in hang(Content(" "), text, width)]


def _about_in_full(run: RunRecord) -> Content:
    found = ((name, run.parameters.get(name)) for name in WHAT)
    parts = [Content(f"{name} ") + safe(x) for name, x in found if isinstance(x, str) and x]
    return Content(" · ").join([*parts, Content("medoid ") + safe(run.tool_version)])


def _when(run: RunRecord, now: datetime) -> Content:
    started, ended = _moment(run.started_at), _moment(run.finished_at)
    parts = []
    if started is not None:
        parts.append(f"started {wording.clock(started.astimezone())}")
    if started is not None and ended is not None:
        parts.append(f"took {wording.duration((ended - started).total_seconds())}")
    beat = _moment(run.heartbeat_at)
    if run.state == "running" and beat is not None:
        ago = max((now - beat).total_seconds(), 0.0)
        parts.append(f"last sign of life {wording.duration(ago)} ago")
    where = Content("")
    if run.host:
        where = Content(" · on ") + safe(run.host)
        where += Content(f", process {run.pid}") if run.pid is not None else Content("")
    return Content(" · ".join(parts)) + where


def _moment(text: str | None) -> datetime | None:
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found is None or found.tzinfo is not None else found.replace(tzinfo=UTC)


def _used(run: RunRecord, f: Figures) -> Content:
    parts = []
    if run.total is not None:
        parts.append(f"{run.done:,} of {run.total:,} {run.unit}".rstrip())
    if f.tokens is not None:
        parts.append(f"{f.tokens:,} tokens")
    if f.cost is not None:
        parts.append(f"cost {f.cost:.4f} {f.currency}".rstrip())
    for n, words in ((f.cached, "from kept replies"), (f.retries, "retries")):
        if n:
            parts.append(f"{n:,} {words}")
    if f.in_flight:
        parts.append(f"up to {f.in_flight:,} at once")
    return safe(" · ".join(parts))


def _ended(f: Figures) -> Content:
    if not f.outcomes:
        return Content("")
    n_errors = sum(n for name, n in f.outcomes.items() if name not in ("ok", "unasked"))
    told = ", ".join(f"{n:,} {name}" for name, n in f.outcomes.items())
    return Content(f"replies: {told}" + (f" · {n_errors:,} errors" if n_errors > 1 else ""))


def _reasons(run: RunRecord) -> list[tuple[str, int]]:
    found = run.summary.get("reasons")
    if not isinstance(found, Mapping):
        return []
    counted = [(str(reason), _whole(_number(n)) or 0) for reason, n in found.items()]
    return sorted(counted, key=lambda c: -c[1])[:2]


def newest_running(runs: Sequence[RunRecord]) -> tuple[RunRecord, int] | None:
    """Return the newest run that is at work, and how many others are; None where none is."""
    alive = [run for run in runs if state_of(run) == "running"]
    return (max(alive, key=lambda run: run.id), len(alive) - 1) if alive else None


def stage_line(run: RunRecord, others: int, width: int) -> Content:
    """Return the newest run in one line for a screen that is about something else."""
    f = figures(run)
    parts = [Content(f"{progress_bar(f.share, LINE_BAR)}")] if f.share is not None else []
    parts.append(Content(wording.percent(run.done, run.total) if run.total else f"{run.done:,}"))
    if f.seconds_left is not None:
        parts.append(Content(f"{wording.duration(f.seconds_left)} left"))
    n_errors = sum(n for name, n in f.outcomes.items() if name not in ("ok", "unasked"))
    if n_errors:
        parts.append(Content(wording.count(n_errors, "error")))
    if others:
        parts.append(Content(f"+{others} more"))
    head = Content(" stages   ") + safe(run.stage, "bold") + Content(" ")
    rest = Content("  ").join(parts)
    room = width - cells(head) - cells(rest) - 2
    what = cut_middle(about(run), room) + Content("  ") if room >= MARGIN * 4 else Content("")
    return head + what + rest
