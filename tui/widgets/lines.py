"""A scrolling view of prepared lines, with or without a cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

MAX_WIDTH = 100
"""No line of text is longer, however wide the terminal."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of cells.

    `item` numbers the selectable thing the line belongs to, None for none; `first` says whether
    it is that thing's first line, where the cursor stands in cell 0.
    """

    content: Content
    item: int | None = None
    first: bool = False


class LateRow:
    """A line that is laid out when it is first drawn: of a long list, most never are."""

    __slots__ = ("_content", "_make", "first", "item")

    def __init__(self, make: Callable[[], Content], item: int) -> None:
        self._make = make
        self._content: Content | None = None
        self.item: int | None = item
        self.first = True

    @property
    def content(self) -> Content:
        """The line's cells."""
        if self._content is None:
            self._content = self._make()
        return self._content


Builder = Callable[[int], Sequence[Row | LateRow]]


class Lines(ScrollView, can_focus=False):
    """Lines laid out for the width at hand by a builder; the cursor selects items."""

    class Picked(Message):
        """An item was clicked."""

        def __init__(self, lines: Lines, item: int | None) -> None:
            super().__init__()
            self.lines = lines
            self.item = item

        @property
        def control(self) -> Lines:
            """The view that was clicked."""
            return self.lines

    _builder: Builder | None = None
    _rows: tuple[Row | LateRow, ...] = ()
    _width = 0
    _cursor: int | None = None
    _active = True
    _key: object = None

    @property
    def cursor(self) -> int | None:
        """The selected item."""
        return self._cursor

    @property
    def rows(self) -> tuple[Row | LateRow, ...]:
        """The lines as laid out."""
        return self._rows

    @property
    def active(self) -> bool:
        """Whether the cursor is drawn."""
        return self._active

    @active.setter
    def active(self, value: bool) -> None:
        self._active = value
        self.refresh()

    def show(self, builder: Builder, *, cursor: int | None = None, key: object = None) -> None:
        """Lay out other lines; the place is kept when they are the same thing by its key."""
        self._builder = builder
        self._cursor = cursor
        self._layout_rows()
        same = key is not None and key == self._key
        self._key = key
        if not same:
            self.scroll_to(y=0, animate=False, immediate=True)
        if cursor is not None:
            self._keep_in_view()

    def _layout_rows(self) -> None:
        self._width = min(self.scrollable_content_region.width, MAX_WIDTH)
        self._rows = tuple(self._builder(self._width)) if self._builder and self._width > 0 else ()
        self.virtual_size = Size(self._width, len(self._rows))
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self._layout_rows()
        self._keep_in_view()

    def render_line(self, y: int) -> Strip:
        style = self.visual_style
        at = y + self.scroll_offset.y
        width = self.size.width
        if not 0 <= at < len(self._rows):
            return Strip([Segment(" " * width, style.rich_style)], width)
        row = self._rows[at]
        content = row.content
        if self._active and row.item is not None and row.item == self._cursor:
            style = style + Style(bold=True)
            if row.first:
                content = Content("▸") + content[1:]
        strip = Strip(content.render_segments(style))
        return strip.adjust_cell_length(width, style.rich_style)

    # -- moving

    def items(self) -> list[int]:
        """Return the selectable items in order."""
        return list(dict.fromkeys(r.item for r in self._rows if r.item is not None))

    def select(self, item: int | None) -> None:
        """Put the cursor on an item and bring it into view."""
        self._cursor = item
        self._keep_in_view()
        self.refresh()

    def move(self, by: int) -> bool:
        """Move the cursor, or scroll where there is none or its item goes on out of view.

        Returns False when there is nothing further in that direction.
        """
        if self._cursor is None:
            return self._scroll_by(by)
        span = self._span(self._cursor)
        if span is not None and self._hidden(span, by):
            return self._scroll_by(by * max(1, self._height - 2))
        items = self.items()
        at = items.index(self._cursor) if self._cursor in items else 0
        if not 0 <= at + by < len(items):
            return self._scroll_by(by * max(1, self._height - 2))
        self.select(items[at + by])
        return True

    def page(self, by: int) -> None:
        """Move by a screenful: the view, while the cursor's item goes on out of it, else the cursor.

        The cursor always gets on to another item where there is one.
        """
        step = max(1, self._height - 1)
        here = self._cursor
        span = None if here is None else self._span(here)
        items = self.items()
        if here is None or span is None or here not in items or self._hidden(span, by):
            self._scroll_by(by * step)
            return
        others = items[items.index(here) + 1 :] if by > 0 else items[: items.index(here)][::-1]
        if not others:
            self._scroll_by(by * step)
            return
        top = self.scroll_offset.y
        at = max(span[0], top) if by > 0 else min(span[1], top + self._height) - 1
        spans = {item: self._span(item) or span for item in others}
        reached = [
            item
            for item, (start, end) in spans.items()
            if (start <= at + step if by > 0 else end > at - step)
        ]
        self.select(reached[-1] if reached else others[0])
        if by < 0:
            self._show_end()

    def _show_end(self) -> None:
        """Bring the end of the cursor's item into view, where it is longer than the view."""
        span = None if self._cursor is None else self._span(self._cursor)
        if span is not None and span[1] - span[0] > self._height:
            self.scroll_to(y=span[1] - self._height, animate=False, immediate=True)

    def top(self) -> None:
        """Go to the first item and line."""
        if self._cursor is not None and self.items():
            self.select(self.items()[0])
        self.scroll_to(y=0, animate=False, immediate=True)

    def bottom(self) -> None:
        """Go to the last item and line."""
        if self._cursor is not None and self.items():
            self.select(self.items()[-1])
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)

    @property
    def _height(self) -> int:
        return self.scrollable_content_region.height

    def _span(self, item: int) -> tuple[int, int] | None:
        ys = [y for y, row in enumerate(self._rows) if row.item == item]
        return (ys[0], ys[-1] + 1) if ys else None

    def _hidden(self, span: tuple[int, int], by: int) -> bool:
        top = self.scroll_offset.y
        return span[1] > top + self._height if by > 0 else span[0] < top

    def _scroll_by(self, by: int) -> bool:
        before = self.scroll_offset.y
        target = max(0, min(before + by, self.max_scroll_y))
        self.scroll_to(y=target, animate=False, immediate=True)
        return target != before

    def _keep_in_view(self) -> None:
        span = None if self._cursor is None else self._span(self._cursor)
        if span is None or self._height <= 0:
            return
        height = min(span[1] - span[0], self._height)
        top = self.scroll_offset.y
        if span[1] - span[0] > self._height and span[0] <= top < span[1]:
            return  # the view is inside an item that is longer than it: a reader stays where they are
        self.scroll_to_region(
            Region(0, span[0], 1, height), animate=False, immediate=True, x_axis=False
        )

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        y = self.scroll_offset.y + at.y if at is not None else -1
        item = self._rows[y].item if 0 <= y < len(self._rows) else None
        self.post_message(self.Picked(self, item))
