"""Charts of deduction in lines: cells by prefix and hop, lines over hops, base against decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui import wording
from tui.seriescharts import (
    cell_width,
    letter,
    line_chart,
    lowest,
    named_scatter,
    share_rows,
)
from tui.text import cut_middle, fit, safe
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from pipeline.deduction_view import Figures
    from scoring.deduction import DedCons

HEAD = 7
"""Cells of a prefix length before its row."""
FIGURES = (("base", 7), ("decay", 7), ("n", 8))


def legend_rows(figures: Figures, width: int) -> list[Row]:
    """Return a line for each model and style: its letter, base, decay and n."""
    room = max(width - sum(w for _, w in FIGURES) - 18, 8)
    rows = []
    for i, one in enumerate(figures.series):
        d = one.scored.exact
        name = fit(Content(f"  {letter(i)} ") + cut_middle(safe(one.name), room - 5), room)
        told = f"base {wording.share(d.base):>4}   decay {wording.share(d.decay):>5}   n {d.n:,}"
        rows.append(Row(name + Content(told), i, True))
    return rows


def _table(d: DedCons) -> tuple[list[int], int, dict[tuple[int, int], tuple[float | None, int]]]:
    known = {(c.k, c.l): (c.value, c.n) for c in d.cells}
    ks = sorted({k for k, _ in known})
    return ks, max((hop for _, hop in known), default=0), known


def chart_heads(view: str, figures: Figures, at: int, width: int) -> list[Row]:
    """Return the line above a chart."""
    if view == "lines":
        return [Row(Content("  mean    hop →   (range 0–1, 1 = ideal)"))]
    if view == "scatter":
        return [Row(Content("  decay ↑   (0 = none)    base →   (1 = ideal)"))]
    return [Row(Content("   k ↓   hop l →   (0–1, 1 = ideal)"))]


def chart_rows(
    view: str,
    figures: Figures,
    at: int,
    width: int,
    height: int,
    *,
    numbers: bool = True,
    with_n: bool = False,
) -> list[Row]:
    """Return a chart for the series at `at`, as wide and high as there is room."""
    if view == "cells":
        drawn = _cells(figures.series[at].scored.exact, width, numbers=numbers, with_n=with_n)
    elif view == "lines":
        drawn = _lines(figures, at, width, height)
    else:
        drawn = _scatter(figures, at, width, height)
    return [Row(Content(f" {line}")) for line in drawn]


def _cells(d: DedCons, width: int, *, numbers: bool, with_n: bool) -> list[str]:
    ks, hops, known = _table(d)
    if not hops:
        return ["no cell has an observation"]
    none: tuple[float | None, int] = (None, 0)
    values = [[known.get((k, h), none)[0] for h in range(1, hops + 1)] for k in ks]
    counts = [[known.get((k, h), none)[1] for h in range(1, hops + 1)] for k in ks]
    wide = cell_width(counts, numbers=numbers, with_n=with_n)
    if HEAD + hops * wide > width - 1 and numbers:
        return _cells(d, width, numbers=False, with_n=with_n)
    shown = max((width - 1 - HEAD) // wide, 1)
    heads = "".join(str(h).center(wide) for h in range(1, hops + 1)[:shown])
    rows = share_rows(
        [v[:shown] for v in values], [c[:shown] for c in counts], numbers=numbers, with_n=with_n
    )
    names: list[str] = []
    for k in ks:
        names.append(f"{k:>4}  {'*' if k < d.k_min else ' '}")
        if with_n:
            names.append("   n   ")
    out = [" " * HEAD + heads, *(n + r for n, r in zip(names, rows, strict=True))]
    means = [h.mean if h.kept else None for h in d.hops][:shown]
    last = share_rows([means], [[h.n for h in d.hops][:shown]], numbers=numbers, with_n=with_n)
    out += [" mean  " + last[0], *(f"   n   {r}" for r in last[1:])]
    notes = [f"mean over the prefixes from k = {d.k_min}; a hop with too few values has none"]
    if any(k < d.k_min for k in ks):
        notes.append("* not in means, base and decay")
    if shown < hops:
        notes.append(f"{hops - shown} more hops on a wider terminal")
    return [*out, "", *notes]


def _lines(figures: Figures, at: int, width: int, height: int) -> list[str]:
    series = [[h.mean for h in s.scored.exact.hops if h.kept] for s in figures.series]
    if not any(series):
        return ["no hop has enough observations"]
    errors = [h.se for h in figures.series[at].scored.exact.hops if h.kept]
    low = lowest(v for s in series for v in s)
    return line_chart(series, width - 2, max(height - 1, 3), here=at, errors=errors, low=low)


def _scatter(figures: Figures, at: int, width: int, height: int) -> list[str]:
    points = [(s.scored.exact.base, s.scored.exact.decay) for s in figures.series]
    known = [p for p in points if None not in p]
    if not known:
        return ["no model has both base and decay"]
    left = lowest(x for x, _ in known)
    return named_scatter(points, width - 2, max(height - 1, 3), here=at, left=left)
