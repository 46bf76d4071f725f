"""What `medoid doctor` looks at: the installation, the database, the servers."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from pipeline.models import look_at
from pipeline.version import TOOL_VERSION
from store import Store, StoreError, open_store
from store.model_records import RoleUsage, StageUsage

if TYPE_CHECKING:
    import httpx2

    from judges.endpoint import Endpoint
    from judges.probe import Probe

SPARE = 1.5
"""How much longer a time-out is advised to be than the longest reply takes by itself."""
PACKAGES = ("textual", "sqlalchemy", "sqlmodel", "numpy", "scipy", "openai", "jsonschema")


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """One server of one model. `key` says whether the key's variable is set, never its value."""

    name: str
    model: str
    base_url: str
    key: str
    probe: Probe | None
    kept: bool


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found; `problems` are what keeps something from working, `warnings` what may.

    `usage` is what each role used of each model by the kept replies, `stages` how often the runs of
    each stage asked and found a kept reply; `currencies` is of costs, by model.
    """

    medoid: str
    python: str
    packages: dict[str, str | None]
    embedder: str
    database: str
    servers: tuple[ServerCheck, ...] = ()
    problems: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = ()
    usage: tuple[RoleUsage, ...] = ()
    stages: tuple[StageUsage, ...] = ()
    currencies: Mapping[str, str] = field(default_factory=dict)

    @property
    def well(self) -> bool:
        """Whether nothing keeps something from working."""
        return not self.problems


def check_up(
    db: str,
    endpoints: Sequence[Endpoint],
    *,
    max_tokens: int | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Checkup:
    """Look at everything; what is found out about servers is kept in the database if there is one.

    No database is made. Time-outs are held against replies of `max_tokens`, those of a generated
    trace by default.
    """
    problems: list[str] = []
    packages = {name: _version(name) for name in PACKAGES}
    problems += [f"package {name} is missing" for name, found in packages.items() if found is None]
    embedder = _embedder(problems)
    store: Store | None = None
    usage: tuple[RoleUsage, ...] = ()
    stages: tuple[StageUsage, ...] = ()
    try:
        store = open_store(db, create=False)
        database = f"{store.file or store.url}: schema {store.revision}, {_counts(store)}"
        usage, stages = store.usage_by_role(), store.usage_by_stage()
    except StoreError as error:
        database = str(error)
        if _is_there(db):
            problems.append(f"database: {error}")
    try:
        servers = tuple(
            _server(store, endpoint, url, problems, transport)
            for endpoint in endpoints
            for url in endpoint.base_urls
        )
    finally:
        if store is not None:
            store.close()
    return Checkup(
        TOOL_VERSION,
        platform.python_version(),
        packages,
        embedder,
        database,
        servers,
        tuple(problems),
        tuple(_too_slow(endpoints, servers, max_tokens)),
        usage,
        stages,
        {e.model: e.price.currency for e in endpoints if e.price is not None},
    )


def _too_slow(
    endpoints: Sequence[Endpoint], servers: Sequence[ServerCheck], max_tokens: int | None
) -> Iterator[str]:
    """Say of each server whose longest reply would not be there within its time-out what to set."""
    timeouts = {e.name: e.timeout for e in endpoints}
    limit = max_tokens or _limit_of_a_trace()
    for server in servers:
        speed = None if server.probe is None else server.probe.tokens_per_second
        timeout = timeouts[server.name]
        if speed is None or limit / speed <= timeout:
            continue
        needed = math.ceil(limit * SPARE / speed / 10) * 10
        yield (
            f"model {server.name}: {server.base_url} gives {speed:.3g} tokens a second when it has "
            f"one request, so that {limit:,} tokens take about {limit / speed:.0f} s, and longer "
            f"with others at work; its time-out is {timeout:g} s: set timeout = {needed}, or ask "
            f"with --max-tokens {max(int(timeout * speed / SPARE), 1)}"
        )


def _limit_of_a_trace() -> int:
    """Return how many tokens a generated trace of the short form may have."""
    from judges.generator import generate_request
    from judges.questions import QuestionText

    asked = generate_request("", QuestionText("", "number"), sample=0)
    return asked.sampling.max_tokens or 0


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _is_there(db: str) -> bool:
    return "://" in db or os.path.exists(os.path.expanduser(db))


def _counts(store: Store) -> str:
    questions = sum(store.question_counts().values())
    return f"{questions:,} questions, {store.n_replies():,} kept replies"


def _embedder(problems: list[str]) -> str:
    """Return whether minilm can embed: the extra is there and its weights are the expected ones."""
    from judges.embedders import EmbedderError, check_minilm

    try:
        return f"minilm: weights {check_minilm()[:12]}… are the expected ones"
    except EmbedderError as error:
        if "extra" not in str(error):
            problems.append(f"embedding: {error}")
        return f"minilm cannot embed here: {error}"


def _server(
    store: Store | None,
    endpoint: Endpoint,
    url: str,
    problems: list[str],
    transport: httpx2.AsyncBaseTransport | None,
) -> ServerCheck:
    key = "none"
    if endpoint.key_env is not None:
        is_set = bool(os.environ.get(endpoint.key_env))
        key = f"in {endpoint.key_env}" if is_set else f"{endpoint.key_env} is not set"
        if not is_set:
            problems.append(f"model {endpoint.name}: the variable {endpoint.key_env} is not set")
            return ServerCheck(endpoint.name, endpoint.model, url, key, None, False)
    found = look_at(store, endpoint, url, transport=transport)
    if not found.reachable:
        problems.append(f"model {endpoint.name}: {url} does not answer")
    elif found.model_known is False:
        problems.append(f"model {endpoint.name}: {url} does not list the model {endpoint.model}")
    kept = store is not None and found.reachable
    return ServerCheck(endpoint.name, endpoint.model, url, key, found, kept)
