"""Bootstrap intervals of the corrected rate, and Lang and Reiczigel's."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import (
    corrected_rate,
    corrected_rate_bootstrap,
    corrected_rate_clustered,
    wilson,
)

# The llm-judge-agreement example: 320 of 400 passed, TPR 78/80, TNR 30/40.
RATES: dict[str, Any] = {
    "sensitivity": 0.975,
    "n_positive": 80,
    "specificity": 0.75,
    "n_negative": 40,
}


def test_counts_of_the_judge_example() -> None:
    """Its published bootstrap interval is .673-.841, the delta one .680-.837."""
    r = corrected_rate_bootstrap(0.8, 400, **RATES, replicates=20000, seed=1)
    delta = corrected_rate(0.8, 400, **RATES)
    assert r.value == delta.value == pytest.approx(0.7586, abs=5e-5)
    assert r.ci == pytest.approx((0.673, 0.841), abs=0.008)
    assert r.se == pytest.approx(delta.se, rel=0.1)
    assert (r.n, r.n_positive, r.n_negative, r.clusters, r.replicates) == (400, 80, 40, None, 20000)
    assert (r.undefined, r.why_undefined, r.why_no_interval) == (0, None, None)


def test_the_error_of_the_reported_rate_counts() -> None:
    """With a judge known to be perfect nothing else is left: p (1 - p)/n."""
    r = corrected_rate_bootstrap(
        0.3,
        100,
        sensitivity=1,
        n_positive=50,
        specificity=1,
        n_negative=50,
        replicates=4000,
        seed=2,
    )
    assert r.se == pytest.approx(math.sqrt(0.3 * 0.7 / 100), rel=0.05)
    few = corrected_rate_bootstrap(0.8, 20, **RATES, seed=3)
    many = corrected_rate_bootstrap(0.8, 100_000, **RATES, seed=3)
    assert (few.se or 0) > 1.3 * (many.se or 0)


def test_replicates_that_cannot_be_corrected() -> None:
    # TPR + TNR - 1 = .06 on 50 labels a class, error sqrt((.2464 + .25)/50) = .0996
    r = corrected_rate_bootstrap(
        0.5, 200, sensitivity=0.56, n_positive=50, specificity=0.5, n_negative=50, seed=4
    )
    assert r.value is not None
    assert r.undefined / 2000 == pytest.approx(NormalDist(0.06, 0.0996).cdf(0.01), abs=0.03)
    assert (r.se, r.ci) == (None, None)
    assert r.why_no_interval == (
        f"in {r.undefined} of 2000 replicates the judge is no better than chance: "
        "the interval has no end"
    )
    bad = corrected_rate_bootstrap(
        0.5, 200, sensitivity=0.4, n_positive=50, specificity=0.5, n_negative=50
    )
    assert (bad.value, bad.ci, bad.replicates) == (None, None, 0)
    assert bad.why_undefined == bad.why_no_interval
    assert "no better than chance" in (bad.why_undefined or "")


def test_seed_and_refusals() -> None:
    one = corrected_rate_bootstrap(0.8, 400, **RATES, seed=9)
    assert one == corrected_rate_bootstrap(0.8, 400, **RATES, seed=np.random.default_rng(9))
    with pytest.raises(ValueError, match="replicates is 0"):
        corrected_rate_bootstrap(0.8, 400, **RATES, replicates=0)
    with pytest.raises(ValueError, match=r"rate is 1\.2"):
        corrected_rate_bootstrap(1.2, 400, **RATES)


def test_lang_reiczigel_by_the_published_formula() -> None:
    r = corrected_rate(0.8, 400, **RATES)
    z2 = 1.959963984540054**2
    p, se, sp = (320 + z2 / 2) / (400 + z2), 79 / 82, 31 / 42
    theta = (p + sp - 1) / (se + sp - 1)
    spread1, spread0 = se * (1 - se) / 82, sp * (1 - sp) / 42
    moved = theta + 2 * z2 * (theta * spread1 - (1 - theta) * spread0)
    variance = p * (1 - p) / (400 + z2) + theta**2 * spread1 + (1 - theta) ** 2 * spread0
    half = math.sqrt(z2 * variance) / (se + sp - 1)
    assert r.adjusted_ci == pytest.approx((moved - half, moved + half), abs=1e-12)


def test_lang_reiczigel_has_width_without_an_observed_error() -> None:
    r = corrected_rate(1, 20, sensitivity=1, n_positive=9, specificity=1, n_negative=4)
    assert r.ci is None
    assert r.adjusted_ci is not None
    assert r.adjusted_ci == pytest.approx((0.8001, 1), abs=5e-5)
    refused = corrected_rate(0.4, 50, sensitivity=0.5, n_positive=9, specificity=0.5, n_negative=9)
    assert refused.adjusted_ci is None


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
)
def test_lang_reiczigel_stays_inside(
    rate: tuple[int, int], tpr: tuple[int, int], tnr: tuple[int, int]
) -> None:
    r = corrected_rate(
        rate[0] / rate[1],
        rate[1],
        sensitivity=tpr[0] / tpr[1],
        n_positive=tpr[1],
        specificity=tnr[0] / tnr[1],
        n_negative=tnr[1],
    )
    if r.adjusted_ci is not None:
        assert r.value is not None
        assert 0 <= r.adjusted_ci[0] <= r.adjusted_ci[1] <= 1


HUMAN = ["bad"] * 20 + ["ok"] * 30 + [None] * 50
JUDGE = ["bad"] * 16 + ["ok"] * 4 + ["bad"] * 3 + ["ok"] * 27 + ["bad"] * 20 + ["ok"] * 30


def test_clustered_estimate_and_single_item_clusters() -> None:
    r = corrected_rate_clustered(HUMAN, JUDGE, positive="bad", replicates=4000, seed=1)
    # rate 39/100, TPR 16/20, TNR 27/30
    assert (r.rate, r.sensitivity, r.specificity) == (0.39, 0.8, 0.9)
    assert r.value == pytest.approx((0.39 + 0.9 - 1) / 0.7)
    assert (r.n, r.n_positive, r.n_negative, r.clusters, r.dropped) == (100, 20, 30, 100, 0)
    # The delta error takes the rate as independent of the labelled items it includes; the exact
    # large-sample one, by influences of single items:
    truth = np.array([h == "bad" for h in HUMAN], dtype=float)
    labelled = np.array([h is not None for h in HUMAN])
    says = np.array([j == "bad" for j in JUDGE], dtype=float)
    theta = r.value or 0
    influence = (says - 0.39) / 100
    hit = labelled * truth * (says - 0.8) / 20
    right = labelled * (1 - truth) * (1 - says - 0.9) / 30
    influence = (influence + (1 - theta) * right - theta * hit) / 0.7
    # on ten times as many items, where higher orders are gone
    large = corrected_rate_clustered(HUMAN * 10, JUDGE * 10, positive="bad", seed=1)
    assert large.se == pytest.approx(math.sqrt((influence**2).sum() / 10), rel=0.05)


def test_all_labelled_gives_the_humans_rate() -> None:
    human, judge = HUMAN[:50], JUDGE[:50]
    r = corrected_rate_clustered(human, judge, positive="bad", replicates=4000, seed=1)
    assert r.value == pytest.approx(20 / 50, abs=1e-12)
    assert r.se == pytest.approx(math.sqrt(0.4 * 0.6 / 50), rel=0.05)


def test_copies_in_a_cluster_add_nothing() -> None:
    once = corrected_rate_clustered(HUMAN, JUDGE, positive="bad", clusters=range(100), seed=3)
    many = corrected_rate_clustered(
        HUMAN * 3, JUDGE * 3, positive="bad", clusters=list(range(100)) * 3, seed=3
    )
    assert many.ci == pytest.approx(once.ci, abs=1e-12)
    assert many.value == pytest.approx(once.value)
    assert (many.clusters, many.n) == (100, 300)


def test_inclusion_weights_the_error_rates() -> None:
    human = ["bad", "bad", "bad", "ok", "ok", None]
    judge = ["bad", "bad", "ok", "ok", "bad", "ok"]
    # weights 1, 1, 4 and 2, 1: TPR 2/6, TNR 2/3
    inclusion = [1, 1, 0.25, 0.5, 1, None]
    r = corrected_rate_clustered(human, judge, positive="bad", inclusion=inclusion, replicates=50)
    assert (r.sensitivity, r.specificity) == pytest.approx((2 / 6, 2 / 3))
    assert r.rate == 0.5
    assert r.why_undefined is not None


def test_missing_verdicts_and_classes() -> None:
    r = corrected_rate_clustered(["bad", None], [None, None], positive="bad")
    assert (r.value, r.rate, r.n, r.dropped) == (None, None, 0, 2)
    assert r.why_undefined == "the judge gave no verdict"
    r = corrected_rate_clustered(["ok", None, "ok"], ["ok", "bad", None], positive="bad")
    assert (r.rate, r.n, r.dropped) == (0.5, 2, 1)
    assert r.why_undefined == "no human-positive item: the judge's sensitivity is not known"
    r = corrected_rate_clustered(HUMAN, JUDGE, positive="bad", clusters=["q"] * 100)
    assert r.value is not None
    assert r.why_no_interval == "all items belong to one cluster: nothing to resample"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"judge": JUDGE[1:]}, "the human has 100 labels and the judge 99"),
        ({"positive": None}, "positive is None"),
        ({"clusters": [1]}, "clusters has 1 entries for 100 items"),
        ({"inclusion": [0.5] * 99}, "inclusion has 99 entries for 100 items"),
        ({"inclusion": [0.5, 0] + [1] * 98}, r"inclusion\[1\] is 0"),
        ({"inclusion": [None] * 100}, r"inclusion\[0\] is None"),
        ({"inclusion": [1.5] * 100}, r"inclusion\[0\] is 1\.5"),
    ],
)
def test_refusals(changed: dict[str, object], message: str) -> None:
    given_ = {"human": HUMAN, "judge": JUDGE, "positive": "bad"} | changed
    with pytest.raises(ValueError, match=message):
        corrected_rate_clustered(**given_)  # type: ignore[arg-type]


def test_positive_of_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"positive is 1 \(int\) but item 0 has '1' \(str\)"):
        corrected_rate_clustered(["1", "0"], ["1", "0"], positive=1)


def test_wilson_of_the_same_share_is_beside_it() -> None:
    """At full labelling and a perfect judge the interval is near Wilson's of the rate."""
    r = corrected_rate_clustered(HUMAN[:50], HUMAN[:50], positive="bad", replicates=4000, seed=5)
    assert r.ci == pytest.approx(wilson(20, 50).ci, abs=0.03)
