"""No command tells a sealed person what the seal hides, in any form of output it has."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from store import open_store
from tests.commands.planted import DB, SECRETS, Place, lines_of, plant
from tests.definitions.running import Ran, medoid
from tests.judges.faults import FaultServer
from tests.pipeline.scripted import model
from tui.cli import app

ITEM = "path:d/q0/m/0"
TRACE = {
    "dataset": "d",
    "question_id": "q0",
    "question": "What is 0?",
    "pool": "m",
    "sample": 0,
    "steps": [{"text": "other"}],
    "answer": "amber",
    "answer_kind": "text",
}
QUESTION = {
    "dataset": "d",
    "question_id": "q0",
    "question": "What is 0?",
    "gold": "wrong",
    "answer_kind": "text",
}
LABEL = {"item": ITEM, "rater": "judge", "rater_kind": "judge", "category": "faithful"}

FILES: dict[str, dict[str, Any]] = {
    "same key, other text": TRACE,
    "other gold": {**TRACE, "sample": 9, "gold": "wrong"},
    "other wording": {**TRACE, "question": "What?"},
    "other kind": {**TRACE, "sample": 9, "answer_kind": "number"},
    "other options": {**TRACE, "sample": 9, "options": ["a", "b"]},
    "gold that is none": {**TRACE, "sample": 9, "gold": ""},
    "verdict of the judge's": {**LABEL, "category": "spurious"},
    "rater of another kind": {**LABEL, "rater": "bob", "rater_kind": "judge"},
    "state with a category": {**LABEL, "state": "unsure"},
    "no such step": {**LABEL, "first_wrong_step": 99},
    "no such version": {**LABEL, "schema_version": 7},
    "no such item": {**LABEL, "item": "path:d/q0/m/99"},
    "item of another stratum": {"item": ITEM, "kind": "path", "stratum": "agreement"},
    "item of another probability": {"item": ITEM, "kind": "path", "inclusion_probability": 0.5},
    "item": {"item": ITEM, "kind": "path"},
    "nothing known": {"a": 1},
    "question with another gold": QUESTION,
    "question with another wording": {**QUESTION, "question": "What?"},
    "question of another kind": {**QUESTION, "answer_kind": "number", "gold": "1"},
    "question with a gold that is none": {**QUESTION, "answer_kind": "boolean"},
    "question with options": {**QUESTION, "options": ["wrong", "right"], "answer_kind": "choice"},
    "question with further fields": {**QUESTION, "gold": None, "solution": "so it is"},
}
"""Lines that contradict the database, or nearly: what is told of them must not be what it holds."""

MAPPED: dict[str, dict[str, Any]] = {
    "gsm8k": {"id": "q0", "question": "What is 0?", "answer": "#### 7"},
    "strategyqa": {"qid": "q0", "question": "What is 0?", "answer": True},
    "boolq": {"id": "q0", "question": "What is 0?", "passage": "It is.", "answer": False},
    "medqa": {"id": "q0", "question": "What is 0?", "options": ["a", "b"], "answer": "b"},
    "gpqa": {
        "Record ID": "q0",
        "Question": "What is 0?",
        "Correct Answer": "wrong",
        "Incorrect Answer 1": "right",
    },
    "aime": {"ID": "q0", "Problem": "What is 0?", "Answer": "007"},
}
"""A question for each mapping, under the key of a planted one."""

SERVER = "http://server.of.the.test/v1"
"""Stands for the scripted server, whose address is known when it runs."""
NOWHERE = "http://127.0.0.1:9/v1"
ASKED = ("--model", "m", "--base-url", SERVER, "--form", "schema")

PLAN = """
[models.small]
base_url = "SERVER"
structured = "schema"
[datasets.d]
[[stages]]
stage = "generate"
n = 1
[[stages]]
stage = "early-answer"
[[stages]]
stage = "counterfactual"
[[stages]]
stage = "ablate"
n = 1
[[stages]]
stage = "judge"
[[stages]]
stage = "judge"
schema = "counterfactual"
items = "all"
"""

LAMPS = """
problem = "lamps"
question = "{n} lamps hang here, {more} more there. How many?"
steps = ["They are {n} + {more} = {lamp_sum}."]
code = "lamp_sum = n + more"
factual = {n = 2, more = 3}
gold = 6
"""
"""Another problem under a planted one's name."""

