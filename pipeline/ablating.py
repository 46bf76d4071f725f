"""The ablate stage: traces sampled with the reasoning of each question's medoid forbidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack

from judges.ablator import DEFAULT_SAMPLING, SAMPLES, ablate_request
from judges.generator import Length
from judges.prompts import load_prompt
from judges.requests import Form, Sampling
from pipeline.asking import AskSummary, How, Job, ask_jobs, of_its_own
from pipeline.budgets import rest_of
from pipeline.facts import UNDECOMPOSED, fact_text
from pipeline.generating import (
    AskedSample,
    GenerateSummary,
    TraceSaver,
    check_sampling,
    form_of,
    pool_name,
)
from pipeline.medoids import primary_scores
from pipeline.models import choose_form
from pipeline.selecting import chosen_pools, known_datasets, question_text
from scoring.types import Trace
from store import ImportBatch, Store
from store.columns import content_hash
from store.records import NewTrace, PoolRecord, PoolScore, QuestionRecord, TraceRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint
    from pipeline.early import EarlySummary

Protocol = Literal["broad", "targeted"]
PROTOCOLS: tuple[Protocol, ...] = ("broad", "targeted")

NO_MEDOID = "no medoid"
NOT_SCORED = "not scored"
NO_GOLD = "no gold answer"
OTHER_MEDOID = "another medoid was forbidden before"


@dataclass(frozen=True, slots=True)
class AblateSummary:
    """What one run of the ablate stage did.

    `pools` has a summary of the sampling for each pool name, with its asking; `sources` the pool
    that each ablates. Of the chosen pools `n_questions` were
    ablated, their `medoids` forbidden; `excluded` counts the others by reason.
    """

    protocol: Protocol
    pools: tuple[GenerateSummary, ...]
    sources: Mapping[str, str]
    n_questions: int
    n: int
    medoids: frozenset[int] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)

    @property
    def askings(self) -> tuple[AskSummary, ...]:
        """How the requests of each pool name ended."""
        return tuple(p.asking for p in self.pools)


@dataclass(frozen=True, slots=True)
class _Target:
    pool: PoolRecord
    question: QuestionRecord
    medoid: TraceRecord


def chain_text(trace: Trace) -> str:
    """Return a trace's reasoning as a text: its steps, one a line, without numbers or answer."""
    return "\n".join(fact_text(step) for step in trace.steps)


def forbidden_hash(trace: Trace) -> str:
    """Return a hash of what is forbidden when a trace is."""
    return content_hash([[step.index, step.text, step.code] for step in trace.steps])


def ablated_variant(endpoint_name: str, pool: str) -> str:
    """Return the variant under which a model's alternatives to a pool's medoids are kept.

    >>> ablated_variant("small", "small"), ablated_variant("small", "small@one")
    ('ablate', 'ablate-one')
    >>> ablated_variant("small", "other@one")
    'ablate-other@one'
    """
    if pool == endpoint_name:
        return "ablate"
    return f"ablate-{pool.removeprefix(f'{endpoint_name}@')}"


def in_protocol(score: PoolScore | None, protocol: Protocol) -> str | None:
    """Return why a protocol leaves a question out, None when it takes it.

    Targeted: GSC is right and SC wrong.
    """
    if score is None:
        return NOT_SCORED
    if score.medoid_trace_id is None:
        return NO_MEDOID
    if protocol == "broad":
        return None
    if score.gsc_correct is None or score.sc_correct is None:
        return NO_GOLD
    return None if score.gsc_correct and not score.sc_correct else "not GSC right and SC wrong"


