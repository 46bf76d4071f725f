"""Answers to multiple-choice questions: letter, bracketed letter, letter with text, bare text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from scoring.parsing.folding import fold, text_form
from scoring.parsing.numbers import read_number
from scoring.parsing.qualifiers import is_bounded, is_denied
from scoring.types import NormalForm

_LETTER = re.compile(
    r"(?:(?:option|choice|answer)\s{1,4})?[(\[]?\s{0,2}([A-Za-z])\s{0,2}"
    r"(?:([)\].:,])(.*)|([-–—])\s(.*))?",
    re.DOTALL | re.IGNORECASE,
)
_MENTION = re.compile(r"\(([A-Za-z])\)")
_OWN_LETTER = re.compile(r"\(?([A-Za-z])[).:]\s{1,4}(?=\S)")

_Raw = tuple[NormalForm | None, tuple[str, ...]]


def lettered(options: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return options as letter → text form.

    Parameters
    ----------
    options
        A list (lettered A, B, … in order) or letter → text. A text that opens with its own
        letter loses it.

    Raises
    ------
    ValueError
        When there are none, more than 26 in a list, or a letter is not one letter.

    Examples
    --------
    >>> lettered(["(A) Red", "(B) Blue"])
    {'A': 'red', 'B': 'blue'}
    """
    if isinstance(options, str) or not options:
        raise ValueError(f"options={options!r} must be a non-empty list of texts or letter → text")
    if not isinstance(options, Mapping):
        if len(options) > 26:
            raise ValueError(f"{len(options)} options: a list has at most 26, give letter → text")
        options = {chr(65 + i): text for i, text in enumerate(options)}
    out: dict[str, str] = {}
    for key, text in options.items():
        letter = str(key).strip("()[]. ").upper()
        if not re.fullmatch(r"[A-Z]", letter) or letter in out:
            raise ValueError(f"option letter {key!r} must be one letter from A to Z, used once")
        own = _OWN_LETTER.match(str(text).strip())
        bare = str(text).strip()[own.end() :] if own and own[1].upper() == letter else str(text)
        out[letter] = text_form(bare)
    return out


def read_choice(
    text: str, options: Sequence[str] | Mapping[str, str] | None, *, sure: bool = False
) -> _Raw:
    """Read a choice.

    Parameters
    ----------
    text
        The answer as written.
    options
        The question's options; None when they are not known.
    sure
        Whether the question is known to be a choice although its options are not.

    Returns
    -------
    tuple
        (normal form or None, issue codes).

    Notes
    -----
    With options: an option's whole text, its letter (``D``, ``(D)``, ``D.``, ``d``, ``option D``),
    or its letter and text. When the text after a letter is another option's, nothing is decided;
    when it is no option's, the letter counts and that is noted. In a sentence, exactly one
    bracketed letter, else exactly one option's text that no other option contains, counts,
    unless the sentence denies it ("not (D)"). Options that are plain numbers are met by the number
    the answer states, however spelled, and by nothing else: ``√16`` is not the option 16. Without
    options a capital letter alone, or a letter before ``)``, is a choice; when `sure`, any
    letter alone or before ``.``, ``)`` or ``:``.

    Examples
    --------
    >>> read_choice("(b)", ["red", "blue"])
    (('choice', 'B'), ())
    >>> read_choice("B) red", ["red", "blue"])
    (None, ())
    """
    folded = fold(text)
    if options is None:
        return _without_options(text, folded, sure)
    table = lettered(options)
    form = text_form(text)
    if not form:
        return None, ()
    same = [letter for letter, option in table.items() if option == form]
    if same:
        return (("choice", same[0]), ()) if len(same) == 1 else (None, ())
    places = {m[1].upper(): m.span() for m in _MENTION.finditer(text) if m[1].upper() in table}
    if len(places) > 1:
        return None, ()
    match = _LETTER.fullmatch(folded)
    if match and match[1].upper() in table:
        return _letter(match, table)
    for letter, (start, end) in places.items():
        if is_denied(text[:start], text[end:]):
            return None, ("answer_denied",)
        return ("choice", letter), ("answer_in_sentence",)
    return _in_words(form, folded, table)


def _in_words(form: str, folded: str, table: dict[str, str]) -> _Raw:
    """Find the one option a text names, or whose number it states ("$12" for "12")."""
    numbers = {
        k: value for k, option in table.items() if (value := _plain_number(option)) is not None
    }
    inside = {k: place for k in table if k not in numbers if (place := _place(form, table[k]))}
    if len(inside) == 1:
        letter, (start, end) = inside.popitem()
        if is_denied(form[:start], form[end:]):
            return None, ("answer_denied",)
        if form[start].isdigit() and is_bounded(form[:start], form[end:]):
            return None, ("answer_bound",)
        return ("choice", letter), ("answer_in_sentence",)
    stated = read_number(folded)
    if inside or stated.value is None:
        return None, () if inside else stated.codes
    equal = [k for k, value in numbers.items() if value == stated.value]
    codes = tuple(k for k in stated.codes if k in ("answer_estimate", "answer_in_sentence"))
    return (("choice", equal[0]), codes) if len(equal) == 1 else (None, ())


def _plain_number(text: str) -> Fraction | None:
    """Return a number that stands alone, a currency sign beside it at most."""
    number = read_number(text)
    alone = not number.words_before and not number.words_after
    return number.value if alone else None


def _letter(match: re.Match[str], table: dict[str, str]) -> _Raw:
    letter = match[1].upper()
    if is_denied("", match[3] or match[5] or ""):
        return None, ("answer_denied",)
    rest = text_form(match[3] or match[5] or "")
    if not rest or rest == table[letter]:
        return ("choice", letter), ()
    others = {w.upper() for w in re.findall(r"\b[b-hj-z]\b|\b[ai]$", rest)} | {rest.upper()}
    if rest in table.values() or others & set(table) - {letter}:
        return None, ()
    return ("choice", letter), ("choice_text_differs",)


def _place(form: str, option: str) -> tuple[int, int] | None:
    """Return where an option's text stands in a form as a whole, not as part of a larger number."""
    if not option:
        return None
    left = r"(?<![\w.,√^/*+-])" if option[0].isdigit() else r"(?<!\w)"
    right = r"(?!\w|[.,][0-9]|\s?[\^/*!+])" if option[-1].isdigit() else r"(?!\w)"
    match = re.search(left + re.escape(option) + right, form)
    return match.span() if match else None


def _without_options(text: str, folded: str, sure: bool) -> _Raw:
    bare = folded.strip()
    loose = _LETTER.fullmatch(bare) if sure else None
    if loose is not None and loose[3] != ",":
        return ("choice", loose[1].upper()), ()
    if re.fullmatch(r"[A-Z]", bare):
        return ("choice", bare), ()
    match = re.fullmatch(r"\W{0,4}\(([A-Za-z])\)(?:\s.*)?\W{0,4}", text.strip(), re.DOTALL)
    match = match or re.fullmatch(r"\(?([A-Za-z])\)(?:\s.*)?", bare, re.DOTALL)
    match = match or re.fullmatch(r"(?:option|choice)\s{1,4}\(?([A-Za-z])\)?", bare, re.IGNORECASE)
    return (("choice", match[1].upper()), ()) if match else (None, ())
