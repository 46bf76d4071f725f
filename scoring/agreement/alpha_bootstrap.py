"""Bootstrap interval of Krippendorff's alpha over items, or over clusters of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from scoring.agreement._clusters import (
    Spread,
    check_replicates,
    cluster_list,
    cluster_sums,
    numbered,
    resampled,
    spread,
)
from scoring.agreement._coding import Category, Interval, normal_quantile, rectangular
from scoring.agreement.alpha import AlphaData, KrippendorffAlpha, Level, alpha_data
from scoring.types import FloatArray


@dataclass(frozen=True, slots=True)
class AlphaBootstrap:
    """Krippendorff's alpha with a bootstrap interval.

    Attributes
    ----------
    value
        Alpha of the data as they are; None when undefined.
    se
        Standard deviation of the defined replicates; None when `ci` is.
    ci
        Percentile interval at `confidence`; None when alpha is undefined, when there is one
        cluster only, when fewer than two replicates are defined, or when all give the same alpha.
    alpha
        The coefficient in full: level, categories, n, what was dropped.
    clusters
        Clusters (without any: items) with at least two labels on an item; these are resampled.
    replicates
        Replicates drawn; 0 when there was nothing to draw.
    undefined
        Replicates without an alpha (one category only), left out of `se` and `ci`.
    why_undefined
        Why `value` is None, else None.
    why_no_interval
        Why `ci` is None, else None.
    confidence
        Confidence level of `ci`.
    """

    value: float | None
    se: float | None
    ci: Interval | None
    alpha: KrippendorffAlpha
    clusters: int
    replicates: int
    undefined: int
    why_undefined: str | None
    why_no_interval: str | None
    confidence: float


def alpha_bootstrap(
    ratings: Iterable[Iterable[Category | None]],
    *,
    level: Level = "nominal",
    categories: Iterable[Category] | None = None,
    clusters: Iterable[Hashable] | None = None,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> AlphaBootstrap:
    """Krippendorff's alpha with an interval from resampling items, or whole clusters of items.

    Parameters
    ----------
    ratings, level, categories
        As in `krippendorff_alpha`.
    clusters : iterable of hashable, length n_items, optional
        The cluster (for instance the question) of each item; None = every item is its own.
    replicates : int
        Number of bootstrap replicates, at least 2.
    seed : int or numpy Generator
        Where the random numbers come from; the same seed gives the same interval.
    confidence : float
        Confidence level of the interval (`level` is the level of measurement).

    Returns
    -------
    AlphaBootstrap

    Raises
    ------
    ValueError
        As `krippendorff_alpha`, and for clusters that do not match the items or too few replicates.

    Notes
    -----
    A replicate draws as many clusters as hold an item with two labels, with replacement, adds
    their coincidences and takes alpha of the sum; for ordinal data the distances follow the
    replicate's own totals. The interval lies between the (1 - confidence)/2 and
    (1 + confidence)/2 quantiles of the defined replicates. This is the ordinary bootstrap of
    items. Krippendorff's own algorithm draws single deviations instead, which treats the pairs of
    one item as independent.

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
    Zapf, Castell, Morawietz and Karch (2016), Measuring inter-rater reliability for nominal data,
    BMC Med. Res. Methodol. 16.

    Examples
    --------
    >>> a = [1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1]
    >>> b = [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]
    >>> r = alpha_bootstrap([a, b], seed=1)
    >>> round(r.value, 3), r.ci[0] < r.value < r.ci[1]
    (0.692, True)
    """
    normal_quantile(confidence)
    rows = rectangular(ratings)
    data = alpha_data(rows, level, categories)
    groups = cluster_list(clusters, len(rows[0]))
    check_replicates(replicates)
    point = data.alpha()
    sums = cluster_sums(numbered(groups[i] for i in data.kept), data.contributions())
    why = point.why_undefined
    if why is None and len(sums) < 2:
        why = "all comparable items belong to one cluster: nothing to resample"
    drawn, found = 0, Spread(None, None, 0, why)
    if why is None:
        rng = np.random.default_rng(seed)
        draws = [_alphas(data, chunk) for chunk in resampled(sums, replicates, rng)]
        drawn, found = replicates, spread(np.concatenate(draws), confidence, "alpha")
    return AlphaBootstrap(
        value=point.value,
        se=found.se,
        ci=found.ci,
        alpha=point,
        clusters=len(sums),
        replicates=drawn,
        undefined=found.undefined,
        why_undefined=point.why_undefined,
        why_no_interval=found.why_no_interval,
        confidence=confidence,
    )


def _alphas(data: AlphaData, sums: FloatArray) -> FloatArray:
    """Alpha of each row of summed contributions, NaN where one category only was drawn."""
    k = len(data.names)
    seen, chance = data.disagreement(sums)
    varied = (sums[:, k * k :] > 0).sum(axis=1) > 1
    ratio = np.full(len(sums), np.nan)
    np.divide(seen, chance, out=ratio, where=varied)
    return 1 - ratio
