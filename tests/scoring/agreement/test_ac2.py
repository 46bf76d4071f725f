"""Gwet's AC2: irrCAC's figures, the definition in fractions, undefined cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import gwet_ac1, gwet_ac2, kappa_from_table, weight_matrix

# irrCAC's cac.raw4raters, 4 raters x 12 items.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
SCALE = [1, 2, 3, 4, 5]

# irrCAC's cont3x3abstractors as labels.
ABSTRACTORS = [
    (i, j)
    for i, row in enumerate([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    for j, n in enumerate(row)
    for _ in range(n)
]


def test_irrcac_quadratic_to_seven_digits() -> None:
    """R's irrCAC through its wrapper agree_coef: AC2, error, lower end, observed agreement."""
    g = gwet_ac2(FOUR, weights="quadratic", categories=SCALE)
    assert g.value == pytest.approx(0.9140007, abs=5e-8)
    assert g.se == pytest.approx(0.10396224, abs=5e-9)
    assert g.ci == pytest.approx((0.6851814, 1), abs=5e-8)
    assert g.observed == pytest.approx(0.9753788, abs=5e-8)
    assert (g.n, g.n_comparable, g.k) == (12, 11, 5)


@pytest.mark.parametrize(
    ("weights", "pa", "pe", "value", "se", "low"),
    [
        ("quadratic", 0.975, 0.714, 0.914, 0.104, 0.685),
        ("linear", 0.939, 0.571, 0.859, 0.117, 0.600),
        ("ordinal", 0.968, 0.685, 0.899, 0.107, 0.664),
        (None, 0.818, 0.190, 0.775, 0.143, 0.461),
    ],
)
def test_irrcac_by_weights(
    weights: str | None, pa: float, pe: float, value: float, se: float, low: float
) -> None:
    """The figures in the tests of the Python irrCAC, to three decimals."""
    g = gwet_ac2(FOUR, weights=weights, categories=SCALE)
    assert g.ci is not None
    got = (g.observed, g.expected, g.value, g.se, g.ci[0])
    assert got == pytest.approx((pa, pe, value, se, low), abs=5.1e-4)


@pytest.mark.parametrize(
    ("weights", "value", "ci"),
    [
        ("quadratic", 0.940, (0.905, 0.976)),
        ("linear", 0.900, (0.842, 0.958)),
        ("ordinal", 0.925, (0.881, 0.969)),
    ],
)
def test_irrcac_table_of_two_raters(weights: str, value: float, ci: tuple[float, float]) -> None:
    a, b = [i for i, _ in ABSTRACTORS], [j for _, j in ABSTRACTORS]
    g = gwet_ac2([a, b], weights=weights, categories=[0, 1, 2])
    assert g.value == pytest.approx(value, abs=5.1e-4)
    # irrCAC's routine for tables divides by n, this one by n - 1
    assert g.ci == pytest.approx(ci, abs=1.1e-3)


def test_a_matrix_is_the_named_weights_and_identity_is_ac1() -> None:
    named = gwet_ac2(FOUR, weights="linear", categories=SCALE)
    assert gwet_ac2(FOUR, weights=weight_matrix("linear", 5)) == named
    assert gwet_ac2(FOUR, weights=np.eye(5)) == gwet_ac1(FOUR, categories=SCALE)
    assert gwet_ac2(FOUR, weights=None) == gwet_ac1(FOUR)


def test_ordinal_weights() -> None:
    assert weight_matrix("ordinal", 3) == pytest.approx(
        np.array([[1, 2 / 3, 0], [2 / 3, 1, 2 / 3], [0, 2 / 3, 1]])
    )
    # five categories: 1 - m(m + 1)/20
    assert weight_matrix("ordinal", 5)[0] == pytest.approx([1, 0.9, 0.7, 0.4, 0])
    assert weight_matrix("ordinal", 1).tolist() == [[1]]
    # for three categories kappa with these is kappa with that matrix
    table = [[5, 2, 1], [0, 6, 3], [1, 1, 4]]
    matrix = [[1, 2 / 3, 0], [2 / 3, 1, 2 / 3], [0, 2 / 3, 1]]
    assert kappa_from_table(table, "ordinal").value == pytest.approx(
        kappa_from_table(table, matrix).value
    )


def test_declared_categories_stretch_the_scale() -> None:
    a, b = [1, 2, 2, 1], [1, 2, 1, 1]
    # k = 2: pa = 3/4, p = (5/8, 3/8), pe = 2/2·30/64
    two = gwet_ac2([a, b], categories=[1, 2])
    assert two.value == pytest.approx((3 / 4 - 30 / 64) / (1 - 30 / 64))
    # k = 3, quadratic: credit 3/4 for neighbours, Σw = 6, pe = 6/6·30/64
    three = gwet_ac2([a, b], categories=[1, 2, 3])
    assert three.observed == pytest.approx((3 + 0.75) / 4)
    assert three.value == pytest.approx((15 / 16 - 30 / 64) / (1 - 30 / 64))


def test_undefined() -> None:
    one = gwet_ac2([["x", "x"], ["x", "x"]], categories=["x"])
    assert (one.value, one.why_undefined) == (None, "all labels name one category only")
    nothing = gwet_ac2([["x", None], [None, "y"]], categories=["x", "y"])
    assert nothing.why_undefined == "no item has labels from two raters"
    blind = gwet_ac2([[1, 2], [1, 2]], weights=[[1, 1], [1, 1]])
    assert blind.value is None
    assert blind.why_undefined == (
        "the weights count every pair of used categories as full agreement"
    )


def test_refusals() -> None:
    with pytest.raises(ValueError, match="'quadratic' weights need categories"):
        gwet_ac2([[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="a weight matrix needs categories"):
        gwet_ac2([["a", "b"], ["a", "b"]], weights=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"shape \(2, 2\) for 3 categories"):
        gwet_ac2([[1, 2, 3], [1, 2, 3]], weights=[[1, 0], [0, 1]])


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


grids = st.integers(1, 9).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=n, max_size=n),
        min_size=2,
        max_size=4,
    )
)


@given(grids, st.sampled_from(["linear", "quadratic", "ordinal"]))
def test_by_counting_pairs_of_labels(grid: list[list[int | None]], weights: str) -> None:
    """Agreement as the mean weight of ordered pairs of labels on an item, in exact fractions."""
    by_name: dict[str, Callable[[int], Fraction]] = {
        "linear": lambda m: 1 - Fraction(m, 3),
        "quadratic": lambda m: 1 - Fraction(m * m, 9),
        "ordinal": lambda m: 1 - Fraction(m * (m + 1), 12),
    }
    credit = by_name[weights]
    units = [[x for x in column if x is not None] for column in zip(*grid, strict=True)]
    rated = [u for u in units if u]
    paired = [u for u in units if len(u) > 1]
    g = gwet_ac2(grid, weights=weights, categories=[0, 1, 2, 3])
    if not paired:
        assert g.value is None
        return
    pa = mean([mean([credit(abs(x - y)) for x, y in permutations(u, 2)]) for u in paired])
    p = [mean([Fraction(u.count(c), len(u)) for u in rated]) for c in range(4)]
    total = sum((credit(abs(i - j)) for i in range(4) for j in range(4)), Fraction(0))
    pe = total * sum((x * (1 - x) for x in p), Fraction(0)) / 12
    assert g.value == pytest.approx(float((pa - pe) / (1 - pe)), abs=1e-9)
    turned = gwet_ac2(grid[::-1], weights=weights, categories=[3, 2, 1, 0])
    assert (turned.value, turned.se) == pytest.approx((g.value, g.se), abs=1e-9)
