"""Answers mended, aligned with few truths, drawn as a map, and held against the model's own facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline.relation_scores import AS_USUAL, HowScored, trusted_pairs
from pipeline.relation_view import AskedSet, Axis
from scoring.relations import (
    Alignment,
    KinshipRepair,
    KnowledgeProbe,
    ReconstructedMap,
    Repair,
    align,
    inconsistency,
    kendall_tau,
    kinship_repair,
    knowledge_probe,
    order_from_values,
    reconstructed_map,
    repair,
)
from scoring.relations.repair import Mend
from store import Store
from store.relation_records import AskingRecord, ValueRecord


@dataclass(frozen=True, slots=True)
class MendedAnswer:
    """An answer as given and as mended; `mended` None = it is dropped."""

    a: int
    b: int
    repeat: int
    said: str
    mended: str | None

    @property
    def changed(self) -> bool:
        """Whether it was edited."""
        return self.said != self.mended


@dataclass(frozen=True, slots=True)
class SetFix:
    """The fewest edits that make one asking's answers consistent, by axis, or for a family.

    `answers` are all readable answers, mended. An answer about a place speaks on two axes: it
    counts as edited when either is.
    """

    asked: AskedSet
    mend: Mend
    axes: Mapping[str, Repair]
    kinship: KinshipRepair | None
    answers: tuple[MendedAnswer, ...]
    n_left_out: int

    @property
    def n_changed(self) -> int:
        """Answers that were edited."""
        return sum(a.changed for a in self.answers)


def fix_set(asked: AskedSet, mend: Mend = "reverse", how: HowScored = AS_USUAL) -> SetFix:
    """Mend (or drop) the fewest answers. Kinship words are only ever dropped.

    Raises
    ------
    ValueError
        When kinship words are to be mended, or a truth is to be trusted where there is none.
    """
    n_left_out = sum(a.relation is None for a in asked.answers)
    if asked.kind == "kinship":
        return _fix_kinship(asked, mend, how, n_left_out)
    axes = {
        axis.name: repair(
            axis.edges,
            len(asked.objects),
            trusted=trusted_pairs(axis, how),
            mend=mend,
            time_limit=how.time_limit,
        )
        for axis in asked.axes
    }
    wrong = {name: {e.edge for e in found.edits} for name, found in axes.items()}
    answers = []
    for k, place in enumerate(asked.axes[0].sources):
        given = asked.answers[place]
        edges = {axis.name: axis.edges[k] for axis in asked.axes}
        bad = [name for name, edge in edges.items() if edge in wrong[name]]
        mended: str | None = given.relation
        if bad and mend == "drop":
            mended = None
        elif bad:
            first = {name: (edge[0] == given.a) != (name in bad) for name, edge in edges.items()}
            mended = word_of(first)
        answers.append(MendedAnswer(given.a, given.b, given.repeat, given.relation or "", mended))
    return SetFix(asked, mend, axes, None, tuple(answers), n_left_out)


def word_of(first: Mapping[str, bool]) -> str:
    """Return the word for which axes the first-named comes first on.

    >>> word_of({"time": True}), word_of({"x": True, "y": False})
    ('before', 'northwest')
    """
    if "time" in first:
        return "before" if first["time"] else "after"
    return ("south" if first["y"] else "north") + ("west" if first["x"] else "east")


def _fix_kinship(asked: AskedSet, mend: Mend, how: HowScored, n_left_out: int) -> SetFix:
    if mend != "drop":
        raise ValueError(
            f"set {asked.set.name}: kinship answers are dropped, not mended (--drop): a "
            "contradiction says that one of its answers is wrong, seldom what would be right"
        )
    names = asked.objects
    first = [a for a in asked.answers if a.repeat == 0]
    found = kinship_repair(
        {(names[a.a], names[a.b]): a.relation for a in first}, time_limit=how.time_limit
    )
    gone = set(found.dropped)
    answers = tuple(
        MendedAnswer(
            a.a,
            a.b,
            a.repeat,
            a.relation,
            None if (names[a.a], names[a.b]) in gone else a.relation,
        )
        for a in first
        if a.relation is not None
    )
    return SetFix(asked, mend, {}, found, answers, n_left_out)


@dataclass(frozen=True, slots=True)
class AxisAlignment:
    """One axis aligned both ways: until no answer is against the order, and until it is the true
    one. `n_tied` objects share their place in truth with another; there the objects' numbers
    decide. Of `n_judged` answers about objects that are not tied `n_wrong` are wrong."""

    axis: str
    consistent: Alignment
    aligned: Alignment
    n_tied: int
    n_judged: int
    n_wrong: int


def align_set(asked: AskedSet) -> tuple[AxisAlignment, ...]:
    """Align every axis of one asking with the truth.

    Raises
    ------
    ValueError
        For a family, or where objects have no true value.
    """
    if not asked.axes:
        raise ValueError(
            f"set {asked.set.name} is a family: it has no order to align (fix --drop mends it)"
        )
    found = []
    for axis in asked.axes:
        if axis.values is None:
            raise ValueError(f"set {asked.set.name}, axis {axis.name}: {axis.why_no_truth}")
        groups = order_from_values(axis.values)
        order = [v for g in groups for v in (g if isinstance(g, tuple) else (g,))]
        n = len(asked.objects)
        found.append(
            AxisAlignment(
                axis.name,
                align(axis.edges, n, order),
                align(axis.edges, n, order, until="aligned"),
                sum(len(g) for g in groups if isinstance(g, tuple)),
                sum(axis.values[u] != axis.values[v] for u, v in axis.edges),
                sum(axis.values[u] > axis.values[v] for u, v in axis.edges),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SetMap:
    """The order (or the map) that the answers make, beside the true one.

    `orders` are the exact ones by axis, `taus` Kendall's tau-b with the truth (None without);
    `drawn` is there for two axes. Orders are proved where `proved` says so.
    """

    asked: AskedSet
    orders: Mapping[str, tuple[int, ...]]
    taus: Mapping[str, float | None]
    proved: Mapping[str, bool]
    drawn: ReconstructedMap | None


def map_set(asked: AskedSet, how: HowScored = AS_USUAL) -> SetMap:
    """Place the objects of one asking by its exact orders.

    Raises
    ------
    ValueError
        For a family.
    """
    if not asked.axes:
        raise ValueError(f"set {asked.set.name} is a family: it has no order and no map")
    n = len(asked.objects)
    found = {
        axis.name: inconsistency(axis.edges, n, time_limit=how.time_limit) for axis in asked.axes
    }
    drawn = None
    if len(asked.axes) == 2:
        x, y = asked.axes
        drawn = reconstructed_map(
            found["x"].order,
            found["y"].order,
            None if y.values is None else x.values,
            None if x.values is None else y.values,
        )
    return SetMap(
        asked,
        {name: f.order for name, f in found.items()},
        {
            axis.name: None
            if axis.values is None
            else kendall_tau(found[axis.name].order, axis.values)
            for axis in asked.axes
        },
        {name: bool(f.proved) for name, f in found.items()},
        drawn,
    )


@dataclass(frozen=True, slots=True)
class AxisProbe:
    """What a model says of the objects themselves on one axis, and what its answers rest on.

    Of `n_objects`, `n_stated` have a stated value and `n_right` one within the tolerance.
    `pairs_right` of `pairs` pairs of stated objects are in the true order by the stated values.
    `found` sorts the answers about pairs.
    """

    axis: str
    n_objects: int
    n_stated: int
    n_right: int
    median_error: float | None
    pairs_right: int
    pairs: int
    found: KnowledgeProbe


@dataclass(frozen=True, slots=True)
class SetProbe:
    """The knowledge probe of one asking, beside the asking about the objects themselves."""

    asked: AskedSet
    probed: AskingRecord
    within: float
    stated: Mapping[str, tuple[float | None, ...]]
    axes: tuple[AxisProbe, ...]
    left_out: Mapping[str, int]


def probe_set(store: Store, asked: AskedSet, probed: AskingRecord, within: float = 1.0) -> SetProbe:
    """Hold answers about pairs against what the same model says of each object.

    `within` is how far a stated year, degree or unit may be off to count as right.

    Raises
    ------
    ValueError
        Where the objects have no true value, or the probe is of another set.
    """
    if probed.set_id != asked.set.id or not asked.axes:
        raise ValueError(f"{probed.name} was not asked about the objects of set {asked.set.name}")
    rows = [r for r in store.relation_values(probed.id) if r.repeat == 0]
    left_out: dict[str, int] = {}
    for r in rows:
        if r.value is None:
            why = (r.reason or r.outcome).partition(":")[0]
            left_out[why] = left_out.get(why, 0) + 1
    stated = {axis.name: _stated(rows, k, len(asked.objects)) for k, axis in enumerate(asked.axes)}
    axes = tuple(_probe(asked, axis, stated[axis.name], within) for axis in asked.axes)
    return SetProbe(asked, probed, within, stated, axes, left_out)


def _stated(rows: Sequence[ValueRecord], k: int, n: int) -> tuple[float | None, ...]:
    values: list[float | None] = [None] * n
    for r in rows:
        values[r.object] = r.value[k] if isinstance(r.value, tuple) else r.value
    return tuple(values)


def _probe(asked: AskedSet, axis: Axis, stated: Sequence[float | None], within: float) -> AxisProbe:
    true = axis.values
    if true is None:
        raise ValueError(f"set {asked.set.name}, axis {axis.name}: {axis.why_no_truth}")
    errors = sorted(abs(s - t) for s, t in zip(stated, true, strict=True) if s is not None)
    n = len(errors)
    middle = None if not n else (errors[(n - 1) // 2] + errors[n // 2]) / 2
    right = pairs = 0
    for i, j in combinations(range(len(true)), 2):
        a, b = stated[i], stated[j]
        if a is not None and b is not None and true[i] != true[j]:
            pairs += 1
            right += (a < b) == (true[i] < true[j]) and a != b
    return AxisProbe(
        axis.name,
        len(true),
        n,
        sum(e <= within for e in errors),
        middle,
        right,
        pairs,
        knowledge_probe(axis.edges, stated, true),
    )
