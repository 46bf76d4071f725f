"""Items in clusters, such as the steps of one question: resampling and robust errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.agreement._coding import IntArray, Interval, normal_quantile, plain_list
from scoring.types import FloatArray

_CHUNK = 200
_CHUNK_DRAWS = 4_000_000
"""Replicates, and draws, held at a time, so that memory stays bounded with many clusters."""

_MANY = 1000
"""Clusters from which on equal ones are drawn together."""

Groups = tuple[IntArray, ...] | None


@dataclass(frozen=True, slots=True)
class Spread:
    """What replicates tell: their standard deviation and percentile interval, or why not."""

    se: float | None
    ci: Interval | None
    undefined: int
    why_no_interval: str | None


def cluster_list(clusters: Iterable[Hashable] | None, n_items: int) -> list[Hashable]:
    """Check one cluster per item; without clusters every item is its own.

    Raises
    ------
    ValueError
        When there are not as many clusters as items, or one is None.
    """
    if clusters is None:
        return list(range(n_items))
    groups = plain_list(clusters)
    if len(groups) != n_items:
        raise ValueError(f"clusters has {len(groups)} entries for {n_items} items: one per item")
    if None in groups:
        raise ValueError(f"item {groups.index(None)} has no cluster: name one for every item")
    return groups


def numbered(values: Iterable[Hashable]) -> IntArray:
    """Give each distinct value a number, in order of first use."""
    index: dict[Hashable, int] = {}
    return np.array([index.setdefault(v, len(index)) for v in values], dtype=np.int64)


def cluster_sums(codes: IntArray, columns: FloatArray) -> FloatArray:
    """Add the rows of `columns` (items x c) cluster by cluster: clusters x c."""
    size = int(codes.max()) + 1 if len(codes) else 0
    sums = [np.bincount(codes, column, minlength=size) for column in columns.T]
    return np.stack(sums, axis=1).astype(np.float64)


def check_replicates(replicates: int) -> None:
    """Refuse a number of replicates that gives no interval."""
    if replicates < 2:
        raise ValueError(f"replicates is {replicates}: at least 2 are needed, 1000 are usual")


def resampled(
    rows: FloatArray, replicates: int, rng: np.random.Generator, groups: Groups = None
) -> Iterator[FloatArray]:
    """Draw clusters with replacement and add their rows: chunks of replicates x c.

    Without groups, as many clusters are drawn as there are. With groups (strata), m - 1 of the m
    clusters of each are drawn and counted m/(m - 1) times (Rao and Wu), which keeps the variance
    right in strata of few clusters.
    """
    size = len(rows)
    chances = np.full(size, 1 / size)
    if groups is None and size > _MANY:
        # Equal clusters need no separate draws: single items fall into a few kinds.
        rows, counts = np.unique(rows, axis=0, return_counts=True)
        chances = counts / size
    step = max(1, min(_CHUNK, _CHUNK_DRAWS // len(rows)))
    for start in range(0, replicates, step):
        count = min(step, replicates - start)
        if groups is None:
            times = rng.multinomial(size, chances, size=count).astype(np.float64)
        else:
            times = np.zeros((count, size))
            for group in groups:
                m = len(group)
                drawn = rng.multinomial(m - 1, np.full(m, 1 / m), size=count)
                times[:, group] = drawn * (m / (m - 1))
        yield times @ rows


def spread(draws: FloatArray, level: float, name: str) -> Spread:
    """Read the interval off the replicates; those that are NaN are dropped and counted."""
    defined = draws[np.isfinite(draws)]
    undefined = len(draws) - len(defined)
    if len(defined) < 2:
        why = f"{name} is undefined in {undefined} of {len(draws)} replicates"
        return Spread(None, None, undefined, why)
    if defined.min() == defined.max():
        why = f"every replicate gives the same {name}: no information on the error"
        return Spread(None, None, undefined, why)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Spread(float(defined.std(ddof=1)), (float(low), float(high)), undefined, None)


def strata_groups(
    codes: IntArray, strata: Sequence[Hashable]
) -> tuple[Groups, tuple[Hashable, ...]]:
    """Group clusters by stratum: the groups to resample within, and the strata that were joined.

    None when a cluster lies in several strata: then clusters are resampled over all strata. A
    stratum of one cluster tells nothing on its own error, so such strata are joined, and a single
    one joins the smallest other stratum.
    """
    of_cluster: dict[int, Hashable] = {}
    for cluster, stratum in zip(codes.tolist(), strata, strict=True):
        if of_cluster.setdefault(cluster, stratum) != stratum:
            return None, ()
    members: dict[Hashable, list[int]] = {}
    for cluster, stratum in of_cluster.items():
        members.setdefault(stratum, []).append(cluster)
    lonely = [s for s, clusters in members.items() if len(clusters) == 1]
    groups = [clusters for clusters in members.values() if len(clusters) > 1]
    rest = [members[s][0] for s in lonely]
    if len(rest) == 1 and groups:
        min(groups, key=len).extend(rest)
    elif rest:
        groups.append(rest)
    return tuple(np.array(sorted(g), dtype=np.int64) for g in groups), tuple(lonely)


def robust_se(influence: FloatArray, codes: IntArray, units: int) -> float | None:
    """Error of a sum of influences that are independent between clusters only.

    sqrt(G/(G - 1) Σ_g (Σ_{i in g} influence_i)²) with G units, the clusters that carry the
    estimate; None for fewer than two.
    """
    if units < 2:
        return None
    sums = cluster_sums(codes, influence[:, None])[:, 0]
    return float(np.sqrt(units / (units - 1) * (sums**2).sum()))


def t_quantile(level: float, df: int) -> float:
    """Return t such that Student's distribution lies within ±t with probability `level`."""
    normal_quantile(level)
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))
