"""From raw steps with references to a trace without any bad edge."""

from __future__ import annotations

import bisect
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from scoring.parsing.folding import visible
from scoring.parsing.issues import IssueLog, shown
from scoring.parsing.references import Annotation
from scoring.types import NormalForm, Step, Trace

MissingRule = Literal["chain", "premise", "exclude"]
"""What a step without annotation depends on: the step before it, nothing, or no trace at all."""


@dataclass(slots=True)
class RawStep:
    """A step as found, before references are resolved.

    Attributes
    ----------
    label
        Its number as written, or None.
    text
        Its text; may turn out blank.
    references
        One entry per annotation; empty and ``annotated`` False when there is none.
    annotated
        Whether the model gave a usable annotation.
    at
        Line number in the source.
    code
        Code that belongs to it.
    dropped
        Issue code when the step must not stay, e.g. ``"answer_as_step"``.
    """

    label: int | None
    text: str
    references: list[Annotation] = field(default_factory=list)
    annotated: bool = False
    at: float = 0.0
    code: str | None = None
    dropped: str | None = None


def checked_missing(missing: str) -> None:
    """Raise ValueError unless `missing` is one of the rules."""
    if missing not in get_args(MissingRule):
        raise ValueError(f"missing={missing!r} must be one of {', '.join(get_args(MissingRule))}")


def is_blank(text: str) -> bool:
    r"""Return whether a text states nothing: only spaces, controls, punctuation and the unseen.

    Examples
    --------
    >>> is_blank(" **: "), is_blank("\u3164"), is_blank("∅"), is_blank("7")
    (True, True, False, False)
    """
    return all(unicodedata.category(c)[0] in "PZC" for c in visible(text))


def assemble(
    raw: Sequence[RawStep],
    log: IssueLog,
    *,
    answer_text: str | None,
    answer: NormalForm | None,
    missing: str = "chain",
) -> Trace:
    """Resolve references, drop what must go, renumber from 0.

    Parameters
    ----------
    raw
        Steps in reading order.
    log
        Where issues go; its issues end up on the trace.
    answer_text, answer
        The final answer, as written and normalised.
    missing
        Rule for steps without annotation.

    Returns
    -------
    Trace
        Every dependency is smaller than its step, so no cycle can exist. The children of a
        dropped step depend on its parents. A step without annotation names no parent: under
        ``chain`` it follows the nearest step before it that was kept, and its issue says so.

    Notes
    -----
    A reference means the number as the model wrote it. When a number occurs more than once, the
    latest occurrence before the referring step counts; a step's own number is always a
    reference to itself.
    """
    for i, step in enumerate(raw):
        if step.dropped is None and is_blank(step.text):
            step.dropped = "step_empty"
            log.add("step_empty", f"step {_name(step, i)} has no text", at=step.at, step=i)
    edges = _resolved(raw, log, missing)
    parents, final = _contracted(raw, edges)
    steps = tuple(
        Step(final[i], s.text.strip(), parents[i], s.annotated, s.code)
        for i, s in enumerate(raw)
        if s.dropped is None
    )
    _note_repeats(steps, raw, final, log)
    if missing == "exclude" and any(not s.annotated for s in steps):
        count = sum(not s.annotated for s in steps)
        log.add("unannotated", f"{count} of {len(steps)} steps have no annotation", at=-1)
        return Trace((), answer_text, answer, log.issues({}))
    if not steps:
        log.add("no_steps", "nothing usable as a step was found", at=-1)
    return Trace(steps, answer_text, answer, log.issues(final))


def _resolved(raw: Sequence[RawStep], log: IssueLog, missing: str) -> list[tuple[int, ...]]:
    """Return each raw step's dependencies as raw step numbers, all smaller than its own."""
    places: dict[int, list[int]] = {}
    for i, step in enumerate(raw):
        if step.label is not None:
            places.setdefault(step.label, []).append(i)
    edges: list[tuple[int, ...]] = []
    kept: int | None = None
    for i, step in enumerate(raw):
        if step.annotated:
            edges.append(_references(step, i, places, log))
        else:
            if step.dropped is None:
                _note_missing(raw, i, kept, log, missing)
            edges.append((kept,) if kept is not None and missing == "chain" else ())
        kept = i if step.dropped is None else kept
    return edges


