"""Categories: what counts as missing, which order holds, how labels become codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Category = Hashable
"""A label's value: text, a number, a boolean; anything hashable except None and NaN."""

IntArray = NDArray[np.int64]
Interval = tuple[float, float]

MISSING_CODE = -1


def plain(value: Any) -> Any:
    """Return numpy scalars as Python values, and both None and NaN as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value


def plain_list(values: Iterable[Any]) -> list[Any]:
    """Apply `plain` to a rater's labels, refusing what cannot be a category."""
    out = [plain(v) for v in values]
    for i, v in enumerate(out):
        try:
            hash(v)
        except TypeError:
            raise ValueError(
                f"label {i} is {v!r}: a category must be text, a number or another hashable value"
            ) from None
    return out


def declared_categories(categories: Iterable[Category]) -> tuple[Category, ...]:
    """Check a declared, ordered list of categories."""
    out = tuple(plain_list(categories))
    if not out:
        raise ValueError("categories is empty: declare at least one")
    if None in out:
        raise ValueError("categories holds None (or NaN): that means missing, not a category")
    if len(set(out)) < len(out):
        twice = next(c for c in out if out.count(c) > 1)
        raise ValueError(f"category {twice!r} is declared twice")
    return out


def observed_categories(*raters: Sequence[Any]) -> tuple[Category, ...]:
    """Collect the categories in use: numbers ascending, text alphabetically, else by type.

    Raises
    ------
    ValueError
        When two different values read the same, such as 1 and "1": the raters were loaded with
        different types, and every comparison between them would count as a disagreement.
    """
    seen = {v for rater in raters for v in rater if v is not None}
    by_text: dict[str, Any] = {}
    for v in seen:
        other = by_text.setdefault(str(v), v)
        if other is not v:
            raise ValueError(
                f"labels {other!r} ({type(other).__name__}) and {v!r} ({type(v).__name__}) read "
                "the same but differ in type: give every rater the same type"
            )
    if all(isinstance(v, Real) for v in seen) or all(isinstance(v, str) for v in seen):
        return tuple(sorted(seen))
    return tuple(sorted(seen, key=lambda v: (type(v).__name__, str(v))))


def resolve_categories(
    raters: Sequence[Sequence[Any]], categories: Iterable[Category] | None
) -> tuple[Category, ...]:
    """Return the declared categories, or without a declaration those in use."""
    if categories is None:
        return observed_categories(*raters)
    return declared_categories(categories)


def encode(labels: Sequence[Any], categories: Sequence[Category], rater: str) -> IntArray:
    """Turn labels into category indices; missing becomes -1.

    Raises
    ------
    ValueError
        For a label that is not among the categories, with its place.
    """
    index = {c: i for i, c in enumerate(categories)}
    codes = np.full(len(labels), MISSING_CODE, dtype=np.int64)
    for i, v in enumerate(labels):
        if v is None:
            continue
        if v not in index:
            raise ValueError(
                f"label {v!r} of {rater} at item {i} is not among the categories "
                f"{list(categories)!r}; use None for a missing label"
            )
        codes[i] = index[v]
    return codes


def rectangular(ratings: Iterable[Iterable[Any]]) -> list[list[Any]]:
    """Check ratings given as raters x items.

    Raises
    ------
    ValueError
        When there is no rater, or the raters have different numbers of items.
    """
    rows = [plain_list(r) for r in ratings]
    if not rows:
        raise ValueError("ratings is empty: give one row per rater")
    for i, r in enumerate(rows):
        if len(r) != len(rows[0]):
            raise ValueError(
                f"rater {i} has {len(r)} items but rater 0 has {len(rows[0])}: "
                "give one entry per item, None where a rater has no label"
            )
    return rows


def unit_counts(rows: list[list[Any]], categories: Sequence[Category]) -> IntArray:
    """Count, per item and category, how many raters chose it: raters x items to items x k."""
    codes = np.array([encode(r, categories, f"rater {i}") for i, r in enumerate(rows)])
    counts = np.zeros((len(rows[0]), len(categories)), dtype=np.int64)
    for c in range(len(categories)):
        counts[:, c] = (codes == c).sum(axis=0)
    return counts


def count_matrix(values: Any, name: str) -> IntArray:
    """Check a two-dimensional array of counts.

    Raises
    ------
    ValueError
        When it is not two-dimensional, or a cell is not a whole number of at least 0.
    """
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iufb":
        raise ValueError(f"{name} must be a matrix of counts, not shape {array.shape}")
    numbers = array.astype(np.float64)
    bad = np.argwhere(~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"{name}[{i}][{j}] is {array[i, j]}: counts are whole numbers of at least 0"
        )
    return array.astype(np.int64)


def count(value: Any, name: str) -> int:
    """Check a single count, a whole number of at least 0."""
    number = plain(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{name} is {value!r}: a count is a whole number of at least 0")
    return number


def proportion(value: Any, name: str) -> float:
    """Check a share between 0 and 1."""
    number = plain(value)
    if not isinstance(number, Real) or not 0 <= float(number) <= 1:
        raise ValueError(f"{name} is {value!r}: a share lies between 0 and 1")
    return float(number)


def normal_quantile(level: float) -> float:
    """Return z such that the standard normal lies within ±z with probability `level`."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}: a confidence level lies between 0 and 1, e.g. 0.95")
    return NormalDist().inv_cdf(0.5 + level / 2)
