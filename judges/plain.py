"""Text for prompts and text of replies: a trace's steps in lines, a reply without its thinking."""

from __future__ import annotations

import re

from judges.requests import Reply
from scoring.types import Step

_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_OPENS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


def one_line(text: str) -> str:
    """Return a text with every run of white space made one blank, so that it cannot pass for more
    than one line."""
    return " ".join(text.split())


def step_line(step: Step, opening: str) -> str:
    """Return a step in one line, its code behind it."""
    code = "" if step.code is None else f" (code: {one_line(step.code)})"
    return f"{opening} {one_line(step.text)}{code}"


def annotation(step: Step) -> str:
    """Return what a step itself says it depends on, as the generator is asked to write it, a blank
    before it; nothing where it does not say."""
    if not step.annotated:
        return ""
    return f" [depends_on: {', '.join(map(str, step.depends_on)) or 'none'}]"


def after_thinking(text: str) -> str:
    """Return what a reply says after the thinking it shows; nothing when that is never closed."""
    closed = list(_THOUGHT_ENDS.finditer(text))
    if closed:
        return text[closed[-1].end() :]
    return "" if _THOUGHT_OPENS.match(text) else text


def why_not(reply: Reply) -> str | None:
    """Return why a reply must not be read, None when it may be."""
    if reply.outcome == "ok":
        return None
    return f"{reply.outcome}: {reply.reason}" if reply.reason else reply.outcome
