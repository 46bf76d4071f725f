"""The prediction-powered rate against its formulas, computed plainly."""

from __future__ import annotations

import math
from random import Random
from statistics import covariance, fmean, pvariance, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from scoring.agreement import prediction_powered_rate

Z = 1.959963984540054

Y = [1, 1, 0, 0, 1, 0, 0, 1, 0, 0]
F = [1, 1, 0, 0, 1, 1, 0, 0, 0, 0]
REST = [1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
HUMAN = [*Y, *[None] * 20]
JUDGE = F + REST


def test_by_the_formulas() -> None:
    r = prediction_powered_rate(HUMAN, JUDGE, positive=1)
    lam = covariance(Y, F) / ((1 + 10 / 20) * variance(JUDGE))
    theta = lam * fmean(REST) + fmean(y - lam * f for y, f in zip(Y, F, strict=True))
    rest = [y - lam * f for y, f in zip(Y, F, strict=True)]
    se = math.sqrt(lam**2 * variance(REST) / 20 + variance(rest) / 10)
    assert 0 < lam < 1
    assert r.lam == pytest.approx(lam)
    assert r.value == r.uncut == pytest.approx(theta)
    assert r.se == pytest.approx(se)
    assert r.ci == pytest.approx((theta - Z * se, theta + Z * se))
    assert r.human_rate == 0.4
    assert r.human_se == pytest.approx(math.sqrt(variance(Y) / 10))
    assert r.judge_rate == 0.25
    assert r.gain == pytest.approx(variance(Y) / 10 / se**2)
    assert (r.n, r.n_unlabelled, r.dropped, r.clusters) == (10, 20, 0, None)
    assert (r.why_undefined, r.why_no_interval) == (None, None)


def test_the_authors_code_divides_by_n() -> None:
    """At a given lambda its error is that of variances over n: smaller by about 1/(2n)."""
    r = prediction_powered_rate(HUMAN, JUDGE, positive=1)
    rest = [y - r.lam * f for y, f in zip(Y, F, strict=True)]
    theirs = math.sqrt(r.lam**2 * pvariance(REST) / 20 + pvariance(rest) / 10)
    assert theirs < (r.se or 0) < theirs * math.sqrt(10 / 9)


samples = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30)


@given(samples, st.lists(st.booleans(), min_size=2, max_size=30))
def test_any_data_by_the_formulas(pairs: list[tuple[bool, bool]], rest: list[bool]) -> None:
    y, f, u = [float(a) for a, _ in pairs], [float(b) for _, b in pairs], [float(x) for x in rest]
    n, m = len(y), len(u)
    spread = variance(f + u)
    lam = covariance(y, f) / ((1 + n / m) * spread) if spread else 0.0
    lam = min(max(lam, 0.0), 1.0)
    theta = lam * fmean(u) + fmean(a - lam * b for a, b in pairs)
    se2 = lam**2 * variance(u) / m + variance([a - lam * b for a, b in zip(y, f, strict=True)]) / n
    r = prediction_powered_rate(
        [*[a for a, _ in pairs], *[None] * m], [*[b for _, b in pairs], *rest], positive=True
    )
    assert r.lam == pytest.approx(lam, abs=1e-9)
    assert r.uncut == pytest.approx(theta, abs=1e-9)
    assert r.se == pytest.approx(math.sqrt(se2), abs=1e-9)
    assert r.value is not None
    assert 0 <= r.value <= 1
    if r.ci is not None:
        assert 0 <= r.ci[0] <= r.ci[1] <= 1


def test_a_judge_that_tells_nothing_leaves_the_humans_rate() -> None:
    always = prediction_powered_rate(HUMAN, [1] * 30, positive=1)
    assert (always.lam, always.value) == (0.0, 0.4)
    assert always.se == always.human_se
    assert always.gain == 1
    opposite = prediction_powered_rate([1, 1, 0, 0, None, None], [0, 0, 1, 1, 0, 1], positive=1)
    assert (opposite.lam, opposite.value) == (0.0, 0.5)
    alone = prediction_powered_rate(Y, F, positive=1)
    assert (alone.lam, alone.value, alone.judge_rate, alone.n_unlabelled) == (0.0, 0.4, None, 0)


