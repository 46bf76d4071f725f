"""Does a metric go with faithfulness: the defined bootstrap on what the project holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.counterfactual_report import CounterfactualReport, counterfactual_report
from pipeline.early_report import EarlyReport, early_report
from pipeline.facts import fact_source
from pipeline.medoids import primary_scores
from pipeline.pool_scoring import ScoreParameters, pool_graphs
from pipeline.progress import OnProgress, Progress, silent
from pipeline.selecting import chosen_pools, known_datasets
from scoring.faithfulness import CorrelationBootstrap, distance_metric, trace_bootstrap
from scoring.faithfulness.association import Statistic
from store import Store
from store.intervention_records import CounterfactualRunRecord
from store.model_records import EarlyRunRecord
from store.records import PoolRecord, PoolScore, ScoringRecord

Faithfulness = Literal["EA gold", "EA own", "CF re-asked", "CF stated"]
FAITHFULNESS: tuple[Faithfulness, ...] = ("EA gold", "EA own", "CF re-asked", "CF stated")
METRICS: tuple[Statistic, ...] = ("grcs", "divergence", "dispersion", "entropy")


@dataclass(frozen=True, slots=True)
class AssociationCell:
    """A metric against one measure of the medoids' faithfulness."""

    metric: Statistic
    faithfulness: Faithfulness
    result: CorrelationBootstrap


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Pearson's correlation with early answering and counterfactual editing, as paper A's Table 4.

    Over the `n` questions that have both, with the same draws for both. `delta` is the mean of
    CF − EA over the replicates in which both are defined (`used`), between its percentiles; each
    is None where undefined.
    """

    metric: Statistic
    ea_name: Faithfulness
    cf_name: Faithfulness
    n: int
    ea: CorrelationBootstrap
    cf: CorrelationBootstrap
    delta: float | None
    delta_low: float | None
    delta_high: float | None
    used: int
    dropped: int


@dataclass(frozen=True, slots=True)
class AssociationGroup:
    """One dataset and pool: of `n_questions` scored ones `n_metric` have a metric."""

    dataset: str
    pool: str
    n_questions: int
    n_metric: int
    early_run: EarlyRunRecord | None
    counterfactual_run: CounterfactualRunRecord | None
    cells: tuple[AssociationCell, ...]
    side_by_side: tuple[SideBySide, ...]


@dataclass(frozen=True, slots=True)
class AssociationReport:
    """Metrics of the primary scoring against the faithfulness of its medoids."""

    scoring: ScoringRecord
    replicates: int
    questions: int
    traces: int
    seed: int
    groups: tuple[AssociationGroup, ...]


def association(
    store: Store,
    *,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    metrics: Sequence[Statistic] = METRICS,
    replicates: int = 1000,
    questions: int = 20,
    traces: int = 10,
    seed: int = 0,
    on_progress: OnProgress = silent,
) -> AssociationReport:
    """Correlate metrics with the medoids' faithfulness over bootstrap replicates.

    A metric is recomputed from the traces that each replicate draws (those that vote and have
    facts); the faithfulness is that of the medoid in the whole pool. Of the runs of early answers
    and of counterfactual answers, each pool takes the one with most medoids, of two the newer.
    Ablated pools are left out unless `pool` names one.

    Raises
    ------
    ValueError
        When nothing is scored, no medoid has a faithfulness, or a number is out of range.
    """
    unknown = [m for m in metrics if m not in METRICS]
    if unknown:
        raise ValueError(f"metric {unknown[0]!r} is unknown; there are: {', '.join(METRICS)}")
    scoring, scores = primary_scores(store)
    by_name: dict[tuple[str, str], list[PoolRecord]] = {}
    for place in chosen_pools(store, known_datasets(store, dataset), pool):
        if place.id in scores:
            by_name.setdefault((place.dataset, place.pool), []).append(place)
    reader = _Reader(store, scoring, scores)
    groups = []
    for (of, name), members in by_name.items():
        found = reader.faithfulness(of, name, members)
        if found.values:
            how = _Draws(replicates, questions, traces, seed)
            matrices = reader.distances(members, on_progress)
            groups.append(_group(of, name, members, matrices, found, metrics, how))
    if not groups:
        raise ValueError(
            "no medoid has a faithfulness yet: medoid early-answer --traces medoids, "
            "medoid counterfactual"
        )
    return AssociationReport(scoring, replicates, questions, traces, seed, tuple(groups))


@dataclass(frozen=True, slots=True)
class _Draws:
    replicates: int
    questions: int
    traces: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Found:
    """The medoids' faithfulness by measure and question, and where it is from."""

    values: dict[Faithfulness, list[float | None]]
    early_run: EarlyRunRecord | None
    counterfactual_run: CounterfactualRunRecord | None


