"""The client against a real server that fails: N asked, N settled, each with a clear outcome."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from judges.client import Tuning, ask
from judges.requests import Reply, Request
from judges.usage import Tally
from tests.judges.asking import (
    PRICE,
    QUICK,
    VERDICT,
    Heard,
    MemoryCache,
    adds_up,
    endpoint,
    request,
    requests,
)
from tests.judges.faults import (
    CUT_BODY,
    DROPPED,
    MEGABYTE,
    NO_JSON,
    Answer,
    FaultServer,
    Script,
    Seen,
    error,
    huge,
    ok,
)

SECRET = "sk-Planted/7=secret"


def first(n: int, fault: Answer, then: Answer | None = None) -> Script:
    """Answer every prompt's first n attempts with the fault."""
    return lambda seen: fault if seen.nth < n else (then or ok())


def asked(
    script: Script, what: list[Request], *, tuning: Tuning = QUICK, **changes: Any
) -> tuple[Heard, Tally, FaultServer]:
    """Ask the server with that script; check what must hold whatever it does."""
    heard, cache = Heard(), changes.pop("cache", None)
    with FaultServer(script) as server:
        tally = ask(
            endpoint(server.url, **changes), what, cache=cache, on_reply=heard, tuning=tuning
        )
    assert heard.once_each(what)
    assert adds_up(tally)
    assert all(bool(reply.reason) == (reply.outcome != "ok") for _, reply in heard.pairs)
    return heard, tally, server


def one(script: Script, **changes: Any) -> tuple[Reply, Tally]:
    schema = VERDICT if changes.pop("schema", False) else None
    heard, tally, _ = asked(script, [request(schema=schema)], **changes)
    return heard.only, tally


def test_a_server_that_works_is_asked_once_per_request() -> None:
    heard, tally, server = asked(lambda seen: ok(seen.prompt), requests(50), price=PRICE)
    assert {(a.messages[0].content, r.text) for a, r in heard.pairs} == {
        (f"question {i}",) * 2 for i in range(50)
    }
    assert len(server.seen) == 50
    assert tally.by_outcome == {"ok": 50}
    assert (tally.prompt_tokens, tally.completion_tokens) == (550, 350)
    assert tally.cost == pytest.approx(50 * (11 * 1 + 7 * 2) / 1e6)
    assert (tally.retries, tally.unknown_usage, tally.stopped) == (0, 0, None)
    reply = heard.pairs[0][1]
    assert (reply.served_model, reply.finish_reason, reply.attempts) == ("served", "stop", 1)
    assert reply.cost == pytest.approx(25e-6)
    assert reply.seconds is not None
    assert 0 < reply.seconds < 5


@pytest.mark.parametrize(
    "fault",
    [
        error(429),
        error(429, retry_after="0"),
        error(429, retry_after_ms="2"),
        error(429, x_ratelimit_reset_requests="2ms"),
        error(500),
        error(502),
        error(503),
        error(503, retry_after="0.002"),
        error(408),
        CUT_BODY,
        ok("half", cut=0),
        DROPPED,
        NO_JSON,
        Answer(body=b'{"choices": ['),
        Answer(body=b""),
        Answer(body=b'{"object": "list"}'),
        Answer(body=b'{"error": {"message": "overloaded", "code": 529}}'),
    ],
    ids=lambda fault: f"{fault.status}-{fault.cut}-{fault.body[:18]!r}",
)
def test_what_may_pass_is_asked_again(fault: Answer) -> None:
    heard, tally, server = asked(first(2, fault), requests(5))
    assert heard.outcomes == ["ok"] * 5
    assert len(server.seen) == 15
    assert {reply.attempts for _, reply in heard.pairs} == {3}
    assert tally.retries == 10
    assert tally.stopped is None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (error(429, "slow down"), "429 Too Many Requests: slow down (after 4 attempts)"),
        (error(500, "oops"), "500 Internal Server Error: oops (after 4 attempts)"),
        (CUT_BODY, "the connection was cut"),
        (DROPPED, "the connection was cut"),
        (NO_JSON, "the answer is no JSON: <html>gateway</html> (after 4 attempts)"),
    ],
    ids=["429", "500", "cut", "dropped", "no JSON"],
)
def test_what_does_not_pass_fails_after_its_attempts(fault: Answer, reason: str) -> None:
    heard, tally, server = asked(lambda seen: fault, requests(3))
    assert heard.outcomes == ["failed"] * 3
    assert all(reply.reason.startswith(reason) for _, reply in heard.pairs)
    assert len(server.seen) == 12
    assert tally.by_outcome == {"failed": 3}
    assert tally.asked == 3


