"""Items without a question: keys, the review queue, the seal, reveals, files, comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.disagreements import disagreements
from pipeline.exporting import item_lines, label_lines
from pipeline.importing import import_files
from pipeline.laying import lay
from store import ConflictError, SealedError, Store, open_store
from store.label_records import LabelRecord
from store.relation_records import Contradiction
from tests.store.relation_world import (
    APART,
    BOTH_WAYS,
    FAMILY,
    FILMS,
    ROUND,
    SECRET,
    answer,
    ask,
    judged,
    reviewed,
)


def label(
    store: Store, rater: int, item: int, category: str = "edge1", schema: str = "cycle"
) -> LabelRecord:
    return store.commit_label(rater, item, store.schema(schema), category=category)


def reveal(store: Store, rater: int, *items: int) -> int:
    return store.reveal_relations(items, rater, store.schema("cycle"))


# --- what is made ----------------------------------------------------------------------------


def test_a_review_makes_items_with_stable_keys_in_its_order(store: Store) -> None:
    ids = reviewed(store)
    rows = store.relation_queue(store.rater("ana").id)
    assert [r.item_id for r in rows] == list(ids.values())
    assert [(r.position, r.set, r.asking, r.axis, r.n_edges) for r in rows] == [
        (1, "films/old", "m", "time", 2),
        (2, "films/old", "m", "time", 3),
        (3, "films/old", "m", "time", 2),
    ]
    assert all(r.item.startswith("cycle:films%2Fold/m/time/") for r in rows)
    assert {len(r.item.rpartition("/")[2]) for r in rows} == {16}
    assert set(rows[1].objects) == {"Ran", "Alien", "Up"}
    keys = [r.item for r in rows]
    (asking,) = store.relation_askings()
    turned = Contradiction("time", ((1, 0), (0, 2), (2, 1)), 9, 2, (1, 1, 2))
    made = store.save_relation_review(asking.id, [turned, BOTH_WAYS, APART])
    assert (made.n, made.n_new, made.n_kept, made.n_withdrawn) == (3, 0, 0, 0)
    again = store.relation_queue(store.rater("ana").id)
    assert [r.item for r in again] == [keys[1], keys[0], keys[2]]


def test_where_a_cycle_begins_does_not_follow_the_order_of_objects(store: Store) -> None:
    asking = ask(store)
    rows = [
        Contradiction("time", ((a, b), (b, a)), 0, 0, (0, 0))
        for a in range(4)
        for b in range(a + 1, 4)
    ]
    store.save_relation_review(asking, rows)
    ana = store.rater("ana").id
    first = [store.relation_case(r.item_id, ana).edges[0] for r in store.relation_queue(ana)]
    names = [o.name for o in FILMS.objects]
    forward = [names.index(e.a) < names.index(e.b) for e in first]
    assert {True, False} == set(forward)


def test_a_contradiction_that_is_gone_leaves_the_queue_unless_a_person_labelled_it(
    store: Store,
) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    label(store, ana, ids["apart"])
    keys = {r.item_id: r.item for r in store.relation_queue(ana)}
    judged(store, keys[ids["round"]], "edge2")
    (asking,) = store.relation_askings()
    made = store.save_relation_review(asking.id, [BOTH_WAYS])
    assert (made.n, made.n_new, made.n_kept, made.n_withdrawn) == (2, 0, 1, 1)
    assert [r.item_id for r in store.relation_queue(ana)] == [ids["both"], ids["apart"]]
    progress = store.progress(ana, "cycle")
    assert (progress.n_items, progress.n_decided) == (2, 1)


@pytest.mark.parametrize("n", [1, 10])
def test_a_cycle_has_as_many_edges_as_the_categories_can_name(store: Store, n: int) -> None:
    edges = tuple((k % 4, (k + 1) % 4) for k in range(n))
    asking = ask(store)
    with pytest.raises(ValueError, match="from 2 to 9 can be labelled"):
        store.save_relation_review(asking, [Contradiction("time", edges, 0, 0, (0,) * n)])
    assert store.relation_queue(store.rater("ana").id) == ()


def test_a_case_shows_what_was_said_both_ways_and_no_truth(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    case = store.relation_case(ids["round"], ana)
    assert (case.kind, case.axis, case.set.name, case.asking.name) == (
        "cycle",
        "time",
        "films/old",
        "m",
    )
    said = {(e.a, e.b): e for e in case.edges}
    assert set(said) == {("Ran", "Up"), ("Up", "Alien"), ("Alien", "Ran")}
    back = said["Alien", "Ran"]
    assert [(x.relation, x.text) for x in back.there] == [("before", "1 is before 0.")]
    assert [(x.relation, x.text) for x in back.back] == [("before", "0 is before 1.")]
    assert (said["Ran", "Up"].back, said["Up", "Alien"].back) == ((), ())
    assert [e.category for e in case.edges] == ["edge1", "edge2", "edge3"]
    assert case.labels == {"cycle": None, "cycle-cause": None}
    shown = repr(case)
    assert not [year for year in ("1985", "1979", "2009") if year in shown]
    with pytest.raises(SealedError):
        store.relation_truth(ids["round"], ana, store.schema("cycle"))


def test_a_sample_of_pairs_is_seeded_and_keeps_what_people_labelled(store: Store) -> None:
    asking = ask(store)
    answer(store, asking, {(a, b): "before" for a in range(4) for b in range(4) if a != b})
    first = store.make_relation_sample(asking, 4, seed=1)
    assert (first.n_population, first.n_new, first.probability) == (12, 4, 4 / 12)
    ana = store.rater("ana").id
    rows = store.relation_queue(ana, "pair")
    assert len(rows) == 4
    assert all(r.item.startswith("pair:films%2Fold/m/") and r.axis is None for r in rows)
    same = store.make_relation_sample(asking, 4, seed=1)
    assert (same.n_new, same.n_same, same.n_withdrawn) == (0, 4, 0)
    assert store.relation_queue(ana, "pair") == rows
    kept = rows[0].item_id
    label(store, ana, kept, "right", "pair")
    for seed in range(2, 8):
        store.make_relation_sample(asking, 4, seed=seed)
        assert kept in [r.item_id for r in store.relation_queue(ana, "pair")]


def test_a_pair_without_a_relation_is_no_item(store: Store) -> None:
    reviewed(store)
    for key in (
        "pair:films%2Fold/m/Alien/Her",
        "pair:films%2Fold/m/Her/Alien",
        "pair:films%2Fold/m/Her/Nobody",
        "pair:films%2Fold/x/Ran/Up",
        "pair:films/m/Ran/Up",
        "pair:films%2Fold/m/Ran",
        "cycle:films%2Fold/m/time/0123456789abcdef",
    ):
        with pytest.raises(ConflictError):
            store.make_items([key])
    (made,) = store.make_items(["pair:films%2Fold/m/Ran/Up"]).values()
    assert store.make_items(["pair:films%2fold/m/Ran/Up"]) == {"pair:films%2fold/m/Ran/Up": made}


# --- the seal ----------------------------------------------------------------------------------


def test_a_label_before_the_reveal_is_kept_as_such_whatever_comes_after(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    before = label(store, ana, ids["both"], "edge2")
    assert (before.before_reveal, before.seal) == (True, "full")
    assert reveal(store, ana, ids["both"]) == 1
    assert reveal(store, ana, ids["both"]) == 0
    after = label(store, ana, ids["both"], "edge1")
    assert after.before_reveal is False
    (standing,) = store.standing("cycle", "ana")
    assert (standing.category, standing.changed_to, standing.held, standing.revealed) == (
        "edge2",
        "edge1",
        False,
        True,
    )
    undone = store.undo(ana)
    assert undone is not None
    assert undone.label is not None
    assert (undone.item_id, undone.case_id, undone.label.category) == (ids["both"], None, "edge2")
    assert undone.label.before_reveal is False
    redone = store.redo(ana)
    assert redone is not None
    assert redone.label is not None
    assert redone.label.category == "edge1"


def test_nothing_undecided_is_revealed_and_nothing_of_several(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    label(store, ana, ids["both"])
    with pytest.raises(SealedError, match="label it, or skip it, first"):
        reveal(store, ana, ids["both"], ids["round"])
    assert store.revealed_items(ana) == frozenset()
    store.commit_label(ana, ids["round"], store.schema("cycle"), state="skipped")
    assert reveal(store, ana, ids["both"], ids["round"]) == 2
    assert store.revealed_items(ana) == {ids["both"], ids["round"]}
    assert store.revealed_items(store.rater("bob").id) == frozenset()


def test_what_shares_two_objects_with_a_revealed_item_counts_as_seen(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    label(store, ana, ids["both"])
    check = store.relation_reveal_check([ids["both"]], ana, store.schema("cycle"))
    assert (check.ok, check.n_left) == (True, 1)
    reveal(store, ana, ids["both"])
    rows = {r.item_id: r for r in store.relation_queue(ana)}
    assert [(rows[i].revealed, rows[i].seen) for i in ids.values()] == [
        (True, True),
        (False, True),
        (False, False),
    ]
    assert label(store, ana, ids["round"]).before_reveal is False
    assert label(store, ana, ids["apart"]).before_reveal is True
    # Seen is not revealed: nobody's word on it is shown before it is.
    with pytest.raises(SealedError):
        store.relation_truth(ids["round"], ana, store.schema("cycle"))
    with pytest.raises(SealedError):
        store.said_on(ids["round"], ana, store.schema("cycle"))


def test_objects_shown_by_two_reveals_tell_the_pair_between_them(store: Store) -> None:
    asking = ask(store)
    across = Contradiction("time", ((1, 2), (2, 1)), 1, 0, (1, 1))
    answer(store, asking, {(0, 1): "before", (2, 3): "before"})
    store.save_relation_review(asking, [BOTH_WAYS, APART, across])
    ana = store.rater("ana").id
    both, apart, last = (r.item_id for r in store.relation_queue(ana))
    for item in (both, apart):
        label(store, ana, item)
    reveal(store, ana, both)
    assert not store.relation_case(last, ana).seen
    reveal(store, ana, apart)
    assert store.relation_case(last, ana).seen
    assert label(store, ana, last).before_reveal is False


def test_another_models_answers_about_the_same_objects_are_seen_too(store: Store) -> None:
    ids = reviewed(store)
    others = reviewed(store, "n")
    ana, bob = store.rater("ana").id, store.rater("bob").id
    label(store, ana, ids["both"])
    reveal(store, ana, ids["both"])
    assert label(store, ana, others["both"]).before_reveal is False
    assert label(store, ana, others["apart"]).before_reveal is True
    assert label(store, bob, others["both"]).before_reveal is True


def test_a_copy_of_a_set_under_another_name_is_seen_where_the_truth_is_the_same(
    store: Store,
) -> None:
    from dataclasses import replace

    ids = reviewed(store)
    copies = [replace(FILMS, name="copy"), replace(FILMS, name="other", objects=tuple(
        replace(o, truth=(o.truth or 0) + 1) for o in FILMS.objects  # type: ignore[operator]
    ))]  # fmt: skip
    made = []
    for of in copies:
        asking = ask(store, of)
        store.save_relation_review(asking, [BOTH_WAYS])
        (row,) = store.relation_queue(store.rater("ana").id, asking_id=asking)
        made.append(row.item_id)
    ana = store.rater("ana").id
    label(store, ana, ids["both"])
    reveal(store, ana, ids["both"])
    assert [label(store, ana, i).before_reveal for i in made] == [False, True]


def test_level_judge_shows_the_truth_at_once_and_labels_say_so(store: Store) -> None:
    from dataclasses import replace

    ids = reviewed(store)
    ana = store.rater("ana").id
    judged(store, next(r.item for r in store.relation_queue(ana)), "edge2")
    level = replace(store.schema("cycle"), seal="judge")
    truth = store.relation_truth(ids["both"], ana, level)
    assert truth.objects["Alien"].truth == 1979.0
    assert truth.verdicts["cycle"] == ()
    assert store.unseals() == ()
    assert label(store, ana, ids["both"]).seal == "judge"
    assert label(store, ana, ids["round"]).seal == "judge"
    assert label(store, ana, ids["apart"]).seal == "full"
    assert label(store, ana, ids["both"], "edge2").before_reveal is True


def test_level_open_shows_all_and_counts_as_a_reveal(store: Store) -> None:
    from dataclasses import replace

    ids = reviewed(store)
    ana = store.rater("ana").id
    judged(store, next(r.item for r in store.relation_queue(ana)), "edge2")
    truth = store.relation_truth(ids["both"], ana, replace(store.schema("cycle"), seal="open"))
    assert [v.category for v in truth.verdicts["cycle"]] == ["edge2"]
    assert label(store, ana, ids["both"]).before_reveal is False


def test_a_reveal_shows_truth_repair_and_verdicts(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    key = next(r.item for r in store.relation_queue(ana) if r.item_id == ids["round"])
    judged(store, key, "edge3")
    judged(store, key, "edge1", "truth")
    label(store, ana, ids["round"])
    reveal(store, ana, ids["round"])
    truth = store.relation_truth(ids["round"], ana, store.schema("cycle"))
    edges = [(e.a, e.b) for e in truth.case.edges]
    assert truth.suspect is not None
    assert edges[truth.suspect - 1] == ("Up", "Alien")
    assert (truth.breaks, sorted(truth.edge_breaks)) == (2, [1, 1, 2])
    assert truth.edge_breaks[truth.suspect - 1] == 2
    assert {n: o.truth for n, o in truth.objects.items()} == {
        "Ran": 1985.0,
        "Alien": 1979.0,
        "Up": 2009.0,
    }
    said = {v.rater: (v.category, v.rationale) for v in truth.verdicts["cycle"]}
    assert said == {"judge": ("edge3", SECRET), "truth": ("edge1", SECRET)}
    assert [v.rater for v in store.said_on(ids["round"], ana, store.schema("cycle"))] == [
        "ana",
        "judge",
        "truth",
    ]


def test_a_family_tells_the_true_words_of_the_pairs_alone(store: Store) -> None:
    asking = ask(store, FAMILY)
    answer(store, asking, {(0, 1): "sister", (1, 0): "father"})
    store.save_relation_review(asking, [Contradiction("inverse", ((0, 1), (1, 0)), 1, 1, (1, 1))])
    ana = store.rater("ana").id
    (row,) = store.relation_queue(ana)
    label(store, ana, row.item_id)
    reveal(store, ana, row.item_id)
    truth = store.relation_truth(row.item_id, ana, store.schema("cycle"))
    assert truth.facts == {("A", "B"): "mother", ("B", "A"): "son"}


# --- comparisons ---------------------------------------------------------------------------------


def test_a_comparison_holds_back_what_is_not_revealed_item_by_item(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    keys = {r.item_id: r.item for r in store.relation_queue(ana)}
    for item in ids.values():
        judged(store, keys[item], "edge1")
    label(store, ana, ids["both"], "edge2")
    label(store, ana, ids["apart"], "edge1")
    reveal(store, ana, ids["both"])
    laid = lay(store, "cycle", ["ana", "judge"])
    said = dict(zip((p.item_id for p in laid.places), laid.categories("ana"), strict=True))
    assert said[ids["both"]] == "edge2"
    assert said.get(ids["apart"]) is None
    assert laid.n_held["ana"] == 1
    assert set(laid.questions) == {"films/old/m"}
    pairs = {p.item: p for p in store.label_pairs("cycle", "ana", "judge")}
    assert pairs[keys[ids["both"]]].a_held is False
    assert pairs[keys[ids["apart"]]].a_held is True
    found = disagreements(store, "ana", "judge", ana, "cycle")
    assert [(d.item, d.said) for d in found.rows] == [(keys[ids["both"]], ("edge2", "edge1"))]


def test_when_all_is_labelled_everything_is_compared(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    for row in store.relation_queue(ana):
        judged(store, row.item, "edge1")
        label(store, ana, row.item_id, "edge1")
    laid = lay(store, "cycle", ["ana", "judge"])
    assert len(laid.places) == len(ids)
    assert laid.categories("ana") == laid.categories("judge") == ["edge1"] * 3


def test_nobody_decides_between_labels_on_what_they_have_not_revealed(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    label(store, ana, ids["both"])
    schema = store.schema("cycle")
    with pytest.raises(SealedError, match="reveal it first"):
        store.adjudicate(ids["both"], ana, schema, category="edge2", reason="dates")
    reveal(store, ana, ids["both"])
    assert store.adjudicate(ids["both"], ana, schema, category="edge2", reason="dates").category
    assert [a.category for a in store.adjudications("cycle")] == ["edge2"]


def test_a_session_counts_what_was_done_on_cycles(store: Store) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    session = store.start_session(ana, 5)
    schema = store.schema("cycle")
    store.commit_label(
        ana, ids["both"], schema, category="edge1", session_id=session.id, active_seconds=2.0
    )
    store.commit_label(ana, ids["apart"], schema, state="unsure", session_id=session.id)
    summary = store.session_summary(session.id, "cycle")
    assert (summary.n_decided, summary.n_items, summary.n_unsure) == (2, 2, 1)
    assert summary.median_seconds == 2.0
    assert store.last_relation(ana) == ids["apart"]


# --- files -----------------------------------------------------------------------------------------


def export(store: Store, file_format: str) -> tuple[str, str]:
    items = "".join(item_lines(store, file_format))  # type: ignore[arg-type]
    labels = "".join(label_lines(store, file_format, history=True))  # type: ignore[arg-type]
    return items, labels


@pytest.mark.parametrize("file_format", ["jsonl", "csv"])
def test_items_and_labels_there_and_back(store: Store, tmp_path: Path, file_format: str) -> None:
    ids = reviewed(store)
    ana = store.rater("ana").id
    label(store, ana, ids["both"], "edge2")
    label(store, ana, ids["both"], "answer preference", "cycle-cause")
    label(store, ana, ids["round"], "none")
    reveal(store, ana, ids["both"])
    label(store, ana, ids["both"], "edge1")
    (pair,) = store.make_items(["pair:films%2Fold/m/Ran/Up"]).values()
    label(store, ana, pair, "wrong", "pair")
    for row in store.relation_queue(ana):
        judged(store, row.item, "edge1")
    items, labels = export(store, file_format)
    paths = []
    for name, content in (("items", items), ("labels", labels)):
        paths.append(tmp_path / f"{name}.{file_format}")
        paths[-1].write_text(content, encoding="utf-8")
    again = import_files(store, paths)
    assert (again.rejected, set(again.items), set(again.labels)) == (
        [],
        {"known"},
        {"known", "superseded"},
    )
    assert export(store, file_format) == (items, labels)
    with open_store(tmp_path / "other.db") as other:
        answer(other, ask(other), {(0, 1): "before", (1, 0): "before", (0, 2): "before"})
        fresh = import_files(other, paths)
        assert fresh.rejected == []
        assert export(other, file_format) == (items, labels)
        queue = other.relation_case(
            other.item_ids([next(iter(json_keys(items, file_format)))]).popitem()[1],
            other.rater("ana").id,
        )
        assert queue.edges


def json_keys(items: str, file_format: str) -> list[str]:
    lines = items.splitlines()
    if file_format == "csv":
        return [line.partition(",")[0] for line in lines[1:]]
    return [json.loads(line)["item"] for line in lines]


def test_an_exported_cycle_carries_its_edges_and_nothing_of_the_repair(store: Store) -> None:
    ids = reviewed(store)
    rows = [json.loads(x) for x in item_lines(store)]
    by_key = {r["item"]: r for r in rows}
    ana = store.rater("ana").id
    key = next(r.item for r in store.relation_queue(ana) if r.item_id == ids["round"])
    edges = [[e.a, e.b] for e in store.relation_case(ids["round"], ana).edges]
    assert by_key[key] == {
        "item": key,
        "kind": "cycle",
        "dataset": "films/old",
        "question_id": None,
        "pool": "m",
        "sample": None,
        "step": None,
        "decomposition": None,
        "criterion": None,
        "editing": None,
        "case": None,
        "edges": edges,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [["Ran", "Up"], ["Up", "Ran"]]}, "is the key of other edges"),
        ({"edges": [["Ran"]]}, "a list of pairs of names is right"),
        ({"edges": "Ran"}, "a list of pairs of names is right"),
        ({"edges": None, "item": "cycle:films%2Fold/m/time/00"}, "names no cycle in the database"),
    ],
)
def test_an_item_line_that_is_none_is_refused(
    store: Store, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    reviewed(store)
    lines = list(item_lines(store))
    wrong = json.dumps({**json.loads(lines[0]), **change})
    path = tmp_path / "items.jsonl"
    path.write_text("".join(lines) + wrong + "\n", encoding="utf-8")
    summary = import_files(store, [path])
    assert [(r.line, message in r.message) for r in summary.rejected] == [(len(lines) + 1, True)]


def test_world_is_what_the_tests_say() -> None:
    assert [c.suspect for c in (BOTH_WAYS, ROUND, APART)] == [0, 1, 1]
