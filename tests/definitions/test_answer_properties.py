"""What must hold of the normal form of every answer."""

from __future__ import annotations

import string
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.parsing import format_answer, normalize_answer

F = Fraction
LETTERS = ["Boil the pan", "Rinse the cup", "Dry the bowl", "Squeezing the lemon"]

# --- properties --------------------------------------------------------------------------------

KINDS = ["auto", "number", "boolean", "choice", "date", "text"]
TYPES: dict[str, type] = {
    "number": Fraction,
    "boolean": bool,
    "choice": str,
    "date": str,
    "text": str,
}
bits = st.sampled_from(
    [
        "12",
        "1,800",
        "k",
        "%",
        "$",
        "½",
        "−",
        "-",
        ".",
        ",",
        " ",
        "/",
        "(",
        ")",
        "D",
        "yes",
        "no",
        "dozen",
        "twelve",
        "Aug",
        "26",
        "2003",
        "=",
        "\\boxed{",
        "}",
        "**",
        "[",
        "]",
        "e9",
        "\x1b[31m",
        "\u202e",
        "\x00",
        "million",
        "and",
        "or",
        "half",
        "\n",
        "²",
        "٣",
        "answer is",
    ]
)
texts = st.text(max_size=30) | st.lists(bits, max_size=8).map("".join)


@settings(max_examples=95, deadline=None)
@given(texts, st.sampled_from(KINDS), st.sampled_from(["keep", "ratio"]))
@example("9" * 5000, "number", "keep")
@example("1e" + "9" * 50, "number", "keep")
@example("1/" + "0" * 50, "auto", "keep")
@example("(" * 3000, "auto", "keep")
@example("-" * 3000 + "1", "number", "keep")
def test_any_text_has_one_tagged_form_or_none(text: str, kind: Any, percent: str) -> None:
    form = normalize_answer(
        text, kind, options=LETTERS if kind == "choice" else None, percent=percent
    )
    if form is None:
        return
    tag, value = form
    assert type(value) is TYPES[tag]
    assert kind in ("auto", tag)
    hash(form)
    # Surrounding blanks are no part of an answer.
    again = normalize_answer(
        f"  {text}\n", kind, options=LETTERS if kind == "choice" else None, percent=percent
    )
    assert again == form
    if tag == "choice":
        # Without options, any capital letter alone may name one.
        assert value in (list("ABCD") if kind == "choice" else list(string.ascii_uppercase))


@settings(max_examples=50, deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_spellings_of_a_number_are_one_answer(whole: int, cents: int) -> None:
    want = ("number", F(whole))
    size, sign = abs(whole), "-" if whole < 0 else ""
    for text in (
        f"{whole}",
        f"{whole:,}",
        f"{sign}${size:,}",
        f"{whole}.0",
        f"{whole} apples",
        f"{whole * 7}/7",
        f"{sign}{size}".replace("-", "\u2212"),
        f"\\boxed{{{whole}}}",
        f"**{whole}**",
    ):
        assert normalize_answer(text, "number") == want, text
    exact = ("number", F(size * 100 + cents, 100))
    assert normalize_answer(f"{size}.{cents:02d}", "number") == exact
    assert normalize_answer(f"${size:,}.{cents:02d}", "number") == exact
    thousand = normalize_answer(f"{size}k", "number")
    assert thousand == ("number", F(size * 1000))


@settings(max_examples=25, deadline=None)
@given(st.dates())
def test_spellings_of_a_date_are_one_answer(day: Any) -> None:
    want = ("date", day.isoformat())
    month = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ][day.month - 1]
    year = f"{day.year:04d}"
    if day.year < 1000:
        return
    for text in (
        day.isoformat(),
        f"{day.month}/{day.day}/{year}",
        f"{day.month:02d}/{day.day:02d}/{year}",
        f"{month} {day.day}, {year}",
        f"{day.day} {month} {year}",
        f"{day.day} {month[:3]} {year}",
    ):
        assert normalize_answer(text, "date") == want, text


@settings(max_examples=50, deadline=None)
@given(texts, st.sampled_from(["number", "boolean", "date", "text"]))
def test_what_is_shown_of_an_answer_reads_back_as_it(text: str, kind: Any) -> None:
    form = normalize_answer(text, kind)
    if form is not None:
        assert normalize_answer(format_answer(form), kind) == form


@pytest.mark.parametrize(
    "call",
    [
        lambda: normalize_answer("1", "numbers"),  # type: ignore[arg-type]
        lambda: normalize_answer("1", "number", percent="maybe"),
        lambda: normalize_answer("A", "choice", options=[]),
    ],
)
def test_rules_that_do_not_exist_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()
