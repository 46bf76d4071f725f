"""SS-GED: how far two reasoning graphs are apart in meaning and structure (paper A)."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.graphs.geometry import (
    BLOCK_CELLS,
    ZERO_MEAN,
    Columns,
    IntArray,
    PoolGeometry,
    VectorSet,
    pool_geometry,
    row_lengths,
    unit_rows,
    vector_set,
)
from scoring.graphs.solvers import Assign, Solver, assignment_solver
from scoring.types import FloatArray, ReasoningGraph

EdgeEmbedding = Literal["concat", "mean"]


@dataclass(frozen=True, slots=True)
class SsGed:
    """The SS-GED of two graphs and what it is made of.

    Attributes
    ----------
    node_cost, edge_cost
        Cheapest matching of nodes (edges) by 1 − cosine, plus 1 for each one left over. >= 0.
    nged
        Their sum over the mean number of nodes. >= 0, unbounded.
    s_term
        Cosine of the mean terminal vectors, in [−1, 1].
    s_struct
        exp(−γ·nGED²), in [0, 1].
    similarity
        1 − distance, in [−β, 1]; 1 = alike.
    distance
        In [0, 1 + β]; 0 = alike.
    """

    node_cost: float
    edge_cost: float
    nged: float
    s_term: float
    s_struct: float
    similarity: float
    distance: float


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseCosts:
    """Everything about a pool's pairs that β and γ do not change.

    Compute it once and try many β and γ on it (sensitivity grids).

    Attributes
    ----------
    node_cost, edge_cost, nged, s_term : ndarray, shape (F, F)
        As in `SsGed`, between *forms*; symmetric to the bit.
    form : ndarray of int, shape (N,)
        The form of every graph of the pool (see `PoolGeometry`).
    """

    node_cost: FloatArray
    edge_cost: FloatArray
    nged: FloatArray
    s_term: FloatArray
    form: IntArray

    def distances(self, *, beta: float = 0.4, gamma: float = 5.0) -> FloatArray:
        """Return the (N, N) distances for one β in [0, 1] and one γ >= 0."""
        _check_weights(beta, gamma)
        return _expand(self._form_distances(beta, gamma), self.form)

    def _form_distances(self, beta: float, gamma: float) -> FloatArray:
        struct = np.exp(-gamma * self.nged**2)
        distance = 1.0 - (beta * self.s_term + (1.0 - beta) * struct)
        np.maximum(distance, 0.0, out=distance)
        np.fill_diagonal(distance, 0.0)
        return distance

    def edit_costs(self) -> FloatArray:
        """Return the (N, N) unnormalised edit costs at unit cost, as `topo_distances` does."""
        return _expand(self.node_cost + self.edge_cost, self.form)

    def pair(self, i: int, j: int, *, beta: float = 0.4, gamma: float = 5.0) -> SsGed:
        """Return all parts for graphs i and j of the pool."""
        _check_weights(beta, gamma)
        f, g = self.form[i], self.form[j]
        distance = float(self._form_distances(beta, gamma)[f, g])
        nged = float(self.nged[f, g])
        return SsGed(
            float(self.node_cost[f, g]),
            float(self.edge_cost[f, g]),
            nged,
            float(self.s_term[f, g]),
            float(np.exp(-gamma * self.nged[f, g] ** 2)),
            1.0 - distance,
            distance,
        )


def ss_ged(
    g: ReasoningGraph,
    h: ReasoningGraph,
    *,
    beta: float = 0.4,
    gamma: float = 5.0,
    edge_embedding: EdgeEmbedding = "concat",
) -> SsGed:
    """Return the semantic-structural graph edit distance of two reasoning graphs.

    Parameters
    ----------
    g, h : ReasoningGraph
        Embedded in the same number of dimensions.
    beta : float
        Weight of the conclusions against the structure, in [0, 1].
    gamma : float
        How sharply structural similarity falls with the edit cost, >= 0.
    edge_embedding : {"concat", "mean"}
        An edge's vector: the unit vectors of both ends one after the other, or their mean, which
        cannot tell an edge from its reverse.

    Returns
    -------
    SsGed
        ``distance`` is 0 for equal graphs and at most 1 + β; lower = more alike.

    Raises
    ------
    ValueError
        For unequal dimensions, or β, γ or `edge_embedding` out of their range.

    Notes
    -----
    Nodes and edges are matched independently of each other, so this is *not* the cost of an edit
    path, nor a metric (1 − cosine breaks the triangle inequality). With the cheapest assignment P
    of the smaller side into the larger::

        cost_V = Σ_P (1 − cos) + | |V_G| − |V_H| |        (cost_E the same over edges)
        nGED   = (cost_V + cost_E) / ((|V_G| + |V_H|) / 2)
        S      = β·S_term + (1 − β)·exp(−γ·nGED²),   d = 1 − S ∈ [0, 1 + β]

    For "concat" the cosine of two edges is the mean of the cosines of their sources and of their
    targets. Where a mean has no direction (antipodal ends under "mean", antipodal terminals),
    its cosine is taken as 0 with everything but itself. Equal graphs, in whatever order their
    nodes and edges stand, are at distance exactly 0. d(g, h) and d(h, g) are equal to the bit;
    `pairwise_distances` gives the same up to the rounding of its larger matrix product.

    References
    ----------
    Paper A, section 3 ("Semantic-Structural Distance Computation") and appendix B.3.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0, 0.0]], [])
    >>> h = ReasoningGraph([[0.0, 1.0]], [])
    >>> r = ss_ged(g, h)
    >>> r.nged, r.s_term, round(r.distance, 6)
    (1.0, 0.0, 0.995957)
    """
    return pairwise_costs([g, h], edge_embedding=edge_embedding, solver="scipy").pair(
        0, 1, beta=beta, gamma=gamma
    )


def pairwise_distances(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    *,
    beta: float = 0.4,
    gamma: float = 5.0,
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
) -> FloatArray:
    """Return the SS-GED distances of all pairs of a pool.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The pool; may be empty.
    beta, gamma, edge_embedding
        As for `ss_ged`.
    solver : {"auto", "scipy", "lapx"}
        As for `assignment_solver`.

    Returns
    -------
    ndarray, shape (N, N)
        Each in [0, 1 + β], lower = more alike. Symmetric to the bit, zero diagonal; rows of equal
        graphs are equal to the bit; another order of the pool permutes it and changes no bit.

    Raises
    ------
    ValueError
        As `ss_ged` and `assignment_solver`.

    Notes
    -----
    See `ss_ged` for the formula and `pool_geometry` for the memory the cosines take; beside them
    a few blocks of `BLOCK_CELLS` cells (or of one pair, if that is more) are held.

    References
    ----------
    Paper A, section 3 and appendix B.3.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0, 0.0]], [])
    >>> h = ReasoningGraph([[-1.0, 0.0]], [])
    >>> pairwise_distances([g, h, g]).round(6).tolist()
    [[0.0, 1.4, 0.0], [1.4, 0.0, 1.4], [0.0, 1.4, 0.0]]
    """
    _check_weights(beta, gamma)
    if len(graphs) == 0:
        return np.zeros((0, 0))
    costs = pairwise_costs(graphs, edge_embedding=edge_embedding, solver=solver)
    return costs.distances(beta=beta, gamma=gamma)


def pairwise_costs(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    *,
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
) -> PairwiseCosts:
    """Return the matchings of all pairs of a pool, from which any β and γ give distances.

    Parameters
    ----------
    graphs, edge_embedding, solver
        As for `pairwise_distances`; at least one graph.

    Returns
    -------
    PairwiseCosts

    Raises
    ------
    ValueError
        As `pool_geometry` and `assignment_solver`.

    Notes
    -----
    See `ss_ged`. Only pairs of different graphs are matched.

    References
    ----------
    Paper A, appendix B.3.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0, 0.0]], [])
    >>> h = ReasoningGraph([[0.0, 1.0], [1.0, 0.0]], [(0, 1)])
    >>> c = pairwise_costs([g, h])
    >>> [round(float(c.distances(beta=b)[0, 1]), 3) for b in (0.0, 0.5, 1.0)]
    [1.0, 0.5, 0.0]
    """
    if edge_embedding not in ("concat", "mean"):
        raise ValueError(f"edge_embedding must be 'concat' or 'mean', not {edge_embedding!r}")
    pool = pool_geometry(graphs)
    node_cost, edge_cost = _match_all(pool, edge_embedding, assignment_solver(solver))
    n = np.diff(pool.node_at)
    m = np.diff(pool.edge_at)
    node_cost += np.abs(n[:, None] - n)
    edge_cost += np.abs(m[:, None] - m)
    nged = (node_cost + edge_cost) / ((n[:, None] + n) / 2.0)
    return PairwiseCosts(node_cost, edge_cost, nged, pool.conclusions, pool.form)


def _check_weights(beta: float, gamma: float) -> None:
    if not 0.0 <= beta <= 1.0:
        raise ValueError(f"beta must lie in [0, 1], not {beta}")
    if not (gamma >= 0.0 and math.isfinite(gamma)):
        raise ValueError(f"gamma must be finite and >= 0, not {gamma}")


def _expand(by_form: FloatArray, form: IntArray) -> FloatArray:
    """Return the matrix over graphs of a matrix over forms."""
    return by_form.take(form, axis=0).take(form, axis=1)


def _match_all(
    pool: PoolGeometry, edge_embedding: EdgeEmbedding, assign: Assign
) -> tuple[FloatArray, FloatArray]:
    """Return the summed costs of the cheapest matchings of nodes and of edges, (F, F) each.

    Form k, which has no fewer nodes than those after it, gives the columns and they give the
    rows: one block of costs serves many pairs, and its slices are contiguous.
    """
    n_forms = pool.n_forms
    node_cost = np.zeros((n_forms, n_forms))
    edge_cost = np.zeros((n_forms, n_forms))
    node_at, edge_at = pool.node_at.tolist(), pool.edge_at.tolist()
    mean_edges = _mean_edges(pool) if edge_embedding == "mean" else None
    for k in range(n_forms - 1):
        columns = pool.vectors.columns(_part(pool.nodes, pool.node_at, k))
        for a, b in _groups(node_at, edge_at, k):
            block = columns.rows(pool.nodes[node_at[a] : node_at[b]])
            node_cost[k, a:b] = _match(block, node_at[a : b + 1], assign)
            if mean_edges is None:
                edges = _concat_block(pool, block, k, a, b)
            else:
                edges = _mean_block(pool, mean_edges, k, a, b)
            edge_cost[k, a:b] = _match(edges, edge_at[a : b + 1], assign)
    return node_cost + node_cost.T, edge_cost + edge_cost.T


def _part(flat: IntArray, at: IntArray, k: int) -> IntArray:
    return flat[at[k] : at[k + 1]]


def _groups(node_at: list[int], edge_at: list[int], k: int) -> Iterator[tuple[int, int]]:
    """Yield runs [a, b) of the forms after k whose blocks against k stay within `BLOCK_CELLS`."""
    width = max(node_at[k + 1] - node_at[k], 1)
    edge_width = max(edge_at[k + 1] - edge_at[k], 1)
    last = len(node_at) - 1
    a = k + 1
    while a < last:
        node_end = node_at[a] + BLOCK_CELLS // width
        edge_end = edge_at[a] + BLOCK_CELLS // edge_width
        if node_at[last] <= node_end and edge_at[last] <= edge_end:
            b = last
        else:
            b = min(bisect_right(node_at, node_end), bisect_right(edge_at, edge_end)) - 1
        b = min(max(b, a + 1), last)
        yield a, b
        a = b


def _concat_block(pool: PoolGeometry, block: FloatArray, k: int, a: int, b: int) -> FloatArray:
    """Return 1 − cosine of edges of forms a..b with those of k, from their nodes' block."""
    rows = slice(pool.edge_at[a], pool.edge_at[b])
    first = pool.node_at[k]
    sources = block.take(_part(pool.sources, pool.edge_at, k) - first, axis=1)
    targets = block.take(_part(pool.targets, pool.edge_at, k) - first, axis=1)
    edges: FloatArray = sources.take(pool.sources[rows] - pool.node_at[a], axis=0)
    edges += targets.take(pool.targets[rows] - pool.node_at[a], axis=0)
    edges *= 0.5
    return edges


