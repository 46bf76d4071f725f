"""Answers to tagged normal forms: two answers are the same iff their normal forms are equal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from scoring.parsing.booleans import read_boolean
from scoring.parsing.choices import read_choice
from scoring.parsing.dates import names_month_and_day, read_date
from scoring.parsing.folding import fold, text_form
from scoring.parsing.issues import ISSUE_CODES, shown
from scoring.parsing.numbers import NumberReading, read_number
from scoring.types import AnswerKind, NormalForm, ParseIssue

Options = Sequence[str] | Mapping[str, str]
"""Options of a choice question: a list (lettered A, B, …) or letter → text."""

MAX_ANSWER = 10_000
"""An answer with more characters is none."""

_SENTENCE = re.compile(r"[.!?;]\s{1,4}(?![0-9\s])|\n")
_BRACKETED = re.compile(r"\[([^\[\]]{0,2000})\]?")
_THOUSANDS = re.compile(r"[0-9],[0-9]{3}(?![0-9])")
_BARE = frozenset({"answer_units", "answer_percent", "answer_expression", "answer_estimate"})
"""Codes of a reading that leaves nothing but the value itself unread."""
_CORRECTION = re.compile(
    r"(?:(?:no|wait|actually|sorry|oops|correction|rather)\b[\s,;:.—-]{0,8}){1,3}", re.IGNORECASE
)
_VARIABLE = re.compile(r"[^\W\d_]_[^\W_]|[^\W_]_[^\W\d_]")


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How one answer was read.

    Attributes
    ----------
    normal
        Its tagged normal form, or None when it has none.
    issues
        What was dropped or decided on the way.
    """

    normal: NormalForm | None
    issues: tuple[ParseIssue, ...] = ()


_Raw = tuple[NormalForm | None, tuple[str, ...]]


def read_answer(
    text: str | None,
    kind: AnswerKind = "auto",
    *,
    options: Options | None = None,
    percent: str = "keep",
) -> AnswerReading:
    r"""Read an answer and say what was dropped or decided.

    Parameters
    ----------
    text
        The answer as a model wrote it.
    kind
        The kind the question asks for; `auto` decides from the text alone (see Notes).
    options
        The options of a choice question.
    percent
        ``"keep"``: 33% is 33; ``"ratio"``: 33% is 0.33.

    Returns
    -------
    AnswerReading
        Never raises on the text.

    Raises
    ------
    ValueError
        On an unknown kind, percent rule, or options that are none.

    Notes
    -----
    "Same answer" is equality of normal forms, so it is an equivalence by construction.

    `auto` takes the first that fits: the options (given options make it a choice, nothing else);
    yes/no/true/false, alone or opening a sentence before a comma or full stop; a lone option
    letter (``D``, ``(D)``, ``D) …``); one date; one number, also inside a sentence or with a unit;
    else text. Digits that do not come to one number (``3 or 4``, ``16 * 2``) are no answer rather
    than a text. Number words count in `auto` only where they open the answer.

    When the whole is unreadable, its first sentence is tried; what follows is an explanation,
    unless it is another answer of the kind by itself or by way of correction: then there is none.
    Both yes and no ("Yes. No.") are none, also in `auto`. Arithmetic is never carried out, except
    that ``p/q`` is a fraction. What an answer denies, only bounds, or leaves to compute is none;
    an estimate is its value with the issue ``answer_estimate`` (`read_number`). Characters that
    show nothing are no part of an answer (`visible`).

    Examples
    --------
    >>> read_answer("$1,800 per year").normal
    ('number', Fraction(1800, 1))
    >>> [i.code for i in read_answer("$1,800 per year").issues]
    ['answer_units']
    """
    _check(kind, percent)
    if options is not None:
        read_choice("", options)
    if text is None:
        return AnswerReading(None)
    if len(text) > MAX_ANSWER:
        return _reading(None, ("answer_too_long",), text)
    if options is not None and kind == "auto":
        kind = "choice"
    normal, codes = _read(text, kind, options, percent)
    if normal is None and kind != "text" and "answer_polarity" not in codes:
        normal, codes = _first_sentence(text, kind, options, percent, codes)
    if normal is None:
        codes = (*codes, "answer_unreadable")
    return _reading(normal, codes, text)


def normalize_answer(
    text: str | None,
    kind: AnswerKind = "auto",
    *,
    options: Options | None = None,
    percent: str = "keep",
) -> NormalForm | None:
    r"""Return the tagged normal form of an answer, or None.

    Parameters
    ----------
    text, kind, options, percent
        As in `read_answer`.

    Returns
    -------
    tuple or None
        ``("number", Fraction)``, ``("boolean", bool)``, ``("choice", letter)``,
        ``("date", ISO)`` or ``("text", folded)``. Equal iff the same answer.

    Examples
    --------
    >>> normalize_answer("1.8k") == normalize_answer(r"\$1{,}800")
    True
    >>> normalize_answer("D) a torch", options=["a", "b", "c", "a torch"])
    ('choice', 'D')
    >>> normalize_answer("between 2 and 5") is None
    True
    """
    return read_answer(text, kind, options=options, percent=percent).normal


