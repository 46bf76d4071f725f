"""Runs on the screen: live, stale and ended ones, and nothing that the seal hides."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from store import Store, open_store
from store.model_records import RunRecord
from tests.tui.conftest import GOLD, HOSTILE, HOSTILE_SHOWN, JUDGE, RATIONALE, Desk
from tests.tui.running import workbench
from tui.runlines import (
    OUTCOMES,
    about,
    figures,
    newest_running,
    run_details,
    run_heads,
    run_row,
    stage_line,
)
from tui.screens.overview import OverviewScreen
from tui.screens.runs import RunsScreen
from tui.text import cells
from tui.widgets.stages import StageLine

Size = tuple[int, int]
LONG = "2020-01-01T00:00:00+00:00"
DETAIL: dict[str, Any] = {
    "outcomes": {"ok": 740, "refused": 5, "invalid": 8, "failed": 2},
    "rate": 4.25,
    "tokens": 812_345,
    "cost": 0.0123,
    "currency": "USD",
    "cached": 12,
    "retries": 3,
    "concurrency": 16,
    "errors": 15,
}
SUMMARY: dict[str, Any] = {
    "outcomes": {"ok": 90, "failed": 7, "unasked": 3},
    "n_asked": 100,
    "n_cached": 4,
    "seconds": 20.0,
    "prompt_tokens": 1000,
    "completion_tokens": 234,
    "cost": 1.5,
    "currency": "EUR",
    "retries": 1,
    "stopped": f"the budget of 1,000 tokens is used up {HOSTILE}",
    "reasons": {"the server said no": 6, HOSTILE: 1},
}
SEALED: dict[str, Any] = {
    "verdicts": {"faithful-secret": 137},
    "accuracy": 0.137137,
    "gold": GOLD,
    "rationale": RATIONALE,
    "outcomes": {"ok": 1, "spurious-secret": 137, "faithful": 41},
    "rater": JUDGE,
}


def begin(store: Store, stage: str = "judge", model: str = "qwen", total: int | None = 1234) -> int:
    return store.start_run(stage, {"model": model, "rater": JUDGE}, "0.4.0", total, unit="requests")


def silence(db: Path, run_id: int, host: str = "elsewhere") -> None:
    """Let a run's last beat be long ago, on another machine."""
    with closing(sqlite3.connect(db)) as connection:
        connection.execute(
            "UPDATE run SET heartbeat_at = ?, host = ? WHERE id = ?", (LONG, host, run_id)
        )
        connection.commit()


def record(**rest: Any) -> RunRecord:
    base = RunRecord(
        1, "judge", "running", 755, 1234, "requests", LONG, None, LONG, "host", 12, "0.4.0"
    )
    return replace(base, **{"parameters": {"model": "qwen"}, **rest})


