"""Design-weighted figures: by hand, against the unweighted ones, and their bootstrap."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from scoring.agreement import (
    DesignEstimate,
    cohen_kappa,
    design_error_rates,
    design_kappa,
    design_rate,
    kappa_bootstrap,
    kappa_from_table,
)

A = ["y"] * 30 + ["n"] * 30
B = ["y"] * 24 + ["n"] * 6 + ["y"] * 4 + ["n"] * 26


def test_equal_weights_are_the_plain_figures() -> None:
    """Whatever the common probability, with the same draws as the plain bootstrap."""
    questions = [i // 3 for i in range(60)]
    plain = kappa_bootstrap(A, B, questions, replicates=300, seed=4)
    r = design_kappa(A, B, [0.25] * 60, clusters=questions, replicates=300, seed=4)
    assert r.value == pytest.approx(plain.value)
    assert r.ci == pytest.approx(plain.ci)
    assert r.se == pytest.approx(plain.se)
    assert r.effective_n == pytest.approx(60)
    assert (r.n, r.clusters, r.replicates) == (60, 20, 300)
    assert (r.stratified, r.joined) == (False, ())


def test_kappa_is_that_of_the_population() -> None:
    """Weights 1 and 4 stand for items that were there once and four times."""
    a, b = [*A, None], [*B, "y"]
    inclusion = [0.25 if i % 2 else 1 for i in range(60)]
    whole_a = [x for x, p in zip(A, inclusion, strict=True) for _ in range(round(1 / p))]
    whole_b = [x for x, p in zip(B, inclusion, strict=True) for _ in range(round(1 / p))]
    r = design_kappa(a, b, [*inclusion, None], replicates=20)
    assert r.value == pytest.approx(cohen_kappa(whole_a, whole_b).value)
    # (30 + 120)²/(30 + 480)
    assert r.effective_n == pytest.approx(150**2 / 510)
    scale = ["n", "m", "y"]
    weighted = design_kappa(A, B, inclusion, categories=scale, weights="linear", replicates=20)
    assert weighted.value == pytest.approx(
        cohen_kappa(whole_a, whole_b, categories=scale, weights="linear").value
    )


def test_rate_by_hand() -> None:
    labels = ["y", "n", None, "y", "n"]
    inclusion = [0.5, 1, None, 0.25, 0.5]
    # weights 2, 1, 4, 2: positive 6 of 9
    r = design_rate(labels, inclusion, positive="y", replicates=50)
    assert r.value == pytest.approx(6 / 9)
    assert r.n == 4
    assert r.effective_n == pytest.approx(81 / 25)
    of_twelve = design_rate(labels, inclusion, positive="y", population=12, replicates=50)
    assert of_twelve.value == pytest.approx(6 / 12)


def stratified_sample(seed: int) -> dict[str, Any]:
    """Draw 40 of 400 agreements (rate .1) and all 30 disagreements (rate .7)."""
    random = Random(seed)
    labels = [random.random() < 0.1 for _ in range(40)] + [random.random() < 0.7 for _ in range(30)]
    return {
        "labels": labels,
        "inclusion": [0.1] * 40 + [1.0] * 30,
        "strata": ["agree"] * 40 + ["differ"] * 30,
    }


def test_stratified_error_of_a_rate() -> None:
    """Σ (N_h/N)² p (1 - p)/(n_h - 1), the textbook error without population correction."""
    sample = stratified_sample(2)
    r = design_rate(**sample, positive=True, replicates=6000, seed=1)
    p1 = sum(sample["labels"][:40]) / 40
    p2 = sum(sample["labels"][40:]) / 30
    want = math.sqrt((400 / 430) ** 2 * p1 * (1 - p1) / 39 + (30 / 430) ** 2 * p2 * (1 - p2) / 29)
    assert r.value == pytest.approx((400 * p1 + 30 * p2) / 430)
    assert r.se == pytest.approx(want, rel=0.04)
    assert (r.stratified, r.joined, r.clusters) == (True, (), 70)


def test_strata_that_differ_make_the_error_smaller() -> None:
    labels, strata = [1] * 36 + [0] * 8 + [1] * 4 + [0] * 32, ["a"] * 40 + ["b"] * 40
    within = design_rate(labels, [0.5] * 80, positive=1, strata=strata, replicates=4000, seed=1)
    across = design_rate(labels, [0.5] * 80, positive=1, replicates=4000, seed=1)
    # each stratum 36 or 4 of 40: mean of the two variances .09/39, halved; all: .25/80
    assert within.value == across.value == 0.5
    assert within.se == pytest.approx(math.sqrt(0.09 / 39 / 2), rel=0.05)
    assert across.se == pytest.approx(math.sqrt(0.25 / 80), rel=0.05)


def test_sampling_by_strata_is_undone_on_average() -> None:
    """Raw, the rate would be (4 + 21)/70 = .36; the population's is (40 + 21)/430 = .142."""
    values = [
        design_rate(**stratified_sample(s), positive=True, replicates=2).value or 0
        for s in range(200)
    ]
    assert float(np.mean(values)) == pytest.approx(61 / 430, abs=0.01)


def test_few_clusters_in_a_stratum() -> None:
    """Of m clusters m - 1 are drawn and counted m/(m - 1) times: the error is not too small."""
    labels = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    strata = ["a"] * 4 + ["b"] * 6
    clusters = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    r = design_rate(
        labels, [1] * 10, positive=1, strata=strata, clusters=clusters, replicates=8000, seed=2
    )
    # cluster means .5, 1 | 0, .5, 0: (4/10)²·s²/2 + (6/10)²·s²/3 with s² = 1/8 and 1/12
    assert r.se == pytest.approx(math.sqrt(0.16 / 16 + 0.36 / 36), rel=0.03)
    # every replicate keeps the size of its strata, so the mean of the replicates is the value
    assert r.ci is not None
    assert r.ci[0] >= 0
    assert r.ci[1] <= 1
    whole = design_rate(
        labels,
        [1] * 10,
        positive=1,
        population=10,
        strata=strata,
        clusters=clusters,
        replicates=8000,
        seed=2,
    )
    # the Hájek and the Horvitz-Thompson estimate agree replicate by replicate
    assert whole.se == pytest.approx(r.se, abs=1e-12)


