"""Stopping, by the event, by Ctrl-C, by cancelling: what came is kept, the rest is asked later."""

from __future__ import annotations

import asyncio
import signal
import threading

import httpx2
import pytest

from judges.client import ask, ask_async
from judges.usage import Tally
from tests.judges.asking import (
    Heard,
    MemoryCache,
    Mock,
    asked,
    completion,
    endpoint,
    prompt_of,
    requests,
)


def test_the_stop_event_costs_what_is_in_flight_and_no_more() -> None:
    stop, cache = threading.Event(), MemoryCache()
    answered: list[str] = []

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        if len(answered) >= 20:
            stop.set()
            await asyncio.sleep(30)
        answered.append(prompt_of(sent))
        return completion()

    what = requests(500)
    heard, tally = asked(what, Mock(handler), at=endpoint(concurrency=4), cache=cache, stop=stop)
    assert tally.stopped == "interrupted"
    assert len(answered) == 20
    assert tally.by_outcome == {"ok": 20, "unasked": 480}
    assert len(cache.replies) == 20
    assert {r.reason for _, r in heard.pairs if r.outcome == "unasked"} == {"interrupted"}
    assert tally.seconds < 20


def test_a_stop_that_was_set_before_asks_nothing_for_long() -> None:
    stop = threading.Event()
    stop.set()

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(30)
        return completion()

    _, tally = asked(requests(2000), Mock(handler), stop=stop)
    assert tally.by_outcome == {"unasked": 2000}
    assert tally.seconds < 20


def test_a_stop_ends_a_pause() -> None:
    stop = threading.Event()

    def handler(sent: httpx2.Request) -> httpx2.Response:
        stop.set()
        return httpx2.Response(429, headers={"retry-after": "200"}, json={})

    _, tally = asked(requests(3), Mock(handler), at=endpoint(concurrency=1), stop=stop)
    assert tally.by_outcome == {"unasked": 3}
    assert tally.seconds < 20


def test_ctrl_c_keeps_what_came_and_raises() -> None:
    cache, told = MemoryCache(), Heard()
    answered: list[str] = []

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        number = int(prompt_of(sent).rsplit(" ", 1)[1])
        if number == 10:
            await asyncio.sleep(0.1)  # until the ten before have arrived
            signal.raise_signal(signal.SIGINT)
        if number >= 10:
            await asyncio.sleep(30)
        answered.append(prompt_of(sent))
        return completion()

    with pytest.raises(KeyboardInterrupt):
        ask(
            endpoint(concurrency=3),
            requests(500),
            cache=cache,
            on_reply=told,
            transport=Mock(handler).transport,
        )
    assert len(answered) == 10
    assert len(cache.replies) == 10
    assert told.outcomes == ["ok"] * 10
    # The next run asks only what is missing.
    mock = Mock()
    _, tally = asked(requests(500), mock, cache=cache)
    assert (tally.asked, tally.cached) == (490, 10)


async def test_cancelling_keeps_what_came() -> None:
    cache, twenty = MemoryCache(), asyncio.Event()

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        if twenty.is_set():
            await asyncio.sleep(30)
        if len(mock.prompts) >= 20:
            twenty.set()
        return completion()

    mock = Mock(handler)
    run = asyncio.create_task(
        ask_async(endpoint(concurrency=2), requests(100), cache=cache, transport=mock.transport)
    )
    await twenty.wait()
    await asyncio.sleep(0.05)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert 19 <= len(cache.replies) <= 22


def test_ask_works_in_a_thread() -> None:
    found: list[Tally] = []
    thread = threading.Thread(target=lambda: found.append(asked(requests(5))[1]))
    thread.start()
    thread.join(30)
    assert [tally.by_outcome for tally in found] == [{"ok": 5}]
