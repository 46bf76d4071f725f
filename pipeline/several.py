"""Agreement of more than two raters, from a project or a plain table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.laying import Laid
from scoring.agreement import (
    AlphaBootstrap,
    MultiRater,
    RatingTable,
    alpha_bootstrap,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
)

MEASURES = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class SeveralReport:
    """Coefficients over all raters at once.

    `n_rated` items carry the label of two raters or more, `n_all` of every rater. `fleiss` is over
    all items with a label; where items have unequally many, it is Gwet's extension. `ac2` is None
    without weights.
    """

    raters: tuple[str, ...]
    measure: str
    n_rated: int
    n_all: int
    fleiss: MultiRater
    alpha: AlphaBootstrap
    ac1: MultiRater
    ac2: MultiRater | None


def several(
    raters: Sequence[str],
    ratings: Sequence[Sequence[Any]],
    categories: Sequence[Any],
    *,
    declared: bool = True,
    measure: str = "nominal",
    weights: Any = None,
    clusters: Sequence[str] | None = None,
) -> SeveralReport:
    """Return the coefficients of several raters (raters × items, None = no label).

    Raises
    ------
    ValueError
        For an unknown level of measurement, one that needs the categories' order where none is
        declared, or labels that are no numbers on an interval or ratio scale.
    """
    if measure not in MEASURES:
        raise ValueError(f"--measure is {measure!r}; one of {', '.join(MEASURES)} is right")
    numeric = all(isinstance(c, int | float) for c in categories)
    if measure == "ordinal" and not declared and not numeric:
        raise ValueError("--measure ordinal needs the categories' order: declare --categories")
    if measure in ("interval", "ratio") and not numeric:
        raise ValueError(f"--measure {measure} needs numbers as labels")
    counts = np.zeros((len(ratings[0]), len(categories)), dtype=np.int64)
    index = {c: i for i, c in enumerate(categories)}
    for row in ratings:
        for item, label in enumerate(row):
            if label is not None:
                counts[item, index[label]] += 1
    labels = counts.sum(axis=1)
    return SeveralReport(
        raters=tuple(raters),
        measure=measure,
        n_rated=int((labels >= 2).sum()),
        n_all=int((labels == len(raters)).sum()),
        fleiss=fleiss_kappa(counts),
        alpha=alpha_bootstrap(
            ratings,
            level=measure,  # type: ignore[arg-type]  # checked above
            categories=categories if measure == "ordinal" else None,
            clusters=clusters,
        ),
        ac1=gwet_ac1(ratings, categories=categories or None),
        ac2=None
        if weights is None
        else gwet_ac2(ratings, weights=weights, categories=categories or None),
    )


def several_of_table(
    table: RatingTable, *, measure: str = "nominal", weights: Any = None
) -> SeveralReport:
    """Return the coefficients of all raters of a plain table."""
    return several(
        table.raters,
        table.ratings,
        table.categories,
        declared=table.declared,
        measure=measure,
        weights=weights,
    )


def several_of(laid: Laid, *, measure: str = "nominal", weights: Any = None) -> SeveralReport:
    """Return the coefficients of all raters of a `Laid`; questions are the clusters."""
    names = [r.name for r in laid.raters]
    return several(
        names,
        [laid.categories(name) for name in names],
        laid.names,
        measure=measure,
        weights=weights,
        clusters=laid.questions,
    )
