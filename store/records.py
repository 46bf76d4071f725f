"""What callers of the store see: frozen dataclasses, never rows.

Schemas, raters, labels and sessions are in `label_records`, and can be had from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from scoring.types import AnswerKind, NormalForm, ParseIssue, Step, Trace
from store.label_records import (
    DECIDED,
    ITEM_KINDS,
    SEALS,
    Category,
    ExportedItem,
    ExportedLabel,
    ItemKind,
    ItemRef,
    LabelRecord,
    LabelState,
    LastAct,
    NewItem,
    NewLabel,
    Progress,
    RaterKind,
    RaterRecord,
    SchemaRecord,
    SchemaSpec,
    SealLevel,
    SessionRecord,
    SessionSummary,
    UndoResult,
    UnsealRecord,
)

CaseFilter = Literal["all", "unlabelled", "done", "flagged"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a keyset query.

    `total` counts the whole filtered list; `cursor` fetches the next page, None at the end.
    """

    rows: tuple[T, ...]
    total: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question as an import file states it."""

    dataset: str
    external_id: str
    text: str
    gold_text: str | None = None
    gold: NormalForm | None = None
    answer_kind: AnswerKind = "auto"
    options: Any = None
    percent: str = "keep"
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A stored question with its gold answer: for stages, never for a sealed screen.

    `extra` holds what its file said besides, solutions and facts too: it is never asked.
    """

    id: int
    dataset: str
    external_id: str
    text: str
    gold: NormalForm | None
    gold_text: str | None
    answer_kind: AnswerKind
    options: Any
    percent: str
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewTrace:
    """A sampled trace as an import file states it, already parsed.

    `source` is what the file held (text, or steps and answer) and decides whether two traces of
    one key are the same. `parameters` is how the pool was sampled, where this is known.
    """

    question: NewQuestion
    pool: str
    model: str | None
    variant: str | None
    sample: str
    form: Literal["text", "steps", "faithful-cot"]
    source: Any
    trace: Trace
    strict: bool
    parser: str
    extra: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """A stored trace with its place."""

    id: int
    key: str
    sample: str
    form: str
    source: Any
    trace: Trace
    source_hash: str = ""


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """A pool of one question, without its traces.

    `parameters` is how it was sampled, None for a pool that came from a file.
    """

    id: int
    dataset: str
    question_id: str
    question: str
    pool: str
    gold: NormalForm | None
    model: str | None = None
    variant: str | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TraceScoreRecord:
    """Scores of one trace in its pool; None where undefined."""

    trace_id: int
    rank: int
    score: float | None
    centrality: float | None
    centrality_share: float | None
    consensus: float | None
    node_support: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricRecord:
    """A further metric of a pool; None where undefined, with the reason.

    `n` traces (or `n_pairs` pairs of them) were used. `by` is what it was computed with besides
    the scoring's parameters (cost, anchor, entailment model), `tool` the version that did.
    """

    value: float | None
    n: int
    n_pairs: int = 0
    flags: tuple[str, ...] = ()
    why_undefined: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    by: Mapping[str, Any] = field(default_factory=dict)
    tool: str = ""


