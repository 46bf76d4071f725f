"""Checked edges, counts and reachability shared by every module of the room."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.types import FloatArray

Edge = tuple[int, int]
Edges = Iterable[Sequence[int]]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def checked_size(n: int) -> int:
    """Return n as an int; ValueError unless it is a whole number of at least 0."""
    if int(n) != n or n < 0:
        raise ValueError(f"n is {n}: the number of objects must be a whole number of at least 0")
    return int(n)


def checked_edges(edges: Edges, n: int, what: str = "edge") -> tuple[tuple[Edge, ...], int]:
    """Return the edges without self-loops, in the given order, and how many self-loops went.

    Raises ValueError naming the first edge that is no pair of whole numbers in 0..n-1.
    """
    kept: list[Edge] = []
    loops = 0
    for place, edge in enumerate(edges, start=1):
        if len(edge) != 2:
            raise ValueError(f"{what} {place} is {tuple(edge)}: it must be a pair (u, v)")
        u, v = int(edge[0]), int(edge[1])
        if (u, v) != (edge[0], edge[1]) or not (0 <= u < n and 0 <= v < n):
            raise ValueError(
                f"{what} {place} is {tuple(edge)}: both must be whole numbers from 0 to {n - 1}"
            )
        if u == v:
            loops += 1
        else:
            kept.append((u, v))
    return tuple(kept), loops


def count_matrix(edges: Iterable[Edge], n: int) -> IntArray:
    """Return counts with ``counts[u, v]`` = how often (u, v) occurs."""
    counts: IntArray = np.zeros((n, n), dtype=np.int64)
    pairs = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    return counts


def closure(adjacency: BoolArray) -> BoolArray:
    """Return ``reach[u, v]`` = a path of at least one edge leads from u to v (Warshall)."""
    reach = adjacency.copy()
    for k in range(len(reach)):
        reach |= reach[:, k, None] & reach[k]
    return reach


def trusted_closure(trusted: Edges, n: int) -> BoolArray:
    """Return the transitive closure of the trusted edges.

    Raises ValueError when they contradict each other, naming an object on the cycle.
    """
    pairs = list(trusted)
    kept, loops = checked_edges(pairs, n, "trusted edge")
    if loops:
        raise ValueError("a trusted edge goes from an object to itself: nothing precedes itself")
    reach = closure(count_matrix(kept, n) > 0)
    bad = np.flatnonzero(reach.diagonal())
    if bad.size:
        raise ValueError(
            f"the trusted edges contradict each other: a cycle goes through object {bad[0]}"
        )
    return reach


def components(reach: BoolArray) -> list[list[int]]:
    """Return the strongly connected components, members ascending, by smallest member."""
    both = reach & reach.T
    np.fill_diagonal(both, True)
    first = both.argmax(axis=1) if len(both) else np.empty(0, dtype=np.int64)
    return [np.flatnonzero(first == k).tolist() for k in np.unique(first)]


def sorted_topologically(before: BoolArray, priority: Sequence[tuple[float, ...]]) -> list[int]:
    """Order 0..n-1 so that u precedes v where ``before[u, v]``, else by ascending priority.

    ``before`` must be acyclic. Among the objects that may come next the one of least priority
    comes next.
    """
    waiting = before.sum(axis=0).tolist()
    heap = [(priority[v], v) for v, k in enumerate(waiting) if k == 0]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        _, u = heapq.heappop(heap)
        order.append(u)
        for v in np.flatnonzero(before[u]).tolist():
            waiting[v] -= 1
            if waiting[v] == 0:
                heapq.heappush(heap, (priority[v], v))
    return order


def is_acyclic(edges: Iterable[Edge], n: int) -> bool:
    """Whether the edges, self-loops included, contain no directed cycle."""
    before = count_matrix(edges, n) > 0
    return len(sorted_topologically(before, [(0.0,)] * n)) == n


def positions(order: Sequence[int]) -> IntArray:
    """Return ``position[object]`` for an order of objects 0..n-1."""
    where: IntArray = np.empty(len(order), dtype=np.int64)
    where[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return where


def against(counts: IntArray, order: Sequence[int]) -> int:
    """Return how many edges of the count matrix go against the order."""
    at = np.asarray(order, dtype=np.int64)
    return int(np.tril(counts[np.ix_(at, at)], -1).sum())


def reverse_edges(edges: Iterable[Edge], order: Sequence[int]) -> tuple[Edge, ...]:
    """Return the edges (u, v), repeats kept, whose v comes before u in the order; sorted."""
    where = positions(order)
    return tuple(sorted((u, v) for u, v in edges if where[u] > where[v]))


def checked_order(order: Sequence[int], n: int, what: str = "order") -> tuple[int, ...]:
    """Return the order as a tuple; ValueError unless it is a permutation of 0..n-1."""
    items = tuple(int(v) for v in order)
    if len(items) != n or set(items) != set(range(n)):
        raise ValueError(f"{what} {items} must name each object 0..{n - 1} exactly once")
    return items


def insertion_gains(net: FloatArray, order: Sequence[int]) -> FloatArray:
    """Return ``cost[i, j]`` = change of reverse weight when the i-th object moves to place j.

    ``net[u, v]`` = weight of (u, v) minus weight of (v, u).
    """
    at = np.asarray(order, dtype=np.int64)
    ordered = net[np.ix_(at, at)]
    total = np.cumsum(ordered, axis=1)
    # Moving i right past i+1..j makes each edge (i, k) reverse; moving it left past j..i-1 makes
    # each edge (k, i) reverse, which costs net[k, i] = -net[i, k].
    here = total.diagonal()[:, None]
    right = total - here
    shifted = np.hstack([np.zeros((len(at), 1)), total[:, :-1]])
    left = shifted - here
    return np.asarray(np.where(np.tri(len(at), k=-1, dtype=bool), left, right))
