"""The path judge: whether a trace's reasoning is sound, and where it first goes wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.fencing import Fencing
from judges.orders import drawn_order
from judges.plain import after_thinking, annotation, one_line, step_line, why_not
from judges.prompts import Prompt, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Message, Outcome, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.types import Trace

ROLE = "path_judge"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
CATEGORIES = ("faithful", "spurious")
MAX_RATIONALE = 240

FAITHFUL_WITH_WRONG_STEP = "faithful_with_wrong_step"
SPURIOUS_WITHOUT_STEP = "spurious_without_step"
STEP_OUT_OF_RANGE = "step_out_of_range"

HIGHEST_STEP = 2**31 - 1
"""No database counts steps beyond; a step that is named must not be below 0 either."""

_VERDICT = re.compile(r"[\W_]{0,8}(?:final )?verdict[\W_]{0,8}?[:=–-][\W_]{0,8}(.*)", re.IGNORECASE)
_WORD = re.compile(r"(faithful|spurious)[*_`\"']{0,4}(?:$|[.,;:(–—](.*))", re.IGNORECASE)
_FIRST = re.compile(
    r"[\W_]{0,8}first[ _]wrong[ _]step[\W_]{0,8}?[:=–-][\W_]{0,8}(?:step ?)?#?(?<![-–—−])"
    r"([0-9]{1,6}|none|null|n/a)(?:[\W_]{0,8}$| ?[.,;:(–—*](?![0-9]).*)",
    re.IGNORECASE,
)
_RATIONALE = re.compile(r"[\W_]{0,8}rationale[\W_]{0,8}?[:=–-][ *_`]{0,8}(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """What a judge said of one path, as it said it.

    `category` is None with a `reason` where no verdict could be read. `first_wrong_step` is None or
    from 0 to `HIGHEST_STEP`; any other number is none, with the flag ``step_out_of_range``. `flags`
    say what contradicts itself; nothing is mended.
    """

    category: str | None
    first_wrong_step: int | None
    rationale: str
    flags: tuple[str, ...]
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """What several verdicts on one path come to.

    `category` is None on a tie and where none could be read. `share` is the share of the `n_parsed`
    verdicts that gave the most frequent category, the self-agreement of a repeated judge.
    `first_wrong_step` is the step that most of the majority named ("none" counts as one), None on a
    tie.
    """

    category: str | None
    n: int
    n_parsed: int
    share: float | None
    tied: bool
    first_wrong_step: int | None


def option_order(seed: int, item: str, repeat: int) -> tuple[str, str]:
    """Return the two verdict words in the order in which one request offers them; see
    `drawn_order`."""
    return drawn_order(CATEGORIES, seed, item, repeat)


def judge_request(
    model: str,
    q: QuestionText,
    trace: Trace,
    *,
    item: str,
    repeat: int = 0,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    seed: int = 0,
    prompt: Prompt | None = None,
) -> Request:
    """Return the request for one verdict: question, steps, the trace's own answer, nothing else.

    `item` only draws the order of the verdict words (and of the worked examples): it is not sent.
    A sampling seed gets the repeat's number added; the newest `prompt` that ships is used unless
    another one is given. ValueError for a trace without steps.
    """
    order = option_order(seed, item, repeat)
    prompt = load_prompt(f"path_judge-{form}") if prompt is None else prompt
    schema = judge_schema(trace, order)
    drawn = bounded(sampling, schema, form)
    if drawn.seed is not None:
        drawn = replace(drawn, seed=drawn.seed + repeat)
    lines = [f"{step_line(step, f'{step.index}.')}{annotation(step)}" for step in trace.steps]
    if trace.answer_text is not None:
        lines.append(prompt.part("stated", answer=one_line(trace.answer_text)))
    enclosed = Fencing(prompt, *q.texts, *lines)
    messages = replace(prompt, examples=_ordered(prompt, order)).fill(
        rules="\n".join(prompt.part(word) for word in order),
        first=order[0],
        second=order[1],
        question=q.block(prompt, enclosed),
        trace=enclosed("\n".join(lines)),
        **enclosed.values,
    )
    bound = schema if form == "schema" else None
    return Request(ROLE, model, messages, drawn, bound, repeat, prompt.label)


def planted_trace(trace: Trace, sentence: str) -> Trace:
    """Return a trace with a sentence at the end of its middle step: a model could have written it.

    ValueError for a trace without steps.
    """
    if not trace.steps:
        raise ValueError("a trace without steps has no place for a sentence")
    at = len(trace.steps) // 2
    step = trace.steps[at]
    planted = replace(step, text=f"{step.text} {sentence}")
    return replace(trace, steps=(*trace.steps[:at], planted, *trace.steps[at + 1 :]))


def judge_schema(trace: Trace, order: tuple[str, str] = CATEGORIES) -> Schema:
    """Return the schema of a verdict: the reason first, then the step, then the word."""
    if not trace.steps:
        raise ValueError("a trace without steps cannot be judged: it is excluded and counted")
    last = len(trace.steps) - 1
    return closed_object(
        {
            "rationale": {"type": "string", "maxLength": MAX_RATIONALE},
            "first_wrong_step": {"type": ["integer", "null"], "minimum": 0, "maximum": last},
            "verdict": {"type": "string", "enum": list(order)},
        }
    )


def _ordered(prompt: Prompt, order: tuple[str, str]) -> tuple[Message, ...]:
    """Return the worked examples, that of the word offered first before the other.

    The file has two, in the order of `CATEGORIES`.
    """
    faithful, spurious = prompt.examples[:2], prompt.examples[2:]
    return (*faithful, *spurious) if order == CATEGORIES else (*spurious, *faithful)


def read_verdict(reply: Reply, trace: Trace) -> PathVerdict:
    """Read a verdict; nothing a model writes raises, and a verdict that is not there is None."""
    reason = why_not(reply)
    if reason is not None:
        return PathVerdict(None, None, "", (), reply.outcome, reason)
    why = "the reply gives no verdict"
    said: Any = reply.data
    if said is None:
        said, why = _fields(after_thinking(reply.text))
    elif not isinstance(said, dict):
        said = {}
    category, step = said.get("verdict"), said.get("first_wrong_step")
    named = step if isinstance(step, int) and not isinstance(step, bool) else None
    number = named if named is not None and 0 <= named <= HIGHEST_STEP else None
    text = said["rationale"] if isinstance(said.get("rationale"), str) else ""
    if category not in CATEGORIES:
        return PathVerdict(None, number, text, _flags(None, named, trace), "invalid", why)
    return PathVerdict(category, number, text, _flags(category, named, trace), "ok")


def _flags(category: str | None, step: int | None, trace: Trace) -> tuple[str, ...]:
    flags = []
    if category == "faithful" and step is not None:
        flags.append(FAITHFUL_WITH_WRONG_STEP)
    if category == "spurious" and step is None:
        flags.append(SPURIOUS_WITHOUT_STEP)
    if step is not None and not 0 <= step < len(trace.steps):
        flags.append(STEP_OUT_OF_RANGE)
    return tuple(flags)


def _fields(text: str) -> tuple[dict[str, Any], str]:
    """Return what the labelled lines of a text reply say, and why there is no verdict, if not.

    Several verdict lines must agree. A reply that is one of the two words and nothing else is a
    verdict too.
    """
    lines = [one_line(line) for line in text.splitlines()]
    named = [m[1] for line in lines if (m := _VERDICT.fullmatch(line)) is not None]
    if not named:
        alone = one_line(text).strip(".*_`\"' ").casefold()
        named = [alone] if alone in CATEGORIES else []
    words = {_word(rest) for rest in named}
    steps = {m[1].casefold() for line in lines if (m := _FIRST.fullmatch(line)) is not None}
    said: dict[str, Any] = {}
    why = "the reply gives no verdict"
    if len(words) > 1:
        why = "the reply gives several verdicts"
    elif words:
        said["verdict"] = words.pop()
        why = "the verdict is neither of the two words"
    if len(steps) == 1 and (step := steps.pop()).isdigit():
        said["first_wrong_step"] = int(step)
    rationales = [m[1] for line in lines if (m := _RATIONALE.fullmatch(line)) is not None]
    said["rationale"] = rationales[0] if rationales else ""
    return said, why


def _word(rest: str) -> str | None:
    """Return the verdict word that opens what follows the label, unless the other one is there."""
    match = _WORD.match(rest)
    if match is None:
        return None
    word = match[1].casefold()
    other = CATEGORIES[1 - CATEGORIES.index(word)]
    return None if other in (match[2] or "").casefold() else word


def majority(verdicts: Sequence[PathVerdict]) -> JudgePanel:
    """Return the majority of several verdicts on one path, of one judge or of several."""
    parsed = [v for v in verdicts if v.category is not None]
    if not parsed:
        return JudgePanel(None, len(verdicts), 0, None, False, None)
    category, most = _mode([v.category for v in parsed])
    tied = category is None
    step = _mode([v.first_wrong_step for v in parsed if v.category == category])[0]
    share = most / len(parsed)
    return JudgePanel(category, len(verdicts), len(parsed), share, tied, step)


def _mode(values: Sequence[Any]) -> tuple[Any, int]:
    """Return the most frequent value and its count; None for a value when two are."""
    ranked = Counter(values).most_common(2)
    if not ranked:
        return None, 0
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None, ranked[0][1]
    return ranked[0]
