"""Faithful-COT programs: numbered comments with their code lines."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from scoring.parsing.answers import Options, read_answer
from scoring.parsing.assemble import RawStep, assemble, checked_missing
from scoring.parsing.finals import answer_from_field
from scoring.parsing.issues import IssueLog, shown
from scoring.parsing.layout import MAX_STEPS, read_lines
from scoring.parsing.references import read_references
from scoring.parsing.trace import parse_trace
from scoring.types import AnswerKind, ParseIssue, Trace

_COMMENT = re.compile(r"[ \t]{0,8}#[ \t]{0,4}([0-9]{1,6})[.)](?:[ \t]+|$)")
_BRACKET = re.compile(
    r"\([ \t]{0,4}(?:(independent)|depends?[ \t]{1,4}on)\b[ \t:]{0,4}", re.IGNORECASE
)
_SUPPORT = re.compile(r",?[ \t]{0,4}support[ \t]{0,2}:", re.IGNORECASE)
_NO_CODE = re.compile(r"[ \t]{0,80}(?:#|Answer:|```)")
_NO_ANSWER = frozenset(["[invalid]", "none", "nan"])
_OF_ANSWER = frozenset(
    [
        "no_answer",
        "answer_empty",
        "answer_doubled",
        "answer_repeated",
        "answer_conflict",
        "answer_informal",
        "answer_boxed",
        "answer_unreadable",
        "answer_too_long",
        "answer_units",
        "answer_percent",
        "answer_next_line",
        "answer_in_sentence",
        "answer_first_sentence",
        "answer_expression",
        "answer_brackets",
        "answer_estimate",
        "answer_denied",
        "answer_bound",
        "answer_operation",
        "answer_polarity",
        "answer_corrected",
        "date_ambiguous",
        "date_day_first",
        "choice_text_differs",
        "truncated",
    ]
)


def parse_faithful_cot(
    text: str,
    answer: Any,
    *,
    kind: AnswerKind = "auto",
    options: Options | None = None,
    percent: str = "keep",
    missing: str = "chain",
) -> Trace:
    r"""Parse one Faithful-COT chain.

    Parameters
    ----------
    text
        A program whose numbered comments are the steps, or free text.
    answer
        The file's answer field; it is the trace's answer, whatever the text says. ``[invalid]``
        and ``None`` are the source's marks for no answer.
    kind, options, percent, missing
        As in `parse_trace`.

    Returns
    -------
    Trace
        A step is a numbered comment's sentence with the code lines below it; its bracket,
        ``(independent, …)`` or ``(depends on 1 and 2, …)``, is its annotation. Free text goes
        through `parse_trace`.

    Notes
    -----
    These programs are numbered from 1 by their own convention, so that this is no issue here.

    References
    ----------
    Faithful-COT (Lyu et al. 2023), the "NL+SL" prompts.

    Examples
    --------
    >>> t = parse_faithful_cot("# 1. How many? (independent, support: [])\nn = 3\n"
    ...                        "# 2. Final Answer: Twice? (depends on 1, support: [])\n"
    ...                        "answer = 2 * n", "6.0")
    >>> [(s.depends_on, s.code) for s in t.steps], t.answer
    ([((), 'n = 3'), ((0,), 'answer = 2 * n')], ('number', Fraction(6, 1)))
    """
    checked_missing(missing)
    read_answer("", kind, options=options, percent=percent)
    if isinstance(answer, str) and answer.strip().casefold() in _NO_ANSWER:
        answer = None  # the source's own mark
    log = IssueLog()
    lines = read_lines(text, log)
    if not any(_COMMENT.match(line) for line in lines):
        return _free_text(text, answer, kind, options, percent, missing)
    raw = _program(lines, log)
    answer_text, normal = answer_from_field(answer, log, kind, options, percent)
    return assemble(raw, log, answer_text=answer_text, answer=normal, missing=missing)


def _free_text(
    text: str,
    answer: Any,
    kind: AnswerKind,
    options: Options | None,
    percent: str,
    missing: str,
) -> Trace:
    """Parse free text; the answer field replaces what the text gives."""
    trace = parse_trace(text, kind=kind, options=options, percent=percent, missing=missing)
    log = IssueLog()
    answer_text, normal = answer_from_field(answer, log, kind, options, percent)
    kept = tuple(i for i in trace.issues if i.code not in _OF_ANSWER)
    issues: tuple[ParseIssue, ...] = (*kept, *log.issues())
    return dataclasses.replace(trace, answer_text=answer_text, answer=normal, issues=issues)


def _program(lines: list[str], log: IssueLog) -> list[RawStep]:
    raw: list[RawStep] = []
    code: list[list[str]] = []
    for at, line in enumerate(lines):
        match = _COMMENT.match(line)
        if match is not None and len(raw) >= MAX_STEPS:
            log.add("text_cut", f"the first {MAX_STEPS} steps were read", at=at)
            break
        if match is not None:
            number = int(match[1])
            if raw and number != (raw[-1].label or 0) + 1:
                restart = number <= (raw[-1].label or 0)
                kind = "numbering_restart" if restart else "numbering_gap"
                log.add(kind, f"{number} follows {raw[-1].label}", at=at)
            raw.append(_comment(number, line[match.end() :], at, log, len(raw)))
            code.append([])
        elif line.strip() and (not raw or _NO_CODE.match(line)):
            log.add("text_in_program", f"line {at + 1}: {shown(line.strip())}", at=at)
        elif raw:
            code[-1].append(line.rstrip())
    for step, block in zip(raw, code, strict=True):
        joined = "\n".join(block).strip("\n")
        step.code = joined if joined.strip() else None
    return raw


def _comment(number: int, text: str, at: int, log: IssueLog, index: int) -> RawStep:
    """Return the step of one numbered comment: sentence, bracket, support."""
    found = None
    for found in _BRACKET.finditer(text):  # noqa: B007 (the last one is wanted)
        pass
    if found is None:
        return RawStep(number, text.strip(), at=at)
    step = RawStep(number, text[: found.start()].strip(), at=at, annotated=True)
    support = _SUPPORT.search(text, found.end())
    inside = text[found.end() : support.start() if support else len(text)]
    if not text.rstrip().endswith(")"):
        log.add("annotation_unclosed", f"the bracket of step {number} is open", at=at, step=index)
    if found[1]:
        step.references.append(read_references("none"))
    else:
        step.references.append(read_references(inside.strip().rstrip(")")))
    return step