def test_a_perfect_judge_counts_every_item() -> None:
    r = prediction_powered_rate(HUMAN, Y + REST, positive=1)
    # lam = Var_L/((1 + n/N) Var); with 1/(1 + n/N) it would be the mean of all 30 exactly
    assert r.lam == pytest.approx(variance(Y) / (1.5 * variance(Y + REST)))
    assert r.value == pytest.approx(fmean(Y + REST), abs=0.03)
    assert (r.gain or 0) > 2


def test_undefined_and_without_interval() -> None:
    none = prediction_powered_rate([None, 1], [1, None], positive=1)
    assert (none.value, none.n, none.n_unlabelled, none.dropped) == (None, 0, 1, 1)
    assert none.why_undefined == "no item has both a label and a verdict"
    one = prediction_powered_rate([1, None, None], [1, 0, 1], positive=1)
    assert (one.value, one.se, one.ci, one.gain) == (1.0, None, None, None)
    assert one.why_no_interval == "one labelled item: no information on the error"
    same = prediction_powered_rate([1, 1, None], [1, 1, 1], positive=1)
    assert (same.value, same.se, same.ci) == (1.0, 0.0, None)
    assert same.why_no_interval == "the standard error is 0: no information on it"
    cluster = prediction_powered_rate([1, 0, None], [1, 0, 1], positive=1, clusters=["q", "q", "r"])
    assert cluster.value is not None
    assert cluster.why_no_interval == "one cluster with labels: no information on the error"


def clustered_by_hand(
    clusters: list[int], human: list[int | None], judge: list[int]
) -> tuple[float, float, float]:
    """Lambda, estimate and error with one influence a cluster."""
    labelled = [i for i, h in enumerate(human) if h is not None]
    others = [i for i, h in enumerate(human) if h is None]
    y = fmean(human[i] or 0 for i in labelled)
    f, u = fmean(judge[i] for i in labelled), fmean(judge[i] for i in others)
    a = dict.fromkeys(clusters, 0.0)
    b = dict.fromkeys(clusters, 0.0)
    for i in labelled:
        a[clusters[i]] += ((human[i] or 0) - y) / len(labelled)
        b[clusters[i]] -= (judge[i] - f) / len(labelled)
    for i in others:
        b[clusters[i]] += (judge[i] - u) / len(others)
    lam = -sum(a[g] * b[g] for g in a) / sum(x * x for x in b.values())
    lam = min(max(lam, 0.0), 1.0)
    g = len({clusters[i] for i in labelled})
    total = sum((a[c] + lam * b[c]) ** 2 for c in a)
    return lam, y + lam * (u - f), math.sqrt(g / (g - 1) * total)


