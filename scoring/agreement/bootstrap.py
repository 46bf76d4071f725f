"""Bootstrap interval of kappa when items come in clusters, such as the steps of one question."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from scoring.agreement._coding import (
    MISSING_CODE,
    Category,
    IntArray,
    Interval,
    plain_list,
)
from scoring.agreement.kappa import Kappa, Weights, cohen_kappa, weight_matrix
from scoring.agreement.table import paired_codes
from scoring.types import FloatArray

_CHUNK = 200
"""Replicates drawn at a time, so that memory stays bounded with many clusters."""


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
    one item a cluster this is the ordinary bootstrap. With few clusters (under about 30) it tends
    to be too narrow.

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.

    Examples
    --------
    >>> r = kappa_bootstrap([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0], [1, 1, 2, 2, 3, 3], seed=1)
    >>> round(r.value, 4), r.clusters, r.ci[0] <= r.value <= r.ci[1]
    (0.6667, 3, True)
    """
    first, second, groups = plain_list(a), plain_list(b), plain_list(clusters)
    declared = None if categories is None else tuple(categories)
    point = cohen_kappa(first, second, categories=declared, weights=weights, level=level)
    if len(groups) != len(first):
        raise ValueError(f"clusters has {len(groups)} entries for {len(first)} items: one per item")
    if None in groups:
        raise ValueError(f"item {groups.index(None)} has no cluster: name one for every item")
    if replicates < 2:
        raise ValueError(f"replicates is {replicates}: at least 2 are needed, 1000 are usual")
    names, x, y = paired_codes(first, second, declared)
    tables = _cluster_tables(x, y, groups, len(names))
    if point.value is None:
        return _without_interval(point, len(tables), point.why_undefined, level)
    if len(tables) < 2:
        why = "all items belong to one cluster: nothing to resample"
        return _without_interval(point, len(tables), why, level)
    rng = np.random.default_rng(seed)
    draws = _replicate_kappas(tables, 1 - weight_matrix(weights, len(names)), replicates, rng)
    defined = draws[np.isfinite(draws)]
    undefined = replicates - len(defined)
    if len(defined) < 2:
        why = f"kappa is undefined in {undefined} of {replicates} replicates"
        return _without_interval(point, len(tables), why, level, replicates, undefined)
    if defined.min() == defined.max():
        why = "every replicate gives the same kappa: no information on the error"
        return _without_interval(point, len(tables), why, level, replicates, undefined)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return KappaBootstrap(
        value=point.value,
        se=float(defined.std(ddof=1)),
        ci=(float(low), float(high)),
        n=point.n,
        dropped=point.dropped,
        clusters=len(tables),
        replicates=replicates,
        undefined=undefined,
        why_undefined=None,
        why_no_interval=None,
        level=level,
    )


def _without_interval(
    point: Kappa,
    clusters: int,
    why: str | None,
    level: float,
    replicates: int = 0,
    undefined: int = 0,
) -> KappaBootstrap:
    return KappaBootstrap(
        value=point.value,
        se=None,
        ci=None,
        n=point.n,
        dropped=point.dropped,
        clusters=clusters,
        replicates=replicates,
        undefined=undefined,
        why_undefined=point.why_undefined,
        why_no_interval=why,
        level=level,
    )


def _cluster_tables(x: IntArray, y: IntArray, groups: list[Hashable], k: int) -> IntArray:
    """Cross-tabulate each cluster in order of first use: shape (clusters, k²)."""
    both = np.flatnonzero((x != MISSING_CODE) & (y != MISSING_CODE))
    index: dict[Hashable, int] = {}
    rows = np.array([index.setdefault(groups[i], len(index)) for i in both], dtype=np.int64)
    cells = rows * k * k + x[both] * k + y[both]
    flat = np.bincount(cells, minlength=len(index) * k * k)
    return flat.reshape(len(index), k * k).astype(np.int64)


def _replicate_kappas(
    tables: IntArray, disagreement: FloatArray, replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Kappa of each replicate, NaN where chance disagreement is 0."""
    size, k = len(tables), len(disagreement)
    out = []
    for start in range(0, replicates, _CHUNK):
        count = min(_CHUNK, replicates - start)
        times = rng.multinomial(size, np.full(size, 1 / size), size=count)
        drawn = (times @ tables).reshape(count, k, k).astype(np.float64)
        seen = (drawn * disagreement).sum(axis=(1, 2))
        rows, columns = drawn.sum(axis=2), drawn.sum(axis=1)
        chance = ((rows @ disagreement) * columns).sum(axis=1) / drawn.sum(axis=(1, 2))
        kappa = np.full(count, np.nan)
        np.divide(seen, chance, out=kappa, where=chance > 0)
        out.append(1 - kappa)
    return np.concatenate(out)
