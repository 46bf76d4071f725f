"""Original against mutated problems: what a model loses when it cannot remember the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.deduction.cells import Cell
from scoring.deduction.consistency import DedCons, ded_cons


@dataclass(frozen=True, slots=True)
class FinalAccuracy:
    """Share of right final answers: `right` of `n`; the value None when n is 0."""

    value: float | None
    right: int
    n: int


@dataclass(frozen=True, slots=True)
class MemorisationGap:
    """The same cells on the original problems and on their mutations.

    Attributes
    ----------
    original, mutated
        Deductive consistency on each.
    hop_gaps
        Hop mean on the original minus that on the mutations, in [-1, 1]; positive = better where
        the model may remember. None where a side has no mean.
    final_original, final_mutated
        Final accuracy with the prefix length asked for.
    final_gap
        Their difference, None when either is undefined.
    problems
        Problems compared.
    dropped_original, dropped_mutated
        Cells left out because the other side lacks that problem, prefix and variable.
    """

    original: DedCons
    mutated: DedCons
    hop_gaps: tuple[float | None, ...]
    final_original: FinalAccuracy
    final_mutated: FinalAccuracy
    final_gap: float | None
    problems: int
    dropped_original: int
    dropped_mutated: int


def final_accuracy(cells: Iterable[Cell], *, k: int = 0) -> FinalAccuracy:
    """Return the share of responses whose final answer is right.

    Parameters
    ----------
    cells
        Only those marked final, with this k, count; a missing answer is wrong.
    k
        Steps given; 0 = the model solves the whole problem.

    Returns
    -------
    FinalAccuracy

    Examples
    --------
    >>> final_accuracy([Cell(0, 3, True, final=True), Cell(0, 3, None, final=True)]).value
    0.5
    """
    flags = [c.right is True for c in cells if c.final and c.k == k]
    return FinalAccuracy(sum(flags) / len(flags) if flags else None, sum(flags), len(flags))


def memorisation_gap(
    original: Sequence[Cell], mutated: Sequence[Cell], *, final_k: int = 0, **options: Any
) -> MemorisationGap:
    """Compare a model's consistency on original problems with that on their mutations.

    Parameters
    ----------
    original
        Cells of the responses to the original problems.
    mutated
        Cells of the responses to the mutations.
    final_k
        Prefix length at which final answers are compared.
    **options
        Passed to `ded_cons`.

    Returns
    -------
    MemorisationGap

    Notes
    -----
    Only cells whose problem, prefix and variable occur on both sides count, so the two sides
    differ in the numbers of the problem and nothing else.

    References
    ----------
    Paper C, section 5.3 (H0).

    Examples
    --------
    >>> one = [Cell(1, 1, True, "c", "p"), Cell(1, 2, True, "e", "p", final=True)]
    >>> two = [Cell(1, 1, True, "c", "p", 1), Cell(1, 2, False, "e", "p", 1, final=True)]
    >>> memorisation_gap(one, two, final_k=1).final_gap
    1.0
    """
    common = {_place(c) for c in original} & {_place(c) for c in mutated}
    ours = [c for c in original if _place(c) in common]
    theirs = [c for c in mutated if _place(c) in common]
    a, b = ded_cons(ours, **options), ded_cons(theirs, **options)
    gaps = tuple(
        None if x.mean is None or y.mean is None else x.mean - y.mean
        for x, y in zip(a.hops, b.hops, strict=False)
    )
    first, second = final_accuracy(ours, k=final_k), final_accuracy(theirs, k=final_k)
    undefined = first.value is None or second.value is None
    return MemorisationGap(
        original=a,
        mutated=b,
        hop_gaps=gaps,
        final_original=first,
        final_mutated=second,
        final_gap=None if undefined else (first.value or 0.0) - (second.value or 0.0),
        problems=len({c.problem for c in ours}),
        dropped_original=len(original) - len(ours),
        dropped_mutated=len(mutated) - len(theirs),
    )


def _place(cell: Cell) -> tuple[str, int, str, int]:
    return cell.problem, cell.k, cell.variable, cell.l
