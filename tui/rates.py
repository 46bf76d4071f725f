"""How fast something goes, in a few cells. Nothing heavy is imported: commands use it too."""

from __future__ import annotations


def rate_text(rate: float | None) -> str:
    """Return how many a second, a minute below one a second; one digit after the point below ten.

    >>> rate_text(4.24), rate_text(130.2), rate_text(0.5), rate_text(0.04), rate_text(None)
    ('4.2/s', '130/s', '30/min', '2.4/min', '–')
    """
    if rate is None:
        return "–"
    number, unit = (rate, "s") if rate >= 1 else (60 * rate, "min")
    return f"{number:.1f}/{unit}" if number < 9.95 else f"{number:,.0f}/{unit}"
