"""`medoid import` as a user sees it: exit codes, messages, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from store import open_store
from tests.definitions.running import DB, Ran, medoid, rejected, stored, trace_row, write


def samples() -> list[str]:
    return sorted(key[3] for key in stored())


def test_a_good_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl", trace_row(), trace_row(sample=1), trace_row(question_id="q2")
    )
    ran = medoid("import", path)
    assert ran.code == 0
    assert "3 added" in ran.out
    assert stored() == {
        ("d", "q1", "m", "0"): "12",
        ("d", "q1", "m", "1"): "12",
        ("d", "q2", "m", "0"): "12",
    }


def test_twice_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", trace_row(), trace_row(sample=1), trace_row())
    first = medoid("import", path, "--json").json
    assert (first["traces"]["added"], first["traces"]["known"]) == (2, 1)
    again = medoid("import", path, "--json")
    assert again.code == 0
    assert again.json["traces"] == {"known": 3}
    assert samples() == ["0", "1"]


def test_names_of_pools(tmp_path: Path) -> None:
    path = write(
        tmp_path / "stem.jsonl",
        trace_row(pool="p", model="m", variant="v"),
        trace_row(model="m", variant="v"),
        trace_row(model="m"),
        trace_row(model=...),
        trace_row(model=None, sample=7),
    )
    assert medoid("import", path).code == 0
    assert sorted(stored()) == [
        ("d", "q1", "m", "0"),
        ("d", "q1", "m@v", "0"),
        ("d", "q1", "p", "0"),
        ("d", "q1", "stem", "0"),
        ("d", "q1", "stem", "7"),
    ]


def test_a_number_and_its_text_are_one_sample(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", trace_row(sample=3), trace_row(sample="3"))
    assert medoid("import", path, "--json").json["traces"] == {"added": 1, "known": 1}


def test_another_text_under_the_same_key_is_an_error_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        trace_row(),
        trace_row(text="The final answer is: 13"),
        trace_row(sample=2),
    )
    ran = medoid("import", path)
    assert ran.code == 1
    assert f"{path}:2: path:d/q1/m/0 " in ran.err
    assert stored()["d", "q1", "m", "0"] == "12"
    assert samples() == ["0", "2"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"question": "How many cups are there?"}, "wording"),
        ({"gold": "13"}, "gold"),
        ({"answer_kind": "text"}, "kind"),
        ({"options": ["a", "b"], "gold": "A"}, ""),
    ],
)
def test_a_question_that_contradicts_itself(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    path = write(tmp_path / "t.jsonl", trace_row(), trace_row(sample=1, **fields))
    ran = medoid("import", path)
    assert ran.code == 1
    assert f"{path}:2:" in ran.err
    assert words in ran.err
    assert samples() == ["0"]


def test_the_same_gold_in_another_spelling_is_no_contradiction(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        trace_row(),
        trace_row(sample=1, gold=12),
        trace_row(sample=2, gold="12.0"),
        trace_row(sample=3, gold=...),
    )
    assert medoid("import", path).code == 0
    assert samples() == ["0", "1", "2", "3"]


def test_a_byte_order_mark_crlf_blank_lines_and_no_last_newline(tmp_path: Path) -> None:
    body = "\r\n\r\n".join(json.dumps(trace_row(sample=i)) for i in range(3))
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + body.encode())
    assert medoid("import", path).code == 0
    assert samples() == ["0", "1", "2"]


def nested(depth: int) -> str:
    return json.dumps(trace_row(sample=5))[:-1] + ', "x": ' + "[" * depth + "]" * depth + "}"


BAD_LINES: list[tuple[str, Any, str]] = [
    ("no json", "{'dataset': 1}", "JSON"),
    ("cut off", '{"dataset": "d", "questi', "JSON"),
    ("two objects", '{"a": 1} {"b": 2}', "JSON"),
    ("a list", "[1, 2]", "object"),
    ("a number", "7", "object"),
    ("null", "null", "object"),
    ("nan", json.dumps(trace_row(sample=5))[:-1] + ', "x": NaN}', "NaN"),
    ("infinity", json.dumps(trace_row(sample=5))[:-1] + ', "x": -Infinity}', "Infinity"),
    ("overflow", json.dumps(trace_row(sample=5))[:-1] + ', "x": 1e999}', ""),
    ("overflow as gold", json.dumps(trace_row(sample=5, gold=0)).replace("0,", "1e999,", 1), ""),
    ("not utf-8", b'{"dataset": "\xff\xfe"}', "UTF-8"),
    ("utf-16", '{"a": 1}'.encode("utf-16"), ""),
    ("deep", nested(100_000), ""),
    ("deep, though the json module reads it", nested(300), "deep"),
    (
        "a huge whole number",
        json.dumps(trace_row(sample=5))[:-1] + ', "x": ' + "9" * 6000 + "}",
        "",
    ),
    ("unknown object", {"hello": 1}, "hello"),
    ("empty object", {}, ""),
    ("no dataset", trace_row(dataset=...), "dataset"),
    ("no question id", trace_row(question_id=...), "question_id"),
    ("no question", trace_row(question=...), "question"),
    ("no sample", trace_row(sample=...), "sample"),
    ("neither text nor steps", trace_row(text=...), "text"),
    ("text and steps", trace_row(steps=[]), "steps"),
    ("text is a number list", trace_row(text=[1]), "text"),
    ("text is null", trace_row(text=None), "text"),
    ("steps is a text", trace_row(text=..., steps="a", answer="1"), "steps"),
    ("steps is null", trace_row(text=..., steps=None, answer="1"), "steps"),
    ("answer is a list", trace_row(text=..., steps=[], answer=[1]), "answer"),
    ("answer is an object", trace_row(text=..., steps=[], answer={}), "answer"),
    ("empty dataset", trace_row(dataset=""), "dataset"),
    ("control character in a name", trace_row(question_id="a\x1b[31mb"), "question_id"),
    ("newline in a name", trace_row(pool="a\nb"), "pool"),
    ("lone surrogate in a name", trace_row(dataset="a\ud800"), "dataset"),
]
for field in ("dataset", "question_id", "question", "sample", "pool", "model", "variant"):
    odd: tuple[Any, ...] = (True, 1.5, [], {"a": 1}, "  ")
    for wrong in odd:
        BAD_LINES.append((f"{field} is {wrong!r}", trace_row(**{field: wrong}), field))
WRONG_RULES: dict[str, tuple[Any, ...]] = {
    "gold": ([], {"a": 1}, "many jars and more"),
    "answer_kind": ("numbers", 3, [], {"a": 1}),
    "options": ("abc", 3, [], {}, [1], {"A": 1}, [None]),
}
for field, wrongs in WRONG_RULES.items():
    for wrong in wrongs:
        row = trace_row(**{"answer_kind": "number", field: wrong})
        BAD_LINES.append((f"{field} is {wrong!r}", row, field))


@pytest.fixture(scope="module")
def bad_lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """Import every bad line at once, between two good ones."""
    folder = tmp_path_factory.mktemp("bad")
    path = write(
        folder / "t.jsonl", *[line for _, line, _ in BAD_LINES], trace_row(question_id="last")
    )
    return path, medoid("import", path, "--db", folder / "bad.db")


@pytest.mark.parametrize("n", range(len(BAD_LINES)), ids=[name for name, _, _ in BAD_LINES])
def test_a_bad_line_is_named(bad_lines: tuple[Path, Ran], n: int) -> None:
    message = rejected(*bad_lines).get(n + 1)
    assert message is not None
    assert BAD_LINES[n][2] in message
    assert len(message) < 300


def test_the_good_lines_among_bad_ones_are_kept(bad_lines: tuple[Path, Ran]) -> None:
    path, ran = bad_lines
    assert ran.code == 1
    assert list(stored(path.parent / "bad.db")) == [("d", "last", "m", "0")]


@pytest.mark.parametrize(("name", "line"), [b[:2] for b in BAD_LINES if "overflow" in b[0]])
def test_a_number_beyond_all_bounds_spoils_only_its_line(
    tmp_path: Path, name: str, line: str
) -> None:
    path = write(tmp_path / "t.jsonl", trace_row(question_id="other"), line, trace_row(sample=2))
    ran = medoid("import", path)
    assert ran.code == 1
    assert list(rejected(path, ran)) == [2]
    assert samples() == ["0", "2"]


def test_depth_up_to_a_hundred_is_fine(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", nested(99))
    assert medoid("import", path).code == 0
    assert medoid("import", write(path, nested(100))).code == 2


def test_a_bad_line_alone_is_nothing_usable(tmp_path: Path) -> None:
    ran = medoid("import", write(tmp_path / "t.jsonl", "nonsense"))
    assert ran.code == 2
    assert "t.jsonl:1" in ran.err
    assert stored() == {}


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\r\n"])
def test_an_empty_file_is_nothing_usable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    ran = medoid("import", path)
    assert ran.code == 2
    assert ran.err.strip()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path / "t.jsonl", trace_row())
    for bad in (tmp_path / "absent.jsonl", tmp_path):
        ran = medoid("import", good, bad)
        assert ran.code == 2
        assert bad.name in ran.err
        assert "Traceback" not in ran.err
        assert stored() == {}


def test_bad_usage(tmp_path: Path) -> None:
    assert medoid("import").code == 2
    assert medoid("import", "--no-such-option").code == 2
    assert medoid("no-such-command").code == 2
    good = write(tmp_path / "t.jsonl", trace_row())
    for db in (tmp_path, tmp_path / "no" / "folder.db", good):
        ran = medoid("import", good, "--db", db)
        assert ran.code == 2
        assert ran.err.startswith("medoid: ")


def test_strict_is_all_or_nothing(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", trace_row(), trace_row(sample=1))
    bad = write(tmp_path / "bad.jsonl", trace_row(sample=2), "nonsense", trace_row(sample=3))
    ran = medoid("import", good, bad, "--strict", "--json")
    assert ran.code != 0
    assert stored() == {}
    report = ran.json
    assert [(r["file"], r["line"]) for r in report["rejected"]] == [(str(bad), 2)]
    kept = {k: v for k, v in report.items() if k not in ("rejected", "seconds", "parse_seconds")}
    assert not any(kept.values()), kept  # nothing was kept, so nothing is counted
    assert medoid("import", good, "--strict").code == 0
    assert samples() == ["0", "1"]


def test_strict_with_nothing_usable(tmp_path: Path) -> None:
    assert medoid("import", write(tmp_path / "t.jsonl", "nonsense"), "--strict").code == 2


def test_strict_keeps_what_was_there(tmp_path: Path) -> None:
    assert medoid("import", write(tmp_path / "a.jsonl", trace_row())).code == 0
    bad = write(tmp_path / "b.jsonl", trace_row(sample=2), trace_row(text="other"))
    assert medoid("import", bad, "--strict").code == 1
    assert samples() == ["0"]


def test_the_steps_form_and_odd_texts_come_back_as_they_were(tmp_path: Path) -> None:
    odd = "a\x00b \x1b[31m \u202e [/x] \ud800 é \u2028 end"
    path = write(
        tmp_path / "t.jsonl",
        trace_row(question=odd, text=..., steps=[{"text": odd, "depends_on": []}], answer=12),
        trace_row(
            question=odd, sample=1, text=f"0. {odd} [depends_on: none]\nThe final answer is: 12"
        ),
        trace_row(question_id="e", text=""),
        trace_row(question_id="f", text=..., steps=[], answer=None),
    )
    assert medoid("import", path).code == 0
    with open_store(DB) as store:
        pool = next(p for p in store.pools() if p.question_id == "q1")
        first, second = store.pool_traces(pool.id)
    assert first.trace.answer == ("number", 12)
    assert [s.text for s in first.trace.steps] == [odd]
    assert second.trace.answer == ("number", 12)
    assert medoid("import", path, "--json").json["traces"] == {"known": 4}


def test_unknown_fields_are_kept_and_do_not_matter_for_the_key(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", trace_row(temperature=0.7, more={"x": [1, None, "é"]}))
    assert medoid("import", a).code == 0
    b = write(tmp_path / "b.jsonl", trace_row(temperature=0.9))
    assert medoid("import", b, "--json").json["traces"] == {"known": 1}


def test_figures_of_text_and_json_agree(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        trace_row(),
        trace_row(sample=1, text="0. Four.\n1. Twelve.\nThe final answer is: many"),
        trace_row(sample=2, text="nothing to see here"),
        trace_row(sample=3, text=""),
    )
    report = medoid("import", path, "--db", "one.db", "--json").json
    text = medoid("import", path, "--db", "two.db").out
    assert report["traces"] == {"added": 4}
    assert (report["strict"], report["parsed"], report["voting"]) == (1, 1, 1)
    assert "25.0 % follow the format to the letter" in text or "25 % follow" in text
    assert f"{report['steps']} steps" in text
    for code, n in report["issues"].items():
        assert any(line.split()[:2] == [code, str(n)] for line in text.splitlines()), code


# --- Faithful-COT ---------------------------------------------------------------------------------

CHAIN = "# 1. Jars? (independent, support: [])\na = 4\n# 2. All? (depends on 1, support: [])\nb = a * 3\n"


def test_a_faithful_cot_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pool_x.jsonl",
        {
            "id": 103,
            "question": "How many?",
            "gold": "12",
            "cots": [
                {"config": "c1", "answer": "12.0", "text": CHAIN},
                {"config": "c2", "answer": "", "text": CHAIN},
                {"config": "c3", "text": [5]},
            ],
        },
    )
    ran = medoid("import", path, "--dataset", "gsm")
    assert ran.code == 1
    assert f"{path}:1: " in ran.err
    assert stored()["gsm", "103", "pool_x", "c1"] == "12.0"
    assert sorted(k[3] for k in stored()) == ["c1", "c2"]


@pytest.mark.parametrize("cots", [None, "x", 5, {"a": 1}])
def test_a_faithful_cot_line_without_chains(tmp_path: Path, cots: Any) -> None:
    row = {"id": 1, "question": "How many?", "gold": "12", "cots": cots}
    ran = medoid("import", write(tmp_path / "t.jsonl", trace_row(), row))
    assert ran.code == 1
    assert "t.jsonl:2: " in ran.err
    assert "cots" in ran.err
