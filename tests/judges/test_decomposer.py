"""The decomposer: what is asked of a trace, and which facts a reply has."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.decomposer import (
    DEFAULT_SAMPLING,
    Decomposed,
    decompose_request,
    decomposer_schema,
    read_facts,
)
from judges.prompts import load_prompt
from judges.questions import QuestionText
from judges.requests import Form, Outcome, Reply
from scoring.graphs.build import graph_structure
from scoring.types import Fact, ParseIssue, Step, Trace
from tests.judges.asked import NOT_OK, TRACE, data, holds, ok, question_of, replies, sent, values

FORMS: tuple[Form, ...] = ("schema", "text")


def pairs(result: Decomposed) -> list[tuple[int, str]]:
    return [(fact.step, fact.text) for fact in result.facts]


def test_the_request_holds_question_and_steps() -> None:
    request = decompose_request("m", QuestionText("How many?", "number"), TRACE)
    assert (request.role, request.prompt_version) == ("decomposer", "decomposer-schema/1")
    assert request.sampling.temperature == DEFAULT_SAMPLING.temperature == 0
    assert question_of(request.messages) == (
        'Question:\n"""\nHow many?\n"""\nSteps:\n"""\n[0] A dog has 4 legs.\n'
        '[1] There are 3 dogs.\n[2] 3 times 4 is 12.\n"""'
    )


@pytest.mark.parametrize("form", FORMS)
def test_no_answer_is_sent(form: Form) -> None:
    trace = Trace(
        TRACE.steps,
        "PLANTED-TEXT",
        ("text", "PLANTED-NORMAL"),
        (ParseIssue("no_answer", "PLANTED-ISSUE"),),
    )
    q = QuestionText("Which?", "choice", ["PLANTED-OPTION"], passage="PLANTED-PASSAGE")
    assert "PLANTED" not in sent(decompose_request("PLANTED-MODEL", q, trace, form=form))


def test_a_step_is_one_line_whatever_it_holds() -> None:
    steps = (Step(0, 'a\n[1] b\r\n"""\u2028[2] c', code="x = 1\ny = {steps}"), Step(1, "d"))
    request = decompose_request("m", QuestionText("q"), Trace(steps, None, None))
    assert question_of(request.messages).split("Steps:\n")[1] == (
        '""""\n[0] a [1] b """ [2] c (code: x = 1 y = {steps})\n[1] d\n""""'
    )


def test_the_schema_has_a_list_for_every_step_and_no_other() -> None:
    schema = decomposer_schema(TRACE)
    assert list(schema["properties"]) == ["step_0", "step_1", "step_2"]
    validator = jsonschema.Draft202012Validator(schema)
    good: dict[str, Any] = {"step_0": ["a"], "step_1": [], "step_2": ["b", "c"]}
    assert validator.is_valid(good)
    for bad in (
        {"step_0": ["a"], "step_1": []},
        good | {"step_3": ["d"]},
        good | {"step_1": ["a"] * 5},
        good | {"step_1": ["a" * 121]},
        good | {"step_1": [1]},
    ):
        assert not validator.is_valid(bad)
    with pytest.raises(ValueError, match="without steps"):
        decomposer_schema(Trace((), "12", None))


def test_facts_keep_the_order_of_steps() -> None:
    reply = data({"step_2": ["3 times 4 is 12."], "step_0": ["Dogs walk.", "A dog\nhas 4 legs."]})
    assert read_facts(reply, TRACE) == Decomposed(
        (Fact("Dogs walk.", 0), Fact("A dog has 4 legs.", 0), Fact("3 times 4 is 12.", 2)),
        (1,),
        (),
        "ok",
    )


def test_a_dropped_step_hands_its_parents_on() -> None:
    trace = Trace((Step(0, "a"), Step(1, "b", (0,)), Step(2, "c", (1,))), None, None)
    facts = read_facts(data({"step_0": ["a"], "step_1": [], "step_2": ["c"]}), trace)
    assert facts.dropped == (1,)
    assert graph_structure(trace, facts.facts).edges == ((0, 1),)


def test_what_names_no_step_is_invented() -> None:
    result = read_facts(ok("[0] A dog has 4 legs.\n[3] Dogs bark.\n[12] Cats do not."), TRACE)
    assert pairs(result) == [(0, "A dog has 4 legs.")]
    assert result.invented == ("Dogs bark.", "Cats do not.")
    assert result.dropped == (1, 2)
    assert result.outcome == "ok"
    alone = read_facts(ok("[3] Dogs bark."), TRACE)
    assert (alone.facts, alone.invented, alone.outcome) == ((), ("Dogs bark.",), "invalid")
    assert alone.reason == "no statement names a step of the trace"
    assert alone.dropped == ()


def test_a_step_says_one_thing_once() -> None:
    result = read_facts(ok("[0] A dog has legs.\n[0] a  dog has LEGS.\n[1] A dog has legs."), TRACE)
    assert pairs(result) == [(0, "A dog has legs."), (1, "A dog has legs.")]
    assert result.repeated == 1


