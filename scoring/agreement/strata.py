"""Which strata the next labels should come from, without a look at any verdict."""

from __future__ import annotations

import heapq
import random
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TypeVar

from scoring.agreement._coding import count

Stratum = TypeVar("Stratum", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Labels per stratum.

    Attributes
    ----------
    counts
        Labels to take from each stratum, in the order the strata were given.
    inclusion
        The inclusion probability this gives an item of each stratum; 0 for an empty stratum.
    se
        Standard error to expect of the stratified mean, if the prior variances are right, without
        finite population correction; None when a stratum that varies gets no label.
    """

    counts: Mapping[Hashable, int]
    inclusion: Mapping[Hashable, float]
    se: float | None


def allocation(
    sizes: Mapping[Stratum, int],
    variances: Mapping[Stratum, float],
    n: int,
    *,
    minimum: int = 2,
) -> Allocation:
    """Spread n labels over strata so that the stratified mean has the smallest error.

    Parameters
    ----------
    sizes : mapping of stratum to int
        Items in each stratum.
    variances : mapping of stratum to float
        Prior variance within each stratum of what is averaged. For a rate expected at p this is
        p (1 - p); .25 everywhere when nothing is known, which gives proportional allocation.
    n : int
        Labels to spread.
    minimum : int
        Labels every stratum gets first (or all its items, if fewer), at least 1; 2 are needed to
        estimate the error within it.

    Returns
    -------
    Allocation

    Raises
    ------
    ValueError
        When strata do not match, a variance is negative, or n is below the sum of the minima or
        above the number of items.

    Notes
    -----
    Minimises Σ (N_h/N)² v_h/n_h over whole numbers n_h with minimum <= n_h <= N_h. Each label goes
    to the stratum with the highest N_h sqrt(v_h)/sqrt(m (m + 1)), m its labels so far, which is
    Neyman's n_h ~ N_h sqrt(v_h) made exact for whole numbers and bounds (Wright). When only strata
    without variance are left, labels go to the largest remainder of items.

    What is honest: strata must be known before anybody labels or judges, and be the same for
    every rater: dataset, model, answers that differ or not. Prior variances come from a pilot on
    other items or from an assumption. Strata or variances made from the judge's verdicts on these
    items would let the order of the queue tell a sealed rater what the judge said, and are the
    caller's to refuse; this function sees sizes and variances only. kappa is no mean over strata,
    so this is exact for a rate and a guide for kappa.

    References
    ----------
    Neyman (1934), On the two different aspects of the representative method, JRSS 97.
    Wright (2012), The equivalence of Neyman optimum allocation for sampling and equal proportions
    for apportioning the US House of Representatives, Am. Stat. 66.

    Examples
    --------
    >>> a = allocation({"differ": 100, "agree": 300}, {"differ": 0.25, "agree": 0.09}, 56)
    >>> dict(a.counts), round(a.inclusion["differ"], 2), round(a.se, 4)
    ({'differ': 20, 'agree': 36}, 0.2, 0.0468)
    """
    order = _order(sizes, variances, n, minimum)
    counts: dict[Hashable, int] = dict.fromkeys(sizes, 0)
    for stratum in order:
        counts[stratum] += 1
    total = sum(sizes.values())
    variance: float | None = 0.0
    for stratum, size in sizes.items():
        if variance is None or size == 0 or variances[stratum] == 0:
            continue
        taken = counts[stratum]
        variance = variance + (size / total) ** 2 * variances[stratum] / taken if taken else None
    return Allocation(
        counts=counts,
        inclusion={s: counts[s] / size if size else 0.0 for s, size in sizes.items()},
        se=None if variance is None or not total else sqrt(variance),
    )


def queue_strata(
    sizes: Mapping[Stratum, int],
    variances: Mapping[Stratum, float],
    n: int,
    *,
    seed: int,
    minimum: int = 2,
    block: int = 8,
) -> tuple[Stratum, ...]:
    """Order in which to take labels from strata, so that stopping anywhere leaves a good sample.

    Parameters
    ----------
    sizes, variances, n, minimum
        As in `allocation`.
    seed : int
        Seed of the shuffle, which the rater must not know.
    block : int
        Length of the blocks that are shuffled, at least 1.

    Returns
    -------
    tuple of stratum, length n
        The stratum of the first, second, ... label; the item within it is to be drawn at random.

    Raises
    ------
    ValueError
        As `allocation`, and for a block below 1.

    Notes
    -----
    The exact allocation for n + 1 labels is that for n with one label more, so one order serves
    every n: after any whole number of blocks the labels taken are the optimum for that many, and a
    target interval is reached as soon as it can be without looking at results. Within a block the
    order is shuffled: unshuffled, it would let a rater who knows the sizes guess an item's
    stratum, which the seal hides. Inclusion probabilities are those of the labels taken when one
    stops (`allocation` with that n); stopping because of what the labels say would bias them.

    Examples
    --------
    >>> order = queue_strata({"a": 50, "b": 50}, {"a": 0.25, "b": 0.01}, 12, seed=4, block=4)
    >>> order.count("a"), order.count("b")
    (10, 2)
    """
    if block < 1:
        raise ValueError(f"block is {block}: at least 1 label")
    order = _order(sizes, variances, n, minimum)
    shuffle = random.Random(seed)
    out: list[Stratum] = []
    for start in range(0, len(order), block):
        part = order[start : start + block]
        shuffle.shuffle(part)
        out += part
    return tuple(out)


def _order(
    sizes: Mapping[Stratum, int], variances: Mapping[Stratum, float], n: int, minimum: int
) -> list[Stratum]:
    """Strata label by label: the minima first, round by round, then by Wright's priorities."""
    labels = _checked(sizes, variances, n, minimum)
    taken = {s: min(minimum, size) for s, size in sizes.items()}
    out = [s for turn in range(minimum) for s in sizes if turn < taken[s]]
    place = {s: i for i, s in enumerate(sizes)}
    heap: list[tuple[float, float, int, Stratum]] = []

    def push(s: Stratum) -> None:
        m, left = taken[s], sizes[s] - taken[s]
        if left:
            gain = sizes[s] * sqrt(variances[s] / (m * (m + 1)))
            heapq.heappush(heap, (-gain, -left, place[s], s))

    for s in sizes:
        push(s)
    while len(out) < labels:
        *_, s = heapq.heappop(heap)
        taken[s] += 1
        out.append(s)
        push(s)
    return out


def _checked(
    sizes: Mapping[Stratum, int], variances: Mapping[Stratum, float], n: int, minimum: int
) -> int:
    """Check strata, variances and the number of labels; return the number."""
    if set(sizes) != set(variances):
        odd = sorted(map(str, set(sizes) ^ set(variances)))[0]
        raise ValueError(f"stratum {odd!r} has a size or a prior variance, but not both")
    for s, size in sizes.items():
        count(size, f"size of stratum {s!r}")
        if not isfinite(variances[s]) or variances[s] < 0:
            raise ValueError(
                f"prior variance of stratum {s!r} is {variances[s]!r}: it is at least 0, for a "
                "rate p (1 - p)"
            )
    if minimum < 1:
        raise ValueError(f"minimum is {minimum}: every stratum needs at least 1 label")
    labels, total = count(n, "n"), sum(sizes.values())
    least = sum(min(minimum, size) for size in sizes.values())
    if not least <= labels <= total:
        raise ValueError(
            f"n is {labels}: with {minimum} labels a stratum at least {least} are needed, and "
            f"there are {total} items"
        )
    return labels
