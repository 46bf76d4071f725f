"""Topo-UQ: worked cases, closed forms, then the padded assignment done by the book."""

import itertools
import json
import math
import pathlib
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from scoring.graphs import (
    ReasoningGraph,
    pairwise_costs,
    topo_distances,
    topo_uncertainty,
    topo_uq,
)

Mode = Literal["concat", "mean"]
MODES: tuple[Mode, ...] = ("concat", "mean")
CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
POOLS = [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == "pool"]


def random_graph(rng: np.random.Generator, n: int, dims: int = 4) -> ReasoningGraph:
    edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < 0.4]
    return ReasoningGraph(rng.normal(size=(n, dims)), edges)


def random_pool(seed: int, size: int = 5, largest: int = 6) -> list[ReasoningGraph]:
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(rng.integers(1, largest + 1))) for _ in range(size)]


def relabelled(g: ReasoningGraph, rng: np.random.Generator) -> ReasoningGraph:
    old = rng.permutation(g.n_nodes)
    new = {int(o): k for k, o in enumerate(old)}
    return ReasoningGraph(g.embeddings[old], [(new[u], new[v]) for u, v in g.edges])


def by_the_book(g: ReasoningGraph, h: ReasoningGraph, mode: Mode, cost: str) -> float:
    """Both assignments on the full (n + m) × (n + m) matrices."""

    def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
        return np.asarray(x @ y.T / lengths)

    def removal(x: np.ndarray) -> np.ndarray:
        if cost == "unit" or len(x) == 1:
            return np.ones(len(x))
        others = ~np.eye(len(x), dtype=bool)
        return np.array([1 - cosines(x, x)[i, others[i]].mean() for i in range(len(x))])

    def edit(x: np.ndarray, y: np.ndarray) -> float:
        if len(x) == 0 or len(y) == 0:
            return float(sum(removal(z).sum() for z in (x, y) if len(z)))
        n, m = len(x), len(y)
        table = np.full((n + m, n + m), 1e6)
        table[:n, :m] = 1 - cosines(x, y)
        table[range(n), range(m, n + m)] = removal(x)
        table[range(n, n + m), range(m)] = removal(y)
        table[n:, m:] = 0
        return float(table[linear_sum_assignment(table)].sum())

    def edges(g: ReasoningGraph) -> np.ndarray:
        unit = g.embeddings / np.linalg.norm(g.embeddings, axis=1, keepdims=True)
        join = np.hstack if mode == "concat" else lambda ends: (ends[0] + ends[1]) / 2
        return np.array([join([unit[u], unit[v]]) for u, v in g.edges])

    return edit(g.embeddings, h.embeddings) + edit(edges(g), edges(h))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", POOLS)
def test_unit_cost_cases(case: dict[str, Any], mode: Mode) -> None:
    pool = [ReasoningGraph(g["nodes"], g["edges"]) for g in case["graphs"]]
    want = case["expected"][mode]["topo_uq_unit_cost"]
    got = topo_uq(pool, cost="unit", edge_embedding=mode)
    assert got is None if want is None else got == pytest.approx(want, abs=1e-9)


