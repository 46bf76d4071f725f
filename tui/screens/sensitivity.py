"""The newest sensitivity table of a dataset and pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual import work
from textual.app import ComposeResult

from store.model_records import RunRecord
from tui.actions import bindings_of
from tui.screens.base import WorkScreen, breadcrumb
from tui.sensitivitylines import sensitivity_detail, sensitivity_heads, sensitivity_lines
from tui.session import Session
from tui.widgets.bars import Keys, Line
from tui.widgets.lines import Lines

STAGE = "sensitivity"
NONE_YET = "no table yet: medoid sensitivity makes one (some seconds for 100 questions)"


class SensitivityScreen(WorkScreen):
    """What `medoid sensitivity` found last; `gold` says whether shares right may be seen."""

    NAME = "sensitivity"
    BINDINGS = bindings_of("sensitivity")

    def __init__(self, session: Session, dataset: str, pool: str, *, gold: bool) -> None:
        super().__init__(session)
        self._dataset = dataset
        self._pool = pool
        self._gold = gold

    def compose(self) -> ComposeResult:
        yield Line(id="top")
        yield Lines(id="columns")
        yield Lines(id="lines")
        yield Lines(id="detail")
        yield Line(id="message")
        yield Keys(id="keys")

    async def on_mount(self) -> None:
        await super().on_mount()
        self.query_one("#top", Line).show(breadcrumb(self._dataset, self._pool, "sensitivity"))
        self.say("reading …")
        self._read()

    @work(group="sensitivity", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        store = self.session.store
        run = await self.attempt(lambda: store.newest_run(STAGE, self._holds))
        if run is None:
            if not self.query_one("#message", Line).has_class("-error"):
                self.say(NONE_YET)
            return
        said, gold = run.summary, self._gold
        groups = [g for g in said["groups"] if self._is_mine(g)]
        when = (run.finished_at or run.started_at)[:16].replace("T", " ")
        self.query_one("#columns", Lines).show(sensitivity_heads)
        self.query_one("#detail", Lines).show(
            lambda width: sensitivity_detail(said, when, width, gold=gold)
        )
        self.lines().show(lambda width: sensitivity_lines(said, groups, width, gold=gold))
        self.say("j/k: more lines")

    def _is_mine(self, group: Mapping[str, Any]) -> bool:
        return (group["dataset"], group["pool"]) == (self._dataset, self._pool)

    def _holds(self, run: RunRecord) -> bool:
        return any(map(self._is_mine, run.summary.get("groups", ())))
