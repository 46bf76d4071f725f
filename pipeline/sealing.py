"""What the command line may list, and to whom: the rules of the seal outside the workbench."""

from __future__ import annotations

from store import Store
from store.records import RaterRecord


class SealedListingError(ValueError):
    """A listing would tell what the seal hides; the message says how to get it all the same."""


def known_rater(store: Store, name: str) -> RaterRecord:
    """Return a rater that is there; asking makes none.

    Raises
    ------
    ValueError
        Naming the raters that there are.
    """
    raters = {r.name: r for r in store.raters()}
    if name not in raters:
        names = ", ".join(raters) or "none yet"
        raise ValueError(f"no rater {name!r} in the database; there are: {names}")
    return raters[name]


def is_own(rater: RaterRecord | None, me: str | None) -> bool:
    """Return whether labels are those of the person who asks.

    `me` is who asks, where they have said so; else the person they name is taken to be them.
    """
    return rater is not None and rater.kind == "human" and me in (None, "", rater.name)


def unseal(store: Store, what: str, rater: str | None, *, wanted: bool, hint: str = "") -> None:
    """Log a look at what is sealed, or refuse it.

    Raises
    ------
    SealedListingError
        When `wanted` is false.
    """
    if not wanted:
        raise SealedListingError(
            f"{what} would tell what is sealed: add --unseal, which is logged{hint}"
        )
    store.record_unseal(what, rater)


def is_running(store: Store, rater: RaterRecord, schema: str) -> bool:
    """Return whether a person still has sealed items of the queue to label.

    While so, a comparison with their own labels would tell them, label by label, what the seal
    hides: only the questions they have revealed are compared.
    """
    if rater.kind != "human" or store.schema(schema).seal == "open":
        return False
    progress = store.progress(rater.id, schema)
    return progress.n_decided < progress.n_items


def finished_decompositions(store: Store, rater: RaterRecord, schema: str) -> frozenset[str]:
    """Return the decompositions whose whole sample this person has labelled, by name.

    Each is labelled for itself, so that what another one's sample still lacks holds nothing of
    theirs back. One without a sample is never finished.
    """
    if store.schema(schema).item_kind != "criterion":
        return frozenset()
    finished = set()
    for made in store.decompositions():
        progress = store.decomposition_progress(made.id, rater.id, schema)
        if 0 < progress.n_items <= progress.n_decided:
            finished.add(made.name)
    return frozenset(finished)
