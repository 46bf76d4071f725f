"""One request asked until it has a reply, a refusal or no hope: attempts, waits, other servers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from judges.endpoint import Endpoint
from judges.faults import SCHEMA_ADVICE, Fault
from judges.limits import Pool, Tuning
from judges.outcomes import read_completion
from judges.requests import Reply, Request
from judges.servers import Connections


class Asker:
    """Asks single requests; what it learns from one about the servers holds for the others.

    `stopped` is why nothing more should be asked, None while all is well.
    """

    def __init__(self, endpoint: Endpoint, connections: Connections, tuning: Tuning) -> None:
        self.pool = Pool(endpoint.base_urls, endpoint.concurrency, tuning.clock)
        self.retries = 0
        self.stopped: str | None = None
        self._endpoint = endpoint
        self._connections = connections
        self._tuning = tuning
        self._halted = asyncio.Event()
        self._replies = 0
        self._exhausted = 0

    def halt(self, reason: str) -> None:
        """Ask nothing more; attempts under way may end, none follows them."""
        if self.stopped is None:
            self.stopped = reason
        self._halted.set()

    async def ask(self, request: Request, body: bytes) -> Reply:
        """Return how the request ended. Its slot is the caller's to enter and leave."""
        attempts, replies_before = 0, self._replies
        fault: Fault | None = None
        avoid: int | None = None
        while True:
            server = await self._choose(avoid)
            if server is None:
                return self._held_back(attempts, fault)
            attempts += 1
            self.retries += attempts > 1
            try:
                reply = await self._attempt(server, request, body)
            except Fault as found:
                fault = found
            else:
                self._replies += 1
                self._exhausted = 0
                return replace(reply, attempts=attempts)
            if not fault.again:
                return self._final(server, attempts, fault, request)
            if attempts >= self._tuning.attempts:
                return self._give_up(attempts, fault, replies_before)
            await self._recover(server, attempts, fault)
            avoid = server

    async def _choose(self, avoid: int | None) -> int | None:
        """Return the server to ask, after its pause if all pause; None when asking was halted."""
        while not self._halted.is_set():
            server, seconds = self.pool.pick(avoid)
            if seconds > 0:
                await self._nap(seconds)
            elif self.pool.has_room(server):
                return server
            else:
                await self.pool.room()
        return None

    async def _attempt(self, server: int, request: Request, body: bytes) -> Reply:
        """Send once. Fault when no reply came; what the fault says of the servers is noted."""
        clock = self._tuning.clock
        epoch, started = self.pool.begin(server), clock()
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                answer = await self._connections.complete(server, body)
            reply = read_completion(
                answer,
                request,
                price=self._endpoint.price,
                hide=self._connections.key.hide,
                now=time.time(),
            )
        except TimeoutError:
            fault = Fault(f"no answer within {self._endpoint.timeout:g} seconds", overload=True)
        except Fault as found:
            fault = found
        else:
            self.pool.answered(server)
            return replace(reply, seconds=clock() - started)
        finally:
            self.pool.end(server)
        self._note(server, epoch, fault)
        raise fault

    def _note(self, server: int, epoch: int, fault: Fault) -> None:
        self.pool.faulted(server)
        if fault.overload:
            self.pool.overloaded(server, epoch)
        if fault.wait is not None and fault.wait > self._tuning.longest_hint:
            fault.again = False
            self.halt(
                f"{self._endpoint.base_urls[server]} asks to be left alone for "
                f"{fault.wait:.0f} seconds: {fault.reason}"
            )
        elif fault.wait is not None:
            # A little longer than asked, and not all at the same moment.
            self.pool.rotation.pause(server, fault.wait * (1 + self._tuning.random() / 10))
        elif fault.again:
            self.pool.strike(server, dead=fault.down)

    async def _recover(self, server: int, attempts: int, fault: Fault) -> None:
        """Back off before the next attempt, where no longer pause and no other server does."""
        seconds = self._tuning.backoff(attempts)
        if (fault.wait or 0.0) < seconds and not (fault.down and self.pool.rotation.others(server)):
            await self._nap(seconds)

    def _final(self, server: int, attempts: int, fault: Fault, request: Request) -> Reply:
        """Return the outcome of a fault that another attempt would not cure."""
        if fault.stops:
            self.halt(f"{self._endpoint.base_urls[server]}: {fault.reason}")
        else:
            self._exhausted = 0
        reason = fault.reason
        unknown = request.schema is not None and self._endpoint.schema_keywords is None
        if unknown and fault.names_schema:
            reason = f"{reason} ({SCHEMA_ADVICE})"
        return Reply(fault.outcome, reason=reason, attempts=attempts)

    def _give_up(self, attempts: int, fault: Fault, replies_before: int) -> Reply:
        """Return the failure of a request whose attempts are used up; halt if all seem to fail."""
        self._exhausted += 1
        if fault.down and self._replies == replies_before:
            self.halt(f"no server answers: {fault.reason}")
        elif self._exhausted >= self._tuning.give_up_after:
            self.halt(f"{self._exhausted} requests in a row failed, the last by: {fault.reason}")
        return _failed(attempts, fault)

    def _held_back(self, attempts: int, fault: Fault | None) -> Reply:
        if fault is None:
            return Reply("unasked", reason=self.stopped or "")
        return _failed(attempts, fault)

    async def _nap(self, seconds: float) -> None:
        """Sleep, but not on after a halt."""
        sleep = asyncio.ensure_future(self._tuning.sleep(seconds))
        halted = asyncio.ensure_future(self._halted.wait())
        try:
            await asyncio.wait({sleep, halted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            halted.cancel()


def _failed(attempts: int, fault: Fault) -> Reply:
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    return Reply("failed", reason=f"{fault.reason} (after {times})", attempts=attempts)
