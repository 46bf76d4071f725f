"""What every parsed trace must fulfil."""

from __future__ import annotations

from scoring.parsing import ISSUE_CODES
from scoring.types import Trace


def check_invariants(trace: Trace) -> None:
    for place, step in enumerate(trace.steps):
        assert step.index == place
        assert step.text.strip()
        assert list(step.depends_on) == sorted(set(step.depends_on))
        assert all(0 <= i < place for i in step.depends_on)
    assert {i.code for i in trace.issues} <= set(ISSUE_CODES)
    assert all(i.message.strip() for i in trace.issues)
    assert all(i.step is None or i.step >= 0 for i in trace.issues)
    if trace.answer_text is None:
        assert trace.answer is None
    if trace.answer is not None:
        assert trace.answer_text is not None
        assert trace.answer_text.strip()
