"""What several parts of the repository need of schema and label rows, inside an open session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, exists, func, insert, or_
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import content_hash
from store.records import DECIDED, Category, LabelRecord, SchemaRecord

CHUNK = 500
"""So many values go into one IN."""

V = TypeVar("V")


def chunks(values: Sequence[V]) -> Iterator[Sequence[V]]:
    """Yield the values in parts that a statement can hold."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def add_missing(s: Session, table: Any, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert rows that were not there a moment ago; return how many are new.

    SQLite's writer is alone. On PostgreSQL another may have added one of them meanwhile: it stays.
    """
    if not rows:
        return 0
    target = getattr(table, "__table__", table)
    if s.get_bind().dialect.name != "postgresql":
        s.connection().execute(insert(target), list(rows))
        return len(rows)
    missing = postgresql.insert(target).on_conflict_do_nothing()
    one = next(iter(target.columns))
    return len(s.connection().execute(missing.returning(one), list(rows)).all())


def schema_record(row: t.LabelSchema) -> SchemaRecord:
    """Return what callers see of a schema row."""
    return SchemaRecord(
        id=row.id or 0,
        name=row.name,
        version=row.version,
        item_kind=row.item_kind,
        categories=tuple(Category(**c) for c in row.categories),
        seal=row.seal,  # type: ignore[arg-type]  # checked on writing
        question=row.question,
        guideline=row.guideline,
        multi=row.multi,
    )


def find_schema(s: Session, name: str, version: int | None = None) -> SchemaRecord | None:
    """Return a version of a schema, the newest by default, None when there is none."""
    query = select(t.LabelSchema).where(t.LabelSchema.name == name)
    if version is not None:
        query = query.where(t.LabelSchema.version == version)
    row = s.exec(query.order_by(col(t.LabelSchema.version).desc())).first()
    return None if row is None else schema_record(row)


def need_schema(s: Session, name: str, version: int | None = None) -> SchemaRecord:
    """Return a version of a schema, the newest by default.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    found = find_schema(s, name, version)
    if found is not None:
        return found
    newest = None if version is None else find_schema(s, name)
    if newest is not None:
        raise ValueError(f"schema {name} has no version {version}; the newest is {newest.version}")
    names = s.exec(select(t.LabelSchema.name).distinct()).all()
    raise ValueError(f"no schema {name!r}; there are: {', '.join(sorted(names))}")


def outdated_categories(s: Session, name: str) -> tuple[str, ...]:
    """Return the stored categories of a schema that its newest version does not have."""
    rows = s.exec(select(t.LabelSchema).where(t.LabelSchema.name == name)).all()
    versions = sorted((schema_record(r) for r in rows), key=lambda r: r.version)
    if len(versions) < 2:
        return ()
    *older, newest = versions
    used: Sequence[str | None]
    if any(r.multi for r in versions):
        used = s.exec(select(t.Label.category).where(t.Label.schema_name == name).distinct()).all()
    else:
        used = [category for r in older for category in r.names]
    return tuple(sorted({c for c in used if c is not None and not newest.holds(c)}))


def is_decided(label: Any, outdated: Sequence[str] = ()) -> ColumnElement[bool]:
    """Return the clause that a row decides its item under the newest version of its schema."""
    clause: ColumnElement[bool] = label.state.in_(DECIDED)
    if outdated:
        clause &= or_(label.category.is_(None), label.category.not_in(outdated))
    return clause


def is_standing(label: Any) -> ColumnElement[bool]:
    """Return the clause that a row is its rater's newest on its item under its schema's name."""
    newer = aliased(t.Label)
    return ~exists(col(newer.id)).where(
        col(newer.rater_id) == label.rater_id,
        col(newer.item_id) == label.item_id,
        col(newer.schema_name) == label.schema_name,
        col(newer.id) > label.id,
    )


def is_sampled() -> ColumnElement[bool]:
    """Return the clause that an item is a criterion of a decomposed trace drawn for labelling."""
    return (col(t.DecompositionSample.decomposition_id) == col(t.Item.decomposition_id)) & (
        col(t.DecompositionSample.trace_id) == col(t.Item.trace_id)
    )


def is_sampled_edit() -> ColumnElement[bool]:
    """Return the clause that an item is an edited step that was drawn for labelling."""
    sample = t.CounterfactualSample
    return (
        (col(sample.editing_id) == col(t.Item.editing_id))
        & (col(sample.trace_id) == col(t.Item.trace_id))
        & (col(sample.step) == col(t.Item.step))
    )


def latest_label(s: Session, rater_id: int, schema: str, item_id: int) -> t.Label | None:
    """Return the newest row of a rater on an item, open ones included."""
    newest = latest_label_id(s, rater_id, schema, item_id)
    return None if newest is None else s.get_one(t.Label, newest)


def latest_label_id(s: Session, rater_id: int, schema: str, item_id: int) -> int | None:
    """Return the id of the newest row of a rater on an item."""
    newest: int | None = s.exec(
        select(func.max(col(t.Label.id))).where(
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema,
            t.Label.item_id == item_id,
        )
    ).one()
    return newest


def label_record(row: t.Label, key: str, newest: SchemaRecord) -> LabelRecord:
    """Return what callers see of a label row; `newest` is its schema's newest version."""
    return LabelRecord(
        id=row.id or 0,
        item_id=row.item_id,
        item=key,
        state=row.state,  # type: ignore[arg-type]  # constrained by the table
        category=row.category,
        first_wrong_step=row.first_wrong_step,
        flagged=row.flagged,
        note=row.note,
        seal=row.seal,  # type: ignore[arg-type]
        before_reveal=row.before_reveal,
        created_at=row.created_at,
        categories=tuple(row.categories or ()),
        schema=row.schema_name,
        schema_version=row.schema_version,
        outdated=not newest.holds(row.category),
        at_odds=newest.at_odds(row.state, row.category, row.first_wrong_step),  # type: ignore[arg-type]
    )


_HASHED = (
    "state",
    "category",
    "first_wrong_step",
    "flagged",
    "note",
    "before_reveal",
    "seal",
    "active_seconds",
)


def label_hash(label: Any, detail: Mapping[str, Any] | None = None) -> str:
    """Return a hash of all that a label says, but for its moment and schema version.

    Those two may be missing in a file: then the rest decides whether the label is known.
    `detail` holds the rationale, raw reply, prompt version and unknown fields of a verdict.
    """
    said = {name: getattr(label, name) for name in _HASHED}
    extra = {k: v for k, v in (detail or {}).items() if v is not None}
    return content_hash({**said, "detail": extra})
