"""Statistics beside kappa against formulas written out from AGREEMENT.md, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.agreement import (
    corrected_rate,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    labels_needed,
    mcnemar,
    pairwise_agreement,
    rating_table,
    wilcoxon_signed_rank,
    wilson,
)

Z = NormalDist().inv_cdf(0.975)
CLOSE = 1e-9

# --- more raters -----------------------------------------------------------------------------

ratings = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.integers(1, 4), min_size=raters, max_size=raters),
        min_size=1,
        max_size=9,
    )
)


def delta(level: str, c: int, k: int, totals: dict[int, int]) -> Fraction:
    if level == "nominal":
        return Fraction(c != k)
    if level == "interval":
        return Fraction((c - k) ** 2)
    if level == "ratio":
        return Fraction(c - k, c + k) ** 2
    low, high = sorted((c, k))
    between = sum(n for g, n in totals.items() if low <= g <= high)
    return (between - Fraction(totals[c] + totals[k], 2)) ** 2


@settings(max_examples=50, deadline=None)
@given(ratings, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_krippendorff_by_counting_pairs(items: list[list[int | None]], level: str) -> None:
    units = [[v for v in item if v is not None] for item in items]
    units = [u for u in units if len(u) >= 2]
    values = [v for u in units for v in u]
    totals = {v: values.count(v) for v in values}
    n = len(values)
    raters_by_items = [list(r) for r in zip(*items, strict=True)]
    got = krippendorff_alpha(raters_by_items, level=level)  # type: ignore[arg-type]
    observed = sum(
        (delta(level, x, y, totals) / (len(u) - 1) for u in units for x, y in permutations(u, 2)),
        Fraction(0),
    )
    expected = sum((delta(level, x, y, totals) for x, y in permutations(values, 2)), Fraction(0))
    assert got.n == len(units)
    assert got.n_values == n
    if not expected:
        assert got.value is None
        assert got.why_undefined
        return
    alpha = 1 - (n - 1) * observed / expected
    assert got.value == pytest.approx(float(alpha), abs=CLOSE)
    assert got.why_undefined is None


@settings(max_examples=25, deadline=None)
@given(ratings)
def test_gwet_ac1(items: list[list[int | None]]) -> None:
    units = [[v for v in item if v is not None] for item in items]
    rated = [u for u in units if u]
    paired = [u for u in units if len(u) >= 2]
    seen = sorted({v for u in rated for v in u})
    got = gwet_ac1([list(r) for r in zip(*items, strict=True)])
    if not paired or len(seen) < 2:
        assert got.value is None
        assert got.why_undefined
        return
    pi = [sum(Fraction(u.count(v), len(u)) for u in rated) / len(rated) for v in seen]
    pa = sum(
        Fraction(sum(u.count(v) * (u.count(v) - 1) for v in seen), len(u) * (len(u) - 1))
        for u in paired
    ) / len(paired)
    pe = sum(x * (1 - x) for x in pi) / (len(seen) - 1)
    assert got.observed == pytest.approx(float(pa), abs=CLOSE)
    assert got.expected == pytest.approx(float(pe), abs=CLOSE)
    assert got.value == pytest.approx(float((pa - pe) / (1 - pe)), abs=CLOSE)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(2, 4), st.data())
def test_fleiss(m: int, k: int, data: st.DataObject) -> None:
    rows = data.draw(
        st.lists(
            st.lists(st.integers(0, k - 1), min_size=m, max_size=m).map(
                lambda r: [r.count(c) for c in range(k)]
            ),
            min_size=1,
            max_size=10,
        )
    )
    n = len(rows)
    p = [Fraction(sum(r[c] for r in rows), n * m) for c in range(k)]
    observed = sum(Fraction(sum(x * x for x in r) - m, m * (m - 1)) for r in rows) / n
    expected = sum(x * x for x in p)
    got = fleiss_kappa(rows)
    if expected == 1:
        assert got.value is None
        assert got.why_undefined
        return
    assert got.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=CLOSE)
    pq = sum(x * (1 - x) for x in p)
    third = sum(x * (1 - x) * (1 - 2 * x) for x in p)
    variance = 2 * (pq**2 - third) / (n * m * (m - 1) * pq**2)
    assert got.se0 == pytest.approx(math.sqrt(variance), abs=CLOSE)


def test_fleiss_without_two_labels_on_any_item_is_undefined() -> None:
    got = fleiss_kappa([[1, 0], [0, 1]])
    assert got.value is None
    assert got.why_undefined


@pytest.mark.parametrize("counts", [[[-1, 3]], [[0.5, 1.5]], [[1], [2, 1]]])
def test_what_is_no_table_of_counts_is_refused_by_fleiss(counts: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        fleiss_kappa(counts)


# --- paired tests, rates, planning -------------------------------------------------------------


def upper_tail_chi2(x: float) -> float:
    return math.erfc(math.sqrt(x / 2))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar(b: int, c: int) -> None:
    got = mcnemar(b, c)
    n, low = b + c, min(b, c)
    if n == 0:
        assert got.why_undefined
        assert (got.chi2, got.corrected, got.exact_p, got.mid_p) == (None, None, None, None)
        return
    below = Fraction(sum(math.comb(n, i) for i in range(low + 1)), 2**n)
    here = Fraction(math.comb(n, low), 2**n)
    exact = Fraction(1) if b == c else min(Fraction(1), 2 * below)
    mid = 1 - here / 2 if b == c else exact - here
    if b == c:
        mid = 1 - Fraction(math.comb(n, b), 2**n) / 2
    chi2 = Fraction((b - c) ** 2, n)
    corrected = Fraction(max(0, abs(b - c) - 1) ** 2, n)
    assert got.chi2 == pytest.approx(float(chi2), abs=CLOSE)
    assert got.chi2_p == pytest.approx(upper_tail_chi2(float(chi2)), abs=CLOSE)
    assert got.exact_p == pytest.approx(float(exact), abs=CLOSE)
    assert got.mid_p == pytest.approx(float(mid), abs=CLOSE)
    if b != c:
        assert got.corrected == pytest.approx(float(corrected), abs=CLOSE)
        assert got.corrected_p == pytest.approx(upper_tail_chi2(float(corrected)), abs=CLOSE)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 50), st.integers(0, 50))
def test_wilson_solves_its_quadratic(k: int, more: int) -> None:
    n = k + more
    got = wilson(k, n)
    if n == 0:
        assert (got.value, got.ci) == (None, None)
        assert got.why_undefined
        return
    assert got.value == pytest.approx(k / n)
    assert got.ci is not None
    for p in got.ci:
        assert 0 <= p <= 1
        assert (k / n - p) ** 2 == pytest.approx(Z * Z * p * (1 - p) / n, abs=1e-9)
    assert got.ci[0] <= k / n <= got.ci[1]


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0, 1),
    st.integers(1, 500),
    st.floats(0, 1),
    st.integers(1, 90),
    st.floats(0, 1),
    st.integers(1, 90),
)
def test_rogan_gladen(p: float, n: int, tpr: float, m1: int, tnr: float, m0: int) -> None:
    got = corrected_rate(p, n, sensitivity=tpr, n_positive=m1, specificity=tnr, n_negative=m0)
    youden = tpr + tnr - 1
    if youden <= 1e-9:
        if youden <= 0:
            assert (got.value, got.se, got.ci) == (None, None, None)
            assert got.why_undefined
        return
    theta = (p + tnr - 1) / youden
    assert got.uncut == pytest.approx(theta, rel=1e-6, abs=CLOSE)
    assert got.value == pytest.approx(min(1.0, max(0.0, theta)), rel=1e-6, abs=CLOSE)
    theta = min(1.0, max(0.0, theta))  # the rate the variance is taken at lies in 0..1
    variance = (
        p * (1 - p) / n + (1 - theta) ** 2 * tnr * (1 - tnr) / m0 + theta**2 * tpr * (1 - tpr) / m1
    ) / youden**2
    if got.se is None:
        assert variance < 1e-12
        assert got.why_no_interval
    else:
        assert got.se == pytest.approx(math.sqrt(variance), rel=1e-5, abs=1e-7)


def test_rogan_gladen_worked() -> None:
    got = corrected_rate(
        0.8, 400, sensitivity=0.975, n_positive=80, specificity=0.75, n_negative=40
    )
    assert got.value == pytest.approx(0.7586, abs=5e-5)
    assert got.ci is not None
    assert got.ci == pytest.approx((0.680, 0.837), abs=6e-4)


@pytest.mark.parametrize(
    ("kappa", "half", "prevalence", "n"),
    [(0.6, 0.1, 0.5, 246), (0.6, 0.1, 0.3, 296), (0.6, 0.1, 0.1, 705)],
)
def test_labels_needed_worked(kappa: float, half: float, prevalence: float, n: int) -> None:
    assert labels_needed(kappa, half, prevalence) == n


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 0.99), st.floats(0.02, 0.5), st.floats(0.05, 0.95))
def test_labels_needed(kappa: float, half: float, pi: float) -> None:
    q = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * pi * (1 - pi)))
    exact = Z * Z * q / half**2
    if abs(exact - round(exact)) > 1e-6:
        assert labels_needed(kappa, half, pi) == max(2, math.ceil(exact))


def midranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-6, 6), max_size=9))
def test_wilcoxon(differences: list[int]) -> None:
    got = wilcoxon_signed_rank(differences)
    kept = [d for d in differences if d]
    assert (got.n, got.zeros) == (len(kept), len(differences) - len(kept))
    if not kept:
        assert got.statistic is None
        assert got.why_undefined
        return
    ranks = midranks([abs(d) for d in kept])
    plus = sum(r for r, d in zip(ranks, kept, strict=True) if d > 0)
    n = len(kept)
    low = min(plus, n * (n + 1) / 2 - plus)
    assert got.statistic == pytest.approx(low)
    if got.method == "exact":
        every = [
            sum(r for r, s in zip(ranks, signs, strict=True) if s)
            for signs in product([0, 1], repeat=n)
        ]
        p = min(1.0, 2 * sum(w <= low + 1e-9 for w in every) / len(every))
        assert got.p == pytest.approx(p)
    else:
        ties = {r: ranks.count(r) for r in ranks}
        variance = n * (n + 1) * (2 * n + 1) / 24 - sum(t**3 - t for t in ties.values()) / 48
        z = (low - n * (n + 1) / 4) / math.sqrt(variance)
        assert got.p == pytest.approx(2 * NormalDist().cdf(z))


def test_wilcoxon_worked() -> None:
    d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    got = wilcoxon_signed_rank(d)
    assert got.statistic == 24
    assert got.p == pytest.approx(0.041259765625, abs=1e-15)


# --- plain tables of ratings -------------------------------------------------------------------


def test_a_plain_table_drops_states_and_missing_cells() -> None:
    table = rating_table(
        ["id", "ann", "bob", "judge"],
        [
            ["1", "good", "good", "bad"],
            ["2", "bad", "unsure", "bad"],
            ["3", "", "bad", "bad"],
            ["4", "good", "bad", "good"],
            ["5", "bad", "bad", "skip"],
        ],
    )
    assert table.raters == ("ann", "bob", "judge")
    pairs = {p.raters: p for p in pairwise_agreement(table)}
    assert list(pairs) == [("ann", "bob"), ("ann", "judge"), ("bob", "judge")]
    ann_bob = pairs["ann", "bob"]
    assert (ann_bob.kappa.n, ann_bob.kappa.dropped) == (3, 2)
    # good-good, good-bad, bad-bad: po 2/3, pe (2/3)(1/3) + (1/3)(2/3) = 4/9.
    assert ann_bob.kappa.value == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    # A dropped cell is dropped for that pair alone: bob-judge uses items 1, 3 and 4.
    assert (pairs["bob", "judge"].kappa.n, pairs["bob", "judge"].kappa.dropped) == (3, 2)
