"""Numbers in answers: digits, words, fractions and scales to exact `Fraction` values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from scoring.parsing.number_words import (
    AFTER,
    PARTS,
    TENS,
    UNITS,
    Token,
    UnreadableNumber,
    kind_at,
    text_at,
    tokenize,
    word_at,
    words_at,
)
from scoring.parsing.qualifiers import estimate_words, is_bounded, is_denied, is_operand

MAX_VALUE = 10**100
"""Numerators and denominators beyond this are refused: no answer needs them."""
_MAX_DIGITS = 1000

_GROUPS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_SUFFIX = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9, "B": 10**9}
_CURRENCY = frozenset("$€£¥¢")
_OPERATORS = frozenset("+*/^<>≤≥≠±")
_ORDINAL = frozenset(["st", "nd", "rd", "th"])
_VARIABLES = frozenset("abefijnoqruvwxyz")
"""Letters that are no unit when they stand right behind digits: 3x, 2i, 5n."""
_GREEK = re.compile(r"[αβγδεζηθικλνξοπρστυφχψω]")
_RADIX = re.compile(r"x[0-9a-f]*|b[01]+|o[0-7]+")
_POWERED_UNIT = re.compile(r"(?:[kcdm]?m|ft|in|yd|mi)[23]")
_SIGN_WORDS = {"minus": "-", "negative": "-", "plus": "+", "positive": "+"}
_BEFORE_SIGN = frozenset(
    [
        *("is", "was", "are", "were", "be", "equals", "equal", "to", "of", "at", "about", "around"),
        *("by", "approximately", "roughly", "nearly", "almost", "than", "not", "exactly", "get"),
        *("gets", "a"),
    ]
)


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
        Words beside the number; those that only mark a sign or an estimate do not count.
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
        Without a value when there is none, more than one, or the text does not state it.

    Notes
    -----
    After the last ``=`` or ``≈`` if there is one. The lone word "one" beside another number is a
    pronoun and does not count. An en dash or minus between words and a number makes arithmetic;
    "minus" and "negative" are signs where no term stands before them.

    A number counts only when the text states it. These state none: a denial ("not 12"), a bound
    ("less than 5", "at least 5", "5 or more": a range, not a value) and an operation that is left
    to carry out (``√16``, ``2π``, ``5!``, ``2^3``, ``log 8``, "a third of 9", ``5-``; only ``p/q``
    and ``a × 10^n`` are spellings of a number). A digit followed by ``!`` may be a factorial or a
    cry, so it is none. ``0x10``, ``0b1``, ``5x5`` are none. An estimate ("about 5", ``≈ 5``,
    "5 or so") is its number, with the issue ``answer_estimate``.

    Examples
    --------
    >>> read_number("one hundred and five apples").value
    Fraction(105, 1)
    >>> read_number("16 * 2 = 32").value
    Fraction(32, 1)
    >>> read_number("minus five").value
    Fraction(-5, 1)
    >>> [read_number(t).value for t in ("3 or 4", "not 12", "at least 5", "√16")]
    [None, None, None, None]
    """
    if any(c in text for c in "<>≤≥≠") or text.count("[") != text.count("]"):
        return NumberReading(None, digits=any(c.isdigit() for c in text))
    codes: list[str] = []
    cut = max(text.rfind("="), text.rfind("≈"))
    if any(c.isalnum() for c in text[: max(cut, 0)]) or text[cut : cut + 1] == "=":
        codes.append("answer_expression")
    if cut >= 0 and text[cut] == "≈":
        codes.append("answer_estimate")
    text = text[cut + 1 :]
    tokens = tokenize(text)
    digits = any(t.kind == "num" for t in tokens)
    try:
        tokens = _with_signs(tokens)
        found = _numbers(tokens)
    except UnreadableNumber:
        return NumberReading(None, digits=digits)
    if len(found) > 1:
        found = [f for f in found if not _is_pronoun(f, tokens)]
    if len(found) != 1:
        return NumberReading(None, digits=digits)
    return _stated(found[0], text, tokens, codes, ratio)


