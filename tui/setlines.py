"""A relation set's views in lines: what is shown of its matrix, order, map and family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from pipeline.relation_sealed import AXIS_WORDS, AxisView, SetView
from pipeline.relation_set_truth import AxisTruth, SetTruth
from tui import wording
from tui.matrixlines import (
    AGAINST,
    AXIS_LEGEND,
    BOTH_WAYS,
    FALSE,
    FALSE_LEGEND,
    KIN_LEGEND,
    NOT_INVERSE,
    UNREAD,
    Matrix,
    axis_matrix,
    kin_matrix,
)
from tui.orderlines import Figure
from tui.text import cut, hang, one_line, safe, wrap

SEALED = (
    "true places, errors and repair are sealed until every finding here is decided and revealed"
)
NO_TRUTH = "this set has no truth: there are no errors to show"


def axis_title(name: str) -> str:
    """Return an axis in words.

    >>> axis_title("x"), axis_title("time")
    ('west to east', 'time')
    """
    _, first, last = AXIS_WORDS[name]
    return "time" if name == "time" else f"{first} to {last}"


def shown_order(axis: AxisView, truth: AxisTruth | None) -> tuple[int, ...]:
    """Return the order in which objects stand: the exact one behind the seal, else the quick one."""
    return axis.order if truth is None else truth.exact.order


def view_matrix(view: SetView, axis: AxisView | None, truth: SetTruth | None) -> Matrix:
    """Return the matrix of a set along an axis, of a family where there is none."""
    if axis is None:
        not_inverse, blamed = kin_marks(view)
        wrong = frozenset() if truth is None else truth.wrong
        return kin_matrix(view.n, view.words, not_inverse, blamed, wrong)
    behind = None if truth is None else truth.axes[axis.name]
    order = shown_order(axis, behind)
    wrong_pairs = behind.wrong if behind is not None and behind.places is not None else None
    return axis_matrix(order, axis.said, axis.against(order), wrong_pairs)


def kin_marks(view: SetView) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """Return the pairs that are not inverse, and those in any other finding, by places."""
    from scoring.relations import kinship_contradictions

    place = {name: k for k, name in enumerate(view.names)}
    said = {(view.names[a], view.names[b]): w for (a, b), w in view.words.items()}
    found = kinship_contradictions(said)
    mixed = {p for x in found.pairs for p in ((x.a, x.b), (x.b, x.a))}
    blamed = {p for p, n in found.blame.items() if n}
    return (
        frozenset((place[a], place[b]) for a, b in mixed),
        frozenset((place[a], place[b]) for a, b in blamed),
    )


def matrix_legend(axis: AxisView | None, truth: SetTruth | None, width: int) -> list[Content]:
    """Say what the glyphs stand for."""
    lines = list(KIN_LEGEND if axis is None else AXIS_LEGEND)
    if truth is not None and truth.known:
        lines[-1] += f"   {FALSE_LEGEND}"
    return [cut(Content(f" {line}"), width) for line in lines]


def matrix_detail(
    view: SetView, axis: AxisView | None, matrix: Matrix, k: int, width: int
) -> list[Content]:
    """Say of the object of a row how its answers stand."""
    row = matrix.cells[k]
    name = safe(view.names[matrix.objects[k]], "bold") + Content(": ")
    marks = Counter(c for cell in row for c in cell)
    if axis is None:
        said = [c for c in row if len(c) > 1]
        told = f"{len(said)} answers, {marks[NOT_INVERSE]} not inverse"
    else:
        both = sum(marks[g] for g in BOTH_WAYS.values())
        against = sum(marks[g] for g in AGAINST.values())
        n = both + against + marks["<"] + marks[">"]
        told = (
            f"{n} answers as the first-named, {against} against the order, {both} others both ways"
        )
    if marks[UNREAD]:
        told += f", {marks[UNREAD]} not read"
    if marks[FALSE]:
        told += f", {marks[FALSE]} not true"
    return hang(Content(" "), name + Content(told), width)


def order_figures(view: SetView, axis: AxisView, truth: SetTruth | None) -> list[Figure]:
    """Return the columns beside the order: answers, and behind the seal blame and true places."""
    behind = None if truth is None else truth.axes[axis.name]
    ahead = Counter(u for u, _ in axis.edges)
    after = Counter(v for _, v in axis.edges)
    objects = range(view.n)
    figures = [
        Figure("goes first", tuple(f"{ahead[k]:,}" for k in objects)),
        Figure("comes after", tuple(f"{after[k]:,}" for k in objects)),
    ]
    if behind is None:
        return figures
    blamed = {b.object: b for b in behind.blame}
    figures.append(Figure("against", tuple(f"{blamed[k].reverse:,}" for k in objects)))
    if behind.places is not None:
        figures.append(Figure("true place", tuple(f"{p:g}" for p in behind.places)))
    return figures


def order_said(axis: AxisView, truth: SetTruth | None, width: int) -> list[Content]:
    """Say how the order was found, and behind the seal how good it is."""
    open_groups = [g for g in axis.groups(axis.order) if g > 1]
    told = "the answers settle every place"
    if open_groups:
        n = wording.count(len(open_groups), "group")
        told = f"{n} of {sum(open_groups):,} objects in brackets: answers go round in circles there"
    lines = wrap(Content(f" {told}"), width)
    behind = None if truth is None else truth.axes[axis.name]
    if behind is None:
        return [*lines, *wrap(Content(f" {SEALED}"), width)]
    return [*lines, *wrap(Content(f" {exact_said(behind)}"), width)]


def exact_said(behind: AxisTruth) -> str:
    """Return the exact order's figures in words: how many answers against it, errors, τ."""
    exact = behind.exact
    told = f"order with the fewest answers against it: {exact.reverse:,} of {exact.edges:,}"
    if not exact.proved:
        told += f" (at least {exact.lower_bound:,} is proved)"
    if behind.error is not None and behind.error.value is not None:
        told += f" · {behind.error.wrong:,} of {behind.error.answered:,} answers false"
    if behind.tau is not None:
        told += f" · Kendall τ to the truth {behind.tau:+.2f} (1 = the true order)"
    return told


