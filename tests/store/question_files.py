"""Writing question files and reading them back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from store.exchange.lines import LineError
from store.exchange.questions import Naming, RawQuestion, read_questions
from store.records import NewQuestion

Found = list[tuple[int, RawQuestion | LineError]]

SECRET = "saffron"
"""An answer that no message may tell."""

GPQA = {
    "Record ID": "rec7",
    "Question": "Which lamp is the red one?",
    "Correct Answer": "the left one\n",
    "Incorrect Answer 1": "the right one",
    "Incorrect Answer 2": "both",
    "Incorrect Answer 3": "neither",
    "High-level domain": "Lamps",
}


def as_jsonl(path: Path, *rows: Any) -> Path:
    lines = (r if isinstance(r, bytes) else json.dumps(r).encode() for r in rows)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def as_csv(path: Path, *rows: dict[str, Any]) -> Path:
    """Write what pandas' `to_csv` writes: lists and dicts as Python shows them."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(out.getvalue().encode("utf-8"))
    return path


def read(path: Path, mapping: str, **naming: Any) -> Found:
    return list(read_questions(path, mapping, Naming(**{"stem": "file", **naming})))


def good(found: Found) -> list[NewQuestion]:
    out = []
    for number, value in found:
        if isinstance(value, LineError):
            raise AssertionError(f"line {number}: {value}")
        out.append(value.question)
    return out


def bad(found: Found) -> dict[int, str]:
    return {n: str(v) for n, v in found if isinstance(v, LineError)}


def one(tmp_path: Path, mapping: str, row: Any, **naming: Any) -> NewQuestion:
    (question,) = good(read(as_jsonl(tmp_path / "one.jsonl", row), mapping, **naming))
    return question


def problem(tmp_path: Path, mapping: str, row: Any) -> str:
    (message,) = bad(read(as_jsonl(tmp_path / "one.jsonl", row), mapping)).values()
    return message
