"""Runs are rows while they work; a heartbeat tells those that were killed."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from store import Store, open_store

RUN = """
import sys
from store import open_store
with open_store(sys.argv[1]) as store:
    run = store.start_run("generate", {"n": 20}, "0.1", 40, unit="traces")
    store.beat(run, 7, detail={"errors": 1})
    print(run, flush=True)
    sys.stdin.read()
"""


def change(db: Path, **values: Any) -> None:
    columns = ", ".join(f"{name} = ?" for name in values)
    with closing(sqlite3.connect(db)) as connection:
        connection.execute(f"UPDATE run SET {columns}", list(values.values()))
        connection.commit()


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def test_a_run_from_its_start_to_its_end(store: Store) -> None:
    first = store.start_run("decompose", {"model": "m"}, "0.1", unit="traces")
    second = store.start_run("judge", {"k": 3}, "0.1", 12, unit="votes", detail={"rate": None})
    started = store.run(second)
    assert (started.state, started.stale, started.finished_at) == ("running", False, None)
    assert (started.done, started.total, started.unit) == (0, 12, "votes")
    assert (started.host, started.pid) == (socket.gethostname(), os.getpid())
    assert (dict(started.parameters), dict(started.detail)) == ({"k": 3}, {"rate": None})
    store.beat(second, 5, detail={"rate": 2.5})
    store.beat(second, 6)
    store.beat(first, 1, total=9)
    beating = store.run(second)
    assert (beating.done, beating.total, dict(beating.detail)) == (6, 12, {"rate": 2.5})
    assert beating.heartbeat_at is not None
    assert started.heartbeat_at is not None
    assert beating.heartbeat_at > started.heartbeat_at
    assert store.run(first).total == 9
    store.end_run(second, "done", {"asked": 12}, done=12)
    ended = store.run(second)
    assert (ended.state, ended.done, dict(ended.summary)) == ("done", 12, {"asked": 12})
    assert ended.finished_at == ended.heartbeat_at
    assert store.runs() == (ended, store.run(first))
    assert store.runs(1) == (ended,)


@pytest.mark.parametrize("state", ["done", "stopped", "failed", "interrupted"])
def test_a_run_that_has_ended_stays_as_it_is(store: Store, state: Any) -> None:
    run = store.start_run("judge", {}, "0.1")
    store.end_run(run, state, {"n": 1})
    ended = store.run(run)
    store.beat(run, 99)
    store.end_run(run, "done", {"n": 2})
    assert store.run(run) == ended
    assert (ended.state, ended.done, ended.stale) == (state, 0, False)


def test_a_run_does_not_end_as_running(store: Store) -> None:
    run = store.start_run("judge", {}, "0.1")
    with pytest.raises(ValueError, match="a run does not end as 'running'; one of done, stopped"):
        store.end_run(run, "running")
    assert store.run(run).state == "running"


@pytest.mark.parametrize(
    ("values", "stale"),
    [
        ({"age": 5}, False),
        ({"age": 3600}, True),
        ({"age": None}, True),
        ({"age": -3600}, False),  # another clock is ahead
        ({"host": "elsewhere", "pid": 2**22 + 1, "age": 5}, False),
        ({"host": "elsewhere", "pid": 2**22 + 1, "age": 3600}, True),
        ({"pid": 2**22 + 1, "age": 5}, True),  # no such process here
        ({"state": "interrupted", "age": 3600}, False),
    ],
)
def test_a_run_without_a_sign_of_life_is_stale(
    store: Store, db: Path, values: dict[str, Any], stale: bool
) -> None:
    run = store.start_run("judge", {}, "0.1")
    age = values.get("age")
    columns = {k: v for k, v in values.items() if k != "age"}
    change(db, heartbeat_at=None if age is None else ago(age), **columns)
    assert store.run(run).stale is stale
    assert store.runs()[0].stale is stale


def test_a_killed_run_is_seen_at_once_and_keeps_its_last_beat(db: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(db)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    run = int(process.stdout.readline())
    with open_store(db) as store:
        alive = store.run(run)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        dead = store.run(run)
    assert (alive.state, alive.stale, alive.pid) == ("running", False, process.pid)
    assert (dead.state, dead.stale, dead.done, dict(dead.detail)) == (
        "running",
        True,
        7,
        {"errors": 1},
    )


def test_a_stage_that_is_noted_when_it_ends_is_a_run_too(store: Store) -> None:
    store.record_run("score", {"beta": 0.4}, "0.1", "2026-01-31T14:02:31+00:00", {"pools": 3})
    (run,) = store.runs()
    assert (run.stage, run.state, run.stale) == ("score", "done", False)
    assert run.started_at == "2026-01-31T14:02:31+00:00"
    assert run.finished_at == run.heartbeat_at
    assert (dict(run.summary), run.pid) == ({"pools": 3}, None)
