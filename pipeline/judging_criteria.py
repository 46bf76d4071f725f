"""The judge stage for decompositions: three criteria of each decomposed trace, met or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from judges.criteria_judge import (
    CRITERIA,
    DEFAULT_SAMPLING,
    criteria_request,
    option_order,
    read_criteria,
)
from judges.prompts import Prompt, PromptChoice, chosen_prompt
from judges.questions import QuestionText
from judges.requests import Form, Request, Sampling
from pipeline.asking import Answered, How, Job, ask_jobs
from pipeline.judge_stage import JudgeStage
from pipeline.judged import Which
from pipeline.judging import (
    CRITERIA_SCHEMA,
    UNPARSED,
    JudgeRunSummary,
    orders_of,
    self_agreement,
)
from pipeline.models import choose_form
from pipeline.raters import check_labelled, judge_name, labelled_items
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from store import Store
from store.keys import TraceItemKey, encode_part, path_key, split_path_key
from store.model_records import DecomposedRecord, DecompositionRecord, VoteRecord
from store.records import PoolRecord, TraceRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class _Asked:
    """Three verdicts to ask for, on the trace of this path key."""

    trace: str
    repeat: int


def judge_criteria(
    store: Store,
    endpoint: Endpoint,
    *,
    decomposition: str | None = None,
    rater: str | None = None,
    items: Which = "sample",
    labelled_by: str | None = None,
    dataset: str | Iterable[str] | None = None,
    pool: str | None = None,
    limit: int | None = None,
    draw: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    prompt: PromptChoice = None,
    **how: Unpack[How],
) -> JudgeRunSummary:
    """Ask `repeats` times about each chosen trace of a decomposition: one request, three verdicts.

    Chosen are the traces sampled for people, all that have facts, or those on which a rater
    labelled a criterion; the name of the decomposition may be left out where there is only one.
    Everything else is as for paths: see `judging.judge`. Majorities are by criterion.

    Raises
    ------
    ValueError
        As `judging.judge`; also when it is not clear which decomposition is meant.
    Interrupted
        On Ctrl-C.
    """
    made = _decomposition(store, decomposition)
    wanted = _wanted(store, made, items, labelled_by)
    datasets = known_datasets(store, dataset)
    dry_run = how.get("dry_run", False)
    choice = choose_form(store, endpoint, form, dry_run=dry_run, transport=how.get("transport"))
    chosen = chosen_prompt(f"criteria_judge-{choice.form}", prompt)
    prompt_version = chosen.label
    stage = _Stage(
        made,
        question_texts(store, datasets),
        chosen,
        store,
        endpoint,
        judge_name(store, endpoint, rater, prompt_version, CRITERIA_SCHEMA),
        CRITERIA_SCHEMA,
        choice.form,
        endpoint.keyed(sampling),
        seed,
        prompt_version,
    )
    pools = chosen_pools(store, datasets, pool, limit=limit, seed=draw, ablated=items != "all")
    stage.look(pools, wanted, repeats)
    if not stage.traces:
        raise ValueError(_NOTHING[items].format(made.name))
    if stage.total and not dry_run:
        stage.prepare()
    asking = ask_jobs(
        store,
        endpoint,
        "judge",
        stage.jobs(),
        stage.total,
        stage.save,
        unit="traces",
        n_known=len(stage.traces) * repeats - stage.total,
        parameters={"repeats": repeats, **stage.parameters},
        how=how,
    )
    summary = JudgeRunSummary(
        asking,
        stage.rater,
        choice,
        prompt_version,
        repeats,
        len(stage.traces),
        0,
        decomposition=made.name,
        n_factless=stage.n_factless,
    )
    return summary if dry_run else stage.settled(summary)


_NOTHING: Mapping[str, str] = {
    "sample": "no sampled trace of decomposition {0!r} to judge: medoid decompose --name {0} "
    "--sample 50 draws some, --all judges every trace with facts",
    "all": "no trace to judge: decomposition {0!r} has no facts of these",
    "labelled": "no trace to judge: the rater has labelled no criterion of decomposition {0!r}",
}


def _decomposition(store: Store, name: str | None) -> DecompositionRecord:
    """Return the decomposition of this name, or the only one there is."""
    if name is not None:
        return store.decomposition_named(name)
    known = store.decompositions()
    if len(known) != 1:
        names = ", ".join(d.name for d in known) or "none yet"
        raise ValueError(f"say which decomposition (--decomposition NAME); there are: {names}")
    return known[0]


def _wanted(
    store: Store, made: DecompositionRecord, items: Which, labelled_by: str | None
) -> frozenset[int | str] | None:
    """Return the ids or path keys of the traces to judge, None for all."""
    if items not in _NOTHING:
        raise ValueError(f"items is {items!r}; {', '.join(_NOTHING)} can be judged of these")
    check_labelled(items, labelled_by)
    if items == "sample":
        return store.sampled_ids(made.id)
    if labelled_by is None:
        return None
    keys = map(TraceItemKey.parse, labelled_items(store, labelled_by, CRITERIA_SCHEMA))
    return frozenset(path_key(*key.trace) for key in keys if key.decomposition == made.name)


class _Stage(JudgeStage[PoolRecord]):
    """One judge at work on a decomposition."""

    n_factless = 0

    def __init__(
        self,
        made: DecompositionRecord,
        texts: Mapping[tuple[str, str], QuestionText],
        prompt: Prompt,
        *args: Any,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._made = made
        self._texts = texts
        self._prompt = prompt
        self.traces: list[str] = []

    @property
    def parameters(self) -> dict[str, object]:
        """How the judge is asked."""
        return {**super().parameters, "decomposition": self._made.name}

    def _criteria(self, trace: str) -> dict[str, str]:
        """Return the criterion items of a trace, key → criterion."""
        place = split_path_key(trace)
        return {
            str(TraceItemKey("criterion", place, decomposition=self._made.name, criterion=c)): c
            for c in CRITERIA
        }

    def _item(self, trace: str) -> str:
        """Return what the order of the words is drawn from: the items' key but for the criterion."""
        return f"criterion:{trace.partition(':')[2]}/{encode_part(self._made.name)}"

    def _request(
        self, pool: PoolRecord, record: TraceRecord, split: DecomposedRecord, repeat: int
    ) -> Request:
        request = criteria_request(
            self._model,
            self._texts[pool.dataset, pool.question_id],
            record.trace,
            split.facts,
            invented=split.invented,
            item=self._item(record.key),
            repeat=repeat,
            sampling=self._sampling,
            form=self._form,
            seed=self._seed,
            prompt=self._prompt,
        )
        return self._own(request)

    def look(
        self, pools: Sequence[PoolRecord], wanted: frozenset[int | str] | None, repeats: int
    ) -> None:
        """Note which verdicts are missing; refuse to mix two ways of asking under one name."""
        voted = self._voted()
        for pool in pools:
            split = self._store.decomposed(self._made.id, pool.id)
            chosen = [
                r
                for r in (self._store.pool_traces(pool.id) if split else ())
                if r.id in split and (wanted is None or r.id in wanted or r.key in wanted)
            ]
            judged = [r for r in chosen if split[r.id].facts]
            self.n_factless += len(chosen) - len(judged)
            keys = [key for r in judged for key in self._criteria(r.key)]
            ids = self._store.item_ids(keys) if voted else {}
            lacking = [
                (record.key, repeat)
                for record in judged
                for repeat in range(repeats)
                if self._is_missing(pool, record, split[record.id], repeat, voted, ids)
            ]
            self.traces += [r.key for r in judged]
            self._note(pool, lacking)

    def _is_missing(
        self,
        pool: PoolRecord,
        record: TraceRecord,
        split: DecomposedRecord,
        repeat: int,
        voted: Mapping[tuple[int, int], str | None],
        ids: Mapping[str, int],
    ) -> bool:
        places = [(ids.get(key, 0), repeat) for key in self._criteria(record.key)]
        there = {voted[place] for place in places if place in voted}
        if not there:
            return True
        self._refuse_other(there, self._request(pool, record, split, repeat))
        return any(place not in voted for place in places)

    def prepare(self) -> None:
        """Make the rater and the items that verdicts will hang on."""
        self._make(k for t in self.traces for k in self._criteria(t))

    def jobs(self) -> Iterator[Job[_Asked]]:
        """Yield what is to be asked."""
        for pool, lacking in self._missing:
            records = {r.key: r for r in self._store.pool_traces(pool.id)}
            split = self._store.decomposed(self._made.id, pool.id)
            for key, repeat in lacking:
                record = records[key]
                asked = self._request(pool, record, split[record.id], repeat)
                yield Job(asked, _Asked(key, repeat))

    def save(self, answered: Sequence[Answered[_Asked]]) -> None:
        """Store verdicts as they were said, the three of a reply together."""
        votes = []
        for a in answered:
            said = read_criteria(a.reply)
            for key, criterion in self._criteria(a.about.trace).items():
                verdict = said.criteria[criterion]
                votes.append(
                    VoteRecord(
                        item_id=self._ids[key],
                        repeat=a.about.repeat,
                        outcome=reply_outcome(verdict.outcome),
                        category=verdict.category,
                        rationale=verdict.rationale,
                        flags=said.flags,
                        option_order=option_order(
                            self._seed, self._item(a.about.trace), a.about.repeat
                        ),
                        reason=verdict.reason,
                        reply_key=a.request.key,
                    )
                )
        self._keep(votes)

    def settled(self, summary: JudgeRunSummary) -> JudgeRunSummary:
        """Make labels of the criteria whose repeats are all in; return the summary with them."""
        if self._rater_id is None:
            return summary
        criteria = {k: c for trace in self.traces for k, c in self._criteria(trace).items()}
        ids = self._ids or self._store.item_ids(list(criteria))
        complete = self._complete(self._rater_id, ids.values(), summary.repeats)
        counts: dict[str, Counter[str]] = {name: Counter() for name in CRITERIA}
        for key, item in ids.items():
            counts[criteria[key]].update(v.category or UNPARSED for v in complete.get(item, ()))
        # A flag is of a reply, and a reply has a vote on each criterion.
        flags = Counter(f for said in complete.values() for v in said for f in v.flags)
        return replace(
            summary,
            n_complete=len(complete) // len(CRITERIA),
            settled=self._settle(self._rater_id, complete),
            verdicts=dict(sorted(sum(counts.values(), Counter()).items())),
            flags={name: n // len(CRITERIA) for name, n in sorted(flags.items())},
            orders=orders_of(complete.values()),
            agreement=self_agreement([[v.category for v in said] for said in complete.values()]),
            criteria={name: dict(sorted(n.items())) for name, n in counts.items()},
        )
