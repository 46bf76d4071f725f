"""`medoid import --mapping`: what is printed, how it ends, and that no answer is told."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store import open_store
from tests.definitions.running import DB, medoid, rejected, write

GOLD, OTHER = "718281", "314159"
SOLUTION = f"It comes to {GOLD}.\n#### {GOLD}"
ROWS: list[dict[str, Any]] = [
    {"id": 1, "question": "How many?", "answer": SOLUTION},
    {"id": 2, "question": "How far?", "answer": GOLD},
    {"id": 3, "question": "How long?"},
]
GPQA = [
    {
        "Record ID": f"r{i}",
        "Question": f"Which {i}?",
        "Correct Answer": "yes",
        "Incorrect Answer 1": "no",
        "Incorrect Answer 2": "never",
        "Incorrect Answer 3": "maybe",
    }
    for i in range(4)
]


def stored() -> dict[str, Any]:
    with open_store(DB) as store:
        return {f"{q.dataset}/{q.external_id}": q for q in store.questions()}


def test_a_question_file_is_imported_and_known_the_second_time() -> None:
    path = write(Path("gsm.jsonl"), *ROWS)
    first = medoid("import", path, "--mapping", "gsm8k")
    assert (first.code, first.out.splitlines()) == (
        0,
        [
            "questions  3 added, 0 known already",
            "           answers: 3 number; 1 without a gold answer",
        ],
    )
    again = medoid("import", path, "--mapping", "gsm8k")
    assert (again.code, again.out) == (0, "questions  0 added, 3 known already\n")
    assert {k: q.gold for k, q in stored().items()} == {
        "gsm/1": ("number", int(GOLD)),
        "gsm/2": ("number", int(GOLD)),
        "gsm/3": None,
    }


def test_rejected_rows_are_listed_and_end_with_1() -> None:
    bad = {"id": 4, "question": "How hot?", "answer": "It is warm."}
    path = write(Path("q.jsonl"), ROWS[0], bad, "{", {**ROWS[0], "answer": OTHER})
    ran = medoid("import", path, "--mapping", "gsm8k", "--dataset", "d")
    assert ran.code == 1
    assert "rejected 3; the others are kept:" in ran.err
    messages = rejected(path, ran)
    assert list(messages) == [2, 3, 4]
    assert messages[2].startswith("answer is a text of 11 characters; a solution that ends with")
    assert messages[3].startswith("not JSON")
    assert messages[4] == "question d/1 has another gold answer in the database"
    assert list(stored()) == ["d/1"]


def test_strict_keeps_nothing() -> None:
    path = write(Path("q.jsonl"), ROWS[0], "{")
    ran = medoid("import", path, "--mapping", "gsm8k", "--strict")
    assert ran.code == 1
    assert "rejected 1; nothing was kept (--strict):" in ran.err
    assert "questions  0 added, 0 known already" in ran.out
    assert stored() == {}


@pytest.mark.parametrize("content", ["", "{", json.dumps({"a": 1})])
def test_nothing_usable_ends_with_2(content: str) -> None:
    path = write(Path("q.jsonl"), content)
    ran = medoid("import", path, "--mapping", "gsm8k")
    assert (ran.code, ran.out) == (2, "")
    assert stored() == {}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["--mapping", "gsm"],
            "--mapping is 'gsm'; one of native, gsm8k, strategyqa, boolq, medqa",
        ),
        (["--mapping", "gsm8k", "--seed", "1"], "--seed orders the options of gpqa's questions"),
        (["--seed", "1"], "--seed orders the options of gpqa's questions"),
        (["--mapping", "gsm8k", "--pool", "p"], "--pool names the pool of traces"),
        (["--mapping", "gsm8k", "--dataset", " "], "none of 3 lines could be used"),
    ],
)
def test_usage_errors(args: list[str], said: str) -> None:
    ran = medoid("import", write(Path("q.jsonl"), *ROWS), *args)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_missing_file_makes_no_database() -> None:
    ran = medoid("import", "no.jsonl", "--mapping", "gsm8k")
    assert (ran.code, ran.err) == (2, "medoid: no.jsonl: No such file or directory\n")
    assert not DB.exists()


def test_as_json() -> None:
    path = write(Path("q.jsonl"), *ROWS, "[]")
    ran = medoid("import", path, "--mapping", "gsm8k", "--json")
    assert ran.code == 1
    found = ran.json
    assert found.pop("seconds") > 0
    assert found == {
        "mapping": "gsm8k",
        "questions": {"added": 3},
        "kinds": {"number": 3},
        "without_gold": 1,
        "rejected": [
            {
                "file": "q.jsonl",
                "line": 4,
                "message": "a JSON list; one object a line is right",
            }
        ],
    }


def test_the_seed_is_that_of_the_command() -> None:
    path = write(Path("q.jsonl"), *GPQA)
    assert medoid("import", path, "--mapping", "gpqa", "--seed", "3", "--dataset", "a").code == 0
    assert medoid("import", path, "--mapping", "gpqa", "--seed", "4", "--dataset", "b").code == 0
    assert medoid("import", path, "--mapping", "gpqa", "--seed", "0", "--dataset", "c").code == 0
    assert medoid("import", path, "--mapping", "gpqa", "--dataset", "c").code == 0
    assert medoid("import", path, "--mapping", "gpqa", "--dataset", "a").code == 2
    found = stored()
    orders = {d: [found[f"{d}/r{i}"].options for i in range(4)] for d in "abc"}
    assert orders["a"] != orders["b"]
    assert [q.extra["shuffle_seed"] for q in found.values()] == [3] * 4 + [4] * 4 + [0] * 4
    for question in found.values():
        assert question.options[question.gold[1]] == "yes"


def test_a_table() -> None:
    path = write(
        Path("q.csv"), "question,passage,answer", '"is it\nso","It is, so.",True', "is it,No.,x"
    )
    ran = medoid("import", path, "--mapping", "boolq")
    assert ran.code == 1
    assert rejected(path, ran) == {
        4: "answer is a text of 1 characters; true, false, yes or no is right"
    }
    (question,) = stored().values()
    assert question.text == "is it\nso\n\nPassage:\n---\nIt is, so.\n---"


def test_a_table_without_a_mapping_says_that_there_are_mappings() -> None:
    path = write(Path("q.csv"), "question,answer", "How many?,1")
    ran = medoid("import", path)
    assert ran.code == 2
    assert "for a file of questions name its --mapping" in rejected(path, ran)[1]


def test_native_questions_need_no_mapping() -> None:
    path = write(Path("q.jsonl"), {"question": "How many?", "gold": GOLD, "source": "\x1b]0;x\x07"})
    ran = medoid("import", path)
    assert (ran.code, ran.out) == (0, "questions  1 added, 0 known already\n")
    assert medoid("import", path, "--mapping", "native").out.startswith(
        "questions  0 added, 1 known"
    )
    assert [q.gold for q in stored().values()] == [("number", int(GOLD))]


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    path = write(Path("q.jsonl"), {"id": "a\x1b]0;x\x07", "question": "?"}, {"\x1b[2J": 1})
    ran = medoid("import", path, "--mapping", "gsm8k")
    assert ran.code == 2
    assert "\x1b" not in ran.err + ran.out
    assert list(rejected(path, ran)) == [1, 2]


# --- no answer is told ---------------------------------------------------------------------

TOLD: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "another gold": ("gsm8k", [{**ROWS[0], "answer": f"#### {OTHER}"}]),
    "another solution": ("gsm8k", [{**ROWS[0], "answer": f"{OTHER}\n#### {GOLD}"}]),
    "another wording": ("gsm8k", [{**ROWS[0], "question": "Less?"}]),
    "no number": ("gsm8k", [{"question": "?", "answer": f"{GOLD} or {OTHER}"}]),
    "two numbers": ("gsm8k", [{"question": "?", "answer": f"#### {GOLD} or {OTHER}"}]),
    "too large": ("aime", [{"question": "?", "answer": GOLD}]),
    "no boolean": ("strategyqa", [{"question": "?", "answer": GOLD}]),
    "no option": ("medqa", [{"question": "?", "options": ["a", "b"], "answer": GOLD}]),
    "twice the same": (
        "gpqa",
        [{**GPQA[0], "Correct Answer": GOLD, "Incorrect Answer 2": GOLD}],
    ),
    "another kind": ("native", [{"question": "?", "gold": GOLD, "answer_kind": "boolean"}]),
    "a list": ("native", [{"question": "?", "gold": [GOLD]}]),
    "answer in place of gold": ("native", [{"question": "?", "answer": GOLD}]),
    "native, another gold": ("native", [{**ROWS[0], "gold": OTHER, "answer": None}]),
}


@pytest.mark.parametrize("what", TOLD)
@pytest.mark.parametrize("form", [[], ["--json"], ["--strict"]])
def test_no_message_tells_an_answer(what: str, form: list[str]) -> None:
    mapping, rows = TOLD[what]
    known = write(Path("known.jsonl"), *ROWS)
    assert medoid("import", known, "--mapping", "gsm8k", "--dataset", "d").code == 0
    path = write(Path("q.jsonl"), *rows, {**ROWS[2], "question": "Fine?", "id": 9})
    for extra in ([], ["--mapping", mapping]):
        ran = medoid("import", path, *extra, "--dataset", "d", *form)
        assert ran.code in (0, 1, 2)
        if extra:
            assert "q.jsonl" in ran.err + ran.out
        for word in (GOLD, OTHER, "comes to"):
            assert word not in ran.out + ran.err
    with closing(sqlite3.connect(DB)) as connection:
        runs = str(connection.execute("SELECT parameters, summary FROM run").fetchall())
    assert GOLD not in runs
    assert OTHER not in runs


def test_the_record_of_a_run_says_how_it_was_read() -> None:
    path = write(Path("q.jsonl"), *GPQA)
    assert medoid("import", path, "--mapping", "gpqa", "--seed", "3").code == 0
    with closing(sqlite3.connect(DB)) as connection:
        ((stage, parameters, summary),) = connection.execute(
            "SELECT stage, parameters, summary FROM run"
        ).fetchall()
    assert stage == "import"
    assert json.loads(parameters) == {
        "files": ["q.jsonl"],
        "mapping": "gpqa",
        "dataset": None,
        "seed": 3,
        "strict": False,
    }
    found = json.loads(summary)
    assert (found["questions"], found["kinds"], found["rejected"]) == (
        {"added": 4},
        {"choice": 4},
        0,
    )
