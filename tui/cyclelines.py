"""A cycle of relations drawn in cells: objects in a ring, statements as labelled arrows.

Layered layouts of general graphs stack a cycle of six on some forty lines and write labels over one
another; a ring of two rows takes five lines, and a statement keeps its number, the key that names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from tui.text import cells, cut, cut_middle, one_line

MOST_DRAWN = 6
"""Statements of the longest cycle that is drawn; longer ones are a list."""
LEAST_NAME = 6
"""Cells in which an object can be told from others; where there are fewer, a list is shown."""
MOST_WORD = 24
"""Cells of a relation's word in the drawing."""
WRONG = "✗"
"""Marks the statement that is held for wrong."""


@dataclass(frozen=True, slots=True)
class Link:
    """A statement between an object of the ring and the next.

    Attributes
    ----------
    word
        The relation as it is read along the arrow.
    forward
        Whether the arrow points to the next object; else back.
    style
        Of the label, e.g. for the statement under the cursor.
    wrong
        Whether it is marked.
    """

    word: str
    forward: bool = True
    style: str = ""
    wrong: bool = False

    def label(self, number: int) -> Content:
        """Return number, mark and word."""
        mark = WRONG if self.wrong else " "
        word = cut(one_line(self.word), MOST_WORD)
        return (Content.styled(str(number), "bold") + Content(mark) + word).stylize(self.style)


def cycle_lines(nodes: Sequence[str], links: Sequence[Link], width: int) -> list[Content]:
    """Draw a cycle, or list it where it is too long or the width too small.

    Parameters
    ----------
    nodes : sequence of str
        Objects in the cycle's direction, two or more; text of others.
    links : sequence of Link
        ``links[i]`` joins ``nodes[i]`` and the next, the last one the first again.
    width : int
        Cells.

    Returns
    -------
    list of Content
        Lines of at most `width` cells: three for two or three objects, five for four to six, else
        one per statement.

    Raises
    ------
    ValueError
        For fewer than two objects, or another number of links.
    """
    if len(nodes) < 2 or len(nodes) != len(links):
        raise ValueError(f"{len(nodes)} objects and {len(links)} links: two or more, equally many")
    labels = [link.label(i) for i, link in enumerate(links, start=1)]
    names = [one_line(node) for node in nodes]
    drawn: list[Content] = []
    if len(nodes) <= 3:
        drawn = _one_row(names, links, labels, width)
    elif len(nodes) <= MOST_DRAWN:
        drawn = _two_rows(names, links, labels, width)
    return drawn or listed(nodes, links, width)


