"""One pool: from stored traces and vectors to graphs, distances, votes, medoid and metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pipeline.facts import PoolFacts
from pipeline.version import TOOL_VERSION
from scoring.graphs import (
    PairwiseCosts,
    PoolGeometry,
    PoolMetric,
    Vote,
    build_graph,
    coherence,
    graph_self_consistency,
    pairwise_costs,
    pool_geometry,
    pool_metrics,
    self_consistency,
    with_missing_rule,
)
from scoring.graphs.build import FactEdges, Missing, Terminals
from scoring.graphs.coherence import Bins
from scoring.graphs.ged import EdgeEmbedding
from scoring.graphs.metrics import Entail
from scoring.graphs.solvers import Solver
from scoring.types import Fact, ReasoningGraph
from store import Store
from store.columns import text_hash
from store.records import MetricRecord, PoolRecord, PoolScore, TraceRecord, TraceScoreRecord

Electorate = Literal["both", "any"]

LATER = ("missing", "electorate")
"""Parameters that came after the first scorings: at their defaults they stay out of the key."""

_WORDS: dict[str, tuple[str, ...]] = {
    "edge_embedding": get_args(EdgeEmbedding),
    "fact_edges": get_args(FactEdges),
    "terminals": get_args(Terminals),
    "bins": get_args(Bins),
    "missing": get_args(Missing),
    "electorate": get_args(Electorate),
}


@dataclass(frozen=True, slots=True)
class ScoreParameters:
    """Parameters of a scoring; the defaults are the definitions' (paper A, section 4).

    `missing` reads steps without an annotation; `electorate` says who votes in SC: the traces
    that GSC has too (``both``), or every parsed answer (``any``).
    """

    beta: float = 0.4
    gamma: float = 5.0
    alpha: float = 0.8
    tau: float = 0.9
    terminal_weight: float = 2.0
    edge_embedding: EdgeEmbedding = "concat"
    fact_edges: FactEdges = "anchor"
    terminals: Terminals = "step"
    bins: Bins = "fd"
    missing: Missing = "chain"
    electorate: Electorate = "both"

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
        if self.terminal_weight == 0:
            raise ValueError("terminal_weight must be more than 0, not 0")
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; {' or '.join(words)} is right"
                )

    def as_key(self) -> dict[str, Any]:
        """Return what a scoring is known by."""
        given = asdict(self)
        plain = {f.name: f.default for f in fields(self)}
        return {k: v for k, v in given.items() if k not in LATER or v != plain[k]}

    @staticmethod
    def of(stored: dict[str, Any]) -> ScoreParameters:
        """Return the parameters of a stored scoring."""
        known = {f.name for f in fields(ScoreParameters)}
        return ScoreParameters(**{k: v for k, v in stored.items() if k in known})


@dataclass(frozen=True, slots=True, eq=False)
class PoolGraphs:
    """A pool worked out: its voting traces, their graphs, distances and who backs what."""

    used: tuple[TraceRecord, ...]
    geometry: PoolGeometry
    costs: PairwiseCosts
    distances: NDArray[np.float64]
    excluded: dict[str, int]


def exclusion(record: TraceRecord, found: PoolFacts, missing: Missing = "chain") -> str | None:
    """Return why a trace has no vote, or None when it has one."""
    if record.id in found.missing:
        return found.missing[record.id]
    if missing == "exclude" and record.trace.unannotated:
        return "unannotated"
    return "no answer" if record.trace.answer is None else None


def electorate_graphs(
    store: Store,
    embedder_id: int,
    traces: Sequence[TraceRecord],
    found: PoolFacts,
    p: ScoreParameters,
) -> tuple[tuple[TraceRecord, ...], tuple[ReasoningGraph, ...], dict[str, int]]:
    """Return the traces that have a graph and an answer, their graphs, and the others by reason."""
    reasons = [exclusion(r, found, p.missing) for r in traces]
    used = tuple(r for r, reason in zip(traces, reasons, strict=True) if reason is None)
    vectors = pool_vectors(store, embedder_id, [found.facts[r.id] for r in used])
    graphs = tuple(
        build_graph(
            with_missing_rule(r.trace, p.missing),
            vectors,
            facts=found.facts[r.id],
            fact_edges=p.fact_edges,
            terminals=p.terminals,
        )
        for r in used
    )
    return used, graphs, dict(Counter(reason for reason in reasons if reason is not None))


def pool_vectors(
    store: Store, embedder_id: int, facts: Sequence[Sequence[Fact]]
) -> dict[str, NDArray[np.float64]]:
    """Return the stored vectors of facts by their text.

    Raises
    ------
    ValueError
        When some have none.
    """
    texts = {text_hash(f.text): f.text for of_trace in facts for f in of_trace}
    held = store.embeddings(embedder_id, texts)
    if len(held) < len(texts):
        raise ValueError(
            f"{len(texts) - len(held)} of {len(texts)} facts have no vector in the database: "
            "medoid embed makes them"
        )
    return {texts[h]: v.astype(np.float64) for h, v in held.items()}


def pool_graphs(
    store: Store,
    embedder_id: int,
    traces: Sequence[TraceRecord],
    found: PoolFacts,
    p: ScoreParameters,
    solver: Solver = "auto",
) -> PoolGraphs | None:
    """Return a pool's graphs and distances, None where no trace has a vote."""
    used, graphs, excluded = electorate_graphs(store, embedder_id, traces, found, p)
    if not used:
        return None
    geometry = pool_geometry(graphs)
    costs = pairwise_costs(geometry, edge_embedding=p.edge_embedding, solver=solver)
    return PoolGraphs(used, geometry, costs, costs.distances(beta=p.beta, gamma=p.gamma), excluded)


