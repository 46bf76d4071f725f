"""Redundancy, CoTA, semantic entropy, Laplacian: worked cases, closed forms, references."""

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import entropy

from scoring.graphs import (
    ReasoningGraph,
    cota,
    embedding_entailment,
    laplacian,
    redundancy,
    semantic_entropy,
)
from scoring.types import Fact

DANGLING = [(0, 1), (1, 4), (0, 2), (2, 3)]


def flat(n: int, edges: list[tuple[int, int]], **rest: Any) -> ReasoningGraph:
    return ReasoningGraph(np.ones((n, 1)), edges, **rest)


# Redundancy


def test_two_of_five_nodes_are_off_the_path() -> None:
    g = flat(5, DANGLING)
    assert redundancy(g, source=0, sinks=4) == 0.4
    assert redundancy(g, source=[0], sinks=[4]) == 0.4
    assert redundancy(g, sinks=[4]) == 0.4
    assert redundancy(g, source=2, sinks=[4]) == 1.0
    assert redundancy(g, source=1, sinks=[4]) == 0.6


def test_the_conclusion_is_the_last_step_where_steps_are_known() -> None:
    facts = [Fact(f"f{i}", i) for i in range(5)]
    assert redundancy(flat(5, DANGLING, facts=facts)) == 0.4
    # Without facts nobody knows which end is last, and every end is a conclusion.
    assert redundancy(flat(5, DANGLING)) == 0.0
    assert redundancy(flat(5, DANGLING, terminals=[4])) == 0.4


def test_steps_are_counted_where_only_the_last_fact_is_an_anchor() -> None:
    """Steps 0 → 2, step 1 unused, two facts each; edges leave a step's last fact only."""
    facts = [Fact(f"f{i}", i // 2) for i in range(6)]
    g = flat(6, [(1, 4), (1, 5)], facts=facts, terminals=[2, 3, 4, 5])
    assert redundancy(g) == 0.5
    assert redundancy(g, unit="step") == pytest.approx(1 / 3, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_redundancy_is_what_networkx_reaches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    edges = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.2]
    g = flat(n, edges)
    source, sink = (int(x) for x in rng.integers(n, size=2))
    d = g.to_networkx()
    on = (nx.descendants(d, source) | {source}) & (nx.ancestors(d, sink) | {sink})
    assert redundancy(g, source=source, sinks=sink) == pytest.approx((n - len(on)) / n, abs=1e-15)
    perm = rng.permutation(n)
    moved = flat(n, [(int(perm[u]), int(perm[v])) for u, v in edges])
    assert redundancy(moved) == redundancy(g)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": 5}, r"source 5 names a node outside 0\.\.4"),
        ({"sinks": [-1]}, "sink -1 names a node outside"),
        ({"sinks": []}, "sinks is empty"),
        ({"unit": "step"}, "unit 'step' needs facts"),
        ({"unit": "word"}, "unit must be 'fact' or 'step'"),
    ],
)
def test_redundancy_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        redundancy(flat(5, DANGLING), **arguments)


# CoTA


def test_cota_worked_case() -> None:
    ab = [[0.9, 0.1], [0.2, 0.7], [0.3, 0.4]]
    ba = [[0.8, 0.1, 0.2], [0.2, 0.6, 0.5]]
    agreement = cota([(ab, ba)])
    assert agreement == pytest.approx(0.68, abs=1e-9)
    assert 1 - (agreement or 0) == pytest.approx(0.32, abs=1e-9)
    assert cota([(ab, ba), (ba, ab)]) == pytest.approx(0.68, abs=1e-12)
    assert cota([(ab, ba), ([[1.0]], [[0.0]])]) == pytest.approx((0.68 + 0.5) / 2, abs=1e-12)
    assert cota([]) is None


