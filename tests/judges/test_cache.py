"""What is kept is not asked, what came is kept, and no error loses a reply."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from judges.client import WAITING_PER_SLOT, ask
from judges.requests import Reply, Request
from judges.usage import Tally
from tests.judges.asking import (
    PRICE,
    QUICK,
    VERDICT,
    MemoryCache,
    Mock,
    asked,
    completion,
    endpoint,
    request,
    requests,
)

ROOT = Path(__file__).parents[2]


def test_what_is_kept_is_not_asked() -> None:
    cache, mock, what = MemoryCache(), Mock(), requests(10)
    asked(what[:6], mock, cache=cache)
    heard, tally = asked(what, mock, cache=cache)
    assert sorted(mock.prompts) == sorted(f"question {i}" for i in range(10))
    assert sorted(reply.cached for _, reply in heard.pairs) == [False] * 4 + [True] * 6
    assert (tally.asked, tally.cached) == (4, 6)
    # Tokens are this run's own.
    assert (tally.prompt_tokens, tally.completion_tokens) == (44, 28)


def test_what_is_all_kept_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    cache, what = MemoryCache(), requests(3)
    asked(what, cache=cache)
    at = endpoint(key_env="PLANTED_KEY")
    _, tally = asked(what, at=at, cache=cache)
    assert (tally.asked, tally.cached) == (0, 3)
    with pytest.raises(ValueError, match="PLANTED_KEY"):
        asked(requests(4), at=at, cache=cache)


def test_what_is_all_kept_does_not_load_the_library() -> None:
    script = """
import sys
from judges.client import ask
from judges.probe import probe
from judges.endpoint import Endpoint
from judges.requests import Message, Reply, Request

class Cache:
    def find_replies(self, keys):
        return {key: Reply("ok", text="kept") for key in keys}

    def keep_replies(self, entries):
        sys.exit("nothing was to be kept")

at = Endpoint("m", "m", ("http://127.0.0.1:9/v1",))
tally = ask(at, [Request("r", "m", (Message("user", "hi"),))], cache=Cache())
if tally.cached != 1:
    sys.exit(f"not found: {tally}")
heavy = {"openai", "httpx2", "jsonschema"} & set(sys.modules)
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reply_is_kept_before_it_is_told() -> None:
    cache = MemoryCache()

    def told(asked_: Request, reply: Reply) -> None:
        assert cache.replies[asked_.key].text == reply.text

    tally = ask(endpoint(), requests(30), cache=cache, on_reply=told, transport=Mock().transport)
    assert tally.by_outcome == {"ok": 30}


def test_replies_are_kept_many_at_a_time_while_the_cache_is_busy() -> None:
    class Slow(MemoryCache):
        def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
            threading.Event().wait(0.02)
            super().keep_replies(entries)

    cache = Slow()
    asked(requests(100), cache=cache)
    assert sum(cache.batches) == 100
    assert len(cache.batches) < 60


def test_asking_pauses_while_too_many_replies_wait_for_the_cache() -> None:
    mock = Mock()
    stuck: list[int] = []

    class Stuck(MemoryCache):
        def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
            if not stuck:
                seen = [-1] * 3
                while seen[-3] < len(mock.prompts):  # until no more is sent for a while
                    seen.append(len(mock.prompts))
                    threading.Event().wait(0.1)
                stuck.append(seen[-1])
            super().keep_replies(entries)

    asked(requests(200), mock, at=endpoint(concurrency=2), cache=Stuck())
    # The batch being kept, those that wait, and those in flight.
    assert 8 <= stuck[0] <= 2 + WAITING_PER_SLOT * 2 + 2 + 2
    assert len(mock.prompts) == 200


def test_the_cache_is_used_from_one_other_thread() -> None:
    threads = set()

    class Watched(MemoryCache):
        def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
            threads.add(threading.current_thread())
            return super().find_replies(keys)

        def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
            threads.add(threading.current_thread())
            super().keep_replies(entries)

    asked(requests(20), cache=Watched())
    assert len(threads) == 1
    assert threading.current_thread() not in threads


def test_equal_requests_are_asked_once() -> None:
    mock, what = Mock(), [request("same") for _ in range(40)] + requests(3)
    heard, tally = asked(what, mock)
    assert len(mock.prompts) == 4
    assert (tally.asked, tally.cached) == (4, 39)
    assert tally.prompt_tokens == 44
    assert {r.text for a, r in heard.pairs if a.messages[0].content == "same"} == {"same"}


def test_samples_are_not_equal() -> None:
    mock = Mock()
    asked([request("same", sample=k) for k in range(20)], mock)
    assert len(mock.prompts) == 20


def test_equal_requests_share_a_failure_too() -> None:
    mock = Mock(lambda sent: httpx2.Response(400, json={"error": {"message": "no"}}))
    heard, tally = asked([request("same") for _ in range(5)], mock)
    assert len(mock.prompts) == 1
    assert heard.outcomes == ["failed"] * 5
    assert (tally.asked, tally.cached) == (5, 0)


def test_an_equal_request_in_a_later_chunk_is_found_in_the_cache() -> None:
    mock = Mock()
    what = [request("same"), *requests(20), request("same")]
    tuning = replace(QUICK, chunk=3)
    _, tally = asked(what, mock, cache=MemoryCache(), tuning=tuning)
    assert mock.prompts.count("same") == 1
    assert (tally.asked, tally.cached) == (21, 1)


