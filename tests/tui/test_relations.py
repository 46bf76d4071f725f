"""The list of relation sets: figures beside the coin's, progress, views by one key each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.conftest import Desk
from tests.tui.related import SECRET, WRITTEN, build_related
from tests.tui.running import workbench
from tui.screens.overview import OverviewScreen
from tui.screens.relations import RelationsScreen
from tui.screens.setviews import FamilyScreen, MapScreen, MatrixScreen, OrderScreen
from tui.text import cells

Size = tuple[int, int]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("related") / "ready.db"
    build_related(path)
    return path


@pytest.fixture
def db(ready: Path, tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    path.write_bytes(ready.read_bytes())
    return path


def relations(desk: Desk) -> RelationsScreen:
    assert isinstance(desk.app.screen, RelationsScreen)
    return desk.app.screen


def row_of(desk: Desk, name: str) -> list[str]:
    line = next(x for x in desk.text.splitlines() if f"{name} · " in x)
    return line.replace("▸", " ").split()


async def test_every_set_stands_with_its_exact_score_beside_the_coins(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("o")
        assert relations(desk)
        # Of 11 answers 3 are against the best order: 6/11.
        assert row_of(desk, "events")[3:7] == ["4", "92", "%", ".55"]
        assert row_of(desk, "towns")[3:10] == ["5", "100", "%", "x", ".00", "y", ".10"]
        assert row_of(desk, "family")[3:8] == ["5", "50", "%", "threes", ".83"]
        flat = " ".join(desk.text.split())
        assert "time: .55, 3 of 11 answers against; a coin" in flat
        assert "30 draws: no better than a coin" in flat
        assert "0 = consistent, 1 = worst" in flat
        assert "12 answers, 1 not read · model-q · prompt relation/1" in flat
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())
        await desk.press("j")
        assert "south to north: .10, 1 of 20 answers against" in " ".join(desk.text.split())
        await desk.press("j")
        flat = " ".join(desk.text.split())
        assert "pairs not inverse 3 of 5" in flat
        assert "words drawn at random" in flat
        await desk.press("escape")
        assert isinstance(desk.app.screen, OverviewScreen)


async def test_a_key_each_shows_matrix_order_map_and_family(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "m")
        assert isinstance(desk.app.screen, MatrixScreen)
        await desk.press("escape", "o")
        assert isinstance(desk.app.screen, OrderScreen)
        await desk.press("escape", "v")
        assert "a map takes places on two axes" in desk.text
        await desk.press("t")
        assert "this set is no family" in desk.text
        await desk.press("j", "v")
        assert isinstance(desk.app.screen, MapScreen)
        await desk.press("escape", "j", "o")
        assert "a family has no order" in desk.text
        await desk.press("t")
        assert isinstance(desk.app.screen, FamilyScreen)
        await desk.press("escape", "question_mark")
        assert "Show the family as a tree, once it may be seen." in " ".join(desk.text.split())


async def test_no_truth_is_anywhere_while_sealed(db: Path, size: Size) -> None:
    keys = ["o", "m", "escape", "o", "escape", "j", "m", "tab", "escape", "v", "j", "escape"]
    async with workbench(db, size) as desk:
        for key in [*keys, "j", "m", "j", "escape", "t", "escape"]:
            await desk.press(key)
            for planted in (WRITTEN, "1871", SECRET, "not true", "τ +", "true place "):
                assert planted not in desk.text.replace("true places, errors", "")
            assert "\x1b" not in desk.text


async def test_without_answers_the_key_says_what_brings_them(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "plain.db"
    path.write_bytes(template.read_bytes())
    async with workbench(path) as desk:
        await desk.press("o")
        assert "no answers about relations yet: run medoid relations ask" in desk.flat
        assert isinstance(desk.app.screen, OverviewScreen)
