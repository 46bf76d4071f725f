"""Sittings of a rater, their pace and progress: one's own figures only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import func
from sqlmodel import col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.keys import CRITERIA
from store.records import DECIDED, Progress, SchemaRecord, SessionRecord, SessionSummary
from store.repository.queue import decided_paths
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

        Counts are over the items of one schema; the seconds are all of the session's.
        """
        with self._read() as s:
            session = s.get_one(t.LabelSession, session_id)
            rows = s.exec(
                select(t.Label).where(t.Label.session_id == session_id).order_by(col(t.Label.id))
            ).all()
        last = {(r.schema_name, r.item_id): r for r in rows}
        mine = [r for (name, _), r in last.items() if name == schema]
        decided = [r for r in mine if r.state in DECIDED]
        others = Counter(
            name for (name, _), r in last.items() if name != schema and r.state in DECIDED
        )
        seconds = _seconds_by_item(r for r in rows if r.schema_name == schema)
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

        An item's seconds are those of all labels this rater gave it; items whose time was not
        measured are passed over. None when there is none among the rater's newest labels.
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
        return _median(_seconds_by_item(mine).values())

    def progress(self, rater_id: int, schema: str = "path") -> Progress:
        """Return how far this rater is with the queue under one schema.

        Under a schema of steps or criteria, the items are those of the queue's paths, made or not;
        other kinds of items belong to no case.
        """
        with self._read() as s:
            record = need_schema(s, schema)
            outdated = outdated_categories(s, schema)
            if record.item_kind in ("path", "step", "criterion"):
                sizes = _case_sizes(record.item_kind).subquery()
                done = _case_decisions(rater_id, record, outdated).subquery()
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


def _record(row: t.LabelSession) -> SessionRecord:
    return SessionRecord(row.id or 0, row.size, row.started_at, row.rater_id, row.ended_at)


def _seconds_by_item(rows: Iterable[t.Label]) -> dict[int, float]:
    seconds: dict[int, float] = {}
    for row in rows:
        if row.active_seconds is not None:
            seconds[row.item_id] = seconds.get(row.item_id, 0.0) + row.active_seconds
    return seconds


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


def _case_sizes(kind: str) -> Any:
    """Return a query of how many items of a kind each case has, made or not: case_id, n."""
    if kind == "path":
        return select(col(t.CaseItem.case_id), func.count().label("n")).group_by(
            col(t.CaseItem.case_id)
        )
    per_path: Any = {
        "step": func.sum(col(t.Trace.n_steps)),
        "criterion": func.count() * len(CRITERIA),
    }[kind]
    return (
        select(col(t.CaseItem.case_id), per_path.label("n"))
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .join(t.Trace, col(t.Trace.id) == col(t.Item.trace_id))
        .group_by(col(t.CaseItem.case_id))
    )


def _case_decisions(rater_id: int, schema: SchemaRecord, outdated: tuple[str, ...]) -> Any:
    """Return a query of how many items of a case this rater has decided: case_id, n_decided."""
    if schema.item_kind == "path":
        return decided_paths(rater_id, schema.name, outdated)
    part = t.Item.__table__.alias()  # type: ignore[attr-defined]
    return (
        select(
            col(t.CaseItem.case_id),
            func.count(func.distinct(part.c.id)).label("n_decided"),
        )
        .join(t.Item, col(t.Item.id) == col(t.CaseItem.item_id))
        .join(
            part,
            (part.c.trace_id == col(t.Item.trace_id)) & (part.c.kind == schema.item_kind),
        )
        .join(t.Label, col(t.Label.item_id) == part.c.id)
        .where(
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema.name,
            is_decided(t.Label, outdated),
            is_standing(t.Label),
        )
        .group_by(col(t.CaseItem.case_id))
    )
