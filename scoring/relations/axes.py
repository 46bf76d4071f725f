"""Answers in words turned into edges, one list per axis, and maps made from orders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.relations._edges import Edge, checked_order, positions
from scoring.types import FloatArray

Kind = Literal["time", "quadrant"]

Answer = tuple[int, int, str | None]
"""(a, b, word): "a is word b"; None = the answer could not be parsed."""

_TIME = {"before": 1, "earlier": 1, "after": -1, "later": -1}
"""Whether a precedes b (1) or follows (-1)."""

_QUADRANTS = {
    "northeast": (-1, -1),
    "northwest": (1, -1),
    "southeast": (-1, 1),
    "southwest": (1, 1),
}
"""Whether a's x, and a's y, precede b's (1) or follow (-1): northeast has the greater x and y."""

_SHORT = {"ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest"}


@dataclass(frozen=True, slots=True)
class AxisEdges:
    """Edges "u before v" of each axis.

    Attributes
    ----------
    axes
        Name of each axis: "time", or "x" (west to east) and "y" (south to north).
    edges
        One list per axis, in the order of the answers used.
    sources
        For each edge, the place of its answer among the answers given, from 0; the same for all
        axes.
    unparsed
        Answers that are None or no word of the vocabulary; left out.
    selfloops
        Answers about an object and itself; left out.
    """

    axes: tuple[str, ...]
    edges: tuple[tuple[Edge, ...], ...]
    sources: tuple[int, ...]
    unparsed: int
    selfloops: int

    def __getitem__(self, axis: str) -> tuple[Edge, ...]:
        """Return the edges of an axis by name."""
        return self.edges[self.axes.index(axis)]


def axis_word(word: str | None, kind: Kind) -> str | None:
    """Return the vocabulary's word for a model's ("NE", "North-East"), or None.

    Examples
    --------
    >>> axis_word("North-East", "quadrant"), axis_word("NE", "quadrant"), axis_word("north", "time")
    ('northeast', 'northeast', None)
    """
    plain = "".join(c for c in (word or "").casefold() if c.isalpha())
    if kind == "time":
        return {1: "before", -1: "after"}.get(_TIME.get(plain, 0))
    plain = _SHORT.get(plain, plain)
    return plain if plain in _QUADRANTS else None


def axis_edges(answers: Iterable[Answer], kind: Kind) -> AxisEdges:
    """Turn answers about ordered pairs into edges, one list per axis.

    Parameters
    ----------
    answers : iterable of (a, b, word)
        "a is before/after b" for `time`, "a is northeast/… of b" for `quadrant`.
    kind : {"time", "quadrant"}
        The vocabulary.

    Returns
    -------
    AxisEdges

    Raises
    ------
    ValueError
        When the kind is unknown.

    Notes
    -----
    "A is northeast of B" means x_A > x_B and y_A > y_B, so that B comes before A on both axes. (The
    paper prints the x inequality the other way round; scores are unaffected, maps are not.)

    References
    ----------
    Paper B, section 3.

    Examples
    --------
    >>> found = axis_edges([(0, 1, "northwest"), (1, 0, None)], "quadrant")
    >>> found["x"], found["y"], found.unparsed
    (((0, 1),), ((1, 0),), 1)
    """
    if kind not in ("time", "quadrant"):
        raise ValueError(f"kind is {kind!r}: it must be 'time' or 'quadrant'")
    axes = ("time",) if kind == "time" else ("x", "y")
    edges: list[list[Edge]] = [[] for _ in axes]
    sources: list[int] = []
    unparsed = selfloops = 0
    for place, (a, b, word) in enumerate(answers):
        plain = axis_word(word, kind)
        if plain is None:
            unparsed += 1
        elif a == b:
            selfloops += 1
        else:
            signs = (_TIME[plain],) if kind == "time" else _QUADRANTS[plain]
            for found, sign in zip(edges, signs, strict=True):
                found.append((a, b) if sign > 0 else (b, a))
            sources.append(place)
    return AxisEdges(axes, tuple(tuple(e) for e in edges), tuple(sources), unparsed, selfloops)


TruthOrder = tuple[int | tuple[int, ...], ...]
"""Objects from first to last; a tuple holds objects that share their place."""


