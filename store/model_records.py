"""What callers see of replies, decompositions, early answers, votes and runs: frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from scoring.types import Fact, NormalForm, Step
from store.label_records import LabelRecord

ReplyOutcome = Literal["ok", "refused", "empty", "truncated", "invalid"]
"""How a reply ended. A request that failed or was never asked has no reply and is not kept."""

REPLIED: tuple[ReplyOutcome, ...] = get_args(ReplyOutcome)

RunState = Literal["running", "done", "stopped", "failed", "interrupted"]
"""How a run stands; ``stopped`` ended in good order before all was done (a budget)."""

ENDED: tuple[RunState, ...] = ("done", "stopped", "failed", "interrupted")

NO_DECOMPOSITION = "none"
"""What stands for a decomposition where traces are used as they are, a fact a step."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """What a model was asked. `key` is `body_hash`, a colon, and `sample`."""

    key: str
    body_hash: str
    sample: int
    role: str
    model: str
    prompt_version: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """What came back, untouched; `data` is the JSON value that was read from it, if any."""

    outcome: ReplyOutcome
    text: str = ""
    data: Any = None
    reason: str = ""
    finish_reason: str | None = None
    served_model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """What one role used of one model, over all kept replies.

    `unknown_tokens` and `unknown_cost` count the replies without them: the sums are over the rest.
    `cost` is None where no reply has one.
    """

    role: str
    model: str
    n: int
    by_outcome: Mapping[str, int]
    prompt_tokens: int
    completion_tokens: int
    unknown_tokens: int
    cost: float | None
    unknown_cost: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StageUsage:
    """What the runs of one stage that ended came to: requests sent, found among kept replies, and
    failed ones."""

    stage: str
    n_runs: int
    n_asked: int
    n_cached: int
    n_failed: int


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """What probing a server and model found, and when."""

    base_url: str
    model: str
    findings: Mapping[str, Any]
    found_at: str


@dataclass(frozen=True, slots=True)
class DecompositionRecord:
    """A named way of splitting traces into facts."""

    id: int
    name: str
    model: str
    prompt_version: str
    parameters: Mapping[str, Any]
    created_at: str


@dataclass(frozen=True, slots=True)
class DecomposedRecord:
    """The facts of a trace.

    `dropped` steps got no fact; `invented` are statements that name a step the trace has not.
    Without facts, `reason` says why. `source_hash` is that of the trace, which the store sets.
    """

    trace_id: int
    outcome: ReplyOutcome
    facts: tuple[Fact, ...] = ()
    dropped: tuple[int, ...] = ()
    invented: tuple[str, ...] = ()
    reason: str = ""
    reply_key: str | None = None
    source_hash: str = ""


@dataclass(frozen=True, slots=True)
class DecompositionCounts:
    """A decomposition in figures; steps and facts are those of traces that have facts.

    `n_traces` are all that can be decomposed (those with steps), `n_done` have a row,
    `n_with_facts` facts; `by_outcome` adds up to `n_done`.
    """

    n_traces: int
    n_done: int
    n_with_facts: int
    by_outcome: Mapping[str, int]
    n_steps: int
    n_facts: int
    n_dropped: int
    n_invented: int

    @property
    def facts_per_trace(self) -> float | None:
        """Mean number of facts of the traces that have any; None without one."""
        return self.n_facts / self.n_with_facts if self.n_with_facts else None


@dataclass(frozen=True, slots=True)
class SampleMade:
    """What drawing traces of a decomposition for labelling did.

    `n_population` traces have facts and could be drawn, `n_left_out` have none. `n_new` were
    drawn, `n_same` stood already, `n_kept` of an earlier draw stay because a person labelled
    them, `n_withdrawn` of it left. `probability` is that of this draw, None without a population.
    """

    n_population: int
    n_left_out: int
    n_new: int
    n_same: int
    n_kept: int
    n_withdrawn: int
    probability: float | None

    @property
    def n_sampled(self) -> int:
        """How many traces are there to label now."""
        return self.n_new + self.n_same + self.n_kept


DecomposedFilter = Literal["all", "unlabelled", "done", "flagged"]


@dataclass(frozen=True, slots=True)
class DecomposedRow:
    """A line of the queue of sampled traces; `n_mine` of `n_items` criteria are decided by me.

    `position` is the 1-based place in the whole filtered list.
    """

    trace_id: int
    position: int
    dataset: str
    question_id: str
    question: str
    pool: str
    sample: str
    n_steps: int
    n_facts: int
    n_dropped: int
    n_invented: int
    n_items: int
    n_mine: int
    flagged: bool


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step beside its facts; `dropped` where it has none."""

    step: Step
    facts: tuple[str, ...]
    dropped: bool


@dataclass(frozen=True, slots=True)
class CriterionView:
    """A criterion item of a decomposed trace, and how it stands for the rater who looks."""

    item_id: int
    item: str
    criterion: str
    label: LabelRecord | None


@dataclass(frozen=True, slots=True)
class DecompositionView:
    """A decomposed trace as a sealed rater may see it: no gold, votes, scores or others' labels."""

    decomposition: DecompositionRecord
    trace_id: int
    trace: str
    dataset: str
    question_id: str
    question: str
    pool: str
    sample: str
    outcome: ReplyOutcome
    reason: str
    steps: tuple[StepFacts, ...]
    invented: tuple[str, ...]
    n_facts: int
    criteria: tuple[CriterionView, ...]

    @property
    def n_left(self) -> int:
        """How many criteria still wait for a decision."""
        return sum(c.label is None or not c.label.decided for c in self.criteria)


@dataclass(frozen=True, slots=True)
class EarlyRunRecord:
    """One way of asking for early answers; `decomposition` is a name, or ``none``."""

    id: int
    key: str
    model: str
    prompt_version: str
    decomposition: str
    parameters: Mapping[str, Any]
    created_at: str


@dataclass(frozen=True, slots=True)
class EarlyRecord:
    """The answer given the first `prefix` of a trace's `n_facts` facts; None with a reason.

    `source_hash` is of what was asked about (question and facts), for the stage to compare.
    """

    trace_id: int
    prefix: int
    n_facts: int
    source_hash: str
    outcome: ReplyOutcome
    answer: NormalForm | None = None
    reason: str | None = None
    reply_key: str | None = None


@dataclass(frozen=True, slots=True)
class VoteRecord:
    """One reply of a judge on an item: sealed, like everything a judge says.

    `category` is None where no verdict could be read, with a `reason`. `option_order` is the order
    in which the categories were offered.
    """

    item_id: int
    repeat: int
    outcome: ReplyOutcome
    category: str | None = None
    first_wrong_step: int | None = None
    rationale: str = ""
    flags: tuple[str, ...] = ()
    option_order: tuple[str, ...] = ()
    reason: str = ""
    reply_key: str | None = None
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class VotesSettled:
    """What making labels of votes did.

    `n_added` items had no label of the judge, `n_changed` another one, `n_known` the same. Of all
    `n_items`, `n_tied` are unsure because no category had most votes, `n_unparsed` have no vote
    that could be read.
    """

    n_items: int
    n_added: int
    n_changed: int
    n_known: int
    n_tied: int
    n_unparsed: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A stage at work, or that has ended.

    `stale`: it says it is running, but has given no sign of life for so long, or its process on
    this machine is gone.
    """

    id: int
    stage: str
    state: RunState
    done: int
    total: int | None
    unit: str
    started_at: str
    finished_at: str | None
    heartbeat_at: str | None
    host: str | None
    pid: int | None
    tool_version: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    stale: bool = False
