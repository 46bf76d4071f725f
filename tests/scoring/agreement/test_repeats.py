"""A judge against itself: stability over repeats, drift between versions."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from scoring.agreement import drift, kappa_from_table, mcnemar, stability, stuart_maxwell, wilson


def test_items_and_means_by_hand() -> None:
    s = stability([["y"] * 4, ["y", "y", "y", "n"], ["y", "n"], ["n"], [], [None, "y", "y"]])
    # pairs: 6 of 6; 3 of 6; 0 of 1; -, -; 1 of 1
    assert [i.pairwise for i in s.items] == [1.0, 0.5, 0.0, None, None, 1.0]
    assert [i.majority_share for i in s.items] == [1.0, 0.75, 0.5, 1.0, None, 1.0]
    assert [i.majority for i in s.items] == ["y", "y", None, "n", None, "y"]
    assert [i.n for i in s.items] == [4, 4, 2, 1, 0, 2]
    assert (s.n, s.dropped, s.repeats) == (4, 2, (2, 4))
    assert s.pairwise.value == pytest.approx(2.5 / 4)
    assert s.majority_share.value == pytest.approx(3.25 / 4)
    assert s.unanimous == wilson(2, 4)
    # sd of 1, .5, 0, 1 over sqrt 4; t with 3 degrees of freedom, cut at 1
    se = math.sqrt(((0.375**2) * 2 + 0.125**2 + 0.625**2) / 3 / 4)
    assert s.pairwise.se == pytest.approx(se)
    half = float(student.ppf(0.975, 3)) * se
    assert s.pairwise.ci == pytest.approx((max(0.625 - half, 0), min(0.625 + half, 1)))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=12))
def test_pairwise_is_the_share_of_agreeing_pairs(repeats: list[list[str]]) -> None:
    s = stability(repeats)
    for verdicts, item in zip(repeats, s.items, strict=True):
        pairs = list(combinations(verdicts, 2))
        want = sum(x == y for x, y in pairs) / len(pairs) if pairs else None
        assert item.pairwise == pytest.approx(want)
    shares = [i.pairwise for i in s.items if i.pairwise is not None]
    assert s.pairwise.value == (pytest.approx(sum(shares) / len(shares)) if shares else None)
    assert s.why_undefined == (None if shares else "no item has two verdicts")


def test_clusters_widen_the_interval() -> None:
    rows = [["y", "y"]] * 3 + [["y", "n"]] * 3 + [["y", "y"]] * 3
    flat = stability(rows)
    by_question = stability(rows, clusters=[1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert by_question.pairwise.value == flat.pairwise.value == pytest.approx(2 / 3)
    # per question the mean deviations are 1/3, -2/3, 1/3: 3/2·Σ(3d/9)² = 3/2·(1 + 4 + 1)/81
    assert by_question.pairwise.se == pytest.approx(math.sqrt(1.5 * 6 / 81))
    assert (flat.pairwise.se or 0) < (by_question.pairwise.se or 0)


def test_stability_without_information() -> None:
    same = stability([["y", "y"], ["n", "n"]])
    assert (same.pairwise.value, same.pairwise.se, same.pairwise.ci) == (1.0, 0.0, None)
    assert same.unanimous.ci is not None
    one = stability([["y", "n"]])
    assert (one.pairwise.value, one.pairwise.se, one.pairwise.ci) == (0.0, None, None)
    none = stability([])
    assert (none.pairwise.value, none.n, none.repeats) == (None, 0, None)
    with pytest.raises(ValueError, match="clusters has 1 entries for 2 items"):
        stability([["y"], ["n"]], clusters=[1])


def test_drift_of_two_categories() -> None:
    before = ["y"] * 10 + ["n"] * 10 + [None]
    after = ["y"] * 4 + ["n"] * 6 + ["n"] * 9 + ["y", "y"]
    d = drift(before, after)
    assert d.table.table.tolist() == [[9, 1], [6, 4]]
    assert d.table.dropped == 1
    assert d.changed == wilson(7, 20)
    assert d.kappa == kappa_from_table(d.table)
    assert d.mcnemar == mcnemar(1, 6)
    assert d.stuart_maxwell == stuart_maxwell([[9, 1], [6, 4]])
    assert d.stuart_maxwell.statistic == pytest.approx(25 / 7)
    assert d.stuart_maxwell.shifts == (0.25, -0.25)


def test_drift_of_three_categories_and_none() -> None:
    d = drift(["a", "b", "c", "a"], ["a", "c", "c", "b"], categories=["a", "b", "c"])
    assert d.mcnemar is None
    assert d.changed.k == 2
    assert d.stuart_maxwell == stuart_maxwell([[1, 1, 0], [0, 0, 1], [0, 0, 1]])
    same = drift(["a", "b"], ["a", "b"])
    assert (same.changed.value, same.kappa.value) == (0.0, 1.0)
    assert same.stuart_maxwell.why_undefined == "no discordant pair: both always agree"
    nothing = drift([None], [None])
    assert (nothing.changed.value, nothing.mcnemar, nothing.kappa.value) == (None, None, None)