def test_data_is_read_from_the_text_of_a_kept_reply() -> None:
    text = '{"verdict": "unsound"}'
    asked_ = request(schema=VERDICT)
    cache = MemoryCache({asked_.key: Reply("ok", text=text)})
    heard, _ = asked([asked_], cache=cache)
    assert heard.only.data == {"verdict": "unsound"}
    # A kept reply that does not follow the schema is not made to.
    cache = MemoryCache({asked_.key: Reply("ok", text="unsound")})
    heard, tally = asked([asked_], cache=cache)
    assert (heard.only.outcome, heard.only.data, heard.only.cached) == ("invalid", None, True)
    assert tally.by_outcome == {"invalid": 1}


class Shared(MemoryCache):
    """A cache that somebody else fills too: it tells what stood before."""

    def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> Mapping[str, Reply]:  # type: ignore[override]
        before = {a.key: self.replies[a.key] for a, _ in entries if a.key in self.replies}
        super().keep_replies(entries)
        return before


def test_what_another_kept_meanwhile_is_what_is_told() -> None:
    what = requests(3, schema=VERDICT)
    other = Reply("ok", '{"verdict": "sound"}', prompt_tokens=99, cost=9.0, attempts=9)
    cache = Shared()

    def answer(sent: httpx2.Request) -> httpx2.Response:
        cache.replies.setdefault(what[1].key, other)
        return completion('{"verdict": "unsound"}')

    heard, tally = asked(what, Mock(answer), at=endpoint(price=PRICE), cache=cache)
    told = {a.key: r for a, r in heard.pairs}
    assert [told[a.key].data["verdict"] for a in what] == ["unsound", "sound", "unsound"]
    # What was spent is ours all the same.
    assert (told[what[1].key].prompt_tokens, told[what[1].key].attempts) == (11, 1)
    assert (tally.asked, tally.cached, tally.prompt_tokens) == (3, 0, 33)
    assert tally.cost == pytest.approx(3 * PRICE.cost(11, 7))


def test_what_another_kept_may_be_a_refusal() -> None:
    (asked_,) = requests(1)
    cache = Shared()

    def answer(sent: httpx2.Request) -> httpx2.Response:
        cache.replies[asked_.key] = Reply("refused", "no", reason="the model refused: no")
        return completion()

    heard, tally = asked([asked_], Mock(answer), cache=cache)
    assert (heard.only.outcome, heard.only.text) == ("refused", "no")
    assert tally.by_outcome == {"refused": 1}


def test_requests_are_read_a_chunk_ahead_and_not_further() -> None:
    read = []
    ahead = []

    def source() -> Iterator[Request]:
        for asked_ in requests(200):
            read.append(asked_)
            yield asked_

    def told(asked_: Request, reply: Reply) -> None:
        told_.append(asked_)
        ahead.append(len(read) - len(told_))

    told_: list[Request] = []
    tuning = replace(QUICK, chunk=8)
    e = endpoint(concurrency=4)
    ask(e, source(), on_reply=told, tuning=tuning, transport=Mock().transport)
    assert len(told_) == 200
    assert max(ahead) <= 8 + 8 + 4


def test_a_cache_that_fails_ends_the_run_with_its_error() -> None:
    class Full(MemoryCache):
        def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        asked(requests(50), cache=Full())


def test_a_cache_that_cannot_be_read_ends_the_run_with_its_error() -> None:
    class Broken(MemoryCache):
        def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
            raise OSError("locked")

    with pytest.raises(OSError, match="locked"):
        asked(requests(50), cache=Broken())


@pytest.mark.parametrize("with_cache", [True, False])
def test_a_callback_that_fails_ends_the_run_and_loses_no_reply(with_cache: bool) -> None:
    cache, mock, told = MemoryCache(), Mock(), []

    def fail(asked_: Request, reply: Reply) -> None:
        told.append(reply)
        if len(told) == 5:
            raise RuntimeError("the fifth")

    with pytest.raises(RuntimeError, match="the fifth"):
        ask(
            endpoint(concurrency=2),
            requests(50),
            cache=cache if with_cache else None,
            on_reply=fail,
            transport=mock.transport,
        )
    assert len(told) == 5
    if with_cache:
        assert len(cache.replies) >= 5


def test_a_tally_that_cannot_be_told_ends_the_run_and_loses_no_reply() -> None:
    cache = MemoryCache()

    async def handler(sent: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0.02)
        return completion()

    def fail(tally: Tally) -> None:
        raise RuntimeError("no screen")

    mock = Mock(handler)
    with pytest.raises(RuntimeError, match="no screen"):
        asked(requests(200), mock, at=endpoint(concurrency=2), cache=cache, on_tally=fail)
    assert len(mock.prompts) - 2 <= len(cache.replies) <= len(mock.prompts) < 200


def test_a_source_that_fails_ends_the_run_and_loses_no_reply() -> None:
    cache = MemoryCache()

    def source() -> Iterator[Request]:
        yield from requests(6)
        raise KeyError("row 7")

    with pytest.raises(KeyError, match="row 7"):
        ask(
            endpoint(),
            source(),
            cache=cache,
            tuning=replace(QUICK, chunk=6),
            transport=Mock().transport,
        )
    assert all(reply.outcome == "ok" for reply in cache.replies.values())


def test_a_schema_that_is_none_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="not a JSON schema"):
        asked([request(schema={"type": "thing"})])


def test_a_request_that_cannot_be_written_fails_by_itself() -> None:
    odd = request("odd")
    odd = replace(odd, sampling=replace(odd.sampling, temperature=float("nan")))
    heard, tally = asked([odd, *requests(2)])
    assert tally.by_outcome == {"ok": 2, "failed": 1}
    assert "cannot be written as JSON" in heard.pairs[0][1].reason
