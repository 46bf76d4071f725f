"""What the tests of the roles share: replies, questions, a trace."""

from __future__ import annotations

import json
import re
import string
from typing import Any

from hypothesis import strategies as st

from judges.plain import one_line
from judges.questions import QuestionText
from judges.requests import Message, Outcome, Reply, Request
from scoring.types import Step, Trace

YES_NO = QuestionText("Can a kite fly without wind?", "boolean")
SUM = QuestionText("How many legs have 3 dogs?", "number")
CHOICE = QuestionText("Which floats?", "choice", ["(A) a cork", "a coin", "a nail"])
YEAR = QuestionText("When did it open?", "date")
WORDS = QuestionText("Who wrote it?", "text")
UNKNOWN = QuestionText("What is it?")
QUESTIONS = (YES_NO, SUM, CHOICE, YEAR, WORDS, UNKNOWN)

TRACE = Trace(
    (
        Step(0, "A dog has 4 legs."),
        Step(1, "There are 3 dogs."),
        Step(2, "3 times 4 is 12.", (0, 1)),
    ),
    "12",
    None,
)

NOT_OK: tuple[Outcome, ...] = ("refused", "empty", "truncated", "invalid", "failed", "unasked")


def ok(text: str) -> Reply:
    """A reply in plain text."""
    return Reply("ok", text)


def data(value: Any) -> Reply:
    """A reply bound by a schema."""
    return Reply("ok", json.dumps(value), value)


def sent(request: Request) -> str:
    """Everything a request tells the model."""
    return "\n".join(m.content for m in request.messages)


def question_of(messages: tuple[Message, ...]) -> str:
    """The last message: what is asked, after the worked examples."""
    return messages[-1].content


def holds(text: str, reply: Reply) -> bool:
    """Whether a text stands in a reply, white space and case aside."""
    return one_line(text).casefold() in one_line(reply.text).casefold()


_KEYS = [
    *("steps", "answer", "text", "depends_on", "step_0", "step_9"),
    *("verdict", "first_wrong_step", "rationale", "why"),
]

_PIECES = [
    *("Verdict: ", "verdict", "faithful", "spurious", "not ", "First wrong step: ", "none", "-1"),
    *("Rationale: ", "The final answer is: ", "answer", "yes", "no", "A", "(B)", "a cork", "12"),
    *("[0] ", "[1]", "[7] ", "0. ", "1. ", "2: ", "Step 1: ", "[step: 2, depends_on: 0]"),
    *("[depends_on: none]", "[depends_on: 0]", "<think>", "</think>", "\n", "\n\n", " ", "**"),
    *('"', "{", "}", "#", "-", "\\boxed{3}", "\ud800", "\x00", "\u2028", "٣", "½", "1990-01-02"),
]

replies = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.one_of(st.sampled_from(_PIECES), st.text(string.printable, max_size=8)), max_size=30
    ).map("".join),
)
"""Texts a model could write, made of what the readers look for and of anything else."""

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), replies, st.sampled_from(_PIECES)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5),
    ),
    max_leaves=12,
)
"""JSON values, whatever the schema said."""


def unmarked(text: str) -> str:
    """Return a judge's message without its first line, quotation marks in place of its own row."""
    first, _, rest = text.partition("\n")
    found = re.search(r"lines that read (==== [0-9a-f]{16} ====);", first)
    assert found is not None
    assert rest.count(found[1]) >= 4
    return rest.replace(found[1], '"""')
