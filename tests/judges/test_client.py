"""The client's own promises: every request ends once, and the tallies add up."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judges.client import Budget
from judges.usage import Tally
from tests.judges.asking import (
    PRICE,
    VERDICT,
    Handler,
    MemoryCache,
    Mock,
    ToldTime,
    adds_up,
    asked,
    completion,
    endpoint,
    request,
    requests,
    use,
)


def test_nothing_to_ask_is_no_trouble() -> None:
    _, tally = asked([])
    assert (tally.settled, tally.requests_per_second, tally.stopped) == (0, None, None)


def test_tallies_grow_and_the_last_is_the_one_returned() -> None:
    tallies: list[Tally] = []

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0.02)
        return completion()

    _, tally = asked(
        requests(60), Mock(handler), at=endpoint(concurrency=3), on_tally=tallies.append
    )
    assert tallies[-1] == tally
    assert len(tallies) >= 3
    assert all(a.settled <= b.settled and a.seconds <= b.seconds for a, b in pairwise(tallies))
    assert all(adds_up(t) for t in tallies)
    assert tally.requests_per_second == pytest.approx(60 / tally.seconds)


def test_use_is_told_by_role() -> None:
    what = [*requests(4, role="generator"), *[request(f"j{i}", role="judge") for i in range(2)]]
    cache = MemoryCache()
    asked(what[:1], cache=cache)
    _, tally = asked(what, use(5, 2), at=endpoint(price=PRICE), cache=cache)
    generator, judge = tally.by_role["generator"], tally.by_role["judge"]
    assert (generator.requests, generator.asked, generator.cached) == (4, 3, 1)
    assert (generator.prompt_tokens, generator.completion_tokens) == (15, 6)
    assert (judge.requests, judge.prompt_tokens, judge.completion_tokens) == (2, 10, 4)
    assert judge.cost == pytest.approx(2 * 9e-6)
    assert tally.cost == pytest.approx(5 * 9e-6)


def test_an_endpoints_extras_are_sent() -> None:
    bodies: list[Any] = []

    def handler(sent: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(sent.content))
        return completion()

    asked([request(max_tokens=3)], Mock(handler), at=endpoint(extra={"top_k": 4}))
    [body] = bodies
    assert (body["top_k"], body["max_tokens"]) == (4, 3)


def test_openai_itself_is_told_the_bound_by_its_name() -> None:
    bodies: list[Any] = []

    def handler(sent: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(sent.content))
        return completion()

    asked([request(max_tokens=3)], Mock(handler), at=endpoint("https://api.openai.com/v1"))
    [body] = bodies
    assert body["max_completion_tokens"] == 3
    assert "max_tokens" not in body


STATUSES = [400, 408, 413, 429, 500, 501, 503]
FINISHES = ["stop", "length", "content_filter", None, "tool_calls"]

answers = st.one_of(
    st.sampled_from(STATUSES).map(lambda status: ("status", status)),
    st.just(("status", 401)),
    st.tuples(
        st.just("reply"),
        st.sampled_from(["fine", "", '{"verdict": "sound"}', "\x00\ud800"]),
    ),
    st.sampled_from(FINISHES).map(lambda finish: ("finish", finish)),
    st.binary(max_size=12).map(lambda body: ("body", body)),
    st.sampled_from(["connect", "read", "protocol", "timeout"]).map(lambda kind: ("raise", kind)),
)

ERRORS: dict[str, Callable[[], Exception]] = {
    "connect": lambda: httpx2.ConnectError("refused"),
    "read": lambda: httpx2.ReadError("cut"),
    "protocol": lambda: httpx2.RemoteProtocolError("odd"),
    "timeout": lambda: httpx2.ReadTimeout("slow"),
}


def played(script: list[tuple[str, Any]]) -> Handler:
    """Answer by the script, over and over."""
    n = 0

    def handler(sent: httpx2.Request) -> httpx2.Response:
        nonlocal n
        kind, value = script[n % len(script)]
        n += 1
        if kind == "raise":
            raise ERRORS[value]()
        if kind == "status":
            hint = {"retry-after-ms": "1"} if n % 2 else {}
            return httpx2.Response(value, headers=hint, json={"error": {"message": "no"}})
        if kind == "body":
            return httpx2.Response(200, content=value)
        text, finish = (value, "stop") if kind == "reply" else ("cut", value)
        choice = {"message": {"content": text}, "finish_reason": finish}
        return httpx2.Response(200, content=json.dumps({"choices": [choice]}).encode())

    return handler


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    script=st.lists(answers, min_size=1, max_size=12),
    picks=st.lists(st.integers(0, 5), max_size=30),
    schema=st.booleans(),
    cached=st.booleans(),
    budget=st.none() | st.integers(0, 3000),
    concurrency=st.integers(1, 6),
    chunk=st.integers(1, 9),
    seed=st.integers(0, 9),
)
def test_every_request_ends_once_whatever_the_server_does(
    script: list[tuple[str, Any]],
    picks: list[int],
    schema: bool,
    cached: bool,
    budget: int | None,
    concurrency: int,
    chunk: int,
    seed: int,
) -> None:
    # Equal requests among them, on two servers, with a little of everything going wrong.
    what = [request(f"q{i}", schema=VERDICT if schema else None, max_tokens=50) for i in picks]
    time = ToldTime()
    tuning = replace(
        time.tuning(attempts=3, chunk=chunk, give_up_after=4), random=random.Random(seed).random
    )
    cache = MemoryCache() if cached else None
    heard, tally = asked(
        what,
        Mock(played(script)),
        at=endpoint("http://a/v1", "http://b/v1", concurrency=concurrency),
        cache=cache,
        budget=None if budget is None else Budget(max_tokens=budget),
        tuning=tuning,
    )
    assert ("unasked" in tally.by_outcome) <= (tally.stopped is not None)
    for asked_, reply in heard.pairs:
        assert bool(reply.reason) == (reply.outcome != "ok")
        assert (reply.data is not None) == (schema and reply.outcome == "ok")
        if cache is not None:
            assert (asked_.key in cache.replies) == reply.replied
    if cache is not None:
        # A second run against a server that works asks exactly what has no reply.
        missing = {a.key for a, r in heard.pairs if not r.replied}
        mock = Mock(lambda sent: completion('{"verdict": "sound"}'))
        _, again = asked(what, mock, cache=cache)
        assert len(mock.prompts) == len(missing)
        assert again.stopped is None
