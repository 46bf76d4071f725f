"""The judge of any label schema: its guideline, its words, one item, one verdict.

A role (`step_judge`, `counterfactual_judge`, …) says what of an item is shown and brings the
prompt; what is asked and which words a verdict may be come from the schema, also from one that a
user wrote. ``unsure`` is never offered: as for paths, a judge decides, and a tie of several verdicts
is what makes its label unsure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judges.fencing import Fencing
from judges.orders import drawn_rotation
from judges.prompts import Prompt, load_prompt
from judges.requests import Form, Request, Sampling
from judges.schemas import Schema, bounded, closed_object

DEFAULT_SAMPLING = Sampling(temperature=0.0)
MAX_RATIONALE = 240


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a version of a label schema asks, as a judge is told it.

    `categories` are those a label can hold, in the schema's order; `unsure` is the name of the
    state beside them. With `multi` several may hold, but those in `alone` only by themselves.
    `with_step` are categories that take a first wrong step.
    """

    schema: str
    version: int
    question: str
    guideline: str
    categories: tuple[str, ...]
    unsure: str | None = None
    multi: bool = False
    alone: frozenset[str] = frozenset()
    with_step: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if len(self.categories) < 2:
            raise ValueError(
                f"schema {self.schema} has {len(self.categories)} categories to judge by; 2 or "
                "more are right"
            )

    @property
    def label(self) -> str:
        """What is stored beside the prompt's version: ``schema/version``."""
        return f"{self.schema}/{self.version}"

    @property
    def told(self) -> str:
        """The guideline without what it says of ``unsure``, which no judge is offered."""
        return "\n".join(_without_entry(self.guideline.strip().splitlines(), self.unsure))


def _without_entry(lines: Sequence[str], name: str | None) -> Iterator[str]:
    """Yield the lines but for the entry of a list that is about this name."""
    inside = False
    for line in lines:
        if re.match(r"\s*[-*] ", line) or not line.strip():
            inside = name is not None and re.match(
                rf"\s*[-*] \**`?{re.escape(name)}`?\**\s*:", line
            ) is not None  # fmt: skip
        if not inside:
            yield line


@dataclass(frozen=True, slots=True)
class Block:
    """A text of an item: `name` is the prompt's part that introduces it.

    `plant_at` is the line a planted instruction would go to: one that a model wrote.
    """

    name: str
    text: str
    plant_at: int | None = None


@dataclass(frozen=True, slots=True)
class ItemContent:
    """What a judge is shown of one item, and by which role; `n_steps` where it has steps."""

    role: str
    blocks: tuple[Block, ...]
    n_steps: int | None = None

    def planted(self, sentence: str) -> ItemContent:
        """Return the item with a sentence at the end of a line that a model wrote.

        Raises
        ------
        ValueError
            When the item has no such line.
        """
        for at, block in enumerate(self.blocks):
            if block.plant_at is None:
                continue
            lines = block.text.split("\n")
            lines[block.plant_at] += f" {sentence}"
            new = replace(block, text="\n".join(lines))
            return replace(self, blocks=(*self.blocks[:at], new, *self.blocks[at + 1 :]))
        raise ValueError(f"an item for the {self.role} has no text of a model's to plant into")


def item_order(rubric: Rubric, seed: int, item: str, repeat: int) -> tuple[str, ...]:
    """Return the words in the order in which one request offers them; see `drawn_rotation`."""
    return drawn_rotation(rubric.categories, seed, item, repeat)


def item_request(
    model: str,
    rubric: Rubric,
    content: ItemContent,
    *,
    item: str,
    repeat: int = 0,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    seed: int = 0,
    prompt: Prompt | None = None,
) -> Request:
    """Return the request for one verdict on one item.

    The system message is the same for all items of a schema; what differs comes last, the words in
    the drawn order behind everything, so that servers can reuse what they have read. `item` only
    draws that order: it is not sent. A sampling seed gets the repeat's number added.
    """
    order = item_order(rubric, seed, item, repeat)
    prompt = load_prompt(f"{content.role}-{form}") if prompt is None else prompt
    schema = item_schema(rubric, content, order)
    drawn = bounded(sampling, schema, form)
    if drawn.seed is not None:
        drawn = replace(drawn, seed=drawn.seed + repeat)
    enclosed = Fencing(prompt, *(block.text for block in content.blocks))
    messages = prompt.fill(
        question=rubric.question.strip(),
        guideline=rubric.told,
        reply="\n".join(_reply_parts(prompt, rubric, content)),
        material="\n".join(prompt.part(b.name, text=enclosed(b.text)) for b in content.blocks),
        words=", ".join(order),
        **enclosed.values,
    )
    bound = schema if form == "schema" else None
    label = version_label(prompt, rubric)
    return Request(content.role, model, messages, drawn, bound, repeat, label)


def version_label(prompt: Prompt, rubric: Rubric) -> str:
    """Return the version of all that a judge is told: the prompt's and the schema's.

    >>> from judges.prompts import load_prompt
    >>> rubric = Rubric("step", 3, "Is it?", "- so", ("yes", "no"))
    >>> version_label(load_prompt("step_judge-text", 1), rubric)
    'step_judge-text/1+step/3'
    """
    return f"{prompt.label}+{rubric.label}"


def _reply_parts(prompt: Prompt, rubric: Rubric, content: ItemContent) -> Iterator[str]:
    yield prompt.part("reply_rationale")
    if _asks_step(rubric, content):
        yield prompt.part("reply_step")
    yield prompt.part("reply_several" if rubric.multi else "reply_one")


def _asks_step(rubric: Rubric, content: ItemContent) -> bool:
    return bool(rubric.with_step) and bool(content.n_steps)


def item_schema(rubric: Rubric, content: ItemContent, order: Sequence[str]) -> Schema:
    """Return the schema of a reply: the reason first, then the verdict."""
    word: Schema = {"type": "string", "enum": list(order)}
    verdict = word
    if rubric.multi:
        verdict = {"type": "array", "items": word, "minItems": 1, "maxItems": len(order)}
    fields: dict[str, Schema] = {"rationale": {"type": "string", "maxLength": MAX_RATIONALE}}
    if _asks_step(rubric, content):
        last = (content.n_steps or 1) - 1
        fields["first_wrong_step"] = {"type": ["integer", "null"], "minimum": 0, "maximum": last}
    return closed_object({**fields, "verdict": verdict})
