"""The topology map in lines: a scatter of divergence against entropy, and its points."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from textual.content import Content

from store.records import TopologyCase, TopologyRows
from tui import wording
from tui.charts import scatter
from tui.text import cut, fit, one_line, safe
from tui.widgets.lines import Row

LEFT = 9
COLUMNS = (("diverg.", 8), ("entropy", 8), ("GRCS", 6), ("n", 5), ("differ", 7))
REGIME_CELLS = 12


@dataclass(frozen=True, slots=True)
class Mapped:
    """The points of the map: cases with both coordinates, by divergence; and the others."""

    rows: TopologyRows
    cases: tuple[TopologyCase, ...]
    off: tuple[TopologyCase, ...]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Divergence and entropy of every point."""
        return [(c.divergence or 0.0, c.entropy or 0.0) for c in self.cases]


def mapped(rows: TopologyRows) -> Mapped:
    """Sort what may be seen into points, nearest to agreement first, and cases off the map."""
    on = [c for c in rows.cases if c.divergence is not None and c.entropy is not None]
    off = tuple(c for c in rows.cases if c.divergence is None or c.entropy is None)
    on.sort(key=lambda c: (c.divergence or 0.0, c.entropy or 0.0))
    return Mapped(rows, tuple(on), off)


def regime_of(case: TopologyCase, rows: TopologyRows) -> str:
    """Return the quarter a case lies in, a dash where it has none."""
    from scoring.graphs import topology_regime

    if case.divergence is None or case.entropy is None or rows.origin is None:
        return wording.NONE
    return topology_regime(case.divergence, case.entropy, rows.origin)


def map_lines(found: Mapped, here: int | None, width: int, height: int) -> list[Content]:
    """Draw the map with its axes; `height` lines in all."""
    if not found.cases:
        return []
    points, origin = found.points, found.rows.origin
    rows = scatter(points, max(width - LEFT - 2, 8), max(height - 3, 3), origin=origin, here=here)
    xs = [x for x, _ in points] + ([origin[0]] if origin else [])
    ys = [y for _, y in points] + ([origin[1]] if origin else [])
    lines = []
    for i, row in enumerate(rows):
        label = f"{max(ys):.2f}" if i == 0 else f"{min(ys):.2f}" if i == len(rows) - 1 else ""
        lines.append(Content(f"{label:>{LEFT - 2}} │") + Content(row))
    inner = max(width - LEFT - 2, 8)
    lines.append(Content(" " * (LEFT - 1) + "└" + "─" * inner))
    low, high = f"{min(xs):.2f}", f"{max(xs):.2f}"
    name = "divergence (0 = traces alike) →"
    gap = max(inner - len(low) - len(high) - len(name), 2)
    lines.append(
        Content(" " * LEFT + low + " " * (gap // 2) + name + " " * (gap - gap // 2) + high)
    )
    top = " ↑ entropy in nats    · one case, 2–9 or + several, ◆ under the cursor"
    return [cut(Content(top), width), *(cut(line, width) for line in lines)]


def regime_lines(found: Mapped, width: int) -> list[Content]:
    """Say how the cases shown lie about the origin, and what the origin is."""
    rows = found.rows
    if rows.origin is None:
        return []
    counts = Counter(regime_of(c, rows) for c in found.cases)
    told = " · ".join(
        f"{name} {counts.get(name, 0)}" for name in ("confident", "multi-path", "noisy", "confused")
    )
    lines = [
        f" {told}" + (f" · off the map {len(found.off)}" if found.off else ""),
        f" lines: mean of all {rows.n_origin:,} scored pools here, divergence {rows.origin[0]:.2f}, "
        f"entropy {rows.origin[1]:.2f}",
    ]
    return [cut(Content(line), width) for line in lines]


def heads(width: int) -> list[Row]:
    """Return the heads of the list of points."""
    right = Content("  " + fit(Content("regime"), REGIME_CELLS).plain)
    right += Content("".join(name.rjust(w) for name, w in COLUMNS))
    return [Row(fit(Content("  question"), max(width - len(right.plain), 8)) + right)]


def case_row(case: TopologyCase, found: Mapped, width: int) -> Content:
    """Return a point's line."""
    regime = regime_of(case, found.rows)
    flag = "!" if "iqr_zero" in case.flags else ""
    figures = (
        wording.share(case.divergence),
        wording.share(case.entropy) + flag,
        wording.share(case.grcs),
        f"{case.n_used:,}",
        "yes" if case.disagree else "",
    )
    right = "  " + fit(Content(regime), REGIME_CELLS).plain
    right += "".join(text.rjust(w) for text, (_, w) in zip(figures, COLUMNS, strict=True))
    room = max(width - len(right), 8)
    name = Content("  ") + safe(case.question_id) + Content("  ") + one_line(case.question)
    return fit(cut(name, room - 1), room) + Content(right)
