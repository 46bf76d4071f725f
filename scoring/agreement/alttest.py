"""The alternative annotator test: may a judge replace one of several humans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from scoring.agreement._coding import Category, plain_list, proportion, rectangular
from scoring.types import FloatArray

_RECOMMENDED_ITEMS = 50
_RECOMMENDED_HUMANS = 3


@dataclass(frozen=True, slots=True)
class AltTestHuman:
    """One human's comparison with the judge.

    Attributes
    ----------
    name
        Who was left out.
    n
        Items this human labelled, another human labelled, and the judge has a verdict on.
    judge_wins, human_wins
        Share of the items on which the judge (the human) agrees with the others at least as well
        as the human (the judge), ties counting for both; None when n is 0. The first is the
        advantage probability against this human.
    statistic
        t of mean(human wins - judge wins) against epsilon; None when not tested, or when all
        differences are the same.
    p
        One-sided p-value of "the judge is worse by epsilon or more"; None when not tested.
    rejected
        Whether that is rejected after Benjamini and Yekutieli's correction: the judge wins.
    why_untested
        Why this human was left out, else None.
    """

    name: str
    n: int
    judge_wins: float | None
    human_wins: float | None
    statistic: float | None
    p: float | None
    rejected: bool
    why_untested: str | None


@dataclass(frozen=True, slots=True)
class AltTest:
    """The alternative annotator test.

    Attributes
    ----------
    omega
        Winning rate: share of the tested humans against whom the judge wins; None when undefined.
    passed
        Whether omega is at least 1/2; None when undefined.
    rho
        Average advantage probability: mean of `judge_wins` over the tested humans, for comparing
        judges; None when undefined.
    humans
        One comparison per human, tested or not.
    n_items
        Items with a verdict and labels of at least `min_humans` humans.
    dropped
        Items with a label or verdict that are not among them.
    epsilon, q, min_humans, min_items
        Parameters of the test.
    warnings
        What makes the result less reliable, in words.
    why_undefined
        The reason when no human could be tested, else None.
    """

    omega: float | None
    passed: bool | None
    rho: float | None
    humans: tuple[AltTestHuman, ...]
    n_items: int
    dropped: int
    epsilon: float
    q: float
    min_humans: int
    min_items: int
    warnings: tuple[str, ...]
    why_undefined: str | None


def alt_test(
    judge: Iterable[Category | None],
    humans: Iterable[Iterable[Category | None]],
    *,
    names: Sequence[str] | None = None,
    epsilon: float = 0.2,
    q: float = 0.05,
    min_humans: int = 2,
    min_items: int = 30,
) -> AltTest:
    """Test whether a judge represents the other humans as well as each human does.

    Parameters
    ----------
    judge : iterable of label, length n_items
        The judge's verdicts; None = no verdict.
    humans : iterable of iterable of label, shape (n_humans, n_items)
        None = no label.
    names : sequence of str, optional
        Names of the humans; without them "human 1", "human 2", ...
    epsilon : float
        How much worse the judge may be and still be preferred for being cheap, 0 to 1 (1
        excluded). The authors suggest .2 for experts, .15 for skilled annotators, .1 for crowd
        workers.
    q : float
        False discovery rate of Benjamini and Yekutieli's correction.
    min_humans : int
        Humans an item needs, at least 2.
    min_items : int
        Items a human needs to be tested, at least 2.

    Returns
    -------
    AltTest
        Undefined with fewer than two humans, or when no human has enough items.

    Raises
    ------
    ValueError
        For lengths that differ, names that do not match, or parameters out of range.

    Notes
    -----
    For human h and item i, S is the share of the other humans of the item whose label is the same.
    W_judge = [S_judge >= S_h], W_h = [S_h >= S_judge]. H0: mean(W_h - W_judge) >= epsilon, one-sided
    t-test with n - 1 degrees of freedom. The p-values of the tested humans are compared with
    (rank/m) q/(1 + 1/2 + ... + 1/m). omega = rejections/m, and the judge passes from 1/2 on;
    rho = mean of mean W_judge.

    When all differences are the same, t has no variance to divide by. Then p is bounded exactly:
    under H0 the chance of n differences of 0 is at most (1 - epsilon)^n, of n differences of -1 at
    most ((1 - epsilon)/2)^n; for n differences of 1, p = 1. (The authors' code takes 0 for the
    first two.) Items of one question are taken as independent; when they are not, p is too small.

    References
    ----------
    Calderon, Reichart and Dror (2025), The alternative annotator test for LLM-as-a-judge, ACL.
    Benjamini and Yekutieli (2001), The control of the false discovery rate in multiple testing
    under dependency, Ann. Stat. 29.

    Examples
    --------
    >>> a, b, c = ["x", "y"] * 20, ["x", "y"] * 20, ["x", "x"] * 20
    >>> r = alt_test(["x", "y"] * 20, [a, b, c])
    >>> r.omega, r.passed, r.rho
    (1.0, True, 1.0)
    """
    verdicts = plain_list(judge)
    rows = rectangular(humans)
    who = _checked(verdicts, rows, names, min_humans, min_items)
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is {epsilon!r}: it lies between 0 and 1 (1 excluded), e.g. 0.2")
    rate = proportion(q, "q")
    given = [sum(r[i] is not None for r in rows) for i in range(len(verdicts))]
    kept = [i for i, v in enumerate(verdicts) if v is not None and given[i] >= min_humans]
    seen = sum(v is not None or n > 0 for v, n in zip(verdicts, given, strict=True))
    compared = [
        _compare(name, h, verdicts, rows, kept, epsilon, min_items) for h, name in enumerate(who)
    ]
    tested = _corrected(compared, rate)
    wins = [h.judge_wins for h in tested if h.p is not None and h.judge_wins is not None]
    omega = sum(h.rejected for h in tested) / len(wins) if wins else None
    why = None
    if omega is None and len(rows) < 2:
        why = "one human only: the test needs at least two, and is meant for three"
    elif omega is None:
        why = (
            f"no human has {min_items} items that {min_humans} humans labelled and the judge "
            f"has a verdict on (most: {max(h.n for h in tested)})"
        )
    return AltTest(
        omega=omega,
        passed=None if omega is None else omega >= 0.5,
        rho=sum(wins) / len(wins) if wins else None,
        humans=tested,
        n_items=len(kept),
        dropped=seen - len(kept),
        epsilon=float(epsilon),
        q=rate,
        min_humans=min_humans,
        min_items=min_items,
        warnings=_warnings(tested) if wins else (),
        why_undefined=why,
    )


def _checked(
    verdicts: list[Any],
    rows: list[list[Any]],
    names: Sequence[str] | None,
    min_humans: int,
    min_items: int,
) -> list[str]:
    """Check shapes and least numbers; return the humans' names."""
    if len(rows[0]) != len(verdicts):
        raise ValueError(
            f"the judge has {len(verdicts)} verdicts and the humans {len(rows[0])} labels each: "
            "give one per item, None where there is none"
        )
    if names is not None and len(names) != len(rows):
        raise ValueError(f"names has {len(names)} entries for {len(rows)} humans: one per human")
    if min_humans < 2:
        raise ValueError(f"min_humans is {min_humans}: leaving one out needs at least 2 humans")
    if min_items < 2:
        raise ValueError(f"min_items is {min_items}: a t-test needs at least 2 items")
    return list(names) if names is not None else [f"human {h + 1}" for h in range(len(rows))]


