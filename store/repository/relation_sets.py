"""Writing and reading relation sets, their objects, and facts about pairs, in an open session."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import func
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import canonical
from store.keys import is_name
from store.relation_records import (
    RELATION_KINDS,
    FactRecord,
    NewFact,
    NewObject,
    NewSet,
    ObjectRecord,
    RelationKind,
    SetRecord,
    Truth,
)
from store.repository.items import ConflictError
from store.repository.label_imports import row_id

SetOutcome = Literal["added", "known", "completed"]
"""What became of an object or a fact; ``completed``: a known object was given its truth."""


def encode_truth(value: Truth | None, what: str) -> Any:
    """Return a date or place as JSON.

    Raises
    ------
    ConflictError
        For what is not finite.
    """
    if value is None:
        return None
    numbers = list(value) if isinstance(value, tuple) else [value]
    if not all(math.isfinite(v) for v in numbers):
        raise ConflictError(f"{what}: {value} is no date or place; finite numbers are right")
    return numbers if isinstance(value, tuple) else value


def decode_truth(value: Any) -> Truth | None:
    """Undo `encode_truth`."""
    if isinstance(value, list):
        return (float(value[0]), float(value[1]))
    return None if value is None else float(value)


class SetWriter:
    """Sets by name, made on first use. A line that contradicts what is there is refused."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._sets: dict[str, t.RelationSet] = {}
        self._objects: dict[int, dict[str, t.RelationObject]] = {}

    def find(self, name: str) -> t.RelationSet | None:
        """Return the set of a name, None where there is none."""
        row = self._sets.get(name)
        if row is None and is_name(name):
            row = self._s.exec(select(t.RelationSet).where(t.RelationSet.name == name)).first()
            if row is not None:
                self._sets[name] = row
        return row

    def need(self, name: str, kind: RelationKind | None) -> t.RelationSet:
        """Return the set of a name and kind, making it where there is none.

        Raises
        ------
        ConflictError
            When it is there with another kind, or is not there and the kind is not told.
        """
        row = self.find(name)
        if row is None:
            if not is_name(name):
                raise ConflictError(f"set {name!r}: a name without control characters is right")
            if kind is None:
                raise ConflictError(
                    f"set {name} is not in the database: import its objects first, or say its "
                    f"kind ({', '.join(RELATION_KINDS)})"
                )
            row = t.RelationSet(name=name, kind=kind)
            self._s.add(row)
            self._s.flush()
            self._sets[name] = row
        if kind is not None and row.kind != kind:
            raise ConflictError(f"set {name} is {row.kind} in the database, not {kind}")
        return row

    def objects(self, of: t.RelationSet) -> dict[str, t.RelationObject]:
        """Return a set's objects by name, in order."""
        ident = row_id(of)
        if ident not in self._objects:
            rows = self._s.exec(
                select(t.RelationObject)
                .where(t.RelationObject.set_id == ident)
                .order_by(col(t.RelationObject.position))
            ).all()
            self._objects[ident] = {r.name: r for r in rows}
        return self._objects[ident]

    def add_object(self, of: t.RelationSet, new: NewObject) -> SetOutcome:
        """Add an object after those that are there; a known one is given the truth it lacks.

        Raises
        ------
        ConflictError
            When it has another truth already. Which is not told: whoever imports may be a rater.
        """
        what = f"{new.name!r} of set {of.name}"
        truth = encode_truth(new.truth, what)
        _check_shape(of, truth, what)
        known = self.objects(of).get(new.name)
        if known is None:
            self._new_object(of, new, truth)
            return "added"
        if known.truth is not None and truth is not None and known.truth != truth:
            raise ConflictError(f"{what} has another true date or place in the database")
        said = {"truth": truth, "stated": new.stated}
        lacking = {k: v for k, v in said.items() if v is not None and getattr(known, k) is None}
        fields = _lacking(known.extra, new.extra, what)
        for name, value in lacking.items():
            setattr(known, name, value)
        if fields:
            known.extra = {**(known.extra or {}), **fields}
        self._s.add(known)
        return "completed" if lacking or fields else "known"

    def named(self, of: t.RelationSet, name: str, *, make: bool = False) -> t.RelationObject:
        """Return an object of a set, made without truth where it may be.

        A set that was stored whole gets no further object: a name mistyped in an answer would
        change the number of its pairs and leave it without a truth.

        Raises
        ------
        ConflictError
            When there is none.
        """
        found = self.objects(of).get(name)
        if found is None:
            if not make or _is_whole(of):
                n = len(self.objects(of))
                raise ConflictError(
                    f"set {of.name} has no object {name!r}; one of its {n:,} is right"
                )
            found = self._new_object(of, NewObject(name), None)
        return found

    def _new_object(self, of: t.RelationSet, new: NewObject, truth: Any) -> t.RelationObject:
        if not is_name(new.name):
            raise ConflictError(f"object {new.name!r}: a name without control characters is right")
        there = self.objects(of)
        row = t.RelationObject(
            set_id=row_id(of),
            position=max((r.position for r in there.values()), default=-1) + 1,
            name=new.name,
            truth=truth,
            stated=new.stated,
            extra=dict(new.extra) if new.extra else None,
        )
        self._s.add(row)
        self._s.flush()
        there[new.name] = row
        return row

    def add_fact(self, of: t.RelationSet, new: NewFact, *, make: bool = True) -> SetOutcome:
        """Add a fact about two objects, which are made where there are none.

        Raises
        ------
        ConflictError
            When the same pair has another fact of this use already, or is one object.
        """
        if new.a == new.b:
            raise ConflictError(f"set {of.name}: {new.a!r} stands on both sides of a fact")
        a, b = (row_id(self.named(of, name, make=make)) for name in (new.a, new.b))
        value = None if new.value is None else encode_truth(new.value, f"{new.a!r} and {new.b!r}")
        known = self._s.get(t.RelationFact, (row_id(of), new.use, a, b))
        if known is not None:
            if (known.relation, known.value) != (new.relation, value):
                raise ConflictError(
                    f"set {of.name} has something else of {new.a!r} and {new.b!r} in the database"
                )
            return "known"
        self._s.add(
            t.RelationFact(
                set_id=row_id(of),
                use=new.use,
                a_id=a,
                b_id=b,
                relation=new.relation,
                value=value,
                extra=dict(new.extra) if new.extra else None,
            )
        )
        return "added"

    def save(self, new: NewSet) -> SetOutcome:
        """Store a set whole, or find it as it is; one that answers have named is completed.

        Raises
        ------
        ConflictError
            When another set has this name. Nothing of it may be kept then.
        """
        known = self.find(new.name)
        if known is None or (not _is_whole(known) and known.kind == new.kind):
            return self._fill(new, known)
        if not self._same(known, new):
            raise ConflictError(
                f"another set {new.name} is in the database: give this one another name"
            )
        return "known"

    def _fill(self, new: NewSet, known: t.RelationSet | None) -> SetOutcome:
        """Store a set where there is none, or only objects that answers or lines have named."""
        of = known or self.need(new.name, new.kind)
        strange = sorted(set(self.objects(of)) - {o.name for o in new.objects})
        if strange:
            raise ConflictError(
                f"the database has set {new.name} with {strange[0]!r} and {len(strange) - 1:,} more "
                "objects that this one does not have: give this one another name"
            )
        for one in new.objects:
            self.add_object(of, one)
        for fact in new.facts:
            self.add_fact(of, fact, make=False)
        of.source, of.extra = new.source, dict(new.extra or {})
        self._s.add(of)
        return "added" if known is None else "completed"

    def _same(self, known: t.RelationSet, new: NewSet) -> bool:
        there = self.objects(known)
        wanted = sorted((o.name, canonical(encode_truth(o.truth, o.name))) for o in new.objects)
        names = {row_id(r): r.name for r in there.values()}
        rows = self._s.exec(select(t.RelationFact).where(t.RelationFact.set_id == row_id(known)))
        stored = {(f.use, names[f.a_id], names[f.b_id]): (f.relation, f.value) for f in rows}
        given = {
            (f.use, f.a, f.b): (f.relation, None if f.value is None else list(f.value))
            for f in new.facts
        }
        return (
            known.kind == new.kind
            and known.source == new.source
            and canonical(known.extra or {}) == canonical(dict(new.extra or {}))
            and sorted((r.name, canonical(r.truth)) for r in there.values()) == wanted
            and stored == given
        )


