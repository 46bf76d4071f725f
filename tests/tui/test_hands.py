"""What hands do that the eyes did not mean: early digits, pending marks, pasted lines, detours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from store import Store
from tests.tui.conftest import label_of
from tests.tui.running import workbench
from tui.pathlines import source_text
from tui.screens.modals import NoteScreen
from tui.screens.sitting import SummaryScreen
from tui.walk import Place
from tui.widgets.stock import Entry

Size = tuple[int, int]


async def test_a_digit_on_a_pair_that_came_by_itself_is_ignored_at_first(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.casesaves.GRACE", 0.3)
    async with workbench(db) as desk:
        case = await desk.open("q1")
        seconds = 100.0
        case.now = lambda: seconds
        await desk.press("1", "2")
        third = case.path
        assert case.place == Place(1, 0)
        assert third is not None
        assert "● B1 spurious · 4 of 6 to label" in desk.text
        seconds = 100.29
        await desk.press("2")
        assert "the page has just turned by itself: that key was ignored" in desk.text
        assert label_of(store, "ana", third.item_id) is None
        seconds = 100.31
        await desk.press("2")
        stands = label_of(store, "ana", third.item_id)
        assert stands is not None
        assert stands.category == "spurious"
        await desk.press("1")  # the other side of the same pair did not come with another page
        assert case.place == Place(2, 0)


async def test_a_digit_on_a_case_that_came_by_itself_is_ignored_at_first(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.casesaves.GRACE", 0.3)
    async with workbench(db) as desk:
        case = await desk.open("q2")
        seconds = 0.0
        case.now = lambda: seconds
        before = case.case_id
        await desk.press("A", "1", "2")
        assert case.case_id != before
        assert "● B1 spurious · " in desk.text
        path = case.path
        assert path is not None
        await desk.press("1")
        assert label_of(store, "ana", path.item_id) is None
        case._drawn = False
        seconds = 1.0
        await desk.press("1")  # late, and yet nothing was drawn
        assert label_of(store, "ana", path.item_id) is None
        case._drawn = True
        await desk.press("1")
        assert label_of(store, "ana", path.item_id) is not None


async def test_steps_end_with_what_began_them(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("S", "S")
        assert not case.stepping
        assert "paths are labelled at once again: s labels steps" in desk.text
        await desk.press("2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.category == "spurious"
        await desk.press("s", "S", "S")
        assert case.stepping
        assert "you are still in these steps: s leaves them" in desk.text


async def test_undo_says_where_digits_go_now(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        await desk.press("s", "2", "w")
        assert "step 1 is first wrong: will be saved with the path's digit" in desk.text
        await desk.press("u", "s", "u")
        assert case.stepping
        assert "back in the steps of A · undone: A path 1 step 0: unsupported" in desk.text
        await desk.press("1", "u")
        assert "back in the steps" not in desk.text
        assert "undone: A path 1 step 0: valid" in desk.text


async def test_esc_drops_a_pending_mark_first(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("j", "w")
        assert "path 1 of 3 · ○✗1 · not labelled" in desk.text
        assert "▸○1" in desk.text
        assert "○ not saved yet" in desk.text
        await desk.press("escape")
        assert desk.app.screen is case
        assert "the mark is taken back: it was not saved" in desk.text
        assert case.marks == {}
        assert "○" not in desk.text
        await desk.press("w", "2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.first_wrong_step == 1
        assert "○" not in desk.text
        assert " ✗1" in desk.text
        await desk.press("escape")
        assert desk.app.screen is not case


async def test_a_mark_after_the_reveal_needs_e(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        await desk.press("1", "1", "b", "escape", "w")
        assert case.marks == {}
        assert "e changes your label" in desk.text
        await desk.press("f")
        assert case.typed is None
        await desk.press("e", "w")
        assert list(case.marks.values()) == [0]
        assert "○✗0 · faithful" in desk.text


async def test_a_pasted_comment_keeps_its_lines(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("c")
        assert isinstance(desk.app.screen, NoteScreen)
        desk.app.screen.query_one(Entry).post_message(
            events.Paste("line one\r\n\n  line two\nthree\n")
        )
        await desk.settle()
        await desk.press("enter")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.note == "line one ⏎ line two ⏎ three"


async def test_enter_leads_back_from_where_undo_went(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        left = case.case_id
        await desk.press("1", "1", "n")
        here = case.case_id
        assert here != left
        await desk.press("u")
        assert case.case_id == left
        await desk.press("2", "enter")
        assert case.case_id == here
        assert "back in the case that the undo led away from" in desk.text


async def test_p_finds_the_list_that_was_gone_through(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter")
        case = desk.case
        rows = [r.case_id for r in case.cases.rows]
        assert len(rows) > 2
        await desk.press(*["n"] * (len(rows) - 1))
        assert case.case_id == rows[-1]
        assert case.case is not None
        await desk.press(*["1"] * len(case.case.paths), "enter")
        assert case.case_id == rows[0]
        await desk.press("p")
        assert case.case_id == rows[-1]
        await desk.press("p")
        assert case.case_id == rows[-2]


async def test_the_first_line_names_the_list_and_its_filter(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        total = len(case.cases.rows)
        at = case.cases.index + 1
        assert f"case {at} of {total} · list: all " in desk.text
        case.case = None if case.case is None else replace(case.case, dataset="a_long_data_set_x")
        await desk.press("1")
        assert f"a_long_data_set_x ▸ case {at} of {total}  " in desk.text


async def test_the_session_box_offers_what_enter_takes(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("s")
        assert "open-ended" in desk.app.screen.query_one(Entry).placeholder
        await desk.press("2", "enter")
        assert desk.app.session.sitting is not None
        assert desk.app.session.sitting.size == 2
        await desk.press("1", "2")
        assert isinstance(desk.app.screen, SummaryScreen)
        assert "● B1 spurious" in desk.text.splitlines()[-2]


def test_a_trace_is_shown_with_its_line_breaks() -> None:
    source = {"text": "# one\nx = 3", "support": ["a", "b\nc"], "n": 2, "none": [], "d": {"k": "v"}}
    assert source_text(source).split("\n") == [
        "text:",
        "  # one",
        "  x = 3",
        "support:",
        "  - a",
        "  -",
        "    b",
        "    c",
        "n: 2",
        "none: []",
        "d:",
        "  k: v",
    ]
    assert source_text({"a": "b"}) == '{\n  "a": "b"\n}'


async def test_only_a_page_with_escapes_explains_them(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("r")
        assert "A as typed" in desk.text
        assert "stand for characters" not in desk.text
        await desk.press("escape")
        await desk.open("q2")
        await desk.press("r")
        assert "<U+202E> stand for characters" in desk.text
