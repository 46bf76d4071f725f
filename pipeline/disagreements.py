"""Where two raters disagree, as far as the one who looks may know."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.laying import Laid, lay
from store import Store
from store.compare_records import Adjudication


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which two raters have different categories, and how it was decided, if it was."""

    item: str
    item_id: int
    case_id: int | None
    question: str
    pool: str | None
    said: tuple[str, str]
    steps: tuple[int | None, int | None]
    adjudication: Adjudication | None


@dataclass(frozen=True, slots=True)
class Disagreements:
    """All disagreements of two raters on questions that the viewer has revealed.

    `n_sealed` questions with labels of theirs are not: how many of those are in dispute is not
    counted, for the change of that count would tell a verdict.
    """

    raters: tuple[str, str]
    rows: tuple[Disagreement, ...]
    n_compared: int
    n_sealed: int


def disagreements(store: Store, a: str, b: str, viewer: int, schema: str = "path") -> Disagreements:
    """Return the disagreements of two raters that a rater may see.

    Raises
    ------
    ValueError
        When there is no such rater or schema.
    """
    laid = lay(store, schema, [a, b], unsealed=True)
    return disagreements_of(store, laid, (a, b), viewer)


def disagreements_of(
    store: Store, laid: Laid, raters: tuple[str, str], viewer: int
) -> Disagreements:
    """Return the same of labels that are laid already."""
    a, b = raters
    seen: frozenset[str] | None = None
    items = store.revealed_items(viewer)
    if laid.schema.seal != "open":
        # A question's reveal tells nothing of what is said of a criterion, so it frees none.
        of_criteria = laid.schema.item_kind == "criterion"
        seen = frozenset() if of_criteria else store.revealed_questions(viewer)
    decided = {x.item: x for x in store.adjudications(laid.schema.name)}
    rows, sealed, n_compared = [], set(), 0
    for place, first, second in zip(laid.places, laid.labels[a], laid.labels[b], strict=True):
        if first is None and second is None:
            continue
        if seen is not None and place.question not in seen and place.item_id not in items:
            sealed.add(place.question)
            continue
        if first is None or second is None or None in (first.category, second.category):
            continue
        n_compared += 1
        if first.category != second.category:
            rows.append(
                Disagreement(
                    item=place.item,
                    item_id=place.item_id,
                    case_id=place.case,
                    question=place.question,
                    pool=place.pool,
                    said=(first.category or "", second.category or ""),
                    steps=(first.first_wrong_step, second.first_wrong_step),
                    adjudication=decided.get(place.item),
                )
            )
    rows.sort(key=lambda r: r.item)
    return Disagreements(raters, tuple(rows), n_compared, len(sealed))
