"""Charts of several series in cells: a table of shares, lines over hops, a scatter with names.

Every function is pure and returns rows of text without a style. A series is told from another by
its letter, never by colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from tui.charts import shade

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Marks of series in the order of a list; further ones are drawn as `FURTHER`."""
FURTHER = "•"
UNDEFINED = "–"
PATH = "·"
CELL = 6
"""Cells of a value with its shade and a blank on both sides."""
NARROW = 4
"""Cells of a value as a shade alone."""
AXIS = 6
"""Cells of the values beside a chart, with the axis."""

Share = float | None
Point = tuple[int, int]
"""Row and column of a cell."""


def letter(index: int) -> str:
    """Return the mark of the index-th series.

    >>> letter(0), letter(51), letter(52)
    ('A', 'z', '•')
    """
    return LETTERS[index] if 0 <= index < len(LETTERS) else FURTHER


def share_text(value: Share) -> str:
    """Return a share in three cells; it says nothing or all only when it is so.

    >>> [share_text(v) for v in (0.0, 0.002, 0.5, 0.999, 1.0, None)]
    ['.00', '.01', '.50', '.99', '1.0', '–']
    """
    if value is None or value != value:
        return UNDEFINED
    if value >= 1:
        return "1.0"
    return f".{max(min(round(100 * value), 99), 1):02d}" if value > 0 else ".00"


def share_rows(
    values: Sequence[Sequence[Share]],
    counts: Sequence[Sequence[int]],
    *,
    numbers: bool = True,
    with_n: bool = False,
    here: tuple[int, int] | None = None,
) -> list[str]:
    """Return a table of shares: a row per prefix, a column per hop, all rows equally wide.

    A value is a shade, the darker the higher, and with `numbers` two digits; where it is undefined
    there is a dash. `with_n` puts the n of every value on a line below it. The cell `here` (row,
    column) stands in brackets.

    >>> for row in share_rows([[1.0, 0.5], [0.25, None]], [[4, 2], [4, 0]], here=(0, 1)):
    ...     print(row + "|")
     █1.0 [▒.50]|
     ░.25   –   |
    >>> for row in share_rows([[1.0, None]], [[12, 0]], numbers=False, with_n=True):
    ...     print(row + "|")
     ██  –  |
     12  –  |
    """
    wide = cell_width(counts, numbers=numbers, with_n=with_n)
    rows = []
    for r, (shares, ns) in enumerate(zip(values, counts, strict=True)):
        cells = [_value(v, numbers) for v in shares]
        rows.append("".join(_cell(c, wide, here == (r, i)) for i, c in enumerate(cells)))
        if with_n:
            rows.append("".join(_cell(str(n) if n else UNDEFINED, wide, False) for n in ns))
    return rows


def cell_width(counts: Sequence[Sequence[int]], *, numbers: bool, with_n: bool) -> int:
    """Return how many cells `share_rows` gives a value.

    >>> cell_width([[9]], numbers=False, with_n=True), cell_width([[1440]], numbers=False, with_n=True)
    (4, 6)
    """
    digits = max((len(str(n)) for row in counts for n in row), default=0) if with_n else 0
    return max(CELL if numbers else NARROW, digits + 2)


def _value(value: Share, numbers: bool) -> str:
    if value is None or value != value:
        return UNDEFINED
    return shade(value, 1.0) + share_text(value) if numbers else 2 * shade(value, 1.0)


def _cell(text: str, wide: int, here: bool) -> str:
    left, right = ("[", "]") if here else (" ", " ")
    room = wide - 2
    return left + text.center(room) + right


def lowest(values: Iterable[Share]) -> float:
    """Return where a scale of shares may begin: 0, or a quarter that none lies below.

    >>> lowest([0.3, None, 0.9]), lowest([0.1]), lowest([1.0]), lowest([])
    (0.25, 0.0, 0.75, 0.0)
    """
    least = min((v for v in values if v is not None), default=0.0)
    return min(int(4 * max(least, 0.0)), 3) / 4


def line_chart(
    series: Sequence[Sequence[Share]],
    width: int,
    height: int,
    *,
    here: int | None = None,
    errors: Sequence[Share] = (),
    low: float = 0.0,
) -> list[str]:
    """Draw shares in [low, 1] over hops 1, 2, …: a letter per series and hop, dots between.

    Where several series fall into one cell it holds their number, ``+`` from ten. The series
    `here` is drawn over the others, alone, with ``│`` as far as its `errors` go. The left `AXIS`
    cells hold the scale, the last row the hops. A hop without a mean has no letter, and no dots
    lead to it.

    >>> for row in line_chart([[1.0, 0.5, 0.0], [1.0, None, 1.0]], 20, 5):
    ...     print(row.rstrip())
     1.0 ┤2           B
         │  ···
         │      A
         │        ···
     .00 ┤            A
          1     2     3
    """
    hops = max((len(s) for s in series), default=0)
    room = max(width - AXIS, 1)
    xs = [_at(h, hops - 1, room) for h in range(hops)]
    grid = [[" "] * room for _ in range(height)]
    counts: dict[tuple[int, int], list[int]] = {}
    for i, values in enumerate(series):
        points = _points(values, xs, height, low)
        if i != here:
            _dots(grid, points)
        for point in points:
            if point is not None:
                counts.setdefault(point, []).append(i)
    for (row, column), found in counts.items():
        grid[row][column] = _mark(found)
    if here is not None and here < len(series):
        points = _points(series[here], xs, height, low)
        _dots(grid, points)
        _whiskers(grid, series[here], points, errors, low)
        for point in points:
            if point is not None:
                grid[point[0]][point[1]] = letter(here)
    return [*_scaled(grid, low), _hop_row(xs, room)]


