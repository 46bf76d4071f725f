"""Scoring values to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from scoring.types import NormalForm, ParseIssue, Step, Trace
from store.columns import canonical

if TYPE_CHECKING:
    from scoring.deduction import Template


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


def encode_numbers(values: Mapping[str, Fraction]) -> dict[str, str]:
    """Return the JSON form of named exact values, in their order.

    >>> encode_numbers({"a": Fraction(1, 3)})
    {'a': '1/3'}
    """
    return {name: str(value) for name, value in values.items()}


def decode_numbers(value: Mapping[str, str]) -> dict[str, Fraction]:
    """Undo `encode_numbers`."""
    return {name: _fraction(number) for name, number in value.items()}


def encode_template(template: Template) -> dict[str, Any]:
    """Return the table that `scoring.deduction.template_from_dict` reads a template from."""
    gold = None if template.gold is None else str(template.gold)
    ranges = {name: [str(r.low), str(r.high)] for name, r in template.ranges.items()}
    return {
        "problem": template.problem,
        "question": template.question,
        "steps": list(template.steps),
        "code": template.code,
        "factual": encode_numbers(template.factual),
        "answer": template.answer,
        **({} if gold is None else {"gold": gold}),
        "ranges": ranges,
        "conditions": list(template.conditions),
        "model": template.model,
        "source": template.source,
    }


def decode_template(value: Mapping[str, Any]) -> Template:
    """Undo `encode_template`."""
    from scoring.deduction import template_from_dict

    return template_from_dict(value)
