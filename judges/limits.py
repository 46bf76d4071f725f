"""How much is asked at once, of which server, and how long is waited: no HTTP in here."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

STRIKES = 3
"""Faults in a row after which a server is set aside, when there are others."""

FIRST_ASIDE, LONGEST_ASIDE = 5.0, 60.0
"""Seconds a dead server is left alone, doubled each time it is found dead again."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the client does about trouble, and the clock it does it by."""

    attempts: int = 7
    """Attempts per request, the first included."""
    first_wait: float = 0.5
    longest_wait: float = 30.0
    """Seconds of back-off: doubled each time, a random half of it taken off."""
    longest_hint: float = 300.0
    """A server that asks to be left alone for longer ends the run."""
    give_up_after: int = 20
    """So many requests in a row that used up their attempts end the run."""
    body_limit: int = 4 * 1024 * 1024
    """Bytes of an answer; a longer one is an invalid reply and is not read to its end."""
    chunk: int = 256
    """Requests looked up in the cache at once: how far the client reads ahead."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random

    def backoff(self, attempts: int) -> float:
        """Return how long to wait after that many attempts without a hint."""
        whole = min(self.first_wait * 2.0 ** (attempts - 1), self.longest_wait)
        return whole * (1 - self.random() / 2)


class Limiter:
    """How many requests may be held and active at once: halved on overload, grown by success.

    A request is *held* from its start to its end and *active* while an attempt is under way; what
    backs off is held but not active, so that a server that refuses everything is not flooded with
    new requests. Overload counts once per burst: an attempt that began before the last halving
    does not halve again. A window of successes, as many as the limit, lets one more in.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = most
        self.held = 0
        self.active = 0
        self._epoch = 0
        self._good = 0
        self._entering: deque[asyncio.Future[None]] = deque()
        self._resuming: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait until one more request may be held, and hold it."""
        while self.held >= self.limit:
            await _queue(self._entering)
        self.held += 1

    def leave(self) -> None:
        """Hold one request less."""
        self.held -= 1
        self._wake()

    async def resume(self) -> None:
        """Wait until one more attempt may be active. Follow with `begin` or `leave`."""
        while self.active >= self.limit:
            await _queue(self._resuming)

    def begin(self) -> int:
        """Count an attempt as active; the number returned goes to `overloaded`."""
        self.active += 1
        return self._epoch

    def end(self) -> None:
        """Count one attempt less."""
        self.active -= 1
        self._wake()

    def succeeded(self) -> None:
        """Note a reply; a window of them raises the limit."""
        if self.limit == self.most:
            return
        self._good += 1
        if self._good >= self.limit:
            self.limit += 1
            self._good = 0
            self._wake()

    def overloaded(self, epoch: int) -> None:
        """Note that an attempt which began in that epoch found the server overloaded."""
        if epoch == self._epoch:
            self._epoch += 1
            self._good = 0
            self.limit = max(1, self.limit // 2)

    def _wake(self) -> None:
        _release(self._resuming, self.limit - self.active)
        _release(self._entering, self.limit - self.held)


async def _queue(line: deque[asyncio.Future[None]]) -> None:
    place = asyncio.get_running_loop().create_future()
    line.append(place)
    await place


def _release(line: deque[asyncio.Future[None]], free: int) -> None:
    while line and free > 0:
        place = line.popleft()
        if not place.done():
            place.set_result(None)
            free -= 1


class _Server:
    __slots__ = ("aside_until", "found_dead", "paused_until", "strikes")

    def __init__(self) -> None:
        self.paused_until = self.aside_until = 0.0
        self.found_dead = self.strikes = 0


class Rotation:
    """Which of several servers is asked next: each in turn, but none that pauses or is dead."""

    def __init__(self, names: Sequence[str], clock: Callable[[], float]) -> None:
        self._servers = [_Server() for _ in names]
        self._clock = clock
        self._next = 0

    def pick(
        self, avoid: int | None = None, load: Callable[[int], float] | None = None
    ) -> tuple[int, float]:
        """Return the server to ask and the seconds to wait before asking (then pick again).

        With `load` (in use over allowed, 1 or more is full) the least loaded one is asked, one that
        is full only when all are.
        """
        now = self._clock()
        n = len(self._servers)
        turn = [(self._next + k) % n for k in range(n)]
        free = [i for i in turn if self._free(i, now)]
        loads = {i: 0.0 if load is None else load(i) for i in free}
        ranked = sorted(free, key=lambda i: (loads[i] >= 1, i == avoid, loads[i]))
        chosen = ranked[0] if ranked else None
        if chosen is None:
            # All pause or are dead. A dead one may be tried early, a pause is kept.
            waking = [i for i in turn if self._servers[i].paused_until <= now]
            if not waking:
                first = min(turn, key=lambda i: self._servers[i].paused_until)
                return first, self._servers[first].paused_until - now
            chosen = min(waking, key=lambda i: self._servers[i].aside_until)
        self._next = (chosen + 1) % n
        return chosen, 0.0

    def alive(self, index: int) -> bool:
        """Tell whether a server is not set aside now."""
        return self._servers[index].aside_until <= self._clock()

    def doubtful(self, index: int) -> bool:
        """Tell whether a server was set aside and has not answered since."""
        return self._servers[index].found_dead > 0

    def others(self, index: int) -> bool:
        """Tell whether another server is free now."""
        now = self._clock()
        return any(self._free(i, now) for i in range(len(self._servers)) if i != index)

    def pause(self, index: int, seconds: float) -> None:
        """Leave a server alone for so long, because it asked for it."""
        server = self._servers[index]
        server.paused_until = max(server.paused_until, self._clock() + seconds)

    def answered(self, index: int) -> None:
        """Note that a server lives."""
        server = self._servers[index]
        server.strikes = server.found_dead = 0
        server.aside_until = 0.0

    def strike(self, index: int, *, dead: bool) -> bool:
        """Note a fault; a dead server, or one with several in a row, is set aside for a while.

        Tell whether it is set aside now, and was not before.
        """
        server = self._servers[index]
        server.strikes += 1
        if dead or server.strikes >= STRIKES:
            seconds = min(FIRST_ASIDE * 2.0**server.found_dead, LONGEST_ASIDE)
            server.found_dead += 1
            server.strikes = 0
            was_alive = self.alive(index)
            server.aside_until = self._clock() + seconds
            return was_alive
        return False

    def _free(self, index: int, now: float) -> bool:
        server = self._servers[index]
        return server.paused_until <= now and server.aside_until <= now


@dataclass(frozen=True, slots=True)
class ServerUse:
    """What one of several servers did: `limit` is how much it is asked at once as it stands.

    `replies` are completions, `faults` attempts that brought none; `set_aside` says how often it
    was left alone because it seemed dead.
    """

    url: str
    replies: int = 0
    faults: int = 0
    set_aside: int = 0
    limit: int = 0
    alive: bool = True


class Pool:
    """Several servers as one pool of workers.

    Each has a limit of its own, which adapts by itself; the least loaded one is asked next. One
    that seems dead is left alone while the others go on, then asked a single request, and only
    when it answers as many as before.
    """

    def __init__(self, urls: Sequence[str], most: int, clock: Callable[[], float]) -> None:
        self.rotation = Rotation(urls, clock)
        self.held = 0
        self._urls = tuple(urls)
        self._limiters = [Limiter(most) for _ in urls]
        self._replies = [0] * len(urls)
        self._faults = [0] * len(urls)
        self._aside = [0] * len(urls)
        self._entering: deque[asyncio.Future[None]] = deque()
        self._choosing: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many requests may be held: what the servers that live may be asked at once."""
        alive = [i for i in range(len(self._limiters)) if self.rotation.alive(i)]
        return sum(self._allowed(i) for i in alive or range(len(self._limiters)))

    @property
    def uses(self) -> tuple[ServerUse, ...]:
        """What each server did."""
        return tuple(
            ServerUse(
                url,
                self._replies[i],
                self._faults[i],
                self._aside[i],
                self._allowed(i),
                self.rotation.alive(i),
            )
            for i, url in enumerate(self._urls)
        )

    async def enter(self) -> None:
        """Wait until one more request may be held, and hold it."""
        while self.held >= self.limit:
            await _queue(self._entering)
        self.held += 1

    def leave(self) -> None:
        """Hold one request less."""
        self.held -= 1
        self._wake()

    def pick(self, avoid: int | None = None) -> tuple[int, float]:
        """Return the server to ask, and the seconds to wait before (then pick again)."""
        return self.rotation.pick(avoid, self._load)

    def has_room(self, index: int) -> bool:
        """Tell whether a server may be asked one more at once."""
        return self._load(index) < 1

    async def room(self) -> None:
        """Wait until some attempt ends (then pick again)."""
        await _queue(self._choosing)

    def begin(self, index: int) -> int:
        """Count an attempt at a server; the number returned goes to `overloaded`."""
        return self._limiters[index].begin()

    def end(self, index: int) -> None:
        """Count one attempt at a server less."""
        self._limiters[index].end()
        self._wake()

    def overloaded(self, index: int, epoch: int) -> None:
        """Note that a server wants less."""
        self._limiters[index].overloaded(epoch)

    def answered(self, index: int) -> None:
        """Note a reply."""
        self._replies[index] += 1
        self.rotation.answered(index)
        self._limiters[index].succeeded()

    def faulted(self, index: int) -> None:
        """Note an attempt without a reply."""
        self._faults[index] += 1

    def strike(self, index: int, *, dead: bool) -> None:
        """Note that a server may be dead."""
        self._aside[index] += self.rotation.strike(index, dead=dead)

    def _allowed(self, index: int) -> int:
        single = len(self._limiters) == 1
        if not single and self.rotation.doubtful(index):
            return 1
        return self._limiters[index].limit

    def _load(self, index: int) -> float:
        return self._limiters[index].active / self._allowed(index)

    def _wake(self) -> None:
        free = sum(max(0, self._allowed(i) - x.active) for i, x in enumerate(self._limiters))
        _release(self._choosing, free)
        _release(self._entering, self.limit - self.held)
