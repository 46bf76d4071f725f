"""Two texts side by side by their words: which are in both, in order, and which are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from textual.content import Content

from tui.text import safe

Runs = list[tuple[str, bool]]
"""A text in pieces: each with whether its words are in this text alone."""

_WORD = re.compile(r"\S+\s*")


def word_runs(a: Sequence[str], b: Sequence[str]) -> tuple[list[Runs], list[Runs]]:
    """Return both lists of texts in pieces, the words of all of one held against all of the other.

    Case, and punctuation at a word's ends, make no difference.

    >>> left, right = word_runs(["Ice is cold."], ["ice is warm", "so"])
    >>> left, right
    ([[('Ice is ', False), ('cold.', True)]], [[('ice is ', False), ('warm', True)], [('so', True)]])
    """
    words = [[_WORD.findall(text) for text in side] for side in (a, b)]
    plain = [[_bare(w) for text in side for w in text] for side in words]
    alone = [[True] * len(side) for side in plain]
    for block in SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_matching_blocks():
        for start, side in ((block.a, 0), (block.b, 1)):
            alone[side][start : start + block.size] = [False] * block.size
    left, right = (_pieces(side, marks) for side, marks in zip(words, alone, strict=True))
    return left, right


def _bare(word: str) -> str:
    return word.strip().strip(".,;:!?()\"'").casefold() or word.strip()


def _pieces(texts: Sequence[Sequence[str]], alone: Sequence[bool]) -> list[Runs]:
    out: list[Runs] = []
    at = 0
    for words in texts:
        runs: Runs = []
        for word in words:
            if runs and runs[-1][1] == alone[at]:
                runs[-1] = (runs[-1][0] + word, alone[at])
            else:
                runs.append((word, alone[at]))
            at += 1
        out.append(runs)
    return out


def marked(runs: Runs) -> Content:
    """Return a text with the words it has alone in brackets that are no text of its own."""
    out = Content("")
    for text, alone in runs:
        if not alone:
            out += safe(text)
            continue
        body = text.rstrip()
        out += Content.styled("[", "bold") + safe(body, "bold underline")
        out += Content.styled("]", "bold") + safe(text[len(body) :])
    return out
