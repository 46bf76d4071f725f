"""Importing one label file after another: what each run says it did, and what stands after it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import open_store
from tests.definitions.running import DB, Ran, histories, label_row, medoid, trace_row, write


@pytest.fixture(autouse=True)
def _project() -> None:
    """Two paths; A calls both faithful, B changes one of them."""
    write(Path("t.jsonl"), trace_row(), trace_row(sample=1))
    assert medoid("import", "t.jsonl").code == 0
    second = "path:d/q1/m/1"
    write(Path("a.jsonl"), label_row(), label_row(item=second))
    write(Path("b.jsonl"), label_row(category="spurious", first_wrong_step=1))


def imported(name: str) -> tuple[dict[str, int], str]:
    """Import a file twice over: what the first run counts, and what another prints."""
    first: Ran = medoid("import", name, "--json")
    assert first.code == 0
    return first.json["labels"], medoid("import", name).out


def n_rows() -> int:
    with open_store(DB) as store:
        return len(list(store.export_labels(history=True)))


def test_a_file_imported_again_after_a_change_brings_nothing_back() -> None:
    assert imported("a.jsonl") == ({"added": 2}, "labels   2 unchanged\n")
    assert imported("b.jsonl") == ({"changed": 1}, "labels   1 unchanged\n")
    rows = n_rows()
    assert imported("a.jsonl") == (
        {"superseded": 1, "known": 1},
        "labels   1 there already, superseded by a later import or label, 1 unchanged\n",
    )
    assert (rows, n_rows()) == (3, 3)
    assert histories() == [("ann", "faithful", "labelled"), ("ann", "spurious", "labelled")]


def test_to_bring_the_first_back_takes_a_label_of_its_own() -> None:
    for name in ("a.jsonl", "b.jsonl"):
        medoid("import", name)
    again = write(Path("c.jsonl"), label_row(created_at="2026-01-03T00:00:00Z"))
    assert medoid("import", again, "--json").json["labels"] == {"changed": 1}
    assert histories() == [("ann", "faithful", "labelled")] * 2
    # Of the two rows that say the same, the newest decides whether the file's label stands.
    assert medoid("import", "a.jsonl", "--json").json["labels"] == {"known": 2}


def test_a_label_made_here_supersedes_an_imported_one_too() -> None:
    medoid("import", "a.jsonl")
    with closing(sqlite3.connect(DB)) as connection:
        found = connection.execute("SELECT id FROM item WHERE key = 'path:d/q1/m/0'").fetchone()
    with open_store(DB) as store:
        ann = store.rater("ann").id
        store.commit_label(ann, int(found[0]), store.schema(), category="spurious")
    assert medoid("import", "a.jsonl", "--json").json["labels"] == {"superseded": 1, "known": 1}
