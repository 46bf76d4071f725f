"""Seeded mutation: the same problem with other numbers, solved by its own code."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scoring.deduction.arithmetic import evaluate, run_program
from scoring.deduction.exact import Number, decimal_places, exact
from scoring.deduction.syntax import Refusal
from scoring.deduction.template import Span, Template, fill, placeholders

MAX_RANGE = 10**12
"""Values are drawn from at most that many steps of their grid."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mutated problem.

    Attributes
    ----------
    problem, index
        Which problem, and the mutation's number from 0.
    inputs
        Values drawn for the question's placeholders.
    values
        Exact value of every name the code computes, the inputs included.
    question, steps
        The texts with these values.
    """

    problem: str
    index: int
    inputs: Mapping[str, Fraction]
    values: Mapping[str, Fraction]
    question: str
    steps: tuple[str, ...]

    def prefix(self, k: int) -> str:
        """Return the first k steps, one a line, as the start of the assistant's answer.

        Raises
        ------
        ValueError
            When k is negative, or leaves no step.
        """
        if not 0 <= k < len(self.steps):
            raise ValueError(
                f"k is {k}: with {len(self.steps)} steps it is 0..{len(self.steps) - 1}"
            )
        return "\n".join(self.steps[:k])


@dataclass(frozen=True, slots=True)
class Mutations:
    """What mutating one problem gave.

    Attributes
    ----------
    problem
    items
        The mutations found, in order; an index whose tries all failed is left out.
    wanted
        How many were asked for.
    tries
        Draws made altogether.
    rejected
        Draws rejected, by reason: ``refused``, ``not_computed``, ``not_positive``, ``condition``,
        ``unchanged`` (the original's numbers), ``repeated`` (an earlier mutation's numbers).
    """

    problem: str
    items: tuple[Mutation, ...]
    wanted: int
    tries: int
    rejected: Mapping[str, int]


def mutate(
    template: Template,
    *,
    seed: int = 0,
    n: int = 10,
    low: Number = 1,
    high: Number = 100,
    max_iter: int = 100,
) -> Mutations:
    """Draw new values for a problem's numbers and solve it again.

    Parameters
    ----------
    template
        One that passed its sanity checks.
    seed
        >= 0. The same seed, problem and index give the same mutation, whatever `n` is.
    n
        Mutations wanted, >= 0.
    low, high
        Limits for values whose placeholder has no range of its own, both included.
    max_iter
        Draws per mutation before it is given up, >= 1.

    Returns
    -------
    Mutations

    Raises
    ------
    ValueError
        When a number is out of its range, or a placeholder has no value to draw.

    Notes
    -----
    A whole number is drawn from the whole numbers of [low, high]. Any other is drawn from the
    grid that its original lies on (0.25: hundredths; 1/3: thirds), uniformly: inside (0, 1) when
    the original is between 0 and 1, else within [low, high]. So a price keeps its cents, and
    values stay short enough to be read. A draw is accepted when the code runs, every value that
    the texts state is positive, the conditions hold, and the numbers are neither the original's nor an earlier
    mutation's.

    References
    ----------
    Paper C, appendix A.1, "Mutation Details" (the limits used there are not printed).

    Examples
    --------
    >>> from scoring.deduction.template import template_from_dict
    >>> t = template_from_dict({
    ...     "problem": "pens", "question": "{n} pens at {p} each: how much?",
    ...     "steps": ["{n} * {p} = {cost}."], "code": "cost = n * p",
    ...     "factual": {"n": 3, "p": 2.5}, "gold": 7.5,
    ... })
    >>> m = mutate(t, seed=1, n=2).items[1]
    >>> m.values["cost"] == m.inputs["n"] * m.inputs["p"], (m.inputs["p"] * 10).denominator
    (True, 1)
    """
    if seed < 0 or n < 0 or max_iter < 1:
        raise ValueError(
            f"seed={seed}, n={n} must be at least 0 and max_iter={max_iter} at least 1"
        )
    limits = Span(exact(low, "low"), exact(high, "high"))
    grids = {name: _grid(template, name, limits) for name in template.inputs}
    original = tuple(template.factual[name] for name in template.inputs)
    taken: set[tuple[Fraction, ...]] = {original}
    items: list[Mutation] = []
    rejected: Counter[str] = Counter()
    tries = 0
    for index in range(n):
        rng = np.random.default_rng([seed, index, *_words(template.problem)])
        for _ in range(max_iter):
            tries += 1
            inputs = {name: grid.draw(rng) for name, grid in grids.items()}
            drawn = tuple(inputs.values())
            if drawn in taken:
                rejected["unchanged" if drawn == original else "repeated"] += 1
                continue
            values, reason = _solve(template, inputs)
            if reason:
                rejected[reason] += 1
                continue
            taken.add(drawn)
            items.append(_filled(template, index, inputs, values))
            break
    return Mutations(template.problem, tuple(items), n, tries, dict(sorted(rejected.items())))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Multiples of `unit` from `first` to `last` (both counted in units)."""

    unit: Fraction
    first: int
    last: int

    def draw(self, rng: np.random.Generator) -> Fraction:
        return self.unit * int(rng.integers(self.first, self.last, endpoint=True))


def _grid(template: Template, name: str, limits: Span) -> _Grid:
    original = template.factual[name]
    span = template.ranges.get(name, limits)
    places = decimal_places(original)
    unit = Fraction(1, original.denominator if places is None else 10**places)
    if 0 < original < 1 and name not in template.ranges:
        first, last = 1, int(1 / unit) - 1
    else:
        first, last = math.ceil(span.low / unit), math.floor(span.high / unit)
    if first > last or max(abs(first), abs(last)) > MAX_RANGE:
        raise ValueError(
            f"{name}: [{span.low}, {span.high}] holds no usable multiple of {unit}"
            f" (the original is {original}): give it another range"
        )
    return _Grid(unit, first, last)


def _words(problem: str) -> list[int]:
    """Return the problem's name as numbers for a seed."""
    digest = hashlib.sha256(problem.encode("utf-8", "surrogatepass")).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4)]


def _solve(
    template: Template, inputs: Mapping[str, Fraction]
) -> tuple[Mapping[str, Fraction], str]:
    """Return all values and an empty reason, or why these inputs will not do."""
    program = run_program(template.code, inputs)
    if program.refusal is not None:
        return {}, "refused"
    stated = {*template.inputs, *(name for s in template.steps for name in placeholders(s))}
    if not stated <= program.values.keys():
        return {}, "not_computed"
    if any(program.values[name] <= 0 for name in stated):
        return {}, "not_positive"
    for condition in template.conditions:
        held = evaluate(condition, program.values)
        if isinstance(held, Refusal) or not held:
            return {}, "condition"
    return program.values, ""


def _filled(
    template: Template,
    index: int,
    inputs: Mapping[str, Fraction],
    values: Mapping[str, Fraction],
) -> Mutation:
    steps = tuple(fill(step, values) for step in template.steps)
    question = fill(template.question, values)
    return Mutation(template.problem, index, dict(inputs), dict(values), question, steps)
