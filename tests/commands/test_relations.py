"""Relations through the commands, as an auditor uses them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from store import open_store
from tests.definitions.running import DB, Ran, medoid
from tests.judges.faults import FaultServer
from tests.pipeline.scripted import model
from tests.scoring.relations.cases import CASES, Case, Edge, all_pairs
from tests.scoring.relations.test_published import TEMPORAL

FORM = ("--form", "schema")


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(model) as running:
        yield running


def asked(server: FaultServer) -> tuple[str, ...]:
    return ("--model", "m", "--base-url", server.url, *FORM)


def answer_rows(name: str, edges: Iterable[Edge], who: str = "m") -> list[dict[str, Any]]:
    """Edges as answers: asked one way, then the other, then again."""
    seen: Counter[tuple[int, int]] = Counter()
    rows = []
    for u, v in edges:
        other = seen[u, v] > seen[v, u]
        a, b = (v, u) if other else (u, v)
        rows.append(
            {
                "set": name,
                "a": f"o{a:02}",
                "b": f"o{b:02}",
                "relation": "after" if other else "before",
                "model": who,
                "repeat": seen[a, b],
            }
        )
        seen[a, b] += 1
    return rows


def write_set(name: str, n: int, edges: Sequence[Edge], truth: Sequence[int] | None = None) -> None:
    order = range(n) if truth is None else truth
    year = {v: 1900 + k for k, v in enumerate(order)}
    lines = [f"o{k:02},{year[k]}\n" for k in range(n)]
    Path(f"{name}.csv").write_text("name,date\n" + "".join(lines))
    rows = answer_rows(name, edges)
    Path(f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))


def load(name: str) -> None:
    ran = medoid("relations", "import", f"{name}.csv", f"{name}.jsonl")
    assert ran.code == 0, ran.err


def axis_of(*args: str) -> Any:
    ran = medoid("relations", "score", "--json", "--draws", "0", *args)
    assert ran.code == 0, ran.err
    (score,) = ran.json["scores"]
    (axis,) = score["axes"]
    return axis


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_known_graphs_score_as_they_must(case: Case) -> None:
    write_set("s", case.n, case.edges)
    load("s")
    axis = axis_of()
    scores = axis["scores"]
    n = len(case.edges)
    assert {m: s["edges"] for m, s in scores.items()} == dict.fromkeys(scores, n)
    assert scores["exact"]["reverse"] == case.minimum
    assert scores["exact"]["score"] == pytest.approx(2 * case.minimum / n)
    assert (scores["exact"]["proved"], scores["exact"]["lower_bound"]) == (True, case.minimum)
    assert scores["in_degree"]["reverse"] == case.in_degree
    assert scores["scc"]["reverse"] == case.scc
    assert scores["energy"]["energy_optimum"] == pytest.approx(case.energy, abs=1e-6)
    assert scores["energy"]["energy"] >= case.energy - 1e-6
    assert case.minimum <= scores["local"]["reverse"] <= case.in_degree
    assert scores["exact"]["literal"] == pytest.approx(case.minimum / (case.n * (case.n - 1) / 2))
    fixed = medoid("relations", "fix", "--json").json["fixes"][0]["axes"]["time"]
    assert (fixed["cost"], fixed["optimal"], fixed["gap"]) == (case.minimum, True, 0)
    assert fixed["packing"] <= case.minimum


def test_table_2_comes_out_of_its_counts() -> None:
    rows: list[dict[str, Any]] = []
    printed = {}
    for who, cells in TEMPORAL.items():
        for name, (text, reverse, answered) in zip(("art", "old", "new"), cells, strict=True):
            pairs = sorted(all_pairs(20))
            edges = [
                (v, u) if k % 2 and k // 2 < reverse else (u, v) for k, (u, v) in enumerate(pairs)
            ]
            rows += answer_rows(name, edges[:answered], who)
            printed[name, who] = text
    Path("a.jsonl").write_text("".join(json.dumps({**r, "kind": "temporal"}) + "\n" for r in rows))
    assert medoid("relations", "import", "a.jsonl").code == 0
    ran = medoid("relations", "score", "--json", "--draws", "0", "--method", "exact")
    found = {
        (s["set"], s["name"]): f"{100 * s['axes'][0]['scores']['exact']['score']:.2f}"
        for s in ran.json["scores"]
    }
    assert len(found) == 36
    assert found == printed


def test_a_set_is_asked_scored_mended_and_aligned(server: FaultServer) -> None:
    assert medoid("relations", "make", "points", "plane", "-n", "8").code == 0
    ran = medoid("relations", "ask", *asked(server), "--json")
    (done,) = ran.json["sets"]
    assert (ran.code, done["wanted"], done["read"]) == (0, 56, 56)
    assert medoid("relations", "ask", *asked(server)).out.count("nothing to ask") == 1
    ran = medoid("relations", "score", "--json", "--draws", "3")
    x, y = ran.json["scores"][0]["axes"]
    # The scripted model orders by name, on both axes: consistent, and mostly wrong.
    assert (x["scores"]["exact"]["score"], y["scores"]["exact"]["score"]) == (0.0, 0.0)
    assert (x["below_coin"], x["coin"]["draws"]) == (True, 3)
    assert x["preference"]["share"] == 0.5
    ran = medoid("relations", "score", "--draws", "0")
    assert "inconsistency 0.0 % (exact, proved): 0 of 56 answers" in ran.out
    ran = medoid("relations", "align", "--json")
    aligned = ran.json["alignments"][0]["axes"]["x"]["aligned"]
    assert (aligned["distance"], aligned["reverse_left"]) == (0, 0)
    assert aligned["facts_asked"] > 0
    kept = ran.json["alignments"][0]["axes"]["x"]["consistent"]
    assert kept is None  # consistent already: that nothing was asked would tell the order
    ran = medoid("relations", "map", "--unseal", "--json")
    (drawn,) = ran.json["maps"]
    names = [f"Object_{k}" for k in range(8)]
    assert drawn["orders"]["x"] == names
    assert [drawn["places"][n]["x"] for n in names] == [*range(8)]
    with open_store(DB) as store:
        truth = [o.truth for o in store.relation_objects(1)]
    true = [t[0] for t in truth if isinstance(t, tuple)]
    right = sum((true[i] < true[j]) for i in range(8) for j in range(i + 1, 8))
    assert drawn["tau"]["x"] == pytest.approx((2 * right - 28) / 28)


def test_mended_answers_are_consistent_when_they_come_back() -> None:
    write_set("s", 5, [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0), (1, 4)])
    load("s")
    for drop, variant in (([], "fixed"), (["--drop"], "dropped")):
        ran = medoid("relations", "fix", "--name", "m", *drop, "-o", "out.jsonl", "--unseal")
        assert ran.code == 0
        rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
        assert sum(r["relation"] != r["said"] for r in rows) == 2
        assert medoid("relations", "import", "out.jsonl").code == 0
        axis = axis_of("--name", f"m@{variant}")
        assert axis["scores"]["exact"]["reverse"] == 0
        assert axis["scores"]["exact"]["edges"] == (5 if drop else 7)


def test_edits_and_orders_need_unsealing_which_is_logged() -> None:
    write_set("s", 5, [(0, 1), (1, 2), (2, 0)])
    load("s")
    for call in (
        ["fix", "--edits"],
        ["fix", "-o", "out.jsonl"],
        ["map"],
        ["score", "--objects"],
        ["align", "--facts"],
        ["probe", "--show", "--objects"],
    ):
        ran = medoid("relations", *call)
        assert ran.code == 2
        assert "add --unseal, which is logged" in ran.err
        assert "o02" not in ran.out + ran.err
    assert not Path("out.jsonl").exists()
    with open_store(DB) as store:
        assert store.unseals() == ()
    assert "o02 – o00: before → after" in medoid("relations", "fix", "--edits", "--unseal").out
    with open_store(DB) as store:
        assert [u.what for u in store.unseals()] == ["mended answers"]


def test_few_or_one_sided_errors_are_withheld(server: FaultServer) -> None:
    """Where no answer is wrong, the count would tell the truth of every one."""
    write_set("s", 6, all_pairs(6))
    load("s")
    axis = axis_of()
    assert (axis["error"], axis["tau"], axis["error_withheld"]) == (None, None, True)
    assert "withheld" in medoid("relations", "score", "--draws", "0").out
    unsealed = axis_of("--unseal")
    assert (unsealed["error"]["answered_rate"], unsealed["tau"]) == (0.0, 1.0)
    some = [(v, u) if (u, v) == (0, 5) else (u, v) for u, v in all_pairs(6)]
    write_set("t", 6, some)
    load("t")
    axis = axis_of("--set", "t")
    assert (axis["error"]["wrong"], axis["error"]["answered"]) == (2, 30)


def test_partial_truth_lies_between_nothing_and_the_error_rate() -> None:
    write_set("s", 6, [(v, u) for u, v in all_pairs(6)])
    load("s")
    free, whole = axis_of(), axis_of("--trusted-share", "1", "--unseal")
    assert free["scores"]["exact"]["reverse"] == 0
    assert (whole["scores"]["exact"]["fraction"], whole["trusted"]) == (1.0, 15)
    half = axis_of("--trusted-share", "0.5", "--seed", "1", "--unseal")
    assert 0 < half["scores"]["exact"]["fraction"] <= 1


def test_contradictions_are_detected_against_a_control(server: FaultServer) -> None:
    for name, rest in (("bad", []), ("good", ["--consistent"])):
        assert medoid("relations", "make", "loop", name, "-n", "4", *rest).code == 0
    assert medoid("relations", "ask", *asked(server)).code == 0
    with open_store(DB) as store:
        for a in store.relation_askings():
            assert a.prompt_version == "relation_asker-schema-contradiction/1"
    (row,) = medoid("relations", "score", "--json", "--draws", "0").json["detection"]
    assert (row["sets"], row["controls"]) == (["bad"], ["good"])
    assert (row["success"]["value"], row["success"]["n"], row["advantage"]) == (0.0, 12, 0.0)
    assert "difference 0.0 points" in medoid("relations", "score", "--draws", "0").out


def test_a_family_is_asked_and_its_contradictions_counted(server: FaultServer) -> None:
    assert medoid("relations", "import", "--shipped", "kinship").code == 0
    assert medoid("relations", "ask", *asked(server), "--bare").code == 0
    ran = medoid("relations", "score", "--json", "--draws", "2")
    kin = ran.json["scores"][0]["kinship"]
    assert (kin["error"]["determined"], kin["error"]["answered"]) == (102, 102)
    assert kin["triples_checked"] > 0
    assert len(kin["coin"]) == len(kin["shuffled"]) == 3
    refused = medoid("relations", "fix", "--set", "kinship")
    assert refused.code == 2
    assert "kinship answers are dropped, not mended (--drop)" in refused.err
    fixed = medoid("relations", "fix", "--set", "kinship", "--drop", "--json").json["fixes"][0]
    assert fixed["kinship"]["lower_bound"] <= fixed["kinship"]["cost"] == fixed["changed"]


def test_facts_are_told_from_reasoning(server: FaultServer) -> None:
    Path("s.csv").write_text(
        "name,date\n" + "".join(f"o{chr(97 + k)},{1900 + k}\n" for k in range(6))
    )
    assert medoid("relations", "import", "s.csv", "--about", "the year").code == 0
    assert medoid("relations", "ask", *asked(server)).code == 0
    assert medoid("relations", "probe", *asked(server)).code == 0
    assert medoid("relations", "probe", *asked(server)).out.count("nothing to ask") == 1
    # The scripted model dates an object by its last letter: in the true order, 97 years late.
    ran = medoid("relations", "probe", "--show", "--json", "--unseal")
    axis = ran.json["probes"][0]["axes"]["time"]
    assert (axis["stated"], axis["right"], axis["median_error"]) == (6, 0, 97.0)
    assert (axis["pairs_right"], axis["pairs"], axis["sound"], axis["follows"]) == (15, 15, 30, 1.0)
    sealed = medoid("relations", "probe", "--show", "--json").json["probes"][0]["axes"]["time"]
    assert (sealed["withheld"], "right" in sealed) == (True, False)


def test_models_are_compared_over_common_sets() -> None:
    rows = []
    for k, flips in enumerate((1, 2, 3)):
        edges = all_pairs(6)
        rows += answer_rows(f"s{k}", edges, "good")
        rows += answer_rows(
            f"s{k}",
            [
                (v, u) if i < 2 * flips and i % 2 else (u, v)
                for i, (u, v) in enumerate(sorted(edges))
            ],
            "bad",
        )
    Path("a.jsonl").write_text("".join(json.dumps({**r, "kind": "temporal"}) + "\n" for r in rows))
    assert medoid("relations", "import", "a.jsonl").code == 0
    ran = medoid("relations", "compare", "--json", "--replicates", "200")
    (pair,) = ran.json["models"]
    assert (pair["first"], pair["second"], pair["n"]) == ("good", "bad", 3)
    # One, two and three pairs of thirty answers contradict: 2/30, 4/30, 6/30.
    assert pair["difference"] == pytest.approx(-4 / 30)
    assert ran.json["methods"]["exact"]["n"] == 6
    assert "good − bad: -13.3 points" in medoid("relations", "compare").out


def test_the_baseline_needs_no_database() -> None:
    ran = medoid("relations", "baseline", "-n", "6", "--draws", "5", "--json")
    assert (ran.code, ran.json["n"], ran.json["draws"]) == (0, 6, 5)
    always = medoid("relations", "baseline", "-n", "6", "--draws", "2", "--first", "1", "--json")
    assert always.json["mean"] == 1.0
    curve = medoid("relations", "baseline", "-n", "6", "--recovery", "0", "--json").json
    assert curve["points"][0]["error"] == 0.0
    assert not DB.exists()


def test_sets_are_listed_without_their_truth() -> None:
    assert medoid("relations", "sets", "--shipped", "--json").json["shipped"][0]["name"] == "art"
    write_set("s", 4, all_pairs(4))
    load("s")
    ran = medoid("relations", "sets", "--json")
    (row,) = ran.json["sets"]
    assert (row["objects"], row["pairs"], row["has_truth"], row["told"]) == (4, 12, True, 0)
    assert row["asked"][0]["answers"] == 12
    assert "1900" not in ran.out + medoid("relations", "sets").out


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (["import"], "nothing to import"),
        (["import", "no.csv"], "no.csv"),
        (["import", "--shipped", "x"], "no set 'x' ships"),
        (["import", "bad.csv"], "1 line cannot be used"),
        (["import", "s.csv", "--tells", "all"], "--tells is 'all'"),
        (["import", "s.csv", "--center", "A"], "--center goes with --tells center"),
        (["import", "s.csv", "u.csv", "--set", "x"], "--set names one set"),
        (["make", "cubes", "c"], "'cubes' cannot be made"),
        (["make", "family", "f", "-n", "3"], "it takes at least 2 generations"),
        (
            ["ask", "--set", "x", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"],
            "no relation set 'x'",
        ),
        (["score"], "no answers about relations"),
        (["score", "--method", "odd"], "--method is 'odd'"),
        (["score", "--name", "x"], "nobody called 'x' was asked"),
        (["probe", "--show"], "medoid relations probe asks"),
        (["baseline", "--method", "odd"], "--method is 'odd'"),
        (["baseline", "--recovery", "2"], "a share from 0 to 1"),
    ],
)
def test_bad_usage_is_one_clear_error(call: list[str], complaint: str) -> None:
    Path("s.csv").write_text("name,date\nA,1\nB,2\n")
    Path("u.csv").write_text("name,date\nA,1\nB,2\n")
    Path("bad.csv").write_text("name,date\nA,1\nB,soon\n")
    if call[0] != "import":
        assert medoid("relations", "import", "s.csv").code == 0
    ran = medoid("relations", *call)
    assert ran.code == 2
    assert complaint in ran.err
    if "bad.csv" in call:
        assert 'bad.csv:3: date is "soon"' in ran.err


def test_control_characters_are_shown() -> None:
    row = {
        "set": "s",
        "kind": "temporal",
        "a": "A",
        "b": "B",
        "model": "m",
        "text": "\x1b[2J perhaps",
    }
    Path("a.jsonl").write_text(json.dumps(row) + "\n")
    assert medoid("relations", "import", "a.jsonl").code == 0
    ran: Ran = medoid("relations", "score", "--draws", "0")
    assert "\x1b" not in ran.out
    assert "inconsistency undefined: no answer to score" in ran.out
