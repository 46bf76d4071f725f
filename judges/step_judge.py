"""What the step judge is shown: question, the whole trace, and which of its steps is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judges.item_judge import Block, ItemContent
from judges.plain import annotation, one_line, step_line
from judges.questions import QuestionText
from scoring.types import Step, Trace

ROLE = "step_judge"
TRACE_ROLE = "trace_judge"
"""The judge of whole paths under a schema that a user wrote; `path_judge` is for the shipped one."""


def step_content(q: QuestionText, trace: Trace, step: int) -> ItemContent:
    """Return what is judged of one step: the later ones too, for a step can be irrelevant only to
    what comes after it. The trace's answer is not shown.

    Raises
    ------
    ValueError
        When the trace has no such step.
    """
    at = next((n for n, s in enumerate(trace.steps) if s.index == step), None)
    if at is None:
        raise ValueError(f"step {step}; the trace has {len(trace.steps)}, numbered from 0")
    return ItemContent(
        ROLE,
        (
            *_question(q),
            Block("trace", "\n".join(_lines(trace.steps)), at),
            Block("step", _lines([trace.steps[at]])[0]),
        ),
    )


def trace_content(q: QuestionText, trace: Trace) -> ItemContent:
    """Return what is judged of a whole path: question, steps, the trace's own answer.

    Raises
    ------
    ValueError
        For a trace without steps.
    """
    if not trace.steps:
        raise ValueError("a trace without steps cannot be judged: it is excluded and counted")
    blocks = [*_question(q), Block("trace", "\n".join(_lines(trace.steps)), len(trace.steps) // 2)]
    if trace.answer_text is not None:
        blocks.append(Block("answer", one_line(trace.answer_text)))
    return ItemContent(TRACE_ROLE, tuple(blocks), n_steps=len(trace.steps))


def _question(q: QuestionText) -> tuple[Block, ...]:
    """Return passage and question."""
    *passage, question = q.texts
    return (*(Block("passage", text) for text in passage), Block("question", question))


def _lines(steps: Sequence[Step]) -> list[str]:
    return [f"{step_line(step, f'{step.index}.')}{annotation(step)}" for step in steps]


@dataclass(frozen=True, slots=True)
class FirstWrong:
    """Where a trace first goes wrong, by verdicts on its steps.

    `known` is False while an earlier step than any wrong one has no verdict: it could be the first.
    """

    step: int | None
    known: bool


def first_wrong_step(verdicts: Mapping[int, str | None], n_steps: int, sound: str) -> FirstWrong:
    """Return the first step whose verdict is not `sound`.

    >>> first_wrong_step({0: "valid", 1: "arithmetic", 2: None}, 3, "valid")
    FirstWrong(step=1, known=True)
    >>> first_wrong_step({0: "valid", 2: "arithmetic"}, 3, "valid")
    FirstWrong(step=None, known=False)
    >>> first_wrong_step({0: "valid", 1: "valid"}, 2, "valid")
    FirstWrong(step=None, known=True)
    """
    for step in range(n_steps):
        verdict = verdicts.get(step)
        if verdict is None:
            return FirstWrong(None, known=False)
        if verdict != sound:
            return FirstWrong(step, known=True)
    return FirstWrong(None, known=True)
