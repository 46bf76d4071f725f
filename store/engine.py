"""Opening a database: URL or path, pragmas, migrations."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool
from sqlmodel import Session

from store.errors import StoreError
from store.revision import HEAD

BUSY_TIMEOUT_MS = 15_000
POLL_SECONDS = 0.005
SQLITE_HEADER = b"SQLite format 3\0"


def file_of(url: URL) -> Path | None:
    """Return the file of a SQLite URL, None for any other database."""
    name = url.database
    if url.get_backend_name() != "sqlite" or not name or name.startswith((":memory:", "file:")):
        return None
    return Path(name)


def url_of(db: str | Path, *, create: bool = True) -> URL:
    """Return a database URL for a path or URL.

    Raises
    ------
    StoreError
        When it is a folder or another kind of file, its folder does not exist, the URL cannot be
        read, or, unless `create`, there is no such file.
    """
    text_ = str(db)
    if "://" not in text_:
        url = URL.create("sqlite", database=str(Path(text_).expanduser()))
    else:
        try:
            url = make_url(text_)
        except (ArgumentError, ValueError):  # the text may hold a password: it is not repeated
            scheme = text_.partition("://")[0]
            raise StoreError(f"{scheme}://… is no database URL: sqlite:///a.db is one") from None
    path = file_of(url)
    if path is not None:
        try:
            _check_file(path, create)
        except OSError as error:  # of the file itself, or of a folder on the way to it
            raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    return url


def _check_file(path: Path, create: bool) -> None:
    """Refuse what is no database file; SQLite would take a short text file for an empty one."""
    if path.is_dir():
        raise StoreError(f"{path} is a directory: give a database file or a URL")
    if not path.parent.exists():
        raise StoreError(f"{path.parent} does not exist: make the folder, or give another path")
    if path.exists():
        with path.open("rb") as file:
            start = file.read(len(SQLITE_HEADER))
        if start not in (b"", SQLITE_HEADER):
            raise StoreError(f"{path} is not a database: give a medoid database, or a new file")
    elif not create:
        raise StoreError(
            f"{path} does not exist{_neighbours(path)}: name another with --db, or make it with "
            "medoid import FILE…; medoid demo needs none"
        )


def _neighbours(path: Path) -> str:
    """Return the databases that stand where a missing one was looked for, for a mistyped name."""
    try:
        names = sorted(p.name for p in path.parent.glob("*.db"))
    except OSError:
        return ""
    return f" (beside it: {', '.join(names[:3])})" if names else ""


def check_database(db: str | Path) -> None:
    """Refuse, without opening anything, what is no database, or a file that is not there.

    Raises
    ------
    StoreError
        As `url_of` does.
    """
    url_of(db, create=False)


def make_engine(db: str | Path, *, create: bool = True) -> Engine:
    """Create an engine with foreign keys, a busy timeout and explicit transactions."""
    url = url_of(db, create=create)
    options: dict[str, Any] = {}
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    try:
        engine = create_engine(url, **options)
    except Exception as error:
        raise StoreError(f"{url.render_as_string()} cannot be used: {error}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _record: ConnectionPoolEntry) -> None:
    if not isinstance(connection, sqlite3.Connection):
        connection = connection.driver_connection
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        cursor.execute("PRAGMA foreign_keys=ON")
        # FULL: a label shown as saved also survives a power cut, at about a millisecond a label.
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def _on_begin(connection: Any) -> None:
    if connection.get_execution_options().get("medoid_write", False):
        _begin_write(connection.connection.dbapi_connection)
    else:
        connection.exec_driver_sql("BEGIN")


def _begin_write(connection: Any) -> None:
    connection.execute("PRAGMA busy_timeout=0")
    try:
        _when_free(lambda: connection.execute("BEGIN IMMEDIATE"))
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_BUSY:
            raise
        raise StoreError(
            f"another program kept writing to the database for {BUSY_TIMEOUT_MS // 1000} s: "
            "nothing was saved, try again"
        ) from error
    finally:
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")


def _when_free(act: Callable[[], Any]) -> None:
    """Do something as soon as no other process holds the lock.

    SQLite's own waiting slows down to a look every 100 ms, and slips past the gaps between
    another process's transactions until the time is up.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            act()
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(POLL_SECONDS)


def place_of(engine: Engine) -> str:
    """Return where a database is, for a reader: the file's path, or the URL without password."""
    file = file_of(engine.url)
    return engine.url.render_as_string() if file is None else str(file)


def current_revision(engine: Engine) -> str | None:
    """Return the schema revision of a database, None when it is blank."""
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        foreign = tables - {"alembic_version"}
        if foreign and not {"alembic_version", "label_schema"} <= tables:
            raise StoreError(
                f"{place_of(engine)} holds other tables "
                f"({', '.join(sorted(foreign)[:3])}): it is not a medoid database"
            )
        return _stored_revision(connection) if "alembic_version" in tables else None


