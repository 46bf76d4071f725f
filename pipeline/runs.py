"""Runs as others see them while they are at work: started, alive, ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pipeline.version import TOOL_VERSION
from store import Store
from store.columns import canonical
from store.model_records import RunState


class RunningStage:
    """A run that was started. Give it `done` and a `summary` before it ends."""

    def __init__(self, store: Store, run_id: int, total: int | None) -> None:
        self._store = store
        self._total = total
        self.run_id = run_id
        self.state: RunState = "done"
        self.done = 0
        self.summary: Mapping[str, Any] = {}

    def beat(self, done: int, detail: Mapping[str, Any]) -> None:
        """Show how far the run is, and that it lives."""
        self._store.beat(self.run_id, done, self._total, detail)


@contextmanager
def running(
    store: Store, stage: str, parameters: Mapping[str, Any], total: int | None, unit: str
) -> Iterator[RunningStage]:
    """Record a run from its start to its end, however it ends."""
    run_id = store.start_run(stage, parameters, TOOL_VERSION, total, unit=unit)
    run = RunningStage(store, run_id, total)
    try:
        yield run
    except KeyboardInterrupt:
        run.state = "interrupted"
        raise
    except BaseException:
        run.state = "failed"
        raise
    finally:
        store.end_run(run_id, run.state, run.summary, done=run.done)


def at_the_same_work(
    store: Store, stage: str, parameters: Mapping[str, Any], run_id: int
) -> str | None:
    """Return what to tell of another process that asks in the same way now, None without one.

    How many samples or repeats are wanted does not count, and of which questions is not known.
    """
    wanted = _way(parameters)
    for run in store.open_runs(stage):
        if run.id != run_id and not run.stale and _way(run.parameters) == wanted:
            return (
                f"another process (pid {run.pid} on {run.host}) is at {stage} in the same way since "
                f"{run.started_at[:16].replace('T', ' ')} UTC: what both ask is paid twice and kept "
                "once; let one of them end"
            )
    return None


def _way(parameters: Mapping[str, Any]) -> str:
    return canonical({k: v for k, v in parameters.items() if k not in ("n", "repeats")})
