"""The judge stage: verdicts of a model under a label schema, and the labels they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Unpack

from judges.path_judge import DEFAULT_SAMPLING
from judges.prompts import PromptChoice
from judges.requests import Form, Sampling
from pipeline.asking import AskSummary, How
from pipeline.judged import SAMPLED_KINDS, Which, default_items
from pipeline.models import FormChoice
from scoring.agreement import OrderEffect, order_effect
from store import Store
from store.model_records import VoteRecord, VotesSettled

if TYPE_CHECKING:
    from judges.endpoint import Endpoint

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
class FirstWrongCounts:
    """Where traces first go wrong by the verdicts on their steps.

    Of `n_traces` with judged steps, `n_wrong` have a first wrong step, `n_sound` none; `n_open`
    lack a verdict on a step before any wrong one.
    """

    n_traces: int
    n_wrong: int
    n_sound: int
    n_open: int


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

    `what` the items are called. `first_wrong` is told of steps. `orders` says whether verdicts
    follow the order in which the words were offered.
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
    schema: str = "path"
    what: str = "paths"
    first_wrong: FirstWrongCounts | None = None
    orders: OrderEffect | None = None


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
    limit: int | None = None,
    draw: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    form: Form | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    prompt: PromptChoice = None,
    **how: Unpack[How],
) -> JudgeRunSummary:
    """Ask for `repeats` verdicts on each chosen item, and make their majority the judge's label.

    The judge is a rater called after the endpoint unless `rater` is given or another prompt version
    has that name already; see `raters.judge_name`. With `limit`, so many questions of each dataset
    are looked at: those drawn by the seed `draw`, else the first ones. Verdicts that are there are
    not asked again.
    In which order the words are offered is drawn from seed, item and repeat. An item gets its label
    once all its repeats are in, from all the verdicts it has. Without `items`, the paths of the
    queue are judged, or what hangs on them; of edits, those drawn for people. `prompt` is a version that ships, or a file of one's
    own; the newest if not given.

    The schema ``path`` has a judge of its own (`judges.path_judge`); under any other schema, also
    one of a user's, a judge gets its guideline and categories (`judges.item_judge`).

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
            limit=limit,
            draw=draw,
            repeats=repeats,
            seed=seed,
            form=form,
            sampling=sampling,
            prompt=prompt,
            **how,
        )
    if decomposition is not None:
        raise ValueError(f"a decomposition goes with schema {CRITERIA_SCHEMA}")
    record = store.schema(schema)
    if items == "sample" and record.item_kind not in SAMPLED_KINDS:
        raise ValueError(
            f"no sample is drawn of {record.item_kind} items; cases, all or labelled is right"
        )
    from pipeline.judging_items import judge_items

    return judge_items(
        store,
        endpoint,
        schema=schema,
        rater=rater,
        items=items or default_items(record),
        labelled_by=labelled_by,
        dataset=dataset,
        pool=pool,
        limit=limit,
        draw=draw,
        repeats=repeats,
        seed=seed,
        form=form,
        sampling=sampling,
        prompt=prompt,
        **how,
    )


def orders_of(complete: Iterable[Sequence[VoteRecord]]) -> OrderEffect:
    """Return whether the verdicts on some items follow the order of the words."""
    return order_effect([(v.option_order, v.category) for v in said] for said in complete)


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
