"""SS-GED: closed forms, then properties, then agreement with what others compute."""

import itertools
import math
import sys
import types
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from scoring.graphs import (
    ReasoningGraph,
    assignment_solver,
    coherence,
    ged,
    geometry,
    pairwise_costs,
    pairwise_distances,
    pool_geometry,
    solvers,
    ss_ged,
)

Mode = Literal["concat", "mean"]
MODES: tuple[Mode, ...] = ("concat", "mean")


def random_graph(rng: np.random.Generator, n: int, dims: int = 5, p: float = 0.4) -> ReasoningGraph:
    edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < p]
    return ReasoningGraph(rng.normal(size=(n, dims)), edges)


def random_pool(seed: int, size: int = 6, largest: int = 7) -> list[ReasoningGraph]:
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(rng.integers(1, largest + 1))) for _ in range(size)]


def relabelled(g: ReasoningGraph, rng: np.random.Generator) -> ReasoningGraph:
    """The same graph with its nodes and edges listed in another order."""
    old = rng.permutation(g.n_nodes)
    new = {int(o): k for k, o in enumerate(old)}
    edges = [(new[u], new[v]) for u, v in g.edges]
    order = rng.permutation(len(edges))
    return ReasoningGraph(
        g.embeddings[old],
        [edges[i] for i in order],
        answer=g.answer,
        terminals=[new[t] for t in g.terminals],
    )


def by_the_book(g: ReasoningGraph, h: ReasoningGraph, mode: Mode) -> tuple[float, float, float]:
    """Node cost, edge cost and distance on padded square matrices, straight from the formulas."""

    def matched(x: np.ndarray, y: np.ndarray) -> float:
        size = max(len(x), len(y))
        cost = np.ones((size, size))
        for i, j in itertools.product(range(len(x)), range(len(y))):
            cost[i, j] = 1 - x[i] @ y[j] / (np.linalg.norm(x[i]) * np.linalg.norm(y[j]))
        return float(cost[linear_sum_assignment(cost)].sum()) if size else 0.0

    def edges(g: ReasoningGraph) -> np.ndarray:
        unit = g.embeddings / np.linalg.norm(g.embeddings, axis=1, keepdims=True)
        join = np.hstack if mode == "concat" else lambda ends: (ends[0] + ends[1]) / 2
        return np.array([join([unit[u], unit[v]]) for u, v in g.edges])

    node_cost, edge_cost = matched(g.embeddings, h.embeddings), matched(edges(g), edges(h))
    nged = (node_cost + edge_cost) / ((g.n_nodes + h.n_nodes) / 2)
    s, t = (x.embeddings[list(x.terminals)].mean(axis=0) for x in (g, h))
    term = s @ t / (np.linalg.norm(s) * np.linalg.norm(t))
    return node_cost, edge_cost, 1 - (0.4 * term + 0.6 * math.exp(-5 * nged**2))


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_rectangular_equals_padded_square(mode: Mode, seed: int) -> None:
    g, h = random_pool(seed, size=2)
    r = ss_ged(g, h, edge_embedding=mode)
    assert (r.node_cost, r.edge_cost, r.distance) == pytest.approx(
        by_the_book(g, h, mode), abs=1e-12
    )


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 20))
def test_bounds_symmetry_and_diagonal(mode: Mode, seed: int, beta: float, gamma: float) -> None:
    pool = random_pool(seed)
    d = pairwise_distances(pool, beta=beta, gamma=gamma, edge_embedding=mode)
    assert np.array_equal(d, d.T)
    assert not d.diagonal().any()
    assert d.min() >= 0
    assert d.max() <= 1 + beta + 1e-15


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_node_order_and_pool_order_change_no_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = random_pool(seed)
    d = pairwise_distances(pool)
    assert np.array_equal(pairwise_distances([relabelled(g, rng) for g in pool]), d)
    order = rng.permutation(len(pool))
    assert np.array_equal(pairwise_distances([pool[i] for i in order]), d[np.ix_(order, order)])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_equal_graphs_have_equal_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = random_pool(seed, size=4)
    d = pairwise_distances([*pool, *(relabelled(g, rng) for g in pool)])
    assert np.array_equal(d[:4], d[4:])
    assert not d[np.arange(4), np.arange(4) + 4].any()


