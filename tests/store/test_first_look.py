"""A first look shows what the store says, and leaves to the store whatever is out of the ordinary."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from store import Store, open_store
from store.exchange.schemas import spec_of
from store.first_look import FirstLook, first_look
from store.records import Category
from store.repository.rows import outdated_categories
from tests.store.test_label_machine import ERRORS
from tests.store.test_paging import fill
from tests.store.world import (
    POOL,
    add_labels,
    add_traces,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
    small_project,
)


def look(store: Store, rater: str = "ana", schema: str = "path") -> FirstLook:
    if store.file is None:
        pytest.skip("the first look reads the file of an SQLite database")
    found = first_look(store.file, rater, schema)
    assert found is not None
    return found


def as_the_store_says(store: Store, rater: str = "ana", schema: str = "path") -> FirstLook:
    record, scoring = store.rater(rater), store.primary_scoring()
    assert store.file is not None
    return FirstLook(
        file=store.file,
        rater=record,
        schema=store.schema(schema),
        step_schema=store.schema("step"),
        rows=store.overview(record.id, schema),
        scoring=scoring,
        n_unscored=0 if scoring is None else store.n_unscored_pools(scoring.id),
        last=store.last_act(record.id, schema),
    )


def test_an_empty_project(store: Store) -> None:
    store.rater("ana")
    assert look(store) == as_the_store_says(store)
    assert (look(store).rows, look(store).scoring, look(store).last) == ((), None, None)


def test_a_project_at_every_stage(store: Store) -> None:
    """Several datasets and pools, traces of every kind, scores, cases, labels, an undo."""
    ana = store.rater("ana").id
    questions = [new_question(f"q{i}", dataset=f"d{i % 2}", gold=i % 3 or None) for i in range(6)]
    odd = new_trace(questions[0], "9", answer=None, steps=())
    add_traces(
        store,
        [odd]
        + [
            new_trace(q, str(s), answer=a, pool=f"pool{i % 2}" if s < 2 else POOL)
            for i, q in enumerate(questions)
            for s, a in enumerate((1, 1, 2, 1))
        ],
    )
    assert look(store) == as_the_store_says(store)
    scoring = score_and_make_cases(store)
    with closing(sqlite3.connect(str(store.file))) as connection, connection:
        connection.execute(
            "DELETE FROM question_score WHERE scoring_id = ? AND id % 5 = 0", [scoring]
        )
    assert look(store) == as_the_store_says(store)
    assert look(store).n_unscored == 2
    first, second, third, *_ = case_ids(store, ana)
    decide(store, first, ana)
    for state in ("unsure", "skipped"):
        item = item_ids(store, second, ana)[0]
        store.commit_label(ana, item, store.schema(), state=state)
        assert look(store) == as_the_store_says(store)
    store.annotate(ana, item_ids(store, third, ana)[0], store.schema(), flagged=True)
    assert look(store) == as_the_store_says(store)
    store.undo(ana)
    store.undo(ana)
    found = look(store)
    assert found == as_the_store_says(store)
    assert [r.n_cases_done for r in found.rows if r.n_cases_done] == [1]
    assert sum(r.n_items_done for r in found.rows) == len(item_ids(store, first, ana)) + 1


def test_steps_imports_and_other_raters(store: Store) -> None:
    ana, bob = store.rater("ana").id, store.rater("bob").id
    cases = small_project(store, 2)
    path = item_ids(store, cases[1], ana)[1]
    step = store.step_items(path)[1]
    store.commit_label(ana, step.item_id, store.schema("step"), category="valid")
    decide(store, cases[0], bob)
    add_labels(store, [new_label(key_of("q0", "0"), "ana", rater_kind="human")])
    found = look(store)
    assert found == as_the_store_says(store)
    assert found.last is not None
    assert (found.last.path_item_id, found.last.step, found.last.on_step) == (path, 1, True)
    assert look(store, "bob") == as_the_store_says(store, "bob")


def test_outdated_categories_are_open_again(store: Store) -> None:
    cases = small_project(store, 2)
    ana = store.rater("ana").id
    decide(store, cases[0], ana)
    decide(store, cases[1], ana, "spurious")
    spec = spec_of(store.schema())
    others = (Category("1", "faithful"), Category("2", "odd"), Category("3", "unsure", "unsure"))
    store.version_schema(replace(spec, categories=others, seal="judge"))
    found = look(store)
    assert found == as_the_store_says(store)
    assert (found.schema.version, found.schema.seal) == (2, "judge")
    assert [r.n_cases_done for r in found.rows] == [1]
    with store._read() as s:
        assert outdated_categories(s, "path") == ("spurious",)


def test_another_schema_of_paths(store: Store) -> None:
    small_project(store, 2)
    ana = store.rater("ana").id
    errors = store.add_schema(ERRORS)
    item = item_ids(store, case_ids(store, ana)[0], ana)[0]
    store.commit_label(ana, item, errors, categories=["sum", "logic"])
    assert look(store, schema="errors") == as_the_store_says(store, schema="errors")
    assert look(store, schema="errors").schema.multi
    store.version_schema(replace(ERRORS, question="Which?"))
    assert store.file is not None
    assert first_look(store.file, "ana", "errors") is None


def test_a_large_project(tmp_path: Path) -> None:
    fill(tmp_path / "a.db", 2_000)
    with open_store(tmp_path / "a.db") as store:
        assert look(store) == as_the_store_says(store)
        assert sum(r.n_cases_done for r in look(store).rows) == 666


def test_whatever_is_out_of_the_ordinary_is_left_to_the_store(db: Path, tmp_path: Path) -> None:
    with open_store(db) as store:
        store.rater("ana")
        store.rater("judge", "judge")
    assert first_look(db, "ana") is not None
    assert first_look(str(db), "ana") is not None
    odd: list[tuple[str | Path, str, str]] = [
        (f"sqlite:///{db}", "ana", "path"),
        ("postgresql+psycopg://h/x", "ana", "path"),
        (db, "new", "path"),
        (db, "judge", "path"),
        (db, "ana", "step"),
        (db, "ana", "none"),
        (tmp_path / "typo.db", "ana", "path"),
        (tmp_path / "no" / "a.db", "ana", "path"),
        (tmp_path, "ana", "path"),
    ]
    assert [first_look(*case) for case in odd] == [None] * len(odd)
    assert sorted(os.listdir(tmp_path)) == ["a.db"]


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0!"])
def test_a_file_that_is_none_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(content)
    assert first_look(tmp_path / "a.db", "ana") is None
    assert (tmp_path / "a.db").read_bytes() == content


@pytest.mark.parametrize("revision", ["0001", "9999"])
def test_another_revision_is_left_to_the_store(revision: str, db: Path) -> None:
    with open_store(db) as store:
        store.rater("ana")
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
    assert first_look(db, "ana") is None


@pytest.mark.parametrize("name", ["what?.db", "50%20.db", "a#b.db", "ä ö.db"])
def test_a_path_is_taken_to_the_letter(name: str, tmp_path: Path) -> None:
    with open_store(tmp_path / name) as store:
        store.rater("ana")
    found = first_look(tmp_path / name, "ana")
    assert found is not None
    assert found.file == tmp_path / name


def test_a_look_needs_neither_sqlalchemy_nor_numpy(db: Path) -> None:
    with open_store(db) as store:
        store.rater("ana")
    code = (
        "import sys; from store.first_look import first_look; "
        f"print(first_look({str(db)!r}, 'ana').rater.name, "
        "*(m for m in ('sqlalchemy', 'sqlmodel', 'pydantic', 'numpy') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ana\n"
