"""A queue that reaches a wanted interval with the fewest labels, and tells nothing sealed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import NormalDist

from scoring.agreement import allocation, queue_strata
from store.records import PoolRecord, PoolScore

Stratum = tuple[str, str, str]
"""Dataset, pool, and ``disagreement`` or ``agreement``."""
NO_IDEA = 0.5
"""The rate expected where nothing is known: it asks for the most labels."""


@dataclass(frozen=True, slots=True)
class Target:
    """The interval wanted: a rate of a path category, plus or minus `half_width` (95 %).

    `expected` are the rates expected in disagreement and agreement cases, from a pilot on other
    questions or from an assumption, never from verdicts on these.
    """

    half_width: float
    expected: Mapping[str, float]

    def __post_init__(self) -> None:
        if not 0 < self.half_width < 1:
            raise ValueError(
                f"the target half-width is {self.half_width}: between 0 and 1 is right, e.g. 0.05"
            )
        for name, rate in self.expected.items():
            if name not in ("disagreement", "agreement"):
                raise ValueError(f"there is no stratum {name!r}: disagreement or agreement")
            if not 0 <= rate <= 1:
                raise ValueError(f"the rate expected in {name} is {rate}: a share from 0 to 1")

    def variance(self, stratum: Stratum) -> float:
        """Return the variance expected within a stratum."""
        rate = self.expected.get(stratum[2], NO_IDEA)
        return rate * (1 - rate)


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """What the queue was made for.

    `n_cases` of `n_questions` are in the queue; labelling them all gives a half-width of
    `half_width` at most, if the expected rates are right. `reached` is False where even all
    questions do not give the `wanted` one.
    """

    wanted: float
    half_width: float | None
    n_cases: int
    n_questions: int
    reached: bool


def draw_targeted(
    scores: Sequence[PoolScore], pools: Mapping[int, PoolRecord], target: Target, seed: int
) -> tuple[list[tuple[PoolScore, float, int]], TargetPlan]:
    """Draw the cases of a targeted queue.

    Returns each case's score, inclusion probability and place in the queue. Within a stratum the
    cases are drawn, and stand, at random; the strata follow each other in shuffled blocks, each of
    which keeps the best allocation, so that one may stop after any of them. Every case counts as
    one label, though its paths are several: those of one question depend on each other.

    The draw's own seed is made from `seed` and from what the seal hides (the hashes of all
    scores' inputs and their medoids), so a rater who knows `seed` and all sizes cannot work out
    which place belongs to which stratum. No verdict, label or gold enters.
    """
    strata: dict[Stratum, list[PoolScore]] = {}
    for score in sorted(scores, key=lambda s: repr(pools[s.pool_id])):
        pool = pools[score.pool_id]
        name = "disagreement" if score.disagree else "agreement"
        strata.setdefault((pool.dataset, pool.pool, name), []).append(score)
    sizes = {stratum: len(rows) for stratum, rows in strata.items()}
    variances = {stratum: target.variance(stratum) for stratum in strata}
    total = sum(sizes.values())
    if not total:
        return [], TargetPlan(target.half_width, None, 0, 0, False)
    z = NormalDist().inv_cdf(0.975)

    def half_width(n: int) -> float:
        se = allocation(sizes, variances, n).se
        return inf if se is None else z * se

    least = sum(min(2, size) for size in sizes.values())
    n = _least(lambda k: half_width(k) <= target.half_width, least, total)
    rng = random.Random(_secret(scores, seed))
    shuffled = {stratum: rng.sample(rows, len(rows)) for stratum, rows in strata.items()}
    taken = dict.fromkeys(strata, 0)
    counts = allocation(sizes, variances, n).counts
    drawn = []
    order = queue_strata(sizes, variances, n, seed=rng.getrandbits(64))
    for place, stratum in enumerate(order):
        score = shuffled[stratum][taken[stratum]]
        taken[stratum] += 1
        drawn.append((score, counts[stratum] / sizes[stratum], place))
    reached = half_width(n) <= target.half_width
    return drawn, TargetPlan(target.half_width, half_width(n), n, total, reached)


def _least(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number that is enough, `high` where none is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def _secret(scores: Sequence[PoolScore], seed: int) -> int:
    parts = [f"{s.pool_id} {s.input_hash} {s.medoid_trace_id}" for s in scores]
    text = "\x1f".join([str(seed), *sorted(parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
