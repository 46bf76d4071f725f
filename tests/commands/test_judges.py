"""`medoid judge` for other schemas, prompts of one's own, comparisons and the planted check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import judges.prompts
from tests.definitions.running import medoid
from tests.judges.faults import FaultServer
from tests.pipeline.conftest import line, write_lines
from tests.pipeline.scripted import model

PROMPTS = Path(judges.prompts.__file__).parent


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(model) as running:
        yield running


@pytest.fixture(autouse=True)
def _project(server: FaultServer) -> None:
    rows = [line(f"q{i}", 0, "yes", f"Step {i} one.", (f"Step {i} two.", [0])) for i in range(3)]
    write_lines(Path("t.jsonl"), rows)
    Path("medoid.toml").write_text(
        f'[models.small]\nbase_url = "{server.url}"\nstructured = "schema"\n'
    )
    assert medoid("import", "t.jsonl").code == 0


def test_steps(server: FaultServer) -> None:
    ran = medoid("judge", "--schema", "step", "--all")
    assert ran.code == 0
    assert "judge small: 6 steps × 1; prompt step_judge-schema/1+step/1" in ran.out
    assert "verdicts 6 on 6 steps: 6 valid (100 %)" in ran.out
    assert "traces   3 by their steps: 0 go wrong at some step, 3 at none, 0 open" in ran.out
    found = medoid("judge", "--schema", "step", "--all", "--json").json
    assert found["first_wrong"] == {"n_traces": 3, "n_wrong": 0, "n_sound": 3, "n_open": 0}
    assert found["asking"]["n_known"] == 6


def test_prompts_and_their_comparison(server: FaultServer) -> None:
    text = (PROMPTS / "path_judge-schema-2.toml").read_text("utf-8")
    Path("mine.toml").write_text(text.replace("one after the other", "in their order"))
    medoid("judge", "--all", "--prompt-version", "1")
    mine = medoid("judge", "--all", "--prompt", "mine.toml", "--json").json
    assert mine["rater"] == f"small · {mine['prompt_version']}"
    ran = medoid("judge", "--compare", "--of", "small", "--of", mine["rater"])
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "schema path, majority against majority"
    assert lines[1] == (
        "A        small, prompt path_judge-schema/1: 3 items: 3 faithful (100 %); 0 tied, 0 not "
        "readable"
    )
    assert "both     3 items of 3 questions, n 3, 0 left out" in ran.out
    assert "changed  0 of 3 (0 %, 95 % 0.00 to 0.56)" in ran.out
    found = medoid("judge", "--compare", "--of", "small", "--of", mine["rater"], "--json").json
    assert (found["n"], found["moves"], found["changed"]["k"]) == (3, [], 0)
    assert found["kappa"]["value"] is None


def test_the_planted_check(server: FaultServer) -> None:
    medoid("judge", "--all")
    ran = medoid("judge", "--planted", "2")
    assert ran.code == 0
    assert "judge small: 2 of 3 judged paths drawn by seed 0, each asked twice" in ran.out
    assert "  all: turned as told 0 of 2 (0 %, 95 % 0.00 to 0.66); with a harmless" in ran.out
    again = medoid("judge", "--planted", "2", "--json").json
    assert (again["asking"]["n_known"], again["overall"]["planted"]["k"]) == (4, 0)
    assert again["by_direction"]["faithful → spurious"]["n"] == 2
    dry = medoid("judge", "--planted", "3", "--dry-run")
    assert dry.code == 0
    assert "6 requests, 4 of them answered by kept" in dry.out


def test_mistakes_are_told_in_a_line(server: FaultServer) -> None:
    for call, message in (
        (["--prompt", "no.toml"], "no.toml"),
        (["--prompt", "t.jsonl"], "t.jsonl: prompt path_judge-schema/0"),
        (["--prompt", "a", "--prompt-version", "1"], "not both"),
        (["--prompt-version", "x"], "one number, such as 1"),
        (["--prompt-version", "9"], "has no version 9: 1, 2"),
        (["--schema", "deduction"], "no drawn reply to judge: medoid deduce sample draws some"),
        (["--schema", "odd"], "odd"),
        (["--compare"], "two judges are compared"),
        (["--compare", "--panel", "p"], "not both"),
        (["--planted", "2", "--all"], "--planted goes with"),
        (["--planted", "2"], "has no verdict under path_judge-schema/2"),
    ):
        refused = medoid("judge", *call)
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
        assert message in refused.err
    assert server.seen == []


def test_what_is_written_is_json_for_machines() -> None:
    ran = medoid("judge", "--schema", "step", "--all", "--json")
    assert json.loads(ran.out)["schema"] == "step"
