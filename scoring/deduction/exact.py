"""Exact numbers: anything a user gives to a bounded `Fraction`, and back to text."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral

MAX_BITS = 1024
"""Numerators and denominators with more bits are refused (about 308 digits, a float's range)."""

MAX_PLACES = 6
"""A terminating decimal with more places is written as a fraction."""

Number = int | float | Fraction | Decimal | str
"""What `exact` accepts."""

_TEXT = re.compile(r"([+-]?)([0-9]{1,310})(?:\.([0-9]{1,310}))?(?:/([0-9]{1,310}))?")


def fits(value: Fraction) -> bool:
    """Return whether numerator and denominator have at most `MAX_BITS` bits.

    Examples
    --------
    >>> fits(Fraction(2**1023)), fits(Fraction(1, 2**1024))
    (True, False)
    """
    return value.numerator.bit_length() <= MAX_BITS and value.denominator.bit_length() <= MAX_BITS


def exact(value: Number, what: str = "value") -> Fraction:
    """Return a number as an exact fraction.

    Parameters
    ----------
    value : int, float, Fraction, Decimal or str
        A float counts as the shortest decimal that prints as it (0.1 is 1/10). A text is a plain
        decimal or ``p/q``.
    what
        Its name in the error message.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        When it is no finite number, or has more than `MAX_BITS` bits.

    Examples
    --------
    >>> exact(0.1), exact("1/3"), exact("-1.75")
    (Fraction(1, 10), Fraction(1, 3), Fraction(-7, 4))
    """
    number = _converted(value)
    if number is None:
        long = isinstance(value, Integral | Fraction) and not isinstance(value, bool)
        shown = "too long" if long else repr(str(value)[:60])
        raise ValueError(
            f"{what} is {shown}: it must be a finite number, a decimal or p/q"
            f" of at most {MAX_BITS} bits"
        )
    return number


def format_number(value: Fraction) -> str:
    """Write a number as a person would in a word problem.

    Parameters
    ----------
    value : Fraction

    Returns
    -------
    str
        Whole numbers plain, decimals of at most `MAX_PLACES` places as decimals, all else ``p/q``.

    Examples
    --------
    >>> [format_number(Fraction(x)) for x in ("1800", "5/2", "-7/4", "1/3", "1/1024")]
    ['1800', '2.5', '-1.75', '1/3', '1/1024']
    """
    places = decimal_places(value)
    if places is None or places > MAX_PLACES:
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def decimal_places(value: Fraction) -> int | None:
    """Return how many decimal places a number needs, None when no number of places is enough.

    Examples
    --------
    >>> decimal_places(Fraction(5, 2)), decimal_places(Fraction(3)), decimal_places(Fraction(1, 3))
    (1, 0, None)
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def within(stated: Number, expected: Number, tolerance: Number = Fraction(1, 20)) -> bool:
    """Return whether a stated value is as good as the expected one.

    Parameters
    ----------
    stated, expected
        The two values p and t.
    tolerance
        Allowed share of the expected value, >= 0; 0 = exact match.

    Returns
    -------
    bool
        |p - t| <= tolerance * |t|, the bound included.

    Raises
    ------
    ValueError
        When the tolerance is negative.

    References
    ----------
    Paper C, appendix A.7 (5 % for SynDeduct).

    Examples
    --------
    >>> within("95", "100"), within("94.99", "100"), within("95", "100", 0)
    (True, False, False)
    """
    p, t, share = exact(stated), exact(expected), exact(tolerance, "tolerance")
    if share < 0:
        raise ValueError(f"tolerance is {share}: it must not be negative")
    return abs(p - t) <= share * abs(t)


def _converted(value: Number) -> Fraction | None:
    """Return the fraction, None for what is none; nothing huge is ever built."""
    number: Fraction | None = None
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        number = Fraction(int(value))
    elif isinstance(value, Fraction):
        number = value
    elif isinstance(value, float):
        number = Fraction(repr(float(value))) if math.isfinite(value) else None
    elif isinstance(value, Decimal):
        if value.is_finite() and len(value.as_tuple().digits) <= 400:
            number = Fraction(value) if not value or abs(value.adjusted()) <= 400 else None
    elif isinstance(value, str):
        number = _read(value.strip())
    return number if number is not None and fits(number) else None


def _read(text: str) -> Fraction | None:
    match = _TEXT.fullmatch(text)
    if match is None or (match[4] is not None and int(match[4]) == 0):
        return None
    value = Fraction(f"{match[2]}.{match[3] or 0}") / int(match[4] or 1)
    return -value if match[1] == "-" else value
