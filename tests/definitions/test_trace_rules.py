"""The table of DEFINITIONS, section 1, on hand-written traces: one for every known deviation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from scoring.parsing import is_strict, parse_trace, trace_from_steps
from tests.definitions.traces import check_invariants

Deps = list[tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A text, what its steps depend on, its number, and issues that must be among those noted."""

    name: str
    text: str
    deps: Deps
    answer: int | None
    issues: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


def case(
    name: str, text: str, deps: Deps, answer: int | None, issues: str = "", *words: str
) -> Any:
    return pytest.param(Case(name, text, deps, answer, frozenset(issues.split()), words), id=name)


END = "The final answer is: 12"
CASES = [
    case(
        "as asked",
        f"0. A crate holds 4 jars. [depends_on: ]\n1. There are 3 crates. [depends_on: none]\n"
        f"2. So there are 12 jars. [depends_on: 0, 1]\n{END}",
        [(), (), (0, 1)],
        12,
        "",
        "A crate holds 4 jars.",
        "There are 3 crates.",
        "So there are 12 jars.",
    ),
    case(
        "brackets that are empty in other words",
        f"0. Four jars. [depends_on: []]\n1. Three crates. [depends_on: None]\n"
        f"2. Two shelves. [depends_on:]\n3. Twelve. [depends_on: 0, 1, 2]\n{END}",
        [(), (), (), (0, 1, 2)],
        12,
    ),
    case(
        "numbered from one",
        f"1. Four jars. [depends_on: none]\n2. Three crates. [depends_on: 1]\n"
        f"3. Twelve jars. [depends_on: 1, 2]\n{END}",
        [(), (0,), (0, 1)],
        12,
        "numbering_from_one",
    ),
    case(
        "step headings",
        f"Step 1: Count the jars.\nStep 2: Count the crates.\nStep 3: Multiply.\n\n{END}",
        [(), (0,), (1,)],
        12,
        "numbering_from_one annotation_missing numbering_style",
        "Count the jars.",
        "Count the crates.",
        "Multiply.",
    ),
    case(
        "markdown headings",
        f"### Step 0: Four jars. [depends_on: none]\n### Step 1: Twelve. [depends_on: 0]\n{END}",
        [(), (0,)],
        12,
        "numbering_style",
    ),
    case(
        "bold",
        "**0.** **Jars**: four a crate. [depends_on: none]\n"
        "**1.** **Crates**: three. [depends_on: 0]\n**The final answer is: 12**",
        [(), (0,)],
        12,
    ),
    case(
        "a step over two lines",
        f"0. Four jars a crate\nand three crates. [depends_on: none]\n1. Twelve. [depends_on: 0]\n"
        f"{END}",
        [(), (0,)],
        12,
        "continuation_lines",
    ),
    case(
        "annotation on the next line",
        f"0. Four jars.\n[depends_on: none]\n1. Three crates.\n[depends_on: none]\n"
        f"2. Twelve.\n[depends_on: 0, 1]\n{END}",
        [(), (), (0, 1)],
        12,
        "annotation_next_line",
        "Four jars.",
        "Three crates.",
        "Twelve.",
    ),
    case(
        "annotation missing",
        f"0. Four jars. [depends_on: none]\n1. Three crates.\n2. Twelve. [depends_on: 0]\n{END}",
        [(), (0,), (0,)],
        12,
        "annotation_missing",
    ),
    case(
        "self reference",
        f"0. Four jars. [depends_on: 0]\n1. Twelve. [depends_on: 0, 1]\n{END}",
        [(), (0,)],
        12,
        "reference_self references_all_dropped",
    ),
    case(
        "forward reference",
        f"0. Four jars. [depends_on: 2]\n1. Three. [depends_on: 0, 2]\n2. Twelve. [depends_on: 1]\n"
        f"{END}",
        [(), (0,), (1,)],
        12,
        "reference_forward references_all_dropped",
    ),
    case(
        "reference to nothing",
        f"0. Four jars. [depends_on: none]\n1. Twelve. [depends_on: 0, 9]\n{END}",
        [(), (0,)],
        12,
        "reference_out_of_range",
    ),
    case(
        "negative reference",
        f"0. Four jars. [depends_on: -1]\n1. Twelve. [depends_on: 0]\n{END}",
        [(), (0,)],
        12,
        "references_all_dropped",
    ),
    case(
        "duplicate reference",
        f"0. Four jars. [depends_on: none]\n1. Twelve. [depends_on: 0, 0]\n{END}",
        [(), (0,)],
        12,
        "reference_duplicate",
    ),
    case(
        "unordered references",
        f"0. Four. [depends_on: none]\n1. Three. [depends_on: none]\n2. 12. [depends_on: 1, 0]\n"
        f"{END}",
        [(), (), (0, 1)],
        12,
    ),
    case(
        "references in words",
        f"0. Four. [depends_on: none]\n1. Three. [depends_on: none]\n"
        f"2. Twelve. [depends_on: steps 0 and 1]\n{END}",
        [(), (), (0, 1)],
        12,
    ),
    case(
        "an expression inside the brackets",
        f"0. Four. [depends_on: none]\n1. Three. [depends_on: 0]\n2. Twelve. [depends_on: 4 * 3]\n"
        f"{END}",
        [(), (0,), ()],
        12,
        "reference_malformed references_all_dropped",
    ),
    case(
        "words inside the brackets",
        f"0. Four. [depends_on: none]\n1. Twelve. [depends_on: the number of jars]\n{END}",
        [(), ()],
        12,
        "reference_malformed references_all_dropped",
    ),
    case(
        "a word beside a number inside the brackets",
        f"0. Four. [depends_on: none]\n1. Twelve. [depends_on: 0, profit]\n{END}",
        [(), (0,)],
        12,
        "reference_malformed",
    ),
    case(
        "unclosed bracket",
        f"0. Four. [depends_on: none\n1. Twelve. [depends_on: 0\n{END}",
        [(), (0,)],
        12,
        "annotation_unclosed",
    ),
    case(
        "the answer as a step",
        "0. Four. [depends_on: none]\n1. Three. [depends_on: none]\n"
        "2. The final answer is: 12 [depends_on: 0, 1]",
        [(), ()],
        12,
        "answer_as_step",
    ),
    case(
        "the answer announced twice in a line",
        "0. Four. [depends_on: none]\nThe final answer is: The final answer is: 12",
        [()],
        12,
        "answer_doubled",
    ),
    case(
        "the answer given twice",
        f"0. Four. [depends_on: none]\n{END}\n{END}",
        [()],
        12,
        "answer_repeated",
    ),
    case(
        "two answers",
        f"0. Four. [depends_on: none]\nThe final answer is: 11\n{END}",
        [()],
        12,
        "answer_conflict",
    ),
    case(
        "an empty answer",
        "0. Four. [depends_on: none]\nThe final answer is:",
        [()],
        None,
        "answer_empty",
    ),
    case(
        "an empty answer is not filled by an annotation",
        "0. Four. [depends_on: none]\n1. Six. [depends_on: 0]\nThe final answer is: [depends_on: 1]",
        [(), (0,)],
        None,
    ),
    case(
        "the answer first",
        f"{END}\n0. Four. [depends_on: none]\n1. Three. [depends_on: 0]",
        [(), (0,)],
        12,
        "answer_first",
    ),
    case(
        "the answer on the next line",
        "0. Four. [depends_on: none]\nThe final answer is:\n12",
        [()],
        12,
        "answer_next_line",
    ),
    case(
        "units",
        "0. Four. [depends_on: none]\nThe final answer is: $12 per crate.",
        [()],
        12,
        "answer_units",
    ),
    case(
        "latex",
        "0. We have \\( 3 \\times 4 = 12 \\). [depends_on: none]\nThe final answer is: \\(\\boxed{12}\\)",
        [()],
        12,
    ),
    case(
        "latex block under a step",
        f"1. Multiply:\n   \\[\n   3 \\times 4 = 12\n   \\]\n2. Done.\n{END}",
        [(), (0,)],
        12,
        "continuation_lines",
    ),
    case(
        "no answer line but a box",
        "0. Four. [depends_on: none]\n1. Twelve: \\boxed{12} [depends_on: 0]",
        [(), (0,)],
        12,
        "answer_boxed",
    ),
    case(
        "a loop",
        "0. Four. [depends_on: none]\n"
        + "".join(f"{i}. We add three jars. [depends_on: {i - 1}]\n" for i in range(1, 30))
        + END,
        [(), *[(i - 1,) for i in range(1, 30)]],
        12,
        "step_repeated",
    ),
    case(
        "cut off",
        "0. Four jars. [depends_on: none]\n1. Three crates. [depends_on: 0]\n2. So the number of",
        [(), (0,), (1,)],
        None,
        "truncated no_answer",
    ),
    case(
        "a leaked turn",
        f"0. Four. [depends_on: none]\n1. Twelve. [depends_on: 0]\n{END}\n\nHuman: How many cups?\n"
        "0. Nine cups. [depends_on: none]\nThe final answer is: 9",
        [(), (0,)],
        12,
        "leaked_turn",
    ),
    case(
        "a leaked chat token",
        f"0. Four. [depends_on: none]\n{END}<|im_end|>\n<|im_start|>user\nHow many cups?",
        [()],
        12,
        "leaked_turn",
    ),
    case(
        "a preamble",
        f"Let me think.\n\n0. Four. [depends_on: none]\n1. Twelve. [depends_on: 0]\n{END}",
        [(), (0,)],
        12,
        "preamble",
    ),
    case(
        "text after the answer",
        f"0. Four. [depends_on: none]\n{END}\n\nI hope this helps!",
        [()],
        12,
        "trailing_text",
    ),
    case(
        "a number left out",
        f"0. Four. [depends_on: none]\n1. Three. [depends_on: none]\n3. Twelve. [depends_on: 1, 2]\n"
        f"{END}",
        [(), (), (1,)],
        12,
        "numbering_gap",
    ),
    case(
        "windows line ends",
        f"0. Four. [depends_on: none]\r\n1. Twelve. [depends_on: 0]\r\n{END}\r\n",
        [(), (0,)],
        12,
    ),
    case("nothing", "", [], None, "empty_text"),
    case("blanks", " \n\t\n", [], None),
    case("only an answer", END, [], 12, "no_steps"),
]


