"""A project with relation sets: events, towns and a family, and what a model said of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from store import Store, open_store
from store.relation_records import (
    AskingRecord,
    NewFact,
    NewObject,
    NewSet,
    RelationAnswerRecord,
    RelationKind,
)
from tests.tui.conftest import HOSTILE

MODEL = "model-q"
YEAR = 1871.0625
"""A true date that no sealed screen may show, nor what it is written like."""
WRITTEN = "PLANTED-DATE"
SECRET = "great-granddaughter"
"""A true word that the model never says."""

EVENTS = ["Ark", f"Boat {HOSTILE.replace(chr(27), '').replace(chr(7), '')[:30]}", "Cog", "Dhow"]
SAID_EVENTS: Mapping[tuple[int, int], str | None] = {
    (0, 1): "before", (1, 0): "after",
    (0, 2): "before", (2, 0): "before",
    (1, 2): "before", (2, 1): "after",
    (1, 3): "after", (3, 1): "before",
    (2, 3): "before", (3, 2): "after",
    (0, 3): "before", (3, 0): None,
}  # fmt: skip
"""0 and 2 are answered both ways; 1, 2, 3 go round: 1 before 2 before 3 before 1."""

TOWNS = ["Aby", "Bro", "Dal", "Eke", "Ny"]
PLACES = [(0.0, 4.0), (1.0, 0.0), (2.0, 3.0), (3.0, 1.0), (4.0, 2.0)]
FAMILY = [("A", "mother", "B"), ("B", "father", "C"), ("C", "father", "D"), ("E", "husband", "A")]
SAID_FAMILY: Mapping[tuple[str, str], str | None] = {
    ("A", "B"): "mother", ("B", "A"): "son",
    ("B", "C"): "father", ("C", "B"): "daughter",
    ("C", "D"): "father", ("D", "C"): "uncle",
    ("A", "C"): "aunt", ("C", "A"): "grandson",
    ("E", "A"): "wife", ("A", "E"): "wife",
    ("D", "A"): None,
}  # fmt: skip


def reply(word: str | None) -> str:
    """Return what the model wrote whole."""
    return f"I think the answer is [{word}] \x1b[2J, of course." if word else "I cannot say."


def _towns() -> dict[tuple[int, int], str | None]:
    """Return the truth, but for one pair whose asking the other way round is contradicted."""
    said: dict[tuple[int, int], str | None] = {}
    for a, (xa, ya) in enumerate(PLACES):
        for b, (xb, yb) in enumerate(PLACES):
            if a != b:
                said[a, b] = ("north" if ya > yb else "south") + ("east" if xa > xb else "west")
    said[2, 0] = "northeast"
    return said


def _save(
    store: Store, kind: RelationKind, new: NewSet, said: Mapping[tuple[int, int], str | None]
) -> AskingRecord:
    assert new.kind == kind
    store.save_relation_set(new)
    of = store.relation_set_named(new.name)
    asking = store.relation_asking(
        of.id, MODEL, model=MODEL, form="schema", prompt_version="relation/1", parameters={}
    )
    rows = [
        RelationAnswerRecord(a, b, word, "ok" if word else "invalid", text=reply(word))
        for (a, b), word in said.items()
    ]
    store.save_relation_answers(asking.id, rows)
    return asking


def save_sets(store: Store) -> tuple[AskingRecord, AskingRecord, AskingRecord]:
    """Store the three sets with their answers: events, towns, family."""
    events = NewSet(
        "events",
        "temporal",
        tuple(
            NewObject(name, YEAR + k, f"{WRITTEN}-{k}")
            for name, k in zip(EVENTS, (0, 2, 1, 3), strict=True)
        ),
    )
    towns = NewSet(
        "towns", "spatial", tuple(NewObject(n, p) for n, p in zip(TOWNS, PLACES, strict=True))
    )
    people = ["A", "B", "C", "D", "E"]
    facts = tuple(NewFact("truth", a, b, word) for a, word, b in [*FAMILY, ("D", SECRET, "A")])
    family = NewSet("family", "kinship", tuple(map(NewObject, people)), facts)
    kin = {(people.index(a), people.index(b)): w for (a, b), w in SAID_FAMILY.items()}
    return (
        _save(store, "temporal", events, SAID_EVENTS),
        _save(store, "spatial", towns, _towns()),
        _save(store, "kinship", family, kin),
    )


def build_related(path: Path) -> None:
    """Fill a database with the three sets."""
    with open_store(path) as store:
        save_sets(store)
