"""`medoid deduce` from import to score, labels and judges on replies, and the plan's stage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.deduction import format_number
from store import open_store
from tests.commands.planted import DB
from tests.definitions.running import medoid
from tests.judges.faults import FaultServer
from tests.pipeline.deduced import Solver, problem_file, templates
from tests.pipeline.test_deducing import first_sum_wrong


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FaultServer]:
    with FaultServer(Solver(templates(tmp_path), first_sum_wrong)) as running:
        yield running


def asked(server: FaultServer, *more: str) -> list[str]:
    return ["--model", "m", "--base-url", server.url, "--form", "schema", *more]


def prepared(tmp_path: Path) -> None:
    assert medoid("deduce", "import", problem_file(tmp_path)).code == 0
    assert medoid("deduce", "make", "-n", "3").code == 0


def test_from_import_to_score(tmp_path: Path, server: FaultServer) -> None:
    done = medoid("deduce", "import", problem_file(tmp_path))
    assert (done.code, "2 of 2 pass every check" in done.out) == (0, True)
    made = medoid("deduce", "make", "-n", "3", "--json").json["mutated"]
    assert (made["new"], made["templates"]) == (6, 2)
    estimate = medoid("deduce", "ask", *asked(server), "--dry-run")
    assert "20 to ask" in estimate.out
    assert server.seen == []
    done = medoid("deduce", "ask", *asked(server))
    assert done.code == 0
    assert "as the assistant's unfinished message (the server was just looked at)" in done.out
    assert medoid("deduce", "ask", *asked(server), "--json").json["asking"]["n_requests"] == 0
    assert medoid("deduce", "extract", *asked(server, "--name", "x")).code == 0
    report = medoid("deduce", "score", "--json").json
    (score,) = report["scores"]
    assert (report["problems"], report["n_held"], score["reader"]) == (2, 0, "x")
    assert score["exact"]["base"] == 1.0
    assert score["final"] == {"value": 0.5, "right": 3, "n": 6}
    assert score["propagated"] == pytest.approx(6 / 9)
    assert report["readers"][0]["agreement"] == 1.0
    told = medoid("deduce", "score", "--reader", "numbers", "--k-min", "0").out
    assert "base 0.833" in told
    assert (
        "0.667 of 9 wrong values follow from an earlier wrong one; first wrong step step 1: 3"
        in told
    )
    listed = medoid("deduce", "list").out.splitlines()
    assert listed[0] == "pens  passed  3 steps  3 mutations  asked 12 by m"


def test_replies_are_drawn_judged_and_counted_by_error(tmp_path: Path, server: FaultServer) -> None:
    prepared(tmp_path)
    assert medoid("deduce", "ask", *asked(server)).code == 0
    drawn = medoid("deduce", "sample", "-n", "20", "--json").json
    assert (drawn["n_population"], drawn["n_new"]) == (20, 20)
    judged = medoid("judge", *asked(server), "--schema", "deduction", "--rater", "big")
    assert judged.code == 0, judged.err
    with open_store(DB) as store:
        labels = list(store.export_labels(schema="deduction", rater="big"))
    assert {x.categories for x in labels} == {("calculation",)}
    assert len(labels) == 20
    errors = medoid("deduce", "score", "--errors", "big", "--json").json["errors"][0]
    assert (errors["labelled"], errors["without_group"]) == (20, 0)
    rates = {(r["group"], r["category"]): r["rate"] for r in errors["rates"]}
    assert rates[1, "calculation"] == rates[5, "calculation"] == 1.0
    assert rates[1, "logical"] == 0.0
    rows = medoid("export", "labels", "--schema", "deduction", "--unseal").out
    Path("again.jsonl").write_text(rows)
    again = medoid("import", "again.jsonl", "--json").json
    assert again["labels"] == {"known": 20}


def test_what_waits_for_a_person_is_left_out_until_revealed(
    tmp_path: Path, server: FaultServer
) -> None:
    prepared(tmp_path)
    medoid("deduce", "ask", *asked(server))
    medoid("deduce", "sample", "-n", "20")
    with open_store(DB) as store:
        store.rater("ana")
    sealed = medoid("deduce", "score")
    assert sealed.code == 0
    assert "20 drawn replies are left out while they are sealed" in sealed.out
    assert "DedCons" not in sealed.out
    assert medoid("deduce", "score", "--unseal", "--json").json["n_held"] == 0
    refused = medoid("deduce", "list", "--responses")
    assert (refused.code, "--unseal" in refused.err) == (2, True)
    with open_store(DB) as store:
        expected = {
            format_number(v)
            for rows in store.mutations([t.id for t in store.templates()]).values()
            for m in rows
            for v in m.values.values()
            if v > 99
        }
    shown = medoid("deduce", "list", "--responses", "--unseal").out
    assert all(e in shown for e in expected)


def test_a_plan_has_the_stage(tmp_path: Path, server: FaultServer) -> None:
    problem_file(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Is it?", "gold": "yes"}\n')
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
[models.small]
base_url = "{server.url}"
structured = "schema"
[datasets.q]
files = "q.jsonl"
[[stages]]
stage = "deduce"
problems = "problems.toml"
mutations = 2
styles = ["original", "plain"]
extractor = "small"
"""
    )
    done = medoid("run", plan)
    assert done.code == 0, done.err
    assert "2 problems, 4 mutations" in done.out + done.err
    report = medoid("deduce", "score", "--json").json
    assert {(s["style"], s["reader"]) for s in report["scores"]} == {
        ("original", "small"),
        ("plain", "small"),
    }
    n = len(server.seen)
    assert medoid("run", plan).code == 0
    assert len(server.seen) == n
    plan.write_text(
        plan.read_text().replace('"plain"', '"odd"').replace("problems.toml", "no.toml")
    )
    wrong = medoid("run", plan)
    assert wrong.code == 2
    assert "a list of some of original, plain, axioms, effect_first is right" in wrong.err


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (["import"], "give files of problems, or --own"),
        (["import", "no.toml"], "No such file"),
        (["make"], "no problem passed its checks"),
        (["list", "--problem", "x"], "no problems in the database"),
        (["score"], "no solver in the database"),
        (["synthesize", "--prefixes", "1-x"], "numbers and ranges such as 1-12 are right"),
        (["score", "--hops", "odd"], "--hops is 'odd'; steps, variables are right"),
        (["sample", "--solver", "x"], "no solver in the database"),
    ],
)
def test_bad_usage_is_one_error(call: list[str], complaint: str) -> None:
    open_store(DB).close()
    ran = medoid("deduce", *call)
    assert (ran.code, complaint in ran.err) == (2, True), ran.err
