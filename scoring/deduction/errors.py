"""Errors: groups by accuracy, category rates, the first wrong step, and what followed from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scoring.deduction.arithmetic import run_program
from scoring.deduction.cells import Verdict
from scoring.deduction.exact import Number, exact, within

CATEGORIES = ("calculation", "logical", "understanding")
"""Error categories; a response may have several."""

Origin = Literal["fresh", "propagated", "downstream"]
"""Where a wrong value comes from, see `propagation`."""

_BOUNDS = (Fraction(7, 10), Fraction(4, 10))


@dataclass(frozen=True, slots=True)
class LabelledResponse:
    """One response with its error labels.

    Attributes
    ----------
    wrong
        Whether its final answer is wrong.
    categories
        The errors found in it, empty = none; None = not labelled.
    group
        Group of its problem, 1 to 5.
    """

    wrong: bool
    categories: frozenset[str] | None
    group: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How often one kind of error occurs in one group.

    Attributes
    ----------
    group, category
    count
        Responses with the error.
    n
        Labelled responses.
    rate
        count/n in [0, 1], 0 = never; None when n is 0.
    count_wrong, n_wrong, rate_wrong
        The same over responses whose final answer is wrong.
    unlabelled
        Responses left out because nobody labelled them.
    """

    group: int
    category: str
    count: int
    n: int
    rate: float | None
    count_wrong: int
    n_wrong: int
    rate_wrong: float | None
    unlabelled: int


@dataclass(frozen=True, slots=True)
class Propagation:
    """The wrong values of one response and where they come from.

    Attributes
    ----------
    origins
        For each wrong variable, in solution order: ``fresh`` (nothing it rests on is wrong),
        ``propagated`` (exactly what follows from the response's own earlier values), or
        ``downstream`` (rests on a wrong value, yet does not follow from it either).
    first_wrong_step
        Step (from 1) of the first wrong value; None when no stated value is wrong.
    first_wrong
        Its variable.
    first_missing_step
        Step of the first variable that is not stated, None when all are.
    wrong, propagated
        Counts.
    share
        propagated/wrong in [0, 1): the first error never follows from another. None when nothing
        is wrong.
    """

    origins: Mapping[str, Origin]
    first_wrong_step: int | None
    first_wrong: str | None
    first_missing_step: int | None
    wrong: int
    propagated: int
    share: float | None


def accuracy_group(accuracy: Number) -> int:
    """Return the group of a problem by its accuracy over its mutations.

    Parameters
    ----------
    accuracy
        Share of right final answers, in [0, 1].

    Returns
    -------
    int
        1 when it is 1; 2 in [.7, 1); 3 in [.4, .7); 4 in (0, .4); 5 when it is 0.

    Raises
    ------
    ValueError
        When it is outside [0, 1].

    References
    ----------
    Paper C, section 7.2 (its inequalities are printed the other way round).

    Examples
    --------
    >>> [accuracy_group(a) for a in (1, 0.7, 0.69, 0.1, 0)]
    [1, 2, 3, 4, 5]
    """
    value = exact(accuracy, "accuracy")
    if not 0 <= value <= 1:
        raise ValueError(f"accuracy is {accuracy}: it must be in [0, 1]")
    if value in (0, 1):
        return 5 if value == 0 else 1
    return 2 + sum(value < bound for bound in _BOUNDS)


def error_rates(
    responses: Iterable[LabelledResponse], *, categories: Sequence[str] = CATEGORIES
) -> tuple[ErrorRate, ...]:
    """Return the rate of each kind of error in each group, over both denominators.

    Parameters
    ----------
    responses
    categories
        The kinds, in the order of the result.

    Returns
    -------
    tuple of ErrorRate
        By group, then category; groups without a response are left out.

    Raises
    ------
    ValueError
        When a response has a category that is not listed.

    Notes
    -----
    The paper says it divides by the *wrong* responses of a group; its figures are whole counts of
    the instances of table 17, which group 1 (every answer right) has too. Both are given.

    References
    ----------
    Paper C, section 7.2; tables 5 and 17.

    Examples
    --------
    >>> r = [LabelledResponse(True, frozenset(["logical"]), 4), LabelledResponse(False, frozenset(), 4)]
    >>> [(e.category, e.rate, e.rate_wrong) for e in error_rates(r)][1]
    ('logical', 0.5, 1.0)
    """
    rows = list(responses)
    for row in rows:
        unknown = sorted((row.categories or frozenset()) - set(categories))
        if unknown:
            raise ValueError(f"category {unknown[0]!r} is not one of {', '.join(categories)}")
    groups = sorted({row.group for row in rows})
    return tuple(
        _rate(group, category, [r for r in rows if r.group == group])
        for group in groups
        for category in categories
    )


