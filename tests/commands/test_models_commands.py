"""The commands that ask models, against a server of our own on loopback."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline.progress import Progress
from store import open_store
from tests.definitions.running import DB, Ran, medoid
from tests.judges.faults import Answer, FaultServer, Seen, error, ok
from tests.pipeline.conftest import HashEmbedder, hash_embedder
from tests.pipeline.scripted import model, only_role, role_of, said
from tui.commands.common import end_progress, progress_line, progress_printer

__all__ = ["hash_embedder"]

ROOT = Path(__file__).parents[2]
KEY = "sk-planted-0123456789abcdef"
QUESTIONS = [
    {"id": "q1", "question": "Is ice cold?", "gold": "yes"},
    {"id": "q2", "question": "Is rain wet?", "gold": "yes"},
]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(model) as running:
        yield running


@pytest.fixture(autouse=True)
def _questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEDOID_MODELS", raising=False)
    Path("own.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    medoid("import", "own.jsonl", "--mapping", "native")


def settings(server: FaultServer, **more: Any) -> None:
    """Describe the server as the only model."""
    lines = {"base_url": server.url, "model": "m", "structured": "schema", **more}
    text = "".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items())
    Path("medoid.toml").write_text("[models.small]\n" + text)


# --- generate ------------------------------------------------------------------------------


def test_generate_tells_what_it_did(server: FaultServer) -> None:
    settings(server)
    ran = medoid("generate", "-n", "3")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "generate 6 requests: 6 ok"
    assert re.fullmatch(
        r"         6 asked, 66 \+ 42 tokens, 0:0[0-9](, [0-9.]+ a second)?", lines[1]
    )
    assert lines[2] == (
        "         pool small: 2 questions × 3, prompt generator-schema-short/1, "
        "replies bound by a JSON schema"
    )
    assert lines[3] == (
        "traces   6 stored: 100 % follow the format to the letter, 100 % have steps, "
        "100 % an answer, 100 % both"
    )
    again = medoid("generate", "-n", "3")
    assert again.code == 0
    assert again.out.startswith("generate nothing to ask: 6 results were there already\n")
    assert len(server.seen) == 6


def test_generate_as_json_and_without_a_file_of_models(server: FaultServer) -> None:
    ran = medoid(
        *("generate", "--model", "m", "--base-url", server.url, "--form", "text", "-n", "1"),
        *("--temperature", "0.2", "--max-tokens", "50", "--variant", "cool", "--json"),
    )
    assert ran.code == 0
    assert (ran.json["pool"], ran.json["traces"], ran.json["form"]) == ("m@cool", 2, "text")
    assert ran.json["asking"]["outcomes"] == {"ok": 2}
    assert server.seen[0].body["temperature"] == 0.2
    assert 50 in (
        server.seen[0].body.get("max_tokens"),
        server.seen[0].body.get("max_completion_tokens"),
    )


def test_a_dry_run_says_requests_tokens_and_money(server: FaultServer) -> None:
    settings(server, price_in=1.0, price_out=2.0)
    content = DB.read_bytes()
    ran = medoid("generate", "-n", "3", "--dry-run")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert (
        lines[0]
        == "generate 6 requests, 0 of them answered by kept replies or equal ones, 6 to ask"
    )
    assert re.fullmatch(
        r"         about [0-9,]+ prompt tokens \(an estimate\), at most [0-9,]+ completion tokens",
        lines[1],
    )
    assert re.fullmatch(
        r"         at most about 0\.[0-9]{4} USD; nothing was asked, nothing written", lines[2]
    )
    found = medoid("generate", "-n", "3", "--dry-run", "--json").json["asking"]["estimate"]
    assert (found["n_requests"], found["n_cached"], found["n_to_ask"]) == (6, 0, 6)
    assert found["cost"] == pytest.approx(
        (found["prompt_tokens"] + 2 * found["max_completion_tokens"]) / 1e6
    )
    assert server.seen == []
    assert DB.read_bytes() == content


def test_failed_requests_end_with_1_and_are_asked_again() -> None:
    answers = [error(400, "no such luck")]

    def script(seen: Seen) -> Answer:
        return answers.pop() if answers else model(seen)

    with FaultServer(script) as server:
        settings(server, concurrency=1)
        ran = medoid("generate", "-n", "2")
        assert ran.code == 1
        assert "1 failed: " in ran.err
        assert "no such luck" in ran.err
        assert "1 of 4 are left; the same command asks them" in ran.err
        assert medoid("generate", "-n", "2").code == 0
    with open_store(DB) as store:
        assert [len(store.pool_traces(p.id)) for p in store.pools()] == [2, 2]


def test_a_budget_ends_with_1_and_says_what_is_left(server: FaultServer) -> None:
    settings(server, concurrency=1)
    ran = medoid("generate", "-n", "9", "--max-tokens-total", "2000")
    assert ran.code == 1
    assert "stopped: the budget is used up: " in ran.err
    (left,) = re.findall(r"([0-9]+) of 18 are left", ran.err)
    assert 0 < int(left) == 18 - len(server.seen)


def test_a_budget_of_money_needs_a_price(server: FaultServer) -> None:
    settings(server)
    ran = medoid("generate", "--max-cost", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "price" in ran.err


def test_another_sampling_offers_a_variant(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "1")
    ran = medoid("generate", "-n", "1", "--temperature", "1")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "pool 'small' was sampled with temperature 0.7, not 1.0" in ran.err
    assert "--variant NAME" in ran.err
    assert medoid("generate", "-n", "1", "--temperature", "1", "--variant", "hot").code == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["generate"], "no model to ask: give --model and --base-url"),
        (["generate", "--models", "none.toml"], "none.toml: No such file"),
        (["generate", "--base-url", "http://127.0.0.1:9/v1"], "--base-url goes with --model"),
        (["generate", "--model", "m", "--base-url", "http://u:p@h/v1"], "user or password"),
        (["decompose", "--db", "none.db"], "none.db does not exist"),
        (["early-answer", "--show"], "no early answers in the database"),
        (["early-answer", "--unseal"], "--unseal goes with --questions"),
        (["early-answer", "--questions"], "add --unseal, which is logged"),
        (["decompose", "--compare"], "no traces"),
        (["run", "none.toml"], "none.toml: No such file"),
    ],
)
def test_mistakes_end_with_2_and_one_line(call: list[str], message: str) -> None:
    ran = medoid(*call)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["generate", "--form", "odd"], "--form is 'odd'; schema, text or auto is right"),
        (["generate", "--length", "odd"], "--length is 'odd'; short or long is right"),
        (["generate", "--dataset", "odd"], "no dataset 'odd' in the database; there are: own"),
        (["early-answer", "--traces", "odd"], "--traces is 'odd'; all or medoids is right"),
        (["judge", "--all", "--labelled", "x"], "give --all or --labelled RATER, not both"),
        (["judge"], "no traces: medoid generate"),
    ],
)
def test_mistakes_with_a_model_are_told(server: FaultServer, call: list[str], message: str) -> None:
    settings(server)
    ran = medoid(*call)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert message in ran.err
    assert server.seen == []


def test_a_server_that_is_not_there_ends_with_one_line() -> None:
    ran = medoid("generate", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert ran.code == 2
    assert "no server answers" in ran.err


# --- the other stages ----------------------------------------------------------------------


def test_decompose_and_compare(server: FaultServer, hash_embedder: HashEmbedder) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    ran = medoid("decompose")
    assert ran.code == 0
    assert (
        "facts    4 of 4 traces have facts, 6.00 each; 0 of 12 steps (0 %) got none; "
        "0 statements name a step that is not there"
    ) in ran.out
    medoid("score", "--embedder", "hash")
    medoid("score", "--embedder", "hash", "--decomposition", "small")
    table = medoid("decompose", "--compare").out.splitlines()
    assert table[0].split() == [
        *("decomposition", "traces", "facts/trace", "edges/fact"),
        *("steps", "dropped", "invented", "scored"),
    ]
    assert table[1].split() == ["none", "4", "3.00", "0.67", "0", "(0", "%)", "0", "2"]
    assert table[2].split() == ["small", "4", "6.00", "0.67", "0", "(0", "%)", "0", "2"]
    assert table[5] == "  none and small: –  (the GRCS of none is the same for every question)"
    found = medoid("decompose", "--compare", "--json").json
    assert [d["facts_per_trace"] for d in found["decompositions"]] == [3.0, 6.0]
    assert found["grcs"][0]["n"] == 2


def test_embed_takes_a_decomposition(server: FaultServer, hash_embedder: HashEmbedder) -> None:
    settings(server)
    medoid("generate", "-n", "1")
    medoid("decompose")
    ran = medoid("embed", "--embedder", "hash", "--decomposition", "small", "--json")
    assert (ran.json["n_facts"], ran.json["n_embedded"]) == (12, 8)
    assert medoid("embed", "--embedder", "hash", "--decomposition", "x").code == 2


def test_embed_only_embeds_and_a_second_run_does_nothing(
    server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    settings(server)
    nothing = medoid("embed", "--embedder", "hash")
    assert (nothing.code, nothing.out) == (2, "")
    assert "nothing to embed" in nothing.err
    medoid("generate", "-n", "2")
    medoid("decompose")
    call = ("embed", "--embedder", "hash", "--decomposition", "small")
    first = medoid(*call).out.splitlines()
    with open_store(DB) as store:
        runs = [r.stage for r in store.runs()]
        assert store.scorings() == ()
    facts, distinct = _figures(first[0])
    assert first[0].startswith(f"embedded {distinct} texts (0 known); {facts} facts are ")
    assert 0 < distinct < facts
    assert f"{facts - distinct} repeat one of them" in first[0]
    assert re.match(r" +[0-9.]+ s, [0-9,]+ a second, and [0-9.]+ s to load the model", first[1])
    assert runs[0] == "embed"
    again = medoid(*call).out.splitlines()
    assert again[0].startswith(f"embedded 0 texts ({distinct} known)")
    assert len(again) == 1
    with open_store(DB) as store:
        assert [r.stage for r in store.runs()] == runs


def _figures(line: str) -> tuple[int, int]:
    found = re.search(r"([0-9]+) facts are ([0-9]+) distinct texts", line)
    assert found is not None
    return int(found[1]), int(found[2])


def test_early_answers_show_both_targets_and_the_reply_rate(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    ran = medoid("early-answer")
    assert ran.code == 0
    assert "own · small, all traces: 4 traces of 2 questions" in ran.out
    assert "  F against gold       0.000  n 4 of 4, reply rate 100.0 %" in ran.out
    assert "    correct traces     0.000  n 4 of 4, reply rate 100.0 %" in ran.out
    assert "  F against own answer 0.000  n 4 of 4, reply rate 100.0 %" in ran.out
    n = len(server.seen)
    shown = medoid("early-answer", "--show", "--json").json
    assert len(server.seen) == n
    assert shown["asking"] is None
    assert shown["reports"][0]["groups"][0]["gold"]["n"] == 4
    assert "questions" not in shown["reports"][0]
    asked = medoid("early-answer", "--show", "--questions", "--unseal", "--json").json
    assert [q["question_id"] for q in asked["reports"][0]["questions"]] == ["q1", "q2"]
    with open_store(DB) as store:
        assert [u.what for u in store.unseals()] == ["early answers of single questions"]


def test_judge_prints_totals_only(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    ran = medoid("judge", "--all", "-k", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "judge    8 requests: 8 ok"
    assert lines[3] == "verdicts 8 on 4 paths: 8 faithful (100 %)"
    assert lines[4] == (
        "labels   4 added, 0 changed, 0 as before; 0 tied (unsure), 0 without a readable verdict"
    )
    assert lines[5].startswith("         self-agreement: 1.000 of 4 pairs equal")
    # Each path's two repeats turn the two words round, and the judge always says faithful.
    assert lines[6] == (
        "         word order: 1.000 of 4 pairs of repeats equal in different orders, none in one "
        "order (0 = the order says nothing)"
    )
    assert lines[7] == (
        "         the word offered first was taken in 4 of 8 verdicts, 4.0 if the place says nothing"
    )
    assert "path:" not in ran.out + ran.err
    again = medoid("judge", "--all", "-k", "2", "--json").json
    assert again["settled"]["n_known"] == 4
    orders = again["word_order"]
    assert (orders["other_pairs"], orders["other"], orders["same"]) == (4, 1.0, None)
    assert orders["why_undefined"] == "no item has two verdicts in the same order"
    assert (again["asking"]["n_requests"], again["verdicts"]) == (0, {"faithful": 8})


def test_a_limit_judges_some_questions_and_a_draw_says_which(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    assert medoid("judge", "--all", "--limit", "1", "--dry-run", "--json").json["items"] == 2
    first = medoid("judge", "--all", "--limit", "1", "--json").json
    assert (first["asking"]["n_requests"], first["items"]) == (2, 2)
    with open_store(DB) as store:
        said = {x.label.item.split("/")[1] for x in store.export_labels(rater="small")}
    assert said == {"q1"}
    # Under this seed q2 is drawn; the two verdicts on q1 are there.
    drawn = medoid("judge", "--all", "--limit", "1", "--draw", "2", "--json").json
    assert (drawn["asking"]["n_requests"], drawn["items"]) == (2, 2)
    rest = medoid("judge", "--all", "--limit", "5", "--json").json
    assert (rest["asking"]["n_requests"], rest["items"]) == (0, 4)


def test_a_limit_counts_the_questions_of_a_decomposition_and_of_steps(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    medoid("decompose", "--name", "split")
    call = ("judge", "--all", "--limit", "1", "--json", "--schema")
    assert medoid(*call, "decomposition").json["items"] == 2
    steps = medoid(*call, "step").json["items"]
    assert 0 < steps < medoid("judge", "--all", "--json", "--schema", "step").json["items"]


def test_a_tie_is_told_beside_the_judges_verdicts(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "1")
    words = iter(["faithful", "spurious", "faithful", "faithful"])

    def turning(_: Seen) -> Answer:
        word = next(words)
        step = 0 if word == "spurious" else None
        return ok(json.dumps({"rationale": "x", "first_wrong_step": step, "verdict": word}))

    with FaultServer(only_role("path_judge", turning)) as judging:
        settings(judging, concurrency=1)
        medoid("judge", "--all", "-k", "2", "--rater", "one")
    settings(server)
    medoid("judge", "--all", "--rater", "two")
    ran = medoid("agreement", "one", "two")
    told = [x for x in ran.out.splitlines() if x.startswith("judge one:")]
    assert told == [
        "judge one: 2 verdicts: 1 faithful; unparsed 0, tied 1 "
        "(unsure: no category had most of the votes)"
    ]


def test_a_judges_labels_can_be_compared(server: FaultServer) -> None:
    settings(server)
    medoid("generate", "-n", "2")
    medoid("judge", "--all", "--rater", "one")
    with FaultServer(
        only_role(
            "path_judge",
            lambda _: ok('{"rationale": "x", "first_wrong_step": 0, "verdict": "spurious"}'),
        )
    ) as other:
        settings(other)
        medoid("judge", "--all", "--rater", "two")
    table = medoid("agreement", "one", "two", "--json").json["pairs"][0]["confusion"]
    assert (table["n"], table["table"]) == (4, [[0, 4], [0, 0]])


def saying(word: str) -> FaultServer:
    step = "null" if word == "faithful" else "0"
    reply = f'{{"rationale": "x", "first_wrong_step": {step}, "verdict": "{word}"}}'
    return FaultServer(only_role("path_judge", lambda _: ok(reply)))


def test_a_panel_of_several_models() -> None:
    with saying("faithful") as good, saying("spurious") as bad:
        settings(good)
        medoid("generate", "-n", "1")
        medoid("judge", "--all", "--rater", "one")
        medoid("judge", "--all", "--rater", "two", "-k", "3")
        settings(bad)
        medoid("judge", "--all", "--rater", "three")
        n = len(bad.seen)
        ran = medoid("judge", "--panel", "all", "--of", "one", "--of", "two", "--of", "three")
        tied = medoid("judge", "--panel", "odd", "--of", "one", "--of", "three", "--json").json
        assert len(bad.seen) == n
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "panel    all: one (path_judge-schema/2), two (path_judge-schema/2), "
        "three (path_judge-schema/2); 2 paths",
        "labels   2 added, 0 changed, 0 as before; 0 tied (unsure), 0 without a readable verdict",
    ]
    with open_store(DB) as store:
        said = [x.label.category for x in store.export_labels(rater="all")]
    assert said == ["faithful", "faithful"]
    assert tied["settled"]["n_tied"] == 2
    again = medoid("judge", "--panel", "all", "--of", "one", "--of", "two", "--of", "three")
    assert "0 added, 0 changed, 2 as before" in again.out
    for call, message in (
        (["--panel", "p", "--of", "one"], "a panel is of two judges or more"),
        (["--panel", "one", "--of", "one", "--of", "two"], "cannot be one of its judges"),
        (["--panel", "three", "--of", "one", "--of", "two"], "has votes of its own"),
        (["--panel", "p", "--of", "one", "--of", "all"], "judge 'all' has no votes"),
        (["--panel", "p", "--of", "one", "--of", "eve"], "no rater 'eve'"),
        (["--of", "one"], "goes with --panel NAME or --compare"),
        (["--panel", "p", "--of", "one", "--of", "two", "--prompt-version", "x"], "choose with"),
    ):
        refused = medoid("judge", *call)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert message in refused.err


# --- run and doctor ------------------------------------------------------------------------

PLAN = """
[datasets.own]
files = "own.jsonl"
[[stages]]
stage = "generate"
n = 2
[[stages]]
stage = "score"
embedder = "hash"
[[stages]]
stage = "judge"
items = "all"
"""


def test_run_ends_with_a_table(server: FaultServer, hash_embedder: HashEmbedder) -> None:
    settings(server)
    Path("plan.toml").write_text(PLAN)
    ran = medoid("run", "plan.toml", "--db", "new.db")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "questions own: 2 added, 0 known"
    assert lines[1].split() == [
        *("stage", "model", "dataset", "requests", "known", "ok", "not", "ok", "left", "tokens"),
    ]
    assert lines[2].split()[:9] == ["generate", "small", "own", "4", "0", "4", "0", "0", "72"]
    assert lines[3].split()[:2] == ["score", "2"]
    assert lines[4].split()[:8] == ["judge", "small", "own", "4", "0", "4", "0", "0"]
    assert [line.split() for line in lines if line.startswith("dataset")] == [
        ["dataset", "model", "traces", "parsed", "SC", "GSC", "disagree", "GRCS"],
        ["dataset", "model", "EA", "CF", "ΔA", "ΔF", "judged"],
        ["dataset", "model", "tokens", "cost", "time", "errors"],
    ]
    assert ["own", "small", "–", "–", "–", "–", "4"] in [line.split() for line in lines]
    assert max(map(len, lines[lines.index("") :])) <= 80
    n = len(server.seen)
    again = medoid("run", "plan.toml", "--db", "new.db", "--json").json
    assert (again["complete"], len(server.seen)) == (True, n)
    assert [r["asking"] and r["asking"]["n_requests"] for r in again["rows"]] == [0, None, 0]


def test_a_dry_run_of_a_plan_makes_no_file(
    server: FaultServer, hash_embedder: HashEmbedder
) -> None:
    settings(server)
    Path("plan.toml").write_text(PLAN)
    ran = medoid("run", "plan.toml", "--db", "new.db", "--dry-run")
    assert ran.code == 0
    assert "nothing was asked, nothing written" in ran.out
    assert not Path("new.db").exists()
    assert server.seen == []


def test_a_plans_faults_are_a_line_each(server: FaultServer) -> None:
    settings(server)
    Path("plan.toml").write_text(PLAN.replace("n = 2", "n = 0").replace('"all"', '"some"'))
    ran = medoid("run", "plan.toml", "--db", "new.db")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 2)
    assert "[[stages]] 1 (generate) n: 0; a whole number from 1 is right" in ran.err
    assert not Path("new.db").exists()


def test_doctor_keeps_what_it_found(server: FaultServer) -> None:
    settings(server, structured="auto")
    ran = medoid("doctor")
    assert ran.code == 0
    assert f"database  {DB}: schema " in ran.out
    assert f"model     small: m at {server.url}, key none" in ran.out
    assert "model known yes · structured replies yes · tokens reported yes" in ran.out
    n = len(server.seen)
    done = medoid("generate", "-n", "1")
    assert "replies bound by a JSON schema (as found out before)" in done.out
    assert len(server.seen) == n + 2


def test_doctor_tells_what_each_role_used(server: FaultServer) -> None:
    settings(server, price_in=1.0, price_out=2.0)
    medoid("generate", "-n", "2")
    medoid("judge", "--all")
    medoid("generate", "-n", "2", "--variant", "again")
    ran = medoid("doctor")
    lines = [line.split() for line in ran.out.splitlines()]
    # Two of the four paths read the same, so their verdicts are kept replies.
    assert "usage     m: 10 kept replies" in ran.out
    # 11 tokens for each prompt and 7 for each reply, at 1 and 2 USD a million.
    assert ["generator", "8", "0", "88", "56", "0.00020", "USD"] in lines
    assert ["path_judge", "2", "0", "22", "14", "0.000050", "USD"] in lines
    assert ["generate", "2", "8", "0", "0"] in lines
    assert ["judge", "1", "2", "2", "0"] in lines
    assert max(map(len, ran.out.partition("usage")[2].partition("model ")[0].splitlines())) <= 80
    found = medoid("doctor", "--json").json
    assert [(u["role"], u["n"], u["prompt_tokens"]) for u in found["usage"]] == [
        ("generator", 8, 88),
        ("path_judge", 2, 22),
    ]
    assert found["stages"][0] == {
        "stage": "generate",
        "n_runs": 2,
        "n_asked": 8,
        "n_cached": 0,
        "n_failed": 0,
    }


def test_a_model_that_does_not_stop_is_told_of(server: FaultServer) -> None:
    def endless(seen: Seen) -> Answer:
        return ok("1. Ice is cold. [depends_on: none]", finish="length")

    with FaultServer(endless) as running:
        settings(running, structured="text")
        ran = medoid("generate", "-n", "1")
        assert (
            "2 of 2 replies were cut at their limit: a base model does not stop by itself in text "
            'form; extra = { stop = ["\\n\\n"] } in its settings ends a reply at an empty line'
        ) in ran.out
    settings(server, structured="text")
    assert "cut at their limit" not in medoid("generate", "-n", "1", "--variant", "b").out


def with_tokens(seen: Seen) -> Answer:
    """A server whose longest reply has 10 tokens and takes 50 ms: below 200 a second."""
    if "response_format" not in seen.body:
        return model(seen)
    return ok(said(seen), usage=(5, 10), wait=0.05)


def test_doctor_says_what_a_slow_server_needs() -> None:
    with FaultServer(with_tokens) as server:
        settings(server, timeout=2)
        slow = medoid("doctor", "--max-tokens", "1000")
        told = medoid("doctor", "--max-tokens", "1000", "--json").json
        default = medoid("doctor", "--json").json["warnings"]
        fits = medoid("doctor", "--max-tokens", "20", "--json").json["warnings"]
    assert slow.code == 0
    assert "  ! model small: " in slow.err
    assert fits == []
    speed = told["servers"][0]["probe"]["tokens_per_second"]
    assert 0 < speed <= 200
    (warning,) = told["warnings"]
    needed = -(-1000 * 3 // (2 * speed * 10)) * 10
    assert f"1,000 tokens take about {1000 / speed:.0f} s" in warning
    assert f"timeout = {needed:.0f}" in warning
    assert f"--max-tokens {int(2 * speed / 1.5)}" in warning
    assert "1,322 tokens" in default[0]


def test_doctor_without_anything_to_look_at() -> None:
    ran = medoid("doctor", "--db", "none.db")
    assert ran.code == 0
    assert "models    none described" in ran.out
    assert "none.db does not exist" in ran.out
    assert not Path("none.db").exists()


def test_doctor_names_what_does_not_work(server: FaultServer) -> None:
    settings(server, key_env="NO_SUCH_KEY")
    ran = medoid("doctor", "--json")
    assert (ran.code, ran.json["well"]) == (1, False)
    assert ran.json["problems"] == ["model small: the variable NO_SUCH_KEY is not set"]
    gone = medoid("doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert (gone.code, "does not answer" in gone.out) == (1, True)


# --- interruptions and kills ---------------------------------------------------------------


@contextmanager
def running(*args: str, db: str = "medoid.db") -> Iterator[subprocess.Popen[str]]:
    """Run a command in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from tui.cli import main; main()", *args, "--db", db],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def slow(seen: Seen) -> Answer:
    return ok(said(seen), wait=0.05)


