"""Dependency annotations: finding ``[depends_on: …]`` in a line and reading what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.parsing.folding import visible

# Every repetition is bounded, so that a match attempt at one place costs a constant.
_HEAD = re.compile(
    r"\[\s{0,8}(?:step\s{0,4}:\s{0,4}[0-9]{1,9}\s{0,4},\s{0,4})?depends?[ _-]{0,2}on(?![a-z])"
    r"\s{0,8}[:=]?"
    r"|(?:\(|\\?\{|<)\s{0,4}[\"']?depends?[ _-]{0,2}on\b[\"']?\s{0,4}:?\s{0,4}"
    r"(?=(?:steps?\s{0,4})?[0-9]|none\b)"
    r"|(?:\(|\\?\{|<)\s{0,4}[\"']?depends?_on[\"']?\s{0,4}[:=]",
    re.IGNORECASE,
)
_CLOSERS = {"[": "]", "(": ")", "{": "}", "<": ">"}
_BARE = re.compile(r"[\s>*_•+-]{0,40}depends?[ _-]on[*_\s]{0,8}:(.*)", re.IGNORECASE | re.DOTALL)
_ITEM = r"(?:steps?\s{0,4})?#?[0-9]{1,9}(?![0-9%]|\.[0-9])"
_TAIL = re.compile(
    r"(?:[\s,;|–—-]{1,8}|(?<=[.!?:)]))[*_`]{0,3}depends?(?:_on[*_`\s]{0,4}[:=]?|[ -]on[*_`\s]{0,4}[:=])"
    rf"[*_`\s]{{0,4}}(none|{_ITEM}(?:\s{{0,4}}(?:,|;|&|and\b)\s{{0,4}}{_ITEM}){{0,99}})[\s.*_`]{{0,8}}$",
    re.IGNORECASE,
)
_REQUESTED = re.compile(r"\[depends_on:")
_REQUESTED_LIST = re.compile(r"\s*(?:none|[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)?\s*", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\](){}<>]")
_LEADING = re.compile(r"(?:[\s,;&]|and\b|steps?\b|#|none\b|[0-9]{1,9}(?![0-9.%]))*", re.IGNORECASE)
_SPLIT = re.compile(r"[,;&]|\band\b", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:steps?|facts?)?\s{0,4}#?\s{0,4}([0-9]{1,9})", re.IGNORECASE)
_SPACED = re.compile(r"[0-9]{1,9}(?:\s+[0-9]{1,9})+")
_NONE = frozenset(
    [
        *(
            "",
            "none",
            "n/a",
            "na",
            "null",
            "nil",
            "nothing",
            "-",
            "—",
            "∅",
            "independent",
            "no steps",
        ),
        *("no prior steps", "no prior step", "no previous steps", "no previous step", "empty"),
    ]
)
_WRAPPERS = (("\\[", "\\]"), ("\\(", "\\)"), ("**", "**"), ("`", "`"), ("$", "$"), ("*", "*"))


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotation says.

    Attributes
    ----------
    numbers
        Step numbers as written, in order, repeats included.
    malformed
        Parts that are no step number.
    """

    numbers: tuple[int, ...] = ()
    malformed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """A line after its annotations were taken out.

    Attributes
    ----------
    text
        The line without them, otherwise as typed.
    references
        One entry per annotation that says something.
    codes
        Issue codes about how they were written.
    """

    text: str
    references: tuple[Annotation, ...] = ()
    codes: tuple[str, ...] = ()


def read_references(content: str) -> Annotation:
    """Read the inside of an annotation.

    Parameters
    ----------
    content
        What stands between ``[depends_on:`` and ``]``.

    Returns
    -------
    Annotation
        ``none`` or nothing at all gives no numbers and nothing malformed: a premise. A range or
        sum such as ``2 - 4`` is malformed, because it may mean either.

    Examples
    --------
    >>> read_references(" 0, 2 and step 3")
    Annotation(numbers=(0, 2, 3), malformed=())
    >>> read_references("16 - 3, 1")
    Annotation(numbers=(1,), malformed=('16 - 3',))
    >>> read_references("none")
    Annotation(numbers=(), malformed=())
    """
    whole = visible(content).strip(" \t\r\n[](){}<>.`*\\$\"'")
    if whole.casefold() in _NONE:
        return Annotation()
    numbers: list[int] = []
    malformed: list[str] = []
    for part in _SPLIT.split(whole):
        piece = part.strip(" \t\r\n[](){}<>.`*\\$\"'")
        match = _REFERENCE.fullmatch(piece)
        if match:
            numbers.append(int(match[1]))
        elif _SPACED.fullmatch(piece):
            numbers.extend(int(n) for n in piece.split())
        elif piece:
            malformed.append(piece)
    return Annotation(tuple(numbers), tuple(malformed))


