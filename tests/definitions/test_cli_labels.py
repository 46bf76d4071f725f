"""Importing label JSONL as a user sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.definitions.running import (
    Ran,
    histories,
    label_row,
    medoid,
    rejected,
    trace_row,
    write,
)

# --- labels ---------------------------------------------------------------------------------------


def test_labels_and_labels_again(tmp_path: Path) -> None:
    # Labels may stand before the traces they are about.
    labels = write(
        tmp_path / "a_labels.jsonl",
        label_row(),
        label_row(item="path:d/q1/m/1", category="spurious", first_wrong_step=1, note="é"),
        label_row(rater="j", rater_kind="judge", category="spurious", rationale="r"),
        label_row(rater="j", rater_kind="judge", item="path:d/q1/m/1", category=None),
    )
    traces = write(tmp_path / "traces.jsonl", trace_row(), trace_row(sample=1))
    first = medoid("import", labels, traces, "--json")
    assert first.code == 0
    assert first.json["labels"] == {"added": 4}
    before = histories()
    assert before == [
        ("ann", "faithful", "labelled"),
        ("ann", "spurious", "labelled"),
        ("j", "spurious", "labelled"),
        ("j", None, "unparsed"),
    ]
    again = medoid("import", labels, "--json")
    assert again.code == 0
    assert again.json["labels"] == {"known": 4}
    assert histories() == before


def test_another_label_supersedes_and_reimport_of_the_first_does_not_bring_it_back(
    tmp_path: Path,
) -> None:
    medoid("import", write(tmp_path / "t.jsonl", trace_row()))
    old = write(tmp_path / "old.jsonl", label_row(created_at="2026-01-01T00:00:00Z"))
    new = write(
        tmp_path / "new.jsonl", label_row(category="spurious", created_at="2026-01-02T00:00:00Z")
    )
    assert medoid("import", old, "--json").json["labels"] == {"added": 1}
    assert medoid("import", new, "--json").json["labels"] == {"changed": 1}
    assert medoid("import", old, "--json").json["labels"] == {"superseded": 1}
    assert histories() == [("ann", "spurious", "labelled")]


BAD_LABELS: list[tuple[str, dict[str, Any], str]] = [
    ("no such trace", label_row(item="path:d/q1/m/99"), "names no trace"),
    ("no path key", label_row(item="d/q1/m/0"), "path:"),
    ("too few parts", label_row(item="path:d/q1/0"), "path:"),
    ("another kind of item", label_row(item="step:d/q1/m/0/0"), "path:"),
    ("no such category", label_row(category="good"), "good"),
    ("no such schema", label_row(schema="other"), "other"),
    ("no category", label_row(category=...), "category"),
    ("a rater of another kind", label_row(rater="bob", rater_kind="judge"), "bob"),
]
for field in ("item", "schema", "rater", "category"):
    odd: tuple[Any, ...] = (True, [], {"a": 1}, 1.5)
    for wrong in odd:
        BAD_LABELS.append((f"{field} is {wrong!r}", label_row(**{field: wrong}), field))
WRONG_FIELDS: dict[str, tuple[Any, ...]] = {
    "rater_kind": ("robot", 1, [], None),
    "first_wrong_step": (-1, 1.5, "0", True, 10**30, []),
    "note": (1.5, [], True),
    "rationale": ([], {"a": 1}),
    "created_at": ("yesterday", 5, [], "2026-13-01T00:00:00Z", True),
    "before_reveal": ("yes", 1, []),
    "seal": ("shut", 1, []),
    "active_seconds": (-1, "5", True, 1e300, []),
    "state": ("gone", 1, []),
}
for field, wrongs in WRONG_FIELDS.items():
    for wrong in wrongs:
        BAD_LABELS.append((f"{field} is {wrong!r}", label_row(**{field: wrong}), field))


@pytest.fixture(scope="module")
def bad_labels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """Import every bad label at once, after a trace and a good label."""
    folder = tmp_path_factory.mktemp("bad")
    path = write(
        folder / "t.jsonl",
        trace_row(),
        label_row(rater="bob"),
        *[line for _, line, _ in BAD_LABELS],
    )
    return path, medoid("import", path, "--db", folder / "bad.db")


@pytest.mark.parametrize("n", range(len(BAD_LABELS)), ids=[name for name, _, _ in BAD_LABELS])
def test_a_bad_label_is_named(bad_labels: tuple[Path, Ran], n: int) -> None:
    message = rejected(*bad_labels).get(n + 3)
    assert message is not None
    assert BAD_LABELS[n][2] in message
    assert len(message) < 300


def test_the_good_label_among_bad_ones_is_kept(bad_labels: tuple[Path, Ran]) -> None:
    path, ran = bad_labels
    assert ran.code == 1
    assert histories(path.parent / "bad.db") == [("bob", "faithful", "labelled")]


def test_labels_of_unknown_traces_alone_are_nothing_usable(tmp_path: Path) -> None:
    ran = medoid("import", write(tmp_path / "l.jsonl", label_row()))
    assert ran.code == 2
    assert "names no trace" in ran.err


def test_slashes_and_percent_signs_in_names(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        trace_row(dataset="a/b", question_id="50%", pool="x%2Fy"),
        label_row(item="path:a%2Fb/50%25/x%252Fy/0"),
    )
    ran = medoid("import", path, "--json")
    assert ran.code == 0
    assert ran.json["labels"] == {"added": 1}


def test_states_are_no_categories(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        trace_row(),
        label_row(rater="a", category="unsure"),
        label_row(rater="b", category="skip"),
        label_row(rater="c", category=..., state="unsure"),
    )
    assert medoid("import", path).code == 0
    assert histories() == [("a", None, "unsure"), ("b", None, "skipped"), ("c", None, "unsure")]
