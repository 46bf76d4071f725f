"""Sets of objects whose relations are asked for: made up here, or put together from rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from scoring.relations import (
    Family,
    check_displacements,
    contradictory_loop,
    derive_family,
    displacements,
    make_family,
    make_points,
)
from store.relation_records import NewFact, NewObject, NewSet

Tells = Literal["nothing", "values", "center", "chain"]
"""What the model is told of places or dates: nothing (it must know them), each one's own, each
one's place as seen from a central object, or each one's as seen from the next."""

AXES_LINE = "x grows toward the east, y toward the north."


def checked_set(made: NewSet) -> NewSet:
    """Return the set. ValueError unless it has two objects and names none of them twice."""
    names = Counter(o.name for o in made.objects)
    twice = next((n for n, k in names.items() if k > 1), None)
    if twice is not None:
        raise ValueError(f"set {made.name}: {twice!r} stands in it twice")
    if len(names) < 2:
        raise ValueError(f"set {made.name}: {len(names)} objects; a relation needs two")
    return made


def n_statements(told: Sequence[str]) -> int:
    """Return how many statements about objects a model is told; the line on the axes is none.

    >>> n_statements([AXES_LINE, "P lies at x = 1, y = 2."])
    1
    """
    return sum(line != AXES_LINE for line in told)


def _extra(about: str, told: Sequence[str], parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a set keeps beside its objects: what counts, and the statements as the model
    reads them."""
    return {"about": about, "told": list(told), **(parameters or {})}


def dated_set(
    name: str,
    rows: Sequence[tuple[str, float, str]],
    *,
    about: str = "",
    source: str = "",
    tell: bool = False,
) -> NewSet:
    """Return a set of dated objects from (name, decimal year, date as written).

    With `tell` the model is told the dates: those of invented events, which it cannot know.
    """
    told = tuple(f"The date of {n} is {stated}." for n, _, stated in rows) if tell else ()
    return checked_set(
        NewSet(
            name,
            "temporal",
            tuple(NewObject(n, year, stated) for n, year, stated in rows),
            source=source,
            extra=_extra(about, told, {"tells": "values" if tell else "nothing"}),
        )
    )


