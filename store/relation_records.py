"""What callers see of relation sets and of what models answer about them.

Objects are named by their place in the set, from 0: what `scoring.relations` computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from store.keys import encode_part
from store.label_records import LabelRecord
from store.model_records import ReplyOutcome
from store.records import Verdict

RelationKind = Literal["temporal", "spatial", "kinship", "contradiction"]
Asks = Literal["pairs", "objects"]
FactUse = Literal["truth", "told"]
Truth = float | tuple[float, float]
"""A decimal year, or x (to the east) and y (to the north)."""

MOST_EDGES = 9
"""So many edges of a cycle the categories of the schema that ships can name."""

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


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Statements that cannot all be true, as the review finds them; objects by place.

    `axis` is that of the order ("time", "x", "y": an edge says that a comes before b), or for a
    family what is at odds ("triple", "inverse", "gender": an edge is an asked pair). `suspect` is
    the edge that would be mended, `breaks` how many contradictions that would undo, `edge_breaks`
    the same for every edge: all of it sealed.
    """

    axis: str
    edges: tuple[tuple[int, int], ...]
    breaks: int
    suspect: int | None
    edge_breaks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReviewMade:
    """What making the review of an asking did.

    Of `n` items now in the queue `n_new` were not there before; `n_kept` are contradictions no
    longer found, or beyond the limit, that somebody labelled; `n_withdrawn` unlabelled ones left.
    """

    n: int
    n_new: int
    n_kept: int
    n_withdrawn: int


RelationFilter = Literal["all", "unlabelled", "done", "flagged"]


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A line of the queue of cycles or of sampled pairs, as a sealed rater may see it.

    `position` is the 1-based place in the whole queue; `objects` are those of the statements, each
    once. `seen`: a reveal of this rater's showed the truth of both ends of one of its statements,
    so that a label made now counts as made after it.
    """

    item_id: int
    item: str
    position: int
    set: str
    set_kind: RelationKind
    asking: str
    axis: str | None
    objects: tuple[str, ...]
    n_edges: int
    decided: bool
    flagged: bool
    revealed: bool
    seen: bool


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """What the model said a is to b, by name: its word, and its own words in `text`."""

    a: str
    b: str
    repeat: int
    relation: str | None
    outcome: ReplyOutcome
    text: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class CaseEdge:
    """One statement of a case: on an axis "a before b", else the asked pair.

    `number` counts from 1, as the schema's categories do. `there` are the answers about (a, b),
    `back` those about (b, a), repeats in order.
    """

    number: int
    a: str
    b: str
    there: tuple[SaidAnswer, ...]
    back: tuple[SaidAnswer, ...]

    @property
    def category(self) -> str:
        """The category that calls this edge wrong."""
        return f"edge{self.number}"


@dataclass(frozen=True, slots=True)
class RelationCase:
    """A pair or cycle as a sealed rater sees it: what was asked, told and said, never the truth.

    `labels` holds the rater's own label under each schema asked for, None without one. `axis` is
    None for a pair.
    """

    item_id: int
    item: str
    kind: Literal["pair", "cycle"]
    set: SetRecord
    asking: AskingRecord
    axis: str | None
    edges: tuple[CaseEdge, ...]
    labels: Mapping[str, LabelRecord | None]
    revealed: bool
    seen: bool


@dataclass(frozen=True, slots=True)
class ItemRevealCheck:
    """Whether a rater may reveal an item now, and what it would do.

    `ok`: the item is labelled, unsure or skipped. `n_left` further items of the queues, undecided
    by this rater and not seen yet, would count as labelled after the reveal, for it shows the truth
    of their objects.
    """

    ok: bool
    n_left: int


@dataclass(frozen=True, slots=True)
class ShownObject:
    """What is true of an object, and how its source writes it."""

    name: str
    truth: Truth | None
    stated: str | None


@dataclass(frozen=True, slots=True)
class RelationTruth:
    """What the seal hid of a pair or cycle.

    `objects` are those of its statements; `facts` the true words of their pairs by name, None where
    no word is right. `suspect` is the number of the edge that the mend turns round, with how many
    contradictions that breaks, for every edge in `edge_breaks`; None and empty for a pair.
    `verdicts` are what others said, by schema.
    """

    case: RelationCase
    objects: Mapping[str, ShownObject]
    facts: Mapping[tuple[str, str], str | None]
    also_accept: Mapping[tuple[str, str], str]
    suspect: int | None
    breaks: int | None
    edge_breaks: tuple[int, ...]
    verdicts: Mapping[str, tuple[Verdict, ...]]
