"""Replies to label: the sample, one's own progress, and what lies behind the seal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store import ConflictError, SealedError, Store, open_store
from store.deduction_records import ORIGINAL, DeductionText
from store.records import NewLabel, SchemaRecord
from tests.store.deduced import deduced, judged


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "t.db") as opened:
        deduced(opened)
        yield opened


def schema(store: Store) -> SchemaRecord:
    return store.schema("deduction")


def decide(store: Store, rater: int, item: int, *categories: str) -> Any:
    return store.commit_label(rater, item, schema(store), categories=categories or ("none",))


def same_numbers(store: Store, rater: int, item: int) -> list[int]:
    """The sampled replies to the numbers of one, this one first."""
    rows = store.deduction_queue(rater).rows
    at = next(r.text for r in rows if r.item_id == item)
    place = (at.problem, at.mutation)
    return [item, *(r.item_id for r in rows if (r.text.problem, r.text.mutation) == place and r.item_id != item)]  # fmt: skip


def test_a_sample_has_each_reply_with_one_probability(store: Store) -> None:
    made = store.make_deduction_sample(10, 4)
    # 2 solvers, 3 sets of numbers each (the problem's own and two mutations), 3 + 2 prefixes
    assert (made.n_population, made.n_left_out, made.n_new) == (30, 0, 10)
    assert made.probability == pytest.approx(1 / 3)
    rows = store.deduction_queue(0).rows
    assert len({r.item_id for r in rows}) == 10
    again = store.make_deduction_sample(10, 4)
    assert (again.n_new, again.n_same, again.n_withdrawn) == (0, 10, 0)
    assert [r.item_id for r in store.deduction_queue(0).rows] == [r.item_id for r in rows]


def test_what_is_labelled_stays_when_another_sample_is_drawn(store: Store) -> None:
    rater = store.rater("ana").id
    store.make_deduction_sample(5, 1)
    first = store.deduction_queue(rater).rows[0]
    decide(store, rater, first.item_id, "logical")
    made = store.make_deduction_sample(5, 2)
    ids = [r.item_id for r in store.deduction_queue(rater).rows]
    assert first.item_id in ids
    assert len(ids) == made.n_new + made.n_same + made.n_kept
    assert made.n_kept == 1
    with pytest.raises(ValueError, match="a sample of 0 replies"):
        store.make_deduction_sample(0)


def test_a_sample_of_one_solver_leaves_the_others_alone(store: Store) -> None:
    store.make_deduction_sample(4, 1, solver="small")
    store.make_deduction_sample(3, 1, solver="large")
    solvers = [r.text.solver for r in store.deduction_queue(0).rows]
    assert sorted(solvers) == ["large"] * 3 + ["small"] * 4
    assert store.deduction_labels(0) == {
        ("large", "original"): (3, 0),
        ("small", "original"): (4, 0),
    }


def test_progress_filters_and_the_last_act(store: Store) -> None:
    rater = store.rater("ana").id
    store.make_deduction_sample(6, 1)
    rows = store.deduction_queue(rater).rows
    assert store.last_deduction(rater) is None
    decide(store, rater, rows[0].item_id, "calculation", "logical")
    store.commit_label(rater, rows[1].item_id, schema(store), state="unsure")
    store.annotate(rater, rows[2].item_id, schema(store), flagged=True)
    assert store.last_deduction(rater) == rows[2].item_id
    read = store.deduction_queue(rater, show="unlabelled")
    assert (len(read.rows), read.n_all, read.n_decided) == (4, 6, 2)
    done = store.deduction_queue(rater, show="done").rows
    assert [r.item_id for r in done] == [rows[0].item_id, rows[1].item_id]
    flagged = store.deduction_queue(rater, show="flagged").rows
    assert [r.item_id for r in flagged] == [rows[2].item_id]
    progress = store.progress(rater, "deduction")
    assert (progress.n_items, progress.n_decided) == (6, 2)
    view = store.deduction_view(rows[0].item_id, rater)
    assert view.label is not None
    assert view.label.categories == ("calculation", "logical")
    assert (view.revealed, store.deduction_view(rows[0].item_id, store.rater("bob").id).label) == (
        False,
        None,
    )


def test_a_sealed_view_holds_what_was_asked_and_what_came(store: Store) -> None:
    rater = store.rater("ana").id
    store.make_deduction_sample(30, 1)
    fields = set(DeductionText.__dataclass_fields__)
    assert not fields & {"expected", "values", "readings", "gold", "verdicts", "original"}
    for row in store.deduction_queue(rater).rows:
        text = store.deduction_view(row.item_id, rater).text
        assert text == row.text
        assert text.item_id == row.item_id
        assert (text.way == "none") == (text.k == 0)
        assert len(text.prefix.splitlines()) == text.k


def test_the_seal_opens_by_numbers_once_all_of_them_are_labelled(store: Store) -> None:
    rater, kind = store.rater("ana").id, schema(store)
    store.make_deduction_sample(30, 1)
    judged(store)
    item, *others = same_numbers(store, rater, store.deduction_queue(rater).rows[0].item_id)
    assert others
    completion = store.deduction_view(item, rater).text.completion_id
    with pytest.raises(SealedError, match="not labelled yet"):
        store.reveal_deduction(item, rater, kind)
    before = decide(store, rater, item, "logical")
    assert (before.seal, before.before_reveal) == ("full", True)
    with pytest.raises(SealedError, match=f"{len(others)} more with the same numbers"):
        store.reveal_deduction(item, rater, kind)
    for look in (
        lambda: store.deduction_answer(completion, rater, kind),
        lambda: store.deduction_verdicts(item, rater, kind),
    ):
        with pytest.raises(SealedError):
            look()
    for other in others:
        decide(store, rater, other, "none")
    store.reveal_deduction(item, rater, kind)
    answer = store.deduction_answer(completion, rater, kind)
    assert answer.mutation.values
    assert answer.original["full_price" if answer.template.problem == "pens" else "whole_ink"] > 0
    assert set(answer.readings) == {"numbers"}
    (verdict,) = store.deduction_verdicts(others[0], rater, kind)
    assert (verdict.rater, verdict.category) == ("judge", "logical")
    late = decide(store, rater, item, "understanding")
    assert late.before_reveal is False
    # for another rater nothing is open
    bob = store.rater("bob").id
    with pytest.raises(SealedError):
        store.deduction_answer(completion, bob, kind)


def test_figures_leave_out_what_is_sealed(store: Store) -> None:
    rater, kind = store.rater("ana").id, schema(store)
    assert store.hidden_mutations(rater, kind) == frozenset()
    store.make_deduction_sample(4, 1)
    rows = store.deduction_queue(rater).rows
    completions = {r.text.completion_id for r in rows}
    assert store.hidden_completions(rater, kind) == completions
    hidden = store.hidden_mutations(rater, kind)
    assert hidden
    assert store.hidden_completions(rater, replace(kind, seal="open")) == frozenset()
    assert store.hidden_mutations(rater, replace(kind, seal="judge")) == frozenset()
    item, *others = same_numbers(store, rater, rows[0].item_id)
    for one in (item, *others):
        decide(store, rater, one)
    assert store.hidden_mutations(rater, kind) == hidden
    store.reveal_deduction(item, rater, kind)
    assert len(store.hidden_mutations(rater, kind)) == len(hidden) - 1


def test_who_saw_the_values_beside_one_reply_knows_them_for_the_next(store: Store) -> None:
    rater, kind = store.rater("ana").id, schema(store)
    solver = store.solvers()[0]
    first, second, *_ = [c for c in store.completions(solver.id) if c.mutation_id == 1]
    store.deduction_answer(first.id, rater, kind)
    items = store.deduction_items([first.id, second.id])
    seen, known = (decide(store, rater, items[c.id]) for c in (first, second))
    assert (seen.seal, seen.before_reveal) == ("judge", False)
    assert (known.seal, known.before_reveal) == ("judge", True)
    other = next(c for c in store.completions(solver.id) if c.mutation_id != 1)
    fresh = decide(store, rater, store.deduction_items([other.id])[other.id])
    assert (fresh.seal, fresh.before_reveal) == ("full", True)


def test_items_are_found_by_their_keys(store: Store) -> None:
    items = store.make_items(["deduction:pens/small/original/0", "deduction:inks/large/1/1"])
    assert list(items) == ["deduction:pens/small/original/0", "deduction:inks/large/1/1"]
    texts = store.deduction_texts(range(1, 31))
    assert {t.item_id for t in texts.values() if t.item_id} == set(items.values())
    found = {t.item: t for t in texts.values()}
    assert found["deduction:pens/small/original/0"].mutation == "original"
    assert store.make_items(list(items)) == items
    for bad in (
        "pens/none/0/0",
        "pens/small/9/0",
        "pens/small/x/0",
        "pens/small/0/0/axioms",
        "pens",
    ):
        with pytest.raises(ConflictError, match="names no reply"):
            store.make_items([f"deduction:{bad}"])


def test_a_style_other_than_the_first_stands_in_the_key(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        deduced(store, ["a/b"], styles=("original", "axioms"))
        keys = ["deduction:pens/a%2Fb/0/1", "deduction:pens/a%2Fb/0/1/axioms"]
        assert len(set(store.make_items(keys).values())) == 2
        with store.importing() as batch:
            for key in keys:
                batch.add_label(
                    NewLabel(key, "deduction", "cy", "human", "labelled", "logical+calculation")
                )
        label = store.label(store.rater("cy").id, store.make_items(keys)[keys[1]], schema(store))
        assert label is not None
        assert label.categories == ("calculation", "logical")


def test_only_schemas_of_replies_open_replies(store: Store) -> None:
    path = store.schema("path")
    with pytest.raises(ValueError, match="schema path is for path items"):
        store.deduction_answer(1, store.rater("ana").id, path)


def test_the_problems_own_numbers_are_the_originals(store: Store) -> None:
    rater, kind = store.rater("ana").id, schema(store)
    own = next(t for t in store.deduction_texts(range(1, 31)).values() if t.mutation == "original")
    answer = store.deduction_answer(own.completion_id, rater, kind)
    assert answer.mutation.number == ORIGINAL
    assert answer.original == answer.mutation.values