def test_deleting_and_inserting_may_be_cheaper_than_substituting() -> None:
    """Twins cost nothing to drop, a lone fact costs 1, and all are orthogonal."""
    twins = ReasoningGraph([[1.0, 0.0, 0.0]] * 2)
    lone = ReasoningGraph([[0.0, 1.0, 0.0]])
    mixed = ReasoningGraph([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    d = topo_distances([twins, lone, mixed])
    # twins → lone: drop both (0 + 0), insert one (1). twins → mixed: two inserted at 1 each.
    # lone → mixed: the common fact is kept, the other inserted at 1.
    assert d.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert topo_uq([twins, lone, mixed]) == pytest.approx(2 / 9, abs=1e-15)


def test_edges_are_priced_like_nodes() -> None:
    x = np.eye(3)
    bare = ReasoningGraph(x)
    one = ReasoningGraph(x, [(0, 1)])
    two = ReasoningGraph(x, [(0, 1), (0, 2)])
    d = topo_distances([bare, one, two])
    # A lone edge costs 1; two edges from one source have cosine 1/2, so 1/2 each.
    assert d[0, 1] == 1.0
    assert d[0, 2] == pytest.approx(1.0, abs=1e-15)
    assert d[1, 2] == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize("cost", ["semantic", "unit"])
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_equals_the_padded_assignment(
    mode: Mode, cost: Literal["semantic", "unit"], seed: int
) -> None:
    pool = random_pool(seed, size=3)
    d = topo_distances(pool, cost=cost, edge_embedding=mode)
    for i, j in itertools.combinations(range(3), 2):
        assert d[i, j] == pytest.approx(by_the_book(pool[i], pool[j], mode, cost), abs=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_symmetry_order_and_upper_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = random_pool(seed)
    d = topo_distances(pool)
    assert np.array_equal(d, d.T)
    assert not d.diagonal().any()
    assert d.min() >= 0
    matched = pairwise_costs(pool)
    unit = (matched.node_cost + matched.edge_cost).take(matched.form, 0).take(matched.form, 1)
    assert np.array_equal(topo_distances(pool, cost="unit"), unit)
    order = rng.permutation(len(pool))
    shuffled = [relabelled(pool[i], rng) for i in order]
    assert np.array_equal(topo_distances(shuffled), d[np.ix_(order, order)])
    assert topo_uq(shuffled) == topo_uq(pool)


def test_orthogonal_facts_equal_the_edit_distance_of_networkx() -> None:
    kinds = [(0, 1, 2), (1, 2), (0, 0, 3)]
    pool = [ReasoningGraph(np.eye(4)[list(k)]) for k in kinds]
    graphs = []
    for k in kinds:
        g: nx.DiGraph[int] = nx.DiGraph()
        g.add_nodes_from((i, {"k": x}) for i, x in enumerate(k))
        graphs.append(g)
    want = [
        nx.graph_edit_distance(a, b, node_match=lambda x, y: x["k"] == y["k"])
        for a, b in itertools.combinations(graphs, 2)
    ]
    d = topo_distances(pool, cost="unit")
    assert d[np.triu_indices(3, 1)].tolist() == want
    assert topo_uq(pool, cost="unit") == pytest.approx(np.var(want), abs=1e-15)


def test_anchor_takes_the_distances_from_one_graph() -> None:
    pool = random_pool(3, size=6)
    r = topo_uncertainty(pool, anchor=2)
    row = np.delete(r.distances[2], 2)
    assert (r.n, r.n_pairs, r.anchor) == (6, 5, 2)
    assert r.value == pytest.approx(row.var(), abs=1e-14)
    assert r.mean_distance == pytest.approx(row.mean(), abs=1e-14)
    assert topo_uq(pool, anchor=2) == r.value
    every = topo_uncertainty(pool)
    upper = every.distances[np.triu_indices(6, 1)]
    assert every.n_pairs == 15
    assert every.value == pytest.approx(upper.var(), abs=1e-14)


def test_zero_means_equally_far_not_alike() -> None:
    far = [ReasoningGraph(row[None]) for row in np.eye(4)]
    r = topo_uncertainty(far)
    assert (r.value, r.mean_distance) == (0.0, 1.0)


def test_antipodal_ends_have_no_direction_under_mean() -> None:
    g = ReasoningGraph([[1.0, 0.0], [-1.0, 0.0]], [(0, 1)])
    h = ReasoningGraph([[1.0, 0.0], [-1.0, 0.0]], [(1, 0)])
    assert topo_distances([g, h], edge_embedding="mean")[0, 1] == 0.0
    assert topo_distances([g, h])[0, 1] == pytest.approx(2.0, abs=1e-15)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_graphs_are_undefined(n: int) -> None:
    r = topo_uncertainty(random_pool(1, size=n))
    assert (r.value, r.mean_distance, r.n, r.n_pairs) == (None, None, n, 0)
    assert r.why_undefined == f"{n} graphs: at least two are needed for a distance"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": "free"}, "cost must be 'semantic' or 'unit', not 'free'"),
        ({"edge_embedding": "sum"}, "edge_embedding must be"),
        ({"anchor": 2}, r"anchor 2 is not in the pool: choose one of 0\.\.1"),
        ({"anchor": -1}, "anchor -1 is not in the pool"),
        ({"solver": "greedy"}, "solver must be"),
    ],
)
def test_bad_parameters_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        topo_uq(random_pool(1, size=2), **arguments)


def test_large_pools_take_another_road_to_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring.graphs import geometry

    pool = random_pool(9)
    want = topo_distances(pool)
    monkeypatch.setattr(geometry, "DENSE_LIMIT", 3)
    np.testing.assert_allclose(topo_distances(pool), want, atol=1e-13)
    assert math.isclose(topo_uq(pool) or 0.0, want[np.triu_indices(5, 1)].var(), abs_tol=1e-12)
