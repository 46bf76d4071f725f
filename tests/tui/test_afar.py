"""Undo and redo on the lists: the last act is taken back, and one line says which it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store
from store.records import Category, LabelRecord, SchemaSpec
from tests.tui.conftest import Desk, label_of
from tests.tui.running import workbench
from tui.actions import actions_of, help_rows
from tui.screens.overview import OverviewScreen
from tui.screens.queue import QueueScreen

Size = tuple[int, int]


def _said(desk: Desk) -> str:
    """Return the message line."""
    return desk.text.splitlines()[-2].strip()


def _label(store: Store, item: int) -> LabelRecord:
    found = label_of(store, "ana", item)
    assert found is not None
    return found


async def test_on_the_overview(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("j", "w", "2", "s", "1", "escape", "escape")
        assert isinstance(desk.app.screen, OverviewScreen)
        await desk.press("u")
        assert _said(desk) == "undone: q1 (own · p1), B path 1 step 0: valid → not labelled"
        await desk.press("u")
        assert _said(desk) == "undone: q1 (own · p1), A path 1: spurious ✗1 → not labelled"
        assert _label(store, path.item_id).state == "open"
        await desk.press("u")
        assert _said(desk) == "nothing to undo"
        await desk.press("ctrl+r")
        assert _said(desk) == "done again: q1 (own · p1), A path 1: not labelled → spurious ✗1"
        assert _label(store, path.item_id).first_wrong_step == 1
        await desk.press("ctrl+r", "ctrl+r")
        assert _said(desk) == "nothing to redo"
        assert isinstance(desk.app.screen, OverviewScreen)


async def test_the_figures_are_read_again_and_the_next_key_ends_the_message(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q3")
        await desk.press("1", "1", "escape", "g")
        assert "own · p1 4 13 100 % – – 3 1/4" in desk.flat
        await desk.press("u")
        assert _said(desk) == "undone: q3 (own · p1), B path 1: faithful → not labelled"
        assert "own · p1 4 13 100 % – – 3 0/4" in desk.flat
        await desk.press("g")
        assert _said(desk).startswith("next: q3 “Do they agree?”, B path 1 · 4 cases wait")


async def test_on_the_queue(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q3")
        path = case.path
        assert path is not None
        await desk.press("c", *"odd", "enter", "escape", "c")
        assert isinstance(desk.app.screen, QueueScreen)
        await desk.press("u")
        assert _said(desk) == "undone: q3 “Do they agree?”, A path 1: comment “odd” → none"
        assert _label(store, path.item_id).note is None
        await desk.press("ctrl+r")
        assert _said(desk) == "done again: q3 “Do they agree?”, A path 1: comment none → “odd”"
        await desk.press("j")
        await desk.press("slash", "u", "ctrl+r")
        assert desk.app.screen.query_one("#search").value == "u"  # type: ignore[attr-defined]
        assert _label(store, path.item_id).note == "odd"


async def test_the_list_shows_what_was_taken_back_and_keeps_its_place(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q3")
        await desk.press("1", "1", "escape", "c", "j", "j")
        line = next(x for x in desk.text.splitlines() if "Do they agree?" in x)
        assert line.split()[-3:] == ["agree?", "2/2", "✓"]
        cursor = desk.app.screen.query_one("#lines").cursor  # type: ignore[attr-defined]
        await desk.press("u")
        line = next(x for x in desk.text.splitlines() if "Do they agree?" in x)
        assert line.split()[-2:] == ["agree?", "1/2"]
        assert desk.app.screen.query_one("#lines").cursor == cursor  # type: ignore[attr-defined]


async def test_a_case_of_another_list_is_named_with_its_pool(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1", "p2")
        await desk.press("x", "escape", "c", "u")
        assert _said(desk) == "undone: q1 (own · p2), A path 1: skipped → not labelled"


async def test_the_session_under_way_counts_it(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "5", "enter", "1", "escape", "escape")
        assert "session 1/5" in desk.text.splitlines()[0]
        await desk.press("u")
        assert "session 0/5" in desk.text.splitlines()[0]
        await desk.press("ctrl+r")
        assert "session 1/5" in desk.text.splitlines()[0]


async def test_an_act_under_another_schema_is_said_to_be(db: Path, store: Store) -> None:
    store.add_schema(
        SchemaSpec("other", "path", "Sound?", "Look.", (Category("1", "yes"), Category("2", "no")))
    )
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("2")
    async with workbench(db, schema="other") as desk:
        await desk.press("u")
        assert _said(desk) == (
            "undone under path: q1 (own · p1), A path 1: spurious → not labelled"
        )
        await desk.press("ctrl+r")
        await desk.open("q2")
        await desk.press("u")
        assert "undone under path: A path 1: spurious → not labelled" in desk.text


async def test_a_failed_undo_says_so_and_changes_nothing(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("(sqlite3.OperationalError) database is locked")

    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("1", "escape")
        with monkeypatch.context() as patch:
            patch.setattr(Store, "undo", locked)
            await desk.press("u")
            assert "NOT DONE: another program is writing to the database" in desk.flat
        assert _label(store, path.item_id).category == "faithful"


async def test_the_palette_undoes_there_too(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("1", "escape", "ctrl+p", *"undo", "down", "enter")
        await desk.settle()
        assert _said(desk) == "undone: q1 (own · p1), A path 1: faithful → not labelled"
        assert _label(store, path.item_id).state == "open"


@pytest.mark.parametrize("screen", ["overview", "queue"])
def test_the_help_offers_what_the_keys_do(screen: str) -> None:
    keys = {key: a.name for a in actions_of(screen) for key in a.keys}
    assert (keys["u"], keys["ctrl+r"]) == ("undo", "redo")
    assert (
        "u",
        "Take back your last act, in whichever case it was, and say here what it was.",
    ) in (help_rows([screen]))
