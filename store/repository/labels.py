"""Labels: committed on the keypress, append-only, with undo and redo as rows of their own."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import ColumnElement, exists, func
from sqlalchemy import select as plain_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.records import LabelRecord, LabelState, SchemaRecord, UndoResult

DECIDED: tuple[LabelState, ...] = ("labelled", "unsure", "skipped")
_CONTENT = ("state", "category", "first_wrong_step", "flagged", "note")


class Labels(Base):
    """What the workbench writes."""

    def commit_label(
        self,
        rater_id: int,
        item_id: int,
        schema: SchemaRecord,
        *,
        state: LabelState = "labelled",
        category: str | None = None,
        first_wrong_step: int | None = None,
        active_seconds: float | None = None,
    ) -> LabelRecord:
        """Append a label and return it once it is on the disk.

        A note and a flag that stand on the item stay. The same label again adds no row.

        Raises
        ------
        ValueError
            When the category is not the schema's, or the first wrong step does not fit.
        """
        _check_choice(schema, state, category, first_wrong_step)
        with self._write() as s:
            item = s.get_one(t.Item, item_id)
            if first_wrong_step is not None:
                n_steps = s.exec(
                    select(t.Trace.n_steps).where(t.Trace.id == item.trace_id)
                ).one_or_none()
                if n_steps is None or not 0 <= first_wrong_step < n_steps:
                    raise ValueError(f"first wrong step {first_wrong_step} names no step")
            before = latest_label(s, rater_id, schema.id, item_id)
            content = {
                "state": state,
                "category": category,
                "first_wrong_step": first_wrong_step,
                "flagged": before.flagged if before else False,
                "note": before.note if before else None,
            }
            return self._append(s, rater_id, item, schema, before, content, active_seconds)

    def annotate(
        self,
        rater_id: int,
        item_id: int,
        schema: SchemaRecord,
        *,
        flagged: bool | None = None,
        note: str | None = None,
    ) -> LabelRecord:
        """Append a row with another flag or note; what is decided about the item stays.

        An empty note removes the note.
        """
        with self._write() as s:
            item = s.get_one(t.Item, item_id)
            before = latest_label(s, rater_id, schema.id, item_id)
            content = _content(before)
            if flagged is not None:
                content["flagged"] = flagged
            if note is not None:
                content["note"] = note or None
            return self._append(s, rater_id, item, schema, before, content, None)

    def undo(self, rater_id: int) -> UndoResult | None:
        """Take back this rater's last act by a row that restores what stood before it.

        Returns None when nothing is left to undo.
        """
        return self._reverse(rater_id, "undo")

    def redo(self, rater_id: int) -> UndoResult | None:
        """Do again what the last undo took back; None when nothing was undone since."""
        return self._reverse(rater_id, "redo")

    def label(self, rater_id: int, item_id: int, schema: SchemaRecord) -> LabelRecord | None:
        """Return how the item stands for this rater; None when nothing was ever recorded."""
        with self._read() as s:
            row = latest_label(s, rater_id, schema.id, item_id)
            return None if row is None else label_record(row, s.get_one(t.Item, item_id).key)

    def label_history(self, rater_id: int, item_id: int) -> tuple[LabelRecord, ...]:
        """Return every row this rater added to the item, oldest first."""
        with self._read() as s:
            key = s.get_one(t.Item, item_id).key
            rows = s.exec(
                select(t.Label)
                .where(t.Label.rater_id == rater_id, t.Label.item_id == item_id)
                .order_by(col(t.Label.id))
            ).all()
            return tuple(label_record(r, key) for r in rows)

    def _reverse(self, rater_id: int, act: Literal["undo", "redo"]) -> UndoResult | None:
        with self._write() as s:
            found = _reversible(s, rater_id, act)
            if found is None:
                return None
            target = s.get_one(t.Label, found)
            item = s.get_one(t.Item, target.item_id)
            source: t.Label | None = target
            if act == "undo":
                source = s.get(t.Label, target.supersedes) if target.supersedes else None
            latest = latest_label(s, rater_id, target.schema_id, target.item_id)
            row = _new_row(
                s, rater_id, item, target.schema_id, target.seal, latest, _content(source), None
            )
            row.act, row.reverses = act, target.id
            s.add(row)
            s.flush()
            case_id = s.exec(
                select(t.CaseItem.case_id).where(t.CaseItem.item_id == item.id)
            ).first()
            return UndoResult(item.id or 0, case_id, label_record(row, item.key))

    def _append(
        self,
        s: Session,
        rater_id: int,
        item: t.Item,
        schema: SchemaRecord,
        before: t.Label | None,
        content: dict[str, Any],
        active_seconds: float | None,
    ) -> LabelRecord:
        if before is not None and _content(before) == content:
            return label_record(before, item.key)
        row = _new_row(s, rater_id, item, schema.id, schema.seal, before, content, active_seconds)
        s.add(row)
        s.flush()
        return label_record(row, item.key)


def _check_choice(
    schema: SchemaRecord, state: LabelState, category: str | None, step: int | None
) -> None:
    if state == "skipped":
        if category is not None or step is not None:
            raise ValueError("a skip has neither a category nor a first wrong step")
        return
    for choice in schema.categories:
        name = choice.name if choice.state == "labelled" else None
        if choice.state == state and name == category:
            if step is not None and not choice.takes_first_wrong_step:
                raise ValueError(f"{choice.name} cannot have a first wrong step ({step})")
            return
    names = ", ".join(c.name for c in schema.categories)
    raise ValueError(f"{category or state!r} is not in schema {schema.name}: {names}")


def _new_row(
    s: Session,
    rater_id: int,
    item: t.Item,
    schema_id: int,
    seal: str,
    before: t.Label | None,
    content: dict[str, Any],
    active_seconds: float | None,
) -> t.Label:
    revealed = s.exec(
        select(t.Reveal.id).where(
            t.Reveal.rater_id == rater_id, t.Reveal.question_id == item.question_id
        )
    ).first()
    return t.Label(
        item_id=item.id or 0,
        schema_id=schema_id,
        rater_id=rater_id,
        act="label",
        seal=seal,
        before_reveal=revealed is None and seal != "open",
        supersedes=before.id if before else None,
        active_seconds=active_seconds,
        **content,
    )


def _content(row: t.Label | None) -> dict[str, Any]:
    if row is None:
        return {
            "state": "open",
            "category": None,
            "first_wrong_step": None,
            "flagged": False,
            "note": None,
        }
    return {name: getattr(row, name) for name in _CONTENT}


def _reversible(s: Session, rater_id: int, act: Literal["undo", "redo"]) -> int | None:
    """Return the id of the label that an undo takes back or a redo does again.

    Acts and their reversals pair up like brackets, so they are read from the newest back until
    one has no partner. An import closes what came before it on its item: it stays as imported.
    """
    acts = (
        plain_select(
            col(t.Label.id),
            col(t.Label.act),
            col(t.Label.reverses),
            col(t.Label.item_id),
            col(t.Label.schema_id),
        )
        .where(col(t.Label.rater_id) == rater_id)
        .order_by(col(t.Label.id).desc())
        .execution_options(yield_per=20)
    )
    closed: set[tuple[int, int]] = set()
    paired = 0
    with s.execute(acts) as rows:
        for row, done, reverses, item, schema in rows:
            if act == "redo" and done == "label":
                return None
            if done == "import":
                closed.add((item, schema))
            elif (item, schema) in closed:
                continue
            elif done == act:
                paired += 1
            elif paired:
                paired -= 1
            else:
                target: int = row if reverses is None else reverses
                return target
    return None


def is_standing(label: Any) -> ColumnElement[bool]:
    """Return the clause that a row is its rater's newest on its item under its schema."""
    newer = aliased(t.Label)
    return ~exists(col(newer.id)).where(
        col(newer.rater_id) == label.rater_id,
        col(newer.item_id) == label.item_id,
        col(newer.schema_id) == label.schema_id,
        col(newer.id) > label.id,
    )


def latest_label(s: Session, rater_id: int, schema_id: int, item_id: int) -> t.Label | None:
    """Return the newest row of a rater on an item, open ones included."""
    newest = latest_label_id(s, rater_id, schema_id, item_id)
    return None if newest is None else s.get_one(t.Label, newest)


def latest_label_id(s: Session, rater_id: int, schema_id: int, item_id: int) -> int | None:
    """Return the id of the newest row of a rater on an item."""
    newest: int | None = s.exec(
        select(func.max(col(t.Label.id))).where(
            t.Label.rater_id == rater_id,
            t.Label.schema_id == schema_id,
            t.Label.item_id == item_id,
        )
    ).one()
    return newest


def label_record(row: t.Label, key: str) -> LabelRecord:
    """Return what callers see of a label row."""
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
    )
