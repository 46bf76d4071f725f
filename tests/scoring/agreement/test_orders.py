"""Whether verdicts follow the order of the words."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import OrderEffect, order_effect

AB, BA = ("a", "b"), ("b", "a")


def test_a_judge_that_takes_the_first_word_has_the_whole_effect() -> None:
    items = [[(AB, "a"), (BA, "b"), (AB, "a"), (BA, "b")]] * 5
    # Of the six pairs of an item two are in one order, and four in different ones.
    assert order_effect(items) == OrderEffect(10, 10, 20, 0, 5, 20, 20, 10.0)
    assert order_effect(items).effect == 1.0


def test_a_judge_that_reads_has_none() -> None:
    found = order_effect([[(AB, "a"), (BA, "a"), (AB, "a")], [(AB, "b"), (BA, "b"), (AB, "b")]])
    assert (found.same, found.other, found.effect) == (1.0, 1.0, 0.0)
    assert (found.first_chosen, found.n_verdicts, found.first_expected) == (3, 6, 3.0)
    assert found.why_undefined is None


def test_noise_without_an_order_is_no_effect() -> None:
    """One of two verdicts turns in either order: half of the pairs agree in both."""
    items = [
        [(AB, "a"), (AB, "a"), (BA, "a"), (BA, "b")],
        [(AB, "a"), (AB, "b"), (BA, "a"), (BA, "a")],
    ]
    found = order_effect(items)
    assert (found.same_equal, found.same_pairs) == (2, 4)
    assert (found.other_equal, found.other_pairs) == (4, 8)
    assert found.effect == 0.0


def test_missing_verdicts_and_orders_are_left_out() -> None:
    found = order_effect([[(AB, "a"), (BA, None), ((), "b")], [(AB, None)], []])
    assert (found.n_items, found.n_verdicts, found.same, found.other) == (0, 1, None, None)
    assert found.why_undefined == "no item has two verdicts"


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ([(AB, "a"), (BA, "a")], "no item has two verdicts in the same order"),
        ([(AB, "a"), (AB, "b")], "no item has two verdicts in different orders"),
    ],
)
def test_the_effect_needs_pairs_of_both_kinds(item: list[object], why: str) -> None:
    found = order_effect([item])  # type: ignore[list-item]
    assert (found.effect, found.why_undefined) == (None, why)


def test_several_words_at_once_are_compared_but_took_no_place() -> None:
    found = order_effect([[(AB, "a+b"), (AB, "a+b")]])
    assert (found.same, found.n_verdicts, found.first_expected) == (1.0, 0, 0.0)


said = st.tuples(st.sampled_from([AB, BA]), st.sampled_from(["a", "b", None]))


@given(st.lists(st.lists(said, max_size=6), max_size=6))
def test_every_pair_counts_once_and_words_have_no_names(items: list[list[Any]]) -> None:
    found = order_effect(items)
    known = [[x for x in item if x[1] is not None] for item in items]
    assert found.same_pairs + found.other_pairs == sum(comb(len(k), 2) for k in known)
    assert 0 <= found.same_equal <= found.same_pairs
    assert 0 <= found.other_equal <= found.other_pairs
    assert found.first_expected == sum(map(len, known)) / 2
    turned: dict[Any, Any] = {"a": "b", "b": "a", None: None}
    other = [[(tuple(turned[w] for w in order), turned[v]) for order, v in item] for item in items]
    assert order_effect(other) == found