def take_annotations(line: str) -> AnnotatedLine:
    """Take every annotation out of a line.

    Parameters
    ----------
    line
        One line of model text, numbering already removed.

    Returns
    -------
    AnnotatedLine
        An unclosed bracket that says nothing (a truncated one) is taken out but gives no
        reference, so that its step stays unannotated.

    Notes
    -----
    Requested is ``[depends_on: …]`` with numbers separated by commas, ``none`` or nothing inside.
    Any other wording that can be read ("steps 0 and 1", "n/a", ``[0, 1]`` inside the brackets) and
    any other bracket (braces, parentheses, angle brackets, or none at the end of a line) is read,
    with the issue ``annotation_style``.

    Examples
    --------
    >>> take_annotations("Ice floats. [depends_on: 0, 1]")
    AnnotatedLine(text='Ice floats.', references=(Annotation(numbers=(0, 1), malformed=()),), codes=())
    """
    heads = list(_HEAD.finditer(line))
    if not heads:
        return _take_bare(line)
    kept: list[str] = []
    found: list[Annotation] = []
    codes: list[str] = []
    position = 0
    for i, head in enumerate(heads):
        limit = heads[i + 1].start() if i + 1 < len(heads) else len(line)
        end, content, closed = _content(line, head, limit)
        start, end = _widened(line, head.start(), end, position, limit)
        kept.append(line[position:start])
        position = end
        if closed or content.strip(" \t,"):
            found.append(read_references(content))
        asked = _REQUESTED.fullmatch(head[0]) and (
            not closed or found[-1].malformed or _REQUESTED_LIST.fullmatch(content)
        )
        codes.append("" if asked else "annotation_style")
        codes.append("" if closed else "annotation_unclosed")
    kept.append(line[position:])
    if any(c.isalnum() for c in kept[-1]):
        codes.append("annotation_inline")
    return AnnotatedLine(_joined(kept), tuple(found), tuple(dict.fromkeys(c for c in codes if c)))


def _take_bare(line: str) -> AnnotatedLine:
    """Read an annotation without brackets: the whole line, or references at its end."""
    if len(line) >= 4000 or "depend" not in line.lower():
        return AnnotatedLine(line)
    match = _BARE.fullmatch(line)
    if match is not None:
        return AnnotatedLine("", (read_references(match[1]),), ("annotation_style",))
    tail = _TAIL.search(line)
    if tail is None:
        return AnnotatedLine(line)
    text = line[: tail.start()].rstrip(" \t")
    return AnnotatedLine(text, (read_references(tail[1]),), ("annotation_style",))


def _content(line: str, head: re.Match[str], limit: int) -> tuple[int, str, bool]:
    """Return (end, content, closed) of the annotation that starts at `head`."""
    opener = next(c for c in head[0] if c in _CLOSERS)
    closer = _CLOSERS[opener]
    depth = 1
    for bracket in _BRACKET.finditer(line, head.end(), limit):
        depth += (bracket[0] == opener) - (bracket[0] == closer)
        if depth == 0:
            return bracket.end(), line[head.end() : bracket.start()], True
    leading = _LEADING.match(line, head.end(), limit)
    end = leading.end() if leading else head.end()
    if not any(c.isalnum() for c in line[end:limit]):
        end = limit
    return end, line[head.end() : end], False


def _widened(line: str, start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """Take in the emphasis or LaTeX delimiters that enclose nothing but the annotation."""
    for _ in range(4):
        before = line[max(low, start - 40) : start].rstrip(" \t")
        after = line[end : min(high, end + 40)]
        gap = len(after) - len(after.lstrip(" \t"))
        for left, right in _WRAPPERS:
            if before.endswith(left) and after.startswith(right, gap):
                start = max(low, start - 40) + len(before) - len(left)
                end += gap + len(right)
                break
        else:
            return start, end
    return start, end


def _joined(pieces: list[str]) -> str:
    out = pieces[0].rstrip(" \t")
    parts = [out]
    blank = not out
    for piece in pieces[1:]:
        text = piece.strip(" \t")
        if not text:
            continue
        parts.append(text if blank or text[0] in ".,;:!?" else " " + text)
        blank = False
    return "".join(parts)
