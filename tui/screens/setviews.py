"""Views of a relation set laid over another screen: matrix, order, map, family."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content

from pipeline.relation_sealed import AXIS_WORDS, AxisView, SetView, set_view
from pipeline.relation_set_truth import SetTruth, set_truth
from pipeline.relation_view import asked_set
from store.relation_records import AskingRecord
from tui.actions import bindings_of
from tui.familylines import Ties, family_heads, family_lines, ties_of
from tui.maplines import beside, crowded, letter, map_rows
from tui.matrixlines import Matrix, frame_of, matrix_heads, matrix_lines
from tui.orderlines import order_heads, order_lines
from tui.relationlist import sees_truth
from tui.screens.base import Sheet, WorkScreen
from tui.setlines import (
    NO_TRUTH,
    axis_title,
    made_points,
    map_said,
    matrix_detail,
    matrix_legend,
    order_figures,
    order_said,
    point_line,
    shown_order,
    true_points,
    view_matrix,
)
from tui.text import cut, safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import LateRow, Lines, Row

SHIFT = 8
"""Columns that a key scrolls a matrix wider than the screen."""
LEAST_LIST = 4
"""Lines of the list below a map, at least."""


class SetSheet(Sheet):
    """A view of what one model said about one set; `truth` is None while it is sealed."""

    TITLE: ClassVar[str] = ""
    has_legend: ClassVar[bool] = False

    def __init__(self, view: SetView, truth: SetTruth | None, axis: str | None = None) -> None:
        super().__init__()
        self.view = view
        self.truth = truth
        names = [a.name for a in view.axes]
        self._at = names.index(axis) if axis in names else 0

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="legend")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.draw(0)

    @property
    def axis(self) -> AxisView | None:
        """The axis in view; None for a family."""
        return self.view.axes[self._at] if self.view.axes else None

    def draw(self, cursor: int | None) -> None:
        """Show all; the cursor stands on an item."""
        axis, asking = self.axis, self.view.asking
        title = Content.styled(f" {self.TITLE}", "bold") + Content("  ") + safe(asking.set)
        title += Content(" · ") + safe(asking.name)
        right = "sealed " if self.truth is None else "revealed "
        if axis is not None:
            right = f"{axis_title(axis.name)}  ·  {right}"
        self.query_one("#top", Line).show(title, right)

    def action_axis(self) -> None:
        """Go to the other axis."""
        if len(self.view.axes) < 2:
            self.app.bell()
            return
        self._at = (self._at + 1) % len(self.view.axes)
        self.draw(self.lines().cursor)

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()


class MatrixScreen(SetSheet):
    """Objects × objects: what was answered about every ordered pair."""

    NAME = "matrix"
    TITLE = "Answers"
    BINDINGS = bindings_of("matrix")
    _left = 0
    _matrix = Matrix((), ())

    def draw(self, cursor: int | None) -> None:
        super().draw(cursor)
        names, axis, truth = self.view.names, self.axis, self.truth
        matrix = self._matrix = view_matrix(self.view, axis, truth)
        self.query_one("#legend", Lines).show(
            lambda width: [Row(x) for x in matrix_legend(axis, truth, width)]
        )
        self.query_one("#columns", Lines).show(
            lambda width: [Row(x) for x in matrix_heads(matrix, names, width, left=self._left)]
        )
        self.lines().show(
            lambda width: matrix_lines(matrix, names, width, left=self._left),
            cursor=cursor if names else None,
            key=self.NAME,
        )
        self.moved()

    def moved(self) -> None:
        at, matrix = self.lines().cursor, self._matrix
        if at is not None and at < len(matrix.objects):
            self.query_one("#detail", Lines).show(
                lambda width: [
                    Row(x) for x in matrix_detail(self.view, self.axis, matrix, at, width)
                ]
            )

    def action_scroll(self, by: int) -> None:
        """Scroll the columns of a matrix that is wider than the screen."""
        n = len(self._matrix.objects)
        shown = frame_of(self._matrix, self.view.names, self.lines().size.width).columns
        self._left = max(0, min(self._left + by * SHIFT, n - shown))
        self.draw(self.lines().cursor)


class OrderScreen(SetSheet):
    """The order that the answers imply, as a list."""

    NAME = "order"
    TITLE = "Order"
    BINDINGS = bindings_of("order")

    def draw(self, cursor: int | None) -> None:
        super().draw(cursor)
        axis, view, truth = self.axis, self.view, self.truth
        if axis is None:
            return
        figures = order_figures(view, axis, truth)
        order = shown_order(axis, None if truth is None else truth.axes[axis.name])
        ends = AXIS_WORDS[axis.name][1:]
        self.query_one("#columns", Lines).show(
            lambda width: [Row(order_heads(figures, (ends[0], ends[1]), width))]
        )
        self.lines().show(
            lambda width: order_lines(view.names, order, axis.groups(order), width, figures),
            cursor=cursor if view.names else None,
            key=self.NAME,
        )
        self.query_one("#detail", Lines).show(
            lambda width: [Row(x) for x in order_said(axis, truth, width)]
        )


class MapScreen(SetSheet):
    """The map that two orders make, beside the true one once it may be seen."""

    NAME = "map"
    TITLE = "Map"
    BINDINGS = bindings_of("map")

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="map")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Keys(id="keys")

    def draw(self, cursor: int | None) -> None:
        view, truth = self.view, self.truth
        title = Content.styled(f" {self.TITLE}", "bold") + Content("  ") + safe(view.asking.set)
        title += Content(" · ") + safe(view.asking.name)
        self.query_one("#top", Line).show(title, "sealed " if truth is None else "revealed ")
        made, true = made_points(view, truth), true_points(view, truth)

        def line(k: int, width: int) -> Content:
            there = None if true is None else true[k]
            return point_line(view.names, letter(k), k, made[k], there, width)

        def rows(width: int) -> list[LateRow]:
            return [LateRow(partial(line, k, width), k) for k in range(view.n)]

        self.lines().show(rows, cursor=cursor if view.names else None, key=self.NAME)
        said = map_said(view, truth)
        self.query_one("#detail", Lines).show(lambda width: [Row(cut(Content(f" {said}"), width))])
        self.moved()

    def moved(self) -> None:
        view, here = self.view, self.lines().cursor
        made, true = made_points(view, self.truth), true_points(view, self.truth)
        height = max(self.size.height - LEAST_LIST - 4, 6)
        chart = self.query_one("#map", Lines)
        chart.styles.height = height

        def build(width: int) -> list[Row]:
            each = width if true is None else (width - 1) // 2
            maps = [made] if true is None else [made, true]
            letters = crowded(maps, view.names, each, height)
            drawn = partial(map_rows, names=view.names, width=each, height=height, here=here)
            lines = drawn(made, title="from the answers", letters=letters)
            if true is not None:
                lines = beside(lines, drawn(true, title="true", letters=letters))
            return [Row(line) for line in lines]

        chart.show(build)

    def on_resize(self, _event: events.Resize) -> None:
        self.moved()


class FamilyScreen(SetSheet):
    """The true family, one generation under the other; nothing of it while it is sealed."""

    NAME = "family"
    TITLE = "Family"
    BINDINGS = bindings_of("family")

    def draw(self, cursor: int | None) -> None:
        super().draw(cursor)
        truth = self.truth
        if truth is None or not truth.words:
            told = NO_TRUTH if truth is not None else SEALED_FAMILY
            self.lines().show(lambda width: [Row(cut(Content(f" {told}"), width))])
            return
        ties: Ties = ties_of(self.view.names, truth.words)
        genders = truth.genders
        self.query_one("#columns", Lines).show(lambda width: [Row(family_heads(ties))])
        self.lines().show(
            lambda width: [
                Row(line, i, True) for i, (line, _) in enumerate(family_lines(ties, genders, width))
            ],
            cursor=cursor,
            key=self.NAME,
        )


SEALED_FAMILY = "the family is sealed until every finding of this set is decided and revealed"


VIEWS: dict[str, type[SetSheet]] = {
    "matrix": MatrixScreen,
    "order": OrderScreen,
    "map": MapScreen,
    "family": FamilyScreen,
}


def lacking(view: SetView, what: str) -> str | None:
    """Return why a set has no such view; None where it has one."""
    if what == "order" and not view.axes:
        return "a family has no order: t shows it as a tree, m its answers"
    if what == "map" and len(view.axes) < 2:
        return "a map takes places on two axes: o shows the order, m the answers"
    if what == "family" and view.axes:
        return "this set is no family: o shows the order, m the answers"
    return None


async def open_view(
    screen: WorkScreen, asking: AskingRecord, what: str, axis: str | None = None
) -> None:
    """Lay a view of a set over a screen, with the truth where this rater may see it."""
    session = screen.session

    def read() -> tuple[SetView, SetTruth | None]:
        asked = asked_set(session.store, asking)
        view = set_view(asked)
        shown = sees_truth(session.store, session.rater.id, asking)
        return view, set_truth(asked, view) if shown else None

    screen.say("reading …")
    found = await screen.attempt(read)
    if found is None:
        return
    view, truth = found
    why = lacking(view, what)
    if why is not None:
        screen.refuse(why)
        return
    screen.say("")
    await screen.app.push_screen(VIEWS[what](view, truth, axis))
