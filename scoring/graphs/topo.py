"""Topo-UQ: how unevenly the reasoning graphs of a pool lie apart (a baseline of paper A)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scoring.graphs.coherence import checked_distances
from scoring.graphs.ged import EdgeEmbedding, _mean_edges, pairwise_costs
from scoring.graphs.geometry import IntArray, PoolGeometry, VectorSet, pool_geometry
from scoring.graphs.solvers import Assign, Solver, assignment_solver
from scoring.types import FloatArray, ReasoningGraph

ElementCost = Literal["semantic", "unit"]
Blocks = Callable[[int], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, eq=False)
class TopoUq:
    """Topo-UQ of a pool and what it was computed from.

    Attributes
    ----------
    value
        Population variance of the distances used. An *uncertainty*, >= 0, unbounded; 0 = all
        equally far apart (not: all alike). None when undefined.
    mean_distance
        Mean of the same distances, >= 0; 0 = all alike. None when undefined.
    distances : ndarray, shape (N, N)
        The edit costs, symmetric to the bit, zero diagonal.
    n, n_pairs
        Graphs of the pool and distances used.
    anchor
        The graph all distances were measured from, None = all pairs.
    why_undefined
        The reason when there is no pair, else None.
    """

    value: float | None
    mean_distance: float | None
    distances: FloatArray
    n: int
    n_pairs: int
    anchor: int | None
    why_undefined: str | None


def topo_uq(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    *,
    cost: ElementCost = "semantic",
    anchor: int | None = None,
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
) -> float | None:
    """Return the variance of an edit distance over the pairs of a pool.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The pool; may be empty.
    cost, edge_embedding, solver
        As for `topo_distances`.
    anchor : int, optional
        Take only the N − 1 distances from this graph (append a reference graph to the pool to
        measure from it). None = all N(N−1)/2 pairs.

    Returns
    -------
    float or None
        An *uncertainty*, >= 0 and unbounded: higher = less certain. None for fewer than two
        graphs. One pair alone has variance 0, and so has a pool whose graphs are all equally
        *far* apart: read it beside the mean distance (`topo_uncertainty` gives both).

    Raises
    ------
    ValueError
        As `topo_distances`, and for an anchor outside the pool.

    Notes
    -----
    Var over the pairs used, ddof 0, of the unnormalised edit cost of `topo_distances`.

    References
    ----------
    Da et al. (2025), Understanding the uncertainty of LLM explanations: a perspective based on
    reasoning topology. Paper A, section 4 (baseline "Topo-UQ").

    Examples
    --------
    >>> a, b = ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[0.0, 1.0]])
    >>> round(topo_uq([a, a, b], cost="unit"), 6)
    0.222222
    """
    return topo_uncertainty(
        graphs, cost=cost, anchor=anchor, edge_embedding=edge_embedding, solver=solver
    ).value


def topo_uncertainty(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    *,
    cost: ElementCost = "semantic",
    anchor: int | None = None,
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
) -> TopoUq:
    """Return Topo-UQ with its mean distance, its distances and their number.

    Parameters
    ----------
    graphs, cost, anchor, edge_embedding, solver
        As for `topo_uq`.

    Returns
    -------
    TopoUq

    Raises
    ------
    ValueError
        As `topo_uq`.

    Examples
    --------
    >>> a, b = ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[0.0, 1.0]])
    >>> r = topo_uncertainty([b, a, a], cost="unit", anchor=0)
    >>> r.value, r.mean_distance, r.n_pairs
    (0.0, 1.0, 2)
    """
    matrix = topo_distances(graphs, cost=cost, edge_embedding=edge_embedding, solver=solver)
    return topo_summary(matrix, anchor=anchor)


def topo_summary(distances: ArrayLike, *, anchor: int | None = None) -> TopoUq:
    """Return Topo-UQ of edit costs that are there already.

    Parameters
    ----------
    distances : array_like, shape (N, N)
        From `topo_distances`, or `PairwiseCosts.edit_costs` at unit cost.
    anchor : int, optional
        As for `topo_uq`.

    Returns
    -------
    TopoUq

    Raises
    ------
    ValueError
        For what is not a distance matrix, and for an anchor outside the pool.

    Examples
    --------
    >>> topo_summary([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]], anchor=0).value
    1.0
    """
    matrix = checked_distances(distances)
    n = len(matrix)
    if anchor is not None and not 0 <= anchor < n:
        raise ValueError(f"anchor {anchor} is not in the pool: choose one of 0..{n - 1}")
    if n < 2:
        why = f"{n} graphs: at least two are needed for a distance"
        return TopoUq(None, None, matrix, n, 0, anchor, why)
    if anchor is None:
        values = np.sort(matrix[np.triu_indices(n, 1)])
    else:
        values = np.sort(np.delete(matrix[anchor], anchor))
    base = float(values[0])  # deviations from it keep equal distances exact
    mean = base + math.fsum(values - base) / len(values)
    variance = math.fsum((values - mean) ** 2) / len(values)
    return TopoUq(variance, mean, matrix, n, len(values), anchor, None)


def topo_distances(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    *,
    cost: ElementCost = "semantic",
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
) -> FloatArray:
    """Return the unnormalised edit costs of all pairs of a pool.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The pool; may be empty.
    cost : {"semantic", "unit"}
        Cost of inserting or deleting an element: 1 − its mean cosine to the *other* elements of
        its own graph (1 where there is no other), or 1.
    edge_embedding, solver
        As for `pairwise_distances`.

    Returns
    -------
    ndarray, shape (N, N)
        >= 0, unbounded, lower = more alike. Symmetric to the bit, zero diagonal, and the same to
        the bit for any order of the pool, of nodes and of edges.

    Raises
    ------
    ValueError
        As `pairwise_distances`, and for an unknown cost.

    Notes
    -----
    Nodes and edges are assigned independently, each on the matrix padded to n + m rows and
    columns (Riesen and Bunke): an element is substituted at 1 − cosine, or deleted, or inserted::

        cost = Σ del + Σ ins + min over matchings of Σ min(0, sub(i, j) − del(i) − ins(j))

    which is the padded problem on the n × m part alone. Deleting one and inserting another may
    be cheaper than substituting; at unit cost it never is, so that there the result is the node
    and edge cost of `ss_ged`. How a lone element is priced is our choice: the mean over nothing
    is undefined, and an element that nothing resembles costs 1.

    References
    ----------
    Da et al. (2025); Riesen and Bunke (2009), Approximate graph edit distance computation by
    means of bipartite graph matching, Image Vis. Comput. 27. Paper A, section 4.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0, 0.0], [1.0, 0.0]])
    >>> h = ReasoningGraph([[0.0, 1.0]])
    >>> topo_distances([g, h])[0, 1], topo_distances([g, h], cost="unit")[0, 1]
    (np.float64(1.0), np.float64(2.0))
    """
    if cost not in ("semantic", "unit"):
        raise ValueError(f"cost must be 'semantic' or 'unit', not {cost!r}")
    if edge_embedding not in ("concat", "mean"):
        raise ValueError(f"edge_embedding must be 'concat' or 'mean', not {edge_embedding!r}")
    if len(graphs) == 0:
        return np.zeros((0, 0))
    pool = pool_geometry(graphs)
    if cost == "unit":
        matched = pairwise_costs(pool, edge_embedding=edge_embedding, solver=solver)
        by_form = matched.node_cost + matched.edge_cost
    else:
        by_form = _semantic_costs(pool, edge_embedding, assignment_solver(solver))
    return by_form.take(pool.form, axis=0).take(pool.form, axis=1)


def _semantic_costs(
    pool: PoolGeometry, edge_embedding: EdgeEmbedding, assign: Assign
) -> FloatArray:
    """Return the edit costs between forms at semantic insertion and deletion costs."""
    n_forms = pool.n_forms
    means = _mean_edges(pool) if edge_embedding == "mean" else None
    removals = [
        tuple(_removal_costs(b) for b in _blocks(pool, means, k)(k)) for k in range(n_forms)
    ]
    costs = np.zeros((n_forms, n_forms))
    for k in range(n_forms - 1):
        against = _blocks(pool, means, k)
        for j in range(k + 1, n_forms):
            parts = zip(against(j), removals[j], removals[k], strict=True)
            costs[k, j] = sum(_edit_cost(b, gone, new, assign) for b, gone, new in parts)
    return costs + costs.T


def _blocks(pool: PoolGeometry, means: tuple[VectorSet, IntArray] | None, k: int) -> Blocks:
    """Return a function from a form to 1 − cosine of its nodes and edges with those of form k."""
    columns = pool.vectors.columns(_part(pool.nodes, pool.node_at, k))
    k_sources, k_targets = _edge_ends(pool, k)
    edge_columns = None if means is None else means[0].columns(_part(means[1], pool.edge_at, k))

    def against(j: int) -> tuple[FloatArray, FloatArray]:
        nodes = columns.rows(_part(pool.nodes, pool.node_at, j))
        if means is not None and edge_columns is not None:
            return nodes, edge_columns.rows(_part(means[1], pool.edge_at, j))
        sources, targets = _edge_ends(pool, j)
        ends = nodes[np.ix_(sources, k_sources)] + nodes[np.ix_(targets, k_targets)]
        return nodes, ends / 2.0

    return against


def _part(flat: IntArray, at: IntArray, k: int) -> IntArray:
    return flat[at[k] : at[k + 1]]


def _edge_ends(pool: PoolGeometry, k: int) -> tuple[IntArray, IntArray]:
    """Return both ends of form k's edges as places among its own nodes."""
    first = pool.node_at[k]
    return (
        _part(pool.sources, pool.edge_at, k) - first,
        _part(pool.targets, pool.edge_at, k) - first,
    )


def _removal_costs(block: FloatArray) -> FloatArray:
    """Return 1 − mean cosine of every element to the graph's others; 1 for a lone element."""
    n = len(block)
    if n == 1:
        return np.ones(1)
    costs: FloatArray = block.sum(axis=1) / max(n - 1, 1)  # the diagonal holds zeros
    return costs


def _edit_cost(block: FloatArray, gone: FloatArray, new: FloatArray, assign: Assign) -> float:
    """Return the cheapest way from one list of elements to another."""
    total = math.fsum(gone) + math.fsum(new)
    if block.size == 0:
        return total
    gain = block - gone[:, None] - new[None, :]
    np.minimum(gain, 0.0, out=gain)
    rows, cols = assign(gain - gain.min())  # a constant moves no optimum; solvers like costs >= 0
    return max(0.0, total + math.fsum(gain[rows, cols]))
