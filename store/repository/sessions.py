"""Sittings of a rater, their pace and progress, and where they stopped: one's own figures only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_
from sqlalchemy import select as plain_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.keys import RELATION_KINDS
from store.records import (
    DECIDED,
    LastAct,
    Progress,
    SessionRecord,
    SessionSummary,
)
from store.repository.counterfactual_queue import edit_progress
from store.repository.decomposition_queue import criterion_progress
from store.repository.deduction_queue import deduction_progress
from store.repository.queue import decided_paths
from store.repository.relation_cases import relation_progress
from store.repository.rows import is_decided, is_standing, need_schema, outdated_categories

LOOK_BACK = 50
"""How many rows `pace` reads for each item that it is asked for."""


class Sessions(Base):
    """Sessions, pace and progress."""

    def start_session(self, rater_id: int, size: int | None = None) -> SessionRecord:
        """Begin a session of so many items, or without a limit.

        Raises
        ------
        ValueError
            When the size is not positive.
        """
        if size is not None and size < 1:
            raise ValueError(f"a session of {size} items; at least 1 is right, or no size")
        with self._write() as s:
            row = t.LabelSession(rater_id=rater_id, size=size, started_at=utc_now())
            s.add(row)
            s.flush()
            return _record(row)

    def end_session(self, session_id: int) -> None:
        """Note that a session is over; one that has ended stays as it is."""
        with self._write() as s:
            row = s.get_one(t.LabelSession, session_id)
            if row.ended_at is None:
                row.ended_at = utc_now()
                s.add(row)

    def sessions(self, rater_id: int) -> tuple[SessionRecord, ...]:
        """Return this rater's sessions, oldest first."""
        with self._read() as s:
            rows = s.exec(
                select(t.LabelSession)
                .where(t.LabelSession.rater_id == rater_id)
                .order_by(col(t.LabelSession.id))
            )
            return tuple(_record(r) for r in rows)

    def session_summary(self, session_id: int, schema: str = "path") -> SessionSummary:
        """Return what was done in a session, by the last row it added to each item.

        Counts are over the items of one schema; `active_seconds` are all of the session's. The
        median is over the decided items. The seconds of a path are those of its own labels under
        the schema and of all labels on its steps, in this session; a path whose own label was not
        timed is left out.
        """
        with self._read() as s:
            session = s.get_one(t.LabelSession, session_id)
            rows = s.exec(
                select(t.Label).where(t.Label.session_id == session_id).order_by(col(t.Label.id))
            ).all()
            on_steps = _seconds_on_steps(s, col(t.Label.session_id) == session_id)
        last = {(r.schema_name, r.item_id): r for r in rows}
        mine = [r for (name, _), r in last.items() if name == schema]
        decided = [r for r in mine if r.state in DECIDED]
        others = Counter(
            name for (name, _), r in last.items() if name != schema and r.state in DECIDED
        )
        seconds = _seconds_by_item(r for r in rows if r.schema_name == schema)
        for item in seconds:
            seconds[item] += on_steps.get(item, 0.0)
        acts = Counter(r.act for r in rows)
        return SessionSummary(
            n_decided=len(decided),
            n_items=len(mine),
            n_unsure=sum(r.state == "unsure" for r in decided),
            n_skipped=sum(r.state == "skipped" for r in decided),
            n_flagged=sum(r.flagged for r in mine),
            n_undone=max(acts["undo"] - acts["redo"], 0),
            active_seconds=sum(r.active_seconds or 0.0 for r in rows),
            median_seconds=_median(seconds[r.item_id] for r in decided if r.item_id in seconds),
            wall_seconds=_seconds_between(session.started_at, session.ended_at or utc_now()),
            per_category=dict(Counter(r.category for r in decided if r.category is not None)),
            others=dict(others),
        )

    def pace(self, rater_id: int, last: int = 20, schema: str = "path") -> float | None:
        """Return the median active seconds of the items this rater decided last.

        An item's seconds are those of all labels this rater gave it under the schema, and for a
        path those of all labels on its steps too; items whose own time was not measured are
        passed over. None when there is none among the rater's newest labels.
        """
        with self._read() as s:
            rows = s.exec(
                select(t.Label.item_id, t.Label.state, t.Label.active_seconds)
                .where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    t.Label.act != "import",
                )
                .order_by(col(t.Label.id).desc())
                .limit(last * LOOK_BACK)
            ).all()
            items = _last_decided(rows, last)
            mine = s.exec(
                select(t.Label).where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    col(t.Label.item_id).in_(items),
                )
            ).all()
            on_steps = _seconds_on_steps(s, col(t.Label.rater_id) == rater_id, items)
        seconds = _seconds_by_item(mine)
        return _median(own + on_steps.get(item, 0.0) for item, own in seconds.items())

    def last_act(
        self,
        rater_id: int,
        schema: str = "path",
        *,
        dataset: str | None = None,
        pool: str | None = None,
    ) -> LastAct | None:
        """Return where this rater did something last: a label, skip, flag, comment, undo or redo.

        Acts on paths count under one schema, acts on their steps under any; imports do not.
        `dataset` and `pool` keep the acts on cases of that dataset and of the pools of that name.
        None when there is none on the paths of any case.
        """
        query = _acts(rater_id, schema)
        # Compared as expressions, which no index holds: else a plan may look through a whole
        # dataset for every act, in place of walking the acts from the newest back.
        wanted = ((t.Question.dataset, dataset), (t.Pool.name, pool))
        query = query.where(*(col(c).concat("") == v for c, v in wanted if v is not None))
        with self._read() as s:
            found = s.execute(query.order_by(col(t.Label.id).desc()).limit(1)).first()
        return None if found is None else LastAct(*found)

    def progress(self, rater_id: int, schema: str = "path") -> Progress:
        """Return how far this rater is with the queue under one schema.

        Under a schema of steps, the items are those of the queue's paths, made or not; under one
        of criteria, those of the decomposed traces drawn for labelling, the traces in place of
        cases; under one of edited steps or of replies those that were drawn; under one of pairs or
        cycles those that were drawn or are under review; other kinds belong to no case.
        """
        with self._read() as s:
            record = need_schema(s, schema)
            if record.item_kind == "criterion":
                return criterion_progress(s, rater_id, schema)
            if record.item_kind == "counterfactual":
                return edit_progress(s, rater_id, schema)
            if record.item_kind == "deduction":
                return deduction_progress(s, rater_id, schema)
            if record.item_kind in RELATION_KINDS:
                return relation_progress(s, rater_id, record)
            outdated = outdated_categories(s, schema)
            if record.item_kind == "path":
                return _path_progress(s, rater_id, schema, outdated)
            if record.item_kind == "step":
                sizes = _step_counts().subquery()
                done = _step_decisions(rater_id, schema, outdated).subquery()
                n_items, n_cases = s.exec(select(func.sum(sizes.c.n), func.count(sizes.c.n))).one()
                n_decided, n_done = s.exec(
                    select(
                        func.sum(done.c.n_decided),
                        func.count(done.c.n_decided).filter(done.c.n_decided >= sizes.c.n),
                    )
                    .select_from(done)
                    .join(sizes, sizes.c.case_id == done.c.case_id)
                ).one()
                return Progress(int(n_items or 0), int(n_decided or 0), n_cases, n_done)
            n_items = s.exec(
                select(func.count()).select_from(t.Item).where(t.Item.kind == record.item_kind)
            ).one()
            n_decided = s.exec(
                select(func.count(func.distinct(col(t.Label.item_id)))).where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    is_decided(t.Label, outdated),
                    is_standing(t.Label),
                )
            ).one()
            return Progress(n_items, n_decided, 0, 0)


