"""The fewest kinship answers to drop so that no contradiction is left, with a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from scoring.relations._programs import binary_program, sparse
from scoring.relations.kin_contradictions import (
    Answers,
    KinshipContradictions,
    Statement,
    kinship_contradictions,
)
from scoring.relations.kin_words import WORDS
from scoring.types import FloatArray


@dataclass(frozen=True, slots=True)
class KinshipRepair:
    """Answers that are dropped, and what is proved of their number.

    Attributes
    ----------
    dropped
        Pairs (a, b) whose answer is dropped, sorted.
    kept
        The answers that stay; `kinship_contradictions` finds nothing among them.
    cost
        How many are dropped.
    lower_bound
        Proved: dropping fewer leaves a contradiction.
    optimal
        Whether the two are equal.
    disjoint
        Contradictions no two of which share an answer, each as its pairs: anyone can check that at
        least so many answers must go.
    """

    dropped: tuple[Statement, ...]
    kept: dict[Statement, str]
    cost: int
    lower_bound: int
    optimal: bool
    disjoint: tuple[tuple[Statement, ...], ...]

    @property
    def gap(self) -> int:
        """Cost - lower_bound."""
        return self.cost - self.lower_bound


def kinship_repair(answers: Answers, *, time_limit: float = 10.0) -> KinshipRepair:
    """Drop the fewest answers so that no triple, pair or person is contradicted.

    Parameters
    ----------
    answers : mapping of (a, b) to word or None
        As `kinship_contradictions` takes them; unusable answers are left out.
    time_limit : float
        Seconds for the search, positive.

    Returns
    -------
    KinshipRepair

    Raises
    ------
    ValueError
        When the time limit is not positive.

    Notes
    -----
    A minimum hitting set: y_s = 1 when answer s is dropped, Σ y over the answers of each
    contradiction >= 1 (three answers of a triple, two of a pair, one of each gender of a person);
    minimise Σ y. What is left contradicts itself in no triple, pair or gender; that some family
    fits all of it is not proved. Words are dropped, not replaced: a contradiction says that one of
    its answers is wrong, seldom what would be right.

    References
    ----------
    Paper B, sections 3 and 4.5 (which mends orders only).

    Examples
    --------
    >>> fixed = kinship_repair({("E", "F"): "husband", ("F", "E"): "husband"})
    >>> fixed.cost, fixed.optimal
    (1, True)
    """
    if not time_limit > 0:
        raise ValueError(f"time_limit is {time_limit}: it must be a positive number of seconds")
    found = kinship_contradictions(answers)
    said = {(a, b): w for (a, b), w in answers.items() if w in WORDS and a != b}
    conflicts = sorted(_conflicts(found))
    disjoint = _disjoint(conflicts)
    chosen = _greedy(conflicts)
    bound = len(disjoint)
    if len(chosen) > bound:
        chosen, bound = _solve(conflicts, chosen, bound, time_limit)
    kept = {p: w for p, w in said.items() if p not in chosen and w is not None}
    return KinshipRepair(
        dropped=tuple(sorted(chosen)),
        kept=kept,
        cost=len(chosen),
        lower_bound=bound,
        optimal=len(chosen) == bound,
        disjoint=disjoint,
    )


def _conflicts(found: KinshipContradictions) -> set[tuple[Statement, ...]]:
    """Return each contradiction as the sorted pairs of its answers."""
    sets = {tuple(sorted(((t.a, t.b), (t.b, t.c), (t.a, t.c)))) for t in found.triples}
    sets |= {tuple(sorted(((p.a, p.b), (p.b, p.a)))) for p in found.pairs}
    for g in found.genders:
        # One answer may call a person male and, by their spouse, another one female: never both
        # of the same person, so the two are always different answers.
        sets |= {tuple(sorted((m, f))) for m, f in product(g.male, g.female) if m != f}
    return sets


def _disjoint(conflicts: list[tuple[Statement, ...]]) -> tuple[tuple[Statement, ...], ...]:
    """Pack contradictions greedily, small ones first."""
    used: set[Statement] = set()
    packed = []
    for one in sorted(conflicts, key=len):
        if used.isdisjoint(one):
            used.update(one)
            packed.append(one)
    return tuple(packed)


def _greedy(conflicts: list[tuple[Statement, ...]]) -> frozenset[Statement]:
    """Drop the answer in most contradictions until none is left, then take back what may stay."""
    left = set(conflicts)
    of: dict[Statement, set[tuple[Statement, ...]]] = {}
    for one in conflicts:
        for s in one:
            of.setdefault(s, set()).add(one)
    chosen: list[Statement] = []
    while left:
        worst = max(sorted(of), key=lambda s: len(of[s]))
        chosen.append(worst)
        for one in list(of[worst]):
            left.discard(one)
            for s in one:
                of[s].discard(one)
    kept = set(chosen)
    for s in chosen:
        if all(kept.intersection(one) - {s} for one in conflicts if s in one):
            kept.discard(s)
    return frozenset(kept)


def _solve(
    conflicts: list[tuple[Statement, ...]],
    chosen: frozenset[Statement],
    bound: int,
    time_limit: float,
) -> tuple[frozenset[Statement], int]:
    """Return the best set of answers found and the proved bound."""
    names = sorted({s for one in conflicts for s in one})
    number = {s: k for k, s in enumerate(names)}
    rows = np.array([r for r, one in enumerate(conflicts) for _ in one], dtype=np.int64)
    columns = np.array([number[s] for one in conflicts for s in one], dtype=np.int64)
    values: FloatArray = np.ones(len(rows), dtype=np.float64)
    matrix = sparse(rows, columns, values, (len(conflicts), len(names)))
    costs: FloatArray = np.ones(len(names), dtype=np.float64)
    solved = binary_program(costs, matrix, 1.0, float(len(chosen)), time_limit)
    if math.isfinite(solved.bound):
        bound = max(bound, math.ceil(solved.bound - 1e-6))
    if solved.x is not None and solved.value is not None and solved.value <= len(chosen):
        chosen = frozenset(names[k] for k in np.flatnonzero(solved.x > 0.5).tolist())
    return chosen, min(bound, len(chosen))
