"""The metrics of a pool by name: what each is computed from, with values by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.graphs import (
    METRICS,
    PoolMetric,
    cota,
    embedding_entailment,
    graph_self_consistency,
    laplacian,
    pairwise_costs,
    pool_geometry,
    pool_metrics,
    redundancy,
    topo_uncertainty,
    with_missing_rule,
)
from scoring.graphs.metrics import ALL, CHEAP, DEAR
from scoring.parsing import parse_trace
from scoring.types import Fact, ReasoningGraph

WITHOUT_MODEL = tuple(name for name in ALL if name != "cota_model")


def metrics_of(
    graphs: list[ReasoningGraph], names: tuple[str, ...] = WITHOUT_MODEL, **how: Any
) -> dict[str, PoolMetric]:
    geometry = pool_geometry(graphs)
    costs = pairwise_costs(geometry, solver="scipy")
    distances = costs.distances()
    medoid = graph_self_consistency(geometry, distances).medoid
    return pool_metrics(geometry, costs, distances, medoid, names, solver="scipy", **how)


def random_pool(seed: int, n: int) -> list[ReasoningGraph]:
    rng = np.random.default_rng(seed)
    pool = []
    for i in range(n):
        size = int(rng.integers(1, 6))
        facts = [Fact(f"fact {i}.{k}", k) for k in range(size)]
        edges = [(int(rng.integers(v)), v) for v in range(1, size)]
        pool.append(
            ReasoningGraph(rng.normal(size=(size, 4)), edges, facts, f"answer {rng.integers(3)}")
        )
    return pool


def test_two_alike_and_one_at_right_angles() -> None:
    a = ReasoningGraph([[1.0, 0.0]], answer="a")
    b = ReasoningGraph([[0.0, 1.0]], answer="b")
    found = metrics_of([a, b, a])
    far = 0.6 * math.exp(-5)  # the similarity of the two kinds: S_term is 0, nGED 1
    assert found["semantic_entropy"].value == pytest.approx(
        -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3), abs=1e-12
    )
    assert found["semantic_entropy"].detail == {"meanings": 2}
    # One node a graph: at unit cost 1 apart or not at all, and a lone element costs 1 too.
    for name in ("topo_uq", "topo_uq_unit"):
        assert found[name].value == pytest.approx(2 / 9, abs=1e-12)
        assert found[name].detail["mean_distance"] == pytest.approx(2 / 3, abs=1e-12)
        assert (found[name].n, found[name].n_pairs) == (3, 3)
    # From the medoid, which is an a: one distance of 0 and one of 1.
    assert found["topo_uq_unit_anchor"].value == pytest.approx(1 / 4, abs=1e-12)
    assert found["topo_uq_unit_anchor"].n_pairs == 2
    assert found["cota"].value == pytest.approx(1 / 3, abs=1e-12)
    assert found["cota"].detail["uncertainty"] == pytest.approx(2 / 3, abs=1e-12)
    assert found["deg"].value == pytest.approx((9 - 3 - 2 - 4 * far) / 9, abs=1e-12)
    assert found["redundancy"].value == 0.0
    assert all(m.why_undefined is None for m in found.values())


@given(seed=st.integers(0, 10**6), n=st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_each_is_what_its_own_function_gives(seed: int, n: int) -> None:
    pool = random_pool(seed, n)
    geometry = pool_geometry(pool)
    distances = pairwise_costs(geometry, solver="scipy").distances()
    medoid = graph_self_consistency(geometry, distances).medoid
    found = metrics_of(pool)
    for name, cost, anchor in (
        ("topo_uq", "semantic", None),
        ("topo_uq_anchor", "semantic", medoid),
        ("topo_uq_unit", "unit", None),
        ("topo_uq_unit_anchor", "unit", medoid),
    ):
        want = topo_uncertainty(geometry, cost=cost, anchor=anchor, solver="scipy")  # type: ignore[arg-type]
        assert found[name].value == want.value
        assert found[name].n_pairs == want.n_pairs
    spectral = laplacian(np.maximum(0.0, 1.0 - distances))
    assert [found[k].value for k in ("eigv", "deg", "ecc")] == [
        spectral.eigv,
        spectral.deg,
        spectral.ecc,
    ]
    assert found["cota"].value == pytest.approx(cota(embedding_entailment(geometry)), abs=1e-12)
    shares = [redundancy(g, unit="step") for g in pool]
    assert found["redundancy"].detail["by_trace"] == shares
    assert found["redundancy"].value == pytest.approx(sum(shares) / n, abs=1e-12)


@given(seed=st.integers(0, 10**6), order=st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_pool_changes_no_metric(seed: int, order: list[int]) -> None:
    pool = random_pool(seed, 5)
    names = tuple(n for n in WITHOUT_MODEL if "anchor" not in n)  # ties may change the medoid
    found = metrics_of(pool, names)
    turned = metrics_of([pool[i] for i in order], names)
    for name in names:
        assert turned[name].value == pytest.approx(found[name].value, abs=1e-9)


def test_a_pool_of_one_says_why() -> None:
    found = metrics_of([ReasoningGraph([[1.0, 0.0]], answer="a")])
    assert found["semantic_entropy"].value == 0.0
    assert found["redundancy"].value == 0.0
    for name in ("topo_uq", "topo_uq_unit_anchor", "cota", "eigv", "deg", "ecc"):
        assert found[name].value is None
        assert "at least two" in str(found[name].why_undefined)


def test_a_model_is_asked_once_for_every_pair_of_texts_both_ways() -> None:
    graphs = [
        ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], [(0, 1)], [Fact("x", 0), Fact("y", 1)]),
        ReasoningGraph([[1.0, 0.0]], [], [Fact("z", 0)]),
        ReasoningGraph([[1.0, 0.0]], [], [Fact("z", 0)]),
    ]
    asked: list[tuple[str, str]] = []
    scores = {("x", "z"): 0.9, ("y", "z"): 0.5, ("z", "x"): 0.2, ("z", "y"): 0.3, ("z", "z"): 1.0}

    def entail(pairs: Any) -> list[float]:
        asked.extend(pairs)
        return [scores[pair] for pair in pairs]

    found = metrics_of(graphs, ("cota_model",), entail=entail)["cota_model"]
    assert sorted(asked) == sorted(scores)
    # (0.9 + 0.5 + 0.3) / 3 twice, and 1 for the two alike.
    assert found.value == pytest.approx((2 * 1.7 / 3 + 1.0) / 3, abs=1e-12)
    assert (found.n, found.n_pairs) == (3, 3)


@pytest.mark.parametrize("bad", [[0.5], [1.5, 0.5], [float("nan"), 0.5]])
def test_scores_that_are_none_are_refused(bad: list[float]) -> None:
    graphs = [ReasoningGraph([[1.0]], [], [Fact(t, 0)]) for t in "xy"]
    with pytest.raises(ValueError, match="one score in"):
        metrics_of(graphs, ("cota_model",), entail=lambda _pairs: bad)


def test_what_cannot_be_computed_is_refused() -> None:
    graphs = [ReasoningGraph([[1.0]]), ReasoningGraph([[1.0]])]
    with pytest.raises(ValueError, match="no metric 'odd': choose among"):
        metrics_of(graphs, ("odd",))
    with pytest.raises(ValueError, match="none was given"):
        metrics_of(graphs, ("cota_model",))
    with pytest.raises(ValueError, match="a graph has none"):
        metrics_of(graphs, ("cota_model",), entail=lambda pairs: [1.0] * len(pairs))


def test_every_metric_has_an_orientation_and_is_cheap_or_dear() -> None:
    assert set(ALL) <= set(METRICS)
    assert not set(CHEAP) & set(DEAR)


TEXTS = (
    "0. A. [depends_on: ]\n1. B.\n2. C. [depends_on: 0]\nFinal answer: yes",
    "0. A.\n1. B.\n2. C.\nFinal answer: yes",
    "0. A. [depends_on: ]\n1. B. [depends_on: 0]\nFinal answer: yes",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("rule", ["chain", "premise", "exclude"])
def test_a_rule_applied_afterwards_is_that_of_the_parser(text: str, rule: Any) -> None:
    later = with_missing_rule(parse_trace(text), rule)
    parsed = parse_trace(text, missing=rule)
    assert later.steps == parsed.steps
    assert later.answer == parsed.answer
    assert ("unannotated" in {i.code for i in later.issues}) == (
        "unannotated" in {i.code for i in parsed.issues}
    )


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="missing must be"):
        with_missing_rule(parse_trace(TEXTS[0]), "odd")  # type: ignore[arg-type]
