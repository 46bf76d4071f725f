"""Tokens of an answer, and cardinal numbers in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_TOKEN = re.compile(
    r"(?P<num>(?:[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>[^\W\d_](?:[^\W_]|_(?=\w))*(?:'[^\W\d_]+)?)"
    r"|(?P<op>[^\w\s]|_)"
)
UNITS = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
TENS = {
    w: 10 * i
    for i, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
AFTER = {"hundred": 100, "dozen": 12, "dozens": 12} | _SCALES
AFTER |= {f"{w}s": v for w, v in list(_SCALES.items())} | {"hundreds": 100}
PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "fourth": 4, "fourths": 4}
PARTS |= {"fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8}
PARTS |= {"tenth": 10, "tenths": 10}


@dataclass(frozen=True, slots=True)
class Token:
    """A number, word or other character.

    Attributes
    ----------
    kind
        ``"num"`` (digits), ``"word"`` or ``"op"`` (any other character).
    text
        As it stands in the text.
    spaced
        Whether white space or the text's start is before it.
    at
        Where it begins in the text.
    """

    kind: str
    text: str
    spaced: bool
    at: int = 0


class UnreadableNumber(Exception):
    """The text holds a number that cannot be one exact value (too large, ordinal, variable)."""


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a folded text, in order.

    Examples
    --------
    >>> [t.text for t in tokenize("-$1,800.50 a day")]
    ['-', '$', '1,800.50', 'a', 'day']
    """
    out: list[Token] = []
    end = 0
    for m in _TOKEN.finditer(text):
        out.append(Token(m.lastgroup or "op", m[0], m.start() > end or not out, m.start()))
        end = m.end()
    return out


def words_at(tokens: list[Token], i: int) -> tuple[Fraction, int] | None:
    """Return the value and end of the number in words that starts at token `i`, or None.

    Examples
    --------
    >>> words_at(tokenize("half a dozen eggs"), 0)
    (Fraction(6, 1), 3)
    """
    word = word_at(tokens, i)
    if word in ("a", "an") and word_at(tokens, i + 1) in (
        "dozen",
        "hundred",
        "thousand",
        "million",
    ):
        return Fraction(AFTER[word_at(tokens, i + 1)]), i + 2
    if word == "half":
        if word_at(tokens, i + 1) == "a" and word_at(tokens, i + 2) in ("dozen", "million"):
            return Fraction(AFTER[word_at(tokens, i + 2)], 2), i + 3
        return Fraction(1, 2), i + 1
    if word == "dozen":
        return Fraction(12), i + 1
    if word in ("dozens", "hundreds", "thousands", "millions", "billions"):
        raise UnreadableNumber
    if word not in UNITS and word not in TENS:
        return None
    whole, end = _cardinal(tokens, i)
    value = Fraction(whole)
    hyphen = text_at(tokens, end) == "-" and not tokens[end].spaced
    part = word_at(tokens, end + hyphen)
    if whole == 3 and part == "quarters":
        return Fraction(3, 4), end + hyphen + 1
    if part in PARTS and whole:
        return value / PARTS[part], end + hyphen + 1
    if word_at(tokens, end) in ("dozen", "dozens"):
        return value * 12, end + 1
    return value, end


def _cardinal(tokens: list[Token], i: int) -> tuple[int, int]:
    """Return the value and end of a cardinal in words: twenty-five, one hundred and five."""
    total, current, last_scale = 0, -1, 10**15
    while i < len(tokens):
        word = word_at(tokens, i)
        joins = current > 0 and current % 100 == 0
        if word in UNITS or word in TENS:
            size = UNITS.get(word, TENS.get(word, 0))
            ten_and_unit = current % 100 in range(20, 100, 10) and 0 < size < 10
            if current >= 0 and not ((joins and size) or (current > 0 and ten_and_unit)):
                break
            current = max(current, 0) + size
        elif word == "hundred" and 0 < current < 100:
            current *= 100
        elif word in _SCALES and current > 0 and _SCALES[word] < last_scale:
            last_scale = _SCALES[word]
            total, current = total + current * last_scale, -1
        elif not (
            (word == "and" and (joins or (current < 0 and total)))
            or (text_at(tokens, i) == "-" and not tokens[i].spaced and current % 100 >= 20)
        ) or not (word_at(tokens, i + 1) in UNITS or word_at(tokens, i + 1) in TENS):
            break
        i += 1
    return total + max(current, 0), i


def kind_at(tokens: list[Token], i: int) -> str:
    """Return the kind of token `i`; empty when there is none."""
    return tokens[i].kind if 0 <= i < len(tokens) else ""


def text_at(tokens: list[Token], i: int) -> str:
    """Return the text of token `i`; empty when there is none."""
    return tokens[i].text if 0 <= i < len(tokens) else ""


def word_at(tokens: list[Token], i: int) -> str:
    """Return token `i` in lower case when it is a word, else an empty text."""
    return tokens[i].text.lower() if kind_at(tokens, i) == "word" else ""
