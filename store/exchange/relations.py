"""Relations as files hold them: answers as JSON Lines, sets of objects as CSV."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from store.exchange.lines import LineError, maybe_name, maybe_text, need_name, shown
from store.relation_records import RELATION_KINDS, NewFact, NewObject, RelationKind

ANSWER_FIELDS = (
    "set",
    "kind",
    "a",
    "b",
    "model",
    "variant",
    "prompt_version",
    "repeat",
    "relation",
    "text",
)

Shape = Literal["dated", "placed", "displaced", "kinship"]
"""What a CSV holds: dates of objects, places of objects, displacements of pairs, kinship words."""

KIND_OF_SHAPE: Mapping[Shape, RelationKind] = {
    "dated": "temporal",
    "placed": "spatial",
    "displaced": "contradiction",
    "kinship": "kinship",
}

_PLACES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))
_DEGREES = {"lon": 360, "longitude": 360, "lat": 90, "latitude": 90}
"""Largest degrees. A longitude may be counted on past 180: islands west of it stay west."""
_DISPLACEMENTS = (("dx", "dy"), ("a_minus_b_x", "a_minus_b_y"))
_KIN = ("relation", "relation_a_is_the_R_of_b")
_DATE = re.compile("(?:.*_)?(?:year|date)", re.IGNORECASE)
_ISO = re.compile(r"([+-]?\d{1,6})(?:-(\d{2})(?:-(\d{2}))?)?")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """A line of answers; `relation` is the word as written, None where there is none.

    `read` says that the line gives the word itself (null: whoever read the reply found none).
    """

    set: str
    kind: RelationKind | None
    a: str
    b: str
    model: str
    variant: str | None
    prompt_version: str
    repeat: int
    relation: str | None
    read: bool
    text: str | None
    extra: Mapping[str, Any] | None

    @property
    def asking(self) -> str:
        """The name of this way of asking: the model, with its variant where there is one."""
        return self.model if self.variant is None else f"{self.model}@{self.variant}"


@dataclass(frozen=True, slots=True)
class RawObject:
    """A line of a set's objects."""

    set: str
    kind: RelationKind
    object: NewObject


@dataclass(frozen=True, slots=True)
class RawFacts:
    """A line about a pair: the facts it states."""

    set: str
    kind: RelationKind
    facts: tuple[NewFact, ...]


