"""Making cases: idempotent, and no label loses its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store import CasesMade, NewCase, Store
from store.records import RaterKind
from tests.store.world import (
    add_labels,
    add_traces,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
)

DESIGN = {"k": 2, "seed": 0}


@pytest.fixture
def scoring(store: Store) -> int:
    """Three questions of four traces, scored; the cases of two of them follow in each test."""
    questions = [new_question(f"q{i}") for i in range(3)]
    add_traces(
        store,
        (
            new_trace(q, str(k), answer=k // 2, steps=(f"{q.external_id} {k}", "so"))
            for q in questions
            for k in range(4)
        ),
    )
    made = score_and_make_cases(store)
    store.make_cases(made, DESIGN, [])
    assert store.cases(0).total == 0
    return made


def new_case(store: Store, question: str, *samples: str, stratum: str = "s") -> NewCase:
    pool = next(p.id for p in store.pools() if p.question_id == question)
    return NewCase(pool, stratum, 0.5, tuple((key_of(question, s), 0.25) for s in samples))


def state(store: Store) -> dict[str, tuple[int, set[str]]]:
    """Each question's case: its id and its paths."""
    rater, path = store.rater("looker").id, store.schema()
    views = [store.case(r.case_id, rater, path) for r in store.cases(rater).rows]
    return {v.question_id: (v.case_id, {p.item for p in v.paths}) for v in views}


def test_the_same_design_again_does_nothing(store: Store, scoring: int) -> None:
    cases = [new_case(store, "q0", "2", "0"), new_case(store, "q1", "3", "1")]
    assert store.make_cases(scoring, DESIGN, cases) == CasesMade(2, 4, 0, 0, 0)
    before = state(store)
    assert store.make_cases(scoring, DESIGN, cases) == CasesMade(0, 0, 2, 0, 0)
    assert store.make_cases(scoring, DESIGN, cases[::-1]) == CasesMade(0, 0, 2, 0, 0)
    assert state(store) == before


def test_it_does_nothing_when_some_cases_are_labelled(store: Store, scoring: int) -> None:
    cases = [new_case(store, "q0", "2", "0"), new_case(store, "q1", "3", "1")]
    store.make_cases(scoring, DESIGN, cases)
    ana = store.rater("ana").id
    decide(store, store.cases(0).rows[0].case_id, ana)
    assert store.make_cases(scoring, DESIGN, cases) == CasesMade(0, 0, 2, 0, 0)


def test_unlabelled_cases_are_replaced_and_withdrawn(store: Store, scoring: int) -> None:
    store.make_cases(
        scoring, DESIGN, [new_case(store, "q0", "2", "0"), new_case(store, "q1", "3", "1")]
    )
    made = store.make_cases(
        scoring,
        {**DESIGN, "k": 1},
        [new_case(store, "q0", "3", "0", "1"), new_case(store, "q2", "0", "2")],
    )
    assert made == CasesMade(2, 5, 0, 0, 1)
    found = state(store)
    assert {q: items for q, (_, items) in found.items()} == {
        "q0": {key_of("q0", s) for s in "301"},
        "q2": {key_of("q2", s) for s in "02"},
    }


@pytest.mark.parametrize("kind", ["human", "reference"])
def test_a_case_in_which_a_person_labelled_keeps_its_paths(
    kind: RaterKind, store: Store, scoring: int
) -> None:
    store.make_cases(
        scoring, DESIGN, [new_case(store, "q0", "2", "0"), new_case(store, "q1", "3", "1")]
    )
    before = state(store)
    line = new_label(key_of("q0", "2"), "x")
    add_labels(store, [replace(line, rater_kind=kind), replace(line, rater="judge")])
    made = store.make_cases(scoring, {**DESIGN, "k": 3}, [new_case(store, "q0", "3", "1")])
    assert made == CasesMade(0, 0, 0, 1, 1)
    assert state(store) == {"q0": before["q0"]}


def test_a_judges_verdicts_keep_no_case(store: Store, scoring: int) -> None:
    store.make_cases(scoring, DESIGN, [new_case(store, "q0", "2", "0")])
    add_labels(store, [new_label(key_of("q0", "2"), "judge")])
    assert store.make_cases(scoring, DESIGN, []) == CasesMade(0, 0, 0, 0, 1)
    assert state(store) == {}
    assert store.judge_summary("judge").n == 1


def test_a_withdrawn_case_that_comes_back_finds_its_labels(store: Store, scoring: int) -> None:
    cases = [new_case(store, "q0", "2", "0")]
    store.make_cases(scoring, DESIGN, cases)
    ana, path = store.rater("ana").id, store.schema()
    (row,) = store.cases(ana).rows
    decide(store, row.case_id, ana)
    assert store.make_cases(scoring, DESIGN, []) == CasesMade(0, 0, 0, 1, 0)
    (row,) = store.cases(ana).rows
    assert (row.n_items, row.n_mine) == (2, 2)
    item = item_ids(store, row.case_id, ana)[0]
    assert store.label(ana, item, path) is not None


def test_the_seed_orders_the_queue_and_the_order_given_does_not(store: Store, scoring: int) -> None:
    cases = [new_case(store, f"q{i}", "2", "0") for i in range(3)]
    orders = set()
    for seed in range(12):
        store.make_cases(scoring, {"seed": seed}, [])
        store.make_cases(scoring, {"seed": seed}, cases)
        order = [r.question_id for r in store.cases(0).rows]
        store.make_cases(scoring, {"seed": seed}, [])
        store.make_cases(scoring, {"seed": seed}, cases[::-1])
        assert [r.question_id for r in store.cases(0).rows] == order
        orders.add(tuple(order))
    assert len(orders) > 1


def test_ids_tell_neither_the_stratum_nor_the_medoid(store: Store, scoring: int) -> None:
    one, two = (new_case(store, f"q{i}", "2", "0", "1") for i in (0, 1))
    store.make_cases(scoring, DESIGN, [two, one])
    rater, path = store.rater("ana").id, store.schema()
    ids = {q: case for q, (case, _) in state(store).items()}
    assert ids["q0"] < ids["q1"]
    for case in ids.values():
        paths = store.case(case, rater, path).paths
        by_id = sorted(paths, key=lambda p: p.item_id)
        assert [p.item.rpartition("/")[2] for p in by_id] == ["0", "1", "2"]


def test_a_case_without_paths_or_a_pool_with_two_is_refused(store: Store, scoring: int) -> None:
    one = new_case(store, "q0", "2", "0")
    with pytest.raises(ValueError, match="has no paths"):
        store.make_cases(scoring, DESIGN, [replace(one, items=())])
    with pytest.raises(ValueError, match="two cases"):
        store.make_cases(scoring, DESIGN, [one, replace(one, stratum="t")])
    with pytest.raises(ValueError, match="names no trace"):
        store.make_cases(scoring, DESIGN, [replace(one, items=((key_of("q0", "9"), 1.0),))])
    assert store.cases(0).total == 0
