"""Which path comes next: the order in which a case's paths are labelled."""

from __future__ import annotations

from dataclasses import dataclass

from store.records import CaseView, LabelRecord, PathView

SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Place:
    """A path of a case: side 0 is A, `turn` counts the paths of a side."""

    turn: int
    side: int


def name_of(place: Place, step: int | None = None) -> str:
    """Return what a path or a step of it is called.

    >>> name_of(Place(1, 0)), name_of(Place(0, 1), 12)
    ('A path 2', 'B path 1 step 12')
    """
    name = f"{SIDES[place.side]} path {place.turn + 1}"
    return name if step is None else f"{name} step {step}"


def decided(label: LabelRecord | None) -> bool:
    """Return whether a path needs nothing more from the rater."""
    return label is not None and label.decided


def places(case: CaseView) -> list[Place]:
    """Return all places in labelling order: A then B, then the next paths."""
    turns = max((len(side) for side in case.sides), default=0)
    return [Place(t, s) for t in range(turns) for s in (0, 1) if t < len(case.sides[s])]


def path_at(case: CaseView, place: Place) -> PathView | None:
    """Return the path at a place, None where there is none."""
    side = case.sides[place.side]
    return side[place.turn] if 0 <= place.turn < len(side) else None


def place_of(case: CaseView, item_id: int) -> Place | None:
    """Return where an item is."""
    for place in places(case):
        path = path_at(case, place)
        if path is not None and path.item_id == item_id:
            return place
    return None


def next_open(case: CaseView, here: Place | None) -> Place | None:
    """Return the next place without a decision: the other side first, then on, then from the start.

    With `here` None, the first such place.
    """
    left = [p for p in places(case) if not _done(case, p)]
    if here is None:
        return left[0] if left else None
    order = places(case)
    at = order.index(here) if here in order else 0
    same_turn = [p for p in left if p.turn == here.turn and p != here]
    later = [p for p in left if order.index(p) > at]
    earlier = [p for p in left if p != here]
    for group in (same_turn, later, earlier):
        if group:
            return group[0]
    return left[0] if left else None


def _done(case: CaseView, place: Place) -> bool:
    path = path_at(case, place)
    return path is None or decided(path.label)