def _is_whole(of: t.RelationSet) -> bool:
    """Whether a set was stored whole, and is not just what lines and answers have named so far."""
    return of.extra is not None


def _check_shape(of: t.RelationSet, truth: Any, what: str) -> None:
    if truth is None:
        return
    wanted = {"temporal": False, "spatial": True, "contradiction": True}.get(of.kind)
    if wanted is None or isinstance(truth, list) != wanted:
        right = "no number" if wanted is None else "x and y" if wanted else "one number, a date"
        raise ConflictError(f"{what}: in a {of.kind} set {right} is right")


def _lacking(
    stored: Mapping[str, Any] | None, given: Mapping[str, Any] | None, what: str
) -> dict[str, Any]:
    has, says = dict(stored or {}), dict(given or {})
    other = sorted(k for k, v in says.items() if k in has and canonical(has[k]) != canonical(v))
    if other:
        raise ConflictError(
            f"{what} has something else in the database under "
            f"{', '.join(repr(k[:40]) for k in other[:5])}"
        )
    return {k: v for k, v in says.items() if k not in has}


def read_sets(s: Session, *clauses: Any) -> tuple[SetRecord, ...]:
    """Return sets by name."""
    sizes = (
        select(col(t.RelationObject.set_id), func.count().label("n"))
        .group_by(col(t.RelationObject.set_id))
        .subquery()
    )
    rows = s.exec(
        select(t.RelationSet, sizes.c.n)
        .join(sizes, sizes.c.set_id == col(t.RelationSet.id), isouter=True)
        .where(*clauses)
        .order_by(col(t.RelationSet.name))
    ).all()
    return tuple(
        SetRecord(row_id(r), r.name, r.kind, r.source, r.extra or {}, n or 0)  # type: ignore[arg-type]
        for r, n in rows
    )


def read_objects(s: Session, set_id: int) -> tuple[ObjectRecord, ...]:
    """Return a set's objects in order."""
    rows = s.exec(
        select(t.RelationObject)
        .where(t.RelationObject.set_id == set_id)
        .order_by(col(t.RelationObject.position))
    ).all()
    return tuple(
        ObjectRecord(row_id(r), place, r.name, decode_truth(r.truth), r.stated, r.extra or {})
        for place, r in enumerate(rows)
    )


def read_facts(s: Session, set_id: int, use: str | None) -> tuple[FactRecord, ...]:
    """Return facts about a set's pairs, by use and places."""
    places = {o.id: o.position for o in read_objects(s, set_id)}
    query = select(t.RelationFact).where(t.RelationFact.set_id == set_id)
    rows = s.exec(query if use is None else query.where(t.RelationFact.use == use)).all()
    found = [
        FactRecord(
            f.use,  # type: ignore[arg-type]  # constrained by the table
            places[f.a_id],
            places[f.b_id],
            f.relation,
            None if f.value is None else (float(f.value[0]), float(f.value[1])),
            f.extra or {},
        )
        for f in rows
    ]
    return tuple(sorted(found, key=lambda f: (f.use, f.a, f.b)))
