"""Medoid ablation: what is left of accuracy and faithfulness without the medoid's path."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from scoring.faithfulness.answering import mean

Target = Literal["gold", "own"]

ROUNDING = 1e-12
"""Changes this small are none: means of equal numbers differ by rounding."""

GOLD_WARNING = (
    "F is measured against the gold answer: a trace that loses the gold answer scores near 1 for "
    "no merit of its own, so the gold target alone can make this slope negative"
)


@dataclass(frozen=True, slots=True)
class AblatedQuestion:
    """One question with its medoid forbidden; means are None where nothing was parsed.

    Attributes
    ----------
    aa
        Ablated accuracy: share of the parsed answers equal to gold, in [0, 1].
    af
        Ablated faithfulness: mean F of the alternatives, in [0, 1].
    oa, of
        The medoid's own accuracy (0 or 1) and F.
    delta_a, delta_f
        Ablated minus own, in [−1, 1]; negative = the medoid was better.
    md
        Mean distance of the alternatives from the medoid, in [0, 1]; higher = further away.
    n, n_answers, n_faithfulness, n_distances
        Alternatives, and those with a parsed answer, an F, a distance.
    """

    aa: float | None
    af: float | None
    oa: float | None
    of: float | None
    delta_a: float | None
    delta_f: float | None
    md: float | None
    n: int
    n_answers: int
    n_faithfulness: int
    n_distances: int


def ablated_question(
    answers: Iterable[Hashable | None],
    faithfulness: Iterable[float | None],
    *,
    gold: Hashable | None,
    medoid_answer: Hashable | None,
    medoid_faithfulness: float | None,
    distances: Iterable[float | None] = (),
) -> AblatedQuestion:
    """Summarise the alternatives sampled for one question with its medoid forbidden.

    Parameters
    ----------
    answers : iterable of hashable or None, length N
        The alternatives' normalised answers; None = unparsed, left out and counted.
    faithfulness : iterable of float or None, length N
        F of each, from `early_answering`; None = undefined.
    gold, medoid_answer : hashable or None
        The gold answer and the medoid's own; None = missing.
    medoid_faithfulness : float or None
        The medoid's own F, by the same target.
    distances : iterable of float or None, optional
        `medoid_distance` of each alternative.

    Returns
    -------
    AblatedQuestion

    Raises
    ------
    ValueError
        For lists of unequal length, or a number outside [0, 1].

    Notes
    -----
    AA = share equal to gold, AF = mean F, ΔA = AA − A*, ΔF = AF − F*, with * the medoid's own.

    References
    ----------
    Paper A, appendix B.6.

    Examples
    --------
    >>> q = ablated_question(
    ...     ["8", "9", "8", None], [0.5, 1.0, 0.0, None],
    ...     gold="8", medoid_answer="8", medoid_faithfulness=0.75)
    >>> round(q.aa, 3), q.af, round(q.delta_a, 3), q.delta_f, q.n_answers
    (0.667, 0.5, -0.333, -0.25, 3)
    """
    given, scores, apart = list(answers), list(faithfulness), list(distances)
    if len(scores) != len(given):
        raise ValueError(f"{len(scores)} faithfulness values for {len(given)} answers")
    if apart and len(apart) != len(given):
        raise ValueError(f"{len(apart)} distances for {len(given)} answers")
    parsed = [a for a in given if a is not None]
    right = [float(a == gold) for a in parsed] if gold is not None else []
    known = _checked(scores, "faithfulness")
    far = _checked(apart, "distance")
    own = _checked([medoid_faithfulness], "medoid_faithfulness")
    oa = None if gold is None or medoid_answer is None else float(medoid_answer == gold)
    aa, af, of = mean(right), mean(known), own[0] if own else None
    return AblatedQuestion(
        aa, af, oa, of, _change(aa, oa), _change(af, of), mean(far),
        len(given), len(parsed), len(known), len(far),
    )  # fmt: skip


def _checked(values: Sequence[float | None], name: str) -> list[float]:
    kept = []
    for place, value in enumerate(values):
        if value is None:
            continue
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} {place} is {value}: it lies in [0, 1]")
        kept.append(float(value))
    return kept


def _change(after: float | None, before: float | None) -> float | None:
    if after is None or before is None:
        return None
    change = after - before
    return 0.0 if abs(change) <= ROUNDING else change


@dataclass(frozen=True, slots=True)
class Regression:
    """ΔF on ΔA by least squares; everything None when undefined.

    Attributes
    ----------
    slope, intercept
        ΔF = intercept + slope·ΔA.
    r
        Pearson correlation, in [−1, 1].
    p
        Two-sided p-value of slope 0.
    n
        Questions with both changes.
    why_undefined
        The reason, else None.
    warning
        What may make the slope by itself, else None.
    """

    slope: float | None
    intercept: float | None
    r: float | None
    p: float | None
    n: int
    why_undefined: str | None
    warning: str | None


@dataclass(frozen=True, slots=True)
class AblationSummary:
    """Medoid ablation over questions; means and shares are None where no question has a value.

    Attributes
    ----------
    aa, af, oa, of, md
        Means over questions of the fields of `AblatedQuestion`, in [0, 1].
    delta_a, delta_f
        Mean changes, in [−1, 1].
    share_f_lower
        Share of the questions with both changes in which ΔF < 0, in [0, 1].
    share_a_same
        … in which ΔA = 0.
    share_a_same_f_lower
        … in which ΔA = 0 and ΔF < 0.
    n, n_both
        Questions, and those with both changes.
    regression
        ΔF on ΔA.
    """

    aa: float | None
    af: float | None
    oa: float | None
    of: float | None
    md: float | None
    delta_a: float | None
    delta_f: float | None
    share_f_lower: float | None
    share_a_same: float | None
    share_a_same_f_lower: float | None
    n: int
    n_both: int
    regression: Regression


def ablation_summary(
    questions: Iterable[AblatedQuestion], *, target: Target = "gold"
) -> AblationSummary:
    """Summarise medoid ablation over all questions (broad) or a chosen subset (targeted).

    Parameters
    ----------
    questions : iterable of AblatedQuestion
        For the targeted protocol: those where GSC is right and SC is wrong.
    target : {"gold", "own"}
        What F was measured against; "gold" puts a warning on the regression.

    Returns
    -------
    AblationSummary

    Raises
    ------
    ValueError
        For another target.

    Notes
    -----
    A change within 1e-12 of 0 is no change.

    References
    ----------
    Paper A, section 5.4 and appendices B.6, C.10 and C.11.

    Examples
    --------
    >>> q = ablated_question(["8", "8"], [0.5, 0.0], gold="8", medoid_answer="8",
    ...                      medoid_faithfulness=0.5)
    >>> s = ablation_summary([q])
    >>> s.delta_a, s.delta_f, s.share_a_same_f_lower, s.regression.why_undefined
    (0.0, -0.25, 1.0, '1 question with both changes: at least 3 are needed')
    """
    if target not in ("gold", "own"):
        raise ValueError(f"target must be 'gold' or 'own', not {target!r}")
    every = list(questions)
    both = [
        (q.delta_a, q.delta_f)
        for q in every
        if q.delta_a is not None and q.delta_f is not None
    ]  # fmt: skip
    lower = [f < 0 for _, f in both]
    same = [a == 0 for a, _ in both]
    warning = GOLD_WARNING if target == "gold" else None
    return AblationSummary(
        aa=_mean_of(every, "aa"),
        af=_mean_of(every, "af"),
        oa=_mean_of(every, "oa"),
        of=_mean_of(every, "of"),
        md=_mean_of(every, "md"),
        delta_a=_mean_of(every, "delta_a"),
        delta_f=_mean_of(every, "delta_f"),
        share_f_lower=mean(lower),
        share_a_same=mean(same),
        share_a_same_f_lower=mean([x and y for x, y in zip(same, lower, strict=True)]),
        n=len(every),
        n_both=len(both),
        regression=_regression(both, warning),
    )


def _mean_of(questions: Sequence[AblatedQuestion], name: str) -> float | None:
    values = (getattr(q, name) for q in questions)
    return mean([v for v in values if v is not None])


def _regression(changes: Sequence[tuple[float, float]], warning: str | None) -> Regression:
    n = len(changes)
    a, f = [x for x, _ in changes], [y for _, y in changes]
    why = None
    if n < 3:
        why = f"{n} question{'s' * (n != 1)} with both changes: at least 3 are needed"
    elif max(a) - min(a) <= ROUNDING:
        why = "ΔA is the same for every question: no line can be fitted"
    elif max(f) - min(f) <= ROUNDING:
        why = "ΔF is the same for every question: nothing to correlate"
    if why is not None:
        return Regression(None, None, None, None, n, why, warning)
    from scipy.stats import linregress

    fit = linregress(a, f)
    p = float(fit.pvalue)
    return Regression(
        float(fit.slope), float(fit.intercept), float(fit.rvalue),
        p if math.isfinite(p) else None, n, None, warning,
    )  # fmt: skip