def _at(i: int, last: int, room: int) -> int:
    return 0 if last <= 0 else round(i * (room - 2) / last)


def _row(value: float, height: int, low: float) -> int:
    up = (min(max(value, low), 1.0) - low) / (1.0 - low)
    return height - 1 - round(up * (height - 1))


def _points(
    values: Sequence[Share], xs: Sequence[int], height: int, low: float
) -> list[Point | None]:
    return [None if v is None else (_row(v, height, low), xs[h]) for h, v in enumerate(values)]


def _mark(found: Sequence[int]) -> str:
    if len(found) == 1:
        return letter(found[0])
    return str(len(found)) if len(found) < 10 else "+"


def _dots(grid: list[list[str]], points: Sequence[Point | None]) -> None:
    """Draw the way from each point to the next one beside it."""
    for start, end in pairwise(points):
        if start is None or end is None:
            continue
        (row, column), (other, last) = start, end
        for x in range(column + 2, last - 1):
            y = round(row + (other - row) * (x - column) / (last - column))
            if grid[y][x] == " ":
                grid[y][x] = PATH


def _whiskers(
    grid: list[list[str]],
    values: Sequence[Share],
    points: Sequence[Point | None],
    errors: Sequence[Share],
    low: float,
) -> None:
    """Draw how far the error of each value goes."""
    height = len(grid)
    for value, point, error in zip(values, points, errors, strict=False):
        if value is not None and point is not None and error:
            for y in range(_row(value + error, height, low), _row(value - error, height, low) + 1):
                grid[y][point[1]] = "│"


def _scaled(grid: Sequence[Sequence[str]], low: float) -> list[str]:
    """Put the scale of [low, 1] beside the rows."""
    height = len(grid)
    quarters = [q / 4 for q in range(5) if q / 4 >= low]
    if len(quarters) > 3 and height < 9:
        quarters = [low, 1.0]
    named = {_row(v, height, low): v for v in quarters}
    return [
        (f"{share_text(named[y]):>4} ┤" if y in named else "     │") + "".join(cells)
        for y, cells in enumerate(grid)
    ]


def _hop_row(xs: Sequence[int], room: int) -> str:
    """Return the hops below their columns, as many as do not touch."""
    cells = [" "] * room
    free = 0
    for hop, x in enumerate(xs, start=1):
        text = str(hop)
        start = min(x, room - len(text))
        if start >= free:
            cells[start : start + len(text)] = text
            free = start + len(text) + 1
    return " " * AXIS + "".join(cells)


def named_scatter(
    points: Sequence[tuple[Share, Share]],
    width: int,
    height: int,
    *,
    here: int | None = None,
    left: float = 0.0,
) -> list[str]:
    """Draw points (x in [left, 1], y) with a letter each; y grows upwards, its 0 is a line.

    Several points in one cell are their number, ``+`` from ten; the one `here` is drawn over the
    others. A point without either value is left out. The scale of y reaches from 0, or the least
    value below it, to the greatest; the last row is the scale of x.

    >>> for row in named_scatter([(1.0, 0.0), (0.5, 0.4), (0.5, 0.4), (None, 1.0)], 21, 5):
    ...     print(row.rstrip())
      .40┤       2
         │
         │
         │
      .00┤──────────────A
          0      .50    1
    """
    known = {i: (x, y) for i, (x, y) in enumerate(points) if x is not None and y is not None}
    ys = [y for _, y in known.values()]
    low, high = min([0.0, *ys]), max([0.0, *ys])
    high = high if high > low else low + 1.0
    room = max(width - AXIS, 1)
    grid = [[" "] * room for _ in range(height)]

    def cell(x: float, y: float) -> tuple[int, int]:
        up = round((y - low) / (high - low) * (height - 1))
        along = (min(max(x, left), 1.0) - left) / (1.0 - left)
        return height - 1 - up, round(along * (room - 1))

    grid[cell(0.0, 0.0)[0]] = ["─"] * room
    counts: dict[tuple[int, int], list[int]] = {}
    for i, point in known.items():
        counts.setdefault(cell(*point), []).append(i)
    for (row, column), found in counts.items():
        grid[row][column] = _mark(found)
    if here in known:
        row, column = cell(*known[here])
        grid[row][column] = letter(here)
    named = {cell(0.0, v)[0]: v for v in (low, high, 0.0)}
    rows = [
        (f"{_decimal(named[y]):>5}┤" if y in named else "     │") + "".join(line)
        for y, line in enumerate(grid)
    ]
    return [*rows, _unit_row(room, left)]


def _decimal(value: float) -> str:
    """Return a number with two places and no zero before the point.

    >>> _decimal(0.4), _decimal(-0.125), _decimal(1.25), _decimal(0.0)
    ('.40', '-.12', '1.25', '.00')
    """
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def _unit_row(room: int, left: float) -> str:
    """Return the ends of [left, 1] and its middle."""
    cells = [" "] * room
    middle = share_text(round((1.0 + left) / 2, 3)) if left in (0.0, 0.5) else ""
    first = "0" if left == 0 else share_text(left)
    at = round((room - 1) / 2)
    cells[: len(first)], cells[-1] = first, "1"
    if middle and room >= 12:
        cells[at : at + len(middle)] = middle
    return " " * AXIS + "".join(cells)
