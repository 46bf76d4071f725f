"""What callers see of schemas, raters, labels and sessions: frozen dataclasses, never rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

RaterKind = Literal["human", "judge", "reference"]
SealLevel = Literal["open", "judge", "full"]
LabelState = Literal["labelled", "unsure", "skipped", "unparsed", "open"]
ItemKind = Literal["path", "step", "criterion", "counterfactual", "pair", "cycle", "deduction"]

SEALS: tuple[SealLevel, ...] = get_args(SealLevel)
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
DECIDED: tuple[LabelState, ...] = ("labelled", "unsure", "skipped")
JOINT = "+"
"""What joins the categories of a label that has several."""


@dataclass(frozen=True, slots=True)
class Category:
    """One choice of a schema; `state` says whether it is a category or a state like unsure.

    `takes_first_wrong_step` says whether a first wrong step may stand beside it;
    `excludes_others`, in a schema of several categories, that it stands alone.
    """

    key: str
    name: str
    state: LabelState = "labelled"
    takes_first_wrong_step: bool = False
    excludes_others: bool = False


@dataclass(frozen=True, slots=True)
class SchemaSpec:
    """A label schema as a file states it: ordered choices, question, guideline, seal level.

    With `multi`, several categories may hold at once.
    """

    name: str
    item_kind: str
    question: str
    guideline: str
    categories: tuple[Category, ...]
    seal: SealLevel = "full"
    multi: bool = False


@dataclass(frozen=True, slots=True)
class SchemaRecord:
    """A version of a label schema."""

    id: int
    name: str
    version: int
    item_kind: str
    categories: tuple[Category, ...]
    seal: SealLevel
    question: str
    guideline: str
    multi: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The categories in order, without states like unsure."""
        return tuple(c.name for c in self.categories if c.state == "labelled")

    def holds(self, category: str | None) -> bool:
        """Return whether a stored category, joined ones included, is one of this version."""
        if category is None:
            return True
        parts = category.split(JOINT) if self.multi else [category]
        return all(p in self.names for p in parts)

    def at_odds(self, state: LabelState, category: str | None, step: int | None) -> bool:
        """Return whether a first wrong step stands beside nothing that takes one.

        Such a label can be imported, never made here. What this version does not have is not
        judged.
        """
        parts = category.split(JOINT) if self.multi and category else [category]
        chosen = [
            c for c in self.categories if c.state == state and (not category or c.name in parts)
        ]
        return (
            step is not None and bool(chosen) and not any(c.takes_first_wrong_step for c in chosen)
        )

    def in_order(self, category: str) -> str:
        """Return a stored category with its parts in this version's order."""
        if not self.multi:
            return category
        parts = category.split(JOINT)
        places = {name: i for i, name in enumerate(self.names)}
        return JOINT.join(sorted(parts, key=lambda p: places.get(p, len(places))))


@dataclass(frozen=True, slots=True)
class RaterRecord:
    """A rater with how many items carry a category of theirs."""

    id: int
    name: str
    kind: RaterKind
    n_labelled: int = 0


