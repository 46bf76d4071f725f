"""Votes, node support and the medoid: closed forms, degenerate pools, ties to the bit."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.graphs import (
    ReasoningGraph,
    Vote,
    geometry,
    graph_self_consistency,
    node_support,
    pairwise_distances,
    pool_geometry,
    self_consistency,
)


def single(vector: list[float], answer: Any = None) -> ReasoningGraph:
    return ReasoningGraph([vector], [], answer=answer)


def random_pool(seed: int, size: int = 5) -> list[ReasoningGraph]:
    rng = np.random.default_rng(seed)
    pool = []
    for k in range(size):
        n = int(rng.integers(1, 6))
        edges = [(v - 1, v) for v in range(1, n) if rng.random() < 0.7]
        pool.append(ReasoningGraph(rng.normal(size=(n, 3)), edges, answer=k))
    return pool


def test_majority_vote() -> None:
    half = ("number", Fraction(1, 2))
    vote = self_consistency([("number", Fraction(1)), half, None, half])
    assert vote == Vote(half, {("number", Fraction(1)): 1, half: 2}, False)


def test_ties_go_to_the_answer_seen_first() -> None:
    assert self_consistency(["C", "B", "A", "A", "B"]) == Vote("B", {"C": 1, "B": 2, "A": 2}, True)


@pytest.mark.parametrize("answers", [[], [None], [None, None]])
def test_nobody_votes(answers: list[None]) -> None:
    assert self_consistency(answers) == Vote(None, {}, False)


def test_unhashable_answers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"answer 1 is \['x'\]"):
        self_consistency(["x", ["x"]])  # type: ignore[list-item]


def test_support_counts_graphs_not_nodes() -> None:
    g = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], [(0, 1)])
    twice = ReasoningGraph([[1.0, 0.0], [2.0, 0.0]], [(0, 1)])
    got = node_support([g, twice, single([0.0, -1.0])])
    assert [c.tolist() for c in got] == [[0.5, 0.0], [0.5, 0.5], [0.0]]


@pytest.mark.parametrize(("short", "supported"), [(5e-10, 1.0), (5e-9, 0.0)])
def test_support_has_a_margin_of_one_in_a_billion(short: float, supported: float) -> None:
    cosine = 0.9 - short
    pool = [single([1.0, 0.0]), single([cosine, math.sqrt(1 - cosine**2)])]
    assert [c.tolist() for c in node_support(pool)] == [[supported], [supported]]


def test_support_in_large_pools_is_counted_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = random_pool(3, size=8)
    pool.append(pool[0])
    want = [c.tolist() for c in node_support(pool, tau=0.5)]
    monkeypatch.setattr(geometry, "DENSE_LIMIT", 2)
    monkeypatch.setattr(geometry, "BLOCK_CELLS", 50)
    assert [c.tolist() for c in node_support(pool, tau=0.5)] == want
    assert any(0 < c < 1 for row in want for c in row)


def test_conclusions_weigh_twice() -> None:
    g = ReasoningGraph([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [(0, 1)], answer="g")
    h = single([0.0, 1.0, 0.0], "h")
    r = graph_self_consistency([g, h])
    assert r.consensus.tolist() == [2 / 3, 1.0]
    assert graph_self_consistency([g, h], terminal_weight=1.0).consensus.tolist() == [0.5, 1.0]
    assert (r.medoid, r.answer, r.tied, r.flags) == (1, "h", False, ())
    assert r.scores.tolist() == pytest.approx([0.8 + 0.2 * 2 / 3, 1.0], abs=1e-15)


def test_scores_from_given_distances() -> None:
    pool = [single([1.0, 0.0, 0.0]), single([0.0, 1.0, 0.0]), single([0.0, 0.0, 1.0])]
    d = np.array([[0.0, 0.5, 0.25], [0.5, 0.0, 0.75], [0.25, 0.75, 0.0]])
    r = graph_self_consistency(pool, d, alpha=0.5)
    assert r.centrality.tolist() == [1.25, 0.75, 1.0]
    assert r.scores.tolist() == pytest.approx([0.5, 0.3, 0.4], abs=1e-15)
    assert r.medoid == 0


def test_antipodal_graphs_have_no_positive_centrality() -> None:
    pool = [single([1.0, 0.0], "a"), single([-1.0, 0.0], "b")]
    r = graph_self_consistency(pool)
    assert r.centrality.tolist() == pytest.approx([-0.4 + 0.6 * math.exp(-20)] * 2, abs=1e-12)
    assert r.scores.tolist() == [0.0, 0.0]
    assert (r.medoid, r.tied) == (0, True)
    assert r.flags == ("nonpositive_centrality", "tied_medoid")


def test_consensus_alone_decides_when_no_centrality_is_positive() -> None:
    g = single([1.0, 0.0])
    d = np.array([[0.0, 1.4, 1.2], [1.4, 0.0, 1.2], [1.2, 1.2, 0.0]])
    r = graph_self_consistency([single([-1.0, 0.0]), g, g], d)
    assert r.scores.tolist() == pytest.approx([0.0, 0.1, 0.1], abs=1e-15)
    assert (r.medoid, r.flags) == (1, ("nonpositive_centrality", "tied_medoid"))


def test_a_single_trace_is_its_own_medoid_and_supported_by_nobody() -> None:
    r = graph_self_consistency([ReasoningGraph(np.eye(2), [(0, 1)], answer="only")])
    assert (r.medoid, r.answer, r.tied) == (0, "only", False)
    assert "single_trace" in r.flags
    assert r.centrality.tolist() == [0.0]
    assert all(math.isnan(x) for x in (*r.scores, *r.consensus, *r.node_support[0]))
    assert len(r.node_support[0]) == 2


def test_an_identical_pool_ties_at_one() -> None:
    g = ReasoningGraph(np.random.default_rng(0).normal(size=(4, 6)), [(0, 1), (1, 2), (1, 3)])
    r = graph_self_consistency([g] * 5)
    assert r.scores.tolist() == [1.0] * 5
    assert (r.medoid, r.tied, r.flags) == (0, True, ("tied_medoid",))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_equal_graphs_score_the_same_to_the_bit(seed: int) -> None:
    pool = random_pool(seed)
    again = [
        ReasoningGraph(
            g.embeddings[::-1],
            [(g.n_nodes - 1 - u, g.n_nodes - 1 - v) for u, v in g.edges],
            answer=g.answer,
        )
        for g in pool
    ]
    r = graph_self_consistency([*pool, *again])
    assert np.array_equal(r.scores[:5], r.scores[5:])
    assert np.array_equal(r.centrality[:5], r.centrality[5:])
    assert r.tied
    assert r.medoid < 5


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_pool_order_changes_no_bit(seed: int, order: list[int]) -> None:
    pool = random_pool(seed)
    r = graph_self_consistency(pool)
    s = graph_self_consistency([pool[i] for i in order])
    assert np.array_equal(s.scores, r.scores[order])
    if not r.tied:
        assert s.answer == r.answer
    for k, i in enumerate(order):
        assert np.array_equal(s.node_support[k], r.node_support[i])


def test_ties_up_to_rounding_are_ties() -> None:
    pool = [single([1.0, 0.0, 0.0]), single([0.0, 1.0, 0.0]), single([0.0, 0.0, 1.0])]
    d = np.full((3, 3), 0.5)
    np.fill_diagonal(d, 0.0)
    d[1, 2] = d[2, 1] = 0.5 - 1e-15
    r = graph_self_consistency(pool, d)
    assert (r.medoid, r.tied) == (0, True)
    d[1, 2] = d[2, 1] = 0.5 - 1e-9
    r = graph_self_consistency(pool, d)
    assert (r.medoid, r.tied) == (1, True)


def test_a_geometry_serves_several_functions() -> None:
    pool = random_pool(9)
    shared = pool_geometry(pool)
    assert len(shared) == 5
    r = graph_self_consistency(shared, pairwise_distances(shared))
    assert np.array_equal(r.scores, graph_self_consistency(pool).scores)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1.1}, r"alpha must lie in \[0, 1\], not 1.1"),
        ({"alpha": math.nan}, "alpha must lie"),
        ({"tau": 2.0}, r"tau must lie in \[-1, 1\], not 2.0"),
        ({"terminal_weight": 0.0}, "terminal_weight must be finite and > 0, not 0.0"),
        ({"distances": np.zeros((3, 3))}, "distances has 3 rows for 2 graphs"),
        ({"distances": [[0.0, math.nan], [math.nan, 0.0]]}, r"distance \(0, 1\) is nan"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    pool = [single([1.0, 0.0]), single([0.0, 1.0])]
    with pytest.raises(ValueError, match=message):
        graph_self_consistency(pool, **arguments)


def test_an_empty_pool_has_no_medoid() -> None:
    with pytest.raises(ValueError, match="pool is empty"):
        graph_self_consistency([])
