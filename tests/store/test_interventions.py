"""Counterfactual edits and answers, and links of ablated pools: kept once, never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from store import ConflictError, Store, open_store
from store.intervention_records import UNEDITED, CounterfactualRecord, EditRecord
from store.keys import TraceItemKey
from store.records import NewQuestion
from tests.store.world import add_traces, new_question, new_trace

HARD = "a\x00b\ud800c\x1b[31md"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        add_traces(opened, [new_trace(new_question("q"), str(k), pool="p") for k in range(2)])
        yield opened


def ids(store: Store) -> list[int]:
    return [r.id for pool in store.pools() for r in store.pool_traces(pool.id)]


def editing(store: Store, name: str = "default") -> int:
    return store.editing(name, "m", "counterfactual_editor-schema/1", {"form": "schema"}).id


def test_an_editing_is_known_by_its_name_and_belongs_to_one_way(store: Store) -> None:
    assert editing(store) == editing(store)
    with pytest.raises(ValueError, match="'default' is in the database with another model"):
        store.editing("default", "n", "counterfactual_editor-schema/1", {"form": "schema"})
    with pytest.raises(ValueError, match="without control characters"):
        store.editing("a\tb", "m", "v/1", {})
    with pytest.raises(ValueError, match=r"no editing 'odd' in the database; there are: default"):
        store.editing_named("odd")


def test_edits_are_kept_to_the_last_character_and_never_change(store: Store) -> None:
    one, _ = ids(store)
    made, (pool,) = editing(store), store.pools()
    rows = [
        EditRecord(one, 0, "ok", HARD, source_hash="h"),
        EditRecord(one, 1, "ok", None, "identical", "the step says what it said", source_hash="h"),
    ]
    assert (store.save_edits(made, rows), store.save_edits(made, rows)) == (2, 0)
    assert store.edits(made, pool.id) == {(one, 0): rows[0], (one, 1): rows[1]}
    with pytest.raises(ConflictError, match="step 0 has another edit under editing 'default'"):
        store.save_edits(made, [EditRecord(one, 0, "ok", "other")])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (EditRecord(1, 9, "ok", "x"), "step 9 is no step of a trace"),
        (EditRecord(99, 0, "ok", "x"), "trace 99, step 0 is no step of a trace"),
        (EditRecord(1, 0, "ok"), "either a text or a fault"),
        (EditRecord(1, 0, "ok", "x", "empty"), "either a text or a fault"),
        (EditRecord(1, 0, "failed", "x"), "'failed', which is no reply"),  # type: ignore[arg-type]
    ],
)
def test_an_edit_that_cannot_be_is_refused(store: Store, row: EditRecord, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        store.save_edits(editing(store), [row])


def test_an_answer_is_replaced_by_a_newer_one_to_the_same(store: Store) -> None:
    one, two = ids(store)
    run = store.counterfactual_run(editing(store), "m", "a/1", {})
    assert store.counterfactual_run(editing(store), "m", "a/1", {}) == run
    (pool,) = store.pools()
    first = CounterfactualRecord(one, UNEDITED, 0, "h", "ok", ("number", Fraction(9, 5)))
    missing = CounterfactualRecord(two, 0, 1, "h", "refused", None, "refused")
    assert store.save_counterfactual(run.id, [first, missing]) == 2
    assert store.save_counterfactual(run.id, [first]) == 0
    newer = CounterfactualRecord(one, UNEDITED, 0, "i", "ok", ("boolean", True))
    assert store.save_counterfactual(run.id, [newer]) == 1
    assert store.counterfactual_answers(run.id, pool.id) == {one: (newer,), two: (missing,)}


def test_an_edits_item_is_made_where_there_is_an_edit(store: Store) -> None:
    one, _ = ids(store)
    for name in ("default", "second"):
        store.save_edits(editing(store, name), [EditRecord(one, 0, "ok", "new")])
    dataset = store.pools()[0].dataset
    key = f"counterfactual:{dataset}/q/p/0/0"
    made = store.make_items([key, f"{key}/second"])
    assert len(set(made.values())) == 2
    with pytest.raises(ConflictError, match="no edit 'default' of this step"):
        store.make_items([f"counterfactual:{dataset}/q/p/0/1"])


def test_the_key_of_an_edit_names_its_editing_unless_it_is_the_first() -> None:
    plain = TraceItemKey.parse("counterfactual:d/q/p/0/3")
    assert (plain.step, plain.editing) == (3, "default")
    other = TraceItemKey.parse("counterfactual:d/q/p/0/3/a%2Fb")
    assert (other.step, other.editing) == (3, "a/b")
    for key in (plain, other):
        assert TraceItemKey.parse(str(key)) == key
    assert str(plain) == "counterfactual:d/q/p/0/3"
    for bad in ("counterfactual:d/q/p/0", "counterfactual:d/q/p/0/x", "counterfactual:d/q/p/0/3/"):
        with pytest.raises(ValueError, match="is not counterfactual:DATASET"):
            TraceItemKey.parse(bad)


def test_a_pool_forbids_one_trace_for_good(store: Store) -> None:
    one, two = ids(store)
    new = new_trace(new_question("q"), "0", pool="p@ablate")
    with store.importing() as batch:
        batch.add_trace(new)
        batch.link_ablation(new, one, "h", "k")
        batch.link_ablation(new, one, "h", "another scoring")
        with pytest.raises(ConflictError, match="another reasoning forbidden"):
            batch.link_ablation(new, two, "h", "k")
    (link,) = store.ablations().values()
    assert (link.medoid_trace_id, link.source_hash, link.scoring_key) == (one, "h", "k")


def test_a_question_that_reads_like_one_with_a_case_is_sealed_too(store: Store) -> None:
    one, _ = ids(store)
    ana = store.rater("ana").id
    new = new_trace(new_question("q"), "0", pool="p@ablate")
    twin = NewQuestion("other", "t", f" {new.question.text.upper()}", "4")
    with store.importing() as batch:
        batch.add_trace(new)
        batch.link_ablation(new, one, "h", "k")
    (pool,) = store.ablations()
    assert store.shown_pools(ana, sealed=True) == {pool}
    copied = new_trace(twin, "0", pool="p")
    add_traces(store, [copied])
    from store import NewCase

    embedder = store.embedder("e", "r", 3)
    scoring = store.scoring(embedder, {}, "t")
    place = next(p for p in store.pools() if p.dataset == "other")
    key = store.pool_traces(place.id)[0].key
    store.make_cases(scoring.id, {"k": 1}, [NewCase(place.id, "s", 1.0, ((key, 1.0),))])
    assert store.shown_pools(ana, sealed=True) == frozenset()
    assert store.shown_pools(ana, sealed=False) == {pool}


@pytest.mark.parametrize(
    "table", ["counterfactual_editing", "counterfactual_edit", "ablation_pool"]
)
def test_the_database_refuses_changes(store: Store, path: Path, table: str) -> None:
    one, _ = ids(store)
    store.save_edits(editing(store), [EditRecord(one, 0, "ok", "new")])
    new = new_trace(new_question("q"), "0", pool="p@ablate")
    with store.importing() as batch:
        batch.add_trace(new)
        batch.link_ablation(new, one, "h", "k")
    with closing(sqlite3.connect(path)) as connection:
        columns = [r[1] for r in connection.execute(f"PRAGMA table_info({table})")]
        for statement in (
            f"UPDATE {table} SET created_at = 'x'",
            f"DELETE FROM {table}",
            f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) SELECT * FROM {table}",
        ):
            with pytest.raises(sqlite3.IntegrityError, match=f"{table} rows are append-only"):
                connection.execute(statement)
