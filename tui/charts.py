"""Charts in terminal cells: pure functions from numbers to text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

EIGHTHS = " ▏▎▍▌▋▊▉█"
SUPPORT = (("●", 0.75), ("◕", 0.5), ("◔", 0.25))
SUPPORT_LEGEND = "● ≥¾  ◕ ≥½  ◔ ≥¼  ○ <¼  ◌ none"
MARGIN = 1e-9


def bar(value: float | None, width: int, *, top: float = 1.0) -> str:
    """Return a bar of at most `width` cells; value 0 or less, or none, draws nothing.

    >>> bar(0.5, 4), bar(0.53125, 4), bar(None, 4), bar(2.0, 4)
    ('██', '██▏', '', '████')
    """
    if value is None or value != value or value <= 0 or top <= 0:
        return ""
    eighths = round(min(value / top, 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (EIGHTHS[rest] if rest else "")


def interval_bar(
    value: float | None, ci: tuple[float, float] | None, width: int, *, low: float, high: float
) -> str:
    """Draw a value and its interval on a scale from `low` to `high`; blank where there is none.

    What lies beyond the scale is a triangle at its edge, not a point or an end there.

    >>> interval_bar(0.5, (0.2, 0.8), 11, low=0.0, high=1.0)
    '  ├──●──┤  '
    >>> interval_bar(0.5, None, 11, low=0.0, high=1.0), interval_bar(None, None, 3, low=0, high=1)
    ('     ●     ', '   ')
    >>> interval_bar(-0.2, (-0.5, 0.4), 11, low=0.0, high=1.0)
    '◂───┤      '
    >>> interval_bar(0.3, (-0.1, 1.2), 11, low=0.0, high=1.0)
    '◂──●──────▸'
    """
    if value is None or width < 1 or high <= low:
        return " " * max(width, 0)

    def at(x: float) -> int:
        return round((min(max(x, low), high) - low) / (high - low) * (width - 1))

    cells = [" "] * width
    if ci is not None:
        start, end = at(ci[0]), at(ci[1])
        cells[start : end + 1] = ["─"] * (end - start + 1)
        cells[start], cells[end] = "├", "┤"
    cells[at(value)] = "●"
    seen = (value, *(ci or ()))
    if min(seen) < low:
        cells[0] = "◂"
    if max(seen) > high:
        cells[-1] = "▸"
    return "".join(cells)


def support_glyph(share: float | None) -> str:
    """Return the glyph of a node's support, a dash where it is undefined.

    >>> "".join(support_glyph(s) for s in (1.0, 0.75, 0.5, 0.25, 0.1, 0.0, None))
    '●●◕◔○◌–'
    """
    if share is None or share != share:
        return "–"
    if share <= MARGIN:
        return "◌"
    for glyph, least in SUPPORT:
        if share >= least - MARGIN:
            return glyph
    return "○"


def arcs(parents: Sequence[Sequence[int]]) -> list[str]:
    """Draw dependencies as arcs beside the steps, one row a step, all rows equally wide.

    A lane belongs to the step that is depended on: it starts at that step and joins, with an arrow
    head at the left, every later step that uses it. A lane that is only crossed stays whole.

    >>> for row in arcs([(), (0,), (0, 1)]):
    ...     print(row.rstrip())
    ─╮
    ◂┼─╮
    ◂┴─╯
    """
    lanes = _lanes(parents)
    width = 2 * (max(lanes.values(), default=-1) + 1)
    last = {s: max(j for j, used in enumerate(parents) if s in used) for s in lanes}
    rows = []
    for row, used in enumerate(parents):
        touched = {lanes[s] for s in (*used, row) if s in lanes}
        reach = 2 * max(touched) + 1 if touched else -1
        cells = ["─" if i < reach else " " for i in range(width)]
        if used:
            cells[0] = "◂"
        for source, lane in lanes.items():
            if source <= row <= last[source]:
                cells[2 * lane + 1] = _joint(
                    starts=row == source,
                    ends=row == last[source],
                    joined=source in used,
                    goes_on=2 * lane + 1 < reach,
                )
        rows.append("".join(cells))
    return rows


def arcs_between(rows: Sequence[str], row: int) -> str:
    """Return what runs past a further line of text under a row: its lanes that go on below."""
    return "".join("│" if c in "╮┤│┬┼" else " " for c in rows[row])


def _lanes(parents: Sequence[Sequence[int]]) -> dict[int, int]:
    """Give every step that is used the first lane that is free from it to its last user."""
    sources = sorted({s for used in parents for s in used})
    ends: list[int] = []
    lanes: dict[int, int] = {}
    for source in sources:
        last = max(j for j, used in enumerate(parents) if source in used)
        for lane, end in enumerate(ends):
            if end < source:
                lanes[source] = lane
                ends[lane] = last
                break
        else:
            lanes[source] = len(ends)
            ends.append(last)
    return lanes


def _joint(*, starts: bool, ends: bool, joined: bool, goes_on: bool) -> str:
    if starts:
        return "┬" if goes_on else "╮"
    if ends:
        return "┴" if goes_on else "╯"
    if joined:
        return "┼" if goes_on else "┤"
    return "│"


SHADES = " ░▒▓█"


def shade(value: float | None, top: float) -> str:
    """Return a cell that is the darker the higher a value is; "?" where it is undefined.

    >>> "".join(shade(v, 1.0) for v in (0.0, 0.05, 0.4, 0.6, 1.0, None))
    ' ░▒▓█?'
    """
    if value is None or value != value:
        return "?"
    if value <= MARGIN or top <= 0:
        return SHADES[0]
    return SHADES[min(4, 1 + int(4 * min(value / top, 1.0) - MARGIN))]


def heat_rows(
    matrix: Sequence[Sequence[float | None]], groups: Sequence[int], *, wide: int, top: float
) -> list[str]:
    """Return a matrix as shaded cells, `wide` to a value, with a bar where a group begins.

    `groups` holds the sizes of the groups in which rows and columns stand.

    >>> for row in heat_rows([[0, .2, 1], [.2, 0, 1], [1, 1, 0]], [2, 1], wide=1, top=1.0):
    ...     print(repr(row))
    ' ░│█'
    '░ │█'
    '──┼─'
    '██│ '
    """
    starts: set[int] = set()
    at = 0
    for size in groups[:-1]:
        at += size
        starts.add(at)
    rows = []
    for i, values in enumerate(matrix):
        if i in starts:
            rows.append(
                "".join(("┼" if j in starts else "") + "─" * wide for j in range(len(values)))
            )
        rows.append(
            "".join(
                ("│" if j in starts else "") + shade(v, top) * wide for j, v in enumerate(values)
            )
        )
    return rows


def scatter(
    points: Sequence[tuple[float, float]],
    width: int,
    height: int,
    *,
    origin: tuple[float, float] | None = None,
    here: int | None = None,
    reach: float | None = None,
) -> list[str]:
    """Return points on `width` × `height` cells, y upwards, the origin as a cross of lines.

    A cell shows how many points fall into it: ``·`` for one, then digits, ``+`` from ten; the
    point `here` is ``◆``. The points fill the cells, unless `reach` is given: then the chart is of
    −reach to reach both ways with 0 in the middle (sizes are made odd), what lies beyond stands at
    the edge, and what is not 0 never falls on an axis.

    >>> for row in scatter([(0, 0), (1, 1), (1, 1)], 5, 3, origin=(0.5, 0.5), here=0):
    ...     print(repr(row))
    '  │ 2'
    '──┼──'
    '◆ │  '
    >>> for row in scatter([(0.0, -0.5), (0.0, -0.5), (1.0, 1.0)], 7, 5, reach=1.0, here=2):
    ...     print(repr(row))
    '   │  ◆'
    '   │   '
    '───┼───'
    '   2   '
    '   │   '
    """
    if reach is not None:
        width, height, origin = max(width - 1 | 1, 3), max(height - 1 | 1, 3), (0.0, 0.0)
    xs = _Axis([x for x, _ in points], None if origin is None else origin[0], width, reach)
    ys = _Axis([y for _, y in points], None if origin is None else origin[1], height, reach)
    grid = [[" "] * width for _ in range(height)]

    def cell(x: float, y: float) -> tuple[int, int]:
        return height - 1 - ys.place(y), xs.place(x)

    if origin is not None:
        row, column = cell(*origin)
        grid[row] = ["─"] * width
        for r in range(height):
            grid[r][column] = "┼" if r == row else "│"
    counts = Counter(cell(x, y) for x, y in points)
    for (r, c), n in counts.items():
        grid[r][c] = "·" if n == 1 else str(n) if n < 10 else "+"
    if here is not None and 0 <= here < len(points):
        r, c = cell(*points[here])
        grid[r][c] = "◆"
    return ["".join(row) for row in grid]


class _Axis:
    """Where values fall on so many cells."""

    def __init__(
        self, values: Sequence[float], origin: float | None, size: int, reach: float | None
    ) -> None:
        shown = [*values, *([] if origin is None else [origin])]
        self._low, self._high = min(shown, default=0.0), max(shown, default=0.0)
        self._size, self._reach = size, reach

    def place(self, value: float) -> int:
        """Return the cell of a value, from 0."""
        if self._reach is not None:
            return self._about_zero(value / self._reach)
        if self._high <= self._low:
            return (self._size - 1) // 2
        return round((value - self._low) / (self._high - self._low) * (self._size - 1))

    def _about_zero(self, share: float) -> int:
        middle = self._size // 2
        steps = round(min(max(share, -1.0), 1.0) * middle)
        if steps == 0 and abs(share) > MARGIN:
            steps = 1 if share > 0 else -1
        return middle + steps
