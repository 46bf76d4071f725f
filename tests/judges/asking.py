"""Small things that the client's tests share: requests, caches, a clock that is told the time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from judges.client import Tuning, ask
from judges.endpoint import Endpoint, Price
from judges.requests import Message, Reply, Request, Sampling
from judges.usage import Tally

QUICK = Tuning(attempts=4, first_wait=0.001, longest_wait=0.004)

VERDICT: Mapping[str, Any] = {
    "title": "verdict",
    "type": "object",
    "properties": {"verdict": {"enum": ["sound", "unsound"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def request(
    text: str = "hello",
    *,
    role: str = "generator",
    sample: int = 0,
    schema: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
    model: str = "m",
) -> Request:
    return Request(
        role,
        model,
        (Message("user", text),),
        Sampling(max_tokens=max_tokens),
        schema,
        sample,
    )


def requests(n: int, **changes: Any) -> list[Request]:
    return [request(f"question {i}", **changes) for i in range(n)]


def endpoint(*urls: str, **changes: Any) -> Endpoint:
    return Endpoint("m", "m", urls or ("http://127.0.0.1:9/v1",), **changes)


PRICE = Price(1.0, 2.0)


@dataclass
class MemoryCache:
    """A cache in memory that notes how it was used."""

    replies: dict[str, Reply] = field(default_factory=dict)
    looked_up: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        self.looked_up.append(len(keys))
        return {k: replace(self.replies[k], cached=True) for k in keys if k in self.replies}

    def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
        self.batches.append(len(entries))
        for asked, reply in entries:
            self.replies.setdefault(asked.key, reply)


class Heard:
    """An `on_reply` that remembers, and counts how often each request was settled."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Request, Reply]] = []

    def __call__(self, asked: Request, reply: Reply) -> None:
        self.pairs.append((asked, reply))

    @property
    def outcomes(self) -> list[str]:
        return [reply.outcome for _, reply in self.pairs]

    @property
    def only(self) -> Reply:
        [(_, reply)] = self.pairs
        return reply

    def once_each(self, asked: Sequence[Request]) -> bool:
        """Whether every one of these objects was settled exactly once, and nothing else."""
        return sorted(map(id, asked)) == sorted(id(a) for a, _ in self.pairs)


def adds_up(tally: Tally) -> bool:
    """Whether a tally's sums agree with each other."""
    roles = list(tally.by_role.values())
    unasked = tally.by_outcome.get("unasked", 0)
    return (
        sum(tally.by_outcome.values()) == tally.asked + tally.cached + unasked == tally.settled
        and sum(r.requests for r in roles) == tally.settled
        and all(r.requests == r.asked + r.cached + r.unasked for r in roles)
        and sum(r.asked for r in roles) == tally.asked
        and sum(r.prompt_tokens for r in roles) == tally.prompt_tokens
        and sum(r.completion_tokens for r in roles) == tally.completion_tokens
        and sum(r.unknown_usage for r in roles) == tally.unknown_usage
    )


@dataclass
class ToldTime:
    """A clock that only moves when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def tuning(self, **changes: Any) -> Tuning:
        return Tuning(clock=self.clock, sleep=self.sleep, random=lambda: 0.0, **changes)


def completion(text: str = "fine", usage: tuple[int, int] | None = (11, 7)) -> httpx2.Response:
    """A completion for a mock transport."""
    value: dict[str, Any] = {
        "model": "served",
        "choices": [{"finish_reason": "stop", "message": {"content": text}}],
    }
    if usage is not None:
        value["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return httpx2.Response(200, json=value)


def prompt_of(sent: httpx2.Request) -> str:
    """The last message's text of a request that a mock transport was handed."""
    return str(json.loads(sent.content)["messages"][-1]["content"])


Handler = Callable[[httpx2.Request], Any]


class Mock:
    """A transport that answers by a function and counts what it is sent."""

    def __init__(self, handler: Handler | None = None) -> None:
        self.prompts: list[str] = []
        self.hosts: list[str] = []
        self.open = self.most_open = 0
        self._handler = handler or (lambda sent: completion(prompt_of(sent)))
        self.transport = httpx2.MockTransport(self._answer)

    async def _answer(self, sent: httpx2.Request) -> httpx2.Response:
        self.prompts.append(prompt_of(sent))
        self.hosts.append(sent.url.host)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            answer = self._handler(sent)
            if asyncio.iscoroutine(answer):
                answer = await answer
        finally:
            self.open -= 1
        if not isinstance(answer, httpx2.Response):
            raise TypeError(f"the handler returned {answer!r}")
        return answer


def asked(
    what: Sequence[Request],
    mock: Mock | None = None,
    *,
    at: Endpoint | None = None,
    **options: Any,
) -> tuple[Heard, Tally]:
    """Ask, and check what must always hold."""
    heard = Heard()
    options.setdefault("tuning", QUICK)
    tally = ask(
        at or endpoint(),
        iter(what),
        on_reply=heard,
        transport=(mock or Mock()).transport,
        **options,
    )
    assert heard.once_each(what)
    assert adds_up(tally)
    return heard, tally


def use(prompt: int, completion_: int) -> Mock:
    return Mock(lambda sent: completion(usage=(prompt, completion_)))
