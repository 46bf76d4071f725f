"""What stored scores say over questions: every metric with orientation, range, n and flags."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.agreement import Wilcoxon, wilcoxon_signed_rank
from scoring.faithfulness import PairedAccuracy, paired_accuracy
from scoring.graphs import METRICS, Coherence, TopologyMap, topology_map
from scoring.graphs.metrics import ALL
from store import Store
from store.codec import encode_answer
from store.records import PoolRecord, PoolScore, ScoringRecord

LEAST = 5
"""Over fewer questions a mean would tell what the seal hides of one."""

LEAST_GOLD = 20
"""Questions with gold below which a share of right answers tells too much about each of them."""

COHERENCE = ("grcs", "divergence", "dispersion", "entropy")
NAMES = (*COHERENCE, *ALL)


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """A metric over the questions of one group; None where nothing is defined.

    `n` questions have a value, `undefined` counts the others by reason, `flags` the flags. With
    `withheld` the figures would tell of single questions.
    """

    name: str
    kind: str
    higher: str
    range: str
    mean: float | None
    sd: float | None
    low: float | None
    median: float | None
    high: float | None
    n: int
    undefined: Mapping[str, int]
    flags: Mapping[str, int]
    by: tuple[Mapping[str, Any], ...] = ()
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class ScoreGroup:
    """One dataset and pool."""

    dataset: str
    pool: str
    n_questions: int
    n_traces: int
    n_used: int
    excluded: Mapping[str, int]
    n_disagree: int
    accuracy: PairedAccuracy | None
    metrics: tuple[MetricSummary, ...]
    regimes: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """A scoring's metrics by group, and the origin that the regimes are told from.

    `withheld` says that some group is too small to be shown under the seal. `wilcoxon` is the
    signed-rank test of GSC's against SC's accuracy over the groups, None for fewer than two.
    """

    scoring: ScoringRecord
    groups: tuple[ScoreGroup, ...]
    origin: tuple[float, float] | None
    reference: str | None
    withheld: bool
    wilcoxon: Wilcoxon | None = None


def chosen_scoring(store: Store, scoring: int | None = None) -> ScoringRecord:
    """Return a scoring by its number, the primary one where none is given.

    Raises
    ------
    ValueError
        When nothing is scored yet, or there is no such scoring.
    """
    known = {s.id: s for s in store.scorings()}
    if not known:
        raise ValueError("nothing is scored yet: run medoid score first")
    if scoring is None:
        return store.primary_scoring() or next(iter(known.values()))
    if scoring not in known:
        raise ValueError(f"no scoring {scoring}; there are: {', '.join(map(str, known))}")
    return known[scoring]


def score_report(
    store: Store,
    *,
    scoring: int | None = None,
    reference: str | None = None,
    unsealed: bool = False,
) -> ScoreReport:
    """Return every metric of a scoring over the questions of each dataset and pool.

    `reference` names the pool whose mean is the origin of the topology map; without it the mean
    of all questions is. Unless `unsealed`, groups of fewer than `LEAST` questions withhold their
    figures.

    Raises
    ------
    ValueError
        When there is no such scoring or pool.
    """
    record = chosen_scoring(store, scoring)
    pools = {p.id: p for p in store.pools()}
    scores = [s for s in store.pool_scores(record.id) if s.pool_id in pools]
    names = {pools[s.pool_id].pool for s in scores}
    if reference is not None and reference not in names:
        raise ValueError(f"no pool {reference!r} is scored; there are: {', '.join(sorted(names))}")
    topology = topology_of(scores, pools, reference)
    grouped: dict[tuple[str, str], list[PoolScore]] = {}
    for s in scores:
        grouped.setdefault((pools[s.pool_id].dataset, pools[s.pool_id].pool), []).append(s)
    regimes: dict[tuple[str, str], Mapping[str, int]] = {}
    if topology is not None:
        at = dict(zip((s.pool_id for s in scores), topology.points, strict=True))
        for key, group in grouped.items():
            found = Counter(str(at[s.pool_id].regime or "undefined") for s in group)
            regimes[key] = dict(found)
    groups = tuple(
        _group(key, group, regimes.get(key), unsealed=unsealed) for key, group in grouped.items()
    )
    used = [s for s in scores if reference is None or pools[s.pool_id].pool == reference]
    few = not unsealed and len(used) < LEAST
    return ScoreReport(
        record,
        groups,
        None if topology is None or few else topology.origin,
        reference,
        any(m.withheld for g in groups for m in g.metrics),
        _over_groups(groups),
    )


def _over_groups(groups: Sequence[ScoreGroup]) -> Wilcoxon | None:
    gains = [g.accuracy.difference for g in groups if g.accuracy is not None]
    known = [d for d in gains if d is not None]
    return wilcoxon_signed_rank(known) if len(known) > 1 else None


def topology_of(
    scores: Sequence[PoolScore], pools: Mapping[int, PoolRecord], reference: str | None
) -> TopologyMap | None:
    """Return the topology map of scores, None where no question has a place on it."""
    if all(s.divergence is None or s.entropy is None for s in scores):
        return None
    return topology_map(
        [coherence_of(s) for s in scores],
        [pools[s.pool_id].pool for s in scores],
        reference=reference,
    )


def coherence_of(s: PoolScore) -> Coherence:
    """Return the part of a pool's scores that is its coherence."""
    return Coherence(s.grcs, s.divergence, s.dispersion, s.entropy, s.n_used, s.flags)


