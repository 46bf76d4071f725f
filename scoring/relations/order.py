"""Orders of objects from their edges: in-degree ranking, components, insertion local search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoring.relations._edges import (
    BoolArray,
    IntArray,
    against,
    closure,
    components,
    insertion_gains,
    sorted_topologically,
)
from scoring.types import FloatArray

NUMBERINGS = 200
"""Random numberings of the objects over which a score's range from ties is taken."""


def degree_keys(counts: IntArray, *, net: bool) -> list[float]:
    """Return each object's in-degree, or in-degree minus out-degree, as floats."""
    into, out = counts.sum(axis=0), counts.sum(axis=1)
    return [float(k) for k in (into - out if net else into)]


def in_degree_order(counts: IntArray, known: BoolArray) -> list[int]:
    """Order by in-degree, then number, never against ``known`` (closure of the trusted edges).

    References: paper B, section 3 (ranking by in-degree).
    """
    keys = degree_keys(counts, net=False)
    return sorted_topologically(known, [(k, float(v)) for v, k in enumerate(keys)])


def component_blocks(counts: IntArray, known: BoolArray) -> list[list[int]]:
    """Return the strongly connected components of answers and trusted edges, in an order of theirs.

    Answers against the trusted edges are left out. Among components that may come next, the one
    with the smallest object comes first.
    """
    edges = ((counts > 0) & ~known.T) | known
    reach = closure(edges)
    blocks = components(reach)
    index = np.empty(len(counts), dtype=np.int64)
    for k, block in enumerate(blocks):
        index[block] = k
    between = np.zeros((len(blocks), len(blocks)), dtype=bool)
    u, v = np.nonzero(edges)
    between[index[u], index[v]] = True
    np.fill_diagonal(between, False)
    ranked = sorted_topologically(between, [(float(b[0]),) for b in blocks])
    return [blocks[k] for k in ranked]


def component_order(counts: IntArray, known: BoolArray) -> list[int]:
    """Order by components; inside one by (in-degree - out-degree), then number.

    References: paper B, appendix A.2 (algorithm 1 as used in its experiments).
    """
    keys = degree_keys(counts, net=True)
    order: list[int] = []
    for block in component_blocks(counts, known):
        inside = known[np.ix_(block, block)]
        ranked = sorted_topologically(inside, [(keys[v], float(v)) for v in block])
        order += [block[k] for k in ranked]
    return order


def local_search(weights: FloatArray, order: Sequence[int]) -> list[int]:
    """Move one object at a time to its best place until no move lowers the reverse weight.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        ``weights[u, v]`` is what it costs to place v before u.
    order : sequence of int
        Where to start.

    Returns
    -------
    list of int
        An order that no single insertion improves.

    Notes
    -----
    Every round takes the best of all n(n-1) insertions, the first one on ties; each round lowers an
    integer-valued or finite set of costs, so it ends.
    """
    current = list(order)
    if len(current) < 2:
        return current
    net = weights - weights.T
    while True:
        change = insertion_gains(net, current)
        i, j = np.unravel_index(int(change.argmin()), change.shape)
        if change[i, j] > -1e-9:
            return current
        current.insert(int(j), current.pop(int(i)))


def fixed_weights(counts: IntArray, known: BoolArray) -> FloatArray:
    """Return counts as weights with the trusted order made too dear to break."""
    weights = counts.astype(np.float64)
    weights[known] += float(counts.sum()) + 1.0
    return weights


def local_order(counts: IntArray, known: BoolArray) -> list[int]:
    """Return the better of the local searches started from components and from in-degrees."""
    weights = fixed_weights(counts, known)
    starts = (component_order(counts, known), in_degree_order(counts, known))
    found = [local_search(weights, s) for s in starts]
    return min(found, key=lambda order: against(counts, order))


def tie_range(
    counts: IntArray,
    keys: Sequence[float],
    blocks: Sequence[Sequence[int]],
    known: BoolArray,
    seed: int,
) -> tuple[int, int]:
    """Return the least and most reverse edges over random numberings of the objects.

    Inside each block objects are sorted by key and, on equal keys, by a random number; blocks keep
    their order. With trusted edges every numbering is sorted topologically.
    """
    n = len(counts)
    rng = np.random.default_rng(seed)
    block_of = np.empty(n)
    for k, block in enumerate(blocks):
        block_of[list(block)] = k
    u, v = np.nonzero(counts)
    weight = counts[u, v]
    found = []
    for _ in range(NUMBERINGS):
        numbers = rng.permutation(n)
        if known.any():
            priority = [(block_of[x], keys[x], float(numbers[x])) for x in range(n)]
            order = np.array(sorted_topologically(known, priority), dtype=np.int64)
        else:
            order = np.lexsort((numbers, np.asarray(keys), block_of))
        where = np.empty(n, dtype=np.int64)
        where[order] = np.arange(n)
        found.append(int(weight[where[u] > where[v]].sum()))
    return min(found), max(found)
