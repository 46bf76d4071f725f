"""What a server can do, found out by a few tiny requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judges.endpoint import Endpoint, SchemaKeywords
from judges.faults import REFUSING, Fault
from judges.limits import Tuning
from judges.outcomes import read_completion
from judges.redaction import one_line
from judges.requests import Message, Reply, Request, Sampling
from judges.servers import Connections
from judges.wire import request_body

if TYPE_CHECKING:
    import httpx2

MOST_MODELS = 1000
LEAST_TOKENS = 8
"""A shorter reply takes as long as its way there and back, and tells nothing of a server's speed."""

SCHEMA: Mapping[str, Any] = {
    "title": "colour",
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
"""Nothing in the prompt asks for this: only a server that binds the reply gives it."""

KEYWORDS_SCHEMA: Mapping[str, Any] = {
    "title": "colours",
    "type": "object",
    "properties": {
        "colours": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "maxLength": 4},
        },
        "code": {"type": "string", "pattern": "^[A-Z]$"},
        "number": {"type": "integer", "minimum": 1, "maximum": 3},
    },
    "required": ["colours", "code", "number"],
    "additionalProperties": False,
}
"""Has every keyword that the schemas of the roles use and that some servers refuse."""

PREFIX = "The capital of France is Par"
CONTINUATION = "is"
"""A prefix cut inside a word: only a server that continues it begins with the rest of the word."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a server was found to do; None where it could not be told, `notes` say why.

    `model_known`: the endpoint's model is in the server's list. `structured`: a reply is bound by
    a JSON schema; `schema_keywords`: ``plain`` where the server refuses a schema that bounds texts,
    lists and numbers. `continues_prefix`: a last message of the assistant is continued rather than
    answered. `reports_usage`: answers tell their tokens. `several_choices`: one request can bring
    more than one reply. `tokens_per_second` is that of the longest reply, reading the prompt and the
    way there and back included, with nobody else at work; None where tokens are not told or the
    reply is shorter than `LEAST_TOKENS`.
    """

    reachable: bool
    models: tuple[str, ...] = ()
    model_known: bool | None = None
    structured: bool | None = None
    schema_keywords: SchemaKeywords | None = None
    continues_prefix: bool | None = None
    reports_usage: bool | None = None
    several_choices: bool | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    tokens_per_second: float | None = None


def probe(endpoint: Endpoint, *, transport: httpx2.AsyncBaseTransport | None = None) -> Probe:
    """Return what the first of the endpoint's servers that answers can do.

    Five small requests and no second attempts; a server that does not answer is a note, not an
    error. ValueError when the key's variable is not set.
    """
    return asyncio.run(probe_async(endpoint, transport=transport))


async def probe_async(
    endpoint: Endpoint, *, transport: httpx2.AsyncBaseTransport | None = None
) -> Probe:
    """Do what `probe` does, inside a running loop."""
    started = time.monotonic()
    connections = Connections(endpoint, body_limit=Tuning().body_limit, transport=transport)
    async with connections:
        connections.open()
        found = await _Probing(endpoint, connections).all()
    return Probe(**found, seconds=time.monotonic() - started)


