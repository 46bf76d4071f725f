"""Charts in terminal cells: pure functions from numbers to text."""

from __future__ import annotations

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

    >>> interval_bar(0.5, (0.2, 0.8), 11, low=0.0, high=1.0)
    '  ├──●──┤  '
    >>> interval_bar(0.5, None, 11, low=0.0, high=1.0), interval_bar(None, None, 3, low=0, high=1)
    ('     ●     ', '   ')
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
