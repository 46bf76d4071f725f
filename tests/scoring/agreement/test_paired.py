"""McNemar's and Wilcoxon's tests."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from scoring.agreement import McNemar, Wilcoxon, mcnemar, wilcoxon_signed_rank


def test_fagerland_airway_data() -> None:
    """Fagerland, Lydersen and Laake (2013), airway hyper-responsiveness: b = 1, c = 7."""
    t = mcnemar(1, 7)
    assert (t.chi2, t.corrected) == (4.5, 3.125)
    assert t.chi2_p == pytest.approx(0.03389, abs=5e-6)
    assert t.corrected_p == pytest.approx(0.07710, abs=5e-6)
    assert t.exact_p == pytest.approx(0.0703125, abs=1e-12)
    assert t.mid_p == pytest.approx(0.0390625, abs=1e-12)
    assert t.why_undefined is None


def test_equal_discordants() -> None:
    t = mcnemar(3, 3)
    assert (t.chi2, t.chi2_p, t.corrected, t.corrected_p, t.exact_p) == (0, 1, 0, 1, 1)
    assert t.mid_p == pytest.approx(1 - math.comb(6, 3) / 2**6 / 2, abs=1e-12)


def test_single_discordant_pair() -> None:
    t = mcnemar(0, 1)
    assert (t.chi2, t.corrected, t.exact_p) == (1, 0, 1)
    assert t.mid_p == pytest.approx(0.5, abs=1e-12)


def test_no_discordant_pair_is_undefined() -> None:
    why = "no discordant pair: both always agree"
    assert mcnemar(0, 0) == McNemar(None, None, None, None, None, None, why)


@pytest.mark.parametrize(
    ("b", "c", "message"),
    [(-1, 2, "b is -1"), (1, 2.5, "c is 2.5"), (True, 2, "b is True"), (math.nan, 2, "b is nan")],
)
def test_counts_are_checked(b: int, c: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}: a count is a whole number"):
        mcnemar(b, c)


@given(st.integers(0, 60), st.integers(0, 60))
def test_against_statsmodels_and_the_sum_of_binomials(b: int, c: int) -> None:
    if b + c == 0:
        return
    t, low, n = mcnemar(b, c), min(b, c), b + c
    tail = sum(math.comb(n, i) for i in range(low + 1)) / 2**n
    point = math.comb(n, low) / 2**n
    assert t.exact_p == pytest.approx(min(1, 2 * tail), abs=1e-12)
    assert t.mid_p == pytest.approx(1 - point / 2 if b == c else 2 * tail - point, abs=1e-12)
    plain = statsmodels_mcnemar([[0, b], [c, 0]], exact=False, correction=False)
    assert (t.chi2, t.chi2_p) == pytest.approx((plain.statistic, plain.pvalue), abs=1e-12)
    if b != c:
        with_correction = statsmodels_mcnemar([[0, b], [c, 0]], exact=False, correction=True)
        assert t.corrected == pytest.approx(with_correction.statistic, abs=1e-12)
        assert t.corrected_p == pytest.approx(with_correction.pvalue, abs=1e-12)
    assert mcnemar(c, b) == t


# Plant heights, self against cross-fertilised, as in SciPy's documentation of wilcoxon.
PLANTS = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]


def test_wilcoxon_plants() -> None:
    t = wilcoxon_signed_rank(PLANTS)
    assert (t.statistic, t.method, t.n, t.zeros) == (24.0, "exact", 15, 0)
    assert t.p == pytest.approx(0.041259765625, abs=1e-12)


def test_wilcoxon_drops_zeros_and_shares_ranks() -> None:
    t = wilcoxon_signed_rank([0, 1, 2, 2, -3, 4, 5, 0])
    # ranks 1, 2.5, 2.5, 4, 5, 6: the negative one is 4; variance 6·7·13/24 - (2³ - 2)/48
    z = (4 - 6 * 7 / 4) / math.sqrt(6 * 7 * 13 / 24 - 6 / 48)
    assert (t.statistic, t.method, t.n, t.zeros) == (4.0, "normal", 6, 2)
    assert t.p == pytest.approx(math.erfc(-z / math.sqrt(2)), abs=1e-12)


def test_wilcoxon_smallest_sample() -> None:
    assert wilcoxon_signed_rank([2.5]).p == 1.0
    # all five of one sign: 2/2^5
    assert wilcoxon_signed_rank([1, 2, 3, 4, 5]).p == pytest.approx(1 / 16)


def test_wilcoxon_of_no_difference_is_undefined() -> None:
    assert wilcoxon_signed_rank([0, 0]) == Wilcoxon(None, None, None, 0, 2, "no pair differs")
    assert wilcoxon_signed_rank([]) == Wilcoxon(None, None, None, 0, 0, "no pair differs")


def test_wilcoxon_refuses_what_is_not_finite() -> None:
    with pytest.raises(ValueError, match="difference 1 is nan"):
        wilcoxon_signed_rank([1, math.nan])
