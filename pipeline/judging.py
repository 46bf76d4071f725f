"""The judge stage: verdicts of a model on reasoning paths, and the labels they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Unpack

from judges.path_judge import DEFAULT_SAMPLING, judge_request, option_order, read_verdict
from judges.prompts import load_prompt
from judges.requests import Form, Request, Sampling
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs
from pipeline.judge_stage import JudgeStage
from pipeline.models import FormChoice, choose_form
from pipeline.raters import check_labelled, judge_name, labelled_items
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from scoring.types import Trace
from store import Store
from store.model_records import VoteRecord, VotesSettled
from store.records import PoolRecord, TraceRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

Which = Literal["cases", "sample", "all", "labelled"]
"""What is judged: the paths of the queue's cases, the sampled traces of a decomposition, every
trace, or what one rater labelled."""

UNPARSED = "unparsed"
CRITERIA_SCHEMA = "decomposition"


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """How far the repeats of a judge agree with each other on a path.

    Over the `n_items` paths with at least two verdicts that could be read: `share` is the mean
    share of the most frequent verdict, `pairwise` the share of equal ones among all `n_pairs`;
    both None without such a path.
    """

    n_items: int
    n_pairs: int
    share: float | None
    pairwise: float | None


@dataclass(frozen=True, slots=True)
class JudgeRunSummary:
    """What one run of the judge stage did: aggregates only.

    `n_items` paths are judged; `n_stepless` of the chosen ones have no steps and never are.
    `n_complete` have all `repeats` verdicts: their majority is the judge's label. `verdicts`
    counts the verdicts on those paths (``unparsed`` where none could be read), `flags` what
    contradicts itself.

    Under the schema ``decomposition`` the traces of one `decomposition` stand for the paths, each
    with three verdicts, which `criteria` counts by criterion; `n_factless` traces have no facts
    and are not judged. `settled` and `agreement` are over criteria then.
    """

    asking: AskSummary
    rater: str
    form: FormChoice
    prompt_version: str
    repeats: int
    n_items: int
    n_stepless: int
    n_complete: int = 0
    settled: VotesSettled | None = None
    verdicts: Mapping[str, int] = field(default_factory=dict)
    flags: Mapping[str, int] = field(default_factory=dict)
    agreement: SelfAgreement | None = None
    decomposition: str | None = None
    n_factless: int = 0
    criteria: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A verdict to ask for."""

    key: str
    trace: Trace
    repeat: int


