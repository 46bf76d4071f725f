"""Topology map, step evidence, orientation table."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.graphs import (
    METRICS,
    REGIMES,
    Coherence,
    Laplacian,
    ReasoningGraph,
    coherence,
    node_support,
    pool_geometry,
    step_evidence,
    topology_map,
    topology_regime,
)
from scoring.types import Fact


def at(divergence: float, entropy: float, *flags: str) -> Coherence:
    return Coherence(1 / (1 + divergence), divergence, 0.0, entropy, 20, flags, 5)


UNDEFINED = coherence([[0.0]])


@pytest.mark.parametrize(
    ("divergence", "entropy", "regime"),
    [
        (0.2, 0.5, "confident"),
        (0.2, 1.4, "multi-path"),
        (0.5, 0.5, "noisy"),
        (0.5, 1.4, "confused"),
        (0.33, 1.03, "confident"),  # on the origin is low
        (0.33 + 1e-15, 1.03, "confident"),  # and so is what rounding leaves of it
        (0.33, 1.04, "multi-path"),
        (0.34, 1.03, "noisy"),
    ],
)
def test_regimes(divergence: float, entropy: float, regime: str) -> None:
    assert topology_regime(divergence, entropy, (0.33, 1.03)) == regime


def test_the_reference_models_mean_is_the_origin() -> None:
    found = [at(0.2, 1.0), at(0.4, 2.0), at(0.1, 3.0), at(0.9, 0.1, "iqr_zero"), UNDEFINED]
    m = topology_map(found, ["s", "s", "l", "l", "s"], reference="s")
    assert m.origin == pytest.approx((0.3, 1.5), abs=1e-15)
    assert [p.regime for p in m.points] == ["confident", "confused", "multi-path", "noisy", None]
    assert m.points[3].flags == ("iqr_zero",)
    assert m.points[4].flags == ("fewer_than_two",)
    small, large = m.models
    assert (small.model, small.n, small.undefined) == ("s", 2, 1)
    assert small.mean == m.origin
    assert small.counts == {"confident": 1, "multi-path": 0, "noisy": 0, "confused": 1}
    assert large.mean == pytest.approx((0.5, 1.55), abs=1e-15)
    assert large.counts == {"confident": 0, "multi-path": 1, "noisy": 1, "confused": 0}


def test_origin_given_or_the_mean_of_all() -> None:
    found = [at(0.2, 1.0), at(0.4, 2.0)]
    assert topology_map(found).origin == pytest.approx((0.3, 1.5), abs=1e-15)
    m = topology_map(found, origin=(0.0, 0.0))
    assert (m.origin, m.reference) == ((0.0, 0.0), None)
    assert m.models[0].counts["confused"] == 2
    empty = topology_map([UNDEFINED], ["x"], origin=(0.1, 0.1))
    assert (empty.models[0].mean, empty.models[0].n, empty.models[0].undefined) == (None, 0, 1)


@given(st.lists(st.tuples(st.floats(0, 1.4), st.floats(0, 4)), min_size=1, max_size=20))
def test_every_defined_question_has_one_regime(places: list[tuple[float, float]]) -> None:
    m = topology_map([at(x, y) for x, y in places])
    assert sum(m.models[0].counts.values()) == len(places)
    assert {p.regime for p in m.points} <= set(REGIMES)
    # Something is never above the mean of all, so that not everything can be confused.
    assert m.models[0].counts["confused"] < len(places)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([at(0, 0)], ["a", "b"]), "2 models for 1 questions"),
        (([UNDEFINED], ["a"]), "no question has a defined divergence"),
    ],
)
def test_map_refuses(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        topology_map(*arguments)
    with pytest.raises(ValueError, match="no question of reference 'b'"):
        topology_map([at(0, 0)], ["a"], reference="b")
    with pytest.raises(ValueError, match="both reference 'a' and an origin"):
        topology_map([at(0, 0)], ["a"], reference="a", origin=(0, 0))
    with pytest.raises(ValueError, match="the origin's entropy is nan"):
        topology_regime(0.1, 0.1, (0.1, math.nan))


# Step evidence


def test_nearest_fact_of_every_other_trace() -> None:
    pool = [
        ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], facts=[Fact("a", 0), Fact("b", 1)]),
        ReasoningGraph([[0.6, 0.8], [0.0, 2.0]], facts=[Fact("c", 0), Fact("d", 3)]),
        ReasoningGraph([[-1.0, 0.0]]),
        ReasoningGraph([[4.0, 3.0], [8.0, 6.0]]),
    ]
    e = step_evidence(pool, 0, 0, tau=0.8)
    assert (e.supporting, e.others, e.support, e.tau) == (1, 3, 1 / 3, 0.8)
    assert [(f.graph, f.node, f.supports) for f in e.nearest] == [
        (3, 0, True), (1, 0, False), (2, 0, False),
    ]  # fmt: skip
    assert [f.cosine for f in e.nearest] == pytest.approx([0.8, 0.6, -1.0], abs=1e-15)
    assert [f.fact for f in e.nearest] == [None, Fact("c", 0), None]
    assert step_evidence(pool, 0, 1).nearest[0].fact == Fact("d", 3)


def test_equally_near_traces_keep_the_order_of_the_pool() -> None:
    pool = [ReasoningGraph([[1.0, 2.0]])] * 4
    e = step_evidence(pool, 2, 0)
    assert [f.graph for f in e.nearest] == [0, 1, 3]
    assert [f.cosine for f in e.nearest] == [1.0, 1.0, 1.0]
    assert (e.supporting, e.support) == (3, 1.0)


@pytest.mark.parametrize(("below", "supports"), [(5e-10, True), (2e-9, False)])
def test_rounding_below_tau_still_supports(below: float, supports: bool) -> None:
    x = 0.9 - below
    pool = [ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[x, math.sqrt(1 - x * x)]])]
    assert step_evidence(pool, 0, 0).nearest[0].supports == supports


def test_a_pool_of_one_has_no_support() -> None:
    e = step_evidence([ReasoningGraph([[1.0]])], 0, 0)
    assert (e.supporting, e.others, e.support, e.nearest) == (0, 0, None, ())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-1, 1))
def test_support_is_that_of_the_consensus(seed: int, tau: float) -> None:
    rng = np.random.default_rng(seed)
    pool = pool_geometry(
        [ReasoningGraph(rng.normal(size=(int(rng.integers(1, 5)), 3))) for _ in range(5)]
    )
    want = node_support(pool, tau=tau)
    for i, g in enumerate(pool.graphs):
        for v in range(g.n_nodes):
            e = step_evidence(pool, i, v, tau=tau)
            assert e.support == want[i][v]
            for f in e.nearest:
                x, y = g.embeddings[v], pool.graphs[f.graph].embeddings
                cosines = y @ x / (np.linalg.norm(y, axis=1) * np.linalg.norm(x))
                assert f.cosine == pytest.approx(cosines.max(), abs=1e-12)
                assert cosines[f.node] == pytest.approx(cosines.max(), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0), r"graph 1 is not in the pool: choose one of 0\.\.0"),
        ((-1, 0), "graph -1 is not in the pool"),
        ((0, 2), r"node 2 is not in graph 0: choose one of 0\.\.1"),
    ],
)
def test_evidence_refuses(arguments: tuple[int, int], message: str) -> None:
    pool = [ReasoningGraph([[1.0, 0.0], [0.0, 1.0]])]
    with pytest.raises(ValueError, match=message):
        step_evidence(pool, *arguments)
    with pytest.raises(ValueError, match="tau must lie"):
        step_evidence(pool, 0, 0, tau=1.5)


def test_every_number_of_a_pool_has_an_orientation() -> None:
    fields = {"grcs", "divergence", "dispersion", "entropy"} | {
        f for f in Laplacian.__slots__ if f not in ("n", "flags")
    }
    assert fields <= set(METRICS)
    assert METRICS["grcs"].kind == "coherence"
    assert {METRICS[k].kind for k in ("topo_uq", "semantic_entropy", "eigv", "deg", "ecc")} == {
        "uncertainty"
    }
    assert METRICS["cota"].kind == "agreement"
