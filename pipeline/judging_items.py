"""The judge stage for items of any kind: one request, one verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

import pipeline.judged_edits  # its items become judgeable
import pipeline.judged_relations  # so do pairs and cycles
import pipeline.judged_replies  # noqa: F401  # so do these
import pipeline.judged_traces as traces
from judges.prompts import PromptChoice, chosen_prompt
from judges.requests import Form, Request, Sampling
from judges.step_judge import first_wrong_step
from pipeline.asking import Answered, How, Job, ask_jobs
from pipeline.judge_stage import JudgeStage
from pipeline.judged import (
    Chosen,
    ItemGroup,
    Role,
    Source,
    Way,
    Which,
    chosen_keys,
    path_role,
    role_name,
    rubric_of,
    rubric_role,
    source_of,
)
from pipeline.judging import UNPARSED, FirstWrongCounts, JudgeRunSummary, orders_of, self_agreement
from pipeline.models import FormChoice, choose_form
from pipeline.raters import check_labelled, judge_name
from pipeline.replies import reply_outcome
from pipeline.selecting import chosen_pools, known_datasets, question_texts
from scoring.agreement import stability
from store import Store
from store.keys import TraceItemKey
from store.label_records import SchemaRecord
from store.model_records import VoteRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

C = TypeVar("C")

OF_PATHS = "path"
"""The schema that has a judge of its own."""
SOUND_STEP = "valid"


def judge_items(
    store: Store,
    endpoint: Endpoint,
    *,
    schema: str,
    rater: str | None,
    items: Which,
    labelled_by: str | None,
    dataset: str | Iterable[str] | None,
    pool: str | None,
    limit: int | None,
    draw: int | None,
    repeats: int,
    seed: int,
    form: Form | None,
    sampling: Sampling,
    prompt: PromptChoice,
    **how: Unpack[How],
) -> JudgeRunSummary:
    """Judge the chosen items of a schema; see `judging.judge`."""
    record = store.schema(schema)
    check_labelled(items, labelled_by)
    source = shown_by(record)
    chosen = choose(
        store, source, record, items, labelled_by, dataset, pool, limit=limit, draw=draw
    )
    dry_run = how.get("dry_run", False)
    stage = stage_for(
        store,
        endpoint,
        record,
        rater=rater,
        seed=seed,
        form=form,
        sampling=sampling,
        prompt=prompt,
        how=how,
    )
    stage.look(source.groups(store, chosen), repeats)
    if not stage.n_items:
        raise ValueError(source.nothing(items))
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
        stage.form,
        stage.prompt_version,
        repeats,
        stage.n_items,
        stage.n_left_out,
        schema=schema,
        what=source.what,
    )
    return summary if dry_run else stage.settled(summary)


def shown_by(schema: SchemaRecord) -> Source:
    """Return where a schema's items come from. ValueError where there can be none."""
    return traces.SHIPPED_PATHS if schema.name == OF_PATHS else source_of(schema)


def choose(
    store: Store,
    source: Source,
    schema: SchemaRecord,
    items: Which,
    labelled_by: str | None,
    dataset: str | Iterable[str] | None,
    pool: str | None,
    *,
    limit: int | None = None,
    draw: int | None = None,
) -> Chosen:
    """Return which items are meant. ValueError when a name is not there."""
    keys = chosen_keys(store, items, labelled_by, schema.name)
    if not source.of_traces:
        if limit is not None:
            raise ValueError(f"a limit counts questions, and {source.what} belong to none")
        return Chosen(items, keys=keys)
    datasets = known_datasets(store, dataset)
    pools = chosen_pools(store, datasets, pool, limit=limit, seed=draw, ablated=items == "labelled")
    return Chosen(items, pools, question_texts(store, datasets), keys)


def stage_for(
    store: Store,
    endpoint: Endpoint,
    schema: SchemaRecord,
    *,
    rater: str | None,
    seed: int,
    form: Form | None,
    sampling: Sampling,
    prompt: PromptChoice,
    how: How,
) -> ItemStage[Any]:
    """Return a judge at work under a schema.

    Raises
    ------
    ValueError
        As `choose_form`, `judge_name` and `chosen_prompt`.
    """
    dry_run, transport = how.get("dry_run", False), how.get("transport")
    choice = choose_form(store, endpoint, form, dry_run=dry_run, transport=transport)
    role = "path_judge" if schema.name == OF_PATHS else role_name(schema)
    sampling = endpoint.keyed(sampling)
    told = chosen_prompt(f"{role}-{choice.form}", prompt)
    way = Way(endpoint.model, told, choice.form, sampling, seed)
    asked: Role[Any] = (
        path_role(way) if schema.name == OF_PATHS else rubric_role(rubric_of(schema), way)
    )
    name = judge_name(store, endpoint, rater, asked.prompt_version, schema.name)
    return ItemStage(
        asked,
        choice,
        schema,
        store,
        endpoint,
        name,
        schema.name,
        choice.form,
        sampling,
        seed,
        asked.prompt_version,
    )


