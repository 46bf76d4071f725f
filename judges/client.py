"""Asking a model's servers many things, so that every request ends in exactly one outcome.

The parts: `servers` (connections), `attempts` (one request until its end), `limits` (how much at
once), `faults` and `outcomes` (what an answer means), `keeping` (the cache), `budget`, `usage`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from judges.attempts import Asker
from judges.budget import Budget, Estimate, Need, Purse, estimate
from judges.endpoint import Endpoint
from judges.keeping import Keeper, as_cached
from judges.limits import Tuning
from judges.outcomes import validator
from judges.requests import Reply, ReplyCache, Request
from judges.servers import Connections
from judges.usage import Ledger, RoleUse, Tally
from judges.wire import request_body

if TYPE_CHECKING:
    import httpx2

__all__ = ["Budget", "Estimate", "RoleUse", "Tally", "Tuning", "ask", "ask_async", "estimate"]

INTERRUPTED = "interrupted"
TICK = 0.05
"""Seconds between two looks at the stop event."""
TALLY_EVERY, TALLY_AT_LEAST_EVERY = 0.1, 1.0
"""Seconds between two tallies: when something changed, and when nothing did."""
WAITING_PER_SLOT = 4
"""Replies that may wait for the cache, per request in flight, before asking pauses."""


def ask(
    endpoint: Endpoint,
    requests: Iterable[Request],
    *,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    on_reply: Callable[[Request, Reply], None] | None = None,
    on_tally: Callable[[Tally], None] | None = None,
    stop: threading.Event | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
    tuning: Tuning | None = None,
) -> Tally:
    """Ask everything and return the count; see `ask_async`. Usable in any thread without a loop."""
    return asyncio.run(
        ask_async(
            endpoint,
            requests,
            cache=cache,
            budget=budget,
            on_reply=on_reply,
            on_tally=on_tally,
            stop=stop,
            transport=transport,
            tuning=tuning,
        )
    )


async def ask_async(
    endpoint: Endpoint,
    requests: Iterable[Request],
    *,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    on_reply: Callable[[Request, Reply], None] | None = None,
    on_tally: Callable[[Tally], None] | None = None,
    stop: threading.Event | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
    tuning: Tuning | None = None,
) -> Tally:
    """Ask everything; every request gets exactly one `on_reply`, in no particular order.

    `requests` is read lazily, a chunk ahead of what is asked, and with the callbacks runs in the
    calling thread; the cache is used from one other thread. A request the cache has a reply for
    is not sent, nor are requests equal to one under way, which share its reply. `on_reply` comes
    after the reply is kept. `on_tally` comes about every tenth second while something changes,
    once a second while nothing does, and once at the end.

    A budget that is used up, an error that every request would get (no key, an unknown model) or
    servers that stay away end the asking: `Tally.stopped` says why, requests in flight end by
    themselves, and what is left is ``unasked`` (but kept replies are still found). `stop` does
    the same and cancels what is in flight; so does cancelling (Ctrl-C under `ask`), which keeps
    the replies that came and then raises. ValueError when the key's variable is not set and
    something must be sent, the budget needs a price, or a request's schema is none. What the cache
    or a callback raises is raised here, after the replies that came are kept as far as they can be.
    """
    tuning = tuning or Tuning()
    connections = Connections(endpoint, body_limit=tuning.body_limit, transport=transport)
    purse = Purse(budget, endpoint.price) if budget is not None else None
    async with connections:
        run = _Run(endpoint, connections, tuning, purse, cache, on_reply, on_tally, stop)
        return await run.all(requests)


class _Run:
    """One call of `ask_async`."""

    def __init__(
        self,
        endpoint: Endpoint,
        connections: Connections,
        tuning: Tuning,
        purse: Purse | None,
        cache: ReplyCache | None,
        on_reply: Callable[[Request, Reply], None] | None,
        on_tally: Callable[[Tally], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._endpoint = endpoint
        self._connections = connections
        self._bound = connections.bound_name
        self._tuning = tuning
        self._purse = purse
        self._on_reply = on_reply
        self._on_tally = on_tally
        self._stop = stop
        self._asker = Asker(endpoint, connections, tuning)
        self._pool = self._asker.pool
        self._keeper = (
            Keeper(cache, self._finish, WAITING_PER_SLOT * endpoint.slots)
            if cache is not None
            else None
        )
        self._ledger = Ledger(endpoint.price)
        self._started = tuning.clock()
        self._open: dict[str, list[Request]] = {}
        """Requests equal to one that has no outcome yet, under its key."""
        self._tasks: dict[asyncio.Task[Reply], tuple[Request, Need | None]] = {}
        """What is in flight."""
        self._ended = asyncio.Event()
        """Set whenever a request in flight ends."""
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Takes the error of a callback, or a mistake of ours in a request's task."""
        self._closed: str | None = None
        self._interrupted = False

    @property
    def _stopped(self) -> str | None:
        return self._closed or self._asker.stopped

    async def all(self, requests: Iterable[Request]) -> Tally:
        """Settle every request; return the final tally."""
        feeding = asyncio.create_task(self._feed(requests))
        keeping = asyncio.create_task(self._keeper.run()) if self._keeper else None
        ticking = asyncio.create_task(self._tick())
        helpers = [job for job in (keeping, ticking, self._broken) if job is not None]
        try:
            await asyncio.wait([feeding, *helpers], return_when=asyncio.FIRST_COMPLETED)
        finally:
            # When the feeder has ended by itself no tasks are left; else this is what stops all.
            cancelled = [feeding, ticking, *self._tasks]
            for task in cancelled:
                task.cancel()
            await asyncio.gather(*cancelled, return_exceptions=True)
            if self._keeper is not None and keeping is not None:
                self._keeper.close()
                await asyncio.wait([keeping])
            ended = [job for job in (*helpers, feeding) if job.done() and not job.cancelled()]
            errors = [error for job in ended if (error := job.exception()) is not None]
        if errors:
            raise errors[0]
        tally = self._tally()
        if self._on_tally is not None:
            self._on_tally(tally)
        return tally

    async def _feed(self, requests: Iterable[Request]) -> None:
        """Take every request to its outcome or into a task, and wait for the tasks."""
        source = iter(requests)
        while batch := list(islice(source, self._tuning.chunk)):
            if self._interrupted:
                for request in batch:
                    self._settle(request, Reply("unasked", reason=INTERRUPTED))
                await asyncio.sleep(0)
                continue
            fresh = self._open_all(batch)
            found = await self._find(fresh)
            for request in fresh:
                kept = found.get(request.key)
                if kept is not None and kept.replied:
                    self._finish(request, as_cached(request, kept))
                else:
                    await self._start(request)
        while self._tasks:
            await self._next_end()

    def _open_all(self, batch: Sequence[Request]) -> list[Request]:
        """Return the requests that equal none under way; the others wait for those they equal."""
        fresh = []
        for request in batch:
            others = self._open.get(request.key)
            if others is None:
                self._open[request.key] = []
                fresh.append(request)
            else:
                others.append(request)
        return fresh

    async def _find(self, requests: Sequence[Request]) -> Mapping[str, Reply]:
        if self._keeper is None or not requests:
            await asyncio.sleep(0)
            return {}
        return await self._keeper.find([r.key for r in requests])

    async def _start(self, request: Request) -> None:
        """Send a request in a task as soon as there is room, or say why it is not sent."""
        if request.schema is not None:
            validator(request.schema)
        self._heed_stop()
        if self._stopped is None:
            self._connections.open()
        try:
            body = request_body(
                request,
                extra=self._endpoint.extra,
                bound=self._bound,
                keywords=self._endpoint.schema_keywords or "all",
            )
        except ValueError as error:
            self._finish(request, Reply("failed", reason=str(error)))
            return
        if self._stopped is None:
            await self._pool.enter()
            if self._keeper is not None:
                await self._keeper.room()
            need = await self._afford(request)
            if self._stopped is None:
                task = asyncio.create_task(self._asker.ask(request, body))
                self._tasks[task] = request, need
                task.add_done_callback(self._task_ended)
                return
            self._pool.leave()
        self._finish(request, Reply("unasked", reason=self._stopped or ""))

    async def _afford(self, request: Request) -> Need | None:
        """Hold what the request may use, once it fits; else close."""
        if self._purse is None:
            return None
        while self._stopped is None:
            need = self._purse.need(request)
            if self._purse.fits(need):
                self._purse.take(need)
                return need
            if not self._tasks:
                self._closed = self._purse.spent(need)
            else:
                # Those in flight hold more than they will have used.
                await self._next_end()
        return None

    async def _next_end(self) -> None:
        self._ended.clear()
        await self._ended.wait()

    def _task_ended(self, task: asyncio.Task[Reply]) -> None:
        request, need = self._tasks.pop(task)
        self._pool.leave()
        self._ended.set()
        if task.cancelled():
            if not self._interrupted:
                return
            reply = Reply("unasked", reason=INTERRUPTED)
        elif (error := task.exception()) is not None:
            self._break(error)
            return
        else:
            reply = task.result()
        if self._purse is not None and need is not None:
            self._purse.settle(need, reply)
        if self._keeper is not None and reply.replied:
            self._keeper.add(request, reply)
        else:
            self._finish(request, reply)

    def _break(self, error: BaseException) -> None:
        if not self._broken.done():
            self._broken.set_exception(error)

    def _finish(self, request: Request, reply: Reply) -> None:
        """Settle a request, and those that waited for its reply."""
        self._settle(request, reply)
        others = self._open.pop(request.key, ())
        if others and reply.replied:
            reply = replace(reply, cached=True)
        for other in others:
            self._settle(other, reply)

    def _settle(self, request: Request, reply: Reply) -> None:
        self._ledger.add(request, reply)
        if self._on_reply is None or self._broken.done():
            return
        try:
            self._on_reply(request, reply)
        except Exception as error:
            # Ends the run from `all`, so that what has come is still kept.
            self._break(error)

    async def _tick(self) -> None:
        """Look at the stop event and tell how things stand, as long as it takes."""
        told, told_at = -1, self._started
        while True:
            await asyncio.sleep(TICK)
            self._heed_stop()
            if self._on_tally is None:
                continue
            passed = self._tuning.clock() - told_at
            changed = self._ledger.settled != told
            if passed >= (TALLY_EVERY if changed else TALLY_AT_LEAST_EVERY):
                told, told_at = self._ledger.settled, told_at + passed
                self._on_tally(self._tally())

    def _heed_stop(self) -> None:
        if self._stop is not None and not self._interrupted and self._stop.is_set():
            self._interrupt()

    def _interrupt(self) -> None:
        self._interrupted = True
        self._closed = self._closed or INTERRUPTED
        self._asker.halt(INTERRUPTED)
        for task in self._tasks:
            task.cancel()

    def _tally(self) -> Tally:
        return self._ledger.tally(
            retries=self._asker.retries,
            seconds=self._tuning.clock() - self._started,
            concurrency=self._pool.limit,
            servers=self._pool.uses,
            stopped=self._stopped,
        )
