"""Scoring values to JSON and back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from scoring.types import NormalForm, ParseIssue, Step, Trace
from store.columns import canonical


def encode_answer(answer: NormalForm | None) -> Any:
    """Return the JSON form of a normal form.

    >>> encode_answer(("number", Fraction(9, 5)))
    ['number', '9/5']
    """
    if answer is None:
        return None
    tag, value = answer
    return [tag, str(value) if isinstance(value, Fraction) else value]


def decode_answer(value: Any) -> NormalForm | None:
    """Undo `encode_answer`.

    >>> decode_answer(["number", "9/5"])
    ('number', Fraction(9, 5))
    """
    if value is None:
        return None
    tag, content = value
    if tag == "number":
        return ("number", _fraction(content))
    if tag == "boolean":
        return ("boolean", bool(content))
    return (tag, content)


def _fraction(content: str) -> Fraction:
    numerator, _, denominator = content.partition("/")
    return Fraction(int(numerator), int(denominator or "1"))


def answer_key(answer: NormalForm) -> str:
    """Return a text that is equal iff the answers are."""
    return canonical(encode_answer(answer))


def encode_steps(steps: tuple[Step, ...]) -> Any:
    """Return the JSON form of parsed steps."""
    out = []
    for step in steps:
        row: dict[str, Any] = {"text": step.text, "depends_on": list(step.depends_on)}
        if not step.annotated:
            row["annotated"] = False
        if step.code is not None:
            row["code"] = step.code
        out.append(row)
    return out


def decode_steps(value: Any) -> tuple[Step, ...]:
    """Undo `encode_steps`."""
    return tuple(
        Step(i, s["text"], tuple(s["depends_on"]), s.get("annotated", True), s.get("code"))
        for i, s in enumerate(value)
    )


def encode_issues(issues: tuple[ParseIssue, ...]) -> Any:
    """Return the JSON form of parse issues."""
    return [[i.code, i.message, i.step] for i in issues]


def decode_trace(steps: Any, answer_text: str | None, answer: Any, issues: Any) -> Trace:
    """Return a Trace from its stored parts."""
    return Trace(
        decode_steps(steps),
        answer_text,
        decode_answer(answer),
        tuple(ParseIssue(code, message, step) for code, message, step in issues),
    )
