"""Model text → `Trace`, answers → normal forms: tolerant, never silent, never raising on text."""

from scoring.parsing.answers import (
    AnswerReading,
    Options,
    format_answer,
    normalize_answer,
    read_answer,
)
from scoring.parsing.faithful_cot import parse_faithful_cot
from scoring.parsing.issues import FORMAT_NEUTRAL, ISSUE_CODES, is_strict
from scoring.parsing.steps import trace_from_steps
from scoring.parsing.trace import parse_trace

__all__ = [
    "FORMAT_NEUTRAL",
    "ISSUE_CODES",
    "AnswerReading",
    "Options",
    "format_answer",
    "is_strict",
    "normalize_answer",
    "parse_faithful_cot",
    "parse_trace",
    "read_answer",
    "trace_from_steps",
]
