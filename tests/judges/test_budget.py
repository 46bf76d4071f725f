"""Budgets and estimates: nothing is gone over, and nothing is said that is not known."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from judges.client import Budget, Estimate, estimate
from judges.requests import Reply
from tests.judges.asking import (
    PRICE,
    MemoryCache,
    Mock,
    asked,
    completion,
    endpoint,
    request,
    requests,
    use,
)


def test_a_budget_of_tokens_is_never_gone_over_when_replies_are_bounded() -> None:
    mock = use(3, 10)
    what = requests(100, max_tokens=10)
    heard, tally = asked(what, mock, budget=Budget(max_tokens=200), at=endpoint(concurrency=8))
    # 13 each: 15 requests are 195 tokens, a sixteenth may take 4 + 10.
    assert tally.prompt_tokens + tally.completion_tokens == 195
    assert tally.by_outcome == {"ok": 15, "unasked": 85}
    assert tally.stopped == (
        "the budget is used up: 195 of 200 tokens used, the next request may take 14"
    )
    held = {reply.reason for _, reply in heard.pairs if reply.outcome == "unasked"}
    assert held == {tally.stopped}


def test_what_is_held_for_replies_in_flight_is_given_back() -> None:
    # Each may take 1000 and takes 10: a budget of 2000 is enough for many.
    async def handler(sent: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0.02)
        return completion(usage=(2, 8))

    mock = Mock(handler)
    _, tally = asked(
        requests(30, max_tokens=990), mock, budget=Budget(max_tokens=2000), at=endpoint()
    )
    assert tally.by_outcome == {"ok": 30}
    assert mock.most_open == 2


def test_a_budget_of_money_stops() -> None:
    # 3 tokens at 1 and 10 at 2 per million: 23e-6 each.
    _, tally = asked(
        requests(100, max_tokens=10),
        use(3, 10),
        at=endpoint(price=PRICE, concurrency=4),
        budget=Budget(max_cost=301e-6),
    )
    assert tally.by_outcome == {"ok": 13, "unasked": 87}
    assert tally.cost == pytest.approx(13 * 23e-6)
    assert "0.000299 of 0.000301 USD used" in str(tally.stopped)


def test_unbounded_replies_go_over_by_no_more_than_what_is_in_flight() -> None:
    _, tally = asked(
        requests(200),
        use(3, 997),
        at=endpoint(concurrency=4),
        budget=Budget(max_tokens=10_000),
    )
    used = tally.prompt_tokens + tally.completion_tokens
    assert 10_000 - 1000 <= used <= 10_000 + 4 * 1000
    assert tally.stopped is not None


def test_usage_that_is_not_told_is_estimated_for_the_budget() -> None:
    mock = Mock(lambda sent: completion("x" * 400, usage=None))
    _, tally = asked(requests(50), mock, at=endpoint(concurrency=1), budget=Budget(max_tokens=1380))
    # A prompt of 10 to 11 bytes counts 4, a reply of 400 bytes 134; the first guess is 512.
    assert tally.by_outcome == {"ok": 10, "unasked": 40}
    assert tally.unknown_usage == 10


def test_a_budget_leaves_kept_replies_to_be_found() -> None:
    cache, known = MemoryCache(), requests(10)
    asked(known, cache=cache)
    new = [request(f"new {i}", max_tokens=5) for i in range(10)]
    _, tally = asked(new + known, cache=cache, budget=Budget(max_tokens=0))
    assert tally.by_outcome == {"ok": 10, "unasked": 10}
    assert (tally.asked, tally.cached) == (0, 10)


def test_a_budget_of_money_needs_a_price() -> None:
    with pytest.raises(ValueError, match="needs the model's price"):
        asked(requests(1), budget=Budget(max_cost=1.0))


@pytest.mark.parametrize("value", [-1, float("nan"), "5", True])
def test_a_budget_is_a_number(value: Any) -> None:
    with pytest.raises(ValueError, match="a budget is a number, 0 or more"):
        Budget(max_tokens=value)


def test_an_estimate_counts_what_would_be_asked() -> None:
    what = [request("x" * 40, max_tokens=100, sample=k) for k in range(10)]
    cache = MemoryCache({what[0].key: Reply("ok"), what[1].key: Reply("failed")})
    assert estimate(what + what[5:], cache, PRICE) == Estimate(
        n_requests=15,
        n_cached=6,
        n_to_ask=9,
        prompt_tokens=9 * 14,  # 40 bytes, 3 to a token
        max_completion_tokens=900,
        cost=(9 * 14 + 2 * 900) / 1e6,
        bytes_per_token=40 / 14,
    )
    told = estimate(what, cache, PRICE, lambda request: 4.0)
    assert (told.n_to_ask, told.prompt_tokens, told.bytes_per_token) == (9, 90, 4.0)


def test_an_estimate_does_not_know_what_nothing_bounds() -> None:
    what = [request("xxxx", max_tokens=100), request("yyyyé")]
    found = estimate(what, None, PRICE)
    assert (found.prompt_tokens, found.max_completion_tokens, found.cost) == (4, None, None)
    assert estimate(what[:1]).cost is None
    assert estimate([], None, PRICE) == Estimate(0, 0, 0, 0, 0, 0.0)
