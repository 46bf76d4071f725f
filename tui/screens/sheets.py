"""Reading screens: a path's raw text, and what else is shown in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.app import ComposeResult
from textual.content import Content

from store.records import CaseView, PathView
from tui.actions import bindings_of
from tui.pathlines import source_text
from tui.screens.base import Sheet
from tui.text import hang, safe, visible, wrap
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines, Row


class RawScreen(Sheet):
    """Question and path in full, as typed."""

    NAME = "raw"
    BINDINGS = bindings_of("raw")

    def __init__(self, case: CaseView, path: PathView, side: str) -> None:
        super().__init__()
        self._case = case
        self._path = path
        self._side = side

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        texts = [self._case.question, source_text(self._path.source), self._path.answer_text or ""]
        escaped = any(visible(text, newlines=True) != text for text in texts)
        self.query_one("#top", Line).show(
            Content.styled(f" {self._side} as typed", "bold"),
            "\\x1b <U+202E> stand for characters " if escaped else "",
        )
        self.lines().show(self._build)

    def _build(self, width: int) -> list[Row]:
        case, path = self._case, self._path
        out = _section("Question", safe(case.question, newlines=True), width)
        if case.options is not None:
            out += _section("Options", safe(source_text(case.options), newlines=True), width)
        out += _section("Trace", safe(source_text(path.source), newlines=True), width)
        if path.answer_text is not None:
            out += _section("Answer read", safe(path.answer_text, newlines=True), width)
        out.append(Content.styled(f"Parser's notes ({len(path.issues)})", "bold"))
        for issue in path.issues:
            where = "" if issue.step is None else f"step {issue.step}: "
            text = Content(where) + safe(issue.message) + Content(f"  [{issue.code}]")
            out += hang(Content("△ "), text, width)
        if not path.issues:
            out.append(Content("none: the trace keeps to the format"))
        return [Row(Content(" ") + line) for line in out]


def _section(title: str, text: Content, width: int) -> list[Content]:
    return [Content.styled(title, "bold"), *wrap(text, width - 1), Content("")]


class InFullScreen(Sheet):
    """Lines in full, made for a width."""

    NAME = "raw"
    BINDINGS = bindings_of("raw")

    def __init__(self, told: Callable[[int], Iterable[Content]]) -> None:
        super().__init__()
        self._told = told

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="lines")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#top", Line).show(
            Content.styled(" In full", "bold"), "\\x1b <U+202E> stand for characters "
        )
        self.lines().show(lambda width: [Row(Content(" ") + line) for line in self._told(width)])
