"""Asking by the Batch API: submit what is missing, collect what is done, keep both across kills.

A batch is a row of the runs, stage ``batch``, from before it is submitted until its replies are
kept. The row holds a token; the batch carries it in its metadata. So whoever finds a row without a
batch id (its process was killed in between) asks the server for a batch with that token, and only
submits anew when there is none. Requests of open rows are not submitted again by anybody.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from judges.batches import Batches, BatchLine, BatchState, chunked, run
from judges.budget import Budget, Purse
from judges.endpoint import Endpoint
from judges.faults import Fault
from judges.keeping import as_cached, standing
from judges.requests import Reply, Request
from judges.usage import Ledger, Tally
from pipeline.replies import StoreCache
from pipeline.version import TOOL_VERSION
from store import Store
from store.model_records import RunRecord, RunState

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

STAGE = "batch"
AT_ONCE = 256
"""Requests looked up at a time."""
_HASH = 8
"""Bytes of a request's key that a row keeps: enough to tell whether it is in the batch."""


@dataclass(frozen=True, slots=True)
class BatchWay:
    """How batches are used. With `wait` the stage waits for them, looking every `poll` seconds."""

    wait: bool = False
    poll: float = 60.0
    most_requests: int = 10_000
    most_bytes: int = 90 * 1024 * 1024


@dataclass(slots=True)
class OpenBatch:
    """A batch that was, or is about to be, submitted."""

    run: int
    token: str
    keys: frozenset[bytes]
    total: int
    id: str | None = None
    stale: bool = False
    state: BatchState | None = None
    lines: dict[str, BatchLine] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether all that will come has come."""
        return self.state is not None and self.state.ended

    def has(self, request: Request) -> bool:
        """Tell whether a request is one of its."""
        return short(request.key) in self.keys


def short(key: str) -> bytes:
    """Return what a row keeps of a request's key."""
    return hashlib.sha256(key.encode()).digest()[:_HASH]


def open_batches(store: Store, endpoint: Endpoint | None = None) -> list[OpenBatch]:
    """Return the batches that have not ended here, of one endpoint where it is given."""
    return [
        _opened(row)
        for row in store.open_runs(STAGE)
        if endpoint is None or _place(endpoint).items() <= row.parameters.items()
    ]


def _place(endpoint: Endpoint) -> dict[str, str]:
    return {"base_url": endpoint.base_urls[0], "model": endpoint.model}


def _opened(row: RunRecord) -> OpenBatch:
    packed = base64.b85decode(str(row.parameters.get("keys", "")))
    keys = frozenset(packed[n : n + _HASH] for n in range(0, len(packed), _HASH))
    known = row.detail.get("batch")
    return OpenBatch(
        row.id,
        str(row.parameters.get("token")),
        keys,
        row.total or 0,
        str(known) if known else None,
        row.stale,
    )