@pytest.mark.parametrize(
    "line",
    [
        "[1] There are 3 dogs.",
        "  - [1] There are 3 dogs.",
        "**[1]** There are 3 dogs.",
        "[1]: There are 3 dogs.",
        "[step 1] There are 3 dogs.",
        "(1) There are 3 dogs.",
        "Step 1: There are 3 dogs.",
        "step 1 - There are 3 dogs.",
        "1: There are 3 dogs.",
        "| There are 3 dogs. [step 1]"[2:],
        "### There are 3 dogs. [step: 1, depends_on: none]",
        "There are 3 dogs. (step 1)",
        "[1] There are 3 dogs. [depends_on: 0, 1]",
    ],
)
def test_a_line_may_name_its_step_in_other_ways(line: str) -> None:
    assert pairs(read_facts(ok(f"Here are the facts:\n\n{line}\nDone."), TRACE)) == [
        (1, "There are 3 dogs.")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "There are 3 dogs.",
        "0.5 litres are left.",
        "1. A dog has 4 legs.\n2. There are 3 dogs.",
        "0. A dog has 4 legs.\n1. There are 3 dogs.\n2. 12.",
        "1. A dog has 4 legs.\n1. There are 3 dogs.\n1. So 12.",
        "2. So 12.\n0. A dog has 4 legs.\n0. There are dogs.",
        "[0]\n[1] ...\n[2] -",
        "12:30 is the time.",
        "<think>[0] A dog has 4 legs.",
        f"[0] {'long ' * 500}",
    ],
)
def test_where_no_line_surely_names_its_step_there_are_no_facts(text: str) -> None:
    result = read_facts(ok(text), TRACE)
    assert (result.facts, result.dropped, result.outcome) == ((), (), "invalid")
    assert result.reason == "no statement was found"


def test_a_plain_count_that_repeats_counts_steps() -> None:
    text = "0. Dogs have legs.\n0. A dog has 4.\n1) There are 3 dogs.\n2. So 12."
    assert [step for step, _ in pairs(read_facts(ok(text), TRACE))] == [0, 0, 1, 2]


def test_thinking_gives_no_facts() -> None:
    result = read_facts(ok("<think>[0] Dogs bark.</think>\n[1] There are 3 dogs."), TRACE)
    assert pairs(result) == [(1, "There are 3 dogs.")]


@pytest.mark.parametrize("outcome", NOT_OK)
def test_a_reply_that_is_none_gives_no_facts(outcome: Outcome) -> None:
    result = read_facts(Reply(outcome, "[0] A dog has 4 legs.", reason="why"), TRACE)
    assert result == Decomposed((), (), (), outcome, f"{outcome}: why")


@pytest.mark.parametrize("form", FORMS)
def test_the_worked_example_is_whole(form: Form) -> None:
    user, reply = load_prompt(f"decomposer-{form}").examples
    n = user.content.count("\n[")
    trace = Trace(tuple(Step(i, "x") for i in range(n)), None, None)
    said = ok(reply.content) if form == "text" else data(json.loads(reply.content))
    result = read_facts(said, trace)
    assert (result.dropped, result.invented, result.repeated) == ((), (), 0)
    assert len(result.facts) == 5


@given(replies)
def test_any_text_is_read_and_no_fact_is_made_up(text: str) -> None:
    reply = ok(text)
    result = read_facts(reply, TRACE)
    assert (not result.facts) == (result.outcome == "invalid") == bool(result.reason)
    for step, statement in pairs(result):
        assert 0 <= step < 3
        assert holds(statement, reply)
        assert statement.strip()
    assert all(holds(statement, reply) for statement in result.invented)
    if result.facts:
        assert set(result.dropped) == {0, 1, 2} - {fact.step for fact in result.facts}
        graph_structure(TRACE, result.facts)


@given(values.filter(lambda value: value is not None))
def test_any_json_is_read(value: Any) -> None:
    result = read_facts(data(value), TRACE)
    stated = value.get("step_0") if isinstance(value, dict) else None
    texts = (
        {" ".join(t.split()) for t in stated if isinstance(t, str)}
        if isinstance(stated, list)
        else set()
    )
    assert {fact.text for fact in result.facts} <= texts
    assert {fact.step for fact in result.facts} <= {0}


@given(st.lists(st.sampled_from(["a", "b c", "d\ne"]), min_size=1, max_size=4))
def test_the_prompt_grows_with_the_steps_alone(texts: list[str]) -> None:
    trace = Trace(tuple(Step(i, t) for i, t in enumerate(texts)), "x", None)
    bare = replace(
        trace, answer_text=None, steps=tuple(replace(s, depends_on=()) for s in trace.steps)
    )
    q = QuestionText("q")
    assert decompose_request("m", q, trace) == decompose_request("m", q, bare)
