"""Questions that no model was asked yet: a row of the overview, nothing to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import open_store
from store.records import NewQuestion
from tests.tui.running import workbench
from tui.screens.overview import OverviewScreen
from tui.visible import visible

BIDI = "\u202e"
HOSTILE = f"gsm{BIDI}[/x]"


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    path = tmp_path / "waiting.db"
    with open_store(path) as store:
        store.add_questions(
            NewQuestion(d, str(i), "How many?", "4711", ("text", "4711"), "text")
            for d, n in (("aime", 3), (HOSTILE, 2))
            for i in range(n)
        )
    return path


async def test_questions_without_traces_are_a_row_of_the_overview(
    waiting: Path, size: tuple[int, int]
) -> None:
    async with workbench(waiting, size) as desk:
        assert "aime · no traces yet 3 0 – – – – –" in desk.flat
        assert "these questions have no traces yet; run medoid generate" in desk.flat
        assert "questions of a question file, which no model was asked yet" in desk.flat
        await desk.press("j")
        assert f"gsm{visible(BIDI)}[/x] · no traces yet" in desk.flat
        assert BIDI not in desk.text
        assert "4711" not in desk.text


@pytest.mark.parametrize("key", ["enter", "c", "s"])
async def test_there_is_nothing_to_open_yet(waiting: Path, key: str) -> None:
    async with workbench(waiting) as desk:
        await desk.press(key)
        assert isinstance(desk.app.screen, OverviewScreen)
        assert "no traces yet; run medoid generate" in desk.flat


async def test_beside_labelled_work_they_come_last_and_do_not_take_the_cursor(db: Path) -> None:
    with open_store(db) as store:
        store.add_questions([NewQuestion("a", "1", "How many?")])
    async with workbench(db) as desk:
        assert "next: 4 cases in own wait for you" in desk.flat
        lines = [line for line in desk.text.splitlines() if " · " in line]
        assert lines.index(next(x for x in lines if "a · no traces yet" in x)) > lines.index(
            next(x for x in lines if "own · p2" in x)
        )
