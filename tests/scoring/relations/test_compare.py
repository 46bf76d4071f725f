"""Baselines, recovery, comparison of models, correlation of methods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from scoring.relations import (
    coin_flip_baseline,
    compare_models,
    recovery_curve,
    score_correlation,
)


def test_two_objects_by_coin_score_one_half() -> None:
    # Two askings: opposite answers (score 1) or equal ones (score 0), evenly.
    r = coin_flip_baseline(2, method="exact", draws=400)
    assert r.mean is not None
    assert r.mean == pytest.approx(0.5, abs=0.1)
    assert (r.low, r.high, r.unproved) == (0.0, 1.0, 0)


def test_a_coin_at_20_objects() -> None:
    parts = coin_flip_baseline(20, draws=100)
    exact = coin_flip_baseline(20, method="exact", draws=10)
    assert parts.mean is not None
    assert parts.sd is not None
    assert exact.mean is not None
    # 0.820 with sd 0.041 over 1500 draws of another seed; the exact score is 0.68.
    assert parts.mean == pytest.approx(0.82, abs=0.02)
    assert parts.sd == pytest.approx(0.041, abs=0.012)
    assert exact.mean == pytest.approx(0.68, abs=0.03)
    assert parts.low is not None
    assert parts.high is not None
    assert parts.low < parts.mean < parts.high


def test_a_model_that_has_one_answer_scores_one() -> None:
    for first in (0.0, 1.0):
        r = coin_flip_baseline(6, first=first, draws=3, method="exact")
        assert (r.mean, r.sd, r.low, r.high) == (1.0, 0.0, 1.0, 1.0)


def test_no_pair_no_baseline() -> None:
    r = coin_flip_baseline(1, draws=2)
    assert (r.mean, r.sd, r.low, r.high) == (None, None, None, None)
    assert coin_flip_baseline(3, draws=1).sd is None
    with pytest.raises(ValueError, match="draws is 0"):
        coin_flip_baseline(3, draws=0)
    with pytest.raises(ValueError, match=r"first is 1\.5"):
        coin_flip_baseline(3, first=1.5)


def test_recovery_worsens_with_flips() -> None:
    points = recovery_curve(20, [0.0, 0.1, 0.3, 0.5], method="local", repeats=4)
    errors = [p.error for p in points]
    assert errors[0] == points[0].score == 0.0
    assert errors == sorted(errors)
    assert errors[1] < 0.05
    assert errors[3] > 0.25
    assert [p.flipped for p in points] == [0, 38, 114, 190]
    # All answers turned round are consistent with the reversed order.
    (all_flipped,) = recovery_curve(6, [1.0], method="exact", repeats=1)
    assert (all_flipped.error, all_flipped.score, all_flipped.sd) == (1.0, 0.0, None)


def test_energy_recovers_51_objects_as_published() -> None:
    """The true order comes back almost whole when few answers are flipped (figure 6b)."""
    (point,) = recovery_curve(51, [0.05], repeats=2)
    assert point.error < 0.03


def test_recovery_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match=r"share 1\.2"):
        recovery_curve(3, [1.2])
    with pytest.raises(ValueError, match="two objects"):
        recovery_curve(1, [0.1])


def test_models_compared_by_hand() -> None:
    r = compare_models([0.1, 0.2, None, 0.4], [0.3, 0.4, 0.5, 0.6])
    assert (r.n, r.dropped) == (3, 1)
    assert r.difference == pytest.approx(-0.2)
    # Every set differs by -0.2, so every resample does.
    assert r.ci == pytest.approx((-0.2, -0.2))
    assert r.p == pytest.approx(2 / 10_001)


def test_equal_models_do_not_differ() -> None:
    r = compare_models([0.1, 0.5, 0.3], [0.1, 0.5, 0.3])
    assert (r.difference, r.ci, r.p) == (0.0, (0.0, 0.0), 1.0)


def test_interval_of_the_mean_is_that_of_theory() -> None:
    gaps = np.random.default_rng(3).normal(0.1, 0.2, size=200)
    r = compare_models((0.5 + gaps).tolist(), [0.5] * 200)
    assert r.ci is not None
    half = 1.96 * gaps.std() / 200**0.5
    assert r.ci[0] == pytest.approx(gaps.mean() - half, abs=0.1 * half)
    assert r.ci[1] == pytest.approx(gaps.mean() + half, abs=0.1 * half)


def test_too_few_sets() -> None:
    none = compare_models([None], [0.1])
    assert (none.difference, none.ci, none.p, none.n) == (None, None, None, 0)
    assert none.why_undefined == "no set has a score of both models"
    one = compare_models([0.1], [0.3])
    assert one.difference == pytest.approx(-0.2)
    assert (one.ci, one.p, one.why_undefined) == (None, None, "one set only: nothing to resample")
    with pytest.raises(ValueError, match="2 scores against 1"):
        compare_models([0.1, 0.2], [0.3])
    with pytest.raises(ValueError, match="level 2"):
        compare_models([0.1], [0.3], level=2)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12))
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(v) for v in column] for column in zip(*pairs, strict=True))
    r = score_correlation([*x, None], [*y, 0.5])
    assert (r.n, r.dropped) == (len(pairs), 1)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert r.pearson is None
        assert r.why_undefined == "one method gives every set the same score"
    else:
        assert r.pearson == pytest.approx(pearsonr(x, y).statistic, abs=1e-9)
        assert r.spearman == pytest.approx(spearmanr(x, y).statistic, abs=1e-9)


def test_correlation_needs_two_sets() -> None:
    assert score_correlation([0.1], [0.2]).why_undefined == "fewer than two sets with both scores"
    with pytest.raises(ValueError, match="1 scores against 0"):
        score_correlation([0.1], [])
