"""Figures beside a comparison: what depresses κ, and how many more labels an interval takes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.agreement import (
    AgreementSummary,
    ConfusionTable,
    Kappa,
    MultiRater,
    expected_half_width,
    labels_needed,
)

BITES = 0.1
"""By so much κ must lie below what the same agreement is worth without the prevalence."""
HALF_WIDTH = 0.1
"""The half-width planned for where none is given."""
NAMED_WEIGHTS = ("linear", "quadratic", "ordinal")


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """How many labels an interval of κ takes, from what is there.

    `n` labels are there; with `kappa` and `prevalence` as found they give about `half_width_now`;
    `needed` in all give `half_width`. Each figure is for independent items.
    """

    n: int
    kappa: float
    prevalence: float
    half_width: float
    half_width_now: float
    needed: int

    @property
    def more(self) -> int:
        """Labels still to make."""
        return max(self.needed - self.n, 0)


def more_labels(
    table: ConfusionTable, kappa: Kappa, half_width: float = HALF_WIDTH
) -> MoreLabels | str:
    """Return how many more labels an interval of κ takes, or why that cannot be said.

    Two categories only. The prevalence is the mean of the two raters' shares of the rarer one.

    Raises
    ------
    ValueError
        When the half-width is not above 0.
    """
    if not half_width > 0:
        raise ValueError(f"the half-width is {half_width}: above 0 is right, e.g. 0.1")
    if len(table.categories) != 2:
        return f"planning is for two categories; here are {len(table.categories)}"
    if kappa.value is None:
        return f"κ is undefined: {kappa.why_undefined}"
    rows, columns = table.table.sum(axis=1), table.table.sum(axis=0)
    share = float(rows[0] + columns[0]) / (2 * table.n)
    try:
        needed = labels_needed(kappa.value, half_width, share)
        now = expected_half_width(max(table.n, 2), kappa.value, share)
    except ValueError as error:  # κ = 1, or one that raters of one prevalence cannot have
        return str(error)
    return MoreLabels(table.n, kappa.value, min(share, 1 - share), half_width, now, needed)


def paradox(
    table: ConfusionTable, kappa: Kappa, summary: AgreementSummary, ac1: MultiRater
) -> str | None:
    """Say in words that prevalence depresses κ, where it does; None where it does not.

    For two categories κ = (PABAK − PI² + BI²)/(1 − PI² + BI²), so the κ that the same observed
    agreement and the same bias have without prevalence is (PABAK + BI²)/(1 + BI²). For more there
    is no such form, and AC1 stands in its place.
    """
    if kappa.value is None or summary.pabak is None or not table.n:
        return None
    shares = (table.table.sum(axis=0) + table.table.sum(axis=1)) / (2 * table.n)
    top = int(shares.argmax())
    if summary.bias_index is not None:
        squared = summary.bias_index**2
        without, named = (summary.pabak + squared) / (1 + squared), "were both equally frequent"
    elif ac1.value is not None:
        without, named = ac1.value, "judged by AC1"
    else:
        return None
    if without - kappa.value < BITES:
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
