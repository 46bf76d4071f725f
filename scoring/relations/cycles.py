"""What a reviewer is shown: pairs answered both ways, short cycles, and a packing of cycles."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.relations._edges import (
    BoolArray,
    Edge,
    Edges,
    checked_edges,
    checked_order,
    checked_size,
    count_matrix,
    positions,
)
from scoring.relations.order import local_order


@dataclass(frozen=True, slots=True)
class ReviewCycle:
    """One contradiction to be judged.

    Attributes
    ----------
    kind
        "pair": answered both ways; "cycle": three statements or more.
    nodes
        The objects in the cycle's direction, starting with the smallest.
    edges
        Its statements (u, v) = "u before v", edges[k] from nodes[k] to the next.
    reverse
        The statement against the order: the proposed mend.
    breaks
        Cycles of at most three statements that mending `reverse` would break, or of the length of
        this one when it is longer.
    edge_breaks
        The same count for each statement of `edges`, were it the wrong one.
    """

    kind: Literal["pair", "cycle"]
    nodes: tuple[int, ...]
    edges: tuple[Edge, ...]
    reverse: Edge
    breaks: int
    edge_breaks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CycleReview:
    """The reviewer's queue.

    Attributes
    ----------
    items
        Pairs answered both ways, then one shortest cycle through each other reverse statement; each
        kind by falling `breaks`, then length, then objects.
    order
        The order that tells which statements are reverse.
    """

    items: tuple[ReviewCycle, ...]
    order: tuple[int, ...]

    @property
    def pairs(self) -> tuple[ReviewCycle, ...]:
        """The pairs answered both ways."""
        return tuple(i for i in self.items if i.kind == "pair")

    @property
    def cycles(self) -> tuple[ReviewCycle, ...]:
        """The cycles of three statements or more."""
        return tuple(i for i in self.items if i.kind == "cycle")


def review_cycles(edges: Edges, n: int, *, order: Sequence[int] | None = None) -> CycleReview:
    """Choose the contradictions worth a reviewer's time.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers about objects 0..n-1; repeats are one statement, self-loops are dropped.
    n : int
        Number of objects.
    order : sequence of int, optional
        The order that tells which statements are reverse, e.g. that of `inconsistency`; None = by
        local search.

    Returns
    -------
    CycleReview
        Empty when the answers are consistent with the order.

    Raises
    ------
    ValueError
        When an edge names another object or the order is no permutation.

    Notes
    -----
    Cycles are never enumerated: a reverse statement (u, v) gets one shortest path from v back to u.
    It lies in as many 2-cycles as (v, u) was stated, and in Σ_w A_vw A_wu triangles (A = stated or
    not). A reverse statement that lies on no cycle, which a poor order can have, is left out.

    References
    ----------
    Paper B, section 3 (loops indicate inconsistency).

    Examples
    --------
    >>> found = review_cycles([(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)], 4)
    >>> [(i.kind, i.nodes, i.reverse) for i in found.items]
    [('pair', (0, 1), (1, 0)), ('cycle', (1, 2, 3), (3, 1))]
    """
    size = checked_size(n)
    kept, _ = checked_edges(edges, size)
    counts = count_matrix(kept, size)
    known = np.zeros((size, size), dtype=bool)
    ranked = tuple(local_order(counts, known)) if order is None else checked_order(order, size)
    where = positions(ranked)
    stated = counts > 0
    short = _short_cycles(stated)
    items = []
    for u, v in zip(*(k.tolist() for k in np.nonzero(stated)), strict=True):
        if where[u] > where[v]:
            nodes = _shortest_cycle(stated, u, v)
            if nodes:
                items.append(_item(nodes, (u, v), stated, short))
    items.sort(key=lambda i: (i.kind != "pair", -i.breaks, len(i.nodes), i.nodes))
    return CycleReview(tuple(items), ranked)


def _short_cycles(stated: BoolArray) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return, for each (u, v), in how many cycles of at most three statements it would lie."""
    a = stated.astype(np.int64)
    return np.asarray((a @ a + a).T)


