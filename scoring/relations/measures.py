"""Measures beside the inconsistency: error against truth, blame, preference, asymmetry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from scoring.relations._edges import (
    Edge,
    Edges,
    IntArray,
    checked_edges,
    checked_order,
    checked_size,
    reverse_edges,
)
from scoring.relations.axes import Answer, Kind, axis_edges, axis_word

Denominator = Literal["answered", "literal", "strict"]


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Ordering answers against the true order.

    Attributes
    ----------
    value
        By the denominator asked for; None when undefined.
    wrong
        Answers against the truth.
    answered
        Answers about objects whose order is settled.
    missing
        Ordered pairs without an answer (never negative).
    pairs
        Ordered pairs whose order is settled: n(n - 1) without ties.
    tied
        Answers about objects that share their place in truth; not judged.
    selfloops
        Answers about an object and itself; dropped.
    why_undefined
        The reason when `value` is None, else None.
    """

    value: float | None
    wrong: int
    answered: int
    missing: int
    pairs: int
    tied: int
    selfloops: int
    why_undefined: str | None

    @property
    def answered_rate(self) -> float | None:
        """Wrong / answered."""
        return self.wrong / self.answered if self.answered else None

    @property
    def literal(self) -> float | None:
        """Wrong / n(n - 1), the paper's printed formula; a missing answer counts as right."""
        return self.wrong / self.pairs if self.pairs else None

    @property
    def strict(self) -> float | None:
        """(wrong + missing) / n(n - 1): a missing answer counts as wrong."""
        return (self.wrong + self.missing) / self.pairs if self.pairs else None


def error_rate(
    edges: Edges,
    truth_order: Sequence[int | Sequence[int]],
    n: int,
    *,
    denominator: Denominator = "answered",
) -> ErrorRate:
    """Score answers "u before v" against the true order.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers about objects 0..n-1.
    truth_order : sequence of int, or of sequences of int
        Objects from first to last; objects that share their place in a sequence of their own.
    n : int
        Number of objects.
    denominator : {"answered", "literal", "strict"}
        Which rate is `value`; the others are properties.

    Returns
    -------
    ErrorRate
        In [0, 1] when each ordered pair is asked at most once; lower is better.

    Raises
    ------
    ValueError
        When an edge or the truth names other objects, or the denominator is unknown.

    References
    ----------
    Paper B, section 3 (case ii).

    Examples
    --------
    >>> error_rate([(0, 1), (2, 1)], [0, 1, 2], 3).value
    0.5
    >>> error_rate([(0, 1), (2, 1)], [0, [1, 2]], 3).value
    0.0
    """
    size = checked_size(n)
    if denominator not in get_args(Denominator):
        raise ValueError(f"denominator is {denominator!r}: answered, literal or strict")
    kept, loops = checked_edges(edges, size)
    rank, pairs = _ranks(truth_order, size)
    judged = [(u, v) for u, v in kept if rank[u] != rank[v]]
    wrong = sum(bool(rank[u] > rank[v]) for u, v in judged)
    answered = len(judged)
    result = ErrorRate(
        value=None,
        wrong=wrong,
        answered=answered,
        missing=max(0, pairs - answered),
        pairs=pairs,
        tied=len(kept) - answered,
        selfloops=loops,
        why_undefined=None,
    )
    if not answered:
        return replace(result, why_undefined="no answer to judge")
    rates = {
        "answered": result.answered_rate,
        "literal": result.literal,
        "strict": result.strict,
    }
    return replace(result, value=rates[denominator])


def _ranks(truth: Sequence[int | Sequence[int]], n: int) -> tuple[IntArray, int]:
    """Return each object's place and the number of ordered pairs with different places."""
    groups = [list(g) if isinstance(g, Sequence) else [int(g)] for g in truth]
    checked_order([int(v) for g in groups for v in g], n, "truth order")
    rank: IntArray = np.empty(n, dtype=np.int64)
    for k, group in enumerate(groups):
        rank[group] = k
    return rank, n * (n - 1) - sum(len(g) * (len(g) - 1) for g in groups)


@dataclass(frozen=True, slots=True)
class Blame:
    """How much of the contradiction touches one object.

    Attributes
    ----------
    object
        Number of the object.
    reverse
        Reverse answers it is one end of.
    edges
        Answers it is one end of.
    share
        reverse / edges; None without an answer.
    """

    object: int
    reverse: int
    edges: int
    share: float | None


