"""Model text to traces: each kind of deviation with its issue, then properties on hostile text."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.parsing import FORMAT_NEUTRAL, ISSUE_CODES, is_strict, parse_trace
from scoring.types import Step, Trace

GOOD = (
    "0. Corks are lighter than water. [depends_on: none]\n"
    "1. What is lighter than water floats. [depends_on: none]\n"
    "2. So corks float. [depends_on: 0, 1]\n"
    "The final answer is: yes"
)


def edges(trace: Trace) -> list[tuple[int, ...]]:
    return [step.depends_on for step in trace.steps]


def texts(trace: Trace) -> list[str]:
    return [step.text for step in trace.steps]


def codes(trace: Trace) -> list[str]:
    return [issue.code for issue in trace.issues]


def test_the_requested_format_is_strict() -> None:
    trace = parse_trace(GOOD)
    assert texts(trace)[0] == "Corks are lighter than water."
    assert edges(trace) == [(), (), (0, 1)]
    assert (trace.answer_text, trace.answer) == ("yes", ("boolean", True))
    assert trace.issues == ()
    assert is_strict(trace)
    assert trace.unannotated == 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("2. c [depends_on: 2]", "reference_self"),
        ("2. c [depends_on: 3]", "reference_forward"),
        ("2. c [depends_on: 9]", "reference_out_of_range"),
        ("2. c [depends_on: 16 - 3]", "reference_malformed"),
        ("2. c [depends_on: the sum]", "reference_malformed"),
        ("2. c [depends_on: 99999999999999999999]", "reference_malformed"),
    ],
)
def test_bad_references_lose_their_edge_and_leave_a_flagged_premise(line: str, code: str) -> None:
    trace = parse_trace(
        f"0. a [depends_on: none]\n1. b [depends_on: 0]\n{line}\n3. d [depends_on: 2]"
    )
    assert edges(trace) == [(), (0,), (), (2,)]
    about = [i.code for i in trace.issues if i.step == 2]
    assert about == [code, "references_all_dropped"]
    assert trace.steps[2].annotated


def test_good_references_survive_beside_bad_ones() -> None:
    trace = parse_trace("0. a [depends_on: none]\n1. b [depends_on: 0, 0, 1, x, 7]")
    assert edges(trace) == [(), (0,)]
    assert set(codes(trace)) == {
        "reference_duplicate",
        "reference_self",
        "reference_malformed",
        "reference_out_of_range",
        "no_answer",
    }


@pytest.mark.parametrize("inside", ["none", "None", "", " "])
def test_an_explicit_none_is_a_premise_without_issue(inside: str) -> None:
    trace = parse_trace(
        f"0. a [depends_on: none]\n1. b [depends_on: {inside}]\nThe final answer is: 3"
    )
    assert edges(trace) == [(), ()]
    assert trace.steps[1].annotated
    assert trace.issues == ()


@pytest.mark.parametrize(
    "written",
    [
        "[depends_on: 0, 1]",
        "[Depends on: 0 and 1]",
        "(depends on 0 and 1)",
        "[depends_on: [0, 1]]",
        "[depends-on: step 0, step 1]",
        "**[depends_on: 0, 1]**",
        r"\[ [depends_on: 0, 1] \]",
        "[depends_on: 0, 1",
        "[depends_on: 0; 1]",
        "[step: 2, depends_on: 0, 1]",
        "`[depends_on: 0, 1]`",
    ],
)
def test_spellings_of_the_annotation(written: str) -> None:
    trace = parse_trace(f"0. a [depends_on: none]\n1. b [depends_on: none]\n2. c {written}")
    assert edges(trace) == [(), (), (0, 1)]
    assert texts(trace)[2] == "c"


def test_a_truncated_annotation_that_says_nothing_is_missing() -> None:
    trace = parse_trace("0. a [depends_on: none]\n1. b [depends_on:")
    assert [s.annotated for s in trace.steps] == [True, False]
    assert edges(trace) == [(), (0,)]
    assert "annotation_unclosed" in codes(trace)


def test_an_unclosed_annotation_gives_back_the_words_after_it() -> None:
    trace = parse_trace("0. a [depends_on: none]\n1. b [depends_on: 0 so it holds")
    assert (edges(trace)[1], texts(trace)[1]) == ((0,), "b so it holds")


def test_annotation_on_the_next_line_in_the_middle_and_repeated() -> None:
    trace = parse_trace(
        "0. a [depends_on: none]\n1. Take [depends_on: 0] pears.\n2. c\n   - [depends_on: 0]\n"
        "   [depends_on: 1]\nThe final answer is: 4"
    )
    assert texts(trace) == ["a", "Take pears.", "c"]
    assert edges(trace) == [(), (0,), (0, 1)]
    found = codes(trace)
    assert found.count("annotation_next_line") == 2
    assert {"annotation_inline", "annotation_repeated"} <= set(found)


def test_missing_annotations_follow_the_rule() -> None:
    text = "0. a\n1. b [depends_on: none]\n2. c\nThe final answer is: 1"
    assert edges(parse_trace(text)) == [(), (), (1,)]
    assert edges(parse_trace(text, missing="premise")) == [(), (), ()]
    assert [s.annotated for s in parse_trace(text).steps] == [False, True, False]
    excluded = parse_trace(text, missing="exclude")
    assert not excluded.usable
    assert "unannotated" in codes(excluded)
    assert excluded.answer == ("number", Fraction(1))
    assert parse_trace(GOOD, missing="exclude") == parse_trace(GOOD)
    with pytest.raises(ValueError, match="missing='guess'"):
        parse_trace(text, missing="guess")


@pytest.mark.parametrize(
    "layout",
    [
        "Step {n}: {t}",
        "**Step {n}:** {t}",
        "{n}) {t}",
        "### Step {n}: {t}",
        "- {n}. {t}",
        "({n}) {t}",
        "{n}. **Step {n}**: {t}",
        "**Step {n}: {t}**",
        "Step {n} - {t}",
        "{n}: {t}",
        "**{n}.** {t}",
    ],
)
def test_numbering_styles_and_numbering_from_one(layout: str) -> None:
    parts = [
        "Ice is cold. [depends_on: none]",
        "It melts. [depends_on: 1]",
        "End. [depends_on: 1, 2]",
    ]
    trace = parse_trace("\n".join(layout.format(n=i, t=t) for i, t in enumerate(parts, start=1)))
    assert texts(trace) == ["Ice is cold.", "It melts.", "End."]
    assert edges(trace) == [(), (0,), (0, 1)]
    assert {"numbering_from_one", "numbering_style"} <= set(codes(trace))
    assert not is_strict(trace)


def test_a_heading_line_with_its_text_below() -> None:
    trace = parse_trace(
        "**Step 0**\nIce is cold.\n[depends_on: none]\n\n**Step 1**\nIt melts.\n[depends_on: 0]"
    )
    assert texts(trace) == ["Ice is cold.", "It melts."]
    assert edges(trace) == [(), (0,)]


def test_bare_numbers_count_only_in_sequence() -> None:
    assert texts(parse_trace("0 Ice is cold.\n1 It melts.")) == ["Ice is cold.", "It melts."]
    prose = parse_trace("15 cups came first.\n25 cups came later.")
    assert "unstructured" in codes(prose)
    assert texts(prose) == ["15 cups came first.", "25 cups came later."]


def test_gaps_and_odd_starts_keep_the_numbers_meaning() -> None:
    gap = parse_trace("0. a [depends_on: none]\n2. b [depends_on: 0, 1]\n3. c [depends_on: 2]")
    assert edges(gap) == [(), (0,), (1,)]
    assert {"numbering_gap", "reference_out_of_range"} <= set(codes(gap))
    start = parse_trace("3. a [depends_on: 0]\n4. b [depends_on: 3]")
    assert edges(start) == [(), (0,)]
    assert "numbering_start" in codes(start)


def test_a_repeated_number_means_its_latest_occurrence() -> None:
    trace = parse_trace(
        "0. a [depends_on: none]\n1. b [depends_on: 0]\n0. c [depends_on: none]\n1. d [depends_on: 0]"
    )
    assert edges(trace) == [(), (0,), (), (2,)]
    assert "numbering_restart" in codes(trace)


def test_lists_inside_steps_are_no_steps() -> None:
    trace = parse_trace("Step 1: Two things:\n1. eggs\n2. milk\nStep 2: Both are needed.")
    assert texts(trace) == ["Two things:\n1. eggs\n2. milk", "Both are needed."]
    nested = parse_trace("4. Buy:\n   1. eggs\n   2. milk\n5. Go home.")
    assert len(nested.steps) == 2


def test_text_around_the_steps_is_left_out_and_said_so() -> None:
    trace = parse_trace(f"Let me think about corks.\n\n{GOOD}\n\nThis was easy.")
    assert len(trace.steps) == 3
    assert codes(trace) == ["preamble", "trailing_text"]


def test_an_empty_step_is_dropped_and_its_children_inherit() -> None:
    trace = parse_trace("0. a [depends_on: none]\n1. [depends_on: 0]\n2. c [depends_on: 1]")
    assert texts(trace) == ["a", "c"]
    assert edges(trace) == [(), (0,)]
    assert "step_empty" in codes(trace)
    only = parse_trace("0 [depends_on: 1]\n1 [depends_on: 0]")
    assert not only.usable
    assert {"no_steps", "no_answer"} <= set(codes(only))


def test_answer_as_a_step() -> None:
    trace = parse_trace(
        "0. Two and two. [depends_on: none]\n1. The final answer is: 4 [depends_on: 0]"
    )
    assert texts(trace) == ["Two and two."]
    assert trace.answer == ("number", Fraction(4))
    assert "answer_as_step" in codes(trace)
    heading = parse_trace(
        "Step 1: Two and two.\n\nStep 2: Write the final answer.\nThe final answer is: 4"
    )
    assert texts(heading) == ["Two and two."]
    assert heading.answer_text == "4"


@pytest.mark.parametrize(
    ("ending", "text", "code"),
    [
        ("The final answer is: 4", "4", ""),
        ("Final Answer: 4", "4", ""),
        ("**Final Answer:** 4", "4", ""),
        ("Therefore, the final answer is 4.", "4.", ""),
        ("The final answer is: The final answer is: 4", "4", "answer_doubled"),
        ("The final answer is:\n\n4", "4", "answer_next_line"),
        ("The final answer is:\n\\[\n\\boxed{4}\n\\]", "\\boxed{4}", "answer_next_line"),
        ("The final answer is: 4\nThe final answer is: 4", "4", "answer_repeated"),
        ("The final answer is: 3\nThe final answer is: 4", "4", "answer_conflict"),
        ("The final answer is: 4\nThe final answer is: [pa", "4", "answer_conflict"),
        ("So the answer is 4.", "4.", "answer_informal"),
        ("#### 4", "4", "answer_informal"),
        ("That makes \\boxed{4} in all", "4", "answer_boxed"),
    ],
)
def test_where_the_answer_is_found(ending: str, text: str, code: str) -> None:
    trace = parse_trace(f"0. Two and two. [depends_on: none]\n{ending}")
    assert trace.answer_text == text
    assert trace.answer == ("number", Fraction(4))
    assert code in ("", *codes(trace))


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("", "no_answer"),
        ("1. So there are 4.", "no_answer"),
        ("The final answer is:", "answer_empty"),
        ("The final answer is: [depends_on: 0]", "answer_empty"),
        ("The final answer is: the sum is: [depends_on: 0]", "answer_empty"),
        ("The final answer is: they are [depends_on: 0] pears.", "answer_empty"),
    ],
)
def test_an_answer_is_never_invented(ending: str, code: str) -> None:
    trace = parse_trace(f"0. Two and two. [depends_on: none]\n{ending}")
    assert (trace.answer_text, trace.answer) == (None, None)
    assert code in codes(trace)


def test_an_unreadable_answer_keeps_its_text() -> None:
    trace = parse_trace("0. a [depends_on: none]\nThe final answer is: [3, 2]", kind="number")
    assert (trace.answer_text, trace.answer) == ("[3, 2]", None)
    assert codes(trace) == ["answer_brackets", "answer_unreadable"]


def test_an_answer_before_the_steps() -> None:
    trace = parse_trace("The final answer is: 4\n0. Two and two. [depends_on: none]")
    assert trace.answer == ("number", Fraction(4))
    assert codes(trace) == ["answer_first"]


def test_an_answer_inside_a_step_leaves_the_statement() -> None:
    trace = parse_trace(
        "0. There are 4 pears. Therefore, the final answer is: 4 [depends_on: none]"
    )
    assert texts(trace) == ["There are 4 pears."]
    assert trace.answer == ("number", Fraction(4))
    assert codes(trace) == ["answer_in_step"]


def test_kind_options_and_percent_reach_the_answer() -> None:
    text = "0. a [depends_on: none]\nThe final answer is: "
    assert parse_trace(text + "(B)", options=["x", "y"]).answer == ("choice", "B")
    assert parse_trace(text + "33%", percent="ratio").answer == ("number", Fraction(33, 100))
    assert parse_trace(text + "12", kind="text").answer == ("text", "12")


@pytest.mark.parametrize(
    "leak",
    [
        "Human: And now?\n0. x",
        "<|im_start|>user\nhello",
        "Question: Next one?\n0. x\n1. y",
        "Q: More?",
        "<|im_end|>\n<|im_start|>assistant\n0. again",
        "### User: hi",
        "</s>",
    ],
)
def test_leaked_turns_are_cut(leak: str) -> None:
    trace = parse_trace(f"{GOOD}\n{leak}")
    assert len(trace.steps) == 3
    assert trace.answer == ("boolean", True)
    assert codes(trace) == ["leaked_turn"]


def test_a_leaked_opening_does_not_hide_the_trace() -> None:
    for opening in ("Assistant:\n", "<|im_start|>assistant\n", "Question: Do corks float?\n"):
        trace = parse_trace(opening + GOOD)
        assert len(trace.steps) == 3
        assert codes(trace) == ["leaked_turn"]


def test_a_next_example_does_not_replace_prose() -> None:
    trace = parse_trace(
        "Corks float. So the answer is yes.\n\nQuestion: Next?\n0. Other.\n1. Else."
    )
    assert texts(trace) == ["Corks float."]
    assert trace.answer == ("boolean", True)


def test_loops_are_flagged_but_kept() -> None:
    trace = parse_trace("0. a [depends_on: none]\n" + "\n".join(f"{i}. So b." for i in range(1, 6)))
    assert len(trace.steps) == 6
    assert codes(trace).count("step_repeated") == 4


def test_truncation_is_noticed() -> None:
    trace = parse_trace("0. Corks are light. [depends_on: none]\n1. So they flo")
    assert "truncated" in codes(trace)
    assert texts(trace)[1] == "So they flo"


def test_prose_becomes_sentences() -> None:
    trace = parse_trace(
        "J. K. Smith swam. Dr. Lee e.g. did not. So they differ. So the answer is no."
    )
    assert texts(trace) == ["J. K. Smith swam.", "Dr. Lee e.g. did not.", "So they differ."]
    assert edges(trace) == [(), (0,), (1,)]
    assert trace.answer == ("boolean", False)
    assert {"unstructured", "answer_informal"} <= set(codes(trace))


def test_questions_and_answers_in_turn() -> None:
    trace = parse_trace(
        "\nQ1. What day was it?\nIt was 04/30/2021.\nFinal Answer: What day is it?\n"
        "One day later. So the answer is 05/01/2021.\n"
    )
    assert texts(trace) == [
        "What day was it?\nIt was 04/30/2021.",
        "Final Answer: What day is it?\nOne day later.",
    ]
    assert trace.answer == ("date", "2021-05-01")


def test_an_unnumbered_annotated_line_is_a_step() -> None:
    trace = parse_trace(
        "0. a [depends_on: none]\nTherefore b. [depends_on: 0]\nThe final answer is: 2"
    )
    assert texts(trace) == ["a", "Therefore b."]
    assert edges(trace) == [(), (0,)]
    assert codes(trace) == ["unnumbered_step"]


@pytest.mark.parametrize("text", ["", "  \n ", "\x00", "[", "1.", "0, 1, 2, 3", "**"])
def test_nothing_usable(text: str) -> None:
    trace = parse_trace(text)
    assert trace.steps == ()
    assert "no_steps" in codes(trace)
    assert trace.answer is None


def test_text_is_kept_as_typed() -> None:
    text = "A [bold] \x1b[31m **x** `y` <b>\u202e\ud800 cell\x0b."
    trace = parse_trace(f"0. {text} [depends_on: none]\nThe final answer is: 1")
    assert texts(trace) == [text]


def test_the_list_of_codes_is_complete() -> None:
    assert set(ISSUE_CODES) > FORMAT_NEUTRAL
    assert all(meaning and meaning[-1] != "." for meaning in ISSUE_CODES.values())


HUGE = {
    "brackets": "[" * 10**7,
    "numbers": "1.\n" * 10**6,
    "annotations": "[depends_on: " * 10**5,
    "references": "0. a [depends_on: 0" + ",0" * 10**6,
    "lines": "\n" * 10**6,
    "answers": "The final answer is: 1 " * 10**5,
    "stars": "**" * 10**6,
    "sentences": "a. B" * 10**6,
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_texts_are_read_in_part_and_said_so(name: str) -> None:
    trace = parse_trace(HUGE[name])
    assert len(trace.issues) < 3000
    assert "text_cut" in codes(trace)


def check(trace: Trace) -> None:
    assert [s.index for s in trace.steps] == list(range(len(trace.steps)))
    for step in trace.steps:
        assert step.text.strip()
        assert all(0 <= j < step.index for j in step.depends_on)
        assert list(step.depends_on) == sorted(set(step.depends_on))
    for issue in trace.issues:
        assert issue.code in ISSUE_CODES
        assert issue.step is None or 0 <= issue.step < len(trace.steps)
        assert issue.message.isprintable()
    if trace.answer is not None:
        assert trace.answer_text


CRAFTED = "[]depends_on:0123456789,\n. *#$\\{}"
PIECES = [
    "Step 1:",
    "0.",
    "1.",
    "2.",
    "[depends_on: ",
    "]",
    "none",
    "0, 1",
    "\n",
    "The final answer is: ",
]
PIECES += [
    "a",
    "b c.",
    "**",
    "Q1.",
    "Human:",
    "<|im_start|>",
    "\\boxed{",
    "}",
    "(depends on 1 and 2)",
    "  ",
]
PIECES += ["Final answer", "- ", "16 - 3", "the answer is", "?", "#", "\r", "\ud800"]


@given(
    st.one_of(
        st.text(),
        st.text(CRAFTED, max_size=200),
        st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
        st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
    ),
    st.sampled_from(["chain", "premise", "exclude"]),
)
def test_any_text_gives_a_well_formed_trace(text: str, missing: str) -> None:
    trace = parse_trace(text, missing=missing)
    check(trace)
    if missing == "exclude":
        assert trace.unannotated == 0


def render(steps: list[Step], answer: str) -> str:
    lines = [
        f"{s.index}. {s.text} [depends_on: {', '.join(map(str, s.depends_on)) or 'none'}]"
        for s in steps
    ]
    return "\n".join([*lines, f"The final answer is: {answer}"])


words = st.from_regex(r"\A[A-Z][a-z]{1,8}( [a-z]{1,6}| \$?[0-9]{1,4}| [=+×] ?| \[x\]){0,6}[.!]?\Z")
plain = words.filter(
    lambda t: not re.search(r"answer|step|depends|question|human|user|system", t.lower())
)


@st.composite
def well_formed(draw: st.DrawFn) -> list[Step]:
    count = draw(st.integers(1, 8))
    steps = []
    for i in range(count):
        parents = draw(st.sets(st.integers(0, i - 1))) if i else set()
        steps.append(Step(i, draw(plain).strip(), tuple(sorted(parents))))
    return steps


@given(well_formed(), st.integers(-999, 999))
def test_a_rendered_trace_parses_back_to_itself(steps: list[Step], answer: int) -> None:
    trace = parse_trace(render(steps, str(answer)))
    assert trace.steps == tuple(steps)
    assert trace.answer == ("number", Fraction(answer))
    assert is_strict(trace)
