"""The knowledge prober: an object's own date or place, asked by itself."""

from __future__ import annotations

import calendar
import math
import re
from dataclasses import dataclass
from typing import Literal

from judges.plain import after_thinking, one_line, why_not
from judges.prompts import Prompt, fence, load_prompt
from judges.relation_asker import given_block
from judges.requests import Form, Reply, Request, Sampling
from judges.schemas import NUMBER, Schema, bounded, closed_object
from scoring.parsing import normalize_answer

ROLE = "knowledge_prober"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
YEARS = 9999

Probed = Literal["time", "quadrant"]

_BEFORE = re.compile(r"\b(?:b\.? ?c\.?(?: ?e\.?)?|before (?:christ|the common era))", re.IGNORECASE)
_ISO = re.compile(r"(?<![\d.])([-−–]?[0-9]{1,4})-([0-9]{1,2})(?:-([0-9]{1,2}))?(?![\d-])")
_YEAR = re.compile(r"(?<![\w.,/])([-−–]?[0-9]{1,4})(?![\w/]|[.,][0-9])")
_DATE_LINE = re.compile(
    r"[\s>*#_`]{0,6}(?:date|year|answer)\b[\s*_`]{0,4}[:=]?[\s*_`]{0,4}(.{1,200})", re.IGNORECASE
)
_NUMBER = r"([-−–+]?[0-9]{1,6}(?:[.,][0-9]{1,12})?)\s*(?:°|degrees?\b)?\s*([NSEW]\b|north\b|south\b|east\b|west\b)?"
_EAST = re.compile(rf"\b(?:east|longitude|lon|long|x)\b[^\d\n+−–-]{{0,12}}{_NUMBER}", re.IGNORECASE)
_NORTH = re.compile(rf"\b(?:north|latitude|lat|y)\b[^\d\n+−–-]{{0,12}}{_NUMBER}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """What a model is told when it is asked for one object's date or place; never the truth."""

    name: str
    probed: Probed
    about: str = ""
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What a model says of one object.

    `values` are, by axis, a year with its fraction (``time``), or how far east (``x``) and north
    (``y``) it lies; empty with a `reason`.
    """

    values: dict[str, float]
    reason: str = ""


def probe_request(
    model: str,
    q: ProbeQuestion,
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    prompt: Prompt | None = None,
) -> Request:
    """Return the request for one object."""
    prompt = load_prompt(prompt_name(q.probed, form)) if prompt is None else prompt
    schema = probe_schema(q.probed)
    messages = prompt.fill(given=given_block(prompt, q.about, q.told), name=fence(one_line(q.name)))
    return Request(
        ROLE,
        model,
        messages,
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def prompt_name(probed: Probed, form: Form) -> str:
    """Return the name of the prompt that asks this."""
    return f"{ROLE}-{form}-{probed}"


def probe_schema(probed: Probed) -> Schema:
    """Return the schema of a reply."""
    if probed == "quadrant":
        number = {"type": "string", "pattern": NUMBER}
        return closed_object({"east": number, "north": number})
    return closed_object(
        {
            "year": {"type": "integer", "minimum": -YEARS, "maximum": YEARS},
            "month": {"type": ["integer", "null"], "minimum": 1, "maximum": 12},
            "day": {"type": ["integer", "null"], "minimum": 1, "maximum": 31},
        }
    )


def read_probe(reply: Reply, q: ProbeQuestion) -> ProbeReading:
    """Read a reply; nothing a model writes raises. Only an ``ok`` reply is read."""
    reason = why_not(reply)
    if reason is not None:
        return ProbeReading({}, reason)
    if reply.data is not None:
        found = _fields(reply.data, q.probed)
    else:
        text = after_thinking(reply.text).strip()
        found = _date_in(text) if q.probed == "time" else _place_in(text)
    if found:
        return ProbeReading(found)
    what = "date" if q.probed == "time" else "pair of numbers"
    return ProbeReading({}, f"the reply gives no {what}")


def _fields(data: object, probed: Probed) -> dict[str, float]:
    if not isinstance(data, dict):
        return {}
    if probed == "quadrant":
        east, north = (_number(data.get(name)) for name in ("east", "north"))
        return {} if east is None or north is None else {"x": east, "y": north}
    year, month, day = (data.get(name) for name in ("year", "month", "day"))
    if not isinstance(year, int) or isinstance(year, bool):
        return {}
    whole = [p if isinstance(p, int) and not isinstance(p, bool) else None for p in (month, day)]
    return _time(year, whole[0], whole[1])


def _time(year: int, month: int | None, day: int | None) -> dict[str, float]:
    if abs(year) > YEARS:
        return {}
    return {"time": decimal_year(year, month, day)}


def decimal_year(year: int, month: int | None = None, day: int | None = None) -> float:
    """Return a date as a year with its fraction; what is not known counts as its beginning.

    >>> decimal_year(2003), decimal_year(2003, 7, 2), decimal_year(-44, 3)
    (2003.0, 2003.4986301369863, -43.83835616438356)
    """
    if month is None or not 1 <= month <= 12:
        return float(year)
    # A leap year's day is counted where the calendar has one; years before 1 have none here.
    leap = year > 0 and calendar.isleap(year)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    past = sum(lengths[: month - 1]) + min(max((day or 1) - 1, 0), lengths[month - 1] - 1)
    return year + past / (366 if leap else 365)


def read_date(text: str) -> float | None:
    """Return the date a text names as a decimal year: ISO, a written date, or a year, BC or AD.

    >>> read_date("2003-08-26"), read_date("c. 1110"), read_date("44 BC"), read_date("soon")
    (2003.6493150684933, 1110.0, -44.0, None)
    """
    iso = _ISO.search(text)
    if iso is not None:
        year = int(iso[1].replace("−", "-").replace("–", "-"))
        return decimal_year(year, int(iso[2]), None if iso[3] is None else int(iso[3]))
    normal = normalize_answer(text, "date")
    if normal is not None:
        parts = str(normal[1]).split("-")
        if len(parts) == 3 and all(p.isdigit() for p in parts):
            year, month, day = map(int, parts)
            return decimal_year(year, month, day)
    years = [int(m[1].replace("−", "-").replace("–", "-")) for m in _YEAR.finditer(text)]
    if len(set(years)) != 1:
        return None
    return float(-abs(years[0]) if _BEFORE.search(text) else years[0])


def _date_in(text: str) -> dict[str, float]:
    """Read the last line that is headed as a date; else a reply of one line as a whole."""
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    headed = [m[1] for line in lines if (m := _DATE_LINE.fullmatch(line)) is not None]
    said = headed[-1] if headed else (lines[0] if len(lines) == 1 else "")
    found = read_date(said[:200])
    return {} if found is None or abs(found) > YEARS else {"time": found}


def _place_in(text: str) -> dict[str, float]:
    east, north = (list(p.finditer(text[:4000])) for p in (_EAST, _NORTH))
    if not east or not north:
        return {}
    x, y = _signed(east[-1], "w"), _signed(north[-1], "s")
    return {} if x is None or y is None else {"x": x, "y": y}


def _signed(match: re.Match[str], negative: str) -> float | None:
    value = _number(match[1].replace(",", "."))
    if value is not None and match[2] and match[2][0].casefold() == negative:
        return -abs(value)
    return value


def _number(value: object) -> float | None:
    """Return a finite number, from a text or as it is."""
    if isinstance(value, str):
        plain = value.strip().removesuffix("%").replace("−", "-").replace("–", "-")
        try:
            value = float(plain.partition("/")[0]) / float(plain.partition("/")[2] or 1)
        except (ValueError, ZeroDivisionError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
