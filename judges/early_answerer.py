"""The early answerer: the answer given only the first facts of a trace."""

from __future__ import annotations

from collections.abc import Sequence

from judges.plain import after_thinking, one_line, why_not
from judges.prompts import fence, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Reply, Request, Sampling
from judges.schemas import bounded, closed_object
from scoring.parsing import AnswerReading, parse_trace
from scoring.types import Fact, NormalForm

ROLE = "early_answerer"
DEFAULT_SAMPLING = Sampling(temperature=0.0)


def early_requests(
    model: str,
    q: QuestionText,
    facts: Sequence[Fact],
    *,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    empty: bool = False,
) -> tuple[tuple[int, Request], ...]:
    """Return (prefix, request) for facts 1..i, i = 1..n; for none of them (0) too when `empty`.

    A prompt holds the question and the prefix's facts: not how many there are in all, no answer.
    """
    prompt = load_prompt(f"early_answerer-{form}")
    schema = closed_object({"answer": q.answer_schema()})
    drawn = bounded(sampling, schema, form)
    lines = [f"- {one_line(fact.text)}" for fact in facts]
    out = []
    for i in range(0 if empty else 1, len(lines) + 1):
        known = fence("\n".join(lines[:i])) if i else prompt.part("no_facts")
        messages = prompt.fill(
            question=q.block(prompt), facts=known, answer_form=q.answer_form(prompt)
        )
        bound = schema if form == "schema" else None
        out.append((i, Request(ROLE, model, messages, drawn, bound, 0, prompt.label)))
    return tuple(out)


def read_early(reply: Reply, q: QuestionText) -> tuple[NormalForm | None, str | None]:
    """Return (answer, None) or (None, why it is missing); nothing a model writes raises.

    In a text reply the answer is what a "final answer" line gives; a reply of one line is taken
    whole where the question wants a number, a truth value, a choice or a date.
    """
    reason = why_not(reply)
    if reason is not None:
        return None, reason
    if reply.data is not None:
        said = reply.data.get("answer") if isinstance(reply.data, dict) else None
        if not isinstance(said, str):
            return None, "the reply has no answer"
        return _result(q.read(said))
    text = after_thinking(reply.text).strip()
    trace = parse_trace(text, kind=q.answer_kind, options=q.options, percent=q.percent)
    if trace.answer is not None:
        return trace.answer, None
    if trace.answer_text is None and len(text.splitlines()) == 1 and q.wanted != "text":
        return _result(q.read(text))
    why = "no final answer" if trace.answer_text is None else "the answer cannot be read"
    return None, why


def _result(reading: AnswerReading) -> tuple[NormalForm | None, str | None]:
    if reading.normal is not None:
        return reading.normal, None
    return None, "; ".join(i.message for i in reading.issues) or "the answer cannot be read"
