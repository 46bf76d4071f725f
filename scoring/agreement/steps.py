"""Where a reasoning first goes wrong: do two raters point at the same step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from scoring.agreement.judge import Proportion, wilson
from scoring.agreement.kappa import Kappa, cohen_kappa


class StepLabel(NamedTuple):
    """One rater on one path: sound, or wrong from a step on.

    `step` is the first wrong step, from 0; None for a sound path, and where an unsound one has no
    step named. A path of n steps that all hold while the answer does not follow is wrong at n:
    the answer is the position after the last step.
    """

    sound: bool
    step: int | None = None


@dataclass(frozen=True, slots=True)
class FirstWrongStep:
    """Agreement of two raters on the first wrong step.

    Attributes
    ----------
    exact
        Of the paths on which both name a step, the share with the same one.
    within_one
        The same, one step earlier or later included.
    kappa
        Cohen's kappa on sound against unsound, over the n paths.
    agreed
        Share of all paths with the same outcome: both sound, or both the same step. Paths that
        both call unsound while one names no step are left out.
    n
        Paths both labelled.
    n_both_sound, n_both_wrong, n_only_first_sound, n_only_second_sound
        How they split; the four add to n.
    n_unnamed
        Of the paths both call unsound, those where at least one names no step.
    dropped
        Paths without a label from both.
    """

    exact: Proportion
    within_one: Proportion
    kappa: Kappa
    agreed: Proportion
    n: int
    n_both_sound: int
    n_both_wrong: int
    n_only_first_sound: int
    n_only_second_sound: int
    n_unnamed: int
    dropped: int


def first_wrong_step(
    a: Iterable[StepLabel | None], b: Iterable[StepLabel | None], *, level: float = 0.95
) -> FirstWrongStep:
    """Agreement of two raters on whether, and from which step on, a path is wrong.

    Parameters
    ----------
    a, b : iterable of StepLabel, length n_items
        The raters' labels, path by path; None = no label.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    FirstWrongStep
        Shares are undefined, with the reason, where there is nothing to count.

    Raises
    ------
    ValueError
        For different numbers of paths, a step below 0, or a step on a sound path.

    Notes
    -----
    The answer counts as the position after the last step, so that "the last step" and "the
    answer" are one apart.

    `exact` and `within_one` condition on both calling the path unsound, so two raters who agree
    on everything sound are not credited with finding steps; read them beside `kappa`.

    Examples
    --------
    >>> a = [StepLabel(False, 2), StepLabel(False, 4), StepLabel(True), StepLabel(True)]
    >>> b = [StepLabel(False, 2), StepLabel(False, 3), StepLabel(True), StepLabel(False, 0)]
    >>> r = first_wrong_step(a, b)
    >>> r.exact.value, r.within_one.value, r.n_both_sound, r.kappa.value
    (0.5, 1.0, 1, 0.5)
    """
    first, second = _checked(a, "rater 1"), _checked(b, "rater 2")
    if len(first) != len(second):
        raise ValueError(
            f"rater 1 has {len(first)} paths and rater 2 has {len(second)}: give one label per "
            "path, None where a rater has none"
        )
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x and y]
    wrong = [(x.step, y.step) for x, y in pairs if not x.sound and not y.sound]
    gaps = [abs(x - y) for x, y in wrong if x is not None and y is not None]
    sound = sum(x.sound and y.sound for x, y in pairs)
    unnamed = len(wrong) - len(gaps)
    same = gaps.count(0)
    return FirstWrongStep(
        exact=wilson(same, len(gaps), level=level),
        within_one=wilson(sum(g <= 1 for g in gaps), len(gaps), level=level),
        kappa=cohen_kappa(
            [x.sound for x, _ in pairs],
            [y.sound for _, y in pairs],
            categories=[False, True],
            level=level,
        ),
        agreed=wilson(sound + same, len(pairs) - unnamed, level=level),
        n=len(pairs),
        n_both_sound=sound,
        n_both_wrong=len(wrong),
        n_only_first_sound=sum(x.sound and not y.sound for x, y in pairs),
        n_only_second_sound=sum(y.sound and not x.sound for x, y in pairs),
        n_unnamed=unnamed,
        dropped=len(first) - len(pairs),
    )


def _checked(labels: Iterable[StepLabel | None], rater: str) -> list[StepLabel | None]:
    """Refuse a step that is none, and one on a sound path."""
    out = [None if label is None else StepLabel(*label) for label in labels]
    for i, label in enumerate(out):
        if label is None or label.step is None:
            continue
        if label.sound:
            raise ValueError(
                f"path {i} of {rater} is sound and has first wrong step {label.step}: "
                "a sound path has none"
            )
        if isinstance(label.step, bool) or not isinstance(label.step, int) or label.step < 0:
            raise ValueError(
                f"path {i} of {rater} has first wrong step {label.step!r}: steps count from 0"
            )
    return out
