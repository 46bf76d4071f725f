"""Aggregates against values counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store import Store
from store.records import FaithfulnessRow, NewLabel
from tests.store.world import (
    Sealed,
    add_labels,
    add_traces,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    pool_score,
    score_and_make_cases,
    small_project,
)


def people(rater: str, said: dict[str, str | None]) -> list[NewLabel]:
    """Labels of a person on samples of q0: a category, or None for unsure."""
    return [
        new_label(
            key_of("q0", sample),
            rater,
            category,
            rater_kind="human",
            state="unsure" if category is None else "labelled",
        )
        for sample, category in said.items()
    ]


# --- label pairs ---------------------------------------------------------------------------


def test_label_pairs_hold_every_item_that_either_touched(store: Store) -> None:
    small_project(store, 1)
    add_labels(store, people("ana", {"0": "faithful", "1": None, "2": "faithful"}))
    add_labels(store, people("bob", {"2": "spurious", "3": "spurious"}))
    add_labels(store, people("cyd", {"0": "spurious"}))
    pairs = {p.item: p for p in store.label_pairs("path", "ana", "bob")}
    rows = (
        ("0", "faithful", None, "labelled", None),
        ("1", None, None, "unsure", None),
        ("2", "faithful", "spurious", "labelled", "labelled"),
        ("3", None, "spurious", None, "labelled"),
    )
    keys = {key_of("q0", s): rest for s, *rest in rows}
    assert {k: [p.a, p.b, p.a_state, p.b_state] for k, p in pairs.items()} == keys
    assert {(p.question, p.inclusion_probability) for p in pairs.values()} == {("own/q0", 1.0)}
    swapped = {p.item: (p.b, p.a) for p in store.label_pairs("path", "bob", "ana")}
    assert swapped == {k: (p.a, p.b) for k, p in pairs.items()}
    assert store.label_pairs("other schema", "ana", "bob") == ()
    assert store.label_pairs("path", "nobody", "no one") == ()


def test_a_label_outside_every_case_has_no_inclusion_probability(store: Store) -> None:
    add_traces(store, [new_trace(new_question("q0"))])
    add_labels(store, people("ana", {"0": "faithful"}))
    (pair,) = store.label_pairs("path", "ana", "judge")
    assert (pair.a, pair.inclusion_probability) == ("faithful", None)


def test_the_newest_label_counts_and_an_undone_one_does_not(store: Store) -> None:
    (case,) = small_project(store, 1)
    ana, path = store.rater("ana").id, store.schema()
    one, two, *_ = item_ids(store, case, ana)
    store.commit_label(ana, one, path, category="faithful")
    store.commit_label(ana, one, path, category="spurious")
    store.commit_label(ana, two, path, category="faithful")
    store.undo(ana)
    (pair,) = store.label_pairs("path", "ana", "judge")
    assert pair.a == "spurious"


# --- raters and origins --------------------------------------------------------------------


def test_raters_are_counted_by_the_items_that_carry_a_category(store: Store) -> None:
    (case,) = small_project(store, 1)
    ana, path = store.rater("ana").id, store.schema()
    store.rater("authors", "reference")
    items = item_ids(store, case, ana)
    store.commit_label(ana, items[0], path, category="faithful")
    store.commit_label(ana, items[0], path, category="spurious")
    store.commit_label(ana, items[1], path, category="spurious")
    store.commit_label(ana, items[2], path, state="unsure")
    store.commit_label(ana, items[3], path, category="faithful")
    store.undo(ana)
    add_labels(
        store, [new_label(key_of("q0", "0"), "judge"), new_label(key_of("q0", "1"), "judge")]
    )
    add_labels(store, [new_label(key_of("q0", "1"), "judge", None)])
    assert [(r.name, r.kind, r.n_labelled) for r in store.raters()] == [
        ("ana", "human", 2),
        ("authors", "reference", 0),
        ("judge", "judge", 1),
    ]


def test_a_rater_is_of_one_kind(store: Store) -> None:
    assert store.rater("ana") == store.rater("ana")
    with pytest.raises(ValueError, match="'ana' is a human, not a judge"):
        store.rater("ana", "judge")


def test_origins_count_labels_by_the_reveal(store: Store) -> None:
    first, second = small_project(store, 2)
    ana, path = store.rater("ana").id, store.schema()
    decide(store, first, ana)
    store.reveal(first, ana, path)
    for item in item_ids(store, first, ana)[:3]:
        store.commit_label(ana, item, path, category="spurious")
    keys = [p.item for p in store.case(second, ana, path).paths]
    add_labels(
        store,
        [
            new_label(keys[0], "ana", rater_kind="human"),
            new_label(keys[1], "ana", rater_kind="human"),
            new_label(keys[2], "ana", rater_kind="human", before_reveal=True),
            new_label(keys[3], "ana", rater_kind="human", before_reveal=False),
        ],
    )
    assert store.label_origin_counts("path", "ana") == {
        "pre_reveal": 5,
        "unknown": 2,
        "post_reveal": 4,
    }


# --- judges --------------------------------------------------------------------------------


def test_a_judge_is_summed_up_by_its_standing_verdicts(store: Store) -> None:
    questions = [new_question(f"q{i}") for i in range(8)]
    add_traces(store, (new_trace(q) for q in questions))
    said: list[tuple[str | None, int | None]] = [
        ("faithful", None),
        ("faithful", 1),
        ("faithful", 0),
        ("spurious", 1),
        ("spurious", None),
        ("spurious", 5),
        (None, None),
        ("spurious", None),
    ]
    add_labels(
        store,
        (
            new_label(key_of(f"q{i}", "0"), "judge", category, first_wrong_step=step)
            for i, (category, step) in enumerate(said)
        ),
    )
    add_labels(store, [new_label(key_of("q7", "0"), "judge", "spurious", first_wrong_step=0)])
    add_labels(store, [new_label(key_of("q0", "0"), "other judge", "faithful", first_wrong_step=0)])
    found = store.judge_summary("judge")
    assert (found.n, dict(found.counts)) == (8, {"faithful": 3, "spurious": 4})
    assert found.self_contradictions == {
        "faithful_with_wrong_step": 2,
        "spurious_without_step": 1,
    }
    assert (found.step_out_of_range, found.unparsed) == (1, 1)
    assert store.judge_summary("nobody").n == 0


# --- faithfulness --------------------------------------------------------------------------


def derived(store: Store, said: dict[str, str | None]) -> FaithfulnessRow:
    add_labels(store, people("ana", said))
    (row,) = store.faithfulness("ana")
    return row


@pytest.mark.parametrize(
    ("said", "sc", "labelled", "gsc"),
    [
        ({}, None, 0, None),
        ({"0": "faithful", "1": "faithful", "3": "spurious", "2": "spurious"}, True, 3, False),
        ({"0": "faithful", "1": "spurious", "3": "spurious", "2": "faithful"}, False, 3, True),
        ({"0": "faithful", "1": "spurious"}, None, 2, None),
        ({"0": "faithful", "1": "spurious", "3": None, "2": None}, None, 2, None),
        ({"0": "faithful", "1": None, "3": None}, True, 1, None),
        ({"2": "faithful"}, None, 0, True),
    ],
)
def test_sc_follows_most_of_its_labelled_supporters_and_gsc_its_medoid(
    said: dict[str, str | None], sc: bool | None, labelled: int, gsc: bool | None, store: Store
) -> None:
    small_project(store, 1, answers=(1, 1, 2, 1))
    row = derived(store, said)
    assert (row.sc_faithful, row.sc_labelled, row.sc_supporters) == (sc, labelled, 3)
    assert (row.gsc_faithful, row.disagree) == (gsc, True)
    assert row.extra == {"sc_correct": True, "gsc_correct": False}


def test_where_both_agree_the_medoid_is_among_the_supporters(store: Store) -> None:
    small_project(store, 1, answers=(1, 2, 1, 1))
    row = derived(store, {"2": "spurious", "0": "faithful", "3": "faithful"})
    assert (row.sc_faithful, row.sc_labelled, row.sc_supporters) == (True, 3, 3)
    assert (row.gsc_faithful, row.disagree) == (False, False)


def test_nobody_supports_an_answer_that_there_is_not(store: Store) -> None:
    small_project(store, 1, answers=(None, None))
    row = derived(store, {"0": "faithful", "1": "faithful"})
    assert (row.sc_faithful, row.sc_labelled, row.sc_supporters) == (None, 0, 0)


def test_faithfulness_uses_the_label_from_before_the_reveal(store: Store) -> None:
    (case,) = small_project(store, 1)
    ana, path = store.rater("ana").id, store.schema()
    decide(store, case, ana, "spurious")
    store.reveal(case, ana, path)
    decide(store, case, ana, "faithful")
    (row,) = store.faithfulness("ana")
    assert (row.sc_faithful, row.gsc_faithful) == (False, False)


# --- overview ------------------------------------------------------------------------------


def test_the_overview_counts_by_dataset_and_pool(store: Store) -> None:
    add_traces(
        store,
        (
            new_trace(
                new_question(f"q{i}", gold=gold), str(k), pool=pool, answer=answer, steps=steps
            )
            for pool in ("a", "b")
            for i, gold in enumerate((1, 2, None))
            for k, (answer, steps) in enumerate(
                [(1, ("x", "y")), (1, ("x",)), (2, ("x", "y", "z")), (None, ())]
            )
            if pool == "a" or (i == 0 and k < 3)
        ),
    )
    score_and_make_cases(store, paths=("1", "2"))
    ana, path = store.rater("ana").id, store.schema()
    (lone,) = [r.case_id for r in store.cases(ana, pool="b").rows]
    decide(store, lone, ana)
    other = next(r.case_id for r in store.cases(ana, pool="a").rows)
    store.commit_label(ana, item_ids(store, other, ana)[0], path, state="skipped")
    store.annotate(ana, item_ids(store, other, ana)[1], path, flagged=True)
    a, b = store.overview(ana)
    assert (a.dataset, a.pool, b.dataset, b.pool) == ("own", "a", "own", "b")
    assert (a.n_questions, a.n_traces, a.n_usable, a.n_parsed, a.n_strict) == (3, 12, 9, 9, 12)
    assert (b.n_questions, b.n_traces, b.n_usable, b.n_parsed, b.n_strict) == (1, 3, 3, 3, 3)
    assert (a.n_steps, a.n_unannotated_steps, b.n_steps) == (18, 0, 6)
    # SC says 1, GSC (sample 2) says 2; gold is 1, 2 and none.
    assert (a.n_scored, a.n_gold, a.sc_correct, a.gsc_correct, a.n_disagree) == (3, 2, 1, 1, 3)
    assert (b.n_scored, b.n_gold, b.sc_correct, b.gsc_correct, b.n_disagree) == (1, 1, 1, 0, 1)
    assert (a.n_cases, a.n_cases_done, a.n_items, a.n_items_done) == (3, 0, 6, 1)
    assert (b.n_cases, b.n_cases_done, b.n_items, b.n_items_done) == (1, 1, 2, 2)


def test_unannotated_steps_are_counted(store: Store) -> None:
    trace = new_trace(new_question("q0"), steps=("x", "y", "z"))
    first, *rest = trace.trace.steps
    steps = (replace(first, annotated=False), *rest)
    add_traces(store, [replace(trace, trace=replace(trace.trace, steps=steps), strict=False)])
    (row,) = store.overview(None)
    assert (row.n_steps, row.n_unannotated_steps, row.n_strict) == (3, 1, 0)
    assert (row.n_scored, row.n_cases, row.n_items, row.n_items_done) == (0, 0, 0, 0)


# --- scores --------------------------------------------------------------------------------


def test_scores_come_back_as_saved_and_are_replaced(store: Store) -> None:
    add_traces(
        store, (new_trace(new_question("q0"), str(k), answer=a) for k, a in enumerate((1, 2)))
    )
    (pool,) = store.pools()
    records = store.pool_traces(pool.id)
    scoring = store.scoring(store.embedder("m", "1", 3), {}, "t").id
    for sealed in (Sealed("0", (0.1 + 0.2, 1 / 3)), Sealed("1", (1e-300, -0.5), 0.25)):
        score = pool_score(pool.id, records, pool.gold, sealed)
        score = replace(score, entropy=None, flags=("tied_medoid",), excluded={"no_answer": 2})
        undefined = replace(score.traces[1], consensus=None, node_support=(None, 0.5))
        score = replace(score, traces=(score.traces[0], undefined))
        store.save_pool_scores(scoring, [score])
        assert store.pool_score(scoring, pool.id) == score
        assert store.pool_scores(scoring) == (replace(score, traces=()),)
    assert store.n_unscored_pools(scoring) == 0


def test_one_scoring_is_primary(store: Store) -> None:
    embedder = store.embedder("m", "1", 3)
    first = store.scoring(embedder, {"beta": 0.4}, "t")
    second = store.scoring(embedder, {"beta": 0.5}, "t")
    assert (first.is_primary, second.is_primary) == (True, False)
    assert store.scoring(embedder, {"beta": 0.4}, "t").id == first.id
    moved = store.scoring(embedder, {"beta": 0.5}, "t", primary=True)
    assert (moved.id, moved.is_primary) == (second.id, True)
    again = store.scoring(embedder, {"beta": 0.5}, "t", primary=True)
    assert again.is_primary
    assert store.primary_scoring() == again
    assert not store.scoring(embedder, {"beta": 0.4}, "t").is_primary


def test_cases_are_in_no_order_that_scores_give(store: Store) -> None:
    cases = small_project(store, 8)
    by_question = [r.case_id for r in store.cases(0, sort="question").rows]
    assert sorted(cases) == sorted(by_question)
    assert cases != by_question
    assert case_ids(store, 0) == cases
