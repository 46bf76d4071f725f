"""Labels are appended, never altered; undo and redo are rows too."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store import Store
from store.exchange.labels import label as read_label
from store.exchange.labels import label_row
from store.records import (
    Category,
    LabelRecord,
    LabelState,
    NewLabel,
    SchemaRecord,
    SchemaSpec,
    SealLevel,
)
from store.repository.label_imports import verdict_flags
from tests.store.world import add_labels, item_ids, new_label, small_project


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


@pytest.fixture
def path(store: Store) -> SchemaRecord:
    return store.schema()


@pytest.fixture
def items(store: Store, ana: int) -> list[int]:
    """The four path items of one case."""
    (case,) = small_project(store, 1)
    return item_ids(store, case, ana)


def the_case(store: Store) -> int:
    return store.cases(0).rows[0].case_id


def raw_rows(db: Path, columns: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        return connection.execute(f"SELECT {columns} FROM label ORDER BY id").fetchall()


# --- append-only ---------------------------------------------------------------------------

STATEMENTS = [
    "UPDATE label SET category = 'spurious'",
    "DELETE FROM label",
    "INSERT OR REPLACE INTO label (id, item_id, schema_name, schema_version, rater_id, act, state,"
    " category, flagged, seal, created_at) SELECT id, item_id, schema_name, schema_version,"
    " rater_id, act, state, 'spurious', flagged, seal, created_at FROM label",
    "UPDATE verdict_detail SET rationale = '\"x\"'",
    "DELETE FROM verdict_detail",
    "REPLACE INTO verdict_detail SELECT label_id, 'x', raw, prompt_version, flags, extra"
    " FROM verdict_detail",
    "UPDATE reveal SET created_at = ''",
    "DELETE FROM reveal",
    "REPLACE INTO reveal SELECT id, rater_id, question_id, '' FROM reveal",
    "REPLACE INTO reveal SELECT NULL, rater_id, question_id, '' FROM reveal",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_even_raw_sql_cannot_change_or_delete_a_row(
    statement: str, store: Store, db: Path, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    for item in items:
        store.commit_label(ana, item, path, category="faithful")
    store.reveal(the_case(store), ana, path)
    key = store.case(the_case(store), ana, path).paths[0].item
    add_labels(store, [new_label(key, "judge", rationale="because")])
    store.close()
    tables = ("label", "verdict_detail", "reveal")
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        before = {n: connection.execute(f"SELECT * FROM {n}").fetchall() for n in tables}
        assert {n: len(rows) for n, rows in before.items()} == {
            "label": 5,
            "verdict_detail": 1,
            "reveal": 1,
        }
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        after = {n: connection.execute(f"SELECT * FROM {n}").fetchall() for n in tables}
    assert after == before


def test_each_row_supersedes_the_one_that_stood(
    store: Store, db: Path, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    bob = store.rater("bob").id
    a, b = items[:2]
    one = store.commit_label(ana, a, path, category="faithful").id
    other = store.commit_label(ana, b, path, category="faithful").id
    bobs = store.commit_label(bob, a, path, category="spurious").id
    two = store.commit_label(ana, a, path, category="spurious").id
    three = store.commit_label(ana, a, path, state="unsure").id
    assert raw_rows(db, "id, supersedes") == [
        (one, None),
        (other, None),
        (bobs, None),
        (two, one),
        (three, two),
    ]
    assert [r.id for r in store.label_history(ana, a)] == [one, two, three]


def test_the_same_label_again_adds_no_row(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    first = store.commit_label(ana, items[0], path, category="spurious", first_wrong_step=1)
    again = store.commit_label(ana, items[0], path, category="spurious", first_wrong_step=1)
    assert again == first
    assert store.label_history(ana, items[0]) == (first,)
    other_step = store.commit_label(ana, items[0], path, category="spurious", first_wrong_step=0)
    assert other_step.id != first.id


# --- what may be said ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "category", "step", "word"),
    [
        ("labelled", "sound", None, "sound"),
        ("labelled", None, None, "labelled"),
        ("labelled", "unsure", None, "unsure"),
        ("unsure", "faithful", None, "faithful"),
        ("labelled", "faithful", 1, "first wrong step"),
        ("labelled", "spurious", 3, "neither a step nor the answer"),
        ("labelled", "spurious", -1, "-1"),
        ("skipped", "faithful", None, "skip"),
        ("skipped", None, 0, "skip"),
        ("unparsed", None, None, "unparsed"),
        ("open", None, None, "open"),
    ],
)
def test_a_choice_that_is_not_the_schemas_is_refused(
    state: LabelState,
    category: str | None,
    step: int | None,
    word: str,
    store: Store,
    ana: int,
    path: SchemaRecord,
    items: list[int],
) -> None:
    with pytest.raises(ValueError, match=word):
        store.commit_label(
            ana, items[0], path, state=state, category=category, first_wrong_step=step
        )
    assert store.label_history(ana, items[0]) == ()


@pytest.mark.parametrize(
    ("state", "category", "step"),
    [
        ("labelled", "faithful", None),
        ("labelled", "spurious", None),
        ("labelled", "spurious", 0),
        ("labelled", "spurious", 1),
        ("unsure", None, None),
        ("unsure", None, 1),
        ("skipped", None, None),
    ],
)
def test_every_choice_of_the_schema_is_kept_as_made(
    state: LabelState,
    category: str | None,
    step: int | None,
    store: Store,
    ana: int,
    path: SchemaRecord,
    items: list[int],
) -> None:
    made = store.commit_label(
        ana, items[0], path, state=state, category=category, first_wrong_step=step
    )
    assert (made.state, made.category, made.first_wrong_step) == (state, category, step)
    assert store.label(ana, items[0], path) == made


# --- flags and notes -----------------------------------------------------------------------


def test_flag_and_note_stand_beside_the_decision(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    item = items[0]
    flagged = store.annotate(ana, item, path, flagged=True)
    assert (flagged.state, flagged.flagged, flagged.note) == ("open", True, None)
    store.commit_label(ana, item, path, category="spurious", first_wrong_step=1)
    noted = store.annotate(ana, item, path, note="odd unit")
    assert (noted.category, noted.first_wrong_step, noted.flagged, noted.note) == (
        "spurious",
        1,
        True,
        "odd unit",
    )
    changed = store.commit_label(ana, item, path, category="faithful")
    assert (changed.flagged, changed.note, changed.first_wrong_step) == (True, "odd unit", None)
    assert store.annotate(ana, item, path, note="odd unit", flagged=True) == changed
    assert store.annotate(ana, item, path, note="").note is None
    assert len(store.label_history(ana, item)) == 5


# --- undo and redo -------------------------------------------------------------------------


def standing(store: Store, rater: int, item: int, path: SchemaRecord) -> tuple[Any, ...]:
    label = store.label(rater, item, path)
    assert label is not None
    return (label.state, label.category, label.flagged, label.note)


def test_undo_and_redo_walk_over_items_in_the_order_of_the_acts(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    a, b = items[:2]
    store.commit_label(ana, a, path, category="faithful")
    store.commit_label(ana, b, path, category="spurious")
    store.annotate(ana, a, path, flagged=True)
    store.annotate(ana, b, path, note="hm")
    undone = []
    for _ in range(4):
        done = store.undo(ana)
        assert done is not None
        assert done.case_id == the_case(store)
        undone.append((done.item_id, *standing(store, ana, done.item_id, path)))
    assert undone == [
        (b, "labelled", "spurious", False, None),
        (a, "labelled", "faithful", False, None),
        (b, "open", None, False, None),
        (a, "open", None, False, None),
    ]
    assert store.undo(ana) is None
    redone = []
    for _ in range(4):
        done = store.redo(ana)
        assert done is not None
        redone.append((done.item_id, *standing(store, ana, done.item_id, path)))
    assert redone == [
        (a, "labelled", "faithful", False, None),
        (b, "labelled", "spurious", False, None),
        (a, "labelled", "faithful", True, None),
        (b, "labelled", "spurious", False, "hm"),
    ]
    assert store.redo(ana) is None


def test_a_new_label_ends_what_could_be_done_again(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    store.commit_label(ana, items[0], path, category="faithful")
    store.undo(ana)
    store.commit_label(ana, items[1], path, category="spurious")
    assert store.redo(ana) is None
    done = store.undo(ana)
    assert done is not None
    assert done.item_id == items[1]
    assert store.undo(ana) is None


def test_undo_is_ones_own(store: Store, ana: int, path: SchemaRecord, items: list[int]) -> None:
    bob = store.rater("bob").id
    store.commit_label(ana, items[0], path, category="faithful")
    assert store.undo(bob) is None
    assert standing(store, ana, items[0], path)[:2] == ("labelled", "faithful")


def test_undo_brings_back_nothing_from_under_an_imported_label(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    key = store.case(the_case(store), ana, path).paths[0].item
    store.commit_label(ana, items[1], path, category="faithful")
    store.commit_label(ana, items[0], path, category="faithful")
    add_labels(store, [new_label(key, "ana", "spurious", rater_kind="human")])
    done = store.undo(ana)
    assert done is not None
    assert done.item_id == items[1]
    assert store.undo(ana) is None
    assert standing(store, ana, items[0], path)[:2] == ("labelled", "spurious")
    store.commit_label(ana, items[0], path, state="unsure")
    store.undo(ana)
    assert standing(store, ana, items[0], path)[:2] == ("labelled", "spurious")
    assert store.undo(ana) is None


def test_an_import_between_undo_and_redo_stays(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    key = store.case(the_case(store), ana, path).paths[0].item
    store.commit_label(ana, items[0], path, category="faithful")
    store.undo(ana)
    add_labels(store, [new_label(key, "ana", "spurious", rater_kind="human")])
    assert store.redo(ana) is None
    assert standing(store, ana, items[0], path)[:2] == ("labelled", "spurious")


# --- before and after the reveal -----------------------------------------------------------


def test_the_seal_and_the_reveal_are_recorded_on_every_row(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    before = [store.commit_label(ana, i, path, category="faithful") for i in items]
    assert [(r.seal, r.before_reveal) for r in before] == [("full", True)] * 4
    store.reveal(the_case(store), ana, path)
    changed = store.commit_label(ana, items[0], path, category="spurious")
    flagged = store.annotate(ana, items[1], path, flagged=True)
    undone = store.undo(ana)
    assert undone is not None
    assert undone.label is not None
    assert [r.before_reveal for r in (changed, flagged, undone.label)] == [False] * 3
    bob = store.rater("bob").id
    assert store.commit_label(bob, items[0], path, category="spurious").before_reveal is True


def test_an_open_seal_shows_everything_so_no_label_is_before_the_reveal(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    seen = open_seal(path)
    label = store.commit_label(ana, items[0], seen, category="faithful")
    assert (label.seal, label.before_reveal) == ("open", False)
    assert store.revealed_case(the_case(store), ana, seen).gold_text == "1"


def open_seal(schema: SchemaRecord) -> SchemaRecord:
    return replace(schema, seal="open")


@pytest.mark.parametrize(
    ("named_path", "beside", "seal"),
    [
        ("full", "full", "full"),
        ("full", "judge", "judge"),
        ("full", "open", "open"),
        ("open", "full", "full"),
        ("judge", None, "judge"),
        ("open", None, "open"),
    ],
)
def test_a_step_is_sealed_as_the_path_schema_in_use_has_it(
    named_path: SealLevel,
    beside: SealLevel | None,
    seal: SealLevel,
    store: Store,
    ana: int,
    path: SchemaRecord,
    items: list[int],
) -> None:
    step = store.schema("step")
    spec = SchemaSpec("path", "path", "?", "Look.", path.categories, named_path)
    if named_path != path.seal:
        store.version_schema(spec)
    used = beside and store.add_schema(replace(spec, name="mine", seal=beside))
    part = store.step_items(items[0])[0].item_id
    flagged = store.annotate(ana, part, step, flagged=True, beside=used)
    made = store.commit_label(ana, part, step, category="valid", beside=used)
    undone = store.undo(ana)
    assert undone is not None
    assert undone.label is not None
    rows = (flagged, made, undone.label)
    assert [(r.seal, r.before_reveal) for r in rows] == [(seal, seal != "open")] * 3
    open_step = replace(step, seal="open")
    assert (
        store.commit_label(ana, part, open_step, category="arithmetic", beside=used).seal == "open"
    )


def test_beside_a_path_is_its_own_seal_and_a_step_schema_is_none(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    shown = open_seal(path)
    made = store.commit_label(ana, items[0], path, category="faithful", beside=shown)
    assert made.seal == "full"
    with pytest.raises(ValueError, match="step items; a schema of paths is right"):
        store.commit_label(ana, items[1], path, category="faithful", beside=store.schema("step"))
    assert store.label_history(ana, items[1]) == ()


# --- a first wrong step beside several categories --------------------------------------------

SEVERAL = SchemaSpec(
    "several",
    "path",
    "Which?",
    "Look.",
    (
        Category("1", "format"),
        Category("2", "logic", takes_first_wrong_step=True),
        Category("3", "facts", takes_first_wrong_step=True),
        Category("4", "none", excludes_others=True),
        Category("5", "unsure", "unsure"),
    ),
    multi=True,
)


@pytest.mark.parametrize(
    ("state", "categories", "takes"),
    [
        ("labelled", ["logic"], True),
        ("labelled", ["format", "logic"], True),
        ("labelled", ["logic", "facts"], True),
        ("labelled", ["format"], False),
        ("labelled", ["none"], False),
        ("unsure", None, False),
    ],
)
def test_one_category_that_takes_a_first_wrong_step_is_enough(
    state: LabelState,
    categories: list[str] | None,
    takes: bool,
    store: Store,
    ana: int,
    items: list[int],
) -> None:
    schema = store.add_schema(SEVERAL)

    def commit() -> LabelRecord:
        return store.commit_label(
            ana, items[0], schema, state=state, categories=categories, first_wrong_step=1
        )

    if takes:
        made = commit()
        assert (made.first_wrong_step, made.at_odds) == (1, False)
        return
    with pytest.raises(ValueError, match="cannot have a first wrong step"):
        commit()
    assert store.label_history(ana, items[0]) == ()


def test_an_imported_label_at_odds_with_itself_is_told_and_kept(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    (case,) = [r.case_id for r in store.cases(ana).rows]
    keys = [p.item for p in store.case(case, ana, path).paths]
    said = [("faithful", 1), ("spurious", 1), ("faithful", None), ("spurious", None)]
    add_labels(
        store,
        [
            new_label(key, "ana", category, rater_kind="human", first_wrong_step=step)
            for key, (category, step) in zip(keys, said, strict=True)
        ],
    )
    found = [store.label(ana, item, path) for item in items]
    assert [(r.category, r.first_wrong_step) for r in found if r] == said
    assert [r.at_odds for r in found if r] == [True, False, False, False]
    flagged = store.annotate(ana, items[0], path, flagged=True)
    assert (flagged.category, flagged.first_wrong_step, flagged.at_odds) == ("faithful", 1, True)
    mended = store.commit_label(ana, items[0], path, category="faithful")
    assert (mended.first_wrong_step, mended.at_odds) == (None, False)


def test_agreement_uses_the_label_from_before_the_reveal(
    store: Store, ana: int, path: SchemaRecord, items: list[int]
) -> None:
    first: list[LabelRecord] = [
        store.commit_label(ana, i, path, category="faithful") for i in items
    ]
    store.reveal(the_case(store), ana, path)
    store.commit_label(ana, items[0], path, category="spurious")
    store.undo(ana)
    store.undo(ana)
    assert standing(store, ana, items[3], path)[0] == "open"
    pairs = {p.item: (p.a, p.b, p.b_state) for p in store.label_pairs("path", "ana", "nobody")}
    assert pairs == {r.item: ("faithful", None, None) for r in first}
    assert store.label_origin_counts("path", "ana") == {
        "pre_reveal": 4,
        "unknown": 0,
        "post_reveal": 1,
    }


# --- the answer as the first wrong thing -----------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "step", "flags"),
    [
        ("human", 1, []),
        ("human", 2, []),
        ("human", 3, ["step_out_of_range"]),
        ("reference", 2, []),
        ("judge", 1, []),
        ("judge", 2, ["step_out_of_range"]),
    ],
)
def test_a_persons_step_after_the_last_is_the_answer_and_a_judges_is_none(
    kind: Any, step: int, flags: list[str]
) -> None:
    new = NewLabel("path:a/b/c/0", "path", "x", kind, "labelled", "spurious", step)
    assert verdict_flags(new, 2) == flags


def test_the_answer_comes_back_from_a_file(store: Store, ana: int, items: list[int]) -> None:
    path = store.schema()
    made = store.commit_label(ana, items[0], path, category="spurious", first_wrong_step=2)
    (exported,) = store.export_labels(rater="ana")
    assert exported.label.first_wrong_step == 2
    row = json.loads(json.dumps(label_row(exported)))
    with store.importing() as batch:
        assert batch.add_label(read_label(row)) == "known"
        again = batch.add_label(read_label({**row, "rater": "eve"}))
    assert again == "added"
    theirs = store.label(store.rater("eve").id, made.item_id, path)
    assert theirs is not None
    assert theirs.first_wrong_step == 2
