"""What the client costs beside a bare loop over `AsyncOpenAI`, and what a cached run costs.

    python benchmarks/client.py [--requests 2000] [--concurrency 64] [--wait 0.05] [--rounds 3]

Asking: the same requests against a server of our own (another process, loopback, every reply
after `--wait` seconds):
- bare: a task a request, a semaphore, ``chat.completions.create``, and nothing else;
- ours: `judges.client.ask` without a cache, with one in memory, with the project's SQLite.
Rounds are interleaved and the best of each is taken, so that a busy machine hurts all alike. CPU
is that of the asking process.

Cached: a run whose every reply is kept, in a fresh process each, for memory and for SQLite:
seconds, and how far the peak of resident memory may be over what the process held before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from judges.client import ask
from judges.endpoint import Endpoint
from judges.requests import Message, Reply, ReplyCache, Request, Sampling
from pipeline.replies import StoreCache
from store import open_store

SYSTEM = "You answer questions and show your reasoning in short numbered steps. " * 6
QUESTION = "A train leaves at nine and another at ten; when do they meet, and where? " * 6
TEXT = "1. The first train has an hour's lead. 2. They close at sixty an hour. " * 12
TARGET_RATIO, TARGET_SECONDS, TARGET_MEGABYTES = 1.25, 3.0, 200.0

Way = Callable[[str], None]


class MemoryCache:
    """The least a cache can be."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}

    def find_replies(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        return {key: self._replies[key] for key in keys if key in self._replies}

    def keep_replies(self, entries: Sequence[tuple[Request, Reply]]) -> None:
        for request, reply in entries:
            self._replies.setdefault(request.key, reply)


def make_requests(n: int) -> Iterator[Request]:
    """Return n requests of about a thousand bytes each, one at a time."""
    for i in range(n):
        messages = (Message("system", SYSTEM), Message("user", f"{i}. {QUESTION}"))
        yield Request("generator", "m", messages, Sampling(temperature=0.7, max_tokens=256))


def reply() -> Reply:
    """Return a reply as it is kept."""
    return Reply("ok", TEXT, None, "", "stop", "m", 210, 200, None, 0.05, 1)


def bare(url: str, n: int, concurrency: int) -> None:
    """Ask by the shortest loop there is."""
    from openai import AsyncOpenAI

    async def run() -> int:
        slots = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

            async def one(request: Request) -> int:
                async with slots:
                    got = await client.chat.completions.create(
                        model=request.model,
                        messages=[
                            {"role": m.speaker, "content": m.content}  # type: ignore[misc]
                            for m in request.messages
                        ],
                        temperature=0.7,
                        max_tokens=256,
                    )
                return len(got.choices[0].message.content or "")

            return sum(await asyncio.gather(*(one(r) for r in make_requests(n))))

    if asyncio.run(run()) != n * len(TEXT):
        raise RuntimeError("the bare loop lost a reply")


def ours(url: str, n: int, concurrency: int, cache: ReplyCache | None) -> None:
    """Ask as the pipeline does."""
    lengths: list[int] = []
    endpoint = Endpoint("m", "m", (url,), concurrency=concurrency)
    ask(
        endpoint,
        make_requests(n),
        cache=cache,
        on_reply=lambda request, got: lengths.append(len(got.text)),
        on_tally=lambda tally: None,
    )
    if lengths != [len(TEXT)] * n:
        raise RuntimeError("the client lost a reply")


def in_sqlite(url: str, n: int, concurrency: int) -> None:
    """Ask with a new database for a cache."""
    with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/a.db") as store:
        ours(url, n, concurrency, StoreCache(store))


def compare(args: argparse.Namespace) -> None:
    """Measure asking and print it."""
    n, at_once = args.requests, args.concurrency
    ways: dict[str, Way] = {
        "bare": lambda url: bare(url, n, at_once),
        "ours": lambda url: ours(url, n, at_once, None),
        "ours + memory": lambda url: ours(url, n, at_once, MemoryCache()),
        "ours + SQLite": lambda url: in_sqlite(url, n, at_once),
    }
    best = {name: (float("inf"), float("inf")) for name in ways}
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--wait", str(args.wait)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = (server.stdout.readline() if server.stdout else "").strip()
        bare(url, 8, 8)  # imports
        for _ in range(args.rounds):
            for name, way in ways.items():
                start, cpu = time.perf_counter(), time.process_time()
                way(url)
                took = time.perf_counter() - start, time.process_time() - cpu
                best[name] = min(best[name][0], took[0]), min(best[name][1], took[1])
    finally:
        server.terminate()
        server.wait()
    print(f"{n} requests, {at_once} at once, {args.wait:g} s a reply, best of {args.rounds}")
    for name, (seconds, cpu) in best.items():
        print(
            f"{name:>14}: {seconds:6.2f} s, {seconds / best['bare'][0]:4.2f} x bare "
            f"(target {TARGET_RATIO}), CPU {cpu:6.2f} s, {cpu / best['bare'][1]:4.2f} x bare"
        )


def fill(cache: ReplyCache, n: int) -> None:
    """Keep a reply for each request."""
    filling, batch = make_requests(n), 500
    for _ in range(0, n, batch):
        cache.keep_replies([(request, reply()) for request in islice(filling, batch)])


def cached(kind: str, n: int, rounds: int, database: str) -> None:
    """Run with a full cache and print what that took."""
    with open_store(database) as store:
        cache: ReplyCache = StoreCache(store)
        if kind == "memory":
            cache = MemoryCache()
            fill(cache, n)
        endpoint = Endpoint("m", "m", ("http://127.0.0.1:9/v1",))
        before, best = _megabytes(), (float("inf"), float("inf"))
        for _ in range(rounds):
            start, cpu = time.perf_counter(), time.process_time()
            tally = ask(endpoint, make_requests(n), cache=cache, on_reply=lambda *_: None)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            best = min(best[0], seconds), min(best[1], cpu)
        # The peak may be older than the run: then it rose by less.
        rise = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    if tally.cached != n:
        raise RuntimeError(f"only {tally.cached} of {n} were found")
    print(
        f"{kind:>14}: {n} cached requests in {best[0]:.2f} s (target {TARGET_SECONDS:g}), "
        f"CPU {best[1]:.2f} s, memory up by at most {rise:.0f} MB (target {TARGET_MEGABYTES:g})",
        flush=True,
    )


def cached_runs(n: int, rounds: int) -> None:
    """Measure cached runs, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/replies.db"
        with open_store(database) as store:
            fill(StoreCache(store), n)
        for kind in ("memory", "SQLite"):
            command = [sys.executable, __file__, "--cached", kind, "--database", database]
            command += ["--cached-requests", str(n), "--rounds", str(rounds)]
            subprocess.run(command, check=True)


def _megabytes() -> float:
    """Return the resident memory as it stands (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


async def serve(wait: float) -> None:
    """Answer everything with the same completion, each after so many seconds."""
    message = {"role": "assistant", "content": TEXT}
    value = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 210, "completion_tokens": 200, "total_tokens": 410},
    }
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    answer = head.encode() + b"\r\n\r\n" + body

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = next(x for x in lines if x.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                await asyncio.sleep(wait)
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--wait", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cached-requests", type=int, default=10_000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cached", choices=["memory", "SQLite"], help=argparse.SUPPRESS)
    parser.add_argument("--database", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        asyncio.run(serve(args.wait))
    elif args.cached:
        cached(args.cached, args.cached_requests, args.rounds, args.database)
    else:
        compare(args)
        cached_runs(args.cached_requests, args.rounds)


if __name__ == "__main__":
    main()
