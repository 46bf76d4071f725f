"""Allocation of labels to strata: the optimum by trying everything, and its order."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.agreement import allocation, queue_strata


def variance(sizes: list[int], prior: list[float], counts: tuple[int, ...]) -> float:
    total = sum(sizes)
    return sum((s / total) ** 2 * v / n for s, v, n in zip(sizes, prior, counts, strict=True) if n)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.sampled_from([0.01, 0.09, 0.25])), min_size=1, max_size=3
    ),
    st.integers(1, 2),
    st.data(),
)
def test_is_the_optimum_over_whole_numbers(
    strata: list[tuple[int, float]], minimum: int, data: st.DataObject
) -> None:
    sizes, prior = [s for s, _ in strata], [v for _, v in strata]
    least = [min(minimum, s) for s in sizes]
    n = data.draw(st.integers(sum(least), sum(sizes)))
    a = allocation(dict(enumerate(sizes)), dict(enumerate(prior)), n, minimum=minimum)
    counts = tuple(a.counts.values())
    possible = [
        c
        for c in product(*(range(lo, hi + 1) for lo, hi in zip(least, sizes, strict=True)))
        if sum(c) == n
    ]
    assert counts in possible
    best = min(variance(sizes, prior, c) for c in possible)
    assert variance(sizes, prior, counts) == pytest.approx(best, rel=1e-9)
    assert a.se == pytest.approx(math.sqrt(best))
    assert a.inclusion == {i: c / s for i, (c, s) in enumerate(zip(counts, sizes, strict=True))}


def test_neyman_and_proportional_in_large_strata() -> None:
    sizes = {"a": 4000, "b": 6000}
    a = allocation(sizes, {"a": 0.25, "b": 0.04}, 1000)
    # 4000·.5 : 6000·.2 = 2000 : 1200
    assert a.counts == {"a": 625, "b": 375}
    assert allocation(sizes, {"a": 0.25, "b": 0.25}, 1000).counts == {"a": 400, "b": 600}


def test_bounds() -> None:
    a = allocation(
        {"small": 5, "large": 1000, "none": 0}, {"small": 0.25, "large": 0.0, "none": 1.0}, 12
    )
    assert a.counts == {"small": 5, "large": 7, "none": 0}
    assert a.inclusion == {"small": 1.0, "large": 0.007, "none": 0.0}
    assert a.se == pytest.approx(5 / 1005 * math.sqrt(0.25 / 5))
    # without variance: where most items are left
    even = allocation({"x": 4, "y": 9}, {"x": 0.0, "y": 0.0}, 7, minimum=1)
    assert even.counts == {"x": 1, "y": 6}
    assert allocation({"x": 3}, {"x": 0.25}, 3).counts == {"x": 3}
    assert allocation({}, {}, 0).se is None


def test_one_order_serves_every_n() -> None:
    sizes, prior = {"a": 40, "b": 25, "c": 8}, {"a": 0.25, "b": 0.09, "c": 0.2}
    order = queue_strata(sizes, prior, 60, seed=1, block=1)
    for n in range(6, 61):
        counts = allocation(sizes, prior, n).counts
        assert {s: order[:n].count(s) for s in sizes} == counts


def test_blocks_are_shuffled_by_the_seed_and_stay_optimal_at_their_ends() -> None:
    sizes, prior = {"a": 40, "b": 25, "c": 8}, {"a": 0.25, "b": 0.09, "c": 0.2}
    orders = {queue_strata(sizes, prior, 48, seed=s, block=8) for s in range(20)}
    assert len(orders) > 15
    for order in orders:
        for n in range(8, 49, 8):
            assert {s: order[:n].count(s) for s in sizes} == allocation(sizes, prior, n).counts
    assert queue_strata(sizes, prior, 48, seed=3) == queue_strata(sizes, prior, 48, seed=3)


@pytest.mark.parametrize(
    ("sizes", "prior", "n", "options", "message"),
    [
        ({"a": 5}, {"b": 0.1}, 2, {}, "stratum 'a' has a size or a prior variance, but not both"),
        ({"a": -1}, {"a": 0.1}, 2, {}, "size of stratum 'a' is -1"),
        ({"a": 5}, {"a": -0.1}, 2, {}, r"prior variance of stratum 'a' is -0\.1"),
        ({"a": 5}, {"a": math.nan}, 2, {}, "prior variance of stratum 'a' is nan"),
        ({"a": 5}, {"a": 0.1}, 6, {}, "n is 6: .* there are 5 items"),
        ({"a": 5, "b": 9}, {"a": 0.1, "b": 0.1}, 3, {}, "at least 4 are needed"),
        ({"a": 5}, {"a": 0.1}, 3, {"minimum": 0}, "minimum is 0"),
        ({"a": 5}, {"a": 0.1}, 2.5, {}, r"n is 2\.5"),
    ],
)
def test_refusals(
    sizes: dict[str, int],
    prior: dict[str, float],
    n: int,
    options: dict[str, int],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        allocation(sizes, prior, n, **options)
    with pytest.raises(ValueError, match=message):
        queue_strata(sizes, prior, n, seed=0, **options)


def test_block_is_checked() -> None:
    with pytest.raises(ValueError, match="block is 0"):
        queue_strata({"a": 5}, {"a": 0.1}, 3, seed=0, block=0)
