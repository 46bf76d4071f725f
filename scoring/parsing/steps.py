"""Decoded steps (the native JSONL's other form) to a trace."""

from __future__ import annotations

from typing import Any

from scoring.parsing.answers import Options, read_answer
from scoring.parsing.assemble import RawStep, assemble, checked_missing
from scoring.parsing.finals import answer_from_field
from scoring.parsing.issues import IssueLog, shown
from scoring.parsing.layout import MAX_STEPS
from scoring.parsing.references import Annotation
from scoring.types import AnswerKind, Trace


def trace_from_steps(
    steps: Any,
    answer: Any,
    *,
    kind: AnswerKind = "auto",
    options: Options | None = None,
    percent: str = "keep",
    missing: str = "chain",
) -> Trace:
    """Build a trace from decoded steps, under the same rules as `parse_trace`.

    Parameters
    ----------
    steps : list of dict
        Each ``{"text", "depends_on"?: [int]}``, numbered from 0 by place. No ``depends_on`` (or
        null) is unannotated, ``[]`` a premise.
    answer : str, bool, int, float or None
        The final answer.
    kind, options, percent, missing
        As in `parse_trace`.

    Returns
    -------
    Trace
        What is no step, no list or no integer is dropped with an issue, never an exception.

    Examples
    --------
    >>> t = trace_from_steps([{"text": "a", "depends_on": []}, {"text": "b"}], "yes")
    >>> [s.depends_on for s in t.steps], [i.code for i in t.issues]
    ([(), (0,)], ['annotation_missing'])
    """
    checked_missing(missing)
    read_answer("", kind, options=options, percent=percent)
    log = IssueLog()
    raw: list[RawStep] = []
    if not isinstance(steps, list | tuple):
        log.add("step_malformed", f"steps must be a list, not {shown(steps)}")
        steps = []
    if len(steps) > MAX_STEPS:
        log.add("text_cut", f"{len(steps)} steps; the first {MAX_STEPS} were read")
    for i, entry in enumerate(steps[:MAX_STEPS]):
        raw.append(_raw_step(i, entry, log))
    answer_text, normal = answer_from_field(answer, log, kind, options, percent)
    return assemble(raw, log, answer_text=answer_text, answer=normal, missing=missing)


def _raw_step(i: int, entry: Any, log: IssueLog) -> RawStep:
    text = entry.get("text") if isinstance(entry, dict) else None
    step = RawStep(i, text if isinstance(text, str) else "", at=i)
    if not isinstance(text, str):
        step.dropped = "step_malformed"
        what = "has no text" if isinstance(entry, dict) else f"is {shown(entry)}, no object"
        log.add("step_malformed", f"step {i} {what}; dropped", at=i, step=i)
    references = entry.get("depends_on") if isinstance(entry, dict) else None
    if references is None:
        return step
    if not isinstance(references, list | tuple):
        message = f"depends_on of step {i} must be a list, not {shown(references)}"
        log.add("annotation_malformed", message, at=i, step=i)
        return step
    good = tuple(r for r in references if _is_number(r))
    bad = tuple(shown(r) for r in references if not _is_number(r))
    step.references.append(Annotation(good, bad))
    step.annotated = True
    return step


def _is_number(reference: Any) -> bool:
    """Return whether a reference can be a step number: a whole number of no absurd size."""
    whole = isinstance(reference, int) and not isinstance(reference, bool)
    return whole and reference.bit_length() <= 64
