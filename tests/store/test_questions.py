"""Questions by themselves: added once, completed, never changed, read back as they were."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from store import ConflictError, Store
from store.records import NewQuestion, QuestionRecord
from tests.store.test_imports import contents
from tests.store.world import add_traces, new_question, new_trace, number

GOLD = "4711"
CHOICE = NewQuestion(
    "d",
    "c1",
    "Which?",
    "B",
    ("choice", "B"),
    "choice",
    {"A": "red", "B": "blue"},
    extra={"note": "n", "year": 2031},
)


def outcome(store: Store, question: NewQuestion, *, kinds_stated: bool = True) -> str:
    (found,) = store.add_questions([question], kinds_stated=kinds_stated)
    return found if isinstance(found, str) else str(found)


def test_a_question_is_added_once_and_read_back(store: Store) -> None:
    assert store.add_questions([CHOICE, CHOICE]) == ("added", "known")
    assert outcome(store, CHOICE) == "known"
    assert list(store.questions()) == [
        QuestionRecord(
            id=1,
            dataset="d",
            external_id="c1",
            text="Which?",
            gold=("choice", "B"),
            gold_text="B",
            answer_kind="choice",
            options={"A": "red", "B": "blue"},
            percent="keep",
            extra={"note": "n", "year": 2031},
        )
    ]


def test_what_a_known_question_lacks_is_given_to_it(store: Store) -> None:
    bare = replace(CHOICE, gold_text=None, gold=None, extra=None)
    assert outcome(store, bare) == "added"
    assert outcome(store, bare) == "known"
    assert outcome(store, replace(CHOICE, extra={"note": "n"})) == "completed"
    assert outcome(store, replace(bare, extra={"year": 2031})) == "completed"
    assert outcome(store, CHOICE) == "known"
    assert outcome(store, bare) == "known"
    (question,) = store.questions()
    assert (question.gold, question.gold_text) == (("choice", "B"), "B")
    assert question.extra == {"note": "n", "year": 2031}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "Which one?"}, ("d/c1", "another wording", "'Which?'")),
        ({"gold_text": "A", "gold": ("choice", "A")}, ("d/c1", "another gold answer")),
        ({"answer_kind": "text"}, ("d/c1", "answer kind choice", "not text")),
        ({"options": {"A": "blue", "B": "red"}}, ("d/c1", "other options")),
        ({"options": ["red", "green"]}, ("d/c1", "other options")),
        ({"percent": "ratio"}, ("d/c1", "percent rule keep")),
        ({"extra": {"note": "m"}}, ("d/c1", "something else", "'note'")),
        ({"extra": {"year": "2031"}}, ("d/c1", "something else", "'year'")),
        ({"extra": {"year": True, "new": 1}}, ("d/c1", "something else", "'year'")),
        ({"external_id": "a\x1b"}, ("without control characters",)),
        ({"dataset": " "}, ("without control characters",)),
    ],
)
def test_what_contradicts_a_question_changes_nothing(
    store: Store, db: Path, change: dict[str, Any], words: tuple[str, ...]
) -> None:
    store.add_questions([CHOICE])
    before = contents(db)
    found = store.add_questions([replace(CHOICE, **change), CHOICE])
    assert isinstance(found[0], ConflictError)
    assert found[1] == "known"
    assert [w for w in words if w not in str(found[0])] == []
    assert contents(db) == before


def test_the_good_ones_around_a_bad_one_are_kept(store: Store) -> None:
    bad = replace(CHOICE, text="Which one?")
    found = store.add_questions([CHOICE, bad, replace(CHOICE, external_id="c2")])
    assert [f if isinstance(f, str) else "bad" for f in found] == ["added", "bad", "added"]
    assert [q.external_id for q in store.questions()] == ["c1", "c2"]


def test_no_conflict_tells_a_gold_answer(store: Store) -> None:
    kept = replace(new_question("q", gold=int(GOLD)), extra={"solution": f"it is {GOLD}"})
    store.add_questions([kept])
    for change in (
        {"gold_text": "12345", "gold": number(12345)},
        {"extra": {"solution": "it is 12345"}},
        {"gold_text": "12345", "gold": ("text", "12345"), "answer_kind": "text"},
    ):
        for kinds_stated in (True, False):
            said = outcome(store, replace(kept, **change), kinds_stated=kinds_stated)
            assert said not in ("added", "known", "completed")
            assert GOLD not in said
            assert "12345" not in said


def test_a_guessed_kind_gives_way_to_the_one_there_is(store: Store) -> None:
    store.add_questions([CHOICE])
    guessed = NewQuestion("d", "c1", "Which?", "blue", ("text", "blue"), "text")
    assert outcome(store, guessed, kinds_stated=False) == "known"
    wrong = replace(guessed, gold_text="red", gold=("text", "red"))
    assert "another gold answer" in outcome(store, wrong, kinds_stated=False)
    none = replace(guessed, gold_text="green", gold=("text", "green"))
    assert "the gold answer is no choice answer" in outcome(store, none, kinds_stated=False)


def test_gold_is_read_under_the_percent_rule_there_is(store: Store) -> None:
    ratio = NewQuestion(
        "d", "p", "Share?", "33%", ("number", Fraction(33, 100)), "number", percent="ratio"
    )
    assert outcome(store, ratio) == "added"
    said = replace(ratio, percent="keep", gold=("number", Fraction(33)))
    assert outcome(store, said) == "known"
    assert next(store.questions()).gold == ("number", Fraction(33, 100))


def test_a_list_of_options_is_the_same_as_its_letters(store: Store) -> None:
    assert outcome(store, CHOICE) == "added"
    assert outcome(store, replace(CHOICE, options=["red", "blue"])) == "known"
    assert next(store.questions()).options == {"A": "red", "B": "blue"}


def test_a_question_before_its_traces_and_after(store: Store) -> None:
    first, later = new_question("q1"), new_question("q2", gold=None)
    add_traces(store, [new_trace(later)])
    assert outcome(store, first) == "added"
    assert outcome(store, replace(later, gold_text="7", gold=number(7))) == "completed"
    add_traces(store, [new_trace(first)])
    assert {p.question_id: p.gold for p in store.pools()} == {"q1": number(1), "q2": number(7)}
    assert len(list(store.questions())) == 2


def test_a_question_whose_traces_were_read_under_another_kind_is_refused(store: Store) -> None:
    add_traces(store, [new_trace(replace(new_question("q1", gold=None), answer_kind="auto"))])
    said = outcome(store, new_question("q1"))
    assert "answer kind auto in the database, not number; what is there was read under it" in said


def test_questions_come_a_page_at_a_time_and_by_dataset(store: Store) -> None:
    made = [new_question(f"q{i}", dataset="ab"[i % 2]) for i in range(1203)]
    assert set(store.add_questions(made)) == {"added"}
    ids = [q.external_id for q in store.questions("a")]
    assert ids == [f"q{i}" for i in range(0, 1203, 2)]
    assert [q.external_id for q in store.questions()] == [f"q{i}" for i in range(1203)]
    assert list(store.questions("c")) == []
    assert store.question_counts() == {"a": 602, "b": 601}


def test_a_stage_may_write_while_it_reads_questions(store: Store) -> None:
    store.add_questions(new_question(f"q{i}") for i in range(600))
    n = 0
    for question in store.questions():
        if question.id in (1, 499, 500, 501):
            add_traces(store, [new_trace(new_question(question.external_id))])
        n += 1
    assert (n, len(store.pools())) == (600, 4)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\x1b]0;x\x07", "\u202e", "x" * (1 << 20)])
def test_hostile_texts_come_back_as_they_were(store: Store, text: str) -> None:
    question = replace(CHOICE, text=text, options={"A": text, "B": "y"}, extra={text[:9]: [text]})
    assert store.add_questions([question, question]) == ("added", "known")
    (found,) = store.questions()
    assert (found.text, found.options, found.extra) == (text, question.options, question.extra)


def test_the_overview_has_a_row_for_questions_without_traces(store: Store) -> None:
    store.add_questions([new_question(f"q{i}") for i in range(5)])
    store.add_questions([new_question("x", dataset="other")])
    add_traces(store, [new_trace(new_question(f"q{i}"), pool="p") for i in range(2)])
    rows = store.overview(store.rater("ana").id)
    assert [(r.dataset, r.pool, r.n_questions, r.n_traces) for r in rows] == [
        ("own", "p", 2, 2),
        ("other", "", 1, 0),
        ("own", "", 3, 0),
    ]
    assert (rows[1].n_gold, rows[1].n_scored, rows[1].n_cases, rows[1].n_items_done) == (0, 0, 0, 0)


def test_questions_without_traces_are_in_no_pool_queue_or_export(store: Store) -> None:
    store.add_questions([CHOICE])
    assert store.pools() == ()
    assert store.cases(store.rater("ana").id).rows == ()
    assert list(store.export_items()) == []