def _stated(
    one: _Found, text: str, tokens: list[Token], codes: list[str], ratio: bool
) -> NumberReading:
    """Return the reading of the only number of a text, if the text states it."""
    digits = any(t.kind == "num" for t in tokens)
    last = tokens[one.end - 1]
    before, after = text[: tokens[one.start].at], text[last.at + len(last.text) :]
    for code, fails in (
        ("answer_bound", is_bounded(before, after)),
        ("answer_denied", is_denied(before, after)),
        ("answer_operation", is_operand(before, after) or _is_arithmetic(one, tokens)),
    ):
        if fails:
            return NumberReading(None, (*codes, code), digits)
    value = one.value / 100 if one.percent and ratio else one.value
    if abs(value.numerator) >= MAX_VALUE or value.denominator > MAX_VALUE:
        return NumberReading(None, digits=digits)
    if one.percent:
        codes.append("answer_percent")
    estimate = estimate_words(before, after)
    if estimate is not None and "answer_estimate" not in codes:
        codes.append("answer_estimate")
    words_before = sum(t.kind == "word" for t in tokens[: one.start]) - (estimate or 0)
    words_after = sum(t.kind == "word" for t in tokens[one.end :])
    if words_before:
        codes.append("answer_in_sentence")
    elif words_after or any(t.text in _CURRENCY for t in tokens):
        codes.append("answer_units")
    return NumberReading(value, tuple(codes), digits, words_before, words_after, one.spelled)


def _with_signs(tokens: list[Token]) -> list[Token]:
    """Return the tokens with "minus" and "negative" before a number as signs.

    "Negative" always is one. "Minus" and "plus" between a term and a number are arithmetic.
    """
    out: list[Token] = []
    for i, token in enumerate(tokens):
        sign = _SIGN_WORDS.get(word_at(tokens, i), "")
        if sign and text_at(tokens, i + 1) in ("-", "+"):
            raise UnreadableNumber
        k = i + 1 + (text_at(tokens, i + 1) in _CURRENCY)
        if sign and (kind_at(tokens, k) == "num" or _is_number_word(tokens, k)):
            before = tokens[i - 1] if i else None
            opens = before is None or (before.kind == "op" and before.text not in ")]%")
            if not opens and word_at(tokens, i)[-4:] != "tive":
                opens = word_at(tokens, i - 1) in _BEFORE_SIGN
                if not opens:
                    raise UnreadableNumber
            token = Token("op", sign, True, token.at)
        elif i and out[-1].kind == "op" and _SIGN_WORDS.get(word_at(tokens, i - 1)):
            token = Token(token.kind, token.text, False, token.at)
        out.append(token)
    return out


def _is_number_word(tokens: list[Token], i: int) -> bool:
    word = word_at(tokens, i)
    return word in UNITS or word in TENS or words_at(tokens, i) is not None if word else False


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
        words = words_at(tokens, i)
        if words is None:
            return None
        value, end = words
        spelled = True
    if word_at(tokens, end) == "and" and word_at(tokens, end + 1) == "a":
        part = word_at(tokens, end + 2)
        if part in ("half", "quarter", "third"):
            value, end = value + Fraction(1, PARTS[part]), end + 3
    percent = False
    if text_at(tokens, end) == "%" or word_at(tokens, end) in ("percent", "percentage"):
        percent, end = True, end + 1
    elif word_at(tokens, end) == "per" and word_at(tokens, end + 1) == "cent":
        percent, end = True, end + 2
    if _is_signed(tokens, i):
        value = -value
    return _Found(value, i, end, percent, spelled)


def _is_signed(tokens: list[Token], i: int, sign: str = "-") -> bool:
    """Return whether a sign belongs to the number at `i` (a currency sign may stand between).

    Two minus signs in a row may be a dash or a double negation: they make no number.
    """
    k = i - 1
    spaced = tokens[i].spaced
    if k >= 0 and tokens[k].text in _CURRENCY:
        spaced = tokens[k].spaced
        k -= 1
    if k < 0 or tokens[k].text != sign:
        return False
    if k == 0:
        return True
    before = tokens[k - 1]
    if before.text == "-":
        if sign == "-":
            raise UnreadableNumber
        return False
    if before.kind == "op" and before.text not in ")]%":
        return True
    return tokens[k].spaced and not spaced


