"""Labels of several raters laid side by side, item by item, as the seal allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.sealing import finished_decompositions, is_running, known_rater
from store import Store
from store.compare_records import ADJUDICATED, DesignStratum, StandingLabel
from store.keys import TraceItemKey
from store.records import JudgeSummary, RaterRecord, SchemaRecord


@dataclass(frozen=True, slots=True)
class Place:
    """An item and how it came into the queue; probability and stratum None outside it.

    `within` is the item's probability given its case.
    """

    item: str
    item_id: int
    question: str
    case: int | None
    pool: str | None
    inclusion: float | None
    stratum: tuple[str, ...] | None
    planned: bool = False
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Laid:
    """Labels of raters over the items that any of them touched, in the order of the items' ids.

    `labels` holds, by rater, one entry per item, None without a label. A label that is held has no
    category and the state ``held``, and an item on which nobody has another one is left out: that
    it is here would tell what the others have not. `n_held` counts both, by rater.
    """

    schema: SchemaRecord
    raters: tuple[RaterRecord, ...]
    places: tuple[Place, ...]
    labels: Mapping[str, tuple[StandingLabel | None, ...]]
    n_held: Mapping[str, int]
    n_held_items: int
    strata: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def categories(self, rater: str) -> list[str | None]:
        """Return a rater's categories, item by item."""
        return [None if x is None else x.category for x in self.labels[rater]]

    def states(self, rater: str) -> dict[str, int]:
        """Count a rater's items without a category by state."""
        said = ("not labelled" if x is None else x.state for x in self.labels[rater])
        return dict(Counter(state for state in said if state != "labelled"))

    def versions(self, rater: str) -> dict[int, int]:
        """Count a rater's labels by the schema version they were made under."""
        found = Counter(x.version for x in self.labels[rater] if x is not None and not is_held(x))
        return dict(sorted(found.items()))

    @property
    def questions(self) -> list[str]:
        """The question of every item."""
        return [p.question for p in self.places]

    @property
    def names(self) -> list[str]:
        """The categories: the schema's, then the sets in use where several may hold."""
        names = list(self.schema.names)
        if self.schema.multi:
            said = {c for r in self.raters for c in self.categories(r.name) if c is not None}
            names += sorted(said - set(names))
        return names


def is_held(label: StandingLabel) -> bool:
    """Return whether a laid label is kept out of the comparison."""
    return str(label.state) == "held"


class Readings:
    """What a report reads of each rater, read once however many pairs the rater is in."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[tuple[str, str, str], Any] = {}

    def standing(self, schema: str, rater: str) -> tuple[StandingLabel, ...]:
        """Return the rater's labels as they count for a comparison."""
        found: tuple[StandingLabel, ...] = self._once("standing", schema, rater)
        return found

    def label_origin_counts(self, schema: str, rater: str) -> dict[str, int]:
        """Count the rater's labels by whether they were made before the reveal."""
        found: dict[str, int] = self._once("label_origin_counts", schema, rater)
        return found

    def judge_summary(self, rater: str, schema: str) -> JudgeSummary:
        """Return what a judge's verdicts say of the judge."""
        found: JudgeSummary = self._once("judge_summary", rater, schema)
        return found

    def _once(self, what: str, first: str, second: str) -> Any:
        key = (what, first, second)
        if key not in self._read:
            read: Callable[[str, str], Any] = getattr(self._store, what)
            self._read[key] = read(first, second)
        return self._read[key]


def lay(
    store: Store,
    schema: str,
    raters: Sequence[str],
    *,
    unsealed: bool = False,
    readings: Readings | None = None,
) -> Laid:
    """Lay raters' standing labels side by side; `readings` spares reading a rater's again.

    A person who still has sealed items to label is compared on what they have revealed only,
    unless `unsealed`: a running comparison tells the others' labels, item by item.

    Raises
    ------
    ValueError
        When there is no such rater or schema.
    """
    record = store.schema(schema)
    known = [known_rater(store, name) for name in raters]
    strata: dict[tuple[str, ...], int] = {
        (d.dataset, d.pool, d.name): d.n for d in store.design_strata()
    }
    found: dict[str, dict[int, StandingLabel]] = {}
    read = readings or Readings(store)
    held: dict[str, set[int]] = {}
    for rater in known:
        rows = {x.item_id: x for x in read.standing(schema, rater.name)}
        kept_back: set[int] = set()
        if not unsealed and is_running(store, rater, schema):
            free = finished_decompositions(store, rater, schema)
            kept_back = {i for i, x in rows.items() if x.held and _decomposition(x) not in free}
        held[rater.name] = kept_back
        found[rater.name] = {
            i: _without_category(x) if i in kept_back else x for i, x in rows.items()
        }
    touched = {i: x for rows in found.values() for i, x in rows.items()}
    told = {i for rows in found.values() for i, x in rows.items() if not is_held(x)}
    ids = sorted(told)
    return Laid(
        schema=record,
        raters=tuple(known),
        places=tuple(_place(touched[i]) for i in ids),
        labels={name: tuple(rows.get(i) for i in ids) for name, rows in found.items()},
        n_held={name: len(ids) for name, ids in held.items()},
        n_held_items=len(set().union(*held.values())) if held else 0,
        strata=strata,
    )