def order_from_values(values: Sequence[float]) -> TruthOrder:
    """Return the true order of objects by a value (a year, a longitude), equals grouped.

    Raises
    ------
    ValueError
        When a value is not finite.

    Examples
    --------
    >>> order_from_values([1947, 1912, 1947, 1889])
    (3, 1, (0, 2))
    """
    groups: dict[float, list[int]] = {}
    for k, value in enumerate(values):
        if not math.isfinite(value):
            raise ValueError(f"value {k + 1} is {value}: it must be finite")
        groups.setdefault(float(value), []).append(k)
    return tuple(
        group[0] if len(group) == 1 else tuple(group)
        for group in (groups[v] for v in sorted(groups))
    )


def kendall_tau(order: Sequence[int], values: Sequence[float]) -> float | None:
    """Kendall's tau-b between an order of objects and their true values.

    Parameters
    ----------
    order : sequence of int
        A permutation of the objects 0..n-1.
    values : sequence of float, length n
        True value of each object; equal values are ties.

    Returns
    -------
    float or None
        In [-1, 1]; 1 = the true order. None for n < 2 or when all values are equal.

    Raises
    ------
    ValueError
        When the order is no permutation or the lengths differ.

    Notes
    -----
    tau_b = (concordant - discordant) / sqrt(P (P - T)), P = n(n - 1)/2 pairs, T of them tied in
    value (an order has no ties).

    Examples
    --------
    >>> kendall_tau([0, 1, 2], [1.0, 2.0, 3.0]), kendall_tau([2, 1, 0], [1.0, 2.0, 3.0])
    (1.0, -1.0)
    """
    n = len(values)
    where = positions(checked_order(order, n))
    value = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(n, 1)
    agreement = np.sign(where[second] - where[first]) * np.sign(value[second] - value[first])
    pairs, untied = len(agreement), int(np.count_nonzero(agreement))
    if not untied:
        return None
    return float(agreement.sum()) / math.sqrt(pairs * untied)


@dataclass(frozen=True, slots=True, eq=False)
class ReconstructedMap:
    """Two orders as coordinates, beside the true map drawn the same way.

    Attributes
    ----------
    points
        Shape (n, 2): each object's place in the x order and in the y order, from 0.
    true_points
        The same from the true coordinates, equal values sharing their mean place; None without.
    tau_x, tau_y
        Kendall's tau-b of each axis with the true coordinates; None without or undefined.
    """

    points: FloatArray
    true_points: FloatArray | None
    tau_x: float | None
    tau_y: float | None


def reconstructed_map(
    x_order: Sequence[int],
    y_order: Sequence[int],
    true_x: Sequence[float] | None = None,
    true_y: Sequence[float] | None = None,
) -> ReconstructedMap:
    """Place objects by their rank on each axis.

    Parameters
    ----------
    x_order, y_order : sequence of int
        Objects from west to east, and from south to north.
    true_x, true_y : sequence of float, optional
        True coordinates (both or neither).

    Returns
    -------
    ReconstructedMap

    Raises
    ------
    ValueError
        When an order is no permutation, lengths differ, or only one true axis is given.

    References
    ----------
    Paper B, section 4.5.2 and figure 5.

    Examples
    --------
    >>> found = reconstructed_map([1, 0], [0, 1], [5.0, 2.0], [0.0, 9.0])
    >>> found.points.tolist(), found.tau_x, found.tau_y
    ([[1.0, 0.0], [0.0, 1.0]], 1.0, 1.0)
    """
    n = len(x_order)
    points = np.stack(
        [
            positions(checked_order(o, n, w))
            for o, w in ((x_order, "x order"), (y_order, "y order"))
        ],
        axis=1,
    ).astype(np.float64)
    if true_x is None and true_y is None:
        return ReconstructedMap(points, None, None, None)
    if true_x is None or true_y is None or len(true_x) != n or len(true_y) != n:
        raise ValueError(f"give {n} true x and {n} true y values, or neither")
    true_points = np.stack([_mean_ranks(true_x), _mean_ranks(true_y)], axis=1)
    return ReconstructedMap(
        points, true_points, kendall_tau(x_order, true_x), kendall_tau(y_order, true_y)
    )


def _mean_ranks(values: Sequence[float]) -> FloatArray:
    value = np.asarray(values, dtype=np.float64)
    below = (value[:, None] > value).sum(axis=1)
    equal = (value[:, None] == value).sum(axis=1)
    return np.asarray(below + (equal - 1) / 2.0, dtype=np.float64)
