from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.importing import NothingUsableError, import_files
from store import Store
from tests.pipeline.conftest import line, write_lines


def faithful(question: str = "How many?", **more: Any) -> dict[str, Any]:
    program = (
        '# 1. How many rows are there? (independent, support: ["there are 7 rows"])\n'
        "rows = 7\n"
        "# 2. How many jars in all? (depends on 1, support: [])\n"
        "jars = rows * 6\n"
    )
    return {
        "id": 5,
        "question": question,
        "gold": "42",
        "cots": [
            {"config": "a/1", "answer": "42.0", "text": program},
            {"config": "b", "answer": None, "text": program},
        ],
        **more,
    }


def test_both_native_forms_and_names(store: Store, tmp_path: Path) -> None:
    text = "0. Seven rows. [depends_on: none]\n1. 42 jars. [depends_on: 0]\nThe final answer is: 42"
    base = {"dataset": "d/1", "question_id": 7, "question": "How many?", "gold": 42, "sample": 3}
    rows = [
        {**base, "text": text, "model": "m", "variant": "v", "colour": "red"},
        {**base, "text": text, "model": "m"},
        {**base, "steps": [{"text": "42 jars.", "depends_on": []}], "answer": 42, "pool": "100%"},
        {**base, "steps": [{"text": "42 jars."}], "answer": "42.0"},
    ]
    summary = import_files(store, [write_lines(tmp_path / "my.pools.jsonl", rows)])
    assert summary.traces == {"added": 4}
    assert summary.rejected == []
    pools = {p.pool: p for p in store.pools()}
    assert list(pools) == ["100%", "m", "m@v", "my.pools"]
    (trace,) = store.pool_traces(pools["100%"].id)
    assert trace.key == "path:d%2F1/7/100%25/3"
    for pool in pools.values():
        assert pool.gold == ("number", 42)
        (record,) = store.pool_traces(pool.id)
        assert record.trace.answer == ("number", 42)
    (first,) = store.pool_traces(pools["m@v"].id)
    assert first.source == text
    assert [s.depends_on for s in first.trace.steps] == [(), (0,)]


def test_faithful_cot(store: Store, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "sums.jsonl", [faithful()])
    summary = import_files(store, [path], dataset="gsm")
    assert summary.traces == {"added": 2}
    (pool,) = store.pools()
    assert (pool.dataset, pool.question_id, pool.pool) == ("gsm", "5", "sums")
    a, b = store.pool_traces(pool.id)
    assert a.key == "path:gsm/5/sums/a%2F1"
    assert a.trace.answer == ("number", 42)
    assert b.trace.answer is None
    assert [(s.text, s.code, s.depends_on) for s in a.trace.steps] == [
        ("How many rows are there?", "rows = 7", ()),
        ("How many jars in all?", "jars = rows * 6", (0,)),
    ]


def test_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    rows = [line("q", 0, "yes", "A."), line("q", 1, "no", "B.")]
    label = {"item": "path:toy/q/m@1/0", "rater": "ana", "category": "faithful"}
    path = write_lines(tmp_path / "t.jsonl", [*rows, label])
    import_files(store, [path])
    before = [(p, store.pool_traces(p.id)) for p in store.pools()]
    again = import_files(store, [path])
    assert again.traces == {"known": 2}
    assert again.labels == {"known": 1}
    assert [(p, store.pool_traces(p.id)) for p in store.pools()] == before
    assert [r.n_labelled for r in store.raters()] == [1]


def test_labels_may_stand_before_their_traces(store: Store, tmp_path: Path) -> None:
    label = {"item": "path:toy/q/m@1/0", "schema": "path", "rater": "j", "rater_kind": "judge"}
    rows = [{**label, "category": "spurious", "first_wrong_step": 9}, line("q", 0, "yes", "A.")]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert summary.labels == {"added": 1}
    assert store.judge_summary("j").step_out_of_range == 1


def test_a_changed_label_is_another_row(store: Store, tmp_path: Path) -> None:
    label = {"item": "path:toy/q/m@1/0", "rater": "ana"}
    rows = [
        line("q", 0, "yes", "A."),
        {**label, "category": "faithful"},
        {**label, "category": "unsure", "note": "hm"},
    ]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert summary.labels == {"added": 1, "changed": 1}
    (pair,) = store.label_pairs("path", "ana", "nobody")
    assert (pair.a, pair.a_state) == (None, "unsure")


def test_collision_is_an_error_line_and_the_first_stays(store: Store, tmp_path: Path) -> None:
    rows = [line("q", 0, "yes", "A."), line("q", 0, "yes", "B."), line("q", 1, "yes", "C.")]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert summary.traces == {"added": 2}
    (error,) = summary.rejected
    assert error.line == 2
    assert "path:toy/q/m@1/0 is in the database with another text" in error.message
    (pool,) = store.pools()
    assert [t.trace.steps[0].text for t in store.pool_traces(pool.id)] == ["A.", "C."]


