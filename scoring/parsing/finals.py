"""Which of the announced answers is the final one, and how a field's answer is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scoring.parsing.answers import Options, normalize_answer, read_answer
from scoring.parsing.assemble import END, is_blank
from scoring.parsing.folding import last_boxed
from scoring.parsing.issues import IssueLog, shown
from scoring.types import AnswerKind, NormalForm


@dataclass(slots=True)
class Candidate:
    """An announced answer.

    Attributes
    ----------
    text
        What follows the announcement; empty when nothing does.
    at
        Line number.
    strong
        Whether it is announced as the "final answer".
    """

    text: str
    at: int
    strong: bool


def choose_answer(
    candidates: Sequence[Candidate],
    lines: Sequence[str],
    log: IssueLog,
    kind: AnswerKind,
    options: Options | None,
    percent: str,
) -> tuple[str | None, NormalForm | None]:
    """Choose the final answer among what was announced, and say how.

    Parameters
    ----------
    candidates
        Announced answers in reading order; an empty text means that none followed.
    lines
        The text, for a boxed answer and for seeing where it stops.
    log
        Where issues go.
    kind, options, percent
        As in `read_answer`.

    Returns
    -------
    tuple
        (answer as written or None, normal form or None).
    """
    given = [c for c in candidates if not is_blank(c.text)]
    chosen: Candidate | None = None
    if given:
        chosen = _last_readable(given, log, kind, options, percent)
        if not chosen.strong:
            log.add("answer_informal", "read after 'the answer is' or the like", at=chosen.at)
    else:
        boxed = last_boxed("\n".join(lines))
        if boxed is not None:
            log.add("answer_boxed", f"read from the last box: {shown(boxed)}", at=END)
            chosen = Candidate(boxed, len(lines), False)
    if chosen is None:
        empty = bool(candidates)
        code = "answer_empty" if empty else "no_answer"
        what = "a final answer is announced, but none follows" if empty else "no final answer"
        log.add(code, what, at=END)
        if not empty and _stops_short(lines):
            log.add("truncated", "the text stops in mid-sentence", at=END)
        return None, None
    reading = read_answer(chosen.text, kind, options=options, percent=percent)
    for issue in reading.issues:
        log.add(issue.code, issue.message, at=END)
    return chosen.text, reading.normal


def _last_readable(
    given: list[Candidate], log: IssueLog, kind: AnswerKind, options: Options | None, percent: str
) -> Candidate:
    if len(given) == 1:
        return given[0]
    recent = given[-50:]
    forms = [normalize_answer(c.text, kind, options=options, percent=percent) for c in recent]
    same = len(set(forms)) == 1 and len({c.text for c in recent} if forms[0] is None else {1}) == 1
    code = "answer_repeated" if same else "answer_conflict"
    log.add(code, f"{len(given)} final answers", at=recent[-1].at)
    readable = [c for c, form in zip(recent, forms, strict=True) if form is not None]
    return readable[-1] if readable else recent[-1]


def _stops_short(lines: Sequence[str]) -> bool:
    last = next((line.rstrip() for line in reversed(lines) if line.strip()), "")
    return bool(last) and last[-1] not in ".!?:])}\"'*`$”’"


def answer_from_field(
    answer: Any, log: IssueLog, kind: AnswerKind, options: Options | None, percent: str
) -> tuple[str | None, NormalForm | None]:
    """Read an answer that stands in a field of its own.

    Parameters
    ----------
    answer
        A string, truth value, number, or None; anything else is no answer.
    log
        Where issues go.
    kind, options, percent
        As in `read_answer`.

    Returns
    -------
    tuple
        (answer as text or None, normal form or None).
    """
    huge = isinstance(answer, int) and answer.bit_length() > 4096
    if answer is None or huge or not isinstance(answer, str | bool | int | float):
        log.add("no_answer", f"the answer field holds none: {shown(answer)}", at=END)
        return None, None
    text = answer if isinstance(answer, str) else str(answer)
    text = text.lower() if isinstance(answer, bool) else text.strip()
    if is_blank(text):
        log.add("answer_empty", "the answer field is empty", at=END)
        return None, None
    reading = read_answer(text, kind, options=options, percent=percent)
    for issue in reading.issues:
        log.add(issue.code, issue.message, at=END)
    return text, reading.normal
