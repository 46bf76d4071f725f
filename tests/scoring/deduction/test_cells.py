"""Responses judged value by value."""

from __future__ import annotations

from fractions import Fraction

import pytest

from scoring.deduction import Cell, cells_of, judge_values

STATED_IN = {"weeks": 2, "week": 3, "year": 4}
TRUTH = {"pages": 8, "weeks": 52, "week": 320, "year": 16640}
ORIGINAL = {"weeks": 52, "week": 12, "year": 624}


def test_each_way_to_be_wrong_has_its_name() -> None:
    found = judge_values(
        TRUTH, {"weeks": 52, "week": 12, "year": 16641}, STATED_IN, 0, original=ORIGINAL
    )
    assert [(v.variable, v.step, v.hop, v.status, v.right) for v in found] == [
        ("weeks", 2, 2, "right", True),
        ("week", 3, 3, "copied", False),
        ("year", 4, 4, "wrong", False),
    ]
    assert found[1].stated == 12
    assert found[1].expected == 320


def test_missing_is_neither_right_nor_wrong() -> None:
    found = judge_values(TRUTH, {"week": None}, STATED_IN, 2)
    assert [(v.variable, v.hop, v.status, v.right) for v in found] == [
        ("week", 1, "missing", None),
        ("year", 2, "missing", None),
    ]


def test_without_the_original_nothing_is_copied() -> None:
    assert judge_values(TRUTH, {"week": 12}, STATED_IN, 2)[0].status == "wrong"


def test_tolerance_hops_and_exactness() -> None:
    near: dict[str, str | float] = {"week": "304", "year": 16640.0}
    assert [v.status for v in judge_values(TRUTH, near, STATED_IN, 2)] == ["wrong", "right"]
    assert [v.status for v in judge_values(TRUTH, near, STATED_IN, 2, tolerance="0.05")] == [
        "right",
        "right",
    ]
    assert [v.hop for v in judge_values(TRUTH, {}, STATED_IN, 0, hops="variables")] == [1, 2, 3]
    third = judge_values({"x": Fraction(1, 3)}, {"x": 0.333333}, {"x": 1}, 0)
    assert third[0].status == "wrong"
    with pytest.raises(ValueError, match="the reference has no value for 'week'"):
        judge_values({"weeks": 52}, {}, STATED_IN, 0)


def test_cells_carry_the_response() -> None:
    verdicts = judge_values(TRUTH, {"week": 320}, STATED_IN, 2)
    assert cells_of(verdicts, 2, problem="p", mutation=3, answer="year") == (
        Cell(2, 1, True, "week", "p", 3),
        Cell(2, 2, None, "year", "p", 3, final=True),
    )
    with pytest.raises(ValueError, match=r"cell \(-1, 1\)"):
        Cell(-1, 1, True)
