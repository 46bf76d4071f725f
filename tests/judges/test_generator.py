"""The generator: what is asked for a sample, and what a reply comes to."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.generator import (
    BOUNDS,
    DEFAULT_SAMPLING,
    SAMPLES,
    Length,
    generate_request,
    generator_schema,
    read_generated,
)
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply, Sampling
from scoring.parsing import ISSUE_CODES
from scoring.types import Trace
from tests.judges.asked import (
    CHOICE,
    NOT_OK,
    QUESTIONS,
    SUM,
    YES_NO,
    data,
    holds,
    ok,
    replies,
    sent,
    values,
)

GOOD = "0. A dog has 4 legs. [depends_on: none]\n1. 3 dogs have 12. [depends_on: 0]\n"
STEPS = [{"text": "A dog has 4 legs.", "depends_on": []}, {"text": "So 12.", "depends_on": [0]}]


def codes(trace: Trace) -> list[str]:
    return [issue.code for issue in trace.issues]


def test_twenty_samples_at_point_seven() -> None:
    assert SAMPLES == 20
    assert Sampling(temperature=0.7) == DEFAULT_SAMPLING
    request = generate_request("m", SUM, sample=4)
    assert (request.role, request.model, request.sample) == ("generator", "m", 4)
    assert request.sampling.temperature == 0.7
    assert request.schema == generator_schema(SUM, "short")
    assert generate_request("m", SUM, sample=4, form="text").schema is None


@pytest.mark.parametrize(("length", "least", "most"), [("short", 3, 6), ("long", 10, 20)])
def test_the_number_of_steps_is_said_and_bound(length: Length, least: int, most: int) -> None:
    schema = generator_schema(SUM, length)
    steps = schema["properties"]["steps"]
    assert (steps["minItems"], steps["maxItems"]) == (least, most)
    reference = steps["items"]["properties"]["depends_on"]["items"]
    assert (reference["minimum"], reference["maximum"]) == (0, most - 2)
    forms: tuple[Form, ...] = ("schema", "text")
    for form in forms:
        request = generate_request("m", SUM, sample=0, form=form, length=length)
        assert request.prompt_version == f"generator-{form}-{length}/1"
        assert f"{least} of them at least, {most} at most" in request.messages[0].content
    assert BOUNDS[length][:2] == (least, most)


def test_samples_differ_in_key_and_seed_only() -> None:
    first, second = (generate_request("m", SUM, sample=i) for i in (0, 1))
    assert first.body_hash == second.body_hash
    assert first.key != second.key
    seeded = [generate_request("m", SUM, sample=i, sampling=Sampling(seed=40)) for i in (0, 1, 2)]
    assert [r.sampling.seed for r in seeded] == [40, 41, 42]
    assert len({r.body_hash for r in seeded}) == 3


def test_a_passage_stands_before_the_question() -> None:
    given_one = generate_request("m", SUM, sample=0, passage="Dogs walk on {question} four.")
    own = QuestionText(SUM.text, "number", passage="Dogs walk on {question} four.")
    assert given_one == generate_request("m", own, sample=0)
    text = given_one.messages[-1].content
    assert text.startswith('Passage:\n"""\nDogs walk on {question} four.\n"""\nQuestion:\n"""\nHow')
    assert "Passage" not in generate_request("m", SUM, sample=0, passage=" ").messages[-1].content


def test_what_kind_of_answer_is_wanted_is_said() -> None:
    wanted = [generate_request("m", q, sample=0).messages[-1].content for q in QUESTIONS]
    assert [text.rsplit("\n", 1)[1] for text in wanted] == [
        "Answer form: yes or no",
        "Answer form: a number in digits, without a unit",
        "Answer form: one letter out of A, B, C",
        "Answer form: a date, written YYYY-MM-DD",
        "Answer form: a few words",
        "Answer form: a few words",
    ]


@pytest.mark.parametrize("name", ["generator-text-short", "generator-text-long"])
def test_the_worked_examples_in_text_keep_to_the_format(name: str) -> None:
    examples = load_prompt(name).examples
    for user, reply in zip(examples[::2], examples[1::2], strict=True):
        q = QuestionText("x", "number" if "number" in user.content else "boolean")
        read = read_generated("text", ok(reply.content), q)
        assert read.strict
        assert read.trace.answer is not None
        least, most = BOUNDS["long" if "long" in name else "short"][:2]
        assert least <= len(read.trace.steps) <= most
    short, long = (load_prompt(f"generator-schema-{n}").examples for n in ("short", "long"))
    for q_kind, reply in ((YES_NO, short[1]), (SUM, short[3]), (SUM, long[1])):
        assert read_generated("schema", data(json.loads(reply.content)), q_kind).strict


def test_a_text_is_parsed() -> None:
    text = GOOD + "The final answer is: 12"
    read = read_generated("text", ok(text), SUM)
    assert (read.form, read.source, read.strict) == ("text", text, True)
    assert [s.depends_on for s in read.trace.steps] == [(), (0,)]
    assert read.trace.answer == ("number", 12)


