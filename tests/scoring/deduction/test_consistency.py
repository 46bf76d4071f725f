"""DedCons, its means and errors against the published SynDeduct tables and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.deduction import Cell, cons, coverage, ded_cons
from tests.scoring.deduction.published import (
    SE_HOP12,
    SYNDEDUCT,
    SYNDEDUCT_PREFIX,
)


def spread(right: int, hop: int) -> list[Cell]:
    """Cells of one SynDeduct hop: 12 prefixes with 10 · (13 - hop) questions each."""
    n = 10 * (13 - hop)
    return [Cell(k, hop, (k - 1) * n + i < right) for k in range(1, 13) for i in range(n)]


@pytest.mark.parametrize("model", SYNDEDUCT)
def test_published_syndeduct_means(model: str) -> None:
    """All prefixes of a hop have one n, so the unweighted mean is right answers over all."""
    counts, means = (text.split() for text in SYNDEDUCT[model])
    cells = [c for h, right in enumerate(counts, start=1) for c in spread(int(right), h)]
    result = ded_cons(cells, min_share=None)
    assert [format(h.mean or 0.0, ".4f") for h in result.hops] == means
    assert [h.n for h in result.hops] == [120 * (13 - h) for h in range(1, 13)]
    assert format(result.base or 0.0, ".4f") == means[0]


def test_96_published_cells() -> None:
    assert sum(len(means.split()) for _, means in SYNDEDUCT.values()) == 96


def test_denominators_and_the_rule_on_hops() -> None:
    cells = [c for h in range(1, 13) for c in spread(0, h)]
    result = ded_cons(cells)
    assert [h.n for h in result.hops][:3] == [1440, 1320, 1200]
    assert result.kept == 10
    assert [h.kept for h in result.hops] == [True] * 10 + [False] * 2
    assert [p.hops for p in result.prefixes] == [10] * 12


@pytest.mark.parametrize(("model", "right", "mean", "se"), SE_HOP12)
def test_published_standard_errors(model: str, right: str, mean: str, se: str) -> None:
    cells = [
        Cell(k, 12, i < int(r)) for k, r in enumerate(right.split(), start=1) for i in range(10)
    ]
    hop = ded_cons(cells, min_share=None).hops[-1]
    assert (format(hop.mean or 0.0, ".4f"), format(hop.se or 0.0, ".4f")) == (mean, se), model
    assert (hop.prefixes, hop.n) == (12, 120)


def test_prefix_means_weigh_hops_alike() -> None:
    """Tables 18/19 and 20/21 have one grand mean in six of eight models, as unweighted means do.

    The two 70B Llamas do not: their prefix tables belong to other data than their hop tables.
    """
    fits = []
    for model, (counts, _) in SYNDEDUCT.items():
        hops = [int(c) / (120 * (13 - h)) for h, c in enumerate(counts.split(), start=1)]
        prefixes = [float(p) for p in SYNDEDUCT_PREFIX[model].split()]
        if abs(sum(hops) / 12 - sum(prefixes) / 12) < 5e-5:
            fits.append(model)
    assert len(fits) == 6
    assert set(SYNDEDUCT) - set(fits) == {"DeepSeek-R1-Llama-70B", "Llama-3.3-70B"}
    cells = [c for h, n in enumerate((800, 300), start=1) for c in spread(n, h)]
    result = ded_cons(cells)
    grand = sum(h.mean or 0.0 for h in result.hops) / 2
    assert sum(p.mean or 0.0 for p in result.prefixes) / 12 == pytest.approx(grand, abs=1e-12)


SMALL = [
    *(Cell(0, 1, True), Cell(0, 2, False)),
    *(Cell(1, 1, True), Cell(1, 1, True), Cell(1, 1, False), Cell(1, 2, None), Cell(1, 2, True)),
    Cell(2, 1, False),
]


def test_small_example_by_hand() -> None:
    d = ded_cons(SMALL)
    table = {(c.k, c.l): (c.right, c.n, c.missing) for c in d.cells}
    assert table == {
        (0, 1): (1, 1, 0),
        (0, 2): (0, 1, 0),
        (1, 1): (2, 3, 0),
        (1, 2): (1, 2, 1),
        (2, 1): (0, 1, 0),
    }
    assert d.base == pytest.approx(1 / 3)  # mean of 2/3 and 0
    assert d.hops[0].se == pytest.approx(1 / 3 / math.sqrt(2))
    assert (d.hops[1].mean, d.hops[1].se, d.hops[1].prefixes) == (0.5, None, 1)
    assert d.decay == pytest.approx(2 * (1 / 3 - 1 / 2))
    assert (d.n, d.missing, d.kept, d.why_undefined) == (6, 1, 2, None)
    assert [(p.k, p.mean) for p in d.prefixes] == [(1, pytest.approx(7 / 12)), (2, 0.0)]


def test_options() -> None:
    assert ded_cons(SMALL, missing="skip").hops[1].mean == 1.0
    zero = ded_cons(SMALL, k_min=0)
    assert zero.base == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert [p.k for p in zero.prefixes] == [0, 1, 2]
    assert ded_cons(SMALL, norm="per_hop").decay == pytest.approx(1 / 3 - 1 / 2)
    assert ded_cons([(1, 1, True), (1, 2, None)]).hops[1].mean == 0.0
    with pytest.raises(ValueError, match="missing='drop'"):
        ded_cons([], missing="drop")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k_min is -1"):
        ded_cons([], k_min=-1)
    with pytest.raises(ValueError, match=r"cell \(1, 0\)"):
        ded_cons([(1, 0, True)])


def test_what_is_undefined_says_why() -> None:
    none = ded_cons([])
    assert (none.base, none.decay, none.cells) == (None, None, ())
    assert none.why_undefined == "no cell with a prefix long enough"
    assert ded_cons([(0, 1, True)]).why_undefined == "no cell with a prefix long enough"
    late = ded_cons([(1, 2, True)])
    assert (late.base, late.why_undefined) == (None, "no variable was checked at hop 1")
    one = ded_cons([(1, 1, True)])
    assert (one.base, one.decay) == (1.0, None)
    assert one.why_undefined == "decay needs two hops with enough observations; there are 1"
    skipped = ded_cons([(1, 1, None), (1, 2, True)], missing="skip")
    assert (skipped.hops[0].mean, skipped.base) == (None, None)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 5), st.sampled_from([True, False, None])),
        max_size=60,
    )
)
def test_order_does_not_matter_and_values_stay_in_range(
    cells: list[tuple[int, int, bool | None]],
) -> None:
    one, two = ded_cons(cells), ded_cons(list(reversed(cells)))
    assert one == two
    assert all(0 <= (h.mean or 0.0) <= 1 for h in one.hops)
    assert sum(c.n for c in one.cells) == len(cells)
    skipping = ded_cons(cells, missing="skip")
    for a, b in zip(one.cells, skipping.cells, strict=True):
        assert b.value is None or (a.value or 0.0) <= b.value


def test_cons_of_one_response() -> None:
    cells = [
        *(Cell(0, 1, True), Cell(0, 2, True), Cell(0, 2, False), Cell(0, 3, None)),
        *(Cell(2, 1, True), Cell(2, 1, None)),
    ]
    assert cons(cells).value == 0.5
    assert cons(cells, missing="skip").value == pytest.approx(2 / 3)
    assert cons(cells, unit="step").value == pytest.approx(1 / 3)
    after = cons(cells, k=2)
    assert (after.value, after.right, after.n, after.missing) == (0.5, 1, 2, 1)
    assert cons(cells, k=2, unit="step").value == 0.0
    assert cons(cells, k=2, unit="step", missing="skip").value == 1.0
    none = cons(cells, k=5)
    assert (none.value, none.why_undefined) == (None, "no variable to check after 5 steps")
    with pytest.raises(ValueError, match="unit='line'"):
        cons(cells, unit="line")  # type: ignore[arg-type]


def test_papers_proof_of_three_steps_with_one_wrong() -> None:
    """Section 3.1: three predicates, the second wrong, gives 0.67."""
    value = cons([Cell(0, 1, True), Cell(0, 2, False), Cell(0, 3, True)]).value
    assert format(value or 0.0, ".2f") == "0.67"


def test_coverage_over_both_denominators() -> None:
    c = coverage([{"a", "b", "c"}, {"a", "b"}], [{"a", "b", "z"}, {"a", "b"}])
    assert (c.value, c.printed, c.shared, c.expected, c.stated, c.n) == (0.8, 0.8, 4, 5, 5, 2)
    talkative = coverage([["a"]], [["a", "x", "y", "z"]])
    assert (talkative.value, talkative.printed) == (1.0, 0.25)
    terse = coverage([["a", "b"]], [["a"]])
    assert (terse.value, terse.printed) == (0.5, 1.0)
    silent = coverage([["a"]], [[]])
    assert (silent.value, silent.printed) == (0.0, None)
    assert coverage([], []).value is None
    with pytest.raises(ValueError, match="1 references but 0 responses"):
        coverage([["a"]], [])
