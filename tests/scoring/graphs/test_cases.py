"""The worked cases: pairs, pools and entropies with values computed independently of us."""

import json
import pathlib
from typing import Any, Literal

import numpy as np
import pytest

from scoring.graphs import (
    ReasoningGraph,
    coherence,
    graph_self_consistency,
    histogram_entropy,
    pairwise_distances,
    self_consistency,
    ss_ged,
)
from scoring.graphs.coherence import _bin_count

CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
MODES: tuple[Literal["concat", "mean"], ...] = ("concat", "mean")
TOLERANCE = 1e-9


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == kind]


def graphs(case: dict[str, Any]) -> list[ReasoningGraph]:
    return [ReasoningGraph(g["nodes"], g["edges"], answer=g["answer"]) for g in case["graphs"]]


def undefined_as_nan(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values])


def test_all_cases_are_there() -> None:
    kinds = [c["kind"] for c in CASES]
    assert (kinds.count("pair"), kinds.count("pool"), kinds.count("entropy_fd")) == (9, 4, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", of_kind("pair"))
def test_pair(case: dict[str, Any], mode: Literal["concat", "mean"]) -> None:
    g, h = graphs(case)
    want = case["expected"][mode]
    r = ss_ged(g, h, edge_embedding=mode, **case["params"])
    got = (r.node_cost, r.edge_cost, r.nged, r.s_term, r.s_struct, r.similarity, r.distance)
    keys = ("cost_v", "cost_e", "nged", "s_term", "s_struct", "S", "d")
    assert got == pytest.approx([want[k] for k in keys], abs=TOLERANCE)
    assert r.node_cost + r.edge_cost == pytest.approx(want["c_edit"], abs=TOLERANCE)
    back = ss_ged(h, g, edge_embedding=mode, **case["params"])
    assert back == r
    assert back.distance == pytest.approx(case["expected"][f"{mode}_reversed_d"], abs=TOLERANCE)
    assert pairwise_distances([g, h], edge_embedding=mode)[0, 1] == pytest.approx(
        want["d"], abs=TOLERANCE
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", of_kind("pool"))
def test_pool_distances_and_coherence(
    case: dict[str, Any], mode: Literal["concat", "mean"]
) -> None:
    want = case["expected"][mode]
    d = pairwise_distances(graphs(case), edge_embedding=mode)
    np.testing.assert_allclose(d, want["D"], atol=TOLERANCE, rtol=0)
    c = coherence(d)
    for name in ("grcs", "divergence", "dispersion", "entropy"):
        got = getattr(c, name)
        if want[name] is None:
            assert got is None
        else:
            assert got == pytest.approx(want[name], abs=TOLERANCE)
    assert c.n == len(want["D"])
    assert c.n_bins == want["fd_bins"]
    assert ("iqr_zero" in c.flags) == want["fd_degenerate"]
    assert ("fewer_than_two" in c.flags) == (c.n < 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", of_kind("pool"))
def test_pool_decoding(case: dict[str, Any], mode: Literal["concat", "mean"]) -> None:
    want, params = case["expected"][mode], case["params"]
    pool = graphs(case)
    d = pairwise_distances(pool, edge_embedding=mode)
    r = graph_self_consistency(pool, d, alpha=params["alpha"], tau=params["tau"])
    np.testing.assert_allclose(r.centrality, want["C"], atol=TOLERANCE)
    np.testing.assert_allclose(r.consensus, undefined_as_nan(want["P"]), atol=TOLERANCE)
    np.testing.assert_allclose(r.scores, undefined_as_nan(want["scores"]), atol=TOLERANCE)
    assert (r.medoid, r.tied) == (want["medoid"], want["tie"])
    assert r.answer == case["expected"]["gsc_answer"]
    assert ("tied_medoid" in r.flags) == want["tie"]
    assert ("nonpositive_centrality" in r.flags) == want["degenerate"]
    assert ("single_trace" in r.flags) == (len(pool) == 1)
    for g, got, support in zip(pool, r.node_support, case["expected"]["support"], strict=True):
        expected = np.full(g.n_nodes, np.nan) if support is None else support
        np.testing.assert_allclose(got, expected, atol=TOLERANCE)


@pytest.mark.parametrize("case", of_kind("pool"))
def test_pool_vote(case: dict[str, Any]) -> None:
    vote = self_consistency(g["answer"] for g in case["graphs"])
    assert vote.answer == case["expected"]["sc_answer"]
    assert vote.tied == case["expected"]["sc_tie"]


@pytest.mark.parametrize("case", of_kind("entropy_fd"))
def test_entropy(case: dict[str, Any]) -> None:
    values, want = case["input"], case["expected"]
    assert histogram_entropy(values) == pytest.approx(want["entropy"], abs=TOLERANCE)
    ordered = np.sort(np.asarray(values, dtype=float))
    assert _bin_count(ordered, "fd") == (want["bins"], want["degenerate"])