@pytest.mark.parametrize("mode", MODES)
def test_one_pair_agrees_with_the_pool(mode: Mode) -> None:
    pool = random_pool(7, size=8, largest=12)
    costs = pairwise_costs(pool, edge_embedding=mode, solver="scipy")
    d = costs.distances(beta=0.3, gamma=2.0)
    for i, j in itertools.combinations(range(8), 2):
        one = ss_ged(pool[i], pool[j], beta=0.3, gamma=2.0, edge_embedding=mode)
        assert one.distance == pytest.approx(d[i, j], abs=1e-14)
        assert costs.pair(i, j, beta=0.3, gamma=2.0).nged == pytest.approx(one.nged, abs=1e-14)
        assert one.similarity == 1 - one.distance


def test_scale_of_a_vector_does_not_matter_to_nodes_but_does_to_conclusions() -> None:
    g = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], [])
    h = ReasoningGraph([[3.0, 0.0], [0.0, 1.0]], [])
    r = ss_ged(g, h)
    assert r.node_cost == 0.0
    assert r.s_term == pytest.approx(4 / math.sqrt(20), abs=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_lengths_stay_exact(size: float) -> None:
    g = ReasoningGraph([[1.0, 1.0]], [])
    h = ReasoningGraph([[size, 0.0]], [])
    r = ss_ged(g, h)
    assert (r.s_term, r.node_cost) == pytest.approx((math.sqrt(0.5), 1 - math.sqrt(0.5)), abs=1e-12)


def test_negative_zero_is_zero() -> None:
    g = ReasoningGraph([[1.0, 0.0]], [])
    h = ReasoningGraph([[1.0, -0.0]], [])
    assert pool_geometry([g, h]).n_forms == 1


def test_antipodal_ends_and_conclusions_have_no_direction() -> None:
    g = ReasoningGraph([[1.0, 0.0], [-1.0, 0.0]], [(0, 1)], terminals=[0, 1])
    h = ReasoningGraph([[0.0, 1.0], [1.0, 0.0]], [(0, 1)])
    r = ss_ged(g, h, edge_embedding="mean")
    assert (r.edge_cost, r.s_term) == (1.0, 0.0)
    assert ss_ged(g, g, edge_embedding="mean").distance == 0.0
    assert ss_ged(h, h, edge_embedding="mean").s_term == 1.0


def test_terminals_given_override_out_degree() -> None:
    x = [[1.0, 0.0], [0.0, 1.0]]
    g = ReasoningGraph(x, [(0, 1)])
    h = ReasoningGraph(x, [(0, 1)], terminals=[0])
    r = ss_ged(g, h)
    assert (r.nged, r.s_term, r.distance) == (0.0, 0.0, 0.4)


def test_graphs_without_edges_against_one_with() -> None:
    x = np.eye(3)
    bare = ReasoningGraph(x, [], terminals=[2])
    chain = ReasoningGraph(x, [(0, 1), (1, 2)])
    r = ss_ged(bare, chain)
    assert (r.node_cost, r.edge_cost, r.s_term) == (0.0, 2.0, 1.0)


def test_more_edges_on_fewer_nodes() -> None:
    small = ReasoningGraph(np.eye(4)[:3], [(0, 1), (0, 2), (1, 2)])
    large = ReasoningGraph(np.eye(4), [(0, 1)])
    r = ss_ged(small, large)
    assert (r.node_cost, r.edge_cost) == (1.0, 2.0)
    d = pairwise_distances([small, large, ReasoningGraph(np.eye(4), [])])
    assert d[0, 1] == r.distance


def test_orthogonal_nodes_equal_the_edit_distance_of_networkx() -> None:
    """With one-hot facts and no edges, substitution costs 0 or 1 as in the classical distance."""
    for kinds_g, kinds_h in ([(0, 1, 2), (1, 2)], [(0, 0, 1), (0, 2, 3)], [(3,), (0, 1, 2)]):
        g = ReasoningGraph(np.eye(4)[list(kinds_g)], [])
        h = ReasoningGraph(np.eye(4)[list(kinds_h)], [])
        a: nx.DiGraph[int] = nx.DiGraph()
        b: nx.DiGraph[int] = nx.DiGraph()
        a.add_nodes_from((i, {"k": k}) for i, k in enumerate(kinds_g))
        b.add_nodes_from((i, {"k": k}) for i, k in enumerate(kinds_h))
        want = nx.graph_edit_distance(a, b, node_match=lambda x, y: x["k"] == y["k"])
        assert ss_ged(g, h).node_cost == want


def test_identical_pool_is_perfectly_coherent() -> None:
    pool = [random_graph(np.random.default_rng(3), 5)] * 4
    d = pairwise_distances(pool)
    assert not d.any()
    c = coherence(d)
    assert (c.grcs, c.divergence, c.dispersion, c.entropy) == (1.0, 0.0, 0.0, 0.0)


def test_pools_of_none_and_one() -> None:
    assert pairwise_distances([]).shape == (0, 0)
    assert pairwise_distances(random_pool(1, size=1)).tolist() == [[0.0]]


@pytest.mark.parametrize("mode", MODES)
def test_large_pools_take_another_road_to_the_same_values(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = random_pool(11, size=9)
    pool += pool[:2]
    want = pairwise_distances(pool, edge_embedding=mode)
    monkeypatch.setattr(geometry, "DENSE_LIMIT", 3)
    monkeypatch.setattr(ged, "BLOCK_CELLS", 20)
    got = pairwise_distances(pool, edge_embedding=mode)
    np.testing.assert_allclose(got, want, atol=1e-14)
    assert np.array_equal(got, got.T)
    assert np.array_equal(got[:2], got[-2:])


def test_colliding_keys_do_not_merge_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = random_pool(5)
    want = pairwise_distances(pool)
    monkeypatch.setattr(geometry, "_row_keys", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    np.testing.assert_allclose(pairwise_distances(pool), want, atol=1e-14)


def test_sensitivity_reuses_one_matching() -> None:
    pool = random_pool(13)
    costs = pairwise_costs(pool)
    for beta, gamma in itertools.product((0.0, 0.4, 1.0), (0.5, 5.0, 20.0)):
        want = pairwise_distances(pool, beta=beta, gamma=gamma)
        assert np.array_equal(costs.distances(beta=beta, gamma=gamma), want)


def lapjvh(
    cost: np.ndarray, *, extend_cost: bool, return_cost: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What lapx offers under this name, computed by scipy."""
    assert (extend_cost, return_cost) == (True, False)
    rows, cols = linear_sum_assignment(cost)
    return rows, cols


def test_lapx_is_used_where_it_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = random_pool(17)
    want = pairwise_distances(pool, solver="scipy")
    lap = types.ModuleType("lap")
    lap.lapjvh = lapjvh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lap", lap)
    solvers._lapx.cache_clear()
    try:
        assert assignment_solver("auto") is assignment_solver("lapx")
        assert assignment_solver("scipy") is linear_sum_assignment
        np.testing.assert_allclose(pairwise_distances(pool, solver="lapx"), want, atol=1e-12)
        np.testing.assert_allclose(pairwise_distances(pool), want, atol=1e-12)
    finally:
        solvers._lapx.cache_clear()


def test_lapx_is_never_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lap", None)  # importing it now fails
    solvers._lapx.cache_clear()
    try:
        assert assignment_solver("auto") is linear_sum_assignment
        with pytest.raises(ValueError, match="'lapx' is not installed"):
            assignment_solver("lapx")
    finally:
        solvers._lapx.cache_clear()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": 1.5}, r"beta must lie in \[0, 1\], not 1.5"),
        ({"beta": math.nan}, "beta must lie"),
        ({"gamma": -1.0}, "gamma must be finite and >= 0, not -1.0"),
        ({"gamma": math.inf}, "gamma must be finite"),
        ({"edge_embedding": "sum"}, "edge_embedding must be 'concat' or 'mean', not 'sum'"),
        ({"solver": "greedy"}, "solver must be 'auto', 'scipy' or 'lapx', not 'greedy'"),
    ],
)
def test_bad_parameters_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_distances(random_pool(1, size=2), **arguments)


def test_bad_graphs_are_refused_with_their_place() -> None:
    g, h = ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[1.0]])
    with pytest.raises(ValueError, match="graph 1 is embedded in 1 dimensions, graph 0 in 2"):
        ss_ged(g, h)
    with pytest.raises(ValueError, match="graph 1 is a list"):
        pairwise_distances([g, [1.0]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="pool is empty"):
        pool_geometry([])
    with pytest.raises(ValueError, match="node 1 is not finite"):
        ReasoningGraph([[1.0, 0.0], [math.nan, 1.0]])
    with pytest.raises(ValueError, match="node 0 is the zero vector"):
        ReasoningGraph([[0.0, 0.0]])