def ablate(
    store: Store,
    endpoint: Endpoint,
    *,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    protocol: Protocol = "broad",
    n: int = SAMPLES,
    variant: str | None = None,
    length: Length = "short",
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    limit: int | None = None,
    seed: int | None = None,
    **how: Unpack[How],
) -> AblateSummary:
    """Sample `n` alternatives for every chosen pool, its medoid's reasoning forbidden.

    They are a pool of the same question, called ``NAME@ablate`` after the endpoint (with what
    tells the ablated pool apart), or ``NAME@ablate-VARIANT``: imported, parsed and scored like
    any. An ablated pool keeps the medoid that was forbidden first. Pools that are ablated
    themselves are left out unless `pool` names one. The targeted protocol takes the questions on
    which GSC is right and SC wrong; samples are shared by both.

    Raises
    ------
    ValueError
        When nothing is scored, there are no such pools, a pool belongs to another sampling, or a
        number is out of range.
    Interrupted
        On Ctrl-C.
    """
    if n < 1:
        raise ValueError(f"n is {n}; at least 1 sample is right")
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol is {protocol!r}; {' or '.join(PROTOCOLS)} is right")
    datasets = known_datasets(store, dataset)
    chosen = chosen_pools(store, datasets, pool, limit=limit, seed=seed)
    names = list(dict.fromkeys(p.pool for p in chosen))
    if variant is not None and len(names) > 1:
        raise ValueError(
            f"--variant names one pool of alternatives, and there are {len(names)} pools to "
            f"ablate: say which with --pool ({', '.join(names)})"
        )
    found = _Targets(store, chosen, protocol)
    parts = []
    rest = how
    for name in names:
        called = ablated_variant(endpoint.name, name) if variant is None else f"ablate-{variant}"
        sampler = _Sampler(store, endpoint, called, n, length, form, sampling, rest)
        parts.append(sampler.sample(found, name))
        rest = rest_of(how, *(p.asking for p in parts))
        if parts[-1].asking.stopped is not None:
            break
    return AblateSummary(
        protocol,
        tuple(parts),
        {part.pool: name for part, name in zip(parts, names, strict=False)},
        sum(part.n_questions for part in parts),
        n,
        frozenset(found.used),
        dict(found.excluded.most_common()),
    )


def answer_early(
    store: Store,
    endpoint: Endpoint,
    summary: AblateSummary,
    *,
    decomposition: str = UNDECOMPOSED,
    form: Form | None = None,
    **how: Unpack[How],
) -> EarlySummary:
    """Ask for the early answers that AF and OF need, with what ablating left of the budget.

    Raises
    ------
    ValueError, Interrupted
        As `early.early_answer`.
    """
    from pipeline.early import early_answer

    return early_answer(
        store,
        endpoint,
        decomposition=decomposition,
        only=early_traces(store, summary),
        form=form,
        **rest_of(how, *summary.askings),
    )


def early_traces(store: Store, summary: AblateSummary) -> frozenset[int]:
    """Return the traces whose early answers AF and OF need: alternatives, and their medoids."""
    names = {part.pool for part in summary.pools}
    pools = {p.id: p.pool for p in store.pools()}
    alternatives = {
        record.id
        for pool_id, link in store.ablations().items()
        if pools[pool_id] in names and link.medoid_trace_id in summary.medoids
        for record in store.pool_traces(pool_id)
    }
    return frozenset(alternatives) | summary.medoids


class _Targets:
    """Which medoids are forbidden, by the name of their pool."""

    def __init__(self, store: Store, pools: Sequence[PoolRecord], protocol: Protocol) -> None:
        self.scoring, scores = primary_scores(store)
        self.excluded: Counter[str] = Counter()
        self.used: set[int] = set()
        questions = {
            (q.dataset, q.external_id): q
            for name in dict.fromkeys(p.dataset for p in pools)
            for q in store.questions(name)
        }
        self._by_name: dict[str, list[_Target]] = {}
        for place in pools:
            score = scores.get(place.id)
            why = in_protocol(score, protocol)
            if why is not None or score is None:
                self.excluded[why or NOT_SCORED] += 1
                continue
            traces = store.pool_traces(place.id)
            medoid = next((r for r in traces if r.id == score.medoid_trace_id), None)
            if medoid is None or not medoid.trace.steps:
                self.excluded[NO_MEDOID] += 1
                continue
            target = _Target(place, questions[place.dataset, place.question_id], medoid)
            self._by_name.setdefault(place.pool, []).append(target)

    def of(self, name: str, kept: Mapping[int, tuple[int, str]]) -> list[_Target]:
        """Return the targets of one name; `kept` has what was forbidden before, by question."""
        out = []
        for target in self._by_name.get(name, []):
            now = (target.medoid.id, forbidden_hash(target.medoid.trace))
            if kept.get(target.question.id, now) != now:
                self.excluded[OTHER_MEDOID] += 1
            else:
                self.used.add(target.medoid.id)
                out.append(target)
        return out


