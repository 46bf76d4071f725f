"""Label schemas and raters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.exchange.schemas import check_schema, parse_schema, spec_of
from store.keys import is_name
from store.records import RaterKind, RaterRecord, SchemaRecord, SchemaSpec
from store.repository.rows import find_schema, is_standing, need_schema, schema_record
from store.schemas import SHIPPED, shipped_text


def _add_version(s: Session, spec: SchemaSpec, version: int) -> SchemaRecord:
    fields = {**asdict(spec), "categories": [asdict(c) for c in spec.categories]}
    row = t.LabelSchema(version=version, **fields)
    s.add(row)
    s.flush()
    return schema_record(row)


class Schemas(Base):
    """Schemas and raters."""

    def ensure_shipped_schemas(self) -> None:
        """Add those shipped schemas that the database does not have yet."""
        with self._read() as s:
            if not _missing(s):
                return
        with self._write() as s:
            for name in _missing(s):
                _add_version(s, parse_schema(shipped_text(name)), 1)

    def schema(self, name: str = "path", version: int | None = None) -> SchemaRecord:
        """Return a version of a schema, the newest by default.

        Raises
        ------
        ValueError
            When there is none; it names those that there are.
        """
        with self._read() as s:
            return need_schema(s, name, version)

    def schemas(self) -> tuple[SchemaRecord, ...]:
        """Return every version of every schema: the oldest schema first, versions in order."""
        with self._read() as s:
            rows = s.exec(select(t.LabelSchema).order_by(col(t.LabelSchema.id))).all()
        first = {row.name: row.id or 0 for row in reversed(rows)}
        return tuple(
            schema_record(row) for row in sorted(rows, key=lambda r: (first[r.name], r.version))
        )

    def add_schema(self, spec: SchemaSpec) -> SchemaRecord:
        """Add a schema under a new name; one that is there with the same content stays.

        Raises
        ------
        ValueError
            When the schema cannot be used, or the name is taken by other content.
        """
        check_schema(spec)
        with self._write() as s:
            known = find_schema(s, spec.name)
            if known is None:
                return _add_version(s, spec, 1)
            if spec_of(known) == spec:
                return known
        raise ValueError(
            f"schema {spec.name} is there with other content (version {known.version}): "
            "give it another name, or make a version of it"
        )

    def version_schema(self, spec: SchemaSpec) -> SchemaRecord:
        """Make the next version of a schema; the content of the newest one makes no other.

        Labels keep the version under which they were made.

        Raises
        ------
        ValueError
            When the schema cannot be used, is not there, or is for another kind of item.
        """
        check_schema(spec)
        with self._write() as s:
            known = need_schema(s, spec.name)
            if spec_of(known) == spec:
                return known
            if known.item_kind != spec.item_kind:
                raise ValueError(
                    f"schema {spec.name} is for {known.item_kind} items, not {spec.item_kind}: "
                    "another kind of item needs a schema of another name"
                )
            return _add_version(s, spec, known.version + 1)

    def rater(self, name: str, kind: RaterKind = "human") -> RaterRecord:
        """Return a rater, creating it on first use.

        Raises
        ------
        ValueError
            When the name is empty, holds control characters, or belongs to a rater of another
            kind.
        """
        if not name.strip():
            raise ValueError("a rater needs a name")
        if not is_name(name):
            raise ValueError(f"rater {name!r}: a name without control characters is right")
        with self._read() as s:
            row = s.exec(select(t.Rater).where(t.Rater.name == name)).one_or_none()
        if row is None:
            with self._write() as s:
                row = s.exec(select(t.Rater).where(t.Rater.name == name)).one_or_none()
                if row is None:
                    row = t.Rater(name=name, kind=kind)
                    s.add(row)
                    s.flush()
                    s.refresh(row)
                s.expunge(row)
        if row.kind != kind:
            raise ValueError(f"rater {name!r} is a {row.kind}, not a {kind}: choose another name")
        return RaterRecord(row.id or 0, row.name, kind)

    def raters(self, schema: str | None = None) -> tuple[RaterRecord, ...]:
        """Return all raters with how many items carry a category of theirs.

        With `schema`, a category under any version of that schema.
        """
        counted: Any = select(
            col(t.Label.rater_id).label("rater_id"),
            func.count(func.distinct(col(t.Label.item_id))).label("n"),
        ).where(t.Label.state == "labelled", is_standing(t.Label))
        if schema is not None:
            counted = counted.where(t.Label.schema_name == schema)
        by_rater = counted.group_by(col(t.Label.rater_id)).subquery()
        with self._read() as s:
            rows = s.exec(
                select(t.Rater, func.coalesce(by_rater.c.n, 0))
                .join(by_rater, by_rater.c.rater_id == col(t.Rater.id), isouter=True)
                .order_by(col(t.Rater.id))
            ).all()
        return tuple(RaterRecord(r.id or 0, r.name, r.kind, n) for r, n in rows)  # type: ignore[arg-type]


def _missing(s: Session) -> list[str]:
    there = set(s.exec(select(t.LabelSchema.name)))
    return [name for name in SHIPPED if name not in there]
