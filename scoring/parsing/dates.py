"""Dates in answers, to ISO form."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from scoring.parsing.qualifiers import estimate_words, is_bounded_date, is_denied

_MONTHS = {
    name: i
    for i, names in enumerate(
        [
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ],
        start=1,
    )
    for name in names
}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"([0-9]{1,2})(?:st|nd|rd|th)?"
_EDGE = r"(?<![\w/.-])"
_STOP = r"(?![\w/-])(?!\.[0-9])"
_ISO = re.compile(_EDGE + r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})" + _STOP)
_NUMERIC = re.compile(_EDGE + r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})" + _STOP)
_MONTH_FIRST = re.compile(
    _EDGE + _MONTH + r"\s{0,4}" + _DAY + r"\s{0,4},?\s{0,4}([0-9]{4})" + _STOP, re.IGNORECASE
)
_DAY_FIRST = re.compile(
    _EDGE + _DAY + r"[\s-]{1,4}(?:of\s{1,4})?" + _MONTH + r"[\s,-]{1,4}([0-9]{4})" + _STOP,
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:on|the|it|is|date|today)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<![a-z])" + _MONTH, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DateReading:
    """What a text says as a date.

    Attributes
    ----------
    value
        ISO date, or None.
    codes
        Issue codes about how it was read.
    alone
        Whether nothing but the date (and a weekday or article) stands there.
    """

    value: str | None
    codes: tuple[str, ...] = ()
    alone: bool = False


def read_date(text: str) -> DateReading:
    """Read the one date of a folded text.

    Parameters
    ----------
    text
        An answer after `fold`.

    Returns
    -------
    DateReading
        Without a value when there is no date, more than one, or one that no calendar has.

    Notes
    -----
    ``05/01/2021`` is month/day/year unless only day/month/year exists; where both do and differ,
    the issue ``date_ambiguous`` says so. Years have four digits. A date that is denied ("not May
    1, 2021"), or only counted from or compared with ("the day after …", "before …"), is none.

    Examples
    --------
    >>> read_date("30 April 2021").value
    '2021-04-30'
    >>> read_date("05/01/2021")
    DateReading(value='2021-05-01', codes=('date_ambiguous',), alone=True)
    """
    spans: list[tuple[int, int, str | None, str]] = []
    for m in _ISO.finditer(text):
        spans.append((*m.span(), _iso(m[1], m[3], m[4]), ""))
    for m in _NUMERIC.finditer(text):
        spans.append((*m.span(), *_numeric(m[1], m[3], m[4])))
    for m in _MONTH_FIRST.finditer(text):
        spans.append((*m.span(), _iso(m[3], str(_MONTHS[m[1].lower()]), m[2]), ""))
    for m in _DAY_FIRST.finditer(text):
        spans.append((*m.span(), _iso(m[3], str(_MONTHS[m[2].lower()]), m[1]), ""))
    if len(spans) != 1 or spans[0][2] is None:
        return DateReading(None)
    start, end, value, code = spans[0]
    for failed, name in (
        (is_denied(text[:start], text[end:]), "answer_denied"),
        (is_bounded_date(text[:start], text[end:]), "answer_bound"),
    ):
        if failed:
            return DateReading(None, (name,))
    estimated = estimate_words(text[:start], text[end:]) is not None
    rest = text[:start] + " " + text[end:]
    alone = not any(c.isalnum() for c in _WEEKDAY.sub("", rest))
    codes = (
        code,
        "" if alone else "answer_in_sentence",
        "answer_estimate" if estimated else "",
    )
    return DateReading(value, tuple(c for c in codes if c), alone)


def names_month_and_day(text: str) -> bool:
    """Return whether a month name stands next to a number: a date without a year, or a bad one.

    Examples
    --------
    >>> names_month_and_day("May 5"), names_month_and_day("5 apples")
    (True, False)
    """
    for m in _NAMED.finditer(text):
        if re.match(r"\s{0,4}[0-9]", text[m.end() : m.end() + 6]):
            return True
        if re.search(r"[0-9](?:st|nd|rd|th)?\s{1,4}(?:of\s{1,4})?$", text[: m.start()][-16:]):
            return True
    return False


def _numeric(first: str, second: str, year: str) -> tuple[str | None, str]:
    month_first = _iso(year, first, second)
    day_first = _iso(year, second, first)
    if month_first is None:
        return day_first, "date_day_first" if day_first else ""
    return month_first, "date_ambiguous" if day_first and day_first != month_first else ""


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return dt.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
