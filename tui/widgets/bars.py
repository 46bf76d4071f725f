"""One-line widgets: where you are, what was done, what is asked, which keys there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.widget import Widget

from tui.text import cells, cut


class Line(Widget):
    """One line with a left and a right part; the left one gives way when space is short."""

    _left = Content("")
    _right = Content("")
    _short: Content | None = None

    def show(self, left: Content | str, right: Content | str = "") -> None:
        """Set both parts. A `str` must be words of ours: it is taken as they are."""
        self._short = None
        self._left = left if isinstance(left, Content) else Content(left)
        self._right = right if isinstance(right, Content) else Content(right)
        self.refresh()

    def shorten(self, short: Content) -> None:
        """Set what stands at the left when it does not fit."""
        self._short = short

    def render(self) -> Content:
        width = self.content_size.width
        right = cut(self._right, width)
        room = width - cells(right)
        wanted = self._left
        if self._short is not None and cells(wanted) > room:
            wanted = self._short
        left = cut(wanted, max(0, room - 1 if right else room))
        gap = width - cells(left) - cells(right)
        return left + Content(" " * gap) + right


class Keys(Line):
    """The footer: the few keys that matter most, from the registry; the last one always fits."""

    _keys: tuple[tuple[str, str], ...] = ()

    def show_keys(self, keys: Iterable[tuple[str, str]]) -> None:
        """Set the keys with their labels."""
        self._keys = tuple(keys)
        self.refresh()

    def render(self) -> Content:
        shown = self._keys
        while len(shown) > 1 and cells(_joined(shown)) > self.content_size.width:
            shown = (*shown[:-2], shown[-1])
        return _joined(shown)


def _joined(keys: Sequence[tuple[str, str]]) -> Content:
    parts = [Content.assemble((key, "bold"), " ", label) for key, label in keys]
    return Content("  ·  ").join(parts)
