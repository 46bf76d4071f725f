"""How much at once, of whom, and when again: clocks, sleeps and chances are told."""

from __future__ import annotations

import asyncio

import pytest

from judges.faults import fault_of_status, retry_hint
from judges.limits import Limiter, Rotation, Tuning
from tests.judges.asking import ToldTime

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "60"}, 60.0),
        # 2023-11-14 22:13:20 is NOW.
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, 0.0),
        (
            {
                "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT",
                "date": "Tue, 14 Nov 2023 22:13:45 GMT",
            },
            5.0,
        ),
        ({"x-ratelimit-reset-requests": "1s"}, 1.0),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "1m20ms"}, 60.02),
        ({"x-ratelimit-reset-tokens": ""}, None),
        ({"x-ratelimit-reset-tokens": "later"}, None),
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-reset-tokens": "2s"}, 9.0),
        (
            {
                "x-ratelimit-reset-requests": "9s",
                "x-ratelimit-remaining-requests": "5",
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-tokens": "0",
            },
            2.0,
        ),
        ({"ratelimit-reset": "7"}, 7.0),
        ({"x-ratelimit-reset": str(NOW + 4)}, 4.0),
        ({"x-ratelimit-reset": str(int((NOW + 4) * 1000))}, 4.0),
        ({"x-ratelimit-reset": str(NOW - 4)}, 0.0),
    ],
)
def test_hints_are_read_in_all_their_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_hint(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("status", "code", "headers", "again", "stops", "overload"),
    [
        (400, None, {}, False, False, False),
        (400, "model_not_found", {}, False, True, False),
        (401, None, {}, False, True, False),
        (402, None, {}, False, True, False),
        (403, None, {}, False, True, False),
        (404, "model_not_found", {}, False, True, False),
        (405, None, {}, False, True, False),
        (307, None, {}, False, True, False),
        (408, None, {}, True, False, False),
        (409, None, {}, True, False, False),
        (413, None, {}, False, False, False),
        (422, None, {}, False, False, False),
        (429, None, {}, True, False, True),
        (429, "insufficient_quota", {}, False, True, True),
        (500, None, {}, True, False, False),
        (500, None, {"x-should-retry": "false"}, False, False, False),
        (400, None, {"x-should-retry": "true"}, True, False, False),
        (501, None, {}, False, False, False),
        (503, None, {}, True, False, True),
        (529, None, {}, True, False, True),
        (599, None, {}, True, False, False),
    ],
)
def test_a_status_says_whether_to_ask_again(
    status: int,
    code: str | None,
    headers: dict[str, str],
    again: bool,
    stops: bool,
    overload: bool,
) -> None:
    body = b'{"error": {"message": "because", "code": %b}}' % (
        b"null" if code is None else f'"{code}"'.encode()
    )
    fault = fault_of_status(status, headers, body, hide=str, now=NOW)
    assert (fault.again, fault.stops) == (again, stops)
    assert fault.overload == (overload and not stops)
    assert str(status) in fault.reason
    assert "because" in fault.reason
    assert fault.status == status


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "busy"}', "busy"),
        (b'{"message": "busy"}', "busy"),
        (b'{"detail": "busy"}', "busy"),
        (b'{"detail": [{"loc": ["n"]}]}', '[{"loc": ["n"]}]'),
        (b"busy\r\n\x1b[0m", r"busy \x1b[0m"),
        (b"\xff", "\ufffd"),
        (b"", ""),
        (b"x" * 5000, "x" * 299 + "…"),
    ],
)
def test_a_servers_message_is_found_in_any_shape(body: bytes, message: str) -> None:
    fault = fault_of_status(500, {}, body, hide=str, now=NOW)
    assert fault.reason == "500 Internal Server Error" + (f": {message}" if message else "")


def test_a_filtered_prompt_is_a_refusal() -> None:
    body = b'{"error": {"message": "filtered", "code": "content_filter"}}'
    fault = fault_of_status(400, {}, body, hide=str, now=NOW)
    assert (fault.outcome, fault.again, fault.stops) == ("refused", False, False)


