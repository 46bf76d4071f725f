"""Properties of kappa over arbitrary tables."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import cohen_kappa, kappa_from_table
from scoring.agreement._coding import IntArray


@st.composite
def tables(draw: st.DrawFn) -> IntArray:
    """Square tables of 1 to 5 categories, often sparse."""
    k = draw(st.integers(1, 5))
    cell = st.one_of(st.just(0), st.integers(0, 30))
    cells = draw(st.lists(cell, min_size=k * k, max_size=k * k))
    return np.array(cells, dtype=np.int64).reshape(k, k)


weightings = st.sampled_from([None, "linear", "quadratic"])


@given(tables(), weightings)
def test_exchanging_the_raters_changes_nothing(t: IntArray, weights: str | None) -> None:
    one, two = kappa_from_table(t, weights), kappa_from_table(t.T, weights)
    assert one.why_undefined == two.why_undefined
    if one.value is not None:
        assert (one.value, one.se, one.se0) == pytest.approx((two.value, two.se, two.se0), abs=1e-9)


@given(tables(), st.randoms(use_true_random=False))
def test_order_of_categories_does_not_matter_unweighted(t: IntArray, random: Random) -> None:
    order = list(range(len(t)))
    random.shuffle(order)
    one, two = kappa_from_table(t), kappa_from_table(t[np.ix_(order, order)])
    assert one.why_undefined == two.why_undefined
    if one.value is not None:
        assert (one.value, one.se, one.se0) == pytest.approx((two.value, two.se, two.se0), abs=1e-9)


@given(tables(), weightings)
def test_reversed_scale_keeps_every_weighting(t: IntArray, weights: str | None) -> None:
    one, two = kappa_from_table(t, weights), kappa_from_table(t[::-1, ::-1], weights)
    assert (one.value is None) == (two.value is None)
    if one.value is not None:
        assert one.value == pytest.approx(two.value, abs=1e-9)


@given(tables(), weightings)
def test_range_and_errors(t: IntArray, weights: str | None) -> None:
    k = kappa_from_table(t, weights)
    if k.value is None:
        assert k.why_undefined
        return
    assert k.se is not None
    assert k.se0 is not None
    assert -1 - 1e-12 <= k.value <= 1
    assert k.se >= 0
    assert k.se0 >= 0
    assert (k.ci is None) == (k.se == 0)
    if k.ci is not None:
        assert -1 <= k.ci[0] <= k.value <= k.ci[1] <= 1


@given(tables())
def test_one_exactly_when_diagonal_with_two_categories(t: IntArray) -> None:
    off_diagonal = int(t.sum() - np.trace(t))
    used = int(((t.sum(axis=0) + t.sum(axis=1)) > 0).sum())
    assert (kappa_from_table(t).value == 1) == (off_diagonal == 0 and used >= 2)


@given(tables(), weightings)
def test_undefined_exactly_without_items_or_with_one_category(
    t: IntArray, weights: str | None
) -> None:
    used = int(((t.sum(axis=0) + t.sum(axis=1)) > 0).sum())
    assert (kappa_from_table(t, weights).value is None) == (used < 2)


@given(tables())
def test_identity_matrix_is_unweighted(t: IntArray) -> None:
    one, two = kappa_from_table(t), kappa_from_table(t, np.eye(len(t)))
    assert (one.value, one.se, one.se0) == (two.value, two.se, two.se0)


@given(tables())
def test_quadratic_weights_are_lins_concordance(t: IntArray) -> None:
    """Quadratic kappa = 2 cov/(var1 + var2 + (mean1 - mean2)²) of the ranks."""
    kappa = kappa_from_table(t, "quadratic").value
    if kappa is None:
        return
    x, y = (np.repeat(axis.ravel(), t.ravel()) for axis in np.indices(t.shape))
    cov = ((x - x.mean()) * (y - y.mean())).mean()
    want = 2 * cov / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert kappa == pytest.approx(want, abs=1e-9)


@given(tables(), st.integers(2, 50), weightings)
def test_more_of_the_same_shrinks_the_error_only(
    t: IntArray, times: int, weights: str | None
) -> None:
    one, many = kappa_from_table(t, weights), kappa_from_table(t * times, weights)
    if one.value is None:
        assert many.value is None
        return
    assert one.se is not None
    assert many.value == pytest.approx(one.value, abs=1e-9)
    assert many.se == pytest.approx(one.se / times**0.5, abs=1e-9)


labels = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["a", "b", "c", None])),
    max_size=40,
)


@given(labels)
def test_missing_is_dropped_pairwise_and_counted(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    scale = ["a", "b", "c"]
    whole = [p for p in pairs if None not in p]
    k = cohen_kappa([p[0] for p in pairs], [p[1] for p in pairs], categories=scale)
    kept = cohen_kappa([p[0] for p in whole], [p[1] for p in whole], categories=scale)
    assert (k.value, k.se, k.n) == (kept.value, kept.se, kept.n)
    assert k.n + k.dropped == len(pairs)
