"""Numbers in answers: digits, words, fractions and scales to exact `Fraction` values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_VALUE = 10**100
"""Numerators and denominators beyond this are refused: no answer needs them."""
_MAX_DIGITS = 1000

_TOKEN = re.compile(
    r"(?P<num>(?:[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>[^\W\d_](?:[^\W_]|_(?=\w))*(?:'[^\W\d_]+)?)"
    r"|(?P<op>[^\w\s]|_)"
)
_GROUPS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_UNITS = {
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
_TENS = {
    w: 10 * i
    for i, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_AFTER = {"hundred": 100, "dozen": 12, "dozens": 12} | _SCALES
_AFTER |= {f"{w}s": v for w, v in list(_SCALES.items())} | {"hundreds": 100}
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "fourth": 4, "fourths": 4}
_PARTS |= {"fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8}
_PARTS |= {"tenth": 10, "tenths": 10}
_SUFFIX = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9}
_CURRENCY = frozenset("$€£¥¢")
_OPERATORS = frozenset("+*/^<>≤≥≠±")
_ORDINAL = frozenset(["st", "nd", "rd", "th"])
_VARIABLES = frozenset("xyzn")


@dataclass(frozen=True, slots=True)
class Token:
    """A number, word or other character, and whether white space stands before it."""

    kind: str
    text: str
    spaced: bool


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What a text says as a number.

    Attributes
    ----------
    value
        The one number, or None.
    codes
        Issue codes about how it was read.
    digits
        Whether any number in digits occurs, readable or not.
    words_before, words_after
        Words beside the number.
    spelled
        Whether the number was written in words.
    """

    value: Fraction | None
    codes: tuple[str, ...] = ()
    digits: bool = False
    words_before: int = 0
    words_after: int = 0
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    value: Fraction
    start: int
    end: int
    percent: bool
    spelled: bool


class _Unreadable(Exception):
    """The text holds a number that cannot be one exact value (too large, ordinal, variable)."""


def read_number(text: str, *, ratio: bool = False) -> NumberReading:
    """Read the one number of a folded text.

    Parameters
    ----------
    text
        An answer after `fold`.
    ratio
        Whether 33% is 0.33 (else 33).

    Returns
    -------
    NumberReading
        Without a value when there is none, more than one, or arithmetic that is left to do.

    Notes
    -----
    After the last ``=`` or ``≈`` if there is one. The lone word "one" beside another number is a
    pronoun and does not count. An en dash or minus between words and a number makes arithmetic.

    Examples
    --------
    >>> read_number("one hundred and five apples").value
    Fraction(105, 1)
    >>> read_number("16 * 2 = 32").value
    Fraction(32, 1)
    >>> read_number("3 or 4").value is None
    True
    """
    codes: list[str] = []
    if any(c in text for c in "<>≤≥≠") or text.count("[") != text.count("]"):
        return NumberReading(None, digits=any(c.isdigit() for c in text))
    cut = max(text.rfind("="), text.rfind("≈"))
    if cut >= 0:
        codes.append("answer_expression")
        text = text[cut + 1 :]
    tokens = _tokens(text)
    digits = any(t.kind == "num" for t in tokens)
    try:
        found = _numbers(tokens)
    except _Unreadable:
        return NumberReading(None, digits=digits)
    if len(found) > 1:
        found = [f for f in found if not _is_pronoun(f, tokens)]
    if len(found) != 1 or _is_arithmetic(found[0], tokens):
        return NumberReading(None, digits=digits)
    one = found[0]
    value = one.value / 100 if one.percent and ratio else one.value
    if abs(value.numerator) >= MAX_VALUE or value.denominator > MAX_VALUE:
        return NumberReading(None, digits=digits)
    if one.percent:
        codes.append("answer_percent")
    before = sum(t.kind == "word" for t in tokens[: one.start])
    after = sum(t.kind == "word" for t in tokens[one.end :])
    currency = any(t.text in _CURRENCY for t in tokens)
    if before:
        codes.append("answer_in_sentence")
    elif after or currency:
        codes.append("answer_units")
    return NumberReading(value, tuple(codes), digits, before, after, one.spelled)


