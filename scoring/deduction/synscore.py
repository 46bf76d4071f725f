"""Scores of SynDeduct responses: exact, and within the tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.deduction.cells import Cell
from scoring.deduction.exact import Number, within
from scoring.deduction.syndeduct import TOLERANCE, SynQuestion


@dataclass(frozen=True, slots=True)
class SynScore:
    """Cells of responses under both rules.

    Attributes
    ----------
    exact
        A value counts when it is equal.
    within
        A value counts within the tolerance.
    """

    exact: tuple[Cell, ...]
    within: tuple[Cell, ...]


def score_synthetic(
    questions: Sequence[SynQuestion],
    stated: Sequence[Mapping[str, Number | None]],
    *,
    tolerance: Number = TOLERANCE,
) -> SynScore:
    """Score responses to SynDeduct questions, exactly and within the tolerance.

    Parameters
    ----------
    questions
    stated
        For each, the values the response states; None or absent = it states none.
    tolerance
        Allowed share of the expected value.

    Returns
    -------
    SynScore
        Hop h is scored on every question of length >= h.

    Raises
    ------
    ValueError
        When the two have different lengths.

    Examples
    --------
    >>> from scoring.deduction.syndeduct import synthesize
    >>> q = synthesize(1, prefixes=[1], lengths=[1], per_cell=1)
    >>> score_synthetic(q, [{q[0].target: q[0].values[q[0].target]}]).exact[0].right
    True
    """
    if len(questions) != len(stated):
        raise ValueError(f"{len(questions)} questions but {len(stated)} responses")
    rows: list[list[Cell]] = [[], []]
    for q, values in zip(questions, stated, strict=True):
        for name, hop in q.hops.items():
            value = values.get(name)
            for cells, share in zip(rows, (0, tolerance), strict=True):
                right = None if value is None else within(value, q.values[name], share)
                cells.append(Cell(q.k, hop, right, name, q.id, final=name == q.target))
    return SynScore(tuple(rows[0]), tuple(rows[1]))
