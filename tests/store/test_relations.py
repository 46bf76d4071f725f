"""Relation sets, ways of asking about them, and answers that never change."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from store import ConflictError, Store
from store.relation_records import (
    AnswerCounts,
    NewFact,
    NewObject,
    NewSet,
    RelationAnswerRecord,
    ValueRecord,
)

FILMS = NewSet(
    "films",
    "temporal",
    (
        NewObject("Coraline", 2009.09, "2009-02-06", {"made_by": "Selick"}),
        NewObject("Up", 2009.4, "2009-05-29"),
        NewObject("Ran \u2028 (1985)", 1985.41, "1985-06-01"),
    ),
    source="release dates, own list",
    extra={"about": "the day it was first shown"},
)
FAMILY = NewSet(
    "family",
    "kinship",
    (NewObject("A"), NewObject("B"), NewObject("C")),
    (
        NewFact("truth", "A", "B", "mother"),
        NewFact("truth", "B", "A", "son"),
        NewFact("truth", "A", "C", None, extra={"outside": "great-aunt"}),
        NewFact("told", "A", "B", "mother"),
    ),
)
LOOP = NewSet(
    "loop",
    "contradiction",
    (NewObject("P"), NewObject("Q")),
    (NewFact("told", "P", "Q", value=(3, -4)), NewFact("told", "Q", "P", value=(1, 1))),
)


def test_a_set_comes_back_as_it_was_stored(store: Store) -> None:
    assert [store.save_relation_set(s) for s in (FILMS, FAMILY, LOOP)] == ["added"] * 3
    family, films, loop = store.relation_sets()
    assert (films.name, films.kind, films.source, films.extra, films.n_objects) == (
        "films",
        "temporal",
        "release dates, own list",
        {"about": "the day it was first shown"},
        3,
    )
    assert (films.axes, loop.axes, family.axes, films.n_pairs) == (("time",), ("x", "y"), (), 6)
    objects = store.relation_objects(films.id)
    assert [(o.position, o.name, o.truth, o.stated) for o in objects] == [
        (0, "Coraline", 2009.09, "2009-02-06"),
        (1, "Up", 2009.4, "2009-05-29"),
        (2, "Ran \u2028 (1985)", 1985.41, "1985-06-01"),
    ]
    assert objects[0].extra == {"made_by": "Selick"}
    truth = store.relation_facts(family.id, "truth")
    assert [(f.a, f.b, f.relation) for f in truth] == [
        (0, 1, "mother"),
        (0, 2, None),
        (1, 0, "son"),
    ]
    assert truth[1].extra == {"outside": "great-aunt"}
    assert [(f.a, f.b, f.value) for f in store.relation_facts(loop.id)] == [
        (0, 1, (3.0, -4.0)),
        (1, 0, (1.0, 1.0)),
    ]
    assert store.relation_set_named("films") == films
    with pytest.raises(ValueError, match="there are: family, films, loop"):
        store.relation_set_named("films2")


def test_the_same_set_again_is_known_and_another_of_its_name_is_refused(store: Store) -> None:
    for one in (FILMS, FAMILY, LOOP):
        store.save_relation_set(one)
    before = store.relation_sets()
    assert [store.save_relation_set(s) for s in (FILMS, FAMILY, LOOP)] == ["known"] * 3
    others = [
        NewSet("films", "temporal", FILMS.objects[:2], source=FILMS.source, extra=FILMS.extra),
        NewSet("films", "temporal", FILMS.objects, source="elsewhere", extra=FILMS.extra),
        NewSet("films", "temporal", FILMS.objects, source=FILMS.source),
        NewSet("family", "kinship", FAMILY.objects, FAMILY.facts[:3]),
        NewSet("loop", "spatial", LOOP.objects, LOOP.facts),
        NewSet("loop", "contradiction", LOOP.objects, (LOOP.facts[0],)),
    ]
    for other in others:
        with pytest.raises(ConflictError, match="give this one another name"):
            store.save_relation_set(other)
    assert store.relation_sets() == before


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (NewSet("a\tb", "temporal"), "without control characters"),
        (NewSet("s", "temporal", (NewObject("x"), NewObject("y\n"))), "without control"),
        (NewSet("s", "temporal", (NewObject("x", (1.0, 2.0)),)), "one number, a date is right"),
        (NewSet("s", "spatial", (NewObject("x", 1.0),)), "x and y is right"),
        (NewSet("s", "kinship", (NewObject("x", 1.0),)), "no number is right"),
        (NewSet("s", "spatial", (NewObject("x", (float("nan"), 0.0)),)), "finite numbers"),
        (NewSet("s", "kinship", (NewObject("x"),), (NewFact("told", "x", "z"),)), "no object 'z'"),
        (NewSet("s", "kinship", (NewObject("x"),), (NewFact("told", "x", "x"),)), "both sides"),
    ],
)
def test_a_set_that_is_none_leaves_nothing_behind(store: Store, bad: NewSet, message: str) -> None:
    with pytest.raises(ConflictError, match=message):
        store.save_relation_set(bad)
    assert store.relation_sets() == ()


def test_an_asking_is_a_name_with_one_model_form_prompt_and_parameters(store: Store) -> None:
    store.save_relation_set(FILMS)
    ident = store.relation_set_named("films").id
    said = {"model": "m", "form": "schema", "prompt_version": "v1", "parameters": {"seed": 1}}
    first = store.relation_asking(ident, "m@schema", **said)  # type: ignore[arg-type]
    assert store.relation_asking(ident, "m@schema", **said) == first  # type: ignore[arg-type]
    assert (first.set, first.kind, first.cluster) == ("films", "temporal", "films/m@schema")
    probe = store.relation_asking(ident, "m@schema", asks="objects", **said)  # type: ignore[arg-type]
    assert probe.id != first.id
    assert store.relation_askings(ident) == (first, probe)
    assert store.relation_askings(asks="objects") == (probe,)
    for name, value in [
        ("model", "n"),
        ("form", "text"),
        ("prompt_version", "v2"),
        ("parameters", {"seed": 2}),
    ]:
        with pytest.raises(ConflictError, match=f"another {name}: give this one another name"):
            store.relation_asking(ident, "m@schema", **{**said, name: value})  # type: ignore[arg-type]
    with pytest.raises(ConflictError, match="without control characters"):
        store.relation_asking(ident, "m\x1b", **said)  # type: ignore[arg-type]


def asked(store: Store, asks: str = "pairs") -> int:
    store.save_relation_set(FILMS)
    ident = store.relation_set_named("films").id
    return store.relation_asking(
        ident,
        "m",
        model="m",
        form="text",
        prompt_version="v1",
        parameters={},
        asks=asks,  # type: ignore[arg-type]
    ).id


ANSWERS = (
    RelationAnswerRecord(0, 1, "before", text="\ud800 A is \x00 before B."),
    RelationAnswerRecord(0, 1, "after", repeat=1, text="after"),
    RelationAnswerRecord(1, 0, None, "ok", text="Both!", reason="the answer names both"),
    RelationAnswerRecord(2, 0, None, "refused", reason="content filter"),
    RelationAnswerRecord(2, 1, "before", extra={"finish_reason": "stop"}),
)


def test_answers_are_kept_with_their_words_those_without_a_relation_too(store: Store) -> None:
    asking = asked(store)
    assert store.save_relation_answers(asking, ANSWERS) == 5
    assert store.relation_answers(asking) == ANSWERS
    assert store.save_relation_answers(asking, reversed(ANSWERS)) == 0
    counts = store.relation_counts(asking)
    assert counts == AnswerCounts(5, 3, 2, {"ok": 4, "refused": 1})
    assert counts.n_unusable == 2


def test_another_answer_to_the_same_pair_is_refused_whole(store: Store) -> None:
    asking = asked(store)
    store.save_relation_answers(asking, ANSWERS)
    new = RelationAnswerRecord(1, 2, "after")
    for other in (
        RelationAnswerRecord(0, 1, "after"),
        RelationAnswerRecord(0, 1, "before", text="A is before B"),
        RelationAnswerRecord(1, 0, "after", text="Both!"),
    ):
        with pytest.raises(ConflictError, match="another answer to pair"):
            store.save_relation_answers(asking, (new, other))
    assert store.relation_answers(asking) == ANSWERS


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (RelationAnswerRecord(0, 0, "before"), "two different objects from 0 to 2"),
        (RelationAnswerRecord(0, 3, "before"), "two different objects from 0 to 2"),
        (RelationAnswerRecord(-1, 1, "before"), "two different objects from 0 to 2"),
        (RelationAnswerRecord(0, 1, "before", "failed"), "no reply"),  # type: ignore[arg-type]
        (RelationAnswerRecord(0, 1, "before", "truncated"), "although it ended as 'truncated'"),
    ],
)
def test_what_is_no_answer_is_refused(
    store: Store, row: RelationAnswerRecord, message: str
) -> None:
    asking = asked(store)
    with pytest.raises(ValueError, match=message):
        store.save_relation_answers(asking, (row,))
    assert store.relation_answers(asking) == ()


def test_what_a_model_says_of_objects_is_kept_apart_from_relations(store: Store) -> None:
    asking = asked(store, "objects")
    rows = (
        ValueRecord(0, 2009.0, text="2009"),
        ValueRecord(1, None, "invalid", text="no idea", reason="no date"),
        ValueRecord(2, (1.5, -2.0), repeat=3),
    )
    assert store.save_relation_values(asking, rows) == 3
    assert store.relation_values(asking) == rows
    assert store.save_relation_values(asking, rows) == 0
    with pytest.raises(ConflictError, match="another answer to object 0"):
        store.save_relation_values(asking, (ValueRecord(0, 2010.0, text="2009"),))
    with pytest.raises(ValueError, match="objects are numbered from 0 to 2"):
        store.save_relation_values(asking, (ValueRecord(3, 2010.0),))
    with pytest.raises(ValueError, match="asked about objects, not pairs"):
        store.save_relation_answers(asking, ANSWERS)


@pytest.mark.parametrize(
    "table", ["relation_fact", "relation_asking", "relation_answer", "relation_value"]
)
def test_what_was_asked_said_and_told_is_never_changed(store: Store, table: str) -> None:
    for one in (FAMILY, LOOP):
        store.save_relation_set(one)
    store.save_relation_answers(asked(store), ANSWERS)
    store.save_relation_values(asked(store, "objects"), (ValueRecord(0, 2009.0),))
    column = {"relation_fact": "relation", "relation_asking": "model"}.get(table, "reason")
    verbs = [f"UPDATE {table} SET {column} = 'x'", f"DELETE FROM {table}"]
    if store.file is not None:
        verbs.append(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
    for verb in verbs:
        with pytest.raises(DatabaseError, match="append-only"), store._write() as s:
            s.connection().execute(text(verb))