def test_a_failed_request_is_not_kept_and_asked_by_the_next_run() -> None:
    cache = MemoryCache()
    what = requests(4)
    asked(lambda seen: error(500), what, cache=cache)
    assert cache.replies == {}
    heard, tally, _ = asked(lambda seen: ok(), what, cache=cache)
    assert heard.outcomes == ["ok"] * 4
    assert (tally.asked, tally.cached) == (4, 0)


@pytest.mark.parametrize(
    ("answer", "schema", "outcome"),
    [
        (ok(None, refusal="I will not"), False, "refused"),
        (ok("so far", finish="content_filter"), False, "refused"),
        (error(400, "filtered", "content_filter"), False, "refused"),
        (ok(""), False, "empty"),
        (ok("  \n"), False, "empty"),
        (ok(None), False, "empty"),
        (ok("and then", finish="length"), False, "truncated"),
        (ok("not json"), True, "invalid"),
        (ok('{"verdict": "maybe"}'), True, "invalid"),
        (ok('{"verdict": "sound"}'), True, "ok"),
        (huge(), False, "invalid"),
        (huge(chunked=True), False, "invalid"),
    ],
    ids=lambda value: f"{value.status}-{value.body[:40]!r}" if isinstance(value, Answer) else None,
)
def test_a_reply_has_its_outcome_and_is_kept(answer: Answer, schema: bool, outcome: str) -> None:
    cache = MemoryCache()
    reply, tally = one(lambda seen: answer, schema=schema, cache=cache)
    assert (reply.outcome, reply.attempts) == (outcome, 1)
    assert tally.by_outcome == {outcome: 1}
    again, tally = one(lambda seen: error(500), schema=schema, cache=cache)
    assert (again.outcome, again.cached) == (outcome, True)
    assert (tally.asked, tally.cached) == (0, 1)


def test_a_reply_that_is_too_long_is_not_held() -> None:
    size = 64 * MEGABYTE
    heard, _, server = asked(
        lambda seen: huge(size, chunked=True),
        requests(1),
        tuning=replace(QUICK, body_limit=100_000),
    )
    assert server.sent < size / 2  # the rest was never taken
    assert heard.only.text == ""
    assert heard.only.reason == "the answer is longer than 100,000 bytes and was not read"


def test_a_long_reply_within_the_limit_is_read() -> None:
    reply, _ = one(lambda seen: huge(3 * 1024 * 1024))
    assert (reply.outcome, len(reply.text)) == ("ok", 3 * 1024 * 1024)


def test_a_compressed_answer_is_refused_unread() -> None:
    packed = Answer(body=b"\x1f\x8b", headers={"content-encoding": "gzip"})
    reply, _ = one(lambda seen: packed)
    assert reply.outcome == "failed"
    assert "compresses" in reply.reason


@pytest.mark.parametrize("slow", [ok("late", wait=5.0), ok("slow " * 20, drip=0.02)])
def test_a_slow_answer_times_out_and_is_asked_again(slow: Answer) -> None:
    tuning = replace(QUICK, attempts=12)
    heard, tally, _ = asked(first(1, slow), requests(3), tuning=tuning, timeout=0.25)
    assert heard.outcomes == ["ok"] * 3
    assert tally.retries >= 3
    assert tally.concurrency < 16


def test_a_server_that_is_always_slow_fails_by_its_time_out() -> None:
    reply, _ = one(lambda seen: ok(wait=5.0), timeout=0.02)
    assert reply.outcome == "failed"
    assert reply.reason == "no answer within 0.02 seconds (after 4 attempts)"


