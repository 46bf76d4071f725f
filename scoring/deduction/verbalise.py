"""Words for SynDeduct: how constants, rules, questions and steps are said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from scoring.deduction.exact import format_number

Operator = Literal["+", "-", "*", "/"]

_RULES: dict[Operator, tuple[str, ...]] = {
    "+": (
        "{out} equals {a} plus {b}.",
        "Adding {b} to {a} gives {out}.",
        "To get {out}, increase {a} by {b}.",
    ),
    "-": (
        "{out} equals {a} minus {b}.",
        "Taking {b} away from {a} leaves {out}.",
        "To get {out}, lower {a} by {b}.",
    ),
    "*": (
        "{out} equals {a} times {b}.",
        "Multiplying {a} by {b} gives {out}.",
        "To get {out}, take {a} exactly {b} times.",
    ),
    "/": (
        "{out} equals {a} divided by {b}.",
        "Dividing {a} by {b} gives {out}.",
        "To get {out}, split {a} into {b} equal parts and keep one.",
    ),
}
_CONSTANTS = ("{name} is {value}.", "The value of {name} is {value}.", "{name} stands for {value}.")


@dataclass(frozen=True, slots=True)
class Rule:
    """One operation of the graph: ``out = a operator b``."""

    out: str
    a: str
    operator: Operator
    b: str

    @property
    def code(self) -> str:
        """The rule as a line of a program."""
        return f"{self.out} = {self.a} {self.operator} {self.b}"


def say_constant(name: str, value: Fraction, wording: int) -> str:
    """Return a sentence that gives a constant its value.

    Examples
    --------
    >>> say_constant("C2", Fraction(8), 1)
    'The value of C2 is 8.'
    """
    template = _CONSTANTS[wording % len(_CONSTANTS)]
    return template.format(name=name, value=format_number(value))


def say_rule(rule: Rule, wording: int) -> str:
    """Return a sentence that states a rule.

    Examples
    --------
    >>> say_rule(Rule("X1", "X0", "-", "C3"), 1)
    'Taking C3 away from X0 leaves X1.'
    """
    templates = _RULES[rule.operator]
    return templates[wording % len(templates)].format(out=rule.out, a=rule.a, b=rule.b)


def say_question(sentences: Sequence[str], target: str) -> str:
    """Return the whole question.

    Examples
    --------
    >>> say_question(["X0 is 3."], "X4")
    'X0 is 3. Work out the value of X4.'
    """
    return f"{' '.join(sentences)} Work out the value of {target}."


def say_step(rule: Rule, a: Fraction, b: Fraction, out: Fraction) -> str:
    """Return a solution step with names and numbers.

    Examples
    --------
    >>> say_step(Rule("X1", "X0", "+", "C3"), Fraction(18), Fraction(20), Fraction(38))
    'X1 = X0 + C3 = 18 + 20 = 38.'
    """
    x, y, z = (format_number(v) for v in (a, b, out))
    return f"{rule.out} = {rule.a} {rule.operator} {rule.b} = {x} {rule.operator} {y} = {z}."


def wordings(rng: np.random.Generator, n: int) -> list[int]:
    """Return n random choices of wording."""
    return [int(i) for i in rng.integers(0, 3, size=n)]
