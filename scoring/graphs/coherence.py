"""What a pool's distances say together: coherence, divergence, dispersion, entropy (paper A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scoring.types import FloatArray

Bins = Literal["fd", "sturges"]

ROUNDING = 1e-12
"""Differences up to this (times the largest value, if that exceeds 1) count as rounding."""

MAX_BINS = 100_000
"""Beyond this many bins only the occupied ones are counted, without numpy's histogram."""


@dataclass(frozen=True, slots=True)
class Coherence:
    """Summary of a pool's pairwise distances; None where fewer than two graphs leave no pair.

    Attributes
    ----------
    grcs
        1/(1 + divergence), in (0, 1]. A coherence: 1 = all traces alike.
    divergence
        Mean distance, >= 0; 0 = all alike.
    dispersion
        Standard deviation of the distances (ddof 0), >= 0.
    entropy
        Shannon entropy of their histogram in nats, >= 0.
    n
        Number of graphs.
    flags
        Among ``fewer_than_two`` (everything is undefined) and ``iqr_zero`` (the quartiles agree
        though the distances do not: Freedman–Diaconis has one bin, and entropy 0 means little).
    n_bins
        Bins of the histogram; 0 where it is undefined.
    """

    grcs: float | None
    divergence: float | None
    dispersion: float | None
    entropy: float | None
    n: int
    flags: tuple[str, ...] = ()
    n_bins: int = 0


def coherence(distances: ArrayLike, *, bins: Bins = "fd") -> Coherence:
    """Summarise the pairwise distances of a pool.

    Parameters
    ----------
    distances : array_like, shape (N, N)
        Symmetric, finite, not negative, zero diagonal; N may be 0 or 1.
    bins : {"fd", "sturges"}
        Rule for the histogram behind the entropy.

    Returns
    -------
    Coherence

    Raises
    ------
    ValueError
        Naming the cell that is not finite, negative, asymmetric or a nonzero diagonal.

    Notes
    -----
    Over the N(N−1)/2 distances above the diagonal: divergence D = mean, GRCS = 1/(1 + D),
    dispersion = standard deviation. The paper reads GRCS as an *uncertainty* metric and finds it
    negatively correlated with faithfulness; its orientation is that of a coherence. None of the
    four depends on the order of the graphs.

    References
    ----------
    Paper A, sections 2 and 3 ("Graph Reasoning Coherence Score").

    Examples
    --------
    >>> c = coherence([[0.0, 0.5], [0.5, 0.0]])
    >>> c.divergence, round(c.grcs, 4), c.dispersion, c.entropy
    (0.5, 0.6667, 0.0, 0.0)
    >>> coherence([[0.0]]).flags
    ('fewer_than_two',)
    """
    _check_bins(bins)
    matrix = checked_distances(distances)
    n = len(matrix)
    if n < 2:
        return Coherence(None, None, None, None, n, ("fewer_than_two",), 0)
    values = np.sort(matrix[np.triu_indices(n, 1)])
    base = float(values[0])  # deviations from it keep equal distances exact
    divergence = base + math.fsum(values - base) / len(values)
    dispersion = math.sqrt(math.fsum((values - divergence) ** 2) / len(values))
    n_bins, degenerate = _bin_count(values, bins)
    return Coherence(
        1.0 / (1.0 + divergence),
        divergence,
        dispersion,
        _entropy(values, n_bins),
        n,
        ("iqr_zero",) if degenerate else (),
        n_bins,
    )


def histogram_entropy(values: ArrayLike, *, bins: Bins = "fd") -> float:
    """Return the Shannon entropy of the histogram of some values, in nats.

    Parameters
    ----------
    values : array_like, shape (n,)
        Finite; at least one.
    bins : {"fd", "sturges"}
        Bin width: Freedman–Diaconis 2·IQR/n^(1/3), or Sturges range/(log2 n + 1); bins of equal
        width over the range, their number rounded up (as numpy does).

    Returns
    -------
    float
        In [0, ln(number of bins)]; 0 = all in one bin.

    Raises
    ------
    ValueError
        For no values (their entropy is undefined), one that is not finite, or another rule.

    Notes
    -----
    H = −Σ p_b ln p_b. Values that differ by rounding only (`ROUNDING`) fall in one bin. An IQR of
    0 with a positive range gives one bin and H = 0 under "fd"; `coherence` flags it.

    References
    ----------
    Paper A, section 2 (heterogeneity) and section 4 (bins).

    Examples
    --------
    >>> round(histogram_entropy([0.0, 0.0, 1.0, 1.0], bins="sturges"), 6)
    0.693147
    """
    _check_bins(bins)
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"values must be one-dimensional, not of shape {data.shape}")
    if data.size == 0:
        raise ValueError("values is empty: the entropy of nothing is undefined")
    bad = np.flatnonzero(~np.isfinite(data))
    if bad.size:
        raise ValueError(f"value {bad[0]} is {data[bad[0]]}: values must be finite")
    data = np.sort(data)
    return _entropy(data, _bin_count(data, bins)[0])


def checked_distances(distances: ArrayLike, n: int | None = None) -> FloatArray:
    """Return the matrix, or raise ValueError unless it is a distance matrix (of n graphs)."""
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.size == 0 and n is None and matrix.ndim <= 2:
        return np.zeros((0, 0))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"distances must be a square matrix, not of shape {matrix.shape}")
    if n is not None and len(matrix) != n:
        raise ValueError(f"distances has {len(matrix)} rows for {n} graphs")
    with np.errstate(invalid="ignore"):
        checks = (
            (~np.isfinite(matrix), "distances must be finite"),
            (matrix < 0, "distances must not be negative"),
            (np.abs(matrix - matrix.T) > ROUNDING, "distances must be symmetric"),
            (np.eye(len(matrix), dtype=bool) & (matrix > ROUNDING), "the diagonal must be 0"),
        )
    for wrong, rule in checks:
        if wrong.any():
            i, j = (int(x) for x in np.argwhere(wrong)[0])
            raise ValueError(f"distance ({i}, {j}) is {matrix[i, j]}: {rule}")
    return matrix


def _check_bins(bins: str) -> None:
    if bins not in ("fd", "sturges"):
        raise ValueError(f"bins must be 'fd' or 'sturges', not {bins!r}")


def _bin_count(values: FloatArray, bins: Bins) -> tuple[int, bool]:
    """Return the number of bins for sorted values, and whether a zero IQR left only one."""
    n = len(values)
    span = float(values[-1] - values[0])
    rounding = ROUNDING * max(1.0, abs(float(values[0])), abs(float(values[-1])))
    if span <= rounding:
        return 1, False
    if bins == "sturges":
        return math.ceil(span / (span / (math.log2(n) + 1.0))), False
    low, high = np.percentile(values, [25.0, 75.0])
    if high - low <= rounding:
        return 1, True
    return math.ceil(span / (2.0 * float(high - low) / n ** (1.0 / 3.0))), False


def _entropy(values: FloatArray, n_bins: int) -> float:
    """Return −Σ p ln p over equal bins of the range of sorted values."""
    if n_bins == 1:
        return 0.0
    if n_bins <= MAX_BINS:
        counts = np.histogram(values, bins=n_bins)[0]
    else:
        span = values[-1] - values[0]
        place = np.minimum(np.floor((values - values[0]) / span * n_bins), n_bins - 1)
        counts = np.unique(place, return_counts=True)[1]
    shares = counts[counts > 0] / len(values)
    return float(-math.fsum(shares * np.log(shares)))
