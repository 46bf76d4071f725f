"""What stands beside a case when the schema's seal level hides less than everything.

Under `full` none of these widgets exists. Each reads for itself, through the store, which refuses
what the level hides; the case screen never holds any of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual import work
from textual.content import Content

from store.records import RevealedCase
from tui import wording
from tui.contextlines import context_lines
from tui.session import Session
from tui.text import cut
from tui.widgets.lines import Lines, Row

STRIP = 4
"""Lines the strip takes at most at 80 columns; `i` shows what is more."""
LEAST = 2


class Context(Lines):
    """Gold, votes, medoid and scores; verdicts where the level shows them."""

    def __init__(self, session: Session, *, name: str, limit: int | None = None) -> None:
        super().__init__(id=name)
        self._session = session
        self._limit = limit
        if limit is not None:
            self.styles.height = LEAST
        self._case_id: int | None = None
        self._shown: RevealedCase | None = None
        self._problem = ""

    def forget(self) -> None:
        """Read again at the next showing, as after a reveal."""
        self._case_id = None

    def show_path(self, case_id: int, item_id: int | None) -> None:
        """Show what belongs to a path of a case, reading the case when it is another one."""
        if case_id != self._case_id:
            self._case_id, self._shown, self._problem = case_id, None, ""
            self._read(case_id, item_id)
        self._show(item_id)

    @work(group="context", exclusive=True, exit_on_error=False)
    async def _read(self, case_id: int, item_id: int | None) -> None:
        session = self._session
        try:
            self._shown = await session.read(
                lambda: session.store.case_context(case_id, session.rater.id, session.schema)
            )
        except Exception as problem:  # said here; labelling goes on without it
            self._problem = wording.error(problem)
        self._fit_case()
        self._show(item_id)

    def _fit_case(self) -> None:
        """Take the lines that the longest of the case's paths needs, so that none moves another."""
        if self._limit is None or self._shown is None:
            return
        width = self.size.width or self.app.size.width
        paths = self._shown.case.paths
        needed = [len(context_lines(self._shown, p.item_id, width)) for p in paths]
        self.styles.height = max(LEAST, min(self._limit, max(needed, default=LEAST)))

    def _show(self, item_id: int | None) -> None:
        def build(width: int) -> list[Row]:
            if self._shown is None:
                return [Row(cut(Content(f" {self._problem or 'reading …'}"), width))]
            lines = context_lines(self._shown, item_id, width)
            if self._limit is not None and len(lines) > self._limit:
                more = cut(lines[self._limit - 1], width - 10) + Content(" … i: all")
                lines = [*lines[: self._limit - 1], more]
            return [Row(line) for line in lines]

        self.show(build, key=(self._case_id, item_id))


def context_strip(session: Session) -> Iterator[Context]:
    """Yield the strip above the sides, where the level allows one."""
    if session.schema.seal != "full":
        yield Context(session, limit=STRIP, name="context-strip")


def context_pane(session: Session) -> Iterator[Context]:
    """Yield the pane beside the sides, where the level allows one."""
    if session.schema.seal != "full":
        pane = Context(session, name="context-pane")
        pane.border_title = "shown at this level"
        yield pane
