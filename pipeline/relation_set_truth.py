"""What lies behind the seal of a relation set: true places and words, errors, the exact order, blame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.relation_sealed import TIME_LIMIT, AxisView, Edge, SetView
from pipeline.relation_view import AskedSet
from scoring.relations import (
    WORDS,
    Blame,
    ErrorRate,
    Inconsistency,
    blame,
    error_rate,
    inconsistency,
    kendall_tau,
    order_from_values,
)


@dataclass(frozen=True, slots=True, eq=False)
class AxisTruth:
    """What is behind the seal along one axis.

    Attributes
    ----------
    exact
        The exact score with its order; answers against that order are what a repair would turn.
    against
        Pairs as asked whose answers are against it.
    blame
        Per object, how many of its answers are.
    places
        True place of each object from 1, equals sharing the mean of theirs; None without a truth.
    wrong
        Pairs as asked whose answers are false.
    error, tau
        Error rate, and Kendall's τ-b of the exact order; None without a truth.
    """

    exact: Inconsistency
    against: frozenset[Edge]
    blame: tuple[Blame, ...]
    places: tuple[float, ...] | None = None
    wrong: frozenset[Edge] = frozenset()
    error: ErrorRate | None = None
    tau: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SetTruth:
    """What is behind the seal of a set.

    Attributes
    ----------
    axes
        By name.
    words
        True words of a family's pairs, by names.
    genders
        Of the people whose gender these words tell.
    wrong
        A family's pairs as asked whose answers are false.
    """

    axes: Mapping[str, AxisTruth] = field(default_factory=dict)
    words: Mapping[tuple[str, str], str] = field(default_factory=dict)
    genders: Mapping[str, str] = field(default_factory=dict)
    wrong: frozenset[Edge] = frozenset()

    @property
    def known(self) -> bool:
        """Whether the set has a truth at all."""
        return bool(self.words) or any(a.places is not None for a in self.axes.values())


def set_truth(asked: AskedSet, view: SetView, *, time_limit: float = TIME_LIMIT) -> SetTruth:
    """Return what is behind the seal; up to some seconds. The caller has asked whether it may."""
    if asked.kind == "kinship":
        words = {(view.names[a], view.names[b]): w for (a, b), w in asked.truth.items()}
        wrong = frozenset(
            pair
            for pair, said in view.words.items()
            if said is not None and pair in asked.truth and said != asked.truth[pair]
        )
        genders = {a: g for (a, _), w in words.items() if (g := WORDS[w].gender) is not None}
        return SetTruth({}, words, genders, wrong)
    axes = {
        axis.name: _axis(axis, asked.axis(axis.name).values, view.n, time_limit)
        for axis in view.axes
    }
    return SetTruth(axes)


def _axis(axis: AxisView, values: Sequence[float] | None, n: int, time_limit: float) -> AxisTruth:
    exact = inconsistency(axis.edges, n, time_limit=time_limit)
    found = AxisTruth(exact, axis.against(exact.order), blame(axis.edges, n, exact.order))
    if values is None:
        return found
    wrong = frozenset(
        (a, b)
        for (a, b), sign in axis.said.items()
        if sign is not None and (values[a] - values[b]) * sign > 0
    )
    return AxisTruth(
        found.exact,
        found.against,
        found.blame,
        tuple(_place(v, values) for v in values),
        wrong,
        error_rate(axis.edges, order_from_values(values), n),
        kendall_tau(exact.order, values),
    )


def _place(value: float, values: Sequence[float]) -> float:
    """Return the mean of the places that an object's equals share, from 1."""
    below, equal = sum(v < value for v in values), sum(v == value for v in values)
    return below + (equal + 1) / 2
