"""What callers see of labels laid side by side: frozen dataclasses, never rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from store.label_records import LabelState

ADJUDICATED = "adjudicated"
"""The rater of kind reference under whose name adjudications stand."""


@dataclass(frozen=True, slots=True)
class StandingLabel:
    """One rater's label on an item, as it counts for a comparison: the last before a reveal.

    `category` is None for a state and where the newest schema version has no such category (state
    ``outdated``). `held`: made here, sealed, on a question its rater has not revealed. `changed_to`
    is the category of the newest label made after the reveal, None where there is none. `seconds`
    are those of all the rater's own labels on the item before the reveal. `stratum`, `case` and
    `inclusion_probability` are None for an item outside the queue. `planned`: its case stands in a queue that
    was ordered toward a target, so that how far it was labelled tells how likely a case was.
    """

    item: str
    item_id: int
    dataset: str
    question_id: str
    case: int | None
    state: LabelState | Literal["outdated"]
    category: str | None
    first_wrong_step: int | None
    version: int
    before_reveal: bool | None
    held: bool
    revealed: bool
    changed_to: str | None = None
    seconds: float | None = None
    stratum: str | None = None
    inclusion_probability: float | None = None
    case_probability: float | None = None
    planned: bool = False
    pool: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """Dataset and question."""
        return f"{self.dataset}/{self.question_id}"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """A third label on an item, with its reason; the labels it decides between stay as they are.

    `between` holds what the raters had said, as (rater, category or state).
    """

    item: str
    state: LabelState
    category: str | None
    first_wrong_step: int | None
    reason: str
    adjudicator: str | None
    between: tuple[tuple[str, str], ...]
    created_at: str


@dataclass(frozen=True, slots=True)
class DesignStratum:
    """Questions and pools of one kind, and how many of them became cases.

    `name` is ``disagreement`` or ``agreement`` (of SC and GSC under the primary scoring).
    """

    dataset: str
    pool: str
    name: str
    n: int
    n_cases: int