@pytest.mark.parametrize("c", CASES)
def test_a_trace(c: Case) -> None:
    trace = parse_trace(c.text, kind="number")
    check_invariants(trace)
    assert [s.depends_on for s in trace.steps] == c.deps
    assert trace.answer == (None if c.answer is None else ("number", Fraction(c.answer)))
    assert c.issues <= {i.code for i in trace.issues}
    if c.words:
        assert tuple(s.text for s in trace.steps) == c.words
    assert all("depends_on" not in s.text for s in trace.steps)


def test_the_format_as_asked_is_strict_and_every_other_is_noted() -> None:
    first, *others = (p.values[0] for p in CASES)
    assert isinstance(first, Case)
    asked = parse_trace(first.text, kind="number")
    assert asked.issues == ()
    assert is_strict(asked)
    harmless = {
        "brackets that are empty in other words",
        "unordered references",
        "windows line ends",
        "a loop",
        "units",
        "latex",
    }
    for other in others:
        assert isinstance(other, Case)
        if other.name not in harmless:
            assert not is_strict(parse_trace(other.text, kind="number")), other.name


MISSING = f"0. Four.\n1. Three.\n2. Twelve. [depends_on: 0]\n{END}"


@pytest.mark.parametrize(
    ("rule", "deps"),
    [("chain", [(), (0,), (0,)]), ("premise", [(), (), (0,)]), ("exclude", [])],
)
def test_rules_for_a_missing_annotation(rule: str, deps: Deps) -> None:
    for trace in (
        parse_trace(MISSING, kind="number", missing=rule),
        trace_from_steps(
            [{"text": "Four."}, {"text": "Three."}, {"text": "Twelve.", "depends_on": [0]}],
            "12",
            kind="number",
            missing=rule,
        ),
    ):
        check_invariants(trace)
        assert [s.depends_on for s in trace.steps] == deps
        assert [s.annotated for s in trace.steps] == [False, False, True][: len(deps)]
        assert trace.answer == ("number", 12)
        if rule == "exclude":
            assert "unannotated" in {i.code for i in trace.issues}
            assert not trace.usable
        else:
            assert trace.unannotated == 2


