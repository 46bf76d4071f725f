"""Error rates of a judge and the verdict drawn from them."""

from __future__ import annotations

import math

import pytest
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score

from scoring.agreement import (
    RANKING,
    RATE,
    REPLACING,
    AltTest,
    ErrorRates,
    VerdictRules,
    alt_test,
    category_scores,
    confusion_table,
    corrected_rate,
    corrected_rate_bootstrap,
    design_error_rates,
    error_rates,
    judge_verdict,
    stability,
    wilson,
)

HUMAN = ["a"] * 30 + ["b"] * 20 + ["c"] * 10
JUDGE = ["a"] * 25 + ["b"] * 5 + ["b"] * 12 + ["c"] * 8 + ["c"] * 7 + ["a"] * 3


def test_category_scores_are_scikit_learns() -> None:
    scores = category_scores(confusion_table(HUMAN, JUDGE))
    names = ["a", "b", "c"]
    assert [s.category for s in scores] == names
    assert [s.precision.value for s in scores] == pytest.approx(
        precision_score(HUMAN, JUDGE, labels=names, average=None).tolist()
    )
    assert [s.recall.value for s in scores] == pytest.approx(
        recall_score(HUMAN, JUDGE, labels=names, average=None).tolist()
    )
    assert scores[1].precision == wilson(12, 17)
    assert scores[1].recall == wilson(12, 20)


def test_an_unused_category_has_no_precision() -> None:
    scores = category_scores(confusion_table(["a", "b"], ["a", "a"], ["a", "b", "z"]))
    assert (scores[1].precision.value, scores[1].recall.value) == (None, 0.0)
    assert (scores[2].precision.value, scores[2].recall.value) == (None, None)


def test_error_rates_collapse_the_other_categories() -> None:
    r = error_rates(confusion_table(HUMAN, JUDGE), "b")
    # human b: 12 of 20; the others: 40 - 5 judged b
    assert (r.sensitivity, r.specificity) == (wilson(12, 20), wilson(35, 40))
    truth, said = [h == "b" for h in HUMAN], [j == "b" for j in JUDGE]
    assert r.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, said))
    low1, high1 = wilson(12, 20).ci or (0, 0)
    low0, high0 = wilson(35, 40).ci or (0, 0)
    assert r.balanced_ci == pytest.approx(
        (
            0.7375 - math.hypot(0.6 - low1, 0.875 - low0) / 2,
            0.7375 + math.hypot(high1 - 0.6, high0 - 0.875) / 2,
        )
    )


def test_error_rates_of_the_judge_example() -> None:
    """llm-judge-agreement's table [30, 10; 2, 78], fail and pass."""
    human = ["fail"] * 40 + ["pass"] * 80
    judge = ["fail"] * 30 + ["pass"] * 10 + ["fail"] * 2 + ["pass"] * 78
    r = error_rates(confusion_table(human, judge), "fail")
    assert r.sensitivity.value == 0.75
    assert r.sensitivity.ci == pytest.approx((0.598, 0.858), abs=5e-4)
    assert r.specificity.value == 0.975
    assert r.specificity.ci == pytest.approx((0.913, 0.993), abs=5e-4)


def test_a_missing_class() -> None:
    r = error_rates(confusion_table(["a", "a"], ["a", "b"]), "a")
    assert (r.sensitivity.value, r.specificity.value) == (0.5, None)
    assert (r.balanced_accuracy, r.balanced_ci) == (None, None)
    with pytest.raises(ValueError, match="positive is 'z', which is not among the categories"):
        error_rates(confusion_table(["a"], ["b"]), "z")


def errors(hit: int, n1: int, right: int, n0: int) -> ErrorRates:
    human = ["bad"] * n1 + ["ok"] * n0
    judge = ["bad"] * hit + ["ok"] * (n1 - hit) + ["ok"] * right + ["bad"] * (n0 - right)
    return error_rates(confusion_table(human, judge, ["bad", "ok"]), "bad")


GOOD = errors(57, 60, 112, 120)
RATE_OF_GOOD = corrected_rate(
    0.3, 1000, sensitivity=57 / 60, n_positive=60, specificity=112 / 120, n_negative=120
)


def passing() -> AltTest:
    return alt_test(["a", "b"] * 30, [["a", "b"] * 30] * 3)


def test_everything_allowed() -> None:
    v = judge_verdict(
        errors=GOOD,
        corrected=RATE_OF_GOOD,
        alt_test=passing(),
        stability=stability([["a", "a"]] * 10),
        parse_failures=wilson(3, 100),
    )
    assert [u.use for u in v.uses] == [RANKING, RATE, REPLACING]
    assert [u.allowed for u in v.uses] == [True, True, True]
    use, allowed, evidence = v.uses[1]
    assert (use, allowed) == (RATE, True)
    assert "it reports 0.300, corrected 0.264" in evidence
    assert "the rate as reported lies outside" not in evidence
    assert "60 positive, 120 negative labels" in v.uses[0].evidence
    assert "wins against 3 of 3 humans (omega 1.00" in v.uses[2].evidence
    assert v.allowed(RATE) is True


def test_too_few_labels_say_nothing_either_way() -> None:
    v = judge_verdict(errors=errors(19, 19, 200, 200), corrected=RATE_OF_GOOD)
    why = "19 human-positive and 200 human-negative labels, at least 20 of each are needed"
    assert v.uses[0] == (RANKING, None, why)
    assert v.uses[1] == (RATE, None, why)
    assert judge_verdict(errors=errors(20, 20, 200, 200)).allowed(RANKING) is True
    none = judge_verdict(errors=None)
    assert [u.allowed for u in none.uses] == [None, None, None]
    assert none.uses[0].evidence == "no category is named as the positive one"
    assert none.uses[2].evidence == (
        "not tested: it takes labels of two or more humans on the same items"
    )


