"""Bootstrap interval of kappa when items come in clusters, such as the steps of one question."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from scoring.agreement._clusters import (
    Spread,
    check_replicates,
    cluster_list,
    numbered,
    resampled,
    spread,
)
from scoring.agreement._coding import MISSING_CODE, Category, IntArray, Interval, plain_list
from scoring.agreement.kappa import Weights, cohen_kappa, weight_matrix
from scoring.agreement.table import paired_codes
from scoring.types import FloatArray


@dataclass(frozen=True, slots=True)
class KappaBootstrap:
    """Kappa with an interval that respects clusters.

    Attributes
    ----------
    value
        Kappa of the data as they are; None when undefined.
    se
        Standard deviation of the defined replicates; None when `ci` is.
    ci
        Percentile interval at `level`; None when kappa is undefined, when there is one cluster
        only, when fewer than two replicates are defined, or when all give the same kappa (full
        agreement, for one): an interval of width 0 would claim certainty.
    n
        Items both raters labelled.
    dropped
        Items where at least one rater has no label.
    clusters
        Clusters with at least one item both raters labelled; these are resampled.
    replicates
        Replicates drawn; 0 when there was nothing to draw.
    undefined
        Replicates without a kappa (one category only), left out of `se` and `ci`.
    why_undefined
        Why `value` is None, else None.
    why_no_interval
        Why `ci` is None, else None.
    level
        Confidence level of `ci`.
    """

    value: float | None
    se: float | None
    ci: Interval | None
    n: int
    dropped: int
    clusters: int
    replicates: int
    undefined: int
    why_undefined: str | None
    why_no_interval: str | None
    level: float


def kappa_bootstrap(
    a: Iterable[Category | None],
    b: Iterable[Category | None],
    clusters: Iterable[Hashable],
    *,
    categories: Iterable[Category] | None = None,
    weights: Weights = None,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> KappaBootstrap:
    """Cohen's kappa with a bootstrap interval that resamples whole clusters.

    Parameters
    ----------
    a, b : iterable of label, length n_items
        As in `cohen_kappa`.
    clusters : iterable of hashable, length n_items
        The cluster (for instance the question) of each item; never None.
    categories, weights
        As in `cohen_kappa`.
    replicates : int
        Number of bootstrap replicates, at least 2.
    seed : int or numpy Generator
        Where the random numbers come from; the same seed gives the same interval.
    level : float
        Confidence level of the interval.

    Returns
    -------
    KappaBootstrap

    Raises
    ------
    ValueError
        As `cohen_kappa`, and for clusters that do not match the items or too few replicates.

    Notes
    -----
    With G clusters holding an item both raters labelled, a replicate draws G clusters with
    replacement, adds their tables and takes kappa of the sum; the interval runs between the
    (1 - level)/2 and (1 + level)/2 quantiles of the replicates in which kappa is defined. With
    one item a cluster this is the ordinary bootstrap. With few clusters it is too narrow: at
    kappa .6 and five items a question the 95 % interval held the truth in 84 to 85 % of
    simulations with 6 questions, 91 to 93 % with 20 and 93 to 94 % with 60; at prevalence .05 in
    65, 83 and 93 %, where there was one. With single items it is about as good as the formula
    (benchmarks/coverage.py).

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.

    Examples
    --------
    >>> r = kappa_bootstrap([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0], [1, 1, 2, 2, 3, 3], seed=1)
    >>> round(r.value, 4), r.clusters, r.ci[0] <= r.value <= r.ci[1]
    (0.6667, 3, True)
    """
    first, second = plain_list(a), plain_list(b)
    declared = None if categories is None else tuple(categories)
    point = cohen_kappa(first, second, categories=declared, weights=weights, level=level)
    groups = cluster_list(clusters, len(first))
    check_replicates(replicates)
    names, x, y = paired_codes(first, second, declared)
    both = np.flatnonzero((x != MISSING_CODE) & (y != MISSING_CODE))
    codes = numbered(groups[i] for i in both)
    tables = cluster_tables(x[both], y[both], codes, len(names))
    why = point.why_undefined
    if why is None and len(tables) < 2:
        why = "all items belong to one cluster: nothing to resample"
    drawn, found = 0, Spread(None, None, 0, why)
    if why is None:
        rng = np.random.default_rng(seed)
        disagreement = 1 - weight_matrix(weights, len(names))
        draws = [kappas(sums, disagreement) for sums in resampled(tables, replicates, rng)]
        drawn, found = replicates, spread(np.concatenate(draws), level, "kappa")
    return KappaBootstrap(
        value=point.value,
        se=found.se,
        ci=found.ci,
        n=point.n,
        dropped=point.dropped,
        clusters=len(tables),
        replicates=drawn,
        undefined=found.undefined,
        why_undefined=point.why_undefined,
        why_no_interval=found.why_no_interval,
        level=level,
    )


def kappas(tables: FloatArray, disagreement: FloatArray) -> FloatArray:
    """Kappa of each flattened table of counts or weights, NaN where chance disagreement is 0."""
    k = len(disagreement)
    drawn = tables.reshape(-1, k, k)
    seen = (drawn * disagreement).sum(axis=(1, 2))
    rows, columns = drawn.sum(axis=2), drawn.sum(axis=1)
    total = drawn.sum(axis=(1, 2))
    chance = np.zeros(len(drawn))
    np.divide(((rows @ disagreement) * columns).sum(axis=1), total, out=chance, where=total > 0)
    ratio = np.full(len(drawn), np.nan)
    np.divide(seen, chance, out=ratio, where=chance > 0)
    return 1 - ratio


def cluster_tables(
    x: IntArray, y: IntArray, codes: IntArray, k: int, weights: FloatArray | None = None
) -> FloatArray:
    """Cross-tabulate each cluster's labels (all present), weighted or not: clusters x k²."""
    size = int(codes.max()) + 1 if len(codes) else 0
    flat = np.bincount(codes * k * k + x * k + y, weights, minlength=size * k * k)
    return flat.reshape(size, k * k).astype(np.float64)