EXITS: dict[str, list[list[str]]] = {
    "import": [["import", f"{n}.jsonl"] for n in range(len(FILES))]
    + [["import", "all.jsonl", "--strict"], ["import", "no.jsonl"], ["import", "bad.csv"]]
    + [["import", f"{n}.jsonl", "--mapping", "native"] for n in range(len(FILES))]
    + [["import", f"{name}.jsonl", "--mapping", name, "--dataset", "d"] for name in MAPPED]
    + [["import", "gpqa.jsonl", "--mapping", "gpqa", "--seed", "7", "--dataset", "d"]]
    + [["import", "0.jsonl", "--mapping", "odd"], ["import", "0.jsonl", "--seed", "7"]],
    "embed": [["embed", "--embedder", "odd"], ["embed", "--decomposition", "odd"]],
    "score": [
        ["score", "--embedder", "odd"],
        ["score", "--beta", "7"],
        ["score", "--decomposition", "odd"],
        ["score", "--metrics", "odd"],
        ["score", "--metrics", "cota_model"],
        ["score", "--missing", "odd"],
        ["score", "--show"],
        ["score", "--show", "--scoring", "1", "--reference", "m"],
        ["score", "--show", "--scoring", "7"],
        ["score", "--show", "--reference", "odd"],
        ["score", "--unseal"],
        ["score", "--correlate"],
        ["score", "--correlate", "--target", "odd"],
    ],
    "sensitivity": [
        ["sensitivity"],
        ["sensitivity", "--readings", "full", "--target", "own"],
        ["sensitivity", "--scoring", "7"],
        ["sensitivity", "--grid", "odd"],
    ],
    "export scores": [
        ["export", "scores", *form]
        for form in ([], ["--format", "csv"], ["-o", "out.jsonl"], ["-o", "out.csv"])
    ],
    "generate": [
        ["generate", *ASKED, "-n", "1", "--variant", "g"],
        ["generate", *ASKED, "-n", "1", "--variant", "v", "--dry-run"],
        ["generate", "--model", "m", "--base-url", NOWHERE, "--variant", "v"],
    ],
    "decompose": [
        ["decompose", *ASKED],
        ["decompose", *ASKED, "--dry-run"],
        ["decompose", "--compare"],
        ["decompose", "--sample", "3"],
        ["decompose", "--sample", "3", "--name", "odd"],
    ],
    "early-answer": [
        ["early-answer", *ASKED],
        ["early-answer", *ASKED, "--empty", "--no-full"],
        ["early-answer", *ASKED, "--traces", "medoids"],
        ["early-answer", *ASKED, "--questions"],
        ["early-answer", *ASKED, "--dry-run"],
        ["early-answer", "--show"],
    ],
    "counterfactual": [
        ["counterfactual", *ASKED],
        ["counterfactual", *ASKED, "--traces", "all", "--repeats", "2", "--name", "all"],
        ["counterfactual", *ASKED, "--questions"],
        ["counterfactual", *ASKED, "--dry-run"],
        ["counterfactual", "--show"],
        ["counterfactual", "--sample", "3"],
        ["counterfactual", "--sample", "3", "--name", "odd"],
    ],
    "ablate": [
        ["ablate", *ASKED, "-n", "1"],
        ["ablate", *ASKED, "-n", "1", "--no-early", "--variant", "v", "--protocol", "targeted"],
        ["ablate", *ASKED, "-n", "1", "--questions"],
        ["ablate", *ASKED, "-n", "1", "--dry-run"],
        ["ablate", "--show"],
    ],
    "association": [["association"], ["association", "--metric", "odd"]],
    "judge": [
        ["judge", *ASKED],
        ["judge", *ASKED, "--all", "-k", "2"],
        ["judge", *ASKED, "--labelled", "ana"],
        ["judge", *ASKED, "--labelled", "judge"],
        ["judge", *ASKED, "--rater", "judge"],
        ["judge", *ASKED, "--rater", "bob"],
        ["judge", *ASKED, "--dry-run"],
        ["judge", "--panel", "p", "--of", "judge", "--of", "bob"],
        ["judge", *ASKED, "--schema", "step"],
        ["judge", *ASKED, "--schema", "step", "--all", "--prompt-version", "1"],
        ["judge", *ASKED, "--schema", "pair"],
        ["judge", *ASKED, "--schema", "deduction"],
        ["judge", *ASKED, "--schema", "deduction", "--all", "--rater", "other"],
        ["judge", *ASKED, "--schema", "counterfactual"],
        ["judge", *ASKED, "--schema", "counterfactual", "--all"],
        ["judge", *ASKED, "--prompt-version", "1", "--all"],
        ["judge", *ASKED, "--planted", "3"],
        ["judge", *ASKED, "--planted", "3", "--rater", "judge"],
        ["judge", "--compare", "--of", "judge", "--of", "bob"],
        ["judge", "--compare", "--of", "judge"],
    ],
    "relations sets": [["relations", "sets"], ["relations", "sets", "--shipped"]],
    "relations import": [
        ["relations", "import", "--shipped", "recent_figures"],
        ["relations", "import", "dates.csv"],
        ["relations", "import", "answers.jsonl"],
        ["relations", "import", "bad.csv"],
        ["relations", "import"],
    ],
    "relations make": [
        ["relations", "make", "points", "p", "-n", "3"],
        ["relations", "make", "odd", "p"],
    ],
    "relations ask": [
        ["relations", "ask", *ASKED],
        ["relations", "ask", *ASKED, "--name", "bare", "--bare", "--repeats", "2"],
        ["relations", "ask", *ASKED, "--dry-run"],
    ],
    "relations probe": [
        ["relations", "probe", *ASKED],
        ["relations", "probe", *ASKED, "--dry-run"],
        ["relations", "probe", "--show"],
        ["relations", "probe", "--show", "--objects"],
    ],
    "relations review": [["relations", "review"], ["relations", "review", "--name", "odd"]],
    "relations score": [
        ["relations", "score", "--draws", "1"],
        ["relations", "score", "--draws", "0", "--trusted-share", "0.5"],
        ["relations", "score", "--draws", "0", "--trusted-share", "0.5", "--json"],
        ["relations", "score", "--objects"],
    ],
    "relations compare": [["relations", "compare", "--replicates", "9"]],
    "relations baseline": [["relations", "baseline", "-n", "3", "--draws", "2"]],
    "relations fix": [
        ["relations", "fix"],
        ["relations", "fix", "--drop"],
        ["relations", "fix", "--edits"],
        ["relations", "fix", "--trusted-share", "1"],
        ["relations", "fix", "-o", "out.jsonl"],
    ],
    "relations align": [["relations", "align"], ["relations", "align", "--facts"]],
    "relations map": [["relations", "map"]],
    "run": [["run", "plan.toml"], ["run", "plan.toml", "--dry-run"], ["run", "bad.toml"]],
    "batch status": [["batch", "status"], ["batch", "status", "--ended", "3"]],
    "batch cancel": [["batch", "cancel", "odd"]],
    "doctor": [["doctor"], ["doctor", "--model", "m", "--base-url", NOWHERE]],
    "deduce import": [
        ["deduce", "import", "--own"],
        ["deduce", "import", "lamps.toml"],
        ["deduce", "import", "bad.toml"],
        ["deduce", "import"],
    ],
    "deduce make": [
        ["deduce", "make"],
        ["deduce", "make", "-n", "2", "--tries", "9"],
        ["deduce", "make", "--seed", "9"],
        ["deduce", "make", *ASKED, "-n", "0"],
        ["deduce", "make", *ASKED, "--dry-run"],
        ["deduce", "make", "--dataset", "d", "-n", "0"],
    ],
    "deduce synthesize": [
        ["deduce", "synthesize", "--prefixes", "1", "--lengths", "1-2", "--per-cell", "1"],
        ["deduce", "synthesize", "--prefixes", "odd"],
    ],
    "deduce ask": [
        ["deduce", "ask", *ASKED],
        ["deduce", "ask", *ASKED, "--style", "plain", "--prefix", "quoted"],
        ["deduce", "ask", *ASKED, "--dry-run"],
        ["deduce", "ask", *ASKED, "--name", "planted"],
        ["deduce", "ask", "--model", "m", "--base-url", NOWHERE],
    ],
    "deduce extract": [
        ["deduce", "extract", *ASKED],
        ["deduce", "extract", *ASKED, "--dry-run"],
        ["deduce", "extract", *ASKED, "--name", "numbers"],
        ["deduce", "extract", *ASKED, "--solver", "odd"],
    ],
    "deduce score": [
        ["deduce", "score"],
        ["deduce", "score", "--k-min", "0", "--all-hops", "--hops", "variables"],
        ["deduce", "score", "--solver", "planted", "--reader", "numbers", "--errors", "judge"],
        ["deduce", "score", "--errors", "ana", "--missing", "skip"],
        ["deduce", "score", "--reader", "odd"],
        ["deduce", "score", "--norm", "odd"],
    ],
    "deduce sample": [
        ["deduce", "sample", "-n", "1"],
        ["deduce", "sample", "--solver", "planted"],
        ["deduce", "sample", "--solver", "odd"],
    ],
    "deduce list": [
        ["deduce", "list"],
        ["deduce", "list", "--failed"],
        ["deduce", "list", "--responses"],
        ["deduce", "list", "--problem", "odd"],
    ],
    "items make": [
        ["items", "make"],
        ["items", "make", "--k", "0"],
        ["items", "make", "--target-half-width", ".2", "--expect", "agreement=.1"],
        ["items", "make", "--expect", "agreement=.1"],
    ],
    "items list": [
        ["items", "list"],
        ["items", "list", "--rater", "ana"],
        ["items", "list", "--rater", "judge"],
        ["items", "list", "--verdicts"],
        ["items", "list", "--verdicts", "--rater", "ana"],
    ],
    "items faithfulness": [
        ["items", "faithfulness"],
        ["items", "faithfulness", "--rater", "ana"],
        ["items", "faithfulness", "--rater", "ana", "--questions"],
        ["items", "faithfulness", "--rater", "judge"],
        ["items", "faithfulness", "--rater", "judge", "--questions"],
        ["items", "faithfulness", "--rater", "nobody"],
        ["items", "faithfulness", "--rater", "ana", "--schema", "step"],
    ],
    "items audit": [
        ["items", "audit"],
        ["items", "audit", "--rater", "ana"],
        ["items", "audit", "--rater", "judge"],
        ["items", "audit", "--rater", "nobody"],
        ["items", "audit", "--rater", "ana", "--schema", "step"],
    ],
    "schema list": [["schema", "list"]],
    "schema show": [["schema", "show", "step"], ["schema", "show", "odd"]],
    "schema add": [["schema", "add", "bad.toml"], ["schema", "add", "no.toml"]],
    "schema version": [["schema", "version", "step"], ["schema", "version", "no.toml"]],
    "export labels": [
        ["export", "labels", *rest, *form]
        for rest in (
            [],
            ["--rater", "ana"],
            ["--rater", "ana", "--history"],
            ["--rater", "judge"],
            ["--rater", "nobody"],
            ["--schema", "path"],
            ["--schema", "odd"],
            ["--history"],
        )
        for form in ([], ["--format", "csv"], ["-o", "out.jsonl"], ["-o", "out.csv"])
    ],
    "export items": [
        ["export", "items", *form]
        for form in ([], ["--format", "csv"], ["-o", "out.jsonl"], ["-o", "out.csv"])
    ],
    "items export": [["items", "export"], ["items", "export", "-o", "out.csv"]],
    "agreement": [
        ["agreement"],
        ["agreement", "ana", "judge"],
        ["agreement", "judge", "ana"],
        ["agreement", "ana", "bob"],
        ["agreement", "ana", "nobody"],
        ["agreement", "ana", "bob", "judge", "--measure", "ordinal"],
        ["agreement", "ana", "judge", "--weights", "quadratic"],
        ["agreement", "ana", "judge", "--plan"],
        ["agreement", "--judge", "judge"],
        ["agreement", "--judge", "judge", "--truth", "ana"],
        ["agreement", "--judge", "judge", "--truth", "adjudicated"],
        ["agreement", "--judge", "judge", "--truth", "nobody"],
        ["agreement", "--judge", "ana"],
        ["agreement", "--judge", "judge", "--before", "nobody"],
        ["agreement", "--schema", "step"],
        ["agreement", "--schema", "odd"],
    ],
    "demo": [["demo"]],
    "": [[], ["--version"], ["--rater", "ana"], ["--db", "no/such/folder.db", "items", "list"]],
}
"""Every command with ways to run it without --unseal."""

