"""Active seconds: none is lost on the way to a label, and the summary says what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store
from store.records import Category, SchemaSpec
from tests.tui.conftest import Desk
from tests.tui.running import workbench
from tui.screens.case import CaseScreen
from tui.session import ActiveClock

Size = tuple[int, int]


class Hands:
    """Keys pressed at moments of a clock that only they move."""

    def __init__(self) -> None:
        self.now = 0.0

    async def press(self, desk: Desk, *timed: tuple[float, str]) -> None:
        for seconds, key in timed:
            self.now += seconds
            await desk.press(key)


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    found = Hands()
    first = ActiveClock.__init__

    def timed(self: ActiveClock) -> None:
        first(self, lambda: found.now)

    monkeypatch.setattr(ActiveClock, "__init__", timed)
    return found


def _seconds(store: Store, db: Path) -> list[tuple[str, float | None]]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(db)) as connection:
        return connection.execute(
            "SELECT i.kind, l.active_seconds FROM label l JOIN item i ON i.id = l.item_id "
            "WHERE l.act = 'label' ORDER BY l.id"
        ).fetchall()


async def test_time_on_a_path_that_was_left_is_not_lost(
    db: Path, store: Store, hands: Hands
) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await hands.press(desk, (10, "j"), (1, "tab"), (4, "tab"), (5, "1"), (2, "2"))
        await hands.press(desk, (3, "n"), (7, "p"), (1, "2"))
    # A: 10 + 1, then 5; B: 4, then 2; the third path: 3, then 1 after another case.
    assert _seconds(store, db) == [("path", 16.0), ("path", 6.0), ("path", 4.0)]


async def test_marking_by_number_keeps_the_time(db: Path, store: Store, hands: Hands) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await hands.press(desk, (8, "f"), (1, "1"), (1, "2"))
    assert _seconds(store, db) == [("path", 10.0)]


async def test_path_and_steps_share_out_all_the_time(
    db: Path, store: Store, hands: Hands, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("s", "1", "enter")
        case = desk.case
        await hands.press(desk, (6, "s"), (10, "1"), (5, "j"), (1, "4"), (2, "s"), (3, "2"))
        # Of 27 s: 10 and 6 are on steps; 6 before them, 2 in which none was labelled, 3 after.
        assert _seconds(store, db) == [("step", 10.0), ("step", 6.0), ("path", 11.0)]
        assert "median 27.0 s a path: its own label and those on its steps active" in desk.flat
        assert "active 27 s paths and steps; a pause counts 1 min at most by the" in desk.flat
        assert all(len(line) <= size[0] for line in desk.text.splitlines())
        assert not isinstance(desk.app.screen, CaseScreen)
        await desk.press("enter")
        assert desk.app.screen is case


async def test_the_pace_counts_steps_and_is_that_of_the_schema_in_use(
    db: Path, store: Store, hands: Hands
) -> None:
    store.add_schema(
        SchemaSpec("other", "path", "Sound?", "Look.", (Category("1", "yes"), Category("2", "no")))
    )
    async with workbench(db) as desk:
        await desk.open("q1")
        for _ in range(5):
            await hands.press(desk, (5, "s"), (10, "1"), (0, "s"), (5, "1"))
        # Each path took 20 s with its step: three a minute, nine paths left.
        assert "5 of 14 · 3.0 a minute · 3 min left" in desk.text
        pace = desk.app.session.pace
        assert pace is not None
        assert pace.seconds == 20.0
    async with workbench(db, schema="other") as desk:
        await desk.open("q3")
        await hands.press(desk, (4, "1"))
        pace = desk.app.session.pace
        assert pace is not None
        assert (pace.done, pace.seconds) == (1, 4.0)
