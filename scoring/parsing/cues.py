"""Where a text announces its final answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.parsing.folding import visible

_STRONG = re.compile(
    r"\bfinal\s{1,4}answer\b[*_\s]{0,8}"
    r"(?:(?:is|was|would\s{1,3}be)\b[*_\s]{0,8}[:=]?|[:=])",
    re.IGNORECASE,
)
_WEAK = re.compile(r"\banswer\b[*_\s]{0,8}(?:is\b[*_\s]{0,8}[:=]?|[:=])", re.IGNORECASE)
_HASHES = re.compile(r"\s{0,8}####\s{0,4}(?=[-+$\\(]{0,3}[0-9])")
_ORDER = re.compile(
    r"\b(?:write|output|determine|calculate|find|state|give|provide|compute|print|present|report)"
    r"\s{1,4}(?:out\s{1,4}|down\s{1,4})?(?:the|your|our|my)?\s{0,4}$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?][\"')\]]{0,3}\s{1,8}")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FILLER = frozenset(
    [
        "therefore",
        "thus",
        "so",
        "hence",
        "finally",
        "then",
        "and",
        "now",
        "in",
        "the",
        "our",
        "my",
        "final",
        "answer",
        "is",
        "conclusion",
        "this",
        "means",
        "that",
        "we",
        "get",
        "have",
        "conclude",
        "step",
        "output",
        "result",
        "to",
        "summary",
        "overall",
        "correct",
        "problem",
        "question",
        "of",
        "for",
    ]
)
_ORDERS = frozenset(
    [
        "write",
        "output",
        "determine",
        "give",
        "state",
        "provide",
        "print",
        "present",
        "report",
        "conclude",
        "find",
        "calculate",
        "compute",
        "display",
        "express",
        "return",
        "down",
        "out",
        "your",
    ]
)


@dataclass(frozen=True, slots=True)
class Cue:
    """An announcement of the final answer in one line.

    Attributes
    ----------
    before
        The line's text before it, without the words that only lead up to it.
    pure
        Whether nothing was said before it.
    kept
        Whether the words that lead up to it belong to the statement, so that the line must stay.
    answer
        What follows it on the line; may be empty.
    strong
        Whether it says "final answer".
    doubled
        Whether it is announced more than once.
    """

    before: str
    pure: bool
    kept: bool
    answer: str
    strong: bool
    doubled: bool

    @property
    def question(self) -> bool:
        """Whether what follows only restates the question."""
        return self.answer.rstrip(" *_\"')").endswith("?")


def find_cue(line: str, *, weak: bool) -> Cue | None:
    """Find the announcement in one line, the last when there are several.

    Parameters
    ----------
    line
        A line without numbering and annotations.
    weak
        Whether "the answer is", "Answer:" and "####" count too.

    Returns
    -------
    Cue or None
        An order such as "Write the final answer:" announces nothing.

    Examples
    --------
    >>> find_cue("Therefore, the final answer is: 5", weak=False).answer
    '5'
    >>> find_cue("Write the final answer:", weak=False) is None
    True
    """
    found = [m for m in _STRONG.finditer(line) if not _is_order(line, m)]
    strong = bool(found)
    if not found and weak:
        hashes = _HASHES.match(line)
        found = [hashes] if hashes else [m for m in _WEAK.finditer(line) if not _is_order(line, m)]
    if not found:
        return None
    last = found[-1]
    before = line[: last.start()]
    ends = [m.end() for m in _SENTENCE_END.finditer(before)]
    cut = 0
    for start in [0, *ends]:
        if is_filler(before[start:]):
            cut = start
            break
    else:
        cut = -1
    kept = cut < 0
    head = before if kept else before[:cut]
    answer = _balanced(line[last.end() :].strip().lstrip(":").strip())
    pure = not any(c.isalnum() for c in head)
    return Cue(head.rstrip(), pure and not kept, kept, answer, strong, len(found) > 1)


def is_filler(text: str, *, orders: bool = False) -> bool:
    """Return whether a text only leads up to an answer ("Therefore, the", "Conclusion:").

    Parameters
    ----------
    text
        Any text.
    orders
        Whether "write", "determine" and the like are filler too.

    Examples
    --------
    >>> is_filler("**Conclusion**: So, the"), is_filler("Ice floats, so the")
    (True, False)
    """
    if len(text) > 200:
        return False
    allowed = _FILLER | _ORDERS if orders else _FILLER
    return all(w.casefold() in allowed for w in _WORD.findall(text))


def _is_order(line: str, match: re.Match[str]) -> bool:
    if re.search(r"\bis\b|\bwas\b|\bbe\b", match[0], re.IGNORECASE):
        return False
    return _ORDER.search(line[max(0, match.start() - 40) : match.start()]) is not None


def _balanced(answer: str) -> str:
    """Remove an emphasis mark whose other half belongs to the announcement; unseen is empty."""
    for mark in ("**", "__"):
        if answer.count(mark) == 1:
            answer = answer.replace(mark, "").strip()
    if answer.startswith("* ") or set(answer) <= set("*_ "):
        answer = answer.lstrip("*_ ")
    return answer if visible(answer).strip() else ""
