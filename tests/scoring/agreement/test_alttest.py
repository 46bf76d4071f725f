"""The alternative annotator test against a plain reading of its definition."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from scoring.agreement import alt_test

Labels = list[str | None]


def by_definition(
    judge: Labels, humans: list[Labels], epsilon: float, q: float, least: int
) -> tuple[float | None, float | None, list[float]]:
    """Omega, rho and p-values; scipy's t-test, statsmodels' correction."""
    p_values, wins = [], []
    items = range(len(judge))
    for h, mine in enumerate(humans):
        judge_wins, human_wins = [], []
        for i in items:
            others = [r[i] for g, r in enumerate(humans) if g != h and r[i] is not None]
            if judge[i] is None or mine[i] is None or not others:
                continue
            of_judge = sum(o == judge[i] for o in others) / len(others)
            of_human = sum(o == mine[i] for o in others) / len(others)
            judge_wins.append(int(of_judge >= of_human))
            human_wins.append(int(of_human >= of_judge))
        if len(judge_wins) < least:
            continue
        gap = [b - a for a, b in zip(judge_wins, human_wins, strict=True)]
        if len(set(gap)) == 1:
            size = len(gap)
            p_values.append(
                {-1: ((1 - epsilon) / 2) ** size, 0: (1 - epsilon) ** size, 1: 1.0}[gap[0]]
            )
        else:
            p_values.append(float(ttest_1samp(gap, epsilon, alternative="less").pvalue))
        wins.append(sum(judge_wins) / len(judge_wins))
    if not p_values:
        return None, None, []
    rejected = multipletests(p_values, alpha=q, method="fdr_by")[0]
    return float(rejected.mean()), sum(wins) / len(wins), p_values


def noisy(random: Random, truth: Labels, error: float, gaps: float = 0.0) -> Labels:
    """Copy the truth with errors and gaps."""
    return [
        None if random.random() < gaps else (random.choice("abc") if random.random() < error else t)
        for t in truth
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.sampled_from([0.0, 0.1, 0.2]),
    st.sampled_from([0.0, 0.2, 0.5]),
)
def test_equals_the_definition(seed: int, people: int, epsilon: float, error: float) -> None:
    random = Random(seed)
    truth: Labels = [random.choice("abc") for _ in range(random.randint(10, 60))]
    humans = [noisy(random, truth, 0.3, 0.2) for _ in range(people)]
    judge = noisy(random, truth, error, 0.05)
    r = alt_test(judge, humans, epsilon=epsilon, min_items=10)
    omega, rho, p_values = by_definition(judge, humans, epsilon, 0.05, 10)
    assert (r.omega, r.rho) == pytest.approx((omega, rho))
    assert [h.p for h in r.humans if h.p is not None] == pytest.approx(p_values)
    assert r.passed == (None if omega is None else omega >= 0.5)


def test_three_humans_and_a_good_judge() -> None:
    random = Random(3)
    truth: Labels = [random.choice("abc") for _ in range(80)]
    humans = [noisy(random, truth, e) for e in (0.3, 0.3, 0.02)]
    judge = noisy(random, truth, 0.05)
    r = alt_test(judge, humans, names=["ana", "bob", "cy"])
    assert [(h.name, h.n, h.rejected) for h in r.humans] == [
        ("ana", 80, True),
        ("bob", 80, True),
        ("cy", 80, True),
    ]
    assert (r.omega, r.passed, r.n_items, r.dropped, r.warnings) == (1.0, True, 80, 0, ())
    # without any allowance the judge must be better for sure, which 80 items do not show
    strict = alt_test(judge, humans, epsilon=0)
    assert [h.rejected for h in strict.humans] == [False, False, False]
    assert all((x.p or 0) > (y.p or 1) for x, y in zip(strict.humans, r.humans, strict=True))
    assert (strict.omega, strict.rho) == (0.0, r.rho)


def test_a_judge_at_random_fails() -> None:
    random = Random(8)
    truth: Labels = [random.choice("abc") for _ in range(100)]
    humans = [noisy(random, truth, 0.1) for _ in range(3)]
    r = alt_test([random.choice("abc") for _ in truth], humans)
    assert (r.omega, r.passed) == (0.0, False)
    assert r.rho is not None
    assert r.rho < 0.5


def test_two_items_by_hand() -> None:
    # item 1: judge a, human 1 a, human 2 a: a tie for both. item 2: judge b, human 1 a, human 2 b:
    # against human 1 the judge wins, against human 2 (other: a) neither judge nor human agrees.
    r = alt_test(["a", "b"], [["a", "a"], ["a", "b"]], min_items=2, epsilon=0.2)
    first, second = r.humans
    assert (first.judge_wins, first.human_wins) == (1.0, 0.5)
    assert (second.judge_wins, second.human_wins) == (1.0, 1.0)
    # differences 0, -1: mean -1/2, sd .7071/sqrt 2 = 1/2, t = (-.5 - .2)/.5
    assert first.statistic == pytest.approx(-1.4)
    assert second.statistic is None
    assert second.p == pytest.approx(0.8**2)
    assert r.rho == 1.0
    assert r.warnings == (
        "2 humans: with fewer than 3 there is no consensus to represent, only one person's labels",
        "2 items for a human: 50 to 100 are advised",
    )


def test_no_variance_is_bounded_exactly() -> None:
    all_the_same = alt_test(["a"] * 30, [["a"] * 30] * 3)
    assert [h.p for h in all_the_same.humans] == pytest.approx([0.8**30] * 3)
    assert (all_the_same.omega, all_the_same.passed) == (1.0, True)
    none = alt_test(["a"] * 30, [["a"] * 30] * 3, epsilon=0)
    assert ([h.p for h in none.humans], none.omega) == ([1.0] * 3, 0.0)
    # the judge sides with human 2 against human 1 always, and never with human 1
    sides = alt_test(["b"] * 30, [["a"] * 30, ["b"] * 30, ["b"] * 30])
    assert sides.humans[0].p == pytest.approx(0.4**30)
    worse = alt_test(["c"] * 30, [["a"] * 30] * 3)
    assert ([h.p for h in worse.humans], worse.omega, worse.rho) == ([1.0] * 3, 0.0, 0.0)


def test_humans_with_few_items_are_left_out_and_named() -> None:
    few: Labels = ["a"] * 10 + [None] * 30
    full: Labels = [*["a"] * 40, None]
    # the last item has no label and no verdict, the one before no verdict
    r = alt_test([*["a"] * 39, None, None], [full, full, [*few, None]], names=["ana", "bob", "cy"])
    assert [h.why_untested for h in r.humans] == [
        None,
        None,
        "10 comparable items, 30 are needed",
    ]
    assert (r.humans[2].judge_wins, r.humans[2].p) == (1.0, None)
    assert (r.omega, r.n_items, r.dropped) == (1.0, 39, 1)
    assert "cy is left out: 10 comparable items, 30 are needed" in r.warnings


def test_undefined() -> None:
    alone = alt_test(["a"] * 40, [["a"] * 40])
    assert (alone.omega, alone.passed, alone.rho, alone.n_items) == (None, None, None, 0)
    assert alone.why_undefined == (
        "one human only: the test needs at least two, and is meant for three"
    )
    short = alt_test(["a"] * 9, [["a"] * 9, ["a"] * 9])
    assert short.omega is None
    assert short.why_undefined == (
        "no human has 30 items that 2 humans labelled and the judge has a verdict on (most: 9)"
    )
    three = alt_test(["a"] * 40, [["a"] * 40, ["a"] * 40], min_humans=3)
    assert (three.omega, three.n_items, three.dropped) == (None, 0, 40)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"judge": ["a"]}, "the judge has 1 verdicts and the humans 2 labels each"),
        ({"names": ["ana"]}, "names has 1 entries for 2 humans"),
        ({"epsilon": 1}, "epsilon is 1"),
        ({"epsilon": -0.1}, r"epsilon is -0\.1"),
        ({"q": 5}, "q is 5"),
        ({"min_humans": 1}, "min_humans is 1"),
        ({"min_items": 1}, "min_items is 1"),
        ({"humans": [["a", "b"], ["a"]]}, "rater 1 has 1 items but rater 0 has 2"),
    ],
)
def test_refusals(changed: dict[str, object], message: str) -> None:
    given_ = {"judge": ["a", "b"], "humans": [["a", "b"], ["a", "b"]]} | changed
    with pytest.raises(ValueError, match=message):
        alt_test(**given_)  # type: ignore[arg-type]
