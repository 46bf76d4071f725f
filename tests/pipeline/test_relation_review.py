"""The review of contradictions: what is found, in which order, how it reads, what is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.judging import judge
from pipeline.laying import lay
from pipeline.relation_review import ReviewCase, contradictions, make_review, review_case
from pipeline.relation_truth import TRUTH, category_of, label_truth, review_truth
from pipeline.relation_view import asked_set
from store import SealedError, Store, open_store
from store.relation_records import (
    AskingRecord,
    NewFact,
    NewObject,
    NewSet,
    RelationAnswerRecord,
)
from tests.judges.faults import ok
from tests.pipeline.scripted import endpoint, only_role, serving

YEARS = {"Ran": 1985.0, "Alien": 1979.0, "Up": 2009.0, "Her": 2013.0}
FILMS = NewSet(
    "films",
    "temporal",
    tuple(NewObject(n, y, f"{y:g}") for n, y in YEARS.items()),
    extra={"about": "the year it was first shown", "told": ["Dates are those of first nights."]},
)
TOWNS = NewSet(
    "towns",
    "spatial",
    tuple(NewObject(n, p) for n, p in (("A", (0.0, 0.0)), ("B", (1.0, 2.0)), ("C", (2.0, 1.0)))),
)
KIN = NewSet(
    "kin",
    "kinship",
    (NewObject("A"), NewObject("B"), NewObject("C")),
    (
        NewFact("truth", "A", "B", "mother"),
        NewFact("truth", "B", "A", "son"),
        NewFact("truth", "B", "C", "brother"),
        NewFact("truth", "A", "C", "mother"),
    ),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.db") as opened:
        yield opened


def asked(store: Store, of: NewSet, said: dict[str, str], model: str = "m") -> AskingRecord:
    """Store answers given as "a b" or "a b repeat" → word."""
    store.save_relation_set(of)
    ident = store.relation_set_named(of.name).id
    asking = store.relation_asking(
        ident, model, model=model, form="text", prompt_version="v1", parameters={}
    )
    names = [o.name for o in of.objects]
    rows = []
    for key, word in said.items():
        a, b, *repeat = key.split()
        rows.append(
            RelationAnswerRecord(
                names.index(a),
                names.index(b),
                word or None,
                "ok" if word else "invalid",
                int(repeat[0]) if repeat else 0,
                text=f"I say {a} {word} {b}",
            )
        )
    store.save_relation_answers(asking.id, rows)
    return asking


AROUND = {
    "Ran Alien": "before",
    "Alien Ran": "before",
    "Ran Up": "before",
    "Up Alien": "before",
    "Her Up": "before",
    "Up Her": "before",
    "Her Ran": "",
}


def named(store: Store, asking: AskingRecord) -> list[tuple[str, list[tuple[str, str]], int]]:
    names = [o.name for o in store.relation_objects(asking.set_id)]
    return [
        (c.axis, [(names[a], names[b]) for a, b in c.edges], c.breaks)
        for c in contradictions(asked_set(store, asking))
    ]


def test_pairs_answered_both_ways_come_before_cycles(store: Store) -> None:
    asking = asked(store, FILMS, AROUND)
    assert named(store, asking) == [
        ("time", [("Ran", "Alien"), ("Alien", "Ran")], 2),
        ("time", [("Up", "Her"), ("Her", "Up")], 1),
    ]
    longer = asked(
        store, FILMS, {"Ran Up": "before", "Up Her": "before", "Her Ran": "before", "Alien Ran": "after",
                       "Ran Alien": "after"}, "n",
    )  # fmt: skip
    assert [len(edges) for _, edges, _ in named(store, longer)] == [2, 3]
    made = make_review(store, asking)
    assert (made.n_found, made.n_too_long, made.n_beyond) == (made.made.n, 0, 0)
    again = make_review(store, asking)
    assert (again.made.n_new, again.made.n_withdrawn) == (0, 0)


def test_both_axes_of_a_map_are_reviewed_most_breaking_first(store: Store) -> None:
    asking = asked(
        store,
        TOWNS,
        {"A B": "southwest", "B A": "southwest", "B C": "northwest", "C A": "southwest"},
    )
    found = named(store, asking)
    assert {axis for axis, *_ in found} == {"x", "y"}
    pairs = [f for f in found if len(f[1]) == 2]
    assert [set(f[1]) for f in pairs] == [{("A", "B"), ("B", "A")}] * 2
    assert found[: len(pairs)] == pairs
    for part in (pairs, found[len(pairs) :]):
        assert [f[2] for f in part] == sorted((f[2] for f in part), reverse=True)


def test_a_family_is_reviewed_for_inverses_triples_and_genders(store: Store) -> None:
    asking = asked(
        store,
        KIN,
        {"A B": "mother", "B A": "mother", "B C": "brother", "A C": "aunt", "C A": "father"},
    )
    found = named(store, asking)
    axes = [axis for axis, *_ in found]
    assert axes == sorted(axes, key=["inverse", "triple", "gender"].index)
    assert ("inverse", [("A", "B"), ("B", "A")]) in [f[:2] for f in found]
    assert ("triple", [("A", "B"), ("B", "C"), ("A", "C")]) in [f[:2] for f in found]
    assert make_review(store, asking).made.n == len(found)


def test_a_limit_keeps_what_breaks_most_and_counts_the_rest(store: Store) -> None:
    asking = asked(store, FILMS, AROUND)
    n = len(contradictions(asked_set(store, asking)))
    assert n > 1
    made = make_review(store, asking, limit=1)
    assert (made.made.n, made.n_beyond, made.n_by_axis) == (1, n - 1, {"time": 1})
    with pytest.raises(ValueError, match="at least 1 is right"):
        make_review(store, asking, limit=0)


def test_nothing_to_review_is_said(store: Store) -> None:
    asking = asked(store, FILMS, {"Ran Up": ""})
    with pytest.raises(ValueError, match="no answer has a relation"):
        make_review(store, asking)
    assert make_review(store, asked(store, FILMS, {"Ran Up": "before"}, "n")).made.n == 0


def first_case(store: Store, asking: AskingRecord, rater: str = "ana") -> ReviewCase:
    ident = store.rater(rater).id
    row = store.relation_queue(ident, asking_id=asking.id)[0]
    return review_case(store, row.item_id, ident)


def test_a_case_reads_its_edges_out_with_the_models_own_words(store: Store) -> None:
    asking = asked(store, FILMS, {**AROUND, "Alien Ran 1": "after"})
    make_review(store, asking)
    case = first_case(store, asking)
    assert (case.about, case.told) == (
        "the year it was first shown",
        ("Dates are those of first nights.",),
    )
    said = {(e.edge.a, e.edge.b): e for e in case.edges}
    forward, back = said["Ran", "Alien"], said["Alien", "Ran"]
    assert (forward.words, forward.both_ways, back.both_ways) == (
        "before",
        "contradict",
        "contradict",
    )
    assert [x.text for x in forward.behind] == ["I say Ran before Alien", "I say Alien after Ran"]
    assert [x.text for x in back.behind] == ["I say Alien before Ran"]


def test_how_two_askings_go_together(store: Store) -> None:
    asking = asked(
        store,
        FILMS,
        {
            "Ran Up": "before",
            "Up Ran": "after",
            "Up Her": "before",
            "Her Up": "",
            "Her Ran": "before",
        },
    )
    make_review(store, asking)
    case = first_case(store, asking)
    assert {(e.edge.a, e.edge.b): e.both_ways for e in case.edges} == {
        ("Ran", "Up"): "agree",
        ("Up", "Her"): "one way",
        ("Her", "Ran"): "one way",
    }


def test_words_of_a_family_are_compared_as_inverses(store: Store) -> None:
    asking = asked(store, KIN, {"A B": "mother", "B A": "son", "B C": "brother", "A C": "aunt"})
    make_review(store, asking)
    case = first_case(store, asking)
    assert [(e.words, e.both_ways) for e in case.edges] == [
        ("mother", "agree"),
        ("brother", "one way"),
        ("aunt", "one way"),
    ]


def test_the_truth_names_the_first_wrong_edge_after_the_reveal(store: Store) -> None:
    asking = asked(store, FILMS, AROUND)
    make_review(store, asking)
    ana, schema = store.rater("ana").id, store.schema("cycle")
    for row in store.relation_queue(ana):
        case = review_case(store, row.item_id, ana)
        with pytest.raises(SealedError):
            review_truth(store, row.item_id, ana, schema)
        store.commit_label(ana, row.item_id, schema, category="edge1")
        store.reveal_relations([row.item_id], ana, schema)
        found = review_truth(store, row.item_id, ana, schema)
        right = [YEARS[e.edge.a] < YEARS[e.edge.b] for e in case.edges]
        assert [e.right for e in found.edges] == right
        assert [e.true for e in found.edges] == ["before" if r else "after" for r in right]
        assert found.first_wrong == f"edge{right.index(False) + 1}"


def test_truth_decides_only_what_it_knows() -> None:
    from pipeline.relation_truth import EdgeTruth

    def edges(*right: bool | None) -> tuple[EdgeTruth, ...]:
        return tuple(EdgeTruth(n, r, None) for n, r in enumerate(right, start=1))

    assert category_of("cycle", edges(True, False, False)) == "edge2"
    assert category_of("cycle", edges(True, True)) == "none"
    assert category_of("cycle", edges(None, False)) is None
    assert category_of("cycle", edges(False, None)) == "edge1"
    assert [category_of("pair", edges(r)) for r in (True, False, None)] == ["right", "wrong", None]


def test_the_truth_labels_as_a_reference_and_is_compared_under_the_seal(store: Store) -> None:
    asking = asked(store, FILMS, AROUND)
    make_review(store, asking)
    store.make_relation_sample(asking.id, 10)
    done = label_truth(store)
    assert done.n == done.n_decided == done.n_new
    assert label_truth(store).n_new == 0
    said = {x.label.item: x.label.category for x in store.export_labels(rater=TRUTH, schema="pair")}
    assert said == {
        "pair:films/m/Ran/Alien": "wrong",
        "pair:films/m/Alien/Ran": "right",
        "pair:films/m/Ran/Up": "right",
        "pair:films/m/Up/Alien": "wrong",
        "pair:films/m/Her/Up": "wrong",
        "pair:films/m/Up/Her": "right",
    }
    ana = store.rater("ana").id
    first, *rest = store.relation_queue(ana)
    store.commit_label(ana, first.item_id, store.schema("cycle"), category="edge1")
    laid = lay(store, "cycle", ["ana", TRUTH])
    assert laid.n_held["ana"] == 1
    assert laid.categories("ana") == [None] * len(laid.places)
    for row in rest:
        store.commit_label(ana, row.item_id, store.schema("cycle"), state="skipped")
    assert "edge1" in lay(store, "cycle", ["ana", TRUTH]).categories("ana")


def test_truth_of_a_map_and_of_a_family(store: Store) -> None:
    towns = asked(store, TOWNS, {"A B": "southwest", "B A": "southwest", "A C": "northwest"})
    kin = asked(store, KIN, {"A B": "mother", "B A": "daughter", "C A": "son"})
    for asking in (towns, kin):
        store.make_relation_sample(asking.id, 10)
    label_truth(store)
    said = {x.label.item: x.label.category for x in store.export_labels(rater=TRUTH, schema="pair")}
    assert said == {
        "pair:towns/m/A/B": "right",
        "pair:towns/m/B/A": "wrong",
        "pair:towns/m/A/C": "wrong",
        "pair:kin/m/A/B": "right",
        "pair:kin/m/B/A": "wrong",
    }


def test_a_judge_is_shown_the_cycle_and_never_the_truth(store: Store) -> None:
    asking = asked(store, FILMS, AROUND)
    review = make_review(store, asking)
    store.make_relation_sample(asking.id, 2)
    label_truth(store)
    verdict = {
        "cycle_judge": '{"rationale": "r", "verdict": "edge2"}',
        "pair_judge": '{"rationale": "r", "verdict": "wrong"}',
        "cause_judge": '{"rationale": "r", "verdict": "wrong fact"}',
    }
    for role, schema in (
        ("cycle_judge", "cycle"),
        ("pair_judge", "pair"),
        ("cause_judge", "cycle-cause"),
    ):
        with serving(only_role(role, lambda _, role=role: ok(verdict[role]))) as server:  # type: ignore[misc]
            done = judge(store, endpoint(server), schema=schema)
        n = 2 if schema == "pair" else review.made.n
        assert (done.n_items, done.n_complete) == (n, n)
        prompts = [seen.prompt for seen in server.seen]
        assert prompts
        for prompt in prompts:
            assert "the year it was first shown" in prompt
            assert not [y for y in YEARS.values() if f"{y:g}" in prompt]
        if schema == "cycle-cause":
            assert all("I say " in p and "edge" in p for p in prompts)
    small = {x.label.schema for x in store.export_labels() if x.label.rater_kind == "judge"}
    assert small == {"cycle", "pair", "cycle-cause"}