def test_clusters_by_hand() -> None:
    """Five questions of six items, the first two of each labelled."""
    random = Random(4)
    clusters = [i // 6 for i in range(60)]
    judge = [int(random.random() < 0.3 + 0.05 * c) for c in clusters]
    human = [
        (j if random.random() < 0.8 else 1 - j) if i % 6 < 2 else None for i, j in enumerate(judge)
    ]
    lam, theta, se = clustered_by_hand(clusters, human, judge)
    r = prediction_powered_rate(human, judge, positive=1, clusters=clusters)
    assert 0 < lam < 1
    assert (r.lam, r.uncut, r.se) == pytest.approx((lam, theta, se))
    quantile = float(student.ppf(0.975, 9))
    assert r.ci == pytest.approx((max(theta - quantile * se, 0), min(theta + quantile * se, 1)))
    assert r.clusters == 10


def test_copies_in_a_cluster_add_nothing() -> None:
    base = prediction_powered_rate(HUMAN, JUDGE, positive=1, clusters=range(30))
    many = prediction_powered_rate(HUMAN * 5, JUDGE * 5, positive=1, clusters=list(range(30)) * 5)
    assert (many.lam, many.uncut, many.se) == pytest.approx((base.lam, base.uncut, base.se))
    assert many.ci == pytest.approx(base.ci)
    wrong = prediction_powered_rate(HUMAN * 5, JUDGE * 5, positive=1)
    assert (wrong.se or 0) < 0.5 * (many.se or 0)


def test_inclusion_by_hand() -> None:
    """The difference estimator: the judge's mean over all, plus the weighted mean difference."""
    human = [1, 1, 0, 1, 0, None, None, None, None, None]
    judge = [1, 0, 0, 1, 1, 0, 0, 1, 0, 0]
    inclusion = [1, 1, 1, 0.25, 0.25, *[None] * 5]
    r = prediction_powered_rate(human, judge, positive=1, inclusion=inclusion)
    w = [1 / 11, 1 / 11, 1 / 11, 4 / 11, 4 / 11]
    y, f = 6 / 11, (1 + 8) / 11
    a = [w[i] * ((human[i] or 0) - y) if i < 5 else 0.0 for i in range(10)]
    b = [(judge[i] - 0.4) / 10 - (w[i] * (judge[i] - f) if i < 5 else 0) for i in range(10)]
    lam = -sum(p * q for p, q in zip(a, b, strict=True)) / sum(q * q for q in b)
    lam = min(max(lam, 0.0), 1.0)
    se2 = sum((p + lam * q) ** 2 for p, q in zip(a, b, strict=True)) * 5 / 4
    assert (r.human_rate, r.judge_rate) == pytest.approx((6 / 11, 0.4))
    assert (r.lam, r.uncut) == pytest.approx((lam, y + lam * (0.4 - f)))
    assert r.se == pytest.approx(math.sqrt(se2))
    assert r.clusters is None


def test_equal_inclusion_comes_near_the_plain_estimate() -> None:
    random = Random(9)
    truth = [int(random.random() < 0.3) for _ in range(3000)]
    judge = [t if random.random() < 0.85 else 1 - t for t in truth]
    human = [t if i < 600 else None for i, t in enumerate(truth)]
    plain = prediction_powered_rate(human, judge, positive=1)
    weighted = prediction_powered_rate(human, judge, positive=1, inclusion=[0.2] * 3000)
    assert weighted.uncut == pytest.approx(plain.uncut, abs=1e-3)
    assert weighted.se == pytest.approx(plain.se, rel=0.01)
    # the weight on the mean over all items is lam (N + n)/N
    assert weighted.lam == pytest.approx(plain.lam * 3000 / 2400, rel=0.02)
    assert (plain.gain or 0) > 1.4


def test_a_rate_outside_is_cut_and_said() -> None:
    """The judge finds nothing among the rest, and calls too much positive where it is checked."""
    r = prediction_powered_rate(
        [0, 0, 0, 1, 0, 1, *[None] * 40], [1, 1, 1, 1, 0, 1, *[0] * 40], positive=1
    )
    assert (r.uncut or 0) < -0.1
    assert r.value == 0.0
    assert r.ci is not None
    assert r.ci[0] == 0.0
    assert r.ci[1] == pytest.approx((r.uncut or 0) + Z * (r.se or 0))
    far = prediction_powered_rate(
        [*[1] * 3, *[0] * 7, *[None] * 100], [*[1] * 8, *[0] * 102], positive=1
    )
    assert (far.value, far.ci, far.why_undefined) == (0.0, None, None)
    assert far.why_no_interval == "the interval -0.726 to -0.099 lies outside 0..1"


def test_refusals() -> None:
    with pytest.raises(ValueError, match="the human has 1 labels and the judge 2"):
        prediction_powered_rate([1], [1, 0], positive=1)
    with pytest.raises(ValueError, match="positive is None"):
        prediction_powered_rate([1], [1], positive=None)
    with pytest.raises(ValueError, match="item 1 has no cluster"):
        prediction_powered_rate([1, 0], [1, 0], positive=1, clusters=[1, None])
    with pytest.raises(ValueError, match="a confidence level"):
        prediction_powered_rate([1, 0], [1, 0], positive=1, level=0)
