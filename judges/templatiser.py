"""The templatiser: a problem and its solution with the numbers taken out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from judges.plain import after_thinking, one_line, why_not
from judges.prompts import fence, load_prompt
from judges.requests import Form, Outcome, Reply, Request, Sampling
from judges.schemas import NUMBER, Schema, bounded, closed_object
from scoring.deduction import exact, fill, number_changes, placeholders

ROLE = "templatiser"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
MAX_STEPS = 16
MAX_STEP = 300
MAX_VALUES = 40
MAX_NAME = 40

_LINE = re.compile(
    r"[\s>*#•`-]{0,12}(question|step|value)s?\s*[0-9]{0,2}\s*:\**\s*(.*)", re.IGNORECASE
)
_VALUE = re.compile(r"`?\{?([A-Za-z_][A-Za-z0-9_]*)\}?`?\s*[=:]\s*(.+)")
_STEP_NUMBER = re.compile(r"^\s*(?:step\s+)?[0-9]{1,2}\s*[.):]\s+", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^\W*(?:the )?(?:final )?answer(?: is)?\b.*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Templatised:
    """A question and steps with placeholders, and the value of each; or a `reason` why not."""

    question: str = ""
    steps: tuple[str, ...] = ()
    values: Mapping[str, Fraction] = field(default_factory=dict)
    outcome: Outcome = "ok"
    reason: str = ""


def template_request(
    model: str,
    question: str,
    solution: str,
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request for the template of a solved problem."""
    prompt = load_prompt(f"templatiser-{form}")
    schema = templatiser_schema(question)
    return Request(
        ROLE,
        model,
        prompt.fill(question=fence(question.strip()), solution=fence(solution.strip())),
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def templatiser_schema(question: str) -> Schema:
    """Return the schema: the question, its steps, and every placeholder's value."""
    longest = -(-2 * len(question.strip()) // 100) * 100 + 200
    value = closed_object(
        {
            "name": {"type": "string", "maxLength": MAX_NAME},
            "value": {"type": "string", "pattern": NUMBER},
        }
    )
    step = {"type": "string", "maxLength": MAX_STEP}
    return closed_object(
        {
            "question": {"type": "string", "maxLength": min(longest, 4000)},
            "steps": {"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": step},
            "values": {"type": "array", "minItems": 1, "maxItems": MAX_VALUES, "items": value},
        }
    )


def read_template(reply: Reply, question: str, solution: str) -> Templatised:
    """Read a template; nothing a model writes raises.

    It is refused where, filled with its own values, its question has other numbers than the
    original, or its steps have a number that the solution has not.
    """
    reason = why_not(reply)
    if reason is not None:
        return Templatised(outcome=reply.outcome, reason=reason)
    said = _fields(reply.data) if reply.data is not None else _lines(after_thinking(reply.text))
    made, steps, pairs = said
    values: dict[str, Fraction] = {}
    for name, text in pairs:
        value = _number(text)
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or value is None:
            return _bad(f"the value {one_line(f'{name} = {text}')[:60]!r} cannot be read")
        if values.setdefault(name, value) != value:
            return _bad(f"{name} is given two values")
    if not made.strip() or not steps:
        return _bad("the reply has no question or no steps")
    wrong = _changed(made, steps, values, question, solution)
    return _bad(wrong) if wrong else Templatised(made.strip(), steps, values)


def _bad(reason: str) -> Templatised:
    return Templatised(outcome="invalid", reason=reason)


def _changed(
    made: str, steps: tuple[str, ...], values: Mapping[str, Fraction], question: str, solution: str
) -> str:
    """Return how a template, filled again, differs from what it came from; nothing if not."""
    lacking = [n for text in (made, *steps) for n in placeholders(text) if n not in values]
    if lacking:
        return f"placeholder {lacking[0]} has no value"
    changes = number_changes(question, fill(made, values))
    if not changes.unchanged:
        return f"the question's numbers are not the original's ({_listed(changes)})"
    filled = "\n".join(fill(step, values) for step in steps)
    added = number_changes(plain_solution(solution), filled).added
    if added:
        return f"the steps state {', '.join(map(str, added[:3]))}, which the solution does not"
    return ""


def plain_solution(text: str) -> str:
    """Return a solution without the numbers of its steps and its last line's mere answer.

    >>> plain_solution("1. Two and 3 make 5.\\n2. So be it.\\nThe answer is 5.")
    'Two and 3 make 5.\\nSo be it.'
    """
    return _ANSWER.sub("", _STEP_NUMBER.sub("", text)).strip()


def _listed(changes: Any) -> str:
    parts = []
    for word, numbers in (("lost", changes.missing), ("added", changes.added)):
        if numbers:
            parts.append(f"{word} {', '.join(map(str, numbers[:3]))}")
    return "; ".join(parts)


_Said = tuple[str, tuple[str, ...], list[tuple[str, str]]]


def _fields(data: Any) -> _Said:
    table = data if isinstance(data, dict) else {}
    question, steps, values = (table.get(k) for k in ("question", "steps", "values"))
    kept = steps if isinstance(steps, list) else []
    pairs = [
        (str(row.get("name", "")).strip("{} "), str(row.get("value", "")))
        for row in (values if isinstance(values, list) else [])
        if isinstance(row, dict)
    ]
    lines = tuple(one_line(s) for s in kept if isinstance(s, str) and s.strip())
    return (question if isinstance(question, str) else "", lines, pairs)


def _lines(text: str) -> _Said:
    question, steps, pairs = "", [], []
    for line in text.splitlines():
        match = _LINE.fullmatch(one_line(line))
        if match is None or not match[2].strip():
            continue
        kind, said = match[1].lower(), match[2].strip()
        if kind == "question":
            question = question or said
        elif kind == "step":
            steps.append(said)
        elif (pair := _VALUE.fullmatch(said)) is not None:
            pairs.append((pair[1], pair[2]))
    return question, tuple(steps), pairs


def _number(text: str) -> Fraction | None:
    try:
        return exact(text.strip().strip("`$%").replace(",", "").rstrip("."))
    except ValueError:
        return None