AGGREGATES = {"agreement", "schema list", "demo"}
"""Commands that name a schema's categories, which are words of the guideline and no verdict."""


def commands(group: Any, path: str = "") -> Iterator[str]:
    """Yield the full name of every command of the app."""
    for name, command in group.commands.items():
        full = f"{path} {name}".strip()
        if isinstance(command, click.Group) or hasattr(command, "commands"):
            yield from commands(command, full)
        else:
            yield full


def test_every_command_is_tried() -> None:
    tried = set(EXITS) - {""}
    assert set(commands(typer.main.get_command(app))) == tried


def test_every_option_that_unseals_is_known() -> None:
    """A new --unseal belongs to the commands of the last test below."""

    def unsealing(group: Any, path: str = "") -> Iterator[str]:
        for name, command in group.commands.items():
            full = f"{path} {name}".strip()
            if hasattr(command, "commands"):
                yield from unsealing(command, full)
            elif any("--unseal" in p.opts for p in command.params):
                yield full

    assert set(unsealing(typer.main.get_command(app))) == {u[0] for u in UNSEALING}


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(model) as running:
        yield running


@pytest.fixture(autouse=True)
def place(server: FaultServer) -> Place:
    planted = plant()
    Path("plan.toml").write_text(PLAN.replace("SERVER", server.url))
    for n, row in enumerate(FILES.values()):
        lines_of(Path(f"{n}.jsonl"), row)
    lines_of(Path("all.jsonl"), *FILES.values())
    for name, row in MAPPED.items():
        lines_of(Path(f"{name}.jsonl"), row)
    Path("bad.csv").write_text(f"item,rater,category\n{ITEM},ana,odd\n{ITEM},bob\n")
    Path("bad.toml").write_text("name = 1")
    Path("lamps.toml").write_text(LAMPS)
    Path("dates.csv").write_text("name,year\nWat,1066\nTyl,1067\n")
    answer = {"set": "births", "a": "Ann", "b": "Cid", "relation": "after", "model": "other"}
    lines_of(Path("answers.jsonl"), answer)
    return planted


