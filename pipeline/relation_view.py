"""One model's answers about one set as scores take them: numbered objects, words, edges, truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judges.relation_asker import INCONSISTENT
from scoring.relations import axis_edges, check_displacements
from store import Store
from store.relation_records import AskingRecord, ObjectRecord, RelationAnswerRecord, SetRecord

WordKind = Literal["time", "quadrant"]


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """What was said of (a, b) in one repeat; without a relation, `why`."""

    a: int
    b: int
    repeat: int
    relation: str | None
    why: str
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """Answers as edges "u before v" on one axis; `sources` are the places of their answers.

    `values` is the truth, one per object, None with `why_no_truth`.
    """

    name: str
    edges: tuple[tuple[int, int], ...]
    sources: tuple[int, ...]
    values: tuple[float, ...] | None
    why_no_truth: str | None


@dataclass(frozen=True, slots=True)
class AskedSet:
    """One asking of one set. `truth` are the true words of pairs, where the set has them.

    `consistent` says whether told displacements fit together, None where none are told.
    """

    set: SetRecord
    asking: AskingRecord
    objects: tuple[str, ...]
    answers: tuple[AskedAnswer, ...]
    axes: tuple[Axis, ...]
    truth: Mapping[tuple[int, int], str]
    consistent: bool | None = None

    @property
    def kind(self) -> str:
        """The set's kind."""
        return self.set.kind

    @property
    def name(self) -> str:
        """Set and asking in one text."""
        return f"{self.set.name} · {self.asking.name}"

    @property
    def n_pairs(self) -> int:
        """Ordered pairs of different objects."""
        return self.set.n_pairs

    def axis(self, name: str) -> Axis:
        """Return an axis by name. ValueError where the set has none of that name."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        there = ", ".join(a.name for a in self.axes) or "none"
        raise ValueError(f"set {self.set.name} has no axis {name!r}; there are: {there}")


def word_kind(kind: str) -> WordKind:
    """Return the vocabulary of a set with axes."""
    return "time" if kind == "temporal" else "quadrant"


def asked_set(store: Store, asking: AskingRecord) -> AskedSet:
    """Return what a model answered about a set."""
    of = store.relation_set_named(asking.set)
    objects = store.relation_objects(of.id)
    answers = tuple(_answer(r) for r in store.relation_answers(asking.id))
    facts = store.relation_facts(of.id, "truth") if of.kind == "kinship" else ()
    return AskedSet(
        of,
        asking,
        tuple(o.name for o in objects),
        answers,
        () if of.kind == "kinship" else axes_of(of, objects, answers),
        {(f.a, f.b): f.relation for f in facts if f.relation is not None},
        _consistent(store, of),
    )


def _consistent(store: Store, of: SetRecord) -> bool | None:
    told = [f for f in store.relation_facts(of.id, "told") if f.value is not None]
    if not told:
        return None
    return check_displacements(
        (f.a, f.b, int(f.value[0]), int(f.value[1])) for f in told if f.value is not None
    ).consistent


def _answer(row: RelationAnswerRecord) -> AskedAnswer:
    why = row.reason or ("no relation" if row.outcome == "ok" else row.outcome)
    turned = bool((row.extra or {}).get("turned", False))
    return AskedAnswer(row.a, row.b, row.repeat, row.relation, "" if row.relation else why, turned)


def axes_of(
    of: SetRecord, objects: Sequence[ObjectRecord], answers: Sequence[AskedAnswer]
) -> tuple[Axis, ...]:
    """Return the axes of a set with the edges that answers give.

    INCONSISTENT is no direction: such answers give no edge.
    """
    said = [(a.a, a.b, None if a.relation == INCONSISTENT else a.relation) for a in answers]
    found = axis_edges(said, word_kind(of.kind))
    lacking = [o.name for o in objects if o.truth is None]
    why = None
    if lacking:
        n = len(lacking)
        why = (
            "no object has a true value"
            if n == len(objects)
            else f"{n} of {len(objects)} objects have no true value"
        )
    return tuple(
        Axis(
            name,
            found.edges[k],
            found.sources,
            None if why else tuple(_value(o, k) for o in objects),
            why,
        )
        for k, name in enumerate(found.axes)
    )


def _value(record: ObjectRecord, k: int) -> float:
    truth = record.truth
    if isinstance(truth, tuple):
        return truth[k]
    if truth is None:
        raise ValueError(f"{record.name} has no true value")
    return truth


def chosen_askings(
    store: Store, sets: Iterable[str] = (), names: Iterable[str] = (), *, asks: str = "pairs"
) -> tuple[AskingRecord, ...]:
    """Return the askings of some sets and names, of all where none are named.

    Raises
    ------
    ValueError
        When a set or a name is not there, or nothing was asked yet.
    """
    wanted_sets, wanted = tuple(sets), tuple(names)
    ids = {store.relation_set_named(name).id for name in wanted_sets}
    found = [a for a in store.relation_askings() if a.asks == asks]
    there = dict.fromkeys(a.name for a in found)
    for name in wanted:
        if name not in there:
            known = ", ".join(there) or "none yet"
            raise ValueError(f"nobody called {name!r} was asked; there are: {known}")
    chosen = tuple(
        a for a in found if (not ids or a.set_id in ids) and (not wanted or a.name in wanted)
    )
    if not chosen:
        raise ValueError(
            "no answers about relations in the database: medoid relations ask (or import) brings them"
            if asks == "pairs"
            else "no answers about objects themselves in the database: medoid relations probe asks"
        )
    return chosen
