"""One-line widgets: where you are, what was done, what is asked, which keys there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.widget import Widget

from tui.text import cells, cut, wrap


class Line(Widget):
    """One line with a left and a right part; the left one gives way when space is short."""

    _left = Content("")
    _right = Content("")
    _short: Content | None = None
    _whole: Content | None = None

    def show(self, left: Content | str, right: Content | str = "") -> None:
        """Set both parts. A `str` must be words of ours: it is taken as they are."""
        self._short = None
        if self._whole is not None:
            self._whole = None
            self.refresh(layout=True)
        self._left = left if isinstance(left, Content) else Content(left)
        self._right = right if isinstance(right, Content) else Content(right)
        self.refresh()

    def show_whole(self, text: Content) -> None:
        """Set a text that takes as many lines as it needs, where the style sheet allows it."""
        self.show(text)
        self._whole = text
        self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return 1 if self._whole is None else len(_whole_lines(self._whole, width))

    def shorten(self, short: Content) -> None:
        """Set what stands at the left when it does not fit."""
        self._short = short

    def render(self) -> Content:
        width = self.content_size.width
        if self._whole is not None:
            return Content("\n").join(_whole_lines(self._whole, width))
        right = cut(self._right, width)
        room = width - cells(right)
        wanted = self._left
        if self._short is not None and cells(wanted) > room:
            wanted = self._short
        left = cut(wanted, max(0, room - 1 if right else room))
        gap = width - cells(left) - cells(right)
        return left + Content(" " * gap) + right


class Status(Line):
    """What was done or is the matter at the left; at the right, where room is left, the pace.

    The right part never pushes the left one away: it takes the widest of its forms that fits.
    """

    _forms: tuple[str, ...] = ()

    def quiet(self, forms: Sequence[str]) -> None:
        """Set the forms of the right part, widest first."""
        self._forms = tuple(forms)
        self.refresh()

    def render(self) -> Content:
        if self._right or self._whole is not None:
            return super().render()
        width = self.content_size.width
        left = cut(self._left, width)
        room = width - cells(left) - 3
        form = next((f for f in self._forms if cells(f) <= room), "")
        gap = width - cells(left) - cells(form) - 1
        return left + Content(" " * gap) + Content(form) if form else left


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


def _whole_lines(text: Content, width: int) -> list[Content]:
    """Wrap a message; every line keeps the blank cell at its left."""
    return [Content(" ") + line for line in wrap(text[1:], max(width - 1, 1))]


def _joined(keys: Sequence[tuple[str, str]]) -> Content:
    parts = [Content.assemble((key, "bold"), " ", label) for key, label in keys]
    return Content("  ·  ").join(parts)
