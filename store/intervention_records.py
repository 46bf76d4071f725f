"""What callers see of counterfactual edits, answers with them, and ablated pools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scoring.types import NormalForm, Step
from store.label_records import LabelRecord
from store.model_records import ReplyOutcome

UNEDITED = -1
"""What stands for a step where an answer was asked with none of them edited: the baseline."""


@dataclass(frozen=True, slots=True)
class EditingRecord:
    """A named way of rewriting steps."""

    id: int
    name: str
    model: str
    prompt_version: str
    parameters: Mapping[str, Any]
    created_at: str


@dataclass(frozen=True, slots=True)
class EditRecord:
    """A step rewritten: `text`, or without one a `fault` and the reason.

    `source_hash` is of what the editor was shown, for the stage to compare.
    """

    trace_id: int
    step: int
    outcome: ReplyOutcome
    text: str | None = None
    fault: str | None = None
    reason: str = ""
    reply_key: str | None = None
    source_hash: str = ""


@dataclass(frozen=True, slots=True)
class CounterfactualRunRecord:
    """One way of asking again with the edits of an editing."""

    id: int
    key: str
    editing_id: int
    editing: str
    model: str
    prompt_version: str
    parameters: Mapping[str, Any]
    created_at: str


@dataclass(frozen=True, slots=True)
class CounterfactualRecord:
    """The answer with one step of a trace edited (`UNEDITED`: none); None with a reason.

    `source_hash` is of what was asked about (question and lines of reasoning).
    """

    trace_id: int
    step: int
    repeat: int
    source_hash: str
    outcome: ReplyOutcome
    answer: NormalForm | None = None
    reason: str | None = None
    reply_key: str | None = None


@dataclass(frozen=True, slots=True)
class AblationRecord:
    """An ablated pool, the trace whose reasoning was forbidden in it, and the pool of that trace.

    `source_hash` is of what was forbidden; `scoring_key` of the scoring whose medoid it was.
    """

    pool_id: int
    medoid_trace_id: int
    medoid_pool_id: int
    source_hash: str
    scoring_key: str


EditFilter = Literal["all", "unlabelled", "done", "flagged"]
EditPlace = tuple[int, int]
"""A trace's id and a step of it: which edit of an editing is meant."""


@dataclass(frozen=True, slots=True)
class EditRow:
    """A line of the queue of sampled edits, as a sealed rater may see it."""

    trace_id: int
    step: int
    dataset: str
    question_id: str
    question: str
    pool: str
    sample: str
    text: str
    decided: bool
    flagged: bool

    @property
    def place(self) -> EditPlace:
        """Which edit it is."""
        return self.trace_id, self.step


@dataclass(frozen=True, slots=True)
class EditQueue:
    """The sampled edits that a filter keeps, in their random order.

    `n_all` were drawn; `n_decided` of the open ones are decided by the rater. `n_sealed` may not
    be opened yet: their pool has a case that the rater has not revealed, and that an edit is of
    this trace would tell which one is the medoid.
    """

    rows: tuple[EditRow, ...]
    n_all: int
    n_decided: int
    n_sealed: int

    @property
    def n_open(self) -> int:
        """How many may be opened."""
        return self.n_all - self.n_sealed


@dataclass(frozen=True, slots=True)
class AnswersWith:
    """The answers to one reasoning, by repeat; None where there was none to read."""

    answers: tuple[NormalForm | None, ...]
    reasons: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class EditView:
    """An edited step in its trace: no gold, votes, scores or others' labels.

    `before` and `after` are the answers of the newest run; None while nothing was asked.
    """

    editing: EditingRecord
    run: CounterfactualRunRecord | None
    item_id: int
    item: str
    trace_id: int
    step: int
    dataset: str
    question_id: str
    question: str
    options: Any
    pool: str
    sample: str
    steps: tuple[Step, ...]
    text: str
    before: AnswersWith | None
    after: AnswersWith | None
    label: LabelRecord | None


__all__ = [
    "UNEDITED",
    "AblationRecord",
    "AnswersWith",
    "CounterfactualRecord",
    "CounterfactualRunRecord",
    "EditFilter",
    "EditPlace",
    "EditQueue",
    "EditRecord",
    "EditRow",
    "EditView",
    "EditingRecord",
]
