"""The relation asker: what one object is to another, asked of every ordered pair of a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judges.orders import drawn_rotation
from judges.plain import one_line
from judges.prompts import Prompt, fence, load_prompt
from judges.requests import Form, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.relations import WORDS

ROLE = "relation_asker"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
MAX_REASONING = 400
"""Characters of the reasoning in a reply bound by a schema."""

Asked = Literal["time", "quadrant", "kinship", "contradiction"]
"""What is asked of a pair: its order in time, its quadrant, its kinship, or its quadrant where the
statements may contradict each other."""

INCONSISTENT = "INCONSISTENT"
"""The word that says the statements contradict each other."""

QUADRANTS = ("northeast", "northwest", "southeast", "southwest")

VOCABULARY: Mapping[Asked, tuple[str, ...]] = {
    "time": ("before", "after"),
    "quadrant": QUADRANTS,
    "kinship": tuple(WORDS),
    "contradiction": (*QUADRANTS, INCONSISTENT),
}
"""The words a reply may give, in the order in which they are offered unless that is drawn."""


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """What a model is told when it is asked what `a` is to `b`; never the truth.

    `about` says what counts ("the day it was first released"). `told` are statements that hold for
    this question: coordinates, displacements, dates of invented events, facts of a family.
    """

    a: str
    b: str
    asked: Asked
    about: str = ""
    told: tuple[str, ...] = ()

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words a reply may give."""
        return VOCABULARY[self.asked]


def given_block(prompt: Prompt, about: str, told: Sequence[str]) -> str:
    """Return what is given besides the names: the statements, and what counts."""
    blocks = []
    if told:
        lines = "\n".join(f"- {one_line(line)}" for line in told)
        blocks.append(prompt.part("statements", statements=fence(lines)))
    if about.strip():
        blocks.append(prompt.part("about", about=fence(one_line(about))))
    return "\n".join(blocks) or prompt.part("nothing")


def option_order(q: RelationQuestion, item: str, seed: int | None) -> tuple[str, ...]:
    """Return the words in the order in which one request offers them.

    Which word comes first is drawn from the seed and the pair, the others follow in turn, so that a
    liking for the first word is no liking for one relation. None: the order of the vocabulary.
    """
    return q.vocabulary if seed is None else drawn_rotation(q.vocabulary, seed, item, 0)


def relation_request(
    model: str,
    q: RelationQuestion,
    *,
    item: str,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    reasoned: bool = True,
    order_seed: int | None = 0,
    prompt: Prompt | None = None,
) -> Request:
    """Return the request for one ordered pair.

    Parameters
    ----------
    model : str
        What the server calls the model.
    q : RelationQuestion
        What is asked.
    item : str
        Key of the pair, from which the order of the words is drawn.
    sampling : Sampling
        How the model is sampled.
    form : {"schema", "text"}
        Whether the reply is bound by a JSON schema.
    reasoned : bool
        Ask for a sentence of reasoning before the word; False: the word alone.
    order_seed : int or None
        For the order of the words; None = fixed.
    prompt : Prompt, optional
        In place of the newest that ships.
    """
    prompt = load_prompt(prompt_name(q.asked, form)) if prompt is None else prompt
    order = option_order(q, item, order_seed)
    schema = relation_schema(order, reasoned)
    messages = prompt.fill(
        reply=prompt.part("reasoned" if reasoned else "bare"),
        given=given_block(prompt, q.about, q.told),
        subject=fence(one_line(q.a)),
        reference=fence(one_line(q.b)),
        question=prompt.part("question", words=", ".join(order)),
    )
    return Request(
        ROLE,
        model,
        messages,
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def prompt_name(asked: Asked, form: Form) -> str:
    """Return the name of the prompt that asks this."""
    return f"{ROLE}-{form}-{asked}"


def relation_schema(words: Sequence[str], reasoned: bool) -> Schema:
    """Return the schema of a reply: the reasoning first, where it is wanted, then the word."""
    fields: dict[str, Schema] = {}
    if reasoned:
        fields["reasoning"] = {"type": "string", "maxLength": MAX_REASONING}
    fields["relation"] = {"type": "string", "enum": list(words)}
    return closed_object(fields)
