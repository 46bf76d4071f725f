"""What a reveal does to a person's labels, and how long a label takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np

from scoring.agreement._coding import Category, observed_categories, plain, plain_list
from scoring.agreement.judge import Proportion, wilson


@dataclass(frozen=True, slots=True)
class FlipRates:
    """Labels changed after the judge's verdicts were shown.

    Attributes
    ----------
    toward
        Of the labels that differed from the verdict before the reveal, the share changed to it.
    away
        Of the labels that were the verdict before, the share changed to something else.
    n
        Labels compared; the trials of `toward` and `away` add to it.
    n_other
        Labels that differed before and were changed to a third category; not in `toward`.
    dropped
        Items without a label before the reveal or without a verdict.
    """

    toward: Proportion
    away: Proportion
    n: int
    n_other: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TimeSummary:
    """Seconds of work per label.

    Attributes
    ----------
    median, lower_quartile, upper_quartile
        In seconds; None without a time.
    n
        Labels with a time.
    dropped
        Labels without one.
    why_undefined
        The reason when the median is None, else None.
    """

    median: float | None
    lower_quartile: float | None
    upper_quartile: float | None
    n: int
    dropped: int
    why_undefined: str | None


def flip_rates(
    before: Iterable[Category | None],
    after: Iterable[Category | None],
    judge: Iterable[Category | None],
    *,
    level: float = 0.95,
) -> FlipRates:
    """How often a person changed a label to the judge's, and away from it, after the reveal.

    Parameters
    ----------
    before : iterable of label, length n_items
        The last label before the reveal, of revealed items only; None = none.
    after : iterable of label, length n_items
        The last label after it; None = it was not changed.
    judge : iterable of label, length n_items
        The verdict shown; None = none.
    level : float
        Confidence level of the Wilson intervals.

    Returns
    -------
    FlipRates
        A share is undefined when no label differed from (or equalled) the verdict.

    Raises
    ------
    ValueError
        For different numbers of items, or labels of different types that read the same.

    Notes
    -----
    A change toward the judge need not be deference: the verdict may have been right. `away` and
    `n_other` show how often labels are changed on a second look at all.

    Examples
    --------
    >>> f = flip_rates(["y", "y", "n", "n"], ["n", None, None, "y"], ["n", "n", "n", "n"])
    >>> (f.toward.k, f.toward.n), (f.away.k, f.away.n)
    ((1, 2), (1, 2))
    """
    columns = [plain_list(x) for x in (before, after, judge)]
    lengths = [len(c) for c in columns]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"before, after and judge have {lengths[0]}, {lengths[1]} and {lengths[2]} entries: "
            "give one per item"
        )
    observed_categories(*columns)
    rows = [r for r in zip(*columns, strict=True) if r[0] is not None and r[2] is not None]
    final = [(b, b if a is None else a, j) for b, a, j in rows]
    differed = [(b, a, j) for b, a, j in final if b != j]
    equalled = [(b, a, j) for b, a, j in final if b == j]
    return FlipRates(
        toward=wilson(sum(a == j for _, a, j in differed), len(differed), level=level),
        away=wilson(sum(a != j for _, a, j in equalled), len(equalled), level=level),
        n=len(rows),
        n_other=sum(a not in (b, j) for b, a, j in differed),
        dropped=lengths[0] - len(rows),
    )


def time_summary(seconds: Iterable[float | None]) -> TimeSummary:
    """Median and quartiles of the seconds of work per label.

    Parameters
    ----------
    seconds : iterable of float
        Active seconds of each label; None or NaN = not measured.

    Returns
    -------
    TimeSummary
        Undefined without a time.

    Raises
    ------
    ValueError
        For a time that is negative, infinite or no number.

    Notes
    -----
    Quartiles interpolate linearly between order statistics. The median, not the mean, because a
    person called away leaves a few very long times.

    Examples
    --------
    >>> t = time_summary([10, 12, 20, 31, None])
    >>> t.median, t.lower_quartile, t.upper_quartile, t.n, t.dropped
    (16.0, 11.5, 22.75, 4, 1)
    """
    given = [plain(s) for s in seconds]
    for i, s in enumerate(given):
        if s is None:
            continue
        if isinstance(s, bool) or not isinstance(s, Real) or not isfinite(s) or s < 0:
            raise ValueError(f"time {i} is {s!r}: seconds are a number of at least 0")
    times = [float(s) for s in given if s is not None]
    dropped = len(given) - len(times)
    if not times:
        return TimeSummary(None, None, None, 0, dropped, "no label has a time")
    low, middle, high = np.quantile(times, [0.25, 0.5, 0.75])
    return TimeSummary(float(middle), float(low), float(high), len(times), dropped, None)
