"""Figures for the population behind a stratified sample: weighted by inverse inclusion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scoring.agreement._clusters import (
    Groups,
    Spread,
    check_replicates,
    cluster_list,
    cluster_sums,
    numbered,
    resampled,
    spread,
    strata_groups,
)
from scoring.agreement._coding import (
    MISSING_CODE,
    Category,
    IntArray,
    Interval,
    normal_quantile,
    plain_list,
)
from scoring.agreement._pairs import inclusion_weights, positive_category
from scoring.agreement.bootstrap import cluster_tables, kappas
from scoring.agreement.kappa import Weights, cohen_kappa, weight_matrix
from scoring.agreement.table import paired_codes
from scoring.types import FloatArray

Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class DesignEstimate:
    """A figure weighted by inverse inclusion probability.

    Attributes
    ----------
    value
        The weighted estimate; None when undefined.
    se
        Standard deviation of the defined bootstrap replicates; None when `ci` is.
    ci
        Percentile interval at `level`; None when the value is undefined, when there is one cluster
        only, or when every replicate gives the same.
    n
        Items it rests on.
    effective_n
        Kish's effective number of those items, (Σ w)²/Σ w²: how many equally weighted ones would
        tell as much, dependence within clusters aside; 0 when n is.
    clusters
        Clusters resampled.
    stratified
        Whether clusters were resampled within strata; False without strata, and when a cluster has
        items in several of them.
    joined
        Strata with one sampled cluster, resampled together with others.
    replicates, undefined
        Replicates drawn, and those without a value, left out.
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
    effective_n: float
    clusters: int
    stratified: bool
    joined: tuple[Hashable, ...]
    replicates: int
    undefined: int
    why_undefined: str | None
    why_no_interval: str | None
    level: float


@dataclass(frozen=True, slots=True)
class DesignErrorRates:
    """A judge's error rates, weighted by inverse inclusion probability.

    Attributes
    ----------
    sensitivity, specificity
        Share of the human-positive (negative) items the judge calls positive (negative).
    informedness
        sensitivity + specificity - 1, -1 to 1; 0 = no better than chance.
    dropped
        Items without a label or without a verdict.
    """

    sensitivity: DesignEstimate
    specificity: DesignEstimate
    informedness: DesignEstimate
    dropped: int


@dataclass(frozen=True, slots=True)
class _Resampling:
    """What all estimates share: how clusters are drawn, how often, from which seed."""

    clusters: Iterable[Hashable] | None
    strata: Iterable[Hashable] | None
    replicates: int
    seed: int | np.random.Generator
    level: float