def sources(db: str | Path = DB) -> dict[tuple[str, str], Any]:
    with open_store(db) as store:
        return {
            (p.question_id, r.sample): r.source
            for p in store.pools()
            for r in store.pool_traces(p.id)
        }


def test_a_killed_run_loses_at_most_what_was_in_flight() -> None:
    with FaultServer(slow) as server:
        settings(server, concurrency=4)
        with running("generate", "-n", "20") as process:
            wait_for(lambda: len(server.seen) >= 16)
            process.send_signal(signal.SIGKILL)
            process.wait()
        answered = len(server.seen)
        with open_store(DB) as store:
            kept = store.n_replies()
            run, _ = store.runs()
        assert answered - kept <= 4 * 2  # in flight, and answered but not yet kept
        assert 0 < kept < 40
        assert (run.state, run.stale) == ("running", True)
        assert set(sources()) <= {(f"q{i}", str(n)) for i in (1, 2) for n in range(20)}
        ran = medoid("generate", "-n", "20")
        assert ran.code == 0
        assert len(server.seen) - answered == 40 - kept
        medoid("import", "own.jsonl", "--mapping", "native", "--db", "whole.db")
        medoid("generate", "-n", "20", "--db", "whole.db")
    assert len(sources()) == 40
    assert sources() == sources("whole.db")
    n = len(server.seen)
    assert medoid("generate", "-n", "20", "--json").json["asking"]["n_requests"] == 0
    assert len(server.seen) == n


