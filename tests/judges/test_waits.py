"""Limits and waits of the whole client, by a clock that is told the time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx2

from judges.client import ask_async
from tests.judges.asking import (
    QUICK,
    Heard,
    Mock,
    ToldTime,
    asked,
    completion,
    endpoint,
    prompt_of,
    requests,
)


def test_no_more_is_in_flight_than_may_be() -> None:
    async def handler(sent: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0.1)
        return completion()

    mock = Mock(handler)
    asked(requests(28), mock, at=endpoint(concurrency=7))
    assert mock.most_open == 7


def test_a_hint_is_waited_for_by_all() -> None:
    time = ToldTime()
    sent_at: list[float] = []

    def handler(sent: httpx2.Request) -> httpx2.Response:
        sent_at.append(time.now)
        if len(sent_at) == 1:
            return httpx2.Response(429, headers={"retry-after": "7"}, json={})
        return completion()

    heard, tally = asked(
        requests(6), Mock(handler), at=endpoint(concurrency=1), tuning=time.tuning()
    )
    assert heard.outcomes == ["ok"] * 6
    assert sent_at == [1000.0] + [1007.0] * 6
    assert tally.retries == 1


def test_without_a_hint_the_wait_doubles() -> None:
    time = ToldTime()
    mock = Mock(lambda sent: httpx2.Response(500))
    heard, tally = asked(requests(1), mock, tuning=time.tuning(attempts=5, longest_wait=3))
    assert time.slept == [0.5, 1.0, 2.0, 3.0]
    assert heard.only.attempts == 5
    assert tally.retries == 4


def test_a_hint_shorter_than_the_back_off_does_not_shorten_it() -> None:
    # Else a server whose hints are too hopeful would use up the attempts in no time.
    time = ToldTime()
    mock = Mock(lambda sent: httpx2.Response(429, headers={"retry-after": "1"}, json={}))
    heard, _ = asked(requests(1), mock, tuning=time.tuning(attempts=5))
    assert heard.only.outcome == "failed"
    # The pause of a second stands for the back-offs of half a second and of one.
    assert time.slept == [1.0, 1.0, 2.0, 4.0]


def test_chance_takes_up_to_half_of_the_wait() -> None:
    time = ToldTime()
    tuning = replace(time.tuning(attempts=3), random=lambda: 1.0)
    asked(requests(1), Mock(lambda sent: httpx2.Response(500)), tuning=tuning)
    assert time.slept == [0.25, 0.5]


def test_while_one_server_pauses_the_others_are_asked() -> None:
    time = ToldTime()

    def handler(sent: httpx2.Request) -> httpx2.Response:
        if sent.url.host == "a":
            return httpx2.Response(429, headers={"retry-after": "9"}, json={})
        return completion()

    mock = Mock(handler)
    heard, _ = asked(
        requests(10),
        mock,
        at=endpoint("http://a/v1", "http://b/v1", concurrency=1),
        tuning=time.tuning(),
    )
    assert heard.outcomes == ["ok"] * 10
    assert mock.hosts == ["a", *"b" * 10]
    assert time.slept == []


def test_servers_are_asked_in_turn() -> None:
    mock = Mock()
    asked(requests(9), mock, at=endpoint("http://a/v1", "http://b/v1", "http://c/v1"))
    assert sorted(mock.hosts) == sorted("abc" * 3)


def test_a_server_that_cannot_be_reached_is_set_aside_and_comes_back() -> None:
    time = ToldTime()

    def handler(sent: httpx2.Request) -> httpx2.Response:
        time.now += 1
        if sent.url.host == "a" and time.now < 1008:
            raise httpx2.ConnectError("refused")
        return completion()

    mock = Mock(handler)
    e = endpoint("http://a/v1", "http://b/v1", concurrency=1)
    heard, _ = asked(requests(14), mock, at=e, tuning=time.tuning())
    assert heard.outcomes == ["ok"] * 14
    # Tried at 1001; aside for 5 seconds, tried at 1007; aside for 10; back in turn from 1017.
    assert "".join(mock.hosts) == "abbbbbabbbbbbbbbabab"[: len(mock.hosts)]
    assert time.slept == []


def test_overload_halves_what_is_asked_at_once_and_success_raises_it() -> None:
    n = 0
    all_there = asyncio.Event()

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        nonlocal n
        n += 1
        if n > 8:
            return completion()
        # The first burst of eight is refused, once all of it is there.
        if n == 8:
            all_there.set()
        await all_there.wait()
        return httpx2.Response(429, json={})

    mock = Mock(handler)
    heard, tally = asked(requests(60), mock, at=endpoint(concurrency=8), tuning=ToldTime().tuning())
    assert heard.outcomes == ["ok"] * 60
    assert tally.retries == 8
    # One burst halves once, to 4; 4 + 5 + 6 + 7 replies bring back 8.
    assert tally.concurrency == 8


def test_after_overload_no_more_than_the_lowered_limit_is_in_flight() -> None:
    opened: list[int] = []
    n = 0
    all_there = asyncio.Event()

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        nonlocal n
        n += 1
        if n <= 16:
            # One burst: all were begun before any is refused, however the machine is scheduled.
            if n == 16:
                all_there.set()
            await all_there.wait()
            return httpx2.Response(503)
        opened.append(mock.open)
        await asyncio.sleep(0.001)
        return completion()

    mock = Mock(handler)
    heard, tally = asked(
        requests(20), mock, at=endpoint(concurrency=16), tuning=ToldTime().tuning()
    )
    assert heard.outcomes == ["ok"] * 20
    assert max(opened) <= 9
    assert 8 <= tally.concurrency <= 10


def test_a_long_wait_does_not_outlive_a_stop() -> None:
    # One request backs off for minutes; another ends the run meanwhile.
    async def handler(sent: httpx2.Request) -> httpx2.Response:
        if prompt_of(sent) == "question 0":
            return httpx2.Response(500)
        await asyncio.sleep(0.02)
        return httpx2.Response(401, json={"error": {"message": "key"}})

    tuning = replace(QUICK, first_wait=300.0, longest_wait=300.0)
    heard, tally = asked(requests(2), Mock(handler), tuning=tuning)
    assert heard.outcomes.count("failed") == 2
    assert "401" in str(tally.stopped)
    assert tally.seconds < 30


async def test_a_stop_lets_go_whoever_waits_in_line() -> None:
    # Three are refused, so one may follow; while it is under way, the two others stand in line.
    n = 0

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        nonlocal n
        n += 1
        if n <= 3:
            return httpx2.Response(429, json={})
        await asyncio.sleep(0.05)
        return httpx2.Response(401, json={"error": {"message": "key"}})

    heard = Heard()
    asking = ask_async(
        endpoint(concurrency=3),
        requests(5),
        on_reply=heard,
        tuning=ToldTime().tuning(),
        transport=Mock(handler).transport,
    )
    tally = await asyncio.wait_for(asking, 10)
    assert heard.outcomes.count("failed") == 3
    assert tally.by_outcome == {"failed": 3, "unasked": 2}
    assert n == 4
