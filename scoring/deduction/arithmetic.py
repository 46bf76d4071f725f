"""The safe interpreter: model-written arithmetic, run exactly over a whitelisted syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from scoring.deduction.exact import Number, exact
from scoring.deduction.machine import Run
from scoring.deduction.syntax import Refusal, Refused, parse


@dataclass(frozen=True, slots=True)
class Program:
    """What a program computed.

    Attributes
    ----------
    values
        Exact value of every name at the end, the injected ones included. Empty when refused.
    order
        Names in the order in which the program first gave them a value; an input counts where its
        own (set aside) literal stands, and is absent when the program has no line for it.
    refusal
        Why it was not run to its end, else None.
    set_aside
        First literal the program itself has for an input; the injected value was used instead.
    reads
        For each name assigned, the names its value was computed from, conditions around it
        included.
    """

    values: Mapping[str, Fraction]
    order: tuple[str, ...]
    refusal: Refusal | None
    set_aside: Mapping[str, Fraction] = field(default_factory=dict)
    reads: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def ancestors(self, name: str) -> frozenset[str]:
        """Return every name that the value of `name` rests on, directly or not."""
        found: set[str] = set()
        todo = list(self.reads.get(name, ()))
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo.extend(self.reads.get(one, ()))
        return frozenset(found)


def run_program(
    source: str, inputs: Mapping[str, Number], *, held: Mapping[str, Number] | None = None
) -> Program:
    r"""Run arithmetic that a model wrote, exactly and without ever handing it to Python.

    Parameters
    ----------
    source
        Program text: numbers, names, ``+ - * / // % **``, comparisons, ``and or not``, ``x if c
        else y``, ``if``, ``for … in range(…)``, ``while``, and `abs`, `min`, `max`, `round`,
        `int`, `float`, `floor`, `ceil`, `pow`.
    inputs
        Injected values by name. The program's own literal for one of them is set aside.
    held
        Values that names keep whatever the program computes for them (to ask what would follow
        from a value that is wrong). Also counts for inputs.

    Returns
    -------
    Program
        Never raises on a bad source: outside the subset, or beyond a limit, it carries a refusal
        and no values.

    Raises
    ------
    ValueError
        When an input is no finite number or its name no identifier.

    Notes
    -----
    Every value is a `Fraction`: decimals are read as written and ``/`` is exact; ``//`` and ``%``
    round down as in Python; `round` goes to the even neighbour on ties; a comparison is 1 or 0,
    and 0 is false. A power needs a whole exponent. Numerators and denominators have at most 1,024
    bits, and the work is bounded by `machine.MAX_STEPS`.

    An input that is recomputed from other values (``x = x + 1``) is refused: such a placeholder
    would have two values, and no question could state it.

    References
    ----------
    Paper C, section 4.1 and appendix A.1 (there the code is executed by Python).

    Examples
    --------
    >>> p = run_program("price = 3\ncost = price * 12 / 10", {"price": 5})
    >>> p.values["cost"], p.order, p.set_aside
    (Fraction(6, 1), ('price', 'cost'), {'price': Fraction(3, 1)})
    >>> run_program("import os", {}).refusal.code
    'word'
    """
    given = _checked(inputs, "input")
    kept = _checked(held or {}, "held value")
    try:
        run = Run(parse(source), given, kept)
        run.block(run.parsed.body)
    except Refused as refused:
        return Program({}, (), refused.refusal)
    except RecursionError:
        return Program({}, (), Refusal("nesting", "nested too deeply for the caller's stack"))
    reads = {name: frozenset(names) for name, names in run.reads.items()}
    return Program(run.values, tuple(run.order), None, run.set_aside, reads)


def evaluate(expression: str, values: Mapping[str, Number]) -> Fraction | Refusal:
    """Evaluate one expression of the subset, e.g. a template's condition.

    Parameters
    ----------
    expression
        As in `run_program`, a single expression.
    values
        The names it may use.

    Returns
    -------
    Fraction or Refusal
        Comparisons give 1 or 0.

    Examples
    --------
    >>> evaluate("total % 1 == 0 and total < 50", {"total": 12})
    Fraction(1, 1)
    >>> evaluate("missing + 1", {}).code
    'undefined_name'
    """
    given = _checked(values, "value")
    try:
        run = Run(parse(expression, expression=True), given, {})
        statement = run.parsed.body[0]
        return run.value(statement.value) if isinstance(statement, ast.Expr) else Fraction(0)
    except Refused as refused:
        return refused.refusal
    except RecursionError:
        return Refusal("nesting", "nested too deeply for the caller's stack")


def _checked(values: Mapping[str, Number], what: str) -> dict[str, Fraction]:
    for name in values:
        if not name.isidentifier():
            raise ValueError(f"{what} {name!r}: a name must be an identifier")
    return {name: exact(v, f"{what} {name}") for name, v in values.items()}
