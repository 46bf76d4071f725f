"""Models and methods compared over sets of objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.types import FloatArray


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Mean difference of two models' scores over the same sets.

    Attributes
    ----------
    difference
        Mean of (first - second); negative = the first contradicts itself less. None without a
        common set.
    ci
        Percentile interval over resampled sets; None with fewer than two sets.
    p
        Two-sided: twice the smaller share of replicates on either side of 0 (a replicate at 0
        counts for both), at most 1 and at least 2/(replicates + 1); None with fewer than two sets.
    n
        Sets with a score of both.
    dropped
        Sets where one has none.
    replicates
        Replicates drawn.
    level
        Of the interval.
    why_undefined
        Why `difference` or `ci` is None, else None.
    """

    difference: float | None
    ci: tuple[float, float] | None
    p: float | None
    n: int
    dropped: int
    replicates: int
    level: float
    why_undefined: str | None


def compare_models(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    replicates: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> ModelComparison:
    """Compare two models by a paired bootstrap over sets.

    Parameters
    ----------
    first, second : sequence of float or None
        Score of each model on each set, in one order; None = undefined, dropped pairwise.
    replicates : int
        Resamples of the sets, at least 1.
    level : float
        Of the interval, in (0, 1).
    seed : int
        For the resampling.

    Returns
    -------
    ModelComparison

    Raises
    ------
    ValueError
        When lengths differ or a parameter is out of range.

    Notes
    -----
    Sets are drawn with replacement, both scores of a set together, so that hard sets weigh on both
    models alike. With few sets the interval is too narrow; it says nothing about other sets of
    another kind.

    Examples
    --------
    >>> r = compare_models([0.1, 0.2, 0.3], [0.2, 0.3, 0.5])
    >>> round(r.difference, 4), r.n
    (-0.1333, 3)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores against {len(second)}: give one each per set")
    if replicates < 1 or not 0 < level < 1:
        raise ValueError(f"replicates {replicates}, level {level}: at least 1, and within (0, 1)")
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    dropped = len(first) - len(pairs)
    gaps: FloatArray = np.array([a - b for a, b in pairs], dtype=np.float64)
    n = len(gaps)
    if n == 0:
        why = "no set has a score of both models"
        return ModelComparison(None, None, None, 0, dropped, 0, level, why)
    if n == 1:
        why = "one set only: nothing to resample"
        return ModelComparison(float(gaps[0]), None, None, 1, dropped, 0, level, why)
    rng = np.random.default_rng(seed)
    means = gaps[rng.integers(n, size=(replicates, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    tail = min(int((means <= 0).sum()), int((means >= 0).sum()))
    p = min(1.0, 2 * (tail + 1) / (replicates + 1))
    ci = (float(low), float(high))
    return ModelComparison(float(gaps.mean()), ci, p, n, dropped, replicates, level, None)


@dataclass(frozen=True, slots=True)
class ScoreCorrelation:
    """Correlation of two methods' scores over sets.

    Attributes
    ----------
    pearson, spearman
        In [-1, 1]; None when undefined.
    n
        Sets (or set x model) with a score of both.
    dropped
        Those where one has none.
    why_undefined
        The reason when there is no correlation, else None.
    """

    pearson: float | None
    spearman: float | None
    n: int
    dropped: int
    why_undefined: str | None


def score_correlation(
    graph: Sequence[float | None], energy: Sequence[float | None]
) -> ScoreCorrelation:
    """Correlate graph scores with energy scores over sets.

    Parameters
    ----------
    graph, energy : sequence of float or None
        Scores in one order; None = undefined, dropped pairwise.

    Returns
    -------
    ScoreCorrelation
        Undefined for fewer than two pairs, or when one method always gives the same score.

    Raises
    ------
    ValueError
        When lengths differ.

    References
    ----------
    Paper B, section 4.7 (r = .982 over its tables).

    Examples
    --------
    >>> score_correlation([0.1, 0.2, 0.4], [0.1, 0.3, 0.5]).spearman
    1.0
    """
    if len(graph) != len(energy):
        raise ValueError(f"{len(graph)} scores against {len(energy)}: give one each per set")
    pairs = [(a, b) for a, b in zip(graph, energy, strict=True) if a is not None and b is not None]
    dropped = len(graph) - len(pairs)
    n = len(pairs)
    if n < 2:
        return ScoreCorrelation(None, None, n, dropped, "fewer than two sets with both scores")
    x, y = np.array(pairs, dtype=np.float64).T
    if x.min() == x.max() or y.min() == y.max():
        return ScoreCorrelation(None, None, n, dropped, "one method gives every set the same score")
    return ScoreCorrelation(_pearson(x, y), _pearson(_midranks(x), _midranks(y)), n, dropped, None)


def _pearson(x: FloatArray, y: FloatArray) -> float:
    a, b = x - x.mean(), y - y.mean()
    r = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
    return max(-1.0, min(1.0, r))


def _midranks(x: FloatArray) -> FloatArray:
    below = (x[:, None] > x).sum(axis=1)
    equal = (x[:, None] == x).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2.0, dtype=np.float64)
