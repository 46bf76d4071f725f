"""Opening a database: URL or path, pragmas, migrations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool
from sqlmodel import Session

HEAD = "0001"
"""The newest schema revision this version knows."""

BUSY_TIMEOUT_MS = 15_000


class StoreError(Exception):
    """The database cannot be used; the message says why and what would help."""


class SealedError(Exception):
    """Something the seal hides was asked for before its time."""


def url_of(db: str | Path) -> str:
    """Return a database URL for a path or URL."""
    text_ = str(db)
    if "://" in text_:
        return text_
    path = Path(text_).expanduser()
    if path.is_dir():
        raise StoreError(f"{path} is a directory: give a database file or a URL")
    if not path.parent.exists():
        raise StoreError(f"{path.parent} does not exist: make the folder, or give another path")
    return f"sqlite:///{path}"


def make_engine(db: str | Path) -> Engine:
    """Create an engine with WAL, foreign keys, a busy timeout and explicit transactions."""
    url = url_of(db)
    options: dict[str, Any] = {}
    if url in ("sqlite://", "sqlite:///:memory:"):
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    try:
        engine = create_engine(url, **options)
    except Exception as error:
        raise StoreError(f"{url!r} is no usable database URL: {error}") from error
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
        cursor.execute("PRAGMA journal_mode=WAL")
        # FULL: a label shown as saved also survives a power cut, at about a millisecond a label.
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def _on_begin(connection: Any) -> None:
    write = connection.get_execution_options().get("medoid_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def current_revision(engine: Engine) -> str | None:
    """Return the schema revision of a database, None when it is blank."""
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names()
        if "alembic_version" not in tables:
            if tables:
                raise StoreError(
                    f"{engine.url.render_as_string()} holds other tables "
                    f"({', '.join(sorted(tables)[:3])}): it is not a medoid database"
                )
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return None if found is None else str(found)


def migrate(engine: Engine) -> None:
    """Bring the schema to `HEAD`; do nothing when it is there."""
    try:
        revision = current_revision(engine)
    except DatabaseError as error:
        raise StoreError(
            f"{engine.url.render_as_string()} is not a database medoid can read: {error.orig}"
        ) from error
    if revision == HEAD:
        return
    if revision is not None and revision > HEAD:
        raise StoreError(
            f"{engine.url.render_as_string()} was written by a newer medoid "
            f"(schema {revision}, this one knows {HEAD}): update medoid"
        )
    upgrade(engine, "head")


def alembic_config() -> Any:
    """Return the Alembic configuration of the shipped migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: Engine, revision: str) -> None:
    """Run the migrations up to a revision."""
    from alembic import command

    config = alembic_config()
    with engine.execution_options(medoid_write=True).begin() as connection:
        # Another process may have migrated while this one waited for the lock.
        tables = inspect(connection).get_table_names()
        if revision == "head" and "alembic_version" in tables:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            if found == HEAD:
                return
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


class Base:
    """Holds the engine and hands out short sessions; the repository parts build on it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(medoid_write=True)

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with Session(self._engine) as session:
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        """Open a session whose transaction takes the write lock at once and commits at the end."""
        with Session(self._writer) as session, session.begin():
            yield session
