"""Replies into the cache and out of it, in a thread of its own, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from judges.outcomes import read_data
from judges.requests import Reply, ReplyCache, Request


def as_cached(request: Request, kept: Reply) -> Reply:
    """Return a kept reply, its data read from its text where the cache does not keep data."""
    if request.schema is None or kept.outcome != "ok" or kept.data is not None:
        return kept if kept.cached else replace(kept, cached=True)
    data, wrong = read_data(kept.text, request.schema)
    if wrong:
        return replace(kept, outcome="invalid", reason=wrong, cached=True)
    return replace(kept, data=data, cached=True)


def standing(request: Request, ours: Reply, kept: Reply) -> Reply:
    """Return what another process keeps of a request that we asked too, with what ours used.

    What a reply says is what is kept, for rows are made of it; tokens, cost and time are ours, for
    they were spent.
    """
    return replace(
        as_cached(request, kept),
        prompt_tokens=ours.prompt_tokens,
        completion_tokens=ours.completion_tokens,
        cost=ours.cost,
        seconds=ours.seconds,
        attempts=ours.attempts,
        cached=False,
    )


class Keeper:
    """The one who speaks to a run's cache, always from the same thread.

    What arrives while a batch is being written is the next batch. `settle` is called for each
    request after its reply is kept, with the reply that is kept: where another process had kept one
    to the same request before, that one (see `standing`).
    """

    def __init__(
        self, cache: ReplyCache, settle: Callable[[Request, Reply], None], most_waiting: int
    ) -> None:
        self._cache = cache
        self._settle = settle
        self._most_waiting = most_waiting
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="replies")
        self._waiting: list[tuple[Request, Reply]] = []
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closed = False

    async def find(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the kept replies of those keys."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._cache.find_replies, keys)

    def add(self, request: Request, reply: Reply) -> None:
        """Take a reply that is to be kept."""
        self._waiting.append((request, reply))
        self._arrived.set()
        if len(self._waiting) >= self._most_waiting:
            self._room.clear()

    async def room(self) -> None:
        """Wait while more replies wait than should: the cache is slower than the servers."""
        await self._room.wait()

    def close(self) -> None:
        """Let `run` end when nothing waits any more."""
        self._closed = True
        self._arrived.set()

    async def run(self) -> None:
        """Keep what arrives, until closed. What the cache or `settle` raises ends it."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._arrived.wait()
                self._arrived.clear()
                while self._waiting:
                    batch, self._waiting = self._waiting, []
                    known = await loop.run_in_executor(
                        self._thread, self._cache.keep_replies, batch
                    )
                    for request, reply in batch:
                        kept = known.get(request.key) if known else None
                        self._settle(
                            request, reply if kept is None else standing(request, reply, kept)
                        )
                    self._room.set()
                if self._closed:
                    return
        finally:
            self._room.set()
            self._thread.shutdown(wait=False)
