"""Accuracy of SC against GSC on the same questions (paper A, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.agreement import McNemar, mcnemar


@dataclass(frozen=True, slots=True)
class PairedAccuracy:
    """Two ways of answering compared on the same questions.

    Attributes
    ----------
    first, second
        Accuracies, in [0, 1]; None without questions.
    difference
        second − first, in [−1, 1].
    both, first_only, second_only, neither
        Questions by who is right.
    n, dropped
        Questions used, and those where one side is undefined.
    test
        McNemar's test on ``first_only`` against ``second_only``.
    """

    first: float | None
    second: float | None
    difference: float | None
    both: int
    first_only: int
    second_only: int
    neither: int
    n: int
    dropped: int
    test: McNemar


def paired_accuracy(first: Iterable[bool | None], second: Iterable[bool | None]) -> PairedAccuracy:
    """Compare the accuracy of SC (first) and GSC (second), question by question.

    Parameters
    ----------
    first, second : iterable of bool or None, length n
        Whether each is right; None = no gold or no answer, dropped pairwise and counted.

    Returns
    -------
    PairedAccuracy

    Raises
    ------
    ValueError
        For lists of unequal length.

    Notes
    -----
    See `scoring.agreement.mcnemar` for the test.

    References
    ----------
    Paper A, section 5.2.

    Examples
    --------
    >>> r = paired_accuracy([True, True, False, True], [True, False, True, None])
    >>> r.n, r.first_only, r.second_only, r.difference, r.test.exact_p
    (3, 1, 1, 0.0, 1.0)
    """
    a, b = list(first), list(second)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} first results for {len(b)} second ones: one of each a question")
    pairs = [(bool(x), bool(y)) for x, y in zip(a, b, strict=True) if None not in (x, y)]
    n = len(pairs)
    both, only, other, neither = (
        pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))
    )
    return PairedAccuracy(
        first=(both + only) / n if n else None,
        second=(both + other) / n if n else None,
        difference=(other - only) / n if n else None,
        both=both,
        first_only=only,
        second_only=other,
        neither=neither,
        n=n,
        dropped=len(a) - n,
        test=mcnemar(only, other),
    )