GOOD = line("q", 0, "yes", "A.", gold="yes")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "a JSON list"),
        ('{"x": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"x": ' + "9" * 5000 + "}", "not JSON"),
        ({"a": 1}, "a trace (dataset, question_id"),
        ({**GOOD, "dataset": None}, "dataset is null"),
        ({**GOOD, "dataset": "a\x1bb"}, "dataset is"),
        ({**GOOD, "question": 3.5}, "question is 3.5"),
        ({**GOOD, "sample": True}, "sample is true"),
        ({**GOOD, "steps": "A."}, 'steps is "A."'),
        ({**GOOD, "text": "A."}, "either text, or steps"),
        ({**GOOD, "answer": ["yes"]}, "answer is"),
        ({**GOOD, "gold": {"a": 1}}, "gold is"),
        ({**GOOD, "gold": "perhaps", "answer_kind": "boolean"}, "no boolean answer"),
        ({**GOOD, "answer_kind": "poem"}, "answer_kind is"),
        ({**GOOD, "options": []}, "options is"),
        ({**GOOD, "percent": "half"}, "percent is"),
        ({**GOOD, "sample": 9, "question": "Other?"}, "another wording"),
        ({**GOOD, "sample": 9, "gold": "no"}, "another gold answer"),
        ({**GOOD, "sample": 9, "answer_kind": "text"}, "has answer kind boolean"),
        ({"item": "path:toy/q/m@1/0", "rater": "a", "category": "lovely"}, "not in schema path"),
        ({"item": "path:toy/q/m@1/77", "rater": "a", "category": "faithful"}, "names no trace"),
        ({"item": "path:toy/q", "rater": "a", "category": "faithful"}, "is not path:"),
        ({"item": "path:toy/q/m@1/0", "rater": "a"}, "category is missing"),
        ({"item": "path:toy/q/m@1/0", "rater": "", "category": "faithful"}, 'rater is ""'),
        (
            {"item": "path:toy/q/m@1/0", "rater": "a", "category": "spurious"}
            | {"first_wrong_step": -1},
            "first_wrong_step is -1",
        ),
        (
            {"item": "path:toy/q/m@1/0", "rater": "a", "category": "faithful"}
            | {"created_at": "yesterday"},
            "created_at is",
        ),
        (
            {"item": "path:toy/q/m@1/0", "rater": "a", "category": "faithful"}
            | {"before_reveal": "no"},
            "before_reveal is",
        ),
        (
            {"item": "path:toy/q/m@1/0", "rater": "a", "category": "faithful", "rater_kind": "god"},
            "rater_kind is",
        ),
        (
            {"item": "path:toy/q/m@1/0", "rater": "a", "category": "faithful", "schema": "odd"},
            "no schema 'odd'",
        ),
        (faithful(cots=3), "cots is 3"),
    ],
)
def test_a_bad_line_is_named_and_the_good_ones_stay(
    store: Store, tmp_path: Path, row: Any, message: str
) -> None:
    path = write_lines(tmp_path / "t.jsonl", [GOOD, row, {**GOOD, "sample": 1}])
    summary = import_files(store, [path])
    assert summary.traces == {"added": 2}
    (error,) = summary.rejected
    assert (error.file, error.line) == (str(path), 2)
    assert message in error.message


def test_one_bad_chain_leaves_the_others(store: Store, tmp_path: Path) -> None:
    row = faithful()
    row["cots"].append({"config": "c", "answer": {}, "text": "x"})
    row["cots"].append(7)
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", [row])])
    assert summary.traces == {"added": 2}
    assert [e.message.split(":")[0] for e in summary.rejected] == ["cots[2]", "cots[3]"]


def test_strict_is_all_or_nothing(store: Store, tmp_path: Path) -> None:
    good = write_lines(tmp_path / "a.jsonl", [GOOD])
    bad = write_lines(tmp_path / "b.jsonl", [{**GOOD, "sample": 1}, "{"])
    summary = import_files(store, [good, bad], strict=True)
    assert [r.line for r in summary.rejected] == [2]
    assert summary.n_good == 0
    assert store.pools() == ()
    assert import_files(store, [good], strict=True).traces == {"added": 1}


def test_bom_crlf_blank_lines_and_no_final_newline(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    other = {**GOOD, "sample": 1}
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n" + json.dumps(other).encode()
    )
    assert import_files(store, [path]).traces == {"added": 2}


def test_bytes_that_are_not_utf8(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"dataset": "\xff"}\n')
    (error,) = import_files(store, [path]).rejected
    assert error.line == 2
    assert "byte 14 is not UTF-8" in error.message


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{\n", b"[]"])
def test_nothing_usable(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    with pytest.raises(NothingUsableError):
        import_files(store, [path])


def test_a_question_keeps_one_answer_kind(store: Store, tmp_path: Path) -> None:
    """Lines without gold are read under the kind that the first line's gold showed."""
    rows = [
        line("q", 0, "12 apples", "A.", gold="12"),
        line("q", 1, "twelve", "A."),
        line("q", 2, "yes", "A."),
    ]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    (pool,) = store.pools()
    answers = [t.trace.answer for t in store.pool_traces(pool.id)]
    assert answers == [("number", 12), ("number", 12), None]


def test_hostile_text_comes_back_as_it_was(store: Store, tmp_path: Path) -> None:
    text = "\ud800 \x00 \x1b]0;x\x07 [/x] \u202e 💥"
    rows = [line("q", 0, "yes", text)]
    import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    (pool,) = store.pools()
    (record,) = store.pool_traces(pool.id)
    assert record.source["steps"][0]["text"] == text
    assert record.trace.steps[0].text == text


def test_a_reply_cut_by_the_server_is_noted(store: Store, tmp_path: Path) -> None:
    rows = [line("q", i, "yes", "A.", finish_reason=r) for i, r in enumerate(("length", "stop"))]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert summary.issues == {"truncated": 1}
    assert (summary.n_strict, summary.n_parsed) == (1, 2)
