"""How much of the reference solution the responses state, and so can be checked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the reference's variables the responses state.

    Attributes
    ----------
    value
        shared/expected in [0, 1], 1 = every variable of the reference is stated; None without
        expected variables.
    printed
        shared/stated, the paper's displayed formula; None when nothing is stated.
    shared, expected, stated
        Σ|V_S ∩ V_A|, Σ|V_S|, Σ|V_A|.
    n
        Responses.
    """

    value: float | None
    printed: float | None
    shared: int
    expected: int
    stated: int
    n: int


def coverage(expected: Sequence[Collection[str]], stated: Sequence[Collection[str]]) -> Coverage:
    """Return how many of the reference's variables the responses state.

    Parameters
    ----------
    expected
        For each response, the variables of the reference solution (V_S).
    stated
        For each response, the variables it states (V_A), right or wrong.

    Returns
    -------
    Coverage

    Raises
    ------
    ValueError
        When the two have different lengths.

    Notes
    -----
    ``value`` follows the paper's sentence (the share of the *reference's* variables),
    ``printed`` its displayed formula, which divides by the response's. Sums over responses come
    before the division.

    References
    ----------
    Paper C, section 3.2 and table 7.

    Examples
    --------
    >>> c = coverage([{"a", "b", "c"}, {"a", "b"}], [{"a", "b", "z"}, {"a", "b"}])
    >>> c.value, c.printed
    (0.8, 0.8)
    """
    if len(expected) != len(stated):
        raise ValueError(f"{len(expected)} references but {len(stated)} responses")
    pairs = [(set(e), set(s)) for e, s in zip(expected, stated, strict=True)]
    shared = sum(len(e & s) for e, s in pairs)
    ours, theirs = sum(len(e) for e, _ in pairs), sum(len(s) for _, s in pairs)
    return Coverage(
        value=shared / ours if ours else None,
        printed=shared / theirs if theirs else None,
        shared=shared,
        expected=ours,
        stated=theirs,
        n=len(pairs),
    )
