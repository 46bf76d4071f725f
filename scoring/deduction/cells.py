"""A response judged value by value: what the reference says at each hop, what the model said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scoring.deduction.exact import Number, exact, within
from scoring.deduction.template import HopUnit, hops_after

Status = Literal["right", "wrong", "copied", "missing"]
"""`copied`: wrong, and the value of the original problem instead, as from memory."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One variable of one response.

    Attributes
    ----------
    variable
    step
        Solution step (from 1) that states it first.
    hop
        Distance from the prefix, from 1.
    expected
        The reference's value.
    stated
        The response's value, None when it states none.
    status
        ``right``, ``wrong``, ``copied`` or ``missing``.
    """

    variable: str
    step: int
    hop: int
    expected: Fraction
    stated: Fraction | None
    status: Status

    @property
    def right(self) -> bool | None:
        """Whether the value is right; None when it is missing."""
        return None if self.status == "missing" else self.status == "right"


@dataclass(frozen=True, slots=True)
class Cell:
    """One observation: a variable at hop l after a prefix of k steps.

    Attributes
    ----------
    k
        Steps given, >= 0.
    l
        Hop, >= 1.
    right
        Whether the response has the right value; None when it states none.
    variable, problem, mutation
        Which observation, so that two runs can be paired.
    final
        Whether the variable answers the question.
    """

    k: int
    l: int  # noqa: E741 - the paper's letter
    right: bool | None
    variable: str = ""
    problem: str = ""
    mutation: int = 0
    final: bool = False

    def __post_init__(self) -> None:
        if self.k < 0 or self.l < 1:
            raise ValueError(f"cell ({self.k}, {self.l}): k must be at least 0 and l at least 1")


def judge_values(
    expected: Mapping[str, Number],
    stated: Mapping[str, Number | None],
    stated_in: Mapping[str, int],
    k: int,
    *,
    original: Mapping[str, Number] | None = None,
    hops: HopUnit = "steps",
    tolerance: Number = 0,
) -> tuple[Verdict, ...]:
    """Compare the values of a response with the reference's, variable by variable.

    Parameters
    ----------
    expected
        The reference's values, at least of the variables still to derive.
    stated
        The response's values; None or absent = it states none.
    stated_in
        Step (from 1) that states each variable first.
    k
        Steps given as prefix.
    original
        Values in the original problem, to tell a copied value from another wrong one.
    hops
        What a hop counts, see `hops_after`.
    tolerance
        Allowed share of the expected value; 0 = exact.

    Returns
    -------
    tuple of Verdict
        In the order of the solution; variables stated in the prefix or the question are left out.

    Raises
    ------
    ValueError
        When the reference lacks a variable.

    Notes
    -----
    Where the original problem has the expected value too, copying cannot be told from deriving
    and the value is right.

    References
    ----------
    Paper C, section 3.2 and appendix A.1.

    Examples
    --------
    >>> [v.status for v in judge_values(
    ...     {"c": 9, "e": 18}, {"c": 7}, {"c": 1, "e": 2}, 0, original={"c": 7, "e": 14}
    ... )]
    ['copied', 'missing']
    """
    out = []
    for name, hop in hops_after(stated_in, k, hops=hops).items():
        if name not in expected:
            raise ValueError(f"the reference has no value for {name!r}")
        truth = exact(expected[name], name)
        given = stated.get(name)
        value = None if given is None else exact(given, name)
        copied = original is not None and name in original and value == exact(original[name])
        status: Status = "wrong"
        if value is None:
            status = "missing"
        elif within(value, truth, tolerance):
            status = "right"
        elif copied:
            status = "copied"
        out.append(Verdict(name, stated_in[name], hop, truth, value, status))
    return tuple(out)


def cells_of(
    verdicts: tuple[Verdict, ...],
    k: int,
    *,
    problem: str = "",
    mutation: int = 0,
    answer: str = "",
) -> tuple[Cell, ...]:
    """Return the cells of one judged response.

    Parameters
    ----------
    verdicts
        From `judge_values` with the same k.
    k
        Steps given as prefix.
    problem, mutation
        Whose response.
    answer
        Variable that answers the question.

    Returns
    -------
    tuple of Cell

    Examples
    --------
    >>> v = judge_values({"c": 9}, {"c": 9}, {"c": 2}, 1)
    >>> cells_of(v, 1, problem="p", answer="c")[0].final
    True
    """
    return tuple(
        Cell(k, v.hop, v.right, v.variable, problem, mutation, v.variable == answer)
        for v in verdicts
    )
