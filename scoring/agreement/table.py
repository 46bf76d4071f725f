"""The confusion table of two raters and what can be read off it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.agreement._coding import (
    MISSING_CODE,
    Category,
    IntArray,
    count_matrix,
    encode,
    plain_list,
    resolve_categories,
)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionTable:
    """Two raters' labels, cross-tabulated.

    Attributes
    ----------
    categories
        The k categories in order.
    table
        Read-only integer array, shape (k, k): row = first rater, column = second rater.
    n
        Items both raters labelled; the sum of the table.
    dropped
        Items where at least one rater has no label.
    """

    categories: tuple[Category, ...]
    table: IntArray
    n: int
    dropped: int


@dataclass(frozen=True, slots=True)
class AgreementSummary:
    """Agreement of two raters beside kappa, so that kappa can be understood.

    Attributes
    ----------
    n
        Items both raters labelled.
    observed
        Share of items on which they agree, 0 to 1; None when n is 0.
    pabak
        Prevalence- and bias-adjusted kappa, -1/(k-1) to 1; None when n is 0 or k is 1.
    prevalence_index
        How unequal the two categories are in use, 0 to 1; None unless k is 2.
    bias_index
        How unequally the raters use the categories, 0 to 1; None unless k is 2.
    specific
        Per category, the agreement among the labels that name it, 0 to 1 (for two categories:
        negative and positive agreement); None for a category nobody used.
    """

    n: int
    observed: float | None
    pabak: float | None
    prevalence_index: float | None
    bias_index: float | None
    specific: tuple[float | None, ...]


def square_table(table: ArrayLike | ConfusionTable) -> IntArray:
    """Check a k x k table of counts, or take it out of a `ConfusionTable`."""
    if isinstance(table, ConfusionTable):
        return table.table
    counts = count_matrix(table, "table")
    if counts.shape[0] != counts.shape[1]:
        raise ValueError(
            f"table has shape {counts.shape}: rows and columns must be the same categories"
        )
    return counts


def paired_codes(
    a: Iterable[Category | None],
    b: Iterable[Category | None],
    categories: Iterable[Category] | None,
) -> tuple[tuple[Category, ...], IntArray, IntArray]:
    """Encode two raters' labels over the same categories; -1 = missing."""
    first, second = plain_list(a), plain_list(b)
    if len(first) != len(second):
        raise ValueError(
            f"rater 1 has {len(first)} labels and rater 2 has {len(second)}: give one per item, "
            "None where a rater has no label"
        )
    names = resolve_categories((first, second), categories)
    return names, encode(first, names, "rater 1"), encode(second, names, "rater 2")


def confusion_table(
    a: Iterable[Category | None],
    b: Iterable[Category | None],
    categories: Iterable[Category] | None = None,
) -> ConfusionTable:
    """Cross-tabulate two raters' labels.

    Parameters
    ----------
    a, b : iterable of label, length n_items
        The raters' labels, item by item. None or NaN = no label; such items are dropped pairwise
        and counted.
    categories : iterable of label, optional
        All categories of the schema, in order. Without it: those in use, numbers ascending and
        text alphabetically.

    Returns
    -------
    ConfusionTable

    Raises
    ------
    ValueError
        When the raters have different numbers of items, a label is outside the declared
        categories, or labels such as 1 and "1" are mixed.

    Examples
    --------
    >>> t = confusion_table(["yes", "no", None, "yes"], ["yes", "yes", "no", "yes"])
    >>> t.categories, t.table.tolist(), t.n, t.dropped
    (('no', 'yes'), [[0, 1], [0, 2]], 3, 1)
    """
    names, x, y = paired_codes(a, b, categories)
    k = len(names)
    both = (x != MISSING_CODE) & (y != MISSING_CODE)
    table = np.bincount(x[both] * k + y[both], minlength=k * k).reshape(k, k).astype(np.int64)
    table.setflags(write=False)
    n = int(both.sum())
    return ConfusionTable(names, table, n, len(x) - n)


def agreement_summary(table: ArrayLike | ConfusionTable) -> AgreementSummary:
    """Observed and per-category agreement, PABAK, prevalence and bias index.

    Parameters
    ----------
    table : array_like of int, shape (k, k), or ConfusionTable
        Row = first rater, column = second rater.

    Returns
    -------
    AgreementSummary

    Raises
    ------
    ValueError
        When the table is not square or a cell is not a count.

    Notes
    -----
    With cells n_ij and po = Σ n_ii / n: PABAK = (k·po - 1)/(k - 1), for two categories 2·po - 1
    (for more it is also known as Bennett's S or the Brennan-Prediger coefficient). For a 2 x 2
    table [a, b; c, d]: prevalence index |a - d|/n, bias index |b - c|/n, and
    kappa = (PABAK - PI² + BI²)/(1 - PI² + BI²): a large prevalence index lowers kappa at the same
    observed agreement (the prevalence paradox). Specific agreement on category i is
    2·n_ii/(n_i· + n_·i).

    References
    ----------
    Byrt, Bishop and Carlin (1993), Bias, prevalence and kappa, J. Clin. Epidemiol. 46.
    Cicchetti and Feinstein (1990), High agreement but low kappa: II, J. Clin. Epidemiol. 43.

    Examples
    --------
    >>> s = agreement_summary([[80, 10], [5, 5]])
    >>> round(s.pabak, 3), s.prevalence_index, s.bias_index
    (0.7, 0.75, 0.05)
    """
    t = square_table(table)
    k, n = len(t), int(t.sum())
    used = t.sum(axis=0) + t.sum(axis=1)
    specific = tuple(2 * int(t[i, i]) / int(used[i]) if used[i] else None for i in range(k))
    if n == 0:
        return AgreementSummary(0, None, None, None, None, specific)
    observed = int(np.trace(t)) / n
    two = k == 2
    return AgreementSummary(
        n=n,
        observed=observed,
        pabak=(k * observed - 1) / (k - 1) if k > 1 else None,
        prevalence_index=abs(int(t[0, 0]) - int(t[1, 1])) / n if two else None,
        bias_index=abs(int(t[0, 1]) - int(t[1, 0])) / n if two else None,
        specific=specific,
    )
