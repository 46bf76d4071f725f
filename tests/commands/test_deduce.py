"""`medoid deduce` from import to score, labels and judges on replies, and the plan's stage."""

from __future__ import annotations

import json
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
        summary = store.judge_summary("big", "deduction")
    assert (summary.n, summary.self_contradictions) == (20, {})
    assert {x.categories for x in labels} == {("calculation",)}
    assert len(labels) == 20
    errors = medoid("deduce", "score", "--errors", "big", "--unseal", "--json").json["errors"][0]
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


def test_who_is_no_rater_yet_has_revealed_nothing(
    tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn replies wait for whoever asks, also before anybody opened the workbench."""
    prepared(tmp_path)
    medoid("deduce", "ask", *asked(server))
    medoid("deduce", "sample", "-n", "20")

    def n_held() -> int:
        return int(medoid("deduce", "score", "--json").json["n_held"])

    assert n_held() == 20
    monkeypatch.setenv("MEDOID_RATER", "bob")
    assert n_held() == 20
    with open_store(DB) as store:
        ana, schema = store.rater("ana"), store.schema("deduction")
        items = list(store.item_ids([r.item for r in store.export_items()]).values())
        for item in items:
            store.commit_label(ana.id, item, schema, categories=["calculation"])
        for item in items:
            store.reveal_deduction(item, ana.id, schema)
    assert n_held() == 20
    monkeypatch.setenv("MEDOID_RATER", "ana")
    assert n_held() == 0
    monkeypatch.delenv("MEDOID_RATER")
    assert n_held() == 0


@pytest.mark.parametrize("more", [[], ["--unseal"]])
def test_drawn_replies_are_exported_as_items(
    tmp_path: Path, server: FaultServer, more: list[str]
) -> None:
    prepared(tmp_path)
    medoid("deduce", "ask", *asked(server))
    medoid("deduce", "sample", "-n", "5")
    for name in ("items.csv", "items.jsonl"):
        assert medoid("export", "items", "-o", name, *more).code == 0
        again = medoid("import", name, "--json").json
        assert (again["items"], again["rejected"]) == ({"known": 5}, []), name
    rows = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert {r["inclusion_probability"] for r in rows if more} == ({0.25} if more else set())
    assert all(("inclusion_probability" in r) == bool(more) for r in rows)
    for row in rows:
        assert row["item"].startswith(f"deduction:{row['question_id']}/m/")
        assert (row["kind"], row["dataset"], row["pool"]) == ("deduction", "deduction", "m")


def test_a_plan_may_be_about_deduction_alone(tmp_path: Path, server: FaultServer) -> None:
    problem_file(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
[models.small]
base_url = "{server.url}"
structured = "schema"
[[stages]]
stage = "deduce"
problems = "problems.toml"
mutations = 1
[[stages]]
stage = "judge"
schema = "deduction"
items = "all"
"""
    )
    done = medoid("run", plan, "--json")
    assert done.code == 0, done.err
    assert [(r["stage"], r["asking"]["outcomes"]["ok"]) for r in done.json["rows"]] == [
        ("deduce", 10),
        ("judge", 10),
    ]
    plan.write_text(plan.read_text().replace('schema = "deduction"', 'schema = "step"'))
    wrong = medoid("run", plan)
    assert wrong.code == 2
    assert "step items are of datasets, and there are no datasets in the plan" in wrong.err


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