def placed_set(
    name: str,
    rows: Sequence[tuple[str, float, float]],
    *,
    about: str = "",
    source: str = "",
    tells: Tells = "nothing",
    center: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> NewSet:
    """Return a set of places from (name, x, y), x growing to the east and y to the north.

    Raises
    ------
    ValueError
        When displacements are to be told of places that are not whole numbers, or there is no such
        centre.
    """
    told: tuple[str, ...] = ()
    facts: tuple[NewFact, ...] = ()
    if tells == "values":
        told = (AXES_LINE, *(f"{n} lies at x = {x:g}, y = {y:g}." for n, x, y in rows))
    elif tells != "nothing":
        if any(v != int(v) for _, *place in rows for v in place):
            raise ValueError(f"set {name}: displacements are told of whole numbers only")
        points = [(int(x), int(y)) for _, x, y in rows]
        facts = _displacement_facts(
            [r[0] for r in rows], displacements(points, layout=tells, center=center)
        )
        told = tuple(fact_line(f) for f in facts)
    return checked_set(
        NewSet(
            name,
            "spatial",
            tuple(NewObject(n, (x, y), f"{x:g}, {y:g}") for n, x, y in rows),
            facts,
            source,
            _extra(about, told, {"tells": tells, **(parameters or {})}),
        )
    )


def _displacement_facts(
    names: Sequence[str], found: Iterable[tuple[int, int, int, int]]
) -> tuple[NewFact, ...]:
    return tuple(NewFact("told", names[a], names[b], value=(dx, dy)) for a, b, dx, dy in found)


def fact_line(fact: NewFact) -> str:
    """Return a fact about two objects as a model is told it.

    >>> fact_line(NewFact("told", "A", "B", "aunt"))
    'A is the aunt of B.'
    >>> fact_line(NewFact("told", "A", "B", value=(-2, 1)))
    'A lies 2 units to the west and 1 unit to the north of B.'
    """
    if fact.relation is not None:
        return f"{fact.a} is the {fact.relation} of {fact.b}."
    dx, dy = fact.value or (0, 0)
    parts = [
        f"{abs(d):g} unit{'s' * (abs(d) != 1)} to the {plus if d > 0 else minus}"
        for d, plus, minus in ((dx, "east", "west"), (dy, "north", "south"))
        if d
    ]
    where = " and ".join(parts)
    return f"{fact.a} lies {where} of {fact.b}." if where else f"{fact.a} lies where {fact.b} lies."


def displaced_set(
    name: str,
    rows: Sequence[tuple[str, str, int, int]],
    *,
    detect: bool | None = None,
    source: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> NewSet:
    """Return a set from displacements (a, b, dx, dy): a lies dx east and dy north of b.

    With `detect` the model may say that they contradict each other; None: where they do. Objects
    have a true place where the displacements fit together and tie all of them.
    """
    names = list(dict.fromkeys(n for a, b, *_ in rows for n in (a, b)))
    number = {n: k for k, n in enumerate(names)}
    check = check_displacements((number[a], number[b], dx, dy) for a, b, dx, dy in rows)
    offers = not check.consistent if detect is None else detect
    whole = check.consistent and _connected(rows)
    facts = tuple(NewFact("told", a, b, value=(dx, dy)) for a, b, dx, dy in rows)
    objects = tuple(
        NewObject(n, (float(check.places[k][0]), float(check.places[k][1])) if whole else None)
        for k, n in enumerate(names)
    )
    told = [fact_line(f) for f in facts]
    return checked_set(
        NewSet(
            name,
            "contradiction" if offers else "spatial",
            objects,
            facts,
            source,
            _extra("", told, {"consistent": check.consistent, **(parameters or {})}),
        )
    )


def _connected(rows: Sequence[tuple[str, str, int, int]]) -> bool:
    """Whether the displacements tie all objects to each other."""
    part: dict[str, set[str]] = {}
    for a, b, *_ in rows:
        joined = part.get(a, {a}) | part.get(b, {b})
        part.update(dict.fromkeys(joined, joined))
    return len({id(p) for p in part.values()}) == 1


def kinship_set(
    name: str,
    facts: Sequence[tuple[str, str, str]],
    *,
    source: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> NewSet:
    """Return a family from told facts (a, word, b), with every relation that follows from them.

    Raises
    ------
    ValueError
        When a word is unknown, or the facts cannot all be true.
    """
    return _family(name, derive_family(facts), source, parameters or {})


def _family(name: str, family: Family, source: str, parameters: Mapping[str, Any]) -> NewSet:
    facts = [NewFact("told", a, b, word) for a, word, b in family.facts]
    told = [fact_line(f) for f in facts]
    facts += [NewFact("truth", a, b, word) for (a, b), word in family.relations.items() if word]
    people = tuple(NewObject(p) for p in family.people)
    return checked_set(
        NewSet(name, "kinship", people, tuple(facts), source, _extra("", told, parameters))
    )


def family_set(name: str, people: int, *, generations: int = 4, seed: int = 0) -> NewSet:
    """Make up a family: one fact fewer than people, from which everything follows."""
    made = make_family(people, generations=generations, seed=seed)
    how = {"made": "family", "people": people, "generations": generations, "seed": seed}
    return _family(name, made, "made up", how)


def point_set(
    name: str, n: int, *, seed: int = 0, tells: Tells = "values", center: int = 0
) -> NewSet:
    """Make up points of a plane, no two with the same x or y: Object_0, Object_1, …."""
    rows = [
        (f"Object_{k}", float(x), float(y)) for k, (x, y) in enumerate(make_points(n, seed=seed))
    ]
    how = {"made": "points", "n": n, "seed": seed, "center": center}
    return placed_set(name, rows, source="made up", tells=tells, center=center, parameters=how)


def loop_set(name: str, n: int, *, seed: int = 0, contradictory: bool = True) -> NewSet:
    """Make up a loop of displacements, of which one is false or (the control) none."""
    points = make_points(n, seed=seed)
    told = (
        contradictory_loop(points, seed=seed)
        if contradictory
        else displacements(points, layout="loop")
    )
    names = [f"Object_{k}" for k in range(n)]
    rows = [(names[a], names[b], dx, dy) for a, b, dx, dy in told]
    how = {"made": "loop", "n": n, "seed": seed, "contradictory": contradictory}
    return displaced_set(name, rows, detect=True, source="made up", parameters=how)
