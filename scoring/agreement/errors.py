"""What a judge gets right, category by category, and its two error rates."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from numpy.typing import ArrayLike

from scoring.agreement._coding import Category, Interval, plain
from scoring.agreement.judge import Proportion, wilson
from scoring.agreement.table import ConfusionTable, square_table


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """How well a judge finds one category.

    Attributes
    ----------
    category
        The category.
    precision
        Of the items the judge puts into it, the share the human does too.
    recall
        Of the items the human puts into it, the share the judge does too.
    """

    category: Category
    precision: Proportion
    recall: Proportion


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """A judge's error rates against one human, one category being positive.

    Attributes
    ----------
    positive
        The category that counts as positive; every other one is negative.
    sensitivity
        Of the human-positive items, the share the judge calls positive (TPR).
    specificity
        Of the human-negative items, the share the judge calls negative (TNR).
    balanced_accuracy
        (sensitivity + specificity)/2, 1/2 = no better than chance: the chance that the judge's
        verdicts put a positive item before a negative one, ties broken by a coin. None when either
        is undefined.
    balanced_ci
        Its interval at `level`; None when it is.
    level
        Confidence level.
    """

    positive: Category
    sensitivity: Proportion
    specificity: Proportion
    balanced_accuracy: float | None
    balanced_ci: Interval | None
    level: float


def category_scores(table: ConfusionTable, *, level: float = 0.95) -> tuple[CategoryScore, ...]:
    """Precision and recall of every category, with Wilson intervals.

    Parameters
    ----------
    table : ConfusionTable
        Row = human, column = judge.
    level : float
        Confidence level.

    Returns
    -------
    tuple of CategoryScore
        In the order of the table; a share is undefined where nobody used the category.

    Notes
    -----
    Precision rests on how often each category occurs among the labelled items: after sampling by
    strata it is not that of the population.

    Examples
    --------
    >>> from scoring.agreement import confusion_table
    >>> t = confusion_table(["y", "y", "n", "n"], ["y", "n", "n", "n"])
    >>> [(s.category, s.precision.value, s.recall.value) for s in category_scores(t)]
    [('n', 0.6666666666666666, 1.0), ('y', 1.0, 0.5)]
    """
    t = table.table
    return tuple(
        CategoryScore(
            category=category,
            precision=wilson(int(t[i, i]), int(t[:, i].sum()), level=level),
            recall=wilson(int(t[i, i]), int(t[i].sum()), level=level),
        )
        for i, category in enumerate(table.categories)
    )


def error_rates(table: ConfusionTable, positive: Category, *, level: float = 0.95) -> ErrorRates:
    """Sensitivity and specificity of a judge, with Wilson intervals.

    Parameters
    ----------
    table : ConfusionTable
        Row = human, column = judge.
    positive : label
        The category that counts as positive.
    level : float
        Confidence level.

    Returns
    -------
    ErrorRates
        A rate is undefined without an item of its class.

    Raises
    ------
    ValueError
        When `positive` is not among the categories.

    Notes
    -----
    The interval of the balanced accuracy is Newcombe's square-and-add from the two Wilson
    intervals: lower end b - sqrt((TPR - l1)² + (TNR - l0)²)/2, upper end likewise. Items are
    taken as independent; `design_error_rates` is for questions with several items.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions:
    comparison of eleven methods, Stat. Med. 17.

    Examples
    --------
    >>> from scoring.agreement import confusion_table
    >>> human = ["fail"] * 40 + ["pass"] * 80
    >>> judge = ["fail"] * 30 + ["pass"] * 10 + ["fail"] * 2 + ["pass"] * 78
    >>> r = error_rates(confusion_table(human, judge), "pass")
    >>> r.sensitivity.value, r.specificity.value, round(r.balanced_accuracy, 4)
    (0.975, 0.75, 0.8625)
    """
    wanted = plain(positive)
    if wanted not in table.categories:
        raise ValueError(
            f"positive is {wanted!r}, which is not among the categories {list(table.categories)!r}"
        )
    i = table.categories.index(wanted)
    return binary_error_rates(two_by_two(table, i), wanted, level)


def two_by_two(table: ConfusionTable | ArrayLike, i: int) -> list[list[int]]:
    """Collapse a table to category i against all others: [[hit, missed], [false, right]]."""
    t = square_table(table)
    hit, human, judge = int(t[i, i]), int(t[i].sum()), int(t[:, i].sum())
    return [[hit, human - hit], [judge - hit, int(t.sum()) - human - judge + hit]]


def binary_error_rates(table: list[list[int]], positive: Category, level: float) -> ErrorRates:
    """Error rates of a 2 x 2 table as `two_by_two` gives it."""
    (hit, missed), (false, right) = table
    sensitivity = wilson(hit, hit + missed, level=level)
    specificity = wilson(right, right + false, level=level)
    balanced, interval = None, None
    one, none = sensitivity, specificity
    if one.value is not None and one.ci and none.value is not None and none.ci:
        balanced = (one.value + none.value) / 2
        low = sqrt((one.value - one.ci[0]) ** 2 + (none.value - none.ci[0]) ** 2) / 2
        high = sqrt((one.ci[1] - one.value) ** 2 + (none.ci[1] - none.value) ** 2) / 2
        interval = (balanced - low, balanced + high)
    return ErrorRates(positive, sensitivity, specificity, balanced, interval, level)
