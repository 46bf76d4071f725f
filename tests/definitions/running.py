"""Running the command line in this process, as a user would see it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from store import open_store
from tui.cli import app

DB = Path("medoid.db")


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def medoid(*args: str | Path) -> Ran:
    """Run a command; what is no orderly end fails the test."""
    result = CliRunner().invoke(app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def trace_row(**fields: Any) -> dict[str, Any]:
    """Return a good line of native trace JSONL with some fields changed; ... leaves one out."""
    row = {
        "dataset": "d",
        "question_id": "q1",
        "question": "How many jars are there?",
        "gold": "12",
        "model": "m",
        "sample": 0,
        "text": "0. Four. [depends_on: none]\n1. Twelve. [depends_on: 0]\nThe final answer is: 12",
    } | fields
    return {k: v for k, v in row.items() if v is not ...}


def label_row(**fields: Any) -> dict[str, Any]:
    """Return a good label of the trace above."""
    row = {
        "item": "path:d/q1/m/0",
        "schema": "path",
        "rater": "ann",
        "rater_kind": "human",
        "category": "faithful",
    } | fields
    return {k: v for k, v in row.items() if v is not ...}


def write(path: Path, *rows: Any, end: str = "\n") -> Path:
    """Write lines: bytes and texts as they are, anything else as JSON."""
    with path.open("wb") as file:
        for row in rows:
            raw = (
                row
                if isinstance(row, bytes)
                else (row if isinstance(row, str) else json.dumps(row)).encode()
            )
            file.write(raw + end.encode())
    return path


def stored(db: Path = DB) -> dict[tuple[str, str, str, str], str | None]:
    """Return (dataset, question, pool, sample) -> answer of every stored trace."""
    if not db.exists():
        return {}
    with open_store(db) as store:
        return {
            (pool.dataset, pool.question_id, pool.pool, r.sample): r.trace.answer_text
            for pool in store.pools()
            for r in store.pool_traces(pool.id)
        }


def rejected(path: Path, ran: Ran) -> dict[int, str]:
    """Return the messages about a file by line."""
    found = {}
    for line in ran.err.splitlines():
        place, _, rest = line.strip().partition(f"{path}:")
        if not place and rest:
            number, _, message = rest.partition(": ")
            found[int(number)] = message
    return found


def histories(db: Path = DB) -> list[tuple[str, str | None, str]]:
    """Return (rater, category, state) of every standing label."""
    with open_store(db) as store:
        rows = []
        for rater in store.raters():
            for pair in store.label_pairs("path", rater.name, rater.name):
                rows.append((rater.name, pair.a, str(pair.a_state)))
        return sorted(rows, key=str)
