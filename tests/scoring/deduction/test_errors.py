"""Groups, error rates against table 5, first wrong step, propagation; styles; memory."""

from __future__ import annotations

import pytest

from scoring.deduction import (
    Cell,
    LabelledResponse,
    accuracy_group,
    compare_styles,
    error_rates,
    final_accuracy,
    judge_values,
    memorisation_gap,
    paired_observations,
    propagation,
    propagation_share,
)
from tests.scoring.deduction.published import ERRORS


@pytest.mark.parametrize(
    ("accuracy", "group"),
    [("1", 1), ("0.9", 2), ("0.7", 2), ("0.69", 3), ("0.4", 3), ("0.39", 4), ("0.1", 4), ("0", 5)],
)
def test_groups(accuracy: str, group: int) -> None:
    assert accuracy_group(accuracy) == accuracy_group(float(accuracy)) == group


def test_accuracy_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"accuracy is 1\.1"):
        accuracy_group(1.1)


@pytest.mark.parametrize(("model", "group", "category", "count", "n", "rate"), ERRORS)
def test_published_error_rates(
    model: str, group: int, category: str, count: int, n: int, rate: str
) -> None:
    """Table 5 is count / instances of table 17, also in group 1, which has no wrong answer."""
    rows = [
        LabelledResponse(group > 1, frozenset([category] if i < count else []), group)
        for i in range(n)
    ]
    found = next(e for e in error_rates(rows) if e.category == category)
    assert format(found.rate or 0.0, ".3f") == rate, model
    assert (found.count, found.n) == (count, n)
    assert found.rate_wrong == (None if group == 1 else found.rate)


def test_rates_over_both_denominators() -> None:
    rows = [
        LabelledResponse(True, frozenset(["logical", "calculation"]), 3),
        LabelledResponse(True, frozenset(["logical"]), 3),
        LabelledResponse(False, frozenset(["calculation"]), 3),
        LabelledResponse(False, frozenset(), 3),
        LabelledResponse(False, None, 3),
        LabelledResponse(False, None, 5),
    ]
    rates = {(e.group, e.category): e for e in error_rates(rows)}
    calculation, logical = rates[3, "calculation"], rates[3, "logical"]
    assert (calculation.rate, calculation.rate_wrong, calculation.unlabelled) == (0.5, 0.5, 1)
    assert (logical.rate, logical.rate_wrong, logical.count_wrong) == (0.5, 1.0, 2)
    assert rates[3, "understanding"].rate == 0.0
    assert (rates[5, "logical"].rate, rates[5, "logical"].n) == (None, 0)
    with pytest.raises(ValueError, match="category 'typo' is not one of"):
        error_rates([LabelledResponse(True, frozenset(["typo"]), 1)])


CODE = "c = a + 2\ne = c * 2\nf = e - c\ng = a * 7"
INPUTS = {"a": 3}
STATED_IN = {"c": 1, "e": 2, "f": 3, "g": 4}
TRUTH = {"c": 5, "e": 10, "f": 5, "g": 21}


def test_an_error_that_follows_is_told_from_a_new_one() -> None:
    verdicts = judge_values(TRUTH, {"c": 6, "e": 12, "f": 7, "g": 20}, STATED_IN, 0)
    p = propagation(CODE, INPUTS, verdicts)
    # e = 6 · 2 follows; f would be 12 - 6 = 6; g rests on nothing wrong
    assert p.origins == {"c": "fresh", "e": "propagated", "f": "downstream", "g": "fresh"}
    assert (p.first_wrong_step, p.first_wrong, p.first_missing_step) == (1, "c", None)
    assert (p.wrong, p.propagated, p.share) == (4, 1, 0.25)


def test_right_by_luck_and_missing_values() -> None:
    verdicts = judge_values(TRUTH, {"e": 11, "f": 6, "g": 21}, STATED_IN, 0)
    p = propagation(CODE, INPUTS, verdicts)
    # c is not stated, so the reference's 5 stands in: f = 11 - 5 follows
    assert p.origins == {"e": "fresh", "f": "propagated"}
    assert (p.first_wrong_step, p.first_missing_step) == (2, 1)
    clean = propagation(CODE, INPUTS, judge_values(TRUTH, TRUTH, STATED_IN, 1))
    assert (clean.share, clean.first_wrong_step, clean.wrong) == (None, None, 0)
    assert propagation_share([p, clean]) == 0.5
    assert propagation_share([clean]) is None


