"""What commands say when the disk, the user or every line of a file lets them down."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline import importing
from store import Store, StoreError, open_store
from tui.cli import app

LINE = {"dataset": "d", "question_id": "q", "question": "Q?", "sample": 0, "text": "0. A."}


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_every_line_is_named_when_none_is_usable(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"a": 1}, [], {**LINE, "sample": None}])
    done = CliRunner().invoke(app, ["import", str(path), "--db", str(tmp_path / "t.db")])
    assert done.exit_code == 2
    for line in (1, 2, 3):
        assert f"t.jsonl:{line}: " in done.stderr
    assert "none of 3 lines could be used" in done.stderr


def test_the_same_as_json(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"a": 1}, []])
    done = CliRunner().invoke(app, ["import", str(path), "--db", str(tmp_path / "t.db"), "--json"])
    assert done.exit_code == 2
    assert [r["line"] for r in json.loads(done.stdout)["rejected"]] == [1, 2]


def test_an_interrupted_import_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[object] = [{**LINE, "sample": i} for i in range(5)]
    path = write(tmp_path / "t.jsonl", rows)
    monkeypatch.setattr(importing, "COMMIT_EVERY", 2)
    real = importing._import_one
    seen: list[int] = []

    def stop_at_the_fourth(*args: object) -> None:
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(importing, "_import_one", stop_at_the_fourth)
    done = CliRunner().invoke(app, ["import", str(path), "--db", str(tmp_path / "t.db")])
    assert done.exit_code == 130
    assert "interrupted; what was saved is kept" in done.stderr
    with open_store(tmp_path / "t.db") as store:
        (pool,) = store.pools()
        assert [t.sample for t in store.pool_traces(pool.id)] == ["0", "1"]


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.jsonl", [{**LINE, "text": "0. " + "word " * 40_000}])
    db = tmp_path / "t.db"
    with open_store(db) as store:
        assert isinstance(store, Store)
    # A page limit fails as a full disk does: "database or disk is full".
    with sqlite3.connect(db) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    from store import engine

    real = engine._on_connect

    def limited(connection: object, record: object) -> None:
        real(connection, record)  # type: ignore[arg-type]
        connection.execute(f"PRAGMA max_page_count={pages + 4}")  # type: ignore[attr-defined]

    monkeypatch.setattr(engine, "_on_connect", limited)
    done = CliRunner().invoke(app, ["import", str(path), "--db", str(db)])
    assert done.exit_code == 2
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_table_is_a_store_error(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    with open_store(db):
        pass
    with sqlite3.connect(db) as connection:
        connection.execute("DROP TABLE case_item")
    with open_store(db) as store, pytest.raises(StoreError, match="no such table: case_item"):
        store.cases(store.rater("ana").id, show="done")
