"""Whether a model notices contradictions, and whether its errors come from wrong facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scoring.relations._edges import Edge, Edges, checked_edges, checked_size


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with Wilson's 95 % interval.

    Attributes
    ----------
    value
        count / n; None for n = 0.
    ci
        Wilson's interval; None for n = 0.
    count, n
        Yes answers and usable answers.
    missing
        Answers that could not be parsed; left out.
    """

    value: float | None
    ci: tuple[float, float] | None
    count: int
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class Detection:
    """How often a model says INCONSISTENT.

    Attributes
    ----------
    success
        On the contradictory set; higher is better.
    false_alarms
        On the consistent control; lower is better.
    """

    success: Rate
    false_alarms: Rate

    @property
    def advantage(self) -> float | None:
        """Success - false alarms (Youden's index): 0 = the answer says nothing; None undefined."""
        if self.success.value is None or self.false_alarms.value is None:
            return None
        return self.success.value - self.false_alarms.value


def detection_rates(
    contradictory: Iterable[bool | None], consistent: Iterable[bool | None]
) -> Detection:
    """Score the detection of contradictory givens against a consistent control.

    Parameters
    ----------
    contradictory, consistent : iterable of bool or None
        Whether each question on that set was answered INCONSISTENT; None = unusable answer.

    Returns
    -------
    Detection

    References
    ----------
    Paper B, appendix A.5.1 (380 questions; it has no control).

    Examples
    --------
    >>> found = detection_rates([True] * 57 + [False] * 323, [False] * 380)
    >>> found.success.value, found.false_alarms.value, found.advantage
    (0.15, 0.0, 0.15)
    """
    return Detection(_rate(contradictory), _rate(consistent))


def _rate(answers: Iterable[bool | None]) -> Rate:
    given = list(answers)
    said = [a for a in given if a is not None]
    k, n = sum(said), len(said)
    if n == 0:
        return Rate(None, None, 0, 0, len(given))
    z = NormalDist().inv_cdf(0.975)
    middle = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    ci = (0.0 if k == 0 else middle - half, 1.0 if k == n else middle + half)
    return Rate(k / n, ci, k, n, len(given) - n)


@dataclass(frozen=True, slots=True)
class KnowledgeProbe:
    """Answers held against the values the model itself states for the objects.

    Attributes
    ----------
    wrong_fact
        Wrong answers that the model's own values imply.
    wrong_reasoning
        Wrong answers although the model's own values imply the right one.
    lucky
        Right answers although the model's own values imply the wrong one.
    sound
        Right answers that the model's own values imply.
    unknown
        Answers about an object without a stated value, or with two equal stated values.
    tied
        Answers about objects equal in truth; not judged.
    follows
        Share of the judged answers with known values that follow from these values, right or
        wrong; None when there is none.
    """

    wrong_fact: tuple[Edge, ...]
    wrong_reasoning: tuple[Edge, ...]
    lucky: tuple[Edge, ...]
    sound: int
    unknown: int
    tied: int
    follows: float | None


def knowledge_probe(
    edges: Edges, stated: Sequence[float | None], true: Sequence[float]
) -> KnowledgeProbe:
    """Tell wrong relations that rest on wrong facts from wrong reasoning.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers "u before v".
    stated : sequence of float or None
        What the model says each object's date or coordinate is, asked by itself; None = no answer.
    true : sequence of float
        What it is.

    Returns
    -------
    KnowledgeProbe

    Raises
    ------
    ValueError
        When the lengths differ or an edge names another object.

    References
    ----------
    Paper B, appendix A.3.3 (factual inconsistencies).

    Examples
    --------
    >>> found = knowledge_probe([(0, 1), (2, 0)], [1950, 1960, 1970], [1955, 1940, 1970])
    >>> found.wrong_fact, found.wrong_reasoning
    (((0, 1),), ((2, 0),))
    """
    n = checked_size(len(true))
    if len(stated) != n:
        raise ValueError(f"{len(stated)} stated values for {n} true ones: give one per object")
    kept, _ = checked_edges(edges, n)
    groups: dict[tuple[bool, bool], list[Edge]] = {}
    unknown = tied = 0
    for u, v in kept:
        a, b = stated[u], stated[v]
        if true[u] == true[v]:
            tied += 1
        elif a is None or b is None or a == b:
            unknown += 1
        else:
            groups.setdefault((true[u] < true[v], a < b), []).append((u, v))
    sound = len(groups.get((True, True), ()))
    wrong_fact = tuple(groups.get((False, True), ()))
    known = sum(len(g) for g in groups.values())
    return KnowledgeProbe(
        wrong_fact=wrong_fact,
        wrong_reasoning=tuple(groups.get((False, False), ())),
        lucky=tuple(groups.get((True, False), ())),
        sound=sound,
        unknown=unknown,
        tied=tied,
        follows=(sound + len(wrong_fact)) / known if known else None,
    )
