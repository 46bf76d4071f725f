"""Charts of several series: golden drawings, and what holds for any numbers."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.deduction.published import GSM8K
from tui import seriescharts
from tui.seriescharts import (
    AXIS,
    LETTERS,
    cell_width,
    line_chart,
    lowest,
    named_scatter,
    share_rows,
    share_text,
)

ROWS = {f"{table} {model}": ([float(m) for m in means.split()], float(decay))
        for table, model, means, _, decay in GSM8K}  # fmt: skip
LLAMA, PHI = ROWS["11/Original Llama-3-8B"], ROWS["11/Original Phi-4"]


def test_examples_in_the_docstrings() -> None:
    assert doctest.testmod(seriescharts) == (0, 9)


def test_published_lines() -> None:
    """Phi-4 above Llama-3-8B (paper C, table 6); the one under the cursor with its errors."""
    drawn = line_chart([LLAMA[0], PHI[0]], 42, 9, here=0, errors=[0.06, 0.0, 0.12, None], low=0.25)
    assert [row.rstrip() for row in drawn] == [
        " 1.0 ┤",
        "     │B ··",
        "     ││   ··· B ······ B ······ B ···",
        " .75 ┤A ··             │             ·· B",
        "     │    ··· A ···    │",
        " .50 ┤             ··· A ······ A ····· A",
        "     │                 │",
        "     │",
        " .25 ┤",
        "      1       2        3        4       5",
    ]


def test_published_points() -> None:
    points = [(LLAMA[0][0], LLAMA[1]), (PHI[0][0], PHI[1])]
    assert [row.rstrip() for row in named_scatter(points, 30, 6, here=1, left=0.75)] == [
        "  .33┤ A",
        "     │",
        "     │",
        "     │             B",
        "     │",
        "  .00┤────────────────────────",
        "      .75                    1",
    ]


def test_several_in_one_cell_are_counted_and_the_one_in_hand_is_seen() -> None:
    same = [[0.5, 0.5]] * 12
    assert line_chart(same, AXIS + 4, 3)[1].rstrip() == "     │+ +"
    assert line_chart(same, AXIS + 4, 3, here=2)[1].rstrip() == "     │C C"
    assert named_scatter([(0.5, 1.0)] * 3, 20, 4)[0].rstrip() == " 1.00┤      3"
    assert named_scatter([(0.5, 1.0)] * 3, 20, 4, here=1)[0].rstrip() == " 1.00┤      B"


def test_a_table_of_cells() -> None:
    values: list[list[float | None]] = [[1.0, 0.5, None], [0.995, 0.0, 0.25]]
    counts = [[1440, 12, 0], [4, 7, 8]]
    assert share_rows(values, counts, with_n=True, here=(1, 1)) == [
        " █1.0  ▒.50   –   ",
        " 1440   12    –   ",
        " █.99 [ .00] ░.25 ",
        "  4     7     8   ",
    ]
    assert share_rows(values, counts, numbers=False) == [" ██  ▒▒  –  ", " ██      ░░ "]
    assert cell_width(counts, numbers=False, with_n=True) == 6


shares = st.one_of(st.none(), st.floats(0, 1))


@given(
    st.lists(st.lists(shares, min_size=1, max_size=12), max_size=60),
    st.integers(12, 100),
    st.integers(3, 30),
    st.one_of(st.none(), st.integers(0, 70)),
)
def test_lines_of_any_numbers(
    series: list[list[float | None]], width: int, height: int, here: int | None
) -> None:
    low = lowest(v for s in series for v in s)
    drawn = line_chart(series, width, height, here=here, errors=[0.3] * 12, low=low)
    assert len(drawn) == height + 1
    assert {len(row) for row in drawn} == {width}
    if here is not None and here < min(len(series), len(LETTERS)):
        known = [v for v in series[here] if v is not None]
        assert sum(row[AXIS:].count(LETTERS[here]) for row in drawn) >= bool(known)


@given(
    st.lists(st.tuples(shares, st.one_of(st.none(), st.floats(-2, 3))), max_size=60),
    st.integers(14, 100),
    st.integers(3, 30),
)
def test_points_of_any_numbers(
    points: list[tuple[float | None, float | None]], width: int, height: int
) -> None:
    drawn = named_scatter(points, width, height, left=lowest(x for x, _ in points))
    assert len(drawn) == height + 1
    assert {len(row) for row in drawn} == {width}


@given(st.lists(st.lists(shares, min_size=3, max_size=3), max_size=8), st.booleans(), st.booleans())
def test_cells_of_any_numbers(
    values: list[list[float | None]], numbers: bool, with_n: bool
) -> None:
    counts = [[0 if v is None else 1500 for v in row] for row in values]
    drawn = share_rows(values, counts, numbers=numbers, with_n=with_n)
    wide = cell_width(counts, numbers=numbers, with_n=with_n)
    assert all(len(row) == 3 * wide for row in drawn)
    assert len(drawn) == len(values) * (2 if with_n else 1)


@given(st.floats(0, 1))
def test_none_and_all_are_said_only_when_it_is_so(value: float) -> None:
    text = share_text(value)
    assert (text == "1.0") == (value == 1)
    assert (text == ".00") == (value == 0)
