"""Several servers as one pool: load, limits of their own, death and return."""

from __future__ import annotations

import asyncio

from judges.client import ask
from judges.limits import Pool
from tests.judges.asking import QUICK, Heard, ToldTime, endpoint, requests
from tests.judges.faults import Answer, FaultServer, Seen, error, ok

A, B = "http://a/v1", "http://b/v1"


def test_the_least_loaded_server_is_asked() -> None:
    pool = Pool([A, B], 4, ToldTime().clock)
    for wanted in (0, 1, 0, 1):
        server, seconds = pool.pick()
        assert (server, seconds) == (wanted, 0.0)
        pool.begin(server)
    pool.end(1)
    pool.end(1)
    # B has none in flight, A two: the next two go to B.
    for _ in range(2):
        server, _ = pool.pick()
        assert server == 1
        pool.begin(server)


def test_each_server_has_a_limit_of_its_own() -> None:
    pool = Pool([A, B], 8, ToldTime().clock)
    assert pool.limit == 16
    pool.overloaded(0, pool.begin(0))
    assert [u.limit for u in pool.uses] == [4, 8]
    assert pool.limit == 12
    # By load, not in turn: with one in flight, A has a quarter in use, B nothing.
    assert [pool.pick()[0] for _ in range(3)] == [1, 1, 1]
    pool.end(0)
    for _ in range(4):
        pool.answered(0)
    assert [u.limit for u in pool.uses] == [5, 8]


def test_a_dead_server_is_left_alone_then_asked_one_then_as_many_as_before() -> None:
    time = ToldTime()
    pool = Pool([A, B], 4, time.clock)
    pool.strike(0, dead=True)
    pool.strike(0, dead=True)
    assert (pool.limit, [u.alive for u in pool.uses]) == (4, [False, True])
    assert pool.uses[0].set_aside == 1
    assert {pool.pick()[0] for _ in range(3)} == {1}
    time.now += 10
    assert pool.limit == 1 + 4
    assert pool.pick()[0] == 0
    pool.begin(0)
    assert not pool.has_room(0)
    assert {pool.pick()[0] for _ in range(3)} == {1}
    pool.end(0)
    pool.answered(0)
    assert (pool.limit, pool.uses[0].limit) == (8, 4)


async def test_who_finds_no_room_waits_until_an_attempt_ends() -> None:
    pool = Pool([A, B], 1, ToldTime().clock)
    pool.begin(0)
    pool.begin(1)
    assert not pool.has_room(pool.pick()[0])
    waiting = asyncio.create_task(pool.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    pool.end(1)
    await asyncio.wait_for(waiting, 1)
    assert pool.pick() == (1, 0.0)


def test_one_of_two_dies_midway_and_the_other_answers_everything() -> None:
    def dying(seen: Seen) -> Answer:
        if seen.number >= 5:
            first.halt()
            return Answer(cut=-1)
        return ok(f"first {seen.prompt}")

    heard = Heard()
    what = requests(60)
    with FaultServer(lambda s: ok(f"second {s.prompt}", wait=0.002)) as second:
        first = FaultServer(dying)
        with first:
            tally = ask(
                endpoint(first.url, second.url, concurrency=4), what, on_reply=heard, tuning=QUICK
            )
    assert heard.once_each(what)
    assert heard.outcomes == ["ok"] * 60
    by_url = {use.url: use for use in tally.servers}
    dead, alive = by_url[first.url], by_url[second.url]
    assert (dead.replies, alive.replies) == (5, 55)
    assert dead.faults >= 1
    assert (dead.alive, dead.set_aside) == (False, 1)
    assert (alive.alive, alive.faults) == (True, 0)
    # Every reply is of the server that gave it, and no request was asked of the living one twice.
    assert sum(r.text.startswith("first") for _, r in heard.pairs) == 5
    assert len({s.prompt for s in second.seen}) == len(second.seen) == 55
    assert tally.retries == dead.faults


def test_a_slow_and_overloaded_server_gets_less() -> None:
    heard = Heard()
    what = requests(80)
    with (
        FaultServer(lambda s: error(503) if s.nth == 0 and s.number < 8 else ok(wait=0.01)) as slow,
        FaultServer(lambda s: ok()) as quick,
    ):
        tally = ask(
            endpoint(slow.url, quick.url, concurrency=8), what, on_reply=heard, tuning=QUICK
        )
    assert heard.outcomes == ["ok"] * 80
    by_url = {use.url: use for use in tally.servers}
    assert by_url[quick.url].replies > by_url[slow.url].replies
    assert by_url[quick.url].limit == 8
    assert by_url[slow.url].faults >= 1
    assert slow.most_open <= 8
    assert quick.most_open <= 8


def test_a_single_server_is_told_like_a_pool_of_one() -> None:
    heard = Heard()
    with FaultServer(lambda s: ok()) as server:
        tally = ask(endpoint(server.url, concurrency=3), requests(6), on_reply=heard, tuning=QUICK)
    (use,) = tally.servers
    assert (use.url, use.replies, use.faults, use.limit) == (server.url, 6, 0, 3)