class _Sampler:
    """Samples the pools of one name."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        variant: str,
        n: int,
        length: Length,
        form: Form | None,
        sampling: Sampling,
        how: How,
    ) -> None:
        self._store, self._endpoint, self._variant = store, endpoint, variant
        self._n, self._length, self._how = n, length, how
        self._name = pool_name(endpoint, variant)
        there = [p for p in store.pools() if p.pool == self._name]
        self._there = {p.id: p for p in there}
        before = [p.parameters for p in there]
        self._choice = choose_form(
            store,
            endpoint,
            form,
            before=form_of(before),
            dry_run=how.get("dry_run", False),
            transport=how.get("transport"),
        )
        self._drawn = endpoint.keyed(sampling)
        self._parameters = {
            "model": endpoint.model,
            "prompt_version": load_prompt(f"ablator-{self._choice.form}-{length}").label,
            "form": self._choice.form,
            "length": length,
            "sampling": self._drawn.as_json(),
        }
        check_sampling(self._name, before, self._parameters)

    def sample(self, targets: _Targets, source: str) -> GenerateSummary:
        """Ask for the samples that are missing."""
        samples = self._store.pool_samples(self._name)
        links = self._store.ablations()
        places = {(p.dataset, p.question_id): i for i, p in self._there.items()}
        chosen = targets.of(
            source,
            {
                q: (links[i].medoid_trace_id, links[i].source_hash)
                for q, i in self._questions(places).items()
                if i in links
            },
        )
        by_question = {t.question.id: t for t in chosen}
        missing = [
            (t, [k for k in range(self._n) if str(k) not in samples.get(t.question.id, ())])
            for t in chosen
        ]
        total = sum(len(lacking) for _, lacking in missing)
        saver = self._saver(by_question, targets.scoring.key)
        asking = ask_jobs(
            self._store,
            self._endpoint,
            "ablate",
            self._jobs(missing),
            total,
            saver.save,
            n_known=self._n * len(chosen) - total,
            parameters={"pool": self._name, "of": source, "n": self._n, **self._parameters},
            how=self._how,
        )
        return saver.summary(asking, self._choice, len(chosen), self._n)

    def _questions(self, places: Mapping[tuple[str, str], int]) -> dict[int, int]:
        """Return question id → pool id of this name."""
        names = dict.fromkeys(dataset for dataset, _ in places)
        return {
            q.id: places[q.dataset, q.external_id]
            for name in names
            for q in self._store.questions(name)
            if (q.dataset, q.external_id) in places
        }

    def _jobs(self, missing: Sequence[tuple[_Target, list[int]]]) -> Iterator[Job[AskedSample]]:
        for target, samples in missing:
            text = question_text(target.question)
            for sample in samples:
                request = ablate_request(
                    self._endpoint.model,
                    text,
                    target.medoid.trace,
                    sample=sample,
                    sampling=self._drawn,
                    form=self._choice.form,
                    length=self._length,
                )
                about = AskedSample(target.question, text, sample)
                yield Job(of_its_own(request, self._name), about)

    def _saver(self, by_question: Mapping[int, _Target], scoring_key: str) -> TraceSaver:
        medoids = {
            (t.question.dataset, t.question.external_id): t.medoid for t in by_question.values()
        }

        def link(batch: ImportBatch, new: NewTrace) -> None:
            medoid = medoids[new.question.dataset, new.question.external_id]
            batch.link_ablation(new, medoid.id, forbidden_hash(medoid.trace), scoring_key)

        parameters: dict[str, Any] = self._parameters
        return TraceSaver(
            self._store,
            self._name,
            self._endpoint.model,
            self._variant,
            self._choice.form,
            parameters,
            link,
        )