def test_ctrl_c_ends_with_130_and_says_what_is_kept() -> None:
    with FaultServer(slow) as server:
        settings(server, concurrency=2)
        with running("generate", "-n", "30") as process:
            wait_for(lambda: len(server.seen) >= 8)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            code = process.returncode
    assert code == 130
    (told,) = re.findall(r"interrupted; ([0-9]+) of 60 replies are kept, [0-9]+ are left", err)
    assert "Traceback" not in err
    with open_store(DB) as store:
        assert int(told) == store.n_replies() == len(sources())
        assert store.runs()[0].state == "interrupted"


# --- the key -------------------------------------------------------------------------------


def echoing(seen: Seen) -> Answer:
    """Tell the key in every place a server can."""
    key = seen.headers.get("authorization", "").removeprefix("Bearer ")
    if role_of(seen.body) == "generator" and seen.number % 3 == 0:
        return error(400, f"the key {key} is odd", key)
    if role_of(seen.body) == "generator" and seen.number % 3 == 1:
        return ok(f"your key is {key}", model=key)
    return ok(said(seen), model=f"m {key}")


def test_the_key_is_sent_and_appears_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)
    told: list[Ran] = []
    with FaultServer(echoing) as server:
        settings(server, key_env="PLANTED_KEY", structured="auto", concurrency=1)
        for call in (
            ["doctor"],
            ["doctor", "--json"],
            ["generate", "-n", "3"],
            ["generate", "-n", "3", "--json"],
            ["decompose"],
            ["early-answer"],
            ["judge", "--all"],
            ["judge", "--all", "--json"],
            ["generate", "-n", "4", "--dry-run"],
            ["export", "labels", "--unseal", "-o", "out.jsonl"],
            ["export", "labels", "--unseal", "--format", "csv"],
        ):
            told.append(medoid(*call))
        assert {s.headers["authorization"] for s in server.seen} == {f"Bearer {KEY}"}
    assert all(ran.code in (0, 1) for ran in told)
    assert any("odd" in ran.err for ran in told)
    assert not any(KEY in ran.out + ran.err for ran in told)
    files = [p for p in Path().rglob("*") if p.is_file()]
    assert {"medoid.db", "out.jsonl"} <= {p.name for p in files}
    assert [p.name for p in files if KEY.encode() in p.read_bytes()] == []