def blame(edges: Edges, n: int, order: Sequence[int]) -> tuple[Blame, ...]:
    """Return each object's part in the answers against an order, the most blamed first.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers about objects 0..n-1; self-loops are dropped.
    n : int
        Number of objects.
    order : sequence of int
        The order the answers are held against, e.g. `Inconsistency.order`.

    Returns
    -------
    tuple of Blame
        By share, then count, then number; a reverse answer blames both its ends.

    Raises
    ------
    ValueError
        When an edge names another object or the order is no permutation.

    Examples
    --------
    >>> [(b.object, b.reverse) for b in blame([(0, 1), (1, 0), (1, 2)], 3, [0, 1, 2])]
    [(0, 1), (1, 1), (2, 0)]
    """
    kept, _ = checked_edges(edges, checked_size(n))
    bad = Counter(x for e in reverse_edges(kept, checked_order(order, n)) for x in e)
    all_of = Counter(x for e in kept for x in e)
    found = [
        Blame(k, bad[k], all_of[k], bad[k] / all_of[k] if all_of[k] else None) for k in range(n)
    ]
    return tuple(sorted(found, key=lambda b: (-(b.share or 0.0), -b.reverse, b.object)))


@dataclass(frozen=True, slots=True)
class Preference:
    """Which answer a model prefers, and how its two askings of a pair compare.

    Attributes
    ----------
    axis
        "time", "x" or "y".
    first, second
        Answers saying that the first-named object comes before, and after, on this axis.
    share
        first / (first + second); consistent answers to both askings of every pair give 1/2. None
        without an answer.
    both_asked
        Pairs with exactly one answer each way.
    contradicted
        Of these, pairs whose two answers exclude each other.
    both_first, both_second
        Contradicted pairs with the same word twice: the first-named before both times, or after.
    p
        Two-sided sign test of both_first against both_second: small means that contradictions come
        from a preferred answer. None without a contradicted pair.
    """

    axis: str
    first: int
    second: int
    share: float | None
    both_asked: int
    contradicted: int
    both_first: int
    both_second: int
    p: float | None

    @property
    def asymmetry(self) -> float | None:
        """Contradicted / both_asked; None when no pair was asked both ways."""
        return self.contradicted / self.both_asked if self.both_asked else None


@dataclass(frozen=True, slots=True)
class AnswerPreference:
    """Word counts and, per axis, preference and asymmetry.

    Attributes
    ----------
    counts
        How often each word of the vocabulary was said, most frequent first.
    unparsed
        Answers without a word.
    axes
        One `Preference` per axis.
    """

    counts: dict[str, int]
    unparsed: int
    axes: tuple[Preference, ...]


def answer_preference(answers: Iterable[Answer], kind: Kind) -> AnswerPreference:
    """Measure a model's liking for an answer, and how its two askings of each pair disagree.

    Parameters
    ----------
    answers : iterable of (a, b, word)
        As asked: a is the first-named object.
    kind : {"time", "quadrant"}
        The vocabulary.

    Returns
    -------
    AnswerPreference

    Notes
    -----
    If every pair is asked both ways, a consistent model says each direction of an axis exactly half
    the time, whatever the truth is. A pair asked more than once one way is left out of the pairs.

    References
    ----------
    Paper B, appendix A.3.3 (bias as a cause).

    Examples
    --------
    >>> found = answer_preference([(0, 1, "before"), (1, 0, "before")], "time").axes[0]
    >>> found.share, found.asymmetry, found.both_first
    (1.0, 1.0, 1)
    """
    asked = list(answers)
    found = axis_edges(asked, kind)
    words = Counter(w for _, _, text in asked if (w := axis_word(text, kind)) is not None)
    named = [(asked[k][0], asked[k][1]) for k in found.sources]
    axes = tuple(_preference(axis, named, found.edges[k]) for k, axis in enumerate(found.axes))
    return AnswerPreference(dict(words.most_common()), found.unparsed, axes)


def _preference(axis: str, named: Sequence[Edge], edges: Sequence[Edge]) -> Preference:
    """Return the preference on one axis; edge k answers the question named[k]."""
    said: dict[Edge, list[bool]] = {}
    for question, edge in zip(named, edges, strict=True):
        said.setdefault(question, []).append(edge == question)
    first = sum(sum(v) for v in said.values())
    total = len(edges)
    pairs = [
        (v[0], said[b, a][0])
        for (a, b), v in said.items()
        if a < b and len(v) == 1 and len(said.get((b, a), ())) == 1
    ]
    both_first = sum(x and y for x, y in pairs)
    both_second = sum(not x and not y for x, y in pairs)
    return Preference(
        axis=axis,
        first=first,
        second=total - first,
        share=first / total if total else None,
        both_asked=len(pairs),
        contradicted=both_first + both_second,
        both_first=both_first,
        both_second=both_second,
        p=sign_test(both_first, both_second),
    )


def sign_test(a: int, b: int) -> float | None:
    """Return the exact two-sided p-value that a and b come from a fair coin; None for 0 and 0.

    Examples
    --------
    >>> sign_test(1, 7), sign_test(0, 0)
    (0.0703125, None)
    """
    n = a + b
    if n == 0:
        return None
    tail = sum(math.comb(n, k) for k in range(min(a, b) + 1))
    return min(1.0, float(2 * tail / 2**n))
