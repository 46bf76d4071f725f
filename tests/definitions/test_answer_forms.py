"""Answer normal forms: a table written from the contract."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from scoring.parsing import normalize_answer

F = Fraction

# (text, kind, the value that its normal form carries; None: no answer of that kind)
NUMBERS: list[tuple[str, Fraction | int | None]] = [
    ("18", 18),
    ("  18  ", 18),
    ("18.", 18),
    ("18.0", 18),
    ("18.00", 18),
    ("0018", 18),
    ("0", 0),
    ("-0", 0),
    ("+7", 7),
    ("-7", -7),
    ("\u22127", -7),  # minus sign
    ("\u20137", -7),  # en dash
    ("\uff11\uff12", 12),  # full-width digits
    (".5", F(1, 2)),
    ("0.10", F(1, 10)),
    ("3.14159", F(314159, 100000)),
    ("1e3", 1000),
    ("1.5e-2", F(3, 200)),
    ("1,800", 1800),
    ("1,234,567.89", F(123456789, 100)),
    ("$1,800", 1800),
    ("$ 1,800", 1800),
    ("-$5", -5),
    ("$-5", -5),
    ("\u00a320", 20),
    ("\u20ac20.50", F(41, 2)),
    ("20\u20ac", 20),
    ("20 dollars", 20),
    ("20 dollars.", 20),
    ("$18 per day", 18),
    ("12 eggs", 12),
    ("1.8k", 1800),
    ("1.8K", 1800),
    ("$1.8k", 1800),
    ("2 thousand", 2000),
    ("2 million", 2_000_000),
    ("1.5 million", 1_500_000),
    ("3 billion", 3_000_000_000),
    ("1/2", F(1, 2)),
    ("-3/4", F(-3, 4)),
    ("6/3", 2),
    ("2 1/2", F(5, 2)),
    ("2\u00bd", F(5, 2)),
    ("\u00bd", F(1, 2)),
    ("3\u00be", F(15, 4)),
    ("\u2153", F(1, 3)),
    ("\\frac{3}{4}", F(3, 4)),
    ("\\boxed{42}", 42),
    ("$\\boxed{42}$", 42),
    ("$42$", 42),
    ("\\(42\\)", 42),
    ("**42**", 42),
    ("**42**.", 42),
    ("`42`", 42),
    ("twelve", 12),
    ("Twelve", 12),
    ("zero", 0),
    ("twenty-one", 21),
    ("twenty one", 21),
    ("ninety nine", 99),
    ("one hundred and five", 105),
    ("two thousand three hundred", 2300),
    ("one million two hundred thousand", 1_200_000),
    ("minus five", -5),
    ("minus 5", -5),
    ("negative 3", -3),
    ("not 12", None),
    ("0x10", None),
    ("2π", None),
    ("√16", None),
    ("3 dozen", 36),
    ("a dozen", 12),
    ("two dozen", 24),
    ("half a dozen", 6),
    ("three quarters", F(3, 4)),
    ("one half", F(1, 2)),
    ("two and a half", F(5, 2)),
    ("33%", 33),
    ("33 %", 33),
    ("33 percent", 33),
    ("33.5%", F(67, 2)),
    ("x = 12", 12),
    ("3 * 4 = 12", 12),
    ("The answer is 12", 12),
    ("the answer is $12.", 12),
    ("", None),
    ("   ", None),
    ("?", None),
    ("none", None),
    ("N/A", None),
    ("unknown", None),
    ("I don't know", None),
    ("NaN", None),
    ("inf", None),
    ("infinity", None),
    ("-", None),
    ("$", None),
    ("%", None),
    ("1.2.3", None),
    ("1,23,4", None),
    ("1/0", None),
    ("1e999999999", None),
    ("18 or 20", None),
    ("between 3 and 5", None),
    ("[depends_on: 4]", None),
    ("eggs", None),
    ("yes", None),
]

RATIOS: list[tuple[str, Fraction | int | None]] = [
    ("33%", F(33, 100)),
    ("33 percent", F(33, 100)),
    ("0.33", F(33, 100)),
    ("150%", F(3, 2)),
    ("-5%", F(-1, 20)),
    ("33", 33),
    ("%", None),
]

BOOLEANS: list[tuple[str, bool | None]] = [
    ("yes", True),
    ("Yes", True),
    ("YES.", True),
    ("**Yes**", True),
    (" true ", True),
    ("True.", True),
    ("Yes, it can.", True),
    ("The answer is yes.", True),
    ("no", False),
    ("No.", False),
    ("NO", False),
    ("false", False),
    ("\\boxed{no}", False),
    ("No, it would sink.", False),
    ("maybe", None),
    ("", None),
    ("yes and no", None),
    ("yes or no", None),
    ("12", None),
    ("unknown", None),
    ("not sure", None),
]

LETTERS = ["Boil the pan", "Rinse the cup", "Dry the bowl", "Squeezing the lemon"]
CHOICES: list[tuple[str, str | None]] = [
    ("D", "D"),
    ("d", "D"),
    ("(D)", "D"),
    ("(d)", "D"),
    ("[D]", "D"),
    ("D)", "D"),
    ("D.", "D"),
    ("D:", "D"),
    ("**D**", "D"),
    ("\\boxed{D}", "D"),
    ("D) Squeezing the lemon", "D"),
    ("(D) Squeezing the lemon", "D"),
    ("D. Squeezing the lemon", "D"),
    ("D: Squeezing the lemon.", "D"),
    ("Squeezing the lemon", "D"),
    ("squeezing the LEMON.", "D"),
    ("  Squeezing  the lemon ", "D"),
    ("option D", "D"),
    ("Option (D)", "D"),
    ("The answer is D", "D"),
    ("The answer is (D).", "D"),
    ("A", "A"),
    ("Boil the pan", "A"),
    ("(A) Boil the pan", "A"),
    ("Rinse the cup", "B"),
    ("E", None),
    ("(Z)", None),
    ("", None),
    ("A or D", None),
    ("A and D", None),
    ("none of these", None),
    ("Paint the wall", None),
]

DAY = "2003-08-26"
DATES: list[tuple[str, str | None]] = [
    ("2003-08-26", DAY),
    ("2003/08/26", DAY),
    ("08/26/2003", DAY),
    ("8/26/2003", DAY),
    ("26/08/2003", DAY),
    ("August 26, 2003", DAY),
    ("August 26 2003", DAY),
    ("august 26th, 2003", DAY),
    ("Aug 26, 2003", DAY),
    ("Aug. 26, 2003", DAY),
    ("26 August 2003", DAY),
    ("26 Aug 2003", DAY),
    ("26th of August 2003", DAY),
    ("the 26th of August, 2003", DAY),
    ("Tuesday, August 26, 2003", DAY),
    ("**08/26/2003**", DAY),
    ("The answer is 08/26/2003.", DAY),
    ("02/29/2004", "2004-02-29"),
    ("01/02/2021", "2021-01-02"),
    ("", None),
    ("soon", None),
    ("2003-13-01", None),
    ("2003-02-29", None),
    ("02/30/2003", None),
    ("31/31/2003", None),
    ("12", None),
    ("yes", None),
]

AUTO: list[tuple[str, Any]] = [
    ("$1,800", ("number", F(1800))),
    ("twelve", ("number", F(12))),
    ("9/5", ("number", F(9, 5))),
    ("Yes.", ("boolean", True)),
    ("false", ("boolean", False)),
    ("2003-08-26", ("date", DAY)),
    ("August 26, 2003", ("date", DAY)),
    ("", None),
    ("  ", None),
    ("...", None),
]


def tagged(kind: str, value: Any) -> Any:
    return None if value is None else (kind, F(value) if kind == "number" else value)


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_numbers(text: str, value: Fraction | int | None) -> None:
    assert normalize_answer(text, "number") == tagged("number", value)


@pytest.mark.parametrize(("text", "value"), RATIOS)
def test_percent_as_ratio(text: str, value: Fraction | int | None) -> None:
    assert normalize_answer(text, "number", percent="ratio") == tagged("number", value)


@pytest.mark.parametrize(("text", "value"), BOOLEANS)
def test_booleans(text: str, value: bool | None) -> None:
    assert normalize_answer(text, "boolean") == tagged("boolean", value)


@pytest.mark.parametrize(("text", "value"), CHOICES)
def test_choices(text: str, value: str | None) -> None:
    named = dict(zip("ABCD", LETTERS, strict=True))
    assert normalize_answer(text, "choice", options=LETTERS) == tagged("choice", value)
    assert normalize_answer(text, "choice", options=named) == tagged("choice", value)


@pytest.mark.parametrize(("text", "value"), DATES)
def test_dates(text: str, value: str | None) -> None:
    assert normalize_answer(text, "date") == tagged("date", value)


@pytest.mark.parametrize(("text", "form"), AUTO)
def test_auto(text: str, form: Any) -> None:
    assert normalize_answer(text) == form


def test_the_tables_are_as_large_as_promised() -> None:
    rows = [*NUMBERS, *RATIOS, *BOOLEANS, *CHOICES, *DATES, *AUTO]
    assert len(rows) >= 120
    assert sum(value is None for _, value in rows) >= 40


def test_numbers_as_options_are_matched_by_value() -> None:
    options = ["10", "20", "1,000"]
    for text, letter in [("20", "B"), ("$20", "B"), ("1000", "C"), ("C", "C"), ("30", None)]:
        got = normalize_answer(text, "choice", options=options)
        assert got == tagged("choice", letter), text


@pytest.mark.parametrize(
    "same",
    [
        ("Paris", "paris", " Paris. ", "**Paris**", "PARIS", '"Paris"'),
        ("New York", "new  york", "New\u00a0York"),
        ("caf\u00e9", "cafe\u0301", "CAF\u00c9"),
        ("stra\u00dfe", "STRASSE"),
        ("\ufb01sh", "fish"),
        ("it's", "it\u2019s"),
    ],
)
def test_texts_that_are_one_answer(same: tuple[str, ...]) -> None:
    forms = {normalize_answer(t, "text") for t in same}
    assert len(forms) == 1
    (form,) = forms
    assert form is not None
    assert form[0] == "text"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Paris", "London"),
        ("resume", "r\u00e9sum\u00e9"),
        ("C", "C++"),
        ("12", "13"),
        ("a b", "ab"),
    ],
)
def test_texts_that_are_two_answers(a: str, b: str) -> None:
    assert normalize_answer(a, "text") != normalize_answer(b, "text")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b"])
def test_nothing_is_no_text_answer(text: str) -> None:
    assert normalize_answer(text, "text") is None
