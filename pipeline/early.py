"""The early-answer stage: the answer given only the first facts of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Unpack

from judges.early_answerer import DEFAULT_SAMPLING, early_requests, read_early
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs
from pipeline.facts import UNDECOMPOSED, FactSource, fact_source
from pipeline.medoids import primary_scores
from pipeline.models import FormChoice, choose_form
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from scoring.types import Fact
from store import Store
from store.columns import content_hash
from store.model_records import EarlyRecord, EarlyRunRecord
from store.records import PoolRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

Which = Literal["all", "medoids"]
"""Of which traces early answers are asked: all, or the medoids of the primary scoring."""


@dataclass(frozen=True, slots=True)
class EarlySummary:
    """What one run of the early-answer stage did.

    `n_traces` traces have facts; `excluded` counts the others by reason. Of the new replies,
    `n_answers` gave an answer that could be read. `run` is where the answers are, None where there
    are none yet.
    """

    asking: AskSummary
    decomposition: str
    form: FormChoice
    prompt_version: str
    n_traces: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    n_answers: int = 0
    run: EarlyRunRecord | None = None


@dataclass(frozen=True, slots=True)
class _Prefix:
    trace_id: int
    prefix: int
    n_facts: int
    source_hash: str
    question: QuestionText


def early_hash(q: QuestionText, facts: Sequence[Fact]) -> str:
    """Return a hash of what is asked about: the question and the facts."""
    return content_hash([q.shown, q.answer_kind, [f.text for f in facts]])


def early_answer(
    store: Store,
    endpoint: Endpoint,
    *,
    decomposition: str = UNDECOMPOSED,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    traces: Which = "all",
    only: frozenset[int] | None = None,
    empty: bool = False,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    limit: int | None = None,
    seed: int | None = None,
    **how: Unpack[How],
) -> EarlySummary:
    """Ask for the answer to every prefix of the facts of the chosen traces.

    `only` names the traces that are meant, in place of `traces`. With `empty` the prefix of no
    facts is asked too. Prefixes whose answer is there for the same
    facts are not asked again.

    Raises
    ------
    ValueError
        When there is no such decomposition or trace, or nothing is scored and medoids are asked
        for.
    Interrupted
        On Ctrl-C.
    """
    source = fact_source(store, decomposition)
    datasets = known_datasets(store, dataset)
    pools = chosen_pools(store, datasets, pool, limit=limit, seed=seed, ablated=only is not None)
    if only is None and traces == "medoids":
        only = medoid_ids(store)
    dry_run = how.get("dry_run", False)
    choice = choose_form(store, endpoint, form, dry_run=dry_run, transport=how.get("transport"))
    drawn = endpoint.keyed(sampling)
    prompt_version = load_prompt(f"early_answerer-{choice.form}").label
    parameters = {"form": choice.form, "sampling": drawn.as_json()}
    texts = question_texts(store, datasets)
    run = find_run(store, endpoint.model, prompt_version, parameters, decomposition)
    work = _Work(store, source, texts, only, empty)
    for place in pools:
        work.look(place, None if run is None else run.id)
    if run is None and work.total and not dry_run:
        run = store.early_run(endpoint.model, prompt_version, parameters, decomposition)

    def jobs() -> Iterator[Job[_Prefix]]:
        for place, facts, missing in work.again():
            q = texts[place.dataset, place.question_id]
            for trace_id, prefixes in missing.items():
                known = facts[trace_id]
                digest = early_hash(q, known)
                for prefix, request in early_requests(
                    endpoint.model, q, known, sampling=drawn, form=choice.form, empty=empty
                ):
                    if prefix in prefixes:
                        yield Job(request, _Prefix(trace_id, prefix, len(known), digest, q))

    saver = _Answers(store, 0 if run is None else run.id)
    asking = ask_jobs(
        store,
        endpoint,
        "early-answer",
        jobs(),
        work.total,
        saver.save,
        n_known=work.n_prefixes - work.total,
        parameters={"model": endpoint.model, "decomposition": decomposition, **parameters},
        how=how,
    )
    return EarlySummary(
        asking,
        decomposition,
        choice,
        prompt_version,
        work.n_traces,
        dict(work.excluded),
        saver.n_answers,
        run,
    )


def medoid_ids(store: Store) -> frozenset[int]:
    """Return the trace ids of the primary scoring's medoids.

    Raises
    ------
    ValueError
        When nothing is scored yet.
    """
    _, scores = primary_scores(store)
    return frozenset(s.medoid_trace_id for s in scores.values() if s.medoid_trace_id is not None)


def find_run(
    store: Store,
    model: str,
    prompt_version: str,
    parameters: Mapping[str, object],
    decomposition: str,
) -> EarlyRunRecord | None:
    """Return the run of early answers asked in just this way, None when there is none."""
    for run in store.early_runs():
        same = (run.model, run.prompt_version, run.decomposition)
        if same == (model, prompt_version, decomposition) and run.parameters == parameters:
            return run
    return None


class _Work:
    """Which prefixes of which traces are to be asked."""

    def __init__(
        self,
        store: Store,
        source: FactSource,
        texts: Mapping[tuple[str, str], QuestionText],
        only: frozenset[int] | None,
        empty: bool,
    ) -> None:
        self._store = store
        self._source = source
        self._texts = texts
        self._only = only
        self._first = 0 if empty else 1
        self._missing: list[tuple[PoolRecord, dict[int, frozenset[int]]]] = []
        self.n_traces = 0
        self.n_prefixes = 0
        self.total = 0
        self.excluded: Counter[str] = Counter()

    def look(self, pool: PoolRecord, run_id: int | None) -> None:
        """Note what a pool lacks."""
        found = self._facts(pool)
        self.n_traces += len(found)
        q = self._texts[pool.dataset, pool.question_id]
        rows = {} if run_id is None else self._store.early_answers(run_id, pool.id)
        there = {(r.trace_id, r.prefix, r.source_hash) for of in rows.values() for r in of}
        missing = {}
        for trace_id, facts in found.items():
            digest = early_hash(q, facts)
            wanted = range(self._first, len(facts) + 1)
            self.n_prefixes += len(wanted)
            lacking = frozenset(i for i in wanted if (trace_id, i, digest) not in there)
            if lacking:
                missing[trace_id] = lacking
                self.total += len(lacking)
        if missing:
            self._missing.append((pool, missing))

    def _facts(self, pool: PoolRecord, *, count: bool = True) -> dict[int, tuple[Fact, ...]]:
        records = self._store.pool_traces(pool.id)
        if self._only is not None:
            records = tuple(r for r in records if r.id in self._only)
        found = self._source.of_pool(pool.id, records)
        if count:
            self.excluded.update(found.missing.values())
        return dict(found.facts)

    def again(
        self,
    ) -> Iterator[tuple[PoolRecord, dict[int, tuple[Fact, ...]], dict[int, frozenset[int]]]]:
        """Yield the pools that lack something, with their facts and what they lack."""
        for pool, missing in self._missing:
            yield pool, self._facts(pool, count=False), missing


class _Answers:
    """Stores early answers."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store = store
        self._run_id = run_id
        self.n_answers = 0

    def save(self, answered: Sequence[Answered[_Prefix]]) -> None:
        """Store what replies answer, or why they do not."""
        rows = []
        for a in answered:
            answer, reason = read_early(a.reply, a.about.question)
            rows.append(
                EarlyRecord(
                    trace_id=a.about.trace_id,
                    prefix=a.about.prefix,
                    n_facts=a.about.n_facts,
                    source_hash=a.about.source_hash,
                    outcome=reply_outcome(a.reply.outcome),
                    answer=answer,
                    reason=reason,
                    reply_key=a.request.key,
                )
            )
            self.n_answers += answer is not None
        self._store.save_early(self._run_id, rows)
