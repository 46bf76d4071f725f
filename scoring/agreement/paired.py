"""Tests for paired data: McNemar in four forms and Wilcoxon's signed-rank test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.agreement._coding import count
from scoring.types import FloatArray

_EXACT_UP_TO = 50


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of equal margins, two-sided; every field None when undefined.

    Attributes
    ----------
    chi2, chi2_p
        (b - c)²/(b + c) and its p-value from chi-square with 1 degree of freedom.
    corrected, corrected_p
        The same with continuity correction.
    exact_p
        Exact conditional (binomial) p-value.
    mid_p
        Mid-p version of it.
    why_undefined
        The reason when there is nothing to test, else None.
    """

    chi2: float | None
    chi2_p: float | None
    corrected: float | None
    corrected_p: float | None
    exact_p: float | None
    mid_p: float | None
    why_undefined: str | None


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Wilcoxon's signed-rank test, two-sided.

    Attributes
    ----------
    statistic
        The smaller of the rank sums of positive and negative differences; None when undefined.
    p
        Two-sided p-value; None when undefined.
    method
        "exact", or "normal" with midranks and tie correction (ties, or more than 50 differences);
        None when undefined.
    n
        Differences other than 0.
    zeros
        Differences of 0, dropped.
    why_undefined
        The reason when there is nothing to test, else None.
    """

    statistic: float | None
    p: float | None
    method: Literal["exact", "normal"] | None
    n: int
    zeros: int
    why_undefined: str | None


def mcnemar(b: int, c: int) -> McNemar:
    """McNemar's test from the two discordant counts of a paired 2 x 2 table.

    Parameters
    ----------
    b, c : int
        Pairs in which only the first, and only the second, has the property.

    Returns
    -------
    McNemar
        Undefined when b + c is 0.

    Raises
    ------
    ValueError
        When a count is not a whole number of at least 0.

    Notes
    -----
    chi2 = (b - c)²/(b + c); corrected = max(|b - c| - 1, 0)²/(b + c), so that the correction never
    goes past equality; exact = min(1, 2 P(X <= min(b, c))) with X binomial(b + c, 1/2);
    mid-p = exact - P(X = min(b, c)), for b = c: 1 - P(X = b)/2.

    References
    ----------
    McNemar (1947), Psychometrika 12.
    Fagerland, Lydersen and Laake (2013), The McNemar test for binary matched-pairs data: mid-p and
    asymptotic are better than exact conditional, BMC Med. Res. Methodol. 13.

    Examples
    --------
    >>> t = mcnemar(1, 7)
    >>> t.chi2, t.corrected, t.exact_p, round(t.mid_p, 7)
    (4.5, 3.125, 0.0703125, 0.0390625)
    """
    x, y = count(b, "b"), count(c, "c")
    n, low = x + y, min(x, y)
    if n == 0:
        why = "no discordant pair: both always agree"
        return McNemar(None, None, None, None, None, None, why)
    from scipy.stats import binom, binomtest, chi2

    plain = (x - y) ** 2 / n
    corrected = max(abs(x - y) - 1, 0) ** 2 / n
    exact = float(binomtest(low, n, 0.5).pvalue)
    point = float(binom.pmf(low, n, 0.5))
    return McNemar(
        chi2=plain,
        chi2_p=float(chi2.sf(plain, 1)),
        corrected=corrected,
        corrected_p=float(chi2.sf(corrected, 1)),
        exact_p=exact,
        mid_p=1 - point / 2 if x == y else exact - point,
        why_undefined=None,
    )


def wilcoxon_signed_rank(differences: Iterable[float]) -> Wilcoxon:
    """Wilcoxon's signed-rank test that paired differences are symmetric about 0.

    Parameters
    ----------
    differences : iterable of float
        One per pair, finite; zeros are dropped and counted.

    Returns
    -------
    Wilcoxon
        Undefined when no difference is other than 0.

    Raises
    ------
    ValueError
        When a difference is not finite.

    Notes
    -----
    Ranks of |d| with midranks for ties; exact distribution without ties up to 50 differences, else
    normal with mean n(n + 1)/4 and variance n(n + 1)(2n + 1)/24 - Σ (t³ - t)/48 over groups of t
    ties, without continuity correction.

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bull. 1.

    Examples
    --------
    >>> t = wilcoxon_signed_rank([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75])
    >>> t.statistic, round(t.p, 4), t.method
    (24.0, 0.0413, 'exact')
    """
    d: FloatArray = np.array(list(differences), dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(d))
    if bad.size:
        raise ValueError(f"difference {bad[0]} is {d[bad[0]]}: differences must be finite")
    kept = d[d != 0]
    n, zeros = len(kept), len(d) - len(kept)
    if n == 0:
        return Wilcoxon(None, None, None, 0, zeros, "no pair differs")
    from scipy.stats import wilcoxon

    tied = len(np.unique(np.abs(kept))) < n
    if n <= _EXACT_UP_TO and not tied:
        r = wilcoxon(kept, method="exact")
        return Wilcoxon(float(r.statistic), float(r.pvalue), "exact", n, zeros, None)
    # "approx" is the name of the normal approximation that scipy's type stubs know.
    r = wilcoxon(kept, method="approx", correction=False)
    return Wilcoxon(float(r.statistic), float(r.pvalue), "normal", n, zeros, None)
