"""Relations from files: sets of objects, answers of models, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.importing import ImportSummary, NothingUsableError, import_files
from store import Store, open_store
from store.relation_records import RelationAnswerRecord


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.db") as opened:
        yield opened


def load(store: Store, tmp_path: Path, **files: str) -> ImportSummary:
    paths = []
    for name, content in files.items():
        stem, _, ending = name.rpartition("_")
        paths.append(tmp_path / f"{stem}.{ending}")
        paths[-1].write_text(content, encoding="utf-8")
    return import_files(store, paths)


FIGURES = "name,birth_year,note\nRumi,1207,\nWace,1110,c.\nDante,-3.5,\n"
FILMS = 'name,release_date,kind\n"Up, again",2009-05-29,movie\nRan,1985-07-02,movie\n'
CITIES = "name,state,lon,lat\nDenver,CO,-104.8758,39.762\nMiami,FL,-80.2101,25.784\n"
LOOP = "a,b,a_minus_b_x,a_minus_b_y\nP,Q,-9,4\nQ,P,1,1\n"
KIN = (
    "a,b,relation_a_is_the_R_of_b,determined,is_seed_fact,also_accept,outside_vocabulary_name\n"
    "A,B,mother,1,1,,\nB,A,son,1,0,,\nA,C,nephew-in-law,1,0,nephew,\nC,A,,0,0,,great-uncle\n"
)
SETS = {
    "figures_csv": FIGURES,
    "films_csv": FILMS,
    "cities_csv": CITIES,
    "loop_csv": LOOP,
    "kin_csv": KIN,
}


def test_sets_of_every_kind_are_read_from_csv(store: Store, tmp_path: Path) -> None:
    summary = load(store, tmp_path, **SETS)
    assert summary.relations == {"objects": {"added": 7}, "facts": {"added": 6}}
    assert [(s.name, s.kind, s.n_objects) for s in store.relation_sets()] == [
        ("cities", "spatial", 2),
        ("figures", "temporal", 3),
        ("films", "temporal", 2),
        ("kin", "kinship", 3),
        ("loop", "contradiction", 2),
    ]
    by_name = {s.name: s.id for s in store.relation_sets()}

    def truths(name: str) -> list[object]:
        return [(o.name, o.truth, o.stated) for o in store.relation_objects(by_name[name])]

    assert truths("figures") == [
        ("Rumi", 1207.0, "1207"),
        ("Wace", 1110.0, "1110"),
        ("Dante", -3.5, "-3.5"),
    ]
    assert store.relation_objects(by_name["figures"])[1].extra == {"note": "c."}
    assert truths("films") == [
        ("Up, again", 2009 + 148 / 365, "2009-05-29"),
        ("Ran", 1985 + 182 / 365, "1985-07-02"),
    ]
    assert truths("cities") == [
        ("Denver", (-104.8758, 39.762), "-104.8758, 39.762"),
        ("Miami", (-80.2101, 25.784), "-80.2101, 25.784"),
    ]
    loop = store.relation_facts(by_name["loop"])
    assert [(f.use, f.a, f.b, f.value) for f in loop] == [
        ("told", 0, 1, (-9.0, 4.0)),
        ("told", 1, 0, (1.0, 1.0)),
    ]
    kin = store.relation_facts(by_name["kin"])
    assert [(f.use, f.a, f.b, f.relation, dict(f.extra)) for f in kin] == [
        ("told", 0, 1, "mother", {}),
        ("truth", 0, 1, "mother", {}),
        ("truth", 0, 2, "nephew-in-law", {"also_accept": "nephew"}),
        ("truth", 1, 0, "son", {}),
        ("truth", 2, 0, None, {"outside_vocabulary_name": "great-uncle"}),
    ]


def test_the_same_files_again_change_nothing(store: Store, tmp_path: Path) -> None:
    load(store, tmp_path, **SETS)
    sets = store.relation_sets()
    objects = [store.relation_objects(s.id) for s in sets]
    summary = load(store, tmp_path, **SETS)
    assert summary.relations == {"objects": {"known": 7}, "facts": {"known": 6}}
    assert store.relation_sets() == sets
    assert [store.relation_objects(s.id) for s in sets] == objects


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("f_csv", "name,birth_year\nA,1200\nB,soon\n", 3, 'birth_year is "soon"; a year or a date'),
        ("f_csv", "name,birth_year\nA,1200\nB,\n", 3, 'birth_year is ""; a year or a date'),
        ("f_csv", "name,date\nA,1200\nB,2003-02-30\n", 3, "no day of the calendar"),
        ("f_csv", "name,birth_year\nA,1200\nA,1201\n", 3, "another true date or place"),
        ("f_csv", "name,x,y\nA,1,2\nB,1,east\n", 3, 'y is "east"; a number is right'),
        ("f_csv", "name,x,y\nA,1,2\nB,1,1e999\n", 3, "finite numbers are right"),
        ("f_csv", "name,x,y\nA,1,2\n ,1,3\n", 3, "name is"),
        ("f_csv", "a,b,dx,dy\nA,B,1,2\nA,B,1,3\n", 3, "something else of 'A' and 'B'"),
        ("f_csv", "a,b,dx,dy\nA,B,1,2\nA,A,1,3\n", 3, "both sides"),
        ("f_csv", "a,b,relation\nA,B,mother\nB,A,boss\n", 3, 'relation is "boss"; a kinship word'),
        ("f_csv", "a,b,relation,determined\nA,B,mother,1\nB,A,,1\n", 3, "has no relation"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused_with_its_line(
    store: Store, tmp_path: Path, name: str, content: str, line: int, message: str
) -> None:
    summary = load(store, tmp_path, **{name: content})
    (rejected,) = summary.rejected
    assert (rejected.line, message in rejected.message) == (line, True), rejected.message
    assert sum(sum(n.values()) for n in summary.relations.values()) == 1


def answers(*rows: dict[str, object]) -> str:
    base = {"set": "films", "a": "Ran", "b": "Up", "model": "m"}
    return "".join(json.dumps({**base, **row}) + "\n" for row in rows)


def stored(store: Store) -> dict[str, tuple[RelationAnswerRecord, ...]]:
    return {a.name: store.relation_answers(a.id) for a in store.relation_askings()}


def test_answers_are_read_as_words_or_from_the_reply(store: Store, tmp_path: Path) -> None:
    text = answers(
        {"relation": "Earlier", "text": "…", "variant": "free", "prompt_version": "v2"},
        {"a": "Up", "b": "Ran", "text": "Hm.\nUp is \\boxed{after} Ran.", "finish_reason": "stop"},
        {"text": '{"relation": "before"}', "repeat": 1},
        {"text": "I cannot tell."},
        {"relation": None, "repeat": 2},
        {"relation": "northeast", "repeat": 3},
    )
    summary = load(store, tmp_path, r_jsonl=text)
    assert not summary.rejected
    assert (summary.relations, summary.n_unread) == ({"answers": {"added": 6}}, 3)
    (films,) = store.relation_sets()
    assert (films.kind, films.n_objects) == ("temporal", 2)
    assert [o.truth for o in store.relation_objects(films.id)] == [None, None]
    assert stored(store) == {
        "m@free": (RelationAnswerRecord(0, 1, "before", text="…"),),
        "m": (
            RelationAnswerRecord(
                0, 1, None, "invalid", 0, "I cannot tell.", "no line gives the relation"
            ),
            RelationAnswerRecord(0, 1, "before", "ok", 1, '{"relation": "before"}'),
            RelationAnswerRecord(0, 1, None, "invalid", 2, None, "the file gives no relation"),
            RelationAnswerRecord(
                0, 1, None, "invalid", 3, "northeast", "no word of the vocabulary"
            ),
            RelationAnswerRecord(
                1,
                0,
                "after",
                text="Hm.\nUp is \\boxed{after} Ran.",
                extra={"finish_reason": "stop"},
            ),
        ),
    }
    (free, plain) = store.relation_askings()
    assert (free.model, free.form, free.prompt_version) == ("m", "free", "v2")
    assert (plain.model, plain.form, plain.prompt_version) == ("m", "", "")
    again = load(store, tmp_path, r_jsonl=text)
    assert (again.relations, again.n_unread) == ({"answers": {"known": 6}}, 0)


def test_answers_may_come_before_the_objects_which_bring_the_truth(
    store: Store, tmp_path: Path
) -> None:
    load(store, tmp_path, r_jsonl=answers({"relation": "before"}))
    summary = load(store, tmp_path, films_csv="name,year\nUp,2009\nRan,1985\nHer,2013\n")
    assert summary.relations == {"objects": {"completed": 2, "added": 1}}
    (films,) = store.relation_sets()
    assert [(o.name, o.truth) for o in store.relation_objects(films.id)] == [
        ("Ran", 1985.0),
        ("Up", 2009.0),
        ("Her", 2013.0),
    ]


def test_objects_are_read_before_answers_whatever_the_order_of_files(
    store: Store, tmp_path: Path
) -> None:
    load(
        store,
        tmp_path,
        r_jsonl=answers({"relation": "before"}),
        films_csv="name,year\nUp,2009\nRan,1985\n",
    )
    (films,) = store.relation_sets()
    assert [o.name for o in store.relation_objects(films.id)] == ["Up", "Ran"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"relation": "after"}, "is in the database with another answer"),
        ({"relation": "before", "text": "no"}, "is in the database with another answer"),
        ({"relation": "before", "prompt_version": "v9"}, "with another prompt_version"),
        ({"relation": "after", "b": "Ran"}, "was asked about itself"),
        ({"relation": "after", "kind": "spatial"}, "films is temporal in the database"),
        ({"relation": "after", "kind": "odd"}, 'kind is "odd"; one of temporal'),
        ({"relation": "after", "repeat": -1}, "repeat is -1"),
        ({"relation": 3.5, "repeat": 7}, "relation is 3.5; a text is right"),
        ({"text": None}, "neither relation nor text"),
        ({"relation": "after", "a": "x\ty"}, "a name without control characters"),
    ],
)
def test_a_line_that_contradicts_is_an_error_line(
    store: Store, tmp_path: Path, row: dict[str, object], message: str
) -> None:
    load(store, tmp_path, r_jsonl=answers({"relation": "before", "text": "yes"}))
    before = stored(store)
    summary = load(store, tmp_path, s_jsonl=answers({"relation": "before", "text": "yes"}, row))
    (rejected,) = summary.rejected
    assert (rejected.line, message in rejected.message) == (2, True), rejected.message
    assert stored(store) == before


def test_a_set_whose_kind_nothing_tells_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError) as caught:
        load(store, tmp_path, r_jsonl=answers({"relation": "yes"}))
    assert "set films is not in the database" in caught.value.rejected[0].message
    assert store.relation_sets() == ()


def test_the_kind_may_be_told_by_other_lines(store: Store, tmp_path: Path) -> None:
    text = answers({"text": "?"}, {"text": "West.\nSo: southwest", "repeat": 1})
    summary = load(store, tmp_path, r_jsonl=text)
    assert (summary.rejected, summary.n_unread) == ([], 1)
    assert [s.kind for s in store.relation_sets()] == ["spatial"]


def test_hostile_text_comes_back_to_the_last_code_unit(store: Store, tmp_path: Path) -> None:
    reply = "\x1b]0;x\x07 \ud800\x00 [/red]\nbefore"
    load(store, tmp_path, r_jsonl=answers({"relation": "before", "text": reply}))
    ((answer,),) = stored(store).values()
    assert answer.text == reply