def test_usage_that_is_not_told_is_unknown_and_not_nothing() -> None:
    reply, tally = one(lambda seen: ok(usage=None), price=PRICE)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (None, None, None)
    assert tally.unknown_usage == 1
    assert tally.cost == 0


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (error(401, "bad key"), ("401 Unauthorized: bad key", "check the key")),
        (error(403, "not yours"), ("403 Forbidden: not yours", "check the key")),
        (error(402, "pay"), ("402 Payment Required: pay", "no credit")),
        (error(404, "no model x", "model_not_found"), ("404 Not Found: no model x", "model")),
        (error(429, "broke", "insufficient_quota"), ("429 Too Many Requests: broke", "credit")),
        (error(429, "tomorrow", retry_after="86400"), ("left alone for 86400 seconds",)),
        (Answer(307, headers={"location": "http://127.0.0.1:9/v1"}), ("307", "redirects")),
    ],
    ids=["401", "403", "402", "404", "quota", "long wait", "redirect"],
)
def test_what_all_would_meet_stops_the_asking(fault: Answer, words: tuple[str, ...]) -> None:
    heard, tally, server = asked(lambda seen: fault, requests(300), concurrency=4)
    assert tally.stopped is not None
    assert all(word in tally.stopped for word in words)
    assert server.url in tally.stopped
    assert len(server.seen) <= 8  # those in flight, and one each that took a slot meanwhile
    assert tally.by_outcome["failed"] == tally.asked <= 8
    assert tally.by_outcome["unasked"] == 300 - tally.asked
    held_back = [reply for _, reply in heard.pairs if reply.outcome == "unasked"]
    assert {reply.reason for reply in held_back} == {tally.stopped}


def test_a_request_the_server_refuses_does_not_stop_the_others() -> None:
    def script(seen: Seen) -> Answer:
        return error(400, "too long") if seen.prompt == "question 3" else ok()

    heard, tally, server = asked(script, requests(10))
    assert tally.by_outcome == {"ok": 9, "failed": 1}
    [reason] = [reply.reason for _, reply in heard.pairs if reply.outcome == "failed"]
    assert reason == "400 Bad Request: too long"
    assert len(server.seen) == 10


def test_kept_replies_are_still_found_after_a_stop() -> None:
    cache = MemoryCache()
    known = requests(20)
    asked(lambda seen: ok(), known, cache=cache)
    new = [request(f"new {i}") for i in range(20)]
    _, tally, _ = asked(lambda seen: error(401), new + known, cache=cache, concurrency=1)
    assert tally.cached == 20
    assert tally.by_outcome["ok"] == 20


def test_a_server_that_dies_for_good_ends_the_run() -> None:
    with FaultServer(lambda seen: ok()) as server:
        gone = server.url
    heard, what = Heard(), requests(200)
    tally = ask(endpoint(gone, concurrency=4), what, on_reply=heard, tuning=QUICK)
    assert heard.once_each(what)
    assert adds_up(tally)
    assert tally.stopped is not None
    assert tally.stopped.startswith("no server answers: cannot connect")
    assert 1 <= tally.by_outcome["failed"] <= 4
    assert tally.by_outcome["unasked"] == 200 - tally.by_outcome["failed"]


def test_a_server_that_only_fails_ends_the_run_after_so_many() -> None:
    tuning = replace(QUICK, attempts=2, give_up_after=6)
    _, tally, _ = asked(
        lambda seen: error(500, "oops"), requests(100), tuning=tuning, concurrency=2
    )
    assert tally.stopped == "6 requests in a row failed, the last by: " + (
        "500 Internal Server Error: oops"
    )
    assert 6 <= tally.by_outcome["failed"] <= 8


def test_a_dead_server_among_several_costs_no_request() -> None:
    with FaultServer(lambda seen: ok()) as dead:
        gone = dead.url
    heard, what = Heard(), requests(40)
    with FaultServer(lambda seen: ok()) as one_, FaultServer(lambda seen: ok()) as two:
        e = endpoint(gone, one_.url, two.url, concurrency=4)
        tally = ask(e, what, on_reply=heard, tuning=QUICK)
    assert heard.once_each(what)
    assert heard.outcomes == ["ok"] * 40
    assert tally.retries <= 4  # then it is set aside
    assert abs(len(one_.seen) - len(two.seen)) <= 6


