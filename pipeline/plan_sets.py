"""Relation sets of a plan: a file, a set that ships, or one that is in the database already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store import Store
from store.relation_records import NewSet


@dataclass(frozen=True, slots=True)
class PlanSet:
    """A set of objects: its CSV file with what the file does not say, or one that ships."""

    name: str
    file: Path | None = None
    shipped: bool = False
    about: str = ""
    source: str = ""
    tells: str | None = None

    def made(self) -> NewSet | None:
        """Return the set, None where it has to be in the database already.

        Raises
        ------
        ValueError
            When the file is no set.
        OSError
            When it cannot be read.
        """
        from pipeline.relation_files import Wanted, read_set, shipped_set

        if self.shipped:
            return shipped_set(self.name)
        if self.file is None:
            return None
        wanted = Wanted(self.about, self.source, self.tells)  # type: ignore[arg-type]
        return read_set(self.file, self.name, wanted)


def missing_sets(store: Store, sets: Mapping[str, PlanSet]) -> list[str]:
    """Return the sets that are not in the database yet."""
    there = {s.name for s in store.relation_sets()}
    return [name for name in sets if name not in there]


def set_problems(store: Store, sets: Mapping[str, PlanSet]) -> list[str]:
    """Return what is wrong with the sets of a plan, each with its place."""
    missing = set(missing_sets(store, sets))
    problems = []
    for one in sets.values():
        try:
            made = one.made()
        except (ValueError, OSError) as error:
            problems.append(f"[sets.{one.name}]: {error}")
            continue
        if made is None and one.name in missing:
            problems.append(
                f'[sets.{one.name}]: not in the database; give it file = "…" or shipped = true'
            )
    return problems


def save_sets(store: Store, sets: Mapping[str, PlanSet]) -> None:
    """Store the sets that a plan brings; those that are there stay as they are."""
    for one in sets.values():
        made = one.made()
        if made is not None:
            store.save_relation_set(made)


def ask_set(store: Store, name: str, parameters: Mapping[str, Any]) -> Any:
    """Run a plan's stage ``relations`` on one set: its pairs, or with `probe` its objects."""
    from pipeline.relation_asking import ask_relations, probe_objects

    given = dict(parameters)
    if given.pop("probe", False):
        for key in ("reasoned", "order_seed", "repeats"):
            given.pop(key, None)
        return probe_objects(store, set_name=name, **given)
    return ask_relations(store, set_name=name, **given)
