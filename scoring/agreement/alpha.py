"""Krippendorff's alpha: any number of raters, missing labels, four levels of measurement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from scoring.agreement._coding import (
    Category,
    IntArray,
    rectangular,
    resolve_categories,
    unit_counts,
)
from scoring.types import FloatArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True, slots=True)
class KrippendorffAlpha:
    """Krippendorff's alpha.

    Attributes
    ----------
    value
        1 = full agreement, 0 = as by chance, below 0 = systematic disagreement; None when
        undefined.
    observed_disagreement, expected_disagreement
        Mean squared difference within items and over all pairs of values; None without a
        comparable item.
    level
        Level of measurement.
    n
        Items with at least two labels.
    n_values
        Labels on those items.
    dropped
        Items with fewer than two labels.
    categories
        The categories, in order.
    why_undefined
        The reason when `value` is None, else None.
    """

    value: float | None
    observed_disagreement: float | None
    expected_disagreement: float | None
    level: Level
    n: int
    n_values: int
    dropped: int
    categories: tuple[Category, ...]
    why_undefined: str | None


def krippendorff_alpha(
    ratings: Iterable[Iterable[Category | None]],
    *,
    level: Level = "nominal",
    categories: Iterable[Category] | None = None,
) -> KrippendorffAlpha:
    """Krippendorff's alpha of several raters.

    Parameters
    ----------
    ratings : iterable of iterable of label, shape (n_raters, n_items)
        None or NaN = no label.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement. "interval" and "ratio" need numbers, "ratio" none below 0.
    categories : iterable of label, optional
        All categories in order; "ordinal" needs it for labels that are not numbers.

    Returns
    -------
    KrippendorffAlpha
        Undefined when no item has two labels, or all comparable labels name one category.

    Raises
    ------
    ValueError
        For an unknown level, labels the level cannot use, raters with different numbers of items,
        or a label outside the declared categories.

    Notes
    -----
    Items with fewer than two labels are dropped. Each ordered pair of labels (c, k) on an item
    with m labels adds 1/(m - 1) to the coincidence o_ck; n_c = Σ_k o_ck, n = Σ n_c.
    alpha = 1 - (n - 1) Σ o_ck δ²(c, k)/Σ n_c n_k δ²(c, k), with δ² = [c ≠ k] (nominal),
    (Σ_{g=c..k} n_g - (n_c + n_k)/2)² (ordinal), (c - k)² (interval), ((c - k)/(c + k))² (ratio).
    If a single label differs from all others, alpha is exactly 0 whatever the number of items:
    one deviating value is just what chance would pair with the rest.

    References
    ----------
    Krippendorff (2004), Content Analysis, 2nd ed., chapter 11.
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> a = [1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1]
    >>> b = [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]
    >>> round(krippendorff_alpha([a, b]).value, 3)
    0.692
    """
    return alpha_data(ratings, level, categories).alpha()


@dataclass(frozen=True, slots=True, eq=False)
class AlphaData:
    """Counts per comparable item, the level they are read at, and what was left out.

    Attributes
    ----------
    counts
        Items x categories: how many raters chose it, items with at least two labels only.
    kept
        Which of the items given those are.
    names
        The categories, in order.
    level
        Level of measurement.
    dropped
        Items with fewer than two labels.
    """

    counts: FloatArray
    kept: IntArray
    names: tuple[Category, ...]
    level: Level
    dropped: int

    def contributions(self) -> FloatArray:
        """Coincidences (k² columns) and totals (k columns) of each item.

        The diagonal is not that of the coincidence matrix: no distance is read there.
        """
        k = len(self.names)
        scaled = self.counts / (self.counts.sum(axis=1) - 1)[:, None]
        pairs = scaled[:, :, None] * self.counts[:, None, :]
        return np.concatenate([pairs.reshape(len(pairs), k * k), self.counts], axis=1)

    def disagreement(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Observed and expected disagreement of summed contributions, one row each."""
        k = len(self.names)
        coincidence, totals = sums[:, : k * k].reshape(-1, k, k), sums[:, k * k :]
        n = totals.sum(axis=1)
        squared = _squared_difference(totals, self.names, self.level)
        seen = (coincidence * squared).sum(axis=(1, 2)) / n
        pairs = totals[:, :, None] * totals[:, None, :]
        return seen, (pairs * squared).sum(axis=(1, 2)) / (n * (n - 1))

    def alpha(self) -> KrippendorffAlpha:
        """Alpha of all items."""
        level, n_items = self.level, len(self.counts)
        if n_items == 0:
            why = "no item has labels from two raters"
            return KrippendorffAlpha(None, None, None, level, 0, 0, self.dropped, self.names, why)
        totals = self.counts.sum(axis=0)
        scaled = self.counts / (self.counts.sum(axis=1) - 1)[:, None]
        coincidence = scaled.T @ self.counts
        seen, by_chance = self.disagreement(np.concatenate([coincidence.ravel(), totals])[None])
        value, why_undefined = None, None
        if int((totals > 0).sum()) == 1:
            why_undefined = "all comparable labels name one category only"
        else:
            value = 1 - float(seen[0]) / float(by_chance[0])
        return KrippendorffAlpha(
            value=value,
            observed_disagreement=float(seen[0]),
            expected_disagreement=float(by_chance[0]),
            level=level,
            n=n_items,
            n_values=int(totals.sum()),
            dropped=self.dropped,
            categories=self.names,
            why_undefined=why_undefined,
        )


