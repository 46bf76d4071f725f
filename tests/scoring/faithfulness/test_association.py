"""Correlations and their bootstrap: the worked case, scipy, then properties of the draws."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from scoring.agreement import mcnemar
from scoring.faithfulness import (
    correlation,
    correlation_bootstrap,
    correlations,
    distance_metric,
    paired_accuracy,
    trace_bootstrap,
)
from scoring.graphs import coherence

U = [0.5, 0.62, 0.71, 0.55, 0.8, 0.66]
F = [0.9, 0.6, 0.5, 0.7, 0.2, 0.6]
LISTS = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [5, 4, 3, 2, 1, 0], [1] * 6, [2, 3, 3, 4, 5, 5]]
REPLICATES: dict[str, tuple[float, float, float, list[float | None]]] = {
    "pearson": (
        -0.965293322829, -0.980781566525, -0.942468906065,
        [-0.969608718752, -0.981687473101, -0.969608718752, None, -0.940268380712],
    ),
    "spearman": (
        -0.992805380305, -1.0, -0.985610760609,
        [-0.985610760609, -1.0, -0.985610760609, None, -1.0],
    ),
    "kendall": (
        -0.98304589154, -1.0, -0.966091783079,
        [-0.966091783079, -1.0, -0.966091783079, None, -1.0],
    ),
}  # fmt: skip


def test_worked_correlations() -> None:
    c = correlations(U, F)
    assert (c.pearson, c.spearman, c.kendall) == pytest.approx(
        (-0.969608718752, -0.985610760609, -0.966091783079), abs=1e-9
    )
    assert (c.n, c.dropped, c.why_undefined) == (6, 0, None)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_worked_bootstrap(method: str) -> None:
    r = correlation_bootstrap(U, F, index_lists=LISTS)
    got = getattr(r, method)
    mean, low, high, values = REPLICATES[method]
    assert (got.mean, got.low, got.high) == pytest.approx((mean, low, high), abs=1e-9)
    assert (got.used, got.dropped) == (4, 1)
    assert [v is None for v in got.values] == [v is None for v in values]
    assert [v for v in got.values if v is not None] == pytest.approx(
        [v for v in values if v is not None], abs=1e-9
    )
    assert (r.replicates, r.draws, r.traces, r.questions, r.left_out) == (5, None, None, 6, 0)
    assert r.point == correlations(U, F)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=25))
def test_correlations_are_scipys_with_ties(pairs: list[tuple[int, int]]) -> None:
    u, f = ([float(p[i]) for p in pairs] for i in (0, 1))
    c = correlations(u, f)
    if len(set(u)) == 1 or len(set(f)) == 1:
        assert (c.pearson, c.spearman, c.kendall) == (None, None, None)
        return
    want = [r(u, f).statistic for r in (pearsonr, spearmanr, kendalltau)]
    assert [c.pearson, c.spearman, c.kendall] == pytest.approx(want, abs=1e-12)
    assert all(-1 <= x <= 1 for x in (c.pearson, c.spearman, c.kendall) if x is not None)
    flipped = correlations([-x for x in u], f)
    assert flipped.kendall == pytest.approx(-(c.kendall or 0), abs=1e-12)


def test_long_rows_are_sorted_to_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    u = rng.integers(6, size=60).astype(float).tolist()
    f = rng.normal(size=60).tolist()
    want = correlations(u, f)
    monkeypatch.setattr(correlation, "LONG_ROW", 10)
    got = correlations(u, f)
    assert (got.spearman, got.kendall) == pytest.approx((want.spearman, want.kendall), abs=1e-13)


def test_blocks_of_replicates_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    want = correlation_bootstrap(U, F, replicates=50, questions=6)
    monkeypatch.setattr(correlation, "SIGN_CELLS", 100)
    assert correlation_bootstrap(U, F, replicates=50, questions=6) == want


def test_missing_pairs_are_dropped_and_counted() -> None:
    c = correlations([*U, None, 0.3, math.nan], [*F, 0.5, None, 0.1])
    assert (c.n, c.dropped) == (6, 3)
    assert c.pearson == correlations(U, F).pearson


@pytest.mark.parametrize(
    ("u", "f", "why"),
    [
        ([], [], "0 defined pairs: at least 2 are needed"),
        ([1.0], [1.0], "1 defined pair: at least 2 are needed"),
        ([0.1, 0.1 + 1e-17, 0.1], [1.0, 2.0, 3.0], "the metric is the same for every question"),
        ([1.0, 2.0], [0.0, 0.0], "the faithfulness is the same for every question"),
        ([0.3, 0.1 + 0.2], [0.0, 1.0], "the metric is the same for every question"),
    ],
)
def test_undefined_correlations(u: list[float], f: list[float], why: str) -> None:
    c = correlations(u, f)
    assert (c.pearson, c.spearman, c.kendall, c.why_undefined) == (None, None, None, why)


def test_the_seed_fixes_the_draws() -> None:
    a = correlation_bootstrap(U, F, replicates=200, questions=6, seed=3)
    assert correlation_bootstrap(U, F, replicates=200, questions=6, seed=3) == a
    assert correlation_bootstrap(U, F, replicates=200, questions=6, seed=4) != a
    assert a.pearson.used + a.pearson.dropped == 200
    assert (a.draws, a.flags) == (6, ())
    assert correlation_bootstrap(U, F, replicates=5).flags == ("more_draws_than_questions",)


def test_draws_come_from_defined_questions_only() -> None:
    r = correlation_bootstrap([None, *U], [0.1, *F], replicates=100, questions=6, seed=5)
    assert (r.questions, r.left_out) == (6, 1)
    assert (
        r.pearson.values
        == correlation_bootstrap(U, F, replicates=100, questions=6, seed=5).pearson.values
    )


def test_mean_and_percentiles_are_those_of_the_defined_replicates() -> None:
    r = correlation_bootstrap(U, F, replicates=300, questions=3, seed=1, level=0.9).kendall
    defined = [v for v in r.values if v is not None]
    assert len(defined) == r.used < 300
    assert r.mean == pytest.approx(np.mean(defined), abs=1e-12)
    assert (r.low, r.high) == pytest.approx(np.percentile(defined, [5, 95]), abs=1e-12)


def test_no_question_leaves_every_replicate_undefined() -> None:
    r = correlation_bootstrap([None, None], [0.1, 0.2], replicates=7)
    assert (r.pearson.mean, r.pearson.low, r.pearson.high) == (None, None, None)
    assert (r.pearson.used, r.pearson.dropped, r.questions) == (0, 7, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index_lists": [[0], [6]]}, r"index list 1 names question 6: choose from 0\.\.5"),
        ({"index_lists": [[-1]]}, "index list 0 names question -1"),
        ({"replicates": 0}, "replicates is 0"),
        ({"questions": 0}, "questions is 0"),
        ({"level": 1.0}, "level must lie between 0 and 1"),
    ],
)
def test_bootstrap_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        correlation_bootstrap(U, F, **arguments)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match="1 metric values for 2 faithfulness values"):
        correlations([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="faithfulness value 1 is inf"):
        correlations([0.1, 0.2], [0.1, math.inf])
    with pytest.raises(ValueError, match="1 pool sizes for 2 questions"):
        trace_bootstrap(lambda q, t: 0.0, [0.1, 0.2], [3])
    with pytest.raises(ValueError, match="traces is 0"):
        trace_bootstrap(lambda q, t: 0.0, [0.1], [3], traces=0)
    with pytest.raises(ValueError, match="statistic must be one of"):
        distance_metric([], "median")  # type: ignore[arg-type]


def matrices(seed: int, sizes: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    out = []
    for n in sizes:
        d = rng.random((n, n))
        d = (d + d.T) / 2
        np.fill_diagonal(d, 0)
        out.append(d)
    return out


def test_all_traces_drawn_leaves_only_the_questions_to_chance() -> None:
    ds = matrices(0, [5, 6, 7, 5])
    f = [0.1, 0.5, 0.2, 0.9]
    sizes = [len(d) for d in ds]
    a = trace_bootstrap(distance_metric(ds), f, sizes, traces=7, replicates=60, questions=4, seed=8)
    grcs = [coherence(d).grcs for d in ds]
    b = correlation_bootstrap(grcs, f, replicates=60, questions=4, seed=8)
    for x, y in zip(a.pearson.values, b.pearson.values, strict=True):
        assert (x is None) == (y is None)
        assert x is None or x == pytest.approx(y, abs=1e-9)
    assert a.point.pearson == pytest.approx(b.point.pearson, abs=1e-12)


def test_traces_are_drawn_without_replacement_and_metrics_share_draws() -> None:
    asked: list[list[tuple[int, tuple[int, ...]]]] = [[], []]

    def metric(k: int) -> Any:
        def record(q: int, chosen: np.ndarray) -> float:
            asked[k].append((q, tuple(chosen.tolist())))
            return float(q + 10 * k * len(chosen))

        return record

    for k in (0, 1):
        trace_bootstrap(
            metric(k), [0.1, 0.5, None, 0.3], [12, 3, 12, 12], replicates=30, questions=5, seed=2
        )
    assert asked[0] == asked[1]
    whole, drawn = asked[0][:4], asked[0][4:]
    assert [len(t) for _, t in whole] == [12, 3, 12, 12]
    assert len(drawn) == 150
    assert {q for q, _ in drawn} == {0, 1, 3}
    assert {len(t) for q, t in drawn if q != 1} == {10}
    assert {t for q, t in drawn if q == 1} == {(0, 1, 2)}
    assert all(len(set(t)) == len(t) and sorted(t) == list(t) for _, t in drawn)
    assert len({t for q, t in drawn if q == 0}) > 10


@pytest.mark.parametrize("statistic", ["grcs", "divergence", "dispersion", "entropy"])
def test_distance_metric_is_the_coherence_of_the_chosen_traces(statistic: Any) -> None:
    ds = matrices(3, [9, 6])
    metric = distance_metric(ds, statistic)
    chosen = np.array([0, 2, 3, 5])
    for q in (0, 1):
        want = getattr(coherence(ds[q][np.ix_(chosen, chosen)]), statistic)
        assert metric(q, chosen) == pytest.approx(want, abs=1e-14)
    spread = distance_metric(ds, "dispersion")(0, chosen)
    assert spread is not None
    assert distance_metric(ds, "variance")(0, chosen) == pytest.approx(spread**2, abs=1e-14)
    assert metric(0, np.array([1])) is None


def test_a_pool_of_one_trace_is_left_out_of_its_replicates() -> None:
    ds = matrices(5, [6, 6, 6, 1])
    r = trace_bootstrap(
        distance_metric(ds),
        [0.1, 0.5, 0.2, 0.9],
        [6, 6, 6, 1],
        replicates=40,
        questions=6,
        traces=4,
    )
    assert (r.questions, r.left_out, r.point.dropped) == (3, 1, 1)
    assert r.pearson.used > 30


def test_paired_accuracy() -> None:
    sc = [True] * 5 + [False] * 4 + [None, True]
    gsc = [True] * 3 + [False] * 2 + [True] * 1 + [False] * 3 + [True, None]
    r = paired_accuracy(sc, gsc)
    assert (r.both, r.first_only, r.second_only, r.neither) == (3, 2, 1, 3)
    assert (r.n, r.dropped) == (9, 2)
    assert (r.first, r.second, r.difference) == pytest.approx((5 / 9, 4 / 9, -1 / 9), abs=1e-15)
    assert r.test == mcnemar(2, 1)
    empty = paired_accuracy([], [])
    assert (empty.first, empty.second, empty.difference) == (None, None, None)
    assert empty.test.why_undefined == "no discordant pair: both always agree"
    with pytest.raises(ValueError, match="1 first results for 0 second ones"):
        paired_accuracy([True], [])
