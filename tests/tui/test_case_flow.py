"""Labelling with keys: what is written, what is shown, where the focus goes."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from store import Store
from tests.tui.conftest import label_of
from tests.tui.running import workbench
from tui.walk import Place

Size = tuple[int, int]


async def test_labels_go_to_a_then_b_then_both_turn(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        assert case.case is not None
        paths = case.case.paths
        assert "path 1 of 3" in desk.text
        assert case.place == Place(0, 0)
        assert "saved" not in desk.text
        await desk.press("1")
        assert case.place == Place(0, 1)
        first = label_of(store, "ana", paths[0].item_id)
        assert first is not None
        assert (first.state, first.category, first.seal) == ("labelled", "faithful", "full")
        assert first.before_reveal is True
        assert "● saved " in desk.text
        assert label_of(store, "ana", paths[1].item_id) is None
        await desk.press("2")
        assert case.place == Place(1, 0)
        assert "path 2 of 3" in desk.text
        await desk.press("3", "1", "2", "1")
        stands = [label_of(store, "ana", p.item_id) for p in paths]
        assert [(x.state, x.category) for x in stands if x] == [
            ("labelled", "faithful"),
            ("labelled", "spurious"),
            ("unsure", None),
            ("labelled", "faithful"),
            ("labelled", "spurious"),
            ("labelled", "faithful"),
        ]
        assert "all 6 labelled" in desk.text
        assert "enter next case" in desk.text


async def test_a_digit_too_many_changes_nothing(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        assert case.case is not None
        last = case.case.paths[-1]
        await desk.press("1", "1", "2")
        assert "all are labelled" in desk.text
        stands = label_of(store, "ana", last.item_id)
        assert stands is not None
        assert stands.category == "faithful"
        assert len(store.label_history(store.rater("ana").id, last.item_id)) == 1
        await desk.press("tab", "2")
        other = label_of(store, "ana", case.case.paths[0].item_id)
        assert other is not None
        assert other.category == "spurious"


async def test_enter_goes_to_the_next_case(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        before = case.case_id
        await desk.press("enter")
        assert case.case_id == before
        assert case.place == Place(0, 1)
        await desk.press("1", "1", "1", "1", "1", "1")
        assert case.case is not None
        assert case.case.n_left == 0
        await desk.press("enter")
        assert case.case_id != before
        assert case.place == Place(0, 0)


async def test_w_then_digit_saves_both(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("j", "w")
        assert "step 1 is marked first wrong: now the digit" in desk.text
        assert "✗1" in desk.text
        await desk.press("2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("spurious", 1)
        assert "spurious ✗1" in desk.text


async def test_a_category_without_step_is_refused_and_nothing_is_lost(
    db: Path, store: Store
) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("j", "w", "1")
        assert "faithful takes no first wrong step" in desk.text
        assert label_of(store, "ana", path.item_id) is None
        assert case.place == Place(0, 0)
        await desk.press("3")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.state, stands.first_wrong_step) == ("unsure", 1)


async def test_w_twice_takes_the_mark_off(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("w", "w", "1")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("faithful", None)


async def test_a_digit_without_category_is_refused(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        assert case.path is not None
        await desk.press("7")
        assert "7 is no category: 1 to 3" in desk.text
        assert label_of(store, "ana", case.path.item_id) is None


async def test_undo_and_redo_go_to_the_case_they_change(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        first_case, path = case.case_id, case.path
        assert path is not None
        await desk.press("2", "n")
        second_case = case.case_id
        if second_case == first_case:
            pytest.fail("n did not leave the case")
        await desk.press("u")
        assert case.case_id == first_case
        assert case.path is not None
        assert case.path.item_id == path.item_id
        assert "undone: A path 1: spurious → not labelled" in desk.text
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.state == "open"
        await desk.press("ctrl+r")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.category == "spurious"
        assert "done again: A path 1: not labelled → spurious" in desk.text
        await desk.press("u", "u")
        assert "nothing to undo" in desk.text
        assert len(store.label_history(store.rater("ana").id, path.item_id)) == 4


async def test_skip_flag_and_comment(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("exclamation_mark")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.state, stands.flagged) == ("open", True)
        await desk.press("c", *"odd [/x]".replace(" ", "_"), "enter")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.note == "odd_[/x]"
        assert "comment: odd_[/x]" in desk.text
        await desk.press("x")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.state, stands.category) == ("skipped", None)
        assert (stands.flagged, stands.note) == (True, "odd_[/x]")
        assert case.place == Place(0, 1)
        await desk.press("shift+tab", "tab", "c", "x", "escape")
        assert label_of(store, "ana", path.item_id) == stands


async def test_a_second_rater_has_an_order_and_labels_of_their_own(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("1", "2")
    orders = {
        name: [
            [p.item_id for p in side]
            for side in store.case(_case_id(store), store.rater(name).id, store.schema()).sides
        ]
        for name in ("ana", "ben", "cy", "di")
    }
    assert len({str(order) for order in orders.values()}) > 1
    async with workbench(db, rater="ben") as desk:
        case = await desk.open("q1")
        assert case.case is not None
        assert [[p.item_id for p in side] for side in case.case.sides] == orders["ben"]
        assert case.case.n_left == 6


def _case_id(store: Store) -> int:
    page = store.cases(store.rater("ana").id)
    return next(r.case_id for r in page.rows if (r.question_id, r.pool) == ("q1", "p1"))


async def test_a_vanished_file_is_never_called_saved(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        moved = db.with_name("moved.db")
        db.rename(moved)
        await desk.press("1")
        assert "NOT DONE" in desk.text
        assert "nothing was saved" in desk.flat
        assert "● saved" not in desk.text
        assert "○ NOT SAVED" in desk.text
        assert case.place == Place(0, 0)
        moved.rename(db)
        await desk.press("1")
        assert "● saved" in desk.text
        assert case.place == Place(0, 1)


async def test_a_failed_write_keeps_the_state_for_another_try(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("(sqlite3.OperationalError) database is locked")

    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        with monkeypatch.context() as patch:
            patch.setattr(Store, "commit_label", locked)
            await desk.press("j", "w", "2")
            assert "NOT DONE: another program is writing" in desk.text
            assert "● saved" not in desk.text
            assert label_of(store, "ana", path.item_id) is None
        await desk.press("2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("spurious", 1)


async def test_reopening_resumes_at_the_first_open_path(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter")
        left = desk.case
        assert left.case is not None
        done, n = left.case_id, len(left.case.paths)
        await desk.press(*"1" * n, "enter", "1")
        where = left.case_id
        assert where != done
    async with workbench(db) as desk:
        await desk.press("enter")
        assert desk.case.case_id == where
        assert desk.case.place == Place(0, 1)


async def test_keys_typed_before_a_failure_was_known_are_dropped(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        desk.app.session.failed_at = time.monotonic() + 1000
        await desk.press("1")
        assert label_of(store, "ana", path.item_id) is None
        desk.app.session.failed_at = 0.0
        await desk.press("1")
        assert label_of(store, "ana", path.item_id) is not None


async def test_the_end_of_the_list_leads_to_what_was_left_out(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter")
        case = desk.case
        skipped = case.case_id
        for _ in range(3):
            await desk.press("n")
            assert case.case is not None
            await desk.press(*"1" * len(case.case.paths))
        await desk.press("n")
        assert "this is the last case of the list" in desk.text
        await desk.press("enter")
        assert case.case_id == skipped
        assert "end of the list; 1 case left out before" in desk.text
        assert case.case is not None
        await desk.press(*"1" * len(case.case.paths), "enter")
        assert "every case of this row is labelled" in desk.text
        assert case.case_id == skipped


async def test_active_seconds_are_stored(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("j", "1")
    with sqlite3.connect(db) as connection:
        (seconds,) = connection.execute("SELECT active_seconds FROM label").fetchall()[-1]
    assert 0 < seconds < 60
