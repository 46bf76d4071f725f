"""The rows of a question file (JSON Lines, a JSON array, or CSV) and what their fields hold."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from store.exchange.cells import csv_header, csv_rows
from store.exchange.lines import MAX_LINE_BYTES, LineError, parse_object, read_lines, shown
from store.keys import is_name

Row = dict[str, Any]

_JSON_SUFFIXES = frozenset([".jsonl", ".ndjson", ".json"])
_BOM = b"\xef\xbb\xbf"
_PYTHON_TOKEN = re.compile(
    r"""\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[\[\]{}:,]|None\b)""", re.DOTALL
)
_MAX_NESTING = 3
_BLANKS, _COMMA = re.compile(r"[ \t\r\n]*"), re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_YES, _NO = frozenset(["true", "yes", "1"]), frozenset(["false", "no", "0"])


def read_rows(path: Path, needs: Sequence[Sequence[str]]) -> Iterator[tuple[int, Row | LineError]]:
    """Yield (1-based line number, row or error) of a question file.

    A file that opens with ``[`` is one JSON array; one whose name does not end like JSON, and
    that does not open with ``{``, is a CSV. `needs` holds what a CSV must have: of each group of
    column names, one; a header without is one error, not one a row.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    header = None if path.suffix.lower() in _JSON_SUFFIXES else csv_header(path)
    if header is None and _is_array(path):
        yield from _array(path)
    elif header is None:
        yield from read_lines(path)
    else:
        yield from _csv(path, *header, needs)


def _is_array(path: Path) -> bool:
    """Return whether a file is one JSON array, not lines of which the first is a list."""
    with path.open("rb") as file:
        first = file.readline().removeprefix(_BOM)
        while first and not first.strip():
            first = file.readline()
        if not first.lstrip().startswith(b"["):
            return False
        return not first.rstrip().endswith(b"]") or not any(line.strip() for line in file)


def _csv(
    path: Path, columns: list[str], separator: str, needs: Sequence[Sequence[str]]
) -> Iterator[tuple[int, Row | LineError]]:
    twice = sorted({c for c in columns if c and columns.count(c) > 1})
    names = {fold_name(c) for c in columns}
    lacking = [" or ".join(group) for group in needs if not names.intersection(group)]
    if twice:
        yield 1, LineError(f"a header with the column {shown(twice[0])} twice; once is right")
    elif lacking:
        yield (
            1,
            LineError(
                f"a header with the columns {shown(columns, 200)}; a column {lacking[0]} is missing"
            ),
        )
    else:
        for number, cells in csv_rows(path, columns, separator):
            if not isinstance(cells, LineError):
                cells.pop("", None)  # a table's own numbering has no name
            yield number, cells


def _array(path: Path) -> Iterator[tuple[int, Row | LineError]]:
    """Read a file that is one JSON array; after an error its next object cannot be found."""
    raw = path.read_bytes().removeprefix(_BOM)
    if len(raw) > MAX_LINE_BYTES:
        yield 1, LineError(f"an array of {len(raw):,} bytes; one object a line is right")
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        yield line, LineError("a byte is not UTF-8; save the file as UTF-8")
        return
    line, counted, end = 1, 0, None
    for at, end in _elements(text):
        line, counted = line + text.count("\n", counted, at), at
        try:
            yield line, parse_object(text[at:end].encode("utf-8"))
        except LineError as error:
            yield line, error
    at = text.index("[") + 1 if end is None else end
    at = _past(_BLANKS, text, at)
    if text[at : at + 1] == "]" and not text[at + 1 :].strip():
        return
    at = _past(_COMMA, text, at)
    line += text.count("\n", counted, at)
    yield line, LineError("the array of objects breaks off here; a comma, an object or ] is right")


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the elements of an array begin and end, as far as they can be read."""
    scan, at = json.JSONDecoder(), _past(_BLANKS, text, text.index("[") + 1)
    while True:
        try:
            _, end = scan.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield at, end
        at = _past(_COMMA, text, end)
        if "," not in text[end:at]:
            return


def _past(what: re.Pattern[str], text: str, at: int) -> int:
    found = what.match(text, at)
    return at if found is None else found.end()


def fold_name(name: str) -> str:
    """Return a column's name as it is compared.

    >>> fold_name("Correct Answer"), fold_name("High-level domain"), fold_name("answer_idx")
    ('correct_answer', 'high_level_domain', 'answer_idx')
    """
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def described(value: Any) -> str:
    """Return what a value is, without telling it: answers are sealed."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return f"a text of {len(value):,} characters" if value.strip() else "a blank text"
    return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value):,}"


