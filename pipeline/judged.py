"""What can be judged: for each kind of item, where its items come from and what is shown of them.

A kind of item becomes judgeable by one `register`: a `Source` finds items and loads their content.
Everything else (asking, repeats, votes, labels, panels, the planted check) is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

from judges import path_judge
from judges.item_judge import ItemContent, Rubric, item_order, item_request, version_label
from judges.item_reading import read_item
from judges.prompts import Prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply, Request, Sampling
from pipeline.raters import labelled_items
from scoring.types import Trace
from store import Store
from store.label_records import SchemaRecord
from store.records import PoolRecord

Which = Literal["cases", "sample", "all", "labelled"]
"""What is judged: the paths of the queue's cases (or what hangs on them), the sample that was drawn
for people (traces of a decomposition, edits), everything, or what one rater labelled."""

C = TypeVar("C")


class Verdict(Protocol):
    """What a judge said of one item, as it said it."""

    @property
    def category(self) -> str | None: ...
    @property
    def first_wrong_step(self) -> int | None: ...
    @property
    def rationale(self) -> str: ...
    @property
    def flags(self) -> tuple[str, ...]: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Role(Generic[C]):
    """How one judge is asked about one item, and how its reply is read.

    `request` takes the content, the item's key and the repeat. `order` says in which order the
    words are offered. `planted` puts a sentence into what a model wrote.
    """

    categories: tuple[str, ...]
    prompt_version: str
    request: Callable[[C, str, int], Request]
    read: Callable[[Reply, C], Verdict]
    order: Callable[[str, int], tuple[str, ...]]
    planted: Callable[[C, str], C]


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is asked, whatever it is asked."""

    model: str
    prompt: Prompt
    form: Form
    sampling: Sampling
    seed: int


