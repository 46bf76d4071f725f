"""A map of objects in cells: points with their names, or with key letters where these are crowded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits

from textual.content import Content

from tui.text import cells, cut, fit, one_line

LETTERS = ascii_lowercase + ascii_uppercase + digits
"""Key letters; objects beyond them are all ``•``."""
BEYOND, SEVERAL, HERE = "•", "+", "◆"
"""A point without a letter of its own; several in one cell; the object under the cursor."""
LEAST_NAMES = 4
"""Cells of a name beside its point, at least; shorter ones would not be told apart."""

Point = tuple[float, float]


def letter(k: int) -> str:
    """Return an object's key letter.

    >>> letter(0), letter(26), letter(99)
    ('a', 'A', '•')
    """
    return LETTERS[k] if k < len(LETTERS) else BEYOND


def places(points: Sequence[Point], width: int, height: int) -> list[tuple[int, int]]:
    """Return row and column of every point on `width` × `height` cells; y grows upwards.

    >>> places([(0, 0), (1, 1), (2, 4)], 5, 3)
    [(2, 0), (2, 2), (0, 4)]
    """

    def at(value: float, values: Sequence[float], size: int) -> int:
        low, high = min(values), max(values)
        return round((value - low) / (high - low) * (size - 1)) if high > low else (size - 1) // 2

    xs, ys = [x for x, _ in points], [y for _, y in points]
    return [(height - 1 - at(y, ys, height), at(x, xs, width)) for x, y in points]


def lettered(
    points: Sequence[Point], width: int, height: int, *, here: int | None = None
) -> list[Content]:
    """Return a map with one cell per object: its key letter.

    >>> [row.plain for row in lettered([(0, 0), (1, 1), (1, 1)], 3, 2, here=0)]
    ['  +', '◆  ']
    """
    grid = [[" "] * width for _ in range(height)]
    styled = None
    for k, (row, column) in enumerate(places(points, width, height)):
        grid[row][column] = letter(k) if grid[row][column] == " " else SEVERAL
        if k == here:
            styled = row, column
    lines = [Content("".join(row)) for row in grid]
    if styled is not None:
        row, column = styled
        line = "".join(grid[row])
        lines[row] = Content.assemble(line[:column], (HERE, "bold"), line[column + 1 :])
    return lines


def named(
    points: Sequence[Point],
    names: Sequence[str],
    width: int,
    height: int,
    *,
    here: int | None = None,
) -> list[Content]:
    """Return a map with a name beside every point; empty where they would touch one another.

    A name stands at the right of its point, or at the left where there is no room.
    """
    rows: dict[int, list[tuple[int, Content]]] = defaultdict(list)
    for k, (row, column) in enumerate(places(points, width, height)):
        name = one_line(names[k])
        mark = Content.styled(HERE, "bold") if k == here else Content(BEYOND)
        room = width - column - 2
        if cells(name) <= room:
            rows[row].append((column, mark + Content(" ") + name))
        elif cells(name) + 1 <= column:
            rows[row].append((column - cells(name) - 1, name + Content(" ") + mark))
        elif room >= LEAST_NAMES:
            rows[row].append((column, mark + Content(" ") + cut(name, room)))
        else:
            return []
    lines = []
    for row in range(height):
        line = Content("")
        for start, piece in sorted(rows[row], key=lambda p: p[0]):
            gap = start - cells(line)
            if gap < (1 if line.plain else 0):
                return []
            line = line + Content(" " * gap) + piece
        lines.append(fit(line, width))
    return lines


def map_rows(
    points: Sequence[Point],
    names: Sequence[str],
    width: int,
    height: int,
    *,
    title: str,
    here: int | None = None,
    letters: bool | None = None,
) -> list[Content]:
    """Return a map in a frame, its title in the upper edge: `width` × `height` cells in all.

    Parameters
    ----------
    points : sequence of (x, y)
        One per object; x grows to the east (right), y to the north (up).
    names : sequence of str
        Text of others.
    width, height : int
        Cells with the frame; at least 8 × 4.
    title : str
        Words of ours.
    here : int, optional
        The object under the cursor, marked ◆.
    letters : bool, optional
        Key letters or names; None = names where they do not touch one another.

    Raises
    ------
    ValueError
        When the frame is smaller, or there is not one name per point.
    """
    if width < 8 or height < 4:
        raise ValueError(f"a map of {width} × {height} cells; at least 8 × 4 is right")
    if len(points) != len(names):
        raise ValueError(f"{len(points)} points and {len(names)} names")
    inner, tall = width - 2, height - 2
    body: list[Content] = []
    if not points:
        body = [Content(" " * inner)] * tall
    elif not letters:
        body = named(points, names, inner, tall, here=here)
    body = body or lettered(points, inner, tall, here=here)
    head = cut(Content(f" {title} "), inner)
    top = Content("┌") + head + Content("─" * (inner - cells(head)) + "┐")
    return [
        top,
        *(Content("│") + line + Content("│") for line in body),
        Content("└" + "─" * inner + "┘"),
    ]


def crowded(maps: Sequence[Sequence[Point]], names: Sequence[str], width: int, height: int) -> bool:
    """Return whether one of several maps of these names needs key letters, so that all get them."""
    return any(not named(points, names, width - 2, height - 2) for points in maps if points)


def beside(left: Sequence[Content], right: Sequence[Content]) -> list[Content]:
    """Return two maps of one height side by side."""
    return [a + Content(" ") + b for a, b in zip(left, right, strict=True)]
