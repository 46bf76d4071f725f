"""Graphs with known answers, and slow but plain oracles, for the tests of this room."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

Edge = tuple[int, int]


def all_pairs(n: int) -> list[Edge]:
    """Both askings of every pair in a set whose true order is 0..n-1, answered rightly."""
    return [(min(p), max(p)) for p in itertools.permutations(range(n), 2)]


def flipped(edges: Iterable[Edge], places: Iterable[int]) -> list[Edge]:
    wrong = set(places)
    return [(v, u) if k in wrong else (u, v) for k, (u, v) in enumerate(edges)]


def from_bits(pairs: Sequence[Edge], bits: int) -> list[Edge]:
    """The pairs in ascending form, turned round where the bit (most significant first) is 1."""
    text = f"{bits:0{len(pairs)}b}"
    return [tuple(sorted(p, reverse=b == "1")) for p, b in zip(pairs, text, strict=True)]  # type: ignore[misc]


def noisy51(p: float) -> list[Edge]:
    """51 objects, both askings, each answer wrong with probability p; Python's generator."""
    r = random.Random(1000)
    edges = []
    for a, b in itertools.permutations(range(51), 2):
        u, v = min(a, b), max(a, b)
        edges.append((v, u) if r.random() < p else (u, v))
    return edges


class Case(NamedTuple):
    """A graph and what independent code found for it."""

    name: str
    n: int
    edges: list[Edge]
    in_degree: int
    scc: int
    minimum: int
    energy: float
    """Least energy."""
    order: list[int]
    """By components."""


TOURNAMENT_7 = [(0, 1), (0, 2), (3, 0), (0, 4), (5, 0), (0, 6), (1, 2), (3, 1), (1, 4), (1, 5)]
TOURNAMENT_7 += [(1, 6), (2, 3), (2, 4), (5, 2), (2, 6), (3, 4), (5, 3), (6, 3), (5, 4), (4, 6)]
TOURNAMENT_7 += [(6, 5)]

TOURNAMENT_20 = from_bits(
    list(itertools.combinations(range(20), 2)), 0x3DE48991462667CDABD0884C01C58952FE56C69AA08511B4
)

NOISY_20 = from_bits(
    list(itertools.permutations(range(20), 2)),
    int(
        "920000404806c10800840408800020c02400c4802040080422220000002420040000000204690000a00011000402"
        "00",
        16,
    ),
)
"""Both askings of 20 objects, about a tenth of the answers wrong."""

CASES = [
    Case("one edge", 2, [(0, 1)], 0, 0, 0, 0, [0, 1]),
    Case("before both ways", 2, [(0, 1), (1, 0)], 1, 1, 1, 2, [0, 1]),
    Case("said twice", 2, [(0, 1), (0, 1)], 0, 0, 0, 0, [0, 1]),
    Case("consistent", 5, all_pairs(5), 0, 0, 0, 0, [0, 1, 2, 3, 4]),
    Case("three-cycle", 3, [(0, 1), (1, 2), (2, 0)], 1, 1, 1, 3, [0, 1, 2]),
    Case("three-cycle, other numbers", 3, [(0, 2), (2, 1), (1, 0)], 2, 2, 1, 3, [0, 1, 2]),
    Case("three-cycle twice", 3, [(0, 1), (1, 2), (2, 0)] * 2, 2, 2, 2, 6, [0, 1, 2]),
    Case("four-cycle", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], 1, 1, 1, 4, [0, 1, 2, 3]),
    Case(
        "two cycles and a bridge",
        6,
        [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)],
        2,
        2,
        2,
        6,
        [2, 0, 1, 4, 5, 3],
    ),
    Case(
        "always before", 5, list(itertools.permutations(range(5), 2)), 10, 10, 10, 20, [*range(5)]
    ),
    Case("one pair contradicted", 5, flipped(all_pairs(5), [6]), 1, 1, 1, 3, [0, 1, 2, 3, 4]),
    Case("two neighbours swapped", 5, flipped(all_pairs(5), [5, 9]), 0, 0, 0, 0, [0, 2, 1, 3, 4]),
    Case("tournament of 7", 7, TOURNAMENT_7, 6, 6, 4, 14, [0, 1, 5, 2, 3, 6, 4]),
    Case(
        "tournament of 20",
        20,
        TOURNAMENT_20,
        70,
        70,
        49,
        148,
        [5, 4, 12, 1, 14, 17, 18, 2, 6, 7, 9, 10, 13, 0, 8, 11, 3, 15, 16, 19],
    ),
]


def fewest_reverse(edges: Sequence[Edge], n: int, trusted: Sequence[Edge] = ()) -> int:
    """The minimum number of reverse edges by dynamic programming over sets of objects placed."""
    counts = np.zeros((n, n), dtype=int)
    for u, v in edges:
        counts[u, v] += u != v
    must = [sum(1 << u for u in {u for u, w in trusted if w == v}) for v in range(n)]
    cost = {0: 0}
    for _ in range(n):
        ahead: dict[int, int] = {}
        for placed, value in cost.items():
            for v in range(n):
                if not placed >> v & 1 and must[v] & ~placed == 0:
                    # Placing v now makes every edge from a later object into v reverse.
                    more = sum(
                        int(counts[w, v]) for w in range(n) if not placed >> w & 1 and w != v
                    )
                    key = placed | 1 << v
                    ahead[key] = min(ahead.get(key, value + more), value + more)
        cost = ahead
    return cost[(1 << n) - 1]


def acyclic(edges: Iterable[Edge], n: int) -> bool:
    """By taking away objects that nothing precedes."""
    left = set(edges)
    objects = set(range(n))
    while objects:
        free = objects - {v for _, v in left}
        if not free:
            return False
        objects -= free
        left = {e for e in left if e[0] not in free}
    return True


@st.composite
def graphs(draw: st.DrawFn, most: int = 7) -> tuple[int, list[Edge]]:
    """A number of objects and a multiset of answers without self-loops."""
    n = draw(st.integers(2, most))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    return n, draw(st.lists(pair, min_size=1, max_size=4 * n))