def listed(nodes: Sequence[str], links: Sequence[Link], width: int) -> list[Content]:
    """Return a cycle's statements one below the other."""
    lines = []
    for i, link in enumerate(links):
        label = cut(link.label(i + 1), max(width - 2 * LEAST_NAME - 6, LEAST_NAME))
        arrow = _arrow(label, 0, right=link.forward)
        room = max((width - cells(arrow) - 3) // 2, 1)
        a, b = (cut_middle(one_line(nodes[k % len(nodes)]), room) for k in (i, i + 1))
        lines.append(cut(Content(" ") + a + Content(" ") + arrow + Content(" ") + b, width))
    return lines


def _arrow(label: Content, width: int, *, right: bool) -> Content:
    """Return a label on a line with a head, at least one dash at each side."""
    dashes = max(width - cells(label) - 1, 2)
    before, after = "─" * (dashes // 2), "─" * (dashes - dashes // 2)
    if right:
        return Content(before) + label + Content(after + "▸")
    return Content("◂" + after) + label + Content(before)


def _capped(names: Sequence[Content], room: int) -> int | None:
    """Return to how many cells names are cut so that all fit; None where nothing can be told."""
    sizes = [cells(n) for n in names]
    cap = max(sizes)
    while cap > LEAST_NAME and sum(min(size, cap) for size in sizes) > room:
        cap -= 1
    return cap if sum(min(size, cap) for size in sizes) <= room else None


def _links_room(labels: Sequence[Content]) -> int:
    """Return the fewest cells of the arrows between the objects of a row."""
    return sum(cells(label) + 5 for label in labels)


def _row(
    names: Sequence[Content], arrows: Sequence[tuple[Content, bool]], total: int
) -> list[Content]:
    """Return a row's pieces, its arrows stretched until it takes `total` cells."""
    spare = total - sum(map(cells, names)) - _links_room([label for label, _ in arrows])
    pieces = [names[0]]
    for i, (label, right) in enumerate(arrows):
        more = spare // len(arrows) + (i < spare % len(arrows))
        arrow = _arrow(label, cells(label) + 3 + more, right=right)
        pieces += [Content(" "), arrow, Content(" "), names[i + 1]]
    return pieces


def _joined(pieces: Sequence[Content]) -> Content:
    return Content("").join(pieces)


def _one_row(
    names: Sequence[Content], links: Sequence[Link], labels: Sequence[Content], width: int
) -> list[Content]:
    """Draw two or three objects side by side, the last statement as a line back below them."""
    between = labels[:-1]
    cap = _capped(names, width - 2 - _links_room(between))
    if cap is None:
        return []
    names = [cut_middle(n, cap) for n in names]
    total = sum(map(cells, names)) + _links_room(between)
    left, right = cells(names[0]) // 2, total - 1 - cells(names[-1]) // 2
    short = cells(labels[-1]) + 4 - (right - left - 1)
    if short > 0:
        total, right = total + short, right + short
    if total > width - 2:
        return []
    top = _row(names, [(x, k.forward) for x, k in zip(between, links, strict=False)], total)
    up, down = ("▴", "│") if links[-1].forward else ("│", "▴")
    inner = right - left - 1
    dashes = inner - cells(labels[-1])
    back = Content("─" * (dashes // 2)) + labels[-1] + Content("─" * (dashes - dashes // 2))
    return [
        Content("  ") + _joined(top),
        Content("  " + " " * left + up + " " * inner + down),
        Content("  " + " " * left + "└") + back + Content("┘"),
    ]


def _two_rows(
    names: Sequence[Content], links: Sequence[Link], labels: Sequence[Content], width: int
) -> list[Content]:
    """Draw four to six objects as a ring of two rows."""
    half = (len(names) + 1) // 2
    upper, lower = list(range(half)), list(range(len(names) - 1, half - 1, -1))
    arrows = [
        [(labels[i], links[i].forward) for i in upper[:-1]],
        [(labels[i], not links[i].forward) for i in lower[1:]],
    ]
    totals, rows = [], []
    for places, row in zip((upper, lower), arrows, strict=True):
        mine = [names[i] for i in places]
        cap = _capped(mine, width - 2 - _links_room([label for label, _ in row]))
        if cap is None:
            return []
        rows.append([cut_middle(n, cap) for n in mine])
        totals.append(sum(map(cells, rows[-1])) + _links_room([label for label, _ in row]))
    at = min(cells(row[0]) for row in rows) // 2
    end = min(cells(row[-1]) for row in rows) // 2
    sides = labels[-1], labels[half - 1]
    total = max(*totals, at + end + 3 + cells(sides[0]) + cells(sides[1]))
    if total > width - 2:
        return []
    lines = [_joined(_row(n, a, total)) for n, a in zip(rows, arrows, strict=True)]
    left_up, right_down = links[-1].forward, links[half - 1].forward
    gap = " " * (total - 2 - at - end)
    right = total - end - cells(sides[1])
    between = [
        Content(" " * at + ("▴" if left_up else "│") + gap + ("│" if right_down else "▴")),
        Content(" " * at) + sides[0] + Content(" " * (right - at - cells(sides[0]))) + sides[1],
        Content(" " * at + ("│" if left_up else "▾") + gap + ("▾" if right_down else "│")),
    ]
    return [Content("  ") + line for line in (lines[0], *between, lines[1])]