def made_points(view: SetView, truth: SetTruth | None) -> list[tuple[float, float]]:
    """Return the places of a reconstructed map: the two orders as coordinates, from 1."""
    where = []
    for axis in view.axes:
        order = shown_order(axis, None if truth is None else truth.axes[axis.name])
        where.append({v: float(k) for k, v in enumerate(order, start=1)})
    x, y = where
    return [(x[k], y[k]) for k in range(view.n)]


def true_points(view: SetView, truth: SetTruth | None) -> list[tuple[float, float]] | None:
    """Return the true places on both axes; None while sealed or without a truth."""
    if truth is None:
        return None
    xs, ys = (truth.axes[a.name].places for a in view.axes)
    return None if xs is None or ys is None else list(zip(xs, ys, strict=True))


def point_line(
    names: Sequence[str],
    mark: str,
    k: int,
    made: tuple[float, float],
    true: tuple[float, float] | None,
    width: int,
) -> Content:
    """Return an object's line below a map: key letter, name, and both places."""
    name = Content(f"  {mark}  ") + one_line(names[k])
    told = f"  {made[0]:g} from the west, {made[1]:g} from the south"
    if true is not None:
        told += f"; in truth {true[0]:g} and {true[1]:g}"
    room = max(width - len(told), 10)
    return cut(name, room) + Content(told)


def map_said(view: SetView, truth: SetTruth | None) -> str:
    """Return in words how close the map is, or why the true one is not shown."""
    if truth is None:
        return "the true map is sealed until every finding of this set is decided and revealed"
    taus = [truth.axes[a.name].tau for a in view.axes]
    if any(t is None for t in taus):
        return NO_TRUTH
    x, y = (f"{t:+.2f}" for t in taus if t is not None)
    return f"Kendall τ: west to east {x}, south to north {y} (1 = as it is)"