async def look(desk: Desk) -> None:
    """Let the screen look at the store now, as it does every second."""
    screen = desk.app.screen
    if isinstance(screen, RunsScreen):
        screen.look()
    else:
        screen.query_one(StageLine).look()
    await desk.settle()


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look only when a test says so."""
    monkeypatch.setattr("tui.screens.runs.SECONDS", 3600.0)
    monkeypatch.setattr("tui.widgets.stages.SECONDS", 3600.0)


@pytest.fixture
def live(store: Store) -> Iterator[int]:
    """Yield a run at work."""
    run_id = begin(store)
    store.beat(run_id, 755, None, DETAIL)
    yield run_id
    store.end_run(run_id, "done")


# --- figures -------------------------------------------------------------------------------------


def test_figures_of_a_run_at_work() -> None:
    f = figures(record(detail=DETAIL))
    assert (f.state, f.rate, f.tokens, f.cost, f.currency) == (
        "running",
        4.25,
        812_345,
        0.0123,
        "USD",
    )
    assert f.share == pytest.approx(755 / 1234)
    assert f.seconds_left == pytest.approx((1234 - 755) / 4.25)
    assert f.outcomes == {"ok": 740, "refused": 5, "invalid": 8, "failed": 2}
    assert (f.cached, f.retries, f.in_flight) == (12, 3, 16)


def test_figures_of_an_ended_run_are_its_summarys() -> None:
    f = figures(record(state="stopped", done=90, total=100, detail=DETAIL, summary=SUMMARY))
    assert (f.state, f.rate, f.seconds_left, f.tokens) == ("stopped", 5.0, None, 1234)
    assert (f.cost, f.currency, f.cached, f.in_flight) == (1.5, "EUR", 4, None)
    assert f.outcomes == {"ok": 90, "failed": 7, "unasked": 3}


def test_what_is_unknown_is_none() -> None:
    f = figures(record(done=0, total=None))
    assert (f.share, f.rate, f.seconds_left, f.tokens, f.cost) == (None, None, None, None, None)
    row = run_row(record(done=0, total=None), 79).content.plain
    assert row.split()[-3:] == ["–", "–", "–"]
    odd = {"rate": float("nan"), "tokens": True, "cost": "1", "outcomes": [1], "retries": None}
    f = figures(record(detail=odd))
    assert (f.rate, f.tokens, f.cost, f.outcomes, f.retries) == (None, None, None, {}, None)
    assert figures(record(total=0)).share is None


def test_a_stale_run_has_no_rate_and_no_time_left() -> None:
    f = figures(record(stale=True, detail=DETAIL))
    assert (f.state, f.rate, f.seconds_left, f.in_flight) == ("stale", None, None, None)
    assert f.tokens == 812_345


def test_the_newest_run_at_work_is_neither_ended_nor_stale() -> None:
    ended = record(id=4, state="done")
    stale = record(id=3, stale=True)
    assert newest_running([ended, stale]) is None
    found = newest_running([ended, stale, record(id=2), record(id=1)])
    assert found is not None
    assert (found[0].id, found[1]) == (2, 1)


@pytest.mark.parametrize("width", [40, 63, 79, 100])
def test_lines_fit(width: int) -> None:
    now = datetime(2020, 1, 1, 0, 1, tzinfo=UTC)
    for run in (
        record(detail=DETAIL, stage="early-answer", parameters={"model": HOSTILE * 3}),
        record(state="interrupted", done=1_234_567, total=12_345_678, summary=SUMMARY),
        record(stale=True, host=HOSTILE),
    ):
        for row in run_details(run, now, width):
            assert cells(row.content) <= width
            assert not any(ord(c) < 32 for c in row.content.plain)
        line = stage_line(run, 3, width)
        assert not any(ord(c) < 32 for c in line.plain)
        if width >= 79:
            assert cells(run_row(run, width).content) <= width
            assert cells(line) <= width
            assert cells(run_heads(width)[0].content) <= width


def test_only_what_is_named_is_shown() -> None:
    """Whatever else a stage notes about itself stays out, at work and when it has ended."""
    now = datetime.now(UTC)
    for run in (
        record(detail=SEALED, parameters=SEALED),
        record(state="done", summary=SEALED, detail=SEALED, parameters=SEALED),
    ):
        texts = [r.content.plain for r in run_details(run, now, 100)]
        texts += [run_row(run, 100).content.plain, stage_line(run, 0, 100).plain]
        said = " ".join(texts)
        for secret in ("secret", "137", "41", "faithful", GOLD, RATIONALE, JUDGE):
            assert secret not in said
        assert about(run).plain == "–"
    assert {"faithful", "spurious", "yes", "no"}.isdisjoint(OUTCOMES)


# --- the screen ----------------------------------------------------------------------------------


async def test_a_run_at_work(db: Path, live: int, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("r")
        row = next(x for x in desk.text.splitlines() if "judge" in x)
        assert row.split() == [
            "▸", "judge", "qwen", "▶", "running", "▮▮▮▯▯▯", "755/1,234", "4.2/s", "1", "min", "53", "s"
        ]  # fmt: skip
        assert "1 running" in desk.text.splitlines()[0]
        for told in (
            "model qwen · medoid 0.4.0",
            "755 of 1,234 requests · 812,345 tokens · cost 0.0123 USD · 12 from kept replies · 3 retries",
            "replies: 740 ok, 5 refused, 8 invalid, 2 failed · 15 errors",
            "last sign of life 0 s ago",
        ):
            assert told in desk.flat or told.replace("0 s", "1 s") in desk.flat
        assert JUDGE not in desk.text


async def test_what_comes_next_is_seen_without_a_key(db: Path, store: Store, live: int) -> None:
    async with workbench(db) as desk:
        await desk.press("r")
        store.beat(live, 1000, None, {**DETAIL, "rate": 2.0})
        await look(desk)
        row = next(x for x in desk.text.splitlines() if "judge" in x)
        assert "1,000/1,234" in row
        assert row.endswith("1 min 57 s")
        store.end_run(live, "failed", {"reasons": {HOSTILE: 3}})
        await look(desk)
        assert "✗ failed" in desk.text
        assert f"3 failed: {HOSTILE_SHOWN}" in desk.flat
        assert "0 running" in desk.text.splitlines()[0]


async def test_every_state_has_its_word(db: Path, store: Store, size: Size) -> None:
    for state in ("done", "stopped", "failed", "interrupted"):
        store.end_run(begin(store, state), state, SUMMARY, done=90)
    silence(db, begin(store, "gone"))
    async with workbench(db, size) as desk:
        await desk.press("r")
        words = {
            "done": "✓ done",
            "stopped": "■ stopped",
            "failed": "✗ failed",
            "interrupted": "‖ broken off",
            "gone": "? stale",
        }
        for stage, word in words.items():
            assert any(x[2:].startswith(stage) and word in x for x in desk.text.splitlines()), stage
        assert "0 running · 1 stale" in desk.text.splitlines()[0]
        assert "the same command goes on from there" in desk.flat
        await desk.press("j", "j", "j")
        assert f"stopped: the budget of 1,000 tokens is used up {HOSTILE_SHOWN}" in desk.flat
        assert "1,234 tokens · cost 1.5000 EUR" in desk.flat
        assert "6 failed: the server said no" in desk.flat
        assert not any(ord(c) < 32 and c != "\n" for c in desk.text)


async def test_the_cursor_stays_on_its_run_when_another_comes(db: Path, store: Store) -> None:
    old = begin(store, "decompose")
    store.end_run(old, "done")
    async with workbench(db) as desk:
        await desk.press("r")
        fresh = begin(store, "judge")
        await look(desk)
        lines = desk.text.splitlines()
        assert [x[0] for x in lines if "judge" in x] == [" "]
        assert [x[0] for x in lines if "decompose" in x] == ["▸"]
        await desk.press("k")
        assert isinstance(desk.app.screen, RunsScreen)
        assert desk.app.screen.run_in_hand is not None
        assert desk.app.screen.run_in_hand.id == fresh
        store.end_run(fresh, "done")


async def test_without_runs_it_says_what_would_show(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("r")
        assert "nothing ran yet" in desk.text
        await desk.press("j", "end", "escape")
        assert isinstance(desk.app.screen, OverviewScreen)


async def test_a_store_that_fails_is_said(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("database is locked")

    async with workbench(db) as desk:
        await desk.press("r")
        monkeypatch.setattr(type(desk.app.session.store), "runs", fails)
        await look(desk)
        assert "NOT DONE: another program is writing to the database" in desk.flat


# --- the overview's line -------------------------------------------------------------------------


async def test_the_overview_shows_the_newest_run_at_work(
    db: Path, store: Store, live: int, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await look(desk)
        line = next(x for x in desk.text.splitlines() if "stages" in x)
        assert "judge qwen" in line
        assert "▮▮▮▮▯▯▯▯  61 %  1 min 53 s left  15 errors" in line
        assert "r runs" in desk.text.splitlines()[-1]
        assert desk.text.splitlines()[-1].rstrip().endswith("q quit")
        second = begin(store, "generate", total=None)
        await look(desk)
        line = next(x for x in desk.text.splitlines() if "stages" in x)
        assert line.split()[1:] == ["generate", "qwen", "0", "+1", "more"]
        store.end_run(second, "done")
        store.end_run(live, "done")
        await look(desk)
        assert "stages" not in desk.text
        assert "r runs" not in desk.text


async def test_a_stale_run_is_no_run_at_work(db: Path, store: Store) -> None:
    silence(db, begin(store))
    async with workbench(db) as desk:
        await look(desk)
        assert "stages" not in desk.text
        assert "r runs" not in desk.text.splitlines()[-1]


async def test_no_one_looks_while_a_case_is_labelled(
    db: Path, live: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(db) as desk:
        line = desk.app.screen.query_one(StageLine)
        await desk.press("enter")
        looks: list[int] = []

        def counted(*_: object) -> tuple[RunRecord, ...]:
            looks.append(1)
            return ()

        monkeypatch.setattr(type(desk.app.session.store), "runs", counted)
        line.look()
        await desk.settle()
        assert looks == []
        await desk.press("escape", "escape")
        line.look()
        await desk.settle()
        assert looks == [1]


async def test_a_slow_store_holds_up_no_key(
    db: Path, live: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reading that hangs is waited for by nobody, and no second one is begun."""
    gate, asked = threading.Event(), []

    def hangs(*_: object) -> tuple[RunRecord, ...]:
        asked.append(1)
        gate.wait(10)
        return ()

    async with workbench(db) as desk:
        screen = desk.app.screen
        monkeypatch.setattr(type(desk.app.session.store), "runs", hangs)
        line = screen.query_one(StageLine)
        line.look()
        line.look()
        try:
            await desk.pilot.press("j")
            await desk.pilot.pause()
            assert isinstance(screen, OverviewScreen)
            assert screen.lines().cursor == 1
            assert asked == [1]
        finally:
            gate.set()


async def test_nothing_sealed_is_told_of_a_run(db: Path, store: Store, size: Size) -> None:
    run_id = store.start_run("judge", {**SEALED, "model": "qwen"}, "0.4.0", 10, unit="requests")
    store.beat(run_id, 3, None, SEALED)
    done = store.start_run("judge", SEALED, "0.4.0", 10)
    store.end_run(done, "done", SEALED)
    assert "137" in json.dumps(SEALED)
    async with workbench(db, size) as desk:
        await look(desk)
        seen = [desk.text]
        for key in ("r", "j", "k", "end", "question_mark"):
            await desk.press(key)
            seen.append(desk.text)
    for text in seen:
        for secret in ("secret", "137", GOLD, RATIONALE, JUDGE, "PLANTED-STRATUM"):
            assert secret not in text
    store.end_run(run_id, "done")


def test_a_run_of_another_process_is_read_from_the_file(db: Path, store: Store) -> None:
    with open_store(db) as other:
        run_id = begin(other, "generate")
        other.beat(run_id, 5, None, {"rate": 1.0})
    (run,) = store.runs()
    assert (run.done, run.total, figures(run).seconds_left) == (5, 1234, 1229.0)
