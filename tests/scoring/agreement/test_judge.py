"""Wilson intervals and the corrected rate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from scoring.agreement import corrected_rate, wilson


@pytest.mark.parametrize(
    ("k", "n", "ci"),
    [(30, 40, (0.598, 0.858)), (78, 80, (0.913, 0.993))],  # llm-judge-agreement's example
)
def test_wilson_of_the_judge_example(k: int, n: int, ci: tuple[float, float]) -> None:
    r = wilson(k, n)
    assert r.ci == pytest.approx(ci, abs=5e-4)
    assert (r.value, r.k, r.n, r.level, r.why_undefined) == (k / n, k, n, 0.95, None)


def test_wilson_at_the_ends_has_width() -> None:
    z2 = 1.959963984540054**2
    none, all_ = wilson(0, 10), wilson(10, 10)
    assert none.ci == pytest.approx((0, z2 / (10 + z2)), abs=1e-12)
    assert all_.ci == pytest.approx((10 / (10 + z2), 1), abs=1e-12)


def test_wilson_without_items_is_undefined() -> None:
    r = wilson(0, 0)
    assert (r.value, r.ci, r.why_undefined) == (None, None, "no item to count")


def test_wilson_refusals() -> None:
    with pytest.raises(ValueError, match="k is 5 of n = 4"):
        wilson(5, 4)
    with pytest.raises(ValueError, match="n is -1"):
        wilson(0, -1)
    with pytest.raises(ValueError, match="a confidence level"):
        wilson(1, 2, level=1)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels_and_holds_the_share(kn: tuple[int, int]) -> None:
    k, n = kn
    r = wilson(k, n, level=0.9)
    assert r.ci is not None
    assert r.ci == pytest.approx(proportion_confint(k, n, alpha=0.1, method="wilson"), abs=1e-12)
    assert 0 <= r.ci[0] <= k / n <= r.ci[1] <= 1


def test_corrected_rate_of_the_judge_example() -> None:
    """The llm-judge-agreement example: 320 of 400 passed, TPR 78/80, TNR 30/40."""
    r = corrected_rate(0.8, 400, sensitivity=0.975, n_positive=80, specificity=0.75, n_negative=40)
    assert r.value == pytest.approx(0.7586, abs=5e-5)
    assert r.uncut == r.value
    assert r.ci == pytest.approx((0.680, 0.837), abs=5e-4)
    assert (r.rate, r.n, r.n_positive, r.n_negative) == (0.8, 400, 80, 40)
    assert (r.why_undefined, r.why_no_interval) == (None, None)


def test_corrected_rate_of_judgys_readme() -> None:
    """5 of 8 passed, TPR 3/4, TNR 3/4: .75, not the .625 reported by the judge."""
    r = corrected_rate(5 / 8, 8, sensitivity=3 / 4, n_positive=4, specificity=3 / 4, n_negative=4)
    assert r.value == pytest.approx(0.75)
    # [15/64/8 + (1/16)(3/16)/4 + (9/16)(3/16)/4]/(1/4)
    assert r.se == pytest.approx(math.sqrt((15 / 512 + 3 / 1024 + 27 / 1024) * 4))


def test_a_perfect_judge_leaves_the_rate_and_its_own_error() -> None:
    r = corrected_rate(0.3, 100, sensitivity=1, n_positive=50, specificity=1, n_negative=50)
    assert r.value == pytest.approx(0.3)
    assert r.se == pytest.approx(math.sqrt(0.3 * 0.7 / 100))


@pytest.mark.parametrize(("tpr", "tnr"), [(0.5, 0.5), (0.7, 0.3), (1 / 3, 2 / 3), (0.2, 0.6)])
def test_no_better_than_chance_is_refused(tpr: float, tnr: float) -> None:
    r = corrected_rate(0.4, 50, sensitivity=tpr, n_positive=30, specificity=tnr, n_negative=30)
    assert (r.value, r.uncut, r.se, r.ci) == (None, None, None, None)
    assert r.why_undefined == (
        f"sensitivity {tpr:.3f} + specificity {tnr:.3f} <= 1: the judge is no better than chance, "
        "so its rate cannot be corrected"
    )
    assert r.why_no_interval == r.why_undefined


def test_missing_error_rates_are_refused() -> None:
    r = corrected_rate(0.4, 50, sensitivity=None, n_positive=0, specificity=0.9, n_negative=30)
    assert r.value is None
    assert r.why_undefined == "no human-positive item: the judge's sensitivity is not known"
    r = corrected_rate(0.4, 50, sensitivity=0.9, n_positive=30, specificity=None, n_negative=0)
    assert r.why_undefined == "no human-negative item: the judge's specificity is not known"


def test_impossible_estimates_are_cut_and_shown() -> None:
    # 2 % reported although the judge passes 20 % of the negatives: (.02 - .2)/.7 = -.257
    r = corrected_rate(0.02, 1000, sensitivity=0.9, n_positive=500, specificity=0.8, n_negative=500)
    assert r.uncut == pytest.approx(-0.18 / 0.7)
    assert (r.value, r.ci) == (0.0, None)
    assert r.why_undefined is None
    assert r.why_no_interval is not None
    assert r.why_no_interval.endswith("lies outside 0..1: the error rates do not fit")
    # with few negatives the same estimate is within error of 0
    few = corrected_rate(0.02, 1000, sensitivity=0.9, n_positive=50, specificity=0.8, n_negative=5)
    assert few.ci is not None
    assert few.ci[0] == 0.0
    assert few.ci[1] > 0


def test_no_error_gives_no_interval() -> None:
    r = corrected_rate(1, 20, sensitivity=1, n_positive=9, specificity=1, n_negative=4)
    assert (r.value, r.se, r.ci) == (1.0, 0.0, None)
    assert r.why_no_interval == "the standard error is 0: no information on it"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rate": 1.2}, "rate is 1.2"),
        ({"rate": 80}, "rate is 80: a share lies between 0 and 1"),
        ({"n": 0}, "n is 0"),
        ({"sensitivity": -0.1}, "sensitivity is -0.1"),
        ({"n_negative": 2.5}, "n_negative is 2.5"),
    ],
)
def test_corrected_rate_checks_its_input(changed: dict[str, float], message: str) -> None:
    given_ = {"rate": 0.5, "n": 10, "sensitivity": 0.9, "specificity": 0.9} | changed
    counts = {"n_positive": 5, "n_negative": 5} | {
        k: given_.pop(k) for k in list(given_) if k in ("n_positive", "n_negative")
    }
    with pytest.raises(ValueError, match=message):
        corrected_rate(**given_, **counts)  # type: ignore[arg-type]


@given(
    st.floats(0, 1),
    st.floats(0.55, 1),
    st.floats(0.55, 1),
)
def test_correction_undoes_the_judges_errors(theta: float, tpr: float, tnr: float) -> None:
    reported = theta * tpr + (1 - theta) * (1 - tnr)
    r = corrected_rate(
        reported, 100, sensitivity=tpr, n_positive=50, specificity=tnr, n_negative=50
    )
    assert r.value == pytest.approx(theta, abs=1e-9)
