"""The import of question files: every row counted, the bad ones named, nothing done twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import questions as stage
from pipeline.importing import NothingUsableError, import_files
from pipeline.progress import Progress
from pipeline.questions import import_questions
from pipeline.scoring import score
from store import Store
from tests.pipeline.conftest import HashEmbedder, line, write_lines

ROWS: list[dict[str, Any]] = [
    {"question": "Three jars of six?", "answer": "3*6\n#### 18"},
    {"question": "Two jars of six?", "answer": "2*6\n#### 12"},
    {"question": "How many jars?", "answer": None},
]
GPQA: list[dict[str, Any]] = [
    {
        "Record ID": f"r{i}",
        "Question": f"Which {i}?",
        "Correct Answer": "yes",
        "Incorrect Answer 1": "no",
        "Incorrect Answer 2": "never",
        "Incorrect Answer 3": "maybe",
    }
    for i in range(8)
]


def state(store: Store) -> list[tuple[Any, ...]]:
    return [
        (q.dataset, q.external_id, q.text, q.gold, q.options, q.extra) for q in store.questions()
    ]


def test_questions_are_added_counted_and_known_the_second_time(
    store: Store, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "gsm.jsonl", ROWS)
    events: list[Progress] = []
    first = import_questions(store, [path], "gsm8k", on_progress=events.append)
    assert first.questions == {"added": 3}
    assert first.kinds == {"number": 3}
    assert first.n_without_gold == 1
    assert (first.rejected, first.n_good) == ([], 3)
    assert events == [Progress("import", 3, 3, "questions")]
    assert store.question_counts() == {"gsm": 3}
    before = state(store)
    again = import_questions(store, [path], "gsm8k")
    assert (again.questions, again.kinds, again.n_without_gold) == ({"known": 3}, {}, 0)
    assert state(store) == before


def test_gold_that_comes_later_completes_a_question(store: Store, tmp_path: Path) -> None:
    import_questions(store, [write_lines(tmp_path / "gsm.jsonl", ROWS)], "gsm8k")
    full = [{**ROWS[2], "answer": "#### 2"}]
    summary = import_questions(store, [write_lines(tmp_path / "gsm.jsonl", full)], "gsm8k")
    assert summary.questions == {"completed": 1}
    assert [q.gold for q in store.questions()] == [("number", 18), ("number", 12), ("number", 2)]


def test_bad_rows_are_named_by_file_and_line_and_the_good_ones_stay(
    store: Store, tmp_path: Path
) -> None:
    a = write_lines(tmp_path / "a.jsonl", [ROWS[0], "{", {"question": "?", "answer": "one"}])
    b = write_lines(tmp_path / "b.jsonl", ["", ROWS[1], {**ROWS[1], "answer": "#### 13"}])
    summary = import_questions(store, [b, a], "gsm8k", dataset="d")
    assert summary.questions == {"added": 2}
    assert [(r.file, r.line) for r in summary.rejected] == [(str(a), 2), (str(a), 3), (str(b), 3)]
    messages = [r.message for r in summary.rejected]
    assert messages[0].startswith("not JSON")
    assert "answer is a text of 3 characters" in messages[1]
    assert "has another gold answer in the database" in messages[2]
    assert summary.as_json()["rejected"][0] == {
        "file": str(a),
        "line": 2,
        "message": messages[0],
    }
    assert [q.gold for q in store.questions("d")] == [("number", 12), ("number", 18)]


@pytest.mark.parametrize(
    "change",
    [{"answer": "#### 13"}, {"answer": "2*6 is 12\n#### 12"}],
    ids=["another gold", "another solution"],
)
def test_the_same_id_twice_in_one_file(
    store: Store, tmp_path: Path, change: dict[str, Any]
) -> None:
    rows = [{"id": 7, **ROWS[1]}, {"id": 7, **ROWS[1]}, {"id": 7, **ROWS[1], **change}]
    summary = import_questions(store, [write_lines(tmp_path / "q.jsonl", rows)], "gsm8k")
    assert summary.questions == {"added": 1, "known": 1}
    assert [r.line for r in summary.rejected] == [3]
    assert [(q.external_id, q.gold) for q in store.questions()] == [("7", ("number", 12))]


def test_another_seed_does_not_shuffle_anew(store: Store, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q.jsonl", GPQA)
    assert import_questions(store, [path], "gpqa", seed=1).questions == {"added": 8}
    before = state(store)
    assert {len(o or {}) for _, _, _, _, o, _ in before} == {4}
    assert import_questions(store, [path], "gpqa", seed=1).questions == {"known": 8}
    with pytest.raises(NothingUsableError) as caught:
        import_questions(store, [path], "gpqa", seed=2)
    assert [r.line for r in caught.value.rejected] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert state(store) == before


def test_strict_is_all_or_nothing(store: Store, tmp_path: Path) -> None:
    good = write_lines(tmp_path / "a.jsonl", ROWS)
    bad = write_lines(tmp_path / "b.jsonl", ["{"])
    summary = import_questions(store, [good, bad], "gsm8k", strict=True)
    assert [(r.file, r.line) for r in summary.rejected] == [(str(bad), 1)]
    assert (summary.n_good, summary.kinds, summary.n_without_gold) == (0, {}, 0)
    assert state(store) == []
    assert import_questions(store, [good], "gsm8k", strict=True).questions == {"added": 3}


def test_an_interruption_keeps_what_was_saved(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "COMMIT_EVERY", 2)

    def stop(event: Progress) -> None:
        if event.done == 2:
            raise KeyboardInterrupt

    path = write_lines(tmp_path / "q.jsonl", GPQA)
    with pytest.raises(KeyboardInterrupt):
        import_questions(store, [path], "gpqa", on_progress=stop)
    assert [q.external_id for q in store.questions()] == ["r0", "r1"]
    rest = import_questions(store, [path], "gpqa")
    assert rest.questions == {"known": 2, "added": 6}


@pytest.mark.parametrize("content", ["", "\n\n", "{\n", '{"question": 3}\n', "[]"])
def test_nothing_usable(store: Store, tmp_path: Path, content: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(content)
    with pytest.raises(NothingUsableError):
        import_questions(store, [path], "gsm8k")


def test_a_file_that_is_not_there_and_a_mapping_that_is_none(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError, match=r"q\.jsonl: No such file"):
        import_questions(store, [tmp_path / "q.jsonl"], "gsm8k")
    with pytest.raises(ValueError, match="--mapping is 'gsm'"):
        import_questions(store, [tmp_path / "q.jsonl"], "gsm")


# --- among traces and labels ---------------------------------------------------------------


def test_native_questions_are_known_by_their_shape(store: Store, tmp_path: Path) -> None:
    label = {"item": "path:toy/q/m@1/0", "rater": "ana", "category": "faithful"}
    question = {"dataset": "toy", "question_id": "q", "question": "Question q?", "gold": "yes"}
    rows = [label, line("q", 0, "yes", "A."), question, {"question": "Alone?"}, question]
    path = write_lines(tmp_path / "t.jsonl", rows)
    summary = import_files(store, [path])
    assert summary.questions == {"added": 2, "known": 1}
    assert (summary.traces, summary.labels) == ({"added": 1}, {"added": 1})
    assert summary.as_json()["questions"] == {"added": 2, "known": 1}
    assert store.question_counts() == {"t": 1, "toy": 1}
    (pool,) = store.pools()
    assert pool.gold == ("boolean", True)
    again = import_files(store, [path])
    assert (again.questions, again.traces) == ({"known": 3}, {"known": 1})


def test_a_trace_is_read_under_its_questions_rules(store: Store, tmp_path: Path) -> None:
    """The question file says that 33% is a ratio; the trace file says nothing of it."""
    question = {"dataset": "toy", "question_id": "q", "question": "Question q?", "gold": "33%"}
    rows = [{**question, "percent": "ratio"}, line("q", 0, "0.33", "A.")]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert summary.rejected == []
    (pool,) = store.pools()
    (trace,) = store.pool_traces(pool.id)
    assert trace.trace.answer == pool.gold


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Three jars of six?", "answer": "3*6\n#### 18"},
        {"question": "Which?", "options": {"A": "a", "B": "b"}, "answer_idx": "A"},
        {"question": "is it", "passage": "It is.", "label": 1},
    ],
)
def test_other_peoples_questions_are_not_taken_for_native_ones(
    store: Store, tmp_path: Path, row: dict[str, Any]
) -> None:
    good = {"question": "Alone?"}
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", [good, row])])
    assert summary.questions == {"added": 1}
    (error,) = summary.rejected
    assert error.line == 2
    assert "without gold; gold is right, or a --mapping" in error.message


def test_a_trace_without_a_sample_is_no_question(store: Store, tmp_path: Path) -> None:
    rows = [{"question": "Alone?"}, {"question": "?", "text": "0. A."}, {"a": 1}]
    summary = import_files(store, [write_lines(tmp_path / "t.jsonl", rows)])
    assert [r.message.split(";")[0] for r in summary.rejected] == [
        "dataset is missing (it must be text)",
        'an object with the fields ["a"]',
    ]


def test_scoring_passes_questions_without_traces_by(
    store: Store, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    import_questions(store, [write_lines(tmp_path / "gsm.jsonl", ROWS)], "gsm8k")
    with pytest.raises(ValueError, match="nothing to score: no question has traces"):
        score(store, embedder="hash")
    import_files(
        store, [write_lines(tmp_path / "t.jsonl", [line("q", i, "yes", "A.") for i in range(2)])]
    )
    summary = score(store, embedder="hash")
    assert (summary.n_pools, summary.n_scored, summary.n_unusable) == (1, 1, 0)
    assert [r.n_questions for r in store.overview(None)] == [1, 3]
