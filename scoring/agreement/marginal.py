"""Whether two raters, or two versions of a judge, use the categories equally often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.agreement._coding import IntArray
from scoring.agreement.kappa import NO_PAIR
from scoring.agreement.table import ConfusionTable, square_table


@dataclass(frozen=True, slots=True)
class StuartMaxwell:
    """The Stuart-Maxwell test of equal margins.

    Attributes
    ----------
    statistic
        Chi-square statistic; None when undefined.
    p
        p-value from chi-square with `df` degrees of freedom; None when undefined.
    df
        Degrees of freedom: categories that took part in a disagreement, less one for each group of
        categories linked by disagreements; 0 when undefined.
    n
        Items both labelled.
    discordant
        Items on which they differ; with few (under about 10 per degree of freedom) the p-value is
        rough.
    shifts
        Per category, its share with the second less its share with the first, -1 to 1; empty when
        n is 0.
    why_undefined
        The reason when there is nothing to test, else None.
    """

    statistic: float | None
    p: float | None
    df: int
    n: int
    discordant: int
    shifts: tuple[float, ...]
    why_undefined: str | None


def stuart_maxwell(table: ArrayLike | ConfusionTable) -> StuartMaxwell:
    """Stuart and Maxwell's test that both use every category equally often (k categories).

    Parameters
    ----------
    table : array_like of int, shape (k, k), or ConfusionTable
        Row = first rater or version, column = second.

    Returns
    -------
    StuartMaxwell
        Undefined without items, and when the two always agree.

    Raises
    ------
    ValueError
        When the table is not square or a cell is not a count.

    Notes
    -----
    With d_i = n_i· - n_·i and V_ii = n_i· + n_·i - 2 n_ii, V_ij = -(n_ij + n_ji), one category
    left out: chi² = d' V⁻¹ d with k - 1 degrees of freedom; for two categories it is McNemar's.
    V is the Laplacian of the graph whose edges are the disagreements. A category on no edge has
    d = 0 and no variance, and within each connected group d sums to 0, so one category is left out
    per group, and the degrees of freedom are the rank of V. Without that, V could not be inverted
    whenever a category is unused or the disagreements fall into groups.

    References
    ----------
    Stuart (1955), A test for homogeneity of the marginal distributions in a two-way
    classification, Biometrika 42.
    Maxwell (1970), Comparing the classification of subjects by two independent judges,
    Br. J. Psychiatry 116.

    Examples
    --------
    >>> t = stuart_maxwell([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    >>> round(t.statistic, 4), t.df, round(t.p, 4)
    (13.7647, 2, 0.001)
    """
    counts = square_table(table)
    n = int(counts.sum())
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    shifts = tuple(((columns - rows) / n).tolist()) if n else ()
    apart = counts + counts.T
    np.fill_diagonal(apart, 0)
    discordant = int(apart.sum()) // 2
    if discordant == 0:
        why = "no discordant pair: both always agree" if n else NO_PAIR
        return StuartMaxwell(None, None, 0, n, 0, shifts, why)
    from scipy.stats import chi2

    kept = _all_but_one_per_group(apart)
    variance = (np.diag(apart.sum(axis=1)) - apart).astype(np.float64)[np.ix_(kept, kept)]
    d = (rows - columns)[kept].astype(np.float64)
    statistic = float(d @ np.linalg.solve(variance, d))
    df = len(kept)
    return StuartMaxwell(statistic, float(chi2.sf(statistic, df)), df, n, discordant, shifts, None)


def _all_but_one_per_group(apart: IntArray) -> IntArray:
    """Return the categories that disagreements link to an earlier one, directly or not."""
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(apart, directed=False)
    first = {int(group[i]): i for i in range(len(group) - 1, -1, -1)}
    return np.array([i for i in range(len(group)) if first[int(group[i])] != i], dtype=np.int64)
