"""The Stuart-Maxwell test: statsmodels, McNemar, groups of disagreements, undefined cases."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import SquareTable

from scoring.agreement import confusion_table, mcnemar, stuart_maxwell


def test_by_hand() -> None:
    # row - column sums: (35-23, 48-45, 45-60) = (12, 3, -15); V = [13, -8... for the first two:
    # V11 = 10+5+3+0 = 18, V12 = -13, V22 = 10+3+15+5 = 33
    t = stuart_maxwell([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    det = 18 * 33 - 13**2
    want = (12 * (33 * 12 + 13 * 3) + 3 * (13 * 12 + 18 * 3)) / det
    assert t.statistic == pytest.approx(want)
    assert (t.df, t.n, t.discordant) == (2, 128, 38)
    assert t.p == pytest.approx(float(chi2.sf(want, 2)))
    assert t.shifts == pytest.approx((-12 / 128, -3 / 128, 15 / 128))
    assert t.why_undefined is None


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.integers(1, 30), min_size=k * k, max_size=k * k)
    )
)
def test_equals_statsmodels_where_every_cell_is_filled(cells: list[int]) -> None:
    k = round(len(cells) ** 0.5)
    table = np.array(cells).reshape(k, k)
    want = SquareTable(table, shift_zeros=False).homogeneity(method="stuart_maxwell")
    t = stuart_maxwell(table)
    assert t.statistic == pytest.approx(want.statistic, rel=1e-9, abs=1e-9)
    assert t.p == pytest.approx(want.pvalue, abs=1e-9)
    assert t.df == want.df == k - 1


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 9), st.integers(0, 9))
def test_two_categories_are_mcnemar(b: int, c: int, a: int, d: int) -> None:
    t, want = stuart_maxwell([[a, b], [c, d]]), mcnemar(b, c)
    assert t.statistic == pytest.approx(want.chi2)
    assert t.p == pytest.approx(want.chi2_p)


def test_an_unused_category_changes_nothing() -> None:
    table = [[20, 10, 0, 5], [3, 30, 0, 15], [0, 0, 0, 0], [0, 5, 0, 40]]
    with_gap, without = (
        stuart_maxwell(table),
        stuart_maxwell([[20, 10, 5], [3, 30, 15], [0, 5, 40]]),
    )
    assert (with_gap.statistic, with_gap.p, with_gap.df) == pytest.approx(
        (without.statistic, without.p, without.df)
    )
    # nor does one on which they always agree
    table[2][2] = 17
    assert stuart_maxwell(table).statistic == pytest.approx(without.statistic)


def test_disagreements_in_two_groups_add_up() -> None:
    """1 with 2 and 3 with 4 only: two McNemar tests, whose chi-squares and df add."""
    t = stuart_maxwell([[5, 9, 0, 0], [2, 5, 0, 0], [0, 0, 5, 1], [0, 0, 7, 5]])
    one, two = mcnemar(9, 2).chi2, mcnemar(1, 7).chi2
    assert one is not None
    assert two is not None
    assert t.statistic == pytest.approx(one + two)
    assert t.df == 2


def test_undefined() -> None:
    same = stuart_maxwell([[5, 0], [0, 3]])
    assert (same.statistic, same.p, same.df, same.discordant) == (None, None, 0, 0)
    assert same.why_undefined == "no discordant pair: both always agree"
    assert same.shifts == (0.0, 0.0)
    empty = stuart_maxwell(confusion_table([None, "x"], ["x", None]))
    assert (empty.statistic, empty.n, empty.shifts) == (None, 0, ())
    assert empty.why_undefined == "no item has a label from both raters"
    nobody = stuart_maxwell(confusion_table([None], [None]))
    assert nobody.why_undefined == "no item has a label from both raters"


def test_refuses_what_is_no_square_table() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        stuart_maxwell([[1, 2]])


@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.integers(0, 6), min_size=k * k, max_size=k * k)
    ),
    st.randoms(use_true_random=False),
)
def test_order_of_raters_and_categories_does_not_matter(cells: list[int], random: Random) -> None:
    k = round(len(cells) ** 0.5)
    table = np.array(cells).reshape(k, k)
    order = list(range(k))
    random.shuffle(order)
    one, two = stuart_maxwell(table), stuart_maxwell(table.T[np.ix_(order, order)])
    assert (one.df, one.discordant, one.why_undefined) == (
        two.df,
        two.discordant,
        two.why_undefined,
    )
    assert one.statistic == pytest.approx(two.statistic, abs=1e-7)
    if one.statistic is not None:
        assert one.statistic >= -1e-9
