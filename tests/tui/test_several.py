"""Labels of several categories: taken on and off, saved when the path is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store
from store.records import Category, LabelRecord, NewLabel, SchemaSpec
from tests.tui.running import workbench
from tui.app import MedoidApp
from tui.screens.case import CaseScreen
from tui.walk import Place
from tui.widgets.labelbar import asked, keyed

Size = tuple[int, int]
NAMES = ("calculation", "logical", "understanding", "none", "unsure")
ERRORS = SchemaSpec(
    "errors",
    "path",
    "Which errors does it make?",
    "**Which errors?**\n\n- **none**: it makes no error. *Example.* 2 + 2 = 4.",
    tuple(
        Category(
            str(i),
            name,
            "unsure" if name == "unsure" else "labelled",
            takes_first_wrong_step=name == "logical",
            excludes_others=name == "none",
        )
        for i, name in enumerate(NAMES, start=1)
    ),
    "full",
    multi=True,
)


@pytest.fixture(autouse=True)
def _schema(store: Store) -> None:
    store.add_schema(ERRORS)


def _rows(store: Store, item_id: int) -> list[LabelRecord]:
    rater, schema = store.rater("ana").id, store.schema("errors")
    return list(store.label_history(rater, item_id, schema))


def _item(case: CaseScreen) -> int:
    assert case.path is not None
    return case.path.item_id


async def test_digits_take_categories_on_and_off_until_enter(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("3", "1")
        assert "1✓calculation" in desk.text
        assert "3✓understanding" in desk.text
        assert "○ not saved yet" in desk.text
        assert "● saved" not in desk.text
        assert _rows(store, item) == []
        await desk.press("2", "2")
        assert "2✓" not in desk.text
        await desk.press("enter")
        rows = _rows(store, item)
        assert [(r.state, r.categories) for r in rows] == [
            ("labelled", ("calculation", "understanding"))
        ]
        assert rows[0].category == "calculation+understanding"
        assert case.place == Place(0, 1)
        assert "● saved" in desk.text
        assert "not saved yet" not in desk.text
        await desk.press("tab")
        assert "1✓calculation" in desk.text


async def test_none_and_unsure_stand_alone(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("1", "2", "4")
        assert case.toggled == ("none",)
        await desk.press("2")
        assert case.toggled == ("logical",)
        await desk.press("5")
        assert case.toggled == ("unsure",)
        await desk.press("enter")
        assert [(r.state, r.categories) for r in _rows(store, item)] == [("unsure", ())]


@pytest.mark.parametrize(
    ("keys", "categories", "step"),
    [
        (("j", "w", "2", "enter"), ("logical",), 1),
        (("2", "j", "w", "enter"), ("logical",), 1),
        (("f", "2", "2", "enter"), ("logical",), 2),
        (("j", "w", "1", "2", "enter"), ("calculation", "logical"), 1),
        (("1", "2", "j", "w", "tab"), ("calculation", "logical"), 1),
        (("2", "j", "w", "w", "enter"), ("logical",), None),
        (("2", "w", "j", "w", "3", "n"), ("logical", "understanding"), 1),
        (("w", "2", "j", "l"), ("logical",), 0),
        (("w", "2", "escape"), ("logical",), 0),
        (("w", "2", "ctrl+q"), ("logical",), 0),
    ],
)
async def test_leaving_saves_the_mark_with_the_categories(
    db: Path, store: Store, keys: tuple[str, ...], categories: tuple[str, ...], step: int | None
) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press(*keys[:-1])
        assert _rows(store, item) == []
        assert "○ not saved yet" in desk.text
        await desk.press(keys[-1])
    rows = _rows(store, item)
    assert [(r.categories, r.first_wrong_step) for r in rows] == [(categories, step)]


async def test_what_is_keyed_in_is_said_to_be_unsaved(db: Path, size: Size) -> None:
    async with workbench(db, size, schema="errors") as desk:
        await desk.open("q1")
        await desk.press("j", "w")
        assert "step 1 is marked first wrong: now the digits" in desk.text
        await desk.press("1")
        assert (
            "calculation takes no first wrong step: add one that does, or press w at step 1"
            in desk.text
        )
        await desk.press("2")
        assert "step 1 is first wrong, not saved yet: enter or leaving saves both; u" in desk.text
        await desk.press("w")
        assert "not saved yet: enter saves it, and so does leaving the path; u drops" in desk.text


async def test_a_mark_on_a_saved_label_is_saved_on_leaving(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q2")
        item = _item(case)
        await desk.press("2", "enter", "tab")
        path = case.path
        assert path is not None
        await desk.press("w", "tab")
        await desk.press("tab", "w", "tab")
        assert [(r.categories, r.first_wrong_step) for r in _rows(store, item)] == [
            (("logical",), None),
            (("logical",), 0),
            (("logical",), None),
        ]
        await desk.press("5", "enter", "w", "u")
        assert case.marks == {}
        assert case.toggled is None


async def test_u_drops_the_mark_with_the_categories(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("w", "2", "u")
        assert "what was not saved yet is dropped" in desk.text
        assert case.marks == {}
        assert "✗" not in desk.text
        await desk.press("2", "enter")
        assert [(r.categories, r.first_wrong_step) for r in _rows(store, item)] == [
            (("logical",), None)
        ]


async def test_a_mark_without_a_category_saves_nothing_and_stays(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("j", "w", "tab", "tab")
        assert (_item(case), _rows(store, item)) == (item, [])
        assert "✗1" in desk.text
        await desk.press("2", "enter")
        assert [(r.categories, r.first_wrong_step) for r in _rows(store, item)] == [
            (("logical",), 1)
        ]


@pytest.mark.parametrize("keys", [("s", "tab"), ("tab",), ("n",), ("s", "enter"), ("escape", "l")])
async def test_a_mark_set_among_the_steps_is_saved_on_leaving(
    db: Path, store: Store, keys: tuple[str, ...]
) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("2", "enter", "tab", "s", "1", "w")
        assert case.toggled is None
        await desk.press(*keys)
        assert _item(case) != item
    assert [(r.categories, r.first_wrong_step) for r in _rows(store, item)] == [
        (("logical",), None),
        (("logical",), 1),
    ]
    steps = store.step_labels(store.rater("ana").id, item)
    assert [(i, r.category) for i, r in steps.items()] == [(0, "valid")]


async def test_entering_the_steps_saves_first(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("2", "S")
        assert case.stepping
    assert [r.categories for r in _rows(store, item)] == [("logical",)]


async def test_after_the_reveal_a_mark_needs_e(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q2")
        await desk.press("2", "enter", "2", "enter", "b", "escape")
        item = _item(case)
        await desk.press("w", "tab", "tab")
        assert case.marks == {}
        assert len(_rows(store, item)) == 1
        await desk.press("e", "w", "enter")
        assert [(r.first_wrong_step, r.before_reveal) for r in _rows(store, item)] == [
            (None, True),
            (0, False),
        ]


async def test_a_mark_that_does_not_fit_keeps_one_on_the_path(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("1", "w", "tab")
        assert "calculation takes no first wrong step" in desk.text
        assert (_item(case), _rows(store, item)) == (item, [])
        await desk.press("w", "tab")
        assert [(r.categories, r.first_wrong_step) for r in _rows(store, item)] == [
            (("calculation",), None)
        ]


@pytest.mark.parametrize("key", ["tab", "n", "l", "s", "escape", "ctrl+q"])
async def test_leaving_the_path_saves(db: Path, store: Store, key: str) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("2", key)
    assert [r.categories for r in _rows(store, item)] == [("logical",)]


async def test_u_drops_what_is_not_saved(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("2", "u")
        assert "what was not saved yet is dropped" in desk.text
        await desk.press("tab")
        assert _rows(store, item) == []
        await desk.press("tab", "2", "2", "enter")
        assert _rows(store, item) == []
        assert case.place == Place(0, 1)


async def test_a_failed_save_keeps_the_path_and_what_was_keyed(
    db: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("(sqlite3.OperationalError) database is locked")

    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("2")
        with monkeypatch.context() as patch:
            patch.setattr(Store, "commit_label", locked)
            for key in ("enter", "tab", "n", "ctrl+q"):
                await desk.press(key)
                assert "NOT DONE: another program is writing" in desk.text
                assert _item(case) == item
                assert case.toggled == ("logical",)
        await desk.press("enter")
        assert [r.categories for r in _rows(store, item)] == [("logical",)]


async def test_a_change_after_the_reveal_is_a_row_of_its_own(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q2")
        await desk.press("1", "enter", "4", "enter", "b", "escape")
        await desk.press("2")
        assert case.toggled is None
        item = _item(case)
        await desk.press("e", "2", "enter")
        assert [(r.categories, r.before_reveal) for r in _rows(store, item)] == [
            (("none",), True),
            (("logical",), False),
        ]


async def test_labels_of_one_schema_leave_the_other_alone(db: Path, store: Store) -> None:
    async with workbench(db, schema="errors") as desk:
        case = await desk.open("q1")
        item = _item(case)
        await desk.press("1", "enter")
        assert "1 of 14" in desk.text
    assert store.label(store.rater("ana").id, item, store.schema()) is None


async def test_help_shows_this_schemas_guideline(db: Path) -> None:
    async with workbench(db, schema="errors") as desk:
        assert "schema: errors" in desk.text
        await desk.open("q1")
        await desk.press("question_mark")
        assert "none: it makes no error. Example. 2 + 2 = 4." in desk.flat


async def test_a_schema_for_other_items_ends_the_app(db: Path) -> None:
    app = MedoidApp(db, rater="ana", schema="deduction")
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.return_code == 2


def test_the_bar_gives_up_words_before_keys(store: Store) -> None:
    step = store.schema("step")
    lines = {w: asked(step, "A step 12", (), w).plain for w in (200, 100, 80, 79, 74)}
    assert lines[200].startswith(" A step 12: Is this step sound, given the steps before it?   1 v")
    assert lines[100].startswith(" A step 12: 1 valid   2 unsupported   3 contradicts")
    assert lines[80] == (
        " 12: 1 valid  2 unsupported  3 contradicts  4 arithmetic  5 irrelevant  6 unsure"
    )
    assert lines[79].endswith("5 irrelevant 6 unsure")
    assert lines[74].endswith("…")


def test_a_chosen_category_takes_no_more_room(store: Store) -> None:
    schema = store.schema("errors")
    plain = asked(schema, "A", (), 100).plain
    chosen = asked(schema, "A", ("logical", "none"), 100).plain
    assert len(plain) == len(chosen)
    assert [i for i, (a, b) in enumerate(zip(plain, chosen, strict=True)) if a != b] == [
        plain.index("logical") - 1,
        plain.index("none") - 1,
    ]


def test_keys_are_the_schemas_own_where_they_are_digits(store: Store) -> None:
    assert {k: c.name for k, c in keyed(store.schema()).items()} == {
        "1": "faithful",
        "2": "spurious",
        "3": "unsure",
    }
    assert [*keyed(store.schema("cycle"))][-2:] == ["10", "11"]


async def test_an_adjudication_takes_several_too(db: Path, store: Store, size: Size) -> None:
    errors, ana = store.schema("errors"), store.rater("ana").id
    row = next(r for r in store.cases(ana, schema="errors").rows if r.question_id == "q3")
    paths = store.case(row.case_id, ana, errors).paths
    for p in paths:
        store.commit_label(ana, p.item_id, errors, categories=["calculation"])
    with store.importing() as batch:
        for p in paths:
            key = store.item_keys([p.item_id])[p.item_id]
            batch.add_label(NewLabel(key, "errors", "gem", "judge", "labelled", "none"))
    store.reveal(row.case_id, ana, errors)
    async with workbench(db, size, schema="errors") as desk:
        await desk.press("a", "enter", "enter", "a", "4", "1", "3")
        assert "● 1 calculation" in desk.text
        assert "● 4" not in desk.text
        await desk.press("3", "3", "enter", *"both", "enter")
        assert "the raters' labels stay" in desk.flat
        (made,) = store.adjudications("errors")
        assert (made.category, made.reason) == ("calculation+understanding", "both")
