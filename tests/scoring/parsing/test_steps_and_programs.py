"""Decoded steps (native JSONL) and Faithful-COT programs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.parsing import is_strict, parse_faithful_cot, trace_from_steps
from scoring.types import Trace


def edges(trace: Trace) -> list[tuple[int, ...]]:
    return [step.depends_on for step in trace.steps]


def codes(trace: Trace) -> list[str]:
    return [issue.code for issue in trace.issues]


def test_decoded_steps() -> None:
    trace = trace_from_steps(
        [{"text": "a", "depends_on": []}, {"text": "b", "depends_on": [0]}, {"text": "c"}], "no"
    )
    assert edges(trace) == [(), (0,), (1,)]
    assert [s.annotated for s in trace.steps] == [True, True, False]
    assert trace.answer == ("boolean", False)
    assert codes(trace) == ["annotation_missing"]
    assert is_strict(trace_from_steps([{"text": "a", "depends_on": []}], "no"))


@pytest.mark.parametrize(
    ("references", "left", "expected"),
    [
        ([2], (), ["reference_self", "references_all_dropped"]),
        ([3], (), ["reference_forward", "references_all_dropped"]),
        (
            [9, -1],
            (),
            ["reference_out_of_range", "reference_out_of_range", "references_all_dropped"],
        ),
        ([0, 0, 1], (0, 1), ["reference_duplicate"]),
        (["0", 1, True, 1.0, None], (1,), ["reference_malformed"] * 4),
        ("0", (1,), ["annotation_malformed", "annotation_missing"]),
        ({"0": 1}, (1,), ["annotation_malformed", "annotation_missing"]),
        (None, (1,), ["annotation_missing"]),
        ([10**30], (), ["reference_malformed", "references_all_dropped"]),
    ],
)
def test_bad_references_in_decoded_steps(
    references: Any, left: tuple[int, ...], expected: list[str]
) -> None:
    steps = [{"text": "a", "depends_on": []}, {"text": "b", "depends_on": []}]
    steps += [{"text": "c", "depends_on": references}, {"text": "d", "depends_on": []}]
    trace = trace_from_steps(steps, "yes")
    assert trace.steps[2].depends_on == left
    assert codes(trace) == expected


@pytest.mark.parametrize(
    "bad", [{"text": "  ", "depends_on": [0]}, {"depends_on": [0]}, {"text": 5, "depends_on": [0]}]
)
def test_the_children_of_a_dropped_step_inherit_its_parents(bad: Any) -> None:
    trace = trace_from_steps(
        [{"text": "a", "depends_on": []}, bad, {"text": "c", "depends_on": [1]}], 3
    )
    assert [s.text for s in trace.steps] == ["a", "c"]
    assert edges(trace) == [(), (0,)]
    assert codes(trace)[0] in ("step_empty", "step_malformed")
    assert trace.answer == ("number", Fraction(3))


@pytest.mark.parametrize("steps", [None, "text", 5, {"text": "a"}, [], [None, 3, "x", []]])
def test_what_are_no_steps(steps: Any) -> None:
    trace = trace_from_steps(steps, None)
    assert trace.steps == ()
    assert {"no_steps", "no_answer"} <= set(codes(trace))


@pytest.mark.parametrize(
    ("answer", "text", "normal"),
    [
        (True, "true", ("boolean", True)),
        (7, "7", ("number", Fraction(7))),
        (2.5, "2.5", ("number", Fraction(5, 2))),
        (float("nan"), "nan", ("text", "nan")),
        (" 8 ", "8", ("number", Fraction(8))),
        ("", None, None),
        ([8], None, None),
        (None, None, None),
    ],
)
def test_answers_in_a_field(answer: Any, text: str | None, normal: Any) -> None:
    trace = trace_from_steps([{"text": "a", "depends_on": []}], answer)
    assert (trace.answer_text, trace.answer) == (text, normal)
    assert bool(trace.issues) == (text is None)


def test_absurd_numbers_raise_nothing() -> None:
    trace = trace_from_steps([{"text": "a", "depends_on": [10**6000]}], 10**6000)
    assert edges(trace) == [()]
    assert (trace.answer_text, trace.answer) == (None, None)


def test_exclude_and_premise_apply_to_decoded_steps() -> None:
    steps = [{"text": "a", "depends_on": []}, {"text": "b"}]
    assert edges(trace_from_steps(steps, "1", missing="premise")) == [(), ()]
    assert codes(trace_from_steps(steps, "1", missing="exclude"))[0] == "unannotated"
    with pytest.raises(ValueError, match="missing"):
        trace_from_steps(steps, "1", missing="x")


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
step_like = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=5) | json_like,
        "depends_on": st.lists(st.integers(-2, 8)) | json_like,
    },
)


@given(json_like | st.lists(step_like | json_like, max_size=8), json_like)
def test_any_decoded_json_gives_a_well_formed_trace(steps: Any, answer: Any) -> None:
    trace = trace_from_steps(steps, answer)
    assert [s.index for s in trace.steps] == list(range(len(trace.steps)))
    for step in trace.steps:
        assert step.text.strip()
        assert all(0 <= j < step.index for j in step.depends_on)


PROGRAM = """# 1. How many rows are there? (independent, support: ["7 rows (of jars)"])
rows = 7
# 2. How many jars stand in a row? (independent, support: ["External knowledge: 6"])
jars = 6
# 3. How many jars are there? (depends on 1 and 2, support: [])
total = 0
for i in range(rows):
    total += jars
