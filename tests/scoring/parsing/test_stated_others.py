"""Dates, choices, truth values and texts that an answer does or does not state."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.parsing import normalize_answer, parse_trace, read_answer
from scoring.types import AnswerKind


def codes(text: str, kind: AnswerKind = "number", **rest: Any) -> list[str]:
    return [issue.code for issue in read_answer(text, kind, **rest).issues]


@pytest.mark.parametrize(
    "text",
    ["not May 1, 2021", "05/13/2021 is not right", "before 05/13/2021", "05/13/2021 or later"],
)
def test_dates_that_are_not_stated(text: str) -> None:
    assert normalize_answer(text, "date") is None
    assert (normalize_answer(text) or ("text",))[0] == "text"


def test_a_date_counted_from_is_none_and_an_estimate_says_so() -> None:
    assert normalize_answer("a week from 05/13/2021", "date") is None
    assert normalize_answer("the day after 05/13/2021", "date") is None
    assert normalize_answer("around 05/13/2021", "date") == ("date", "2021-05-13")
    assert "answer_estimate" in codes("around 05/13/2021", "date")


TOOLS = ["a bucket", "a ladder", "a hammer", "a torch"]


@pytest.mark.parametrize(
    "text",
    [
        "not D",
        "It is not (D)",
        "(D) is not right",
        "not a torch",
        "anything but (D)",
        "A. a hammer",
        "A. B.",
        "D. No, A.",
    ],
)
def test_choices_that_are_not_made(text: str) -> None:
    assert normalize_answer(text, options=TOOLS) is None


def test_a_choice_after_a_doubt_is_made() -> None:
    assert normalize_answer("I am not sure, but (D)", options=TOOLS) == ("choice", "D")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("16", "A"),
        ("$16.00", "A"),
        ("16 cups", "A"),
        ("about 16", "A"),
        ("√16", None),
        ("-16", None),
        ("16.5", None),
        ("1,600", None),
        ("2^16", None),
        ("not 16", None),
        ("at least 16", None),
        ("16!", None),
        ("16 or 3", None),
    ],
)
def test_number_options_are_met_by_the_stated_number_only(text: str, letter: str | None) -> None:
    expected = None if letter is None else ("choice", letter)
    assert normalize_answer(text, options=["16", "600", "3"]) == expected


@pytest.mark.parametrize(
    ("text", "letter"),
    [("-12 cups", None), ("more than 12 cups", None), ("1.12 cups", None), ("has 12 cups", "A")],
)
def test_options_with_a_number_are_not_found_inside_others(text: str, letter: str | None) -> None:
    expected = None if letter is None else ("choice", letter)
    assert normalize_answer(text, options=["12 cups", "5 pens"]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "yes. no",
        "yes or no",
        "true/false",
        "Yes, it floats. No, it sinks.",
        "Yes.\nNo.",
        "The answer is yes. The answer is no.",
    ],
)
def test_both_polarities_decide_nothing(text: str) -> None:
    assert normalize_answer(text, "boolean") is None
    assert normalize_answer(text) is None
    assert codes(text, "boolean") == ["answer_polarity", "answer_unreadable"]


@pytest.mark.parametrize("text", ["Yes. No doubt about it.", "Yes, no lid is needed.", "Yes. Yes."])
def test_one_polarity_with_another_words_no(text: str) -> None:
    assert normalize_answer(text, "boolean") == ("boolean", True)


@pytest.mark.parametrize("text", ["never true", "There is no way it is true", "none of it is true"])
def test_a_denied_truth_is_none(text: str) -> None:
    assert normalize_answer(text, "boolean") is None


@pytest.mark.parametrize(
    ("text", "value"), [("y", True), ("N.", False), ("(T)", True), ("f", False)]
)
def test_letters_are_truth_values_only_where_the_question_is_known(text: str, value: bool) -> None:
    assert normalize_answer(text, "boolean") == ("boolean", value)
    form = normalize_answer(text)
    assert form is None or form[0] != "boolean"
    assert normalize_answer("y/n", "boolean") is None


@pytest.mark.parametrize(
    "text", ["12. No, 13.", "The answer is 12. The answer is 13.", "12 cups. Wait, 14 cups."]
)
def test_a_corrected_answer_is_none(text: str) -> None:
    assert normalize_answer(text, "number") is None
    assert "answer_corrected" in codes(text)


def test_an_explanation_after_the_answer_is_no_correction() -> None:
    assert normalize_answer("12. She sells 5 of 17.", "number") == ("number", Fraction(12))


UNSEEN = [
    "\u200b",
    "\u00ad",
    "\u200e",
    "\u202e",
    "\u2066\u2069",
    "\ufeff",
    "\ufe0f",
    "\u3164",
    "\u2800",
]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_shows_nothing_is_no_part_of_an_answer(unseen: str) -> None:
    for kind in ("auto", "text", "number", "boolean", "date", "choice"):
        assert normalize_answer(unseen, kind) is None
    assert normalize_answer(f"Pa{unseen}ris{unseen}", "text") == ("text", "paris")
    assert normalize_answer(f"{unseen}1{unseen}2", "number") == ("number", Fraction(12))
    assert normalize_answer(f"y{unseen}es") == ("boolean", True)
    trace = parse_trace(f"{unseen}0. A. [depends_on: none]\nThe final answer is:{unseen}\n12")
    assert trace.answer == ("number", Fraction(12))
    assert parse_trace(f"0. A.\n1. {unseen} [depends_on: 0]\n2. C.").steps[1].text == "C."


def test_controls_separate() -> None:
    assert normalize_answer("\x00\x1b", "text") is None
    assert normalize_answer("1\x002", "number") is None
    assert normalize_answer("a\x00b", "text") == ("text", "a b")


def test_a_cry_ends_a_text_and_not_a_number() -> None:
    assert normalize_answer("Apollo 13!", "text") == normalize_answer("Apollo 13", "text")
    assert normalize_answer("5!", "text") == ("text", "5!")


@given(st.text(max_size=12), st.sampled_from(UNSEEN), st.integers(0, 12))
def test_texts_that_differ_by_the_unseen_are_one_answer(text: str, unseen: str, at: int) -> None:
    mixed = text[:at] + unseen + text[at:]
    assert normalize_answer(mixed, "text") == normalize_answer(text, "text")
