"""Two raters' kappa against formulas written out from AGREEMENT.md, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.agreement import (
    agreement_summary,
    cohen_kappa,
    confusion_table,
    kappa_bootstrap,
    kappa_from_table,
)

Z = NormalDist().inv_cdf(0.975)
CLOSE = 1e-9
Table = list[list[int]]
Weights = list[list[Fraction]]


@st.composite
def tables(draw: st.DrawFn, low: int = 2, high: int = 4) -> Table:
    k = draw(st.integers(low, high))
    cell = st.integers(0, 12)
    rows = draw(
        st.lists(st.lists(cell, min_size=k, max_size=k), min_size=k, max_size=k).filter(
            lambda t: sum(map(sum, t)) > 0
        )
    )
    return rows


def weights_of(name: str | None, k: int) -> Weights:
    def weight(i: int, j: int) -> Fraction:
        if name is None:
            return Fraction(i == j)
        return 1 - Fraction(abs(i - j), k - 1) ** (1 if name == "linear" else 2)

    return [[weight(i, j) for j in range(k)] for i in range(k)]


class Reference:
    """Kappa with the variances of Fleiss, Cohen and Everitt (1969)."""

    def __init__(self, table: Table, w: Weights) -> None:
        k = range(len(table))
        n = sum(map(sum, table))
        p = [[Fraction(x, n) for x in row] for row in table]
        row = [sum(p[i]) for i in k]
        column = [sum(p[i][j] for i in k) for j in k]
        cells = list(product(k, k))
        self.po = sum(w[i][j] * p[i][j] for i, j in cells)
        self.pe = sum(w[i][j] * row[i] * column[j] for i, j in cells)
        self.defined = self.pe != 1
        if not self.defined:
            return
        self.kappa = (self.po - self.pe) / (1 - self.pe)
        wi = [sum(column[j] * w[i][j] for j in k) for i in k]
        wj = [sum(row[i] * w[i][j] for i in k) for j in k]
        q = 1 - self.kappa
        first = sum(p[i][j] * (w[i][j] - (wi[i] + wj[j]) * q) ** 2 for i, j in cells)
        null = sum(row[i] * column[j] * (w[i][j] - wi[i] - wj[j]) ** 2 for i, j in cells)
        below = n * (1 - self.pe) ** 2
        self.variance = (first - (self.kappa - self.pe * q) ** 2) / below
        self.variance0 = (null - self.pe**2) / below


@settings(max_examples=35, deadline=None)
@given(tables(), st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_of_a_table(table: Table, name: str | None) -> None:
    k = len(table)
    got = kappa_from_table(table, name)
    want = Reference(table, weights_of(name, k))
    assert got.n == sum(map(sum, table))
    if not want.defined:
        assert (got.value, got.se, got.se0, got.ci) == (None, None, None, None)
        assert got.why_undefined
        return
    assert got.why_undefined is None
    assert got.value == pytest.approx(float(want.kappa), abs=CLOSE)
    assert got.observed == pytest.approx(float(want.po), abs=CLOSE)
    assert got.expected == pytest.approx(float(want.pe), abs=CLOSE)
    assert want.variance >= 0
    se = math.sqrt(want.variance)
    assert got.se == pytest.approx(se, abs=1e-8)
    assert got.se0 == pytest.approx(math.sqrt(want.variance0), abs=1e-8)
    if se > 0:
        assert got.ci is not None
        assert got.ci[0] == pytest.approx(max(-1.0, float(want.kappa) - Z * se), abs=1e-7)
        assert got.ci[1] == pytest.approx(min(1.0, float(want.kappa) + Z * se), abs=1e-7)


@settings(max_examples=15, deadline=None)
@given(tables(3, 3), st.data())
def test_any_weight_matrix(table: Table, data: st.DataObject) -> None:
    a, b, c = (Fraction(data.draw(st.integers(0, 7)), 8) for _ in range(3))
    w = [[Fraction(1), a, b], [a, Fraction(1), c], [b, c, Fraction(1)]]
    want = Reference(table, w)
    got = kappa_from_table(table, [[float(x) for x in row] for row in w])
    if not want.defined:
        assert got.value is None
        return
    assert got.value == pytest.approx(float(want.kappa), abs=1e-8)
    assert got.se == pytest.approx(math.sqrt(want.variance), abs=1e-7)


categories = "abc"
label = st.none() | st.sampled_from(categories)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(label, label), max_size=25))
def test_kappa_of_lists_drops_pairwise(pairs: list[tuple[str | None, str | None]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    both = [(x, y) for x, y in pairs if x is not None and y is not None]
    table = [[both.count((x, y)) for y in categories] for x in categories]
    got = cohen_kappa(a, b, categories=categories)
    assert (got.n, got.dropped) == (len(both), len(pairs) - len(both))
    counted = confusion_table(a, b, categories)
    assert counted.table.tolist() == table
    assert counted.categories == tuple(categories)
    want = Reference(table, weights_of(None, 3)) if both else None
    if want is None or not want.defined:
        assert got.value is None
        assert got.why_undefined
    else:
        assert got.value == pytest.approx(float(want.kappa), abs=CLOSE)
        # Without declared categories the unweighted figure is the same.
        assert cohen_kappa(a, b).value == pytest.approx(float(want.kappa), abs=CLOSE)


def test_weights_need_declared_categories() -> None:
    with pytest.raises(ValueError, match="categories"):
        cohen_kappa(["a", "b"], ["b", "a"], weights="linear")


def test_weights_run_over_declared_categories_even_unused_ones() -> None:
    a, b = [1, 2, 1, 2, 1], [1, 2, 2, 1, 1]
    close = cohen_kappa(a, b, categories=[1, 2, 3, 4, 5], weights="quadratic")
    want = Reference([[2, 1, 0, 0, 0], [1, 1, 0, 0, 0], *[[0] * 5] * 3], weights_of("quadratic", 5))
    assert close.value == pytest.approx(float(want.kappa))


@pytest.mark.parametrize("table", [[[10, 0], [0, 0]], [[0, 0], [0, 7]], [[1]]])
def test_one_category_alone_leaves_kappa_undefined(table: Table) -> None:
    got = kappa_from_table(table)
    assert got.value is None
    assert got.why_undefined
    assert "categor" in got.why_undefined


def test_kappa_zero_is_no_error() -> None:
    got = kappa_from_table([[9, 1], [0, 0]])
    assert got.value == pytest.approx(0, abs=1e-12)
    assert got.why_undefined is None
    assert got.se == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "declared"),
    [
        (["a"], ["a", "b"], None),
        (["a", "x"], ["a", "b"], "ab"),
        (["a"], ["a"], "aa"),
    ],
)
def test_lists_that_do_not_fit_are_refused(
    a: list[str], b: list[str], declared: str | None
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        cohen_kappa(a, b, categories=declared)


@pytest.mark.parametrize("table", [[[1, 2]], [[-1, 2], [0, 1]], [[0.5, 1], [1, 1]], []])
def test_what_is_no_table_of_counts_is_refused(table: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        kappa_from_table(table)


@settings(max_examples=15, deadline=None)
@given(tables(2, 2))
def test_two_by_two_indices(table: Table) -> None:
    (a, b), (c, d) = table
    n = a + b + c + d
    s = agreement_summary(table)
    po = Fraction(a + d, n)
    pabak, pi, bi = 2 * po - 1, Fraction(abs(a - d), n), Fraction(abs(b - c), n)
    assert s.n == n
    assert s.observed == pytest.approx(float(po))
    assert s.pabak == pytest.approx(float(pabak))
    assert s.prevalence_index == pytest.approx(float(pi))
    assert s.bias_index == pytest.approx(float(bi))
    kappa = kappa_from_table(table).value
    if kappa is not None:
        identity = (pabak - pi**2 + bi**2) / (1 - pi**2 + bi**2)
        assert kappa == pytest.approx(float(identity), abs=CLOSE)
    for i, share in enumerate(s.specific):
        own = sum(table[i]) + table[0][i] + table[1][i]
        assert share == (pytest.approx(2 * table[i][i] / own) if own else None)


@settings(max_examples=15, deadline=None)
@given(tables(2, 3), st.integers(0, 5))
def test_bootstrap_is_of_the_same_kappa_and_seeded(table: Table, seed: int) -> None:
    pairs = [(i, j) for i, row in enumerate(table) for j, x in enumerate(row) for _ in range(x)]
    a, b = [i for i, _ in pairs], [j for _, j in pairs]
    clusters = [k // 2 for k in range(len(a))]
    one = kappa_bootstrap(a, b, clusters, replicates=50, seed=seed)
    assert one == kappa_bootstrap(a, b, clusters, replicates=50, seed=seed)
    plain = cohen_kappa(a, b).value
    assert one.value == (None if plain is None else pytest.approx(plain))
    assert one.n == len(a)
    assert one.clusters == len(set(clusters))
    if one.ci is not None:
        assert -1 <= one.ci[0] <= one.ci[1] <= 1
