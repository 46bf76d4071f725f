"""The counterfactual answerer: the answer that follows from a trace's steps, one of them edited."""

from __future__ import annotations

from judges.counterfactual_editor import intermediate_steps, stated
from judges.early_answerer import read_early
from judges.prompts import fence, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Reply, Request, Sampling
from judges.schemas import bounded, closed_object
from scoring.types import NormalForm, Trace

ROLE = "counterfactual_answerer"
DEFAULT_SAMPLING = Sampling(temperature=0.0)


def reasoning(trace: Trace, *, step: int | None = None, edit: str = "") -> tuple[str, ...]:
    """Return the lines of reasoning that are asked about: the intermediate steps in order.

    With `step` that step says `edit`. They are counted anew, so that no gap tells that anything
    was left out.
    """
    said = (edit if s.index == step else stated(s) for s in intermediate_steps(trace))
    return tuple(f"{i}. {' '.join(text.split())}" for i, text in enumerate(said))


def answer_request(
    model: str,
    q: QuestionText,
    lines: tuple[str, ...],
    *,
    repeat: int = 0,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
) -> Request:
    """Return the request for the answer to some lines of reasoning; `repeat` tells askings apart.

    The edited and the unedited reasoning are asked in the very same way.
    """
    prompt = load_prompt(f"counterfactual_answerer-{form}")
    schema = closed_object({"answer": q.answer_schema()})
    messages = prompt.fill(
        question=q.block(prompt),
        steps=fence("\n".join(lines)),
        answer_form=q.answer_form(prompt),
    )
    bound = schema if form == "schema" else None
    return Request(
        ROLE, model, messages, bounded(sampling, schema, form), bound, repeat, prompt.label
    )


def read_answered(reply: Reply, q: QuestionText) -> tuple[NormalForm | None, str | None]:
    """Return (answer, None) or (None, why it is missing), as early answers are read."""
    return read_early(reply, q)
