"""Numbers in and out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from scoring.deduction import exact, format_number, within
from scoring.deduction.exact import Number, decimal_places


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3", "3"),
        ("1/2", "0.5"),
        ("1/8", "0.125"),
        ("1/3", "1/3"),
        ("-7/4", "-1.75"),
        ("1800", "1800"),
        ("5/2", "2.5"),
        ("1/1024", "1/1024"),
        ("123456789/1000", "123456.789"),
        ("-1/3", "-1/3"),
        ("-1/20", "-0.05"),
        ("0", "0"),
        ("1/1000000", "0.000001"),
        ("1/10000000", "1/10000000"),
    ],
)
def test_numbers_are_written_as_people_do(value: str, text: str) -> None:
    assert format_number(Fraction(value)) == text


@pytest.mark.parametrize(
    ("stated", "expected", "near"),
    [
        ("95", "100", True),
        ("94.99", "100", False),
        ("105", "100", True),
        ("105.01", "100", False),
        ("1/3", "0.33", True),
        ("0", "0", True),
        ("0.001", "0", False),
        ("-95", "-100", True),
        ("95", "-100", False),
    ],
)
def test_five_per_cent(stated: str, expected: str, near: bool) -> None:
    assert within(stated, expected) is near
    assert within(stated, expected, 0) is (Fraction(stated) == Fraction(expected))


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance is -1"):
        within(1, 1, -1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (1e300, Fraction(10**300)),
        (Decimal("1.50"), Fraction(3, 2)),
        (Fraction(2, 6), Fraction(1, 3)),
        (" -1.5 ", Fraction(-3, 2)),
        ("+2/4", Fraction(1, 2)),
        ("1.5/3", Fraction(1, 2)),
        (np.float64(0.1), Fraction(1, 10)),
    ],
)
def test_exact(value: Number, expected: Fraction) -> None:
    assert exact(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(float("nan"), float("-inf"), True, "", "1e5", "1/0", "0x1", "1_0", "²", "9" * 400),
        *(2**1024, pytest.param(10**9999, id="huge"), Fraction(1, 2**1024), Decimal("1e999999999"), Decimal("nan"), Decimal("1e-99999")),
    ],
)  # fmt: skip
def test_what_is_no_bounded_number_is_named(value: Number) -> None:
    with pytest.raises(ValueError, match=r"price is .{0,62}: it must be a finite number"):
        exact(value, "price")


def test_decimal_places() -> None:
    assert [decimal_places(Fraction(x)) for x in ("7", "0.25", "1/3", "1/1024")] == [0, 2, None, 10]