def test_embedding_entailment_of_equal_and_orthogonal_traces() -> None:
    g = ReasoningGraph([[3.0, 4.0], [0.1, 0.7]])
    assert cota(embedding_entailment([g, g, g])) == 1.0
    a, b = ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[0.0, 1.0]])
    assert cota(embedding_entailment([a, b])) == 0.0
    opposite = ReasoningGraph([[-1.0, 0.0]])
    assert cota(embedding_entailment([a, opposite])) == 0.0
    assert cota(embedding_entailment([a])) is None


def test_embedding_entailment_gives_both_directions_of_every_pair() -> None:
    rng = np.random.default_rng(0)
    pool = [ReasoningGraph(rng.normal(size=(n, 3))) for n in (2, 3, 4)]
    pairs = list(embedding_entailment(pool))
    assert [(a.shape, b.shape) for a, b in pairs] == [
        ((2, 3), (3, 2)), ((2, 4), (4, 2)), ((3, 4), (4, 3)),
    ]  # fmt: skip
    x, y = pool[1].embeddings, pool[2].embeddings
    lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    np.testing.assert_allclose(pairs[2][0], np.maximum(0, x @ y.T / lengths), atol=1e-14)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (([[0.5]], [[0.5, 0.5]]), r"pair 1 has matrices of shape \(1, 1\) and \(1, 2\)"),
        (([[]], [[]]), "n, m >= 1"),
        (([[math.nan]], [[0.5]]), "pair 1 holds an entailment score that is not finite"),
    ],
)
def test_cota_refuses(pair: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cota([([[0.5]], [[0.5]]), pair])


# Semantic entropy

IDS, LOGS = [0, 0, 1, 2], [-1.0, -1.5, -2.0, -3.0]


def test_semantic_entropy_worked_case() -> None:
    assert semantic_entropy(IDS) == pytest.approx(1.03972077084, abs=1e-9)
    assert semantic_entropy(IDS, LOGS) == pytest.approx(0.688233593731, abs=1e-9)
    assert semantic_entropy(IDS, LOGS, estimator="monte_carlo") == pytest.approx(
        1.841974338607, abs=1e-9
    )


def test_one_meaning_has_no_entropy_and_all_different_ln_n() -> None:
    assert semantic_entropy(["a"] * 5) == 0.0
    assert semantic_entropy(range(8)) == pytest.approx(math.log(8), abs=1e-12)
    assert semantic_entropy([]) is None
    assert semantic_entropy([None, None], [-1.0, -2.0]) is None
    assert semantic_entropy(["a", None, "b"]) == pytest.approx(math.log(2), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-2000, 0)), min_size=1, max_size=12))
def test_semantic_entropy_is_scipys(samples: list[tuple[int, float]]) -> None:
    ids, logs = [c for c, _ in samples], [x for _, x in samples]
    by_cluster = [logsumexp([x for c, x in samples if c == k]) for k in sorted(set(ids))]
    shares = np.exp(np.array(by_cluster) - logsumexp(logs))
    assert semantic_entropy(ids, logs) == pytest.approx(entropy(shares), abs=1e-9)
    assert semantic_entropy(ids) == pytest.approx(
        entropy(np.bincount(ids)[sorted(set(ids))]), abs=1e-12
    )
    assert semantic_entropy(ids, logs, estimator="monte_carlo") == pytest.approx(
        -np.mean(by_cluster), abs=1e-9
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [-1.0]), "1 log-likelihoods for 2 samples"),
        (([0, 1], [-1.0, -math.inf]), "log-likelihood 1 is -inf"),
    ],
)
def test_semantic_entropy_refuses(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        semantic_entropy(*arguments)
    with pytest.raises(ValueError, match="estimator must be"):
        semantic_entropy([0], estimator="exact")  # type: ignore[arg-type]


# Laplacian


@pytest.mark.parametrize("m", [2, 3, 7])
def test_unrelated_traces_are_as_uncertain_as_can_be(m: int) -> None:
    r = laplacian(np.eye(m))
    assert (r.eigv, r.deg, r.ecc) == pytest.approx((m, (m - 1) / m, math.sqrt(m - 1)), abs=1e-12)


@pytest.mark.parametrize("m", [2, 3, 7])
def test_equal_traces_are_certain(m: int) -> None:
    r = laplacian(np.ones((m, m)))
    assert (r.eigv, r.deg, r.ecc) == pytest.approx((1, 0, 0), abs=1e-12)
    assert (r.n, r.flags) == (m, ())


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2, 2), (1, 1, 4, 5)])
def test_blocks_count_as_meanings(sizes: tuple[int, ...]) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    w = (labels[:, None] == labels).astype(float)
    m, k = len(labels), len(sizes)
    deg = 1 - sum(s * s for s in sizes) / m**2
    r = laplacian(w)
    assert (r.eigv, r.deg, r.ecc) == pytest.approx((k, deg, math.sqrt(k - 1)), abs=1e-12)