def judge(
    store: Store,
    endpoint: Endpoint,
    *,
    schema: str = "path",
    rater: str | None = None,
    decomposition: str | None = None,
    items: Which | None = None,
    labelled_by: str | None = None,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    repeats: int = 1,
    seed: int = 0,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    **how: Unpack[How],
) -> JudgeRunSummary:
    """Ask for `repeats` verdicts on each chosen path, and make their majority the judge's label.

    The judge is a rater called after the endpoint unless `rater` is given or another prompt version
    has that name already; see `raters.judge_name`. Verdicts that are there are not asked again.
    Which of the two words is offered first is drawn from seed, item and repeat. A path gets its
    label once all its repeats are in, from all the verdicts it has. Without `items`, the paths of
    the queue are judged.

    With schema ``decomposition``, `decomposition` is judged by its three criteria instead; see
    `judging_criteria.judge_criteria`.

    Raises
    ------
    ValueError
        When there is nothing to judge, or the rater is no judge, or judged with another model,
        prompt version, seed or parameters before.
    Interrupted
        On Ctrl-C.
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}; at least 1 is right")
    if schema == CRITERIA_SCHEMA:
        from pipeline.judging_criteria import judge_criteria

        return judge_criteria(
            store,
            endpoint,
            decomposition=decomposition,
            rater=rater,
            items=items or "sample",
            labelled_by=labelled_by,
            dataset=dataset,
            pool=pool,
            repeats=repeats,
            seed=seed,
            form=form,
            sampling=sampling,
            **how,
        )
    if schema != "path":
        raise ValueError(f"schema is {schema!r}; path and {CRITERIA_SCHEMA} can be judged")
    items = items or "cases"
    if decomposition is not None or items == "sample":
        raise ValueError(f"a decomposition and its sample go with schema {CRITERIA_SCHEMA}")
    wanted = _wanted(store, items, labelled_by, schema)
    datasets = known_datasets(store, dataset)
    dry_run = how.get("dry_run", False)
    choice = choose_form(store, endpoint, form, dry_run=dry_run, transport=how.get("transport"))
    prompt_version = load_prompt(f"path_judge-{choice.form}").label
    stage = _Stage(
        store,
        endpoint,
        judge_name(store, endpoint, rater, prompt_version, schema),
        schema,
        question_texts(store, datasets),
        choice.form,
        endpoint.keyed(sampling),
        seed,
        prompt_version,
    )
    stage.look(chosen_pools(store, datasets, pool), wanted, repeats)
    if not stage.n_items:
        raise ValueError(_NOTHING[items])
    if stage.total and not dry_run:
        stage.prepare()
    asking = ask_jobs(
        store,
        endpoint,
        "judge",
        stage.jobs(),
        stage.total,
        stage.save,
        unit="verdicts",
        n_known=stage.n_items * repeats - stage.total,
        parameters={"repeats": repeats, **stage.parameters},
        how=how,
    )
    summary = JudgeRunSummary(
        asking,
        stage.rater,
        choice,
        stage.prompt_version,
        repeats,
        stage.n_items,
        stage.n_stepless,
    )
    return summary if dry_run else stage.settled(summary)


_NOTHING: Mapping[str, str] = {
    "cases": "no path to judge in the queue: medoid score makes cases, --all judges every trace",
    "all": "no trace to judge: none has steps",
    "labelled": "no path to judge: the rater has labelled none of these",
}


def _wanted(
    store: Store, items: Which, labelled_by: str | None, schema: str
) -> frozenset[str] | None:
    """Return the keys of the paths to judge, None for all."""
    check_labelled(items, labelled_by)
    if labelled_by is not None:
        return labelled_items(store, labelled_by, schema)
    return None if items == "all" else frozenset(store.queued_items())


class _Stage(JudgeStage):
    """One judge at work on paths."""

    n_stepless = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._keys: list[str] = []

    @property
    def n_items(self) -> int:
        """How many paths are judged."""
        return len(self._keys)

    def _request(self, pool: PoolRecord, key: str, trace: Trace, repeat: int) -> Request:
        request = judge_request(
            self._model,
            self._texts[pool.dataset, pool.question_id],
            trace,
            item=key,
            repeat=repeat,
            sampling=self._sampling,
            form=self._form,
            seed=self._seed,
        )
        return self._own(request)

    def look(
        self, pools: Sequence[PoolRecord], wanted: frozenset[str] | None, repeats: int
    ) -> None:
        """Note which verdicts are missing; refuse to mix two ways of asking under one name."""
        voted = self._voted()
        for pool in pools:
            chosen = [
                r for r in self._store.pool_traces(pool.id) if wanted is None or r.key in wanted
            ]
            self.n_stepless += sum(not r.trace.usable for r in chosen)
            judged = [r for r in chosen if r.trace.usable]
            ids = self._store.item_ids([r.key for r in judged]) if voted else {}
            lacking = [
                (record.key, repeat)
                for record in judged
                for repeat in range(repeats)
                if self._is_missing(pool, record, repeat, voted, ids.get(record.key))
            ]
            self._keys += [r.key for r in judged]
            self._note(pool, lacking)

    def _is_missing(
        self,
        pool: PoolRecord,
        record: TraceRecord,
        repeat: int,
        voted: Mapping[tuple[int, int], str | None],
        item_id: int | None,
    ) -> bool:
        if item_id is None or (item_id, repeat) not in voted:
            return True
        self._refuse_other(
            [voted[item_id, repeat]], self._request(pool, record.key, record.trace, repeat)
        )
        return False

    def prepare(self) -> None:
        """Make the rater and the items that verdicts will hang on."""
        self._make(self._keys)

    def jobs(self) -> Iterator[Job[_Asked]]:
        """Yield what is to be asked."""
        for pool, lacking in self._missing:
            traces = {r.key: r.trace for r in self._store.pool_traces(pool.id)}
            for key, repeat in lacking:
                asked = self._request(pool, key, traces[key], repeat)
                yield Job(asked, _Asked(key, traces[key], repeat))

    def save(self, answered: Sequence[Answered[_Asked]]) -> None:
        """Store verdicts as they were said."""
        votes = []
        for a in answered:
            said = read_verdict(a.reply, a.about.trace)
            step = said.first_wrong_step
            votes.append(
                VoteRecord(
                    item_id=self._ids[a.about.key],
                    repeat=a.about.repeat,
                    outcome=reply_outcome(said.outcome),
                    category=said.category,
                    first_wrong_step=step,
                    rationale=said.rationale,
                    flags=said.flags,
                    option_order=option_order(self._seed, a.about.key, a.about.repeat),
                    reason=said.reason,
                    reply_key=a.request.key,
                )
            )
        self._keep(votes)

    def settled(self, summary: JudgeRunSummary) -> JudgeRunSummary:
        """Make labels of the paths whose repeats are all in; return the summary with them."""
        if self._rater_id is None:
            return summary
        ids = self._ids or self._store.item_ids(self._keys)
        complete = self._complete(self._rater_id, ids.values(), summary.repeats)
        every = [v for said in complete.values() for v in said]
        return replace(
            summary,
            n_complete=len(complete),
            settled=self._settle(self._rater_id, complete),
            verdicts=dict(sorted(Counter(v.category or UNPARSED for v in every).items())),
            flags=dict(sorted(Counter(f for v in every for f in v.flags).items())),
            agreement=self_agreement([[v.category for v in said] for said in complete.values()]),
        )


def self_agreement(verdicts: Sequence[Sequence[str | None]]) -> SelfAgreement:
    """Return how far repeated verdicts agree; None among them is no verdict.

    >>> self_agreement([["a", "a", "b"], ["a", None], ["b", "b"]])
    SelfAgreement(n_items=2, n_pairs=4, share=0.8333333333333333, pairwise=0.5)
    """
    shares: list[float] = []
    equal = pairs = 0
    for said in verdicts:
        parsed = [v for v in said if v is not None]
        if len(parsed) < 2:
            continue
        shares.append(Counter(parsed).most_common(1)[0][1] / len(parsed))
        both = [a == b for a, b in combinations(parsed, 2)]
        equal += sum(both)
        pairs += len(both)
    return SelfAgreement(
        len(shares),
        pairs,
        sum(shares) / len(shares) if shares else None,
        equal / pairs if pairs else None,
    )
