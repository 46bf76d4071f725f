"""Stock widgets, subclassed once."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Markdown

from tui.text import cells, visible, wrap

LINE_END = " ⏎ "
"""Stands for a line's end in text that is typed in one line."""


class Columns(Horizontal):
    """Widgets side by side."""


class Stack(Vertical):
    """Widgets one above the other."""


class Guide(Markdown, can_focus=False):
    """A guideline in Markdown; links are text."""

    def __init__(self, text: str, **options: Any) -> None:
        super().__init__(visible(text, newlines=True), open_links=False, **options)


class Pane(VerticalScroll, can_focus=False):
    """A scrolling frame."""


class Entry(Input):
    """A line of typed text; the lines of a pasted one are joined."""

    def _on_paste(self, event: events.Paste) -> None:
        lines = [line.strip() for line in event.text.splitlines()]
        text = LINE_END.join(line for line in lines if line)
        if text:
            self.replace(text, *self.selection)
        event.stop()
        event.prevent_default()


class Paragraph(Widget):
    """Text that wraps to a few lines at most, with an ellipsis when it is longer."""

    _limit = 3
    _from = 0
    _more = Content("…")
    _head = Content("")
    _text = Content("")

    def show(self, head: Content | str, text: Content, *, limit: int = 3, more: str = "…") -> None:
        """Set a head, the text beside it, how many lines it may take, and what ends a cut."""
        self._limit = limit
        self._from = 0
        self._more = Content(more)
        self._head = head if isinstance(head, Content) else Content(head)
        self._text = text
        self.refresh(layout=True)

    @property
    def is_cut(self) -> bool:
        """Whether there are more lines than are shown."""
        return len(self._laid_out(self.container_size.width)[1]) > self._limit

    def scroll_lines(self, by: int) -> bool:
        """Show the text from another line on; False when all of it is on the screen."""
        beyond = len(self._laid_out(self.content_size.width)[1]) - self._limit
        self._from = max(0, min(self._from + by, beyond))
        self.refresh()
        return beyond > 0

    def _laid_out(self, width: int) -> tuple[int, list[Content]]:
        room = min(max(width - cells(self._head), 1), 100)
        return room, wrap(self._text, room)

    def lines(self, width: int) -> list[Content]:
        """Lay the text out."""
        indent = cells(self._head)
        room, lines = self._laid_out(width)
        whole = len(lines)
        lines = lines[min(self._from, max(whole - self._limit, 0)) :]
        if len(lines) > self._limit:
            last = lines[self._limit - 1]
            while cells(last) > room - cells(self._more):
                last = last[:-1]
            lines = [*lines[: self._limit - 1], last + self._more]
        pad = Content(" " * indent)
        return [(self._head if i == 0 else pad) + line for i, line in enumerate(lines)]

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.lines(width))

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.content_size.width))
