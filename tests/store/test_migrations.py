"""The migrations give the schema the tables describe, from a blank file and from every revision."""

from __future__ import annotations

import hashlib
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
from store.engine import (
    alembic_config,
    current_revision,
    make_engine,
    migrate,
    upgrade,
)
from store.errors import StoreError
from store.revision import HEAD
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


FROZEN = {
    "0001": "b996ff4a6a370c7ef282f219a07996c444f03ec61811f638948d9d7195b1599d",
    "0002": "7e768e9c8def297afc72e33827b3f34aafbf1fa3aa0c51eb5634da45f332e8af",
    "0003": "edb5360ac48cc4c1b59fb67057da2e10ce8566f03a45b8848cfaa646cfa25b7b",
    "0004": "eff4d92ecf13750ce19eba5ef55ed2c1bd7d3ab2219af0566b17075ff07152bc",
    "0005": "d8024aac80a89355decb7e5cb1d2ccb6ef36d8b3117580eb51875580b9738f45",
    "0006": "b604d8bfdd6cef94203aa130dc7f37ba1a889726893cfafc13faaf220f3204c7",
}
"""sha256 of the schema each revision makes. A revision that has landed is never edited: databases
are out there that say they have it."""


@pytest.mark.parametrize("revision", sorted(FROZEN))
def test_a_landed_revision_is_never_edited(revision: str, tmp_path: Path) -> None:
    db = tmp_path / "at.db"
    engine = make_engine(db)
    upgrade(engine, revision)
    engine.dispose()
    lines = "\n".join(" ".join(row) for row in sorted(schema_of(db)))
    assert hashlib.sha256(lines.encode()).hexdigest() == FROZEN[revision]


FIRST_ROWS = """
INSERT INTO label_schema (id, name, version, item_kind, categories, seal, question, guideline)
VALUES (1, 'path', 1, 'path', '[{"key":"1","name":"faithful","state":"labelled",
  "takes_first_wrong_step":false},{"key":"2","name":"spurious","state":"labelled",
  "takes_first_wrong_step":true}]', 'full', 'Sound?', 'Look.');
INSERT INTO rater (id, name, kind, created_at) VALUES (1, 'ana', 'human', 't0');
INSERT INTO question (id, dataset, external_id, text, answer_kind, percent)
VALUES (1, 'd', 'q1', '"Is Ice Cold?"', 'auto', 'keep');
INSERT INTO pool (id, question_id, name) VALUES (1, 1, 'm');
INSERT INTO trace (id, pool_id, sample, form, source, source_hash, steps, issues, n_steps,
  n_unannotated, parsed, strict, parser)
VALUES (1, 1, '0', 'text', '"x"', 'h', '[]', '[]', 0, 0, 1, 1, 'p');
INSERT INTO item (id, key, kind, question_id, trace_id) VALUES (1, 'path:d/q1/m/0', 'path', 1, 1);
INSERT INTO label (id, item_id, schema_id, rater_id, act, state, category, first_wrong_step,
  flagged, note, active_seconds, seal, before_reveal, supersedes, created_at)
VALUES (3, 1, 1, 1, 'label', 'labelled', 'faithful', NULL, 0, '"a\\u0000b"', 2.5, 'full', 1, NULL,
  't1'),
  (7, 1, 1, 1, 'label', 'labelled', 'spurious', 2, 1, NULL, 4.5, 'full', 0, 3, 't2');
INSERT INTO verdict_detail (label_id, rationale, flags) VALUES (7, '"why"', '[]');
INSERT INTO reveal (id, rater_id, question_id, created_at) VALUES (1, 1, 1, 't3');
"""


def database_of_the_first_revision(path: Path) -> None:
    engine = make_engine(path)
    upgrade(engine, "0001")
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_ROWS)
        connection.commit()


def check_that_nothing_was_lost(path: Path) -> None:
    with open_store(path) as store:
        ana = store.rater("ana")
        assert [r.n_labelled for r in store.raters() if r.name == "ana"] == [1]
        rows = list(store.export_labels(history=True))
        assert store.schema("path").multi is False
        assert ana.id == 1
    assert [
        (r.label.category, r.label.first_wrong_step, r.label.note, r.label.before_reveal)
        for r in rows
    ] == [
        ("faithful", None, "a\x00b", True),
        ("spurious", 2, None, False),
    ]
    with closing(sqlite3.connect(path)) as connection:
        labels = connection.execute(
            "SELECT id, schema_name, schema_version, supersedes, active_seconds, created_at "
            "FROM label ORDER BY id"
        ).fetchall()
        search = connection.execute("SELECT * FROM question_search").fetchall()
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("UPDATE label SET note = NULL")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("DELETE FROM label_schema")
    assert labels == [(3, "path", 1, None, 2.5, "t1"), (7, "path", 1, 3, 4.5, "t2")]
    assert search == [(1, "d\x1fq1\x1fis ice cold?")]