def _group(
    key: tuple[str, str],
    scores: Sequence[PoolScore],
    regimes: Mapping[str, int] | None,
    *,
    unsealed: bool,
) -> ScoreGroup:
    withheld = not unsealed and len(scores) < LEAST
    excluded: Counter[str] = Counter()
    for s in scores:
        excluded.update(s.excluded)
    return ScoreGroup(
        dataset=key[0],
        pool=key[1],
        n_questions=len(scores),
        n_traces=sum(s.n_traces for s in scores),
        n_used=sum(s.n_used for s in scores),
        excluded=dict(excluded),
        n_disagree=sum(s.disagree for s in scores),
        accuracy=_accuracy(scores, unsealed=unsealed),
        metrics=tuple(summary_of(name, scores, withheld=withheld) for name in _present(scores)),
        regimes=None if withheld else regimes,
    )


def _accuracy(scores: Sequence[PoolScore], *, unsealed: bool) -> PairedAccuracy | None:
    found = paired_accuracy([s.sc_correct for s in scores], [s.gsc_correct for s in scores])
    if found.n and not unsealed and tells_gold(found.n, (found.first, found.second)):
        return None
    return found


def tells_gold(n: int, shares: Iterable[float | None]) -> bool:
    """Return whether shares of right answers tell single gold answers.

    They do where few questions have gold, or a method is right on all of them or on none.
    """
    return n < LEAST_GOLD or not all(s is None or 0 < s < 1 for s in shares)


def _present(scores: Sequence[PoolScore]) -> Iterator[str]:
    held = {name for s in scores for name in s.metrics}
    return (name for name in NAMES if name in COHERENCE or name in held)


def summary_of(name: str, scores: Sequence[PoolScore], *, withheld: bool = False) -> MetricSummary:
    """Return one metric over some questions; a question without it is not counted."""
    values: list[float] = []
    undefined: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    by: list[Mapping[str, Any]] = []
    for s in scores:
        value, why, marks = _value(name, s)
        if value is not None:
            values.append(value)
        elif why is not None:
            undefined[why] += 1
        flags.update(marks)
        if name in s.metrics and s.metrics[name].by not in by:
            by.append(s.metrics[name].by)
    info = METRICS[name]
    shown = [] if withheld else sorted(values)
    return MetricSummary(
        name,
        info.kind,
        info.higher,
        info.range,
        *_figures(shown),
        n=len(values),
        undefined={} if withheld else dict(undefined),
        flags={} if withheld else dict(flags),
        by=tuple(by),
        withheld=withheld,
    )


def _value(name: str, s: PoolScore) -> tuple[float | None, str | None, tuple[str, ...]]:
    """Return a question's value, why it has none, and its flags; no reason: not computed."""
    if name in COHERENCE:
        value = getattr(s, name)
        why = METRICS[name].undefined if value is None else None
        return value, why, s.flags if name == "entropy" and "iqr_zero" in s.flags else ()
    record = s.metrics.get(name)
    if record is None:
        return None, None, ()
    return record.value, record.why_undefined, record.flags


def _figures(
    values: Sequence[float],
) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    """Return mean, standard deviation (ddof 1), quartile, median, quartile of sorted values."""
    n = len(values)
    if n == 0:
        return None, None, None, None, None
    mean = math.fsum(values) / n
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None

    def quantile(share: float) -> float:
        place = share * (n - 1)
        low = math.floor(place)
        high = min(low + 1, n - 1)
        return values[low] + (place - low) * (values[high] - values[low])

    return mean, sd, quantile(0.25), quantile(0.5), quantile(0.75)


def score_rows(store: Store, scoring: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield one row for every question and pool, with all its metrics and their provenance.

    Sealed: the row tells votes, gold and medoid.
    """
    record = chosen_scoring(store, scoring)
    pools = {p.id: p for p in store.pools()}
    for s in store.pool_scores(record.id):
        pool = pools[s.pool_id]
        samples = {t.id: t.sample for t in store.pool_traces(s.pool_id)}
        yield {
            "dataset": pool.dataset,
            "question_id": pool.question_id,
            "pool": pool.pool,
            "n_traces": s.n_traces,
            "n_used": s.n_used,
            "excluded": dict(s.excluded),
            "sc_answer": encode_answer(s.sc_answer),
            "sc_tied": s.sc_tied,
            "gsc_answer": encode_answer(s.gsc_answer),
            "medoid_sample": samples.get(s.medoid_trace_id or 0),
            "sc_correct": s.sc_correct,
            "gsc_correct": s.gsc_correct,
            "flags": list(s.flags),
            **{name: getattr(s, name) for name in COHERENCE},
            **{name: m.value for name, m in s.metrics.items()},
            "provenance": {
                "scoring": record.id,
                "embedder": record.embedder,
                "embedder_revision": record.embedder_revision,
                "decomposition": record.decomposition,
                "parameters": dict(record.parameters),
                "tool": record.tool_version,
                "metrics": {
                    name: {
                        "n": m.n,
                        "n_pairs": m.n_pairs,
                        "why_undefined": m.why_undefined,
                        "by": dict(m.by),
                        "detail": _detail(m.detail, samples),
                        "tool": m.tool,
                    }
                    for name, m in s.metrics.items()
                },
            },
        }


def _detail(detail: Mapping[str, Any], samples: Mapping[int, str]) -> dict[str, Any]:
    """Return a metric's further numbers, those of traces by sample."""
    out = dict(detail)
    if "by_trace" in out:
        out["by_trace"] = {samples[int(k)]: v for k, v in out["by_trace"].items()}
    return out
