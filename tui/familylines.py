"""A family drawn in cells: one generation under the other, couples on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from tui.text import cut, one_line

STEP = 4
"""Cells by which a generation stands to the right of the one before."""
GENDERS = {"male": "m", "female": "f", None: "?"}
MARRIED = "═"
AGAIN = "↑ above"
"""After a couple or person that stands further up with their children."""

Words = Mapping[tuple[str, str], str | None]
"""(a, b) to the word for "a is the … of b"; None = there is none."""


@dataclass(frozen=True, slots=True)
class Ties:
    """Who is whose parent, spouse and sibling, and in which generation everybody is.

    Attributes
    ----------
    people
        Names.
    parents, children
        Of each name, in the order of the people.
    spouse
        Of each name, where there is one.
    generation
        0 = the oldest. Families that no word ties together begin at 0 each.
    """

    people: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]
    children: Mapping[str, tuple[str, ...]]
    spouse: Mapping[str, str]
    generation: Mapping[str, int]


def ties_of(people: Sequence[str], words: Words) -> Ties:
    """Read parents, couples and generations from the words between people.

    Examples
    --------
    >>> ties = ties_of(["A", "B", "C"], {("A", "C"): "father", ("A", "B"): "husband"})
    >>> ties.parents["C"], ties.spouse["B"], ties.generation["B"], ties.generation["C"]
    (('A',), 'A', 0, 1)
    """
    parents = {p: tuple(q for q in people if _is_parent(words, q, p)) for p in people}
    children = {p: tuple(q for q in people if p in parents[q]) for p in people}
    spouse = {}
    for p in people:
        for q in people:
            if words.get((p, q)) in ("husband", "wife"):
                spouse[p], spouse[q] = q, p
    return Ties(tuple(people), parents, children, spouse, _generations(people, words))


def _is_parent(words: Words, parent: str, child: str) -> bool:
    said, back = words.get((parent, child)), words.get((child, parent))
    return said in ("father", "mother") or back in ("son", "daughter")


def _generations(people: Sequence[str], words: Words) -> dict[str, int]:
    """Return how many generations everybody is below the oldest they are tied to."""
    from scoring.relations import WORDS

    above: dict[str, dict[str, int]] = {p: {} for p in people}
    for (a, b), word in words.items():
        if word is not None:
            above[a][b] = WORDS[word].generation
            above[b][a] = -WORDS[word].generation
    found: dict[str, int] = {}
    for start in people:
        if start in found:
            continue
        mine = {start: 0}
        waiting = [start]
        while waiting:
            p = waiting.pop()
            for q, up in above[p].items():
                if q not in mine:
                    mine[q] = mine[p] + up
                    waiting.append(q)
        oldest = min(mine.values())
        found.update({p: level - oldest for p, level in mine.items()})
    return found


@dataclass
class _Drawing:
    """Lines as they are drawn: what stands before the people of a line, and these people."""

    ties: Ties
    lines: list[tuple[str, tuple[str, ...], bool]] = field(default_factory=list)
    drawn: set[str] = field(default_factory=set)
    couples: set[frozenset[str]] = field(default_factory=set)

    def draw(self, person: str, before: str, below: str) -> None:
        """Draw a person, spouse and descendants; `below` is what stands before these."""
        ties = self.ties
        spouse = ties.spouse.get(person)
        line = (person,) if spouse is None else (person, spouse)
        again = person in self.drawn or frozenset(line) in self.couples
        self.drawn.add(person)
        self.couples.add(frozenset(line))
        self.lines.append((before, line, again))
        if again:
            return
        if spouse is not None and not ties.parents[spouse]:
            self.drawn.add(spouse)
        children = [c for c in ties.people if any(c in ties.children[p] for p in line)]
        for i, child in enumerate(children):
            last = i == len(children) - 1
            self.draw(
                child,
                below + ("└" if last else "├") + "─" * (STEP - 2) + " ",
                below + (" " if last else "│") + " " * (STEP - 1),
            )


def _drawn(ties: Ties) -> _Drawing:
    """Draw all: from people without parents down, then whoever is left."""
    drawing = _Drawing(ties)
    by_age = sorted(ties.people, key=lambda p: ties.generation[p])
    roots = [p for p in by_age if not ties.parents[p] and not ties.parents.get(_spouse(ties, p))]
    for person in (*roots, *by_age):
        if person not in drawing.drawn:
            pad = " " * (STEP * ties.generation[person])
            drawing.draw(person, pad, pad)
    return drawing


def _spouse(ties: Ties, person: str) -> str:
    return ties.spouse.get(person, "")


def family_heads(ties: Ties) -> Content:
    """Return the line above a family: the number of each generation above its people."""
    last = max(ties.generation.values(), default=0)
    return Content(" " + "".join(f"{g + 1:<{STEP}}" for g in range(last + 1)))


def family_lines(
    ties: Ties, genders: Mapping[str, str | None], width: int
) -> list[tuple[Content, tuple[str, ...]]]:
    """Lay out a family.

    Parameters
    ----------
    ties : Ties
        Who is whose parent and spouse.
    genders : mapping of name to "male", "female" or None
        Shown after each name as m, f or ?.
    width : int
        Cells.

    Returns
    -------
    list of (Content, names)
        A line per person or couple with the names on it; a generation is `STEP` cells to the right
        of the one before. A couple whose parents are both here stands twice, its children once.
    """
    out = []
    for before, people, again in _drawn(ties).lines:
        text = Content(f" {MARRIED} ").join(
            [one_line(p) + Content(f" {GENDERS[genders.get(p)]}") for p in people]
        )
        text = Content(" " + before) + text + Content(f"  {AGAIN}" if again else "")
        out.append((cut(text, width), people))
    return out
