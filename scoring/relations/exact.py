"""The minimum feedback arc set by integer programming, with proved bounds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from scoring.relations._edges import (
    BoolArray,
    IntArray,
    against,
    closure,
    components,
    sorted_topologically,
)
from scoring.relations._programs import INFEASIBLE, binary_program, linear_program, sparse
from scoring.relations.order import component_order, fixed_weights, local_order, local_search
from scoring.types import FloatArray

_TRIANGLES_AT_MOST = 6000
_SHARE = 0.97
"""Of the time given, for the solver sees the clock only now and then."""
_EPS = 1e-6
_HOP = 1e-5
"""Added to each edge's length so that, among equally violated cycles, short ones are cut."""


@dataclass(frozen=True, slots=True)
class ExactOrder:
    """An order, how many edges go against it, and how few any order must have.

    Attributes
    ----------
    order
        Objects from first to last.
    reverse
        Edges against the order (an upper bound of the minimum).
    lower_bound
        Proved: no order that keeps the trusted edges has fewer.
    proved
        Whether the two are equal.
    """

    order: tuple[int, ...]
    reverse: int
    lower_bound: int
    proved: bool


def exact_order(counts: IntArray, known: BoolArray, time_limit: float) -> ExactOrder:
    """Return an order with the fewest reverse edges, or bounds when time runs out.

    Parameters
    ----------
    counts : ndarray, shape (n, n)
        ``counts[u, v]`` = answers "u before v".
    known : ndarray of bool, shape (n, n)
        Closure of the trusted edges, acyclic; the order keeps them.
    time_limit : float
        Seconds, positive.

    Returns
    -------
    ExactOrder

    Notes
    -----
    Opposite answers cancel: min(c_uv, c_vu) of each pair is reverse in every order. What is left,
    w_uv = c_uv - c_vu > 0, falls apart into strongly connected components, each solved alone:
    minimise Σ w_e y_e, y binary, with Σ_{e in C} y_e >= 1 for every cycle C, added when violated.
    The linear relaxation comes first (its value, rounded up to the weights' common divisor, is a
    bound, and its reduced costs fix variables), then branch and bound asks for something strictly
    better than the best order known, which local search keeps improving. The clock decides only
    when to stop: a proved result does not depend on it.
    """
    deadline = time.monotonic() + _SHARE * time_limit
    free = ~(known | known.T)
    forced = int(counts[known.T].sum())
    both = int(np.minimum(counts, counts.T)[free].sum()) // 2
    net = np.where(free, np.maximum(counts - counts.T, 0), 0)
    reach = closure((net > 0) | known)
    best = local_order(counts, known)
    bound = forced + both
    for block in components(reach):
        if len(block) > 1:
            part = _Component(net[np.ix_(block, block)], known[np.ix_(block, block)])
            inside = set(block)
            kept = [v for v in best if v in inside]
            place = {v: k for k, v in enumerate(block)}
            part.solve([place[v] for v in kept], deadline)
            bound += part.lower
            best = _spliced(best, [block[k] for k in part.order])
    best = _component_sorted(best, reach)
    reverse = against(counts, best)
    return ExactOrder(tuple(best), reverse, bound, reverse == bound)


def _spliced(order: Sequence[int], block_order: Sequence[int]) -> list[int]:
    """Return the order with the block's members rearranged among the places they hold."""
    members, turn = set(block_order), iter(block_order)
    return [next(turn) if v in members else v for v in order]


def _component_sorted(order: Sequence[int], reach: BoolArray) -> list[int]:
    """Sort so that edges between components go forward and each component keeps its inner order."""
    where = {v: float(k) for k, v in enumerate(order)}
    blocks = components(reach)
    between = np.zeros((len(blocks), len(blocks)), dtype=bool)
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks):
            between[i, j] = i != j and bool(reach[a[0], b[0]])
    ranked = sorted_topologically(between, [(min(where[v] for v in b),) for b in blocks])
    return [v for k in ranked for v in sorted(blocks[k], key=where.__getitem__)]


