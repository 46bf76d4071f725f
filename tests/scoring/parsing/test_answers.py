"""Normal forms of answers: closed cases, then properties."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.parsing import format_answer, normalize_answer, read_answer
from scoring.types import AnswerKind

OPTIONS = ["a bucket", "a ladder", "a hammer", "a torch"]


def codes(text: str, kind: AnswerKind = "auto", **rest: Any) -> list[str]:
    return [issue.code for issue in read_answer(text, kind, **rest).issues]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,800", 1800),
        ("1.8k", 1800),
        ("1.5M", 1_500_000),
        ("2½", Fraction(5, 2)),
        ("½", Fraction(1, 2)),
        ("2 1/2", Fraction(5, 2)),
        ("-3/4", Fraction(-3, 4)),
        ("twelve", 12),
        ("twenty-five", 25),
        ("Twenty five thousand", 25_000),
        ("one hundred and five", 105),
        ("two thousand three hundred and one", 2301),
        ("two thirds", Fraction(2, 3)),
        ("three quarters", Fraction(3, 4)),
        ("two and a half", Fraction(5, 2)),
        ("3 dozen", 36),
        ("half a dozen", 6),
        ("a hundred", 100),
        ("3 hundred", 300),
        ("\u22125", -5),
        ("-$96", -96),
        ("$-96", -96),
        ("1e3", 1000),
        ("2.5e-1", Fraction(1, 4)),
        ("2 x 10^3", 2000),
        ("18.0", 18),
        (".5", Fraction(1, 2)),
        ("+7", 7),
        ("018", 18),
        ("１８", 18),
        ("1\u202f800", 1800),
        ("18 marbles", 18),
        ("$3 per jar of jam", 3),
        ("5 km/h", 5),
        (r"\boxed{18}", 18),
        (r"\boxed{\frac{1}{2}}", Fraction(1, 2)),
        (r"\frac12", Fraction(1, 2)),
        (r"2\frac{1}{2}", Fraction(5, 2)),
        ("$18$", 18),
        (r"\$18", 18),
        (r"\(240\) litres", 240),
        (r"18 \text{ jars}", 18),
        ("1{,}800", 1800),
        ("$14 * 3 = $42", 42),
        (r"2 \times 4 = 8", 8),
        ("x = 5", 5),
        ("**18** coins", 18),
        ("[2.5]", Fraction(5, 2)),
        ("[total: 1,150]", 1150),
        ("Nora earns [14] coins a day", 14),
        ("The final answer is: The final answer is: 7.", 7),
        ("803/7", Fraction(803, 7)),
        ("22. That is because 11 * 2 is 22.", 22),
    ],
)
def test_numbers_are_exact(text: str, value: Fraction | int) -> None:
    assert normalize_answer(text, "number") == ("number", Fraction(value))
    assert normalize_answer(text) == ("number", Fraction(value))


@pytest.mark.parametrize(
    "text",
    [
        "3 or 4",
        "between 2 and 5",
        "2-5",
        "12 apples and 7 pears",
        "(230, 230)",
        "1,80",
        "1.800,50",
        "$80, 000",
        "16 - 3",
        "x - 5",
        "cats + 48",
        "4*queens",
        "4**2",
        "10²",
        "way_to_go/6 + 3",
        "cars_15m + 5",
        "3x",
        "21st",
        "1/0",
        "> 5",
        "[3, 2]",
        "[1, none]",
        "[total, 3]",
        "[2,",
        "3 jars and half that much",
        "dozens",
        "1e999999999",
        "1e-999999999",
        "9" * 100_000,
        "9" * 5_000,
        "3 + 4 =",
        "",
        "   ",
    ],
)
def test_what_is_not_one_number_is_none(text: str) -> None:
    assert normalize_answer(text, "number") is None


@pytest.mark.parametrize(
    "text", ["3 or 4", "12 apples and 7 pears", "[3, 2]", "cats + 48", "1e999999999", "[profit_"]
)
def test_auto_does_not_make_texts_of_unreadable_numbers(text: str) -> None:
    assert normalize_answer(text) is None
    assert "answer_unreadable" in codes(text)


def test_a_cut_off_fraction_of_a_value_bound() -> None:
    assert normalize_answer("9" * 100, "number") == ("number", Fraction(10**100 - 1))
    assert normalize_answer("1" + "0" * 100, "number") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("33%", (Fraction(33), Fraction(33, 100))),
        ("12.5 percent", (Fraction(25, 2), Fraction(1, 8))),
        (r"50\%", (Fraction(50), Fraction(1, 2))),
        ("0.33", (Fraction(33, 100), Fraction(33, 100))),
    ],
)
def test_percent_rule(text: str, expected: tuple[Fraction, Fraction]) -> None:
    assert normalize_answer(text, "number") == ("number", expected[0])
    assert normalize_answer(text, "number", percent="ratio") == ("number", expected[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18", []),
        ("18 jars", ["answer_units"]),
        ("$18", ["answer_units"]),
        ("She makes $18", ["answer_in_sentence"]),
        ("9 * 2 = 18", ["answer_expression"]),
        ("33%", ["answer_percent"]),
        ("[18]", ["answer_brackets"]),
        ("18. Done twice 9.", ["answer_first_sentence"]),
        ("3 or 4", ["answer_unreadable"]),
        ("05/01/2021", ["date_ambiguous"]),
        ("25/01/2021", ["date_day_first"]),
        ("05/05/2021", []),
    ],
)
def test_nothing_is_dropped_silently(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("No.", False),
        ("TRUE", True),
        ("**False**", False),
        ("Yes, because it floats", True),
        ("no. It sank in 1912 and in 1915.", False),
        ("the answer is true", True),
        ("So the answer is no", False),
    ],
)
def test_booleans(text: str, value: bool) -> None:
    assert normalize_answer(text) == ("boolean", value)
    assert normalize_answer(text, "boolean") == ("boolean", value)


@pytest.mark.parametrize(
    "text", ["yes or no", "true/false", "maybe", "not true", "No one knows", "1"]
)
def test_no_boolean(text: str) -> None:
    assert normalize_answer(text, "boolean") is None


def test_boolean_questions_are_read_more_loosely() -> None:
    assert normalize_answer("The statement is false", "boolean") == ("boolean", False)
    assert normalize_answer("yes it is", "boolean") == ("boolean", True)
    assert normalize_answer("No. 5") == ("number", Fraction(5))


@pytest.mark.parametrize(
    "text",
    [
        "D",
        "d",
        "(D)",
        "D.",
        "D)",
        "D) a torch",
        "D: a torch",
        "a torch",
        "A torch.",
        "option D",
        "The answer is (D)",
        "**D**",
        "D) something else",
        "It must be (D), I think",
        "use a torch",
    ],
)
def test_every_spelling_of_a_choice_is_one(text: str) -> None:
    assert normalize_answer(text, "choice", options=OPTIONS) == ("choice", "D")
    assert normalize_answer(text, options=OPTIONS) == ("choice", "D")
    lettered = dict(zip("ABCD", OPTIONS, strict=True))
    assert normalize_answer(text, "choice", options=lettered) == ("choice", "D")


@pytest.mark.parametrize(
    "text", ["E", "D) a hammer", "(A) or (B)", "a ladder or a torch", "rope", "", "9"]
)
def test_no_choice(text: str) -> None:
    assert normalize_answer(text, "choice", options=OPTIONS) is None


def test_choice_details() -> None:
    assert codes("D) something else", "choice", options=OPTIONS) == ["choice_text_differs"]
    assert normalize_answer("same", "choice", options=["same", "same"]) is None
    assert normalize_answer("blue", options=["(A) Red", "(B) Blue"]) == ("choice", "B")
    assert normalize_answer("(c)", "choice") == ("choice", "C")
    assert normalize_answer("c. a hammer", "choice") == ("choice", "C")
    assert normalize_answer("A, B", "choice", options=OPTIONS) is None
    assert normalize_answer("$12.0", options=["9", "12", "15"]) == ("choice", "B")
    assert normalize_answer("3 pears", options=["3 apples", "4 pears"]) is None
    assert normalize_answer("D") == ("choice", "D")
    assert normalize_answer("a dog") == ("text", "a dog")


@pytest.mark.parametrize(
    "text",
    [
        "2021-05-01",
        "05/01/2021",
        "5/1/2021",
        "May 1, 2021",
        "1 May 2021",
        "1st of May, 2021",
        "May 1st 2021",
        "Saturday, May 1, 2021",
        "2021/05/01",
        "05-01-2021",
        "**05/01/2021**.",
    ],
)
def test_every_spelling_of_a_date_is_one(text: str) -> None:
    assert normalize_answer(text, "date") == ("date", "2021-05-01")
    assert normalize_answer(text) == ("date", "2021-05-01")


@pytest.mark.parametrize(
    "text", ["May 1", "02/30/2021", "2021", "05/01/21", "05/01/2021 or 05/02/2021", "soon"]
)
def test_no_date(text: str) -> None:
    assert normalize_answer(text, "date") is None


def test_dates_in_auto() -> None:
    assert normalize_answer("Today is 05/13/2021.") == ("date", "2021-05-13")
    assert normalize_answer("30/04/2021") == ("date", "2021-04-30")
    assert normalize_answer("May 5") == ("text", "may 5")
    assert normalize_answer("2021") == ("number", Fraction(2021))
    assert normalize_answer("10:30") == ("text", "10:30")


def test_text_is_folded() -> None:
    same = {
        normalize_answer(t, "text") for t in ("  “The  Beatles”. ", "THE BEATLES", "*the beatles*")
    }
    assert same == {("text", "the beatles")}
    assert normalize_answer("no one") == ("text", "no one")
    assert normalize_answer("One Direction") == ("text", "one direction")
    assert normalize_answer("...", "text") is None


def test_bad_rules_are_named() -> None:
    with pytest.raises(ValueError, match="kind='colour'"):
        normalize_answer("1", "colour")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="percent='half'"):
        normalize_answer("1", percent="half")
    with pytest.raises(ValueError, match="options"):
        normalize_answer("1", options=[])
    with pytest.raises(ValueError, match="used once"):
        normalize_answer("1", options={"A": "x", "a": "y"})


def test_format() -> None:
    assert format_answer(("number", Fraction(-9, 5))) == "-1.8"
    assert format_answer(("number", Fraction(1, 8))) == "0.125"
    assert format_answer(("number", Fraction(1, 3))) == "1/3"
    assert format_answer(("number", Fraction(1800))) == "1800"
    assert format_answer(("boolean", False)) == "no"
    assert format_answer(("date", "2021-05-01")) == "2021-05-01"
    assert format_answer(None) == "–"


KINDS: list[AnswerKind] = ["auto", "number", "boolean", "choice", "date", "text"]
HOSTILE = "[]depends_on:0123456789,\n. *#$\\{}()%/=-+½²yesnotrueabD'\"`_’“ⅷ①Ⅻﷺ\ud800\u202e\x00"
answers = st.one_of(
    st.text(max_size=40),
    st.text(HOSTILE, max_size=40),
    st.lists(
        st.sampled_from(
            [
                "the",
                "answer",
                "is",
                "12",
                "one",
                "hundred",
                "and",
                "-",
                "$",
                "yes",
                "no",
                "or",
                "D)",
                "(D)",
                "05/01/2021",
                "May",
                "3",
                "1/2",
                "%",
                "\\boxed{",
                "}",
                "\\frac{1}{2}",
                "**",
                "=",
                "[",
                "]",
                ":",
                ",",
                ".",
                "dozen",
                "half",
                "a",
                "k",
                "1,800",
                "2.50",
            ]
        ),
        max_size=7,
    ).map(" ".join),
)


@given(answers, st.sampled_from(KINDS), st.sampled_from(["keep", "ratio"]))
def test_never_raises_and_formatting_reads_back(text: str, kind: AnswerKind, percent: str) -> None:
    normal = normalize_answer(text, kind, percent=percent)
    if normal is not None:
        assert normalize_answer(format_answer(normal), kind, percent=percent) == normal
        assert kind in ("auto", normal[0])


@given(answers)
def test_options_give_a_choice_or_nothing(text: str) -> None:
    normal = normalize_answer(text, options=OPTIONS)
    assert normal is None or (normal[0] == "choice" and normal[1] in tuple("ABCD"))


@given(st.fractions(min_value=-(10**40), max_value=10**40, max_denominator=10**40))
def test_every_number_reads_back(value: Fraction) -> None:
    assert normalize_answer(format_answer(("number", value)), "number") == ("number", value)
    assert normalize_answer(format_answer(("number", value))) == ("number", value)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "${}", "{} jars", "**{}**", "({})"]))
def test_dressed_integers_are_the_same_answer(value: int, dress: str) -> None:
    assert normalize_answer(dress.format(f"{value:,}")) == ("number", Fraction(value))


@given(st.dates())
def test_every_date_reads_back(day: Any) -> None:
    iso = day.isoformat()
    assert normalize_answer(iso, "date") == ("date", iso)
    assert normalize_answer(f"{day.month:02}/{day.day:02}/{day.year:04}", "date") == ("date", iso)