def propagation(
    source: str,
    inputs: Mapping[str, Number],
    verdicts: Sequence[Verdict],
    *,
    tolerance: Number = 0,
) -> Propagation:
    r"""Tell errors that follow from an earlier wrong value from errors made anew.

    Parameters
    ----------
    source
        The problem's program.
    inputs
        Its injected values.
    verdicts
        The response, from `judge_values`.
    tolerance
        Allowed share between a value and what follows from the response's own earlier values.

    Returns
    -------
    Propagation

    Raises
    ------
    ValueError
        When the program itself is refused.

    Notes
    -----
    For a wrong variable the program runs again with every *other* stated value held as stated. If
    that gives the value the response has, the step was done right on wrong numbers: propagated.
    A program that cannot run on those numbers (a division by zero) makes nothing propagated.

    References
    ----------
    Paper C, section 5.2 (H1) and 7.2.

    Examples
    --------
    >>> from scoring.deduction.cells import judge_values
    >>> v = judge_values({"c": 5, "e": 10}, {"c": 6, "e": 12}, {"c": 1, "e": 2}, 0)
    >>> propagation("c = a + 2\ne = c * 2", {"a": 3}, v).origins
    {'c': 'fresh', 'e': 'propagated'}
    """
    program = run_program(source, inputs)
    if program.refusal is not None:
        raise ValueError(f"the program does not run: {program.refusal}")
    said = {v.variable: v.stated for v in verdicts if v.stated is not None}
    wrong = [v for v in verdicts if v.right is False]
    names = {v.variable for v in wrong}
    origins: dict[str, Origin] = {}
    for v in wrong:
        others = {name: value for name, value in said.items() if name != v.variable}
        again = run_program(source, inputs, held=others).values.get(v.variable)
        follows = again is not None and v.stated is not None and within(v.stated, again, tolerance)
        rests = bool(program.ancestors(v.variable) & (names - {v.variable}))
        origins[v.variable] = "fresh" if not rests else "propagated" if follows else "downstream"
    first = min(wrong, key=lambda v: v.step, default=None)
    count = sum(o == "propagated" for o in origins.values())
    return Propagation(
        origins=origins,
        first_wrong_step=None if first is None else first.step,
        first_wrong=None if first is None else first.variable,
        first_missing_step=min((v.step for v in verdicts if v.right is None), default=None),
        wrong=len(wrong),
        propagated=count,
        share=count / len(wrong) if wrong else None,
    )


def propagation_share(responses: Iterable[Propagation]) -> float | None:
    """Return the share of all wrong values that follow from an earlier wrong one.

    Parameters
    ----------
    responses
        One per response; sums come before the division.

    Returns
    -------
    float or None
        In [0, 1); None when nothing is wrong.

    Examples
    --------
    >>> propagation_share([]) is None
    True
    """
    rows = list(responses)
    wrong = sum(r.wrong for r in rows)
    return sum(r.propagated for r in rows) / wrong if wrong else None


def _rate(group: int, category: str, rows: Collection[LabelledResponse]) -> ErrorRate:
    labelled = [r for r in rows if r.categories is not None]
    has = [r for r in labelled if r.categories is not None and category in r.categories]
    wrong, has_wrong = sum(r.wrong for r in labelled), sum(r.wrong for r in has)
    return ErrorRate(
        group=group,
        category=category,
        count=len(has),
        n=len(labelled),
        rate=len(has) / len(labelled) if labelled else None,
        count_wrong=has_wrong,
        n_wrong=wrong,
        rate_wrong=has_wrong / wrong if wrong else None,
        unlabelled=len(rows) - len(labelled),
    )
