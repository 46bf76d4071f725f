"""Sanity checks of a template: what must hold before its mutations mean anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scoring.deduction.arithmetic import Program, evaluate, run_program
from scoring.deduction.exact import format_number
from scoring.deduction.syntax import Refusal
from scoring.deduction.template import Template, placeholders, template_from_dict

FAILURES = {
    "format": "the template is not in our format",
    "code_refused": "the code is outside the subset or does not run",
    "not_computed": "a placeholder of a step has no value",
    "literal_differs": "the code's own number for an input is not the template's",
    "factual_differs": "the code computes another value than the template states",
    "condition_false": "a condition does not hold for the original values",
    "gold_missing": "there is no gold answer to compare with",
    "wrong_answer": "the final answer is not the gold answer",
}
"""What each failure code means."""


@dataclass(frozen=True, slots=True)
class SanityFailure:
    """One check that failed: a code of `FAILURES` and what was found."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SanityReport:
    """All checks of one template.

    Attributes
    ----------
    problem, model
        Which template; the problem is empty when even that could not be read.
    failures
        Empty = it may be mutated.
    values
        What the code computes for the original problem.
    """

    problem: str
    model: str
    failures: tuple[SanityFailure, ...]
    values: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class Survivors:
    """The problems on which several models can be compared.

    Attributes
    ----------
    problems
        Those whose template passed for every model, sorted.
    passed
        For each model, how many of its templates passed.
    dropped
        For each model, templates by failure code (one template may count under several).
    """

    problems: tuple[str, ...]
    passed: Mapping[str, int]
    dropped: Mapping[str, Mapping[str, int]]


def check_template(template: Template) -> SanityReport:
    """Run every sanity check on a template.

    Parameters
    ----------
    template

    Returns
    -------
    SanityReport
        Every check that failed, with its reason; values that were computed all the same.

    Notes
    -----
    The code runs with the factual values of the question's placeholders injected. Checked are
    whether it runs; whether every placeholder of a step gets a value; whether the code's own
    literals for the inputs are the factual ones, and the values it computes those that the
    template states, both exactly; whether the conditions hold; whether the answer is the gold one.
    Without a gold answer the last check fails, since nothing vouches for the solution.

    References
    ----------
    Paper C, section 4.1 and appendix A.1.

    Examples
    --------
    >>> from scoring.deduction.template import template_from_dict
    >>> t = template_from_dict({
    ...     "problem": "pens", "question": "{n} pens at 2 each: how much?",
    ...     "steps": ["{n} * 2 = {cost}."], "code": "cost = n * 2", "factual": {"n": 3}, "gold": 7,
    ... })
    >>> check_template(t).failures[0].message
    'the final answer cost is 6, gold is 7'
    """
    given = {name: template.factual[name] for name in template.inputs}
    program = run_program(template.code, given)
    if program.refusal is not None:
        failure = SanityFailure("code_refused", f"{program.refusal.code}: {program.refusal}")
        return SanityReport(template.problem, template.model, (failure,))
    found = [
        *_not_computed(template, program),
        *_differences(template, program),
        *_conditions(template, program),
        *_answer(template, program),
    ]
    return SanityReport(template.problem, template.model, tuple(found), program.values)


def check_dict(data: Mapping[str, Any]) -> tuple[Template | None, SanityReport]:
    """Read a decoded table and check it; a bad format is a failed check like any other.

    Parameters
    ----------
    data
        As in `template_from_dict`.

    Returns
    -------
    template : Template or None
    report : SanityReport

    Examples
    --------
    >>> check_dict({"problem": "p"})[1].failures
    (SanityFailure(code='format', message="key 'question' is missing"),)
    """
    try:
        template = template_from_dict(data)
    except ValueError as error:
        names = (data.get("problem", ""), data.get("model", ""))
        problem, model = (name if isinstance(name, str) else "" for name in names)
        failure = SanityFailure("format", str(error))
        return None, SanityReport(problem, model, (failure,))
    return template, check_template(template)


def survivors(reports: Mapping[str, Iterable[SanityReport]]) -> Survivors:
    """Return the problems that passed for every model, and what the others failed on.

    Parameters
    ----------
    reports
        Model → reports of its templates, at most one per problem.

    Returns
    -------
    Survivors

    Raises
    ------
    ValueError
        When a model has two reports for one problem.

    References
    ----------
    Paper C, section 5.1 and appendix A.1: the support set depends on the models compared.

    Examples
    --------
    >>> good, bad = SanityReport("p", "", ()), SanityReport("q", "", (SanityFailure("format", ""),))
    >>> survivors({"m": [good, bad], "n": [good]})
    Survivors(problems=('p',), passed={'m': 1, 'n': 1}, dropped={'m': {'format': 1}, 'n': {}})
    """
    passed: dict[str, set[str]] = {}
    dropped: dict[str, dict[str, int]] = {}
    for model, listed in reports.items():
        rows = list(listed)
        twice = [p for p, n in Counter(r.problem for r in rows if r.problem).items() if n > 1]
        if twice:
            raise ValueError(f"model {model!r} has two reports for problem {twice[0]!r}")
        passed[model] = {r.problem for r in rows if r.passed}
        codes = Counter(code for r in rows for code in {f.code for f in r.failures})
        dropped[model] = dict(sorted(codes.items()))
    common = set.intersection(*passed.values()) if passed else set()
    counts = {model: len(names) for model, names in passed.items()}
    return Survivors(tuple(sorted(common)), counts, dropped)


def _not_computed(template: Template, program: Program) -> list[SanityFailure]:
    wanted = dict.fromkeys(name for step in template.steps for name in placeholders(step))
    lacking = [name for name in wanted if name not in program.values]
    return [SanityFailure("not_computed", f"{name} has no value") for name in lacking]


def _differences(template: Template, program: Program) -> list[SanityFailure]:
    out = []
    for name, literal in program.set_aside.items():
        if literal != template.factual[name]:
            out.append(_differs("literal_differs", name, literal, template.factual[name]))
    for name, stated in template.factual.items():
        if name in template.inputs:
            continue
        value = program.values.get(name)
        if value is None:
            if name not in template.stated_in:
                out.append(SanityFailure("not_computed", f"{name} has no value"))
        elif value != stated:
            out.append(_differs("factual_differs", name, value, stated))
    return out


def _differs(code: str, name: str, ours: Fraction, theirs: Fraction) -> SanityFailure:
    message = (
        f"{name} is {format_number(ours)} in the code, {format_number(theirs)} in the template"
    )
    return SanityFailure(code, message)


def _conditions(template: Template, program: Program) -> list[SanityFailure]:
    out = []
    for condition in template.conditions:
        held = evaluate(condition, program.values)
        if isinstance(held, Refusal):
            out.append(SanityFailure("condition_false", f"{condition}: {held}"))
        elif not held:
            out.append(SanityFailure("condition_false", f"{condition} does not hold"))
    return out


def _answer(template: Template, program: Program) -> list[SanityFailure]:
    if template.gold is None:
        return [SanityFailure("gold_missing", FAILURES["gold_missing"])]
    value = program.values.get(template.answer)
    if value is None or value == template.gold:
        return []
    said = f"the final answer {template.answer} is {format_number(value)}"
    return [SanityFailure("wrong_answer", f"{said}, gold is {format_number(template.gold)}")]
