"""Model text to a trace: tolerant of every deviation, silent about none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scoring.parsing.announcements import Announcements, survey
from scoring.parsing.answers import Options, read_answer
from scoring.parsing.assemble import RawStep, assemble, checked_missing, is_blank
from scoring.parsing.cues import Cue, find_cue, is_filler
from scoring.parsing.finals import Candidate, choose_answer
from scoring.parsing.issues import IssueLog, shown
from scoring.parsing.layout import MAX_STEPS, Label, find_labels, read_lines
from scoring.parsing.references import AnnotatedLine, take_annotations
from scoring.types import AnswerKind, Trace

_SENTENCE = re.compile(r"[.!?]+[\"')\]]{0,3}[ \t]+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Za-z]|\b(?:mr|mrs|ms|dr|st|vs|etc|no|approx|inc|jr|sr|prof|gen|fig|e\.g|i\.e))\.$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _State:
    """What the reader has met so far."""

    log: IssueLog
    announced: Announcements
    numbered: bool
    steps: list[RawStep] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    answers: list[Candidate] = field(default_factory=list)
    open: bool = False
    pending: Candidate | None = None
    answered: bool = False
    first: bool = False
    full: bool = False
    continued: int = 0

    def start(self, label: int | None, text: str, at: int) -> None:
        if len(self.steps) >= MAX_STEPS:
            if not self.full:
                self.log.add("text_cut", f"the first {MAX_STEPS} steps were read", at=at)
            self.full, self.open = True, False
            return
        self.steps.append(RawStep(label, "", at=at))
        self.lines.append([text] if text else [])
        self.open = True

    def annotate(self, line: AnnotatedLine, at: int) -> None:
        for code in line.codes:
            where = len(self.steps) - 1 if self.steps else None
            self.log.add(code, f"line {at + 1}: {code.replace('_', ' ')}", at=at, step=where)
        if not line.references:
            return
        if not self.steps or self.full:
            self.log.add("annotation_orphan", f"line {at + 1} annotates no step", at=at)
            return
        step = self.steps[-1]
        if step.annotated or len(line.references) > 1:
            message = "further annotations were united with the first"
            self.log.add("annotation_repeated", message, at=at, step=len(self.steps) - 1)
        step.references.extend(line.references)
        step.annotated = True


def parse_trace(
    text: str,
    *,
    kind: AnswerKind = "auto",
    options: Options | None = None,
    percent: str = "keep",
    missing: str = "chain",
) -> Trace:
    r"""Parse one sampled chain of thought.

    Parameters
    ----------
    text
        What the model wrote, whatever it is.
    kind, options, percent
        How to read the final answer, as in `read_answer`.
    missing
        What a step without annotation depends on: ``"chain"`` the step before it, ``"premise"``
        nothing; ``"exclude"`` gives a trace without steps.

    Returns
    -------
    Trace
        Its issues say everything the parser noticed, dropped or decided.

    Raises
    ------
    ValueError
        On a bad rule; never because of the text.

    Notes
    -----
    Every dependency is smaller than its step. The final answer is what follows the last readable
    "final answer"; only if there is none, "the answer is" and the like; only then the last
    ``\boxed{…}``. It is never guessed from the last number. A step that announces an answer but
    gives none ("The final answer is close."), before a line that does, stays a step (`survey`).

    References
    ----------
    Paper A, section 3 (trace format); DEFINITIONS section 1 (rules for what departs from it).

    Examples
    --------
    >>> t = parse_trace("0. Ice floats. [depends_on: none]\n1. So it is lighter. "
    ...                 "[depends_on: 0]\nThe final answer is: yes")
    >>> [s.depends_on for s in t.steps], t.answer, t.issues
    ([(), (0,)], ('boolean', True), ())
    """
    checked_missing(missing)
    read_answer("", kind, options=options, percent=percent)
    log = IssueLog()
    if not text.strip():
        log.add("empty_text", "there is no text")
    lines = read_lines(text, log)
    labels = find_labels(lines)
    state = _State(log, survey(lines, labels, kind, options, percent), bool(labels))
    if labels:
        _note_numbering(labels, log)
    elif text.strip():
        log.add("unstructured", "no step is numbered: sentences and lines were taken as steps")
    for at, line in enumerate(lines):
        _read_line(state, at, line, labels.get(at))
    _close(state)
    answer_text, answer = choose_answer(state.answers, lines, log, kind, options, percent)
    return assemble(state.steps, log, answer_text=answer_text, answer=answer, missing=missing)


def _note_numbering(labels: dict[int, Label], log: IssueLog) -> None:
    numbers = [label.number for label in labels.values()]
    at = next(iter(labels))
    if not all(label.requested for label in labels.values()):
        log.add("numbering_style", "steps are numbered otherwise than '0. …'", at=at)
    if 0 not in numbers and 1 in numbers:
        log.add("numbering_from_one", "steps are numbered from 1: shifted by one", at=at)
    elif numbers[0] != 0:
        log.add("numbering_start", f"the first step is numbered {numbers[0]}", at=at)
    for (i, label), before in zip(list(labels.items())[1:], numbers, strict=False):
        if label.number > before + 1:
            log.add("numbering_gap", f"{label.number} follows {before}", at=i)
        elif label.number <= before:
            log.add("numbering_restart", f"{label.number} follows {before}", at=i)


def _read_line(state: _State, at: int, line: str, label: Label | None) -> None:
    annotated = take_annotations(label.text if label else line)
    text = annotated.text
    cue = find_cue(text, weak=state.announced.weak)
    if at in state.announced.idle:
        cue, state.pending = None, None
        message = f"line {at + 1} announces an answer, but a later line gives it: it stays a step"
        state.log.add("announcement_kept", message, at=at)
    if label is not None:
        state.pending = None
        if state.answered and cue is None and not state.first:
            state.first = True
            state.log.add("answer_first", "the final answer stands before this step", at=at)
        state.start(label.number, "", at)
    if cue is not None and not cue.question:
        _read_cue(state, at, annotated, cue, label)
        _annotate_answer(state, annotated, at, label)
        return
    if label is not None:
        _append(state, text)
        state.annotate(annotated, at)
    elif state.pending is not None and not is_blank(text) and cue is None:
        _take_pending(state, text, at)
        _annotate_answer(state, annotated, at, label)
    elif state.numbered:
        _read_loose(state, at, line, annotated, cue)
    else:
        _read_prose(state, at, annotated)


def _read_cue(
    state: _State, at: int, annotated: AnnotatedLine, cue: Cue, label: Label | None
) -> None:
    """Take an announced answer, and keep what the line says besides.

    An annotation in the answer's place ("the profit is: [depends_on: 2]") leaves it empty.
    """
    open_end = cue.answer.endswith(":")
    replaced = bool(annotated.references) and "annotation_inline" in annotated.codes
    candidate = Candidate("" if open_end or replaced else cue.answer, at, cue.strong)
    state.answers.append(candidate)
    state.pending = None if candidate.text or annotated.references else candidate
    if cue.doubled:
        state.log.add("answer_doubled", f"line {at + 1} announces the answer twice", at=at)
    rest = annotated.text if cue.kept else cue.before
    if label is not None and cue.pure:
        if state.steps and not state.full:
            state.steps[-1].dropped = "answer_as_step"
            message = f"step {label.number} only gives the final answer; dropped"
            state.log.add("answer_as_step", message, at=at, step=len(state.steps) - 1)
        state.open = False
    elif cue.pure or is_blank(rest):
        _end_step(state, at)
    elif label is not None or state.open:
        _append(state, rest)
        if candidate.text:
            message = f"line {at + 1} gives the final answer inside a step"
            state.log.add("answer_in_step", message, at=at, step=len(state.steps) - 1)
    elif not state.numbered:
        for sentence in _sentences(rest):
            state.start(None, sentence, at)
    state.answered = True


def _end_step(state: _State, at: int) -> None:
    """Close the open step; one that only orders the answer ("Write the final answer") is dropped."""
    if state.open and state.numbered and is_filler(" ".join(state.lines[-1]), orders=True):
        step = state.steps[-1]
        if not is_blank("".join(state.lines[-1])) and step.dropped is None:
            step.dropped = "answer_as_step"
            message = f"{shown(' '.join(state.lines[-1]))} only leads up to the answer; dropped"
            state.log.add("answer_as_step", message, at=at, step=len(state.steps) - 1)
    state.open = False


def _annotate_answer(state: _State, annotated: AnnotatedLine, at: int, label: Label | None) -> None:
    """Give an answer line's annotation to its step; without one it belongs to nobody."""
    if label is not None or (state.open and state.numbered):
        state.annotate(annotated, at)
    elif annotated.references:
        state.log.add("annotation_orphan", f"line {at + 1}: the answer is annotated", at=at)


