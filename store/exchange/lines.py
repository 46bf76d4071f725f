"""Reading JSON Lines: every line is a record or an error with its 1-based number."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.keys import is_name

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
"""Levels of lists and objects in a line; what is deeper might be read but not written again."""


class LineError(ValueError):
    """A line cannot be used; the message says what was found and what would be right."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that was not used."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | LineError]]:
    """Yield (1-based line number, object or error); blank lines are passed over.

    A byte order mark, CRLF and a missing final newline are fine; NaN and Infinity are not.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            if raw.strip():
                yield number, _parse(raw)


def parse_object(raw: bytes) -> dict[str, Any]:
    """Read one JSON object.

    Raises
    ------
    LineError
        When it is none, or holds what cannot be written again.
    """
    value = _parse(raw)
    if isinstance(value, LineError):
        raise value
    return value


def _parse(raw: bytes) -> dict[str, Any] | LineError:
    if len(raw) > MAX_LINE_BYTES:
        return LineError(f"a line of {len(raw):,} bytes; at most {MAX_LINE_BYTES:,} are read")
    try:
        value = json.loads(
            raw.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        return LineError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8")
    except LineError as error:
        return error
    except json.JSONDecodeError as error:
        return LineError(f"not JSON at column {error.colno}: {error.msg}; one object a line")
    except (ValueError, RecursionError) as error:
        return LineError(f"not JSON that can be read: {error}")
    if not isinstance(value, dict):
        return LineError(f"a JSON {type(value).__name__}; one object a line is right")
    if _deeper_than(value, MAX_DEPTH):
        return LineError(f"nested deeper than {MAX_DEPTH} levels; a flat object is right")
    return value


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        children = (c for v in level for c in (v.values() if isinstance(v, dict) else v))
        level = [c for c in children if isinstance(c, dict | list)]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> Any:
    raise LineError(f"{name} is not JSON; write null or leave the field out")


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise LineError(f"{literal[:40]} is beyond every floating-point number; write it as a text")
    return value


def shown(value: Any, limit: int = 60) -> str:
    """Return a value for an error message, shortened."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def need_text(row: dict[str, Any], field: str, *, blank: bool = False) -> str:
    """Return a text field; integers are taken as text."""
    value = row.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not (blank or value.strip()):
        if field not in row:
            raise LineError(f"{field} is missing (it must be text)")
        raise LineError(f"{field} is {shown(value)}; a text is right")
    return value


def need_name(row: dict[str, Any], field: str) -> str:
    """Return a text field that becomes part of a key: UTF-8 without control characters."""
    value = need_text(row, field)
    if not is_name(value):
        raise LineError(f"{field} is {shown(value)}; a name without control characters is right")
    return value


def maybe_name(row: dict[str, Any], field: str) -> str | None:
    """Return an optional name; null is the same as absent."""
    return None if row.get(field) is None else need_name(row, field)


def maybe_text(row: dict[str, Any], field: str) -> str | None:
    """Return an optional text field; null is the same as absent."""
    return None if row.get(field) is None else need_text(row, field, blank=True)


def scalar_text(value: Any, field: str) -> str | None:
    """Return an answer or gold value as text: strings, numbers and booleans are taken."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return json.dumps(value)
    if isinstance(value, str):
        return value
    raise LineError(f"{field} is {shown(value)}; a text, number, boolean or null is right")
