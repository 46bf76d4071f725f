"""What ablated pools say: what is left of accuracy and faithfulness without the medoid."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.ablating import NO_GOLD, Protocol, chain_text, forbidden_hash, in_protocol
from pipeline.early_report import EarlyQuestion, TraceEarly, early_report
from pipeline.medoids import primary_scores
from pipeline.selecting import known_datasets
from scoring.faithfulness import (
    AblatedQuestion,
    AblationSummary,
    ablated_question,
    ablation_summary,
    medoid_distance,
)
from scoring.faithfulness.ablation import Target
from store import Store
from store.intervention_records import AblationRecord
from store.model_records import EarlyRunRecord
from store.records import PoolRecord, TraceRecord

TARGETS: tuple[Target, ...] = ("gold", "own")


@dataclass(frozen=True, slots=True)
class AblationQuestion:
    """One question with its medoid forbidden: sealed, for it tells of gold and the medoid.

    `gold` and `own` have F against either target and `medoid_distance` by the longest common
    subsequence; `md_difflib` is that by Python's difflib. `n_early` of its `n` alternatives have
    all their early answers.
    """

    dataset: str
    question_id: str
    pool: str
    ablated: str
    pool_id: int
    source_pool_id: int
    medoid_trace_id: int
    gold: AblatedQuestion
    own: AblatedQuestion
    md_difflib: float | None
    n: int
    n_parsed: int
    n_early: int
    has_gold: bool


@dataclass(frozen=True, slots=True)
class AblationGroup:
    """Medoid ablation of the pools of one name in a dataset.

    `n_alternatives` were sampled for `n_questions` questions; `n_parsed` of them have an answer,
    `n_early` early answers. `excluded` counts the questions that the protocol leaves out, by
    reason, and `lacking` those it takes that have no ΔA or no ΔF against gold. Where every
    question is targeted, OA is 1 by choice.
    """

    dataset: str
    pool: str
    ablated: str
    n_questions: int
    n_alternatives: int
    n_parsed: int
    n_early: int
    gold: AblationSummary
    own: AblationSummary
    md_difflib: float | None
    excluded: Mapping[str, int] = field(default_factory=dict)
    lacking: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AblationReport:
    """Medoid ablation by one protocol; F by one run of early answers, None where there is none."""

    protocol: Protocol
    run: EarlyRunRecord | None
    groups: tuple[AblationGroup, ...]
    questions: tuple[AblationQuestion, ...]


def newest_early_run(store: Store) -> EarlyRunRecord | None:
    """Return the newest run that answers both alternatives and a forbidden medoid."""
    ablations = store.ablations().values()
    for run in reversed(store.early_runs()):
        for link in ablations:
            if store.early_answers(run.id, link.pool_id):
                medoids = store.early_answers(run.id, link.medoid_pool_id)
                if link.medoid_trace_id in medoids:
                    return run
    return None


def ablation_report(
    store: Store,
    run: EarlyRunRecord | None = None,
    *,
    protocol: Protocol = "broad",
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    distances: bool = True,
) -> AblationReport:
    """Return medoid ablation per dataset and ablated pool; `pool` is the name of either.

    F is by `run`, the newest that fits where none is given. Without `distances` there is no MD,
    which takes the most time.

    Raises
    ------
    ValueError
        When nothing was ablated, or nothing is scored.
    """
    datasets = set(known_datasets(store, dataset))
    pools = {p.id: p for p in store.pools()}
    found = [
        (pools[link.pool_id], pools[link.medoid_pool_id], link)
        for link in store.ablations().values()
        if pools[link.pool_id].dataset in datasets
        and pool in (None, pools[link.pool_id].pool, pools[link.medoid_pool_id].pool)
    ]
    if not found:
        raise ValueError("no ablated pools in the database: medoid ablate samples them")
    run = newest_early_run(store) if run is None else run
    _, scores = primary_scores(store)
    early = _Early(store, run)
    questions: list[AblationQuestion] = []
    excluded: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for ablated, source, link in found:
        why = in_protocol(scores.get(source.id), protocol)
        if why is not None and (protocol == "targeted"):
            excluded[source.dataset, source.pool, ablated.pool][why] += 1
        else:
            questions.append(_question(store, ablated, source, link, early, distances))
    return AblationReport(
        protocol, run, tuple(_groups(questions, excluded)), tuple(sorted(questions, key=_place))
    )


def _place(q: AblationQuestion) -> tuple[str, str, str]:
    return q.dataset, q.ablated, q.question_id


class _Early:
    """Early answers of one run by trace, read a pool's name at a time."""

    def __init__(self, store: Store, run: EarlyRunRecord | None) -> None:
        self._store, self._run = store, run
        self._known: dict[tuple[str, str], dict[str, EarlyQuestion]] = {}

    def of(self, place: PoolRecord) -> dict[int, TraceEarly]:
        """Return the early answers of a pool's traces that are answered wholly."""
        if self._run is None:
            return {}
        key = (place.dataset, place.pool)
        if key not in self._known:
            report = early_report(self._store, self._run, dataset=place.dataset, pool=place.pool)
            self._known[key] = {q.question_id: q for q in report.questions}
        found = self._known[key].get(place.question_id)
        return {} if found is None else {row.trace_id: row for row in found.rows}