def design_kappa(
    a: Iterable[Category | None],
    b: Iterable[Category | None],
    inclusion: Iterable[float | None],
    *,
    clusters: Iterable[Hashable] | None = None,
    strata: Iterable[Hashable] | None = None,
    categories: Iterable[Category] | None = None,
    weights: Weights = None,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> DesignEstimate:
    """Cohen's kappa in the population the items were sampled from.

    Parameters
    ----------
    a, b : iterable of label, length n_items
        As in `cohen_kappa`.
    inclusion : iterable of float, length n_items
        Probability with which each item was drawn, above 0 and at most 1; read only where both
        raters have a label.
    clusters : iterable of hashable, length n_items, optional
        The cluster (for instance the question) of each item; None = every item is its own.
    strata : iterable of hashable, length n_items, optional
        The stratum each item was drawn from; None = one.
    categories, weights
        As in `cohen_kappa`.
    replicates, seed, level
        As in `kappa_bootstrap`.

    Returns
    -------
    DesignEstimate
        Undefined where `cohen_kappa` is.

    Raises
    ------
    ValueError
        As `cohen_kappa` and `kappa_bootstrap`; for inclusion probabilities that are none, or
        strata that do not match the items.

    Notes
    -----
    Each item counts 1/inclusion times in the confusion table; kappa is that of the table (a Hájek
    estimate: only ratios of weighted sums enter). The bootstrap draws, within each stratum of m
    clusters, m - 1 with replacement and counts them m/(m - 1) times (Rao and Wu); without strata
    it draws all m. A stratum with one sampled cluster shows no variance, so such strata are drawn
    as one. There is no finite population correction: the interval is for a process that makes
    such items, and for the very items sampled in full it is too wide. Items dropped for a missing
    label are taken as missing at random within their stratum.

    The figure speaks for the strata that were sampled. One that was never sampled has no weight,
    and whoever shows the figure must name it.

    References
    ----------
    Horvitz and Thompson (1952), A generalization of sampling without replacement from a finite
    universe, JASA 47.
    Rao and Wu (1988), Resampling inference with complex survey data, JASA 83.
    Lumley (2010), Complex Surveys, chapters 2 and 3.

    Examples
    --------
    >>> a, b = ["y", "y", "n", "n", "y", "n"], ["y", "n", "n", "n", "y", "y"]
    >>> r = design_kappa(a, b, [1, 1, 1, 0.25, 0.25, 1], strata=[0, 0, 0, 1, 1, 0], replicates=50)
    >>> round(r.value, 3), r.n, round(r.effective_n, 2), r.stratified
    (0.667, 6, 4.0, True)
    """
    first, second = plain_list(a), plain_list(b)
    declared = None if categories is None else tuple(categories)
    raw = cohen_kappa(first, second, categories=declared, weights=weights, level=level)
    names, x, y = paired_codes(first, second, declared)
    used = np.flatnonzero((x != MISSING_CODE) & (y != MISSING_CODE))
    w = inclusion_weights(inclusion, used.tolist(), len(first))
    how = _Resampling(clusters, strata, replicates, seed, level)
    codes, groups, joined = _drawn_from(how, used, len(first))
    rows = cluster_tables(x[used], y[used], codes, len(names), w)
    statistic = partial(kappas, disagreement=1 - weight_matrix(weights, len(names)))
    return _estimate(rows, statistic, "kappa", w, raw.why_undefined, how, groups, joined)


def design_rate(
    labels: Iterable[Category | None],
    inclusion: Iterable[float | None],
    *,
    positive: Category,
    population: float | None = None,
    clusters: Iterable[Hashable] | None = None,
    strata: Iterable[Hashable] | None = None,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> DesignEstimate:
    """Rate of a category in the population the items were sampled from.

    Parameters
    ----------
    labels : iterable of label, length n_items
        None = no label.
    inclusion : iterable of float, length n_items
        Probability with which each item was drawn; read only where there is a label.
    positive : label
        The category whose rate is meant.
    population : float, optional
        Number of items in the population. With it the estimate is Horvitz and Thompson's
        Σ w y/population, which may exceed 1; without it Hájek's Σ w y/Σ w, usually the better one.
    clusters, strata, replicates, seed, level
        As in `design_kappa`.

    Returns
    -------
    DesignEstimate
        Undefined without a label. At a rate of 0 or 1 there is no interval; use `wilson` there.

    Raises
    ------
    ValueError
        As `design_kappa`; for a population smaller than the number of labelled items.

    Notes
    -----
    w = 1/inclusion, y = [label is positive]. See `design_kappa` for the bootstrap and for strata
    that were never sampled.

    Examples
    --------
    >>> r = design_rate(["y", "y", "n", "n"], [1, 1, 0.1, 0.1], positive="y", replicates=50)
    >>> round(r.value, 4), r.n, round(r.effective_n, 2)
    (0.0909, 4, 2.4)
    """
    given = plain_list(labels)
    wanted = positive_category(positive, given)
    used = np.array([i for i, v in enumerate(given) if v is not None], dtype=np.int64)
    if population is not None and not population >= max(len(used), 1):
        raise ValueError(
            f"population is {population!r}: it holds at least the {len(used)} labelled items"
        )
    w = inclusion_weights(inclusion, used.tolist(), len(given))
    how = _Resampling(clusters, strata, replicates, seed, level)
    codes, groups, joined = _drawn_from(how, used, len(given))
    y = np.array([given[i] == wanted for i in used], dtype=np.float64)
    rows = cluster_sums(codes, np.stack([w * y, w], axis=1))
    why = None if len(used) else "no item has a label"
    statistic: Statistic = partial(_share, of=0, among=1)
    if population is not None:
        statistic = partial(_per_head, population=float(population))
    return _estimate(rows, statistic, "rate", w, why, how, groups, joined)


def design_error_rates(
    human: Iterable[Category | None],
    judge: Iterable[Category | None],
    inclusion: Iterable[float | None],
    *,
    positive: Category,
    clusters: Iterable[Hashable] | None = None,
    strata: Iterable[Hashable] | None = None,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> DesignErrorRates:
    """Sensitivity and specificity of a judge in the population the items were sampled from.

    Parameters
    ----------
    human, judge : iterable of label, length n_items
        Labels item by item; items without both are dropped and counted.
    inclusion : iterable of float, length n_items
        Probability with which each item was drawn; read only where both have a label.
    positive : label
        The category that counts as positive; every other one is negative.
    clusters, strata, replicates, seed, level
        As in `design_kappa`.

    Returns
    -------
    DesignErrorRates
        A rate is undefined without an item of its class.

    Raises
    ------
    ValueError
        As `design_kappa`.

    Examples
    --------
    >>> r = design_error_rates(
    ...     ["y", "y", "n", "n"], ["y", "n", "n", "n"], [1, 0.25, 1, 1], positive="y"
    ... )
    >>> r.sensitivity.value, r.specificity.value, round(r.informedness.value, 3)
    (0.2, 1.0, 0.2)
    """
    truth, verdict = plain_list(human), plain_list(judge)
    if len(truth) != len(verdict):
        raise ValueError(
            f"the human has {len(truth)} labels and the judge {len(verdict)}: give one per item, "
            "None where there is none"
        )
    wanted = positive_category(positive, truth, verdict)
    both = [v is not None and t is not None for t, v in zip(truth, verdict, strict=True)]
    used = np.flatnonzero(both)
    w = inclusion_weights(inclusion, used.tolist(), len(truth))
    how = _Resampling(clusters, strata, replicates, seed, level)
    codes, groups, joined = _drawn_from(how, used, len(truth))
    t = np.array([truth[i] == wanted for i in used], dtype=np.float64)
    v = np.array([verdict[i] == wanted for i in used], dtype=np.float64)
    columns = [w * t * v, w * t, w * (1 - t) * (1 - v), w * (1 - t)]
    rows = cluster_sums(codes, np.stack(columns, axis=1))
    no_positive = None if t.any() else "no human-positive item with a verdict"
    no_negative = None if (1 - t).any() else "no human-negative item with a verdict"

    def estimate(
        statistic: Statistic, name: str, weight: FloatArray, why: str | None
    ) -> DesignEstimate:
        return _estimate(rows, statistic, name, weight, why, how, groups, joined)

    return DesignErrorRates(
        sensitivity=estimate(partial(_share, of=0, among=1), "sensitivity", w[t == 1], no_positive),
        specificity=estimate(partial(_share, of=2, among=3), "specificity", w[t == 0], no_negative),
        informedness=estimate(_informedness, "informedness", w, no_positive or no_negative),
        dropped=len(truth) - len(used),
    )


def _drawn_from(
    how: _Resampling, used: IntArray, n_items: int
) -> tuple[IntArray, Groups, tuple[Hashable, ...]]:
    """Clusters of the used items, the groups to resample them in, and the strata joined."""
    check_replicates(how.replicates)
    normal_quantile(how.level)
    clusters = cluster_list(how.clusters, n_items)
    codes = numbered(clusters[i] for i in used)
    if how.strata is None:
        return codes, None, ()
    strata: list[Any] = plain_list(how.strata)
    if len(strata) != n_items:
        raise ValueError(f"strata has {len(strata)} entries for {n_items} items: one per item")
    missing = [i for i in used.tolist() if strata[i] is None]
    if missing:
        raise ValueError(f"item {missing[0]} has no stratum: name one for every labelled item")
    groups, joined = strata_groups(codes, [strata[i] for i in used])
    return codes, groups, joined


def _estimate(
    rows: FloatArray,
    statistic: Statistic,
    name: str,
    weight: FloatArray,
    why: str | None,
    how: _Resampling,
    groups: Groups,
    joined: Sequence[Hashable],
) -> DesignEstimate:
    """Statistic of all clusters' sums, and its spread over replicates."""
    value = None if why is not None else float(statistic(rows.sum(axis=0)[None])[0])
    no_interval = why
    if why is None and len(rows) < 2:
        no_interval = "all items belong to one cluster: nothing to resample"
    drawn, found = 0, Spread(None, None, 0, no_interval)
    if no_interval is None:
        rng = np.random.default_rng(how.seed)
        draws = [statistic(sums) for sums in resampled(rows, how.replicates, rng, groups)]
        drawn, found = how.replicates, spread(np.concatenate(draws), how.level, name)
    return DesignEstimate(
        value=value,
        se=found.se,
        ci=found.ci,
        n=len(weight),
        effective_n=float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0,
        clusters=len(rows),
        stratified=groups is not None,
        joined=tuple(joined),
        replicates=drawn,
        undefined=found.undefined,
        why_undefined=why,
        why_no_interval=found.why_no_interval,
        level=how.level,
    )


def _share(sums: FloatArray, of: int, among: int) -> FloatArray:
    """Ratio of two columns, NaN where the second is 0."""
    out = np.full(len(sums), np.nan)
    np.divide(sums[:, of], sums[:, among], out=out, where=sums[:, among] > 0)
    return out


def _per_head(sums: FloatArray, population: float) -> FloatArray:
    return np.asarray(sums[:, 0] / population)


def _informedness(sums: FloatArray) -> FloatArray:
    return _share(sums, 0, 1) + _share(sums, 2, 3) - 1
