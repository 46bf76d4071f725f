"""Question files with hostile texts, and broken ones: each bad line is told, the good ones stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from store.exchange.questions import RawQuestion
from tests.store.question_files import as_csv, as_jsonl, bad, good, one, read

# --- hostile texts and broken files --------------------------------------------------------

HOSTILE = {
    "controls": "a\x1b]0;x\x07 b\x9bc\x7f",
    "bidi": "a\u202eb\u2066c\u200f",
    "NUL": "a\x00b",
    "lone surrogate": "a\ud800b",
    "markup": "[/x] [$accent] [CLAIM] [",
    "line ends": "a\r\nb\rc\u2028d\x85e",
    "blanks around": "  a \n",
    "1 MB": "x" * (1 << 20),
    "combining": "e" + "\u0301" * 500,
    "formula": "=1+1",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_questions_are_kept_to_the_last_code_unit(tmp_path: Path, what: str) -> None:
    text = HOSTILE[what]
    assert one(tmp_path, "gsm8k", {"question": text, "answer": 1}).text == text
    passage = one(tmp_path, "boolq", {"question": "q", "passage": text, "answer": True}).text
    assert passage == f"q\n\nPassage:\n---\n{text}\n---"
    options = {"A": text, "B": "other"}
    question = one(tmp_path, "medqa", {"question": "?", "options": options, "answer_idx": "A"})
    assert question.options == options


@pytest.mark.parametrize("what", [w for w in HOSTILE if w != "lone surrogate"])
def test_hostile_questions_in_a_csv(tmp_path: Path, what: str) -> None:
    text = HOSTILE[what]
    path = as_csv(tmp_path / "q.csv", {"question": text, "answer": 1, "note": "n"})
    (question,) = good(read(path, "gsm8k"))
    assert (question.text, question.extra) == (text, {"note": "n"})


def test_a_byte_order_mark_crlf_and_no_final_newline(tmp_path: Path) -> None:
    lines = tmp_path / "q.jsonl"
    row = {"question": "?", "answer": 1}
    lines.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join([json.dumps(row).encode()] * 2))
    assert [n for n, _ in read(lines, "gsm8k")] == [1, 3]
    assert len(good(read(lines, "gsm8k"))) == 2
    table = tmp_path / "q.csv"
    table.write_bytes(b"\xef\xbb\xbfquestion,answer\r\n?,1\r\n\r\n??,2")
    assert [
        (n, q.text)
        for (n, _), q in zip(read(table, "gsm8k"), good(read(table, "gsm8k")), strict=True)
    ] == [(2, "?"), (4, "??")]
    array = tmp_path / "q.json"
    array.write_bytes(b"\xef\xbb\xbf\r\n[\r\n" + json.dumps(row).encode() + b"\r\n]")
    assert [n for n, _ in read(array, "gsm8k")] == [3]


GOOD = json.dumps({"question": "?", "answer": 1}).encode()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"question": "\xff", "answer": 1}', "byte 15 is not UTF-8"),
        (b'{"question": "?", "answer": 1},', "not JSON at column 31"),
        (b'{"question": "?", "answer": 1,}', "not JSON at column 31"),
        (b'{"question": "?", "answer": NaN}', "NaN is not JSON"),
        (b'{"question": "?", "answer": 1', "not JSON at column"),
        (b'["?", 1]', "a JSON list; one object a line is right"),
        (b"[" * 100_000, "not JSON"),
        (b'{"answer": 1}', "question is missing"),
        (b'{"question": "?", "Question": "??"}', 'the fields "question" and "Question" are one'),
    ],
)
def test_a_bad_line_leaves_the_others(tmp_path: Path, line: bytes, said: str) -> None:
    found = read(as_jsonl(tmp_path / "q.jsonl", GOOD, line, GOOD), "gsm8k")
    ((number, message),) = bad(found).items()
    assert number == 2
    assert said in message
    assert [n for n, v in found if isinstance(v, RawQuestion)] == [1, 3]


def test_a_list_as_first_line_does_not_make_an_array_of_the_rest(tmp_path: Path) -> None:
    found = read(as_jsonl(tmp_path / "q.jsonl", b"[1]", GOOD), "gsm8k")
    assert bad(found) == {1: "a JSON list; one object a line is right"}
    assert [n for n, _ in found] == [1, 2]


@pytest.mark.parametrize(
    ("content", "errors", "n"),
    [
        (b"[\n%s,\n%s\n]\n", {}, 2),
        (b"[%s, %s]", {}, 2),
        (b"[\n%s,\n%s,\n]", {4: "the array of objects breaks off here"}, 2),
        (b"[\n%s,\n%s\n", {4: "the array of objects breaks off here"}, 2),
        (b"[\n%s\n%s\n]", {3: "the array of objects breaks off here"}, 1),
        (b'[\n%s,\n{"question": "x",\n%s\n]', {3: "the array of objects breaks off here"}, 1),
        (b"[\n%s,\n7,\n%s\n]", {3: "a JSON int"}, 2),
        (b'[\n%s,\n{"a":\n NaN},\n%s\n]', {3: "NaN is not JSON"}, 2),
        (b"[\n%s,\n%s\n]\nx", {4: "the array of objects breaks off here"}, 2),
        (b"[\n%s,\xff\n%s\n]", {2: "a byte is not UTF-8"}, 0),
        (b"[ x, %s ]", {1: "the array of objects breaks off here"}, 0),
    ],
)
def test_arrays_that_break(tmp_path: Path, content: bytes, errors: dict[int, str], n: int) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(content.replace(b"%s", GOOD))
    found = read(path, "gsm8k")
    messages = bad(found)
    assert list(messages) == list(errors)
    for line, said in errors.items():
        assert said in messages[line]
    assert sum(isinstance(v, RawQuestion) for _, v in found) == n


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b" [ ] \n"])
def test_files_without_a_question_have_no_row(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(content)
    assert read(path, "gsm8k") == []


@pytest.mark.parametrize(
    ("content", "mapping", "errors", "n"),
    [
        (b"prompt,answer\na,1\nb,2\n", "gsm8k", {1: "a column question is missing"}, 0),
        (b"question,answer\na,1\n", "boolq", {1: "a column passage is missing"}, 0),
        (b"id,answer\na,1\n", "aime", {1: "a column problem or question is missing"}, 0),
        (b"question,answer,answer\na,1,2\n", "gsm8k", {1: 'the column "answer" twice'}, 0),
        (b"question,answer\na,1,2\nb,1\n", "gsm8k", {2: "3 cells; the header has 2"}, 1),
        (b"question,answer,\na,1,\n", "gsm8k", {}, 1),
        (b",question,answer\n0,a,1\n1,b,2\n", "gsm8k", {}, 2),
        (b'question,answer\n"a\nb",x\nb,1\n', "gsm8k", {2: "answer is a text of 1"}, 1),
        (b'question,answer\na,1\n"b" c,2\n', "gsm8k", {3: "not CSV"}, 1),
        (b"question,answer\n\xff,1\nb,2\n", "gsm8k", {2: "not UTF-8"}, 1),
        (b"question;answer\na, or b;1\n", "gsm8k", {}, 1),
        (b"question\tanswer\na, or b\t1\n", "gsm8k", {}, 1),
        (b"question,answer\n,1\nb,2\n", "gsm8k", {2: "question is missing"}, 1),
    ],
)
def test_tables(
    tmp_path: Path, content: bytes, mapping: str, errors: dict[int, str], n: int
) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(content)
    found = read(path, mapping)
    messages = bad(found)
    assert list(messages) == list(errors)
    for line, said in errors.items():
        assert said in messages[line]
    questions = [v.question for _, v in found if isinstance(v, RawQuestion)]
    assert len(questions) == n
    assert all(q.extra is None for q in questions if b",question" not in content)


def test_a_mapping_that_is_none(tmp_path: Path) -> None:
    path = as_jsonl(tmp_path / "q.jsonl", GOOD)
    with pytest.raises(ValueError, match="--mapping is 'gsm'; one of native, gsm8k, strategyqa"):
        read(path, "gsm")


@pytest.mark.parametrize("naming", [{"dataset": " "}, {"dataset": "a\x1b"}, {"stem": "\x07"}])
def test_a_dataset_that_is_no_name(tmp_path: Path, naming: dict[str, Any]) -> None:
    found = read(as_jsonl(tmp_path / "q.jsonl", GOOD), "gsm8k", **naming)
    assert "--dataset NAME is right" in bad(found)[1]