def _question(
    store: Store,
    ablated: PoolRecord,
    source: PoolRecord,
    link: AblationRecord,
    early: _Early,
    distances: bool,
) -> AblationQuestion:
    alternatives = store.pool_traces(ablated.id)
    medoid = next((r for r in store.pool_traces(source.id) if r.id == link.medoid_trace_id), None)
    if medoid is not None and forbidden_hash(medoid.trace) != link.source_hash:
        medoid = None  # it reads otherwise now than when it was forbidden
    rows = early.of(ablated)
    own_row = early.of(source).get(link.medoid_trace_id) if medoid is not None else None
    lcs, difflib = _distances(medoid if distances else None, alternatives)
    answers = [r.trace.answer for r in alternatives]
    both = {
        target: ablated_question(
            answers,
            [_f(rows.get(r.id), target) for r in alternatives],
            gold=ablated.gold,
            medoid_answer=None if medoid is None else medoid.trace.answer,
            medoid_faithfulness=_f(own_row, target),
            distances=lcs,
        )
        for target in TARGETS
    }
    known = [d for d in difflib if d is not None]
    return AblationQuestion(
        dataset=source.dataset,
        question_id=source.question_id,
        pool=source.pool,
        ablated=ablated.pool,
        pool_id=ablated.id,
        source_pool_id=source.id,
        medoid_trace_id=link.medoid_trace_id,
        gold=both["gold"],
        own=both["own"],
        md_difflib=sum(known) / len(known) if known else None,
        n=len(alternatives),
        n_parsed=sum(a is not None for a in answers),
        n_early=sum(r.id in rows for r in alternatives),
        has_gold=ablated.gold is not None,
    )


def _f(row: TraceEarly | None, target: Target) -> float | None:
    if row is None:
        return None
    return row.targets.gold.faithfulness if target == "gold" else row.targets.own.faithfulness


def _distances(
    medoid: TraceRecord | None, alternatives: Sequence[TraceRecord]
) -> tuple[list[float | None], list[float | None]]:
    """Return the distances of alternatives with steps from the medoid, by both methods."""
    if medoid is None:
        return [None] * len(alternatives), [None] * len(alternatives)
    text = chain_text(medoid.trace)
    lcs: list[float | None] = []
    difflib: list[float | None] = []
    for record in alternatives:
        other = chain_text(record.trace) if record.trace.usable else None
        lcs.append(None if other is None else medoid_distance(text, other))
        difflib.append(None if other is None else medoid_distance(text, other, method="difflib"))
    return lcs, difflib


def _groups(
    questions: Sequence[AblationQuestion],
    excluded: Mapping[tuple[str, str, str], Counter[str]],
) -> Iterable[AblationGroup]:
    by_pool: dict[tuple[str, str, str], list[AblationQuestion]] = defaultdict(list)
    for q in questions:
        by_pool[q.dataset, q.pool, q.ablated].append(q)
    for key in sorted({*by_pool, *excluded}):
        members = by_pool.get(key, [])
        apart = [q.md_difflib for q in members if q.md_difflib is not None]
        yield AblationGroup(
            *key,
            n_questions=len(members),
            n_alternatives=sum(q.n for q in members),
            n_parsed=sum(q.n_parsed for q in members),
            n_early=sum(q.n_early for q in members),
            gold=ablation_summary([q.gold for q in members], target="gold"),
            own=ablation_summary([q.own for q in members], target="own"),
            md_difflib=sum(apart) / len(apart) if apart else None,
            excluded=dict(excluded.get(key, Counter()).most_common()),
            lacking=dict(Counter(w for q in members if (w := _lacks(q))).most_common()),
        )


def _lacks(q: AblationQuestion) -> str | None:
    """Return why a question has no ΔA or no ΔF against gold, None when it has both."""
    if not q.has_gold:
        return NO_GOLD
    checks = (
        (q.gold.oa, "no answer of the medoid"),
        (q.gold.aa, "no parsed alternative"),
        (q.gold.of, "no F of the medoid"),
        (q.gold.af, "no F of any alternative"),
    )
    return next((why for value, why in checks if value is None), None)
