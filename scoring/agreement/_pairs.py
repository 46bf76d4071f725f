"""Human and judge labels item by item, read against one category: positive or not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.agreement._clusters import cluster_list, numbered
from scoring.agreement._coding import Category, IntArray, plain, plain_list
from scoring.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedItems:
    """The items the judge gave a verdict on.

    Attributes
    ----------
    truth
        1 = the human says positive, 0 = not; 0 where `labelled` is False.
    verdict
        1 = the judge says positive, 0 = not.
    labelled
        Whether the human labelled the item.
    weight
        1/inclusion probability of labelled items, 1 without a design; 0 elsewhere.
    codes
        Number of the item's cluster.
    dropped
        Items without a verdict, labelled or not.
    """

    truth: FloatArray
    verdict: FloatArray
    labelled: NDArray[np.bool_]
    weight: FloatArray
    codes: IntArray
    dropped: int


def judged_items(
    human: Iterable[Category | None],
    judge: Iterable[Category | None],
    *,
    positive: Category,
    clusters: Iterable[Hashable] | None,
    inclusion: Iterable[float | None] | None,
) -> JudgedItems:
    """Check human and judge labels of the same items and read them against one category.

    Raises
    ------
    ValueError
        When lengths differ, nobody uses a category that reads like `positive` but differs in
        type, or a labelled item's inclusion probability is not above 0 and at most 1.
    """
    truth, verdict = plain_list(human), plain_list(judge)
    if len(truth) != len(verdict):
        raise ValueError(
            f"the human has {len(truth)} labels and the judge {len(verdict)}: give one per item, "
            "None where there is none"
        )
    wanted = positive_category(positive, truth, verdict)
    groups = cluster_list(clusters, len(truth))
    kept = [i for i, v in enumerate(verdict) if v is not None]
    labelled = np.array([truth[i] is not None for i in kept], dtype=bool)
    weight = np.zeros(len(kept))
    used = [i for i in kept if truth[i] is not None]
    weight[labelled] = 1 if inclusion is None else inclusion_weights(inclusion, used, len(truth))
    return JudgedItems(
        truth=np.array([truth[i] == wanted for i in kept], dtype=np.float64),
        verdict=np.array([verdict[i] == wanted for i in kept], dtype=np.float64),
        labelled=labelled,
        weight=weight,
        codes=numbered(groups[i] for i in kept),
        dropped=len(verdict) - len(kept),
    )


def positive_category(positive: Category, *raters: list[Any]) -> Category:
    """Check that the positive category is one, of the type the raters use."""
    wanted = plain(positive)
    if wanted is None:
        raise ValueError("positive is None: name the category whose rate is meant")
    for rater in raters:
        for i, label in enumerate(rater):
            if label is not None and label != wanted and str(label) == str(wanted):
                raise ValueError(
                    f"positive is {wanted!r} ({type(wanted).__name__}) but item {i} has {label!r} "
                    f"({type(label).__name__}): give both the same type"
                )
    return wanted  # type: ignore[no-any-return]


def inclusion_weights(
    inclusion: Iterable[float | None], used: list[int], n_items: int
) -> FloatArray:
    """Return 1/inclusion probability of the used items.

    Raises
    ------
    ValueError
        When there is not one probability per item, or a used item's is not above 0 and at most 1.
    """
    given = [plain(p) for p in inclusion]
    if len(given) != n_items:
        raise ValueError(f"inclusion has {len(given)} entries for {n_items} items: one per item")
    for i in used:
        p = given[i]
        if isinstance(p, bool) or not isinstance(p, Real) or not 0 < float(p) <= 1:
            raise ValueError(
                f"inclusion[{i}] is {p!r}: the probability with which a labelled item was drawn "
                "is above 0 and at most 1"
            )
    return np.array([1 / given[i] for i in used], dtype=np.float64)
