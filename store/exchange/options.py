"""The options of a question file's row, and which of them its answer names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from scoring.parsing.choices import lettered
from store.exchange.lines import LineError
from store.exchange.question_rows import Fields, described, structure

_LETTERED = re.compile(r"(?:op|opt|option|choice)?_?([a-j])")
_NUMBERED = re.compile(r"(?:ending|option|choice)_?([0-9])")
_BY_TEXT = ("answer", "answer_text", "correct_answer", "label")
"""Fields that may name an option by its text."""
_SHAPES = "letter → text, or a list of texts"


def lettered_options(fields: Fields) -> dict[str, str]:
    """Return a row's options as letter → text, blank ones left out.

    Raises
    ------
    LineError
        When there are fewer than two, or a letter is none.
    """
    value = fields.take("options", "choices")
    if isinstance(value, str):
        found = structure(value)
        if found is None:
            raise LineError(f"options is {described(value)}; {_SHAPES}, as JSON, is right")
        value = found
    pairs = _columns(fields) if value is None else list(_pairs(value))
    options: dict[str, str] = {}
    for key, text in pairs:
        letter = key.strip("()[]. ").upper() if isinstance(key, str) else ""
        if isinstance(text, int | float) and not isinstance(text, bool):
            text = str(text)
        if text is None or text == "":
            continue
        if not isinstance(text, str) or not text.strip():
            raise LineError(f"option {letter} is {described(text)}; a text is right")
        if letter in options or not re.fullmatch("[A-Z]", letter):
            raise LineError("an option's letter is not one from A to Z, used once; it is right so")
        options[letter] = text
    if len(options) < 2:
        raise LineError(f"{len(options)} options in options or columns of their own; {_SHAPES}")
    try:
        lettered(options)
    except ValueError as error:
        raise LineError(f"options: {error}") from error
    return options


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    if not isinstance(value, list) or len(value) > 26:
        raise LineError(f"options is {described(value)}; {_SHAPES}, is right")
    if all(isinstance(v, dict) and {"key", "value"} <= set(v) for v in value):
        return [(v["key"], v["value"]) for v in value]
    return [(chr(ord("A") + i), text) for i, text in enumerate(value)]


def _columns(fields: Fields) -> list[tuple[str, Any]]:
    """Return the options that stand in columns of their own: by letter, else by number."""
    by_letter = [(m[1], name) for name in fields if (m := _LETTERED.fullmatch(name))]
    if by_letter:
        return [(letter, fields.take(name)) for letter, name in sorted(by_letter)]
    by_number = sorted((m[1], name) for name in fields if (m := _NUMBERED.fullmatch(name)))
    return [(chr(ord("A") + i), fields.take(name)) for i, (_, name) in enumerate(by_number)]


def gold_letter(fields: Fields, options: dict[str, str]) -> str | None:
    """Return the letter of the right option, None where the row does not say.

    Raises
    ------
    LineError
        When an answer names no option, or could be two.
    """
    if "cop" in fields:
        raise LineError(
            "cop counts from 0 in some files and from 1 in others; answer_idx with a letter is right"
        )
    named: dict[str, set[str]] = {}
    for name in ("answer_idx", "answer_index", "answer_letter", *_BY_TEXT):
        if (value := fields.take(name)) is None:
            continue
        letters = _by_letter(value, options)
        if name in _BY_TEXT:
            letters |= _by_text(value, options)
        if not letters:
            raise LineError(
                f"{name} is {described(value)} that names no option; an option's letter is right"
            )
        named[name] = letters
    if not named:
        return None
    agreed = set.intersection(*named.values())
    if len(agreed) != 1:
        found = "could be two options" if agreed else "do not name the same option"
        raise LineError(f"{' and '.join(named)} {found}; answer_idx with a letter is right")
    return agreed.pop()


def _by_letter(value: Any, options: dict[str, str]) -> set[str]:
    """Return the option that a letter, or a place counted from 0, names."""
    said = "" if isinstance(value, bool | list | dict) else str(value).strip("()[]. ").upper()
    if re.fullmatch("[0-9]{1,2}", said):
        said = chr(ord("A") + int(said))
    return {said} & set(options)


def _by_text(value: Any, options: dict[str, str]) -> set[str]:
    said = "" if isinstance(value, bool | list | dict) else str(value).strip()
    return {letter for letter, text in options.items() if text.strip() == said}
