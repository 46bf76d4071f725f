"""CSV that no spreadsheet runs as a formula, and that is read back to the last code unit."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from store.exchange.lines import MAX_LINE_BYTES, LineError, shown

_FORMULA = re.compile("'*(?:[=+\\-@\t\r]|json:)")
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_QUOTED = re.compile('[",;\r\n]')
_BAD_BYTE = re.compile("[\udc80-\udcff]")


def cell(text: str | None) -> str:
    """Return what stands in a cell.

    A text that a spreadsheet would take for a formula gets a leading ``'``; one that a CSV file
    cannot hold (NUL, lone surrogates) or that would look like none (empty) is written as JSON.

    >>> cell("=1+1"), cell("'=1"), cell("'tis"), cell(""), cell(None)
    ("'=1+1", "''=1", "'tis", 'json:""', '')
    """
    if text is None:
        return ""
    if not text or _UNWRITABLE.search(text):
        return "json:" + json.dumps(text)
    return "'" + text if _FORMULA.match(text) else text


def text_of(value: str) -> str | None:
    r"""Undo `cell`.

    >>> text_of("'=1+1"), text_of("''=1"), text_of("'tis"), text_of('json:"a\\u0000"')
    ('=1+1', "'=1", "'tis", 'a\x00')
    """
    if not value:
        return None
    if value.startswith("json:"):
        try:
            text = json.loads(value.removeprefix("json:"))
        except ValueError:
            text = None
        if not isinstance(text, str):
            raise LineError(f"a cell is {shown(value)}; after json: a JSON string is right")
        return text
    return value[1:] if value.startswith("'") and _FORMULA.match(value) else value


def csv_lines(fields: Sequence[str], rows: Iterable[Sequence[str | None]]) -> Iterator[str]:
    """Yield the lines of a CSV file: a header, then a line for each row."""
    yield _line(fields)
    for row in rows:
        yield _line([cell(value) for value in row])


def _line(cells: Sequence[str]) -> str:
    """Return a line; the csv module would leave a carriage return unquoted."""
    quoted = ('"' + c.replace('"', '""') + '"' if _QUOTED.search(c) else c for c in cells)
    return ",".join(quoted) + "\n"


def csv_header(path: Path) -> tuple[list[str], str] | None:
    """Return the header of a file that looks like a CSV, and what separates its cells.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    with path.open("rb") as file:
        first = file.readline(1 << 16).removeprefix(b"\xef\xbb\xbf")
    line = first.decode("utf-8", "replace").rstrip("\r\n")
    if not line or line.lstrip().startswith(("{", "[")):
        return None
    separator = max(",;\t", key=line.count)
    try:
        return [c.strip() for c in next(csv.reader([line], delimiter=separator))], separator
    except csv.Error:
        return None


def csv_rows(
    path: Path, fields: Sequence[str], separator: str
) -> Iterator[tuple[int, dict[str, str] | LineError]]:
    """Yield (1-based line number, cells by field or an error) below the header.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        start = 1
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield start, LineError(f"not CSV: {error}")
                return
            if start > 1 and any(row):
                yield start, _by_field(fields, row)
            start = reader.line_num + 1


def _by_field(fields: Sequence[str], row: list[str]) -> dict[str, str] | LineError:
    if len(row) != len(fields):
        return LineError(f"{len(row)} cells; the header has {len(fields)} columns")
    if any(_BAD_BYTE.search(value) for value in row):
        return LineError("a byte is not UTF-8; save the file as UTF-8")
    try:
        cells = {f: text_of(value) for f, value in zip(fields, row, strict=True)}
    except LineError as error:
        return error
    return {f: text for f, text in cells.items() if text is not None}
