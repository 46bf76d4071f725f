"""The interpreter's values: exact, traced, injected."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from scoring.deduction import Program, Refusal, evaluate, run_program

JAMES = (
    "num_pages = 3\nnum_friends = 2\nnum_times = 2\nnum_weeks_in_a_year = 52\n"
    "pages_per_week = num_pages * num_friends * num_times\n"
    "total_pages = pages_per_week * num_weeks_in_a_year\n"
)


def values(source: str, **inputs: Any) -> dict[str, Fraction]:
    program = run_program(source, inputs)
    assert program.refusal is None, program.refusal
    return dict(program.values)


def test_worked_example_with_injected_values() -> None:
    p = run_program(JAMES, {"num_pages": 8, "num_friends": 20, "num_times": 2})
    assert p.values["pages_per_week"] == 320
    assert p.values["total_pages"] == 16640
    assert p.set_aside == {"num_pages": 3, "num_friends": 2, "num_times": 2}
    assert p.order == (
        *("num_pages", "num_friends", "num_times", "num_weeks_in_a_year"),
        *("pages_per_week", "total_pages"),
    )
    assert p.reads["total_pages"] == {"pages_per_week", "num_weeks_in_a_year"}
    assert p.ancestors("total_pages") == set(p.order) - {"total_pages"}
    assert all(isinstance(v, Fraction) for v in p.values.values())


def test_without_injection_the_codes_own_numbers_count() -> None:
    p = run_program(JAMES, {})
    assert p.values["total_pages"] == 624
    assert p.set_aside == {}


@pytest.mark.parametrize("literal", ["7", "-7", "14 / 2", "(3 + 4)", "round(7.2)", "7.0", "True"])
def test_no_literal_overwrites_an_input(literal: str) -> None:
    assert values(f"x = {literal}\ny = x + 1\nx = {literal}", x=100)["y"] == 101


@pytest.mark.parametrize(
    "source", ["x = x + 1", "x += 1", "y = 2\nx = y", "for x in range(3):\n    y = x", "a = x = b"]
)
def test_an_input_is_never_recomputed(source: str) -> None:
    refusal = run_program(source, {"x": 5, "b": 1}).refusal
    assert refusal is not None
    assert refusal.code == "input_recomputed"


def test_held_values_stay_whatever_is_computed() -> None:
    source = "c = a + 2\ne = c * 2\ne += 1"
    assert run_program(source, {"a": 3}, held={"c": 7}).values["e"] == 15
    assert run_program(source, {"a": 3}, held={"e": 1}).values["e"] == 1
    assert run_program(source, {"a": 3}, held={"a": 1}).values["c"] == 3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0.1 + 0.2", "3/10"),
        ("1 / 3 * 3", "1"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 % 2", "3/2"),
        ("2 ** 10", "1024"),
        ("2 ** -2", "1/4"),
        ("2 ** 3 ** 2", "512"),
        ("-2 ** 2", "-4"),
        ("0 ** 0", "1"),
        ("1 ** 10 ** 300", "1"),
        ("(-1) ** (10 ** 300 + 1)", "-1"),
        ("10 - 3 - 2", "5"),
        ("100 / 10 / 5", "2"),
        ("1e3", "1000"),
        ("1.5e-3", "3/2000"),
        ("1_000", "1000"),
        (".5", "1/2"),
        ("5.", "5"),
        ("1e-300 * 1e300", "1"),
        ("round(2.5)", "2"),
        ("round(3.5)", "4"),
        ("round(2.675, 2)", "67/25"),
        ("round(1234, -2)", "1200"),
        ("int(-2.7)", "-2"),
        ("floor(-2.5)", "-3"),
        ("ceil(2.1)", "3"),
        ("abs(-3)", "3"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("pow(2, 5)", "32"),
        ("float(3)", "3"),
        ("3 < 4", "1"),
        ("1 < 3 < 2", "0"),
        ("1 == 1.0", "1"),
        ("1 != 1", "0"),
        ("not 0", "1"),
        ("0 or 5", "5"),
        ("0 and 1 / 0", "0"),
        ("3 and 5", "5"),
        ("10 if 2 > 1 else 1 / 0", "10"),
        ("True + True", "2"),
        ("+3", "3"),
    ],
)
def test_expressions(expression: str, expected: str) -> None:
    assert evaluate(expression, {}) == Fraction(expected)
    assert values(f"x = {expression}")["x"] == Fraction(expected)


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("t = 0\nfor i in range(1, 5):\n    t += i", "t", 10),
        ("t = 0\nfor i in range(10, 0, -3):\n    t = t + i", "t", 22),
        ("n = 100\ny = 0\nwhile n > 1:\n    n = n / 2\n    y += 1", "y", 7),
        ("t = 0\nfor i in range(9):\n    if i == 3:\n        break\n    t += 1", "t", 3),
        ("t = 0\nfor i in range(5):\n    if i % 2:\n        continue\n    t += i", "t", 6),
        ("x = 5\nif x > 9:\n    y = 1\nelif x > 3:\n    y = 2\nelse:\n    y = 3", "y", 2),
        ("a = b = 4\nc = a * b", "c", 16),
        ("x = 2  # 'quoted' [brackets] ü\n\ny = x", "y", 2),
        ("x = (1 +\n     2)\ny = x", "y", 3),
        ("x = 1; y = x + 1", "y", 2),
        ("x = 1\r\ny = x + 1\r\n", "y", 2),
        ("sum = 3 + 4\nmax = sum", "max", 7),
        ("pass\n3 + 4\nx = 1", "x", 1),
        ("t = 0\nfor i in range(3):\n    for j in range(3):\n        if j > i:\n"
         "            break\n        t += 1", "t", 6),
    ],
)  # fmt: skip
def test_statements(source: str, name: str, expected: int) -> None:
    assert values(source)[name] == expected


def test_conditions_around_an_assignment_are_read() -> None:
    p = run_program(
        "if a > 1:\n    y = b\nwhile y < c:\n    y = y + 1\nz = 1", {"a": 2, "b": 1, "c": 3}
    )
    assert p.reads["y"] == {"a", "b", "c", "y"}
    assert p.reads["z"] == frozenset()
    q = run_program(
        "t = 0\nfor i in range(n):\n    if i == 1:\n        break\n    t += i\nu = 2", {"n": 4}
    )
    assert q.ancestors("t") == {"t", "i", "n"}
    assert q.reads["u"] == frozenset()


def test_inputs_of_every_kind_of_number() -> None:
    assert values("y = x * 3", x=0.1)["y"] == Fraction(3, 10)
    assert values("y = x * 3", x="1/3")["y"] == 1
    for bad in (float("nan"), float("inf"), True, "three", "1/0", 2**1024):
        with pytest.raises(ValueError, match="input x is"):
            run_program("y = x", {"x": bad})
    with pytest.raises(ValueError, match="'a b': a name must be an identifier"):
        run_program("y = 1", {"a b": 1})


def test_a_refused_program_has_no_values() -> None:
    p = run_program("x = 1\ny = 1 / (x - 1)", {})
    assert p == Program({}, (), Refusal("division_by_zero", "division by zero", 2))
    assert str(p.refusal) == "line 2: division by zero"
