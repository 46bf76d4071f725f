"""The order that a model's answers imply, as a list; places the answers leave open are bracketed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content

from tui.text import cells, cut_middle, fit, one_line
from tui.widgets.lines import LateRow

ALONE, FIRST, WITHIN, LAST = " ", "┌", "│", "└"
"""Brackets of objects whose answers go round in circles: their order among them is not settled."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A column beside the names: its head, and a text per object (not per place)."""

    head: str
    texts: tuple[str, ...]

    @property
    def width(self) -> int:
        """Cells of the column with the blank before it."""
        return 2 + max(map(cells, (self.head, *self.texts)), default=0)


def brackets(groups: Sequence[int]) -> list[str]:
    """Return a bracket per place for groups of these sizes.

    >>> "".join(brackets([1, 3, 2]))
    ' ┌│└┌└'
    """
    out = []
    for size in groups:
        out += [ALONE] if size == 1 else [FIRST, *[WITHIN] * (size - 2), LAST]
    return out


def order_heads(figures: Sequence[Figure], ends: tuple[str, str], width: int) -> Content:
    """Return the line above the list: what the first and the last place mean."""
    right = "".join(f.head.rjust(f.width) for f in figures)
    lead = Content(f"      from {ends[0]} to {ends[1]}")
    return fit(lead, max(width - cells(right) - 1, 8)) + Content(right)


def order_lines(
    names: Sequence[str],
    order: Sequence[int],
    groups: Sequence[int],
    width: int,
    figures: Sequence[Figure] = (),
) -> list[LateRow]:
    """Lay out an order; item k is the k-th place.

    Parameters
    ----------
    names : sequence of str
        Names of the objects by number; text of others.
    order : sequence of int
        Objects from first to last.
    groups : sequence of int
        Sizes of the groups of objects, in that order, whose places among them are not settled.
    width : int
        Cells.
    figures : sequence of Figure
        Columns at the right.

    Raises
    ------
    ValueError
        When the groups do not add up to the order.
    """
    if sum(groups) != len(order):
        raise ValueError(f"groups of {sum(groups)} objects in an order of {len(order)}")
    marks = brackets(groups)
    room = max(width - sum(f.width for f in figures) - 9, 8)

    def line(k: int) -> Content:
        name = fit(cut_middle(one_line(names[order[k]]), room), room)
        right = "".join(f.texts[order[k]].rjust(f.width) for f in figures)
        return Content(f"  {k + 1:>3} {marks[k]} ") + name + Content(right)

    return [LateRow(partial(line, k), k) for k in range(len(order))]
