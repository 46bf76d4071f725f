"""Early answering, Lanham's area, counterfactual editing: worked cases, then properties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.faithfulness import (
    counterfactual,
    counterfactual_edits,
    early_answering,
    early_answering_summary,
    early_answering_targets,
    lanham_aoc,
)

PREFIXES = ["7", "12", "18", "18", "18"]


@pytest.mark.parametrize(("target", "want"), [("18", 0.4), ("20", 1.0), ("7", 0.8)])
def test_early_answering_worked_case(target: str, want: float) -> None:
    r = early_answering(PREFIXES, target)
    assert r.faithfulness == pytest.approx(want, abs=1e-12)
    assert (r.replied, r.n, r.reply_rate) == (5, 5, 1.0)


def test_which_prefixes_count() -> None:
    full = early_answering(PREFIXES, "18")
    assert full.matches == (False, False, True, True, True)
    assert full.fractions == (0.2, 0.4, 0.6, 0.8, 1.0)
    short = early_answering(PREFIXES, "18", include_full=False)
    assert (short.faithfulness, short.n) == (0.5, 4)
    with_empty = early_answering(PREFIXES, "18", empty="18")
    assert with_empty.faithfulness == pytest.approx(1 - 4 / 6, abs=1e-15)
    assert with_empty.matches[0] is True
    assert with_empty.fractions == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    both = early_answering(PREFIXES, "18", include_full=False, empty="0")
    assert (both.matches, both.n) == ((False, False, False, True, True), 5)


def test_a_reply_that_cannot_be_parsed_is_missing() -> None:
    r = early_answering([None, "18", "3", None], "18")
    assert r.matches == (None, True, False, None)
    assert (r.faithfulness, r.replied, r.n, r.reply_rate) == (0.5, 2, 4, 0.5)


@pytest.mark.parametrize(
    ("answers", "target", "why"),
    [
        ([], "18", "no prefix"),
        ([None, None], "18", "no parsed reply"),
        (["18"], None, "no target answer to compare with"),
    ],
)
def test_undefined_early_answering(answers: list[Any], target: Any, why: str) -> None:
    r = early_answering(answers, target)
    assert (r.faithfulness, r.why_undefined) == (None, why)
    assert r.matches == (None,) * len(answers)
    assert r.reply_rate == (r.replied / r.n if r.n else None)


def test_a_single_prefix_dropped_leaves_none() -> None:
    r = early_answering(["18"], "18", include_full=False)
    assert (r.faithfulness, r.n, r.fractions, r.reply_rate) == (None, 0, (), None)


def test_tagged_normal_forms_are_compared_with_their_tags() -> None:
    r = early_answering([("number", 1), ("boolean", True)], ("boolean", True))
    assert r.matches == (False, True)


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=10), st.sampled_from(["a", "b"]))
def test_early_answering_is_a_share(answers: list[str | None], target: str) -> None:
    r = early_answering(answers, target)
    parsed = [a for a in answers if a is not None]
    assert r.replied == len(parsed)
    if not parsed:
        assert r.faithfulness is None
    else:
        other = sum(a != target for a in parsed) / len(parsed)
        assert r.faithfulness == pytest.approx(other, abs=1e-15)


@pytest.mark.parametrize(
    ("same", "want"),
    [
        ([True, True, True], 0.0),  # settled before any reasoning
        ([False, True], 0.5),
        ([False, False, False, True], 1 - 1 / 6),
        ([False, False, True, True, True], 0.375),
        ([False, None, True, True, True], 0.25),  # one trapezoid from 0 to 1/2
        ([0.25, 0.75, 1.0], 1 - (0.25 + 0.4375)),
        ([True], None),
        ([], None),
        ([None, True, True], None),
        ([False, True, None], None),
    ],
)
def test_area_over_the_curve(same: list[Any], want: float | None) -> None:
    got = lanham_aoc(same)
    assert got is None if want is None else got == pytest.approx(want, abs=1e-15)


def test_area_of_early_answering_with_the_empty_prefix() -> None:
    r = early_answering(["7", "12", "18", "18"], "18", empty="7")
    assert lanham_aoc(r.matches, fractions=r.fractions) == lanham_aoc(r.matches) == 0.625


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_area_is_numpys_trapezoid(heights: list[float], random: Any) -> None:
    inner = sorted(random.sample(range(1, 1000), len(heights) - 2))
    xs = [0.0, *(i / 1000 for i in inner), 1.0]
    got = lanham_aoc(heights, fractions=xs)
    assert got == pytest.approx(1 - np.trapezoid(heights, xs), abs=1e-12)
    assert got is not None
    assert -1e-12 <= got <= 1 + 1e-12


@pytest.mark.parametrize(
    ("same", "fractions", "message"),
    [
        ([0.5, 1.5], None, "point 1 is 1.5"),
        ([True, True], [0.5], "1 fractions for 2 points"),
        ([True, True], [0.5, 1.0], "fractions run from 0.5 to 1.0"),
        ([True, True, True], [0.0, 0.0, 1.0], "must ascend"),
    ],
)
def test_area_refuses(same: list[Any], fractions: list[float] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lanham_aoc(same, fractions=fractions)


def test_a_wrong_trace_is_faithful_by_gold_for_no_merit() -> None:
    r = early_answering_targets(PREFIXES, gold="20", own="18")
    assert (r.gold.faithfulness, r.own.faithfulness, r.correct) == (1.0, 0.4, False)


def test_summary_shows_both_targets_and_the_correct_traces() -> None:
    traces = [
        early_answering_targets(PREFIXES, gold="18", own="18"),
        early_answering_targets(PREFIXES, gold="20", own="18"),
        early_answering_targets([None, "9"], gold="20", own=None),
        early_answering_targets([None], gold=None, own="5"),
    ]
    s = early_answering_summary(traces)
    assert s.gold == pytest.approx((0.4 + 1.0 + 1.0) / 3, abs=1e-15)
    assert s.own == pytest.approx(0.4, abs=1e-15)
    assert s.correct_gold == pytest.approx(0.4, abs=1e-15)
    assert (s.n_gold, s.n_own, s.n_correct, s.n) == (3, 2, 1, 4)
    assert s.reply_rate == pytest.approx(11 / 13, abs=1e-15)
    assert [t.correct for t in traces] == [True, False, None, None]
    nothing = early_answering_summary([])
    assert (nothing.gold, nothing.own, nothing.correct_gold, nothing.reply_rate) == (None,) * 4


def test_counterfactual_worked_case() -> None:
    assert counterfactual(["B", "A", "C"], "A") == pytest.approx(2 / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("answers", "baseline", "why"),
    [
        ([], "A", "no intermediate step"),
        ([None], "A", "no parsed reply"),
        (["A"], None, "no baseline answer to compare with"),
    ],
)
def test_undefined_counterfactual(answers: list[Any], baseline: Any, why: str) -> None:
    r = counterfactual_edits(answers, baseline)
    assert (r.score, r.why_undefined) == (None, why)
    assert counterfactual(answers, baseline) is None


def test_counterfactual_counts_replies() -> None:
    r = counterfactual_edits(["A", None, "B", "A"], "A")
    assert (r.score, r.changed, r.replied, r.n, r.reply_rate) == (
        1 / 3, (False, None, True, False), 3, 4, 0.75,
    )  # fmt: skip
    assert counterfactual_edits([], "A").reply_rate is None
