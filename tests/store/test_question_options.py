"""Options of question files, which of them is right, and their seeded order."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scoring.parsing import normalize_answer
from tests.store.question_files import GPQA, SECRET, as_csv, as_jsonl, good, one, problem, read

# --- options -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"A": "sage", "B": "mint", "C": "rue"},
        {"a": "sage", "(b)": "mint", "C.": "rue", "D": None, "E": ""},
        ["sage", "mint", "rue"],
        [
            {"key": "A", "value": "sage"},
            {"key": "B", "value": "mint"},
            {"key": "C", "value": "rue"},
        ],
        '["sage", "mint", "rue"]',
        "{'A': 'sage', 'B': 'mint', 'C': 'rue'}",
        "['sage', \"mint\", 'rue',]",
        "[{'key': 'A', 'value': 'sage'}, {'key': 'B', 'value': 'mint'}, "
        "{'key': 'C', 'value': 'rue'}]",
    ],
)
@pytest.mark.parametrize("field", ["options", "choices"])
def test_forms_of_options(tmp_path: Path, field: str, options: Any) -> None:
    question = one(tmp_path, "medqa", {"question": "?", field: options, "answer_idx": "B"})
    assert question.options == {"A": "sage", "B": "mint", "C": "rue"}
    assert (question.gold, question.extra) == (("choice", "B"), None)


@pytest.mark.parametrize(
    "names",
    [
        "A B C",
        "opa opb opc",
        "option_a option_b option_c",
        "Option A,Option B,Option C",
        "ending0 ending1 ending2",
        "choice_1 choice_2 choice_3",
    ],
)
def test_options_in_columns_of_their_own(tmp_path: Path, names: str) -> None:
    columns = names.split("," if "," in names else " ")
    row = {"question": "?", **dict(zip(columns, ("sage", "mint", "rue"), strict=True))}
    (question,) = good(read(as_csv(tmp_path / "q.csv", {**row, "answer": "mint"}), "medqa"))
    assert question.options == {"A": "sage", "B": "mint", "C": "rue"}
    assert (question.gold, question.extra) == (("choice", "B"), None)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ({"answer_idx": "B"}, "B"),
        ({"answer_idx": "(c)"}, "C"),
        ({"answer_idx": 0}, "A"),
        ({"answer_idx": "2"}, "C"),
        ({"answer": "mint"}, "B"),
        ({"answer": "B"}, "B"),
        ({"answer": 1}, "B"),
        ({"label": "1"}, "B"),
        ({"answer": " mint ", "answer_idx": "B"}, "B"),
        ({}, None),
    ],
)
def test_medqa_gold(tmp_path: Path, answer: dict[str, Any], letter: str | None) -> None:
    row = {"question": "?", "options": ["sage", "mint", "rue"], **answer}
    question = one(tmp_path, "medqa", row)
    assert question.gold == (None if letter is None else ("choice", letter))
    assert question.gold_text == letter


def test_options_that_are_letters_themselves(tmp_path: Path) -> None:
    """The gold text says which letter is meant: of the option, not of its label."""
    options = {"A": "A", "B": "C", "C": "D", "D": "E"}
    row = {"question": "Which vitamin?", "options": options, "answer_idx": "C", "answer": "D"}
    question = one(tmp_path, "medqa", row)
    assert (question.gold, question.gold_text) == (("choice", "C"), "C) D")
    assert normalize_answer("C) D", "choice", options=options) == ("choice", "C")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer_idx": "D"}, "answer_idx is a text of 1 characters that names no option"),
        ({"answer_idx": 3}, "answer_idx is a number that names no option"),
        ({"answer": SECRET}, "answer is a text of 7 characters that names no option"),
        ({"answer": [SECRET]}, "answer is a list of 1 that names no option"),
        ({"answer": True}, "answer is true or false that names no option"),
        ({"answer_idx": "A", "answer": "mint"}, "do not name the same option"),
        ({"options": ["1", "2", "3"], "answer": "1"}, "answer could be two options"),
        ({"options": ["mint", "mint"], "answer": "mint"}, "answer could be two options"),
        ({"cop": 2}, "cop counts from 0 in some files and from 1 in others"),
        ({"options": None}, "0 options in options or columns"),
        ({"options": ["mint"]}, "1 options in options"),
        ({"options": "sage, mint"}, "options is a text of 10 characters"),
        ({"options": "['sage' 'mint']"}, "options is a text of 15 characters"),
        ({"options": "__import__('os')"}, "options is a text of 16 characters"),
        ({"options": "[1+1, 'a']"}, "options is a text of 10 characters"),
        ({"options": 7}, "options is a number"),
        ({"options": ["a", ["b"]]}, "option B is a list of 1"),
        ({"options": ["a", " "]}, "option B is a blank text"),
        ({"options": {"A": "a", "a": "b"}}, "used once"),
        ({"options": {"1": "a", "2": "b"}}, "one from A to Z"),
        ({"options": [str(i) for i in range(27)]}, "options is a list of 27"),
        ({"options": "[" * 300 + "]" * 300}, "option A is a list of 1"),
    ],
)
def test_options_and_answers_that_are_none(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    row = {"question": "?", "options": ["sage", "mint", "rue"], **change}
    message = problem(tmp_path, "medqa", row)
    assert said in message
    assert SECRET not in message


def test_the_order_of_gpqas_options_depends_on_seed_id_and_options_alone(tmp_path: Path) -> None:
    def place(option: str) -> str:
        content = json.dumps([5, "rec7", option], separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()

    texts = sorted(("the left one", "the right one", "both", "neither"), key=place)
    turned = {
        "Incorrect Answer 1": "neither",
        "Incorrect Answer 3": "the right one",
        "Incorrect Answer 2": "both",
    }
    rows = [{**GPQA, "Record ID": "other"}, GPQA, {**GPQA, **turned}]
    for order in (rows, rows[::-1]):
        found = good(read(as_jsonl(tmp_path / "q.jsonl", *order), "gpqa", seed=5))
        for question in (q for q in found if q.external_id == "rec7"):
            assert question.options == dict(zip("ABCD", texts, strict=True))
            assert question.gold == ("choice", "ABCD"[texts.index("the left one")])
            assert (question.extra or {})["shuffle_seed"] == 5


def test_every_letter_is_right_equally_often(tmp_path: Path) -> None:
    """Of 400 questions and of 400 seeds, each letter holds 100 give or take 4 standard errors."""
    path = as_jsonl(tmp_path / "q.jsonl", *({**GPQA, "Record ID": f"r{i}"} for i in range(400)))
    by_question = Counter(str(q.gold_text) for q in good(read(path, "gpqa")))
    single = as_jsonl(tmp_path / "one.jsonl", GPQA)
    by_seed = Counter(str(good(read(single, "gpqa", seed=s))[0].gold_text) for s in range(400))
    for counts in (by_question, by_seed):
        assert sorted(counts) == ["A", "B", "C", "D"]
        assert all(abs(n - 100) < 35 for n in counts.values())


def test_a_gpqa_question_without_an_id_gets_one(tmp_path: Path) -> None:
    rows = [
        {k: v for k, v in GPQA.items() if k != "Record ID"},
        {
            "question": GPQA["Question"],
            "correct_answer": "the left one",
            "incorrect_answer_1": "neither",
            "incorrect_answer_2": "both",
            "incorrect_answer_3": "the right one",
        },
    ]
    a, b = good(read(as_jsonl(tmp_path / "q.jsonl", *rows), "gpqa"))
    assert (a.external_id, a.options, a.gold) == (b.external_id, b.options, b.gold)
    assert len(a.external_id) == 16


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Incorrect Answer 2": "the left one"}, "an incorrect one are the same text"),
        ({"Correct Answer": None}, "correct_answer is missing"),
        ({"Correct Answer": " "}, "correct_answer is a blank text"),
        ({"Incorrect Answer 3": {"a": 1}}, "incorrect_answer_3 is an object of 1"),
        ({"Incorrect Answer 1": None}, "incorrect_answer_1 is missing"),
        ({"Record ID": "a\x1bb"}, "record_id is"),
        ({"correct answer": "x"}, 'the fields "Correct Answer" and "correct answer" are one'),
    ],
)
def test_gpqa_rows_that_cannot_be_used(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    message = problem(tmp_path, "gpqa", {**GPQA, **change})
    assert said in message
    assert "left" not in message
