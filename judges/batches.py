"""The Batch API: many requests in a file, their replies in another, hours later, for less."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from judges.endpoint import Endpoint, Price
from judges.faults import Fault, fault_of_error, fault_of_status
from judges.limits import Tuning
from judges.outcomes import read_completion
from judges.redaction import one_line
from judges.requests import Reply, Request
from judges.servers import Connections
from judges.wire import request_body

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

PATH = "/v1/chat/completions"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""Statuses after which nothing more comes."""
MARK = "medoid"
"""Under this name a batch's metadata carry our token, by which it is found again."""
MOST_REQUESTS, MOST_BYTES = 10_000, 90 * 1024 * 1024
"""Of one batch; OpenAI's limits are 50,000 and 200 MB. Smaller ones end earlier."""
BODY_LIMIT = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the server tells of it. `errors` say why it failed as a whole."""

    id: str
    status: str
    output_file: str | None = None
    error_file: str | None = None
    completed: int = 0
    failed: int = 0
    token: str | None = None
    errors: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class BatchLine:
    """What became of one request of a batch: a status with a body, or an error."""

    status: int | None
    body: bytes
    error: Any = None


class Batches:
    """The batches of an endpoint's first server. Use as an async context manager."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._tuning = tuning or Tuning(attempts=5)
        self._connections = Connections(endpoint, body_limit=BODY_LIMIT, transport=transport)

    async def __aenter__(self) -> Batches:
        self._connections.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connections.__aexit__(*error)

    def line(self, request: Request) -> bytes:
        """Return a request as a line of a batch's file. ValueError for what JSON cannot hold."""
        body = request_body(
            request,
            extra=self._endpoint.extra,
            bound=self._connections.bound_name,
            keywords=self._endpoint.schema_keywords or "all",
        )
        head = json.dumps({"custom_id": request.key, "method": "POST", "url": PATH})
        return head[:-1].encode() + b', "body": ' + body + b"}\n"

    async def upload(self, token: str, lines: Iterable[bytes]) -> str:
        """Upload a file of lines; return its id."""
        name, content = f"{MARK}-{token}.jsonl", b"".join(lines)
        # An orphan of a lost answer costs nothing, so this is simply tried again.
        answer = await self._again(
            lambda: self._connections.upload("/files", {"purpose": "batch"}, name, content)
        )
        return _need(_object(answer), "id")

    async def create(self, file: str, token: str) -> BatchState:
        """Create the batch of a file. Where the answer is lost, it is looked for before it is
        created again, so that there is never a second one."""
        body = {
            "input_file_id": file,
            "endpoint": PATH,
            "completion_window": "24h",
            "metadata": {MARK: token},
        }
        content = json.dumps(body).encode()
        for attempt in range(1, self._tuning.attempts + 1):
            try:
                answer = await self._connections.post(
                    "/batches", content, {"Idempotency-Key": token}
                )
                return _state(_object(answer))
            except Fault as fault:
                if not fault.again or attempt == self._tuning.attempts:
                    raise
                await self._tuning.sleep(self._tuning.backoff(attempt))
            found = await self.find(token)
            if found is not None:
                return found
        raise Fault("no batch was created")

    async def get(self, batch: str) -> BatchState:
        """Return how a batch stands."""
        answer = await self._again(lambda: self._connections.get(f"/batches/{_part(batch)}"))
        return _state(_object(answer))

    async def find(self, token: str) -> BatchState | None:
        """Return the batch that carries our token, None when there is none."""
        after = ""
        while True:
            path = f"/batches?limit=100{after}"
            page = _object(await self._again(lambda path=path: self._connections.get(path)))  # type: ignore[misc]
            rows = [_state(row) for row in page.get("data") or () if isinstance(row, Mapping)]
            found = next((row for row in rows if row.token == token), None)
            if found is not None or not page.get("has_more") or not rows:
                return found
            after = f"&after={_part(rows[-1].id)}"

    async def lines(self, state: BatchState) -> dict[str, BatchLine]:
        """Return what became of the requests of an ended batch, by key, in whatever order."""
        found: dict[str, BatchLine] = {}
        for file in (state.error_file, state.output_file):
            if file is not None:
                path = f"/files/{_part(file)}/content"
                found.update(read_lines(await self._again(lambda p=path: self._connections.get(p))))  # type: ignore[misc]
        return found

    async def cancel(self, batch: str) -> BatchState:
        """Ask the server to end a batch early."""
        path = f"/batches/{_part(batch)}/cancel"
        answer = await self._again(lambda: self._connections.post(path, b"{}"))
        return _state(_object(answer))

    def reply(self, line: BatchLine, request: Request, price: Price | None) -> Reply:
        """Return what a line says, as the request's outcome."""
        hide = self._connections.key.hide
        try:
            if line.status is None:
                raise fault_of_error(line.error or "no answer", hide, 0.0)
            if line.status != 200:
                raise fault_of_status(line.status, {}, line.body, hide=hide, now=0.0)
            return read_completion(line.body, request, price=price, hide=hide)
        except Fault as fault:
            return Reply(fault.outcome, reason=fault.reason, attempts=1)

    async def _again(self, send: Callable[[], Awaitable[bytes]]) -> bytes:
        for attempt in range(1, self._tuning.attempts + 1):
            try:
                return await send()
            except Fault as fault:
                if not fault.again or attempt == self._tuning.attempts:
                    raise
            await self._tuning.sleep(self._tuning.backoff(attempt))
        raise Fault("no answer")


