"""What stored counterfactual answers say: scores per trace and question, by both baselines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judges.counterfactual_answerer import reasoning
from judges.counterfactual_editor import intermediate_steps
from judges.questions import QuestionText
from pipeline.counterfactual import answer_hash
from pipeline.editing import NO_STEP, usable_edit
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from scoring.faithfulness import Counterfactual, counterfactual_edits
from scoring.faithfulness.answering import mean
from scoring.graphs import self_consistency
from scoring.types import NormalForm
from store import Store
from store.intervention_records import (
    UNEDITED,
    CounterfactualRecord,
    CounterfactualRunRecord,
    EditPlace,
    EditRecord,
)
from store.records import PoolRecord, TraceRecord

NO_EDIT = "no usable edit"


@dataclass(frozen=True, slots=True)
class TraceCounterfactual:
    """Counterfactual editing of one trace.

    `reasked` is against the answer asked again with no step edited (the vote of its repeats),
    `stated` against the trace's own final answer. Of `n_steps` intermediate steps `faults` counts
    those without a usable edit. `baseline` is the re-asked answer; of its `n_baseline` askings
    `n_baseline_replied` gave an answer, `n_baseline_alike` the one voted for.
    """

    trace_id: int
    sample: str
    n_steps: int
    faults: Mapping[str, int]
    reasked: Counterfactual
    stated: Counterfactual
    baseline: NormalForm | None
    own: NormalForm | None
    n_baseline: int
    n_baseline_replied: int
    n_baseline_alike: int

    @property
    def as_stated(self) -> bool | None:
        """Whether the re-asked answer is the stated one; None where either is missing."""
        if self.baseline is None or self.own is None:
            return None
        return self.baseline == self.own


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over the `n` questions that have a value; None without one.

    Of `n_traces` traces `n_scored` have a score; `undefined` counts the others by reason.
    """

    value: float | None
    n: int
    n_scored: int
    n_traces: int
    undefined: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CounterfactualGroup:
    """Counterfactual editing of many traces: a question's score is the mean of its traces'.

    `n_edited` of `n_steps` steps have a usable edit, `faults` counts the rest. `n_replied` of
    `n_asked` askings with an edit gave an answer that could be read, and `n_baseline_replied` of
    `n_baseline` without one. `n_as_stated` of `n_comparable` re-asked baselines are the stated
    answer. `alike` is the share of the baselines' answers that are their vote, where repeats were
    asked: how often the answer changes with nothing edited. `n_incomplete` traces were not asked
    wholly yet: they are left out.
    """

    dataset: str
    pool: str
    traces: str
    n_questions: int
    n_traces: int
    n_incomplete: int
    reasked: Score
    stated: Score
    n_steps: int
    n_edited: int
    faults: Mapping[str, int]
    n_asked: int
    n_replied: int
    n_baseline: int
    n_baseline_replied: int
    n_as_stated: int
    n_comparable: int
    alike: float | None


@dataclass(frozen=True, slots=True)
class CounterfactualQuestion:
    """Counterfactual editing of one question's traces: sealed, for it names medoids."""

    dataset: str
    question_id: str
    pool: str
    reasked: float | None
    stated: float | None
    rows: tuple[TraceCounterfactual, ...]
    n_incomplete: int = 0
    undefined: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CounterfactualReport:
    """What one run says, per dataset and pool."""

    run: CounterfactualRunRecord
    groups: tuple[CounterfactualGroup, ...]
    questions: tuple[CounterfactualQuestion, ...]


def counterfactual_report(
    store: Store,
    run: CounterfactualRunRecord,
    *,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
) -> CounterfactualReport:
    """Return counterfactual editing per dataset and pool, over all asked traces and the medoids.

    A medoid without an intermediate step is counted as undefined, in pools of a name that was
    asked about.
    """
    datasets = known_datasets(store, dataset)
    texts = question_texts(store, datasets)
    scoring = store.primary_scoring()
    scores = () if scoring is None else store.pool_scores(scoring.id)
    medoids = {s.medoid_trace_id for s in scores if s.medoid_trace_id is not None}
    places = chosen_pools(store, datasets, pool, ablated=True)
    edits = {p.id: store.edits(run.editing_id, p.id) for p in places}
    names = {(p.dataset, p.pool) for p in places if edits[p.id]}
    questions = []
    for place in places:
        if (place.dataset, place.pool) in names:
            q = texts[place.dataset, place.question_id]
            answered = store.counterfactual_answers(run.id, place.id)
            records = store.pool_traces(place.id)
            questions.append(_question(place, q, records, edits[place.id], answered, medoids))
    return CounterfactualReport(run, tuple(_groups(questions, medoids)), tuple(questions))


def _question(
    place: PoolRecord,
    q: QuestionText,
    records: Sequence[TraceRecord],
    edits: Mapping[EditPlace, EditRecord],
    answered: Mapping[int, Sequence[CounterfactualRecord]],
    medoids: set[int],
) -> CounterfactualQuestion:
    touched = {trace for trace, _ in edits}
    rows = []
    n_incomplete = 0
    undefined: Counter[str] = Counter()
    for record in records:
        if record.id in medoids and not intermediate_steps(record.trace):
            undefined[NO_STEP] += 1
        elif record.id in touched:
            row = _trace(record, q, edits, answered.get(record.id, ()))
            if row is None:
                n_incomplete += 1
            else:
                rows.append(row)
    return CounterfactualQuestion(
        place.dataset,
        place.question_id,
        place.pool,
        mean([r.reasked.score for r in rows if r.reasked.score is not None]),
        mean([r.stated.score for r in rows if r.stated.score is not None]),
        tuple(rows),
        n_incomplete,
        dict(undefined),
    )


