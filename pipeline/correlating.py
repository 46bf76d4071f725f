"""Does a metric go with faithfulness: the defined bootstrap over stored scores and early answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.facts import FactSource, fact_source
from pipeline.pool_scoring import PoolGraphs, ScoreParameters, pool_graphs
from pipeline.progress import OnProgress, Progress, silent
from pipeline.score_report import COHERENCE, LEAST_GOLD, NAMES, chosen_scoring
from pipeline.sensitivity import Target, faithfulness_of
from pipeline.spreading import one_blas_thread
from scoring.faithfulness import (
    CorrelationBootstrap,
    correlation_bootstrap,
    distance_metric,
    trace_bootstrap,
)
from scoring.graphs import METRICS
from store import Store
from store.records import PoolScore, ScoringRecord

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """How one metric goes with the medoid's faithfulness over questions.

    `resampled` says what the replicates draw: questions and traces, or questions alone, for a
    metric that is not computed from distances only. With `withheld` they would tell gold answers.
    """

    name: str
    kind: str
    resampled: str
    bootstrap: CorrelationBootstrap | None
    n: int
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class CorrelationGroup:
    """One dataset and pool."""

    dataset: str
    pool: str
    n_questions: int
    metrics: tuple[MetricCorrelation, ...]


@dataclass(frozen=True, slots=True)
class CorrelationReport:
    """Correlations by dataset and pool, and whose faithfulness it is."""

    scoring: ScoringRecord
    faithfulness: str
    replicates: int
    groups: tuple[CorrelationGroup, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    score: PoolScore
    faithfulness: float | None
    distances: FloatArray
    edits: FloatArray


def correlation_report(
    store: Store,
    *,
    scoring: int | None = None,
    target: Target = "gold",
    replicates: int = 1000,
    questions: int = 20,
    traces: int = 10,
    seed: int = 0,
    unsealed: bool = False,
    on_progress: OnProgress = silent,
) -> CorrelationReport:
    """Return how every stored metric goes with the faithfulness of the pools' medoids.

    Faithfulness is that of the newest early answers about the scoring's facts. Metrics made of
    distances are computed anew for the traces of every replicate; the others are as stored.

    Raises
    ------
    ValueError
        When nothing is scored, or there are no early answers about these facts.
    """
    record = chosen_scoring(store, scoring)
    told, faithful = faithfulness_of(store, record, target)
    if told is None:
        raise ValueError(
            f"no early answers about facts {record.decomposition!r}: medoid early-answer asks "
            "for them"
        )
    scores = {s.pool_id: s for s in store.pool_scores(record.id) if s.medoid_trace_id is not None}
    pools = [p for p in store.pools() if p.id in scores]
    work = _Work(store, record, fact_source(store, record.decomposition))
    grouped: dict[tuple[str, str], list[_Question]] = {}
    with one_blas_thread():
        for done, pool in enumerate(pools, start=1):
            score = scores[pool.id]
            value = faithful.get(score.medoid_trace_id or 0)
            found = None if value is None else work.graphs(pool.id)
            if found is not None:
                row = _Question(score, value, found.distances, found.costs.edit_costs())
                grouped.setdefault((pool.dataset, pool.pool), []).append(row)
            on_progress(Progress("correlate", done, len(pools), "questions"))
    how: dict[str, Any] = {"replicates": replicates, "questions": questions, "seed": seed}
    groups = []
    for (dataset, name), rows in grouped.items():
        hidden = target == "gold" and not unsealed and len(rows) < LEAST_GOLD
        held = {n for q in rows for n in q.score.metrics}
        shown = tuple(
            _correlated(n, rows, traces, how, withheld=hidden)
            for n in NAMES
            if n in COHERENCE or n in held
        )
        groups.append(CorrelationGroup(dataset, name, len(rows), shown))
    return CorrelationReport(record, told, replicates, tuple(groups))


@dataclass(frozen=True, slots=True)
class _Work:
    store: Store
    record: ScoringRecord
    source: FactSource

    def graphs(self, pool_id: int) -> PoolGraphs | None:
        """Work a pool out again from its stored vectors."""
        embedder_id = next(
            i
            for i, name, revision, _ in self.store.embedders()
            if (name, revision) == (self.record.embedder, self.record.embedder_revision)
        )
        records = self.store.pool_traces(pool_id)
        found = self.source.of_pool(pool_id, records)
        parameters = ScoreParameters.of(dict(self.record.parameters))
        return pool_graphs(self.store, embedder_id, records, found, parameters)


def _correlated(
    name: str,
    rows: Sequence[_Question],
    traces: int,
    how: Mapping[str, Any],
    *,
    withheld: bool,
) -> MetricCorrelation:
    kind = METRICS[name].kind
    faithful = [q.faithfulness for q in rows]
    resampled = "questions and traces" if name in (*COHERENCE, "topo_uq_unit") else "questions"
    if withheld:
        return MetricCorrelation(name, kind, resampled, None, len(rows), withheld=True)
    if resampled == "questions":
        held = [q.score.metrics.get(name) for q in rows]
        values = [None if m is None else m.value for m in held]
        return MetricCorrelation(
            name, kind, resampled, correlation_bootstrap(values, faithful, **how), len(rows)
        )
    if name == "topo_uq_unit":
        metric = distance_metric([q.edits for q in rows], "variance")
    else:
        metric = distance_metric([q.distances for q in rows], name)  # type: ignore[arg-type]
    sizes = [len(q.distances) for q in rows]
    found = trace_bootstrap(metric, faithful, sizes, traces=traces, **how)
    return MetricCorrelation(name, kind, resampled, found, len(rows))
