"""Early answers: kept by run, trace and prefix; facts are never mixed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from store import Store
from store.model_records import EarlyRecord
from tests.store.models_world import decomposed, keep, pools_of

HARD = "a\x00b\ud800c"


def run_of(store: Store, **rest: Any) -> int:
    said: dict[str, Any] = {"model": "m", "prompt_version": "early/1", "parameters": {"t": 0}}
    return store.early_run(**{**said, **rest}).id


def early(trace: int, prefix: int, answer: Any = None, **rest: Any) -> EarlyRecord:
    said = None if answer is None else ("number", Fraction(answer))
    fields: dict[str, Any] = {"n_facts": 3, "source_hash": "sha256:a", "outcome": "ok", **rest}
    return EarlyRecord(trace, prefix, answer=said, **fields)


def test_a_run_is_what_it_was_asked_with(store: Store) -> None:
    pools_of(store, [1])
    decomposed(store)
    plain = store.early_run("m", "early/1", {"t": 0, "form": "schema"})
    assert store.early_run("m", "early/1", {"form": "schema", "t": 0}) == plain
    others = [
        store.early_run("m2", "early/1", {"t": 0, "form": "schema"}),
        store.early_run("m", "early/2", {"t": 0, "form": "schema"}),
        store.early_run("m", "early/1", {"t": 1, "form": "schema"}),
        store.early_run("m", "early/1", {"t": 0, "form": "schema"}, "split"),
    ]
    assert store.early_runs() == (plain, *others)
    assert [r.decomposition for r in store.early_runs()] == ["none"] * 4 + ["split"]
    with pytest.raises(ValueError, match="no decomposition 'x' in the database"):
        store.early_run("m", "early/1", {}, "x")


def test_answers_come_back_in_order_of_prefixes(store: Store) -> None:
    (first, (other,)) = pools_of(store, [2, 1])
    one, two = first
    run = run_of(store)
    key = keep(store, "reply")
    rows = [
        early(one, 3, Fraction(9, 5), reply_key=key),
        early(one, 0, 1),
        early(one, 1, reason=HARD, outcome="refused"),
        early(two, 2, 7),
        replace(early(other, 1), answer=("text", HARD)),
    ]
    assert store.save_early(run, rows) == 5
    pools = {p.question_id: p.id for p in store.pools()}
    assert store.early_answers(run) == {
        one: (rows[1], rows[2], rows[0]),
        two: (rows[3],),
        other: (rows[4],),
    }
    assert list(store.early_answers(run, pools["q01"])) == [other]
    assert store.early_answers(run_of(store, model="m2")) == {}


def test_an_answer_is_replaced_and_other_facts_drop_the_old_ones(store: Store) -> None:
    ((one, two),) = pools_of(store, [2])
    run = run_of(store)
    assert store.save_early(run, [early(one, i, i) for i in (1, 2, 3)] + [early(two, 1, 9)]) == 4
    assert store.save_early(run, [early(one, 2, 2), early(one, 3, 33)]) == 1
    assert [r.answer for r in store.early_answers(run)[one]] == [
        ("number", Fraction(n)) for n in (1, 2, 33)
    ]
    newer = early(one, 1, 5, n_facts=2, source_hash="sha256:b")
    assert store.save_early(run, [newer]) == 1
    assert store.early_answers(run) == {one: (newer,), two: (early(two, 1, 9),)}
    with pytest.raises(ValueError, match=rf"trace {one} is given early answers of two sets"):
        store.save_early(run, [early(one, 1, 1), early(one, 2, 1, source_hash="sha256:c")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": "failed"}, "prefix 2 ended as 'failed', which is no reply"),
        ({"prefix": 4}, "there are 3 facts; a prefix from 0 to that is right"),
        ({"prefix": -1}, "prefix -1: there are 3 facts"),
    ],
)
def test_what_is_no_answer_is_refused(store: Store, change: Any, message: str) -> None:
    ((one,),) = pools_of(store, [1])
    run = run_of(store)
    with pytest.raises(ValueError, match=message):
        store.save_early(run, [early(one, 1, 1), replace(early(one, 2, 1), **change)])
    assert store.early_answers(run) == {}