def _take_pending(state: _State, text: str, at: int) -> None:
    if state.pending is not None:
        state.pending.text = text.strip()
        state.log.add("answer_next_line", f"the answer stands in line {at + 1}", at=at)
    state.pending = None


def _read_loose(
    state: _State, at: int, line: str, annotated: AnnotatedLine, cue: Cue | None
) -> None:
    """Read a line without a number in a numbered text."""
    text = annotated.text
    if is_blank(text):
        if annotated.references:
            if state.steps and not state.full:
                message = "the annotation stands on a line of its own"
                state.log.add("annotation_next_line", message, at=at, step=len(state.steps) - 1)
            state.annotate(annotated, at)
        elif state.open and any(c not in " \t-*•" for c in text):
            _append(state, text)
        elif state.open:
            state.lines[-1].append("")
        return
    complete = bool(state.steps) and state.steps[-1].annotated and line[:1] not in (" ", "\t")
    if (cue is not None and cue.question) or (annotated.references and complete):
        state.log.add("unnumbered_step", f"line {at + 1} is a step without number", at=at)
        state.start(None, text.strip(), at)
        state.annotate(annotated, at)
    elif state.open:
        _append(state, text)
        state.annotate(annotated, at)
        if state.continued != len(state.steps):
            state.continued = len(state.steps)
            message = f"the step goes on from line {at + 1}"
            state.log.add("continuation_lines", message, at=at, step=len(state.steps) - 1)
    else:
        code = "trailing_text" if state.answered else "preamble"
        state.log.add(code, f"line {at + 1} was left out: {shown(text.strip())}", at=at)
        if annotated.references:
            state.log.add("annotation_orphan", f"line {at + 1} annotates no step", at=at)


