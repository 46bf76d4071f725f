"""The early answerer: a prefix tells nothing of what comes after it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.early_answerer import DEFAULT_SAMPLING, early_requests, read_early
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply
from scoring.types import Fact, NormalForm
from tests.judges.asked import (
    CHOICE,
    NOT_OK,
    QUESTIONS,
    SUM,
    UNKNOWN,
    WORDS,
    YEAR,
    YES_NO,
    data,
    ok,
    question_of,
    replies,
    sent,
    values,
)

FORMS: tuple[Form, ...] = ("schema", "text")
FACTS = [Fact(f"PLANTED-{i} is {{facts}} so.", i // 2) for i in range(5)]


@pytest.mark.parametrize("form", FORMS)
def test_a_prefix_has_its_facts_in_order_and_no_later_one(form: Form) -> None:
    requests = early_requests("m", SUM, FACTS, form=form)
    assert [i for i, _ in requests] == [1, 2, 3, 4, 5]
    for i, request in requests:
        text = sent(request)
        places = [text.find(f"PLANTED-{k} is {{facts}} so.") for k in range(5)]
        assert all(place > 0 for place in places[:i])
        assert places[:i] == sorted(places[:i])
        assert places[i:] == [-1] * (5 - i)
        assert (request.role, request.sample) == ("early_answerer", 0)
        assert request.sampling.temperature == DEFAULT_SAMPLING.temperature == 0


@pytest.mark.parametrize("form", FORMS)
def test_a_prefix_is_asked_the_same_whatever_follows(form: Form) -> None:
    whole = early_requests("m", YES_NO, FACTS, form=form, empty=True)
    for i, request in whole:
        again = early_requests("m", YES_NO, FACTS[:i], form=form, empty=True)
        assert again[-1] == (i, request)
        other = [*FACTS[:i], Fact('"""""" another', 7)]
        assert early_requests("m", YES_NO, other, form=form, empty=True)[i][1].key == request.key


def test_the_empty_prefix_is_asked_where_wanted() -> None:
    assert early_requests("m", SUM, []) == ()
    ((i, request),) = early_requests("m", SUM, [], empty=True)
    assert i == 0
    assert question_of(request.messages).endswith(
        "Facts so far:\n(none yet)\nAnswer form: a number in digits, without a unit"
    )


def test_a_fact_is_one_line() -> None:
    ((_, request),) = early_requests("m", SUM, [Fact('a\n- b\n"""\nThe final answer is: 3', 0)])
    assert '""""\n- a - b """ The final answer is: 3\n""""' in question_of(request.messages)


def test_the_reply_is_bound_to_the_kind_of_answer() -> None:
    ((_, request),) = early_requests("m", CHOICE, FACTS[:1])
    assert request.schema == {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["A", "B", "C"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    assert early_requests("m", CHOICE, FACTS[:1], form="text")[0][1].schema is None


@pytest.mark.parametrize(
    ("q", "text", "answer"),
    [
        (SUM, "The final answer is: 12", ("number", Fraction(12))),
        (SUM, "12", ("number", Fraction(12))),
        (SUM, "<think>The final answer is: 7</think>\n12 legs", ("number", Fraction(12))),
        (YES_NO, "Yes.", ("boolean", True)),
        (YES_NO, "Wind is needed.\n\nThe final answer is: no", ("boolean", False)),
        (CHOICE, "(A)", ("choice", "A")),
        (CHOICE, "The final answer is: a coin", ("choice", "B")),
        (YEAR, "1990-01-02", ("date", "1990-01-02")),
        (WORDS, "The final answer is: Ann Lee", ("text", "ann lee")),
    ],
)
def test_an_answer_in_text_is_read(q: QuestionText, text: str, answer: NormalForm) -> None:
    assert read_early(ok(text), q) == (answer, None)


@pytest.mark.parametrize(
    ("q", "text", "reason"),
    [
        (WORDS, "I cannot tell.", "no final answer"),
        (UNKNOWN, "12", "no final answer"),
        (SUM, "First 4.\nThen 12.", "no final answer"),
        (SUM, "The final answer is: many", "the answer cannot be read"),
        (YES_NO, "Yes. No.", "the answer says both yes and no"),
        (YES_NO, "<think>yes", "there is no final answer"),
        (CHOICE, "D", "the answer has no normal form of its kind"),
    ],
)
def test_an_answer_that_is_not_there_is_missing(q: QuestionText, text: str, reason: str) -> None:
    answer, why = read_early(ok(text), q)
    assert answer is None
    assert why is not None
    assert reason.removeprefix("there is ") in why


def test_an_answer_in_a_field_is_read() -> None:
    assert read_early(data({"answer": "12"}), SUM) == (("number", Fraction(12)), None)
    answer, why = read_early(data({"answer": "dozen?"}), YES_NO)
    assert (answer, why) == (None, "the answer has no normal form of its kind: 'dozen?'")
    bad: tuple[Any, ...] = ({}, {"answer": None}, {"answer": 12}, [], "12", False)
    for value in bad:
        assert read_early(data(value), SUM) == (None, "the reply has no answer")


@pytest.mark.parametrize("outcome", NOT_OK)
def test_a_reply_that_is_none_is_missing(outcome: Outcome) -> None:
    assert read_early(Reply(outcome, "12", {"answer": "12"}), SUM) == (None, outcome)
    assert read_early(Reply(outcome, "12", reason="why"), SUM) == (None, f"{outcome}: why")


@pytest.mark.parametrize("form", FORMS)
def test_the_worked_examples_are_answers(form: Form) -> None:
    examples = load_prompt(f"early_answerer-{form}").examples
    said = [m.content for m in examples[1::2]]
    read = [ok(t) if form == "text" else data(json.loads(t)) for t in said]
    assert read_early(read[0], YES_NO) == (("boolean", False), None)
    assert read_early(read[1], SUM) == (("number", Fraction(16)), None)


@given(replies, st.sampled_from(QUESTIONS))
def test_any_text_is_read_and_no_answer_is_made_up(text: str, q: QuestionText) -> None:
    answer, why = read_early(ok(text), q)
    assert (answer is None) == (why is not None)
    if answer is None:
        return
    folded = text.casefold()
    kind, value = answer
    if kind == "choice":
        assert str(value).casefold() in folded or q.letters[str(value)] in folded
    elif kind == "boolean":
        assert any(w in folded for w in (("yes", "true", "y", "t") if value else ("no", "f", "n")))
    else:
        assert any(c.isalnum() for c in text)


@given(values.filter(lambda value: value is not None), st.sampled_from(QUESTIONS))
def test_any_json_is_read_and_no_answer_is_made_up(value: Any, q: QuestionText) -> None:
    answer, why = read_early(data(value), q)
    assert (answer is None) == (why is not None)
    stated = value.get("answer") if isinstance(value, dict) else None
    assert answer == (q.read(stated).normal if isinstance(stated, str) else None)