def _decomposition(label: StandingLabel) -> str | None:
    if not label.item.startswith("criterion:"):
        return None
    return TraceItemKey.parse(label.item).decomposition


def _without_category(label: StandingLabel) -> StandingLabel:
    return replace(
        label,
        state="held",  # type: ignore[arg-type]  # a state of the comparison only
        category=None,
        first_wrong_step=None,
        changed_to=None,
        seconds=None,
    )


def _place(x: StandingLabel) -> Place:
    stratum = None if x.stratum is None else (x.dataset, x.pool or "", x.stratum)
    p, of_case = x.inclusion_probability, x.case_probability
    return Place(
        item=x.item,
        item_id=x.item_id,
        question=x.question,
        case=x.case,
        pool=x.pool,
        inclusion=p,
        stratum=stratum,
        planned=x.planned,
        within=None if p is None or not of_case else p / of_case,
    )


def inclusions(laid: Laid, counted: Sequence[bool]) -> list[float | None]:
    """Return each item's inclusion probability, given which items count for a figure.

    It is that of the design. In a targeted queue, which may be left at any place and whose strata
    are labelled at unequal pace, a case's is the share of its stratum's questions that count.
    """
    cases: dict[tuple[str, ...], set[int]] = {}
    for place, here in zip(laid.places, counted, strict=True):
        if here and place.planned and place.case is not None and place.stratum is not None:
            cases.setdefault(place.stratum, set()).add(place.case)
    out: list[float | None] = []
    for place in laid.places:
        n = laid.strata.get(place.stratum or (), 0)
        if place.planned and place.within is not None and n and place.stratum in cases:
            out.append(place.within * min(len(cases[place.stratum]) / n, 1.0))
        else:
            out.append(place.inclusion)
    return out


def never_sampled(store: Store, laid: Laid) -> tuple[DesignStratum, ...]:
    """Return the strata of which nothing that is compared comes, though they have questions."""
    there = {p.stratum for p in laid.places if p.stratum is not None}
    if not there:
        return ()
    return tuple(d for d in store.design_strata() if (d.dataset, d.pool, d.name) not in there)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a judge is held against, item by item of a `Laid`.

    `name` is a rater's, or `ADJUDICATED`: then an item's truth is its adjudication, else what all
    people who labelled it agree on. `n_adjudicated` items are decided so, `n_against_judge` of them
    where a judge was among those at odds; on `n_open` people differ and nobody has decided.
    """

    name: str
    categories: tuple[str | None, ...]
    steps: tuple[int | None, ...]
    n_adjudicated: int = 0
    n_against_judge: int = 0
    n_open: int = 0


def truth_of(store: Store, laid: Laid, name: str) -> Truth:
    """Return the truth by a rater's name, or the adjudicated one over all people in a `Laid`."""
    if name != ADJUDICATED:
        rows = laid.labels[name]
        return Truth(
            name,
            tuple(None if x is None else x.category for x in rows),
            tuple(None if x is None else x.first_wrong_step for x in rows),
        )
    decided = {a.item: a for a in store.adjudications(laid.schema.name)}
    judges = {r.name for r in store.raters() if r.kind == "judge"}
    people = [r.name for r in laid.raters if r.kind == "human"]
    categories: list[str | None] = []
    steps: list[int | None] = []
    counts: Counter[str] = Counter()
    for i, place in enumerate(laid.places):
        said = [x for x in (laid.labels[p][i] for p in people) if x is not None]
        kept_back = any(is_held(x) for x in said)
        labels = [x for x in said if x.category is not None]
        found = decided.get(place.item)
        if found is not None and not kept_back and laid.schema.holds(found.category):
            categories.append(found.category)
            steps.append(found.first_wrong_step)
            counts["adjudicated"] += 1
            counts["judge"] += any(rater in judges for rater, _ in found.between)
            continue
        agreed = len({x.category for x in labels}) == 1
        counts["open"] += len(labels) > 1 and not agreed
        categories.append(labels[0].category if agreed else None)
        named = {x.first_wrong_step for x in labels} if agreed else set()
        steps.append(named.pop() if len(named) == 1 else None)
    return Truth(
        name,
        tuple(categories),
        tuple(steps),
        counts["adjudicated"],
        counts["judge"],
        counts["open"],
    )