def _vote(traces: Sequence[TraceRecord], used: Sequence[TraceRecord], p: ScoreParameters) -> Vote:
    voters = traces if p.electorate == "any" else used
    return self_consistency([r.trace.answer for r in voters])


def score_pool(
    store: Store,
    embedder_id: int,
    pool: PoolRecord,
    traces: tuple[TraceRecord, ...],
    found: PoolFacts,
    digest: str,
    p: ScoreParameters,
    metrics: Sequence[str] = (),
    entail: Entail | None = None,
    by: dict[str, dict[str, Any]] | None = None,
    solver: Solver = "auto",
) -> PoolScore:
    """Return all scores of a pool; `by` says for each metric what it is computed with."""
    work = pool_graphs(store, embedder_id, traces, found, p, solver)
    vote = _vote(traces, () if work is None else work.used, p)
    right = None if pool.gold is None or vote.answer is None else vote.answer == pool.gold
    if work is None:
        reasons = Counter(exclusion(r, found, p.missing) for r in traces)
        why = {reason: n for reason, n in reasons.items() if reason is not None}
        said = {name: (by or {}).get(name, {}) for name in metrics}
        return _unusable(pool, digest, traces, why, vote, right, said)
    spread = coherence(work.distances, bins=p.bins)
    gsc = graph_self_consistency(
        work.geometry,
        work.distances,
        alpha=p.alpha,
        tau=p.tau,
        terminal_weight=p.terminal_weight,
    )
    values = pool_metrics(
        work.geometry,
        work.costs,
        work.distances,
        gsc.medoid,
        metrics,
        edge_embedding=p.edge_embedding,
        solver=solver,
        entail=entail,
    )
    return PoolScore(
        pool_id=pool.id,
        input_hash=digest,
        n_traces=len(traces),
        n_used=len(work.used),
        excluded=work.excluded,
        sc_answer=vote.answer,
        sc_counts=tuple(vote.counts.items()),
        sc_tied=vote.tied,
        gsc_answer=gsc.answer,
        medoid_trace_id=work.used[gsc.medoid].id,
        disagree=vote.answer != gsc.answer,
        sc_correct=right,
        gsc_correct=None if pool.gold is None else gsc.answer == pool.gold,
        grcs=spread.grcs,
        divergence=spread.divergence,
        dispersion=spread.dispersion,
        entropy=spread.entropy,
        flags=tuple(dict.fromkeys((*spread.flags, *gsc.flags))),
        traces=_trace_scores(
            work.used, gsc.scores, gsc.centrality, gsc.consensus, gsc.node_support
        ),
        metrics={
            name: metric_record(value, (by or {}).get(name, {}), work.used)
            for name, value in values.items()
        },
    )


def metric_record(
    value: PoolMetric, by: dict[str, Any], used: Sequence[TraceRecord]
) -> MetricRecord:
    """Return a metric as it is stored; what is told by trace is told by trace id."""
    detail = dict(value.detail)
    if "by_trace" in detail:
        detail["by_trace"] = {str(r.id): x for r, x in zip(used, detail["by_trace"], strict=True)}
    return MetricRecord(
        value.value,
        value.n,
        value.n_pairs,
        value.flags,
        value.why_undefined,
        detail,
        by,
        TOOL_VERSION,
    )


def _unusable(
    pool: PoolRecord,
    digest: str,
    traces: Sequence[TraceRecord],
    excluded: dict[str, int],
    vote: Vote,
    right: bool | None,
    metrics: dict[str, dict[str, Any]],
) -> PoolScore:
    return PoolScore(
        pool_id=pool.id,
        input_hash=digest,
        n_traces=len(traces),
        n_used=0,
        excluded=excluded,
        sc_answer=vote.answer,
        sc_counts=tuple(vote.counts.items()),
        sc_tied=vote.tied,
        gsc_answer=None,
        medoid_trace_id=None,
        disagree=False,
        sc_correct=right,
        gsc_correct=None,
        grcs=None,
        divergence=None,
        dispersion=None,
        entropy=None,
        flags=("no_usable_trace",),
        metrics={
            name: MetricRecord(
                None, 0, why_undefined="no trace has a vote", by=by, tool=TOOL_VERSION
            )
            for name, by in metrics.items()
        },
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _trace_scores(
    used: Sequence[TraceRecord],
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


__all__ = ["ScoreParameters", "electorate_graphs", "pool_graphs", "score_pool"]