@dataclass(frozen=True, slots=True)
class NewLabel:
    """A label as an import file or a judge states it.

    `category` of several is joined in any order; `schema_version` None means the newest.
    """

    item: str
    schema: str
    rater: str
    rater_kind: RaterKind
    state: LabelState
    category: str | None
    first_wrong_step: int | None = None
    flagged: bool = False
    note: str | None = None
    rationale: str | None = None
    raw: str | None = None
    prompt_version: str | None = None
    created_at: str | None = None
    before_reveal: bool | None = None
    seal: SealLevel = "open"
    active_seconds: float | None = None
    extra: Mapping[str, Any] | None = None
    schema_version: int | None = None


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A label as it stands for one rater and item: the newest row under any version of a schema.

    `categories` holds the categories of a label that may have several, in the schema's order;
    `outdated` says that the newest version has no such category, so the item waits again;
    `at_odds` that its first wrong step stands beside a category that takes none.
    """

    id: int
    item_id: int
    item: str
    state: LabelState
    category: str | None
    first_wrong_step: int | None
    flagged: bool
    note: str | None
    seal: SealLevel
    before_reveal: bool | None
    created_at: str
    categories: tuple[str, ...] = ()
    schema: str = "path"
    schema_version: int = 1
    outdated: bool = False
    at_odds: bool = False

    @property
    def decided(self) -> bool:
        """Whether the item needs nothing more from the rater."""
        return self.state in DECIDED and not self.outdated


@dataclass(frozen=True, slots=True)
class ExportedLabel:
    """A label row with everything a file carries of it.

    `categories` are those of a label that may have several.
    """

    label: NewLabel
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as an import file states it; how it was chosen, where the file says.

    `edges` are the statements of a cycle, by name and in order: its key does not tell them.
    """

    item: str
    stratum: str | None = None
    case_inclusion_probability: float | None = None
    inclusion_probability: float | None = None
    edges: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class ExportedItem:
    """An item with everything a file carries of it; `case` is DATASET/QUESTION/POOL.

    A pair or cycle has its relation set in `dataset`, the name it was asked under in `pool`, and
    its statements in `edges`. A reply to a deduction problem has ``deduction`` in `dataset`, the
    problem's name in `question_id` and the solver's in `pool`.
    """

    item: str
    kind: str
    dataset: str
    question_id: str | None
    pool: str
    sample: str | None
    step: int | None
    decomposition: str | None
    criterion: str | None
    case: str | None
    stratum: str | None
    case_inclusion_probability: float | None
    inclusion_probability: float | None
    editing: str | None = None
    edges: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class ItemRef:
    """An item by id and key; `step` for step items, `criterion` for criterion items."""

    item_id: int
    key: str
    step: int | None = None
    criterion: str | None = None
    decomposition: str | None = None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What an undo or redo did, so that the screen can go there.

    `item_id` is the item that was changed; `path_item_id` the path it belongs to: itself, or the
    path whose step or criterion it is. `step` is the step of a step item; `trace_id` the trace,
    `decomposition_id` for a criterion item the decomposition, and `editing_id` for an edited step
    the editing, that the item belongs to.
    """

    item_id: int
    case_id: int | None
    label: LabelRecord | None
    schema: str = "path"
    step: int | None = None
    path_item_id: int | None = None
    trace_id: int | None = None
    decomposition_id: int | None = None
    editing_id: int | None = None


@dataclass(frozen=True, slots=True)
class LastAct:
    """Where a rater did something last: on a path of a case, or on a step of that path.

    `on_step` says that it was on a step, and `step` which; on a path, `step` is its first wrong
    step, where the act set or took back one. `dataset` and `pool` are those of the case.
    """

    case_id: int
    path_item_id: int
    step: int | None
    on_step: bool
    dataset: str
    pool: str


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A sitting of one rater; `size` is how many items they set out to label, None for no limit."""

    id: int
    size: int | None
    started_at: str
    rater_id: int = 0
    ended_at: str | None = None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What was done in a session, over the items of one schema as the session left them.

    `n_items` were touched, `n_decided` of them are labelled, unsure or skipped; `n_undone` undos
    were not redone. `active_seconds` is the work on all items, steps included; `median_seconds`
    the median over the decided items of the schema, a path together with its steps as far as they
    were labelled in the session, None when no time was measured; `wall_seconds` runs to the end of
    the session, or to now. `others` counts the items decided under other schemas.
    """

    n_decided: int
    n_items: int
    n_unsure: int
    n_skipped: int
    n_flagged: int
    n_undone: int
    active_seconds: float
    median_seconds: float | None
    wall_seconds: float
    per_category: Mapping[str, int]
    others: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """A rater's own progress through the queue under one schema."""

    n_items: int
    n_decided: int
    n_cases: int
    n_cases_done: int


@dataclass(frozen=True, slots=True)
class UnsealRecord:
    """A look behind the seal from the command line: what, as which rater, who, when."""

    id: int
    what: str
    rater: str | None
    who: str
    created_at: str