@dataclass(frozen=True, slots=True)
class _Asked(Generic[C]):
    """A verdict to ask for."""

    key: str
    content: C
    repeat: int


class ItemStage(JudgeStage[ItemGroup[C]]):
    """One judge at work on items of one kind."""

    def __init__(
        self, role: Role[C], form: FormChoice, schema: SchemaRecord, *args: Any, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.role = role
        self.form = form
        self._record = schema
        self._keys: list[str] = []
        self.n_left_out = 0

    @property
    def n_items(self) -> int:
        """How many items are judged."""
        return len(self._keys)

    def request(self, content: C, key: str, repeat: int) -> Request:
        """Return the request for one verdict, among this judge's own."""
        return self._own(self.role.request(content, key, repeat))

    def look(self, groups: Iterable[ItemGroup[C]], repeats: int) -> None:
        """Note which verdicts are missing; refuse to mix two ways of asking under one name."""
        voted = self._voted()
        for group in groups:
            self.n_left_out += group.n_left_out
            self._keys += group.keys
            ids = self._store.item_ids(group.keys) if voted else {}
            wanted = [(key, repeat) for key in group.keys for repeat in range(repeats)]
            lacking = [(k, r) for k, r in wanted if (ids.get(k, 0), r) not in voted]
            if len(lacking) < len(wanted):
                contents = group.load()
                for key, repeat in wanted:
                    there = voted.get((ids.get(key, 0), repeat), _NOT_THERE)
                    if there != _NOT_THERE:
                        self._refuse_other([there], self.request(contents[key], key, repeat))
            self._note(group, lacking)

    def prepare(self) -> None:
        """Make the rater and the items that verdicts will hang on."""
        self._make(self._keys)

    def jobs(self) -> Iterator[Job[_Asked[C]]]:
        """Yield what is to be asked."""
        for group, lacking in self._missing:
            contents = group.load()
            for key, repeat in lacking:
                asked = self.request(contents[key], key, repeat)
                yield Job(asked, _Asked(key, contents[key], repeat))

    def save(self, answered: Sequence[Answered[_Asked[C]]]) -> None:
        """Store verdicts as they were said."""
        votes = []
        for a in answered:
            said = self.role.read(a.reply, a.about.content)
            votes.append(
                VoteRecord(
                    item_id=self._ids[a.about.key],
                    repeat=a.about.repeat,
                    outcome=reply_outcome(said.outcome),
                    category=said.category,
                    first_wrong_step=said.first_wrong_step,
                    rationale=said.rationale,
                    flags=said.flags,
                    option_order=self.role.order(a.about.key, a.about.repeat),
                    reason=said.reason,
                    reply_key=a.request.key,
                )
            )
        self._keep(votes)

    def settled(self, summary: JudgeRunSummary) -> JudgeRunSummary:
        """Make labels of the items whose repeats are all in; return the summary with them."""
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
            orders=orders_of(complete.values()),
            agreement=self_agreement([[v.category for v in said] for said in complete.values()]),
            first_wrong=self._first_wrong(ids, complete),
        )

    def _first_wrong(
        self, ids: Mapping[str, int], complete: Mapping[int, tuple[VoteRecord, ...]]
    ) -> FirstWrongCounts | None:
        """Return where the traces go wrong by the majorities on their steps."""
        if self._record.item_kind != "step":
            return None
        names = self._record.names
        sound = SOUND_STEP if SOUND_STEP in names else names[0]
        of_trace: defaultdict[tuple[str, ...], dict[int, str | None]] = defaultdict(dict)
        said = stability([[v.category for v in complete.get(i, ())] for i in ids.values()])
        for key, item in zip(ids, said.items, strict=True):
            parts = TraceItemKey.parse(key)
            word = None if item.majority is None else str(item.majority)
            of_trace[parts.trace][parts.step or 0] = word
        found = [first_wrong_step(v, max(v) + 1, sound) for v in of_trace.values()]
        return FirstWrongCounts(
            len(found),
            n_wrong=sum(f.step is not None for f in found),
            n_sound=sum(f.known and f.step is None for f in found),
            n_open=sum(not f.known for f in found),
        )


_NOT_THERE = "no vote"
"""Stands for a vote that is missing: None is the reply of a vote whose reply is not known."""
