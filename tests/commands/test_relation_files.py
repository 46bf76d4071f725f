"""Sets and answers from files: what is refused, completed and withheld."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store import open_store
from tests.commands.test_relations import axis_of, load, write_set
from tests.definitions.running import DB, medoid
from tests.scoring.relations.cases import all_pairs


@pytest.mark.parametrize("command", ["score", "fix"])
def test_trusted_truths_need_a_look_behind_the_seal(command: str) -> None:
    """Two answers that agree: to trust the truth turns both round, or none, and so tells it."""
    write_set("s", 2, [(1, 0), (1, 0)])
    load("s")
    ran = medoid("relations", command, "--trusted-share", "1")
    assert (ran.code, ran.out) == (2, "")
    assert "--unseal" in ran.err
    with open_store(DB) as store:
        assert store.unseals() == ()
    ran = medoid("relations", command, "--trusted-share", "1", "--unseal")
    assert ran.code == 0
    assert "2 of 2 answers" in ran.out
    assert "100 % = half" not in ran.out


def test_an_alignment_that_turns_everything_is_withheld() -> None:
    """All wrong: "90 answers changed" of 90 would tell every true order."""
    write_set("s", 10, [(v, u) for u, v in all_pairs(10)])
    load("s")
    ran = medoid("relations", "align")
    assert ran.code == 0
    assert ran.out.count("withheld") == 2
    assert "facts asked" not in ran.out
    x = medoid("relations", "align", "--json").json["alignments"][0]["axes"]["time"]
    assert (x["consistent"], x["aligned"], x["withheld"]) == (None, None, True)
    ran = medoid("relations", "align", "--unseal")
    assert "facts asked 9, pairs deduced 36, left as the model said 0" in ran.out
    assert "90 answers changed" in ran.out


def test_align_says_what_it_leaves_out() -> None:
    assert medoid("relations", "make", "family", "kin", "-n", "7").code == 0
    write_set("s", 3, all_pairs(3))
    load("s")
    row = {"set": "kin", "model": "m", "relation": "aunt"}
    with open_store(DB) as store:
        kin = store.relation_set_named("kin")
        a, b = (o.name for o in store.relation_objects(kin.id)[:2])
    Path("kin.jsonl").write_text(json.dumps({**row, "a": a, "b": b}) + "\n")
    assert medoid("relations", "import", "kin.jsonl").code == 0
    ran = medoid("relations", "align")
    assert (ran.code, ran.err.strip()) == (0, "kin · m: left out, a family has no order")


def test_an_answer_about_another_object_leaves_a_whole_set_as_it_is() -> None:
    write_set("s", 3, all_pairs(3))
    load("s")
    row = {"set": "s", "a": "o00", "model": "m", "relation": "before", "repeat": 1}
    rows = [{**row, "b": "o77"}, {**row, "b": "o01"}]
    Path("more.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = medoid("relations", "import", "more.jsonl")
    assert ran.code == 1
    assert "answers: 1 added" in ran.out
    assert "more.jsonl:1: set s has no object 'o77'; one of its 3 is right" in ran.err
    (found,) = medoid("relations", "sets", "--json").json["sets"]
    assert (found["objects"], found["pairs"], found["has_truth"]) == (3, 6, True)


def test_a_set_is_told_after_the_answers_about_it() -> None:
    """Answers first, then the set in another order: its truth comes to them."""
    write_set("s", 6, all_pairs(6), truth=(3, 0, 5, 1, 4, 2))
    rows = [{**json.loads(x), "kind": "temporal"} for x in Path("s.jsonl").read_text().splitlines()]
    Path("s.jsonl").write_text("".join(json.dumps(r) + "\n" for r in reversed(rows)))
    assert medoid("relations", "import", "s.jsonl").code == 0
    ran = medoid("relations", "import", "s.csv")
    assert (ran.code, ran.out.split(",")[0]) == (
        0,
        "set s: added to the answers about it that were there",
    )
    axis = axis_of()
    # Pairs (u, v), u < v, that stand the other way round in 3 0 5 1 4 2: nine, each asked twice.
    where = [(3, 0, 5, 1, 4, 2).index(k) for k in range(6)]
    wrong = sum(where[u] > where[v] for u, v in all_pairs(6))
    assert (axis["error"]["wrong"], axis["error"]["answered"]) == (wrong, 30)
    again = medoid("relations", "import", "s.csv")
    assert again.out.startswith("set s: known already")
    lines = Path("s.csv").read_text().splitlines()
    Path("s.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    assert medoid("relations", "import", "s.csv").out.startswith("set s: known already")


def test_a_set_without_an_object_that_was_answered_about_is_another() -> None:
    write_set("s", 3, all_pairs(3))
    rows = [{**json.loads(x), "kind": "temporal"} for x in Path("s.jsonl").read_text().splitlines()]
    Path("s.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert medoid("relations", "import", "s.jsonl").code == 0
    write_set("s", 2, all_pairs(2))
    ran = medoid("relations", "import", "s.csv")
    assert ran.code == 2
    assert "'o02'" in ran.err
    (found,) = medoid("relations", "sets", "--json").json["sets"]
    assert (found["objects"], found["has_truth"]) == (3, False)


def test_the_line_on_the_axes_is_no_statement() -> None:
    ran = medoid("relations", "make", "points", "p", "-n", "6")
    assert ran.out == "set p: added, spatial, 6 objects, 30 ordered pairs, 6 statements told\n"
    assert medoid("relations", "sets", "--json").json["sets"][0]["told"] == 6


CSVS = {
    "dated": "name,year\nA,1\nB,2\n",
    "placed": "name,lon,lat\nA,1,2\nB,3,4\n",
    "displaced": "a,b,dx,dy\nP,Q,-9,4\nQ,R,1,1\n",
    "kinship": "a,relation,b\nA,mother,B\n",
}


@pytest.mark.parametrize(
    ("csv", "options", "said"),
    [
        ("dated", ["--detect"], "detect changes nothing of a set of dates"),
        ("dated", ["--tells", "center", "--center", "A"], "center changes nothing"),
        ("placed", ["--no-detect"], "detect changes nothing of a set of places"),
        ("displaced", ["--about", "x"], "about changes nothing of a set of displacements"),
        ("displaced", ["--tells", "nothing"], "tells changes nothing"),
        ("kinship", ["--tells", "values"], "tells changes nothing of a set of kinship"),
        ("kinship", ["--about", "x"], "about changes nothing"),
        ("kinship", ["--detect"], "detect changes nothing"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    csv: str, options: list[str], said: str
) -> None:
    Path("s.csv").write_text(CSVS[csv])
    ran = medoid("relations", "import", "s.csv", *options)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert medoid("relations", "sets", "--json").code == 2  # no database was made
    assert medoid("relations", "import", "s.csv").code == 0


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("points", ["--consistent"]),
        ("points", ["--generations", "3"]),
        ("points", ["--center", "1"]),
        ("loop", ["--tells", "values"]),
        ("family", ["--consistent"]),
        ("family", ["--center", "0"]),
    ],
)
def test_what_is_made_takes_its_own_options_only(what: str, options: list[str]) -> None:
    ran = medoid("relations", "make", what, "s", "-n", "8", *options)
    assert (ran.code, options[0] in ran.err) == (2, True)


def test_options_of_a_file_need_one() -> None:
    ran = medoid("relations", "import", "--shipped", "art", "--about", "the moon")
    assert (ran.code, "--about" in ran.err) == (2, True)


@pytest.mark.parametrize(("column", "right"), [("lat", 90), ("lon", 360)])
def test_degrees_have_ends(column: str, right: int) -> None:
    other = "lon" if column == "lat" else "lat"
    Path("s.csv").write_text(f"name,{column},{other}\nA,{right},1\nB,-{right}.5,1\n")
    ran = medoid("relations", "import", "s.csv")
    assert ran.code == 2
    assert (
        f's.csv:3: {column} is "-{right}.5"; degrees from -{right} to {right} are right' in ran.err
    )