def test_a_premise_is_annotated() -> None:
    trace = parse_trace(f"0. Four. [depends_on: none]\n1. Three. [depends_on: 1]\n{END}")
    assert [s.annotated for s in trace.steps] == [True, True]
    assert [s.depends_on for s in trace.steps] == [(), ()]


@pytest.mark.parametrize(
    ("kind", "options", "line", "form"),
    [
        ("boolean", None, "The final answer is: Yes.", ("boolean", True)),
        ("choice", ["red", "green"], "The final answer is: (B) green", ("choice", "B")),
        ("choice", ["red", "green"], "The final answer is: green", ("choice", "B")),
        ("date", None, "The final answer is: May 3, 2020", ("date", "2020-05-03")),
        ("text", None, "The final answer is: Paris", ("text", "paris")),
        ("auto", None, "The final answer is: 2½", ("number", Fraction(5, 2))),
        ("number", None, "The final answer is: several", None),
        ("boolean", None, "Final Answer: no", ("boolean", False)),
        ("boolean", None, "So the answer is no.", ("boolean", False)),
    ],
)
def test_the_answer_by_kind(kind: Any, options: Any, line: str, form: Any) -> None:
    trace = parse_trace(f"0. A fact. [depends_on: none]\n{line}", kind=kind, options=options)
    check_invariants(trace)
    assert trace.answer == form
    assert [s.text for s in trace.steps] == ["A fact."]