@dataclass(frozen=True, slots=True)
class ItemGroup(Generic[C]):
    """Items that are loaded together; `n_left_out` more cannot be judged (no steps)."""

    keys: tuple[str, ...]
    load: Callable[[], Mapping[str, C]]
    n_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which items a run is about.

    `pools` and `texts` are those of the chosen datasets; sources of items without traces leave
    them alone. `keys` are the items that a rater labelled, where those are wanted.
    """

    items: Which
    pools: Sequence[PoolRecord] = ()
    texts: Mapping[tuple[str, str], QuestionText] = field(default_factory=dict)
    keys: frozenset[str] | None = None

    def paths(self, store: Store) -> frozenset[str] | None:
        """Return the path items of the queue, None where all traces are meant."""
        return frozenset(store.queued_items()) if self.items == "cases" else None


class Source(Protocol):
    """Where the items of one kind come from.

    `what` is what they are called in the plural. `of_traces`: they are chosen by dataset and pool.
    """

    @property
    def what(self) -> str: ...
    @property
    def of_traces(self) -> bool: ...

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[Any]]:
        """Yield the chosen items, a group at a time, without loading what is shown of them."""
        ...

    def nothing(self, items: Which) -> str:
        """Return what to do where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source of items whose keys and contents two functions give: all that a new kind needs."""

    what: str
    keys: Callable[[Store], Sequence[str]]
    content: Callable[[Store, Sequence[str]], Mapping[str, ItemContent]]
    made_by: str
    of_traces: bool = False
    at_once: int = 200

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[ItemContent]]:
        """Yield items in their own order."""
        wanted = [k for k in self.keys(store) if chosen.keys is None or k in chosen.keys]
        for start in range(0, len(wanted), self.at_once):
            part = tuple(wanted[start : start + self.at_once])
            yield ItemGroup(part, partial(self.content, store, part))

    def nothing(self, items: Which) -> str:
        """Return what makes such items."""
        if items == "labelled":
            return f"no {self.what} to judge: the rater has labelled none of these"
        return f"no {self.what} to judge: {self.made_by}"


ROLES: Mapping[str, str] = {
    "path": "trace_judge",
    "step": "step_judge",
    "counterfactual": "counterfactual_judge",
    "pair": "pair_judge",
    "cycle": "cycle_judge",
    "deduction": "deduction_judge",
}
"""Which prompt a kind of item is judged with."""

ROLES_OF_SCHEMAS: Mapping[str, str] = {"cycle-cause": "cause_judge"}
"""Schemas that ask something else of an item than others of its kind."""

SAMPLED_KINDS = ("criterion", "counterfactual")
"""Kinds of items of which people label a drawn sample."""

_SOURCES: dict[str, Source] = {}


def register(role: str, source: Source) -> None:
    """Let the items that a role judges be found."""
    _SOURCES[role] = source


def role_name(schema: SchemaRecord) -> str:
    """Return which role judges under a schema.

    Raises
    ------
    ValueError
        When none does.
    """
    name = ROLES_OF_SCHEMAS.get(schema.name) or ROLES.get(schema.item_kind)
    if name is None:
        raise ValueError(
            f"schema {schema.name} is for {schema.item_kind} items, which only the schema "
            f"decomposition judges; {', '.join(ROLES)} items can be judged by schemas of one's own"
        )
    return name


def default_items(schema: SchemaRecord) -> Which:
    """Return what is judged where nobody says: what people see."""
    return "sample" if schema.item_kind in SAMPLED_KINDS else "cases"


def source_of(schema: SchemaRecord) -> Source:
    """Return where the items of a schema come from.

    Raises
    ------
    ValueError
        When the database cannot hold such items.
    """
    source = _SOURCES.get(role_name(schema))
    if source is None:
        raise ValueError(
            f"there are no {schema.item_kind} items to judge under schema {schema.name}: no "
            "command of this version makes any"
        )
    return source


def rubric_of(schema: SchemaRecord) -> Rubric:
    """Return a version of a schema as a judge is told it."""
    named = [c for c in schema.categories if c.state == "labelled"]
    return Rubric(
        schema.name,
        schema.version,
        schema.question,
        schema.guideline,
        tuple(c.name for c in named),
        unsure=next((c.name for c in schema.categories if c.state == "unsure"), None),
        multi=schema.multi,
        alone=frozenset(c.name for c in named if c.excludes_others),
        with_step=frozenset(c.name for c in named if c.takes_first_wrong_step),
    )


def rubric_role(rubric: Rubric, way: Way) -> Role[ItemContent]:
    """Return the judge of items by a schema."""

    def request(content: ItemContent, key: str, repeat: int) -> Request:
        return item_request(
            way.model,
            rubric,
            content,
            item=key,
            repeat=repeat,
            sampling=way.sampling,
            form=way.form,
            seed=way.seed,
            prompt=way.prompt,
        )

    return Role(
        rubric.categories,
        version_label(way.prompt, rubric),
        request,
        lambda reply, content: read_item(reply, rubric, content),
        lambda key, repeat: item_order(rubric, way.seed, key, repeat),
        ItemContent.planted,
    )


@dataclass(frozen=True, slots=True)
class PathContent:
    """What the path judge is shown of a path."""

    question: QuestionText
    trace: Trace


def path_role(way: Way) -> Role[PathContent]:
    """Return the judge of paths under the schema that ships."""

    def request(content: PathContent, key: str, repeat: int) -> Request:
        return path_judge.judge_request(
            way.model,
            content.question,
            content.trace,
            item=key,
            repeat=repeat,
            sampling=way.sampling,
            form=way.form,
            seed=way.seed,
            prompt=way.prompt,
        )

    return Role(
        path_judge.CATEGORIES,
        way.prompt.label,
        request,
        lambda reply, content: path_judge.read_verdict(reply, content.trace),
        lambda key, repeat: path_judge.option_order(way.seed, key, repeat),
        lambda content, sentence: PathContent(
            content.question, path_judge.planted_trace(content.trace, sentence)
        ),
    )


def chosen_keys(
    store: Store, items: Which, labelled_by: str | None, schema: str
) -> frozenset[str] | None:
    """Return the keys that a rater labelled, where those are wanted."""
    return None if labelled_by is None else labelled_items(store, labelled_by, schema)
