"""Flips after the reveal, and time per label."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.agreement import flip_rates, time_summary, wilson

CASES = [
    # before, after, judge
    ("y", "n", "n"),  # toward
    ("y", None, "n"),  # kept
    ("y", "y", "n"),  # labelled again, the same
    ("y", "other", "n"),  # changed, to a third
    ("n", "y", "n"),  # away
    ("n", None, "n"),  # kept
    ("n", "n", "n"),  # the same again
    (None, "n", "n"),  # no label before
    ("y", "n", None),  # no verdict
]


def test_every_kind_of_change() -> None:
    f = flip_rates(*zip(*CASES, strict=True))
    assert f.toward == wilson(1, 4)
    assert f.away == wilson(1, 3)
    assert (f.n, f.n_other, f.dropped) == (7, 1, 2)


def test_nothing_differed_is_undefined() -> None:
    f = flip_rates(["y", "y"], [None, None], ["y", "y"])
    assert (f.toward.value, f.away.value) == (None, 0.0)
    assert f.toward.why_undefined == "no item to count"
    empty = flip_rates([], [], [])
    assert (empty.toward.value, empty.away.value, empty.n) == (None, None, 0)


label = st.sampled_from(["a", "b", "c", None])


@given(st.lists(st.tuples(label, label, label)))
def test_counts_add_up(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    f = flip_rates([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows])
    assert f.toward.n + f.away.n == f.n
    assert f.n + f.dropped == len(rows)
    assert f.toward.k + f.n_other <= f.toward.n
    # nobody flips who was not asked again
    unasked = flip_rates([r[0] for r in rows], [None] * len(rows), [r[2] for r in rows])
    assert (unasked.toward.k, unasked.away.k, unasked.n_other) == (0, 0, 0)


def test_flip_refusals() -> None:
    with pytest.raises(ValueError, match="have 1, 2 and 1 entries"):
        flip_rates(["y"], ["y", "n"], ["y"])
    with pytest.raises(ValueError, match="read the same but differ in type"):
        flip_rates(["1"], [None], [1])


def test_times() -> None:
    t = time_summary([30, 10, None, 20, float("nan"), 600])
    # sorted 10 20 30 600: quartiles at positions .75, 1.5, 2.25
    assert (t.lower_quartile, t.median, t.upper_quartile) == pytest.approx((17.5, 25, 172.5))
    assert (t.n, t.dropped, t.why_undefined) == (4, 2, None)
    one = time_summary([7])
    assert (one.lower_quartile, one.median, one.upper_quartile) == (7.0, 7.0, 7.0)
    none = time_summary([None])
    assert (none.median, none.n, none.dropped) == (None, 0, 1)
    assert none.why_undefined == "no label has a time"


@pytest.mark.parametrize(("value", "shown"), [(-1, "-1"), (float("inf"), "inf"), (True, "True")])
def test_time_refusals(value: float, shown: str) -> None:
    with pytest.raises(ValueError, match=f"time 1 is {shown}"):
        time_summary([3, value])
