"""How values are worded: answers, labels, shares, errors. Text of others goes through `safe`."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from scoring.types import NormalForm
from store import StoreError
from store.records import LabelRecord, LabelState
from tui.text import safe, visible

NONE = "–"
"""Stands for an undefined value."""
CONTRADICTION = "≠"
"""Marks a label or verdict that contradicts itself."""

_MEANINGS = (
    ("locked", "another program is writing to the database: press the key again"),
    ("full", "the disk is full: make room, then press the key again"),
    ("readonly", "the database is read-only: make it writable, then press the key again"),
    ("no such table", "the database file is gone or was replaced: put it back, or reopen"),
    ("unable to open", "the database cannot be opened: is its folder there?"),
    ("disk i/o", "the disk refused the write: press the key again"),
)


def answer(normal: NormalForm | None, style: str = "") -> Content:
    """Return an answer for the screen."""
    from scoring.parsing import format_answer

    return safe(format_answer(normal), style)


def share(value: float | None) -> str:
    """Return a share of one with two digits and no zero before the point.

    >>> share(0.7), share(1.0), share(None), share(-0.25)
    ('.70', '1.00', '–', '-.25')
    """
    if value is None or value != value:
        return NONE
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def percent(part: int, whole: int) -> str:
    """Return a rounded percentage that says 100 or 0 only when it is so.

    >>> percent(999, 1000), percent(1, 1000), percent(3, 3), percent(0, 0)
    ('99 %', '1 %', '100 %', '–')
    """
    if whole == 0:
        return NONE
    value = round(100 * part / whole)
    if part < whole:
        value = min(value, 99)
    if part > 0:
        value = max(value, 1)
    return f"{value} %"


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "case"), count(1200, "case")
    ('1 case', '1,200 cases')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def ordinal(n: int) -> str:
    """Return 1st, 2nd, …

    >>> [ordinal(n) for n in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    if n % 100 in (11, 12, 13):
        return f"{n}th"
    return f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th') }"


def decision(state: LabelState, category: str | None, step: int | None) -> Content:
    """Return what was decided about a path, e.g. ``spurious ✗1``."""
    words = {"unsure": "unsure", "skipped": "skipped", "unparsed": "no verdict read", "open": NONE}
    text = safe(category) if state == "labelled" and category else Content(words.get(state, state))
    return text if step is None else text + Content(f" ✗{step}")


def label(record: LabelRecord | None) -> Content:
    """Return how a path or step stands for this rater."""
    if record is None:
        return Content("not labelled")
    if record.state == "open":
        text = Content("not labelled")
    else:
        text = decision(record.state, record.category, record.first_wrong_step)
    if record.at_odds:
        text = text + Content(f" {CONTRADICTION}")
    if record.outdated:
        text = text + Content(" (of an older version)")
    if record.flagged:
        text = text + Content(" !")
    return text


def at_odds(record: LabelRecord) -> Content:
    """Return in words how a label contradicts itself."""
    return Content("says ") + safe(record.category) + Content(" and yet names a first wrong step")


def change(before: LabelRecord | None, after: LabelRecord | None) -> Content:
    """Return what a row changed: the label, else the flag, else the comment."""
    was, now = label(before), label(after)
    if was.plain != now.plain:
        return was + Content(" → ") + now
    old, new = (None if r is None else r.note for r in (before, after))
    if old == new:
        return now
    parts = [safe(f"“{note}”") if note else Content("none") for note in (old, new)]
    return Content("comment ") + parts[0] + Content(" → ") + parts[1]


def error(problem: BaseException) -> str:
    """Return what went wrong and what would help, in one line."""
    detail = str(getattr(problem, "orig", None) or problem) or type(problem).__name__
    detail = visible(detail.splitlines()[0])
    if isinstance(problem, StoreError):
        return detail
    lowered = detail.lower()
    for mark, meaning in _MEANINGS:
        if mark in lowered:
            return f"{meaning} ({detail})"
    return detail


def duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> [duration(s) for s in (0.4, 42.0, 90.0, 3599.0, 4680.0)]
    ['0 s', '42 s', '1 min 30 s', '60 min', '1 h 18 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    minutes = round(whole / 60)
    if whole < 3600:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def clock(moment: datetime) -> str:
    """Return the time of day of a save."""
    return moment.strftime("%H:%M:%S")
