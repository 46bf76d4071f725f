"""What a coin would score, and how well an order is recovered from flipped answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from scoring.relations._edges import Edge, checked_size, positions
from scoring.relations.inconsistency import Method, inconsistency


@dataclass(frozen=True, slots=True)
class CoinFlip:
    """Scores of answers by coin, each ordered pair of objects asked once.

    Attributes
    ----------
    mean, sd
        Over the draws; sd with ddof 1, None for one draw. None when no pair exists (n < 2).
    low, high
        2.5 and 97.5 percentiles of the draws, the spread of one such score; None for n < 2.
    n
        Objects.
    draws
        How many sets of answers were drawn.
    method
        The method scored with.
    unproved
        `exact`: draws whose minimum was not proved in time, so that the mean is a little high.
    """

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n: int
    draws: int
    method: Method
    unproved: int


def coin_flip_baseline(
    n: int,
    *,
    method: Method = "scc",
    draws: int = 100,
    seed: int = 0,
    first: float = 0.5,
    time_limit: float = 10.0,
) -> CoinFlip:
    """Score answers that know nothing: the figure a model's score must be held against.

    Parameters
    ----------
    n : int
        Number of objects.
    method : {"scc", "in_degree", "local", "exact", "energy"}
        As in `inconsistency`.
    draws : int
        Sets of answers, at least 1.
    seed : int
        For the coin.
    first : float
        Probability of the answer "the first-named comes before": 1/2 is a fair coin, other values
        a model that prefers an answer and knows nothing else.
    time_limit : float
        Seconds per draw for `exact`.

    Returns
    -------
    CoinFlip

    Raises
    ------
    ValueError
        When there is no draw, or `first` is not in [0, 1].

    Notes
    -----
    An order or its reverse keeps at least half of any answers, and a good order more: the coin's
    score lies below 1, the more so the fewer the objects.

    References
    ----------
    Paper B, table 2 (scores read without a baseline).

    Examples
    --------
    >>> coin_flip_baseline(20, first=1.0, draws=2).mean
    1.0
    """
    size = checked_size(n)
    if draws < 1:
        raise ValueError(f"draws is {draws}: at least one set of answers is needed")
    if not 0 <= first <= 1:
        raise ValueError(f"first is {first}: a probability lies in [0, 1]")
    rng = np.random.default_rng(seed)
    scores = []
    unproved = 0
    for _ in range(draws):
        edges = _flipped(size, rng.random(size * (size - 1)) >= first)
        found = inconsistency(edges, size, method=method, time_limit=time_limit)
        unproved += found.proved is False
        if found.score is not None:
            scores.append(found.score)
    if not scores:
        return CoinFlip(None, None, None, None, size, draws, method, 0)
    low, high = np.percentile(scores, [2.5, 97.5])
    return CoinFlip(
        mean=float(np.mean(scores)),
        sd=float(np.std(scores, ddof=1)) if draws > 1 else None,
        low=float(low),
        high=float(high),
        n=size,
        draws=draws,
        method=method,
        unproved=unproved,
    )


def _flipped(
    n: int, turned: Sequence[bool] | np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> list[Edge]:
    """Return (a, b) of every ordered pair, or (b, a) where turned."""
    return [
        (b, a) if t else (a, b) for (a, b), t in zip(permutations(range(n), 2), turned, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class RecoveryPoint:
    """How well the true order is recovered when a share of true answers is flipped.

    Attributes
    ----------
    share
        Share asked for.
    flipped
        Answers flipped in each repeat.
    error
        Mean share of pairs that the recovered order has the wrong way round.
    sd
        Over the repeats, ddof 1; None for one.
    score
        Mean inconsistency of the flipped answers.
    repeats
        Sets drawn.
    """

    share: float
    flipped: int
    error: float
    sd: float | None
    score: float
    repeats: int


def recovery_curve(
    n: int,
    shares: Sequence[float],
    *,
    method: Method = "energy",
    repeats: int = 5,
    seed: int = 0,
    time_limit: float = 10.0,
) -> tuple[RecoveryPoint, ...]:
    """Flip a share of the true answers and see how much of the true order comes back.

    Parameters
    ----------
    n : int
        Number of objects, at least 2; every ordered pair is answered once.
    shares : sequence of float
        Shares of answers to flip, in [0, 1].
    method : str
        As in `inconsistency`.
    repeats : int
        Random sets per share, at least 1.
    seed : int
        For the choice of answers and the numbering of the objects.
    time_limit : float
        Seconds per set for `exact`.

    Returns
    -------
    tuple of RecoveryPoint

    Raises
    ------
    ValueError
        When n, a share or the number of repeats is out of range.

    Notes
    -----
    Objects are numbered at random in each set, so that ties are not decided by the truth.

    References
    ----------
    Paper B, figure 6b.

    Examples
    --------
    >>> recovery_curve(6, [0.0], method="scc", repeats=1)[0].error
    0.0
    """
    size = checked_size(n)
    if size < 2 or repeats < 1:
        raise ValueError(f"n is {n}, repeats {repeats}: it takes two objects and one repeat")
    rng = np.random.default_rng(seed)
    points = []
    for share in shares:
        if not 0 <= share <= 1:
            raise ValueError(f"share {share} of answers to flip: it must lie in [0, 1]")
        total = size * (size - 1)
        flipped = round(share * total)
        errors, scores = [], []
        for _ in range(repeats):
            name = rng.permutation(size)
            turned = np.zeros(total, dtype=bool)
            turned[rng.choice(total, flipped, replace=False)] = True
            true = [(min(e), max(e)) for e in permutations(range(size), 2)]
            edges = [
                (int(name[v]), int(name[u])) if t else (int(name[u]), int(name[v]))
                for (u, v), t in zip(true, turned, strict=True)
            ]
            found = inconsistency(edges, size, method=method, time_limit=time_limit)
            errors.append(_pair_error(found.order, name.tolist()))
            scores.append(found.score or 0.0)
        points.append(
            RecoveryPoint(
                share=share,
                flipped=flipped,
                error=float(np.mean(errors)),
                sd=float(np.std(errors, ddof=1)) if repeats > 1 else None,
                score=float(np.mean(scores)),
                repeats=repeats,
            )
        )
    return tuple(points)


def _pair_error(order: Sequence[int], truth: Sequence[int]) -> float:
    """Return the share of pairs that two orders of the same objects place differently."""
    place = positions(order)[np.asarray(truth)]
    first, second = np.triu_indices(len(place), 1)
    return float((place[first] > place[second]).mean())