def test_the_back_off_doubles_up_to_a_bound_and_half_of_it_is_chance() -> None:
    surely = Tuning(first_wait=0.5, longest_wait=30, random=lambda: 0.0)
    assert [surely.backoff(k) for k in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    luckily = Tuning(first_wait=0.5, longest_wait=30, random=lambda: 1.0)
    assert [luckily.backoff(k) for k in (1, 2)] == [0.25, 0.5]


def test_overload_halves_once_per_burst() -> None:
    limiter = Limiter(16)
    first = [limiter.begin() for _ in range(16)]
    limiter.overloaded(first[0])
    limiter.overloaded(first[1])
    limiter.overloaded(first[2])
    assert limiter.limit == 8
    later = limiter.begin()
    limiter.overloaded(later)
    assert limiter.limit == 4


def test_the_limit_never_falls_below_one() -> None:
    limiter = Limiter(3)
    limits = []
    for _ in range(4):
        limiter.overloaded(limiter.begin())
        limits.append(limiter.limit)
    assert limits == [1, 1, 1, 1]


def test_a_window_of_successes_lets_one_more_in_up_to_the_most() -> None:
    limiter = Limiter(5)
    limiter.overloaded(limiter.begin())
    assert limiter.limit == 2
    steps = []
    for k in range(1, 20):
        before = limiter.limit
        limiter.succeeded()
        if limiter.limit != before:
            steps.append((k, limiter.limit))
    assert steps == [(2, 3), (5, 4), (9, 5)]


async def test_who_comes_too_much_waits_until_one_leaves() -> None:
    limiter = Limiter(2)
    await limiter.enter()
    await limiter.enter()
    third = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)
    assert not third.done()
    limiter.leave()
    await third
    assert limiter.held == 2


async def test_attempts_that_follow_wait_for_the_lowered_limit() -> None:
    limiter = Limiter(4)
    epochs = []
    for _ in range(4):
        await limiter.enter()
        epochs.append(limiter.begin())
    limiter.overloaded(epochs[0])
    limiter.end()
    again = asyncio.create_task(limiter.resume())
    await asyncio.sleep(0)
    assert not again.done()  # 3 are active, 2 may be
    limiter.end()
    await asyncio.sleep(0)
    assert not again.done()
    limiter.end()
    await asyncio.wait_for(again, 1)
    assert limiter.active == 1


def test_servers_are_asked_in_turn() -> None:
    rotation = Rotation("abc", ToldTime().clock)
    assert [rotation.pick()[0] for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_another_attempt_goes_to_another_server() -> None:
    rotation = Rotation("ab", ToldTime().clock)
    assert rotation.pick(avoid=0) == (1, 0.0)
    assert rotation.pick(avoid=0) == (1, 0.0)
    assert Rotation("a", ToldTime().clock).pick(avoid=0) == (0, 0.0)


def test_a_dead_server_is_set_aside_and_tried_again_later() -> None:
    time = ToldTime()
    rotation = Rotation("ab", time.clock)
    rotation.strike(0, dead=True)
    assert [rotation.pick()[0] for _ in range(3)] == [1, 1, 1]
    time.now += 5
    assert {rotation.pick()[0] for _ in range(2)} == {0, 1}
    rotation.strike(0, dead=True)  # dead again: for twice as long
    time.now += 9
    assert {rotation.pick()[0] for _ in range(3)} == {1}
    time.now += 1
    assert {rotation.pick()[0] for _ in range(2)} == {0, 1}
    rotation.answered(0)
    rotation.strike(0, dead=True)  # it lived in between: the first wait again
    time.now += 5
    assert {rotation.pick()[0] for _ in range(2)} == {0, 1}


def test_three_faults_in_a_row_set_a_server_aside() -> None:
    rotation = Rotation("ab", ToldTime().clock)
    for _ in range(2):
        rotation.strike(0, dead=False)
    rotation.answered(0)
    for _ in range(2):
        rotation.strike(0, dead=False)
    assert {rotation.pick()[0] for _ in range(2)} == {0, 1}
    rotation.strike(0, dead=False)
    assert {rotation.pick()[0] for _ in range(2)} == {1}


def test_when_all_are_dead_the_one_due_first_is_tried_at_once() -> None:
    time = ToldTime()
    rotation = Rotation("ab", time.clock)
    rotation.strike(1, dead=True)
    time.now += 1
    rotation.strike(0, dead=True)
    assert [rotation.pick() for _ in range(2)] == [(1, 0.0), (1, 0.0)]


def test_a_pause_is_kept_even_when_all_pause() -> None:
    time = ToldTime()
    rotation = Rotation("ab", time.clock)
    rotation.pause(0, 10)
    assert [rotation.pick()[0] for _ in range(2)] == [1, 1]
    rotation.pause(1, 4)
    rotation.pause(1, 2)  # a shorter one does not shorten it
    assert rotation.pick() == (1, 4.0)
    time.now += 4
    assert rotation.pick() == (1, 0.0)
