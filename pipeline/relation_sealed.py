"""What a sealed rater may see of a model's answers about a set: what it said, and what follows.

Nothing here is true or false of the objects: truth, errors, repair and blame stay behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context

import numpy as np

from judges.relation_asker import INCONSISTENT
from pipeline.relation_scores import DRAWS, EXACT_AT_MOST, EXACT_DRAWS, HowScored, score_set
from pipeline.relation_view import AskedSet, Axis
from scoring.relations import (
    CoinFlip,
    Inconsistency,
    KinshipContradictions,
    Method,
    coin_flip_baseline,
    inconsistency,
)
from scoring.relations._edges import count_matrix
from scoring.relations.order import component_blocks
from store.relation_records import AskingRecord

Edge = tuple[int, int]

AXIS_WORDS: Mapping[str, tuple[str, str, str]] = {
    "time": ("before", "first", "last"),
    "x": ("west of", "west", "east"),
    "y": ("south of", "south", "north"),
}
"""How "u comes before v" reads on each axis, and what the first and the last place are."""

KIN_DRAWS = 20
"""Families of random words beside a family's answers."""
TIME_LIMIT = 5.0
"""Seconds an exact order may take before its bounds are shown in its place."""


@dataclass(frozen=True, slots=True, eq=False)
class AxisView:
    """What a model said along one axis.

    Attributes
    ----------
    name
        "time", "x" or "y".
    said
        For each pair (a, b) that was asked: 1 = a comes before b, -1 = after, None = no answer was
        read. Of several repeats the majority, of equally many the first.
    edges
        Every answer as "u before v", repeats kept.
    order
        Objects from first to last by the answers alone: components, then degrees.
    component
        Of each object the number of its component: answers go round in circles within one.
    """

    name: str
    said: Mapping[Edge, int | None]
    edges: tuple[Edge, ...]
    order: tuple[int, ...]
    component: tuple[int, ...]

    def groups(self, order: Sequence[int]) -> list[int]:
        """Return the sizes of the components as they stand in an order that keeps each together."""
        return [len(list(members)) for _, members in groupby(self.component[v] for v in order)]

    @property
    def contradicted(self) -> int:
        """Pairs answered both ways: each answer to the contrary of the other."""
        return sum(
            sign is not None and a < b and self.said.get((b, a)) == sign
            for (a, b), sign in self.said.items()
        )

    def against(self, order: Sequence[int]) -> frozenset[Edge]:
        """Return the pairs as asked whose answers are against an order."""
        where = {v: k for k, v in enumerate(order)}
        return frozenset(
            (a, b)
            for (a, b), sign in self.said.items()
            if sign is not None and (where[a] < where[b]) != (sign > 0)
        )


@dataclass(frozen=True, slots=True, eq=False)
class SetView:
    """A model's own answers about a set: nothing here is true or false of the objects.

    Attributes
    ----------
    asking
        Set and model.
    names
        Of the objects by place.
    axes
        One for times, two for places, none for a family.
    words
        What a was said to be to b, the vocabulary's word; None = no answer was read.
    n_answers, n_unread
        Answers, and those no word could be read from.
    """

    asking: AskingRecord
    names: tuple[str, ...]
    axes: tuple[AxisView, ...]
    words: Mapping[Edge, str | None]
    n_answers: int
    n_unread: int

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.names)

    @property
    def coverage(self) -> float | None:
        """Ordered pairs with an answer / n(n - 1); None for fewer than two objects."""
        pairs = self.n * (self.n - 1)
        return sum(w is not None for w in self.words.values()) / pairs if pairs else None

    def axis(self, name: str) -> AxisView:
        """Return an axis by name."""
        return next(a for a in self.axes if a.name == name)


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """How far a model contradicts itself beside answers that know nothing: by axis, or as kin.

    `kin_coin` is the share of excluded triples among words drawn at random: mean and 95 % range.
    """

    exact: Mapping[str, Inconsistency]
    coin: Mapping[str, CoinFlip]
    kin: KinshipContradictions | None
    kin_coin: tuple[float, float, float] | None


def set_view(asked: AskedSet) -> SetView:
    """Return the model's own answers; some milliseconds."""
    words: dict[Edge, str | None] = {}
    for answer in asked.answers:
        if words.get((answer.a, answer.b)) is None:
            words[answer.a, answer.b] = answer.relation
    axes = tuple(_axis(asked, axis) for axis in asked.axes)
    unread = sum(a.relation is None or a.relation == INCONSISTENT for a in asked.answers)
    return SetView(asked.asking, asked.objects, axes, words, len(asked.answers), unread)


def _axis(asked: AskedSet, axis: Axis) -> AxisView:
    signs: dict[Edge, list[int]] = defaultdict(list)
    for edge, source in zip(axis.edges, axis.sources, strict=True):
        pair = asked.answers[source].a, asked.answers[source].b
        signs[pair].append(1 if edge == pair else -1)
    n = len(asked.objects)
    blocks = component_blocks(count_matrix(axis.edges, n), np.zeros((n, n), dtype=bool))
    component = {v: k for k, block in enumerate(blocks) for v in block}
    return AxisView(
        axis.name,
        {(a.a, a.b): _majority(signs[a.a, a.b]) for a in asked.answers},
        axis.edges,
        inconsistency(axis.edges, n, method="scc").order,
        tuple(component[v] for v in range(n)),
    )


def _majority(signs: Sequence[int]) -> int | None:
    """Return the sign most answers have, of equally many the first; None without any."""
    if not signs:
        return None
    return (sum(signs) > 0) - (sum(signs) < 0) or signs[0]


def headline(asked: AskedSet, *, time_limit: float = TIME_LIMIT) -> Headline:
    """Work out how far a model contradicts itself; up to some seconds, so never for a key.

    The coin is scored by the same method as the answers: exactly, or where that would take too
    long by local search, which finds orders a little worse than the best.
    """
    n = len(asked.objects)
    if asked.kind == "kinship":
        kin = score_set(asked, HowScored(methods=("exact",), draws=KIN_DRAWS)).kinship
        if kin is None:
            return Headline({}, {}, None, None)
        return Headline({}, {}, kin.found, kin.coin)
    method: Method = "exact" if n <= EXACT_AT_MOST else "local"
    exact = {
        axis.name: inconsistency(axis.edges, n, method="exact", time_limit=time_limit)
        for axis in asked.axes
    }
    coin = {axis.name: coin_flip(n, method) for axis in asked.axes} if n > 1 else {}
    return Headline(exact, coin, None, None)


def headline_apart(asked: AskedSet, *, time_limit: float = TIME_LIMIT) -> Headline:
    """Work out the same, of many objects in a process of its own.

    The solver keeps hold of the interpreter while it searches; a screen would wait for it.
    """
    if len(asked.objects) <= EXACT_AT_MOST:
        return headline(asked, time_limit=time_limit)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(headline, asked, time_limit=time_limit).result()


@lru_cache(64)
def coin_flip(n: int, method: Method) -> CoinFlip:
    """Return what a fair coin's answers about n objects score."""
    draws = EXACT_DRAWS if method == "exact" else DRAWS
    return coin_flip_baseline(n, method=method, draws=draws, time_limit=1.0)
