"""What stored early answers say: F by both targets, computed on reading."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judges.questions import QuestionText
from pipeline.early import early_hash
from pipeline.facts import FactSource, fact_source
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from scoring.faithfulness import (
    EarlyAnsweringTargets,
    early_answering,
    early_answering_targets,
    lanham_aoc,
)
from scoring.faithfulness.answering import mean
from store import Store
from store.model_records import EarlyRecord, EarlyRunRecord
from store.records import PoolRecord, TraceRecord


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the `n` of `n_traces` traces that have a value; None without one.

    The `n_traces` have what the value needs (the target answer); `reply_rate` is over all their
    prefixes, those of traces without a single parsed reply included.
    """

    value: float | None
    n: int
    n_traces: int
    reply_rate: float | None


@dataclass(frozen=True, slots=True)
class TraceEarly:
    """Early answering of one trace, and whether its question has a gold answer and it its own.

    `aoc` is Lanham's, None where it cannot be had; it is asked for (`curved`) where the empty
    prefix was.
    """

    trace_id: int
    sample: str
    n_facts: int
    targets: EarlyAnsweringTargets
    has_gold: bool
    has_own: bool
    aoc: float | None
    curved: bool


@dataclass(frozen=True, slots=True)
class EarlyGroup:
    """Early answering of many traces.

    `gold` is the mean F against the gold answer, `own` against the trace's own, `correct` against
    gold over the traces that end correct; `aoc` Lanham's area over the curve, which needs the
    empty prefix. `n_incomplete` traces have prefixes that were not asked yet: they are left out.
    """

    dataset: str
    pool: str
    traces: str
    n_questions: int
    n_traces: int
    n_incomplete: int
    gold: Mean
    own: Mean
    correct: Mean
    aoc: Mean


@dataclass(frozen=True, slots=True)
class EarlyQuestion:
    """Early answering of one question's traces: sealed, for it tells of gold."""

    dataset: str
    question_id: str
    pool: str
    group: EarlyGroup
    rows: tuple[TraceEarly, ...]


@dataclass(frozen=True, slots=True)
class EarlyReport:
    """What one run of early answers says, per dataset and pool; `include_full` and `empty` say
    which prefixes count."""

    run: EarlyRunRecord
    include_full: bool
    empty: bool
    groups: tuple[EarlyGroup, ...]
    questions: tuple[EarlyQuestion, ...]


def early_report(
    store: Store,
    run: EarlyRunRecord,
    *,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    include_full: bool = True,
    empty: bool = False,
) -> EarlyReport:
    """Return early answering per dataset and pool, over all traces and over the medoids.

    The last prefix, all facts, counts unless `include_full` is false; the answer to no facts
    counts as one more where `empty` (and it was asked). Lanham's area always takes both.
    """
    datasets = known_datasets(store, dataset)
    source = fact_source(store, run.decomposition)
    texts = question_texts(store, datasets)
    scoring = store.primary_scoring()
    scores = () if scoring is None else store.pool_scores(scoring.id)
    medoids = {s.medoid_trace_id for s in scores if s.medoid_trace_id is not None}
    questions = []
    for place in chosen_pools(store, datasets, pool, ablated=True):
        answered = store.early_answers(run.id, place.id)
        if not answered:
            continue
        reader = _Reader(source, place, include_full, empty)
        found = reader.traces(store.pool_traces(place.id), answered, texts)
        questions.append(
            EarlyQuestion(
                place.dataset,
                place.question_id,
                place.pool,
                _group(place.dataset, place.pool, "all", [found], reader.n_incomplete),
                found,
            )
        )
    return EarlyReport(
        run, include_full, empty, tuple(_groups(questions, medoids)), tuple(questions)
    )


class _Reader:
    """Reads the answers of one pool; counts traces that lack some."""

    def __init__(
        self, source: FactSource, pool: PoolRecord, include_full: bool, empty: bool
    ) -> None:
        self._source = source
        self._pool = pool
        self._include_full = include_full
        self._empty = empty
        self.n_incomplete = 0

    def traces(
        self,
        records: Sequence[TraceRecord],
        answered: Mapping[int, Sequence[EarlyRecord]],
        texts: Mapping[tuple[str, str], QuestionText],
    ) -> tuple[TraceEarly, ...]:
        q = texts[self._pool.dataset, self._pool.question_id]
        asked = [r for r in records if r.id in answered]
        facts = self._source.of_pool(self._pool.id, asked).facts
        out = []
        for record in asked:
            known = facts.get(record.id, ())
            digest = early_hash(q, known)
            rows = {r.prefix: r for r in answered[record.id] if r.source_hash == digest}
            if not known or any(i not in rows for i in range(1, len(known) + 1)):
                self.n_incomplete += 1
                continue
            out.append(self._trace(record, rows, len(known)))
        return tuple(out)

    def _trace(
        self, record: TraceRecord, rows: Mapping[int, EarlyRecord], n_facts: int
    ) -> TraceEarly:
        answers = [rows[i].answer for i in range(1, n_facts + 1)]
        nothing = rows[0].answer if 0 in rows else None
        own = record.trace.answer
        targets = early_answering_targets(
            answers,
            gold=self._pool.gold,
            own=own,
            include_full=self._include_full,
            empty=nothing if self._empty else None,
        )
        curve = early_answering(answers, own, empty=nothing)
        whole = nothing is not None and own is not None
        aoc = lanham_aoc(curve.matches, fractions=curve.fractions) if whole else None
        return TraceEarly(
            record.id,
            record.sample,
            n_facts,
            targets,
            has_gold=self._pool.gold is not None,
            has_own=own is not None,
            aoc=aoc,
            curved=0 in rows,
        )


def _groups(questions: Sequence[EarlyQuestion], medoids: set[int]) -> Iterable[EarlyGroup]:
    by_pool: dict[tuple[str, str], list[EarlyQuestion]] = defaultdict(list)
    for q in questions:
        by_pool[q.dataset, q.pool].append(q)
    for (dataset, pool), members in sorted(by_pool.items()):
        incomplete = sum(q.group.n_incomplete for q in members)
        yield _group(dataset, pool, "all", [q.rows for q in members], incomplete)
        chosen = [tuple(t for t in q.rows if t.trace_id in medoids) for q in members]
        if any(chosen):
            yield _group(dataset, pool, "medoids", chosen, 0)


def _group(
    dataset: str, pool: str, which: str, parts: Sequence[Sequence[TraceEarly]], incomplete: int
) -> EarlyGroup:
    traces = [t for part in parts for t in part]
    return EarlyGroup(
        dataset=dataset,
        pool=pool,
        traces=which,
        n_questions=sum(bool(part) for part in parts),
        n_traces=len(traces),
        n_incomplete=incomplete,
        gold=_mean([(t.targets.gold.faithfulness, t) for t in traces if t.has_gold]),
        own=_mean([(t.targets.own.faithfulness, t) for t in traces if t.has_own]),
        correct=_mean([(t.targets.gold.faithfulness, t) for t in traces if t.targets.correct]),
        aoc=_mean([(t.aoc, t) for t in traces if t.has_own and t.curved]),
    )


def _mean(pairs: Sequence[tuple[float | None, TraceEarly]]) -> Mean:
    values = [v for v, _ in pairs if v is not None]
    asked = sum(t.targets.own.n for _, t in pairs)
    replied = sum(t.targets.own.replied for _, t in pairs)
    return Mean(mean(values), len(values), len(pairs), replied / asked if asked else None)
