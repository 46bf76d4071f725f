"""Made-up points, told displacements, detection of contradictions, knowledge probes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.relations import (
    axis_edges,
    check_displacements,
    contradictory_loop,
    detection_rates,
    displacements,
    inconsistency,
    knowledge_probe,
    make_points,
    quadrant,
)

# A loop of 20 displacements (a - b) of which each alone is plausible: it fails to close by (2, 18).
LOOP = [(-9, 4), (-5, -7), (7, 9), (-6, 4), (8, -7), (-7, -8), (17, 13), (-2, -7), (-5, -5), (6, 9)]
LOOP += [(-15, -7), (8, 9), (2, -8), (3, 13), (-6, -1), (-2, -9), (-2, -8), (-2, 19), (11, -4)]
LOOP += [(1, 9)]


def test_points_are_permutations() -> None:
    points = make_points(20, seed=3)
    assert sorted(x for x, _ in points) == sorted(y for _, y in points) == list(range(-10, 10))
    assert make_points(20, seed=3) == points != make_points(20, seed=4)
    assert sorted(x for x, _ in make_points(4, low=7)) == [7, 8, 9, 10]
    assert make_points(0) == ()


@pytest.mark.parametrize(("layout", "count"), [("center", 7), ("chain", 7), ("loop", 8)])
def test_told_relations_fit_the_points(layout: str, count: int) -> None:
    points = make_points(8, seed=1)
    told = displacements(points, layout=layout, center=2)
    found = check_displacements(told)
    assert len(told) == count
    assert found.consistent
    x0, y0 = points[0]
    px, py = found.places[0]
    assert {k: (x - px, y - py) for k, (x, y) in found.places.items()} == {
        k: (x - x0, y - y0) for k, (x, y) in enumerate(points)
    }


def test_a_loop_that_does_not_close_may_have_no_cycle_in_order() -> None:
    told = [(k, (k + 1) % 20, dx, dy) for k, (dx, dy) in enumerate(LOOP)]
    found = check_displacements(told)
    assert not found.consistent
    ((place, gap),) = found.residuals
    assert place == 19
    assert gap in ((2, 18), (-2, -18))
    words = [(a, b, quadrant((dx, dy), (0, 0))) for a, b, dx, dy in told]
    axes = axis_edges(words, "quadrant")
    assert [inconsistency(axes[a], 20).reverse for a in "xy"] == [0, 0]


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 20), st.integers(0, 10**6))
def test_a_contradictory_loop_has_one_false_displacement(n: int, seed: int) -> None:
    points = make_points(n, seed=seed)
    true, told = displacements(points, layout="loop"), contradictory_loop(points, seed=seed)
    assert sum(a != b for a, b in zip(true, told, strict=True)) == 1
    assert check_displacements(true).consistent
    ((place, gap),) = check_displacements(told).residuals
    assert place == n - 1
    assert 0 not in gap
    assert max(abs(g) for g in gap) <= 20


def test_bad_layouts_are_named() -> None:
    with pytest.raises(ValueError, match="layout is 'star'"):
        displacements([(0, 0)], layout="star")
    with pytest.raises(ValueError, match="center is 5"):
        displacements([(0, 0)], layout="center", center=5)
    with pytest.raises(ValueError, match="2 points"):
        contradictory_loop([(0, 0), (1, 1)])


@pytest.mark.parametrize(
    ("detected", "printed"),
    [(57, "15.00"), (347, "91.32"), (376, "98.95"), (145, "38.16"), (222, "58.42"), (36, "9.47")],
)
def test_table_6_from_its_counts(detected: int, printed: str) -> None:
    found = detection_rates([True] * detected + [False] * (380 - detected), [])
    assert found.success.value is not None
    assert f"{100 * found.success.value:.2f}" == printed
    assert (found.false_alarms.value, found.false_alarms.ci, found.advantage) == (None, None, None)


def test_detection_against_a_control() -> None:
    found = detection_rates([True] * 8 + [False] * 2 + [None], [True] * 3 + [False] * 7)
    assert (found.success.value, found.success.missing) == (0.8, 1)
    assert found.advantage == pytest.approx(0.5)
    # Wilson's interval of 8 of 10.
    assert found.success.ci == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    silent = detection_rates([False] * 5, [False] * 5)
    assert silent.success.ci is not None
    assert silent.success.ci[0] == 0.0
    assert silent.advantage == 0.0


def test_wrong_facts_are_told_from_wrong_reasoning() -> None:
    true = [1900, 1910, 1920, 1930, 1930]
    stated = [1915, 1910, 1920, None, 1930]
    edges = [(1, 0), (0, 1), (0, 2), (2, 0), (1, 3), (3, 4), (2, 1)]
    found = knowledge_probe(edges, stated, true)
    assert found.wrong_fact == ((1, 0),)
    assert found.lucky == ((0, 1),)
    assert found.wrong_reasoning == ((2, 0), (2, 1))
    assert (found.sound, found.unknown, found.tied) == (1, 1, 1)
    assert found.follows == pytest.approx(2 / 5)


def test_no_stated_value_tells_nothing() -> None:
    found = knowledge_probe([(0, 1)], [None, 3.0], [1.0, 2.0])
    assert (found.unknown, found.follows) == (1, None)
    with pytest.raises(ValueError, match="1 stated values for 2"):
        knowledge_probe([], [1.0], [1.0, 2.0])