def test_clusters_in_several_strata_are_drawn_over_all() -> None:
    r = design_rate(
        [1, 0, 1, 0], [1] * 4, positive=1, strata=["a", "b", "a", "b"], clusters=[1, 1, 2, 2]
    )
    assert (r.stratified, r.joined, r.clusters) == (False, (), 2)
    assert r.why_no_interval == "every replicate gives the same rate: no information on the error"


def test_lonely_strata_are_joined() -> None:
    labels, strata = [1, 0, 1, 0, 1, 0, 0], ["a", "a", "a", "b", "c", "d", "d"]
    r = design_rate(labels, [1] * 7, positive=1, strata=strata, replicates=50)
    assert (r.joined, r.stratified) == (("b", "c"), True)
    # all of stratum a positive: only the joined item of b makes the replicates differ
    one = design_rate([1, 1, 1, 0], [1] * 4, positive=1, strata=strata[:4], replicates=50)
    assert one.joined == ("b",)
    assert one.ci is not None
    assert one.ci[0] < 0.75 < one.ci[1]
    only = design_rate([1], [1], positive=1, strata=["a"])
    assert only.why_no_interval == "all items belong to one cluster: nothing to resample"


def test_error_rates_by_hand() -> None:
    human = ["bad", "bad", "bad", "ok", "ok", "ok", None, "bad"]
    judge = ["bad", "ok", "bad", "ok", "ok", "bad", "bad", None]
    inclusion = [1, 0.5, 0.25, 1, 0.2, 0.5, None, None]
    # weights 1, 2, 4 | 1, 5, 2: 5/7 and 6/8
    r = design_error_rates(human, judge, inclusion, positive="bad", replicates=400)
    assert r.sensitivity.value == pytest.approx(5 / 7)
    assert r.specificity.value == pytest.approx(6 / 8)
    assert r.informedness.value == pytest.approx(5 / 7 + 6 / 8 - 1)
    assert (r.sensitivity.n, r.specificity.n, r.informedness.n, r.dropped) == (3, 3, 6, 2)
    assert r.sensitivity.effective_n == pytest.approx(49 / 21)
    # all three positive items are missing from a replicate with probability (1/2)^6
    assert r.sensitivity.undefined / 400 == pytest.approx(1 / 64, abs=0.02)


def test_error_rates_come_near_the_binomial_error() -> None:
    human = ["bad"] * 100 + ["ok"] * 200
    judge = ["bad"] * 80 + ["ok"] * 20 + ["bad"] * 20 + ["ok"] * 180
    r = design_error_rates(human, judge, [1] * 300, positive="bad", replicates=4000, seed=1)
    assert r.sensitivity.se == pytest.approx(math.sqrt(0.8 * 0.2 / 100), rel=0.06)
    assert r.specificity.se == pytest.approx(math.sqrt(0.9 * 0.1 / 200), rel=0.06)
    assert r.informedness.se == pytest.approx(
        math.sqrt(0.8 * 0.2 / 100 + 0.9 * 0.1 / 200), rel=0.06
    )


def undefined(r: DesignEstimate) -> tuple[float | None, object, str | None]:
    return r.value, r.ci, r.why_undefined


def test_undefined() -> None:
    one = design_kappa(["y", "y"], ["y", "y"], [1, 0.5])
    why = kappa_from_table([[2]]).why_undefined
    assert undefined(one) == (None, None, why)
    none = design_kappa(["y", None], [None, "y"], [None, None])
    assert undefined(none) == (None, None, "no item has a label from both raters")
    assert (none.n, none.effective_n, none.clusters) == (0, 0.0, 0)
    assert undefined(design_rate([None], [None], positive=1)) == (None, None, "no item has a label")
    r = design_error_rates(["ok", "ok"], ["ok", "bad"], [1, 1], positive="bad")
    assert undefined(r.sensitivity) == (None, None, "no human-positive item with a verdict")
    assert r.specificity.value == 0.5
    assert r.informedness.why_undefined == r.sensitivity.why_undefined
    all_alike = design_rate([1, 1], [1, 0.5], positive=1)
    assert (all_alike.value, all_alike.ci) == (1.0, None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"inclusion": [1]}, "inclusion has 1 entries for 2 items"),
        ({"inclusion": [1, 0]}, r"inclusion\[1\] is 0"),
        ({"inclusion": [1, True]}, r"inclusion\[1\] is True"),
        ({"inclusion": [1, 2]}, r"inclusion\[1\] is 2"),
        ({"inclusion": [1, float("nan")]}, r"inclusion\[1\] is None"),
        ({"strata": ["a"]}, "strata has 1 entries for 2 items"),
        ({"strata": ["a", None]}, "item 1 has no stratum"),
        ({"clusters": [1, None]}, "item 1 has no cluster"),
        ({"replicates": 1}, "replicates is 1"),
        ({"level": 2}, "a confidence level"),
        ({"population": 1}, "population is 1: it holds at least the 2 labelled items"),
        ({"positive": "1"}, r"positive is '1' \(str\) but item 0 has 1 \(int\)"),
    ],
)
def test_refusals(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"labels": [1, 0], "inclusion": [1, 1], "positive": 1} | changed
    with pytest.raises(ValueError, match=message):
        design_rate(**given)
