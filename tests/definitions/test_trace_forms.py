"""Traces given as records or programs, and what holds whatever the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.parsing import is_strict, parse_faithful_cot, parse_trace, trace_from_steps
from tests.definitions.traces import check_invariants

Deps = list[tuple[int, ...]]

# --- steps and answer given apart -----------------------------------------------------------------


def test_steps_of_a_record() -> None:
    trace = trace_from_steps(
        [
            {"text": "a", "depends_on": []},
            {"text": "b", "depends_on": [0, 0, 1, 2, 9, -1]},
            {"text": "c", "depends_on": [1, 0]},
        ],
        "$1,800",
    )
    check_invariants(trace)
    assert [s.depends_on for s in trace.steps] == [(), (0,), (0, 1)]
    assert {i.code for i in trace.issues} >= {
        "reference_duplicate",
        "reference_self",
        "reference_forward",
        "reference_out_of_range",
    }
    assert trace.answer == ("number", 1800)
    assert trace.answer_text == "$1,800"


@pytest.mark.parametrize(
    ("steps", "texts", "deps"),
    [
        # A dropped step's children inherit its parents.
        (
            [
                {"text": "a", "depends_on": []},
                {"text": "  ", "depends_on": [0]},
                {"text": "c", "depends_on": [1]},
            ],
            ["a", "c"],
            [(), (0,)],
        ),
        (
            [{"text": "a", "depends_on": []}, 7, {"text": "c", "depends_on": [0]}],
            ["a", "c"],
            [(), (0,)],
        ),
        (
            [{"text": "a", "depends_on": "none"}, {"text": "b", "depends_on": {"x": 1}}],
            ["a", "b"],
            [(), (0,)],
        ),
        ([], [], []),
        ([{"text": ""}], [], []),
        (
            [{"text": "a", "depends_on": []}, {"text": "b", "depends_on": ["x"]}],
            ["a", "b"],
            [(), ()],
        ),
        (
            [{"text": "a", "depends_on": []}, {"text": "b", "depends_on": [True]}],
            ["a", "b"],
            [(), ()],
        ),
    ],
)
def test_steps_that_are_not_as_they_should_be(steps: Any, texts: list[str], deps: Deps) -> None:
    trace = trace_from_steps(steps, "1")
    check_invariants(trace)
    assert [s.text for s in trace.steps] == texts
    assert [s.depends_on for s in trace.steps] == deps
    assert trace.answer == ("number", 1)
    assert trace.issues


# --- Faithful-COT --------------------------------------------------------------------------------

PROGRAM = """# 1. How many jars does a crate hold? (independent, support: ["holds 4 jars"])
jars = 4
# 2. How many crates are there? (independent, support: ["three crates"])
crates = 3
# 3. How many jars are there? (depends on 1 and 2, support: [])
total = jars * crates
# 4. Final Answer: How many jars? (depends on 3, support: [])
answer = total
"""


def test_a_program() -> None:
    trace = parse_faithful_cot(PROGRAM, "12.0", kind="number")
    check_invariants(trace)
    assert trace.answer == ("number", 12)
    assert trace.answer_text == "12.0"
    assert [s.depends_on for s in trace.steps[:3]] == [(), (), (0, 1)]
    assert all(s.annotated for s in trace.steps)
    assert [s.text for s in trace.steps[:2]] == [
        "How many jars does a crate hold?",
        "How many crates are there?",
    ]
    assert [s.code for s in trace.steps[:3]] == ["jars = 4", "crates = 3", "total = jars * crates"]
    assert len(trace.steps) == 4
    assert trace.steps[3].depends_on == (2,)


@pytest.mark.parametrize(
    ("bracket", "deps", "issue"),
    [
        ("(depends on 1, support: [])", (0,), None),
        ("(depends on 1, 2, and 3, support: [])", (0, 1, 2), None),
        ("(depends on 1, 2 and 3, support: [])", (0, 1, 2), None),
        ("(depends on 4, support: [])", (), "reference_self"),
        ("(depends on 2 and 7, support: [])", (1,), "reference_out_of_range"),
        ("(independent, support: [])", (), None),
        ('(independent, support: ["depends on 1 and 2"])', (), None),
        ('(depends on 3, support: ["a (small) cup [blue]"])', (2,), None),
    ],
)
def test_brackets_of_a_program(bracket: str, deps: tuple[int, ...], issue: str | None) -> None:
    head = "".join(
        f"# {i}. What is v{i}? (independent, support: [])\nv{i} = {i}\n" for i in (1, 2, 3)
    )
    trace = parse_faithful_cot(f"{head}# 4. What is w? {bracket}\nw = 9\n", "9", kind="number")
    check_invariants(trace)
    assert len(trace.steps) == 4
    assert trace.steps[3].depends_on == deps
    assert trace.steps[3].text == "What is w?"
    if issue:
        assert issue in {i.code for i in trace.issues}


def test_the_answer_of_a_program_is_its_field_not_its_text() -> None:
    assert parse_faithful_cot(PROGRAM + "The final answer is: 99\n", "7").answer == ("number", 7)
    assert parse_faithful_cot(PROGRAM, None).answer is None
    assert parse_faithful_cot(PROGRAM, "").answer is None
    assert parse_faithful_cot("", "7").steps == ()


def test_a_program_without_brackets_is_a_flagged_chain() -> None:
    text = "# 1. First?\na = 1\n# 2. Second?\nb = 2\n"
    trace = parse_faithful_cot(text, "2")
    assert [s.depends_on for s in trace.steps] == [(), (0,)]
    assert trace.unannotated == 2
    assert parse_faithful_cot(text, "2", missing="exclude").steps == ()


# --- whatever the text ---------------------------------------------------------------------------

lines = st.sampled_from(
    [
        "0. Four. [depends_on: none]",
        "1. Three. [depends_on: 0]",
        "2. So. [depends_on: 0, 1]",
        "1. Three.",
        "Step 3: Go on",
        "### Step 2",
        "**1.** Bold",
        "[depends_on: 1]",
        "[depends_on: 1, x",
        "The final answer is: 12",
        "The final answer is:",
        "12",
        "",
        "   ",
        "Human: hi",
        "\\[",
        "\\]",
        "# 1. A? (independent, support: [])",
        "a = 1",
        "- item",
        "99999999999999999999. big",
        "1. [depends_on: 99999999999999999999999]",
        "\x1b[31mred",
        "final answer",
        "So the answer is yes.",
        "[/b] [depends_on]",
        "0.",
        "1)",
        "(2) two",
    ]
)
anything = st.lists(lines, max_size=9).map("\n".join) | st.text(max_size=80)


@settings(max_examples=60, deadline=None)
@given(
    anything,
    st.sampled_from(["auto", "number", "boolean", "date", "text"]),
    st.sampled_from(["chain", "premise", "exclude"]),
)
def test_no_text_breaks_the_parser(text: str, kind: Any, missing: str) -> None:
    trace = parse_trace(text, kind=kind, missing=missing)
    check_invariants(trace)
    for step in trace.steps:
        # Behind a step that was dropped for being empty, a child inherits that one's parents.
        dropped = {i.code for i in trace.issues} & {"step_empty", "answer_as_step"}
        if not step.annotated and missing == "chain" and not dropped:
            assert step.depends_on == ((step.index - 1,) if step.index else ())
        if not step.annotated:
            assert missing != "exclude"
            if missing == "premise":
                assert step.depends_on == ()
    check_invariants(parse_faithful_cot(text, "1", missing=missing))


scalars = st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=5)
records = st.fixed_dictionaries(
    {}, optional={"text": scalars, "depends_on": scalars | st.lists(scalars, max_size=4)}
)


@settings(max_examples=30, deadline=None)
@given(st.lists(records | scalars, max_size=6) | scalars, scalars)
def test_no_record_breaks_the_parser(steps: Any, answer: Any) -> None:
    check_invariants(trace_from_steps(steps, answer))


@settings(max_examples=35, deadline=None)
@given(st.data(), st.integers(1, 7), st.sampled_from([0, 1]))
def test_what_is_written_as_asked_is_read_as_written(
    data: st.DataObject, n: int, base: int
) -> None:
    deps = [sorted(data.draw(st.sets(st.integers(0, j - 1)))) if j else [] for j in range(n)]
    words = [f"Fact {chr(97 + j)} holds." for j in range(n)]
    text = "\n".join(
        f"{j + base}. {w} [depends_on: {', '.join(str(i + base) for i in d) or 'none'}]"
        for j, (w, d) in enumerate(zip(words, deps, strict=True))
    )
    value = data.draw(st.integers(-999, 9999))
    trace = parse_trace(f"{text}\nThe final answer is: {value}", kind="number")
    check_invariants(trace)
    assert [s.text for s in trace.steps] == words
    assert [list(s.depends_on) for s in trace.steps] == deps
    assert trace.answer == ("number", value)
    assert all(s.annotated for s in trace.steps)
    if base == 0:
        assert is_strict(trace)
