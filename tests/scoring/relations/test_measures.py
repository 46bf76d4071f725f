"""Error against truth, blame, preference, axes, maps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from scoring.relations import (
    answer_preference,
    axis_edges,
    axis_word,
    blame,
    error_rate,
    inconsistency,
    kendall_tau,
    order_from_values,
    quadrant,
    reconstructed_map,
)
from scoring.relations.measures import sign_test
from tests.scoring.relations.cases import TOURNAMENT_7, TOURNAMENT_20, all_pairs, flipped


@pytest.mark.parametrize(
    ("edges", "truth", "wrong", "answered", "literal", "strict"),
    [
        (all_pairs(5), [0, 1, 2, 3, 4], 0, 0.0, 0.0, 0.0),
        (all_pairs(5), [4, 3, 2, 1, 0], 20, 1.0, 1.0, 1.0),
        (sorted(set(all_pairs(4))), [0, 1, 2, 3], 0, 0.0, 0.0, 0.5),
        (flipped(all_pairs(5), [6]), [0, 1, 2, 3, 4], 1, 0.05, 0.05, 0.05),
        (flipped(all_pairs(5), [5, 9]), [0, 1, 2, 3, 4], 2, 0.1, 0.1, 0.1),
        (TOURNAMENT_7, range(7), 8, 8 / 21, 8 / 42, 29 / 42),
        (TOURNAMENT_20, range(20), 85, 85 / 190, 85 / 380, 275 / 380),
    ],
)
def test_error_rates(
    edges: list[tuple[int, int]],
    truth: list[int],
    wrong: int,
    answered: float,
    literal: float,
    strict: float,
) -> None:
    r = error_rate(edges, truth, len(truth))
    assert (r.wrong, r.answered) == (wrong, len(edges))
    assert r.value == r.answered_rate == pytest.approx(answered)
    assert r.literal == pytest.approx(literal)
    assert r.strict == pytest.approx(strict)
    n = len(truth)
    assert error_rate(edges, truth, n, denominator="literal").value == r.literal
    assert error_rate(edges, truth, n, denominator="strict").value == r.strict


def test_error_rate_without_a_judgement_is_undefined() -> None:
    r = error_rate([(1, 1), (0, 1)], [[0, 1]], 2)
    assert (r.value, r.why_undefined, r.tied, r.selfloops) == (None, "no answer to judge", 1, 1)
    assert (r.pairs, r.literal, r.strict) == (0, None, None)
    assert error_rate([], [], 0).value is None


def test_ties_in_truth_are_not_judged() -> None:
    truth = order_from_values([1900, 1850, 1900])
    assert truth == (1, (0, 2))
    r = error_rate([(0, 2), (2, 0), (0, 1)], truth, 3)
    assert (r.wrong, r.answered, r.tied, r.pairs, r.missing) == (1, 1, 2, 4, 3)
    with pytest.raises(ValueError, match="value 2 is nan"):
        order_from_values([1.0, float("nan")])


def test_bad_truth_is_named() -> None:
    with pytest.raises(ValueError, match=r"truth order \(0, 1\)"):
        error_rate([], [0, 1], 3)
    with pytest.raises(ValueError, match="denominator is 'all'"):
        error_rate([], [], 0, denominator="all")  # type: ignore[arg-type]


def test_blame_counts_both_ends() -> None:
    edges = [(0, 1), (1, 0), (1, 2), (2, 0)]
    found = blame(edges, 4, [0, 1, 2, 3])
    assert [(b.object, b.reverse, b.edges) for b in found] == [
        (0, 2, 3),
        (2, 1, 2),
        (1, 1, 3),
        (3, 0, 0),
    ]
    assert found[0].share == pytest.approx(2 / 3)
    assert found[-1].share is None
    total = sum(b.reverse for b in found)
    assert total == 2 * 2


def test_quadrants_make_an_edge_per_axis() -> None:
    # 0 lies northeast of 1, 1 of 2: 2 comes first on both axes.
    answers = [(0, 1, "northeast"), (1, 0, "southwest"), (1, 2, "NE"), (2, 0, "South-West")]
    found = axis_edges([*answers, (0, 2, None), (0, 2, "up"), (1, 1, "northeast")], "quadrant")
    assert found["x"] == found["y"] == ((1, 0), (1, 0), (2, 1), (2, 0))
    assert (found.unparsed, found.selfloops, found.sources) == (2, 1, (0, 1, 2, 3))
    for axis in found.axes:
        assert inconsistency(found[axis], 3).order == (2, 1, 0)


def test_one_quadrant_both_ways_contradicts_on_both_axes() -> None:
    found = axis_edges([(0, 1, "northeast"), (1, 0, "northeast")], "quadrant")
    assert [inconsistency(found[a], 2).score for a in "xy"] == [1.0, 1.0]


def test_a_cycle_on_one_axis_only() -> None:
    answers = [(0, 1, "northeast"), (1, 2, "northeast"), (2, 0, "northwest")]
    found = axis_edges(answers, "quadrant")
    assert inconsistency(found["x"], 3).score == 0.0
    assert inconsistency(found["y"], 3).score == pytest.approx(2 / 3)
    assert inconsistency(found["y"], 3, method="scc").score == pytest.approx(4 / 3)


def test_time_words() -> None:
    found = axis_edges([(0, 1, "Before"), (0, 2, "after"), (1, 2, "later."), (1, 2, "")], "time")
    assert found["time"] == ((0, 1), (2, 0), (2, 1))
    assert axis_word("earlier", "time") == "before"
    assert axis_word("northeast", "time") is None
    with pytest.raises(ValueError, match="kind is 'space'"):
        axis_edges([], "space")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=6))
def test_true_answers_give_consistent_axes(points: list[tuple[int, int]]) -> None:
    n = len(points)
    asked = [(a, b) for a in range(n) for b in range(n) if a != b]
    answers = [(a, b, quadrant(points[a], points[b])) for a, b in asked]
    found = axis_edges(answers, "quadrant")
    for axis, values in zip("xy", zip(*points, strict=True), strict=True):
        truth = order_from_values(values)
        assert error_rate(found[axis], truth, n).wrong == 0
        assert inconsistency(found[axis], n, method="local").reverse == 0


def test_preference_and_asymmetry_by_hand() -> None:
    answers = [
        (0, 1, "before"),
        (1, 0, "before"),
        (0, 2, "before"),
        (2, 0, "after"),
        (1, 2, "after"),
        (2, 1, "after"),
        (0, 3, "before"),
        (3, 0, None),
    ]
    found = answer_preference(answers, "time")
    (time,) = found.axes
    assert found.counts == {"before": 4, "after": 3}
    assert found.unparsed == 1
    assert (time.first, time.second, time.both_asked, time.contradicted) == (4, 3, 3, 2)
    assert time.share == pytest.approx(4 / 7)
    assert time.asymmetry == pytest.approx(2 / 3)
    assert (time.both_first, time.both_second, time.p) == (1, 1, 1.0)


def test_a_model_that_always_says_southwest() -> None:
    answers = [(a, b, "southwest") for a in range(6) for b in range(6) if a != b]
    for axis in answer_preference(answers, "quadrant").axes:
        assert (axis.share, axis.asymmetry, axis.both_first) == (1.0, 1.0, 15)
        assert axis.p == pytest.approx(2 / 2**15)


def test_no_answer_has_no_preference() -> None:
    (time,) = answer_preference([(0, 1, None)], "time").axes
    assert time.share is time.asymmetry is time.p is None


def test_sign_test_values() -> None:
    assert sign_test(1, 7) == 0.0703125
    assert sign_test(5, 5) == 1.0
    assert sign_test(0, 10) == pytest.approx(2 / 1024)
    assert sign_test(0, 0) is None


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_kendall_is_that_of_scipy(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 9))
    order = data.draw(st.permutations(range(n)))
    values = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    ours = kendall_tau(order, values)
    if len(set(values)) == 1:
        assert ours is None
    else:
        place = [order.index(k) for k in range(n)]
        assert ours == pytest.approx(kendalltau(place, values).statistic, abs=1e-12)


def test_map_beside_the_true_one() -> None:
    m = reconstructed_map([2, 0, 1], [0, 1, 2], [5.0, 9.0, 5.0], [0.0, 1.0, 2.0])
    assert m.points.tolist() == [[1, 0], [2, 1], [0, 2]]
    assert m.true_points is not None
    assert m.true_points.tolist() == [[0.5, 0], [2, 1], [0.5, 2]]
    assert m.tau_x == pytest.approx(2 / 6**0.5)
    assert m.tau_y == 1.0
    alone = reconstructed_map([0, 1], [1, 0])
    assert (alone.true_points, alone.tau_x, alone.tau_y) == (None, None, None)
    assert kendall_tau([0], [1.0]) is None
    with pytest.raises(ValueError, match="3 true x"):
        reconstructed_map([0, 1, 2], [0, 1, 2], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="y order"):
        reconstructed_map([0, 1], [1, 1])
