"""Answers about every ordered pair as a matrix of glyphs: objects × objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content

from tui.text import cells, cut_middle, fit, one_line
from tui.widgets.lines import LateRow

Pair = tuple[int, int]
"""The pair (a, b) as it was asked: what is a to b?"""

ITSELF, UNASKED, UNREAD = "╲", "·", "?"
"""An object and itself; a pair that was not asked; a reply that no answer could be read from."""
AGREED = {1: "<", -1: ">"}
"""The row comes before (1) or after (-1) the column."""
BOTH_WAYS = {1: "«", -1: "»"}
"""The same, where the pair asked the other way round was answered to the contrary."""
AGAINST = {1: "◂", -1: "▸"}
"""The same, against the order in which the objects stand."""
FALSE = "×"
"""Marks an answer that is not true."""
NOT_INVERSE, BLAMED = "≠", "!"
"""Marks after a word: the two answers of the pair exclude each other; it is in other findings."""

CODES = {
    **{"father": "Fa", "mother": "Mo", "husband": "Hu", "wife": "Wi", "son": "So"},
    **{"daughter": "Da", "brother": "Br", "sister": "Si", "uncle": "Un", "aunt": "Au"},
    **{"nephew": "Ne", "niece": "Ni", "cousin": "Co", "grandpa": "Gf", "grandma": "Gm"},
    **{"grandson": "Gs", "granddaughter": "Gd"},
}
"""Two letters for a word of kinship; ``+`` after it is a generation more, ``'`` by marriage."""

NAME_CELLS = 18
"""Cells of an object's name at the left, at most."""
KIN_CELLS = 5
"""Cells of a column of kinship words."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cells of a matrix in the order in which objects are shown.

    Attributes
    ----------
    objects
        Numbers of the objects in that order.
    cells
        A text per ordered pair, row by row, all of `wide` cells or fewer.
    wide
        Cells a column takes at the least.
    """

    objects: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    wide: int = 1


def axis_matrix(
    order: Sequence[int],
    said: Mapping[Pair, int | None],
    against: Collection[Pair] = (),
    wrong: Collection[Pair] | None = None,
) -> Matrix:
    """Return the matrix of one axis.

    Parameters
    ----------
    order : sequence of int
        The objects as they are shown.
    said : mapping of (a, b) to 1, -1 or None
        1 = a comes before b, -1 = after, None = no answer was read; pairs left out were not asked.
    against : collection of (a, b)
        Pairs as asked whose answers are to be marked as against the order.
    wrong : collection of (a, b), optional
        Pairs as asked whose answers are false, to be marked too; None = the truth is sealed.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> found = axis_matrix([1, 0, 2], {(1, 0): 1, (0, 1): 1, (1, 2): 1, (2, 1): None}, {(0, 1)})
    >>> ["".join(row) for row in found.cells]
    ['╲«<', '◂╲·', '?·╲']
    """

    def cell(a: int, b: int) -> str:
        if a == b:
            return ITSELF
        if (a, b) not in said:
            return UNASKED
        sign = said[a, b]
        if sign is None:
            return UNREAD
        mark = FALSE if (a, b) in (wrong or ()) else ""
        if (a, b) in against:
            return AGAINST[sign] + mark
        return (BOTH_WAYS if said.get((b, a)) == sign else AGREED)[sign] + mark

    rows = tuple(tuple(cell(a, b) for b in order) for a in order)
    return Matrix(tuple(order), rows, 1 if wrong is None else 3)


def kin_code(word: str) -> str:
    """Return a few letters for a word of kinship.

    >>> kin_code("wife"), kin_code("great-grandson"), kin_code("aunt-in-law")
    ('Wi', 'Gs+', "Au'")
    """
    plain = word.removeprefix("great-").removesuffix("-in-law")
    more = "+" if word.startswith("great-") else "'" if word.endswith("-in-law") else ""
    return CODES[plain] + more


