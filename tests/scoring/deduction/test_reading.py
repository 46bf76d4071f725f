"""The number reader: values out of free text, without looking at what is expected."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import mutate, number_changes, read_named_values, read_stated_values
from tests.scoring.deduction.problems import JAMES, james, shop

INPUTS = ("num_pages", "num_friends", "num_times")
ALL = {"num_weeks_in_a_year": 52, "pages_per_week": 320, "total_pages": 16640}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "James writes 8 pages to 20 friends 2 times a week. There are 52 weeks in a year. So"
            " that is 8*20*2=320 pages a week. In a year, that is 52*320=16,640 pages.",
            ALL,
        ),
        (
            "1. There are 52 weeks in a year.\n2. So that is 8 × 20 = 160, 160 × 2 = 320 pages a"
            " week.\n3. **In a year, that is 52 × 320 = 15000 + 1640 = 16640 pages**.",
            ALL,
        ),
        (
            "Each week he writes 8 * 20 * 2 = 321 pages a week.\nIn a year that is 321 * 52 ="
            " 16692 pages.",
            {"pages_per_week": 321, "total_pages": 16692},
        ),
        ("total_pages = 52*320 = 16640", {"total_pages": 16640}),
        ("There are fifty-two weeks in a year.", {}),
        ("I cannot say.", {}),
        ("", {}),
    ],
)
def test_values_in_free_text(text: str, expected: dict[str, int]) -> None:
    found = read_stated_values(text, JAMES["steps"], inputs=INPUTS)
    assert found.values == expected


def test_what_the_prefix_states_is_not_looked_for() -> None:
    text = "So that is 8*20*2=320 pages a week. In a year, that is 52*320=16640 pages."
    found = read_stated_values(text, JAMES["steps"], given=3, inputs=INPUTS)
    assert found.values == {"total_pages": 16640}
    assert found.how == {"total_pages": "aligned"}
    assert found.sentences == 2


EQUATIONS = ["{n} * {p} = ${full_price}.", "{full_price} - {off} = ${cost_total}."]


@pytest.mark.parametrize(
    "text",
    [
        "3 * 2.5 = $7.5.\n7.5 - 1 = $6.5.\nThe answer is 6.5.",
        "3 x 2.5 = 7.5\n7.5 - 1 = 6.5",
        "3 × $2.5 = 7.5\n7.5 − 1 = 6.5",
        "2.5 + 2.5 + 2.5 = 7.5\n7.5 - 1 = 6.5",
        "3 * 2.5 = 7.5\n7.5 - 1 = 6.5\n6.5 / 2 = 3.25\n3.25 + 1 = 4.25",
        "2 + 1 = 3\n3 * 2.5 = 7.5\n7.5 - 1 = 6.5\n100 / 6.5 = 15.4",
    ],
)
def test_bare_equations_are_matched_by_their_operators(text: str) -> None:
    """A solution that goes on behind the reference's last step, or has one more before it."""
    found = read_stated_values(text, EQUATIONS, inputs=["n", "p", "off"])
    assert found.values == {"full_price": Fraction(15, 2), "cost_total": Fraction(13, 2)}


def test_a_times_sign_is_no_word() -> None:
    steps = ["{a} x {b} = {c_total}.", "{c_total} x {d} = {e_total}."]
    found = read_stated_values("4*5=20\n20 * 2 = 40", steps, inputs=["a", "b", "d"])
    assert found.values == {"c_total": 20, "e_total": 40}


@given(st.integers(0, 10_000), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_the_reference_solution_reads_as_itself(seed: int, k: int) -> None:
    """A response in the template's own words gives back every value, for any numbers."""
    t = james()
    m = mutate(t, seed=seed, n=1).items[0]
    found = read_stated_values(" ".join(m.steps[k:]), t.steps, given=k, inputs=t.inputs)
    assert found.values == {n: m.values[n] for n, step in t.stated_in.items() if step > k}


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_decimals_and_currency_read_as_themselves(seed: int) -> None:
    t = shop()
    m = mutate(t, seed=seed, n=1).items[0]
    found = read_stated_values("\n".join(m.steps), t.steps, inputs=t.inputs)
    assert found.values == {n: m.values[n] for n in t.stated_in}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X1 = X0 + C3 = 18 + 20 = 38. X2 = X1 + C2 = 38 + 8 = 46.", {"X1": 38, "X2": 46}),
        ("**X1** is 5; so X2: -7.5", {"X1": 5, "X2": Fraction(-15, 2)}),
        ("X1 is the sum of 38 and 8, which is 46.", {"X1": 46}),
        (r"$X1$ = \frac{1}{2}. Then $X2 = 3/4$", {"X1": Fraction(1, 2), "X2": Fraction(3, 4)}),
        ("X1 = 1,250", {"X1": 1250}),
        ("First X1 = 3. No, X1 = 4.", {"X1": 4}),
        ("X10 = 3 and AX1 = 4", {}),
        ("X1 = X0 + C3. X2 equals 6 apples", {"X2": 6}),
        ("X1 = 18 + 20", {}),
        ("The value of X1 is 7", {"X1": 7}),
        ("X2 = C1 + X1 = 3 + 4 = 7", {"X2": 7}),
        ("X2 = X1 = 7", {"X2": 7}),
        ("X1 = 38, X2 = 46", {"X1": 38, "X2": 46}),
        ("So X1 is 38 and then X2 equals 46", {"X1": 38, "X2": 46}),
    ],
)
def test_values_called_by_name(text: str, expected: dict[str, Fraction]) -> None:
    assert read_named_values(text, ["X1", "X2"]).values == expected


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_no_text_is_too_odd_to_read(text: str) -> None:
    found = read_stated_values(text, JAMES["steps"], inputs=INPUTS)
    assert set(found.values) <= set(ALL)
    assert number_changes(text, text).unchanged


def test_a_plain_word_is_no_name() -> None:
    text = "The income is 4 * 2 = 8 a day here. 4 boxes at $2.5 bring 4 * 2.5 = $10."
    t = shop()
    assert read_stated_values(text, t.steps, inputs=t.inputs).values == {"income": 10}


def test_long_text_is_cut() -> None:
    text = "So it is 5 pages a week. " * 20_000
    assert read_stated_values(text, JAMES["steps"], inputs=INPUTS).sentences == 200


@pytest.mark.parametrize(
    ("original", "paraphrase", "missing", "added"),
    [
        ("60 + 12 = 72 pages", "72 pages: the sum of 60 and 12", (), ()),
        ("1,200 pens at 2.5", "at 2.5 each, twelve hundred pens", (), ()),
        ("72 pages", "seventy-two pages, one by one", (), ()),
        ("5 of 7", "five of eight", (7,), (8,)),
        ("60 + 12 = 72", "ADD(60, 13) yields 72", (12,), (13,)),
        ("no number", "none either", (), ()),
    ],
)
def test_a_paraphrase_must_keep_the_numbers(
    original: str, paraphrase: str, missing: tuple[int, ...], added: tuple[int, ...]
) -> None:
    found = number_changes(original, paraphrase)
    assert list(found.missing) == list(missing)
    assert list(found.added) == list(added)
    assert found.unchanged is (not missing and not added)
