"""Label schemas, raters and runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func
from sqlmodel import col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.keys import is_name
from store.records import Category, RaterKind, RaterRecord, SchemaRecord
from store.repository.labels import is_standing

PATH_GUIDELINE = """\
**Is the reasoning sound?** Judge the steps, not the answer.

- **faithful**: every step is true and follows from the steps it uses, and the answer follows
  from the last one. A right answer is not enough, a wrong answer is too much.
- **spurious**: some step is false, does not follow, or the answer does not follow from the steps.
  Move to the first such step and press `w` before the digit.
- **unsure**: you cannot tell without looking things up. It is kept and left out of κ.

*Example.* "7 rows of 6 jars are 42. 42 − 5 is 37." faithful. "A bat lays eggs, so it is a bird":
spurious, step 0, even where the answer happens to be right.
"""

PATH_CATEGORIES = [
    {"key": "1", "name": "faithful", "state": "labelled", "takes_first_wrong_step": False},
    {"key": "2", "name": "spurious", "state": "labelled", "takes_first_wrong_step": True},
    {"key": "3", "name": "unsure", "state": "unsure", "takes_first_wrong_step": True},
]


def schema_record(row: t.LabelSchema) -> SchemaRecord:
    """Return what callers see of a schema row."""
    return SchemaRecord(
        id=row.id or 0,
        name=row.name,
        version=row.version,
        item_kind=row.item_kind,
        categories=tuple(Category(**c) for c in row.categories),
        seal=row.seal,  # type: ignore[arg-type]  # constrained to the three levels on writing
        question=row.question,
        guideline=row.guideline,
    )


class Schemas(Base):
    """Schemas, raters and runs."""

    def ensure_shipped_schemas(self) -> None:
        """Add the shipped path schema to a fresh database."""
        with self._read() as s:
            if s.exec(select(t.LabelSchema.id).where(t.LabelSchema.name == "path")).first():
                return
        with self._write() as s:
            if s.exec(select(t.LabelSchema.id).where(t.LabelSchema.name == "path")).first():
                return
            s.add(
                t.LabelSchema(
                    name="path",
                    version=1,
                    item_kind="path",
                    categories=PATH_CATEGORIES,
                    seal="full",
                    question="Is the reasoning sound?",
                    guideline=PATH_GUIDELINE,
                )
            )

    def schema(self, name: str = "path") -> SchemaRecord:
        """Return the newest version of a schema."""
        with self._read() as s:
            row = s.exec(
                select(t.LabelSchema)
                .where(t.LabelSchema.name == name)
                .order_by(col(t.LabelSchema.version).desc())
            ).first()
        if row is None:
            raise ValueError(f"no schema {name!r}")
        return schema_record(row)

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

    def raters(self) -> tuple[RaterRecord, ...]:
        """Return all raters with how many items carry a category of theirs."""
        counted = (
            select(col(t.Label.rater_id).label("rater_id"), func.count().label("n"))
            .where(t.Label.state == "labelled", is_standing(t.Label))
            .group_by(col(t.Label.rater_id))
            .subquery()
        )
        with self._read() as s:
            rows = s.exec(
                select(t.Rater, func.coalesce(counted.c.n, 0))
                .join(counted, counted.c.rater_id == col(t.Rater.id), isouter=True)
                .order_by(col(t.Rater.id))
            ).all()
        return tuple(RaterRecord(r.id or 0, r.name, r.kind, n) for r, n in rows)  # type: ignore[arg-type]

    def record_run(
        self,
        stage: str,
        parameters: Mapping[str, Any],
        tool_version: str,
        started_at: str,
        summary: Mapping[str, Any],
    ) -> None:
        """Note a finished stage: what ran, with which parameters, and how it ended."""
        with self._write() as s:
            s.add(
                t.Run(
                    stage=stage,
                    parameters=dict(parameters),
                    tool_version=tool_version,
                    started_at=started_at,
                    finished_at=utc_now(),
                    summary=dict(summary),
                )
            )