class BatchAsker(Generic[T]):
    """One run of a stage by batches."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        stage: str,
        way: BatchWay,
        settle: Callable[[Request, T, Reply], None],
        *,
        budget: Budget | None,
        stop: threading.Event,
        show: Callable[[Tally], None],
        transport: httpx2.AsyncBaseTransport | None,
    ) -> None:
        self._store = store
        self._cache = StoreCache(store)
        self._endpoint = endpoint
        self._stage = stage
        self._way = way
        self._settle_one = settle
        self._price = endpoint.batch_price or endpoint.price
        self._purse = None if budget is None else Purse(budget, self._price)
        self._stop = stop
        self._show = show
        self._transport = transport
        self._ledger = Ledger(self._price)
        self._started = time.monotonic()
        self._stopped: str | None = None
        self._batches: list[OpenBatch] = []
        self._failed_keys: set[bytes] = set()
        self._at_work: OpenBatch | None = None

    def ask(self, jobs: Iterable[tuple[Request, T]]) -> Tally:
        """Settle every job: by a kept reply, by a batch that is done, or as waiting."""
        self._batches = open_batches(self._store, self._endpoint)
        self._collect()
        waiting, fresh = self._sort(jobs)
        waiting += self._submit(fresh)
        while self._way.wait and waiting and not self._stop.wait(self._way.poll):
            self._collect()
            waiting = self._settle_ended(waiting)
            self._show(self.tally())
        self._close_done()
        if waiting:
            self._stopped = self._stopped or (
                f"{len(waiting):,} requests wait in batches at {self._endpoint.base_urls[0]}: the "
                "same command collects them when they are done"
            )
        for request, about in waiting:
            self._settle(request, about, Reply("unasked", reason="it waits in a batch"))
        return self.tally()

    def beat(self) -> None:
        """Show that a batch that is being submitted has its process."""
        batch = self._at_work
        if batch is not None and batch.id is None:
            self._store.beat(batch.run, 0)

    def tally(self) -> Tally:
        """Return the count as it stands."""
        return self._ledger.tally(
            retries=0,
            seconds=time.monotonic() - self._started,
            concurrency=0,
            stopped=self._stopped,
        )

    # --- what is there ---------------------------------------------------------------------

    def _sort(
        self, jobs: Iterable[tuple[Request, T]]
    ) -> tuple[list[tuple[Request, T]], list[tuple[Request, T]]]:
        """Settle what has a reply; return what waits in a batch, and what is in none."""
        waiting: list[tuple[Request, T]] = []
        fresh: list[tuple[Request, T]] = []
        source = iter(jobs)
        while chunk := list(islice(source, AT_ONCE)):
            found = self._cache.find_replies([r.key for r, _ in chunk])
            came = self._keep([r for r, _ in chunk if r.key not in found])
            for request, about in chunk:
                if request.key in found:
                    self._settle(request, about, as_cached(request, found[request.key]))
                elif request.key in came:
                    self._settle(request, about, came[request.key])
                elif any(b.has(request) and not b.ended for b in self._batches):
                    waiting.append((request, about))
                else:
                    fresh.append((request, about))
        return waiting, fresh

    def _settle_ended(self, waiting: Sequence[tuple[Request, T]]) -> list[tuple[Request, T]]:
        """Settle what the batches that ended have; return what still waits."""
        left = []
        for start in range(0, len(waiting), AT_ONCE):
            chunk = waiting[start : start + AT_ONCE]
            came = self._keep([r for r, _ in chunk])
            for request, about in chunk:
                if request.key in came:
                    self._settle(request, about, came[request.key])
                else:
                    left.append((request, about))
        return left

    def _keep(self, requests: Sequence[Request]) -> dict[str, Reply]:
        """Keep the replies that came to these requests; return them, failures too, by key.

        A request of an ended batch that has no line in it failed: the next run submits it.
        """
        found: dict[str, Reply] = {}
        entries: list[tuple[Request, Reply]] = []
        for request in requests:
            batch = next((b for b in self._batches if b.ended and b.has(request)), None)
            if batch is None or batch.state is None or request.key in found:
                continue
            line = batch.lines.get(request.key)
            if line is None:
                reply = Reply("failed", reason=_why_none(batch.state))
            else:
                reply = Batches(self._endpoint).reply(line, request, self._price)
            found[request.key] = reply
            if reply.replied:
                entries.append((request, reply))
            else:
                self._failed_keys.add(short(request.key))
        if entries:
            for key, kept in self._cache.keep_replies(entries).items():
                if key in found:
                    request = next(r for r, _ in entries if r.key == key)
                    found[key] = standing(request, found[key], kept)
        return found

    def _settle(self, request: Request, about: T, reply: Reply) -> None:
        self._ledger.add(request, reply)
        self._settle_one(request, about, reply)

    # --- batches ---------------------------------------------------------------------------

    def _collect(self) -> None:
        """Look at every open batch; fetch the lines of those that ended."""
        if not self._batches:
            return

        async def look() -> None:
            async with Batches(self._endpoint, transport=self._transport) as there:
                for batch in list(self._batches):
                    await self._look_at(there, batch)

        self._talk(look)

    async def _look_at(self, there: Batches, batch: OpenBatch) -> None:
        if batch.id is None:
            if not batch.stale:
                return  # Another process is about to submit it.
            found = await there.find(batch.token)
            if found is None:
                # Its process died before: nothing was submitted, so its requests are free again.
                self._store.end_run(batch.run, "failed", {"stopped": "it was never submitted"})
                self._batches.remove(batch)
                return
            batch.id = found.id
        if batch.ended:
            return
        state = await there.get(batch.id)
        if state.ended:
            batch.lines = await there.lines(state)
        batch.state = state
        self._note(batch, state)

    def _note(self, batch: OpenBatch, state: BatchState) -> None:
        detail = {"batch": state.id, "status": state.status, "errors": state.failed}
        self._store.beat(batch.run, state.completed, batch.total, detail)

    def _submit(self, fresh: Sequence[tuple[Request, T]]) -> list[tuple[Request, T]]:
        """Submit what is in no batch; return what waits now. What does not fit is settled."""
        there = Batches(self._endpoint, transport=self._transport)
        waiting: list[tuple[Request, T]] = []
        same: dict[str, list[tuple[Request, T]]] = {}
        for chunk in chunked(
            self._affordable(there, fresh, same), self._way.most_requests, self._way.most_bytes
        ):
            sent = [request for request, _ in chunk]
            batch = self._claim(sent)
            if batch is not None and not self._send(batch, [line for _, line in chunk]):
                reason = self._stopped or "the batch was not submitted"
                for request in sent:
                    for job in same[request.key]:
                        self._settle(*job, Reply("unasked", reason=reason))
                continue
            waiting += [job for request in sent for job in same[request.key]]
        return waiting

    def _affordable(
        self,
        there: Batches,
        fresh: Sequence[tuple[Request, T]],
        same: dict[str, list[tuple[Request, T]]],
    ) -> Iterator[tuple[Request, bytes]]:
        """Yield a line for each different request that the budget allows."""
        for request, about in fresh:
            if request.key in same:
                same[request.key].append((request, about))
                continue
            try:
                line = there.line(request)
            except ValueError as error:
                self._settle(request, about, Reply("failed", reason=str(error)))
                continue
            if self._stopped is None and self._purse is not None:
                need = self._purse.need(request)
                if self._purse.fits(need):
                    self._purse.take(need)
                else:
                    self._stopped = self._purse.spent(need)
            if self._stopped is None and self._stop.is_set():
                self._stopped = "interrupted"
            if self._stopped is not None:
                self._settle(request, about, Reply("unasked", reason=self._stopped))
                continue
            same[request.key] = [(request, about)]
            yield request, line

    def _claim(self, requests: Sequence[Request]) -> OpenBatch | None:
        """Note a batch before it is submitted; None when another process was first with some.

        Of two that note the same requests at once, the row that is older stands.
        """
        token = uuid.uuid4().hex
        keys = frozenset(short(r.key) for r in requests)
        run_id = self._store.start_run(
            STAGE,
            {
                **_place(self._endpoint),
                "for": self._stage,
                "token": token,
                "keys": base64.b85encode(b"".join(sorted(keys))).decode(),
            },
            TOOL_VERSION,
            len(requests),
            unit="requests",
        )
        others = [b for b in open_batches(self._store, self._endpoint) if b.run < run_id]
        mine = {b.run for b in self._batches if b.ended}
        if any(b.keys & keys and b.run not in mine for b in others):
            self._store.end_run(run_id, "stopped", {"stopped": "another process submits these"})
            known = {b.run for b in self._batches}
            self._batches += [b for b in others if b.run not in known]
            return None
        batch = OpenBatch(run_id, token, keys, len(requests))
        self._batches.append(batch)
        return batch

    def _send(self, batch: OpenBatch, lines: Sequence[bytes]) -> bool:
        """Upload a batch and create it; tell whether it is there."""

        async def send() -> BatchState:
            async with Batches(self._endpoint, transport=self._transport) as there:
                file = await there.upload(batch.token, lines)
                return await there.create(file, batch.token)

        self._at_work = batch
        try:
            state = run(send())
        except Fault as fault:
            # The row is left as it is where the batch may be there all the same.
            self._stopped = f"{self._endpoint.base_urls[0]}: {fault.reason}"
            if not fault.again:
                self._store.end_run(batch.run, "failed", {"stopped": fault.reason})
                self._batches.remove(batch)
            return False
        finally:
            self._at_work = None
        batch.id, batch.state = state.id, state
        self._note(batch, state)
        if state.ended:
            batch.state = None  # Its files are fetched by the next look.
        return True

    def _talk(self, work: Callable[[], Any]) -> None:
        try:
            run(work())
        except Fault as fault:
            self._stopped = f"{self._endpoint.base_urls[0]}: {fault.reason}"
            self._way = BatchWay(False)

    def _close_done(self) -> None:
        """End the rows of batches whose every reply is kept, or failed and was told."""
        for batch in self._batches:
            if not batch.ended or batch.state is None:
                continue
            kept: set[str] = set()
            keys = list(batch.lines)
            for start in range(0, len(keys), AT_ONCE):
                kept.update(self._cache.find_replies(keys[start : start + AT_ONCE]))
            open_ = [k for k in keys if k not in kept and short(k) not in self._failed_keys]
            if open_:
                continue  # Another command asked for these, and collects them.
            state: RunState = "done" if batch.state.status == "completed" else "stopped"
            summary = {"status": batch.state.status, "stopped": "; ".join(batch.state.errors)}
            self._store.end_run(batch.run, state, summary, done=len(kept))


def _why_none(state: BatchState) -> str:
    errors = f": {'; '.join(state.errors)}" if state.errors else ""
    return f"the batch ended as {state.status} without this request{errors}"
