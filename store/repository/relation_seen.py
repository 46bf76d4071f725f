"""What a rater has seen of items that have no question: by their own reveal, or by another's.

A reveal of a pair or cycle shows what is true of its objects. With two dates known, every relation
between the two is: so an item counts as seen as soon as the truth of both ends of one of its
statements was shown, by whichever reveals, in whichever set of the same kind has these objects with
the same truth. Such an item may still be labelled, and its label says that it was made after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.keys import RELATION_KINDS
from store.repository.deduction_rows import knows_values
from store.repository.rows import add_missing, chunks

LOOKED_ITEM = "shown at seal level judge: item "
"""How an entry of the log begins that a rater saw the truth of an item so."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a rater knew: everything (`revealed`), or the truth but nobody's word (`looked`)."""

    revealed: bool
    looked: bool


def revealed_item_ids(s: Session, rater_id: int) -> set[int]:
    """Return the items that a rater has revealed themselves."""
    return set(s.exec(select(t.ItemReveal.item_id).where(t.ItemReveal.rater_id == rater_id)))


def is_item_revealed(s: Session, rater_id: int, item_id: int) -> bool:
    """Return whether a rater has revealed an item themselves."""
    found = select(t.ItemReveal.id).where(
        t.ItemReveal.rater_id == rater_id, t.ItemReveal.item_id == item_id
    )
    return s.exec(found).first() is not None


def record_item_reveals(s: Session, rater_id: int, item_ids: Iterable[int]) -> int:
    """Record, once each, that a rater has revealed items; return how many are new."""
    known = revealed_item_ids(s, rater_id)
    new = sorted(set(item_ids) - known)
    now = utc_now()
    rows = [{"rater_id": rater_id, "item_id": i, "created_at": now} for i in new]
    return add_missing(s, t.ItemReveal, rows)


def looked_item_ids(s: Session, rater_id: int) -> set[int]:
    """Return the items whose truth a rater saw at seal level ``judge``."""
    name = s.get_one(t.Rater, rater_id).name
    found = s.exec(
        select(t.Unseal.what).where(
            t.Unseal.rater == name, col(t.Unseal.what).startswith(LOOKED_ITEM, autoescape=True)
        )
    )
    return {int(what.removeprefix(LOOKED_ITEM)) for what in found}


def record_item_look(s: Session, rater_id: int, item_id: int, who: str) -> None:
    """Record, once, that a rater saw the truth of an item at seal level ``judge``."""
    if item_id not in looked_item_ids(s, rater_id):
        name = s.get_one(t.Rater, rater_id).name
        s.add(t.Unseal(what=f"{LOOKED_ITEM}{item_id}", rater=name, who=who))


def knowledge_of_item(s: Session, rater_id: int, item: t.Item) -> Knowledge:
    """Return what a rater knew of an item without a question when a label on it is made now."""
    ident = item.id or 0
    revealed, looked = revealed_item_ids(s, rater_id), looked_item_ids(s, rater_id)
    if item.kind == "deduction":
        return Knowledge(ident in revealed, knows_values(s, rater_id, ident))
    if item.kind not in RELATION_KINDS:
        return Knowledge(ident in revealed, ident in looked)
    edges = edges_of(s, [ident]).get(ident, ())
    return Knowledge(
        ident in revealed or is_implied(edges, shown_objects(s, revealed)),
        ident in looked or is_implied(edges, shown_objects(s, looked)),
    )


def is_implied(edges: Iterable[tuple[int, int]], shown: set[int]) -> bool:
    """Return whether the truth of both ends of a statement was shown."""
    return any(a in shown and b in shown for a, b in edges)


def edges_of(s: Session, item_ids: Iterable[int]) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return the statements of items by item id, as ids of objects, in order."""
    found: dict[int, list[tuple[int, int]]] = {}
    edge = t.RelationEdge
    for part in chunks(sorted(set(item_ids))):
        rows = s.exec(
            select(edge.item_id, edge.a_id, edge.b_id)
            .where(col(edge.item_id).in_(part))
            .order_by(col(edge.item_id), col(edge.position))
        )
        for item, a, b in rows:
            found.setdefault(item, []).append((a, b))
    return {item: tuple(of) for item, of in found.items()}


def shown_objects(s: Session, item_ids: Iterable[int]) -> set[int]:
    """Return the objects whose truth was shown with items, and those with the same truth."""
    shown = {o for of in edges_of(s, item_ids).values() for edge in of for o in edge}
    return shown | _alike(s, shown)


def _alike(s: Session, shown: set[int]) -> set[int]:
    """Return objects of other sets of the same kind with the same name and truth."""
    names: dict[tuple[str, str], list[Any]] = {}
    thing = t.RelationObject
    for part in chunks(sorted(shown)):
        rows = s.exec(
            select(thing, t.RelationSet.kind)
            .join(t.RelationSet, col(t.RelationSet.id) == col(thing.set_id))
            .where(col(thing.id).in_(part))
        )
        for row, kind in rows:
            if row.truth is not None:
                names.setdefault((kind, row.name), []).append(row.truth)
    found: set[int] = set()
    for wanted in chunks(sorted({name for _, name in names})):
        rows = s.exec(
            select(thing, t.RelationSet.kind)
            .join(t.RelationSet, col(t.RelationSet.id) == col(thing.set_id))
            .where(col(thing.name).in_(wanted))
        )
        found |= {r.id or 0 for r, kind in rows if r.truth in names.get((kind, r.name), ())}
    return found


def object_names(s: Session, objects: Iterable[int]) -> dict[int, str]:
    """Return the names of objects by id."""
    found: dict[int, str] = {}
    thing = t.RelationObject
    for part in chunks(sorted(set(objects))):
        rows = s.exec(select(thing.id, thing.name).where(col(thing.id).in_(part)))
        found.update((ident or 0, name) for ident, name in rows)
    return found
