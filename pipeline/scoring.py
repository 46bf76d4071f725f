"""The score stage: pools of traces to distances, votes, medoids and coherence."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judges.embedders import embedder_info
from pipeline.embedding import EmbedSummary, embed
from pipeline.facts import UNDECOMPOSED, PoolFacts, fact_source, undecomposed
from pipeline.progress import OnProgress, Progress, silent
from pipeline.version import TOOL_VERSION
from scoring.graphs import (
    build_graph,
    coherence,
    graph_self_consistency,
    pairwise_distances,
    pool_geometry,
    self_consistency,
)
from scoring.types import Fact, NormalForm
from store import Store
from store.codec import encode_answer
from store.columns import content_hash, text_hash
from store.records import (
    PoolRecord,
    PoolScore,
    ScoringRecord,
    TraceRecord,
    TraceScoreRecord,
)

SAVE_EVERY = 50


@dataclass(frozen=True, slots=True)
class ScoreParameters:
    """Parameters of a scoring; the defaults are the definitions' (paper A, section 4)."""

    beta: float = 0.4
    gamma: float = 5.0
    alpha: float = 0.8
    tau: float = 0.9
    terminal_weight: float = 2.0
    edge_embedding: Literal["concat", "mean"] = "concat"
    fact_edges: Literal["anchor", "all"] = "anchor"
    terminals: Literal["step", "fact"] = "step"
    bins: Literal["fd", "sturges"] = "fd"

    def __post_init__(self) -> None:
        for name, low, high in (
            ("beta", 0.0, 1.0),
            ("gamma", 0.0, math.inf),
            ("alpha", 0.0, 1.0),
            ("tau", -1.0, 1.0),
            ("terminal_weight", 0.0, math.inf),
        ):
            value = getattr(self, name)
            if not math.isfinite(value) or not low <= value <= high:
                raise ValueError(f"{name} must be a number from {low:g} to {high:g}, not {value}")


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What one run of the score stage did."""

    scoring: ScoringRecord
    embedding: EmbedSummary
    n_pools: int
    n_scored: int
    n_known: int
    n_unusable: int
    n_disagree: int
    n_traces: int
    n_used: int
    excluded: Mapping[str, int]
    seconds: float


def score(
    store: Store,
    *,
    embedder: str = "minilm",
    decomposition: str = UNDECOMPOSED,
    parameters: ScoreParameters | None = None,
    primary: bool | None = None,
    on_progress: OnProgress = silent,
) -> ScoreSummary:
    """Score every pool whose inputs changed since it was last scored with these parameters.

    Texts without a vector are embedded first. SC and GSC use the same electorate: the traces with
    a usable graph and a parsed answer; the others are counted by reason. Under a `decomposition`
    its facts are the nodes; a trace without any (not decomposed, or to no effect) has no vote, and
    the children of a step that got no fact inherit its parents.

    Raises
    ------
    ValueError
        When the database holds no pool, or no such decomposition.
    judges.embedders.EmbedderError
        When texts must be embedded and the embedder cannot be opened.
    """
    parameters = parameters or ScoreParameters()
    pools = store.pools()
    if not pools:
        raise ValueError(
            "nothing to score: no question has traces; sample them (medoid generate) or import "
            "them (medoid import FILE…)"
        )
    source = fact_source(store, decomposition)
    digests: dict[int, str] = {}

    def digest_of(pool: PoolRecord, traces: tuple[TraceRecord, ...], found: PoolFacts) -> str:
        return input_hash(traces, pool.gold, found if decomposition != UNDECOMPOSED else None)

    def note(pool: PoolRecord, traces: tuple[TraceRecord, ...], found: PoolFacts) -> None:
        digests[pool.id] = digest_of(pool, traces, found)

    # What was read to be embedded tells which pools are to be scored: the others are read once.
    embedding = embed(
        store, embedder, decomposition=decomposition, on_progress=on_progress, on_pool=note
    )
    start = time.perf_counter()
    embedder_id = embedding.embedder_id
    if embedder_id is None:
        known_as = embedder_info(embedder)
        embedder_id = store.embedder(embedder, known_as.revision, known_as.dimension)
    scoring = store.scoring(
        embedder_id,
        asdict(parameters),
        TOOL_VERSION,
        decomposition=decomposition,
        primary=primary,
    )
    known = store.score_hashes(scoring.id)
    fresh: list[PoolScore] = []
    n_scored = 0
    for done, pool in enumerate(pools, start=1):
        if pool.id not in known or known[pool.id] != digests.get(pool.id):
            traces = store.pool_traces(pool.id)
            found = source.of_pool(pool.id, traces)
            digest = digest_of(pool, traces, found)
            fresh.append(_score_pool(store, embedder_id, pool, traces, found, digest, parameters))
            n_scored += 1
        if len(fresh) >= SAVE_EVERY or done == len(pools):
            store.save_pool_scores(scoring.id, fresh)
            fresh = []
        on_progress(Progress("score", done, len(pools), "questions"))
    return _summary(store, scoring, embedding, len(pools), n_scored, time.perf_counter() - start)


def _summary(
    store: Store,
    scoring: ScoringRecord,
    embedding: EmbedSummary,
    n_pools: int,
    n_scored: int,
    seconds: float,
) -> ScoreSummary:
    scores = store.pool_scores(scoring.id)
    excluded: Counter[str] = Counter()
    for row in scores:
        excluded.update(row.excluded)
    return ScoreSummary(
        scoring=scoring,
        embedding=embedding,
        n_pools=n_pools,
        n_scored=n_scored,
        n_known=n_pools - n_scored,
        n_unusable=sum(row.n_used == 0 for row in scores),
        n_disagree=sum(row.disagree for row in scores),
        n_traces=sum(row.n_traces for row in scores),
        n_used=sum(row.n_used for row in scores),
        excluded=dict(excluded),
        seconds=seconds,
    )


def input_hash(
    traces: tuple[TraceRecord, ...], gold: NormalForm | None, found: PoolFacts | None = None
) -> str:
    """Return a hash of all that a pool's scores depend on besides the parameters.

    `found` are the facts of a decomposition; without it a step is a fact.
    """
    inputs: dict[str, Any] = {
        "gold": encode_answer(gold),
        "traces": [
            [
                r.id,
                encode_answer(r.trace.answer),
                [
                    [text_hash(f.text), list(s.depends_on)]
                    for f, s in zip(undecomposed(r.trace), r.trace.steps, strict=True)
                ],
            ]
            for r in traces
        ],
    }
    if found is not None:
        inputs["facts"] = [
            [[text_hash(f.text), f.step] for f in found.facts[r.id]]
            if r.id in found.facts
            else found.missing[r.id]
            for r in traces
        ]
    return content_hash(inputs)


def _exclusion(record: TraceRecord, found: PoolFacts) -> str | None:
    """Return why a trace has no vote, or None when it has one."""
    if record.id in found.missing:
        return found.missing[record.id]
    return "no answer" if record.trace.answer is None else None


def _score_pool(
    store: Store,
    embedder_id: int,
    pool: PoolRecord,
    traces: tuple[TraceRecord, ...],
    found: PoolFacts,
    digest: str,
    p: ScoreParameters,
) -> PoolScore:
    reasons = [_exclusion(r, found) for r in traces]
    used = [r for r, reason in zip(traces, reasons, strict=True) if reason is None]
    common: dict[str, Any] = {
        "pool_id": pool.id,
        "input_hash": digest,
        "n_traces": len(traces),
        "n_used": len(used),
        "excluded": dict(Counter(reason for reason in reasons if reason is not None)),
    }
    if not used:
        return PoolScore(
            **common,
            sc_answer=None,
            sc_counts=(),
            sc_tied=False,
            gsc_answer=None,
            medoid_trace_id=None,
            disagree=False,
            sc_correct=None,
            gsc_correct=None,
            grcs=None,
            divergence=None,
            dispersion=None,
            entropy=None,
            flags=("no_usable_trace",),
        )
    vectors = _vectors(store, embedder_id, [found.facts[r.id] for r in used])
    graphs = [
        build_graph(
            r.trace,
            vectors,
            facts=found.facts[r.id],
            fact_edges=p.fact_edges,
            terminals=p.terminals,
        )
        for r in used
    ]
    geometry = pool_geometry(graphs)
    distances = pairwise_distances(
        geometry, beta=p.beta, gamma=p.gamma, edge_embedding=p.edge_embedding
    )
    spread = coherence(distances, bins=p.bins)
    vote = self_consistency([g.answer for g in graphs])
    gsc = graph_self_consistency(
        geometry, distances, alpha=p.alpha, tau=p.tau, terminal_weight=p.terminal_weight
    )
    return PoolScore(
        **common,
        sc_answer=vote.answer,
        sc_counts=tuple(vote.counts.items()),
        sc_tied=vote.tied,
        gsc_answer=gsc.answer,
        medoid_trace_id=used[gsc.medoid].id,
        disagree=vote.answer != gsc.answer,
        sc_correct=None if pool.gold is None else vote.answer == pool.gold,
        gsc_correct=None if pool.gold is None else gsc.answer == pool.gold,
        grcs=spread.grcs,
        divergence=spread.divergence,
        dispersion=spread.dispersion,
        entropy=spread.entropy,
        flags=tuple(dict.fromkeys((*spread.flags, *gsc.flags))),
        traces=_trace_scores(used, gsc.scores, gsc.centrality, gsc.consensus, gsc.node_support),
    )


def _vectors(
    store: Store, embedder_id: int, facts: list[tuple[Fact, ...]]
) -> dict[str, NDArray[np.float64]]:
    texts = {text_hash(f.text): f.text for of_trace in facts for f in of_trace}
    found = store.embeddings(embedder_id, texts)
    return {texts[h]: v.astype(np.float64) for h, v in found.items()}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _trace_scores(
    used: list[TraceRecord],
    scores: NDArray[np.float64],
    centrality: NDArray[np.float64],
    consensus: NDArray[np.float64],
    support: tuple[NDArray[np.float64], ...],
) -> tuple[TraceScoreRecord, ...]:
    # Best first; equal and undefined scores keep sampling order, as the medoid's rule does.
    order = sorted(range(len(used)), key=lambda i: (-np.nan_to_num(scores[i], nan=-np.inf), i))
    peak = float(np.max(centrality))
    out = []
    for rank, i in enumerate(order, start=1):
        out.append(
            TraceScoreRecord(
                trace_id=used[i].id,
                rank=rank,
                score=_defined(scores[i]),
                centrality=_defined(centrality[i]) if len(used) > 1 else None,
                centrality_share=float(centrality[i]) / peak if peak > 0 else None,
                consensus=_defined(consensus[i]),
                node_support=tuple(_defined(x) for x in support[i]),
            )
        )
    return tuple(out)