def _note_missing(
    raw: Sequence[RawStep], i: int, kept: int | None, log: IssueLog, missing: str
) -> None:
    step = raw[i]
    follows = "it follows the step before it"
    if kept is None:
        follows = "the first step is a premise"
    elif kept < i - 1:
        follows = f"the one before it was dropped, so it follows step {_name(raw[kept], kept)}"
    done = {
        "chain": follows,
        "premise": "it counts as a premise",
        "exclude": "the trace is left out",
    }[missing]
    message = f"step {_name(step, i)} has no annotation: {done}"
    log.add("annotation_missing", message, at=step.at, step=i)


def _references(
    step: RawStep, i: int, places: dict[int, list[int]], log: IssueLog
) -> tuple[int, ...]:
    name = _name(step, i)
    good: list[int] = []
    seen: set[int] = set()
    bad = 0
    for number in (n for r in step.references for n in r.numbers):
        if number in seen:
            log.add("reference_duplicate", f"step {name} names {number} twice", at=step.at, step=i)
            continue
        seen.add(number)
        target, code, what = _target(number, step, i, places)
        if target is None:
            log.add(code, f"step {name} refers to {what}; edge dropped", at=step.at, step=i)
            bad += 1
        else:
            good.append(target)
    for piece in (p for r in step.references for p in r.malformed):
        message = f"step {name} refers to {shown(piece)}, which is no step number; dropped"
        log.add("reference_malformed", message, at=step.at, step=i)
        bad += 1
    if bad and not good:
        message = f"no reference of step {name} is usable: it counts as a premise"
        log.add("references_all_dropped", message, at=step.at, step=i)
    return tuple(sorted(set(good)))


def _target(
    number: int, step: RawStep, i: int, places: dict[int, list[int]]
) -> tuple[int | None, str, str]:
    """Return (raw step or None, issue code, what the reference is)."""
    if number == step.label:
        return None, "reference_self", f"itself ({number})"
    where = places.get(number, [])
    k = bisect.bisect_left(where, i)
    if k:
        return where[k - 1], "", ""
    if where:
        return None, "reference_forward", f"the later step {number}"
    return None, "reference_out_of_range", f"{number}, which no step has"


def _contracted(
    raw: Sequence[RawStep], edges: list[tuple[int, ...]]
) -> tuple[list[tuple[int, ...]], dict[int, int]]:
    """Return (parents of every raw step as final indices, raw → final index)."""
    final: dict[int, int] = {}
    heirs: list[tuple[int, ...]] = []
    for i, step in enumerate(raw):
        parents: set[int] = set()
        for j in edges[i]:
            parents.update((final[j],) if j in final else heirs[j])
        heirs.append(tuple(sorted(parents)))
        if step.dropped is None:
            final[i] = len(final)
    return heirs, final


def _note_repeats(
    steps: tuple[Step, ...], raw: Sequence[RawStep], final: dict[int, int], log: IssueLog
) -> None:
    first: dict[str, int] = {}
    back = {f: r for r, f in final.items()}
    for step in steps:
        key = " ".join(step.text.split()).casefold()
        if key in first:
            i = back[step.index]
            same = _name(raw[first[key]], first[key])
            message = f"step {_name(raw[i], i)} says the same as step {same}"
            log.add("step_repeated", message, at=raw[i].at, step=i)
        else:
            first[key] = back[step.index]


def _name(step: RawStep, i: int) -> str:
    """Return what a reader would call the step: its own number, else its place."""
    return str(step.label) if step.label is not None else f"at place {i + 1}"


END = math.inf
"""Place of issues about the end of a text."""
