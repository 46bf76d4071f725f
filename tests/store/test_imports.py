"""Each line of an import is added, known, changed, or refused without a trace."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store import ConflictError, ImportBatch, Store
from store.exchange.labels import label
from store.exchange.traces import native_trace
from store.records import NewLabel, NewQuestion, NewTrace
from tests.store.world import add_labels, add_traces, key_of, new_label, new_question, new_trace

KEY = key_of("q1", "0")
TABLES = (
    "question",
    "question_search",
    "pool",
    "trace",
    "item",
    "rater",
    "label",
    "verdict_detail",
)


@pytest.fixture
def filled(store: Store) -> Store:
    """A question with gold, one without, a trace each, and a verdict."""
    add_traces(store, [new_trace(new_question("q1")), new_trace(new_question("q2", gold=None))])
    add_labels(store, [new_label(KEY, "judge")])
    return store


def contents(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(db)) as connection:
        return {n: connection.execute(f"SELECT * FROM {n}").fetchall() for n in TABLES}


def refuse(store: Store, db: Path, line: NewTrace | NewLabel, *words: str) -> None:
    """Import a bad line between two good ones: it must leave nothing, they must stay."""
    before = contents(db)
    with store.importing() as batch, pytest.raises(ConflictError) as caught:
        add(batch, line)
    assert contents(db) == before
    message = str(caught.value)
    assert [w for w in words if w not in message] == []


def add(batch: ImportBatch, line: NewTrace | NewLabel) -> str:
    return batch.add_label(line) if isinstance(line, NewLabel) else batch.add_trace(line)


# --- traces --------------------------------------------------------------------------------


def test_a_trace_is_added_once(store: Store) -> None:
    trace = new_trace(new_question("q1"))
    with store.importing() as batch:
        assert [batch.add_trace(trace) for _ in range(2)] == ["added", "known"]
    with store.importing() as batch:
        assert batch.add_trace(trace) == "known"
        assert batch.add_trace(replace(trace, sample="1")) == "added"
        assert batch.add_trace(replace(trace, pool="other")) == "added"
    assert sorted(len(store.pool_traces(p.id)) for p in store.pools()) == [1, 2]


def test_another_text_under_a_known_key_is_refused(filled: Store, db: Path) -> None:
    refuse(filled, db, new_trace(new_question("q1"), source="other"), KEY, "another text")


def test_a_refused_trace_does_not_bring_its_gold(filled: Store, db: Path) -> None:
    line = new_trace(new_question("q2", gold=5), source="other")
    refuse(filled, db, line, key_of("q2", "0"), "another text")


def test_a_question_keeps_its_wording(filled: Store, db: Path) -> None:
    line = new_trace(new_question("q1", text="Something else?"), "1")
    refuse(filled, db, line, "own/q1", "another wording", "How many in q1?")


def test_a_question_keeps_its_gold(filled: Store, db: Path) -> None:
    refuse(filled, db, new_trace(new_question("q1", gold=2), "1"), "own/q1", "another gold", "'2'")


def test_gold_that_comes_later_is_filled_in_and_no_gold_takes_none_away(filled: Store) -> None:
    add_traces(
        filled,
        [
            new_trace(new_question("q2", gold=7), "1"),
            new_trace(new_question("q2", gold=None), "2"),
            new_trace(new_question("q1", gold=None), "2"),
        ],
    )
    assert {p.question_id: p.gold for p in filled.pools()} == {
        "q1": ("number", 1),
        "q2": ("number", 7),
    }


def test_all_is_kept_or_nothing(store: Store, db: Path) -> None:
    before = contents(db)

    def import_and_stop() -> None:
        with store.importing() as batch:
            batch.add_trace(new_trace(new_question("q1")))
            batch.add_label(new_label(KEY, "judge"))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        import_and_stop()
    assert contents(db) == before


# --- settled questions ---------------------------------------------------------------------


def settle(store: Store, question: NewQuestion, *, kind_stated: bool = False) -> NewQuestion:
    with store.importing() as batch:
        return batch.settled_question(question, kind_stated=kind_stated)


@pytest.fixture
def choice(store: Store) -> NewQuestion:
    question = NewQuestion(
        "own", "c1", "Which?", "B", ("choice", "B"), "choice", ["red", "blue"], "keep"
    )
    add_traces(store, [new_trace(question)])
    return question


def test_an_unknown_question_is_taken_as_it_is(store: Store) -> None:
    question = new_question("q9", options=["x"])
    assert settle(store, question, kind_stated=True) == question


def test_a_known_question_is_read_under_the_rules_it_has(store: Store, choice: NewQuestion) -> None:
    line = NewQuestion("own", "c1", "Which?", "(B) blue", ("text", "(B) blue"), "text")
    settled = settle(store, line)
    assert (settled.answer_kind, settled.options, settled.gold) == (
        "choice",
        ["red", "blue"],
        ("choice", "B"),
    )
    with store.importing() as batch:
        assert batch.add_trace(new_trace(settled, "1")) == "added"


@pytest.mark.parametrize(
    ("change", "stated", "word"),
    [
        ({"answer_kind": "text"}, True, "answer kind choice"),
        ({"options": ["red", "green"]}, False, "other options"),
        ({"percent": "ratio"}, False, "percent rule keep"),
        ({"gold_text": "mauve", "gold": ("text", "mauve")}, False, "no choice answer"),
    ],
)
def test_a_line_that_states_another_rule_is_refused(
    change: dict[str, Any], stated: bool, word: str, store: Store, choice: NewQuestion
) -> None:
    with pytest.raises(ConflictError, match=f"own/c1.*{word}"):
        settle(store, replace(choice, **change), kind_stated=stated)


def test_a_kind_that_is_only_guessed_gives_way(store: Store, choice: NewQuestion) -> None:
    line = replace(choice, answer_kind="text", options=None, gold_text=None, gold=None)
    assert settle(store, line, kind_stated=False).answer_kind == "choice"


def test_a_file_whose_second_line_has_the_gold_reads_both_alike(store: Store) -> None:
    row = {"dataset": "d", "question_id": "q", "question": "Grow by?", "text": "0. 5%\nAnswer: 5%"}
    with store.importing() as batch:
        for sample, rest in enumerate(({"percent": "ratio"}, {"gold": "0.05"})):
            raw = native_trace({**row, "sample": str(sample), **rest}, "file")
            settled = batch.settled_question(raw.question, kind_stated=raw.kind_stated)
            assert batch.add_trace(raw.parsed(settled)) == "added"
    (pool,) = store.pools()
    answers = {r.trace.answer for r in store.pool_traces(pool.id)}
    assert answers == {pool.gold}


# --- labels --------------------------------------------------------------------------------


def test_a_label_is_added_known_or_changed(filled: Store) -> None:
    same = new_label(KEY, "judge")
    other = new_label(KEY, "judge", "spurious", first_wrong_step=1)
    assert add_labels(filled, [same, other, other]) == ["known", "changed", "known"]
    assert add_labels(filled, [same, other]) == ["superseded", "known"]
    bobs = new_label(KEY, "bob", rater_kind="human")
    assert add_labels(filled, [bobs, bobs]) == ["added", "known"]
    rows = filled.label_history(filled.rater("judge", "judge").id, 1)
    assert [r.category for r in rows] == ["faithful", "spurious"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item": key_of("q1", "9")}, ("q1", "names no trace", "import its traces first")),
        ({"item": "q1"}, ("path:DATASET/QUESTION/POOL/SAMPLE",)),
        ({"item": "step:own/q1/p/0"}, ("path:DATASET/QUESTION/POOL/SAMPLE",)),
        ({"category": "sound"}, ("'sound'", "path", "faithful, spurious")),
        ({"category": None, "state": "labelled"}, ("None", "faithful, spurious")),
        ({"state": "unsure"}, ("unsure", "without a category")),
        ({"schema": "criterion"}, ("criterion",)),
        ({"rater": "judge", "rater_kind": "human"}, ("judge", "a judge", "not a human")),
    ],
)
@pytest.mark.parametrize("item", [KEY, key_of("q2", "0")])
def test_a_refused_label_leaves_neither_item_nor_rater(
    item: str, change: dict[str, Any], words: tuple[str, ...], filled: Store, db: Path
) -> None:
    line = new_label(item, "new", rater_kind="human")
    refuse(filled, db, replace(line, **change), *words)


def test_good_lines_around_a_bad_one_are_kept(filled: Store) -> None:
    with filled.importing() as batch:
        assert batch.add_label(new_label(key_of("q2", "0"), "a")) == "added"
        with pytest.raises(ConflictError):
            batch.add_label(new_label(key_of("q2", "0"), "b", "sound"))
        assert batch.add_label(new_label(KEY, "b")) == "added"
    assert [(r.name, r.n_labelled) for r in filled.raters()] == [("judge", 1), ("a", 1), ("b", 1)]


def test_a_label_may_follow_its_trace_in_one_import(store: Store) -> None:
    with store.importing() as batch:
        for i in range(3):
            batch.add_trace(new_trace(new_question(f"q{i}")))
            assert batch.add_label(new_label(key_of(f"q{i}", "0"), "judge")) == "added"


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ({"category": "faithful"}, set()),
        ({"category": "faithful", "first_wrong_step": 0}, {"faithful_with_wrong_step"}),
        ({"category": "spurious"}, {"spurious_without_step"}),
        ({"category": "spurious", "first_wrong_step": 1}, set()),
        ({"category": "spurious", "first_wrong_step": 2}, {"step_out_of_range"}),
        (
            {"category": "faithful", "first_wrong_step": 9},
            {"faithful_with_wrong_step", "step_out_of_range"},
        ),
        ({"category": None}, set()),
        ({"category": None, "first_wrong_step": 5}, {"step_out_of_range"}),
    ],
)
@pytest.mark.parametrize("kind", ["judge", "human", "reference"])
def test_what_is_odd_about_a_verdict_is_noted(
    kind: Any, line: dict[str, Any], flags: set[str], filled: Store
) -> None:
    if line["category"] is None and kind != "judge":
        line = {**line, "state": "unsure"}
    add_labels(filled, [new_label(key_of("q2", "0"), "x", rater_kind=kind, **line)])
    found = filled.judge_summary("x")
    noted = {k for k, n in found.self_contradictions.items() if n}
    noted |= {"step_out_of_range"} if found.step_out_of_range else set()
    if kind != "judge":
        # People may mark the answer: its number is that of the steps, two here.
        flags = flags & {"step_out_of_range"} if line.get("first_wrong_step") != 2 else set()
    assert noted == flags


def test_an_imported_label_keeps_when_and_how_it_was_made(filled: Store) -> None:
    line = label(
        {
            "item": KEY,
            "rater": "ana",
            "category": "spurious",
            "first_wrong_step": 1,
            "note": "n",
            "flagged": True,
            "created_at": "2026-01-31T15:02:31+01:00",
            "before_reveal": True,
            "seal": "judge",
        }
    )
    add_labels(filled, [line])
    (row,) = filled.label_history(filled.rater("ana").id, 1)
    assert (row.state, row.category, row.first_wrong_step) == ("labelled", "spurious", 1)
    assert (row.note, row.flagged, row.seal, row.before_reveal) == ("n", True, "judge", True)
    assert row.created_at == "2026-01-31T14:02:31.000000+00:00"
