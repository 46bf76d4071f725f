"""What is asked of a model and what comes back: frozen values, canonical keys, the cache's shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

Speaker = Literal["system", "user", "assistant"]

Form = Literal["schema", "text"]
"""Whether a reply is bound by a JSON schema or is plain text."""

Outcome = Literal["ok", "refused", "empty", "truncated", "invalid", "failed", "unasked"]
"""How a request ended.

``refused``, ``empty``, ``truncated`` (cut by the token limit) and ``invalid`` (no JSON, or JSON
that breaks the schema) are replies and are kept; ``failed`` is none (the server did not answer, or
said it cannot) and is asked again by the next run; ``unasked`` was held back by the budget or an
interruption.
"""

REPLIED: tuple[Outcome, ...] = ("ok", "refused", "empty", "truncated", "invalid")
"""The outcomes that are replies."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    speaker: Speaker
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model is sampled. None leaves a parameter to the server.

    `extra` goes into the request's body as it is, for what only some servers know (``top_k``,
    ``min_p``, ``repeat_penalty``…).
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the parameters that are set, as they enter the key."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "stop": list(self.stop) or None,
            "extra": dict(self.extra) or None,
        }
        return {k: v for k, v in named.items() if v is not None}


@dataclass(frozen=True)
class Request:
    """One chat completion to ask for.

    `sample` tells requests apart that are otherwise equal: the 20 traces of a pool, the repeats of
    a judge. `role` says whose tokens these are; it and `prompt_version` do not enter the key.
    """

    role: str
    model: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: Mapping[str, Any] | None = None
    sample: int = 0
    prompt_version: str = ""

    @cached_property
    def body(self) -> dict[str, Any]:
        """The canonical content, without the sample index."""
        return {
            "model": self.model,
            "messages": [[m.speaker, m.content] for m in self.messages],
            "sampling": self.sampling.as_json(),
            "schema": self.schema,
        }

    @cached_property
    def body_hash(self) -> str:
        """sha256 of `body`, equal for equal requests whatever the order of their fields."""
        return digest(self.body)

    @cached_property
    def key(self) -> str:
        """The cache key: `body_hash` and the sample index."""
        return f"{self.body_hash}:{self.sample}"


def digest(value: Any) -> str:
    """Return the sha256 of a value's canonical JSON (sorted keys, no blanks, ASCII)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """How one request ended.

    `text` is what came, untouched. `data` is the JSON value of an ``ok`` reply to a request with a
    schema. `reason` says why an outcome is not ``ok``. Token counts are the server's own, None
    where it does not tell. `cost` is in the endpoint's currency, None without a price.
    """

    outcome: Outcome
    text: str = ""
    data: Any = None
    reason: str = ""
    finish_reason: str | None = None
    served_model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    attempts: int = 0
    cached: bool = False

    @property
    def replied(self) -> bool:
        """Whether the model answered at all."""
        return self.outcome in REPLIED


class ReplyCache(Protocol):
    """Where replies are kept. The store's is one; `judges` does not know it."""

    def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the kept replies of those keys that have one, marked as cached."""
        ...

    def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> Mapping[str, Reply] | None:
        """Keep replies for good; when this returns they survive a crash. Known keys stay.

        A cache that others use too returns what stands under the keys that were known: another
        process asked the same, and its reply is the one that is kept.
        """
        ...
