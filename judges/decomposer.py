"""The decomposer: a trace's steps split into atomic facts, each with its step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judges.plain import after_thinking, one_line, step_line, why_not
from judges.prompts import fence, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.types import Fact, Trace

ROLE = "decomposer"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
FACTS_PER_STEP = 4
MAX_FACT = 120
"""Characters of a fact."""
_MAX_LINE = 2000
"""A longer line of a text reply is no fact."""

_MARKS = r"[\s>*#•+_`–-]{0,12}"
_OPENING = re.compile(
    rf"{_MARKS}(?:[\[(] ?(?:step ?)?#?([0-9]{{1,6}}) ?[\])]\*{{0,2}} ?[:.–-]? ?|"
    rf"step ?#?([0-9]{{1,6}})\*{{0,2}} ?[:.)–-] ?|([0-9]{{1,6}})\*{{0,2}} ?[:|] )(.+)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"{_MARKS}(.+?) ?[\[(] ?step ?[:#]? ?([0-9]{{1,6}})(?:,[^\[\]()]*)?[\])]\W{{0,4}}",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"{_MARKS}([0-9]{{1,6}})[.)]\*{{0,2}} (.+)")
_ANNOTATION = re.compile(r" ?\[depends?[ _-]?on[^\[\]]*\]$", re.IGNORECASE)
_KEY = re.compile(r"step_([0-9]{1,6})")

_Said = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Decomposed:
    """What a decomposer made of one trace.

    Without facts there is a `reason`. `dropped` are the steps that got none, `invented` the
    statements for a step that does not exist; `repeated` counts statements left out because their
    step has the same one already.
    """

    facts: tuple[Fact, ...]
    dropped: tuple[int, ...]
    invented: tuple[str, ...]
    outcome: Outcome
    reason: str = ""
    repeated: int = 0


def decompose_request(
    model: str,
    q: QuestionText,
    trace: Trace,
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request for one trace: the question's wording and the steps, nothing else.

    Options, passage, the trace's answer and its annotations are not sent: a fact has its step's
    number, and what the step depends on is known. ValueError for a trace without steps.
    """
    prompt = load_prompt(f"decomposer-{form}")
    schema = decomposer_schema(trace)
    lines = (step_line(step, f"[{step.index}]") for step in trace.steps)
    return Request(
        ROLE,
        model,
        prompt.fill(question=fence(q.text.strip()), steps=fence("\n".join(lines))),
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def decomposer_schema(trace: Trace) -> Schema:
    """Return the schema: one list of facts for every step, so that none can be misnumbered."""
    if not trace.steps:
        raise ValueError("a trace without steps cannot be decomposed: it is excluded and counted")
    fact = {"type": "string", "maxLength": MAX_FACT}
    facts = {"type": "array", "maxItems": FACTS_PER_STEP, "items": fact}
    return closed_object({f"step_{step.index}": facts for step in trace.steps})


def read_facts(reply: Reply, trace: Trace) -> Decomposed:
    """Read the facts of an ``ok`` reply; nothing a model writes raises.

    A reply that is cut off gives no facts: the last steps would seem dropped.
    """
    reason = why_not(reply)
    if reason is not None:
        return Decomposed((), (), (), reply.outcome, reason)
    said = list(_said_in_fields(reply.data) if reply.data is not None else _said_in(reply.text))
    n = len(trace.steps)
    facts: dict[tuple[int, str], Fact] = {}
    repeated = 0
    for step, text in sorted((s for s in said if s[0] < n), key=lambda s: s[0]):
        key = (step, text.casefold())
        repeated += key in facts
        facts.setdefault(key, Fact(text, step))
    invented = tuple(text for step, text in said if step >= n)
    if not facts:
        why = "no statement names a step of the trace" if invented else "no statement was found"
        return Decomposed((), (), invented, "invalid", why)
    kept = {fact.step for fact in facts.values()}
    dropped = tuple(i for i in range(n) if i not in kept)
    return Decomposed(tuple(facts.values()), dropped, invented, "ok", "", repeated)


def _said_in_fields(data: Any) -> Iterator[_Said]:
    for key, texts in data.items() if isinstance(data, dict) else ():
        match = _KEY.fullmatch(key) if isinstance(key, str) else None
        if match is None or not isinstance(texts, list):
            continue
        for text in texts:
            if isinstance(text, str) and _states(text):
                yield int(match[1]), one_line(text)


def _said_in(reply: str) -> Iterator[_Said]:
    """Yield (step, statement) for the lines that name their step.

    A plain count ("1. …") may number steps or just the lines; it is taken only where it must mean
    steps: `_counted`.
    """
    lines = [one_line(line) for line in after_thinking(reply).splitlines()]
    lines = [line for line in lines if line and len(line) <= _MAX_LINE]
    found = [said for line in lines if (said := _labelled(line)) is not None]
    for step, text in found or _counted(lines):
        bare = _ANNOTATION.sub("", text).strip()
        if _states(bare):
            yield step, bare


def _labelled(line: str) -> _Said | None:
    match = _CLOSING.fullmatch(line)
    if match is not None:
        return int(match[2]), match[1]
    match = _OPENING.fullmatch(line)
    if match is not None:
        return int(match[1] or match[2] or match[3]), match[4]
    return None


def _counted(lines: list[str]) -> list[_Said]:
    """Return lines with a plain count where it goes on, never back, and some number repeats: then
    it counts steps. Anything else may as well count the lines."""
    matches = [match for line in lines if (match := _COUNTED.fullmatch(line)) is not None]
    numbers = [int(match[1]) for match in matches]
    of_steps = 1 < len(set(numbers)) < len(numbers)
    if not of_steps or numbers != sorted(numbers):
        return []
    return [(int(match[1]), match[2]) for match in matches]


def _states(text: str) -> bool:
    return any(c.isalnum() for c in text)
