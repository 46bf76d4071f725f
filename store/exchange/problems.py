"""Deduction problems as TOML or JSON: our own tables, every bad field with its line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from scoring.deduction import Template, exact, fill, template_from_dict
from store.exchange.gsm_symbolic import GsmFault, gsm_table, is_gsm_symbolic
from store.exchange.lines import Rejected, shown
from store.exchange.places import Path as Place
from store.exchange.places import json_lines, line_of, toml_lines
from store.keys import is_name

MAX_BYTES = 16 * 1024 * 1024
_TEXTS = ("problem", "question", "code", "answer", "model", "source")
_LISTS = ("steps", "conditions")
_NEEDED = ("problem", "question", "steps", "code", "factual")
_KEYS = (*_NEEDED, "gold", "answer", "ranges", "conditions", "model", "source")
_BLANK = ("model", "source", "answer")


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """A problem of a file: its template and how the original reads.

    `question` is as the source has it, or the template filled with its factual values.
    """

    file: str
    line: int
    template: Template
    question: str
    gold: Fraction | None
    notes: tuple[str, ...] = field(default=())


_Fault = tuple[Place, str]


def problem_files(path: Path) -> list[Path]:
    """Return the files of a path: itself, or the TOML and JSON files of a folder, sorted.

    Raises
    ------
    OSError
        When it cannot be read.
    ValueError
        When a folder has none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in (".toml", ".json"))
    if not found:
        raise ValueError(f"{path} holds no .toml or .json file")
    return found


