"""The solver: the model whose deductions are measured, asked for a solution or the rest of one."""

from __future__ import annotations

from typing import Literal

from judges.prompts import fence, load_prompt
from judges.requests import Message, Request, Sampling

ROLE = "solver"
DEFAULT_SAMPLING = Sampling(temperature=0.0, max_tokens=512)
"""Replies are free text, so that nothing but this limit ends a model that does not stop."""

PrefixWay = Literal["none", "assistant", "quoted"]
"""How given steps are sent: there are none, as the assistant's own unfinished message, or quoted."""


def solve_request(
    model: str,
    question: str,
    *,
    prefix: str = "",
    way: PrefixWay = "none",
    sampling: Sampling = DEFAULT_SAMPLING,
) -> Request:
    """Return the request for a solution, or for how one goes on.

    Parameters
    ----------
    model : str
        What the server calls the model.
    question : str
        The problem, as it stands.
    prefix : str
        Given steps, one a line; none where it is empty.
    way : {"none", "assistant", "quoted"}
        ``assistant`` sends them as the last message, which only some servers continue (`probe`
        finds out); ``quoted`` puts them into the question.
    sampling : Sampling
        How the model is sampled.

    Raises
    ------
    ValueError
        When steps are given without a way of sending them, or the other way round.

    References
    ----------
    Paper C, appendix A.1 ("Inference on mutated dataset").
    """
    if bool(prefix.strip()) != (way != "none"):
        raise ValueError(f"way is {way!r} with a prefix of {len(prefix)} characters")
    if way == "quoted":
        prompt = load_prompt("solver-text-quoted")
        messages = prompt.fill(question=question.strip(), prefix=fence(prefix.strip()))
    else:
        prompt = load_prompt("solver-text")
        messages = prompt.fill(question=question.strip())
        if way == "assistant":
            messages = (*messages, Message("assistant", prefix.strip() + "\n"))
    return Request(ROLE, model, messages, sampling, None, 0, prompt.label)


__all__ = ["DEFAULT_SAMPLING", "ROLE", "PrefixWay", "solve_request"]