@dataclass
class _Component:
    """One strongly connected component while it is being solved; weights divided by their gcd."""

    net: IntArray
    known: BoolArray
    order: list[int] = field(default_factory=list)
    lower: int = 0
    """Proved lower bound, in edges."""

    def __post_init__(self) -> None:
        self.n = len(self.net)
        self.tails, self.heads = np.nonzero(self.net)
        weights = self.net[self.tails, self.heads]
        self.unit = math.gcd(*weights.tolist())
        self.weights = (weights // self.unit).astype(np.float64)
        self.index = np.full((self.n, self.n), -1, dtype=np.int64)
        self.index[self.tails, self.heads] = np.arange(len(self.tails))
        self.fixed = fixed_weights(self.net, self.known)
        self.cycles: list[tuple[int, ...]] = []
        self.seen: set[frozenset[int]] = set()
        self.upper = 0

    def solve(self, start: Sequence[int], deadline: float) -> None:
        """Find the best order and the bound, until proved or out of time."""
        self._offer(local_search(self.fixed, start))
        self._offer(local_search(self.fixed, component_order(self.net, self.known)))
        self._add(self._triangles())
        self._add(self._violated(np.zeros(len(self.weights))))
        reduced = self._relax(deadline)
        if self.lower < self.upper and reduced is not None:
            self._branch(reduced, deadline)
        self.lower *= self.unit

    def _offer(self, order: list[int]) -> None:
        """Keep the order if it is the best so far; `upper` counts in units of the gcd."""
        cost = against(self.net, order) // self.unit
        if not self.order or cost < self.upper:
            self.order, self.upper = order, cost

    def _triangles(self) -> Iterable[tuple[int, ...]]:
        """Yield directed triangles of answers as edge indices, up to a fixed number."""
        has = self.index >= 0
        found = 0
        for e, (u, v) in enumerate(zip(self.tails.tolist(), self.heads.tolist(), strict=True)):
            for w in np.flatnonzero(has[v] & has[:, u]).tolist():
                if u < v and u < w:
                    yield (e, int(self.index[v, w]), int(self.index[w, u]))
                    found += 1
                    if found == _TRIANGLES_AT_MOST:
                        return

    def _add(self, cycles: Iterable[tuple[int, ...]]) -> int:
        before = len(self.cycles)
        for cycle in cycles:
            key = frozenset(cycle)
            if key not in self.seen:
                self.seen.add(key)
                self.cycles.append(cycle)
        return len(self.cycles) - before

    def _violated(self, y: FloatArray) -> Iterable[tuple[int, ...]]:
        """Yield, per edge, a shortest cycle through it whose y sum to less than 1."""
        length = np.full((self.n, self.n), np.inf)
        length[self.known] = _HOP
        length[self.tails, self.heads] = np.maximum(y, 0.0) + _HOP
        distance, step = _shortest_paths(length)
        through = distance[self.heads, self.tails] + length[self.tails, self.heads]
        for e in np.flatnonzero(through < 1.0 - 1e-4).tolist():
            path = _walk(step, int(self.heads[e]), int(self.tails[e]))
            edges = [e, *(int(self.index[a, b]) for a, b in pairwise(path))]
            cycle = tuple(k for k in edges if k >= 0)
            if y[list(cycle)].sum() < 1.0 - _EPS:
                yield cycle

    def _matrix(self, columns: IntArray) -> Any:
        """Return the cycle constraints over the given edges as a sparse matrix."""
        place = np.full(len(self.weights), -1, dtype=np.int64)
        place[columns] = np.arange(len(columns))
        sizes = [len(c) for c in self.cycles]
        rows = np.repeat(np.arange(len(sizes)), sizes)
        at = place[np.array([k for c in self.cycles for k in c], dtype=np.int64)]
        keep = at >= 0
        return sparse(rows[keep], at[keep], np.ones(int(keep.sum())), (len(sizes), len(columns)))

    def _relax(self, deadline: float) -> tuple[float, FloatArray] | None:
        """Raise the bound by the linear relaxation; return its value and reduced costs."""
        found: tuple[float, FloatArray] | None = None
        everything = np.arange(len(self.weights))
        limits = [(0.0, 1.0)] * len(everything)
        while self.lower < self.upper and (left := deadline - time.monotonic()) > 0:
            matrix = self._matrix(everything)
            solved = linear_program(self.weights, matrix, np.ones(len(self.cycles)), limits, left)
            if solved.x is None or solved.prices is None:
                break
            found = solved.bound, solved.prices
            self._raise(solved.bound)
            self._round(solved.x)
            if not self._add(self._violated(solved.x)):
                break
        return found

    def _raise(self, bound: float) -> None:
        """Take over a proved bound: costs are whole numbers, and `upper` is one that exists."""
        if math.isfinite(bound):
            self.lower = max(self.lower, min(self.upper, math.ceil(bound - _EPS)))

    def _round(self, y: FloatArray) -> None:
        """Offer the orders that a (fractional) choice of reverse edges suggests."""
        ahead = np.zeros((self.n, self.n))
        ahead[self.tails, self.heads] = 1.0 - y
        ahead[self.heads, self.tails] = y
        scores = ahead.sum(axis=1) - ahead.sum(axis=0)
        priority = [(-float(s), float(v)) for v, s in enumerate(scores)]
        self._offer(local_search(self.fixed, sorted_topologically(self.known, priority)))
        kept = self.known.copy()
        kept[self.tails, self.heads] |= y < 0.5
        order = sorted_topologically(kept, priority)
        if len(order) == self.n:
            self._offer(local_search(self.fixed, order))

    def _branch(self, reduced: tuple[float, FloatArray], deadline: float) -> None:
        """Ask for orders strictly better than the best known until there is none.

        An edge whose reduced cost lifts the relaxation to the best known cost cannot be reverse in
        a better order, so it gets no variable.
        """
        value, prices = reduced
        while self.lower < self.upper and (left := deadline - time.monotonic()) > 0:
            columns = np.flatnonzero(value + prices < self.upper - 1 + _EPS)
            weights = self.weights[columns]
            matrix = self._matrix(columns)
            solved = binary_program(weights, matrix, 1.0, self.upper - 1.0, left)
            if solved.status == INFEASIBLE:
                self.lower = self.upper
                break
            self._raise(solved.bound)
            if solved.x is None:
                break
            y = np.zeros(len(self.weights))
            y[columns] = solved.x
            self._round(y)
            if not self._add(self._violated(y)):
                break


def _shortest_paths(length: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return all shortest distances and, for each pair, the first object after the start."""
    distance = length.copy()
    n = len(length)
    step = np.broadcast_to(np.arange(n), (n, n)).copy()
    for k in range(n):
        via = distance[:, k, None] + distance[k]
        better = via < distance
        distance = np.where(better, via, distance)
        step = np.where(better, step[:, k, None], step)
    return distance, step


def _walk(step: IntArray, start: int, end: int) -> list[int]:
    """Return the objects on the shortest path from start to end, both included."""
    path = [start]
    while path[-1] != end:
        path.append(int(step[path[-1], end]))
    return path
