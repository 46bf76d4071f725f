"""The one way by which text that we did not write reaches the screen.

`visible` makes control and invisible characters readable, `safe` wraps the result in a Textual
`Content`, which never reads markup, and the rest measures and breaks it in terminal cells.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, get_character_cell_size
from textual.content import Content, Span

from tui.visible import runs
from tui.visible import visible as visible

_INDENT = re.compile(r" *(?:(?:[-*+•–·]|[0-9]{1,3}[.)]|[A-Za-z][.)]) +)?")
"""What opens a line of a list or of code, and is kept free below it where the line is wrapped."""
LINE_BREAKS = re.compile(r"(?:\r?\n[ \t]*)+")
ESCAPE_STYLE = "reverse"
"""Marks an escape that stands for a character, so that a typed backslash-x is told from it."""


def safe(text: object, style: str = "", *, newlines: bool = False) -> Content:
    """Return text we did not write as `Content`; brackets stay as typed, escapes stand out."""
    raw = text if isinstance(text, str) else str(text)
    spans: list[Span] = []
    if raw.isascii() and raw.isprintable():
        shown = raw
    else:
        pieces = []
        at = 0
        for run, escaped in runs(raw, newlines):
            pieces.append(run)
            if escaped:
                spans.append(Span(at, at + len(run), ESCAPE_STYLE))
            at += len(run)
        shown = "".join(pieces)
    if style:
        spans.insert(0, Span(0, len(shown), style))
    return Content(shown, spans)


def one_line(text: str) -> Content:
    """Return text we did not write for a place of one line: a blank where lines were broken.

    >>> one_line("Ann has 3.\\r\\n\\r\\n  How many?").plain
    'Ann has 3. How many?'
    """
    return safe(LINE_BREAKS.sub(" ", text))


def cells(text: Content | str) -> int:
    """Return how many terminal cells a line takes."""
    return cell_len(text if isinstance(text, str) else text.plain)


def cut(line: Content, width: int) -> Content:
    """Return the line, with an ellipsis in its last cell when it does not fit."""
    if cells(line) <= width:
        return line
    if width <= 0:
        return Content("")
    used = 0
    for i, char in enumerate(line.plain):
        used += get_character_cell_size(char)
        if used > width - 1:
            return line[:i] + Content("…")
    return line


def cut_middle(line: Content, width: int) -> Content:
    """Return the line with an ellipsis in its middle when it does not fit: its end stays.

    >>> cut_middle(Content("model-0.5b-first"), 9).plain
    'mode…irst'
    """
    if cells(line) <= width or width < 3:
        return cut(line, width)
    text = line.plain
    start, used = len(text), 0
    while start > 0 and used + get_character_cell_size(text[start - 1]) <= (width - 1) // 2:
        start -= 1
        used += get_character_cell_size(text[start])
    while start < len(text) and get_character_cell_size(text[start]) == 0:
        start += 1  # a combining mark belongs to the letter that was cut
    # One cell more than is free here: `cut` puts the ellipsis into it.
    return cut(line, width - cells(text[start:])) + line[start:]


def fit(line: Content, width: int, *, right: bool = False) -> Content:
    """Return the line cut or padded to exactly this many cells."""
    line = cut(line, width)
    space = Content(" " * (width - cells(line)))
    return space + line if right else line + space


def wrap(text: Content, width: int, *, first: int | None = None) -> list[Content]:
    """Break text into lines of at most `width` cells (`first` cells on the first line).

    Lines break at spaces, words too long for a line anywhere; newlines in the text hold. Nothing
    is dropped but the spaces at a break. What a wrapped line goes on with stands below its first
    word, under the indentation or the bullet that opens it.
    """
    width = max(width, 1)
    room = width if first is None else max(first, 1)
    lines: list[Content] = []
    for paragraph in text.split("\n", allow_blank=True):
        plain = paragraph.plain
        indent = _indent(plain, width)
        pad = Content(" " * indent)
        for i, (start, end) in enumerate(_breaks(plain, width - indent, room)):
            lines.append(pad + paragraph[start:end] if i and indent else paragraph[start:end])
        room = width
    return lines


def _indent(text: str, width: int) -> int:
    """Return how many cells stay free below a line's opening; none where little room is left."""
    opening = _INDENT.match(text)
    indent = 0 if opening is None else cells(opening[0])
    return indent if 3 * indent <= width else 0


def _breaks(text: str, width: int, room: int) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    start = used = 0
    space: int | None = None
    i = 0
    while i < len(text):
        size = get_character_cell_size(text[i])
        if used + size > room and i > start:
            if text[i] == " ":
                end, nxt = i, i + 1
            elif space is not None:
                end, nxt = space, space + 1
            else:
                end = nxt = i
            while nxt < len(text) and text[nxt] == " ":
                nxt += 1
            out.append((start, end))
            start = i = nxt
            used, space, room = 0, None, width
            continue
        if text[i] == " ":
            space = i if i > start else None
        used += size
        i += 1
    out.append((start, len(text)))
    return out


def hang(head: Content, text: Content, width: int, *, tail: Content | None = None) -> list[Content]:
    """Lay out text with a head before its first line and a hanging indent as wide as the head.

    `tail` is set at the right end of the first line, or, where it would take more than a third of
    the width, below the text.
    """
    indent = min(cells(head), max(width - 8, 0))
    body = max(width - indent, 1)
    reserve = 0
    if tail is not None and cells(tail) <= width // 3:
        reserve = cells(tail) + 1
    lines = wrap(text, body, first=body - reserve)
    pad = Content(" " * indent)
    out = [(head if i == 0 else pad) + line for i, line in enumerate(lines)]
    if tail is None:
        return out
    if reserve:
        gap = width - cells(out[0]) - cells(tail)
        out[0] = out[0] + Content(" " * gap) + tail
    else:
        out.extend(Content(" " * max(width - cells(line), 0)) + line for line in wrap(tail, body))
    return out
