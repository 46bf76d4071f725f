"""The connections to a model's servers. Here alone the `openai` library is used."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judges.endpoint import Endpoint
from judges.faults import Fault, fault_of_status
from judges.redaction import Key, one_line

if TYPE_CHECKING:
    import httpx2
    import openai

CONNECT_SECONDS = 10.0
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
OPENAI_HOST = "api.openai.com"


class Connections:
    """One client per base URL over one pool of connections.

    Nothing is imported, read or opened before `open`, so that a run that finds every reply in the
    cache needs neither the library nor the key. The key appears in no fault, repr or log. Retries,
    redirects and compression are off: attempts are counted by us, a key never follows to another
    host, and the limit on an answer's size holds.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        body_limit: int,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.key = Key(None)
        self._endpoint = endpoint
        self._body_limit = body_limit
        self._transport = transport
        self._http: httpx2.AsyncClient | None = None
        self._clients: list[openai.AsyncOpenAI] = []
        self._options: list[openai.RequestOptions] = []
        self._answer: Any = None
        self._logging = ExitStack()

    async def __aenter__(self) -> Connections:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._http is not None:
                await self._http.aclose()
        finally:
            self._logging.close()

    def open(self) -> None:
        """Get ready to send, if not done yet. ValueError when the key's variable is not set."""
        if self._http is not None:
            return
        endpoint = self._endpoint
        self.key = Key.from_environment(endpoint.key_env)
        import httpx2
        import openai

        connect = min(CONNECT_SECONDS, endpoint.timeout)
        # Reading has no time-out of its own: the whole attempt has one.
        timeout = httpx2.Timeout(None, connect=connect)
        self._http = httpx2.AsyncClient(
            transport=self._transport,
            # A server on this machine is never reached through a proxy; with a transport of the
            # caller's own there is no proxy anyway.
            mounts=dict.fromkeys(LOOPBACK) if self._transport is None else None,
            timeout=timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.slots),
            follow_redirects=False,
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [self._bound]},
        )
        self._answer = httpx2.Response
        value = self.key.reveal()
        for url in endpoint.base_urls:
            client = openai.AsyncOpenAI(
                api_key=value or "none",
                admin_api_key="",
                base_url=url,
                max_retries=0,
                timeout=timeout,
                http_client=self._http,
            )
            self._clients.append(client)
            self._options.append(_options(url, openai.Omit(), has_key=value is not None))
        self._logging.enter_context(self.key.hidden_in_logs())

    @property
    def bound_name(self) -> str:
        """What these servers call the bound on a reply's tokens."""
        hosts = {urlsplit(url).hostname for url in self._endpoint.base_urls}
        return "max_completion_tokens" if hosts == {OPENAI_HOST} else "max_tokens"

    async def complete(self, index: int, body: bytes) -> bytes:
        """Send a chat completion's body to a server; return the answer's, or raise a Fault."""
        client, options = self._clients[index], self._options[index]
        return await self._content(
            client.post("/chat/completions", content=body, cast_to=self._answer, options=options)
        )

    async def models(self, index: int) -> bytes:
        """Return a server's list of models as it came, or raise a Fault."""
        client, options = self._clients[index], self._options[index]
        return await self._content(client.get("/models", cast_to=self._answer, options=options))

    async def get(self, path: str) -> bytes:
        """Return what the first server has under a path below its base URL, or raise a Fault."""
        client, options = self._clients[0], self._options[0]
        return await self._content(client.get(path, cast_to=self._answer, options=options))

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
        """Send a JSON body to the first server; return the answer's, or raise a Fault."""
        client, options = self._clients[0], self._options[0]
        named = {**(options.get("headers") or {}), **(headers or {})}
        sent = client.post(
            path, content=body, cast_to=self._answer, options={**options, "headers": named}
        )
        return await self._content(sent)

    async def upload(self, path: str, fields: Mapping[str, str], name: str, file: bytes) -> bytes:
        """Send a file with the fields of its form; return the answer's body, or raise a Fault."""
        client, options = self._clients[0], self._options[0]
        kind = {"Content-Type": "multipart/form-data"}
        sent = client.post(
            path,
            body=dict(fields),
            files=[("file", (name, file, "application/jsonl"))],
            cast_to=self._answer,
            options={**options, "headers": {**(options.get("headers") or {}), **kind}},
        )
        return await self._content(sent)

    async def _content(self, sending: Awaitable[httpx2.Response]) -> bytes:
        try:
            content = (await sending).content
        except Fault:
            raise
        except Exception as error:
            fault = self._fault(error)
        else:
            if len(content) <= self._body_limit:
                return content
            fault = _too_long(self._body_limit)
        # Raised out here so that no library's exception, which holds the request's headers, hangs
        # on to it.
        raise fault

    def _fault(self, error: Exception) -> Fault:
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            response = error.response
            return fault_of_status(
                response.status_code,
                response.headers,
                response.content,
                hide=self.key.hide,
                now=time.time(),
            )
        cause = error.__cause__ or error
        said = one_line(self.key.hide(str(cause)), 160)
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return Fault(f"cannot connect: {said or 'no answer'}", down=True)
        if isinstance(cause, httpx2.TimeoutException):
            return Fault("timed out", overload=True)
        if isinstance(cause, httpx2.TransportError):
            return Fault(f"the connection was cut: {said or type(cause).__name__}")
        return Fault(f"{type(cause).__name__}: {said}")

    async def _bound(self, response: httpx2.Response) -> None:
        """Refuse an answer that is compressed or too long, before or while it is read."""
        limit = self._body_limit
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Fault("the server compresses its answers although asked not to", again=False)
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise _too_long(limit)
        if not response.is_closed:
            response.stream = _counted()(response.stream, limit)


def _options(url: str, omit: openai.Omit, *, has_key: bool) -> openai.RequestOptions:
    """Return what goes along with each request to a URL: no other credential than the key."""
    headers: dict[str, str | openai.Omit] = {}
    if not has_key:
        headers["Authorization"] = omit
    if urlsplit(url).hostname != OPENAI_HOST:
        # The library takes these from the environment, for its own host.
        headers |= {"OpenAI-Organization": omit, "OpenAI-Project": omit}
    return {"headers": headers, "security": {"bearer_auth": True}}


def _too_long(limit: int) -> Fault:
    return Fault(
        f"the answer is longer than {limit:,} bytes and was not read",
        again=False,
        outcome="invalid",
    )


@cache
def _counted() -> Any:
    """Return the kind of stream that ends in a Fault when it gets too long (made on first use)."""
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        def __init__(self, stream: Any, limit: int) -> None:
            self._stream, self._limit = stream, limit

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > self._limit:
                    raise _too_long(self._limit)
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Counted
