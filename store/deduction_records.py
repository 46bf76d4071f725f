"""What callers see of deduction: problems, templates, mutations, completions, stated values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from store.keys import encode_part
from store.label_records import LabelRecord
from store.model_records import ReplyOutcome

if TYPE_CHECKING:  # the workbench labels without numpy, which scoring needs
    from scoring.deduction import SanityFailure, Template

ORIGINAL = -1
"""The number under which a problem's own values stand among its mutations."""

FIRST_STYLE = "original"
"""The style whose items are named without it; those of any other have its name at the end."""

NUMBERS = "numbers"
"""The reader of values that is no model: our own number reader."""

PrefixWay = Literal["none", "assistant", "quoted"]
"""How given steps were sent: there were none (k = 0), as the assistant's own unfinished message
that the server continues, or quoted in the question."""


@dataclass(frozen=True, slots=True)
class ProblemRecord:
    """A problem as it stands in its source, before anything is mutated.

    `gold` is None where it is not known. `extra` is what its source says besides: of a SynDeduct
    question its k, n and seed.
    """

    id: int
    name: str
    question: str
    gold: Fraction | None
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""

    @property
    def only_k(self) -> int | None:
        """The one prefix length at which it is asked, None where every one is (SynDeduct)."""
        k = self.extra.get("k")
        return k if isinstance(k, int) else None


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """One attempt at a problem's template, with its sanity checks.

    `solver` is the name of the model whose own solution it is, empty for one made by hand, which
    stands for every model. `template` is None where none could be read. `solution` is the model's
    own solution. `made_by` says by which models and prompts. No `failures`: it may be mutated.
    """

    id: int
    problem: str
    solver: str
    attempt: int
    template: Template | None
    failures: tuple[SanityFailure, ...] = ()
    solution: str | None = None
    made_by: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.template is not None and not self.failures


@dataclass(frozen=True, slots=True)
class MutationRecord:
    """A problem with other numbers, or (`number` is `ORIGINAL`) with its own.

    `solver` is its template's. `values` are exact, of every name the code computes.
    """

    id: int
    template_id: int
    problem: str
    solver: str
    number: int
    inputs: Mapping[str, Fraction]
    values: Mapping[str, Fraction]
    question: str
    steps: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What stands in an item's key: ``original`` or the mutation's number."""
        return mutation_label(self.number)

    def prefix(self, k: int) -> str:
        """Return the first k steps, one a line."""
        return "\n".join(self.steps[:k])


@dataclass(frozen=True, slots=True)
class SolverRecord:
    """A named way of asking a model for solutions: what is measured."""

    id: int
    name: str
    model: str
    prompt_version: str
    parameters: Mapping[str, Any]
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class PrefixRecord:
    """Given steps in another style: `text`, or without one a `fault` and the reason.

    `model` paraphrased the first `k` steps of a mutation.
    """

    mutation_id: int
    k: int
    style: str
    model: str
    prompt_version: str
    outcome: ReplyOutcome
    text: str | None = None
    fault: str | None = None
    reason: str = ""
    reply_key: str | None = None


@dataclass(frozen=True, slots=True)
class CompletionRecord:
    """What a solver wrote after the first k steps of a mutation, in one style.

    `way` is how the steps were sent, `prefix` what was sent of them. `text` is what came, also of
    a reply that was cut off. `id` is 0 before it is stored.
    """

    mutation_id: int
    k: int
    style: str
    way: PrefixWay
    prefix: str
    outcome: ReplyOutcome
    text: str
    reason: str = ""
    reply_key: str | None = None
    prompt_version: str = ""
    id: int = 0
    solver_id: int = 0


@dataclass(frozen=True, slots=True)
class ReadingRecord:
    """The values that a completion states, as one reader has it.

    `reader` is `NUMBERS` or the name of the model that extracted them. `how` says of each value
    how it was read: ``named``, ``aligned`` (our reader) or ``extracted``. A variable that is not
    in `values` is stated nowhere; where the reply could not be read, `reason` says why, and
    nothing is known.
    """

    completion_id: int
    reader: str
    version: str
    values: Mapping[str, Fraction]
    how: Mapping[str, str]
    outcome: ReplyOutcome = "ok"
    reason: str = ""
    reply_key: str | None = None


@dataclass(frozen=True, slots=True)
class DeductionText:
    """A completion as a sealed rater sees it: what was asked, what was given, what came.

    Expected values, verdicts and others' labels are not in it. `item_id` is 0 while no item is
    made of it.
    """

    completion_id: int
    item: str
    item_id: int
    problem: str
    solver: str
    mutation: str
    k: int
    style: str
    question: str
    prefix: str
    way: PrefixWay
    reply: str
    outcome: ReplyOutcome


@dataclass(frozen=True, slots=True)
class DeductionAnswer:
    """What the seal hides of a completion: the reference, its values, and what was read.

    `original` are the values of the original problem, to tell a copied one; `readings` by reader.
    """

    completion_id: int
    template: Template
    mutation: MutationRecord
    original: Mapping[str, Fraction]
    k: int
    readings: Mapping[str, ReadingRecord]


DeductionFilter = Literal["all", "unlabelled", "done", "flagged"]


@dataclass(frozen=True, slots=True)
class DeductionRow:
    """A line of the queue of sampled replies, as a sealed rater may see it."""

    text: DeductionText
    decided: bool
    flagged: bool

    @property
    def item_id(self) -> int:
        """Which reply it is."""
        return self.text.item_id


@dataclass(frozen=True, slots=True)
class DeductionQueueRead:
    """The sampled replies that a filter keeps, in their random order.

    `n_all` were drawn; `n_decided` of them are decided by the rater.
    """

    rows: tuple[DeductionRow, ...]
    n_all: int
    n_decided: int


@dataclass(frozen=True, slots=True)
class DeductionView:
    """A reply to label, with the rater's own label, and whether they have revealed it."""

    text: DeductionText
    label: LabelRecord | None
    revealed: bool


def deduction_key(problem: str, solver: str, number: int, k: int, style: str) -> str:
    """Return the key of the item of a reply.

    >>> deduction_key("pens", "a/b", 3, 2, "original"), deduction_key("pens", "m", -1, 0, "plain")
    ('deduction:pens/a%2Fb/3/2', 'deduction:pens/m/original/0/plain')
    """
    parts = [problem, solver, mutation_label(number), str(k)]
    if style != FIRST_STYLE:
        parts.append(style)
    return "deduction:" + "/".join(encode_part(p) for p in parts)


def mutation_label(number: int) -> str:
    """Return what stands for a mutation in a key.

    >>> mutation_label(ORIGINAL), mutation_label(3)
    ('original', '3')
    """
    return "original" if number == ORIGINAL else str(number)


__all__ = [
    "FIRST_STYLE",
    "NUMBERS",
    "ORIGINAL",
    "CompletionRecord",
    "DeductionAnswer",
    "DeductionFilter",
    "DeductionQueueRead",
    "DeductionRow",
    "DeductionText",
    "DeductionView",
    "MutationRecord",
    "PrefixRecord",
    "PrefixWay",
    "ProblemRecord",
    "ReadingRecord",
    "SolverRecord",
    "TemplateRecord",
    "deduction_key",
    "mutation_label",
]
