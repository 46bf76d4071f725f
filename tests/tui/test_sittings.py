"""Sessions of a chosen size, the pace, skipping with a reason, resuming."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store
from store.records import SessionSummary
from tests.tui.conftest import PLANTED, label_of
from tests.tui.running import workbench
from tui.pace import Pace, pace_forms
from tui.screens.case import CaseScreen
from tui.screens.overview import OverviewScreen
from tui.screens.sitting import SizeScreen, SummaryScreen, summary_lines
from tui.walk import Place

Size = tuple[int, int]


async def test_a_session_of_a_chosen_size_ends_with_a_summary(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("s")
        assert isinstance(desk.app.screen, SizeScreen)
        await desk.press("x", "3", "enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert "session 0/3 · 0 of 14" in desk.text
        await desk.press("1", "u")
        assert "session 0/3" in desk.text
        await desk.press("1", "2", "n", "3")
        assert isinstance(desk.app.screen, SummaryScreen)
        told = desk.flat
        assert "session 3/3 decided 3" in told
        assert "faithful 1 " in told
        assert "spurious 1 " in told
        assert "unsure 1 " in told
        assert "skipped 0" in told
        assert "undone 1" in told
        assert "enter begins another like it" in told
        for planted in PLANTED:
            assert planted not in desk.text
        record = store.sessions(store.rater("ana").id)[-1]
        assert (record.size, record.ended_at) == (3, None)
        assert store.session_summary(record.id).n_decided == 3


async def test_going_on_begins_another_session_where_one_was(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "1", "enter", "1")
        assert isinstance(desk.app.screen, SummaryScreen)
        await desk.press("2", "enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert desk.case.place == Place(0, 1)
        assert "session 0/1" in desk.text
        await desk.press("2")
        assert isinstance(desk.app.screen, SummaryScreen)
    found = store.sessions(store.rater("ana").id)
    assert [r.size for r in found] == [1, 1]
    assert found[0].ended_at is not None
    assert [dict(store.session_summary(r.id).per_category) for r in found] == [
        {"faithful": 1},
        {"spurious": 1},
    ]


async def test_stopping_goes_to_the_overview(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "1", "enter", "1", "q")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert "session" not in desk.text.splitlines()[0]
        assert store.sessions(store.rater("ana").id)[-1].ended_at is not None


async def test_an_open_ended_session_shows_its_summary_on_leaving(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "enter", "1", "x")
        assert "session 2 · 2 of 14" in desk.text
        await desk.press("ctrl+q")
        assert isinstance(desk.app.screen, SummaryScreen)
        assert "decided 2" in desk.flat
        assert "skipped 1" in desk.flat
        assert "q leaves medoid" in desk.text
        await desk.press("enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert desk.case.place.turn == 1 or desk.case.finished
        await desk.press("ctrl+q", "q")
        assert desk.app.return_code == 0
    assert store.sessions(store.rater("ana").id)[-1].ended_at is not None


async def test_the_overview_shows_a_session_under_way(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "5", "enter", "1", "escape", "escape")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert "session 1/5" in desk.text.splitlines()[0]
        await desk.press("s")
        assert isinstance(desk.app.screen, SummaryScreen)
        assert "enter goes on with it" in desk.text
        await desk.press("enter", "q")
        assert isinstance(desk.app.screen, SummaryScreen)


async def test_the_last_case_ends_an_open_ended_session(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("j", "s", "enter", "1", "1", "1")
        assert not isinstance(desk.app.screen, SummaryScreen)
        await desk.press("enter")
        assert isinstance(desk.app.screen, SummaryScreen)
        assert "decided 2" in desk.flat


async def test_no_session_no_summary(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "escape")
        assert isinstance(desk.app.screen, OverviewScreen)
        await desk.press("enter", "1")
        assert "session" not in desk.text
        await desk.press("ctrl+q")
        assert desk.app.return_code == 0


async def test_step_labels_count_for_no_session(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("s", "2", "enter", "s", "1")
        assert "session 0/2" in desk.text
        await desk.press("ctrl+q")
        assert "step labels 1" in desk.flat
        assert "decided 0" in desk.flat


async def test_skipping_says_why_where_asked(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("X")
        assert "Why skip A path 1?" in desk.text
        await desk.press("escape")
        assert label_of(store, "ana", path.item_id) is None
        await desk.press("X", *"[/x]", "enter")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.state, stands.category, stands.note) == ("skipped", None, "[/x]")
        assert case.place == Place(0, 1)
        await desk.press("tab")
        assert "comment: [/x]" in desk.text
        assert "skipped" in desk.text


async def test_the_pace_moves_nothing(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        before = desk.text.splitlines()
        assert before[-3].split() == ["6", "of", "6", "to", "label", "0", "of", "14"]
        await desk.press("1", "tab")
        after = desk.text.splitlines()
        assert after[-3].split() == ["5", "of", "6", "to", "label", "1", "of", "14"]
        assert len(before) == len(after)
        assert before[3:-4] != []
        assert [line[:78] for line in before[3:-4]] == [line[:78] for line in after[3:-4]]
        await desk.press("tab", "1", "1", "1", "1")
        line = desk.text.splitlines()[-3]
        assert line.split()[:9] == ["1", "of", "6", "to", "label", "5", "of", "14", "·"]
        assert "a minute" in line
        assert line.endswith(" left")


async def test_a_key_meant_for_the_path_does_not_close_the_summary(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(db) as desk:
        monkeypatch.setattr("tui.screens.sitting.GRACE", 1000.0)
        await desk.press("s", "1", "enter", "1", "enter", "q")
        assert isinstance(desk.app.screen, SummaryScreen)
        monkeypatch.setattr("tui.screens.sitting.GRACE", 0.0)
        await desk.press("enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert len(store.sessions(store.rater("ana").id)) == 2


async def test_the_next_case_comes_by_itself_where_wanted(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q3")
        left = case.case_id
        await desk.press("A", "1", "1")
        assert case.case_id != left
        assert case.place == Place(0, 0)
        await desk.press("u")
        assert case.case_id == left
        assert "undone: B path 1: faithful → not labelled" in desk.text
        await desk.press("s", *"1" * len(case.path.steps), "s", "2")  # type: ignore[union-attr]
        assert case.case_id == left
        assert "△ B path 1: the path is spurious, yet no step is labelled wrong" in desk.text
        await desk.press("A", "enter")
        other = case.case
        assert other is not None
        await desk.press(*"1" * len(other.paths))
        assert case.case_id == other.case_id


async def test_a_long_message_wins_over_the_pace(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q2")
        await desk.press("1", "1", "1")
        line = desk.text.splitlines()[-3]
        assert line.startswith(" all are labelled: enter goes on; tab, ← or u to change one")
        assert line.endswith(" 2 of 14")
        assert "left" not in line


def test_the_pace_in_fewer_words() -> None:
    assert pace_forms(Pace(112, 500, 14.0)) == (
        "112 of 500 · 4.3 a minute · 1 h 31 min left",
        "112/500 · 4.3/min · 1 h 31 min left",
        "112/500 · 4.3/min",
        "112/500",
    )
    assert pace_forms(Pace(9, 9, 14.0, "session 9/9")) == (
        "session 9/9 · 9 of 9 · 4.3 a minute",
        "session 9/9 · 9/9 · 4.3/min",
        "session 9/9 · 9/9",
        "session 9/9",
    )
    assert pace_forms(Pace(0, 1200, None)) == ("0 of 1,200", "0/1,200")


def test_the_summary_has_every_figure() -> None:
    summary = SessionSummary(
        n_decided=8,
        n_items=9,
        n_unsure=1,
        n_skipped=2,
        n_flagged=3,
        n_undone=4,
        active_seconds=754.0,
        median_seconds=None,
        wall_seconds=4000.0,
        per_category={"spurious": 4, "[/x]": 1},
        others={"step": 12},
    )
    told = [" ".join(x.plain.split()) for x in summary_lines(summary, ("faithful", "spurious"))]
    assert [line for line in told if line] == [
        "decided 8",
        "faithful 0",
        "spurious 4 ██████████",
        "[/x] 1 ██▌",
        "unsure 1 ██▌",
        "skipped 2 █████",
        "step labels 12",
        "flagged 3",
        "undone 4",
        "median – a path: its own label and those on its steps",
        "active 13 min paths and steps; a pause counts 1 min at most",
        "by the clock 1 h 7 min",
    ]


@pytest.mark.parametrize("jump", [0, 2])
async def test_one_resumes_in_the_case_that_was_under_way(db: Path, jump: int) -> None:
    async with workbench(db) as desk:
        await desk.press("enter", *("n",) * jump, "1")
        where = desk.case.case_id
    async with workbench(db) as desk:
        await desk.press("enter")
        assert (desk.case.case_id, desk.case.place) == (where, Place(0, 1))


async def test_of_two_cases_under_way_the_last_one_is_resumed(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter", "n", "1", "p", "1")
        last = desk.case.case_id
    async with workbench(db) as desk:
        await desk.press("enter")
        assert desk.case.case_id == last
        await desk.press("n", "tab", "1", "escape", "escape")