def read_problems(path: Path) -> Iterator[ReadProblem | Rejected]:
    """Yield the problems of a file, or for every field that is wrong one rejection with its line.

    A file holds one problem, or ``[[problems]]`` tables. GSM-Symbolic's templates (JSON, and the
    TOML files that follow it) are known by their field ``question_annotated``.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    name = str(path)
    try:
        tables, lines, text = _decoded(path)
    except ValueError as error:
        number, _, message = str(error).partition("\0")
        yield Rejected(name, int(number), message)
        return
    for place, table in tables:
        if not isinstance(table, dict):
            yield Rejected(name, line_of(lines, place), f"{shown(table)} is no table of a problem")
        elif is_gsm_symbolic(table):
            yield from _gsm(name, path.stem, table, lines, text)
        else:
            yield from _own(name, place, table, lines)


def _decoded(path: Path) -> tuple[list[tuple[Place, Any]], dict[Place, int], str]:
    """Return the problem tables of a file, the lines of its keys, and its text.

    Raises
    ------
    ValueError
        ``LINE NUL MESSAGE``.
    """
    raw = path.read_bytes()
    if len(raw) > MAX_BYTES:
        raise ValueError(f"1\0a file of {len(raw):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(f"{line}\0not UTF-8; save the file as UTF-8") from error
    try:
        if path.suffix.lower() == ".json":
            value, lines = json.loads(text), json_lines(text)
        else:
            value, lines = tomllib.loads(text), toml_lines(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{error.lineno}\0not JSON at column {error.colno}: {error.msg}"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{_toml_line(error, text)}\0not TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"1\0cannot be read: {error}") from error
    return list(_tables(value)), lines, text


def _toml_line(error: tomllib.TOMLDecodeError, text: str) -> int:
    """Return the line that a TOML error names; the end of the document is named in words."""
    words = str(error).partition("(at line ")[2].partition(",")[0]
    return int(words) if words.isdigit() else max(len(text.splitlines()), 1)


def _tables(value: Any) -> Iterator[tuple[Place, Any]]:
    rows = value.get("problems") if isinstance(value, dict) else value
    if isinstance(rows, list) and (not isinstance(value, dict) or set(value) == {"problems"}):
        head: Place = ("problems",) if isinstance(value, dict) else ()
        yield from (((*head, i), row) for i, row in enumerate(rows))
    else:
        yield (), value


def _own(
    name: str, place: Place, table: Mapping[str, Any], lines: Mapping[Place, int]
) -> Iterator[ReadProblem | Rejected]:
    faults = list(_faults(table))
    template = None
    if not faults:
        try:
            template = template_from_dict(table)
        except ValueError as error:
            key = str(error).split()[0].rstrip(":,").split(".")[0]
            faults = [((key,) if key in _KEYS else (), str(error))]
    for key_path, message in faults:
        yield Rejected(name, line_of(lines, (*place, *key_path)), message)
    if template is not None:
        question = fill(template.question, template.factual)
        yield ReadProblem(name, line_of(lines, place), template, question, template.gold)


def _faults(table: Mapping[str, Any]) -> Iterator[_Fault]:
    """Yield every field that is missing, unknown or of the wrong kind."""
    for key in table:
        if key not in _KEYS:
            yield (key,), f"unknown key {key!r}; known are {', '.join(_KEYS)}"
    for key in _NEEDED:
        if key not in table:
            yield (), f"{key} is missing"
    for key in _TEXTS:
        value = table.get(key, "x")
        if not isinstance(value, str) or not (value.strip() or key in _BLANK):
            yield (key,), f"{key} is {_shown(value)}; a text is right"
    if isinstance(table.get("problem"), str) and not is_name(table["problem"]):
        yield ("problem",), f"problem is {_shown(table['problem'])}; a name is right"
    for key in _LISTS:
        value = table.get(key, ["x"])
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            yield (key,), f"{key} is {_shown(value)}; a list of texts is right"
    yield from _numbers(table)


def _numbers(table: Mapping[str, Any]) -> Iterator[_Fault]:
    if "gold" in table and (wrong := _no_number(table["gold"])):
        yield ("gold",), f"gold {wrong}"
    for key in ("factual", "ranges"):
        values = table.get(key, {})
        if not isinstance(values, dict):
            yield (key,), f"{key} is {_shown(values)}; a table of names is right"
            continue
        for name, value in values.items():
            wrong = _no_number(value) if key == "factual" else _no_range(value)
            if wrong:
                yield (key, name), f"{key}.{name} {wrong}"


def _no_number(value: Any) -> str | None:
    try:
        if isinstance(value, bool):
            raise ValueError
        exact(value)
    except (ValueError, TypeError, AttributeError):
        return f'is {_shown(value)}; a number is right (a text such as "1/3" too)'
    return None


def _no_range(value: Any) -> str | None:
    if not isinstance(value, list) or len(value) != 2:
        return f"is {_shown(value)}; [low, high] is right"
    for end in value:
        if wrong := _no_number(end):
            return wrong
    if exact(value[0]) > exact(value[1]):
        return f"is {_shown(value)}; the lower end comes first"
    return None


def _gsm(
    name: str, stem: str, table: Mapping[str, Any], lines: Mapping[Place, int], text: str
) -> Iterator[ReadProblem | Rejected]:
    try:
        made = gsm_table(table, stem)
        template = template_from_dict(made.table)
    except GsmFault as fault:
        yield Rejected(name, _line_within(lines, text, fault.key, fault.part), str(fault))
        return
    except ValueError as error:
        yield Rejected(name, line_of(lines, ("question_annotated",)), str(error))
        return
    question = table.get("question")
    if not isinstance(question, str) or not question.strip():
        question = fill(template.question, template.factual)
    yield ReadProblem(name, 1, template, question.strip(), template.gold, made.notes)


def _line_within(lines: Mapping[Place, int], text: str, key: str, part: str) -> int:
    """Return the line on which a part of a key's text stands, else that of the key."""
    first = line_of(lines, (key,))
    rows = text.splitlines()
    for number in range(first, len(rows) + 1):
        if part and part in rows[number - 1]:
            return number
    return first


def _shown(value: Any) -> str:
    plain = isinstance(value, str | int | float | bool | list | dict)
    try:
        return shown(value if plain else str(value))
    except (TypeError, ValueError):
        return repr(value)[:60]


__all__ = ["ReadProblem", "problem_files", "read_problems"]