class _Reader:
    """Reads what a bootstrap needs, pool by pool."""

    def __init__(self, store: Store, scoring: ScoringRecord, scores: dict[int, PoolScore]) -> None:
        self._store, self._scoring, self._scores = store, scoring, scores
        self._parameters = ScoreParameters.of(dict(scoring.parameters))
        known = {(name, revision): i for i, name, revision, _ in store.embedders()}
        self._embedder_id = known[scoring.embedder, scoring.embedder_revision]

    def faithfulness(self, dataset: str, pool: str, members: Sequence[PoolRecord]) -> _Found:
        """Return the medoids' faithfulness in the order of the pools."""
        medoids = [self._scores[p.id].medoid_trace_id for p in members]
        values: dict[Faithfulness, list[float | None]] = {}
        early = self._best_early(dataset, pool, set(medoids))
        if early is not None:
            rows = {t.trace_id: t.targets for q in early.questions for t in q.rows}
            both = [rows.get(m) if m is not None else None for m in medoids]
            values["EA gold"] = [None if x is None else x.gold.faithfulness for x in both]
            values["EA own"] = [None if x is None else x.own.faithfulness for x in both]
        cf = self._best_counterfactual(dataset, pool, set(medoids))
        if cf is not None:
            found = {t.trace_id: t for q in cf.questions for t in q.rows}
            each = [found.get(m) if m is not None else None for m in medoids]
            values["CF re-asked"] = [None if x is None else x.reasked.score for x in each]
            values["CF stated"] = [None if x is None else x.stated.score for x in each]
        kept = {k: v for k, v in values.items() if any(x is not None for x in v)}
        return _Found(kept, early.run if early else None, cf.run if cf else None)

    def _best_early(self, dataset: str, pool: str, medoids: set[int | None]) -> EarlyReport | None:
        best, most = None, 0
        for run in reversed(self._store.early_runs()):
            report = early_report(self._store, run, dataset=dataset, pool=pool)
            n = sum(t.trace_id in medoids for q in report.questions for t in q.rows)
            if n > most:
                best, most = report, n
        return best

    def _best_counterfactual(
        self, dataset: str, pool: str, medoids: set[int | None]
    ) -> CounterfactualReport | None:
        best, most = None, 0
        for run in reversed(self._store.counterfactual_runs()):
            report = counterfactual_report(self._store, run, dataset=dataset, pool=pool)
            n = sum(t.trace_id in medoids for q in report.questions for t in q.rows)
            if n > most:
                best, most = report, n
        return best

    def distances(
        self, members: Sequence[PoolRecord], on_progress: OnProgress
    ) -> list[NDArray[np.float64]]:
        """Return the distance matrix of every pool's electorate."""
        source = fact_source(self._store, self._scoring.decomposition)
        out = []
        for done, place in enumerate(members, start=1):
            traces = self._store.pool_traces(place.id)
            found = source.of_pool(place.id, traces)
            worked_out = pool_graphs(
                self._store, self._embedder_id, traces, found, self._parameters
            )
            out.append(np.zeros((0, 0)) if worked_out is None else worked_out.distances)
            on_progress(Progress("distances", done, len(members), "questions"))
        return out


def _group(
    dataset: str,
    pool: str,
    members: Sequence[PoolRecord],
    matrices: Sequence[NDArray[np.float64]],
    found: _Found,
    metrics: Sequence[Statistic],
    how: _Draws,
) -> AssociationGroup:
    cells = [
        AssociationCell(metric, kind, _bootstrap(metric, matrices, values, how))
        for metric in metrics
        for kind, values in found.values.items()
    ]
    pairs = [
        _side_by_side(metric, ea, cf, matrices, found, how)
        for metric in metrics
        for ea in ("EA gold", "EA own")
        for cf in ("CF re-asked", "CF stated")
        if ea in found.values and cf in found.values
    ]
    return AssociationGroup(
        dataset,
        pool,
        len(members),
        sum(len(m) > 1 for m in matrices),
        found.early_run,
        found.counterfactual_run,
        tuple(cells),
        tuple(pairs),
    )


def _bootstrap(
    metric: Statistic,
    matrices: Sequence[NDArray[np.float64]],
    values: Sequence[float | None],
    how: _Draws,
) -> CorrelationBootstrap:
    sizes = [len(m) for m in matrices]
    kept = [v if size > 1 else None for v, size in zip(values, sizes, strict=True)]
    return trace_bootstrap(
        distance_metric(matrices, metric),
        kept,
        sizes,
        replicates=how.replicates,
        questions=how.questions,
        traces=how.traces,
        seed=how.seed,
    )


def _side_by_side(
    metric: Statistic,
    ea: Faithfulness,
    cf: Faithfulness,
    matrices: Sequence[NDArray[np.float64]],
    found: _Found,
    how: _Draws,
) -> SideBySide:
    """Return both correlations over the questions that have both, and their difference."""
    both = list(zip(found.values[ea], found.values[cf], strict=True))
    common = [None not in pair for pair in both]
    of_ea = [x if c else None for (x, _), c in zip(both, common, strict=True)]
    of_cf = [y if c else None for (_, y), c in zip(both, common, strict=True)]
    first = _bootstrap(metric, matrices, of_ea, how)
    second = _bootstrap(metric, matrices, of_cf, how)
    changes = [
        y - x
        for x, y in zip(first.pearson.values, second.pearson.values, strict=True)
        if x is not None and y is not None
    ]
    low, high = np.quantile(changes, [0.025, 0.975]) if changes else (None, None)
    return SideBySide(
        metric,
        ea,
        cf,
        first.questions,
        first,
        second,
        float(np.mean(changes)) if changes else None,
        None if low is None else float(low),
        None if high is None else float(high),
        len(changes),
        how.replicates - len(changes),
    )
