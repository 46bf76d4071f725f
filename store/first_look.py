"""What the workbench's first screen shows, read from a SQLite file by Python's own driver.

SQLAlchemy, SQLModel and the tables take longer to import than a person should wait for a screen.
So the first one is read without them, while they are on their way; the store reads the same anew
once it is open. Whatever is out of the ordinary (another database, an older revision, a rater who
is new, an error) is left to the store, which knows what to say or do.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.label_records import (
    DECIDED,
    Category,
    LastAct,
    RaterRecord,
    SchemaRecord,
)
from store.records import OverviewRow, ScoringRecord
from store.revision import HEAD


@dataclass(frozen=True, slots=True)
class FirstLook:
    """A project as its first screen shows it to a rater, with the schemas they label by."""

    file: Path
    rater: RaterRecord
    schema: SchemaRecord
    step_schema: SchemaRecord
    rows: tuple[OverviewRow, ...]
    scoring: ScoringRecord | None
    n_unscored: int
    last: LastAct | None


def first_look(db: str | Path, rater: str, schema: str = "path") -> FirstLook | None:
    """Return what the first screen shows, or None where that is for the store to find out.

    Nothing is written, and no file is made.
    """
    if "://" in str(db):
        return None
    file = Path(db).expanduser()
    try:
        # Not ro: a connection that may not write leaves SQLite's files behind when it closes.
        uri = file.absolute().as_uri() + "?mode=rw"
        with closing(
            sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.2)
        ) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA query_only=ON")
            connection.execute("BEGIN")  # so that all is read of one moment
            return _look(connection, file, rater, schema)
    except Exception:  # the store meets it again, and says what it is
        return None


def look_ahead(db: str | Path, rater: str, schema: str = "path") -> Future[FirstLook | None]:
    """Begin a first look on a thread of its own; most of it leaves other threads alone."""
    with_one = ThreadPoolExecutor(1, "first-look")
    try:
        return with_one.submit(first_look, db, rater, schema)
    finally:
        with_one.shutdown(wait=False)


class _OtherwiseError(Exception):
    """The project is not as a first look takes it to be."""


def _look(c: sqlite3.Connection, file: Path, name: str, schema_name: str) -> FirstLook:
    if _one(c, "SELECT version_num FROM alembic_version")["version_num"] != HEAD:
        raise _OtherwiseError
    rater = _one(c, "SELECT id, name FROM rater WHERE name = ? AND kind = 'human'", name)
    versions = _schemas(c, schema_name)
    schema, step = versions[-1], _schemas(c, "step")[-1]
    # Categories of several at once would have to be looked for among the labels themselves.
    if schema.item_kind != "path" or (len(versions) > 1 and any(v.multi for v in versions)):
        raise _OtherwiseError
    outdated = {n for v in versions for n in v.names if not schema.holds(n)}
    scoring = _scoring(c)
    return FirstLook(
        file=file,
        rater=RaterRecord(rater["id"], rater["name"], "human"),
        schema=schema,
        step_schema=step,
        rows=_overview(c, rater["id"], schema_name, sorted(outdated)),
        scoring=scoring,
        n_unscored=0 if scoring is None else _n_unscored(c, scoring.id),
        last=_last_act(c, rater["id"], schema_name),
    )


def _one(c: sqlite3.Connection, sql: str, *values: Any) -> sqlite3.Row:
    rows = c.execute(sql, values).fetchall()
    if len(rows) != 1:
        raise _OtherwiseError
    row: sqlite3.Row = rows[0]
    return row


def _schemas(c: sqlite3.Connection, name: str) -> list[SchemaRecord]:
    rows = c.execute("SELECT * FROM label_schema WHERE name = ? ORDER BY version", (name,))
    found = [
        SchemaRecord(
            id=row["id"],
            name=row["name"],
            version=row["version"],
            item_kind=row["item_kind"],
            categories=tuple(Category(**x) for x in json.loads(row["categories"])),
            seal=row["seal"],
            question=row["question"],
            guideline=row["guideline"],
            multi=bool(row["multi"]),
        )
        for row in rows
    ]
    if not found:
        raise _OtherwiseError
    return found


def _scoring(c: sqlite3.Connection) -> ScoringRecord | None:
    rows = c.execute(
        "SELECT s.*, e.name AS embedder, e.revision FROM scoring s "
        "JOIN embedder e ON e.id = s.embedder_id WHERE s.is_primary"
    ).fetchall()
    if not rows:
        return None
    (row,) = rows
    return ScoringRecord(
        id=row["id"],
        key=row["key"],
        decomposition=row["decomposition"],
        embedder=row["embedder"],
        embedder_revision=row["revision"],
        parameters=json.loads(row["parameters"]),
        tool_version=row["tool_version"],
        is_primary=bool(row["is_primary"]),
    )


def _n_unscored(c: sqlite3.Connection, scoring: int) -> int:
    row = _one(
        c,
        "SELECT (SELECT count(*) FROM pool)"
        " - (SELECT count(*) FROM question_score WHERE scoring_id = ?) AS n",
        scoring,
    )
    return int(row["n"])


_PLACE = "JOIN pool p ON p.id = x.pool_id JOIN question q ON q.id = p.question_id"
_TRACES = f"""
    SELECT q.dataset, p.name, count(*), sum(x.n), sum(x.usable), sum(x.parsed), sum(x.strict),
        sum(x.unannotated), sum(x.steps)
    FROM (
        SELECT pool_id, count(*) AS n, sum(n_steps > 0) AS usable, sum(parsed) AS parsed,
            sum(strict) AS strict, sum(n_unannotated) AS unannotated, sum(n_steps) AS steps
        FROM trace GROUP BY pool_id
    ) x {_PLACE} GROUP BY 1, 2 ORDER BY 1, 2
