"""Text that models and files bring along never reaches the terminal raw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judges.embedders import embedder_info
from pipeline.embedding import distinct_fact_texts
from store import open_store
from tests.definitions.running import Ran, label_row, medoid, trace_row, write

ROOT = Path(__file__).parents[2]
ESC = "\x1b[31;5mred\x1b]0;title\x07 \x9b2J \u202eback \x00 \r over"
MARKUP = "[/x] [bold]b[/] [$accent] [CLAIM] [ "


def assert_harmless(*runs: Ran) -> None:
    for ran in runs:
        for char in ran.out + ran.err:
            code = ord(char)
            assert char == "\n" or not (code < 0x20 or 0x7F <= code < 0xA0), hex(code)
            assert char not in "\u202e\u202d\u2066\u2067\u2068\u2069\u200e\u200f", hex(code)


def embed_as_directions(db: str = "medoid.db") -> None:
    """Store a vector for every text, so that scoring needs no model."""
    with open_store(db) as store:
        texts, _ = distinct_fact_texts(store)
        embedder = store.embedder("minilm", embedder_info("minilm").revision, 4)
        vectors = {
            h: np.array([1.0, i % 3, i % 5, -1.0], dtype=np.float32)
            for i, h in enumerate(sorted(texts))
        }
        store.add_embeddings(embedder, vectors)


def hostile_rows() -> list[Any]:
    rows: list[Any] = []
    for q in range(3):
        for sample in range(4):
            answer = 12 if sample < 2 + q else 13
            text = (
                f"0. Four {ESC} {MARKUP}. [depends_on: none]\n"
                f"1. Case {q} {sample}. [depends_on: 0]\nThe final answer is: {answer}"
            )
            question = f"Many?\nforged line {q} {MARKUP} {ESC}"
            rows.append(trace_row(question_id=f"q{q}", question=question, sample=sample, text=text))
    return rows


def test_import_score_list_and_agree_on_hostile_text(tmp_path: Path) -> None:
    labels = [
        label_row(item="path:d/q0/m/0", note=ESC),
        label_row(item="path:d/q0/m/0", rater="j", rater_kind="judge", rationale=ESC, raw=ESC),
        label_row(item="path:d/q0/m/1", rater=f"x{ESC}"),
        label_row(item="path:d/q0/m/1", category=f"x{ESC}"),
        {"hello": ESC, ESC: 1},
        trace_row(question_id="q9", gold=ESC, answer_kind="number"),
        trace_row(question_id="q0", question=ESC),
    ]
    imported = medoid("import", write(tmp_path / "t.jsonl", *hostile_rows(), *labels))
    assert imported.code == 1
    embed_as_directions()
    scored = medoid("score", "--agreements", "1")
    assert scored.code == 0
    listed = medoid("items", "list")
    assert listed.code == 0
    agreed = medoid("agreement")
    assert agreed.code == 0
    assert_harmless(imported, scored, listed, agreed)
    # A line break inside a question makes no line of its own.
    cases = medoid("items", "list", "--json").json
    assert len(listed.out.splitlines()) == len(cases) == 3
    assert MARKUP[:12] in listed.out
    for args in (("items", "list", "--json"), ("agreement", "--json")):
        assert "\x1b" not in medoid(*args).out


def test_scoring_twice_does_nothing_new(tmp_path: Path) -> None:
    medoid("import", write(tmp_path / "t.jsonl", *hostile_rows()))
    embed_as_directions()
    first = medoid("score", "--json", "--agreements", "1").json
    again = medoid("score", "--json", "--agreements", "1").json
    assert first["score"]["n_scored"] == 3
    assert (again["score"]["n_scored"], again["score"]["n_known"]) == (0, 3)
    assert first["score"]["n_disagree"] == again["score"]["n_disagree"]
    assert again["items"]["cases"]["n_new"] == 0
    text = medoid("score", "--agreements", "1").out
    assert f"disagree on {first['score']['n_disagree']} of 3" in text


@pytest.mark.parametrize(
    "option",
    [
        "--beta=1.5",
        "--alpha=-1",
        "--gamma=nan",
        "--tau=2",
        "--edge-embedding=sum",
        "--k=0",
        "--agreements=2",
        "--embedder=none",
    ],
)
def test_parameters_out_of_range_are_bad_usage(tmp_path: Path, option: str) -> None:
    medoid("import", write(tmp_path / "t.jsonl", *hostile_rows()[:2]))
    embed_as_directions()
    ran = medoid("score", option)
    assert ran.code == 2
    assert ran.err.strip()
    with open_store("medoid.db") as store:
        assert store.primary_scoring() is None


def test_a_line_break_in_a_name_makes_no_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('item,"a\nforged","b"\n1,"x\nforged",x\n2,y,"x\nforged"\n3,x,x\n')
    shown = medoid("agreement", "--ratings", path)
    assert shown.code == 0
    assert not any(line.startswith("forged") for line in shown.out.splitlines())


def test_hostile_tables_and_names(tmp_path: Path) -> None:
    path = tmp_path / f"r{ESC.replace(chr(0), '')}.csv"
    head = ESC.replace("\x00", "").replace("\r", "")
    path.write_text(f"item,a{head},b{MARKUP}\n1,x{head},x\n2,y,x{head}\n3,x,x\n", newline="")
    shown = medoid("agreement", "--ratings", path)
    assert shown.code == 0
    assert_harmless(
        shown,
        medoid("agreement", "--ratings", path, "--json"),
        medoid("agreement", "--ratings", tmp_path / "absent\x1b[31m.csv"),
        medoid("import", tmp_path / "absent\x1b[31m.jsonl"),
        medoid("agreement", "a\x1b[31m", "b", "--db", write(tmp_path / "x.db")),
    )


def python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PYTHONPATH": str(ROOT), "HOME": ".", "PATH": "", "PYTHONUTF8": "0", "LC_ALL": "C"},
    )


def test_the_command_line_itself_is_light() -> None:
    code = (
        "import sys, tui.cli\n"
        "heavy = ['textual', 'torch', 'openai', 'scipy.optimize', 'sentence_transformers',"
        " 'sklearn', 'scipy', 'sqlalchemy', 'networkx', 'pandas', 'matplotlib']\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    ran = python(code)
    assert ran.stdout.strip() == "[]", ran.stderr


def test_as_a_process_in_a_plain_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", trace_row(question="é ½ → \u202e"), "nonsense")
    code = "from tui.cli import main; main()"
    ran = python(code, "import", str(path))
    assert ran.returncode == 1
    assert f"{path}:2: " in ran.stderr
    assert "Traceback" not in ran.stderr
    ratings = tmp_path / "r.csv"
    ratings.write_text("item,é,b\n1,½,x\n2,x,x\n", encoding="utf-8")
    shown = python(code, "agreement", "--ratings", str(ratings))
    assert shown.returncode == 0, shown.stderr


def test_without_a_terminal_the_workbench_does_not_open() -> None:
    assert medoid().code == 2
    assert not Path("medoid.db").exists()
    Path("medoid.db").touch()
    ran = medoid()
    assert ran.code == 2
    assert "terminal" in ran.err
    assert Path("medoid.db").read_bytes() == b""
