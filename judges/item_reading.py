"""Reading what a judge of an item replied: never raises, and a verdict that is not there is None."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judges.item_judge import ItemContent, Rubric
from judges.path_judge import HIGHEST_STEP, STEP_OUT_OF_RANGE
from judges.plain import after_thinking, one_line, why_not
from judges.requests import Outcome, Reply

STEP_WITH_SOUND = "step_with_other_category"
JOINT = "+"
"""What joins several categories that hold; no name of one has it."""

_VERDICT = re.compile(r"[\W_]{0,8}(?:final )?verdict[\W_]{0,8}?[:=–-](.*)", re.IGNORECASE)
_FIRST = re.compile(
    r"[\W_]{0,8}first[ _]wrong[ _]step[\W_]{0,8}?[:=–-][\W_]{0,8}(?:step ?)?#?(?<![-–—−])"
    r"([0-9]{1,6}|none|null|n/a)[\W_]{0,8}",
    re.IGNORECASE,
)
_RATIONALE = re.compile(r"[\W_]{0,8}rationale[\W_]{0,8}?[:=–-][ *_`]{0,8}(.*)", re.IGNORECASE)
_EDGES = " .*_`\"'[]()"
_BETWEEN = re.compile(r"\s*(?:[,;/+&]|\band\b)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What a judge said of one item.

    `category` is None with a `reason` where no verdict could be read; several that hold are joined
    by ``+`` in the schema's order. `first_wrong_step` is from 0 to `HIGHEST_STEP`, or None.
    """

    category: str | None
    first_wrong_step: int | None
    rationale: str
    flags: tuple[str, ...]
    outcome: Outcome
    reason: str = ""


def read_item(reply: Reply, rubric: Rubric, content: ItemContent) -> ItemVerdict:
    """Read a verdict."""
    reason = why_not(reply)
    if reason is not None:
        return ItemVerdict(None, None, "", (), reply.outcome, reason)
    said: Any = reply.data
    why = ""
    if said is None:
        said, why = _fields(after_thinking(reply.text), rubric)
    elif not isinstance(said, dict):
        said = {}
    text = said["rationale"] if isinstance(said.get("rationale"), str) else ""
    step = said.get("first_wrong_step")
    step = step if isinstance(step, int) and not isinstance(step, bool) else None
    found = said.get("verdict")
    words = found if isinstance(found, list) else [found]
    category, wrong = _joined(words, rubric)
    if category is None:
        return ItemVerdict(None, None, text, (), "invalid", why or wrong)
    flags = []
    if step is not None and not 0 <= step < (content.n_steps or 0):
        flags.append(STEP_OUT_OF_RANGE)
    if step is not None and not rubric.with_step & set(category.split(JOINT)):
        # A label of that category has no place for a step.
        flags.append(STEP_WITH_SOUND)
        step = None
    if step is not None and not 0 <= step <= HIGHEST_STEP:
        step = None
    return ItemVerdict(category, step, text, tuple(flags), "ok")


def _joined(words: Sequence[Any], rubric: Rubric) -> tuple[str | None, str]:
    """Return the categories joined, or None and why they are no verdict."""
    if not words or any(word not in rubric.categories for word in words):
        return None, "the reply gives no verdict"
    ordered = [c for c in rubric.categories if c in words]
    if len(ordered) > 1 and not rubric.multi:
        return None, "the reply gives several verdicts"
    alone = [c for c in ordered if c in rubric.alone]
    if alone and len(ordered) > 1:
        return None, f"{alone[0]} stands alone, but the reply gives others with it"
    return JOINT.join(ordered), ""


def _fields(text: str, rubric: Rubric) -> tuple[dict[str, Any], str]:
    """Return what the labelled lines of a text reply say, and why there is no verdict, if not.

    Several verdict lines must agree. A reply that is a verdict and nothing else is one too.
    """
    lines = [one_line(line) for line in text.splitlines()]
    named = [m[1] for line in lines if (m := _VERDICT.fullmatch(line)) is not None]
    if not named and len([line for line in lines if line]) == 1:
        named = [one_line(text)]
    found = {_words(rest, rubric) for rest in named}
    rationales = [m[1] for line in lines if (m := _RATIONALE.fullmatch(line)) is not None]
    said: dict[str, Any] = {"rationale": rationales[0] if rationales else ""}
    steps = {m[1].casefold() for line in lines if (m := _FIRST.fullmatch(line)) is not None}
    if len(steps) == 1 and (step := steps.pop()).isdigit():
        said["first_wrong_step"] = int(step)
    if len(found) > 1:
        return said, "the reply gives several verdicts"
    words = found.pop() if found else None
    if words is None:
        why = "the verdict is none of the words" if named else "the reply gives no verdict"
        return said, why
    return {**said, "verdict": list(words)}, ""


def _words(rest: str, rubric: Rubric) -> tuple[str, ...] | None:
    """Return the words that a verdict line gives, None when it gives anything else.

    Behind a single word a remark may stand, unless it has another of the words in it.
    """
    known = {name.casefold(): name for name in rubric.categories}
    whole = rest.strip(_EDGES).casefold()
    if whole in known:
        return (known[whole],)
    if rubric.multi:
        parts = [part.strip(_EDGES).casefold() for part in _BETWEEN.split(whole)]
        if all(part in known for part in parts):
            return tuple(c for c in rubric.categories if c.casefold() in parts)
        return None
    for name in sorted(known, key=len, reverse=True):
        remark = whole.removeprefix(name).lstrip("*_`\"'")
        if whole.startswith(name) and re.match(r"\s*[.,;:(–—]", remark):
            others = [other for other in known if other != name]
            if any(re.search(rf"\b{re.escape(other)}\b", remark) for other in others):
                return None
            return (known[name],)
    return None
