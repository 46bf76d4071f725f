"""The score stage: pools of traces to distances, votes, medoids and coherence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.embedders import embedder_info
from pipeline.embedding import EmbedSummary, embed
from pipeline.facts import UNDECOMPOSED, PoolFacts, undecomposed
from pipeline.pool_scoring import ScoreParameters
from pipeline.progress import OnProgress, Progress, silent
from pipeline.spreading import PoolToScore, ScoreTask, scored_chunks
from pipeline.version import TOOL_VERSION
from scoring.graphs.metrics import ALL, CHEAP
from scoring.graphs.solvers import solver_here
from scoring.types import NormalForm
from store import Store
from store.codec import encode_answer
from store.columns import content_hash, text_hash
from store.records import MetricRecord, PoolRecord, PoolScore, ScoringRecord, TraceRecord


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
    metrics: tuple[str, ...] = ()


def score(
    store: Store,
    *,
    embedder: str = "minilm",
    decomposition: str = UNDECOMPOSED,
    parameters: ScoreParameters | None = None,
    primary: bool | None = None,
    metrics: Iterable[str] = CHEAP,
    entailment: str | None = None,
    workers: int = 1,
    dask: str | None = None,
    on_progress: OnProgress = silent,
) -> ScoreSummary:
    """Score every pool whose inputs changed since it was last scored with these parameters.

    Texts without a vector are embedded first. SC and GSC use the same electorate: the traces with
    a usable graph and a parsed answer; the others are counted by reason. Under a `decomposition`
    its facts are the nodes; a trace without any (not decomposed, or to no effect) has no vote, and
    the children of a step that got no fact inherit its parents.

    A pool that lacks one of the `metrics` is scored again; metrics it has besides stay as long as
    its inputs do. `workers` processes, or the Dask cluster at `dask`, give the same scores to the
    bit: each reads its own data, and this process alone writes.

    Raises
    ------
    ValueError
        When the database holds no pool, or no such decomposition, metric or cluster.
    judges.embedders.EmbedderError
        When texts must be embedded and the embedder cannot be opened, or the entailment model.
    """
    parameters = parameters or ScoreParameters()
    by = metric_provenance(metrics, entailment)
    pools = store.pools()
    if not pools:
        raise ValueError(
            "nothing to score: no question has traces; sample them (medoid generate) or import "
            "them (medoid import FILE…)"
        )
    digests: dict[int, str] = {}

    def note(pool: PoolRecord, traces: tuple[TraceRecord, ...], found: PoolFacts) -> None:
        digests[pool.id] = input_hash(
            traces, pool.gold, found if decomposition != UNDECOMPOSED else None
        )

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
        parameters.as_key(),
        TOOL_VERSION,
        decomposition=decomposition,
        primary=primary,
    )
    task = ScoreTask(
        store.place,
        embedder_id,
        decomposition,
        parameters,
        tuple(by),
        entailment,
        by,
        solver_here(),
    )
    todo, kept = _outstanding(store, scoring.id, pools, digests, by)
    done = len(pools) - len(todo)
    if not todo:
        on_progress(Progress("score", done, len(pools), "questions"))
    for scores in scored_chunks(store, task, todo, workers=workers, dask=dask):
        store.save_pool_scores(scoring.id, [with_kept(s, kept.get(s.pool_id)) for s in scores])
        done += len(scores)
        on_progress(Progress("score", done, len(pools), "questions"))
    return _summary(
        store,
        scoring,
        embedding,
        len(pools),
        len(todo),
        time.perf_counter() - start,
        tuple(by),
    )


def chosen_metrics(said: str, entailment: str | None = None) -> tuple[str, ...]:
    """Return the metrics that a word or names with commas stand for.

    ``cheap``, ``all`` and ``none`` are words; ``cota_model`` is added where its model is given,
    and part of ``all`` only then.

    Raises
    ------
    ValueError
        For a name that is no metric.

    >>> chosen_metrics("none"), chosen_metrics("topo_uq, cota")
    ((), ('topo_uq', 'cota'))
    """
    words = {"cheap": CHEAP, "all": tuple(n for n in ALL if n != "cota_model"), "none": ()}
    names = words.get(said.strip())
    if names is None:
        names = tuple(dict.fromkeys(n.strip() for n in said.split(",") if n.strip()))
        wrong = [n for n in names if n not in ALL]
        if wrong or not names:
            raise ValueError(
                f"no metric {', '.join(map(repr, wrong)) or repr(said)}: cheap, all, none, or "
                f"names among {', '.join(ALL)} are right"
            )
    if entailment is not None and "cota_model" not in names:
        names = (*names, "cota_model")
    if "cota_model" in names and entailment is None:
        raise ValueError("cota_model needs an entailment model: --entailment PATH-OR-NAME")
    return names


def metric_provenance(
    metrics: Iterable[str], entailment: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return by name what each metric is computed with besides the scoring's parameters.

    Raises
    ------
    ValueError
        For an unknown metric, or ``cota_model`` without a model and the other way round.
    """
    names = tuple(dict.fromkeys(metrics))
    for name in names:
        if name not in ALL:
            raise ValueError(f"no metric {name!r}: choose among {', '.join(ALL)}")
    if ("cota_model" in names) != (entailment is not None):
        raise ValueError(
            "cota_model and an entailment model (a path or name) go together: give both"
        )
    by: dict[str, dict[str, Any]] = {}
    for name in names:
        if name.startswith("topo_uq"):
            cost = "unit" if "unit" in name else "semantic"
            by[name] = {"cost": cost, "pairs": "from the medoid" if "anchor" in name else "all"}
        elif name in ("eigv", "deg", "ecc"):
            by[name] = {"similarity": "max(0, 1 - SS-GED)"}
        elif name == "cota":
            by[name] = {"entailment": "max(0, cosine)"}
        elif name == "cota_model":
            from judges.entailment import revision_of

            by[name] = {"entailment": entailment, "revision": revision_of(entailment or "") or ""}
        elif name == "redundancy":
            by[name] = {"unit": "step"}
        else:
            by[name] = {"meanings": "normalised answers"}
    return by


def _outstanding(
    store: Store,
    scoring_id: int,
    pools: Sequence[PoolRecord],
    digests: Mapping[int, str],
    by: Mapping[str, Mapping[str, Any]],
) -> tuple[list[PoolToScore], dict[int, Mapping[str, MetricRecord]]]:
    """Return the pools to score, and the metrics that those with unchanged inputs have already."""
    known = store.score_hashes(scoring_id)
    held = store.known_metrics(scoring_id)
    todo: list[PoolToScore] = []
    kept: dict[int, Mapping[str, MetricRecord]] = {}
    for pool in pools:
        same = pool.id in known and known[pool.id] == digests.get(pool.id)
        has = held.get(pool.id, {})
        if same and all(name in has and dict(has[name].by) == said for name, said in by.items()):
            continue
        todo.append(PoolToScore(pool, digests[pool.id]))
        if same:
            kept[pool.id] = has
    return todo, kept


def with_kept(score: PoolScore, kept: Mapping[str, MetricRecord] | None) -> PoolScore:
    """Return a score with the metrics the pool had besides."""
    return replace(score, metrics={**kept, **score.metrics}) if kept else score


def _summary(
    store: Store,
    scoring: ScoringRecord,
    embedding: EmbedSummary,
    n_pools: int,
    n_scored: int,
    seconds: float,
    metrics: tuple[str, ...],
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
        metrics=metrics,
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


__all__ = [
    "ScoreParameters",
    "ScoreSummary",
    "chosen_metrics",
    "input_hash",
    "metric_provenance",
    "score",
]