def _mean_edges(pool: PoolGeometry) -> tuple[VectorSet, IntArray]:
    """Return the distinct means of unit ends and the number of every edge's mean.

    An edge and its reverse share one vector, so that their cost is exactly 0.
    """
    ends = np.stack([pool.nodes[pool.sources], pool.nodes[pool.targets]])
    low, high = ends.min(axis=0), ends.max(axis=0)
    pairs, number = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    means = (pool.vectors.unit[pairs[:, 0]] + pool.vectors.unit[pairs[:, 1]]) / 2.0
    lengths = row_lengths(means)
    means[lengths <= ZERO_MEAN] = 0.0
    return vector_set(unit_rows(means, lengths)), number.reshape(-1)


def _mean_block(
    pool: PoolGeometry, mean_edges: tuple[VectorSet, IntArray], k: int, a: int, b: int
) -> FloatArray:
    vectors, number = mean_edges
    columns: Columns = vectors.columns(_part(number, pool.edge_at, k))
    return columns.rows(number[pool.edge_at[a] : pool.edge_at[b]])


def _match(block: FloatArray, at: list[int], assign: Assign) -> FloatArray:
    """Return the cost of the cheapest assignment of every run of rows to the columns.

    Parameters
    ----------
    block : ndarray, shape (rows, columns)
        Costs of several problems one under the other.
    at : list of int
        Where they begin and end, counted from ``at[0]``.
    """
    totals = np.zeros(len(at) - 1)
    if block.size == 0:
        return totals
    width, low = block.shape[1], at[0]
    spans = [(a - low, b - low) for a, b in itertools.pairwise(at)]
    wide = [j for j, (a, b) in enumerate(spans) if 0 < b - a <= width]
    # In a wide problem every row is matched, so that only its column has to be asked for.
    solved = [assign(block[a:b])[1] for a, b in map(spans.__getitem__, wide)]
    if len(wide) == len(spans):
        rows, starts = np.arange(len(block)), [a for a, _ in spans]
    else:
        rows = np.concatenate([np.arange(*spans[j]) for j in wide] or [np.arange(0)])
        starts = list(itertools.accumulate(map(len, solved[:-1]), initial=0))
        for j, (a, b) in enumerate(spans):
            if b - a > width:
                costs = block[a:b]
                totals[j] = costs[assign(costs)].sum()
    if wide:
        chosen = block.ravel().take(rows * width + np.concatenate(solved))
        totals[wide] = np.add.reduceat(chosen, starts)
    return totals