@dataclass(slots=True)
class _Probing:
    endpoint: Endpoint
    connections: Connections
    server: int = 0
    notes: list[str] = field(default_factory=list)
    usage: bool | None = None
    longest: tuple[int, float] = (0, 0.0)

    async def all(self) -> dict[str, Any]:
        models = await self._models()
        if models is None:
            return {"reachable": False, "notes": tuple(self.notes)}
        several = structured = continues = None
        keywords: SchemaKeywords | None = None
        try:
            several = await self._several()
            structured = await self._structured()
            if structured:
                keywords = await self._keywords()
            continues = await self._continues()
        except Fault as fault:
            # One that every further request would meet as well.
            self.notes.append(fault.reason)
        return {
            "reachable": True,
            "models": models,
            "model_known": self.endpoint.model in models if models else None,
            "structured": structured,
            "schema_keywords": keywords,
            "continues_prefix": continues,
            "reports_usage": self.usage,
            "several_choices": several,
            "notes": tuple(self.notes),
            "tokens_per_second": self._speed(),
        }

    def _speed(self) -> float | None:
        tokens, seconds = self.longest
        return tokens / seconds if tokens >= LEAST_TOKENS and seconds > 0 else None

    async def _models(self) -> tuple[str, ...] | None:
        """Return the model list of the first server that answers; None when none does."""
        for server, url in enumerate(self.endpoint.base_urls):
            try:
                answer = await self._within(self.connections.models(server))
            except Fault as fault:
                self.notes.append(f"{url}/models: {fault.reason}")
                if fault.status is None:
                    continue
                answer = b"{}"
            self.server = server
            return _model_names(self.connections.key.hide(answer.decode("utf-8", "replace")))
        return None

    async def _several(self) -> bool | None:
        request = self._request((Message("user", "Name an animal."),), max_tokens=8, temperature=1)
        try:
            reply, choices = await self._ask(request, n=2)
        except Fault as fault:
            return self._cannot("several choices", fault)
        return choices > 1 if reply.replied else None

    async def _structured(self) -> bool | None:
        messages = (Message("user", "Write one short sentence about the sea."),)
        try:
            reply, _ = await self._ask(self._request(messages, max_tokens=64, schema=SCHEMA))
        except Fault as fault:
            return self._cannot("structured replies", fault)
        if reply.outcome == "ok":
            return True
        if reply.outcome == "invalid":
            self.notes.append(f"structured replies: {reply.reason}")
            return False
        if reply.outcome == "truncated" and not reply.text.lstrip().startswith("{"):
            self.notes.append("structured replies: the reply is no JSON")
            return False
        self.notes.append(f"structured replies: {reply.reason}")
        return None

    async def _keywords(self) -> SchemaKeywords | None:
        """Return which keywords are taken. What the reply says does not matter: we check it."""
        messages = (Message("user", "Name two colours, a letter and a number."),)
        try:
            await self._ask(self._request(messages, max_tokens=64, schema=KEYWORDS_SCHEMA))
        except Fault as fault:
            refused = self._cannot("keywords of schemas", fault) is False
            return "plain" if refused else None
        return "all"

    async def _continues(self) -> bool | None:
        messages = (
            Message("user", "What is the capital of France? Answer in one sentence."),
            Message("assistant", PREFIX),
        )
        try:
            reply, _ = await self._ask(self._request(messages, max_tokens=8))
        except Fault as fault:
            return self._cannot("continuing a prefix", fault)
        if reply.outcome not in ("ok", "truncated") or not reply.text.strip():
            self.notes.append(f"continuing a prefix: {reply.reason}")
            return None
        return reply.text.lstrip().lower().startswith(CONTINUATION)

    def _request(
        self,
        messages: tuple[Message, ...],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: Mapping[str, Any] | None = None,
    ) -> Request:
        sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
        return Request("probe", self.endpoint.model, messages, sampling, schema)

    async def _ask(self, request: Request, *, n: int = 1) -> tuple[Reply, int]:
        """Return the reply and how many choices came with it."""
        body = request_body(request, extra=self.endpoint.extra, bound=self.connections.bound_name)
        if n > 1:
            body = json.dumps({**json.loads(body), "n": n}).encode()
        started = time.monotonic()
        answer = await self._within(self.connections.complete(self.server, body))
        seconds = time.monotonic() - started
        reply = read_completion(answer, request, hide=self.connections.key.hide, now=time.time())
        told = reply.prompt_tokens is not None and reply.completion_tokens is not None
        if n == 1 and reply.completion_tokens is not None:
            self.longest = max(self.longest, (reply.completion_tokens, seconds))
        self.usage = told if self.usage is None else self.usage and told
        return reply, len(json.loads(answer)["choices"])

    async def _within(self, sending: Awaitable[bytes]) -> bytes:
        seconds = self.endpoint.timeout
        try:
            async with asyncio.timeout(seconds):
                return await sending
        except TimeoutError:
            raise Fault(f"no answer within {seconds:g} seconds") from None

    def _cannot(self, what: str, fault: Fault) -> bool | None:
        """Return False when the server refuses what was asked, None when the fault is another."""
        if fault.stops:
            raise fault
        self.notes.append(f"{what}: {fault.reason}")
        return False if fault.status in REFUSING else None


def _model_names(answer: str) -> tuple[str, ...]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return ()
    data = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(data, list):
        return ()
    names = (entry.get("id") for entry in data[:MOST_MODELS] if isinstance(entry, Mapping))
    return tuple(one_line(name, 200) for name in names if isinstance(name, str) and name)
