"""How far and how fast: one quiet line."""

from __future__ import annotations

from dataclasses import dataclass

from tui import wording

ENOUGH = 5
"""Items from which on a rate says something."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A rater's own progress; `seconds` an item over the last ones, None before the first."""

    done: int
    total: int
    seconds: float | None
    session: str = ""


def pace_forms(pace: Pace) -> tuple[str, ...]:
    """Return the line in ever fewer words; the widest that fits is shown.

    >>> pace_forms(Pace(112, 500, 12.0, "session 12/50"))[0]
    'session 12/50 · 112 of 500 · 5.0 a minute · 1 h 18 min left'
    >>> pace_forms(Pace(4, 12, 9.0))
    ('4 of 12', '4/12')
    """
    left = max(pace.total - pace.done, 0)
    counted = f"{pace.done:,} of {pace.total:,}"
    short = f"{pace.done:,}/{pace.total:,}"
    if not pace.seconds or pace.done < ENOUGH:
        forms: list[list[str]] = [[counted], [short]]
    else:
        rate = per_minute(pace.seconds)
        time = wording.duration(left * pace.seconds)
        forms = [[counted, f"{rate} a minute"], [short, f"{rate}/min"], [short]]
        if left:
            forms[0].append(f"{time} left")
            forms[1].append(f"{time} left")
            forms.insert(2, [short, f"{rate}/min"])
    lead = [pace.session] if pace.session else []
    lines = [" · ".join(lead + form) for form in forms]
    return (*lines, *lead) if lead else tuple(lines)


def per_minute(seconds: float) -> str:
    """Return items a minute: one digit after the point below ten.

    >>> per_minute(12.0), per_minute(2.4), per_minute(600.0)
    ('5.0', '25', '0.1')
    """
    rate = 60 / seconds
    return f"{rate:.1f}" if rate < 9.95 else f"{rate:.0f}"
