"""The judge report: its parts are those of the functions, over the same items."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.agreement import (
    StepLabel,
    alt_test,
    category_scores,
    cohen_kappa,
    confusion_table,
    corrected_rate,
    corrected_rate_clustered,
    design_error_rates,
    drift,
    error_rates,
    first_wrong_step,
    gwet_ac1,
    judge_report,
    kappa_bootstrap,
    prediction_powered_rate,
    stability,
    wilson,
)

HUMAN = ["bad"] * 25 + ["ok"] * 35 + [None] * 40 + ["bad"]
JUDGE = ["bad"] * 22 + ["ok"] * 3 + ["bad"] * 4 + ["ok"] * 31 + ["bad"] * 16 + ["ok"] * 24 + [None]
QUESTION = [i // 4 for i in range(101)]


def test_parts() -> None:
    r = judge_report(HUMAN, JUDGE, positive="bad", clusters=QUESTION, replicates=100, seed=3)
    table = confusion_table(HUMAN, JUDGE)
    assert r.table.table.tolist() == table.table.tolist() == [[22, 3], [4, 31]]
    assert r.kappa == cohen_kappa(HUMAN, JUDGE)
    assert r.clustered == kappa_bootstrap(HUMAN, JUDGE, QUESTION, replicates=100, seed=3)
    assert r.ac1 == gwet_ac1([HUMAN[:60], JUDGE[:60]])
    assert r.categories == category_scores(table)
    assert r.summary.observed == pytest.approx(53 / 60)
    assert r.n_unlabelled == 40
    rates = r.rates
    assert rates is not None
    assert rates.errors == error_rates(table, "bad")
    assert (rates.human, rates.judge) == (wilson(25, 60), wilson(42, 100))
    assert rates.clustered == design_error_rates(
        HUMAN, JUDGE, [1] * 101, positive="bad", clusters=QUESTION, replicates=100, seed=3
    )
    assert rates.corrected == corrected_rate(
        0.42, 100, sensitivity=22 / 25, n_positive=25, specificity=31 / 35, n_negative=35
    )
    assert rates.bootstrap == corrected_rate_clustered(
        HUMAN, JUDGE, positive="bad", clusters=QUESTION, replicates=100, seed=3
    )
    assert rates.powered == prediction_powered_rate(HUMAN, JUDGE, positive="bad", clusters=QUESTION)
    assert (r.parse_failures, r.stability, r.drift, r.steps, r.alt_test) == (None,) * 5


def test_without_clusters_items_are_independent() -> None:
    r = judge_report(HUMAN, JUDGE, positive="bad", replicates=50)
    assert r.rates is not None
    assert r.rates.powered == prediction_powered_rate(HUMAN, JUDGE, positive="bad")
    assert r.clustered.clusters == 60


def test_without_a_positive_category_there_are_no_rates() -> None:
    r = judge_report(HUMAN, JUDGE, replicates=50)
    assert r.rates is None
    assert [u.allowed for u in r.verdict.uses] == [None, None, None]
    assert len(r.categories) == 2


def test_inclusion_enters_what_concerns_the_population() -> None:
    inclusion = [0.5] * 25 + [1.0] * 35 + [None] * 41
    strata = ["x"] * 25 + ["y"] * 35 + [None] * 41
    r = judge_report(
        HUMAN, JUDGE, positive="bad", inclusion=inclusion, strata=strata, replicates=50
    )
    plain = judge_report(HUMAN, JUDGE, positive="bad", replicates=50)
    assert r.rates is not None
    assert plain.rates is not None
    assert r.kappa == plain.kappa
    assert r.rates.errors == plain.rates.errors
    assert r.rates.clustered.sensitivity.stratified
    assert r.rates.powered.human_rate == pytest.approx(50 / 85)
    assert plain.rates.powered.human_rate == pytest.approx(25 / 60)
    assert r.rates.corrected is not None
    assert (r.rates.corrected.n_positive, r.rates.corrected.n_negative) == (25, 35)
    # 12 items of weight 1 and 13 of weight 4 tell as much as (12 + 52)²/(12 + 208) = 18.6
    uneven = [1.0] * 12 + [0.25] * 13 + [1.0] * 35 + [None] * 41
    weighted = judge_report(HUMAN, JUDGE, positive="bad", inclusion=uneven, replicates=50)
    assert weighted.rates is not None
    assert weighted.rates.corrected is not None
    assert weighted.rates.corrected.n_positive == 18
    assert weighted.rates.bootstrap.n_positive == 25
    assert weighted.rates.corrected.value == weighted.rates.bootstrap.value


def test_declared_categories_count_in_ac1() -> None:
    r = judge_report(HUMAN, JUDGE, categories=["bad", "odd", "ok"], replicates=50)
    assert r.ac1 == gwet_ac1([HUMAN[:60], JUDGE[:60]], categories=["bad", "odd", "ok"])
    assert r.ac1.k == 3
    assert r.summary.pabak == pytest.approx((3 * 53 / 60 - 1) / 2)


def test_measured_parts_are_carried_and_judged() -> None:
    parts: dict[str, Any] = {
        "stability": stability([["a", "b"], ["a", "a"]]),
        "drift": drift(["a", "b"], ["a", "a"]),
        "steps": first_wrong_step([StepLabel(True)], [StepLabel(False, 1)]),
        "alt_test": alt_test(["a", "b"] * 30, [["a", "b"] * 30] * 3),
    }
    r = judge_report(HUMAN, JUDGE, positive="bad", parse_failures=(9, 110), replicates=50, **parts)
    assert (r.stability, r.drift, r.steps, r.alt_test) == tuple(parts.values())
    assert r.parse_failures == wilson(9, 110)
    assert [u.allowed for u in r.verdict.uses] == [False, False, False]
    for use in r.verdict.uses:
        assert "9 of 110 replies have no verdict" in use.evidence
        assert "agrees with itself on 0.50 of the pairs" in use.evidence


def test_nothing_to_compare() -> None:
    r = judge_report(
        ["bad", None, None],
        [None, "ok", None],
        categories=["bad", "ok"],
        positive="bad",
        replicates=50,
    )
    assert r.kappa.why_undefined == "no item has a label from both raters"
    assert r.rates is not None
    assert (r.rates.human.value, r.rates.judge.value, r.n_unlabelled) == (None, 0.0, 1)
    assert r.rates.bootstrap.why_undefined is not None
    assert r.rates.powered.why_undefined == "no item has both a label and a verdict"
    assert r.verdict.uses[0].evidence.startswith("0 human-positive and 0 human-negative labels")
    silent = judge_report(["bad"], [None], categories=["bad", "ok"], positive="bad", replicates=50)
    assert silent.rates is not None
    assert silent.rates.corrected is None
    assert silent.rates.bootstrap.why_undefined == "the judge gave no verdict"
