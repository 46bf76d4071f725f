"""Solver, templatiser, coder, extractor, paraphraser: what is asked, and how replies are read."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges import coder, extractor, paraphraser, solver, templatiser
from judges.coder import code_request, coder_schema, read_code
from judges.extractor import extract_request, extractor_schema, read_extracted
from judges.paraphraser import Style, paraphrase_request, paraphraser_schema, read_paraphrase
from judges.prompts import load_prompt
from judges.requests import Form, Request
from judges.schemas import longest
from judges.solver import solve_request
from judges.templatiser import plain_solution, read_template, template_request, templatiser_schema
from scoring.deduction import check_dict
from tests.judges.asked import NOT_OK, data, ok, replies, sent, values
from tests.judges.test_prompts import SHIPPED

FORMS: tuple[Form, ...] = ("schema", "text")
QUESTION = "A shelf has 4 boards with 9 books each, and 7 books lie beside it. How many books?"
SOLUTION = "On the boards stand 4 * 9 = 36 books.\nThat makes 36 + 7 = 43 books.\nThe answer is 43."
MADE: dict[str, Any] = {
    "question": "A shelf has {a} boards with {b} books each, and {c} books lie beside it. How many"
    " books?",
    "steps": [
        "On the boards stand {a} * {b} = {on_boards} books.",
        "That makes {on_boards} + {c} = {in_all} books.",
    ],
    "values": [
        {"name": name, "value": str(value)}
        for name, value in {"a": 4, "b": 9, "c": 7, "on_boards": 36, "in_all": 43}.items()
    ],
}
STEPS: tuple[str, ...] = tuple(MADE["steps"])


def requests(form: Form) -> list[Request]:
    out = [
        template_request("m", QUESTION, SOLUTION, form=form),
        code_request("m", str(MADE["question"]), STEPS, form=form),
        extract_request("m", "It is 43.", STEPS, inputs=["a", "b", "c"], form=form),
        *(paraphrase_request("m", SOLUTION, style, form=form) for style in get_args(Style)),
    ]
    if form == "text":
        out += [
            solve_request("m", QUESTION),
            solve_request("m", QUESTION, prefix="a", way="quoted"),
        ]
    return out


def test_every_prompt_of_these_roles_is_used_and_says_which_it_is() -> None:
    used = set()
    for form in FORMS:
        for request in requests(form):
            used.add(request.prompt_version)
            assert request.role == request.prompt_version.partition("-")[0]
            assert (request.schema is None) == (form == "text")
            assert request.sampling.max_tokens
            assert "{" not in request.messages[0].content.replace('{"', "")
    roles = (solver.ROLE, templatiser.ROLE, coder.ROLE, extractor.ROLE, paraphraser.ROLE)
    assert used == {label for label in SHIPPED if label.startswith(roles)}


# --- solver ---------------------------------------------------------------------------------


def test_given_steps_are_the_assistants_own_last_message_or_quoted() -> None:
    own = solve_request("m", QUESTION, prefix="So it is.", way="assistant")
    assert [m.speaker for m in own.messages] == ["system", "user", "assistant"]
    assert own.messages[1].content == QUESTION
    assert own.messages[2].content == "So it is.\n"
    quoted = solve_request("m", QUESTION, prefix="So it is.", way="quoted")
    assert [m.speaker for m in quoted.messages] == ["system", "user"]
    assert '"""\nSo it is.\n"""' in quoted.messages[1].content
    whole = solve_request("m", QUESTION)
    assert whole.messages == own.messages[:2]
    assert whole.key != own.key != quoted.key


@pytest.mark.parametrize(("prefix", "way"), [("", "assistant"), (" ", "quoted"), ("a", "none")])
def test_a_way_needs_a_prefix_and_a_prefix_a_way(prefix: str, way: Any) -> None:
    with pytest.raises(ValueError, match="way is"):
        solve_request("m", QUESTION, prefix=prefix, way=way)


# --- templatiser and coder ------------------------------------------------------------------


def in_lines(made: Any) -> str:
    lines = [f"QUESTION: {made['question']}", *(f"STEP: {s}" for s in made["steps"])]
    return "\n".join([*lines, *(f"VALUE: {v['name']} = {v['value']}" for v in made["values"])])


def test_a_template_is_read_from_both_forms() -> None:
    jsonschema.validate(MADE, templatiser_schema(QUESTION))
    bound = read_template(data(MADE), QUESTION, SOLUTION)
    assert bound == read_template(ok(in_lines(MADE)), QUESTION, SOLUTION)
    assert (bound.outcome, bound.reason) == ("ok", "")
    assert (bound.question, bound.steps) == (MADE["question"], STEPS)
    assert bound.values == {"a": 4, "b": 9, "c": 7, "on_boards": 36, "in_all": 43}


def test_what_templatiser_and_coder_say_passes_the_sanity_checks() -> None:
    made = read_template(data(MADE), QUESTION, SOLUTION)
    code, _ = read_code(ok("```python\non_boards = a * b\nin_all = on_boards + c\n```"))
    table = {
        "problem": "p",
        "question": made.question,
        "steps": list(made.steps),
        "code": code,
        "factual": {n: str(v) for n, v in made.values.items()},
        "gold": 43,
    }
    template, report = check_dict(table)
    assert report.failures == ()
    assert template is not None
    assert template.answer == "in_all"


def changed(**fields: Any) -> dict[str, Any]:
    return {**MADE, **fields}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (changed(question="How many books?"), "the question's numbers are not the original's"),
        (changed(question=str(MADE["question"]).replace("{a}", "5")), "(lost 4; added 5)"),
        (changed(steps=["They are {a} * 3."]), "the steps state 3, which the solution does not"),
        (changed(steps=["{a} and {d}"]), "placeholder d has no value"),
        (changed(steps=[]), "no question or no steps"),
        (changed(question=" "), "no question or no steps"),
        (changed(values=[{"name": "a", "value": "x"}]), "'a = x' cannot be read"),
        (changed(values=[{"name": "a b", "value": "1"}]), "cannot be read"),
        (
            changed(values=[{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]),
            "a is given two values",
        ),
        ([], "no question or no steps"),
    ],
)
def test_a_template_that_says_something_else_is_refused(made: Any, reason: str) -> None:
    found = read_template(data(made), QUESTION, SOLUTION)
    assert (found.outcome, found.question) == ("invalid", "")
    assert reason in found.reason


def test_numbers_of_steps_and_the_bare_answer_are_no_numbers_of_the_solution() -> None:
    numbered = "Step 1: On the boards stand 4 * 9 = 36 books.\n2) That makes 36 + 7 = 43 books."
    assert read_template(data(MADE), QUESTION, numbered + "\nAnswer: 99").outcome == "ok"
    assert plain_solution("1. So 2.\n**Final answer**: 3") == "So 2."


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("a = 1", "a = 1"),
        ("```\na = 1\nb = a\n```\nThat is it.", "a = 1\nb = a"),
        ("Here:\n```python\na = 1", "a = 1"),
        ("<think>b = 2</think>a = 1", "a = 1"),
        ("", None),
        ("```\n\n```", None),
    ],
)
def test_a_program_is_taken_as_it_stands(said: str, code: str | None) -> None:
    assert read_code(ok(said))[0] == code
    assert read_code(data({"code": said.partition("</think>")[2] or said}))[0] == code


def test_a_coder_is_told_names_and_no_values() -> None:
    request = code_request("m", str(MADE["question"]), STEPS)
    last = request.messages[-1].content
    assert last.endswith("Given: a, b, c\nTo work out: on_boards, in_all")
    assert not any(digit in last for digit in "0123456789")


# --- extractor ------------------------------------------------------------------------------


def test_an_extractor_is_asked_for_what_is_still_to_derive() -> None:
    request = extract_request("m", "It is 43.", STEPS, inputs=["a", "b", "c"], given=1)
    assert request.schema == extractor_schema(["in_all"])
    last = request.messages[-1].content
    assert "in_all: That makes {on_boards} + {c} = {in_all} books." in last
    assert "on_boards:" not in last
    with pytest.raises(ValueError, match="nothing to look for"):
        extract_request("m", "It is 43.", STEPS, inputs=["a", "b", "c"], given=2)
    with pytest.raises(ValueError, match="nothing to look for"):
        extract_request("m", " ", STEPS, inputs=["a", "b", "c"])


def test_values_are_read_from_both_forms() -> None:
    names = ["on_boards", "in_all", "left"]
    said = {"on_boards": "1,036", "in_all": "-7/2", "left": None}
    wanted = {"on_boards": Fraction(1036), "in_all": Fraction(-7, 2)}
    assert read_extracted(data(said), names).values == wanted
    text = "on_boards = 1,036\n- **in_all**: -7/2\nleft = none\nother = 4"
    assert read_extracted(ok(text), names).values == wanted
    for reply in (ok("So it is."), data([]), data({"x": "1"})):
        found = read_extracted(reply, names)
        assert (found.values, found.outcome) == ({}, "invalid")


def test_signs_of_chat_templates_in_a_reply_are_broken() -> None:
    request = extract_request("m", "<|im_end|> 43", STEPS, inputs=["a", "b", "c"])
    assert "<|im_end|>" not in sent(request)


# --- paraphraser ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("Four boards of nine hold 36, with 7 more it is 43.", None),
        ("4 boards of 9 hold 36. 7 more make 43. All 50 are here.", "numbers"),
        ("4 boards of 9 hold 36, and 7 more.", "numbers"),
        (SOLUTION.partition("\nThe")[0].upper(), "same"),
        (" ", "unread"),
    ],
)
def test_a_paraphrase_keeps_every_number(said: str, fault: str | None) -> None:
    prefix = SOLUTION.partition("\nThe")[0]
    for reply in (ok(said), data({"text": said})):
        found = read_paraphrase(reply, prefix)
        assert found.fault == fault
        assert (found.text is None) == (fault is not None)


def test_styles_differ_only_by_what_they_are_told() -> None:
    told = {s: sent(paraphrase_request("m", "So 3.", s)) for s in get_args(Style)}
    assert len(set(told.values())) == 3
    for style, text in told.items():
        assert load_prompt("paraphraser-schema").part(style) in text
    with pytest.raises(ValueError, match="one of plain, axioms, effect_first"):
        paraphrase_request("m", "So 3.", "original")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no steps are given"):
        paraphrase_request("m", " ", "plain")


# --- all of them ----------------------------------------------------------------------------


@given(st.one_of(replies.map(ok), values.map(data)))
def test_nothing_a_model_writes_raises(reply: Any) -> None:
    made = read_template(reply, QUESTION, SOLUTION)
    assert (made.outcome == "ok") == (made.reason == "")
    assert (read_code(reply)[0] is None) == (read_code(reply)[1] != "")
    found = read_extracted(reply, ["a", "answer"])
    assert all(isinstance(v, Fraction) for v in found.values.values())
    assert (read_paraphrase(reply, SOLUTION).text is None) == (
        read_paraphrase(reply, SOLUTION).fault is not None
    )


@pytest.mark.parametrize("outcome", NOT_OK)
def test_what_is_no_good_reply_is_not_read(outcome: Any) -> None:
    from judges.requests import Reply

    reply = Reply(outcome, json.dumps(MADE), MADE, "so")
    assert read_template(reply, QUESTION, SOLUTION).reason == f"{outcome}: so"
    assert read_code(reply) == (None, f"{outcome}: so")
    assert read_extracted(reply, ["a"]).reason == f"{outcome}: so"
    assert read_paraphrase(reply, SOLUTION).fault == "unread"


def quoted(user: str) -> list[str]:
    return re.findall(r'"""\n(.*?)\n"""', user, re.DOTALL)


def test_worked_examples_look_like_what_is_asked_and_keep_to_the_schema() -> None:
    for form in FORMS:
        user, reply = (m.content for m in load_prompt(f"templatiser-{form}").examples)
        question, solution = quoted(user)
        assert template_request("m", question, solution, form=form).messages[-1].content == user
        said = data(json.loads(reply)) if form == "schema" else ok(reply)
        made = read_template(said, question, solution)
        assert made.outcome == "ok", made.reason
        user, reply = (m.content for m in load_prompt(f"coder-{form}").examples)
        assert code_request("m", made.question, made.steps, form=form).messages[-1].content == user
        code, _ = read_code(data(json.loads(reply)) if form == "schema" else ok(reply))
        factual = {n: str(v) for n, v in made.values.items()}
        table = {"problem": "p", "question": made.question, "steps": list(made.steps)}
        assert check_dict({**table, "code": code, "factual": factual, "gold": 43})[1].passed
        user, reply = (m.content for m in load_prompt(f"extractor-{form}").examples)
        names, text = quoted(user)
        rows = [line.split(": ", 1) for line in names.splitlines()]
        request = extract_request(
            "m", text, [row[1] for row in rows], inputs=["boards", "books_each", "books_beside",
            "books_sold"], form=form,
        )  # fmt: skip
        assert request.messages[-1].content == user
        found = read_extracted(
            data(json.loads(reply)) if form == "schema" else ok(reply), [row[0] for row in rows]
        )
        assert found.values == {"board_books": 45, "all_books": 51}
    jsonschema.validate(
        json.loads(load_prompt("extractor-schema").examples[1].content),
        extractor_schema(["board_books", "all_books", "books_left"]),
    )


def test_what_schemas_allow_is_bounded() -> None:
    for schema in (
        templatiser_schema(QUESTION * 90),
        coder_schema(),
        extractor_schema(["a", "b"]),
        paraphraser_schema(SOLUTION),
    ):
        assert 0 < longest(schema) < 25_000
        jsonschema.Draft202012Validator.check_schema(schema)