def test_thinking_is_no_part_of_the_trace() -> None:
    text = "\n" + GOOD + "The final answer is: 12"
    read = read_generated(
        "text", ok(f"<think>0. Is it 7?\nThe final answer is: 7</think>{text}"), SUM
    )
    assert (read.source, read.trace.answer, len(read.trace.steps)) == (text, ("number", 12), 2)
    never = read_generated("text", ok("<think>0. It is 7.\nThe final answer is: 7"), SUM)
    assert (never.source, never.trace.steps, never.trace.answer) == ("", (), None)


def test_steps_and_answer_are_read() -> None:
    value = {"steps": STEPS, "answer": "12"}
    read = read_generated("schema", data(value), SUM)
    assert (read.form, read.source, read.strict) == ("steps", value, True)
    assert [s.text for s in read.trace.steps] == ["A dog has 4 legs.", "So 12."]
    assert (read.trace.answer_text, read.trace.answer) == ("12", ("number", 12))
    jsonschema.validate(
        {"steps": [*STEPS, STEPS[0]], "answer": "12"}, generator_schema(SUM, "short")
    )


def test_the_question_rules_how_the_answer_is_read() -> None:
    ratio = QuestionText("x", "number", percent="ratio")
    assert read_generated(
        "schema", data({"steps": STEPS, "answer": "50%"}), ratio
    ).trace.answer == (
        "number",
        0.5,
    )
    assert read_generated("text", ok("0. x\nThe final answer is: a cork"), CHOICE).trace.answer == (
        "choice",
        "A",
    )


@pytest.mark.parametrize("outcome", NOT_OK)
@pytest.mark.parametrize("form", ["schema", "text"])
def test_a_reply_that_is_none_gives_no_answer(outcome: Outcome, form: Form) -> None:
    text = GOOD + "The final answer is: 12"
    read = read_generated(form, Reply(outcome, text, reason="for a reason"), SUM)
    assert read.trace.answer is None
    assert read.trace.answer_text is None
    assert not read.strict
    assert read.source == text
    issue = read.trace.issues[-1]
    assert issue.code == f"reply_{outcome}"
    assert issue.code in ISSUE_CODES
    assert "for a reason" in issue.message
    assert len(read.trace.steps) == (2 if (outcome, form) == ("truncated", "text") else 0)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (GOOD + "2. So it is", 2),
        (GOOD, 2),
        (GOOD + "The final answer is: 1", 2),
        (GOOD + "2. Of [1", 2),
        (GOOD + "2. Of the set [1, 2]", 2),
        (GOOD + "The final answer is: 12\nNote that", 2),
        ("0. A dog has", 0),
        ("0. A dog has 4 legs. [depends_on: none]", 1),
        ("A dog has 4 legs. Three dogs", 0),
        ("", 0),
    ],
)
def test_of_a_cut_text_the_finished_steps_are_kept(text: str, n: int) -> None:
    read = read_generated("text", Reply("truncated", text), SUM)
    assert len(read.trace.steps) == n
    assert (read.trace.answer_text, read.trace.answer) == (None, None)
    assert codes(read.trace)[-1] == "reply_truncated"
    assert "no_answer" not in codes(read.trace)


@given(replies, st.sampled_from(QUESTIONS))
def test_any_text_is_read_and_nothing_is_made_up(text: str, q: QuestionText) -> None:
    reply = ok(text)
    read = read_generated("text", reply, q)
    assert isinstance(read.source, str)
    assert text.endswith(read.source)
    if read.trace.answer_text is None:
        assert read.trace.answer is None
    else:
        # an annotation in it is taken out; nothing but punctuation may stand behind one
        assert holds(re.sub(r"\W+$", "", read.trace.answer_text), reply)


@given(values, st.sampled_from(QUESTIONS))
def test_any_json_is_read_and_nothing_is_made_up(value: Any, q: QuestionText) -> None:
    trace = read_generated("schema", data(value), q).trace
    if not isinstance(value, dict):
        assert (trace.steps, trace.answer) == ((), None)
    elif trace.answer_text is not None:
        stated = value["answer"]
        assert trace.answer_text == (
            stated.strip() if isinstance(stated, str) else str(stated).lower()
        ) or (isinstance(stated, float) and trace.answer_text == str(stated))


@given(replies, st.sampled_from(NOT_OK), st.sampled_from(QUESTIONS))
def test_no_outcome_but_ok_gives_an_answer(text: str, outcome: Outcome, q: QuestionText) -> None:
    forms: tuple[Form, ...] = ("schema", "text")
    for form in forms:
        trace = read_generated(form, Reply(outcome, text), q).trace
        assert (trace.answer_text, trace.answer) == (None, None)


def test_nothing_but_the_question_is_sent() -> None:
    text = sent(generate_request("PLANTED-MODEL", SUM, sample=17))
    assert "PLANTED" not in text
    assert "17" not in text
