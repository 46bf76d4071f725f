"""The paraphraser: given steps in another style, with every number as it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from judges.plain import after_thinking, why_not
from judges.prompts import fence, load_prompt
from judges.requests import Form, Outcome, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.deduction import number_changes

ROLE = "paraphraser"
DEFAULT_SAMPLING = Sampling(temperature=0.0)

Style = Literal["plain", "axioms", "effect_first"]
"""What steps are rewritten to; the fourth style is the original."""
REWRITTEN: tuple[Style, ...] = get_args(Style)

Fault = Literal["unread", "numbers", "same"]
"""Why a reply is no paraphrase: it cannot be read, its numbers are others, it is the original."""


@dataclass(frozen=True, slots=True)
class Paraphrased:
    """Given steps in another style, or a `fault` and a `reason`."""

    text: str | None
    fault: Fault | None
    outcome: Outcome
    reason: str = ""


def paraphrase_request(
    model: str,
    prefix: str,
    style: Style,
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request for given steps in another style.

    Raises
    ------
    ValueError
        When there are no steps, or no such style.
    """
    if style not in REWRITTEN:
        raise ValueError(f"style is {style!r}; one of {', '.join(REWRITTEN)} is right")
    if not prefix.strip():
        raise ValueError("no steps are given: there is nothing to rewrite")
    prompt = load_prompt(f"paraphraser-{form}")
    schema = paraphraser_schema(prefix)
    messages = prompt.fill(style=prompt.part(style), prefix=fence(prefix.strip()))
    bound = schema if form == "schema" else None
    drawn = bounded(sampling, schema, form)
    return Request(ROLE, model, messages, drawn, bound, prompt_version=prompt.label)


def paraphraser_schema(prefix: str) -> Schema:
    """Return the schema: one text of at most three times the length, rounded up to a hundred."""
    longest = -(-3 * len(prefix.strip()) // 100) * 100 + 200
    return closed_object({"text": {"type": "string", "maxLength": min(longest, 6000)}})


def read_paraphrase(reply: Reply, prefix: str) -> Paraphrased:
    """Read a paraphrase; nothing a model writes raises."""
    reason = why_not(reply)
    if reason is not None:
        return Paraphrased(None, "unread", reply.outcome, reason)
    if reply.data is not None:
        said = reply.data.get("text") if isinstance(reply.data, dict) else None
    else:
        said = after_thinking(reply.text)
    if not isinstance(said, str) or not said.strip():
        return Paraphrased(None, "unread", "invalid", "the reply has no text")
    changes = number_changes(prefix, said)
    if not changes.unchanged:
        lost, new = (", ".join(map(str, n[:3])) for n in (changes.missing, changes.added))
        why = "; ".join(p for p in (lost and f"lost {lost}", new and f"added {new}") if p)
        return Paraphrased(None, "numbers", "ok", why)
    if re.findall(r"\w+", said.casefold()) == re.findall(r"\w+", prefix.casefold()):
        return Paraphrased(None, "same", "ok", "it says the steps as they were")
    return Paraphrased(said.strip(), None, "ok")