@dataclass(frozen=True, slots=True)
class PoolScore:
    """Scores of one pool. `sc_counts` keeps the order in which answers were first seen."""

    pool_id: int
    input_hash: str
    n_traces: int
    n_used: int
    excluded: Mapping[str, int]
    sc_answer: NormalForm | None
    sc_counts: tuple[tuple[NormalForm, int], ...]
    sc_tied: bool
    gsc_answer: NormalForm | None
    medoid_trace_id: int | None
    disagree: bool
    sc_correct: bool | None
    gsc_correct: bool | None
    grcs: float | None
    divergence: float | None
    dispersion: float | None
    entropy: float | None
    flags: tuple[str, ...]
    traces: tuple[TraceScoreRecord, ...] = ()
    metrics: Mapping[str, MetricRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringRecord:
    """The parameters under which a set of scores was computed."""

    id: int
    key: str
    decomposition: str
    embedder: str
    embedder_revision: str
    parameters: Mapping[str, Any]
    tool_version: str
    is_primary: bool


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One dataset × pool name. Accuracies are shares of the scored questions with gold."""

    dataset: str
    pool: str
    n_questions: int
    n_traces: int
    n_usable: int
    n_parsed: int
    n_strict: int
    n_unannotated_steps: int
    n_steps: int
    n_scored: int
    n_gold: int
    sc_correct: int
    gsc_correct: int
    n_disagree: int
    n_cases: int
    n_cases_done: int
    n_items: int
    n_items_done: int


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A line of the queue as a sealed rater may see it.

    `position` is the 1-based place in the whole filtered list.
    """

    case_id: int
    position: int
    dataset: str
    question_id: str
    question: str
    pool: str
    n_items: int
    n_mine: int
    flagged: bool
    revealed: bool


@dataclass(frozen=True, slots=True)
class PathView:
    """One path of a case: everything a sealed rater may see of it."""

    item_id: int
    item: str
    trace_id: int
    steps: tuple[Step, ...]
    answer_text: str | None
    answer: NormalForm | None
    issues: tuple[ParseIssue, ...]
    form: str
    source: Any
    label: LabelRecord | None


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case, sealed: two sides in this rater's own random order.

    `sides` holds the paths of A and of B, equally many or nearly; a case in which every path gives
    one answer splits them over both sides.
    """

    case_id: int
    dataset: str
    question_id: str
    question: str
    answer_kind: str
    options: Any
    pool: str
    seal: SealLevel
    sides: tuple[tuple[PathView, ...], tuple[PathView, ...]]
    revealed: bool
    revealed_elsewhere: bool

    @property
    def paths(self) -> tuple[PathView, ...]:
        """All paths in labelling order: first of A, first of B, second of A, …"""
        a, b = self.sides
        out: list[PathView] = []
        for i in range(max(len(a), len(b))):
            out.extend(side[i] for side in (a, b) if i < len(side))
        return tuple(out)

    @property
    def n_left(self) -> int:
        """Paths this rater has not labelled, called unsure, or skipped under the newest version."""
        return sum(p.label is None or not p.label.decided for p in self.paths)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A label by someone else on a path, shown only after the reveal."""

    item_id: int
    rater: str
    rater_kind: RaterKind
    state: LabelState
    category: str | None
    first_wrong_step: int | None
    rationale: str | None
    prompt_version: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopologyCase:
    """A case on the topology map, as far as the seal lets its scores be seen."""

    case_id: int
    dataset: str
    question_id: str
    question: str
    pool: str
    grcs: float | None
    divergence: float | None
    dispersion: float | None
    entropy: float | None
    n_used: int
    disagree: bool
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopologyRows:
    """The cases whose scores may be seen, how many there are in all, and the map's origin.

    `origin` is the mean divergence and entropy over all scored pools, `n_origin` their number;
    None without any.
    """

    cases: tuple[TopologyCase, ...]
    n_cases: int
    origin: tuple[float, float] | None
    n_origin: int


@dataclass(frozen=True, slots=True)
class RankedTrace:
    """A line of the revealed ranking by GSC score."""

    rank: int
    trace_id: int
    sample: str
    answer: NormalForm | None
    score: float | None
    centrality_share: float | None
    consensus: float | None
    node_support: tuple[float | None, ...]
    is_medoid: bool


@dataclass(frozen=True, slots=True)
class RevealedCase:
    """What the seal hid: gold, votes, medoid, ranking, verdicts, derived faithfulness."""

    case: CaseView
    gold: NormalForm | None
    gold_text: str | None
    stratum: str
    inclusion_probability: float
    score: PoolScore
    scoring: ScoringRecord
    ranking: tuple[RankedTrace, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Two raters' categories on one item; None where one has no category.

    A state is None where there is no label, ``outdated`` where the newest version of the schema
    has no such category, ``held`` where the label is kept out of the comparison. `a_held` and `b_held`: the rater made the label here, sealed, and has
    not revealed the question, so a comparison would tell what the seal hides.
    """

    item: str
    question: str
    a: str | None
    b: str | None
    a_state: LabelState | Literal["outdated", "held"] | None = None
    b_state: LabelState | Literal["outdated", "held"] | None = None
    inclusion_probability: float | None = None
    a_version: int | None = None
    b_version: int | None = None
    a_held: bool = False
    b_held: bool = False


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """How a judge's verdicts look by themselves, before any comparison.

    `tied` items are unsure because no category had most of the judge's votes. Of items other than
    paths a category and a step cannot contradict each other: `self_contradictions` is empty.
    """

    rater: str
    n: int
    counts: Mapping[str, int]
    self_contradictions: Mapping[str, int]
    step_out_of_range: int
    unparsed: int
    tied: int = 0


@dataclass(frozen=True, slots=True)
class AfterUnseal:
    """How many of a rater's labels were made after somebody first looked behind the seal.

    `n` of `n_labels`: their standing labels with a category, made here and not after a reveal;
    what was imported has no moment that this database can vouch for. `first` is the first look by
    anybody (see `Store.unseals`): whom it told something is not known.
    """

    n: int
    n_labels: int
    first: UnsealRecord


@dataclass(frozen=True, slots=True)
class FaithfulnessRow:
    """Question-level faithfulness derived from path labels (DEFINITIONS §1, Audit).

    `sc_supporters` traces have SC's answer, `sc_labelled` of them carry a category, `sc_sound` the
    category faithful; likewise for GSC's answer. `revealed`: the rater has revealed the question;
    `held`: they have not, and labelled it here under the seal.
    """

    dataset: str
    question_id: str
    pool: str
    disagree: bool
    sc_faithful: bool | None
    sc_labelled: int
    sc_supporters: int
    gsc_faithful: bool | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    sc_sound: int = 0
    gsc_labelled: int = 0
    gsc_sound: int = 0
    gsc_supporters: int = 0
    revealed: bool = False
    held: bool = False
    inclusion_probability: float = 1.0


__all__ = [
    "DECIDED",
    "ITEM_KINDS",
    "SEALS",
    "AfterUnseal",
    "CaseFilter",
    "CaseRow",
    "CaseView",
    "Category",
    "ExportedItem",
    "ExportedLabel",
    "FaithfulnessRow",
    "ItemKind",
    "ItemRef",
    "JudgeSummary",
    "LabelPair",
    "LabelRecord",
    "LabelState",
    "LastAct",
    "NewItem",
    "NewLabel",
    "NewQuestion",
    "NewTrace",
    "OverviewRow",
    "Page",
    "PathView",
    "PoolRecord",
    "PoolScore",
    "Progress",
    "QuestionRecord",
    "RankedTrace",
    "RaterKind",
    "RaterRecord",
    "RevealedCase",
    "SchemaRecord",
    "SchemaSpec",
    "ScoringRecord",
    "SealLevel",
    "SessionRecord",
    "SessionSummary",
    "TraceRecord",
    "TraceScoreRecord",
    "UndoResult",
    "UnsealRecord",
    "Verdict",
]