def _shortest_cycle(stated: BoolArray, u: int, v: int) -> list[int]:
    """Return u, v and a shortest path of objects from v back to u; empty when there is none."""
    if stated[v, u]:
        return [u, v]
    between = stated[v] & stated[:, u]
    if between.any():
        return [u, v, int(between.argmax())]
    came: dict[int, int] = {v: v}
    queue = deque([v])
    while queue:
        x = queue.popleft()
        if x == u:
            break
        for y in np.flatnonzero(stated[x]).tolist():
            if y not in came:
                came[y] = x
                queue.append(y)
    if u not in came:
        return []
    path = [u]
    while path[-1] != v:
        path.append(came[path[-1]])
    return [u, *path[:0:-1]]


def _item(
    nodes: list[int],
    reverse: Edge,
    stated: BoolArray,
    short: np.ndarray[tuple[int, int], np.dtype[np.int64]],
) -> ReviewCycle:
    first = nodes.index(min(nodes))
    turned = tuple(nodes[first:] + nodes[:first])
    edges = tuple(zip(turned, turned[1:] + turned[:1], strict=True))
    if len(nodes) <= 3:
        breaks = tuple(int(short[e]) for e in edges)
    else:
        breaks = tuple(_paths_back(stated, u, v, len(nodes) - 1) for u, v in edges)
    kind: Literal["pair", "cycle"] = "pair" if len(nodes) == 2 else "cycle"
    return ReviewCycle(kind, turned, edges, reverse, breaks[edges.index(reverse)], breaks)


def _paths_back(stated: BoolArray, u: int, v: int, length: int) -> int:
    """Return how many cycles of length + 1 statements through (u, v) are shortest ones.

    A walk of the shortest length from v to u repeats no object; when a shorter way back exists, the
    cycles through that one are counted instead.
    """
    walks = np.zeros(len(stated), dtype=np.int64)
    walks[v] = 1
    for _ in range(length):
        walks = walks @ stated
        if walks[u]:
            break
    return int(walks[u])


@dataclass(frozen=True, slots=True)
class CyclePacking:
    """Cycles no two of which share an answer.

    Attributes
    ----------
    cycles
        Each as its edges; an answer given twice may serve two cycles.
    lower_bound
        Their number: every order has at least one reverse answer in each.
    """

    cycles: tuple[tuple[Edge, ...], ...]
    lower_bound: int


def pack_cycles(edges: Edges, n: int) -> CyclePacking:
    """Pack edge-disjoint cycles greedily, short ones first: a bound anyone can check by eye.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers about objects 0..n-1, a multiset; self-loops are dropped.
    n : int
        Number of objects.

    Returns
    -------
    CyclePacking
        ``lower_bound`` <= the minimum number of reverse answers.

    Raises
    ------
    ValueError
        When an edge names another object.

    Notes
    -----
    First every pair of opposite answers, then, for growing length, a shortest cycle through each
    remaining edge as long as there is one.

    Examples
    --------
    >>> pack_cycles([(0, 1), (1, 2), (2, 0), (1, 0)], 3).cycles
    (((0, 1), (1, 0)),)
    """
    size = checked_size(n)
    kept, _ = checked_edges(edges, size)
    left = Counter(kept)
    cycles: list[tuple[Edge, ...]] = []
    for u, v in sorted(left):
        if u < v:
            times = min(left[u, v], left[v, u])
            cycles += [((u, v), (v, u))] * times
            left[u, v] -= times
            left[v, u] -= times
    stated = np.zeros((size, size), dtype=bool)
    for edge, times in left.items():
        stated[edge] = times > 0
    waiting = deque(e for e in sorted(left) if left[e] > 0)
    length = 3
    while waiting and length <= size:
        later: deque[Edge] = deque()
        while waiting:
            u, v = waiting.popleft()
            if left[u, v] == 0:
                continue
            nodes = _shortest_cycle(stated, u, v)
            if len(nodes) > length:
                later.append((u, v))
            elif nodes:
                cycle = tuple(zip(nodes, nodes[1:] + nodes[:1], strict=True))
                for edge in cycle:
                    left[edge] -= 1
                    stated[edge] = left[edge] > 0
                cycles.append(cycle)
                waiting.append((u, v))
        waiting, length = later, length + 1
    return CyclePacking(tuple(cycles), len(cycles))