def alpha_data(
    ratings: Iterable[Iterable[Category | None]],
    level: Level,
    categories: Iterable[Category] | None,
) -> AlphaData:
    """Check ratings (raters x items) for a level of measurement and count them.

    Raises
    ------
    ValueError
        As `krippendorff_alpha`.
    """
    if level not in get_args(Level):
        raise ValueError(f"level {level!r} is not known: use one of {', '.join(get_args(Level))}")
    rows = rectangular(ratings)
    declared = None if categories is None else tuple(categories)
    names = resolve_categories(rows, declared)
    _check_level(names, level, declared is not None)
    counts = unit_counts(rows, names).astype(np.float64)
    kept = np.flatnonzero(counts.sum(axis=1) >= 2)
    return AlphaData(counts[kept], kept, names, level, len(counts) - len(kept))


def _numbers(names: Sequence[Any]) -> list[float] | None:
    """Return the categories as numbers, or None when one is not a finite number."""
    numbers = [float(c) for c in names if isinstance(c, Real)]
    return numbers if len(numbers) == len(names) and np.isfinite(numbers).all() else None


def _check_level(names: Sequence[Category], level: Level, declared: bool) -> None:
    """Refuse labels the level of measurement cannot use."""
    numbers = _numbers(names)
    if level in ("interval", "ratio") and numbers is None:
        raise ValueError(f"level {level!r} needs finite numbers, not {list(names)!r}")
    if level == "ordinal" and numbers is None and not declared:
        raise ValueError(
            f"level 'ordinal' needs categories: the order of {list(names)!r} is not known"
        )
    if level == "ratio" and min(numbers or [0]) < 0:
        raise ValueError(f"level 'ratio' needs values of at least 0, not {min(numbers or [0])}")


def _squared_difference(totals: FloatArray, names: Sequence[Category], level: Level) -> FloatArray:
    """δ² of every pair of categories, shape (k, k) or, where it depends on totals, (rows, k, k)."""
    k = len(names)
    if level == "nominal":
        return 1 - np.eye(k)
    if level == "ordinal":
        middle = np.cumsum(totals, axis=1) - totals / 2
        return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)
    values = np.array(_numbers(names), dtype=np.float64)
    apart = values[:, None] - values[None, :]
    if level == "ratio":
        total = values[:, None] + values[None, :]
        apart = np.divide(apart, total, out=np.zeros((k, k)), where=total > 0)
    return np.asarray(apart**2)
