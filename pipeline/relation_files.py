"""Sets of objects read from CSV files: dates, places, displacements or facts of a family."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.relation_sets import (
    Tells,
    dated_set,
    displaced_set,
    kinship_set,
    placed_set,
)
from scoring.relations import WORDS, normal_word
from store.exchange.cells import csv_header, csv_rows
from store.exchange.lines import LineError, Rejected, shown
from store.exchange.relations import RawFacts, RawObject, Shape, set_row, shape_of
from store.keys import is_name
from store.relation_records import NewSet

FOLDER = Path(__file__).parent / "bundled" / "relations"

RIGHT = (
    "name with date, or with x and y (lon and lat), for objects; a, b, dx, dy for displacements; "
    "a, relation, b for facts of a family are right"
)


class SetFileError(ValueError):
    """A file gives no set; `rejected` are its bad lines, where that is the reason."""

    def __init__(self, message: str, rejected: Sequence[Rejected] = ()) -> None:
        super().__init__(message)
        self.rejected = tuple(rejected)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a file does not say itself.

    `about` says what counts; `tells` what the model is told of places or dates (None: the values of
    x and y, which nobody can know, nothing of longitudes, latitudes and dates); `center` names the
    object that the others are told from; `detect` offers the word INCONSISTENT (None: where the
    displacements contradict each other).
    """

    about: str = ""
    source: str = ""
    tells: Tells | None = None
    center: str | None = None
    detect: bool | None = None


def read_set(path: Path, name: str | None = None, wanted: Wanted = Wanted()) -> NewSet:
    """Read a set from a CSV file; its columns say what it holds.

    A set with a line missing would be another set: any bad line refuses the file. Facts of a family
    are what the model is told (those marked ``is_seed_fact`` where there is such a column), and
    what is true is derived from them.

    Raises
    ------
    SetFileError
        Naming every bad line, what was found and what would be right.
    OSError
        When the file cannot be read.
    """
    header = csv_header(path)
    if header is None:
        raise SetFileError(f"{path}: no CSV with a header; the columns {RIGHT}")
    fields, separator = header
    shape = shape_of(fields)
    if shape is None:
        raise SetFileError(f"{path}: the columns {shown(fields, 100)}; {RIGHT}")
    named = path.stem if name is None else name
    if not is_name(named):
        raise SetFileError(
            f"{path}: the set's name is {shown(named)}; one without controls is right"
        )
    rows = _rows(path, fields, separator, shape, named)
    try:
        _refuse_idle(shape, wanted)
        return _made(rows, fields, named, wanted.source or path.name, wanted)
    except ValueError as error:
        raise SetFileError(f"{path}: {error}") from error


def _refuse_idle(shape: Shape, wanted: Wanted) -> None:
    """Refuse what would change nothing of such a set: whoever asks for it expects that it does."""
    given = {
        "about": bool(wanted.about),
        "tells": wanted.tells is not None,
        "center": wanted.center is not None,
        "detect": wanted.detect is not None,
    }
    of, idle = {
        "dated": ("dates", ("center", "detect")),
        "placed": ("places", ("detect",)),
        "displaced": ("displacements", ("about", "tells", "center")),
        "kinship": ("kinship", ("about", "tells", "center", "detect")),
    }[shape]
    for name in idle:
        if given[name]:
            raise ValueError(f"{name} changes nothing of a set of {of}; leave it out")


def _rows(
    path: Path, fields: Sequence[str], separator: str, shape: Shape, name: str
) -> list[RawObject | RawFacts]:
    """Return every row; SetFileError with all the bad ones."""
    found: list[RawObject | RawFacts] = []
    rejected = []
    seen: set[str] = set()
    for line, cells in csv_rows(path, fields, separator):
        try:
            if isinstance(cells, LineError):
                raise cells
            row = set_row(cells, shape, fields, name)
            _check(row, seen)
            found.append(row)
        except LineError as error:
            rejected.append(Rejected(str(path), line, str(error)))
    if rejected:
        n = len(rejected)
        raise SetFileError(
            f"{path}: {n} line{'s' * (n != 1)} cannot be used; a set is taken whole or not",
            rejected,
        )
    if not found:
        raise SetFileError(f"{path}: no rows; {RIGHT}")
    return found


def _check(row: RawObject | RawFacts, seen: set[str]) -> None:
    """Refuse what stands above already, and words outside the vocabulary."""
    if isinstance(row, RawObject):
        if row.object.name in seen:
            raise LineError(f"name {shown(row.object.name)} stands above already; once is right")
        seen.add(row.object.name)
        return
    for fact in row.facts:
        if fact.a == fact.b:
            raise LineError(f"a and b are both {shown(fact.a)}; two different objects are right")
        if fact.value is not None and any(v != int(v) for v in fact.value):
            raise LineError(f"{fact.value} is no displacement; whole numbers are right")
        if fact.relation is not None and normal_word(fact.relation) is None:
            raise LineError(
                f"relation is {shown(fact.relation)}; one of {', '.join(WORDS)} is right"
            )


def _made(
    rows: Sequence[RawObject | RawFacts],
    fields: Sequence[str],
    name: str,
    source: str,
    wanted: Wanted,
) -> NewSet:
    facts = [f for r in rows if isinstance(r, RawFacts) for f in r.facts]
    if facts and facts[0].value is not None:
        moved = [(f.a, f.b, int(f.value[0]), int(f.value[1])) for f in facts if f.value]
        return displaced_set(name, moved, detect=wanted.detect, source=source)
    if facts:
        use = "told" if "is_seed_fact" in fields else "truth"
        told = [(f.a, normal_word(f.relation or "") or "", f.b) for f in facts if f.use == use]
        return kinship_set(name, told, source=source)
    objects = [r.object for r in rows if isinstance(r, RawObject)]
    if any(isinstance(o.truth, float) for o in objects):
        if wanted.tells not in (None, "nothing", "values"):
            raise ValueError("of dates a model is told nothing, or the values")
        dated = [(o.name, o.truth, o.stated or "") for o in objects if isinstance(o.truth, float)]
        return dated_set(
            name, dated, about=wanted.about, source=source, tell=wanted.tells == "values"
        )
    placed = [(o.name, *o.truth) for o in objects if isinstance(o.truth, tuple)]
    names = [n for n, *_ in placed]
    if wanted.center is not None and wanted.center not in names:
        raise ValueError(f"no object {wanted.center!r} to be the centre")
    tells: Tells = wanted.tells or ("values" if {"x", "y"} <= set(fields) else "nothing")
    return placed_set(
        name,
        placed,
        about=wanted.about,
        source=source,
        tells=tells,
        center=0 if wanted.center is None else names.index(wanted.center),
    )


@dataclass(frozen=True, slots=True)
class Shipped:
    """A set that ships: its file, and what the file does not say."""

    name: str
    path: Path
    wanted: Wanted


def shipped_sets() -> dict[str, Shipped]:
    """Return the sets that ship, by name."""
    table: dict[str, Any] = tomllib.loads((FOLDER / "sets.toml").read_text("utf-8"))
    return {
        name: Shipped(name, FOLDER / str(row.pop("file", f"{name}.csv")), Wanted(**row))
        for name, row in table.items()
    }


def shipped_set(name: str) -> NewSet:
    """Return a set that ships.

    Raises
    ------
    ValueError
        Naming those there are.
    """
    known = shipped_sets()
    if name not in known:
        raise ValueError(f"no set {name!r} ships; there are: {', '.join(known)}")
    return read_set(known[name].path, name, known[name].wanted)