# 4. Final Answer: How many jars are whole (not broken)? (depends on 1, 2, and 3, support: [])
answer = total - 5
"""


def test_a_program() -> None:
    trace = parse_faithful_cot(PROGRAM, "37.0", kind="number")
    assert [s.text for s in trace.steps] == [
        "How many rows are there?",
        "How many jars stand in a row?",
        "How many jars are there?",
        "Final Answer: How many jars are whole (not broken)?",
    ]
    assert edges(trace) == [(), (), (0, 1), (0, 1, 2)]
    assert trace.steps[2].code == "total = 0\nfor i in range(rows):\n    total += jars"
    assert (trace.answer_text, trace.answer) == ("37.0", ("number", Fraction(37)))
    assert is_strict(trace)


@pytest.mark.parametrize(
    ("bracket", "left", "code"),
    [
        ("(depends on 2)", (), "reference_self"),
        ("(depends on 3, support: [])", (), "reference_forward"),
        ("(depends on 1 and x = y * z, support: [])", (0,), "reference_malformed"),
        ('(depends on 1, support: ["cut', (0,), "annotation_unclosed"),
        ("", (0,), "annotation_missing"),
    ],
)
def test_bad_brackets_in_programs(bracket: str, left: tuple[int, ...], code: str) -> None:
    text = f"# 1. a? (independent)\nx = 1\n# 2. b? {bracket}\ny = x\n# 3. c? (depends on 2)\nanswer = y"
    trace = parse_faithful_cot(text, 3)
    assert edges(trace) == [(), left, (1,)]
    assert code in codes(trace)


def test_lines_that_are_no_code_are_left_out() -> None:
    trace = parse_faithful_cot(
        '```\n# 1. a? (independent)\nx = 1\n# evaluate\nAnswer: "1"\n```', 1, kind="number"
    )
    assert trace.steps[0].code == "x = 1"
    assert codes(trace) == ["text_in_program"] * 4


def test_free_text_keeps_the_answer_field() -> None:
    text = "Corks are light. So the answer is no."
    trace = parse_faithful_cot(text, True, kind="boolean")
    assert [s.text for s in trace.steps] == ["Corks are light."]
    assert (trace.answer_text, trace.answer) == ("true", ("boolean", True))
    assert "answer_informal" not in codes(trace)
    assert edges(parse_faithful_cot("A one. A two.", True)) == [(), (0,)]


@pytest.mark.parametrize("mark", ["[invalid]", "None", None])
def test_the_sources_marks_for_no_answer(mark: Any) -> None:
    trace = parse_faithful_cot(PROGRAM, mark, kind="number")
    assert (trace.answer_text, trace.answer) == (None, None)
    assert codes(trace) == ["no_answer"]


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "# 1. ",
                "# 2. ",
                "(depends on ",
                "1",
                ")",
                "\n",
                "x = 1",
                "independent",
                "support:",
                " and ",
                "#",
            ]
        )
    ).map("".join)
)
def test_any_program_gives_a_well_formed_trace(text: str) -> None:
    trace = parse_faithful_cot(text, "1")
    for step in trace.steps:
        assert step.text.strip()
        assert all(0 <= j < step.index for j in step.depends_on)
