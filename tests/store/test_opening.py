"""What cannot be used is named in one StoreError, and left as it was."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import StoreError, open_store
from store.engine import HEAD


def refuse(db: str | Path, *words: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(db)
    message = str(caught.value)
    assert [w for w in words if w not in message] == []
    assert "\n" not in message


def refuse_unharmed(db: Path, *words: str) -> None:
    before, neighbours = db.read_bytes(), sorted(os.listdir(db.parent))
    refuse(db, str(db), *words)
    assert db.read_bytes() == before
    assert sorted(os.listdir(db.parent)) == neighbours


def write_sql(db: Path, *statements: str) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_newer_schema_is_refused(db: Path) -> None:
    write_sql(db, "UPDATE alembic_version SET version_num = '9999'")
    refuse_unharmed(db, "newer", "9999", HEAD, "update medoid")


def test_a_revision_that_sorts_below_ours_but_is_unknown_is_refused_too(db: Path) -> None:
    write_sql(db, "UPDATE alembic_version SET version_num = '0000x'")
    refuse_unharmed(db, "0000x", "update medoid")


def test_another_programs_database_keeps_its_journal_mode(tmp_path: Path) -> None:
    db = tmp_path / "bookmarks.db"
    write_sql(db, "CREATE TABLE bookmark (url TEXT)", "INSERT INTO bookmark VALUES ('x')")
    refuse_unharmed(db, "bookmark", "not a medoid database")


def test_another_programs_alembic_database_is_not_taken_for_ours(tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    write_sql(
        db,
        "CREATE TABLE invoice (id INTEGER)",
        "CREATE TABLE alembic_version (version_num TEXT)",
        f"INSERT INTO alembic_version VALUES ('{HEAD}')",
    )
    refuse_unharmed(db, "invoice", "not a medoid database")


@pytest.mark.parametrize(
    "content", [b"a plain text, one line\n" * 300, b"x", b"SQLite format 3\0!"]
)
def test_a_text_file_is_refused(content: bytes, tmp_path: Path) -> None:
    db = tmp_path / "notes.txt"
    db.write_bytes(content)
    refuse_unharmed(db, "not a database")


def test_an_empty_file_is_a_blank_database(tmp_path: Path) -> None:
    db = tmp_path / "empty.db"
    db.touch()
    with open_store(db) as store:
        assert store.schema().name == "path"


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_directory_is_refused(prefix: str, tmp_path: Path) -> None:
    refuse(f"{prefix}{tmp_path}", str(tmp_path), "is a directory")


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_missing_folder_is_refused_and_not_made(prefix: str, tmp_path: Path) -> None:
    refuse(f"{prefix}{tmp_path / 'no' / 'a.db'}", str(tmp_path / "no"), "does not exist")
    assert not (tmp_path / "no").exists()


def test_a_read_only_connection_is_refused(db: Path) -> None:
    before = db.read_bytes()
    refuse(f"sqlite:///file:{db}?mode=ro&uri=true", "read-only")
    assert db.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
@pytest.mark.parametrize("migrated", [True, False])
def test_a_read_only_file_is_refused(migrated: bool, blank: Path, tmp_path: Path) -> None:
    db = tmp_path / "locked.db"
    db.write_bytes(blank.read_bytes() if migrated else b"")
    db.chmod(0o444)
    refuse(db, str(db), "read-only")
    assert db.read_bytes() == (blank.read_bytes() if migrated else b"")


def test_opening_does_not_wait_for_a_long_write(db: Path) -> None:
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with open_store(db) as store:
            assert store.schema().name == "path"
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("name", ["what?.db", "50%20.db", "a#b.db", "ä ö.db", "c:d.db"])
def test_a_path_is_taken_to_the_letter(name: str, tmp_path: Path) -> None:
    with open_store(tmp_path / name) as store:
        store.rater("ana")
        assert store.file == tmp_path / name
    assert name in os.listdir(tmp_path)
    with open_store(str(tmp_path / name)) as store:
        assert [r.name for r in store.raters()] == ["ana"]


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://ana:s3cret@h:port/x", "nodialect://ana:s3cret@h/x", "://s3cret"]
)
def test_a_bad_url_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "s3cret" not in str(caught.value)


def test_pragmas_hold_on_every_connection(db: Path) -> None:
    with open_store(db) as store, store._read() as one, store._read() as two:
        for session in (one, two):
            connection = session.connection()
            found = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
            ]
            assert found == ["wal", 1, 2, 15_000]
