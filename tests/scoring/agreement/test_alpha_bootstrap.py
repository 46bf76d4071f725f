"""The bootstrap interval of Krippendorff's alpha."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from scoring.agreement import alpha_bootstrap, krippendorff_alpha
from scoring.agreement.alpha import Level

# Krippendorff (2011), section D: four observers, twelve units, gaps.
GAPS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
LEVELS: list[Level] = ["nominal", "ordinal", "interval", "ratio"]

# PandaLM's three humans, as counts of their labels (0 tie, 1, 2) on 999 items.
PANDALM = {
    "000": 85,
    "001": 2,
    "002": 2,
    "020": 4,
    "022": 4,
    "100": 5,
    "101": 11,
    "110": 10,
    "111": 368,
    "112": 10,
    "121": 12,
    "122": 11,
    "200": 7,
    "202": 4,
    "211": 11,
    "212": 18,
    "220": 2,
    "221": 7,
    "222": 426,
}


@pytest.mark.parametrize("level", LEVELS)
def test_replicates_are_alpha_of_the_units_drawn(level: Level) -> None:
    """Drawn here one by one from the same generator, alpha by the krippendorff package."""
    r = alpha_bootstrap(GAPS, level=level, replicates=230, seed=11)
    kept = [i for i in range(12) if sum(row[i] is not None for row in GAPS) >= 2]
    grid = np.array(GAPS, dtype=float)[:, kept]
    rng = np.random.default_rng(11)
    draws = [
        krippendorff.alpha(np.repeat(grid, times, axis=1), level_of_measurement=level)
        for times in rng.multinomial(11, np.full(11, 1 / 11), size=230)
    ]
    assert r.value == krippendorff_alpha(GAPS, level=level).value
    assert r.ci == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=1e-9)
    assert r.se == pytest.approx(np.std(draws, ddof=1), abs=1e-9)
    assert (r.clusters, r.replicates, r.undefined, r.alpha.dropped) == (11, 230, 0, 1)
    assert (r.why_undefined, r.why_no_interval, r.confidence) == (None, None, 0.95)


def test_pandalm_humans() -> None:
    humans = [[p[h] for p, n in PANDALM.items() for _ in range(n)] for h in range(3)]
    r = alpha_bootstrap(humans, seed=1, replicates=500)
    assert r.value == pytest.approx(0.8642, abs=5e-5)
    assert r.se == pytest.approx(_jackknife_error(humans), rel=0.1)
    assert r.ci is not None
    assert r.value is not None
    assert r.ci == pytest.approx(
        (r.value - 1.96 * (r.se or 0), r.value + 1.96 * (r.se or 0)), abs=0.003
    )


def _jackknife_error(humans: list[list[str]]) -> float:
    """Leave-one-out error of alpha, over kinds of items for speed."""
    kinds, n = list(PANDALM.items()), 999
    left = []
    for kind, count in kinds:
        rows = [
            [p[h] for p, m in kinds for _ in range(m - (p == kind))] for h in range(len(humans))
        ]
        left.append((krippendorff_alpha(rows).value or 0, count))
    mean = sum(a * c for a, c in left) / n
    return float(np.sqrt((n - 1) / n * sum(c * (a - mean) ** 2 for a, c in left)))


def test_copies_of_a_unit_in_its_cluster_add_little() -> None:
    """Alpha itself moves a little, by its small-sample term n - 1; the error does not shrink."""
    four = [row * 4 for row in GAPS]
    clusters = list(range(12)) * 4
    once = alpha_bootstrap(GAPS, seed=3)
    many = alpha_bootstrap(four, clusters=clusters, seed=3)
    independent = alpha_bootstrap(four, seed=3)
    assert many.clusters == 11
    assert many.se == pytest.approx(once.se, rel=0.05)
    assert independent.clusters == 44
    assert independent.se == pytest.approx((many.se or 0) / 2, rel=0.1)


def test_seed_decides() -> None:
    one = alpha_bootstrap(GAPS, replicates=40, seed=5)
    assert one == alpha_bootstrap(GAPS, replicates=40, seed=np.random.default_rng(5))
    assert one.ci != alpha_bootstrap(GAPS, replicates=40, seed=6).ci
    wide, narrow = (alpha_bootstrap(GAPS, confidence=c).ci for c in (0.99, 0.5))
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_undefined_replicates_are_dropped_and_counted() -> None:
    a, b = ["y"] * 9 + ["n"], ["y"] * 8 + ["n", "n"]
    r = alpha_bootstrap([a, b], replicates=2000, seed=1)
    # one category only when the last two are not drawn, (8/10)^10, or nothing but the last
    assert r.undefined / 2000 == pytest.approx(0.8**10, abs=0.02)
    assert r.ci is not None


def test_no_interval() -> None:
    full = alpha_bootstrap([["y"] * 5 + ["n"] * 5] * 2)
    assert (full.value, full.se, full.ci) == (1.0, None, None)
    assert full.why_no_interval == (
        "every replicate gives the same alpha: no information on the error"
    )
    one = alpha_bootstrap([["y", "n"], ["n", "n"]], clusters=["q", "q"])
    assert one.value == krippendorff_alpha([["y", "n"], ["n", "n"]]).value
    assert (one.ci, one.replicates) == (None, 0)
    assert one.why_no_interval == "all comparable items belong to one cluster: nothing to resample"
    undefined = alpha_bootstrap([["y", None], [None, "y"]])
    assert (undefined.value, undefined.clusters) == (None, 0)
    assert undefined.why_undefined == undefined.why_no_interval
    assert undefined.why_undefined == "no item has labels from two raters"


def test_refusals() -> None:
    with pytest.raises(ValueError, match="clusters has 1 entries for 2 items"):
        alpha_bootstrap([["y", "n"], ["n", "n"]], clusters=[1])
    with pytest.raises(ValueError, match="replicates is 1"):
        alpha_bootstrap([["y", "n"], ["n", "n"]], replicates=1)
    with pytest.raises(ValueError, match="a confidence level"):
        alpha_bootstrap([["y", "n"], ["n", "n"]], confidence=95)
    with pytest.raises(ValueError, match="'cubic' is not known"):
        alpha_bootstrap([["y", "n"], ["n", "n"]], level="cubic")  # type: ignore[arg-type]
