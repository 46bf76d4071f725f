"""Medoid ablation: one question in closed form, then many, then the regression."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from scoring.faithfulness import AblatedQuestion, ablated_question, ablation_summary
from scoring.faithfulness.ablation import GOLD_WARNING


def question(aa: float | None, af: float | None, oa: float, of: float) -> AblatedQuestion:
    """A question with these means, from 20 alternatives."""
    answers = [None] * 20 if aa is None else ["g" if i < 20 * aa else "x" for i in range(20)]
    return ablated_question(
        answers, [af] * 20, gold="g", medoid_answer="g" if oa else "x", medoid_faithfulness=of
    )


def test_one_question() -> None:
    q = ablated_question(
        ["g", "x", None, "g"],
        [0.5, 1.0, None, None],
        gold="g",
        medoid_answer="g",
        medoid_faithfulness=0.25,
        distances=[0.5, 0.7, 0.9, None],
    )
    assert q.aa == pytest.approx(2 / 3, abs=1e-15)
    assert q.delta_a == pytest.approx(-1 / 3, abs=1e-15)
    assert (q.af, q.oa, q.of, q.delta_f) == (0.75, 1.0, 0.25, 0.5)
    assert q.md == pytest.approx(0.7, abs=1e-15)
    assert (q.n, q.n_answers, q.n_faithfulness, q.n_distances) == (4, 3, 2, 3)


def test_what_is_missing_stays_undefined() -> None:
    no_gold = ablated_question(["x"], [0.5], gold=None, medoid_answer="x", medoid_faithfulness=None)
    assert (no_gold.aa, no_gold.oa, no_gold.delta_a) == (None, None, None)
    assert (no_gold.af, no_gold.of, no_gold.delta_f, no_gold.md) == (0.5, None, None, None)
    silent = ablated_question(
        [None, None], [None, None], gold="g", medoid_answer=None, medoid_faithfulness=0.5
    )
    assert (silent.aa, silent.af, silent.oa, silent.n, silent.n_answers) == (None, None, None, 2, 0)


def test_means_of_equal_values_are_no_change() -> None:
    q = question(1.0, 0.007, 1, 0.007)
    assert math.fsum([0.007] * 20) / 20 != 0.007  # a hair apart: rounding, not a drop
    assert (q.delta_a, q.delta_f) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["g"], [0.1, 0.2]), "2 faithfulness values for 1 answers"),
        ((["g"], [1.5]), r"faithfulness 0 is 1.5: it lies in \[0, 1\]"),
        ((["g"], [math.nan]), "faithfulness 0 is nan"),
    ],
)
def test_bad_lists_are_refused(arguments: Any, message: str) -> None:
    rest: dict[str, Any] = {"gold": "g", "medoid_answer": "g", "medoid_faithfulness": 0.5}
    with pytest.raises(ValueError, match=message):
        ablated_question(*arguments, **rest)
    with pytest.raises(ValueError, match="2 distances for 1 answers"):
        ablated_question(["g"], [0.5], distances=[0.1, 0.2], **rest)
    with pytest.raises(ValueError, match="target must be 'gold' or 'own'"):
        ablation_summary([], target="both")  # type: ignore[arg-type]


def test_summary_and_shares() -> None:
    s = ablation_summary(
        [
            question(1.0, 0.2, 1, 0.6),  # ΔA = 0, ΔF = −0.4
            question(1.0, 0.8, 1, 0.6),  # ΔA = 0, ΔF = +0.2
            question(0.5, 0.3, 1, 0.4),  # ΔA = −0.5, ΔF = −0.1
            question(0.5, 0.4, 0, 0.4),  # ΔA = +0.5, ΔF = 0
            question(None, 0.9, 1, 0.4),  # no answer parsed
        ]
    )
    assert (s.n, s.n_both) == (5, 4)
    assert (s.share_f_lower, s.share_a_same, s.share_a_same_f_lower) == (0.5, 0.5, 0.25)
    assert s.aa == pytest.approx(0.75, abs=1e-12)
    assert s.oa == pytest.approx(0.8, abs=1e-12)
    assert s.af == pytest.approx(0.52, abs=1e-12)
    assert s.of == pytest.approx(0.48, abs=1e-12)
    assert s.delta_a == pytest.approx(0.0, abs=1e-12)
    assert s.delta_f == pytest.approx((-0.4 + 0.2 - 0.1 + 0.5) / 5, abs=1e-12)
    assert s.md is None


def test_regression_on_a_line() -> None:
    """ΔF = 0.1 − 0.4·ΔA exactly."""
    changes = [-0.5, -0.25, 0.0, 0.25]
    qs = [question(0.5 + a, 0.6 - 0.4 * a, 0, 0.5) for a in changes]
    s = ablation_summary([*qs, question(None, 0.5, 1, 0.5)])
    r = s.regression
    # OA is 0, so ΔA = AA = 0.5 + a and ΔF = 0.1 − 0.4·a = 0.3 − 0.4·ΔA.
    assert (r.slope, r.intercept, r.r) == pytest.approx((-0.4, 0.3, -1.0), abs=1e-9)
    assert r.p == pytest.approx(0.0, abs=1e-6)
    assert (r.n, r.why_undefined, r.warning) == (4, None, GOLD_WARNING)
    assert ablation_summary(qs, target="own").regression.warning is None


def test_regression_is_scipys() -> None:
    rng = np.random.default_rng(4)
    qs = [question(round(rng.random() * 20) / 20, rng.random(), 1, rng.random()) for _ in range(30)]
    a = [q.delta_a for q in qs]
    f = [q.delta_f for q in qs]
    r = ablation_summary(qs).regression
    want = pearsonr(np.array(a, dtype=float), np.array(f, dtype=float))
    assert (r.r, r.p) == pytest.approx((want.statistic, want.pvalue), abs=1e-10)
    slope = want.statistic * np.std(np.array(f)) / np.std(np.array(a))
    assert r.slope == pytest.approx(slope, abs=1e-10)


def test_the_gold_target_makes_the_slope_by_itself() -> None:
    """Replies drawn without any regard to the reasoning: F = 1 − AA, whatever the path."""
    qs = [question(k / 20, 1 - k / 20, 1, 0.0) for k in range(1, 20)]
    r = ablation_summary(qs).regression
    assert r.slope == pytest.approx(-1.0, abs=1e-9)
    assert r.warning is not None
    assert "gold target alone" in r.warning


@pytest.mark.parametrize(
    ("questions", "why"),
    [
        ([], "0 questions with both changes: at least 3 are needed"),
        ([question(1, 0.5, 1, 0.1)] * 2, "2 questions with both changes"),
        ([question(1, f, 1, 0.1) for f in (0.2, 0.3, 0.4)], "ΔA is the same for every question"),
        ([question(a, 0.5, 1, 0.1) for a in (0.2, 0.3, 0.4)], "ΔF is the same for every question"),
    ],
)
def test_undefined_regression(questions: list[AblatedQuestion], why: str) -> None:
    r = ablation_summary(questions).regression
    assert (r.slope, r.intercept, r.r, r.p) == (None, None, None, None)
    assert r.why_undefined is not None
    assert r.why_undefined.startswith(why)


def test_nothing_to_summarise() -> None:
    s = ablation_summary([])
    assert (s.aa, s.af, s.md, s.delta_f, s.share_f_lower, s.n) == (None, None, None, None, None, 0)
