"""What cannot be used is named in one StoreError, and left as it was."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from store import StoreError, check_database, open_store
from store.revision import HEAD


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


NOBODY = 65_534


def as_nobody(db: Path) -> str:
    """Open a database without root's rights, and return what it was refused with."""
    if os.geteuid() != 0:
        with pytest.raises(StoreError) as caught:
            open_store(db)
        return str(caught.value)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            open_store(db).close()
            said = "opened"
        except BaseException as error:
            said = f"{'' if isinstance(error, StoreError) else type(error).__name__}{error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder that others can reach, unlike `tmp_path`; its rights are given back."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "project"
        path.parent.chmod(0o755)
        path.mkdir()
        yield path
        path.chmod(0o755)


def put(folder: Path, content: bytes | None, file_mode: int, folder_mode: int) -> Path:
    db = folder / "locked.db"
    if content is not None:
        db.write_bytes(content)
        db.chmod(file_mode)
    folder.chmod(folder_mode)
    return db


unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="rights are other ones on Windows")


@unix
@pytest.mark.parametrize("migrated", [True, False])
def test_a_read_only_file_is_refused(migrated: bool, blank: Path, folder: Path) -> None:
    content = blank.read_bytes() if migrated else b""
    db = put(folder, content, 0o444, 0o777)
    assert as_nobody(db) == f"{db} is read-only: make it writable, or open a copy"
    assert db.read_bytes() == content


@unix
@pytest.mark.parametrize("stored", ["migrated", "empty", "none"])
def test_a_read_only_folder_is_refused(stored: str, blank: Path, folder: Path) -> None:
    content = {"migrated": blank.read_bytes(), "empty": b"", "none": None}[stored]
    db = put(folder, content, 0o666, 0o555)
    assert as_nobody(db) == (
        f"the folder of {db} is read-only, and a database that is open needs files beside it: "
        "make the folder writable, or open a copy elsewhere"
    )
    assert os.listdir(folder) == ([] if content is None else ["locked.db"])
    assert content is None or db.read_bytes() == content


@unix
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o000, 0o777), (0o666, 0o000)])
def test_a_file_out_of_reach_is_refused(
    file_mode: int, folder_mode: int, blank: Path, folder: Path
) -> None:
    db = put(folder, blank.read_bytes(), file_mode, folder_mode)
    assert as_nobody(db) == f"{db} cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_READONLY, "is read-only: make it writable, or open a copy"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "make the folder writable"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened: file and folder must be there and writable"),
        (sqlite3.SQLITE_CORRUPT, "is not a database medoid can read: as SQLite says"),
    ],
)
def test_what_sqlite_refuses_is_told_by_its_code(
    code: int, words: str, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk mounted read-only, say, no right of the file tells."""

    def refused(_cursor: object) -> None:
        error = sqlite3.OperationalError("as SQLite says")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr("store.engine._need_writable", refused)
    refuse(db, str(db), words)


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_missing_file_is_made_only_where_that_is_wanted(prefix: str, tmp_path: Path) -> None:
    db = tmp_path / "typo.db"
    missing = f"{db} does not exist: name another with --db, or make it with medoid import FILE…"
    for attempt in (
        lambda: open_store(f"{prefix}{db}", create=False),
        lambda: check_database(f"{prefix}{db}"),
    ):
        with pytest.raises(StoreError) as caught:
            attempt()
        assert str(caught.value) == f"{missing}; medoid demo needs none"
        assert os.listdir(tmp_path) == []
    open_store(f"{prefix}{db}").close()
    assert os.listdir(tmp_path) == ["typo.db"]
    check_database(f"{prefix}{db}")
    open_store(f"{prefix}{db}", create=False).close()


def test_databases_beside_a_missing_one_are_named(tmp_path: Path) -> None:
    for name in ("d.db", "b.db", "a.db", "c.db", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(
        StoreError, match=r"typo.db does not exist \(beside it: a.db, b.db, c.db\):"
    ):
        open_store(tmp_path / "typo.db", create=False)


def test_no_file_is_needed_for_a_database_in_memory() -> None:
    with open_store("sqlite://", create=False) as store:
        assert store.schema().name == "path"


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
