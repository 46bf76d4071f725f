"""Which completions no figure may count for who asks: they wait for a person to label them."""

from __future__ import annotations

from pipeline.sealing import known_rater
from store import Store

SCHEMA = "deduction"


def held_back(store: Store, me: str | None) -> frozenset[int]:
    """Return the completions whose expected values and verdicts are sealed for who asks.

    They are the drawn replies that the person has not revealed; where nobody says who asks, those
    of every person among the raters. A reply that was not drawn is nobody's to label.

    Raises
    ------
    ValueError
        When the person named is no rater.
    """
    schema = store.schema(SCHEMA)
    people = [r for r in store.raters() if r.kind == "human"]
    if me is not None and any(r.name == me for r in people):
        people = [known_rater(store, me)]
    found: frozenset[int] = frozenset()
    for rater in people:
        found |= store.hidden_completions(rater.id, schema)
    return found


__all__ = ["held_back"]
