"""Points of a plane made up for questions, and given displacements that do or do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.relations._edges import checked_size

Point = tuple[int, int]
Displacement = tuple[int, int, int, int]
"""(a, b, dx, dy): a lies dx east and dy north of b."""


def make_points(n: int, *, seed: int = 0, low: int | None = None) -> tuple[Point, ...]:
    """Make up points no two of which share an x or a y, so that every question has an answer.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        For the two permutations.
    low : int, optional
        Least coordinate; None = -(n // 2).

    Returns
    -------
    tuple of (x, y)
        x and y are permutations of low..low + n - 1.

    Raises
    ------
    ValueError
        When n is negative.

    References
    ----------
    Paper B, appendix A.3.1 (20 points, integers from -10 to 9).

    Examples
    --------
    >>> points = make_points(20)
    >>> sorted(x for x, _ in points) == sorted(y for _, y in points) == list(range(-10, 10))
    True
    """
    size = checked_size(n)
    rng = np.random.default_rng(seed)
    start = -(size // 2) if low is None else low
    x, y = rng.permutation(size) + start, rng.permutation(size) + start
    return tuple((int(a), int(b)) for a, b in zip(x, y, strict=True))


def quadrant(a: Sequence[float], b: Sequence[float]) -> str | None:
    """Return where a lies of b: northeast, northwest, southeast or southwest.

    None when they share an x or a y: no word is right.

    Examples
    --------
    >>> quadrant((2, 5), (0, 0)), quadrant((-1, 5), (0, 0)), quadrant((0, 5), (0, 0))
    ('northeast', 'northwest', None)
    """
    if a[0] == b[0] or a[1] == b[1]:
        return None
    return ("north" if a[1] > b[1] else "south") + ("east" if a[0] > b[0] else "west")


def displacements(
    points: Sequence[Point], *, layout: str = "chain", center: int = 0
) -> tuple[Displacement, ...]:
    """Return the relations that are told: from a centre to all others, or along a chain.

    Parameters
    ----------
    points : sequence of (x, y)
        The objects' places.
    layout : {"center", "chain", "loop"}
        Each other object of the centre; each object of the next; or also the last of the first.
    center : int
        The central object.

    Returns
    -------
    tuple of (a, b, dx, dy)
        a lies dx east and dy north of b.

    Raises
    ------
    ValueError
        When the layout is unknown or there is no such centre.

    References
    ----------
    Paper B, section 4.4 (centre and ordered relations).

    Examples
    --------
    >>> displacements([(0, 0), (2, 3)], layout="center")
    ((1, 0, 2, 3),)
    """
    n = len(points)
    if layout == "center":
        if n and not 0 <= center < n:
            raise ValueError(f"center is {center}: objects are numbered from 0 to {n - 1}")
        pairs = [(k, center) for k in range(n) if k != center]
    elif layout in ("chain", "loop"):
        pairs = [(k, k + 1) for k in range(n - 1)]
        if layout == "loop" and n > 1:
            pairs.append((n - 1, 0))
    else:
        raise ValueError(f"layout is {layout!r}: it must be 'center', 'chain' or 'loop'")
    return tuple((a, b, points[a][0] - points[b][0], points[a][1] - points[b][1]) for a, b in pairs)


@dataclass(frozen=True, slots=True)
class DisplacementCheck:
    """Whether displacements fit some places of the objects.

    Attributes
    ----------
    consistent
        Whether places exist that satisfy all.
    residuals
        For each displacement that closes a loop: its place in the list, and by how much (x, y) the
        loop fails to close; those that close are left out.
    places
        Places that satisfy the displacements outside `residuals`, the first object of each
        connected part at (0, 0).
    """

    consistent: bool
    residuals: tuple[tuple[int, Point], ...]
    places: dict[int, Point]


def check_displacements(told: Iterable[Displacement]) -> DisplacementCheck:
    """Tell whether relations "a lies (dx, dy) from b" can all be true.

    Parameters
    ----------
    told : iterable of (a, b, dx, dy)
        Whole numbers.

    Returns
    -------
    DisplacementCheck

    Notes
    -----
    Contradictory displacements need not contradict in order: the axis graphs may have no cycle.

    Examples
    --------
    >>> check_displacements([(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0)]).residuals
    ((2, (3, 0)),)
    """
    # Union-find with offsets: `base[a]` is a's representative, `shift[a]` its place from there.
    base: dict[int, int] = {}
    shift: dict[int, Point] = {}
    parts: dict[int, list[int]] = {}
    residuals = []
    for k, (a, b, dx, dy) in enumerate(told):
        for x in (b, a):
            if x not in base:
                base[x], shift[x], parts[x] = x, (0, 0), [x]
        gap = (shift[b][0] + dx - shift[a][0], shift[b][1] + dy - shift[a][1])
        if base[a] != base[b]:
            old, new = base[a], base[b]
            for x in parts.pop(old):
                base[x] = new
                shift[x] = (shift[x][0] + gap[0], shift[x][1] + gap[1])
                parts[new].append(x)
        elif gap != (0, 0):
            residuals.append((k, gap))
    return DisplacementCheck(not residuals, tuple(residuals), dict(sorted(shift.items())))


def contradictory_loop(
    points: Sequence[Point], *, seed: int = 0, size: int = 20
) -> tuple[Displacement, ...]:
    """Return a loop of displacements of which one, chosen at random, is false.

    Parameters
    ----------
    points : sequence of (x, y)
        At least three places.
    seed : int
        For the choice.
    size : int
        The falsehood is 1..size on each axis, either way.

    Returns
    -------
    tuple of (a, b, dx, dy)
        As `displacements` with layout "loop", whose own result is the consistent control.

    Raises
    ------
    ValueError
        When there are fewer than three points or size is below 1.

    References
    ----------
    Paper B, appendix A.5.1.

    Examples
    --------
    >>> check_displacements(contradictory_loop(make_points(20))).consistent
    False
    """
    if len(points) < 3 or size < 1:
        raise ValueError(f"{len(points)} points, size {size}: at least 3 points and a size of 1")
    rng = np.random.default_rng(seed)
    told = list(displacements(points, layout="loop"))
    k = int(rng.integers(len(told)))
    off = rng.integers(1, size + 1, size=2) * rng.choice([-1, 1], size=2)
    a, b, dx, dy = told[k]
    told[k] = (a, b, dx + int(off[0]), dy + int(off[1]))
    return tuple(told)