def _read_prose(state: _State, at: int, annotated: AnnotatedLine) -> None:
    """Read a line of a text without any numbers."""
    text = annotated.text.strip(" \t")
    words = any(c.isalpha() for c in text) or "=" in text
    if is_blank(text) or not words:
        if text and state.open:
            _append(state, text)
        elif text:
            state.log.add("line_dropped", f"line {at + 1} states nothing: {shown(text)}", at=at)
        if annotated.references and state.open:
            state.annotate(annotated, at)
        elif annotated.references:
            state.log.add("annotation_orphan", f"line {at + 1} annotates no step", at=at)
    elif annotated.references:
        state.start(None, text.lstrip("#-*•> \t") or text, at)
        state.annotate(annotated, at)
    else:
        for sentence in _sentences(text):
            state.start(None, sentence, at)


def _sentences(text: str) -> list[str]:
    """Split a line into sentences, not after an initial or a usual abbreviation."""
    body = text.strip()
    if body[:2] in ("- ", "* ", "• "):
        body = body[2:].strip()
    out: list[str] = []
    start = 0
    for match in _SENTENCE.finditer(body):
        following = body[match.end() : match.end() + 1]
        head = body[max(start, match.start() - 12) : match.start() + 1]
        if following.islower() or _ABBREVIATION.search(head):
            continue
        out.append(body[start : match.end()].strip())
        start = match.end()
    out.append(body[start:].strip())
    return [s for s in out if not is_blank(s)]


def _append(state: _State, text: str) -> None:
    if state.open and text.strip(" \t"):
        state.lines[-1].append(text.rstrip(" \t"))


def _close(state: _State) -> None:
    for step, lines in zip(state.steps, state.lines, strict=True):
        step.text = "\n".join(lines).strip()
