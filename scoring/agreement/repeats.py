"""A judge against itself: over repeats, and against an earlier version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.agreement._clusters import cluster_list, numbered, robust_se, t_quantile
from scoring.agreement._coding import Category, Interval, normal_quantile, plain_list
from scoring.agreement.judge import Proportion, wilson
from scoring.agreement.kappa import Kappa, kappa_from_table
from scoring.agreement.marginal import StuartMaxwell, stuart_maxwell
from scoring.agreement.paired import McNemar, mcnemar
from scoring.agreement.table import ConfusionTable, confusion_table


@dataclass(frozen=True, slots=True)
class ItemStability:
    """One item's repeated verdicts.

    Attributes
    ----------
    n
        Verdicts.
    pairwise
        Share of the pairs of verdicts that agree, 0 to 1; None with fewer than two.
    majority_share
        Share of the most frequent verdict; None without a verdict.
    majority
        The most frequent verdict; None when tied or without a verdict.
    """

    n: int
    pairwise: float | None
    majority_share: float | None
    majority: Category | None


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over items with its error and interval.

    Attributes
    ----------
    value
        The mean, 0 to 1; None without an item.
    se
        Standard error from items (or clusters) as the sampled units; None with fewer than two.
    ci
        Student's t interval, cut to 0..1; None when `se` is None or 0.
    """

    value: float | None
    se: float | None
    ci: Interval | None


@dataclass(frozen=True, slots=True)
class Stability:
    """How far a judge agrees with itself when asked again.

    Attributes
    ----------
    pairwise
        Mean over items of the share of agreeing pairs of verdicts.
    majority_share
        Mean over items of the share of the most frequent verdict. At least 1/n for n verdicts, so
        comparable only between the same numbers of repeats.
    unanimous
        Items on which all verdicts are the same.
    items
        One per item, in order.
    n
        Items with at least two verdicts; the others are left out of the means.
    dropped
        Items with fewer.
    repeats
        Least and most verdicts among the n items.
    why_undefined
        The reason when there is nothing to average, else None.
    level
        Confidence level of the intervals.
    """

    pairwise: MeanEstimate
    majority_share: MeanEstimate
    unanimous: Proportion
    items: tuple[ItemStability, ...]
    n: int
    dropped: int
    repeats: tuple[int, int] | None
    why_undefined: str | None
    level: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Two versions of a judge (prompts or models) on the same items.

    Attributes
    ----------
    table
        Row = before, column = after.
    changed
        Share of the items with another verdict than before.
    kappa
        Cohen's kappa of the two versions.
    mcnemar
        Whether the one category is used equally often, for two categories; None for more.
    stuart_maxwell
        The same for any number of categories, with the shift of each category's share.
    """

    table: ConfusionTable
    changed: Proportion
    kappa: Kappa
    mcnemar: McNemar | None
    stuart_maxwell: StuartMaxwell


def stability(
    repeats: Iterable[Iterable[Category | None]],
    *,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
) -> Stability:
    """Agreement of a judge with itself over repeated verdicts on the same items.

    Parameters
    ----------
    repeats : iterable of iterable of label
        Per item the verdicts it got, as many as there are; None (no verdict) is left out.
    clusters : iterable of hashable, length n_items, optional
        The cluster of each item; the intervals then take only clusters as independent.
    level : float
        Confidence level.

    Returns
    -------
    Stability
        Undefined without an item that has two verdicts.

    Raises
    ------
    ValueError
        For clusters that do not match the items, or labels that are no categories.

    Notes
    -----
    With r_c verdicts of category c among r on an item: pairwise = Σ r_c (r_c - 1)/(r (r - 1)), an
    unbiased estimate of the chance that two askings agree. Each item counts once, whatever its
    number of verdicts. Verdicts at temperature 0 agree by construction: that is no evidence of a
    stable judgement.

    Examples
    --------
    >>> s = stability([["y", "y", "y"], ["y", "n", "y"], ["n", "n"], ["n", None]])
    >>> round(s.pairwise.value, 3), round(s.majority_share.value, 3), s.unanimous.k, s.n, s.dropped
    (0.778, 0.889, 2, 3, 1)
    """
    normal_quantile(level)
    rows = [[v for v in plain_list(r) if v is not None] for r in repeats]
    groups = cluster_list(clusters, len(rows))
    items = tuple(_item(r) for r in rows)
    used = [i for i, item in enumerate(items) if item.n >= 2]
    of = [groups[i] for i in used]
    pairwise = [items[i].pairwise or 0.0 for i in used]
    majority = [items[i].majority_share or 0.0 for i in used]
    counts = [items[i].n for i in used]
    return Stability(
        pairwise=_mean(pairwise, of, level),
        majority_share=_mean(majority, of, level),
        unanimous=wilson(sum(p == 1 for p in pairwise), len(used), level=level),
        items=items,
        n=len(used),
        dropped=len(items) - len(used),
        repeats=(min(counts), max(counts)) if counts else None,
        why_undefined=None if used else "no item has two verdicts",
        level=level,
    )


def drift(
    before: Iterable[Category | None],
    after: Iterable[Category | None],
    *,
    categories: Iterable[Category] | None = None,
    level: float = 0.95,
) -> Drift:
    """Compare two versions of a judge on the same items.

    Parameters
    ----------
    before, after : iterable of label, length n_items
        The versions' verdicts; items without both are dropped and counted (in `table`).
    categories : iterable of label, optional
        All categories of the schema; without it those in use.
    level : float
        Confidence level.

    Returns
    -------
    Drift

    Raises
    ------
    ValueError
        As `confusion_table`.

    Notes
    -----
    The tests ask whether the *rates* moved; kappa and `changed` whether single verdicts did. Both
    can differ: verdicts may change in both directions and leave every rate as it was.

    Examples
    --------
    >>> d = drift(["y", "y", "n", "n", "y"], ["y", "n", "n", "n", "n"])
    >>> d.changed.k, d.mcnemar.exact_p, round(d.kappa.value, 3)
    (2, 0.5, 0.286)
    """
    table = confusion_table(before, after, categories)
    t = table.table
    same = int(np.trace(t))
    return Drift(
        table=table,
        changed=wilson(table.n - same, table.n, level=level),
        kappa=kappa_from_table(table, level=level),
        mcnemar=mcnemar(int(t[0, 1]), int(t[1, 0])) if len(t) == 2 else None,
        stuart_maxwell=stuart_maxwell(table),
    )


def _item(verdicts: Sequence[Any]) -> ItemStability:
    n = len(verdicts)
    if n == 0:
        return ItemStability(0, None, None, None)
    counts = Counter(verdicts).most_common()
    (top, most), tied = counts[0], len(counts) > 1 and counts[1][1] == counts[0][1]
    pairs = sum(c * (c - 1) for _, c in counts)
    pairwise = pairs / (n * (n - 1)) if n > 1 else None
    return ItemStability(n, pairwise, most / n, None if tied else top)


def _mean(values: Sequence[float], clusters: Sequence[Hashable], level: float) -> MeanEstimate:
    """Mean with a cluster-robust error and Student's t with G - 1 degrees of freedom."""
    if not values:
        return MeanEstimate(None, None, None)
    x, codes = np.array(values, dtype=np.float64), numbered(clusters)
    mean, size = float(x.mean()), int(codes.max()) + 1
    se = robust_se((x - mean) / len(x), codes, size)
    if not se:
        return MeanEstimate(mean, se, None)
    half = t_quantile(level, size - 1) * se
    return MeanEstimate(mean, se, (max(mean - half, 0.0), min(mean + half, 1.0)))
