"""Requests, replies and decomposed projects for the store's tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from scoring.types import Fact
from store import Store
from store.model_records import DecomposedRecord, ReplyRecord, RequestRecord
from tests.store.world import add_traces, new_question, new_trace


def request(
    name: str = "q",
    sample: int = 0,
    *,
    role: str = "generator",
    model: str = "m",
    prompt_version: str = "generator/1",
    body: Any = None,
) -> RequestRecord:
    digest = hashlib.sha256(f"{model} {name}".encode()).hexdigest()
    return RequestRecord(
        key=f"{digest}:{sample}",
        body_hash=digest,
        sample=sample,
        role=role,
        model=model,
        prompt_version=prompt_version,
        body={"model": model, "messages": [["user", name]]} if body is None else body,
    )


def reply(text: str = "so", **rest: Any) -> ReplyRecord:
    return ReplyRecord(**{"outcome": "ok", "text": text, **rest})


def keep(store: Store, name: str, text: str = "so", sample: int = 0, **rest: Any) -> str:
    """Keep a reply; return its key."""
    asked = request(name, sample, **rest)
    store.keep_replies([(asked, reply(text))])
    return asked.key


def facts_of(trace_id: int, texts: Sequence[tuple[int, str]], **rest: Any) -> DecomposedRecord:
    return DecomposedRecord(trace_id, "ok", tuple(Fact(text, step) for step, text in texts), **rest)


def trace_ids(store: Store) -> list[int]:
    return [r.id for pool in store.pools() for r in store.pool_traces(pool.id)]


def decomposed(store: Store, name: str = "split", ids: Iterable[int] | None = None) -> int:
    """Split traces, all by default, two facts in step 0 and one in step 1; return the id."""
    made = store.decomposition(name, "m", "decomposer/1", {"temperature": 0})
    texts = [(0, "two"), (0, "and two"), (1, "the sum")]
    ids = trace_ids(store) if ids is None else ids
    store.save_decomposed(made.id, [facts_of(i, texts) for i in ids])
    return made.id


def pools_of(store: Store, sizes: Sequence[int]) -> list[list[int]]:
    """Make a question with a pool of each size; return the trace ids by pool."""
    add_traces(
        store,
        (
            new_trace(new_question(f"q{q:02}"), str(k))
            for q, size in enumerate(sizes)
            for k in range(size)
        ),
    )
    return [[r.id for r in store.pool_traces(pool.id)] for pool in store.pools()]