def _stored_revision(connection: Any) -> str | None:
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def migrate(engine: Engine) -> None:
    """Bring the schema to `HEAD`; do nothing when it is there."""
    revision = current_revision(engine)
    if revision is not None and revision != HEAD and revision not in known_revisions():
        raise StoreError(
            f"{place_of(engine)} was written by a newer medoid "
            f"(schema {revision}, this one knows {HEAD}): update medoid"
        )
    if engine.dialect.name == "sqlite":
        _prepare_file(engine)
    if revision != HEAD:
        upgrade(engine, "head")


@contextmanager
def explained(engine: Engine) -> Iterator[None]:
    """Turn what the database says while it is opened into a `StoreError`."""
    place = place_of(engine)
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        refused = _refused(engine, cause)
        if refused is None:
            refused = f"{place} is not a database medoid can read: {cause}"
        raise StoreError(refused) from error


def _refused(engine: Engine, cause: BaseException) -> str | None:
    """Return what a file or folder that may not be written to is told by; None for other causes.

    SQLite keeps files of its own beside a database that is open, so the folder must be writable,
    too; of one that is not, it says only that it cannot open the file.
    """
    if _code(cause) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return None
    place, file = place_of(engine), file_of(engine.url)
    if file is not None and os.path.exists(file) and not os.access(file, os.W_OK):
        return f"{place} is read-only: make it writable, or open a copy"
    in_folder = getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DIRECTORY
    if file is not None and (in_folder or not os.access(file.parent, os.W_OK | os.X_OK)):
        return (
            f"the folder of {place} is read-only, and a database that is open needs files beside "
            "it: make the folder writable, or open a copy elsewhere"
        )
    if _code(cause) == sqlite3.SQLITE_READONLY:
        return f"{place} is read-only: make it writable, or open a copy"
    return (
        f"{place} cannot be opened: file and folder must be there and writable, for a database that "
        "is open needs files beside it"
    )


def _code(error: BaseException) -> int | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _prepare_file(engine: Engine) -> None:
    """Turn WAL on. Done once the file is known to be ours: the mode is written into it."""
    with closing(engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
        _need_writable(cursor)
        # SQLite does not wait here by itself while another process opens the same file.
        _when_free(lambda: cursor.execute("PRAGMA journal_mode=WAL"))


def _need_writable(cursor: Any) -> None:
    """Find out that a file is read-only before a label is typed, without waiting for a lock."""
    cursor.execute("PRAGMA busy_timeout=0")
    try:
        cursor.execute("BEGIN IMMEDIATE")
        try:
            # BEGIN alone is let through on a read-only file; the first write is not.
            version = cursor.execute("PRAGMA user_version").fetchone()[0]
            cursor.execute(f"PRAGMA user_version={version}")
        finally:
            cursor.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_BUSY:
            raise
    finally:
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")


def alembic_config() -> Any:
    """Return the Alembic configuration of the shipped migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def known_revisions() -> tuple[str, ...]:
    """Return the revisions of the shipped migrations, newest first."""
    from alembic.script import ScriptDirectory

    script = ScriptDirectory.from_config(alembic_config())
    return tuple(r.revision for r in script.walk_revisions())


def upgrade(engine: Engine, revision: str) -> None:
    """Run the migrations up to a revision, in one transaction: all of it happens or nothing."""
    from alembic import command

    config = alembic_config()
    with (
        engine.execution_options(medoid_write=True).connect() as connection,
        _keys_checked_at_the_end(connection),
        connection.begin(),
    ):
        # Another process may have migrated while this one waited for the lock.
        migrated = inspect(connection).has_table("alembic_version")
        if revision == "head" and migrated and _stored_revision(connection) == HEAD:
            return
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        if connection.dialect.name == "sqlite":
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if broken:
                raise StoreError(
                    f"{place_of(engine)} could not be brought to schema {revision}: "
                    f"{len(broken)} rows of {broken[0][0]} would refer to nothing; "
                    "it was left as it was"
                )


@contextmanager
def _keys_checked_at_the_end(connection: Connection) -> Iterator[None]:
    """Let a migration rebuild a table that others refer to.

    SQLite takes this switch only outside a transaction; `upgrade` checks every reference before
    it commits.
    """
    if connection.dialect.name != "sqlite":
        yield
        return
    raw: Any = connection.connection.dbapi_connection
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        raw.execute("PRAGMA foreign_keys=ON")


@contextmanager
def _database_errors(engine: Engine) -> Iterator[None]:
    """Say in one line what the disk or the database itself refused, a full disk for one.

    A constraint that a row breaks is a fault of ours and stays as it is.
    """
    try:
        yield
    except OperationalError as error:
        cause = error.orig or error
        refused = _refused(engine, cause) or f"the database could not be used: {cause}"
        raise StoreError(f"{refused}; what was saved before is kept") from error


class Base:
    """Holds the engine and hands out short sessions; the repository parts build on it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(medoid_write=True)

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with _database_errors(self._engine), Session(self._engine) as session:
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        """Open a session whose transaction takes the write lock at once and commits at the end."""
        with _database_errors(self._engine), Session(self._writer) as session, session.begin():
            yield session

    def _let_others_write(self) -> None:
        """Leave a gap between long transactions, so that a waiting label gets in."""
        time.sleep(4 * POLL_SECONDS)