def test_the_lower_end_decides() -> None:
    # balanced accuracy .75: with 20 labels a class its interval reaches below .7, with 400 not
    assert judge_verdict(errors=errors(15, 20, 15, 20)).allowed(RANKING) is False
    assert judge_verdict(errors=errors(300, 400, 300, 400)).allowed(RANKING) is True
    lax = VerdictRules(ranking_accuracy=0.55)
    assert judge_verdict(errors=errors(15, 20, 15, 20), rules=lax).allowed(RANKING) is True


def test_clusters_may_withdraw_what_independent_items_would_allow() -> None:
    # ten questions of 24 items; in each the judge is all right or half wrong
    human, judge, question = [], [], []
    for q in range(10):
        human += ["bad"] * 12 + ["ok"] * 12
        judge += ["bad"] * 12 + ["ok"] * 12 if q < 5 else (["bad"] * 6 + ["ok"] * 6) * 2
        question += [q] * 24
    plain = error_rates(confusion_table(human, judge), "bad")
    clustered = design_error_rates(
        human, judge, [1] * 240, positive="bad", clusters=question, seed=1
    )
    rules = VerdictRules(ranking_accuracy=0.65)
    assert judge_verdict(errors=plain, rules=rules).allowed(RANKING) is True
    found = judge_verdict(errors=plain, clustered=clustered, rules=rules)
    assert found.allowed(RANKING) is False
    low = ((clustered.informedness.ci or (0, 0))[0] + 1) / 2
    assert f"balanced accuracy 0.75, at least {low:.2f}" in found.uses[0].evidence


def test_rate() -> None:
    poor = errors(70, 100, 60, 100)
    v = judge_verdict(errors=poor, corrected=RATE_OF_GOOD)
    assert v.allowed(RATE) is False
    assert v.uses[1].evidence.startswith("sensitivity + specificity - 1 is at least 0.1")
    unknown = judge_verdict(errors=GOOD)
    assert unknown.allowed(RATE) is None
    assert unknown.uses[1].evidence.endswith("not corrected: no rate was given")
    wide = corrected_rate(
        0.3, 20, sensitivity=0.95, n_positive=60, specificity=0.93, n_negative=120
    )
    assert judge_verdict(errors=GOOD, corrected=wide).allowed(RATE) is False
    outside = corrected_rate(
        0.06, 5000, sensitivity=0.95, n_positive=500, specificity=0.95, n_negative=500
    )
    found = judge_verdict(errors=GOOD, corrected=outside)
    assert found.allowed(RATE) is True
    assert found.uses[1].evidence.endswith("the rate as reported lies outside")


def test_the_widest_interval_counts() -> None:
    # a judge without an observed error: by the delta method only the reported rate varies
    sure = corrected_rate(0.5, 5000, sensitivity=1, n_positive=8, specificity=1, n_negative=8)
    assert sure.ci is not None
    assert sure.ci[1] - sure.ci[0] < 0.03
    v = judge_verdict(errors=GOOD, corrected=sure)
    assert v.allowed(RATE) is False
    low, high = sure.adjusted_ci or (0, 0)
    assert f"corrected 0.500 ({low:.3f} to {high:.3f})" in v.uses[1].evidence


def test_a_bootstrap_interval_without_end_is_no_interval() -> None:
    endless = corrected_rate_bootstrap(
        0.5, 200, sensitivity=0.56, n_positive=50, specificity=0.5, n_negative=50
    )
    assert endless.ci is None
    v = judge_verdict(errors=GOOD, corrected=RATE_OF_GOOD, corrected_bootstrap=endless)
    assert v.allowed(RATE) is None


def test_hindrances_withdraw_every_permission() -> None:
    shaky = stability([["a", "b", "a"]] * 10)
    v = judge_verdict(errors=GOOD, corrected=RATE_OF_GOOD, alt_test=passing(), stability=shaky)
    assert [u.allowed for u in v.uses] == [False, False, False]
    assert v.uses[0].evidence.endswith(
        "asked again, it agrees with itself on 0.33 of the pairs, at least 0.80 is asked"
    )
    broken = judge_verdict(errors=GOOD, parse_failures=wilson(6, 100))
    assert broken.allowed(RANKING) is False
    assert broken.uses[0].evidence.endswith(
        "6 of 100 replies have no verdict, at most 5% are allowed"
    )
    # what is unknown stays unknown
    assert broken.allowed(RATE) is None


def test_replacing() -> None:
    failing = alt_test(["b"] * 60, [["a", "b"] * 30] * 3)
    v = judge_verdict(errors=GOOD, alt_test=failing)
    assert v.allowed(REPLACING) is False
    few = alt_test(["a"] * 9, [["a"] * 9] * 3)
    untested = judge_verdict(errors=GOOD, alt_test=few)
    assert untested.allowed(REPLACING) is None
    assert untested.uses[2].evidence.startswith("not tested: no human has 30 items")
    two = judge_verdict(errors=GOOD, alt_test=alt_test(["a", "b"] * 30, [["a", "b"] * 30] * 2))
    assert two.allowed(REPLACING) is True
    assert "2 humans: with fewer than 3 there is no consensus" in two.uses[2].evidence