def test_a_server_that_takes_three_at_a_time_answers_all_in_the_end() -> None:
    def script(seen: Seen) -> Answer:
        return error(429) if server.open > 3 else ok(wait=0.02)

    heard, what = Heard(), requests(40)
    tuning = replace(QUICK, attempts=50, first_wait=0.01, longest_wait=0.05)
    with FaultServer(script) as server:
        tally = ask(endpoint(server.url, concurrency=16), what, on_reply=heard, tuning=tuning)
    assert heard.once_each(what)
    assert heard.outcomes == ["ok"] * 40
    assert tally.retries == len(server.seen) - 40 > 0


def planted(seen: Seen) -> Answer:
    """Echo the key wherever a server can."""
    key = seen.headers["authorization"].removeprefix("Bearer ")
    kind = int(seen.prompt.rsplit(" ", 1)[1]) % 7
    answers: list[Callable[[], Answer]] = [
        lambda: error(400, f"your key {key} is odd"),
        lambda: error(500, f"crash with Bearer {key}", x_key=key),
        lambda: Answer(body=f"<p>{key}</p>".encode()),
        lambda: ok(f"you sent {key}", model=key, finish=key),
        lambda: ok(None, refusal=f"no, {key}"),
        lambda: Answer(418, f'{{"detail": "{key}"}}'.encode()),
        lambda: Answer(200, b'{"error": {"message": "' + key.encode() + b'"}}'),
    ]
    return answers[kind]()


def test_the_key_is_sent_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PLANTED_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    cache = MemoryCache()
    tallies: list[Tally] = []
    heard, what = Heard(), requests(21)
    with FaultServer(planted) as server:
        e = endpoint(server.url, key_env="PLANTED_KEY")
        tally = ask(e, what, cache=cache, on_reply=heard, on_tally=tallies.append, tuning=QUICK)
    assert heard.once_each(what)
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {SECRET}"}
    assert sum("[key]" in repr(reply) for _, reply in heard.pairs) == 21
    for shown in (repr(heard.pairs), repr(cache.replies), repr(tally), repr(tallies), repr(e)):
        assert SECRET not in shown
    assert SECRET not in caplog.text
    assert all(SECRET not in repr(record.__dict__) for record in caplog.records)


def test_the_key_is_not_in_an_error_that_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", SECRET)

    def fail(asked: Request, reply: Reply) -> None:
        raise OSError("the callback fails")

    with FaultServer(lambda seen: error(401, f"{SECRET} is wrong")) as server:
        e = endpoint(server.url, key_env="PLANTED_KEY")
        tally = ask(e, requests(3), tuning=QUICK)
        with pytest.raises(OSError, match="the callback fails") as caught:
            ask(e, requests(3), on_reply=fail, tuning=QUICK)
    assert "[key] is wrong" in str(tally.stopped)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown


def test_no_credential_of_the_environment_goes_to_a_server_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    _, _, server = asked(lambda seen: ok(), requests(1))
    [seen] = server.seen
    assert "authorization" not in seen.headers
    assert SECRET not in repr(seen)


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    heard, _, _ = asked(lambda seen: ok(), requests(1))
    assert heard.only.outcome == "ok"


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    with (
        FaultServer(lambda seen: ok()) as server,
        pytest.raises(ValueError, match=r"PLANTED_KEY .* is not set"),
    ):
        ask(endpoint(server.url, key_env="PLANTED_KEY"), requests(1))
    assert server.seen == []


def test_any_text_can_be_asked_and_answered() -> None:
    texts = ["\ud800 lone", "NUL \x00", "\u202e bidi", "é" * 3, "\U0001f600", "[/x] $t \x1b[2J"]
    heard, _, _ = asked(lambda seen: ok(seen.prompt), [request(t) for t in texts])
    answers = {a.messages[0].content: r.text for a, r in heard.pairs}
    assert answers.pop("\ud800 lone") == "\ufffd lone"
    assert all(text == answer for text, answer in answers.items())
    assert len(answers) == 5
