"""A pool's distances in lines: traces grouped by answer, the darker the further apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from scoring.types import NormalForm
from tui import wording
from tui.charts import SHADES, heat_rows, shade
from tui.text import cut, cut_middle, fit, hang, safe
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from pipeline.pool_view import PoolView

NAME_CELLS = 12
ANSWER_CELLS = 8


@dataclass(frozen=True, slots=True)
class Grouped:
    """The order in which traces are shown, and the sizes of the groups of equal answers."""

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    answers: tuple[NormalForm | None, ...]


def grouped(view: PoolView) -> Grouped:
    """Group traces by answer, the largest group first; the most central trace of each first."""
    members: dict[NormalForm | None, list[int]] = {}
    for i, trace in enumerate(view.traces):
        members.setdefault(trace.answer, []).append(i)
    groups = sorted(members.items(), key=lambda kv: -len(kv[1]))
    mean = [math.fsum(row) for row in view.distances]
    ordered = [sorted(m, key=lambda i: (mean[i], i)) for _, m in groups]
    return Grouped(
        tuple(i for m in ordered for i in m),
        tuple(len(m) for m in ordered),
        tuple(answer for answer, _ in groups),
    )


def heat_lines(view: PoolView, group: Grouped, width: int, *, left: int = 0) -> list[Row]:
    """Lay out the matrix; item k is the k-th trace shown. `left` columns are scrolled away."""
    n = len(group.order)
    head = NAME_CELLS + ANSWER_CELLS + 3
    bars = len(group.sizes) - 1
    room = max(width - head - 2, 4)
    wide = 2 if 2 * n + bars <= room else 1
    matrix = [[view.distances[i][j] for j in group.order] for i in group.order]
    top = max((v for row in matrix for v in row), default=0.0)
    cells = heat_rows(matrix, group.sizes, wide=wide, top=top)
    rows: list[Row] = []
    place = iter(range(n))
    for line in cells:
        shown = line[left : left + room]
        more = "…" if len(line) > left + room else ""
        if line.startswith(("─", "┼")):
            rows.append(Row(Content(" " * head) + Content(shown + more)))
            continue
        k = next(place)
        rows.append(Row(_head(view, group.order[k]) + Content(shown + more), k, True))
    return rows


def _head(view: PoolView, i: int) -> Content:
    trace = view.traces[i]
    mark = Content("◀" if i == view.medoid else " ")
    name = fit(cut_middle(safe(trace.sample), NAME_CELLS - 1), NAME_CELLS)
    answer = fit(wording.answer(trace.answer), ANSWER_CELLS - 1)
    return Content(" ") + name + mark + Content(" ") + answer + Content(" ")


def heat_legend(view: PoolView, width: int) -> list[Content]:
    """Say what the shades stand for."""
    top = max((v for row in view.distances for v in row), default=0.0)
    steps = ", ".join(f"{SHADES[k]} to {wording.share(top * k / 4)}" for k in range(1, 5))
    return [
        cut(Content(f" SS-GED distance: blank 0, {steps}"), width),
        cut(Content(" grouped by answer, the most central trace first; ◀ the medoid"), width),
    ]


def trace_lines(view: PoolView, group: Grouped, k: int, width: int) -> list[Content]:
    """Say of one trace how far the others lie: its own answer's, the others', nearest, farthest."""
    i = group.order[k]
    own = view.traces[i].answer
    others = [j for j in range(len(view.traces)) if j != i]
    if not others:
        return [Content(" the only trace that votes: there is no distance")]
    row = view.distances[i]
    alike = [row[j] for j in others if view.traces[j].answer == own]
    apart = [row[j] for j in others if view.traces[j].answer != own]
    near, far = min(others, key=lambda j: row[j]), max(others, key=lambda j: row[j])

    def named(j: int) -> Content:
        return safe(view.traces[j].sample) + Content(f" {row[j]:.2f}")

    means = [f"mean distance {_mean([row[j] for j in others])}"]
    means.append(f"to its own answer's {_mean(alike)} (n {len(alike)})")
    means.append(f"to the others {_mean(apart)} (n {len(apart)})")
    name = Content("trace ") + safe(view.traces[i].sample, "bold") + Content(": ")
    return [
        *hang(Content(" "), name + Content(", ".join(means)), width),
        cut(Content(" nearest ") + named(near) + Content("   farthest ") + named(far), width),
    ]


def _mean(values: list[float]) -> str:
    return f"{math.fsum(values) / len(values):.2f}" if values else wording.NONE


__all__ = ["Grouped", "grouped", "heat_legend", "heat_lines", "shade", "trace_lines"]
