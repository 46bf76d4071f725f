"""Alignment with the truth by asking few facts and letting transitivity do the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from scoring.relations._edges import (
    BoolArray,
    Edge,
    Edges,
    IntArray,
    checked_edges,
    checked_order,
    checked_size,
    count_matrix,
    positions,
)
from scoring.relations.order import local_order

Until = Literal["consistent", "aligned"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Answers corrected by a few facts.

    Attributes
    ----------
    edges
        The answers after correction, in the order given, self-loops left out.
    order
        The order they fit.
    facts
        True relations (u, v) that were asked for, in the order asked.
    deduced
        Relations that follow from the facts by transitivity, facts left out, sorted.
    facts_asked, edges_deduced, edges_kept
        How many pairs were settled by a fact, by deduction, or left as the model answered them
        (answered pairs only). Table 7's gt, trans and model.
    changed
        Answers that differ from what the model said.
    reverse_left
        Answers still against the order.
    distance
        Pairs that the order and the truth place differently (Kendall distance).
    rounds
        Rounds in which something was asked.
    """

    edges: tuple[Edge, ...]
    order: tuple[int, ...]
    facts: tuple[Edge, ...]
    deduced: tuple[Edge, ...]
    facts_asked: int
    edges_deduced: int
    edges_kept: int
    changed: int
    reverse_left: int
    distance: int
    rounds: int

    @property
    def consistent(self) -> bool:
        """Whether no answer is left against the order."""
        return self.reverse_left == 0

    @property
    def aligned(self) -> bool:
        """Whether the order is the true one."""
        return self.distance == 0


def align(
    edges: Edges, n: int, truth_order: Sequence[int], *, until: Until = "consistent"
) -> Alignment:
    """Correct answers with as few true relations as it takes.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers "u before v" about objects 0..n-1.
    n : int
        Number of objects.
    truth_order : sequence of int
        All objects from first to last.
    until : {"consistent", "aligned"}
        Stop when no answer is against the order (the paper's algorithm 2), or go on until the order
        is the true one.

    Returns
    -------
    Alignment

    Raises
    ------
    ValueError
        When an edge or the truth names other objects, or `until` is unknown.

    Notes
    -----
    Each round: order the objects (insertion local search that keeps what is known); ask the truth
    of each pair with an answer against the order, unless earlier facts imply it; then, for the
    object v* placed furthest from its true place, ask for one pair of true neighbours that the
    order has the wrong way round, next to v* in the direction it must move. What facts imply
    replaces the answers about it. Each round asks at least one new fact, and n - 1 neighbours
    settle everything, so it ends; after the answers are consistent at most n - 1 more facts are
    needed to be aligned.

    References
    ----------
    Paper B, appendix A.5.3, algorithm 2.

    Examples
    --------
    >>> found = align([(0, 1), (1, 2), (2, 0)], 3, [0, 1, 2])
    >>> found.facts, found.edges_kept, found.consistent, found.aligned
    (((0, 2),), 2, True, True)
    >>> align([(1, 0)], 2, [0, 1], until="aligned").facts
    ((0, 1),)
    """
    size = checked_size(n)
    if until not in get_args(Until):
        raise ValueError(f"until is {until!r}: it must be 'consistent' or 'aligned'")
    kept, _ = checked_edges(edges, size)
    state = _State(count_matrix(kept, size), positions(checked_order(truth_order, size, "truth")))
    rounds = 0
    while True:
        order = local_order(state.counts, state.known)
        where = positions(order)
        wrong = [
            (u, v)
            for u, v in zip(*(k.tolist() for k in np.nonzero(state.counts)), strict=True)
            if where[u] > where[v]
        ]
        off = bool((where != state.true).any())
        if not wrong and (until == "consistent" or not off):
            break
        rounds += 1
        for u, v in wrong:
            state.ask(u, v)
        if off and (pair := _misplaced_neighbours(where, state.true)) is not None:
            state.ask(*pair)
    return _result(state, kept, order, rounds)


class _State:
    """Answers with what facts imply already put in, and these facts."""

    def __init__(self, counts: IntArray, true: IntArray) -> None:
        self.counts = counts.copy()
        self.true = true
        self.known: BoolArray = np.zeros_like(counts, dtype=bool)
        self.facts: list[Edge] = []

    def ask(self, u: int, v: int) -> None:
        """Ask the truth about a pair unless it is implied; spread it by transitivity."""
        if self.known[u, v] or self.known[v, u]:
            return
        a, b = (u, v) if self.true[u] < self.true[v] else (v, u)
        self.facts.append((a, b))
        before, after = self.known[:, a].copy(), self.known[b].copy()
        before[a] = after[b] = True
        self.known |= before[:, None] & after
        both = self.counts + self.counts.T
        self.counts = np.where(self.known, both, np.where(self.known.T, 0, self.counts))


def _misplaced_neighbours(where: IntArray, true: IntArray) -> Edge | None:
    """Return a true pair of neighbours that the order inverts, by the object furthest off."""
    away = where - true
    v = int(np.abs(away).argmax())
    if away[v] == 0:
        return None
    by_truth = np.argsort(true)
    place = int(true[v])
    # Placed too late, v must move forward past an object that truly comes after it; somewhere
    # between the two there are neighbours in the wrong order. Likewise the other way round.
    steps = range(place, len(true) - 1) if away[v] > 0 else range(place - 1, -1, -1)
    for k in steps:
        a, b = int(by_truth[k]), int(by_truth[k + 1])
        if where[a] > where[b]:
            return a, b
    return None


def _result(state: _State, kept: tuple[Edge, ...], order: list[int], rounds: int) -> Alignment:
    where = positions(order)
    fixed = tuple((v, u) if state.known[v, u] else (u, v) for u, v in kept)
    known = {(int(u), int(v)) for u, v in zip(*np.nonzero(state.known), strict=True)}
    deduced = tuple(sorted(known - set(state.facts)))
    answered = {frozenset(e) for e in kept}
    first, second = np.triu_indices(len(order), 1)
    inverted = (where[first] < where[second]) != (state.true[first] < state.true[second])
    return Alignment(
        edges=fixed,
        order=tuple(order),
        facts=tuple(state.facts),
        deduced=deduced,
        facts_asked=len(state.facts),
        edges_deduced=len(deduced),
        edges_kept=len(answered - {frozenset(e) for e in known}),
        changed=sum(a != b for a, b in zip(fixed, kept, strict=True)),
        reverse_left=sum(bool(where[u] > where[v]) for u, v in fixed),
        distance=int(inverted.sum()),
        rounds=rounds,
    )
