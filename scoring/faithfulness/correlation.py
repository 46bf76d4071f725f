"""Three correlations of a metric with faithfulness, for one sample or many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scoring.types import FloatArray

Method = Literal["pearson", "spearman", "kendall"]
METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")

CONSTANT = 1e-12
"""Values whose range is at most this share of the largest are one value and its rounding."""

SIGN_CELLS = 2**22
"""Signs of differences are worked on in blocks of at most about this many cells (1 byte each)."""

LONG_ROW = 1024
"""Rows longer than this are left to scipy, which sorts instead of comparing all pairs."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """How a metric goes with faithfulness, in [−1, 1] each; None when undefined.

    For an *uncertainty* metric negative is good; GRCS, a coherence, is held against the same sign
    by the paper.

    Attributes
    ----------
    pearson, spearman, kendall
        Linear, rank, and pair-order correlation (tau-b, corrected for ties).
    n
        Pairs used.
    dropped
        Pairs in which one side is missing.
    why_undefined
        The reason when they are None, else None.
    """

    pearson: float | None
    spearman: float | None
    kendall: float | None
    n: int
    dropped: int
    why_undefined: str | None


def correlations(
    metric: Sequence[float | None], faithfulness: Sequence[float | None]
) -> Correlations:
    """Return Pearson's, Spearman's and Kendall's correlation of a metric with faithfulness.

    Parameters
    ----------
    metric, faithfulness : sequence of float or None, length n
        One pair per question; None (or NaN) = undefined, dropped and counted.

    Returns
    -------
    Correlations
        Undefined for fewer than two pairs and where one side is constant.

    Raises
    ------
    ValueError
        For lists of unequal length or an infinite value.

    Notes
    -----
    Spearman's is Pearson's of mid-ranks; Kendall's is τ_b = Σ s_u s_f / √(Σ s_u² Σ s_f²) over the
    signs s of all differences. A side is constant when its range is within rounding.

    References
    ----------
    Paper A, section 4 and appendix C.7.

    Examples
    --------
    >>> c = correlations([0.5, 0.62, 0.71, 0.55], [0.9, 0.6, 0.5, 0.7])
    >>> round(c.pearson, 4), c.spearman, c.kendall
    (-0.9534, -1.0, -1.0)
    """
    u, f = paired(metric, faithfulness)
    keep = ~(np.isnan(u) | np.isnan(f))
    n = int(keep.sum())
    dropped = len(u) - n
    if n < 2:
        why = f"{n} defined pair{'s' * (n != 1)}: at least 2 are needed"
        return Correlations(None, None, None, n, dropped, why)
    for name, side in (("metric", u[keep]), ("faithfulness", f[keep])):
        if constant_rows(side[None])[0]:
            why = f"the {name} is the same for every question"
            return Correlations(None, None, None, n, dropped, why)
    values = row_correlations(u[keep][None], f[keep][None])[0].tolist()
    return Correlations(values[0], values[1], values[2], n, dropped, None)


def paired(
    metric: Sequence[float | None], faithfulness: Sequence[float | None]
) -> tuple[FloatArray, FloatArray]:
    """Return both lists as arrays, None as NaN."""
    if len(metric) != len(faithfulness):
        raise ValueError(
            f"{len(metric)} metric values for {len(faithfulness)} faithfulness values: "
            "give one of each per question"
        )
    u, f = (np.array(side, dtype=np.float64) for side in (metric, faithfulness))
    for name, side in (("metric", u), ("faithfulness", f)):
        bad = np.flatnonzero(np.isinf(side))
        if bad.size:
            raise ValueError(f"{name} value {bad[0]} is {side[bad[0]]}: it must be finite, or None")
    return u, f


def constant_rows(rows: FloatArray) -> NDArray[np.bool_]:
    """Return which rows hold one value only, up to rounding."""
    span = rows.max(axis=1) - rows.min(axis=1)
    constant: NDArray[np.bool_] = span <= CONSTANT * np.abs(rows).max(axis=1)
    return constant


def row_correlations(u: FloatArray, f: FloatArray) -> FloatArray:
    """Return the three correlations of every row of u with that of f, shape (rows, 3).

    Parameters
    ----------
    u, f : ndarray, shape (rows, n)
        Finite, n >= 2.

    Returns
    -------
    ndarray, shape (rows, 3)
        In the order of `METHODS`; NaN where either row is constant.
    """
    n_rows, n = u.shape
    out = np.full((n_rows, len(METHODS)), np.nan)
    live = np.flatnonzero(~(constant_rows(u) | constant_rows(f)))
    step = max(1, SIGN_CELLS // (n * n))
    for low in range(0, len(live), step):
        rows = live[low : low + step]
        out[rows, 0] = _pearson(u[rows], f[rows])
        if n > LONG_ROW:
            out[rows, 1:] = [_by_sorting(a, b) for a, b in zip(u[rows], f[rows], strict=True)]
        else:
            out[rows, 1:] = _by_signs(u[rows], f[rows])
    return out


def _pearson(u: FloatArray, f: FloatArray) -> FloatArray:
    x = u - u.mean(axis=1, keepdims=True)
    y = f - f.mean(axis=1, keepdims=True)
    x /= np.abs(x).max(axis=1, keepdims=True)  # squares of tiny values would vanish
    y /= np.abs(y).max(axis=1, keepdims=True)
    return _cosine(x, y)


def _cosine(x: FloatArray, y: FloatArray) -> FloatArray:
    cross = np.einsum("ij,ij->i", x, y)
    size = np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y)
    cosines: FloatArray = np.clip(cross / np.sqrt(size), -1.0, 1.0)
    return cosines


def _by_signs(u: FloatArray, f: FloatArray) -> FloatArray:
    """Return Spearman's and Kendall's correlations from the signs of all differences.

    A value's centred mid-rank is half the sum of its signs against all values.
    """
    s, t = (np.sign(x[:, :, None] - x[:, None, :]).astype(np.int8) for x in (u, f))
    ranks = [side.sum(axis=2, dtype=np.int64).astype(np.float64) for side in (s, t)]
    agree = (s * t).sum(axis=(1, 2), dtype=np.int64)
    untied = [np.abs(side).sum(axis=(1, 2), dtype=np.int64).astype(np.float64) for side in (s, t)]
    kendall = np.clip(agree / np.sqrt(untied[0] * untied[1]), -1.0, 1.0)
    return np.stack([_cosine(*ranks), kendall], axis=1)


def _by_sorting(u: FloatArray, f: FloatArray) -> tuple[float, float]:
    from scipy.stats import kendalltau, rankdata

    ranks = [rankdata(side)[None] - (len(side) + 1) / 2.0 for side in (u, f)]
    return float(_cosine(*ranks)[0]), float(kendalltau(u, f).statistic)