def chunked(
    lines: Iterable[tuple[T, bytes]], most: int = MOST_REQUESTS, most_bytes: int = MOST_BYTES
) -> Iterator[list[tuple[T, bytes]]]:
    """Yield lines in chunks that fit into one batch each."""
    chunk: list[tuple[T, bytes]] = []
    size = 0
    for about, line in lines:
        if chunk and (len(chunk) >= most or size + len(line) > most_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append((about, line))
        size += len(line)
    if chunk:
        yield chunk


def read_lines(content: bytes) -> dict[str, BatchLine]:
    """Read an output or error file. A line that cannot be read is none: its request counts as one
    that the batch did not answer."""
    found = {}
    for raw in content.split(b"\n"):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, Mapping) or not isinstance(line.get("custom_id"), str):
            continue
        response = line.get("response")
        if isinstance(response, Mapping) and isinstance(response.get("status_code"), int):
            body = json.dumps(response.get("body")).encode()
            found[line["custom_id"]] = BatchLine(response["status_code"], body)
        else:
            found[line["custom_id"]] = BatchLine(None, b"", line.get("error"))
    return found


def run(work: Awaitable[T]) -> T:
    """Do one piece of work with a server. Usable in any thread without a loop."""

    async def whole() -> T:
        return await work

    return asyncio.run(whole())


def _state(value: Mapping[str, Any]) -> BatchState:
    counts = value.get("request_counts")
    counts = counts if isinstance(counts, Mapping) else {}
    metadata = value.get("metadata")
    errors = value.get("errors")
    rows: Sequence[Any] = (errors.get("data") or ()) if isinstance(errors, Mapping) else ()
    return BatchState(
        _need(value, "id"),
        str(value.get("status")),
        _text(value.get("output_file_id")),
        _text(value.get("error_file_id")),
        _whole(counts.get("completed")),
        _whole(counts.get("failed")),
        _text(metadata.get(MARK)) if isinstance(metadata, Mapping) else None,
        tuple(one_line(str(r.get("message"))) for r in rows[:3] if isinstance(r, Mapping)),
    )


def _object(answer: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        raise Fault("the answer is no JSON object", again=False)
    return value


def _need(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str) or not found:
        raise Fault(f"the answer has no {name}", again=False)
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _part(name: str) -> str:
    """Return a server's id as part of a path. Fault for one that would lead elsewhere."""
    if not all(c.isalnum() or c in "-_." for c in name) or name.strip(".") == "":
        raise Fault(f"the server names a thing {one_line(name, 60)!r}", again=False)
    return name
