"""Coherence, SC, GSC and the building rules against DEFINITIONS, section 1, read literally."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.graphs import (
    ReasoningGraph,
    coherence,
    graph_self_consistency,
    graph_structure,
    histogram_entropy,
    node_support,
    pairwise_distances,
    self_consistency,
)
from scoring.types import Fact, Step, Trace

CLOSE = 1e-9
ROUNDING = 1e-12
"""Scores this close are one tie: their order would be an accident of rounding."""

# --- coherence -----------------------------------------------------------------------------


@st.composite
def symmetric(draw: st.DrawFn) -> list[list[float]]:
    n = draw(st.integers(2, 9))
    d = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        d[i][j] = d[j][i] = draw(st.floats(0, 1.4) | st.sampled_from([0.25, 0.5]))
    return d


def entropy_of(counts: list[int]) -> float:
    total = sum(counts)
    return -math.fsum(c / total * math.log(c / total) for c in counts if c)


@settings(max_examples=20, deadline=None)
@given(symmetric())
def test_coherence(d: list[list[float]]) -> None:
    pairs = [d[i][j] for i, j in combinations(range(len(d)), 2)]
    centre = math.fsum(pairs) / len(pairs)
    got = coherence(d)
    assert got.n == len(d)
    assert got.divergence == pytest.approx(centre, abs=CLOSE)
    assert got.grcs == pytest.approx(1 / (1 + centre), abs=CLOSE)
    spread = math.sqrt(math.fsum((x - centre) ** 2 for x in pairs) / len(pairs))
    assert got.dispersion == pytest.approx(spread, abs=CLOSE)
    if max(pairs) - min(pairs) > 1e-6:
        low, high = np.percentile(pairs, [25, 75])
        if high - low > 1e-6:
            counts = np.histogram(pairs, bins="fd")[0].tolist()
            assert got.entropy == pytest.approx(entropy_of(counts), abs=CLOSE)
            assert got.flags == ()
        elif high == low:
            assert got.entropy == 0
            assert len(got.flags) == 1


def test_sturges_bins() -> None:
    values = [0.0, 0.1, 0.2, 0.3, 0.4, 0.9, 1.0, 1.0]
    # 8 values: 4 bins of width .25.
    assert histogram_entropy(values, bins="sturges") == pytest.approx(entropy_of([3, 2, 3]))


def test_a_histogram_of_equal_values_has_no_entropy() -> None:
    assert histogram_entropy([0.5] * 6) == 0


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_graphs_have_no_coherence(n: int) -> None:
    got = coherence(np.zeros((n, n)))
    assert (got.grcs, got.divergence, got.dispersion, got.entropy, got.n) == (
        None,
        None,
        None,
        None,
        n,
    )


@pytest.mark.parametrize(
    "d",
    [
        [[0.0, 0.1], [0.2, 0.0]],
        [[0.1, 0.2], [0.2, 0.0]],
        [[0.0, math.nan], [math.nan, 0.0]],
        [[0.0, 0.1, 0.1], [0.1, 0.0, 0.1]],
        [[0.0, -0.5], [-0.5, 0.0]],
    ],
)
def test_what_is_no_distance_matrix_is_refused(d: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        coherence(d)


# --- SC ------------------------------------------------------------------------------------


@given(st.lists(st.none() | st.sampled_from(["a", "b", "c"]), max_size=12))
def test_majority_vote(answers: list[str | None]) -> None:
    voters = [a for a in answers if a is not None]
    vote = self_consistency(answers)
    assert vote.counts == {a: voters.count(a) for a in voters}
    if not voters:
        assert (vote.answer, vote.tied) == (None, False)
        return
    most = max(map(voters.count, voters))
    winners = [a for a in dict.fromkeys(voters) if voters.count(a) == most]
    assert vote.answer == winners[0]
    assert vote.tied == (len(winners) > 1)


def test_true_and_one_are_not_one_answer_when_tagged() -> None:
    vote = self_consistency([("number", 1), ("boolean", True), ("number", 1)])
    assert vote.counts == {("number", 1): 2, ("boolean", True): 1}


# --- GSC -----------------------------------------------------------------------------------

# Axis-parallel, 3-4-5 and diagonal directions: cosines of exactly .6, .8, 1 and 0 are common.
DIRECTIONS = [(1, 0), (0, 1), (3, 4), (4, 3), (-1, 0), (1, 1), (2, 0), (5, 12)]


@st.composite
def pools(draw: st.DrawFn) -> list[ReasoningGraph]:
    pool = []
    for _ in range(draw(st.integers(2, 6))):
        n = draw(st.integers(1, 4))
        z = draw(st.lists(st.sampled_from(DIRECTIONS), min_size=n, max_size=n))
        pairs = [(u, v) for v in range(n) for u in range(v)]
        edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        ends = draw(st.sets(st.integers(0, n - 1), min_size=1))
        if not np.any(np.sum([z[t] for t in ends], axis=0)):
            ends = {0}
        pool.append(ReasoningGraph(z, edges, terminals=ends, answer=draw(st.sampled_from("ab"))))
    return pool


def cosine(a: list[float], b: list[float]) -> float:
    inner = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return inner / (math.hypot(*a) * math.hypot(*b))


def support_of(pool: list[ReasoningGraph], i: int, tau: float) -> list[float]:
    others = [h for j, h in enumerate(pool) if j != i]
    return [
        sum(any(cosine(z.tolist(), y.tolist()) >= tau - 1e-9 for y in h.embeddings) for h in others)
        / len(others)
        for z in pool[i].embeddings
    ]


@settings(max_examples=25, deadline=None)
@given(pools(), st.floats(0, 1), st.sampled_from([0.6, 0.8, 0.9, 1.0, 0.0]), st.floats(0.1, 4))
def test_graph_self_consistency(
    pool: list[ReasoningGraph], alpha: float, tau: float, weight: float
) -> None:
    d = pairwise_distances(pool)
    got = graph_self_consistency(pool, d, alpha=alpha, tau=tau, terminal_weight=weight)
    n = len(pool)
    central = [math.fsum(1 - d[i, j] for j in range(n) if j != i) for i in range(n)]
    support = [support_of(pool, i, tau) for i in range(n)]
    assert got.centrality == pytest.approx(central, abs=CLOSE)
    for mine, theirs in zip(support, got.node_support, strict=True):
        assert theirs == pytest.approx(mine, abs=CLOSE)
    for mine, theirs in zip(support, node_support(pool, tau=tau), strict=True):
        assert theirs == pytest.approx(mine, abs=CLOSE)
    consensus = []
    for g, c in zip(pool, support, strict=True):
        w = [weight if v in g.terminals else 1.0 for v in range(g.n_nodes)]
        consensus.append(math.fsum(map(float.__mul__, w, c)) / math.fsum(w))
    assert got.consensus == pytest.approx(consensus, abs=CLOSE)
    top = max(central)
    positive = top > ROUNDING
    assert ("nonpositive_centrality" in got.flags) == (not positive)
    share = [c / top if positive else 0.0 for c in central]
    scores = [alpha * s + (1 - alpha) * p for s, p in zip(share, consensus, strict=True)]
    if not positive or top > 1e-6:
        assert got.scores == pytest.approx(scores, abs=1e-8)
    tied = [i for i, s in enumerate(got.scores) if s >= max(got.scores) - ROUNDING]
    assert got.medoid == tied[0]
    assert got.answer == pool[got.medoid].answer
    assert got.tied == (len(tied) > 1) == ("tied_medoid" in got.flags)


def test_distances_default_to_the_default_ss_ged() -> None:
    pool = [
        ReasoningGraph([(1, 0), (3, 4)], [(0, 1)]),
        ReasoningGraph([(4, 3)]),
        ReasoningGraph([(0, 1), (1, 1)]),
    ]
    one = graph_self_consistency(pool)
    two = graph_self_consistency(pool, pairwise_distances(pool, beta=0.4, gamma=5.0))
    assert one.scores.tolist() == two.scores.tolist()


def test_the_closed_form() -> None:
    # Similarities .9 (0,1), .5 (0,2), .1 (1,2): C = 1.4, 1.0, .6.
    d = [[0, 0.1, 0.5], [0.1, 0, 0.9], [0.5, 0.9, 0]]
    pool = [
        ReasoningGraph([(1, 0), (0, 1)], [(0, 1)], answer="x"),  # support 1/2 and 1/2
        ReasoningGraph([(1, 0)], answer="y"),  # 1/2
        ReasoningGraph([(0, 1), (-1, 0)], [(0, 1)], answer="y"),  # 1/2 and, the conclusion, 0
    ]
    got = graph_self_consistency(pool, d)
    assert got.centrality == pytest.approx([1.4, 1.0, 0.6])
    assert got.consensus == pytest.approx([0.5, 0.5, 0.5 / 3])
    assert got.scores == pytest.approx([0.9, 0.8 / 1.4 + 0.1, 0.48 / 1.4 + 0.1 / 3])
    assert (got.medoid, got.answer, got.tied) == (0, "x", False)


def test_equal_traces_tie_and_the_first_wins() -> None:
    twin = ReasoningGraph([(0.1, 0.7, 0.3), (0.2, 0.3, 0.9)], [(0, 1)], answer="yes")
    other = ReasoningGraph([(0.9, -0.1, 0.2)], answer="no")
    got = graph_self_consistency([other, twin, twin, other, twin])
    assert got.medoid == 1
    assert got.tied
    assert got.scores[1] == got.scores[2] == got.scores[4]
    assert got.scores[0] == got.scores[3]


def test_no_similarity_at_all() -> None:
    d = [[0.0, 1.2], [1.2, 0.0]]
    pool = [ReasoningGraph([(1, 0)]), ReasoningGraph([(-1, 0)])]
    got = graph_self_consistency(pool, d)
    assert "nonpositive_centrality" in got.flags
    assert got.scores.tolist() == [0, 0]
    assert got.medoid == 0
    assert got.tied


def test_one_trace() -> None:
    got = graph_self_consistency([ReasoningGraph([(1, 0), (0, 1)], answer="x")])
    assert (got.medoid, got.answer, got.tied) == (0, "x", False)
    assert "single_trace" in got.flags
    assert np.isnan(got.node_support[0]).all()
    assert np.isnan(got.consensus).all()


def test_no_trace_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\w"):
        graph_self_consistency([])


# --- building ------------------------------------------------------------------------------


@st.composite
def decomposed(draw: st.DrawFn) -> tuple[Trace, list[Fact]]:
    n = draw(st.integers(1, 6))
    steps = tuple(
        Step(j, f"s{j}", tuple(sorted(draw(st.sets(st.integers(0, j - 1)))) if j else ()))
        for j in range(n)
    )
    sizes = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if not any(sizes):
        sizes[draw(st.integers(0, n - 1))] = 1
    facts = [Fact(f"f{j}.{k}", j) for j, size in enumerate(sizes) for k in range(size)]
    return Trace(steps, None, None), facts


def parents_with_facts(trace: Trace, kept: set[int], j: int) -> set[int]:
    found: set[int] = set()
    for i in trace.steps[j].depends_on:
        found |= {i} if i in kept else parents_with_facts(trace, kept, i)
    return found


@settings(max_examples=25, deadline=None)
@given(decomposed(), st.sampled_from(["anchor", "all"]), st.sampled_from(["step", "fact"]))
def test_graph_structure(case: tuple[Trace, list[Fact]], rule: str, ends: str) -> None:
    trace, facts = case
    kept = {f.step for f in facts}
    of = {j: [k for k, f in enumerate(facts) if f.step == j] for j in kept}
    parents = {j: parents_with_facts(trace, kept, j) for j in kept}
    edges = {
        (u, v)
        for j in kept
        for i in parents[j]
        for u in (of[i][-1:] if rule == "anchor" else of[i])
        for v in of[j]
    }
    if ends == "step":
        needed = set().union(*parents.values())
        conclusions = [k for k, f in enumerate(facts) if f.step not in needed]
    else:
        conclusions = [k for k in range(len(facts)) if k not in {u for u, _ in edges}]
    got = graph_structure(trace, facts, fact_edges=rule, terminals=ends)  # type: ignore[arg-type]
    assert got.facts == tuple(facts)
    assert sorted(got.edges) == sorted(edges)
    assert list(got.terminals) == conclusions
    assert set(got.dropped_steps) == set(range(len(trace.steps))) - kept
    if rule == "anchor":
        assert len(got.edges) == sum(len(parents[f.step]) for f in facts)


@settings(max_examples=15, deadline=None)
@given(decomposed())
def test_undecomposed_is_one_fact_per_step(case: tuple[Trace, list[Fact]]) -> None:
    trace, _ = case
    got = graph_structure(trace)
    assert [f.step for f in got.facts] == list(range(len(trace.steps)))
    assert sorted(got.edges) == sorted((i, s.index) for s in trace.steps for i in s.depends_on)
    assert got.terminals == graph_structure(trace, terminals="fact").terminals


@pytest.mark.parametrize(
    ("trace", "facts"),
    [
        (Trace((), "x", None), None),
        (Trace((Step(0, "a"),), None, None), [Fact("  ", 0)]),
        (Trace((Step(0, "a"),), None, None), [Fact("a", 1)]),
        (Trace((Step(0, "a"),), None, None), []),
    ],
)
def test_structures_that_are_refused(trace: Trace, facts: list[Fact] | None) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        graph_structure(trace, facts)
