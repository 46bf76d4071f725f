"""A model that solves the problems of these tests, from its own steps or from given ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from scoring.deduction import Template, exact, fill, format_number, run_program
from store.exchange.problems import ReadProblem, read_problems
from tests.judges.faults import Answer, Seen, ok
from tests.pipeline.scripted import role_of, said

PROBLEMS = """
[[problems]]
problem = "pens"
question = "Mia buys {n} pens at {p} dollars each and a bag for {bag} dollars. She gets {off} dollars off. What does she pay?"
steps = [
  "The pens cost {n} * {p} = {pens_cost} dollars.",
  "With the bag it is {pens_cost} + {bag} = {whole_cost} dollars.",
  "After the discount she pays {whole_cost} - {off} = {paid_cost} dollars.",
]
code = '''
pens_cost = n * p
whole_cost = pens_cost + bag
paid_cost = whole_cost - off
'''
gold = 17
[problems.factual]
n = 4
p = 3
bag = 7
off = 2
[problems.ranges]
n = [5, 30]
p = [4, 20]
bag = [8, 30]
off = [1, 5]

[[problems]]
problem = "rows"
question = "A hall has {rows} rows of {seats} seats, and {taken} seats are taken. How many are free?"
steps = [
  "The hall has {rows} * {seats} = {all_seats} seats.",
  "So {all_seats} - {taken} = {free_seats} seats are free.",
]
code = '''
all_seats = rows * seats
free_seats = all_seats - taken
'''
gold = 28
[problems.factual]
rows = 5
seats = 8
taken = 12
[problems.ranges]
rows = [10, 30]
seats = [10, 30]
taken = [20, 90]
"""


def problem_file(folder: Path, text: str = PROBLEMS) -> Path:
    path = folder / "problems.toml"
    path.write_text(text, encoding="utf-8")
    return path


def templates(folder: Path) -> list[Template]:
    found = list(read_problems(problem_file(folder)))
    return [r.template for r in found if isinstance(r, ReadProblem)]


def numbers_of(template: Template, text: str) -> dict[str, Fraction] | None:
    """Return the inputs of a question of this template, None where it is another's."""
    parts = re.split(r"\{(\w+)\}", template.question)
    pattern = "".join(
        re.escape(part) if at % 2 == 0 else rf"(?P<{part}>[0-9./]+?)"
        for at, part in enumerate(parts)
    )
    match = re.search(pattern + r"(?=\s|$)", text)
    return None if match is None else {n: exact(v) for n, v in match.groupdict().items()}


Wrong = Callable[[str, int, Mapping[str, Fraction]], dict[str, Fraction]]
"""Which values a solver gets wrong: the problem, the steps given, and its right values."""


def nothing_wrong(_problem: str, _k: int, _values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {}


class Solver:
    """A model that knows these templates; `wrong` says what it gets wrong. `continues`: whether
    its server goes on with an assistant's unfinished message."""

    def __init__(
        self, known: list[Template], wrong: Wrong = nothing_wrong, *, continues: bool = True
    ) -> None:
        self._known, self._wrong, self._continues = known, wrong, continues

    def __call__(self, seen: Seen) -> Answer:
        """Answer as the role that is asked."""
        role = role_of(seen.body)
        messages = seen.body["messages"]
        if role == "solver":
            return ok(self._solution(messages))
        if role == "templatiser":
            return ok(json.dumps(self._template(messages[-1]["content"])))
        if role == "coder":
            return ok(json.dumps({"code": self._code(messages[-1]["content"])}))
        if role == "extractor":
            return ok(json.dumps(self._extracted(seen)))
        if role == "paraphraser":
            text = re.search(r'"""\n(.*)\n"""', messages[-1]["content"], re.DOTALL)
            return ok(json.dumps({"text": f"In other words: {text[1] if text else ''}"}))
        if messages[-1]["role"] == "assistant":
            return ok("is, of course." if self._continues else "The answer is Paris.")
        return ok(said(seen))

    def _of(self, text: str) -> tuple[Template, dict[str, Fraction]]:
        for template in self._known:
            found = numbers_of(template, text)
            if found is not None:
                return template, found
        raise ValueError(f"no template for {text!r}")

    def _solution(self, messages: list[Any]) -> str:
        question = messages[1]["content"]
        template, inputs = self._of(question)
        given = ""
        if messages[-1]["role"] == "assistant":
            given = messages[-1]["content"]
        elif (quoted := re.search(r'"""\n(.*)\n"""', question, re.DOTALL)) is not None:
            given = quoted[1]
        k = len(given.strip().splitlines()) if given.strip() else 0
        values = dict(run_program(template.code, inputs).values)
        wrong = self._wrong(template.problem, k, values)
        values = dict(run_program(template.code, inputs, held=wrong).values) if wrong else values
        lines = [fill(step, values) for step in template.steps[k:]]
        return "\n".join([*lines, f"The answer is {format_number(values[template.answer])}."])

    def _template(self, text: str) -> dict[str, Any]:
        template, inputs = self._of(text)
        values = run_program(template.code, inputs).values
        rows = [{"name": n, "value": format_number(v)} for n, v in values.items()]
        return {"question": template.question, "steps": list(template.steps), "values": rows}

    def _code(self, text: str) -> str:
        wanted = next(t for t in self._known if t.question in text)
        return wanted.code.strip()

    def _extracted(self, seen: Seen) -> dict[str, str | None]:
        """Return what the text states, found by the template's sentences."""
        fields = seen.body["response_format"]["json_schema"]["schema"]["properties"]
        text = seen.prompt.rpartition("Text:")[2]
        out: dict[str, str | None] = dict.fromkeys(fields)
        for name in fields:
            step = next(s for t in self._known for s in t.steps if f"= {{{name}}}" in s)
            pattern = re.sub(r"\\\{(\w+)\\\}", "([0-9./]+)", re.escape(step))
            if (match := re.search(pattern, text)) is not None:
                out[name] = match[match.lastindex or 1].rstrip(".")
        return out