def format_answer(normal: NormalForm | None) -> str:
    """Return a normal form as text for a reader; `normalize_answer` reads it back unchanged.

    Parameters
    ----------
    normal
        A normal form, or None.

    Returns
    -------
    str
        Integers plain, terminating decimals as decimals, other fractions ``p/q``, booleans
        yes/no; a dash for None.

    Examples
    --------
    >>> format_answer(("number", Fraction(9, 5))), format_answer(("number", Fraction(1, 3)))
    ('1.8', '1/3')
    """
    if normal is None:
        return "–"
    value = normal[1]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return _format_number(value)


def _format_number(value: Fraction) -> str:
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    sign = "-" if value < 0 else ""
    if not places:
        return f"{sign}{scaled}"
    digits = str(scaled).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _check(kind: str, percent: str) -> None:
    if kind not in get_args(AnswerKind):
        raise ValueError(f"kind={kind!r} must be one of {', '.join(get_args(AnswerKind))}")
    if percent not in ("keep", "ratio"):
        raise ValueError(f"percent={percent!r} must be 'keep' or 'ratio'")


def _reading(normal: NormalForm | None, codes: tuple[str, ...], text: str) -> AnswerReading:
    said = shown(text.strip())
    issues = (ParseIssue(c, f"{ISSUE_CODES[c]}: {said}") for c in dict.fromkeys(codes))
    return AnswerReading(normal, tuple(issues))


def _first_sentence(
    text: str, kind: AnswerKind, options: Options | None, percent: str, codes: tuple[str, ...]
) -> _Raw:
    """Read the first sentence, unless a later one is another answer or corrects it."""
    first, *later = _SENTENCE.split(text.strip(), maxsplit=20)
    if not later:
        return None, codes
    normal, found = _read(first, kind, options, percent)
    if normal is None:
        return None, found or codes
    for sentence in later:
        corrects = _CORRECTION.match(sentence)
        said = sentence[corrects.end() :] if corrects else sentence
        other, how = _read(said, kind, options, percent)
        if other is None or other == normal or (other[0] == "text" and normal[0] != "text"):
            continue
        if corrects or set(how) <= _BARE:
            return None, ("answer_corrected",)
    return normal, ("answer_first_sentence", *found)


def _read(text: str, kind: AnswerKind, options: Options | None, percent: str) -> _Raw:
    if kind == "text":
        form = text_form(text)
        return (("text", form) if form else None), ()
    if kind == "choice":
        return read_choice(text, options, sure=True)
    folded = fold(text)
    if kind == "number":
        normal, codes, _ = _number(text, folded, percent)
        return normal, codes
    if kind == "boolean":
        value, codes = read_boolean(folded, known=True)
        return (None if value is None else ("boolean", value)), codes
    if kind == "date":
        date = read_date(folded)
        return (("date", date.value) if date.value else None), date.codes
    return _auto(text, folded, percent)


def _auto(text: str, folded: str, percent: str) -> _Raw:
    """Choose the kind from the text alone, in the order `read_answer` documents."""
    value, codes = read_boolean(folded)
    if value is not None or codes:
        return (None if value is None else ("boolean", value)), codes
    if text.count("[") > text.count("]"):
        return None, ("answer_brackets",)
    choice, codes = read_choice(text, None)
    if choice is not None:
        return choice, codes
    date = read_date(folded)
    if date.value and (date.alone or not _other_digits(folded, date.value)):
        return ("date", date.value), date.codes
    normal, codes, number = _number(text, folded, percent)
    if number.digits and not _is_label(folded):
        return normal, codes
    if normal is not None and _opens_with_number(number):
        return normal, codes
    form = text_form(text)
    if form and form != text:
        return _auto(form, fold(form), percent) if fold(form) != folded else (("text", form), ())
    return (("text", form) if form else None), ()


def _other_digits(folded: str, iso: str) -> bool:
    """Return whether a sentence with one date holds further numbers."""
    return len(re.findall(r"[0-9]+", folded)) > 3 or iso[:4] not in folded


def _is_label(folded: str) -> bool:
    """Return whether digits belong to a date without a year, a time or an ordinal: a text."""
    return names_month_and_day(folded) or bool(
        re.search(r"(?<![0-9])[0-9]{1,2}:[0-9]{2}|[0-9](?:st|nd|rd|th)\b", folded)
    )


def _opens_with_number(number: NumberReading) -> bool:
    pronoun = number.value == 1 and number.words_after > 0
    return number.words_before == 0 and number.words_after <= 3 and not pronoun


def _number(
    text: str, folded: str, percent: str
) -> tuple[NormalForm | None, tuple[str, ...], NumberReading]:
    number = read_number(folded, ratio=percent == "ratio")
    codes = number.codes
    if "[" in text:
        codes = ("answer_brackets", *codes)
        inner = _BRACKETED.search(text.replace(r"\[", " ").replace(r"\]", " "))
        listed = inner is not None and "," in _THOUSANDS.sub("", inner[1])
        unclosed = inner is not None and not inner[0].endswith("]")
        if listed or unclosed:
            return None, codes, number
    symbolic = "answer_expression" not in number.codes and _VARIABLE.search(folded) is not None
    if number.value is None or symbolic:
        return None, codes, number
    return ("number", number.value), codes, number