def written(folder: Path) -> str:
    return "".join(p.read_text() for p in folder.glob("out.*"))


def told(ran: Ran) -> str:
    return ran.out + ran.err + written(Path())


def leaks(text: str, *, but: tuple[str, ...] = ()) -> list[str]:
    return [what for what, word in SECRETS.items() if word in text and what not in but]


CALLS = [
    (name, [*call, *form])
    for name, calls in EXITS.items()
    for call in calls
    for form in ([], ["--json"], ["--help"])
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[" ".join(c) for _, c in CALLS])
def test_nothing_sealed_is_told(name: str, call: list[str], server: FaultServer) -> None:
    before = unsealings()
    ran = medoid(*(server.url if part == SERVER else part for part in call))
    but: tuple[str, ...] = ()
    if name in AGGREGATES:
        but = ("category", "another's category")
    elif name == "import":  # the message lists the categories that the schema has
        but = ("category", "another's category") if "is not in schema" in ran.err + ran.out else ()
    assert leaks(told(ran), but=but) == []
    assert unsealings() == before


def test_nothing_sealed_is_asked(server: FaultServer) -> None:
    """No model sees gold, votes, scores, labels or notes, whatever the role."""
    server.seen.clear()
    asking = ("generate", "decompose", "early-answer", "counterfactual", "ablate", "judge")
    of_others = ("deduce make", "deduce ask", "deduce extract", "relations ask", "relations probe")
    for name in (*asking, *of_others):
        for call in EXITS[name]:
            medoid(*(server.url if part == SERVER else part for part in call))
    assert len({s.prompt for s in server.seen}) > 20
    assert leaks(json.dumps([s.body for s in server.seen])) == []
    with closing(sqlite3.connect(DB)) as connection:
        rows = connection.execute("SELECT stage, parameters, summary, detail FROM run").fetchall()
    stages = {"generate", "decompose", "early-answer", "edit", "answer", "ablate", "judge"}
    stages |= {"relations", "probe"}
    assert stages <= {row[0] for row in rows}
    assert leaks(str(rows)) == []


