"""Krippendorff's alpha: published figures, the krippendorff package, traps, undefined cases."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import krippendorff_alpha
from scoring.agreement.alpha import Level

LEVELS: list[Level] = ["nominal", "ordinal", "interval", "ratio"]

# Krippendorff (2011), section D: four observers, twelve units, gaps.
GAPS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(
    ("level", "alpha"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorff_2011_with_gaps(level: Level, alpha: float) -> None:
    r = krippendorff_alpha(GAPS, level=level)
    assert r.value == pytest.approx(alpha, abs=5e-4)
    assert (r.n, r.n_values, r.dropped) == (11, 40, 1)
    assert r.categories == (1, 2, 3, 4, 5)


def test_krippendorff_2011_binary() -> None:
    a, b = "0100000010", "1110010000"
    assert krippendorff_alpha([a, b]).value == pytest.approx(0.0952, abs=5e-5)


def test_krippendorff_2011_nominal() -> None:
    a, b = "112243335441", "212223335444"
    assert krippendorff_alpha([a, b]).value == pytest.approx(0.692, abs=5e-4)


def test_irrcac_two_raters() -> None:
    """The cont3x3abstractors table of irrCAC."""
    a, b = [], []
    for i, row in enumerate([[13, 0, 0], [0, 20, 7], [0, 4, 56]]):
        for j, n in enumerate(row):
            a += [i] * n
            b += [j] * n
    assert krippendorff_alpha([a, b]).value == pytest.approx(0.7972585, abs=5e-8)


def test_full_agreement_with_gaps_is_one() -> None:
    """The data of nltk issue 2865, where a gap was taken for a category."""
    r = krippendorff_alpha([[1, 1, 2], [1, 1, None], [None, 1, 2]])
    assert r.value == 1.0
    assert r.observed_disagreement == 0.0


@pytest.mark.parametrize("level", LEVELS)
def test_a_single_deviating_label_gives_exactly_zero(level: Level) -> None:
    """The data of fast-krippendorff issue 11; right, as a short calculation shows.

    With one label of category 1 among n, both Σ o δ² and Σ n_c n_k δ²/(n - 1) are 2 δ²(1, 3).
    """
    r = krippendorff_alpha(
        [
            [3, 3, 3, 3, 3],
            [3, 3, 3, 3, 3],
            [3, 3, None, None, 3],
            [3, 3, 3, 3, 1],
            [3, None, 3, 3, 3],
        ],
        level=level,
    )
    assert r.value == pytest.approx(0.0, abs=1e-12)


def test_systematic_disagreement_is_below_zero() -> None:
    # o = 4 disagreeing pairs of 4; by chance 2·2·2/3
    assert krippendorff_alpha([["A", "B"], ["B", "A"]]).value == pytest.approx(1 - 3 / 2)


def test_ordinal_text_needs_its_order() -> None:
    a, b = ["lo", "mid", "hi", "hi", "lo"], ["lo", "hi", "hi", "mid", "mid"]
    code = {"lo": 1, "mid": 2, "hi": 3}
    text = krippendorff_alpha([a, b], level="ordinal", categories=["lo", "mid", "hi"])
    numbers = krippendorff_alpha([[code[x] for x in a], [code[x] for x in b]], level="ordinal")
    assert text.value == pytest.approx(numbers.value, abs=1e-12)
    with pytest.raises(ValueError, match="the order of"):
        krippendorff_alpha([a, b], level="ordinal")


def test_ratio_of_two_zeros_is_no_difference() -> None:
    # δ²(0, 1) = 1 as for nominal labels
    a, b = [0, 0, 1, 1], [0, 1, 1, 1]
    assert krippendorff_alpha([a, b], level="ratio").value == pytest.approx(
        krippendorff_alpha([a, b]).value, abs=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
def test_one_category_is_undefined(level: Level) -> None:
    r = krippendorff_alpha([[2, 2, 2], [2, 2, None]], level=level)
    assert (r.value, r.n, r.dropped) == (None, 2, 1)
    assert r.why_undefined == "all comparable labels name one category only"


def test_a_category_seen_only_on_a_dropped_item_does_not_count() -> None:
    """The data of nltk issue 3264."""
    r = krippendorff_alpha([[1, None], [1, 2]])
    assert r.value is None
    assert r.why_undefined == "all comparable labels name one category only"


@pytest.mark.parametrize("ratings", [[[1, 2, 3]], [[1, None], [None, 2]], [[None], [None]]])
def test_nothing_comparable_is_undefined(ratings: list[list[int | None]]) -> None:
    r = krippendorff_alpha(ratings)
    assert (r.value, r.n, r.dropped) == (None, 0, len(ratings[0]))
    assert r.why_undefined == "no item has labels from two raters"


@pytest.mark.parametrize(
    ("ratings", "level", "message"),
    [
        ([[1, 2], [1, 2]], "cubic", "level 'cubic' is not known"),
        ([["a", "b"], ["a", "b"]], "interval", "needs finite numbers"),
        ([[1, -2], [1, 2]], "ratio", "at least 0, not -2"),
        ([[1, float("inf")], [1, 2]], "interval", "needs finite numbers"),
        ([[1, 2], [1]], "nominal", "rater 1 has 1 items but rater 0 has 2"),
    ],
)
def test_refusals(ratings: list[list[object]], level: Level, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(ratings, level=level)


grids = st.integers(2, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0, 1, 2, 5, None]), min_size=n, max_size=n),
        min_size=2,
        max_size=4,
    )
)


@given(grids, st.sampled_from(LEVELS))
def test_equals_the_krippendorff_package(grid: list[list[int | None]], level: Level) -> None:
    ours = krippendorff_alpha(grid, level=level)
    if ours.value is None:
        return
    theirs = krippendorff.alpha(np.array(grid, dtype=float), level_of_measurement=level)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@given(grids, st.sampled_from(LEVELS))
def test_order_of_raters_does_not_matter(grid: list[list[int | None]], level: Level) -> None:
    one, two = krippendorff_alpha(grid, level=level), krippendorff_alpha(grid[::-1], level=level)
    assert one.why_undefined == two.why_undefined
    assert one.value == pytest.approx(two.value, abs=1e-12)
    assert one.value is None or one.value <= 1
