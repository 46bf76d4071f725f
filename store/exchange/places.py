"""Where a key stands in a TOML or JSON file: parsers give values without their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

Path = tuple[str | int, ...]
"""Keys and places in lists, from the top: ``("problems", 0, "factual", "n")``."""

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"\n]+"|'[^'\n]+')(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=""")
_FENCES = ('"""', "'''")


def toml_lines(text: str) -> dict[Path, int]:
    r"""Return the 1-based line of every key of a TOML text, tables and their arrays included.

    >>> toml_lines('a = 1\n[[p]]\nb = \"\"\"\nc = 2\n\"\"\"\n[p.f]\nn = 3\n')
    {('a',): 1, ('p', 0): 2, ('p', 0, 'b'): 3, ('p', 0, 'f'): 6, ('p', 0, 'f', 'n'): 7}
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if fence is not None:
            if fence in line:
                fence = None
            continue
        header = _HEADER.fullmatch(line)
        key = _KEY.match(line)
        if header is not None:
            table = _table(_parts(header[2]), counts, many=header[1] == "[[")
            found.setdefault(table, number)
        elif key is not None:
            found.setdefault((*table, *_parts(key[1])), number)
        opened = [mark for mark in _FENCES if line.count(mark) % 2 == 1]
        fence = opened[0] if opened else None
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _table(parts: tuple[str, ...], counts: dict[Path, int], *, many: bool) -> Path:
    """Return the path of a header; an array of tables is at its newest row."""
    path: Path = ()
    for at, part in enumerate(parts):
        path = (*path, part)
        if at == len(parts) - 1 and many:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def json_lines(text: str) -> dict[Path, int]:
    r"""Return the 1-based line on which each key of a JSON text stands first.

    >>> json_lines('{\n "a": 1,\n "b": {"c": 2}}')
    {('a',): 2, ('b',): 3, ('c',): 3}
    """
    found: dict[Path, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for match in re.finditer(r'"((?:[^"\\]|\\.)*)"\s*:', line):
            found.setdefault((match[1],), number)
    return found


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """Return the line of a path, of the nearest table around it where it has none, else 1."""
    for end in range(len(path), 0, -1):
        for start in (0, end - 1):
            if path[start:end] in lines:
                return lines[path[start:end]]
    return 1