def test_which_trace_is_the_medoid_is_not_told_by_its_edits(server: FaultServer) -> None:
    """Only medoids are edited unless asked for otherwise: a key of an edit would name one."""
    asked = [server.url if part == SERVER else part for part in ASKED]
    judging = ["judge", *asked, "--schema", "counterfactual"]
    for call in (
        ["counterfactual", *asked],
        ["counterfactual", "--sample", "3"],
        judging,
        [*judging, "--all"],
    ):
        for form in ([], ["--json"]):
            ran = medoid(*call, *form)
            assert ran.code == 0
            assert "begins" not in told(ran)
            assert "counterfactual:" not in told(ran)
    assert "counterfactual:" not in told(medoid("export", "items"))
    assert "counterfactual:d/q0/m/2/0" in told(medoid("export", "items", "--unseal"))


def unsealings() -> list[str]:
    with open_store(DB) as store:
        return [u.what for u in store.unseals()]


def test_the_record_of_runs_tells_nothing_sealed() -> None:
    for n in range(len(FILES)):
        medoid("import", f"{n}.jsonl")
    medoid("import", "all.jsonl", "--strict")
    for name in MAPPED:
        medoid("import", f"{name}.jsonl", "--mapping", name, "--dataset", "d")
    with closing(sqlite3.connect(DB)) as connection:
        rows = connection.execute("SELECT parameters, summary FROM run").fetchall()
    assert len(rows) > 3
    assert leaks(str(rows)) == []


