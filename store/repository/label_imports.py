"""Writing labels, verdicts and items that files hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import func
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.keys import FORMS, is_name
from store.label_records import JOINT
from store.records import NewItem, NewLabel, SchemaRecord
from store.repository.choices import in_order
from store.repository.items import ConflictError, TraceItems
from store.repository.rows import (
    is_sampled,
    is_sampled_edit,
    label_hash,
    latest_label_id,
    need_schema,
)

Outcome = Literal["added", "known", "changed", "superseded"]
"""What became of a line. ``superseded``: a label that was there already, and no longer stands."""

TIED = "tied_votes"
"""The flag of a judge's label whose votes were tied (see `panels`)."""


class LabelBatch:
    """The labels and items of one import."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._raters: dict[str, t.Rater] = {}
        self._schemas: dict[tuple[str, int | None], SchemaRecord] = {}
        self._items = TraceItems(session)

    def add_item(self, new: NewItem) -> Outcome:
        """Make an item; how it was chosen must be what the database holds.

        Raises
        ------
        ConflictError
            When the item cannot be made, or was chosen otherwise here. Which stratum it is in is
            not told: whoever imports may have to label it.
        """
        stated = (new.stratum, new.case_inclusion_probability, new.inclusion_probability)
        if any(v is not None for v in stated):
            chosen = _chosen(self._s, new.item)
            if chosen is None or any(
                a not in (None, b) for a, b in zip(stated, chosen, strict=True)
            ):
                raise ConflictError(
                    f"{new.item} was not chosen like that here (stratum, inclusion probability): "
                    "medoid items make chooses"
                )
        return "added" if self._items.find(new.item, new.edges).made else "known"

    def add_label(self, new: NewLabel) -> Outcome:
        """Append a label or verdict; an identical one is known already.

        A different label by the same rater on the same item supersedes the earlier one. Where a
        line states no moment or schema version, one that says the same otherwise is known. So a
        file that is imported once more, after another one changed its labels, adds nothing and
        changes nothing: what was superseded stays so, and is told apart.
        """
        schema, new = self._checked(new)
        self._check_rater(new)
        item = self._items.find(new.item)
        rater = self._rater(new)
        digest = new_label_hash(new)
        known = self._known_label(new, digest, item.id, row_id(rater))
        before = latest_label_id(self._s, row_id(rater), schema.name, item.id)
        if known is not None:
            return "known" if known == before else "superseded"
        label = t.Label(
            item_id=item.id,
            schema_name=schema.name,
            schema_version=schema.version,
            rater_id=row_id(rater),
            act="import",
            categories=_several(schema, new),
            supersedes=before,
            content_hash=digest,
            created_at=new.created_at or utc_now(),
            **{name: getattr(new, name) for name in _LABEL_COLUMNS},
        )
        self._s.add(label)
        self._s.flush()
        flags = verdict_flags(new, item.n_steps) if item.kind == "path" else []
        if new.rater_kind == "judge" and (new.extra or {}).get("tied") is True:
            flags.append(TIED)
        detail = _detail(new)
        if flags or any(v is not None for v in detail.values()):
            self._s.add(t.VerdictDetail(label_id=row_id(label), flags=flags, **detail))
        return "added" if before is None else "changed"

    def _known_label(self, new: NewLabel, digest: str, item_id: int, rater_id: int) -> int | None:
        """Return the newest row that says what a line says."""
        known = select(t.Label.id).where(
            t.Label.content_hash == digest,
            t.Label.item_id == item_id,
            t.Label.rater_id == rater_id,
            t.Label.schema_name == new.schema,
        )
        if new.created_at is not None:
            known = known.where(t.Label.created_at == new.created_at)
        if new.schema_version is not None:
            known = known.where(t.Label.schema_version == new.schema_version)
        return self._s.exec(known.order_by(col(t.Label.id).desc())).first()

    def _known_rater(self, name: str) -> t.Rater | None:
        row = self._raters.get(name)
        if row is None:
            row = self._s.exec(select(t.Rater).where(t.Rater.name == name)).one_or_none()
        return row

    def _check_rater(self, new: NewLabel) -> None:
        if not is_name(new.rater):
            raise ConflictError(f"rater {new.rater!r}: a name without control characters is right")
        row = self._known_rater(new.rater)
        if row is not None and row.kind != new.rater_kind:
            raise ConflictError(
                f"rater {new.rater!r} is a {row.kind} in the database, not a {new.rater_kind}"
            )

    def _rater(self, new: NewLabel) -> t.Rater:
        row = self._known_rater(new.rater)
        if row is None:
            row = t.Rater(name=new.rater, kind=new.rater_kind)
            self._s.add(row)
            self._s.flush()
        self._raters[new.rater] = row
        return row

    def _checked(self, new: NewLabel) -> tuple[SchemaRecord, NewLabel]:
        """Return the schema version of a label, and the label with its categories in order."""
        key = (new.schema, new.schema_version)
        schema = self._schemas.get(key)
        if schema is None:
            try:
                schema = self._schemas[key] = need_schema(self._s, *key)
            except ValueError as error:
                raise ConflictError(f"{error}, in the database") from error
        if new.item.partition(":")[0] != schema.item_kind:
            form = FORMS[schema.item_kind]
            raise ConflictError(f"item {new.item!r} is not {form}, as schema {schema.name} has it")
        if new.state != "labelled":
            if new.category is not None:
                raise ConflictError(
                    f"state {new.state} goes without a category, not {new.category!r}"
                )
            return schema, new
        try:
            said = new.category
            parts = said.split(JOINT) if schema.multi and said is not None else [said]
            return schema, replace(new, category=JOINT.join(in_order(schema, parts)))
        except ValueError as error:
            raise ConflictError(f"category {error}") from error


_LABEL_COLUMNS = (
    "state",
    "category",
    "first_wrong_step",
    "flagged",
    "note",
    "active_seconds",
    "seal",
    "before_reveal",
)


def _chosen(s: Session, key: str) -> tuple[str | None, float | None, float | None] | None:
    """Return how an item was chosen: stratum and probability of its case, its own probability."""
    of_case = s.exec(
        select(
            t.AuditCase.stratum,
            t.AuditCase.inclusion_probability,
            t.CaseItem.inclusion_probability,
        )
        .join(t.CaseItem, col(t.CaseItem.case_id) == col(t.AuditCase.id))
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .where(t.Item.key == key)
    ).first()
    if of_case is not None:
        return of_case
    sampled = s.exec(
        select(
            func.coalesce(
                col(t.DecompositionSample.inclusion_probability),
                col(t.CounterfactualSample.inclusion_probability),
                col(t.DeductionSample.inclusion_probability),
                col(t.RelationSample.inclusion_probability),
            )
        )
        .select_from(t.Item)
        .join(t.DecompositionSample, is_sampled(), isouter=True)
        .join(t.CounterfactualSample, is_sampled_edit(), isouter=True)
        .join(t.DeductionSample, col(t.DeductionSample.item_id) == col(t.Item.id), isouter=True)
        .join(t.RelationSample, col(t.RelationSample.item_id) == col(t.Item.id), isouter=True)
        .where(t.Item.key == key)
    ).first()
    return None if sampled is None else (None, None, sampled)


def _several(schema: SchemaRecord, new: NewLabel) -> list[str] | None:
    return new.category.split(JOINT) if schema.multi and new.category is not None else None


def _detail(new: NewLabel) -> dict[str, Any]:
    """Return what stands in the verdict's own table."""
    return {
        "rationale": new.rationale,
        "raw": new.raw,
        "prompt_version": new.prompt_version,
        "extra": dict(new.extra) if new.extra else None,
    }


def new_label_hash(new: NewLabel) -> str:
    """Return the hash under which a label is stored."""
    return label_hash(new, _detail(new))


def verdict_flags(new: NewLabel, n_steps: int) -> list[str]:
    """Return what is odd about a label: a judge against itself, a step that does not exist.

    A person's or a reference's step may be the answer, whose number is `n_steps`. A judge that
    names it is not taken to mean that: medoid offers judges the steps alone, and small models
    count from 1.
    """
    flags = []
    if new.state == "labelled" and new.rater_kind == "judge":
        if new.category == "faithful" and new.first_wrong_step is not None:
            flags.append("faithful_with_wrong_step")
        if new.category == "spurious" and new.first_wrong_step is None:
            flags.append("spurious_without_step")
    last = n_steps - (new.rater_kind == "judge")
    if new.first_wrong_step is not None and not 0 <= new.first_wrong_step <= last:
        flags.append("step_out_of_range")
    return flags


def row_id(row: Any) -> int:
    """Return the id of a row that the database has given one."""
    value: int | None = row.id
    if value is None:
        raise RuntimeError(f"{type(row).__name__} has no id before it is flushed")
    return value