def _tokens(text: str) -> list[Token]:
    out: list[Token] = []
    end = 0
    for m in _TOKEN.finditer(text):
        out.append(Token(m.lastgroup or "op", m[0], m.start() > end or not out))
        end = m.end()
    return out


def _numbers(tokens: list[Token]) -> list[_Found]:
    out: list[_Found] = []
    i = 0
    while i < len(tokens):
        one = _number_at(tokens, i)
        if one is None:
            i += 1
        else:
            out.append(one)
            i = one.end
            if len(out) > 8:
                break
    return out


def _number_at(tokens: list[Token], i: int) -> _Found | None:
    """Return the number that starts at token `i`, scales, fractions and percent included."""
    if tokens[i].kind == "num":
        value, end = _digits_at(tokens, i)
        spelled = False
    else:
        words = _words_at(tokens, i)
        if words is None:
            return None
        value, end = words
        spelled = True
    if _word(tokens, end) == "and" and _word(tokens, end + 1) == "a":
        part = _word(tokens, end + 2)
        if part in ("half", "quarter", "third"):
            value, end = value + Fraction(1, _PARTS[part]), end + 3
    percent = False
    if _text(tokens, end) == "%" or _word(tokens, end) in ("percent", "percentage"):
        percent, end = True, end + 1
    elif _word(tokens, end) == "per" and _word(tokens, end + 1) == "cent":
        percent, end = True, end + 2
    if _is_signed(tokens, i):
        value = -value
    return _Found(value, i, end, percent, spelled)


def _is_signed(tokens: list[Token], i: int) -> bool:
    """Return whether a minus sign belongs to the number at `i` (a currency sign may stand between)."""
    k = i - 1
    spaced = tokens[i].spaced
    if k >= 0 and tokens[k].text in _CURRENCY:
        spaced = tokens[k].spaced
        k -= 1
    if k < 0 or tokens[k].text != "-":
        return False
    if k == 0:
        return True
    before = tokens[k - 1]
    if before.kind == "op" and before.text not in ")]%":
        return True
    return tokens[k].spaced and not spaced


def _digits_at(tokens: list[Token], i: int) -> tuple[Fraction, int]:
    value = _literal(tokens[i].text)
    end = i + 1
    if end < len(tokens) and tokens[end].kind == "word" and not tokens[end].spaced:
        suffix = tokens[end].text
        if suffix.lower() in _ORDINAL or suffix in _VARIABLES:
            raise _Unreadable
        if suffix in _SUFFIX:
            value, end = value * _SUFFIX[suffix], end + 1
    if _text(tokens, end) == ":" and _kind(tokens, end + 1) == "num":
        raise _Unreadable
    if _text(tokens, end) == "/" and _kind(tokens, end + 1) == "num":
        value, end = _over(value, _literal(tokens[end + 1].text)), end + 2
    elif (
        value.denominator == 1
        and _kind(tokens, end) == "num"
        and _text(tokens, end + 1) == "/"
        and _kind(tokens, end + 2) == "num"
    ):
        part = _over(_literal(tokens[end].text), _literal(tokens[end + 2].text))
        if not 0 < part < 1:
            raise _Unreadable
        value, end = value + part, end + 3
    elif _text(tokens, end).lower() in ("*", "x") and _text(tokens, end + 1) == "10":
        value, end = _power(tokens, value, end)
    while _word(tokens, end) in _AFTER:
        value, end = value * _AFTER[_word(tokens, end)], end + 1
    return value, end


def _power(tokens: list[Token], value: Fraction, end: int) -> tuple[Fraction, int]:
    """Read ``× 10^n`` after a number."""
    if _text(tokens, end + 2) != "^":
        return value, end
    k = end + 3
    sign = -1 if _text(tokens, k) == "-" else 1
    k += _text(tokens, k) in ("-", "+")
    exponent = _text(tokens, k)
    if not exponent.isdecimal() or len(exponent) > 3:
        raise _Unreadable
    return value * Fraction(10) ** (sign * int(exponent)), k + 1


