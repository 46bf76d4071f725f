"""Path and step labels in one visit, and the first wrong step by cursor and by number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from store import Store
from store.records import LabelRecord, LabelState, SchemaRecord
from tests.tui.conftest import label_of
from tests.tui.running import workbench
from tui.screens.case import CaseScreen
from tui.screens.help import HelpScreen
from tui.steplabels import Implied, implied, letters, mismatch, step_mark
from tui.walk import Place

Size = tuple[int, int]


def _own(store: Store, item_id: int) -> dict[int, str]:
    rows = store.step_labels(store.rater("ana").id, item_id)
    return {step: row.category or row.state for step, row in rows.items()}


async def test_digits_label_steps_and_the_path_in_one_visit(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        assert len(path.steps) == 3
        await desk.press("s")
        assert "0 of 3 steps labelled" in desk.text
        assert "2 unsupported" in desk.text
        assert "6 unsure" in desk.text
        await desk.press("1")
        assert _own(store, path.item_id) == {0: "valid"}
        assert case.lines().cursor == 1
        assert "1 of 3 steps labelled" in desk.text
        await desk.press("4", "6")
        assert _own(store, path.item_id) == {0: "valid", 1: "arithmetic", 2: "unsure"}
        for mark in ("0v ", "1a ", "2? "):
            assert mark in desk.text
        assert "all 3 steps labelled: y takes 2 spurious ✗1 s back to the path" in desk.flat
        assert label_of(store, "ana", path.item_id) is None
        assert case.place == Place(0, 0)
        await desk.press("s")
        assert "your steps suggest 2 spurious ✗1: y takes it" in desk.text
        assert label_of(store, "ana", path.item_id) is None
        await desk.press("2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("spurious", None)
        assert case.place == Place(0, 1)


async def test_a_digit_too_many_labels_neither_step_nor_path(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "1", "1", "1", "2")
        assert "all steps are labelled: s goes back to the path" in desk.text
        assert _own(store, path.item_id) == {0: "valid", 1: "valid", 2: "valid"}
        assert label_of(store, "ana", path.item_id) is None
        await desk.press("k", "3")
        assert _own(store, path.item_id)[1] == "contradicts"
        assert case.lines().cursor == 2


async def test_y_takes_the_suggestion(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("y")
        assert "your step labels suggest nothing" in desk.text
        await desk.press("s", "1", "2", "1", "1")
        assert "y takes 2 spurious ✗1   s back to the path" in desk.text
        await desk.press("y")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("spurious", 1)
        assert case.place == Place(0, 1)
        assert not case.stepping


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("s", "1", "1", "1", "s", "2"), "△ A path 1: the path is spurious, yet no step is"),
        (("s", "1", "4", "1", "s", "1"), "△ A path 1: the path is faithful, yet step 1 is arith"),
        (
            ("s", "1", "4", "1", "s", "w", "2"),
            "△ A path 1: the first wrong step is 2, yet step 1 is arithmetic",
        ),
    ],
)
async def test_labels_that_do_not_go_together_are_saved_with_a_warning(
    db: Path, store: Store, keys: tuple[str, ...], told: str
) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press(*keys)
        assert told in desk.text
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.category == ("faithful" if "faithful" in told else "spurious")
        assert case.place == Place(0, 1)


async def test_a_step_label_on_a_labelled_path_warns_at_once(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("1", "tab", "s", "3")
        assert "△ the path is faithful, yet step 0 is contradicts" in desk.text


async def test_undo_and_redo_run_over_steps_and_paths(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "1", "4", "s", "2", "n")
        assert case.path is not None
        assert case.path.item_id != path.item_id
        await desk.press("u")
        assert "undone: A path 1: spurious → not labelled" in desk.text
        assert case.path.item_id == path.item_id
        assert not case.stepping
        await desk.press("u")
        assert "undone: A path 1 step 1: arithmetic → not labelled" in desk.text
        assert case.stepping
        assert case.lines().cursor == 1
        assert _own(store, path.item_id) == {0: "valid", 1: "open"}
        await desk.press("u", "ctrl+r", "ctrl+r")
        assert "done again: A path 1 step 1: not labelled → arithmetic" in desk.text
        assert _own(store, path.item_id) == {0: "valid", 1: "arithmetic"}
        await desk.press("ctrl+r")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.category == "spurious"
        assert "done again: A path 1: not labelled → spurious" in desk.text


async def test_undo_in_another_sitting_finds_the_step(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "1", "2")
    async with workbench(db) as desk:
        case = await desk.open("q3")
        await desk.press("u")
        assert case.path is not None
        assert case.path.item_id == path.item_id
        assert (case.stepping, case.lines().cursor) == (True, 1)
        assert _own(store, path.item_id) == {0: "valid", 1: "open"}


async def test_resuming_goes_to_the_first_step_without_a_label(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter", "n")
        left = desk.case
        assert left.case is not None
        await desk.press("1", "s", "1")
        where = left.case_id, left.path and left.path.item_id
    async with workbench(db) as desk:
        await desk.press("enter")
        case = desk.case
        assert (case.case_id, case.path and case.path.item_id) == where
        await desk.press("s")
        assert case.path is not None
        assert case.lines().cursor == (1 if len(case.path.steps) > 1 else 0)


async def test_skip_flag_and_comment_go_to_the_step(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "exclamation_mark", "c", *"odd", "enter")
        assert "comment: odd" in desk.text
        assert "0! " in desk.text
        await desk.press("x", "X", *"why", "enter")
        rows = store.step_labels(store.rater("ana").id, path.item_id)
        assert [(r.state, r.note, r.flagged) for r in rows.values()] == [
            ("skipped", "odd", True),
            ("skipped", "why", False),
        ]
        assert label_of(store, "ana", path.item_id) is None
        await desk.press("escape")
        assert isinstance(desk.app.screen, CaseScreen)
        assert not case.stepping


async def test_enter_goes_to_the_open_step_then_back_to_the_path(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        await desk.press("s", "j", "1", "enter")
        assert case.lines().cursor == 0
        await desk.press("1", "enter", "1")
        assert case.steps_finished
        await desk.press("enter")
        assert not case.stepping
        await desk.press("s", "tab")
        assert not case.stepping
        assert case.place == Place(0, 1)


async def test_steps_first_enters_every_path_by_its_steps(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        await desk.press("S")
        assert case.stepping
        assert "steps come first on every path now" in desk.text
        await desk.press("1", "1", "1", "s", "1")
        assert case.place == Place(0, 1)
        assert case.stepping
        await desk.press("S", "1")
        assert case.place == Place(1, 0)
        assert not case.stepping


async def test_help_in_steps_shows_their_guideline(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("s", "question_mark")
        assert isinstance(desk.app.screen, HelpScreen)
        assert "Is this step sound, given the steps before it?" in desk.flat
        assert "Example. After" in desk.flat


async def test_the_guideline_beside_the_case_is_that_of_what_is_labelled(db: Path) -> None:
    async with workbench(db, (120, 40)) as desk:
        await desk.open("q1")
        assert "faithful: every step" in desk.text
        await desk.press("s")
        assert "valid: true, or right" in desk.text
        assert "faithful: every step" not in desk.text
        await desk.press("s")
        assert "faithful: every step" in desk.text


# -- the first wrong step


async def test_f_and_a_number_mark_the_first_wrong_step(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("f")
        assert "first wrong step, 0 to 3 (3: the answer)" in desk.text
        await desk.press("7")
        assert "there is no step 7: 0 to 3" in desk.text
        await desk.press("2")
        assert "step 2 is marked first wrong: now the digit" in desk.text
        assert case.lines().cursor == 2
        assert label_of(store, "ana", path.item_id) is None
        await desk.press("2")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("spurious", 2)


async def test_f_can_be_left(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("f", "escape")
        assert isinstance(desk.app.screen, CaseScreen)
        assert "first wrong step, 0" not in desk.text
        await desk.press("f", "enter", "1")
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert (stands.category, stands.first_wrong_step) == ("faithful", None)


async def test_more_than_ten_steps_take_two_digits_only_where_they_must(
    long_db: Path, store_of: Store
) -> None:
    async with workbench(long_db) as desk:
        case = await desk.open("long")
        path = case.path
        assert path is not None
        assert len(path.steps) == 14
        await desk.press("f", "1")
        assert "enter: step 1" in desk.text
        await desk.press("2")
        assert case.marks == {path.item_id: 12}
        await desk.press("f", "1", "enter")
        assert case.marks == {path.item_id: 1}
        await desk.press("f", "5")
        assert case.marks == {path.item_id: 5}
        await desk.press("f", "0")
        assert case.marks == {path.item_id: 0}
        await desk.press("2")
    rows = store_of.label_history(store_of.rater("ana").id, path.item_id)
    assert [(r.category, r.first_wrong_step) for r in rows] == [("spurious", 0)]


# -- pure


def _label(category: str | None, state: LabelState = "labelled", **more: object) -> LabelRecord:
    base = LabelRecord(1, 1, "path:a/b/c/0", state, category, None, False, None, "full", True, "")
    return LabelRecord(**{**{n: getattr(base, n) for n in base.__slots__}, **more})


def _steps(*categories: str | None) -> Mapping[int, LabelRecord]:
    return {
        i: _label(None, "unsure") if c == "unsure" else _label(c)
        for i, c in enumerate(categories)
        if c is not None
    }


@pytest.mark.parametrize(
    ("steps", "category", "first"),
    [
        (("valid", "valid", "valid"), "faithful", None),
        (("valid", "irrelevant", "valid"), "faithful", None),
        (("valid", "arithmetic", "contradicts"), "spurious", 1),
        (("valid", "unsupported"), "spurious", 1),
        (("unsure", "unsupported"), "spurious", None),
        ((None, "unsupported"), "spurious", None),
        (("valid", "unsure", "valid"), None, None),
        (("valid", "valid"), None, None),
        ((), None, None),
    ],
)
def test_what_steps_imply(
    store: Store, steps: tuple[str | None, ...], category: str | None, first: int | None
) -> None:
    schema = store.schema()
    found = implied(schema, 3, _steps(*steps))
    wanted = {c.name: c for c in schema.categories}
    assert found == (None if category is None else Implied(wanted[category], first))


def test_what_does_not_go_together(store: Store) -> None:
    schema = store.schema()
    valid, wrong = _steps("valid", "valid"), _steps("valid", "arithmetic")
    assert mismatch(schema, 2, valid, _label("faithful")) is None
    assert mismatch(schema, 2, wrong, _label("spurious", first_wrong_step=1)) is None
    assert mismatch(schema, 2, valid, _label(None, "unsure")) is None
    assert mismatch(schema, 2, valid, None) is None
    assert mismatch(schema, 3, valid, _label("spurious")) is None
    assert mismatch(schema, 2, valid, _label("spurious")) == (
        "the path is spurious, yet no step is labelled wrong"
    )


def test_letters_are_one_each_and_colour_adds_nothing(store: Store) -> None:
    schema: SchemaRecord = store.schema("step")
    found = letters(schema.names)
    assert sorted(found.values()) == sorted(set(found.values()))
    marks = [step_mark(_label(name), schema).plain for name in schema.names]
    assert marks == ["v", "u", "c", "a", "i"]
    assert step_mark(_label(None, "unsure"), schema).plain == "?"
    assert step_mark(_label(None, "skipped"), schema).plain == "·"
    assert step_mark(_label(None, "open"), schema).plain == " "
    assert letters(("aa", "aab", "a")) == {"aa": "a", "aab": "b", "a": "x"}
