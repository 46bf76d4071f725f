"""Mutation: the rules, the seed, and what is rejected."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.deduction import Span, mutate, run_program, template_from_dict
from scoring.deduction.mutate import _grid
from tests.scoring.deduction.problems import james, shop


def one_number(original: str, **options: object) -> list[Fraction]:
    """Values drawn for a single number whose original is given."""
    t = template_from_dict(
        {
            "problem": f"one {original}",
            "question": "{x} and 1 more?",
            "steps": ["{x} + 1 = {y}."],
            "code": "y = x + 1",
            "factual": {"x": original},
            **options,
        }
    )
    return [m.inputs["x"] for m in mutate(t, n=40, low=2, high=60).items]


def test_whole_numbers_come_from_the_whole_numbers_of_the_range() -> None:
    drawn = one_number("7")
    assert len(set(drawn)) == len(drawn) == 40
    assert all(v.denominator == 1 and 2 <= v <= 60 and v != 7 for v in drawn)


@pytest.mark.parametrize(("original", "unit"), [("0.25", 100), ("0.5", 10), ("1/3", 3), ("5/7", 7)])
def test_numbers_between_0_and_1_stay_there_on_their_grid(original: str, unit: int) -> None:
    drawn = one_number(original)
    assert all(0 < v < 1 and (v * unit).denominator == 1 for v in drawn)
    assert len(set(drawn)) == len(drawn) == min(40, unit - 2)


@pytest.mark.parametrize(("original", "unit"), [("1.5", 10), ("2.75", 100), ("4/3", 3)])
def test_other_decimals_keep_their_places_within_the_range(original: str, unit: int) -> None:
    drawn = one_number(original)
    assert all(2 <= v <= 60 and (v * unit).denominator == 1 for v in drawn)
    assert any(v.denominator > 1 for v in drawn)


@pytest.mark.parametrize(
    ("original", "drawn"),
    [
        ("7", "51"),
        ("0.25", "9/50"),
        ("0.5", "1/10"),
        ("1.5", "263/10"),
        ("2.75", "4067/100"),
        ("1/3", "2/3"),
        ("4/3", "47/3"),
    ],
)
def test_draws_of_another_implementation_lie_on_our_grid(original: str, drawn: str) -> None:
    t = james(factual={"num_pages": original, "num_friends": 2, "num_times": 2})
    grid = _grid(t, "num_pages", Span(Fraction(1), Fraction(100)))
    place = Fraction(drawn) / grid.unit
    assert place.denominator == 1
    assert grid.first <= place <= grid.last


def test_a_placeholders_own_range_counts() -> None:
    assert set(one_number("7", ranges={"x": [7, 9]})) == {8, 9}
    assert set(one_number("0.5", ranges={"x": [1.1, 1.3]})) == {
        Fraction(n, 10) for n in (11, 12, 13)
    }


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_mutations_satisfy_every_rule(seed: int) -> None:
    t = shop()
    found = mutate(t, seed=seed, n=4)
    assert found.tries == len(found.items) + sum(found.rejected.values())
    assert len({tuple(m.inputs.values()) for m in found.items}) == len(found.items) == 4
    for m in found.items:
        assert 2 <= m.inputs["boxes"] <= 12
        assert m.values["left"] == m.inputs["boxes"] * m.inputs["price"] * (1 - m.inputs["share"])
        assert all(m.values[name] > 0 for name in ("income", "gift", "left"))
        assert m.values["left"] < 500
        assert run_program(t.code, m.inputs).values == m.values
        assert "{" not in m.question + "".join(m.steps)


def test_the_worked_example_is_solved_again() -> None:
    m = mutate(james(), seed=5, n=1).items[0]
    pages = m.inputs["num_pages"] * m.inputs["num_friends"] * m.inputs["num_times"]
    assert (m.values["pages_per_week"], m.values["total_pages"]) == (pages, 52 * pages)
    assert m.steps[1] == "There are 52 weeks in a year."
    assert m.prefix(0) == ""
    assert m.prefix(2) == "\n".join(m.steps[:2])
    for k in (-1, 4):
        with pytest.raises(ValueError, match=f"k is {k}: with 4 steps it is 0..3"):
            m.prefix(k)


def test_a_seed_fixes_each_mutation_whatever_the_number() -> None:
    ten, three = mutate(james(), seed=1), mutate(james(), seed=1, n=3)
    assert ten.items[:3] == three.items
    assert len(ten.items) == ten.wanted == 10
    assert mutate(james(), seed=2).items[0] != ten.items[0]
    other = mutate(james(problem="other letters"), seed=1).items[0]
    assert other.inputs != ten.items[0].inputs


def test_what_cannot_be_mutated_is_counted_by_reason() -> None:
    negative = mutate(
        shop(code="income = boxes * price\ngift = share * income\nleft = 0 - gift"), n=2
    )
    assert (negative.items, negative.rejected, negative.tries) == ((), {"not_positive": 200}, 200)
    never = mutate(shop(conditions=["boxes > 12"]), n=1, max_iter=7)
    assert never.rejected == {"condition": 7}
    refused = mutate(shop(code="income = 1 / 0\ngift = 1\nleft = 1"), n=1, max_iter=3)
    assert refused.rejected == {"refused": 3}
    lacking = mutate(shop(code="income = 1\ngift = 1"), n=1, max_iter=3)
    assert lacking.rejected == {"not_computed": 3}
    few = mutate(
        template_from_dict(
            {
                "problem": "few",
                "question": "{x}?",
                "steps": ["{x} + 1 = {y}"],
                "code": "y = x + 1",
                "factual": {"x": 1},
                "ranges": {"x": [1, 2]},
            }
        ),
        n=3,
    )
    assert [m.inputs["x"] for m in few.items] == [2]
    assert set(few.rejected) == {"repeated", "unchanged"}


def test_loop_counters_need_not_be_positive() -> None:
    code = "income = 0\nfor i in range(1):\n    income += boxes * price\n"
    found = mutate(shop(code=code + "gift = share * income\nleft = income - gift"), n=3)
    assert len(found.items) == 3
    assert found.items[0].values["i"] == 0


def test_bad_options_are_named() -> None:
    with pytest.raises(ValueError, match="seed=-1"):
        mutate(james(), seed=-1)
    with pytest.raises(ValueError, match=r"range \[9, 2\] is empty"):
        mutate(james(), low=9, high=2)
    with pytest.raises(ValueError, match=r"num_pages: \[1/10, 1/2\] holds no usable multiple of 1"):
        mutate(james(), low=0.1, high=0.5)
