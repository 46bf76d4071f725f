"""The batches of a database: how they stand, and ending one early."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judges.batches import Batches, BatchState, run
from judges.endpoint import Endpoint
from judges.faults import Fault
from pipeline.batching import STAGE
from store import Store
from store.model_records import RunRecord

if TYPE_CHECKING:
    import httpx2

NOT_SUBMITTED = "not submitted"
"""The status of a batch whose process ended, or is at work, before the server took it."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch of a stage.

    `id` is the server's, None before it is submitted. Of its `total` requests `completed` were
    answered, as far as is known. `status` is the server's own word, the last one known where it
    was not asked now; `is_open` says that replies are still to be collected, by the command that
    submitted it. `age` is in seconds since then. `problem` says why the server was not asked.
    """

    run: int
    id: str | None
    stage: str
    model: str
    base_url: str
    status: str
    total: int
    completed: int
    failed: int
    started_at: str
    age: float
    is_open: bool
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def batch_rows(
    store: Store,
    endpoints: Iterable[Endpoint] = (),
    *,
    ended: int = 0,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> tuple[BatchRow, ...]:
    """Return the open batches, as their servers tell of them now, and the newest `ended` ones.

    A server is asked where an endpoint has its address and model. Nothing is collected.
    """
    known = list(endpoints)
    rows = [_asked(row, _endpoint(known, row), transport) for row in store.open_runs(STAGE)]
    return (*rows, *(_row(r) for r in store.ended_runs(STAGE, ended)))


def cancel_batch(
    store: Store,
    endpoints: Iterable[Endpoint],
    batch: str,
    *,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> BatchRow:
    """Ask the server to end an open batch early; return how it stands then.

    What it has answered by then is collected by the command that submitted it, which also submits
    the rest anew.

    Raises
    ------
    ValueError
        When no open batch has this id, no endpoint is its own, or the server refuses.
    """
    rows = {str(r.detail["batch"]): r for r in store.open_runs(STAGE) if r.detail.get("batch")}
    row = rows.get(batch)
    if row is None:
        raise ValueError(f"no open batch {batch!r}; there are: {', '.join(rows) or 'none'}")
    endpoint = _endpoint(list(endpoints), row)
    if endpoint is None:
        raise ValueError(_unknown(row))

    async def end() -> BatchState:
        async with Batches(endpoint, transport=transport) as there:
            return await there.cancel(batch)

    try:
        return _noted(store, row, run(end()))
    except Fault as fault:
        raise ValueError(f"{endpoint.base_urls[0]}: {fault.reason}") from fault


def _noted(store: Store, row: RunRecord, state: BatchState) -> BatchRow:
    """Keep what the server said, as collecting does."""
    detail = {"batch": state.id, "status": state.status, "errors": state.failed}
    store.beat(row.id, state.completed, row.total, detail)
    return _row(row, state)


def _asked(
    row: RunRecord, endpoint: Endpoint | None, transport: httpx2.AsyncBaseTransport | None
) -> BatchRow:
    """Return how an open batch stands by its server, or why that is not known."""
    named = row.detail.get("batch")
    if not named:
        why = "its process ended before it was submitted: the command that wanted it mends that"
        return _row(row, problem=why if row.stale else None)
    if endpoint is None:
        return _row(row, problem=_unknown(row))

    async def look() -> BatchState:
        async with Batches(endpoint, transport=transport) as there:
            return await there.get(str(named))

    try:
        return _row(row, run(look()))
    except Fault as fault:
        return _row(row, problem=f"{endpoint.base_urls[0]}: {fault.reason}")


def _endpoint(known: Sequence[Endpoint], row: RunRecord) -> Endpoint | None:
    place = (row.parameters.get("base_url"), row.parameters.get("model"))
    return next((e for e in known if (e.base_urls[0], e.model) == place), None)


def _unknown(row: RunRecord) -> str:
    return (
        f"no model of the settings is {row.parameters.get('model')} at "
        f"{row.parameters.get('base_url')}: give its file with --models, or --model and --base-url"
    )


def _row(
    row: RunRecord, state: BatchState | None = None, *, problem: str | None = None
) -> BatchRow:
    named = row.detail.get("batch")
    last = row.summary.get("status") or row.detail.get("status")
    status = str(last or (NOT_SUBMITTED if not named else row.state))
    begun = datetime.fromisoformat(row.started_at)
    return BatchRow(
        run=row.id,
        id=str(named) if named else None,
        stage=str(row.parameters.get("for", "")),
        model=str(row.parameters.get("model", "")),
        base_url=str(row.parameters.get("base_url", "")),
        status=status if state is None else state.status,
        total=row.total or 0,
        completed=row.done if state is None else state.completed,
        failed=int(row.detail.get("errors") or 0) if state is None else state.failed,
        started_at=row.started_at,
        age=max((datetime.now(UTC) - begun).total_seconds(), 0.0),
        is_open=row.state == "running",
        problem=problem,
    )
