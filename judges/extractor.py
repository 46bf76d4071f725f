"""The extractor: which values a solver's text states, looked up by a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from judges.fencing import neutral
from judges.plain import after_thinking, one_line, why_not
from judges.prompts import fence, load_prompt
from judges.requests import Form, Outcome, Reply, Request, Sampling
from judges.schemas import NUMBER, Schema, bounded, closed_object
from scoring.deduction import exact, first_stated

ROLE = "extractor"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
MAX_REPLY = 12_000
"""Characters of a text that are looked through."""

_LINE = re.compile(r"[\s>*•`-]{0,12}([A-Za-z_][A-Za-z0-9_]*)`?\**\s*[=:]\s*(.+)")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The values found; a `reason` where the reply cannot be read, and then nothing is known."""

    values: Mapping[str, Fraction] = field(default_factory=dict)
    outcome: Outcome = "ok"
    reason: str = ""


def wanted_names(steps: Sequence[str], inputs: Sequence[str], given: int) -> dict[str, int]:
    """Return the variables looked for after so many given steps, each with its step (from 1)."""
    return {n: step for n, step in first_stated(steps, inputs).items() if step > given}


def extract_request(
    model: str,
    text: str,
    steps: Sequence[str],
    *,
    inputs: Sequence[str],
    given: int = 0,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request to look up the values that a text states.

    Only the template's sentences are sent, with placeholders: the expected values never are.

    Raises
    ------
    ValueError
        When nothing is left to look for, or the text is blank.
    """
    wanted = wanted_names(steps, inputs, given)
    if not wanted or not text.strip():
        raise ValueError("there is nothing to look for: no variable, or a blank text")
    prompt = load_prompt(f"extractor-{form}")
    schema = extractor_schema(list(wanted))
    names = "\n".join(f"{name}: {one_line(steps[step - 1])}" for name, step in wanted.items())
    messages = prompt.fill(names=fence(names), reply=fence(neutral(text.strip()[:MAX_REPLY])))
    return Request(
        ROLE,
        model,
        messages,
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def extractor_schema(names: Sequence[str]) -> Schema:
    """Return the schema: every name with a number as a text, or null."""
    value: Schema = {"type": ["string", "null"], "pattern": NUMBER}
    return closed_object(dict.fromkeys(names, value))


def read_extracted(reply: Reply, names: Sequence[str]) -> Extracted:
    """Read the values; nothing a model writes raises."""
    reason = why_not(reply)
    if reason is not None:
        return Extracted(outcome=reply.outcome, reason=reason)
    said: dict[str, object]
    if reply.data is not None:
        said = dict(reply.data) if isinstance(reply.data, dict) else {}
    else:
        lines = after_thinking(reply.text).splitlines()
        found = [m for line in lines if (m := _LINE.fullmatch(one_line(line))) is not None]
        said = {m[1]: m[2] for m in found}
    if not any(name in said for name in names):
        return Extracted(outcome="invalid", reason="the reply names none of the variables")
    values: dict[str, Fraction] = {}
    for name in names:
        value = _number(said.get(name))
        if value is not None:
            values[name] = value
    return Extracted(values)


def _number(value: object) -> Fraction | None:
    if not isinstance(value, str):
        return None
    text = value.strip().strip("`*$").replace(",", "").removesuffix("%").rstrip(".")
    try:
        return exact(text)
    except ValueError:
        return None
