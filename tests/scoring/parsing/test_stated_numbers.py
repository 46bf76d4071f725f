"""A number counts only when the answer states it: signs, denials, bounds, operations, estimates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.parsing import normalize_answer, read_answer
from scoring.types import AnswerKind


def codes(text: str, kind: AnswerKind = "number", **rest: Any) -> list[str]:
    return [issue.code for issue in read_answer(text, kind, **rest).issues]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("minus five", -5),
        ("Minus 5", -5),
        ("negative 3", -3),
        ("negative $3.50", Fraction(-7, 2)),
        ("minus three quarters", Fraction(-3, 4)),
        ("a balance of minus 20 dollars", -20),
        ("the change is minus 5", -5),
        ("it was a negative 3", -3),
        ("plus five", 5),
        ("the change is +5", 5),
        ("minus one hundred and five", -105),
    ],
)
def test_signs_in_words(text: str, value: Fraction | int) -> None:
    assert normalize_answer(text, "number") == ("number", Fraction(value))


@pytest.mark.parametrize(
    "text",
    ["ten minus five", "cups minus 5", "cups plus 5", "--5", "minus -5", "-+5", "negative -3"],
)
def test_signs_that_are_arithmetic_or_doubled_make_no_number(text: str) -> None:
    assert normalize_answer(text, "number") is None


@pytest.mark.parametrize("text", ["minus five", "negative five", "about five", "roughly 5 cups"])
def test_signs_and_estimates_open_an_answer_in_auto(text: str) -> None:
    normal = normalize_answer(text)
    assert normal is not None
    assert normal[0] == "number"


@pytest.mark.parametrize(
    "text",
    [
        "not 12",
        "The answer is not 12",
        "it isn't 12",
        "they weren\u2019t 12",
        "isnt 12",
        "cannot be 12",
        "no one",
        "no 12",
        "never 12",
        "none of the 12",
        "neither 12",
        "anything but 12",
        "all but 12",
        "without 12",
        "rather than 12",
        "the wrong answer 12",
        "12 is not right",
        "12 isn't it",
        "(12) is wrong",
        "12 can't be right",
    ],
)
def test_a_denied_number_is_none(text: str) -> None:
    assert normalize_answer(text, "number") is None
    assert codes(text)[-2:] == ["answer_denied", "answer_unreadable"]


@pytest.mark.parametrize(
    "text",
    [
        "No, 12",
        "no, it is 12",
        "No. 12",
        "The number of guests who did not come is 12",
        "12 guests did not come",
        "12 cups that are not broken",
        "She does not need any more, so 12",
        "Not every cup is full but 12 are",
        "no doubt 12",
    ],
)
def test_a_negation_about_something_else_leaves_the_number(text: str) -> None:
    assert normalize_answer(text, "number") == ("number", Fraction(12))


@pytest.mark.parametrize(
    "text",
    [
        "less than 5",
        "more than $5",
        "fewer than five cups",
        "no more than 5",
        "at least 5",
        "at the most 5",
        "at most 5",
        "up to 5",
        "over 5",
        "just under 5",
        "a minimum of 5",
        "max. 5",
        "greater than or equal to 5",
        "5 or more",
        "5 cups at most",
        "5 and up",
        "5% or less",
        "> 5",
        r"\ge 5",
        r"\leq 5",
    ],
)
def test_a_bound_is_no_number(text: str) -> None:
    assert normalize_answer(text, "number") is None


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("about 5", []),
        ("approximately 5", []),
        ("approx. 5", []),
        ("around $5", ["answer_units"]),
        ("nearly five", []),
        ("close to 5", []),
        ("~5", []),
        ("≈ 5", []),
        (r"\approx 5", []),
        (r"\sim 5", []),
        ("5 or so", ["answer_units"]),
        ("it is about 5", ["answer_in_sentence"]),
    ],
)
def test_an_estimate_is_its_value_and_says_so(text: str, more: list[str]) -> None:
    assert normalize_answer(text, "number") == ("number", Fraction(5))
    assert codes(text) == ["answer_estimate", *more]


def test_what_looks_like_a_bound_and_states_a_value() -> None:
    for text in ("It adds up to 12", "it rounds up to 12", "12 min", "12 more than Ann", "12~"):
        assert normalize_answer(text, "number") == ("number", Fraction(12)), text


@pytest.mark.parametrize(
    "text",
    [
        "√16",
        "√ 16",
        "2√x + 1",
        r"\sqrt{16}",
        r"\sqrt[3]{8}",
        r"\frac{\sqrt{3}}{2}",
        "2π",
        "2 pi",
        r"2\pi",
        "π/2",
        r"\frac{\pi}{2}",
        "5!",
        "The answer is 5!",
        "log 8",
        r"\log 8",
        "log_2(8)",
        "ln(2)",
        "sin 30",
        "f(5)",
        "2^3",
        "5^{2}",
        "10²",
        "10^3",
        "(5)^2",
        "-(5)",
        "|-5|",
        "⌊5.5⌋",
        r"\lfloor 5.5 \rfloor",
        r"\binom{5}{2}",
        r"\pm 5",
        "±5",
        "5C2",
        "5 squared",
        "5 factorial",
        "twice 5",
        "half of 5",
        "a third of 9",
        "the square root of 16",
        "the absolute value of -5",
        "times 5",
        "5 plus",
        "5-",
        "5\u2013",
        "5 -",
        "5-x",
        "5+",
        "5‰",
        "3 x",
        "2i",
        "{5}{2}",
    ],
)
def test_an_operation_left_to_carry_out_is_no_number(text: str) -> None:
    assert normalize_answer(text, "number") is None
    assert normalize_answer(text) is None or text == "2√x + 1"


@pytest.mark.parametrize("text", ["0x10", "0b1", "0o17", "0xff", "5x5", "12h30", "v1.5", "No.5"])
def test_letters_that_are_no_unit(text: str) -> None:
    assert normalize_answer(text, "number") is None


@pytest.mark.parametrize(
    "text",
    [
        "5kg",
        "5 km/h",
        "5m2",
        "5 min",
        "5-day",
        "5 times",
        "| 5 |",
        "→ 5",
        "∴ 5",
        "5°",
        r"5^\circ",
        "5 cups!",
        "5 !",
        "(5)",
        "5*",
        "5 pieces",
        "five!",
        "$5",
        "exactly 5",
        "only 5",
    ],
)
def test_what_is_a_unit_or_an_ornament(text: str) -> None:
    assert normalize_answer(text, "number") == ("number", Fraction(5))


def test_scientific_notation_is_a_spelling_and_billions_have_a_letter() -> None:
    assert normalize_answer("2 x 10^3", "number") == ("number", Fraction(2000))
    assert normalize_answer("$1.5B", "number") == ("number", Fraction(1_500_000_000))


@given(
    st.integers(0, 10**6),
    st.sampled_from(["not {}", "√{}", "{}!", "less than {}", "{}-", "log {}", "{}π", "{}^2"]),
)
def test_no_number_is_read_out_of_what_does_not_state_it(value: int, frame: str) -> None:
    assert normalize_answer(frame.format(value), "number") is None
