"""The coder: a program that works out the numbers of a template. It is read, never executed here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judges.plain import after_thinking, why_not
from judges.prompts import fence, load_prompt
from judges.requests import Form, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.deduction import first_stated, placeholders

ROLE = "coder"
DEFAULT_SAMPLING = Sampling(temperature=0.0)
MAX_CODE = 2000

_BLOCK = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


def code_request(
    model: str,
    question: str,
    steps: Sequence[str],
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request for a template's program: texts with placeholders, no values."""
    prompt = load_prompt(f"coder-{form}")
    schema = coder_schema()
    given = placeholders(question)
    wanted = first_stated(steps, given)
    messages = prompt.fill(
        question=fence(question.strip()),
        steps=fence("\n".join(steps)),
        given=", ".join(given),
        wanted=", ".join(wanted),
    )
    bound = schema if form == "schema" else None
    drawn = bounded(sampling, schema, form)
    return Request(ROLE, model, messages, drawn, bound, prompt_version=prompt.label)


def coder_schema() -> Schema:
    """Return the schema of a program: one text."""
    return closed_object({"code": {"type": "string", "maxLength": MAX_CODE}})


def read_code(reply: Reply) -> tuple[str | None, str]:
    """Return (program, ""), or (None, why there is none); what it does is not looked at."""
    reason = why_not(reply)
    if reason is not None:
        return None, reason
    if reply.data is not None:
        said = reply.data.get("code") if isinstance(reply.data, dict) else None
        text = said if isinstance(said, str) else ""
    else:
        text = after_thinking(reply.text)
    blocks = _BLOCK.findall(text)
    code = (blocks[0] if blocks else text).strip("\n")
    return (code, "") if code.strip() else (None, "the reply holds no program")
