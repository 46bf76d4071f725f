"""Deduction as charts: cells by prefix and hop, lines over hops, base against decay."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from pipeline.deduction_view import Figures
from tui.actions import bindings_of
from tui.deductioncells import chart_heads, chart_rows, legend_rows
from tui.screens.base import WorkScreen, breadcrumb
from tui.session import Session
from tui.text import safe
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines

VIEWS = ("cells", "lines", "scatter")
TITLES = {
    "cells": "share right by prefix k and hop l",
    "lines": "mean over prefixes, by hop",
    "scatter": "base against decay",
}
LEAST, SHARE = 6, 3
"""Lines of the legend at least kept free, and which part of the screen it takes at most."""


class ChartsScreen(WorkScreen):
    """One chart at a time, over the legend: models and styles by their letters."""

    NAME = "charts"
    BINDINGS = bindings_of("charts")

    def __init__(self, session: Session, figures: Figures, cursor: int) -> None:
        super().__init__(session)
        self.figures = figures
        self.at = 0
        self.numbers = True
        self.with_n = False
        self._cursor = cursor

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="chart")
        yield Lines(id="lines")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        figures = self.figures
        self.lines().show(
            lambda width: legend_rows(figures, width), cursor=self._cursor, key=self.NAME
        )
        self.draw()

    def on_resize(self) -> None:
        if self.is_mounted:
            self.draw()

    @property
    def view(self) -> str:
        """Which chart is shown."""
        return VIEWS[self.at]

    def draw(self) -> None:
        """Draw the chart for the model and style under the cursor."""
        figures, at = self.figures, self.lines().cursor or 0
        n = len(figures.series)
        height = self.size.height
        legend = max(min(n, height // SHARE), 1)
        self.lines().styles.height = legend
        room = max(height - legend - 4, LEAST)
        view, numbers, with_n = self.view, self.numbers, self.with_n
        place = f"{self.at + 1} of {len(VIEWS)} "
        self.query_one("#top", Line).show(breadcrumb("deduction", TITLES[view]), place)
        self.query_one("#columns", Lines).show(lambda width: chart_heads(view, figures, at, width))
        self.query_one("#chart", Lines).show(
            lambda width: chart_rows(
                view, figures, at, width, room, numbers=numbers, with_n=with_n
            ),
            key=(view, at),
        )
        self.say_state()

    def say_state(self) -> None:
        """Say how the chart is read."""
        name = safe(self.figures.series[self.lines().cursor or 0].name)
        if self.view == "cells":
            self.say(name + Content(": the darker, the more is right; – undefined"))
        elif self.view == "lines":
            self.say(Content("drawn over the others, with its SE: ") + name)
        else:
            self.say(Content("drawn over the others: ") + name)

    def moved(self) -> None:
        self.draw()

    def on_lines_picked(self, message: Lines.Picked) -> None:
        if message.item is not None and message.lines is self.lines():
            self.lines().select(message.item)
            self.moved()

    def action_view(self, by: int) -> None:
        """Show the next chart, or the one before."""
        self.at = (self.at + by) % len(VIEWS)
        self.draw()

    def action_counts(self) -> None:
        """Show or hide n below every cell."""
        self.with_n = not self.with_n
        self.draw()

    def action_shades(self) -> None:
        """Show cells as shades alone, or with their numbers."""
        self.numbers = not self.numbers
        self.draw()
