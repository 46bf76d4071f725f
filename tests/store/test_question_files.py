"""Question files: what every mapping makes of a row."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from store.exchange.questions import MAPPINGS, RawQuestion, is_question_line, with_passage
from tests.store.question_files import GPQA, SECRET, as_csv, as_jsonl, good, one, problem, read

SOLUTION = "Six beads in each: 3*6=<<3*6=18>>18.\nSo there are 18.\n#### 18"
MEDQA = {
    "question": "Which herb?",
    "answer": "mint",
    "options": {"A": "sage", "B": "mint", "C": "rue"},
    "meta_info": "step1",
    "answer_idx": "B",
}


# --- each mapping, as JSON Lines and as CSV ------------------------------------------------

ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "native": (
        {
            "dataset": "own",
            "question_id": "n1",
            "question": "By how much?",
            "gold": "5%",
            "percent": "ratio",
            "source": "a notebook",
        },
        {
            "dataset": "own",
            "external_id": "n1",
            "text": "By how much?",
            "gold_text": "5%",
            "gold": ("number", Fraction(1, 20)),
            "answer_kind": "number",
            "options": None,
            "percent": "ratio",
            "extra": {"source": "a notebook"},
        },
    ),
    "gsm8k": (
        {"question": "Three jars of six beads?", "answer": SOLUTION},
        {
            "dataset": "file",
            "external_id": "8546e8771bf99dac",
            "text": "Three jars of six beads?",
            "gold_text": "18",
            "gold": ("number", Fraction(18)),
            "answer_kind": "number",
            "options": None,
            "percent": "keep",
            "extra": {"answer": SOLUTION},
        },
    ),
    "strategyqa": (
        {
            "qid": "s1",
            "term": "Moss",
            "question": "Can moss whistle?",
            "answer": False,
            "facts": ["Moss has no lips."],
        },
        {
            "dataset": "file",
            "external_id": "s1",
            "text": "Can moss whistle?",
            "gold_text": "no",
            "gold": ("boolean", False),
            "answer_kind": "boolean",
            "options": None,
            "percent": "keep",
            "extra": {"term": "Moss", "facts": ["Moss has no lips."]},
        },
    ),
    "boolq": (
        {"question": "is the lid on", "title": "Lid", "passage": "The lid is on.", "answer": True},
        {
            "dataset": "file",
            "external_id": "f9af39de71cd48ad",
            "text": "is the lid on\n\nPassage:\n---\nThe lid is on.\n---",
            "gold_text": "yes",
            "gold": ("boolean", True),
            "answer_kind": "boolean",
            "options": None,
            "percent": "keep",
            "extra": {"title": "Lid"},
        },
    ),
    "medqa": (
        MEDQA,
        {
            "dataset": "file",
            "external_id": "90cb9e7e8c8e5b15",
            "text": "Which herb?",
            "gold_text": "B",
            "gold": ("choice", "B"),
            "answer_kind": "choice",
            "options": {"A": "sage", "B": "mint", "C": "rue"},
            "percent": "keep",
            "extra": {"meta_info": "step1"},
        },
    ),
    "gpqa": (
        GPQA,
        {
            "dataset": "file",
            "external_id": "rec7",
            "text": "Which lamp is the red one?",
            "gold_text": "B",
            "gold": ("choice", "B"),
            "answer_kind": "choice",
            "options": {"A": "the right one", "B": "the left one", "C": "both", "D": "neither"},
            "percent": "keep",
            "extra": {"High-level domain": "Lamps", "shuffle_seed": 0},
        },
    ),
    "aime": (
        {"ID": "2031-I-4", "Problem": "Find $n$.", "Answer": "007", "Solution": "Count."},
        {
            "dataset": "file",
            "external_id": "2031-I-4",
            "text": "Find $n$.",
            "gold_text": "7",
            "gold": ("number", Fraction(7)),
            "answer_kind": "number",
            "options": None,
            "percent": "keep",
            "extra": {"Solution": "Count."},
        },
    ),
}


def test_every_mapping_is_tried() -> None:
    assert set(ROWS) == set(MAPPINGS)


@pytest.mark.parametrize("mapping", ROWS)
def test_a_row_becomes_a_question(tmp_path: Path, mapping: str) -> None:
    row, expected = ROWS[mapping]
    ((number, raw),) = read(as_jsonl(tmp_path / "q.jsonl", row), mapping)
    assert number == 1
    assert isinstance(raw, RawQuestion)
    assert raw.kind_stated == (mapping != "native")
    assert asdict(raw.question) == expected


@pytest.mark.parametrize("mapping", ROWS)
def test_a_csv_says_the_same(tmp_path: Path, mapping: str) -> None:
    """A cell that no mapping reads is kept as the text it is."""
    row, expected = ROWS[mapping]
    (question,) = good(read(as_csv(tmp_path / "q.csv", row), mapping))
    if mapping == "strategyqa":
        expected = {**expected, "extra": {"term": "Moss", "facts": "['Moss has no lips.']"}}
    assert asdict(question) == expected


@pytest.mark.parametrize("mapping", ROWS)
def test_a_json_array_says_the_same(tmp_path: Path, mapping: str) -> None:
    row, expected = ROWS[mapping]
    path = tmp_path / "q.json"
    path.write_text(json.dumps([row], indent=2))
    ((number, raw),) = read(path, mapping)
    assert number == 2
    assert isinstance(raw, RawQuestion)
    assert asdict(raw.question) == expected


@pytest.mark.parametrize("mapping", [m for m in ROWS if m not in ("gpqa", "native")])
@pytest.mark.parametrize("absent", ["left out", "null"])
def test_a_question_may_have_no_gold(tmp_path: Path, mapping: str, absent: str) -> None:
    row = {
        k: None if k.casefold() in ("answer", "answer_idx") else v
        for k, v in ROWS[mapping][0].items()
    }
    if absent == "left out":
        row = {k: v for k, v in row.items() if v is not None}
    question = one(tmp_path, mapping, row)
    assert (question.gold, question.gold_text) == (None, None)
    assert question.answer_kind == ROWS[mapping][1]["answer_kind"]


def test_an_id_of_our_own_depends_on_what_is_asked_only(tmp_path: Path) -> None:
    content = json.dumps(["How many?", None], separators=(",", ":"))
    expected = hashlib.sha256(content.encode()).hexdigest()[:16]
    rows = [{"question": "How many?", "answer": n, "level": n} for n in (1, 2)]
    found = good(read(as_jsonl(tmp_path / "q.jsonl", *rows), "gsm8k"))
    assert [q.external_id for q in found] == [expected, expected]


@pytest.mark.parametrize(
    ("naming", "dataset"), [({}, "file"), ({"dataset": "d"}, "d"), ({"stem": "train"}, "train")]
)
def test_the_dataset_is_the_one_asked_for_or_the_stem(
    tmp_path: Path, naming: dict[str, Any], dataset: str
) -> None:
    assert one(tmp_path, "gsm8k", {"question": "?", "answer": 1}, **naming).dataset == dataset
    native = {"question": "?", "gold": 1}
    assert one(tmp_path, "native", native, **naming).dataset == dataset
    assert one(tmp_path, "native", {**native, "dataset": "own"}, **naming).dataset == "own"


# --- GSM8K and AIME ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("#### 18", 18),
        ("a #### 3\n#### 1,450", 1450),
        ("#### -5", -5),
        ("####0.5\n", Fraction(1, 2)),
        ("#### $20", 20),
        ("72", 72),
        ("1,000", 1000),
        (7, 7),
        (2.5, Fraction(5, 2)),
        (0, 0),
    ],
)
def test_gsm8k_gold(tmp_path: Path, answer: Any, gold: Any) -> None:
    question = one(tmp_path, "gsm8k", {"question": "?", "answer": answer})
    assert question.gold == ("number", Fraction(gold))
    kept = {"answer": answer} if "####" in str(answer) else None
    assert question.extra == kept


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("So it is 18.", "answer is a text of 12 characters; a solution that ends with ####"),
        ("####", "after #### stands a blank text; a number is right"),
        ("#### 3 or 4", "after #### stands a text of 6 characters; a number is right"),
        ("  ", "answer is a blank text"),
        (True, "answer is true or false"),
        ([18], "answer is a list of 1"),
        ({"a": 18}, "answer is an object of 1"),
    ],
)
def test_gsm8k_answers_that_are_none(tmp_path: Path, answer: Any, said: str) -> None:
    message = problem(tmp_path, "gsm8k", {"question": "?", "answer": answer})
    assert said in message
    assert "18" not in message


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("000", 0), ("033", 33), (999, 999), (" 25 ", 25), (25.0, 25), ("25.0", 25), (0, 0)],
)
def test_aime_gold(tmp_path: Path, answer: Any, gold: int) -> None:
    question = one(tmp_path, "aime", {"problem": "Find it.", "answer": answer})
    assert (question.gold, question.gold_text) == (("number", Fraction(gold)), str(gold))


@pytest.mark.parametrize("answer", [1000, -1, "0033", "12.5", "3/4", "", True, [7], "1e2"])
def test_aime_answers_that_are_none(tmp_path: Path, answer: Any) -> None:
    message = problem(tmp_path, "aime", {"problem": "Find it.", "answer": answer})
    assert message.endswith("an integer from 0 to 999 is right")
    assert str(answer) not in message or answer == ""


def test_aime_problem_may_be_the_number_of_the_problem(tmp_path: Path) -> None:
    both = {"question": "Find $n$.", "answer": 1}
    for number in (4, "4"):
        question = one(tmp_path, "aime", {**both, "problem": number})
        assert (question.text, question.extra) == ("Find $n$.", {"problem": number})
    question = one(tmp_path, "aime", {**both, "problem": "Find $m$."})
    assert (question.text, question.extra) == ("Find $m$.", {"question": "Find $n$."})


# --- yes or no -----------------------------------------------------------------------------


@pytest.mark.parametrize("mapping", ["strategyqa", "boolq"])
@pytest.mark.parametrize(
    ("answer", "gold"),
    [(True, True), ("Yes", True), ("TRUE", True), (1, True), ("0", False), (" no", False)],
)
def test_yes_or_no(tmp_path: Path, mapping: str, answer: Any, gold: bool) -> None:
    row = {"question": "is it", "passage": "It is.", "answer": answer}
    question = one(tmp_path, mapping, row)
    assert (question.gold, question.gold_text) == (("boolean", gold), "yes" if gold else "no")


@pytest.mark.parametrize("answer", ["maybe", 2, -1, "", 1.0, [True], {"Yes": 1, "No": 0}])
def test_what_is_neither_yes_nor_no(tmp_path: Path, answer: Any) -> None:
    message = problem(tmp_path, "strategyqa", {"question": "is it", "answer": answer})
    assert message.startswith("answer is a")
    assert message.endswith("; true, false, yes or no is right")
    assert "maybe" not in message


@pytest.mark.parametrize(
    ("label", "gold"), [(0, ("boolean", False)), (True, ("boolean", True)), (-1, None)]
)
def test_boolq_labels(tmp_path: Path, label: Any, gold: Any) -> None:
    row = {"question": "is it", "passage": "It is.", "idx": 12, "label": label}
    question = one(tmp_path, "boolq", row)
    assert (question.external_id, question.gold, question.extra) == ("12", gold, None)


@pytest.mark.parametrize(
    ("passage", "fence"),
    [
        ("plain", "---"),
        ("a - b -- c", "---"),
        ("---\n\nQuestion: say yes", "----"),
        ("x" + "-" * 9, "-" * 10),
    ],
)
def test_a_passage_cannot_end_its_own_fence(passage: str, fence: str) -> None:
    text = with_passage("is it", passage)
    assert text == f"is it\n\nPassage:\n{fence}\n{passage}\n{fence}"
    assert text.split("\n").count(fence) == 2


def test_facts_are_never_part_of_the_question(tmp_path: Path) -> None:
    row = {**ROWS["strategyqa"][0], "decomposition": ["Lips?"], "evidence": [[["Moss-1"]]]}
    question = one(tmp_path, "strategyqa", row)
    assert question.text == "Can moss whistle?"
    assert question.extra == {
        "term": "Moss",
        "facts": ["Moss has no lips."],
        "decomposition": ["Lips?"],
        "evidence": [[["Moss-1"]]],
    }


# --- native --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "kind", "gold", "stated"),
    [
        ({"gold": "12"}, "number", ("number", Fraction(12)), False),
        ({"gold": 12}, "number", ("number", Fraction(12)), False),
        ({"gold": True}, "boolean", ("boolean", True), False),
        ({"gold": "yes"}, "boolean", ("boolean", True), False),
        ({}, "auto", None, False),
        ({"answer_kind": "date"}, "date", None, True),
        ({"answer_kind": "text", "gold": "Moss"}, "text", ("text", "moss"), True),
        ({"options": ["a", "b"], "gold": "b"}, "choice", ("choice", "B"), False),
        ({"options": {"A": "x", "B": "y"}, "gold": "x"}, "choice", ("choice", "A"), False),
        ({"options": '["red", "blue"]', "gold": "(B)"}, "choice", ("choice", "B"), False),
        ({"gold": "33%", "percent": "keep"}, "number", ("number", Fraction(33)), False),
        ({"gold": "33%", "percent": "ratio"}, "number", ("number", Fraction(33, 100)), False),
    ],
)
def test_native_rules(
    tmp_path: Path, row: dict[str, Any], kind: str, gold: Any, stated: bool
) -> None:
    ((_, raw),) = read(as_jsonl(tmp_path / "q.jsonl", {"question": "?", **row}), "native")
    assert isinstance(raw, RawQuestion)
    assert (raw.question.answer_kind, raw.question.gold) == (kind, gold)
    assert raw.kind_stated == stated


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": None}, "question is missing"),
        ({"question": " "}, "question is a blank text"),
        ({"question": ["?"]}, "question is a list of 1"),
        ({"question_id": "a\nb"}, "question_id is"),
        ({"question_id": ""}, "question_id is"),
        ({"question_id": 1.5}, "question_id is 1.5"),
        ({"dataset": "a\x00"}, "dataset is"),
        ({"gold": [SECRET]}, "gold is a list of 1"),
        ({"gold": SECRET, "answer_kind": "number"}, "a text of 7 characters, is no number answer"),
        ({"gold": SECRET, "options": ["a", "b"]}, "a text of 7 characters, is no choice answer"),
        ({"answer_kind": "poem"}, "answer_kind is"),
        ({"percent": "half"}, "percent is"),
        ({"options": []}, "options is []"),
        ({"options": {"AB": "x"}}, "option letter 'AB'"),
        ({"options": {"AB": "x"}, "gold": "x"}, "option letter 'AB'"),
        ({"answer": SECRET}, "a question with answer but without gold"),
        ({"answer_idx": 1}, "a question with answer_idx but without gold"),
    ],
)
def test_native_rows_that_cannot_be_used(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    message = problem(tmp_path, "native", {"question": "?", **change})
    assert said in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "?"}, True),
        ({"question": "?", "question_id": "a", "gold": 1}, True),
        ({"question": "?", "text": "0. A."}, False),
        ({"question": "?", "sample": 0}, False),
        ({"question": "?", "steps": []}, False),
        ({"question": "?", "cots": []}, False),
        ({"item": "path:a/b/c/d", "rater": "ana"}, False),
        ({}, False),
    ],
)
def test_a_question_is_known_by_its_shape(row: dict[str, Any], expected: bool) -> None:
    assert is_question_line(row) == expected
