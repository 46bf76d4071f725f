"""From stored traces to the texts and structures that are embedded and scored."""

from __future__ import annotations

from scoring.types import Fact, Step, Trace


def fact_text(step: Step) -> str:
    """Return what a step states: its sentence and, where it has one, its code line."""
    return step.text if step.code is None else f"{step.text}\n{step.code}"


def undecomposed(trace: Trace) -> tuple[Fact, ...]:
    """Return one fact per step (decomposition ``none``)."""
    return tuple(Fact(fact_text(step), step.index) for step in trace.steps)