def is_answer_line(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like an answer about a relation."""
    return {"set", "a", "b", "model"} <= set(row)


def relation_answer(row: Mapping[str, Any]) -> RawAnswer:
    """Read one line of relation JSONL.

    Raises
    ------
    LineError
        Naming the field, what was found, and what would be right.
    """
    given = dict(row)
    kind = given.get("kind")
    if kind is not None and kind not in RELATION_KINDS:
        raise LineError(f"kind is {shown(kind)}; one of {', '.join(RELATION_KINDS)} is right")
    if "relation" not in given and given.get("text") is None:
        raise LineError("neither relation nor text; the word, the reply or both are right")
    return RawAnswer(
        set=need_name(given, "set"),
        kind=kind,
        a=need_name(given, "a"),
        b=need_name(given, "b"),
        model=need_name(given, "model"),
        variant=maybe_name(given, "variant"),
        prompt_version=maybe_name(given, "prompt_version") or "",
        repeat=_repeat(given.get("repeat")),
        relation=maybe_text(given, "relation"),
        read="relation" in given,
        text=maybe_text(given, "text"),
        extra={k: v for k, v in given.items() if k not in ANSWER_FIELDS} or None,
    )


def _repeat(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise LineError(f"repeat is {shown(value)}; a whole number from 0 is right")
    return value


def shape_of(fields: Sequence[str]) -> Shape | None:
    """Return what a CSV with these columns holds, None when it is no set of relations."""
    there = set(fields)
    if {"a", "b"} <= there:
        if any(set(pair) <= there for pair in _DISPLACEMENTS):
            return "displaced"
        return "kinship" if there & set(_KIN) else None
    if "name" not in there:
        return None
    if any(set(pair) <= there for pair in _PLACES):
        return "placed"
    return "dated" if len([f for f in fields if _DATE.fullmatch(f)]) == 1 else None


def set_row(
    cells: Mapping[str, str], shape: Shape, fields: Sequence[str], name: str
) -> RawObject | RawFacts:
    """Read one row of a set's CSV; `name` is the set's.

    Raises
    ------
    LineError
        Naming the column, what was found, and what would be right.
    """
    kind = KIND_OF_SHAPE[shape]
    if shape in ("displaced", "kinship"):
        return RawFacts(name, kind, _facts(cells, shape))
    row = dict(cells)
    what = need_name(row, "name")
    if shape == "placed":
        columns = next(p for p in _PLACES if set(p) <= set(fields))
        place = tuple(_number(row, c) for c in columns)
        stated = ", ".join(row[c].strip() for c in columns)
        return RawObject(
            name, kind, NewObject(what, (place[0], place[1]), stated, _rest(row, columns))
        )
    column = next(f for f in fields if _DATE.fullmatch(f))
    stated = row.get(column, "").strip()
    return RawObject(
        name, kind, NewObject(what, decimal_year(stated, column), stated, _rest(row, (column,)))
    )


def _rest(row: Mapping[str, str], used: Sequence[str]) -> dict[str, str] | None:
    return {k: v for k, v in row.items() if k != "name" and k not in used} or None


def decimal_year(text: str, field: str = "date") -> float:
    """Return a year, or a date as year, year-month or year-month-day, as a decimal year.

    >>> decimal_year("1126"), decimal_year("2003-07-02"), decimal_year("-300")
    (1126.0, 2003.4986301369863, -300.0)
    """
    match = _ISO.fullmatch(text)
    if match is None:
        if _NUMBER.fullmatch(text):
            return float(text)
        raise LineError(f"{field} is {shown(text)}; a year or a date such as 2003-08-26 is right")
    year = int(match[1])
    if match[2] is None:
        return float(year)
    try:
        # The calendar repeats every 400 years; `date` knows the years 1 to 9999.
        like = year % 400 + 400
        passed = date(like, int(match[2]), int(match[3] or 1)).timetuple().tm_yday - 1
    except ValueError:
        raise LineError(f"{field} is {shown(text)}, which is no day of the calendar") from None
    return year + passed / (366 if calendar.isleap(year) else 365)


def _number(row: Mapping[str, str], field: str) -> float:
    text = row.get(field, "").strip()
    if not _NUMBER.fullmatch(text):
        raise LineError(f"{field} is {shown(text)}; a number is right")
    most = _DEGREES.get(field)
    if most is not None and abs(float(text)) > most:
        raise LineError(f"{field} is {shown(text)}; degrees from -{most} to {most} are right")
    return float(text)


def _kin_word(text: str) -> str | None:
    from scoring.relations import normal_word

    word = normal_word(text)
    if text and word is None:
        raise LineError(f"relation is {shown(text)}; a kinship word such as mother is right")
    return word


def _facts(cells: Mapping[str, str], shape: Shape) -> tuple[NewFact, ...]:
    row = dict(cells)
    a, b = need_name(row, "a"), need_name(row, "b")
    if shape == "displaced":
        columns = next(p for p in _DISPLACEMENTS if p[0] in row or p[1] in row)
        dx, dy = (_number(row, c) for c in columns)
        return (NewFact("told", a, b, value=(dx, dy)),)
    word = _kin_word(next((row[c].strip() for c in _KIN if c in row), ""))
    extra = {
        k: v for k, v in row.items() if k not in ("a", "b", *_KIN, "determined", "is_seed_fact")
    }
    if word is None and row.get("determined") == "1":
        raise LineError("the pair is determined but has no relation; a word is right")
    facts = [NewFact("truth", a, b, word, extra=extra or None)]
    if row.get("is_seed_fact") == "1":
        if word is None:
            raise LineError("a fact that is told needs a relation")
        facts.append(NewFact("told", a, b, word))
    return tuple(facts)