def _digits_at(tokens: list[Token], i: int) -> tuple[Fraction, int]:
    value = _literal(tokens[i].text)
    if tokens[i].text[0] == "." and not tokens[i].spaced and kind_at(tokens, i - 1) == "word":
        raise UnreadableNumber
    end = i + 1
    if end < len(tokens) and tokens[end].kind == "word" and not tokens[end].spaced:
        suffix = tokens[end].text
        if _is_no_unit(suffix, tokens[i].text):
            raise UnreadableNumber
        if suffix in _SUFFIX:
            value, end = value * _SUFFIX[suffix], end + 1
    if text_at(tokens, end) == ":" and kind_at(tokens, end + 1) == "num":
        raise UnreadableNumber
    if text_at(tokens, end) == "/" and kind_at(tokens, end + 1) == "num":
        value, end = _over(value, _literal(tokens[end + 1].text)), end + 2
    elif (
        value.denominator == 1
        and kind_at(tokens, end) == "num"
        and text_at(tokens, end + 1) == "/"
        and kind_at(tokens, end + 2) == "num"
    ):
        part = _over(_literal(tokens[end].text), _literal(tokens[end + 2].text))
        if not 0 < part < 1:
            raise UnreadableNumber
        value, end = value + part, end + 3
    elif text_at(tokens, end).lower() in ("*", "x") and text_at(tokens, end + 1) == "10":
        value, end = _power(tokens, value, end)
    while word_at(tokens, end) in AFTER:
        value, end = value * AFTER[word_at(tokens, end)], end + 1
    return value, end


def _is_no_unit(suffix: str, digits: str) -> bool:
    """Return whether letters right behind digits change the number: 21st, 3x, 2π, 0x10, 5x5."""
    if suffix.lower() in _ORDINAL or suffix in _VARIABLES or suffix == "pi":
        return True
    if _GREEK.match(suffix) or (digits == "0" and _RADIX.fullmatch(suffix.lower())):
        return True
    return any(c.isdigit() for c in suffix) and not _POWERED_UNIT.fullmatch(suffix)


def _power(tokens: list[Token], value: Fraction, end: int) -> tuple[Fraction, int]:
    """Read ``× 10^n`` after a number."""
    if text_at(tokens, end + 2) != "^":
        return value, end
    k = end + 3
    sign = -1 if text_at(tokens, k) == "-" else 1
    k += text_at(tokens, k) in ("-", "+")
    exponent = text_at(tokens, k)
    if not exponent.isdecimal() or len(exponent) > 3:
        raise UnreadableNumber
    return value * Fraction(10) ** (sign * int(exponent)), k + 1


def _over(top: Fraction, bottom: Fraction) -> Fraction:
    if bottom == 0:
        raise UnreadableNumber
    return top / bottom


def _literal(text: str) -> Fraction:
    """Return the exact value of one digit token, refusing what is too long to be an answer."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > _MAX_DIGITS or len(exponent) > 5:
        raise UnreadableNumber
    power = int(exponent) if exponent else 0
    if abs(power) > 200 or ("," in mantissa and not _GROUPS.fullmatch(mantissa)):
        raise UnreadableNumber
    return Fraction(mantissa.replace(",", "")) * Fraction(10) ** power


def _is_pronoun(found: _Found, tokens: list[Token]) -> bool:
    return found.spelled and found.end == found.start + 1 and tokens[found.start].text == "one"


def _is_arithmetic(found: _Found, tokens: list[Token]) -> bool:
    """Return whether an operator beside the number leaves something to compute."""
    after = tokens[found.end] if found.end < len(tokens) else None
    if after is not None and (after.text in _OPERATORS or (after.text == "-" and after.spaced)):
        unit = after.text == "/" and kind_at(tokens, found.end + 1) == "word"
        if not unit or after.spaced:
            return True
    k = found.start - 1
    if k >= 0 and tokens[k].text in _CURRENCY:
        k -= 1
    if k < 0:
        return False
    if tokens[k].text in ("-", "+"):
        return not _is_signed(tokens, found.start, tokens[k].text)
    return tokens[k].text in _OPERATORS
