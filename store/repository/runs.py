"""Runs of stages: rows while they work, with a heartbeat, and when they have ended."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlmodel import col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.model_records import ENDED, RunRecord, RunState, StageUsage

STALE_SECONDS = 30.0
"""A run that gave no sign of life for so long has probably been killed."""


class Runs(Base):
    """What runs, and what ran. Every rater sees it: nothing sealed belongs into what is told here
    (a count of verdicts by category, a trace's correctness)."""

    def start_run(
        self,
        stage: str,
        parameters: Mapping[str, Any],
        tool_version: str,
        total: int | None = None,
        *,
        unit: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> int:
        """Note that a stage begins in this process; return the run's id."""
        now = utc_now()
        with self._write() as s:
            row = t.Run(
                stage=stage,
                parameters=dict(parameters),
                tool_version=tool_version,
                started_at=now,
                state="running",
                total=total,
                unit=unit,
                detail=dict(detail) if detail else None,
                heartbeat_at=now,
                host=socket.gethostname(),
                pid=os.getpid(),
            )
            s.add(row)
            s.flush()
            return row.id or 0

    def beat(
        self,
        run_id: int,
        done: int,
        total: int | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Note how far a run is, and that it lives. None leaves what stood; an ended run stays.

        A run that beats less often than every `STALE_SECONDS` is taken for dead, so beat by the
        clock where replies are slow.
        """
        with self._write() as s:
            row = s.get_one(t.Run, run_id)
            if row.state != "running":
                return
            row.done, row.heartbeat_at = done, utc_now()
            if total is not None:
                row.total = total
            if detail is not None:
                row.detail = dict(detail)
            s.add(row)

    def end_run(
        self,
        run_id: int,
        state: RunState,
        summary: Mapping[str, Any] | None = None,
        *,
        done: int | None = None,
    ) -> None:
        """Note how a run ended; one that has ended stays as it is.

        Raises
        ------
        ValueError
            When the state is no end.
        """
        if state not in ENDED:
            raise ValueError(f"a run does not end as {state!r}; one of {', '.join(ENDED)} is right")
        now = utc_now()
        with self._write() as s:
            row = s.get_one(t.Run, run_id)
            if row.state != "running":
                return
            row.state, row.finished_at, row.heartbeat_at = state, now, now
            row.summary = None if summary is None else dict(summary)
            if done is not None:
                row.done = done
            s.add(row)

    def record_run(
        self,
        stage: str,
        parameters: Mapping[str, Any],
        tool_version: str,
        started_at: str,
        summary: Mapping[str, Any],
    ) -> None:
        """Note a finished stage: what ran, with which parameters, and how it ended."""
        now = utc_now()
        with self._write() as s:
            s.add(
                t.Run(
                    stage=stage,
                    parameters=dict(parameters),
                    tool_version=tool_version,
                    started_at=started_at,
                    finished_at=now,
                    summary=dict(summary),
                    state="done",
                    heartbeat_at=now,
                )
            )

    def runs(self, limit: int = 20) -> tuple[RunRecord, ...]:
        """Return the newest runs, newest first; `stale` says which only seem to be running."""
        with self._read() as s:
            rows = s.exec(select(t.Run).order_by(col(t.Run.id).desc()).limit(limit)).all()
            return tuple(_record(r) for r in rows)

    def newest_run(
        self, stage: str, holds: Callable[[RunRecord], bool] = lambda _run: True
    ) -> RunRecord | None:
        """Return the newest finished run of a stage for which `holds` is true, None without one."""
        with self._read() as s:
            rows = s.exec(
                select(t.Run)
                .where(t.Run.stage == stage, t.Run.state == "done")
                .order_by(col(t.Run.id).desc())
            )
            return next((r for r in map(_record, rows) if holds(r)), None)

    def open_runs(self, stage: str) -> tuple[RunRecord, ...]:
        """Return the runs of a stage that have not ended, oldest first, however old."""
        with self._read() as s:
            rows = s.exec(
                select(t.Run)
                .where(t.Run.stage == stage, t.Run.state == "running")
                .order_by(col(t.Run.id))
            ).all()
            return tuple(_record(r) for r in rows)

    def usage_by_stage(self) -> tuple[StageUsage, ...]:
        """Return what the ended runs of each stage that asks came to, by stage."""
        found: dict[str, list[int]] = {}
        with self._read() as s:
            rows = s.execute(
                select(col(t.Run.stage), col(t.Run.summary)).where(col(t.Run.state).in_(ENDED))
            )
            for stage, summary in rows:
                if summary and "n_cached" in summary:
                    sums = found.setdefault(stage, [0, 0, 0, 0])
                    sums[0] += 1
                    for i, name in enumerate(("n_asked", "n_cached", "n_failed"), start=1):
                        sums[i] += int(summary.get(name) or 0)
        return tuple(StageUsage(stage, *sums) for stage, sums in sorted(found.items()))

    def ended_runs(self, stage: str, limit: int) -> tuple[RunRecord, ...]:
        """Return the newest runs of a stage that have ended, newest first."""
        with self._read() as s:
            rows = s.exec(
                select(t.Run)
                .where(t.Run.stage == stage, col(t.Run.state).in_(ENDED))
                .order_by(col(t.Run.id).desc())
                .limit(limit)
            ).all()
            return tuple(_record(r) for r in rows)

    def run(self, run_id: int) -> RunRecord:
        """Return one run."""
        with self._read() as s:
            return _record(s.get_one(t.Run, run_id))


def _record(row: t.Run) -> RunRecord:
    return RunRecord(
        id=row.id or 0,
        stage=row.stage,
        state=row.state,  # type: ignore[arg-type]  # constrained by the table
        done=row.done,
        total=row.total,
        unit=row.unit,
        started_at=row.started_at,
        finished_at=row.finished_at,
        heartbeat_at=row.heartbeat_at,
        host=row.host,
        pid=row.pid,
        tool_version=row.tool_version,
        parameters=row.parameters or {},
        detail=row.detail or {},
        summary=row.summary or {},
        stale=row.state == "running" and not _is_elsewhere(row) and _is_dead(row),
    )


def _is_elsewhere(row: t.Run) -> bool:
    """Return whether a run is at work at a server, which needs no process of ours: a batch."""
    return row.stage == "batch" and bool((row.detail or {}).get("batch"))


def _is_dead(row: t.Run) -> bool:
    """Return whether a run's last beat is too old, or its process here is gone.

    The age is by this machine's clock: one that is set behind takes a dead run for alive longer.
    """
    if row.host == socket.gethostname() and row.pid is not None and not _is_alive(row.pid):
        return True
    if row.heartbeat_at is None:
        return True
    age = datetime.now(UTC) - datetime.fromisoformat(row.heartbeat_at)
    return age.total_seconds() > STALE_SECONDS


def _is_alive(pid: int) -> bool:
    """Return whether a process of this number runs here; True where that cannot be told."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)  # signal 0 does nothing but look
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