def _trace(
    record: TraceRecord,
    q: QuestionText,
    edits: Mapping[EditPlace, EditRecord],
    answered: Sequence[CounterfactualRecord],
) -> TraceCounterfactual | None:
    """Return how a trace stands, None while an edit or an answer of it is missing."""
    steps = intermediate_steps(record.trace)
    plain = reasoning(record.trace)
    faults: Counter[str] = Counter()
    by_step: dict[int, list[CounterfactualRecord]] = defaultdict(list)
    for row in answered:
        by_step[row.step].append(row)
    given: list[NormalForm | None] = []
    repeats = {len(of) for of in by_step.values()}
    for step in steps:
        edit = edits.get((record.id, step.index))
        if edit is None:
            return None
        text = usable_edit(edit, q, plain)
        if text is None:
            faults[edit.fault or "another reading"] += 1
            continue
        digest = answer_hash(q, reasoning(record.trace, step=step.index, edit=text))
        found = [r for r in by_step[step.index] if r.source_hash == digest]
        if not found or len({len(found), *repeats}) > 1:
            return None
        given += [r.answer for r in found]
    base = [r for r in by_step[UNEDITED] if r.source_hash == answer_hash(q, plain)]
    if given and not base:
        return None
    vote = self_consistency([r.answer for r in base])
    reasked = counterfactual_edits(given, vote.answer)
    stated = counterfactual_edits(given, record.trace.answer)
    counts = dict(vote.counts)
    return TraceCounterfactual(
        trace_id=record.id,
        sample=record.sample,
        n_steps=len(steps),
        faults=dict(faults),
        reasked=reasked,
        stated=stated,
        baseline=vote.answer,
        own=record.trace.answer,
        n_baseline=len(base),
        n_baseline_replied=sum(r.answer is not None for r in base),
        n_baseline_alike=0 if vote.answer is None else counts[vote.answer],
    )


def _groups(
    questions: Sequence[CounterfactualQuestion], medoids: set[int]
) -> Iterable[CounterfactualGroup]:
    by_pool: dict[tuple[str, str], list[CounterfactualQuestion]] = defaultdict(list)
    for q in questions:
        by_pool[q.dataset, q.pool].append(q)
    for (dataset, pool), members in sorted(by_pool.items()):
        incomplete = sum(q.n_incomplete for q in members)
        undefined = sum((Counter(q.undefined) for q in members), Counter())
        chosen = [tuple(t for t in q.rows if t.trace_id in medoids) for q in members]
        everything = [q.rows for q in members]
        if chosen != everything:
            yield _group(dataset, pool, "all", everything, incomplete, undefined)
        if any(chosen) or undefined:
            lacking = incomplete if chosen == everything else 0
            yield _group(dataset, pool, "medoids", chosen, lacking, undefined)
        elif chosen == everything:
            yield _group(dataset, pool, "all", everything, incomplete, undefined)


def _group(
    dataset: str,
    pool: str,
    which: str,
    parts: Sequence[Sequence[TraceCounterfactual]],
    incomplete: int,
    undefined: Counter[str],
) -> CounterfactualGroup:
    traces = [t for part in parts for t in part]
    repeated = [t for t in traces if t.n_baseline > 1]
    n_voted = sum(t.n_baseline_replied for t in repeated)
    stated = [t.as_stated for t in traces if t.as_stated is not None]
    faults = sum((Counter(t.faults) for t in traces), Counter())
    n_steps = sum(t.n_steps for t in traces)
    return CounterfactualGroup(
        dataset=dataset,
        pool=pool,
        traces=which,
        n_questions=sum(bool(part) for part in parts),
        n_traces=len(traces) + undefined.total(),
        n_incomplete=incomplete,
        reasked=_score(
            [[t.reasked for t in p] for p in parts], [_why(t) for t in traces], undefined
        ),
        stated=_score(
            [[t.stated for t in p] for p in parts],
            [_why(t, stated=True) for t in traces],
            undefined,
        ),
        n_steps=n_steps,
        n_edited=n_steps - faults.total(),
        faults=dict(faults.most_common()),
        n_asked=sum(t.reasked.n for t in traces),
        n_replied=sum(t.reasked.replied for t in traces),
        n_baseline=sum(t.n_baseline for t in traces),
        n_baseline_replied=sum(t.n_baseline_replied for t in traces),
        n_as_stated=sum(stated),
        n_comparable=len(stated),
        alike=sum(t.n_baseline_alike for t in repeated) / n_voted if n_voted else None,
    )


def _why(trace: TraceCounterfactual, *, stated: bool = False) -> str | None:
    """Return why a trace has no score."""
    found = trace.stated if stated else trace.reasked
    if found.score is not None:
        return None
    if found.n == 0:
        return NO_EDIT
    return found.why_undefined or "undefined"


def _score(
    parts: Sequence[Sequence[Counterfactual]],
    reasons: Sequence[str | None],
    undefined: Counter[str],
) -> Score:
    """Return the mean over questions of the mean over their traces."""
    scores = [[c.score for c in part if c.score is not None] for part in parts]
    questions = [m for s in scores if (m := mean(s)) is not None]
    why = Counter(r for r in reasons if r is not None) + undefined
    n_scored = sum(map(len, scores))
    return Score(
        mean(questions),
        len(questions),
        n_scored,
        n_scored + why.total(),
        dict(why.most_common()),
    )
