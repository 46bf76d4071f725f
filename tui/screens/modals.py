"""Small questions laid over a screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.text import safe, visible
from tui.widgets.bars import Line
from tui.widgets.stock import Entry, Paragraph, Stack


class NoteScreen(ModalScreen[str | None]):
    """Asks for a comment or a reason; None when nothing is to happen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str, note: str, *, removes: bool = False) -> None:
        super().__init__()
        self._title = title
        self._empty = "an empty line removes it" if removes else "an empty line: no reason"
        self._note = note
        # A note that cannot be shown as it is must not be saved back in its escaped form.
        self._plain = visible(note) == note

    def compose(self) -> ComposeResult:
        with Stack(classes="dialog"):
            yield Line(id="dialog-title")
            if not self._plain:
                yield Paragraph(id="standing")
            yield Entry(value=self._note if self._plain else "", id="comment")
            yield Line(id="dialog-keys")

    def on_mount(self) -> None:
        self.query_one("#dialog-title", Line).show(self._title)
        self.query_one("#dialog-keys", Line).show(
            f"enter: save   esc: leave it as it was   {self._empty}"
        )
        if not self._plain:
            self.query_one("#standing", Paragraph).show("now: ", safe(self._note), limit=4)
        self.query_one(Entry).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        self.dismiss(None)


class ConfirmScreen(ModalScreen[bool]):
    """Asks yes or no; esc is no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]

    def __init__(self, text: str, keys: str = "y: reveal all the same   n or esc: not yet") -> None:
        super().__init__()
        self._text = text
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Stack(classes="dialog"):
            yield Paragraph(id="confirm")
            yield Line(id="dialog-keys")

    def on_mount(self) -> None:
        self.query_one("#confirm", Paragraph).show("", Content(self._text), limit=6)
        self.query_one("#dialog-keys", Line).show(self._keys)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
