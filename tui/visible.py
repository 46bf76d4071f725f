"""Making control and invisible characters readable, without any drawing library.

`visible` is what commands print through; `tui.text` builds on it for screens.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

MAX_MARKS = 4
"""Combining marks drawn on one letter; further ones are shown as escapes."""

_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

# Printable to Python, but drawn as nothing or as a change to the character before.
_INVISIBLE = frozenset(
    [
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        *range(0x180B, 0x1810),
        0x2800,
        0x3164,
        0xFFA0,
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)


@lru_cache(4096)
def _escape(char: str) -> str | None:
    """Return the visible escape of a character, None when it can be drawn as it is."""
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if code in _INVISIBLE:
        return f"<U+{code:04X}>"
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return None
    return f"<U+{code:04X}>"


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char) in ("Mn", "Me")


def runs(text: str, newlines: bool) -> list[tuple[str, bool]]:
    """Split text into runs, each with whether it is an escape."""
    if newlines:
        text = text.replace("\r\n", "\n")
    out: list[tuple[str, bool]] = []
    plain: list[str] = []
    marks = MAX_MARKS  # a mark needs a letter of the same text to stand on
    for char in text:
        if char == "\n" and newlines:
            plain.append(char)
            marks = MAX_MARKS
            continue
        escape = _escape(char)
        if escape is None and _is_mark(char):
            marks += 1
            if marks > MAX_MARKS:
                escape = f"<U+{ord(char):04X}>"
        elif escape is None:
            marks = 0
        if escape is None:
            plain.append(char)
            continue
        if plain:
            out.append(("".join(plain), False))
            plain = []
        out.append((escape, True))
        if not _is_mark(char):
            marks = MAX_MARKS
    if plain:
        out.append(("".join(plain), False))
    return out


def visible(text: str, *, newlines: bool = False) -> str:
    r"""Return text in which every control or invisible character is a visible escape.

    >>> visible("a\x1b[31m\u202eb")
    'a\\x1b[31m<U+202E>b'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(run for run, _ in runs(text, newlines))