def test_a_key_that_is_not_set_is_told_before_asking(server: FaultServer) -> None:
    settings(server, key_env="NO_SUCH_KEY")
    ran = medoid("generate")
    assert (ran.code, server.seen) == (2, [])
    assert "NO_SUCH_KEY" in ran.err


# --- progress ------------------------------------------------------------------------------


def test_the_progress_line_tells_rate_time_left_tokens_and_errors() -> None:
    event = Progress("generate", 84, 200, "requests", rate=3.1, tokens=12345, errors=2)
    assert progress_line(event, 27.0) == (
        "generate  42 %  84/200 requests  3.1/s  0:37 left  12,345 tokens  2 errors"
    )
    done = Progress("generate", 200, 200, "requests", rate=3.1, tokens=20000, errors=0)
    assert progress_line(done, 65.0) == (
        "generate 100 %  200/200 requests  3.1/s  65 s  20,000 tokens"
    )
    assert progress_line(Progress("score", 1, 4, "questions"), 2.0) == (
        "score     25 %  1/4 questions  2 s"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "40")
    show = progress_printer()
    show(Progress("generate", 1, 200, "requests", rate=3.1, tokens=12345, errors=2))
    assert "\n" not in screen.getvalue()
    end_progress()
    show(Progress("generate", 200, 200, "requests", rate=3.1, tokens=12345, errors=2))
    show(Progress("generate", 200, 200, "requests", rate=3.1, tokens=12345, errors=2))
    *lines, rest = screen.getvalue().split("\n")
    assert (len(lines), rest) == (2, "")
    assert all(line.startswith("\r\x1b[2K") for line in lines)
    assert all(len(line.removeprefix("\r\x1b[2K")) <= 39 for line in lines)


def test_elsewhere_the_end_is_one_log_line(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    show = progress_printer()
    for done in range(5):
        show(Progress("generate", done, 4, "requests"))
    assert log.getvalue() == "generate 100 %  4/4 requests  0 s\n"
