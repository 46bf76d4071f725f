"""A server that fails on demand: real HTTP on loopback, in a thread of its own.

    with FaultServer(lambda seen: ok("yes")) as server:
        endpoint = Endpoint("m", "m", (server.url,))

The script is called for every chat completion that arrives and returns an `Answer`. It runs in
the server's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Seen:
    """A request as it arrived. `number` counts all of them from 0, `nth` those of equal prompts."""

    path: str
    headers: Mapping[str, str]
    body: Any
    number: int
    nth: int

    @property
    def prompt(self) -> str:
        """The last message's text."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Answer:
    """What is sent back.

    `wait` seconds before anything. `cut` ends the connection after so many bytes of the body, or
    before any answer at -1. `drip` sends the body in pieces of one byte with so many seconds
    between them. `chunked` does not tell the length.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: int | None = None
    drip: float | None = None
    chunked: bool = False


Script = Callable[[Seen], Answer]


def ok(
    text: str | None = "fine",
    *,
    finish: str | None = "stop",
    usage: tuple[int, int] | None = (11, 7),
    refusal: str | None = None,
    model: str = "served",
    copies: int = 1,
    **answer: Any,
) -> Answer:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if refusal is not None:
        message["refusal"] = refusal
    value: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": i, "finish_reason": finish, "message": message} for i in range(copies)
        ],
    }
    if usage is not None:
        value["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Answer(body=json.dumps(value).encode(), **answer)


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """An error as OpenAI words it. Headers are given with ``_`` for ``-``."""
    value = {"error": {"message": message, "type": "error", "code": code}}
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, json.dumps(value).encode(), named)


def huge(size: int = 10 * MEGABYTE, *, chunked: bool = False) -> Answer:
    """A completion whose text is that long."""
    return ok("x" * size, chunked=chunked)


NO_JSON = Answer(body=b"<html>gateway</html>", headers={"content-type": "text/html"})
CUT_BODY = ok("a text that will not arrive", cut=40)
DROPPED = Answer(cut=-1)
MODELS = json.dumps({"object": "list", "data": [{"id": "m"}, {"id": "other"}]}).encode()


class FaultServer:
    """The server; a context manager.

    `seen` is what arrived, `open` how many are in flight, `sent` the bytes of chunked bodies that
    the other side took.
    """

    def __init__(self, script: Script, *, models: Answer | None = None) -> None:
        self.seen: list[Seen] = []
        self.open = 0
        self.most_open = 0
        self.sent = 0
        self.url = ""
        self._script = script
        self._models = models or Answer(body=MODELS)
        self._prompts: Counter[str] = Counter()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> FaultServer:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the fault server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(RuntimeError):  # it may have died before
            self.halt()
        self._thread.join(10)

    def halt(self) -> None:
        """Die: take no connection any more and cut those there are. From any thread."""
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=64 * MEGABYTE)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone = (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError)
        with contextlib.suppress(*gone):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        if path.endswith("/models"):
            return await self._send(writer, self._models)
        body = json.loads(raw)
        prompt = json.dumps(body["messages"])
        seen = Seen(path, headers, body, len(self.seen), self._prompts[prompt])
        self._prompts[prompt] += 1
        self.seen.append(seen)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            return await self._send(writer, self._script(seen))
        finally:
            self.open -= 1

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> bool:
        """Send an answer; return whether the connection may be used again."""
        if answer.wait:
            await asyncio.sleep(answer.wait)
        if answer.cut == -1:
            return False
        headers = {"content-type": "application/json", **answer.headers}
        if answer.chunked:
            headers["transfer-encoding"] = "chunked"
        else:
            headers["content-length"] = str(len(answer.body))
        lines = [f"HTTP/1.1 {answer.status} Status"] + [f"{k}: {v}" for k, v in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        body = answer.body if answer.cut is None else answer.body[: answer.cut]
        if answer.chunked:
            step = 65536
            for start in range(0, len(body), step):
                piece = body[start : start + step]
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
                self.sent += len(piece)
            writer.write(b"0\r\n\r\n")
        elif answer.drip is not None:
            for byte in body:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(answer.drip)
        else:
            writer.write(body)
        await writer.drain()
        return answer.cut is None


def refusing_keywords(script: Script, *keywords: str) -> Script:
    """A server whose strict mode refuses some keywords of JSON schema, wherever they stand."""

    def answer(seen: Seen) -> Answer:
        bound = seen.body.get("response_format", {}).get("json_schema", {})
        for keyword in keywords_of(bound.get("schema", {})):
            if keyword in keywords:
                said = f"Invalid schema for response_format: '{keyword}' is not permitted"
                return error(400, said, "invalid_request_error")
        return script(seen)

    return answer


def keywords_of(schema: Any) -> Iterator[str]:
    """Yield the keywords of a schema at every depth."""
    if not isinstance(schema, dict):
        return
    yield from schema
    nested = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for inner in (*nested, schema.get("items")):
        yield from keywords_of(inner)
