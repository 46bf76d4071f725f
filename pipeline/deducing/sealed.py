"""Which completions no figure may count for who asks: they wait for a person to label them."""

from __future__ import annotations

from store import Store

SCHEMA = "deduction"


def held_back(store: Store, me: str | None) -> frozenset[int]:
    """Return the completions whose expected values and verdicts are sealed for who asks.

    They are the drawn replies that the person has not revealed; where nobody says who asks, those
    of every person among the raters. Who is no rater yet has revealed nothing, and they may be the
    one whom the replies wait for: so all drawn replies, and as well where no person is a rater. A
    reply that was not drawn is nobody's to label.
    """
    schema = store.schema(SCHEMA)
    people = {r.name: r.id for r in store.raters() if r.kind == "human"}
    asking = list(people.values()) if me is None else [people.get(me)]
    found: frozenset[int] = frozenset()
    for rater in asking or [None]:
        found |= store.hidden_completions(rater, schema)
    return found


__all__ = ["held_back"]