@pytest.mark.parametrize("label", ["faithful", "spurious"])
def test_a_running_comparison_does_not_follow_ones_last_label(label: str) -> None:
    """Whoever has sealed items left could read a verdict off the table's change."""
    before = medoid("agreement", "ana", "judge", "--json").json["pairs"][0]
    with open_store(DB) as store:
        ana, path = store.rater("ana").id, store.schema()
        case = store.cases(ana).rows[1].case_id
        item = store.case(case, ana, path).paths[0].item_id
        store.commit_label(ana, item, path, category=label)
    after = medoid("agreement", "ana", "judge", "--json").json["pairs"][0]
    for part in ("confusion", "judges", "n_questions"):
        assert after[part] == before[part]
    assert after["states"]["judge"] == before["states"]["judge"]
    assert (before["confusion"]["n"], before["held"], after["held"]) == (0, 1, 2)


@pytest.mark.parametrize("truth", ["ana", "adjudicated"])
@pytest.mark.parametrize("label", ["faithful", "spurious"])
def test_a_running_judge_report_does_not_follow_ones_last_label(truth: str, label: str) -> None:
    call = ("agreement", "--judge", "judge", "--truth", truth, "--json")
    before = medoid(*call).json
    with open_store(DB) as store:
        ana, path = store.rater("ana").id, store.schema()
        case = store.cases(ana).rows[1].case_id
        item = store.case(case, ana, path).paths[0].item_id
        store.commit_label(ana, item, path, category=label)
    after = medoid(*call).json
    assert (before.pop("n_held"), after.pop("n_held")) == (1, 2)
    assert after == before


def test_a_running_faithfulness_does_not_follow_ones_last_label() -> None:
    found = []
    for label in ("faithful", "spurious"):
        with open_store(DB) as store:
            ana, path = store.rater("ana").id, store.schema()
            for row in store.cases(ana).rows:
                item = store.case(row.case_id, ana, path).paths[0].item_id
                store.commit_label(ana, item, path, category=label)
        found.append(medoid("items", "faithfulness", "--rater", "ana", "--json").json)
    assert found[0] == found[1]
    assert (found[0]["n_held"], found[0]["groups"][0]["n_questions"]) == (2, 0)


# --- behind the seal -----------------------------------------------------------------------

