"""The embed stage: every distinct text once, for good."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from judges.embedders import Embedder, embedder_info, open_embedder
from pipeline.facts import UNDECOMPOSED, PoolFacts, fact_source
from pipeline.progress import OnProgress, Progress, silent
from store import Store
from store.columns import text_hash
from store.records import PoolRecord, TraceRecord

SAVE_EVERY = 2048


@dataclass(frozen=True, slots=True)
class EmbedSummary:
    """What one run of the embed stage did.

    `n_facts` facts are `n_distinct` distinct texts, `n_known` of which had a vector; `n_truncated`
    of the new ones are longer than the model reads. `seconds` of `encode_seconds` went to the
    model, loading left out.
    """

    embedder: str
    revision: str
    embedder_id: int | None
    n_facts: int
    n_distinct: int
    n_known: int
    n_embedded: int
    n_truncated: int
    load_seconds: float
    encode_seconds: float


OnPool = Callable[[PoolRecord, tuple[TraceRecord, ...], PoolFacts], None]


def distinct_fact_texts(
    store: Store, decomposition: str = UNDECOMPOSED, on_pool: OnPool | None = None
) -> tuple[dict[str, str], int]:
    """Return every distinct fact text by hash, and how many facts there are in all.

    `on_pool` is shown every pool with its traces and facts, which are read one pool at a time.
    """
    source = fact_source(store, decomposition)
    texts: dict[str, str] = {}
    n_facts = 0
    for pool in store.pools():
        traces = store.pool_traces(pool.id)
        found = source.of_pool(pool.id, traces)
        if on_pool is not None:
            on_pool(pool, traces, found)
        for facts in found.facts.values():
            for fact in facts:
                n_facts += 1
                texts.setdefault(text_hash(fact.text), fact.text)
    return texts, n_facts


def embed(
    store: Store,
    name: str = "minilm",
    *,
    decomposition: str = UNDECOMPOSED,
    on_progress: OnProgress = silent,
    open_: Callable[[str], Embedder] = open_embedder,
    on_pool: OnPool | None = None,
) -> EmbedSummary:
    """Embed every distinct fact text of a decomposition that has no vector yet.

    Nothing is loaded when nothing is missing. Vectors are stored as they come, so an interruption
    costs at most the last batch. `on_pool` is shown every pool as it is read.

    Raises
    ------
    ValueError
        When there is no such decomposition.
    judges.embedders.EmbedderError
        When the embedder cannot be opened.
    """
    revision = embedder_info(name).revision
    texts, n_facts = distinct_fact_texts(store, decomposition, on_pool)
    embedder_id = next((i for i, n, r, _ in store.embedders() if (n, r) == (name, revision)), None)
    known = set() if embedder_id is None else store.known_embeddings(embedder_id, texts)
    missing = [h for h in texts if h not in known]
    load_seconds = encode_seconds = 0.0
    truncated = 0
    if missing:
        start = time.perf_counter()
        model = open_(name)
        load_seconds = time.perf_counter() - start
        embedder_id = store.embedder(model.name, model.revision, model.dimension)
        start = time.perf_counter()
        _encode_all(store, model, embedder_id, {h: texts[h] for h in missing}, on_progress)
        encode_seconds = time.perf_counter() - start
        truncated = model.truncated([texts[h] for h in missing])
    return EmbedSummary(
        embedder=name,
        revision=revision,
        embedder_id=embedder_id,
        n_facts=n_facts,
        n_distinct=len(texts),
        n_known=len(known),
        n_embedded=len(missing),
        n_truncated=truncated,
        load_seconds=load_seconds,
        encode_seconds=encode_seconds,
    )


def _encode_all(
    store: Store,
    model: Embedder,
    embedder_id: int,
    texts: dict[str, str],
    on_progress: OnProgress,
) -> None:
    # Longest first over the whole run, so that a batch holds texts of like length.
    hashes = sorted(texts, key=lambda h: (-len(texts[h]), h))
    for start in range(0, len(hashes), SAVE_EVERY):
        part = hashes[start : start + SAVE_EVERY]

        def report(done: int, start: int = start) -> None:
            on_progress(Progress("embed", start + done, len(hashes), "texts"))

        vectors = model.encode([texts[h] for h in part], report)
        store.add_embeddings(embedder_id, dict(zip(part, vectors, strict=True)))
