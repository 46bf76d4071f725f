"""Sets made up, read from files, and shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.relation_files import SetFileError, Wanted, read_set, shipped_set, shipped_sets
from pipeline.relation_sets import (
    AXES_LINE,
    displaced_set,
    family_set,
    kinship_set,
    loop_set,
    placed_set,
    point_set,
)
from scoring.relations import check_displacements, quadrant
from store import ConflictError, Store
from store.relation_records import NewSet


def told(made: NewSet) -> list[str]:
    return list((made.extra or {})["told"])


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_points_are_told_in_three_ways_and_always_true() -> None:
    values = point_set("v", 20)
    assert told(values)[0] == AXES_LINE
    assert len(told(values)) == 21
    assert sorted(o.truth[0] for o in values.objects if isinstance(o.truth, tuple)) == [
        float(k) for k in range(-10, 10)
    ]
    center, chain = (point_set("c", 20, tells=t, center=3) for t in ("center", "chain"))
    assert {f.b for f in center.facts} == {"Object_3"}
    assert [(f.a, f.b) for f in chain.facts] == [
        (f"Object_{k}", f"Object_{k + 1}") for k in range(19)
    ]
    for made in (center, chain):
        assert len(told(made)) == len(made.facts) == 19
        places = {o.name: o.truth for o in made.objects}
        for fact, line in zip(made.facts, told(made), strict=True):
            a, b = places[fact.a], places[fact.b]
            assert isinstance(a, tuple)
            assert isinstance(b, tuple)
            assert fact.value == (a[0] - b[0], a[1] - b[1])
            word = quadrant(a, b) or ""
            assert word[:5] in line
            assert word[5:] in line
    assert point_set("v", 20, seed=1).objects != values.objects


def test_a_loop_is_contradictory_or_its_control() -> None:
    bad, good = loop_set("l", 20), loop_set("l", 20, contradictory=False)
    assert (bad.kind, good.kind) == ("contradiction", "contradiction")
    assert [(bad.extra or {})["consistent"], (good.extra or {})["consistent"]] == [False, True]
    assert sum(a != b for a, b in zip(told(bad), told(good), strict=True)) == 1
    assert all(o.truth is None for o in bad.objects)
    assert all(o.truth is not None for o in good.objects)
    number = {o.name: k for k, o in enumerate(bad.objects)}
    rows = [
        (number[f.a], number[f.b], int(f.value[0]), int(f.value[1])) for f in bad.facts if f.value
    ]
    assert not check_displacements(rows).consistent


def test_displacements_that_do_not_tie_all_objects_give_no_truth() -> None:
    made = displaced_set("d", [("A", "B", 1, 1), ("C", "D", 1, 1)])
    assert made.kind == "spatial"
    assert [o.truth for o in made.objects] == [None] * 4
    whole = displaced_set("d", [("A", "B", 1, 2), ("B", "C", 1, 2)])
    assert [o.truth for o in whole.objects] == [(2.0, 4.0), (1.0, 2.0), (0.0, 0.0)]


def test_the_papers_family_has_102_determined_pairs() -> None:
    made = shipped_set("kinship")
    assert len(told(made)) == 10
    assert sum(f.use == "truth" for f in made.facts) == 102
    assert {o.name for o in made.objects} == set("ABCDEFGWXYZ")


def test_a_family_of_any_size_is_settled_by_one_fact_less() -> None:
    made = family_set("f", 15, generations=3, seed=4)
    assert (len(made.objects), len(told(made))) == (15, 14)
    assert made == family_set("f", 15, generations=3, seed=4)
    assert any(f.use == "truth" for f in made.facts)


def test_the_sets_that_ship() -> None:
    sizes = {name: len(shipped_set(name).objects) for name in shipped_sets()}
    assert sizes == {
        "art": 20,
        "ancient_figures": 20,
        "recent_figures": 20,
        "invented_events": 20,
        "us_cities": 20,
        "us_states": 51,
        "kinship": 11,
    }
    for name in sizes:
        made = shipped_set(name)
        assert made.source
        # What a model must know is not told; what nobody can know is.
        assert bool(told(made)) == (name in ("kinship", "invented_events"))
        for o in made.objects:
            assert (o.truth is None) == (name == "kinship")
    with pytest.raises(ValueError, match="no set 'x' ships; there are: art"):
        shipped_set("x")


def test_columns_say_what_a_file_holds(tmp_path: Path) -> None:
    cases = {
        "name,date\nA,1900\nB,1901-02-03\n": ("temporal", False),
        "name;x;y\nA;1;2\nB;3;4\n": ("spatial", True),
        "name,lon,lat\nA,-1.5,2\nB,3,4\n": ("spatial", False),
        "a,b,dx,dy\nA,B,1,1\nB,C,1,1\nC,A,1,1\n": ("contradiction", True),
        "a,b,dx,dy\nA,B,1,1\nB,C,1,1\n": ("spatial", True),
        "a,relation,b\nA,father,B\nC,Mother,B\n": ("kinship", True),
    }
    for text, (kind, tells) in cases.items():
        made = read_set(write(tmp_path / "s.csv", text))
        assert (made.name, made.kind, bool(told(made)), made.source) == (
            "s",
            kind,
            tells,
            "s.csv",
        )


def test_what_a_file_does_not_say_is_given(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", "name,x,y\nA,1,2\nB,3,4\n")
    made = read_set(path, "p", Wanted("its door", "a survey", "center", "B"))
    assert (made.name, made.source, (made.extra or {})["about"]) == ("p", "a survey", "its door")
    assert told(made) == ["A lies 2 units to the west and 2 units to the south of B."]
    dates = write(tmp_path / "d.csv", "name,year\nA,1\nB,2\n")
    assert told(read_set(dates, wanted=Wanted(tells="values"))) == [
        "The date of A is 1.",
        "The date of B is 2.",
    ]
    loop = write(tmp_path / "l.csv", "a,b,dx,dy\nA,B,1,1\nB,C,1,1\nC,A,-2,-2\n")
    assert read_set(loop, wanted=Wanted(detect=True)).kind == "contradiction"


@pytest.mark.parametrize(
    ("text", "wanted", "complaint"),
    [
        ("name\nA\n", Wanted(), "name with a"),
        ('{"a": 1}\n', Wanted(), "no CSV"),
        ("name,date\nA,soon\nB,1\n", Wanted(), "1 line cannot be used"),
        ("name,date\nA,1\nA,2\n", Wanted(), "1 line cannot be used"),
        ("name,date\n", Wanted(), "no rows"),
        ("name,date\nA,1\n", Wanted(), "1 objects; a relation needs two"),
        ("name,x,y\nA,1,2\nB,3,4\n", Wanted(center="C"), "no object 'C'"),
        ("name,x,y\nA,1.5,2\nB,3,4\n", Wanted(tells="chain"), "whole numbers"),
        ("name,date\nA,1\nB,2\n", Wanted(tells="chain"), "nothing, or the values"),
        ("a,relation,b\nA,friend,B\n", Wanted(), "1 line cannot be used"),
        ("a,relation,b\nA,father,B\nB,father,A\n", Wanted(), "contradict each other"),
        ("a,b,dx,dy\nA,A,1,1\n", Wanted(), "1 line cannot be used"),
        ("a,b,dx,dy\nA,B,1.5,1\n", Wanted(), "1 line cannot be used"),
    ],
)
def test_a_bad_file_is_refused_whole(
    tmp_path: Path, text: str, wanted: Wanted, complaint: str
) -> None:
    path = write(tmp_path / "s.csv", text)
    with pytest.raises(
        SetFileError, match=complaint.replace("name with a", "name with date")
    ) as told_of:
        read_set(path, wanted=wanted)
    assert str(path) in str(told_of.value)
    for rejected in told_of.value.rejected:
        assert rejected.line >= 2


def test_every_set_is_stored_as_it_is_and_known_the_second_time(store: Store) -> None:
    made = [shipped_set(n) for n in shipped_sets()]
    made += [point_set("p", 6, tells="chain"), loop_set("l", 6), family_set("f", 9)]
    for one in made:
        assert store.save_relation_set(one) == "added"
        assert store.save_relation_set(one) == "known"
        record = store.relation_set_named(one.name)
        objects = store.relation_objects(record.id)
        assert [(o.name, o.truth) for o in objects] == [(o.name, o.truth) for o in one.objects]
        assert record.extra == one.extra
    with pytest.raises(ConflictError, match="another set p"):
        store.save_relation_set(point_set("p", 7))


def test_names_stand_once() -> None:
    with pytest.raises(ValueError, match="'A' stands in it twice"):
        placed_set("s", [("A", 0, 0), ("A", 1, 1)])
    with pytest.raises(ValueError, match="contradict"):
        kinship_set("k", [("A", "father", "B"), ("B", "father", "A")])