"""
_SCORES = f"""
    SELECT q.dataset, p.name, count(*), count(x.sc_correct), sum(x.sc_correct),
        sum(x.gsc_correct), sum(x.disagree)
    FROM question_score x JOIN scoring s ON s.id = x.scoring_id {_PLACE}
    WHERE s.is_primary GROUP BY 1, 2
"""
_CASES = f"""
    SELECT q.dataset, p.name, count(*), sum(n.n)
    FROM (SELECT case_id, count(*) AS n FROM case_item GROUP BY case_id) n
    JOIN audit_case x ON x.id = n.case_id {_PLACE} GROUP BY 1, 2
"""
_OUTDATED = """
            AND (l.category IS NULL
                OR l.category NOT IN (SELECT value FROM json_each(:outdated)))"""
_MINE = f"""
    SELECT q.dataset, p.name, sum(m.n = m.size), sum(m.n)
    FROM (
        SELECT i.case_id, count(*) AS n,
            (SELECT count(*) FROM case_item w WHERE w.case_id = i.case_id) AS size
        FROM label l JOIN case_item i ON i.item_id = l.item_id
        WHERE l.rater_id = :rater AND l.schema_name = :schema
            AND l.state IN (SELECT value FROM json_each(:decided)){_OUTDATED}
            AND NOT EXISTS (
                SELECT 1 FROM label y WHERE y.rater_id = l.rater_id AND y.item_id = l.item_id
                    AND y.schema_name = l.schema_name AND y.id > l.id
            )
        GROUP BY i.case_id
    ) m JOIN audit_case x ON x.id = m.case_id {_PLACE} GROUP BY 1, 2
"""
_WAITING = """
    SELECT q.dataset, count(*) FROM question q
    WHERE NOT EXISTS (SELECT 1 FROM pool p WHERE p.question_id = q.id) GROUP BY 1 ORDER BY 1
"""


def _overview(
    c: sqlite3.Connection, rater: int, schema: str, outdated: list[str]
) -> tuple[OverviewRow, ...]:
    """Return what `Reports.overview` does."""
    mine_sql = _MINE
    if not outdated:  # then the index alone tells
        mine_sql = mine_sql.replace(_OUTDATED, "")
    values = {
        "rater": rater,
        "schema": schema,
        "decided": json.dumps(DECIDED),
        "outdated": json.dumps(outdated),
    }
    traces, scores, cases = (_groups(c, sql) for sql in (_TRACES, _SCORES, _CASES))
    mine = _groups(c, mine_sql, values)
    rows = []
    for group, counts in traces.items():
        n_cases, n_items = cases.get(group, (0, 0))
        n_done, n_items_done = mine.get(group, (0, 0))
        progress: tuple[int, ...] = (n_cases, n_done, n_items, n_items_done)
        scored = scores.get(group, (0,) * 5)
        rows.append(OverviewRow(*group, *counts, *scored, *progress))
    for dataset, n in c.execute(_WAITING):
        rows.append(OverviewRow(dataset, "", n, *(0,) * 15))
    return tuple(rows)


def _groups(
    c: sqlite3.Connection, sql: str, values: Mapping[str, Any] | None = None
) -> dict[tuple[str, str], tuple[int, ...]]:
    rows = c.execute(sql, values or {})
    return {(d, p): tuple(int(n or 0) for n in counts) for d, p, *counts in rows}


_LAST_ACT = """
    SELECT i.case_id, path.id, coalesce(item.step, l.first_wrong_step, undone.first_wrong_step),
        item.kind = 'step', q.dataset, p.name
    FROM label l
    JOIN item ON item.id = l.item_id
    JOIN item path ON path.trace_id = item.trace_id AND path.kind = 'path'
    JOIN case_item i ON i.item_id = path.id
    JOIN audit_case x ON x.id = i.case_id
    JOIN pool p ON p.id = x.pool_id
    JOIN question q ON q.id = p.question_id
    LEFT JOIN label undone ON undone.id = l.reverses
    WHERE l.rater_id = ? AND l.act <> 'import'
        AND (item.kind = 'step' OR (item.kind = 'path' AND l.schema_name = ?))
    ORDER BY l.id DESC LIMIT 1
"""


def _last_act(c: sqlite3.Connection, rater: int, schema: str) -> LastAct | None:
    """Return what `Sessions.last_act` does."""
    row = c.execute(_LAST_ACT, (rater, schema)).fetchone()
    if row is None:
        return None
    case, path, step, on_step, dataset, pool = row
    return LastAct(case, path, step, bool(on_step), dataset, pool)