def test_two_traces_in_closed_form() -> None:
    """W = [[1, s], [s, 1]]: λ = 0 and 2s/(1 + s); the second vector counts below 0.9."""
    for s in (0.0, 0.3, 0.8, 0.82, 0.95):
        r = laplacian([[1, s], [s, 1]])
        small = 2 * s / (1 + s) < 0.9
        assert r.eigv == pytest.approx(1 + max(0, 1 - 2 * s / (1 + s)), abs=1e-12)
        assert r.deg == pytest.approx((1 - s) / 2, abs=1e-12)
        assert r.ecc == pytest.approx(1.0 if small else 0.0, abs=1e-12)


def test_an_eigenvalue_on_the_limit_is_not_below_it() -> None:
    s = 0.9 / 1.1  # 2s/(1 + s) = 0.9
    assert laplacian([[1, s], [s, 1]]).ecc == pytest.approx(0, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_laplacian_is_that_of_networkx_and_ignores_order(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    w = rng.random((m, m))
    w = (w + w.T) / 2
    np.fill_diagonal(w, 1.0)
    r = laplacian(w)
    values, vectors = np.linalg.eigh(
        nx.normalized_laplacian_matrix(nx.from_numpy_array(w)).toarray()
    )
    low = vectors[:, values < 0.9]
    assert r.eigv == pytest.approx(np.maximum(0, 1 - values).sum(), abs=1e-10)
    assert r.deg == pytest.approx(np.trace(m * np.eye(m) - np.diag(w.sum(1))) / m**2, abs=1e-12)
    assert r.ecc == pytest.approx(np.linalg.norm(low - low.mean(axis=0)), abs=1e-8)
    assert 1 <= (r.eigv or 0) <= m + 1e-12
    assert 0 <= (r.deg or 0) <= (m - 1) / m
    assert 0 <= (r.ecc or 0) <= math.sqrt(m - 1) + 1e-12
    order = rng.permutation(m)
    moved = laplacian(w[np.ix_(order, order)])
    assert (moved.eigv, moved.deg, moved.ecc) == pytest.approx((r.eigv, r.deg, r.ecc), abs=1e-8)


@pytest.mark.parametrize("w", [np.zeros((0, 0)), [[1.0]]])
def test_fewer_than_two_traces_are_undefined(w: Any) -> None:
    r = laplacian(w)
    assert (r.eigv, r.deg, r.ecc, r.n, r.flags) == (None, None, None, len(w), ("fewer_than_two",))


@pytest.mark.parametrize(
    ("w", "message"),
    [
        ([[1, 0.5]], r"square matrix, not of shape \(1, 2\)"),
        ([[1, math.nan], [math.nan, 1]], r"similarity \(0, 1\) is nan: it must be finite"),
        ([[1, -0.2], [-0.2, 1]], r"similarity \(0, 1\) is -0.2: .*clip it at 0"),
        ([[1, 1.2], [1.2, 1]], "at most 1"),
        ([[1, 0.2], [0.3, 1]], "symmetric"),
        ([[1, 0.2], [0.2, 0.9]], r"similarity \(1, 1\) is 0.9: a trace has similarity 1"),
    ],
)
def test_laplacian_refuses(w: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        laplacian(w)