def kin_matrix(
    n: int,
    said: Mapping[Pair, str | None],
    not_inverse: Collection[Pair] = (),
    blamed: Collection[Pair] = (),
    wrong: Collection[Pair] = (),
) -> Matrix:
    """Return the matrix of kinship answers: what the row is said to be of the column.

    Parameters
    ----------
    n : int
        Number of people, shown in their own order.
    said : mapping of (a, b) to word or None
        Words of the vocabulary; None = no answer was read.
    not_inverse, blamed : collection of (a, b)
        Pairs whose two answers exclude each other; answers in any other finding.
    wrong : collection of (a, b)
        Pairs whose answers are false; none while the truth is sealed.

    Examples
    --------
    >>> found = kin_matrix(2, {(0, 1): "wife", (1, 0): "son"}, {(0, 1), (1, 0)})
    >>> found.cells
    (('╲', 'Wi≠'), ('So≠', '╲'))
    """

    def cell(a: int, b: int) -> str:
        if a == b:
            return ITSELF
        if (a, b) not in said:
            return UNASKED
        word = said[a, b]
        if word is None:
            return UNREAD
        mark = NOT_INVERSE if (a, b) in not_inverse else BLAMED if (a, b) in blamed else ""
        return kin_code(word) + (FALSE if (a, b) in wrong else mark)

    rows = tuple(tuple(cell(a, b) for b in range(n)) for a in range(n))
    return Matrix(tuple(range(n)), rows, KIN_CELLS)


@dataclass(frozen=True, slots=True)
class Frame:
    """How a matrix is laid out in a width: cells of the names, of a column, and columns shown."""

    head: int
    wide: int
    columns: int


def frame_of(matrix: Matrix, names: Sequence[str], width: int) -> Frame:
    """Return the widest layout that shows all columns, else the narrowest."""
    n = len(matrix.objects)
    digits = len(str(n))
    longest = max((cells(one_line(names[k])) for k in matrix.objects), default=0)
    head = digits + 3 + min(NAME_CELLS, max(longest, 1))
    room = max(width - head - 1, matrix.wide)
    wide = next((w for w in (3, 2) if w * n <= room), 1) if matrix.wide == 1 else matrix.wide
    return Frame(head, wide, max(room // wide, 1))


def matrix_heads(
    matrix: Matrix, names: Sequence[str], width: int, *, left: int = 0
) -> list[Content]:
    """Return the two lines above the columns: numbers read downwards, or names where they fit."""
    frame = frame_of(matrix, names, width)
    shown = range(left, min(left + frame.columns, len(matrix.objects)))
    pad = Content(" " * frame.head)
    if matrix.wide >= KIN_CELLS:
        numbers = "".join(f"{k + 1:<{frame.wide}}" for k in shown)
        short = [cut_middle(one_line(names[matrix.objects[k]]), frame.wide - 1) for k in shown]
        return [pad + Content(numbers), pad + Content("").join(fit(n, frame.wide) for n in short)]
    tens = "".join((str((k + 1) // 10) if k >= 9 else "").ljust(frame.wide) for k in shown)
    ones = "".join(str((k + 1) % 10).ljust(frame.wide) for k in shown)
    return [pad + Content(tens), pad + Content(ones)]


def matrix_lines(
    matrix: Matrix, names: Sequence[str], width: int, *, left: int = 0
) -> list[LateRow]:
    """Lay out the rows; item k is the k-th object shown. `left` columns are scrolled away."""
    frame = frame_of(matrix, names, width)
    return [
        LateRow(partial(_line, matrix, names, frame, k, left), k)
        for k in range(len(matrix.objects))
    ]


def _line(matrix: Matrix, names: Sequence[str], frame: Frame, k: int, left: int) -> Content:
    digits = len(str(len(matrix.objects)))
    room = frame.head - digits - 3
    name = fit(cut_middle(one_line(names[matrix.objects[k]]), room), room)
    shown = matrix.cells[k][left : left + frame.columns]
    more = "…" if left + frame.columns < len(matrix.cells[k]) else ""
    head = Content(f" {k + 1:>{digits}} ") + name + Content(" ")
    return head + Content("".join(c.ljust(frame.wide) for c in shown) + more)


FALSE_LEGEND = "× not true"
AXIS_LEGEND = (
    "< the row comes first   > the column   · not asked   ? no answer read",
    "« » the pair asked the other way round was answered to the contrary",
    "◂ ▸ against the order in which they stand",
)
KIN_LEGEND = (
    "what the row is to the column; + a generation more, ' by marriage; ? no answer read",
    "≠ the pair's two answers exclude each other   ! in another finding",
)
