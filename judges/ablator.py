"""The ablator: chains of thought sampled with a given reasoning forbidden."""

from __future__ import annotations

from judges.generator import Length, chain_request
from judges.plain import step_line
from judges.prompts import fence, load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Request, Sampling
from scoring.types import Trace

ROLE = "ablator"
SAMPLES = 20
DEFAULT_SAMPLING = Sampling(temperature=0.7)


def ablate_request(
    model: str,
    q: QuestionText,
    medoid: Trace,
    *,
    sample: int,
    sampling: Sampling = DEFAULT_SAMPLING,
    form: Form = "schema",
    length: Length = "short",
) -> Request:
    """Return the request for one alternative; its reply is read by `generator.read_generated`.

    All steps of the medoid are shown and forbidden, its conclusion among them, without their
    annotations. Its final answer is not shown and not forbidden: what is forbidden is reasoning,
    and an alternative that comes to the same answer by another way is what accuracy counts.

    Raises
    ------
    ValueError
        For a medoid without steps.
    """
    if not medoid.steps:
        raise ValueError("a trace without steps has no reasoning that could be forbidden")
    prompt = load_prompt(f"ablator-{form}-{length}")
    lines = (step_line(step, f"{step.index}.") for step in medoid.steps)
    forbidden = fence("\n".join(lines))
    return chain_request(
        ROLE, model, prompt, q, sample, sampling, form, length, forbidden=forbidden
    )