def test_numbers_the_program_cannot_run_on_propagate_nothing() -> None:
    verdicts = judge_values({"c": 2, "e": 5}, {"c": 0, "e": 4}, {"c": 1, "e": 2}, 0)
    p = propagation("c = a - 1\ne = 10 / c", INPUTS, verdicts)
    assert p.origins == {"c": "fresh", "e": "downstream"}
    with pytest.raises(ValueError, match="the program does not run: line 1: 'import'"):
        propagation("import os", {}, verdicts)


def test_style_tests_against_known_values() -> None:
    """Welch, paired t and Cohen's d as R and scipy give them for 80 and 75 of 100."""
    c = compare_styles([1] * 80 + [0] * 20, [0] * 25 + [1] * 75)
    assert c.welch.t == pytest.approx(0.8439373293244821, abs=1e-12)
    assert c.welch.df == pytest.approx(196.76771937043515, abs=1e-9)
    assert c.welch.p == pytest.approx(0.399729261639456, abs=1e-12)
    assert c.paired.t == pytest.approx(0.743688527340797, abs=1e-12)
    assert c.paired.df == 99
    assert c.paired.p == pytest.approx(0.4588263150091907, abs=1e-12)
    assert c.cohens_d == pytest.approx(0.11935076169236115, abs=1e-12)
    assert (c.mean_a, c.mean_b, c.n, c.dropped) == (0.8, 0.75, 100, 0)
    back = compare_styles([0] * 25 + [1] * 75, [1] * 80 + [0] * 20)
    assert back.paired.t == pytest.approx(-0.743688527340797, abs=1e-12)
    assert back.paired.p == c.paired.p


def test_styles_without_spread_or_pairs() -> None:
    same = compare_styles([1, 1, None], [1, 1, 0])
    assert (same.paired.p, same.welch.p, same.cohens_d) == (None, None, None)
    assert (same.paired.why_undefined, same.dropped) == ("every pair differs by the same amount", 1)
    assert compare_styles([1], [0]).difference == 1.0
    none = compare_styles([], [])
    assert (none.mean_a, none.paired.why_undefined) == (None, "a test needs two pairs, there are 0")
    with pytest.raises(ValueError, match="1 observations against 2"):
        compare_styles([1], [1, 0])
    with pytest.raises(ValueError, match="not finite"):
        compare_styles([float("nan"), 1], [1, 0])


def test_observations_are_paired_by_what_they_observe() -> None:
    a = [Cell(1, 1, True, "c", "p"), Cell(0, 1, True, "c", "p"), Cell(1, 2, False, "e", "p")]
    b = [Cell(1, 2, None, "e", "p"), Cell(1, 1, False, "c", "p"), Cell(1, 1, True, "c", "q")]
    assert paired_observations(a, b) == ([True, False], [False, False])
    with pytest.raises(ValueError, match="two cells for"):
        paired_observations([a[0], a[0]], b)


def test_memorisation_gap_compares_like_with_like() -> None:
    original = [
        *(Cell(0, 1, True, "c", "p"), Cell(0, 2, True, "e", "p", final=True)),
        *(Cell(1, 1, True, "e", "p", final=True), Cell(1, 1, True, "e", "gone")),
    ]
    mutated = [
        *(Cell(0, 1, True, "c", "p", m) for m in range(4)),
        *(Cell(0, 2, m == 0, "e", "p", m, final=True) for m in range(4)),
        *(Cell(1, 1, m < 3, "e", "p", m, final=True) for m in range(4)),
        Cell(2, 1, False, "z", "p"),
    ]
    gap = memorisation_gap(original, mutated)
    assert (gap.original.base, gap.mutated.base, gap.hop_gaps) == (1.0, 0.75, (0.25,))
    assert (gap.final_original.value, gap.final_mutated.value) == (1.0, 0.25)
    assert (gap.final_gap, gap.problems) == (0.75, 1)
    assert (gap.dropped_original, gap.dropped_mutated) == (1, 1)
    empty = memorisation_gap([], mutated)
    assert (empty.final_gap, empty.hop_gaps, empty.dropped_mutated) == (None, (), len(mutated))
    assert final_accuracy(mutated, k=1).right == 3