def _path_progress(s: Session, rater_id: int, schema: str, outdated: tuple[str, ...]) -> Progress:
    """Count paths and cases; no case is without a path."""
    done = decided_paths(rater_id, schema, outdated).subquery()
    n_decided, n_done = s.exec(
        select(
            func.sum(done.c.n_decided),
            func.count().filter(done.c.n_decided == done.c.n_items),
        ).select_from(done)
    ).one()
    n_items = s.exec(select(func.count()).select_from(t.CaseItem)).one()
    n_cases = s.exec(select(func.count()).select_from(t.AuditCase)).one()
    return Progress(n_items, int(n_decided or 0), n_cases, n_done)


def _record(row: t.LabelSession) -> SessionRecord:
    return SessionRecord(row.id or 0, row.size, row.started_at, row.rater_id, row.ended_at)


def _seconds_by_item(rows: Iterable[t.Label]) -> dict[int, float]:
    seconds: dict[int, float] = {}
    for row in rows:
        if row.active_seconds is not None:
            seconds[row.item_id] = seconds.get(row.item_id, 0.0) + row.active_seconds
    return seconds


def _acts(rater_id: int, schema: str) -> Any:
    """Return a query of a rater's acts on the paths of cases and their steps, as `LastAct` has them."""
    path, undone = aliased(t.Item), aliased(t.Label)
    step = (t.Item.step, t.Label.first_wrong_step, undone.first_wrong_step)
    return (
        plain_select(
            col(t.CaseItem.case_id),
            col(path.id),
            func.coalesce(*map(col, step)),
            col(t.Item.kind) == "step",
            col(t.Question.dataset),
            col(t.Pool.name),
        )
        .select_from(t.Label)
        .join(t.Item, col(t.Item.id) == col(t.Label.item_id))
        .join(path, (col(path.trace_id) == col(t.Item.trace_id)) & (col(path.kind) == "path"))
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(path.id))
        .join(t.AuditCase, col(t.AuditCase.id) == col(t.CaseItem.case_id))
        .join(t.Pool, col(t.Pool.id) == col(t.AuditCase.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        .join(undone, col(undone.id) == col(t.Label.reverses), isouter=True)
        .where(
            col(t.Label.rater_id) == rater_id,
            col(t.Label.act) != "import",
            or_(
                col(t.Item.kind) == "step",
                and_(col(t.Item.kind) == "path", col(t.Label.schema_name) == schema),
            ),
        )
    )


def _seconds_on_steps(
    s: Session, whose: ColumnElement[bool], paths: Sequence[int] | None = None
) -> dict[int, float]:
    """Return the active seconds of labels on steps, by the path that the steps belong to."""
    path = aliased(t.Item)
    same_trace = (col(path.trace_id) == col(t.Item.trace_id)) & (col(path.kind) == "path")
    query = (
        select(col(path.id), func.sum(col(t.Label.active_seconds)))
        .select_from(t.Label)
        .join(t.Item, col(t.Item.id) == col(t.Label.item_id))
        .join(path, same_trace)
        .where(whose, t.Item.kind == "step", col(t.Label.active_seconds).is_not(None))
        .group_by(col(path.id))
    )
    if paths is not None:
        # Their steps first: else a plan may go through all labels that `whose` keeps.
        steps = select(t.Item.id).join(path, same_trace)
        ids = s.exec(steps.where(col(path.id).in_(paths), t.Item.kind == "step")).all()
        if not ids:
            return {}
        query = query.where(col(t.Label.item_id).in_(ids))
    return {item or 0: seconds or 0.0 for item, seconds in s.exec(query)}


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(median(found)) if found else None


def _seconds_between(start: str, end: str) -> float:
    passed = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return max(passed.total_seconds(), 0.0)


def _last_decided(rows: Iterable[tuple[int, str, float | None]], last: int) -> list[int]:
    """Return the timed items decided last, from a rater's rows read from the newest back."""
    standing: dict[int, bool] = {}  # whether the newest row of an item decides it
    timed: list[int] = []
    for item, state, seconds in rows:
        decided = standing.setdefault(item, state in DECIDED)
        if decided and seconds is not None and item not in timed:
            timed.append(item)
    return timed[:last]


def _step_counts() -> Any:
    """Return a query of how many steps the paths of each case have, items or not: case_id, n."""
    return (
        select(col(t.CaseItem.case_id), func.sum(col(t.Trace.n_steps)).label("n"))
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .group_by(col(t.CaseItem.case_id))
    )


def _step_decisions(rater_id: int, schema: str, outdated: tuple[str, ...]) -> Any:
    """Return a query of how many steps of a case this rater has decided: case_id, n_decided."""
    part = t.Item.__table__.alias()  # type: ignore[attr-defined]
    return (
        select(
            col(t.CaseItem.case_id),
            func.count(func.distinct(part.c.id)).label("n_decided"),
        )
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .join(part, (part.c.trace_id == col(t.Item.trace_id)) & (part.c.kind == "step"))
        .join(t.Label, col(t.Label.item_id) == part.c.id)
        .where(
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema,
            is_decided(t.Label, outdated),
            is_standing(t.Label),
        )
        .group_by(col(t.CaseItem.case_id))
    )
