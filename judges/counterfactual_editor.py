"""The counterfactual editor: one step of a trace rewritten to state another plausible fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from judges.plain import after_thinking, one_line, step_line, why_not
from judges.prompts import fence, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.types import Step, Trace

ROLE = "counterfactual_editor"
DEFAULT_SAMPLING = Sampling(temperature=0.0)

Fault = Literal["unread", "empty", "identical", "other_steps", "too_long"]
"""Why a reply is no edit: it cannot be read, it says nothing, it says what the step says, it has
other steps or an answer in it, or it is far longer than the step."""

FAULTS: tuple[Fault, ...] = get_args(Fault)

_LEAST_BOUND, _MOST_BOUND = 160, 2000
_OWN_WORDS = 4
"""A step of fewer words may well occur in another one by chance."""

_LINE = re.compile(
    r"[\s>*#•+_`–-]{0,12}(?:[\[(] ?(?:step ?)?#?([0-9]{1,6}) ?[\])]|"
    r"step ?#?([0-9]{1,6})(?![0-9])|([0-9]{1,6})[.):](?=\*{0,2} ))\*{0,2} ?[:.–-]?\*{0,2} ?(.*)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[\s>*#•+_`–-]{0,12}")
_ANNOTATION = re.compile(r" ?\[depends?[ _-]?on[^\[\]]*\]$", re.IGNORECASE)
_ANSWER = re.compile(r"(?:the )?final answer(?: is)?\b", re.IGNORECASE)
_WORD = re.compile(r"\w+|[<>=+*/%−-]")


@dataclass(frozen=True, slots=True)
class Edited:
    """What an editor made of one step: the new `text` in one line, or a `fault` and a `reason`."""

    text: str | None
    fault: Fault | None
    outcome: Outcome
    reason: str = ""


def intermediate_steps(trace: Trace) -> tuple[Step, ...]:
    """Return the steps that are edited, and all that a prompt shows: those some other builds on.

    The others are terminal: the conclusion, which is left out together with the final answer.
    """
    used = {i for step in trace.steps for i in step.depends_on}
    return tuple(step for step in trace.steps if step.index in used)


def edit_request(
    model: str,
    q: QuestionText,
    trace: Trace,
    step: int,
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request to rewrite one intermediate step, the others beside it.

    Raises
    ------
    ValueError
        When the step is terminal, or none of the trace's.
    """
    steps = intermediate_steps(trace)
    marked = next((s for s in steps if s.index == step), None)
    if marked is None:
        known = ", ".join(str(s.index) for s in steps) or "none"
        raise ValueError(f"step {step} is no intermediate step of this trace; those are: {known}")
    prompt = load_prompt(f"counterfactual_editor-{form}")
    schema = editor_schema(marked)
    lines = "\n".join(step_line(s, f"[{s.index}]") for s in steps)
    return Request(
        ROLE,
        model,
        prompt.fill(
            question=fence(q.shown),
            steps=fence(lines),
            step=fence(step_line(marked, f"[{marked.index}]")),
        ),
        bounded(sampling, schema, form),
        schema if form == "schema" else None,
        prompt_version=prompt.label,
    )


def editor_schema(step: Step) -> Schema:
    """Return the schema of an edit: one text, so that no other step can be rewritten with it."""
    return closed_object({"step": {"type": "string", "maxLength": longest_edit(step)}})


def longest_edit(step: Step) -> int:
    """Return how many characters an edit may have: twice the step's, rounded up to a hundred."""
    twice = -(-2 * len(stated(step)) // 100) * 100
    return min(max(twice, _LEAST_BOUND), _MOST_BOUND)


def stated(step: Step) -> str:
    """Return a step in one line as prompts show it, its code behind it, without a number."""
    return step_line(step, "").strip()


def read_edit(reply: Reply, trace: Trace, step: int) -> Edited:
    """Read an edit; nothing a model writes raises.

    An edit is one line that does not say what the step says (case, punctuation and white space
    aside) and in which no other step of the trace is repeated, renumbered or answered.
    """
    reason = why_not(reply)
    if reason is not None:
        return Edited(None, "unread", reply.outcome, reason)
    known = {s.index: s for s in trace.steps}
    if reply.data is not None:
        said = reply.data.get("step") if isinstance(reply.data, dict) else None
        if not isinstance(said, str):
            return _bad("unread", "the reply has no step")
        lines = [line for raw in said.splitlines() if (line := one_line(raw))]
        if all(_numbered(line)[0] is None for line in lines[1:]):
            lines = [" ".join(lines)]  # one statement, broken into lines
        found: Edited | str = _of_lines(lines, known, step)
    else:
        found = _of_lines(after_thinking(reply.text).splitlines(), known, step)
    return found if isinstance(found, Edited) else _checked(found, known, step)


def _bad(fault: Fault, reason: str) -> Edited:
    outcome: Outcome = "invalid" if fault == "unread" else "ok"
    return Edited(None, fault, outcome, reason)


def _of_lines(lines: Sequence[str], known: dict[int, Step], step: int) -> Edited | str:
    """Return the one line that is the edit, or why there is none.

    Lines that repeat other steps as they are say nothing new and are passed over.
    """
    plain = [line for raw in lines if (line := one_line(raw))]
    if not plain:
        return _bad("empty", "the reply says nothing")
    own: list[str] = []
    loose: list[str] = []
    for number, text in map(_numbered, plain):
        if number == step:
            own.append(text)
        elif number is None:
            loose.append(text)
        elif number not in known or _words(text) != _words(stated(known[number])):
            return _bad("other_steps", f"the reply rewrites step {number} too")
    if any(_ANSWER.match(text) for text in (*own, *loose)):
        return _bad("other_steps", "the reply gives an answer")
    if len(own) == 1:
        return own[0]
    if not own and len(loose) == 1:
        return loose[0]
    if not own and not loose:
        return _bad("unread", f"the reply does not have step {step}")
    why = "step twice" if own else "several lines, none of which names the step"
    return _bad("unread", f"the reply has {why}")


def _numbered(line: str) -> tuple[int | None, str]:
    match = _LINE.fullmatch(line)
    if match is None:
        text, number = _MARKS.sub("", line, count=1), None
    else:
        text, number = match[4], int(match[1] or match[2] or match[3])
    return number, _ANNOTATION.sub("", text).strip()


def _checked(text: str, known: dict[int, Step], step: int) -> Edited:
    words = _words(text)
    old = known[step]
    if not any(c.isalnum() for c in text):
        return _bad("empty", "the step says nothing")
    if words in (_words(stated(old)), _words(old.text)):
        return _bad("identical", "the step says what it said")
    if len(text) > longest_edit(old):
        return _bad("too_long", f"{len(text)} characters where {longest_edit(old)} are the most")
    before = _words(stated(old))
    for other in _others(known, step):
        theirs = _words(other.text)
        if len(theirs) >= _OWN_WORDS and _holds(words, theirs) and not _holds(before, theirs):
            return _bad("other_steps", f"step {other.index} is repeated in it")
    return Edited(text, None, "ok")


def _others(known: dict[int, Step], step: int) -> Iterator[Step]:
    return (s for i, s in known.items() if i != step)


def _words(text: str) -> list[str]:
    """Return the words and signs of a text, without case: what makes two texts say the same."""
    return _WORD.findall(text.casefold())


def _holds(words: list[Any], part: list[Any]) -> bool:
    n = len(part)
    return any(words[i : i + n] == part for i in range(len(words) - n + 1))
