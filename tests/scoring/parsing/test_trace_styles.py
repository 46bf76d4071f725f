"""How annotations may be worded, what follows a dropped step, and announcements without answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from scoring.parsing import is_strict, parse_trace
from scoring.types import AnswerKind, Trace

HEAD = "0. Four cups. [depends_on: none]\n1. Three trays. [depends_on: none]\n"
END = "The final answer is: 12"


def codes(trace: Trace) -> list[str]:
    return [issue.code for issue in trace.issues]


@pytest.mark.parametrize(
    "written", ["[depends_on: 0, 1]", "[depends_on:0,1]", "[depends_on: 0 ,1 ]"]
)
def test_the_requested_wording_is_strict(written: str) -> None:
    trace = parse_trace(f"{HEAD}2. Twelve. {written}\n{END}")
    assert trace.issues == ()
    assert is_strict(trace)


@pytest.mark.parametrize(
    "written",
    [
        "[depends_on: steps 0 and 1]",
        "[depends_on: 0 and 1]",
        "[depends_on: 0 1]",
        "[depends_on: 0; 1]",
        "[depends_on: 0, 1,]",
        "[depends_on: [0, 1]]",
        "[depends_on: #0, #1]",
        "[depends_on 0, 1]",
        "[depends_on: 0\u200b, 1]",
        "{depends_on: 0,1}",
        r"\{depends_on: 0, 1\}",
        '{"depends_on": [0, 1]}',
        "(depends_on: 0, 1)",
        "(depends on: steps 0 and 1)",
        "<depends_on: 0, 1>",
        "depends_on: 0, 1",
        "depends_on: 0, 1.",
        "depends_on 0, 1",
        "- depends_on: 0, 1",
        "**depends_on:** 0, 1",
        "`depends_on: 0, 1`",
        "Depends on: steps 0 and 1",
    ],
)
def test_another_wording_is_read_and_noted(written: str) -> None:
    trace = parse_trace(f"{HEAD}2. Twelve. {written}\n{END}", kind="number")
    assert [s.depends_on for s in trace.steps] == [(), (), (0, 1)]
    assert trace.steps[2].text == "Twelve."
    assert trace.steps[2].annotated
    assert codes(trace) == ["annotation_style"]
    assert not is_strict(trace)


@pytest.mark.parametrize(
    "written",
    [
        "[depends_on: n/a]",
        "[depends_on: []]",
        "[depends_on: no prior steps]",
        "{depends_on: none}",
        "(depends_on: [])",
        "depends_on: none",
        "(depends on none)",
    ],
)
def test_none_in_another_wording_is_a_noted_premise(written: str) -> None:
    trace = parse_trace(f"{HEAD}2. Twelve. {written}\n{END}", kind="number")
    assert (trace.steps[2].depends_on, trace.steps[2].annotated) == ((), True)
    assert codes(trace) == ["annotation_style"]


@pytest.mark.parametrize(
    "said",
    [
        "It depends on 0",
        "It depends on: 5 cups",
        "(depends on the lid)",
        "{depends on the lid}",
        "It depends on: 3%",
        "It depends on: 2.5",
        "depends_on: the lid",
    ],
)
def test_words_about_dependence_are_no_annotation(said: str) -> None:
    trace = parse_trace(f"{HEAD}2. Twelve. {said}\n{END}", kind="number")
    assert trace.steps[2].text == f"Twelve. {said}"
    assert not trace.steps[2].annotated


def test_a_step_without_annotation_follows_the_nearest_step_that_was_kept() -> None:
    trace = parse_trace(f"0. A. [depends_on: none]\n1. [depends_on: none]\n2. C.\n{END}")
    assert [s.depends_on for s in trace.steps] == [(), (0,)]
    assert codes(trace) == ["step_empty", "annotation_missing"]
    assert "follows step 0" in trace.issues[1].message
    later = parse_trace(
        f"0. A. [depends_on: none]\n1. B. [depends_on: none]\n2. [depends_on: 0]\n3. D.\n{END}"
    )
    assert [s.depends_on for s in later.steps] == [(), (), (1,)]
    first = parse_trace(f"0. [depends_on: none]\n1. B.\n{END}")
    assert [s.depends_on for s in first.steps] == [()]
    premise = parse_trace(f"0. A.\n1. [depends_on: 0]\n2. C.\n{END}", missing="premise")
    assert [s.depends_on for s in premise.steps] == [(), ()]


def test_an_annotated_child_of_a_dropped_step_still_inherits() -> None:
    trace = parse_trace(
        f"0. A. [depends_on: none]\n1. B. [depends_on: 0]\n2. [depends_on: 0]\n3. D. [depends_on: 2]\n"
        f"{END}"
    )
    assert [s.depends_on for s in trace.steps] == [(), (0,), (0,)]


NEAR = (
    "0. Four cups. [depends_on: none]\n1. The final answer is {}. [depends_on: 0]\n"
    "2. So twelve. [depends_on: 1]\n"
)


@pytest.mark.parametrize("said", ["close", "not 11", "at least 11", "the product of both"])
@pytest.mark.parametrize("kind", ["number", "auto"])
def test_a_step_that_announces_no_answer_stays_a_step(said: str, kind: AnswerKind) -> None:
    trace = parse_trace(NEAR.format(said) + END, kind=kind)
    assert [s.text for s in trace.steps][1] == f"The final answer is {said}."
    assert [s.depends_on for s in trace.steps] == [(), (0,), (1,)]
    assert (trace.answer_text, trace.answer) == ("12", ("number", Fraction(12)))
    assert codes(trace) == ["announcement_kept"]
    assert is_strict(trace)


def test_an_announcement_without_answer_does_not_hide_an_informal_answer() -> None:
    trace = parse_trace(NEAR.format("close") + "So the answer is 12.", kind="number")
    assert len(trace.steps) == 3
    assert trace.answer == ("number", Fraction(12))
    assert codes(trace) == ["announcement_kept", "answer_informal"]


def test_an_announcement_on_a_further_line_of_a_step_stays_there() -> None:
    trace = parse_trace(
        f"0. Four cups.\nThe final answer is close. [depends_on: none]\n1. So 12. [depends_on: 0]\n{END}",
        kind="number",
    )
    assert trace.steps[0].text == "Four cups.\nThe final answer is close."
    assert trace.steps[0].annotated
    assert codes(trace) == ["announcement_kept", "continuation_lines"]


def test_what_still_is_an_answer() -> None:
    last = parse_trace(NEAR.format("close"), kind="number")
    assert (last.answer_text, last.answer) == ("close.", None)
    assert "answer_as_step" in codes(last)
    earlier = parse_trace(NEAR.format("11") + END, kind="number")
    assert [s.text for s in earlier.steps] == ["Four cups.", "So twelve."]
    assert earlier.answer == ("number", Fraction(12))
    assert "answer_conflict" in codes(earlier)
    text = parse_trace(NEAR.format("close") + "The final answer is: far", kind="text")
    assert text.answer == ("text", "far")
    assert "answer_conflict" in codes(text)