class Fields:
    """A row's fields by folded name; those that nobody took are left for `rest`.

    Null is the same as absent.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = {k: v for k, v in row.items() if v is not None}
        self._names: dict[str, str] = {}
        self._twice: dict[str, str] = {}
        for given in self._row:
            first = self._names.setdefault(fold_name(given), given)
            if first != given:
                self._twice[fold_name(given)] = f"{shown(first)} and {shown(given)}"

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def has(self, *names: str) -> bool:
        """Return whether one of the fields is there."""
        return self._first(names) is not None

    def peek(self, name: str) -> Any:
        """Return a field and leave it."""
        return self._row.get(self._names.get(name, ""))

    @property
    def given(self) -> list[str]:
        """The names of the fields, as the file has them."""
        return sorted(self._row)

    def take(self, *names: str) -> Any:
        """Return the first of the fields that is there, None when none is."""
        name = self._first(names)
        if name in self._twice:
            raise LineError(f"the fields {self._twice[name]} are one by name; one of them is right")
        return None if name is None else self._row.pop(self._names.pop(name))

    def _first(self, names: Sequence[str]) -> str | None:
        return next((n for n in names if n in self._names), None)

    def text(self, *names: str) -> str:
        """Return a text that is not blank, as it came."""
        name = self._first(names)
        if name is None:
            raise LineError(f"{' or '.join(names)} is missing (it must be text)")
        value = self.take(name)
        if not isinstance(value, str) or not value.strip():
            raise LineError(f"{name} is {described(value)}; a text is right")
        return value

    def name(self, *names: str) -> str | None:
        """Return what becomes part of a key; integers are taken as text."""
        name = self._first(names)
        value = None if name is None else self.take(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or (isinstance(value, str) and is_name(value)):
            return value
        raise LineError(f"{name} is {shown(value)}; a name without control characters is right")

    def boolean(self, *names: str, none: int | None = None) -> bool | None:
        """Return a yes or no; `none` is the number that stands for no answer at all."""
        name = self._first(names)
        value = None if name is None else self.take(name)
        said = (json.dumps(value) if isinstance(value, bool | int) else str(value)).strip()
        if value is None or (none is not None and said == str(none)):
            return None
        if not isinstance(value, list | dict) and said.casefold() in _YES | _NO:
            return said.casefold() in _YES
        raise LineError(f"{name} is {described(value)}; true, false, yes or no is right")

    def rest(self) -> Row:
        """Return the fields that were not taken."""
        return dict(self._row)


def structure(text: str) -> Any:
    """Return the list or object that a cell holds as JSON, or as Python writes it; else None.

    >>> structure('["a", "b"]'), structure("{'A': 'it\\\\'s', 'B': \\"b\\"}"), structure("a, b")
    (['a', 'b'], {'A': "it's", 'B': 'b'}, None)
    """
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        value, end = _python_value(text, 0, 0)
    except (ValueError, SyntaxError):
        return None
    return value if not text[end:].strip() else None


def _python_value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Read texts in lists and dicts; nothing is evaluated but one text's own escapes."""
    token, at = _token(text, at)
    if token == "None":
        return None, at
    if token[0] in "'\"":
        return ast.literal_eval(token), at
    if token not in ("[", "{") or depth == _MAX_NESTING:
        raise ValueError(token)
    close = "]" if token == "[" else "}"
    values: list[Any] = []
    keys: list[Any] = []
    while True:
        sign, after = _token(text, at)
        if sign == close:
            break
        if values:
            if sign != ",":
                raise ValueError(sign)
            at = after
            if _token(text, at)[0] == close:
                continue
        if close == "}":
            key, at = _python_value(text, at, _MAX_NESTING)
            keys.append(key)
            sign, at = _token(text, at)
            if sign != ":":
                raise ValueError(sign)
        value, at = _python_value(text, at, depth + 1)
        values.append(value)
    return (values if close == "]" else dict(zip(keys, values, strict=True))), after


def _token(text: str, at: int) -> tuple[str, int]:
    found = _PYTHON_TOKEN.match(text, at)
    if found is None:
        raise ValueError(text[at : at + 20])
    return found[1], found.end()