def _compare(
    name: str,
    h: int,
    verdicts: list[Any],
    rows: list[list[Any]],
    kept: list[int],
    epsilon: float,
    min_items: int,
) -> AltTestHuman:
    """Compare human h and the judge by their agreement with the other humans."""
    mine = [i for i in kept if rows[h][i] is not None]
    signs = []
    for i in mine:
        others = [r[i] for g, r in enumerate(rows) if g != h and r[i] is not None]
        agree_human = sum(o == rows[h][i] for o in others)
        agree_judge = sum(o == verdicts[i] for o in others)
        signs.append((agree_human > agree_judge) - (agree_human < agree_judge))
    d = np.array(signs, dtype=np.float64)
    n = len(d)
    judge_wins = float((d <= 0).mean()) if n else None
    human_wins = float((d >= 0).mean()) if n else None
    if n < min_items:
        why = f"{n} comparable items, {min_items} are needed"
        return AltTestHuman(name, n, judge_wins, human_wins, None, None, False, why)
    statistic, p = _one_sided(d, epsilon)
    return AltTestHuman(name, n, judge_wins, human_wins, statistic, p, False, None)


def _one_sided(d: FloatArray, epsilon: float) -> tuple[float | None, float]:
    """Test mean(d) < epsilon; without variance, an exact bound on p."""
    n = len(d)
    if float(d.min()) == float(d.max()):
        highest = {-1.0: ((1 - epsilon) / 2) ** n, 0.0: (1 - epsilon) ** n, 1.0: 1.0}
        return None, highest[float(d[0])]
    from scipy.special import stdtr

    t = (float(d.mean()) - epsilon) / (float(d.std(ddof=1)) / sqrt(n))
    return t, float(stdtr(n - 1, t))


def _corrected(humans: list[AltTestHuman], q: float) -> tuple[AltTestHuman, ...]:
    """Benjamini and Yekutieli's step-up procedure over the tested humans."""
    p = sorted(h.p for h in humans if h.p is not None)
    m = len(p)
    harmonic = sum(1 / k for k in range(1, m + 1))
    passing = [value for rank, value in enumerate(p, 1) if value <= rank * q / (m * harmonic)]
    limit = max(passing, default=-1.0)
    return tuple(replace(h, rejected=h.p is not None and h.p <= limit) for h in humans)


def _warnings(humans: Sequence[AltTestHuman]) -> tuple[str, ...]:
    """Say what the authors advise against."""
    tested = [h for h in humans if h.p is not None]
    out = [f"{h.name} is left out: {h.why_untested}" for h in humans if h.why_untested]
    if len(humans) < _RECOMMENDED_HUMANS:
        out.append(
            f"{len(humans)} humans: with fewer than {_RECOMMENDED_HUMANS} there is no consensus to "
            "represent, only one person's labels"
        )
    few = min(h.n for h in tested)
    if few < _RECOMMENDED_ITEMS:
        out.append(f"{few} items for a human: {_RECOMMENDED_ITEMS} to 100 are advised")
    return tuple(out)
