"""What callers see of relation sets and of what models answer about them.

Objects are named by their place in the set, from 0: what `scoring.relations` computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from store.keys import encode_part
from store.model_records import ReplyOutcome

RelationKind = Literal["temporal", "spatial", "kinship", "contradiction"]
Asks = Literal["pairs", "objects"]
FactUse = Literal["truth", "told"]
Truth = float | tuple[float, float]
"""A decimal year, or x (to the east) and y (to the north)."""

RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)

AXES: Mapping[str, tuple[str, ...]] = {
    "temporal": ("time",),
    "spatial": ("x", "y"),
    "contradiction": ("x", "y"),
    "kinship": (),
}
"""What the objects of a kind of set are ordered along."""


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object of a set. `stated` is the truth as its source writes it."""

    name: str
    truth: Truth | None = None
    stated: str | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NewFact:
    """Something about an ordered pair, by names: what is true of it, or what a model is told.

    `relation` is a word: a is the … of b; None with ``truth``: no word is right. `value` is how far
    a lies east and north of b.
    """

    use: FactUse
    a: str
    b: str
    relation: str | None = None
    value: tuple[float, float] | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NewSet:
    """A set whole: its objects in order, facts about pairs, where they are from."""

    name: str
    kind: RelationKind
    objects: tuple[NewObject, ...] = ()
    facts: tuple[NewFact, ...] = ()
    source: str = ""
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SetRecord:
    """A stored set without its objects."""

    id: int
    name: str
    kind: RelationKind
    source: str
    extra: Mapping[str, Any]
    n_objects: int

    @property
    def axes(self) -> tuple[str, ...]:
        """What its objects are ordered along; none for a family."""
        return AXES[self.kind]

    @property
    def n_pairs(self) -> int:
        """Ordered pairs of different objects."""
        return self.n_objects * (self.n_objects - 1)


@dataclass(frozen=True, slots=True)
class ObjectRecord:
    """A stored object with its truth: for stages, never for a sealed screen."""

    id: int
    position: int
    name: str
    truth: Truth | None
    stated: str | None
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A stored fact about an ordered pair of objects, by their places."""

    use: FactUse
    a: int
    b: int
    relation: str | None
    value: tuple[float, float] | None
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AskingRecord:
    """One way of asking one model about a set. `name` is MODEL in the keys of items.

    `asks` is ``pairs`` (relations) or ``objects`` (each one's own date or place). `form` and
    `prompt_version` are "" for answers from a file that does not say.
    """

    id: int
    set_id: int
    set: str
    kind: RelationKind
    asks: Asks
    name: str
    model: str
    form: str
    prompt_version: str
    parameters: Mapping[str, Any]

    @property
    def cluster(self) -> str:
        """What bootstraps draw together: the set × this name."""
        return f"{encode_part(self.set)}/{encode_part(self.name)}"


@dataclass(frozen=True, slots=True)
class RelationAnswerRecord:
    """What a model said a is to b (places in the set); `relation` None = no usable answer.

    `text` is the whole reply, None where a file gives the word alone; `reason` why there is no
    word.
    """

    a: int
    b: int
    relation: str | None
    outcome: ReplyOutcome = "ok"
    repeat: int = 0
    text: str | None = None
    reason: str = ""
    reply_key: str | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """What a model said of an object itself; `value` None = no usable answer."""

    object: int
    value: Truth | None
    outcome: ReplyOutcome = "ok"
    repeat: int = 0
    text: str | None = None
    reason: str = ""
    reply_key: str | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How the answers of an asking ended. `outcomes` counts them all by outcome.

    `n_read` have a relation; `n_pairs_read` ordered pairs have at least one such answer.
    """

    n: int
    n_read: int
    n_pairs_read: int
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_unusable(self) -> int:
        """Answers without a relation; kept, never guessed."""
        return self.n - self.n_read


@dataclass(frozen=True, slots=True)
class NewRelationAnswer:
    """An answer as an import file states it, by names; the set is made where there is none.

    `kind` None: that of the set in the database.
    """

    set: str
    kind: RelationKind | None
    asking: str
    model: str
    form: str
    prompt_version: str
    a: str
    b: str
    repeat: int
    relation: str | None
    outcome: ReplyOutcome
    text: str | None
    reason: str = ""
    extra: Mapping[str, Any] | None = None
