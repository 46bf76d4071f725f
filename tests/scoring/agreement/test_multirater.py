"""Fleiss' kappa and Gwet's AC1: published figures, statsmodels, undefined cases."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from scoring.agreement import fleiss_kappa, gwet_ac1

# Fleiss (1971), 30 patients x 5 diagnoses by 6 psychiatrists, from statsmodels' test data.
PATIENTS = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
    00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
FLEISS = [[int(c) for c in row] for row in PATIENTS.split()]

# The example of Wikipedia's article on Fleiss' kappa, 10 items x 5 categories by 14 raters.
WIKIPEDIA = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# irrCAC's cac.raw4raters, 4 raters x 12 items.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
FOUR_COUNTS = [[sum(r[i] == c for r in FOUR) for c in range(1, 6)] for i in range(12)]

# irrCAC's cont3x3abstractors as labels.
ABSTRACTORS = [
    (i, j)
    for i, row in enumerate([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    for j, n in enumerate(row)
    for _ in range(n)
]


def test_fleiss_1971() -> None:
    """Kappa and z as R's irr gives them."""
    k = fleiss_kappa(FLEISS)
    assert k.value == pytest.approx(0.4302445, abs=5e-8)
    assert k.z == pytest.approx(17.65183, abs=5e-6)
    assert (k.n, k.n_comparable, k.dropped, k.k) == (30, 30, 0, 5)


def test_fleiss_wikipedia() -> None:
    assert fleiss_kappa(WIKIPEDIA).value == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("counts", [FLEISS, WIKIPEDIA, [[7, 1], [3, 5]]])
def test_fleiss_equals_statsmodels(counts: list[list[int]]) -> None:
    want = inter_rater.fleiss_kappa(np.array(counts))
    assert fleiss_kappa(counts).value == pytest.approx(want, abs=1e-12)


def test_fleiss_with_missing_labels() -> None:
    """The irrCAC figures; no null error, since items have different numbers of labels."""
    k = fleiss_kappa(FOUR_COUNTS)
    assert k.value == pytest.approx(0.76117, abs=5e-6)
    assert k.se == pytest.approx(0.15302, abs=5e-6)
    assert (k.se0, k.z) == (None, None)
    assert (k.n, k.n_comparable, k.dropped) == (12, 11, 0)


def test_ac1_with_missing_labels() -> None:
    """The irrCAC figures."""
    g = gwet_ac1(FOUR)
    assert g.observed == pytest.approx(0.8181818, abs=5e-8)
    assert g.expected == pytest.approx(0.1903212, abs=5e-8)
    assert g.value == pytest.approx(0.77544, abs=5e-6)
    assert g.se == pytest.approx(0.14295, abs=5e-6)
    assert g.se is not None
    assert g.value is not None
    # t with 11 degrees of freedom; cut at 1
    assert g.ci == pytest.approx((g.value - 2.200985 * g.se, 1.0), abs=1e-6)
    assert (g.n, g.n_comparable, g.k, g.se0) == (12, 11, 5, None)


def test_ac1_of_two_raters() -> None:
    """The irrCAC table routine divides by n where the raw routine divides by n - 1."""
    g = gwet_ac1([[i for i, _ in ABSTRACTORS], [j for _, j in ABSTRACTORS]])
    assert g.value == pytest.approx(0.8493305, abs=5e-8)
    assert (g.se or 0) * (99 / 100) ** 0.5 == pytest.approx(0.04321747, abs=5e-9)


def test_ac1_of_the_paradox() -> None:
    """Feinstein and Cicchetti's second table, [80, 10; 5, 5]: kappa is .3182."""
    a = ["y"] * 90 + ["n"] * 10
    b = ["y"] * 80 + ["n"] * 10 + ["y"] * 5 + ["n"] * 5
    assert gwet_ac1([a, b]).value == pytest.approx(0.808, abs=5e-4)


def test_declared_categories_enter_ac1() -> None:
    a, b = ["x", "y", "x", "x"], ["x", "y", "y", "x"]
    # p = (5/8, 3/8): pe = 2·15/64 for two categories, half of it for three; pa = 3/4
    assert gwet_ac1([a, b]).value == pytest.approx((0.75 - 30 / 64) / (1 - 30 / 64))
    three = gwet_ac1([a, b], categories=["x", "y", "z"])
    assert three.value == pytest.approx((0.75 - 15 / 64) / (1 - 15 / 64))


def test_one_category() -> None:
    f = fleiss_kappa([[3, 0], [3, 0]])
    assert (f.value, f.se, f.ci) == (None, None, None)
    assert f.why_undefined == "all labels name one category only"
    assert gwet_ac1([["x", "x"], ["x", "x"]]).value is None
    # AC1 supposes that the other declared category would be found by chance
    declared = gwet_ac1([["x", "x"], ["x", "x"]], categories=["x", "y"])
    assert (declared.value, declared.se, declared.ci) == (1.0, 0.0, None)


def test_nothing_comparable() -> None:
    g = gwet_ac1([["x", None, None], [None, "y", None]])
    assert (g.value, g.n, g.n_comparable, g.dropped) == (None, 2, 0, 1)
    assert g.why_undefined == "no item has labels from two raters"
    assert fleiss_kappa([[1, 0], [0, 1]]).why_undefined == g.why_undefined
    assert gwet_ac1([[None], [None]]).value is None


def test_one_item_has_no_error() -> None:
    f = fleiss_kappa([[2, 1]])
    assert f.value == pytest.approx((1 / 3 - 5 / 9) / (1 - 5 / 9))
    assert (f.se, f.ci) == (None, None)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="rater 1 has 1 items but rater 0 has 2"):
        gwet_ac1([["x", "y"], ["x"]])
    with pytest.raises(ValueError, match="'z' of rater 1 at item 0"):
        gwet_ac1([["x"], ["z"]], categories=["x", "y"])
    with pytest.raises(ValueError, match="ratings is empty"):
        gwet_ac1([])
    with pytest.raises(ValueError, match=r"counts\[1\]\[0\] is -2"):
        fleiss_kappa([[1, 1], [-2, 4]])
    with pytest.raises(ValueError, match="a confidence level"):
        fleiss_kappa([[1, 1]], level=2)


labels = st.sampled_from(["a", "b", "c", None])
grids = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(labels, min_size=n, max_size=n), min_size=2, max_size=4)
)


@given(grids, st.randoms(use_true_random=False))
def test_order_of_raters_and_items_does_not_matter(
    grid: list[list[str | None]], random: Random
) -> None:
    items = list(range(len(grid[0])))
    random.shuffle(items)
    scale = ["a", "b", "c"]
    one = gwet_ac1(grid, categories=scale)
    two = gwet_ac1([[r[i] for i in items] for r in reversed(grid)], categories=scale[::-1])
    assert (one.n, one.dropped, one.why_undefined) == (two.n, two.dropped, two.why_undefined)
    assert (one.value, one.se) == pytest.approx((two.value, two.se), abs=1e-9)


@given(grids)
def test_full_agreement_is_one_and_nothing_exceeds_it(grid: list[list[str | None]]) -> None:
    g = gwet_ac1(grid, categories=["a", "b", "c"])
    assume(g.value is not None)
    assert g.value is not None
    assert g.value <= 1 + 1e-12
    same = gwet_ac1([grid[0], grid[0]], categories=["a", "b", "c"])
    assert same.value in (1.0, None)
