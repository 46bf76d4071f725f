"""Figures beside a comparison: what depresses κ, and how many more labels an interval takes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import NormalDist
from typing import Any

from scoring.agreement import (
    AgreementSummary,
    ConfusionTable,
    Kappa,
    KappaBootstrap,
    MultiRater,
)

GOOD = 0.4
"""The κ that agreement must come to without prevalence: below it there is little to explain."""
BITES = 0.1
"""By so much κ must lie below what the same agreement is worth without the prevalence."""
LOPSIDED = 0.6
"""Of more than two categories, one must have this share of the labels to be called prevalent."""
HALF_WIDTH = 0.1
"""The half-width planned for where none is given."""
NAMED_WEIGHTS = ("linear", "quadratic", "ordinal")


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """How many labels an interval of κ takes, from what is there.

    `n` labels are there and give κ ± `half_width_now`; `needed` in all give ± `half_width`, if the
    next ones are like these. `by_question` says whether the larger error, that of questions in
    place of items, was what counts.
    """

    n: int
    kappa: float
    half_width: float
    half_width_now: float
    needed: int
    by_question: bool

    @property
    def more(self) -> int:
        """Labels still to make."""
        return max(self.needed - self.n, 0)


def more_labels(
    kappa: Kappa, half_width: float = HALF_WIDTH, clustered: KappaBootstrap | None = None
) -> MoreLabels | str:
    """Return how many more labels an interval of κ takes, or why that cannot be said.

    The variance falls with 1/n, so n (h₀/h)² labels turn the half-width h₀ of now into h. h₀ is
    1.96 times the larger of κ's standard error and that of the bootstrap over questions. No
    assumption on prevalence or bias enters but that the next items are like these.

    Raises
    ------
    ValueError
        When the half-width is not above 0.
    """
    if not half_width > 0:
        raise ValueError(f"the half-width is {half_width}: above 0 is right, e.g. 0.1")
    if kappa.value is None:
        return f"κ is undefined: {kappa.why_undefined}"
    by_item, by_question = kappa.se or 0.0, (clustered.se if clustered else None) or 0.0
    now = NormalDist().inv_cdf(0.975) * max(by_item, by_question)
    if now == 0:
        return (
            "the labels show no error to plan from: medoid agreement --plan --kappa K plans ahead"
        )
    needed = ceil(kappa.n * (now / half_width) ** 2)
    return MoreLabels(kappa.n, kappa.value, half_width, now, needed, by_question > by_item)


def paradox(
    table: ConfusionTable, kappa: Kappa, summary: AgreementSummary, ac1: MultiRater
) -> str | None:
    """Say in words that prevalence depresses κ, where it does; None where it does not.

    For two categories κ = (PABAK − PI² + BI²)/(1 − PI² + BI²), so the κ that the same observed
    agreement and the same bias have without prevalence is (PABAK + BI²)/(1 + BI²). For more there
    is no such form: where one category has `LOPSIDED` of all labels, AC1 stands in its place. What
    would be below `GOOD` without prevalence too is poor agreement, and no paradox.
    """
    if kappa.value is None or summary.pabak is None or not table.n:
        return None
    shares = (table.table.sum(axis=0) + table.table.sum(axis=1)) / (2 * table.n)
    top = int(shares.argmax())
    if summary.bias_index is not None:
        squared = summary.bias_index**2
        without, named = (summary.pabak + squared) / (1 + squared), "were both equally frequent"
    elif ac1.value is not None and shares[top] >= LOPSIDED:
        without, named = ac1.value, "judged by AC1"
    else:
        return None
    if without - kappa.value < BITES or without < GOOD:
        return None
    return (
        f"the prevalence paradox: {100 * shares[top]:.0f} % of all labels are "
        f"{table.categories[top]}, so chance alone agrees on {100 * (kappa.expected or 0):.0f} %. "
        f"The same {100 * (kappa.observed or 0):.0f} % agreement, {named}, would be "
        f"{without:.2f} in place of {kappa.value:.2f}. κ is not wrong: on so lopsided items little "
        f"beyond chance is shown. Report it with PABAK and AC1, and label more items of the rarer "
        "categories before you call the raters poor"
    )


def read_weights(given: str | None, n_categories: int | None = None) -> Any:
    """Return weights of κ by name, or the matrix in a CSV file, None for none.

    Raises
    ------
    ValueError
        When it is no name and no file, or the file no matrix of numbers.
    """
    if given is None or given in NAMED_WEIGHTS:
        return given
    path = Path(given)
    if not path.is_file():
        raise ValueError(
            f"--weights is {given!r}; linear, quadratic, ordinal or a CSV file with a matrix of "
            "similarities is right"
        )
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    matrix = [_numbers(path, number, row) for number, row in enumerate(rows, start=1)]
    size = n_categories if n_categories is not None else len(matrix)
    if len(matrix) != size or any(len(row) != size for row in matrix):
        raise ValueError(
            f"{path}: {len(matrix)} rows; the categories are {size}, so {size} × {size} similarities "
            "from 0 to 1 are right, in the categories' order, without a header"
        )
    return matrix


def _numbers(path: Path, number: int, row: Sequence[str]) -> list[float]:
    try:
        return [float(cell) for cell in row]
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}; numbers from 0 to 1 are right") from error
