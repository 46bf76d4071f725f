"""What a rater has seen of a question decides what their later labels count as."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from store import Store
from store.records import SchemaRecord
from store.repository.seen import options_key, wording_key
from tests.store.models_world import decomposed, pools_of
from tests.store.world import (
    add_traces,
    case_ids,
    decide,
    item_ids,
    new_question,
    new_trace,
    score_and_make_cases,
    small_project,
)


@pytest.fixture
def ana(store: Store) -> int:
    return store.rater("ana").id


def at(schema: SchemaRecord, seal: Any) -> SchemaRecord:
    return replace(schema, seal=seal)


def two(store: Store, first: str, second: str, options: tuple[Any, Any] = (None, None)) -> None:
    """Make two questions of two datasets, a trace and a case each."""
    made = [
        new_question(f"q{i}", dataset=f"d{i}", text=text, options=stated)
        for i, (text, stated) in enumerate(zip((first, second), options, strict=True))
    ]
    add_traces(store, (new_trace(q, str(k)) for q in made for k in range(2)))
    score_and_make_cases(store)


# --- gold and votes seen at level judge ------------------------------------------------------


def test_a_label_after_a_look_at_level_judge_is_made_at_level_judge(store: Store, ana: int) -> None:
    looked, other = small_project(store, 2)
    path = store.schema()
    assert store.case_context(looked, ana, at(path, "judge")).gold_text == "1"
    here = store.commit_label(ana, item_ids(store, looked, ana)[0], path, category="faithful")
    there = store.commit_label(ana, item_ids(store, other, ana)[0], path, category="faithful")
    bob = store.rater("bob").id
    his = store.commit_label(bob, item_ids(store, looked, bob)[0], path, category="faithful")
    assert [(r.seal, r.before_reveal) for r in (here, there, his)] == [
        ("judge", True),
        ("full", True),
        ("full", True),
    ]


def test_looks_are_kept_once_and_are_no_commands_log(store: Store, ana: int) -> None:
    (case,) = small_project(store, 1)
    for _ in range(3):
        store.case_context(case, ana, at(store.schema(), "judge"))
    decide(store, case, ana)
    assert store.unseals() == ()
    assert store.labels_after_unseal("path", "ana") is None


def test_what_is_judged_at_level_judge_stays_sealed_for_the_verdict(store: Store, ana: int) -> None:
    """κ uses a label made at level judge: the verdict was hidden, and the row tells the level."""
    (case,) = small_project(store, 1)
    store.case_context(case, ana, at(store.schema(), "judge"))
    decide(store, case, ana)
    assert store.label_origin_counts("path", "ana") == {
        "pre_reveal": 4,
        "unknown": 0,
        "post_reveal": 0,
    }


# --- criteria of a decomposition -------------------------------------------------------------


@pytest.mark.parametrize("level", ["full", "judge", "open"])
def test_a_reveal_of_the_path_leaves_the_criteria_unseen(
    store: Store, ana: int, level: str
) -> None:
    ((trace, *_),) = pools_of(store, [2])
    split = decomposed(store)
    score_and_make_cases(store)
    (case,) = case_ids(store, ana)
    before, after, _ = store.criterion_items(split, trace)
    criteria, path = store.schema("decomposition"), at(store.schema(), level)
    early = store.commit_label(ana, before.item_id, criteria, category="yes", beside=path)
    decide(store, case, ana)
    store.reveal(case, ana, store.schema())
    late = store.commit_label(ana, after.item_id, criteria, category="yes", beside=path)
    assert (early.seal, early.before_reveal) == ("full" if level == "full" else "judge", True)
    assert (late.seal, late.before_reveal) == ("judge", True)
    unsealed = at(criteria, "open")
    shown = store.commit_label(ana, after.item_id, unsealed, category="no", beside=path)
    assert (shown.seal, shown.before_reveal) == ("open", False)


def test_a_criterion_is_held_though_its_question_is_revealed(store: Store, ana: int) -> None:
    ((trace, *_),) = pools_of(store, [2])
    split = decomposed(store)
    score_and_make_cases(store)
    (case,) = case_ids(store, ana)
    decide(store, case, ana)
    store.reveal(case, ana, store.schema())
    first = store.criterion_items(split, trace)[0].item_id
    store.commit_label(ana, first, store.schema("decomposition"), category="yes")
    (pair,) = store.label_pairs("decomposition", "ana", "nobody")
    assert pair.a_held
    assert not store.label_pairs("path", "ana", "nobody")[0].a_held


# --- questions that read the same ------------------------------------------------------------

ALIKE = [
    ("How many are left?", "how  MANY\n are left? "),
    ("Is 3 ≤ x² fine?", "Is 3 ≤ x2 fine?"),
    ("Straße’s café?", "STRASSE’S cafe\u0301?"),
    ("ﬁne print", "fine\u00a0print"),
    ("zero width", "zero\u200b width"),
]


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_another_way_of_writing_is_the_same_question(
    store: Store, ana: int, first: str, second: str
) -> None:
    two(store, first, second)
    path = store.schema()
    here, there = case_ids(store, ana)
    decide(store, here, ana)
    assert store.reveal_check(here, ana, path).n_left_elsewhere == 2
    store.reveal(here, ana, path)
    assert store.case(there, ana, path).revealed
    late = store.commit_label(ana, item_ids(store, there, ana)[0], path, category="faithful")
    assert late.before_reveal is False


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["red", "Blue"], ["blue ", "red"], True),
        ({"A": "red", "B": "blue"}, ["red", "blue"], True),
        (["red", "blue"], ["red", "green"], False),
        (["red", "blue"], None, False),
        (["red", "red"], ["red"], False),
    ],
)
def test_options_are_compared_without_letters_and_order(
    store: Store, ana: int, one: Any, other: Any, same: bool
) -> None:
    two(store, "Which colour?", "Which colour?", (one, other))
    here, there = case_ids(store, ana)
    decide(store, here, ana)
    store.reveal(here, ana, store.schema())
    assert store.case(there, ana, store.schema()).revealed is same
    assert (options_key(one) == options_key(other)) is same


def test_other_words_are_another_question() -> None:
    assert wording_key("How many are left?") != wording_key("How many were left?")
    assert wording_key("x = 3") != wording_key("x = 4")


@pytest.mark.parametrize("level", ["full", "judge"])
def test_a_twin_that_is_imported_later_has_been_seen(store: Store, ana: int, level: str) -> None:
    (case,) = small_project(store, 1)
    path = store.schema()
    if level == "full":
        decide(store, case, ana)
        store.reveal(case, ana, path)
    else:
        store.case_context(case, ana, at(path, "judge"))
    copy = new_question("later", dataset="copy", text="how many\tin q0 ?")
    new = new_question("new", dataset="copy", text="How many in q1?")
    add_traces(store, (new_trace(q, str(k)) for q in (copy, new) for k in range(2)))
    score_and_make_cases(store, seed=1)
    rows = {r.question_id: r.case_id for r in store.cases(ana).rows}
    made = {
        name: store.commit_label(
            ana, item_ids(store, rows[name], ana)[0], path, category="faithful"
        )
        for name in ("later", "new")
    }
    assert (made["new"].seal, made["new"].before_reveal) == ("full", True)
    wanted = ("full", False) if level == "full" else ("judge", True)
    assert (made["later"].seal, made["later"].before_reveal) == wanted