def _over(top: Fraction, bottom: Fraction) -> Fraction:
    if bottom == 0:
        raise _Unreadable
    return top / bottom


def _literal(text: str) -> Fraction:
    """Return the exact value of one digit token, refusing what is too long to be an answer."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > _MAX_DIGITS or len(exponent) > 5:
        raise _Unreadable
    power = int(exponent) if exponent else 0
    if abs(power) > 200 or ("," in mantissa and not _GROUPS.fullmatch(mantissa)):
        raise _Unreadable
    return Fraction(mantissa.replace(",", "")) * Fraction(10) ** power


def _words_at(tokens: list[Token], i: int) -> tuple[Fraction, int] | None:
    word = _word(tokens, i)
    if word in ("a", "an") and _word(tokens, i + 1) in ("dozen", "hundred", "thousand", "million"):
        return Fraction(_AFTER[_word(tokens, i + 1)]), i + 2
    if word == "half":
        if _word(tokens, i + 1) == "a" and _word(tokens, i + 2) in ("dozen", "million"):
            return Fraction(_AFTER[_word(tokens, i + 2)], 2), i + 3
        return Fraction(1, 2), i + 1
    if word == "dozen":
        return Fraction(12), i + 1
    if word in ("dozens", "hundreds", "thousands", "millions", "billions"):
        raise _Unreadable
    if word not in _UNITS and word not in _TENS:
        return None
    whole, end = _cardinal(tokens, i)
    value = Fraction(whole)
    hyphen = _text(tokens, end) == "-" and not tokens[end].spaced
    part = _word(tokens, end + hyphen)
    if whole == 3 and part == "quarters":
        return Fraction(3, 4), end + hyphen + 1
    if part in _PARTS and whole:
        return value / _PARTS[part], end + hyphen + 1
    if _word(tokens, end) in ("dozen", "dozens"):
        return value * 12, end + 1
    return value, end


def _cardinal(tokens: list[Token], i: int) -> tuple[int, int]:
    """Return the value and end of a cardinal in words: twenty-five, one hundred and five."""
    total, current, last_scale = 0, -1, 10**15
    while i < len(tokens):
        word = _word(tokens, i)
        joins = current > 0 and current % 100 == 0
        if word in _UNITS or word in _TENS:
            size = _UNITS.get(word, _TENS.get(word, 0))
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
            or (_text(tokens, i) == "-" and not tokens[i].spaced and current % 100 >= 20)
        ) or not (_word(tokens, i + 1) in _UNITS or _word(tokens, i + 1) in _TENS):
            break
        i += 1
    return total + max(current, 0), i


def _is_pronoun(found: _Found, tokens: list[Token]) -> bool:
    return found.spelled and found.end == found.start + 1 and tokens[found.start].text == "one"


def _is_arithmetic(found: _Found, tokens: list[Token]) -> bool:
    """Return whether an operator beside the number leaves something to compute."""
    after = tokens[found.end] if found.end < len(tokens) else None
    if after is not None and (after.text in _OPERATORS or (after.text == "-" and after.spaced)):
        unit = after.text == "/" and _kind(tokens, found.end + 1) == "word"
        if not unit or after.spaced:
            return True
    k = found.start - 1
    if k >= 0 and tokens[k].text in _CURRENCY:
        k -= 1
    if k < 0:
        return False
    if tokens[k].text == "-":
        return not _is_signed(tokens, found.start)
    if tokens[k].text == "+":
        return k > 0
    return tokens[k].text in _OPERATORS


def _kind(tokens: list[Token], i: int) -> str:
    return tokens[i].kind if 0 <= i < len(tokens) else ""


def _text(tokens: list[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def _word(tokens: list[Token], i: int) -> str:
    return tokens[i].text.lower() if _kind(tokens, i) == "word" else ""
