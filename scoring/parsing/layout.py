"""Lines and their numbers: what in a text numbers a step, and where the text really ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from scoring.parsing.cues import find_cue
from scoring.parsing.issues import IssueLog, shown

MAX_TEXT = 1_000_000
"""Characters read of one text."""
MAX_LINES = 20_000
"""Lines read of one text."""
MAX_STEPS = 2000
"""Steps read of one text."""
MAX_LABEL_JUMP = 10
"""A number further than this beyond the one before it numbers no step."""

_NEWLINE = re.compile(r"\r\n|\r|\n")
_MARKUP = " \t>#*_•+-–`\u00a0\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\ufeff"
"""What may stand before a number: markdown, and characters that show nothing."""
_OPENERS = ("[", "(", "{", "<")
_STEP = re.compile(
    r"step[ \t]{0,3}[#(\[]?[ \t]{0,2}([0-9]{1,6})(?![0-9]|\.[0-9])[)\]]?", re.IGNORECASE
)
_PLAIN = re.compile(r"[(\[]?([0-9]{1,6})(?:[)\]][.:]?|[.:])(?=\s|$|[^\d\s.,])")
_QUESTION = re.compile(r"Q([0-9]{1,4})[.:)](?=\s|$)")
_BARE = re.compile(r"([0-9]{1,4})[ \t]{1,4}(?:[-–][ \t]{1,2})?(?=[^\W\d_]|[\[({<]\s{0,2}depends|$)")
_CLOSE = re.compile(
    r"[ \t]{0,3}(\*{1,3}|_{1,3})?[ \t]{0,3}([:.)\-–—|]{0,2})[ \t]{0,3}(\*{1,3}|_{1,3})?"
)
_TOKEN_LEAK = re.compile(
    r"<\|(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|user|"
    r"assistant|system|end)\|>|</s>|<s>|\[/?INST\]|<(?:start|end)_of_turn>"
)
_TURN = re.compile(
    r"(?![ \t]{2})[ \t#*]{0,6}(?:human|user|assistant|system|question|problem|instructions?|q)"
    r"(?:[ \t]{1,2}[0-9]{1,4})?[ \t*]{0,4}:",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(r"[ \t#*]{0,6}assistant[ \t*]{0,4}:[ \t*]{0,4}", re.IGNORECASE)
_HEADER = re.compile(r"(?:assistant|user|system)[ \t]{0,4}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Label:
    """The number a line opens with.

    Attributes
    ----------
    family
        ``"step"`` (Step 1:), ``"plain"`` (1.), ``"question"`` (Q1.) or ``"bare"`` (1 text).
    number
        The number as written.
    text
        The line without it.
    indent
        Columns of white space before the line.
    requested
        Whether it is written as asked for: ``0. text``.
    """

    family: str
    number: int
    text: str
    indent: int
    requested: bool


def read_lines(text: str, log: IssueLog) -> list[str]:
    r"""Split a text into lines, without what comes after a leaked turn.

    Parameters
    ----------
    text
        Model text.
    log
        Where issues go.

    Returns
    -------
    list of str
        Line ends are ``\n``, ``\r\n`` or ``\r`` only, so that other controls stay as typed.
    """
    if len(text) > MAX_TEXT:
        log.add("text_cut", f"{len(text)} characters; the first {MAX_TEXT} were read")
        text = text[:MAX_TEXT]
    lines = _NEWLINE.split(text, maxsplit=MAX_LINES)
    if len(lines) > MAX_LINES:
        log.add("text_cut", f"the first {MAX_LINES} lines were read")
        del lines[MAX_LINES:]
    out: list[str] = []
    begun = numbered = announced = False
    ahead = _last_label(lines)
    for at, line in enumerate(lines):
        leak = _TOKEN_LEAK.search(line)
        if leak is not None:
            before = line[: leak.start()]
            begun = begun or any(c.isalnum() for c in before)
            log.add("leaked_turn", f"{shown(leak[0])} in line {at + 1}", at=at)
            if begun:
                return [*out, before]
            line = _HEADER.sub("", _TOKEN_LEAK.sub("", line))
            out.append("" if _HEADER.fullmatch(line) else line)
            continue
        if _TURN.match(line):
            log.add("leaked_turn", f"line {at + 1} opens a turn: {shown(line.strip())}", at=at)
            if numbered or announced or (begun and at > ahead):
                return out
            line = _ASSISTANT.sub("", line) if _ASSISTANT.match(line) else ""
        out.append(line)
        begun = begun or any(c.isalnum() for c in line)
        numbered = numbered or _labelled(line) is not None
        announced = announced or _announces(line)
    return out


def _announces(line: str) -> bool:
    cue = find_cue(line, weak=True)
    return cue is not None and bool(cue.answer) and not cue.question


def _last_label(lines: list[str]) -> int:
    return max((i for i, line in enumerate(lines) if _labelled(line) is not None), default=-1)


def find_labels(lines: list[str]) -> dict[int, Label]:
    """Return line number → label for the lines that open a step.

    Parameters
    ----------
    lines
        Lines of the text.

    Returns
    -------
    dict
        Empty when nothing is numbered.

    Notes
    -----
    Where "Step N" occurs, plain numbers after the first of them are lists inside a step. A plain
    number that is indented deeper than the first is a list inside a step too, unless it goes on
    with the count. Numbers without a dot ("1 text") count only when nothing else is numbered and
    they count up from 0 or 1, or when an annotation follows. "Q1." counts only alone.
    """
    found = {i: label for i, line in enumerate(lines) if (label := _labelled(line)) is not None}
    families = {label.family for label in found.values()}
    if "step" in families:
        first = min(i for i, label in found.items() if label.family == "step")
        found = {
            i: x
            for i, x in found.items()
            if x.family == "step" or (x.family == "plain" and i < first)
        }
    elif "plain" in families:
        found = {i: x for i, x in found.items() if x.family == "plain"}
    return _counting(found) if found else _bare(lines)


def _labelled(line: str) -> Label | None:
    body = line.lstrip(_MARKUP)
    if not body or body[0] not in "0123456789([sSqQ":
        return None
    prefix = line[: len(line) - len(body)]
    indent = len(prefix.expandtabs(4)) - len(prefix.expandtabs(4).lstrip(" "))
    step = _step(prefix, body, indent)
    if step is not None:
        return step
    match = _PLAIN.match(body)
    family = "plain"
    if match is None:
        match, family = _QUESTION.match(body), "question"
    if match is None:
        return None
    rest, closed = _after(prefix, body[match.end() :])
    inner = rest.lstrip(_MARKUP)
    step = _step(rest[: len(rest) - len(inner)], inner, indent) if inner else None
    if step is not None:
        return step
    requested = match[0] == f"{int(match[1])}." and not prefix and not closed
    return Label(family, int(match[1]), rest, indent, requested)


def _step(prefix: str, body: str, indent: int) -> Label | None:
    """Return the label of "Step N" when it is followed by an end, a mark or an annotation."""
    match = _STEP.match(body)
    if match is None:
        return None
    after = body[match.end() :]
    close = _CLOSE.match(after)
    marked = close is not None and bool(close[1] or close[2])
    if not marked and after.strip() and not after.lstrip().startswith(_OPENERS):
        return None
    rest, _ = _after(prefix, after)
    return Label("step", int(match[1]), rest, indent, False)


def _after(prefix: str, after: str) -> tuple[str, bool]:
    """Return a line after its number, without the number's own emphasis."""
    close = _CLOSE.match(after)
    opened = "".join(c for c in prefix if c in "*_" and prefix.count(c) > 1) or ""
    rest = after
    closed = False
    if close is not None:
        marks = close[1] or close[3]
        end = close.end() if opened and marks else (close.end(2) if close[2] else close.start(2))
        if opened and marks:
            closed = True
        elif close[1] and not opened:
            end = 0
        rest = after[end:]
    if opened and not closed and opened in rest:
        rest = rest.replace(opened, "", 1)
    return rest.strip(" \t"), bool(opened)


def _counting(found: dict[int, Label]) -> dict[int, Label]:
    """Keep the labels that go on counting; leave out lists inside steps and stray numbers."""
    out: dict[int, Label] = {}
    base: int | None = None
    last = -1
    for i, label in found.items():
        if base is None:
            if label.number > MAX_LABEL_JUMP:
                continue
            base = label.indent
        deeper = label.family == "plain" and label.indent >= base + 2
        if out and ((deeper and label.number != last + 1) or label.number > last + MAX_LABEL_JUMP):
            continue
        out[i] = label
        last = label.number
    return out


def _bare(lines: list[str]) -> dict[int, Label]:
    found: dict[int, Label] = {}
    annotated = False
    for i, line in enumerate(lines):
        match = _BARE.match(line)
        if match is not None:
            rest = line[match.end() :]
            annotated = annotated or rest.startswith(_OPENERS)
            found[i] = Label("bare", int(match[1]), rest.strip(" \t"), 0, False)
    numbers = [label.number for label in found.values()]
    counts = len(numbers) > 1 and numbers[0] in (0, 1)
    counts = counts and all(b == a + 1 for a, b in pairwise(numbers))
    if counts:
        return found
    return {i: x for i, x in found.items() if annotated and x.text.startswith(_OPENERS)}
