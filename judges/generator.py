"""The generator: sampled chains of thought whose steps say what they depend on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from judges.plain import after_thinking
from judges.prompts import Prompt, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Reply, Request, Sampling
from judges.schemas import Schema, bounded, closed_object
from scoring.parsing import is_strict, parse_trace, trace_from_steps
from scoring.types import ParseIssue, Trace

ROLE = "generator"
SAMPLES = 20
DEFAULT_SAMPLING = Sampling(temperature=0.7)

Length = Literal["short", "long"]

_CLOSED = re.compile(r"\[depends_on:[^\[\]]*\]$")


class Bounds(NamedTuple):
    """How many steps a chain has, how many characters a step, how many references."""

    least: int
    most: int
    text: int
    references: int


BOUNDS: Mapping[Length, Bounds] = {"short": Bounds(3, 6, 160, 4), "long": Bounds(10, 20, 120, 4)}


@dataclass(frozen=True, slots=True)
class Generated:
    """One sampled trace.

    `source` is what `trace` was parsed from: the text (without thinking that the model shows), or
    the reply's steps and answer. A reply that is none gives a trace without steps and answer, with
    the issue ``reply_`` and the outcome.
    """

    source: str | dict[str, Any]
    form: Literal["text", "steps"]
    trace: Trace
    strict: bool


def generate_request(
    model: str,
    q: QuestionText,
    *,
    sample: int,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    length: Length = "short",
    passage: str | None = None,
) -> Request:
    """Return the request for one sample.

    `passage` stands in place of the question's own. Without a `max_tokens` the limit is what the
    longest allowed reply needs. A seed gets the sample's number added: a server that honours seeds
    would otherwise give the same trace 20 times.
    """
    asked = q if passage is None else replace(q, passage=passage)
    prompt = load_prompt(f"generator-{form}-{length}")
    return chain_request(ROLE, model, prompt, asked, sample, sampling, form, length)


def chain_request(
    role: str,
    model: str,
    prompt: Prompt,
    q: QuestionText,
    sample: int,
    sampling: Sampling,
    form: Form,
    length: Length,
    **values: str,
) -> Request:
    """Return a role's request for one chain; `values` fill what its prompt has besides."""
    schema = generator_schema(q, length)
    drawn = bounded(sampling, schema, form)
    if drawn.seed is not None:
        drawn = replace(drawn, seed=drawn.seed + sample)
    bounds = BOUNDS[length]
    return Request(
        role,
        model,
        prompt.fill(
            least=str(bounds.least),
            most=str(bounds.most),
            question=q.block(prompt),
            answer_form=q.answer_form(prompt),
            **values,
        ),
        drawn,
        schema if form == "schema" else None,
        sample,
        prompt.label,
    )


def generator_schema(q: QuestionText, length: Length) -> Schema:
    """Return the schema of a chain: steps with references to other steps, then the answer."""
    bounds = BOUNDS[length]
    reference = {"type": "integer", "minimum": 0, "maximum": bounds.most - 2}
    step = closed_object(
        {
            "text": {"type": "string", "maxLength": bounds.text},
            "depends_on": {"type": "array", "maxItems": bounds.references, "items": reference},
        }
    )
    steps = {"type": "array", "minItems": bounds.least, "maxItems": bounds.most, "items": step}
    return closed_object({"steps": steps, "answer": q.answer_schema()})


def read_generated(form: Form, reply: Reply, q: QuestionText) -> Generated:
    """Read one sample; nothing a model writes raises.

    Of a text that was cut off the finished steps are read, never an answer.
    """
    if reply.outcome == "ok" and form == "schema":
        return _from_steps(reply.data, q)
    text = after_thinking(reply.text)
    if reply.outcome == "ok":
        trace = _parsed(text, q)
    elif reply.outcome == "truncated" and form == "text":
        whole = _parsed(_finished(text), q)
        kept = tuple(i for i in whole.issues if i.code not in ("no_answer", "truncated"))
        trace = Trace(whole.steps, None, None, (*kept, _issue(reply)))
    else:
        trace = Trace((), None, None, (_issue(reply),))
    return Generated(text, "text", trace, is_strict(trace))


def _from_steps(data: Any, q: QuestionText) -> Generated:
    fields = data if isinstance(data, dict) else {}
    source = {"steps": fields.get("steps"), "answer": fields.get("answer")}
    trace = trace_from_steps(
        source["steps"],
        source["answer"],
        kind=q.answer_kind,
        options=q.options,
        percent=q.percent,
    )
    return Generated(source, "steps", trace, is_strict(trace))


def _parsed(text: str, q: QuestionText) -> Trace:
    return parse_trace(text, kind=q.answer_kind, options=q.options, percent=q.percent)


def _finished(text: str) -> str:
    """Return a cut-off text without the line that was being written, unless its annotation, and
    with it the step, was finished."""
    before, _, last = text.rstrip().rpartition("\n")
    return text if _CLOSED.search(last) else before


def _issue(reply: Reply) -> ParseIssue:
    reason = f": {reply.reason}" if reply.reason else ""
    return ParseIssue(f"reply_{reply.outcome}", f"the reply is {reply.outcome}{reason}")
