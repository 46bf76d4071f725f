"""The confusion table and what is read off it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import agreement_summary, confusion_table, kappa_from_table


def test_rows_are_the_first_rater_and_missing_is_dropped_pairwise() -> None:
    a = ["good", "bad", None, "good", "bad", None]
    b = ["good", "good", "bad", None, "bad", None]
    t = confusion_table(a, b)
    assert t.categories == ("bad", "good")
    assert t.table.tolist() == [[1, 1], [0, 1]]
    assert (t.n, t.dropped) == (3, 3)


def test_declared_categories_fix_order_and_size() -> None:
    t = confusion_table(["low", "high"], ["low", "low"], ["low", "mid", "high"])
    assert t.categories == ("low", "mid", "high")
    assert t.table.tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_observed_numbers_are_ordered_as_numbers() -> None:
    assert confusion_table([10, 9, 2], [10, 10, 2]).categories == (2, 9, 10)


def test_numpy_labels_and_nan_are_read_as_plain_labels_and_missing() -> None:
    t = confusion_table(np.array([1.0, np.nan, 2.0]), np.array([1, 2, 2]))
    assert t.categories == (1, 2)
    assert t.table.tolist() == [[1, 0], [0, 1]]
    assert t.dropped == 1


def test_table_is_read_only() -> None:
    t = confusion_table([1, 2], [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        t.table[0, 0] = 9


def test_nothing_to_tabulate() -> None:
    t = confusion_table([None], ["x"], ["x", "y"])
    assert (t.table.tolist(), t.n, t.dropped) == ([[0, 0], [0, 0]], 0, 1)


@pytest.mark.parametrize(
    ("a", "b", "categories", "message"),
    [
        (["x"], ["x", "y"], None, "rater 1 has 1 labels and rater 2 has 2"),
        (["x", "z"], ["x", "y"], ["x", "y"], "'z' of rater 1 at item 1"),
        (["x"], ["x"], ["x", "x"], "'x' is declared twice"),
        (["x"], ["x"], ["x", None], "holds None"),
        (["x"], ["x"], [], "categories is empty"),
        ([1], ["1"], None, "read the same but differ in type"),
        ([["x"]], ["x"], None, r"label 0 is \['x'\]"),
    ],
)
def test_refusals_name_value_and_place(
    a: list[object], b: list[object], categories: list[object] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        confusion_table(a, b, categories)


def test_summary_of_the_paradox_tables() -> None:
    # Feinstein and Cicchetti (1990): the same observed agreement, very different kappa.
    balanced, skewed = agreement_summary([[40, 9], [6, 45]]), agreement_summary([[80, 10], [5, 5]])
    assert balanced.observed == skewed.observed == 0.85
    assert balanced.pabak == skewed.pabak == pytest.approx(0.70, abs=1e-12)
    assert (balanced.prevalence_index, balanced.bias_index) == (0.05, 0.03)
    assert (skewed.prevalence_index, skewed.bias_index) == (0.75, 0.05)
    # 2·80/(90 + 85) and 2·5/(10 + 15)
    assert skewed.specific == (160 / 175, 10 / 25)


def test_summary_of_three_categories() -> None:
    s = agreement_summary([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    assert s.pabak == pytest.approx(0.835, abs=1e-12)  # Brennan-Prediger, irrCAC documentation
    assert s.prevalence_index is None
    assert s.bias_index is None
    assert s.specific == (1.0, 40 / 51, 112 / 123)


def test_summary_without_items_and_with_an_unused_category() -> None:
    empty = agreement_summary([[0, 0], [0, 0]])
    assert (empty.n, empty.observed, empty.pabak) == (0, None, None)
    assert (empty.prevalence_index, empty.bias_index) == (None, None)
    assert empty.specific == (None, None)
    assert agreement_summary([[3, 0], [0, 0]]).specific == (1.0, None)
    assert agreement_summary([[3]]).pabak is None


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_kappa_follows_from_pabak_prevalence_and_bias(cells: list[int]) -> None:
    """Byrt, Bishop and Carlin (1993): kappa = (PABAK - PI² + BI²)/(1 - PI² + BI²)."""
    table = [cells[:2], cells[2:]]
    s, kappa = agreement_summary(table), kappa_from_table(table).value
    if kappa is None:
        return
    assert s.pabak is not None
    assert s.prevalence_index is not None
    assert s.bias_index is not None
    shift = s.prevalence_index**2 - s.bias_index**2
    assert math.isclose(kappa, (s.pabak - shift) / (1 - shift), abs_tol=1e-9)
