"""SS-GED and the distance matrix against a literal reading of DEFINITIONS, section 1.

The reference below knows nothing of the implementation: plain Python numbers, and assignments
solved exactly by trying every partial matching.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scoring.graphs import ReasoningGraph, pairwise_distances, ss_ged

Vector = tuple[float, ...]
Edge = tuple[int, int]
Embedding = Literal["concat", "mean"]
CLOSE = 1e-9


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def unit(a: Sequence[float]) -> Vector:
    length = math.sqrt(dot(a, a))
    return tuple(x / length for x in a)


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def mean(vectors: Sequence[Sequence[float]]) -> Vector:
    return tuple(math.fsum(column) / len(vectors) for column in zip(*vectors, strict=True))


def cheapest(costs: Sequence[Sequence[float]]) -> float:
    """Match every row to its own column at the least total cost; rows <= columns."""

    @cache
    def rest(row: int, used: int) -> float:
        if row == len(costs):
            return 0.0
        return min(
            costs[row][column] + rest(row + 1, used | 1 << column)
            for column in range(len(costs[row]))
            if not used >> column & 1
        )

    return rest(0, 0)


def set_cost(a: Sequence[Vector], b: Sequence[Vector]) -> float:
    if len(a) > len(b):
        a, b = b, a
    return cheapest([[1 - cosine(x, y) for y in b] for x in a]) + len(b) - len(a)


def edge_vectors(z: Sequence[Vector], edges: Sequence[Edge], how: Embedding) -> list[Vector]:
    if how == "concat":
        return [unit(z[u]) + unit(z[v]) for u, v in edges]
    return [mean([unit(z[u]), unit(z[v])]) for u, v in edges]


def vectors(g: ReasoningGraph) -> list[Vector]:
    return [tuple(float(x) for x in row) for row in g.embeddings]


def conclusions(g: ReasoningGraph) -> list[Vector]:
    return [vectors(g)[i] for i in g.terminals]


class Reference:
    """Every quantity of one pair."""

    def __init__(
        self, g: ReasoningGraph, h: ReasoningGraph, beta: float, gamma: float, how: Embedding
    ) -> None:
        a, b = vectors(g), vectors(h)
        self.node_cost = set_cost(a, b)
        self.edge_cost = set_cost(edge_vectors(a, g.edges, how), edge_vectors(b, h.edges, how))
        self.nged = (self.node_cost + self.edge_cost) / ((len(a) + len(b)) / 2)
        self.s_term = cosine(mean(conclusions(g)), mean(conclusions(h)))
        self.s_struct = math.exp(-gamma * self.nged**2)
        self.similarity = beta * self.s_term + (1 - beta) * self.s_struct
        self.distance = 1 - self.similarity


# Small whole numbers: equal and opposite directions, and cosines on round values, come up often.
def nonzero(size: int) -> st.SearchStrategy[Vector]:
    parts = st.tuples(*[st.integers(-3, 4).map(float)] * size)
    return parts.filter(lambda v: any(v))


@st.composite
def graphs(draw: st.DrawFn, size: int = 3, most: int = 5) -> ReasoningGraph:
    n = draw(st.integers(1, most))
    z = draw(st.lists(nonzero(size), min_size=n, max_size=n))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6)) if pairs else []
    chosen = draw(st.none() | st.sets(st.integers(0, n - 1), min_size=1))
    g = ReasoningGraph(z, edges, terminals=chosen, answer=draw(st.sampled_from("abc")))
    assume(any(abs(x) > 1e-6 for x in mean(conclusions(g))))
    return g


def no_opposite_ends(g: ReasoningGraph) -> bool:
    z = vectors(g)
    return all(cosine(z[u], z[v]) > -1 + 1e-6 for u, v in g.edges)


betas = st.floats(0, 1)
gammas = st.floats(0.01, 20)
edge_embeddings: st.SearchStrategy[Embedding] = st.sampled_from(["concat", "mean"])


@settings(max_examples=30, deadline=None)
@given(graphs(), graphs(), betas, gammas, edge_embeddings)
def test_every_field_of_a_pair(
    g: ReasoningGraph, h: ReasoningGraph, beta: float, gamma: float, how: Embedding
) -> None:
    assume(how == "concat" or (no_opposite_ends(g) and no_opposite_ends(h)))
    want = Reference(g, h, beta, gamma, how)
    got = ss_ged(g, h, beta=beta, gamma=gamma, edge_embedding=how)
    for name in ("node_cost", "edge_cost", "nged", "s_term", "s_struct", "similarity", "distance"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), abs=CLOSE), name
    assert 0 <= got.distance <= 1 + beta + CLOSE


@settings(max_examples=15, deadline=None)
@given(st.lists(graphs(most=4), min_size=1, max_size=5), betas, gammas, edge_embeddings)
def test_the_matrix(pool: list[ReasoningGraph], beta: float, gamma: float, how: Embedding) -> None:
    assume(how == "concat" or all(map(no_opposite_ends, pool)))
    d = pairwise_distances(pool, beta=beta, gamma=gamma, edge_embedding=how)
    assert d.dtype == np.float64
    assert d.shape == (len(pool), len(pool))
    assert np.array_equal(d, d.T)
    assert not d.diagonal().any()
    for i, g in enumerate(pool):
        for j, h in enumerate(pool):
            if i != j:
                want = max(0.0, Reference(g, h, beta, gamma, how).distance)
                assert d[i, j] == pytest.approx(want, abs=CLOSE)


@settings(max_examples=15, deadline=None)
@given(graphs(), graphs(), betas, gammas, edge_embeddings)
def test_a_graph_is_at_no_distance_from_its_copy(
    g: ReasoningGraph, h: ReasoningGraph, beta: float, gamma: float, how: Embedding
) -> None:
    assume(how == "concat" or (no_opposite_ends(g) and no_opposite_ends(h)))
    copy = ReasoningGraph(g.embeddings, g.edges, terminals=g.terminals)
    assert ss_ged(g, copy, beta=beta, gamma=gamma, edge_embedding=how).distance <= 1e-12
    d = pairwise_distances([g, h, copy], beta=beta, gamma=gamma, edge_embedding=how)
    assert d[0, 2] <= 1e-12
    assert d[0, 1] == d[2, 1]  # equal traces, equal scores to the bit


@settings(max_examples=15, deadline=None)
@given(graphs(), graphs(), st.floats(0.01, 100), st.permutations(range(5)))
def test_scale_and_the_order_of_facts_change_nothing(
    g: ReasoningGraph, h: ReasoningGraph, scale: float, order: list[int]
) -> None:
    place = {old: new for new, old in enumerate([i for i in order if i < g.n_nodes])}
    inverse = sorted(place, key=place.__getitem__)
    moved = ReasoningGraph(
        scale * g.embeddings[inverse],
        [(place[u], place[v]) for u, v in g.edges],
        terminals=[place[t] for t in g.terminals],
    )
    one, two = ss_ged(g, h), ss_ged(moved, h)
    assert two.distance == pytest.approx(one.distance, abs=CLOSE)
    assert two.nged == pytest.approx(one.nged, abs=CLOSE)


def test_direction_counts_with_concat_and_not_with_mean() -> None:
    z = [(1.0, 0.0), (0.0, 1.0)]
    g = ReasoningGraph(z, [(0, 1)], terminals=[1])
    h = ReasoningGraph(z, [(1, 0)], terminals=[1])
    assert ss_ged(g, h).edge_cost == pytest.approx(1.0, abs=CLOSE)
    assert ss_ged(g, h, edge_embedding="mean").edge_cost == pytest.approx(0.0, abs=CLOSE)


def test_the_terminal_mean_is_of_unnormalised_vectors() -> None:
    g = ReasoningGraph([(3.0, 0.0), (0.0, 1.0)])
    h = ReasoningGraph([(1.0, 0.0)])
    assert g.terminals == (0, 1)
    assert ss_ged(g, h).s_term == pytest.approx(3 / math.sqrt(10), abs=CLOSE)


def test_the_greatest_distance_is_one_plus_beta() -> None:
    g, h = ReasoningGraph([(1.0, 0.0)]), ReasoningGraph([(-1.0, 0.0)])
    got = ss_ged(g, h, beta=0.4, gamma=50.0)
    assert got.node_cost == pytest.approx(2.0)
    assert got.distance == pytest.approx(1.4, abs=1e-12)


@pytest.mark.parametrize(
    "build",
    [
        lambda: ReasoningGraph([(1.0, 0.0), (0.0, 0.0)]),
        lambda: ReasoningGraph([(1.0, math.nan)]),
        lambda: ReasoningGraph([]),
        lambda: ReasoningGraph([(1.0,)], [(0, 0)]),
        lambda: ReasoningGraph([(1.0,), (1.0,)], [(0, 2)]),
        lambda: ReasoningGraph([(1.0,), (1.0,)], [(0, 1), (0, 1)]),
        lambda: ReasoningGraph([(1.0,)], terminals=[1]),
        lambda: ss_ged(ReasoningGraph([(1.0,)]), ReasoningGraph([(1.0, 1.0)])),
        lambda: ss_ged(ReasoningGraph([(1.0,)]), ReasoningGraph([(1.0,)]), beta=1.5),
        lambda: ss_ged(ReasoningGraph([(1.0,)]), ReasoningGraph([(1.0,)]), gamma=-1.0),
        lambda: ss_ged(ReasoningGraph([(1.0,)]), ReasoningGraph([(1.0,)]), beta=math.nan),
    ],
)
def test_what_has_no_direction_or_is_no_graph_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        build()


def test_a_mean_without_direction_is_at_right_angles_to_everything() -> None:
    # DEFINITIONS is silent here; the implementation documents cosine 0 (1 to itself).
    opposite, plain = [(1.0,), (-1.0,)], [(1.0,), (1.0,)]
    g, h = ReasoningGraph(opposite, [(0, 1)]), ReasoningGraph(plain, [(0, 1)])
    assert ss_ged(g, h, edge_embedding="mean").edge_cost == 1
    assert ss_ged(ReasoningGraph(opposite), ReasoningGraph(plain)).s_term == 0
    assert ss_ged(g, g, edge_embedding="mean").distance == 0


def test_without_terminals_given_they_are_the_nodes_of_out_degree_zero() -> None:
    assert ReasoningGraph(np.eye(4), [(0, 1), (0, 2), (1, 3)]).terminals == (2, 3)
