"""Labels: committed on the keypress, append-only, with undo and redo as rows of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import select as plain_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.records import (
    DECIDED,
    SEALS,
    LabelRecord,
    LabelState,
    SchemaRecord,
    SealLevel,
    UndoResult,
)
from store.repository.cases import labels_of
from store.repository.choices import Choice, checked_choice
from store.repository.rows import (
    find_schema,
    is_standing,
    label_hash,
    label_record,
    latest_label,
    latest_label_id,
    need_schema,
)
from store.repository.seen import knowledge

_CONTENT = ("state", "category", "categories", "first_wrong_step", "flagged", "note")
_OPEN: dict[str, Any] = {
    "state": "open",
    "category": None,
    "categories": None,
    "first_wrong_step": None,
    "flagged": False,
    "note": None,
}


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
        categories: Sequence[str] | None = None,
        first_wrong_step: int | None = None,
        note: str | None = None,
        active_seconds: float | None = None,
        session_id: int | None = None,
        beside: SchemaRecord | None = None,
    ) -> LabelRecord:
        """Append a label and return it once it is on the disk.

        `categories` are those of a schema of several, in any order. A flag that stands on the
        item stays, and so does a note when none is given (an empty one removes it). The same
        label again, under the same version, adds no row. `beside` is the path schema under which
        the path of a step or criterion is on the screen (see `_shown_seal`).

        Raises
        ------
        ValueError
            When the schema is for another kind of item, has no such category, or the first wrong
            step, the seconds or the session do not fit.
        """
        choice = checked_choice(schema, state, category, categories, first_wrong_step)
        if active_seconds is not None and not 0 <= active_seconds < math.inf:
            raise ValueError(f"active_seconds is {active_seconds}; a number of seconds is right")
        with self._write() as s:
            item = s.get_one(t.Item, item_id)
            check_item(s, item, schema, choice)
            _check_session(s, session_id, rater_id)
            before = latest_label(s, rater_id, schema.name, item_id)
            content = {
                "state": choice.state,
                "category": choice.category,
                "categories": choice.categories,
                "first_wrong_step": choice.first_wrong_step,
                "flagged": before.flagged if before else False,
                "note": (before.note if before else None) if note is None else note or None,
            }
            same = before is not None and before.schema_version == schema.version
            if before is not None and same and _content(before) == content:
                return _seen(s, before, item)
            row = _new_row(
                s, rater_id, item, schema, before, content, _shown_seal(s, item, schema, beside)
            )
            row.active_seconds = None if active_seconds is None else float(active_seconds)
            row.session_id = session_id
            return _saved(s, row, item)

    def annotate(
        self,
        rater_id: int,
        item_id: int,
        schema: SchemaRecord,
        *,
        flagged: bool | None = None,
        note: str | None = None,
        session_id: int | None = None,
        beside: SchemaRecord | None = None,
    ) -> LabelRecord:
        """Append a row with another flag or note; what is decided about the item stays.

        An empty note removes the note. The row keeps the schema version of the decision. `beside`
        is the same as for `commit_label`.
        """
        with self._write() as s:
            item = s.get_one(t.Item, item_id)
            check_item(s, item, schema, None)
            _check_session(s, session_id, rater_id)
            before = latest_label(s, rater_id, schema.name, item_id)
            content = _content(before)
            if flagged is not None:
                content["flagged"] = flagged
            if note is not None:
                content["note"] = note or None
            if before is not None and _content(before) == content:
                return _seen(s, before, item)
            row = _new_row(
                s, rater_id, item, schema, before, content, _shown_seal(s, item, schema, beside)
            )
            if before is not None and before.state != "open":
                row.schema_version = before.schema_version
            row.session_id = session_id
            return _saved(s, row, item)

    def undo(self, rater_id: int, *, session_id: int | None = None) -> UndoResult | None:
        """Take back this rater's last act by a row that restores what stood before it.

        Acts on items of every kind and schema count. The row belongs to the session given, else
        to that of the act. Returns None when nothing is left to undo.
        """
        return self._reverse(rater_id, "undo", session_id)

    def redo(self, rater_id: int, *, session_id: int | None = None) -> UndoResult | None:
        """Do again what the last undo took back; None when nothing was undone since."""
        return self._reverse(rater_id, "redo", session_id)

    def label(self, rater_id: int, item_id: int, schema: SchemaRecord) -> LabelRecord | None:
        """Return how the item stands for this rater; None when nothing was ever recorded."""
        with self._read() as s:
            row = latest_label(s, rater_id, schema.name, item_id)
            return None if row is None else _seen(s, row, s.get_one(t.Item, item_id))

    def label_history(
        self, rater_id: int, item_id: int, schema: SchemaRecord | None = None
    ) -> tuple[LabelRecord, ...]:
        """Return every row this rater added to the item, oldest first; of one schema if given."""
        with self._read() as s:
            item = s.get_one(t.Item, item_id)
            query = select(t.Label).where(t.Label.rater_id == rater_id, t.Label.item_id == item_id)
            if schema is not None:
                query = query.where(t.Label.schema_name == schema.name)
            rows = s.exec(query.order_by(col(t.Label.id))).all()
            newest = {name: need_schema(s, name) for name in {r.schema_name for r in rows}}
            return tuple(label_record(r, item.key, newest[r.schema_name]) for r in rows)

    def step_labels(
        self, rater_id: int, path_item_id: int, schema: str = "step"
    ) -> dict[int, LabelRecord]:
        """Return how the steps of a path stand for this rater, by step; open ones included."""
        return self.step_labels_of(rater_id, [path_item_id], schema)[path_item_id]

    def step_labels_of(
        self, rater_id: int, path_item_ids: Sequence[int], schema: str = "step"
    ) -> dict[int, dict[int, LabelRecord]]:
        """Return the same for several paths at once, by path and step."""
        path = aliased(t.Item)
        found: dict[int, dict[int, LabelRecord]] = {ident: {} for ident in path_item_ids}
        with self._read() as s:
            steps = s.exec(
                select(t.Item, col(path.id))
                .join(path, col(path.trace_id) == col(t.Item.trace_id))
                .where(col(path.id).in_(path_item_ids), t.Item.kind == "step")
                .order_by(col(t.Item.step))
            ).all()
            if not steps:
                return found
            # The items first: asked for both at once, a plan may go through all of the rater's
            # labels in place of those on these few items.
            labels = labels_of(s, rater_id, schema, [item.id or 0 for item, _ in steps])
            newest = need_schema(s, schema)
            for item, of in steps:
                label = labels.get(item.id or 0)
                if label is not None and item.step is not None and of is not None:
                    found[of][item.step] = label_record(label, item.key, newest)
        return found

    def _reverse(
        self, rater_id: int, act: Literal["undo", "redo"], session_id: int | None
    ) -> UndoResult | None:
        with self._write() as s:
            _check_session(s, session_id, rater_id)
            found = _reversible(s, rater_id, act)
            if found is None:
                return None
            target = s.get_one(t.Label, found)
            item = s.get_one(t.Item, target.item_id)
            source: t.Label | None = target
            if act == "undo":
                source = s.get(t.Label, target.supersedes) if target.supersedes else None
            version = (source or target).schema_version
            schema = need_schema(s, target.schema_name, version)
            latest = latest_label(s, rater_id, target.schema_name, target.item_id)
            row = _new_row(s, rater_id, item, schema, latest, _content(source), target.seal)
            row.act, row.reverses = act, target.id
            row.session_id = target.session_id if session_id is None else session_id
            label = _saved(s, row, item)
            path_id = _path_item(s, item)
            case_id = s.exec(
                select(t.CaseItem.case_id).where(t.CaseItem.item_id == path_id)
            ).first()
            return UndoResult(
                item.id or 0,
                case_id,
                label,
                target.schema_name,
                item.step,
                path_id,
                item.trace_id,
                item.decomposition_id,
                item.editing_id,
            )


def check_item(s: Session, item: t.Item, schema: SchemaRecord, choice: Choice | None) -> None:
    """Refuse a schema for another kind of item, and a first wrong step that is no step."""
    if item.kind != schema.item_kind:
        raise ValueError(
            f"{item.key} is a {item.kind}; schema {schema.name} is for {schema.item_kind} items"
        )
    step = None if choice is None else choice.first_wrong_step
    if step is not None:
        found = s.exec(
            select(t.Trace.n_steps, t.Trace.answer_text).where(t.Trace.id == item.trace_id)
        ).one_or_none()
        last = -1 if found is None else found[0] - (found[0] == 0 or found[1] is None)
        if not 0 <= step <= last:
            raise ValueError(
                f"first wrong step {step} names neither a step nor the answer after the last one"
            )


def _check_session(s: Session, session_id: int | None, rater_id: int) -> None:
    if session_id is None:
        return
    session = s.get(t.LabelSession, session_id)
    if session is None or session.rater_id != rater_id:
        raise ValueError(f"session {session_id} is none of this rater's")


def _new_row(
    s: Session,
    rater_id: int,
    item: t.Item,
    schema: SchemaRecord,
    before: t.Label | None,
    content: dict[str, Any],
    seal: str,
) -> t.Label:
    """Return a row that says truthfully what its rater could have known.

    Who has seen a question's gold and votes at level ``judge`` labels at that level, whatever
    the schema says now. The reveal of a question shows those and the verdicts on its paths, but
    nobody's word on the criteria of a decomposition or on an edited step: a label on one is still
    made before what it is compared with was seen, at level ``judge``. What has no question is
    revealed by itself; who has seen a deduction's values beside another reply knows them here too.
    """
    knew = knowledge(s, rater_id, item)
    apart = item.kind in ("criterion", "counterfactual")
    if seal == "full" and ((apart and knew.revealed) or knew.looked):
        seal = "judge"
    return t.Label(
        item_id=item.id or 0,
        schema_name=schema.name,
        schema_version=schema.version,
        rater_id=rater_id,
        act="label",
        seal=seal,
        before_reveal=seal != "open" and (apart or not knew.revealed),
        supersedes=before.id if before else None,
        created_at=utc_now(),
        **content,
    )


def _shown_seal(
    s: Session, item: t.Item, schema: SchemaRecord, beside: SchemaRecord | None
) -> SealLevel:
    """Return the level under which a label is really made.

    Steps are labelled on the screen of their path, which shows what the path schema in use lets be
    seen: `beside`, or the schema named "path" where none is given. Of criteria's paths the rater
    may have seen as much, gold and votes at most: nobody's word on the criteria is shown there.

    Raises
    ------
    ValueError
        When `beside` is no schema of paths.
    """
    if beside is not None and beside.item_kind != "path":
        raise ValueError(
            f"schema {beside.name} is for {beside.item_kind} items; a schema of paths is right here"
        )
    if item.kind not in ("step", "criterion"):
        return schema.seal
    path = find_schema(s, "path") if beside is None else beside
    levels = [schema.seal]
    if path is not None and item.kind == "step":
        levels.append(path.seal)
    elif path is not None and path.seal != "full":
        levels.append("judge")  # what a criterion is compared with is shown beside no path
    return min(levels, key=SEALS.index)


def _saved(s: Session, row: t.Label, item: t.Item) -> LabelRecord:
    row.content_hash = label_hash(row)
    s.add(row)
    s.flush()
    return _seen(s, row, item)


def _seen(s: Session, row: t.Label, item: t.Item) -> LabelRecord:
    return label_record(row, item.key, need_schema(s, row.schema_name))


def _content(row: t.Label | None) -> dict[str, Any]:
    return dict(_OPEN) if row is None else {name: getattr(row, name) for name in _CONTENT}


def _path_item(s: Session, item: t.Item) -> int | None:
    """Return the id of the path that an item is, or is a part of."""
    if item.kind == "path" or item.trace_id is None:
        return item.id if item.kind == "path" else None
    return s.exec(
        select(t.Item.id).where(t.Item.trace_id == item.trace_id, t.Item.kind == "path")
    ).first()


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
            col(t.Label.schema_name),
        )
        .where(col(t.Label.rater_id) == rater_id)
        .order_by(col(t.Label.id).desc())
        .execution_options(yield_per=20)
    )
    closed: set[tuple[int, str]] = set()
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


__all__ = ["DECIDED", "Labels", "is_standing", "label_record", "latest_label", "latest_label_id"]
