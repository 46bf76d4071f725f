"""Template format, hops, sanity checks and the intersection over models."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from scoring.deduction import (
    SanityFailure,
    SanityReport,
    Span,
    check_dict,
    check_template,
    fill,
    hops_after,
    placeholders,
    survivors,
)
from tests.scoring.deduction.problems import JAMES, SHOP, james, shop


def test_worked_example_reads_as_it_should() -> None:
    t = james()
    assert t.inputs == ("num_pages", "num_friends", "num_times")
    assert t.stated_in == {"num_weeks_in_a_year": 2, "pages_per_week": 3, "total_pages": 4}
    assert t.answer == "total_pages"
    assert t.gold == 624
    assert shop().ranges == {"boxes": Span(Fraction(2), Fraction(12))}
    assert shop().factual["share"] == Fraction(1, 4)


def test_hops_of_the_worked_example() -> None:
    stated = james().stated_in
    assert hops_after(stated, 0) == stated
    assert hops_after(stated, 2) == {"pages_per_week": 1, "total_pages": 2}
    assert hops_after(stated, 0, hops="variables") == {
        "num_weeks_in_a_year": 1,
        "pages_per_week": 2,
        "total_pages": 3,
    }
    assert hops_after(stated, 4) == {}
    assert hops_after({"c": 1, "d": 1, "e": 3}, 0) == {"c": 1, "d": 1, "e": 3}
    assert hops_after({"c": 1, "d": 1, "e": 3}, 0, hops="variables") == {"c": 1, "d": 1, "e": 2}
    with pytest.raises(ValueError, match="k is -1"):
        hops_after(stated, -1)
    with pytest.raises(ValueError, match="hops='lines'"):
        hops_after(stated, 0, hops="lines")  # type: ignore[arg-type]


def test_only_names_in_braces_are_placeholders() -> None:
    assert placeholders(r"{a} {a} {b2} {1} {} { c } \frac{1}{2} {a.b} {a!r} {a:9}") == ("a", "b2")
    assert fill("{a}{b} {0} {{a}}", {"a": Fraction(1), "b": Fraction(1, 3)}) == "11/3 {0} {1}"
    with pytest.raises(ValueError, match="placeholder 'b' has no value"):
        fill("{b}", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": " "}, "problem is empty"),
        ({"question": "How many?"}, "question has no {placeholder}"),
        ({"steps": []}, "answer '' is not a variable that a step states|steps must be"),
        ({"steps": ["{x}", ""]}, "steps must be at least one text"),
        ({"steps": "one"}, "steps is 'one': it must be a list of texts"),
        ({"steps": [1]}, "steps must hold texts only"),
        ({"code": 3}, "code is 3: it must be a text"),
        ({"factual": {"num_pages": 3}}, "factual lacks 'num_friends'"),
        ({"factual": [3]}, r"factual is \[3\]: it must be a table"),
        ({"factual": {"num_pages": "many"}}, "factual.num_pages is 'many'"),
        ({"factual": {"num_pages": [1]}}, r"factual.num_pages is \[1\]: it must be a number"),
        ({"gold": "six"}, "gold is 'six'"),
        ({"answer": "num_pages"}, "answer 'num_pages' is not a variable that a step states"),
        ({"ranges": {"total_pages": [1, 2]}}, "ranges names 'total_pages'"),
        ({"ranges": {"num_pages": [2, 1]}}, r"range \[2, 1\] is empty"),
        ({"ranges": {"num_pages": 5}}, r"ranges.num_pages is 5: it must be \[low, high\]"),
        ({"golden": 1}, "unknown key 'golden'"),
    ],
)
def test_a_bad_format_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        james(**change)
    template, report = check_dict(JAMES | change)
    assert template is None
    assert [f.code for f in report.failures] == ["format"]


def test_a_missing_key_is_named() -> None:
    data = {k: v for k, v in JAMES.items() if k != "code"}
    assert check_dict(data)[1].failures == (SanityFailure("format", "key 'code' is missing"),)


@pytest.mark.parametrize("data", [JAMES, SHOP])
def test_good_templates_pass(data: dict[str, Any]) -> None:
    template, report = check_dict(data)
    assert template is not None
    assert (report.passed, report.failures, report.problem) == (True, (), data["problem"])
    assert report.values[template.answer] == template.gold


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"code": "import os"}, "code_refused", "word: line 1: 'import' is outside the subset"),
        ({"code": "income = boxes * prize"}, "code_refused", "undefined_name: line 1: 'prize'"),
        ({"gold": 8}, "wrong_answer", "the final answer left is 7.5, gold is 8"),
        ({"gold": None}, "gold_missing", "there is no gold answer"),
        (
            {"code": "boxes = 5\n" + SHOP["code"]},
            "literal_differs",
            "boxes is 5 in the code, 4 in the template",
        ),
        (
            {"factual": SHOP["factual"] | {"income": 12}},
            "factual_differs",
            "income is 10 in the code, 12 in the template",
        ),
        ({"factual": SHOP["factual"] | {"tax": 1}}, "not_computed", "tax has no value"),
        ({"conditions": ["left > 100"]}, "condition_false", "left > 100 does not hold"),
        ({"conditions": ["left >"]}, "condition_false", "left >: line 1: does not parse"),
    ],
)
def test_every_sanity_check_fails_for_its_reason(
    change: dict[str, Any], code: str, message: str
) -> None:
    report = check_template(shop(**change))
    assert [f.code for f in report.failures] == [code]
    assert report.failures[0].message.startswith(message)
    assert not report.passed


def test_a_placeholder_the_code_never_computes() -> None:
    code = "income = boxes * price\ngift = share * income\nrest = income - gift"
    report = check_template(shop(code=code, conditions=[]))
    assert report.failures == (SanityFailure("not_computed", "left has no value"),)


def test_several_failures_are_all_listed() -> None:
    report = check_template(shop(code="boxes = 9\n" + SHOP["code"], gold=1, conditions=["0"]))
    assert [f.code for f in report.failures] == [
        "literal_differs",
        "condition_false",
        "wrong_answer",
    ]


def test_problems_that_survive_for_every_model() -> None:
    def report(problem: str, *codes: str) -> SanityReport:
        return SanityReport(problem, "", tuple(SanityFailure(c, "") for c in codes))

    found = survivors(
        {
            "m": [report("a"), report("b"), report("c", "format")],
            "n": [report("b"), report("a", "wrong_answer", "wrong_answer", "not_computed")],
        }
    )
    assert found.problems == ("b",)
    assert found.passed == {"m": 2, "n": 1}
    assert found.dropped == {"m": {"format": 1}, "n": {"not_computed": 1, "wrong_answer": 1}}
    assert survivors({}).problems == ()
    with pytest.raises(ValueError, match="model 'm' has two reports for problem 'a'"):
        survivors({"m": [report("a"), report("a")]})