def test_labels_of_the_first_revision_are_kept(tmp_path: Path) -> None:
    database_of_the_first_revision(tmp_path / "old.db")
    check_that_nothing_was_lost(tmp_path / "old.db")


def test_what_a_development_version_added_by_itself_is_no_hindrance(tmp_path: Path) -> None:
    db = tmp_path / "half.db"
    database_of_the_first_revision(db)
    with closing(sqlite3.connect(db)) as connection:
        connection.executescript(
            "ALTER TABLE label_schema ADD COLUMN multi BOOLEAN NOT NULL DEFAULT 0;"
            "ALTER TABLE item ADD COLUMN step INTEGER;"
            "CREATE TABLE question_search (question_id INTEGER PRIMARY KEY, folded TEXT NOT NULL);"
            "DROP INDEX ix_case_item_item_id;"
        )
    check_that_nothing_was_lost(db)


def test_an_upgrade_that_would_lose_a_reference_changes_nothing(tmp_path: Path) -> None:
    db = tmp_path / "broken.db"
    database_of_the_first_revision(db)
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(
            "INSERT INTO label (id, item_id, schema_id, rater_id, act, state, category, flagged, "
            "seal, created_at) VALUES (9, 77, 1, 1, 'label', 'labelled', 'x', 0, 'full', 't')"
        )
        connection.commit()
    before = schema_of(db)
    with pytest.raises(StoreError, match="1 rows of label would refer to nothing"):
        open_store(db)
    assert schema_of(db) == before
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("SELECT count(*) FROM label").fetchone() == (3,)


BEFORE_CLUSTERS = """
INSERT INTO question (id, dataset, external_id, text, answer_kind, percent)
VALUES (1, 'd', 'q1', '"x"', 'auto', 'keep');
INSERT INTO pool (id, question_id, name) VALUES (1, 1, 'm');
INSERT INTO trace (id, pool_id, sample, form, source, source_hash, steps, issues, n_steps,
  n_unannotated, parsed, strict, parser)
VALUES (4, 1, '0', 'text', '"x"', 'h', '[]', '[]', 0, 0, 1, 1, 'p');
INSERT INTO decomposition (id, name, model, prompt_version, parameters, created_at)
VALUES (2, 'f', 'm', 'v', '{}', 't');
INSERT INTO counterfactual_editing (id, name, model, prompt_version, parameters, created_at)
VALUES (3, 'e', 'm', 'v', '{}', 't');
INSERT INTO item (id, key, kind, question_id, trace_id, step, decomposition_id, editing_id)
VALUES (9, 'path:d/q1/m/0', 'path', 1, 4, NULL, NULL, NULL),
  (11, 'criterion:d/q1/m/0/f/atomic', 'criterion', 1, 4, NULL, 2, NULL),
  (15, 'counterfactual:d/q1/m/0/0/e', 'counterfactual', 1, 4, 0, NULL, 3);
INSERT INTO rater (id, name, kind, created_at) VALUES (1, 'ana', 'human', 't0');
INSERT INTO label (id, item_id, schema_name, schema_version, rater_id, act, state, category,
  flagged, seal, before_reveal, created_at)
SELECT 7, 11, name, version, 1, 'label', 'labelled', 'yes', 0, 'full', 1, 't1'
FROM label_schema WHERE name = 'decomposition';
"""


def test_items_keep_their_ids_when_they_get_clusters(tmp_path: Path) -> None:
    db = tmp_path / "old.db"
    engine = make_engine(db)
    upgrade(engine, "0004")
    engine.dispose()
    schema = (
        "INSERT INTO label_schema (id, name, version, item_kind, categories, seal, multi, "
        "question, guideline) VALUES (1, 'decomposition', 1, 'criterion', '[]', 'full', 0, '', '');"
    )
    with closing(sqlite3.connect(db)) as connection:
        connection.executescript(schema + BEFORE_CLUSTERS)
        connection.commit()
    upgrade(engine, "0005")
    engine.dispose()
    with closing(sqlite3.connect(db)) as connection:
        items = connection.execute(
            "SELECT id, kind, question_id, trace_id, step, decomposition_id, editing_id, cluster "
            "FROM item ORDER BY id"
        ).fetchall()
        labels = connection.execute("SELECT id, item_id, category FROM label").fetchall()
        connection.execute("PRAGMA foreign_keys=ON")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("INSERT INTO item_reveal VALUES (1, 1, 99, 't')")
        with pytest.raises(sqlite3.IntegrityError, match="item_placed"):
            connection.execute("INSERT INTO item (key, kind) VALUES ('pair:s/m/a/b', 'pair')")
        connection.execute(
            "INSERT INTO item (key, kind, cluster) VALUES ('pair:s/m/a/b', 'pair', 's/m')"
        )
    assert items == [
        (9, "path", 1, 4, None, None, None, None),
        (11, "criterion", 1, 4, None, 2, None, None),
        (15, "counterfactual", 1, 4, 0, None, 3, None),
    ]
    assert labels == [(7, 11, "yes")]
