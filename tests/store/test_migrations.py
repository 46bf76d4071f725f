"""The migrations give the schema the tables describe, from a blank file and from every revision."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlmodel import SQLModel

from store import open_store
from store.engine import HEAD, alembic_config, current_revision, make_engine, migrate, upgrade
from store.schemas import SHIPPED

SCRIPTS = ScriptDirectory.from_config(alembic_config())
REVISIONS = [r.revision for r in SCRIPTS.walk_revisions()][::-1]


def schema_of(db: Path) -> set[tuple[str, str, str]]:
    """Every table, index and trigger with its SQL, without what the layout of the text adds."""
    with closing(sqlite3.connect(db)) as connection:
        rows = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        ).fetchall()
    return {(kind, name, re.sub(r"\s+", " ", sql)) for kind, name, sql in rows}


def test_head_is_the_newest_script() -> None:
    assert SCRIPTS.get_heads() == [HEAD]


def test_a_blank_database_is_brought_to_head(tmp_path: Path) -> None:
    engine = make_engine(tmp_path / "new.db")
    assert current_revision(engine) is None
    migrate(engine)
    assert current_revision(engine) == HEAD


def test_migrations_and_tables_describe_one_schema(db: Path) -> None:
    with make_engine(db).connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, SQLModel.metadata) == []


def test_the_comparison_would_notice_a_missing_index(db: Path) -> None:
    with make_engine(db).begin() as connection:
        connection.execute(text("DROP INDEX ix_label_item"))
        found = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)
    assert [f[0] for f in found] == ["add_index"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_older_revision_is_upgraded_to_the_same_schema(
    revision: str, db: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    engine = make_engine(old)
    upgrade(engine, revision)
    assert current_revision(engine) == revision
    engine.dispose()
    with open_store(old) as store:
        assert store.schema().name == "path"
    assert schema_of(old) == schema_of(db)


def test_opening_again_changes_nothing(db: Path) -> None:
    before = schema_of(db)
    with open_store(db) as store:
        first = store.schema()
    with open_store(db) as store:
        assert store.schema() == first
    assert schema_of(db) == before


OPEN = """
import sys, time
from pathlib import Path
from store import open_store
go = Path(sys.argv[2])
print("ready", flush=True)
while not go.exists():
    time.sleep(0.001)
with open_store(sys.argv[1]) as store:
    print(store.rater(sys.argv[3]).name, store.schema().version)
"""


def test_processes_that_open_a_blank_database_at_once_all_succeed(tmp_path: Path) -> None:
    db, go = tmp_path / "shared.db", tmp_path / "go"
    names = ["ana", "bob", "cyd"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(db), str(go), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    go.touch()
    for name, process in zip(names, processes, strict=True):
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, f"{name} 1\n", "")
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
        shipped = connection.execute("SELECT name FROM label_schema ORDER BY id").fetchall()
        assert shipped == [(n,) for n in SHIPPED]
        assert connection.execute("SELECT name FROM rater ORDER BY 1").fetchall() == [
            (n,) for n in names
        ]
