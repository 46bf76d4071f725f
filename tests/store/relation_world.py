"""A small world of relations: three dated films and what a model says of their order."""

from __future__ import annotations

from store import Store
from store.label_records import NewLabel, RaterKind
from store.relation_records import (
    Contradiction,
    NewFact,
    NewObject,
    NewSet,
    RelationAnswerRecord,
)

FILMS = NewSet(
    "films/old",
    "temporal",
    tuple(
        NewObject(name, year, f"{year:g}")
        for name, year in (("Ran", 1985.0), ("Alien", 1979.0), ("Up", 2009.0), ("Her", 2013.0))
    ),
    extra={"about": "the year"},
)
FAMILY = NewSet(
    "family",
    "kinship",
    (NewObject("A"), NewObject("B"), NewObject("C")),
    (
        NewFact("truth", "A", "B", "mother"),
        NewFact("truth", "B", "A", "son"),
        NewFact("truth", "A", "C", None),
    ),
)

SECRET = "because Alien is of 1979"


def ask(store: Store, of: NewSet = FILMS, model: str = "m") -> int:
    """Store a set and an asking about it; return the asking's id."""
    store.save_relation_set(of)
    ident = store.relation_set_named(of.name).id
    asking = store.relation_asking(
        ident, model, model=model, form="text", prompt_version="v1", parameters={}
    )
    return asking.id


def answer(store: Store, asking: int, said: dict[tuple[int, int], str | None]) -> None:
    """Store answers by places."""
    store.save_relation_answers(
        asking,
        [
            RelationAnswerRecord(
                a, b, word, "ok" if word else "invalid", text=f"{a} is {word} {b}."
            )
            for (a, b), word in said.items()
        ],
    )


BOTH_WAYS = Contradiction("time", ((0, 1), (1, 0)), 5, 0, (5, 1))
ROUND = Contradiction("time", ((0, 2), (2, 1), (1, 0)), 2, 1, (1, 2, 1))
APART = Contradiction("time", ((2, 3), (3, 2)), 1, 1, (1, 1))


def reviewed(store: Store, model: str = "m") -> dict[str, int]:
    """Ask about the films and review three contradictions; return item ids by a name of theirs."""
    asking = ask(store, model=model)
    answer(
        store,
        asking,
        {(0, 1): "before", (1, 0): "before", (0, 2): "before", (2, 1): "before", (2, 3): "after",
         (3, 2): "after", (1, 3): None},
    )  # fmt: skip
    store.save_relation_review(asking, [BOTH_WAYS, ROUND, APART])
    rater = store.rater("nobody", "reference")
    ids = [r.item_id for r in store.relation_queue(rater.id, asking_id=asking)]
    return dict(zip(("both", "round", "apart"), ids, strict=True))


def judged(store: Store, item: str, category: str, rater: str = "judge") -> None:
    """Import a judge's verdict on an item."""
    kind: RaterKind = "reference" if rater == "truth" else "judge"
    new = NewLabel(item, "cycle", rater, kind, "labelled", category, rationale=SECRET)
    with store.importing() as batch:
        batch.add_label(new)
