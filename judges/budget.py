"""What a run may use: budgets, and what asking would take before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from judges.endpoint import Price
from judges.requests import Reply, ReplyCache, Request
from judges.wire import token_bound

BYTES_PER_TOKEN = 3.0
"""Of a prompt with its chat template: rather too many tokens guessed than too few."""
FIRST_GUESS = 512
"""Tokens a reply without a bound is taken to need, before any has come."""
CHUNK = 256


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may use at most, tokens of prompts and replies together. None is no bound.

    A request is only sent when what was used, what the requests in flight may use and what it may
    use itself still fit. Where a reply is not bounded by its `max_tokens`, what it may use is
    guessed by the mean so far, and the requests in flight may go over. What failed attempts used
    is not known to anyone but the server.
    """

    max_tokens: int | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is None:
                continue
            known = isinstance(value, int | float) and not isinstance(value, bool)
            if not known or not math.isfinite(value) or value < 0:
                raise ValueError(f"{name} is {value!r}; a budget is a number, 0 or more")


@dataclass(frozen=True, slots=True)
class Need:
    """What a request may use."""

    prompt_tokens: int
    completion_tokens: int
    cost: float

    @property
    def tokens(self) -> int:
        """Of prompt and reply together."""
        return self.prompt_tokens + self.completion_tokens


class Purse:
    """What is left of a budget. ValueError for a budget of money where there is no price."""

    def __init__(self, budget: Budget, price: Price | None) -> None:
        if budget.max_cost is not None and price is None:
            raise ValueError(
                "a budget of money needs the model's price; set price_in and price_out, or give "
                "a budget of tokens"
            )
        self._budget = budget
        self._price = price
        self._tokens, self._cost = 0, 0.0
        self._held_tokens, self._held_cost = 0, 0.0
        self._replies, self._completion_tokens = 0, 0

    def need(self, request: Request) -> Need:
        """Return what the request may use."""
        bound = token_bound(request)
        if bound is None:
            mean = self._completion_tokens / self._replies if self._replies else FIRST_GUESS
            bound = max(1, math.ceil(mean))
        prompt = guess_tokens(request)
        return Need(prompt, bound, self._price.cost(prompt, bound) if self._price else 0.0)

    def fits(self, need: Need) -> bool:
        """Tell whether a request of that need may be sent now."""
        most_tokens, most_cost = self._budget.max_tokens, self._budget.max_cost
        tokens = self._tokens + self._held_tokens + need.tokens
        cost = self._cost + self._held_cost + need.cost
        return (most_tokens is None or tokens <= most_tokens) and (
            most_cost is None or cost <= most_cost
        )

    def take(self, need: Need) -> None:
        """Hold what a request that is sent may use."""
        self._held_tokens += need.tokens
        self._held_cost += need.cost

    def settle(self, need: Need, reply: Reply) -> None:
        """Replace what was held by what was used; estimated where the server does not tell."""
        self._held_tokens -= need.tokens
        self._held_cost -= need.cost
        if not reply.replied:
            return
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        prompt = need.prompt_tokens if prompt is None else prompt
        if completion is None:
            completion = math.ceil(text_bytes(reply.text) / BYTES_PER_TOKEN)
        self._replies += 1
        self._completion_tokens += completion
        self._tokens += prompt + completion
        self._cost += self._price.cost(prompt, completion) if self._price else 0.0

    def spent(self, need: Need) -> str:
        """Say why a request of that need was not sent."""
        parts = []
        if self._budget.max_tokens is not None:
            parts.append(
                f"{self._tokens} of {self._budget.max_tokens} tokens used, "
                f"the next request may take {need.tokens}"
            )
        if self._budget.max_cost is not None and self._price:
            unit = self._price.currency
            parts.append(
                f"{self._cost:.4g} of {self._budget.max_cost:.4g} {unit} used, "
                f"the next request may take {need.cost:.4g}"
            )
        return "the budget is used up: " + "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take, as far as it can be told beforehand.

    `n_cached` includes requests equal to one that will be asked. `prompt_tokens` is an estimate
    by the prompts' bytes, `bytes_per_token` the ratio on the whole, None with nothing to ask.
    `max_completion_tokens` is the sum of the replies' bounds, None when one has none; `cost` is
    that of both, so a rough upper bound, None without a price or without all bounds.
    """

    n_requests: int
    n_cached: int
    n_to_ask: int
    prompt_tokens: int
    max_completion_tokens: int | None
    cost: float | None
    bytes_per_token: float | None = None


def estimate(
    requests: Iterable[Request],
    cache: ReplyCache | None = None,
    price: Price | None = None,
    bytes_per_token: Callable[[Request], float] | None = None,
) -> Estimate:
    """Return what asking the requests would take. Nothing is asked.

    `bytes_per_token` says how many bytes of a request's messages are a token, `BYTES_PER_TOKEN`
    where it is not given.
    """
    n_requests = prompt_tokens = completion_tokens = n_bytes = 0
    bounded = True
    to_ask: set[str] = set()
    source = iter(requests)
    while chunk := list(islice(source, CHUNK)):
        n_requests += len(chunk)
        found = cache.find_replies([r.key for r in chunk]) if cache is not None else {}
        for request in chunk:
            kept = found.get(request.key)
            if request.key in to_ask or (kept is not None and kept.replied):
                continue
            to_ask.add(request.key)
            size = prompt_bytes(request)
            ratio = bytes_per_token(request) if bytes_per_token else BYTES_PER_TOKEN
            n_bytes += size
            prompt_tokens += math.ceil(size / ratio)
            bound = token_bound(request)
            bounded = bounded and bound is not None
            completion_tokens += bound or 0
    priced = price is not None and bounded
    return Estimate(
        n_requests=n_requests,
        n_cached=n_requests - len(to_ask),
        n_to_ask=len(to_ask),
        prompt_tokens=prompt_tokens,
        max_completion_tokens=completion_tokens if bounded else None,
        cost=price.cost(prompt_tokens, completion_tokens) if price and priced else None,
        bytes_per_token=n_bytes / prompt_tokens if prompt_tokens else None,
    )


def prompt_bytes(request: Request) -> int:
    """Return how many bytes of UTF-8 a request's messages have."""
    return sum(text_bytes(m.content) for m in request.messages)


def guess_tokens(request: Request) -> int:
    """Return about how many tokens a prompt has, by its bytes alone."""
    return math.ceil(prompt_bytes(request) / BYTES_PER_TOKEN)


def text_bytes(text: str) -> int:
    """Return how many bytes of UTF-8 a text has."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