UNSEALING: list[tuple[str, list[str], list[str]]] = [
    (
        "export labels",
        ["export", "labels", "--unseal"],
        ["category", "rationale", "raw", "judge's note", "another's note", "another's category"],
    ),
    ("export labels", ["export", "labels", "--rater", "judge", "--unseal"], ["rationale"]),
    ("export items", ["export", "items", "--unseal"], ["stratum", "probability"]),
    ("items export", ["items", "export", "--unseal"], ["stratum", "probability"]),
    ("items list", ["items", "list", "--verdicts", "--unseal"], ["category"]),
    ("items list", ["items", "list", "--verdicts", "--unseal", "--json"], ["category"]),
    ("items faithfulness", ["items", "faithfulness", "--rater", "ana", "--unseal"], []),
    (
        "items faithfulness",
        ["items", "faithfulness", "--rater", "judge", "--questions", "--unseal"],
        [],
    ),
    ("agreement", ["agreement", "ana", "judge", "--unseal"], ["category"]),
    ("score", ["score", "--show", "--unseal", "--json"], ["support"]),
    ("export scores", ["export", "scores", "--unseal"], ["support"]),
    ("sensitivity", ["sensitivity", "--unseal"], []),
    ("agreement", ["agreement", "--judge", "judge", "--truth", "bob", "--unseal"], ["category"]),
    ("items audit", ["items", "audit", "--rater", "ana", "--unseal"], []),
    ("early-answer", ["early-answer", *ASKED, "--questions", "--unseal"], []),
    ("counterfactual", ["counterfactual", *ASKED, "--questions", "--unseal"], []),
    ("deduce list", ["deduce", "list", "--responses", "--unseal"], ["expected value"]),
    ("deduce list", ["deduce", "list", "--unseal"], []),
    ("deduce score", ["deduce", "score", "--unseal", "--errors", "judge"], []),
    ("ablate", ["ablate", *ASKED, "-n", "1", "--questions", "--unseal"], []),
    ("relations score", ["relations", "score", "--draws", "0", "--objects", "--unseal"], []),
    ("relations fix", ["relations", "fix", "--edits", "--unseal"], ["mended answer"]),
    (
        "relations align",
        ["relations", "align", "--facts", "--unseal"],
        ["true order"],
    ),
    ("relations map", ["relations", "map", "--unseal"], []),
    (
        "relations probe",
        ["relations", "probe", "--show", "--objects", "--unseal"],
        ["stated fact"],
    ),
]


@pytest.mark.parametrize(
    ("_name", "call", "shown"), UNSEALING, ids=[" ".join(u[1]) for u in UNSEALING]
)
def test_with_unseal_it_is_told_and_logged(
    _name: str, call: list[str], shown: list[str], server: FaultServer
) -> None:
    """The test above would notice: these words are there to be found."""
    ran = medoid(*(server.url if part == SERVER else part for part in call))
    assert (ran.code, unsealings() != []) == (0, True)
    assert len(unsealings()) == 1
    assert [s for s in shown if SECRETS[s] not in ran.out] == []


def test_the_log_says_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    monkeypatch.setenv("MEDOID_RATER", "ana")
    assert medoid("export", "labels", "--rater", "judge", "--unseal").code == 0
    with open_store(DB) as store:
        (entry,) = store.unseals()
    assert (entry.what, entry.rater, entry.who) == (
        "exporting labels of judge judge",
        "ana",
        "login",
    )


def test_a_refused_export_writes_no_file_and_no_log() -> None:
    ran = medoid("export", "labels", "-o", "out.jsonl")
    assert ran.code == 2
    assert "--unseal" in ran.err
    assert not Path("out.jsonl").exists()
    assert unsealings() == []


def test_whoever_said_who_they_are_may_not_name_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assert medoid("export", "labels", "--rater", "ana").code == 0
    monkeypatch.setenv("MEDOID_RATER", "ana")
    assert medoid("export", "labels").code == 2
    assert medoid("export", "labels", "--rater", "ana").code == 0
    refused = medoid("export", "labels", "--rater", "bob")
    assert (refused.code, leaks(refused.out)) == (2, [])
    assert medoid("items", "faithfulness", "--rater", "bob", "--questions").code == 2


def test_ones_own_labels_are_whole() -> None:
    rows = [json.loads(x) for x in medoid("export", "labels", "--rater", "ana").out.splitlines()]
    assert [(r["state"], r["category"], r["note"]) for r in rows] == [
        ("labelled", "faithful", None),
        ("open", None, "mine"),
    ]
