"""The agreement report: two raters' labels, or a plain table of ratings."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.figures import HALF_WIDTH, MoreLabels, more_labels, paradox
from pipeline.laying import Laid, Readings, inclusions, lay, never_sampled
from pipeline.several import SeveralReport, several_of
from scoring.agreement import (
    AgreementSummary,
    ConfusionTable,
    DesignEstimate,
    FlipRates,
    Kappa,
    KappaBootstrap,
    McNemar,
    MultiRater,
    Proportion,
    RatingTable,
    StuartMaxwell,
    TimeSummary,
    agreement_summary,
    cohen_kappa,
    confusion_table,
    design_kappa,
    design_rate,
    flip_rates,
    gwet_ac1,
    gwet_ac2,
    kappa_bootstrap,
    mcnemar,
    rating_table,
    stuart_maxwell,
    time_summary,
    wilson,
)
from store import Store
from store.compare_records import ADJUDICATED, DesignStratum
from store.records import AfterUnseal, JudgeSummary, RaterRecord


@dataclass(frozen=True, slots=True)
class Rate:
    """Share of a rater's labels that name a category, over all that the rater labelled here.

    `raw` comes with Wilson's interval; `weighted` counts each label by its inverse inclusion
    probability, None where not every label has one.
    """

    rater: str
    category: str
    raw: Proportion
    weighted: DesignEstimate | None


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two raters on one schema: table, kappa, interval, and what was left out and why.

    `states` counts, per rater, the items without a category by state ("not labelled" and
    "outdated", a category that the newest version no longer has, included); `origins` the rater's
    labels by whether they were made before the reveal; `versions` the items by the schema version
    under which they were labelled. `n_held` labels are left out ("held" among the states) because
    the person still has sealed items to label and has not revealed the question. `after_unseal`
    tells of each person how many of their labels were made after somebody first looked behind the
    seal (none are left out for it); it is empty while nobody has. With `multi`, categories are
    sets of categories, and only the same set agrees.

    `weights` are those of κ and of `ac2`. `design` is κ weighted by inverse inclusion
    probabilities, None with `why_unweighted` where not every item has one; `never` are the strata
    that nothing of it comes from; `rates` are each rater's shares of the categories, of two
    categories the second only. `marginal` tests whether the raters use the categories equally
    often. `flips` tells, of each person compared with a judge, how many labels were changed to the
    judge's after the reveal; `times` the active seconds of each person's labels. `paradox` says
    in words that prevalence depresses κ, where it does; `plan` how many labels an interval takes,
    or why that cannot be said.
    """

    schema: str
    raters: tuple[str, str]
    kinds: tuple[str, str]
    table: ConfusionTable
    kappa: Kappa
    clustered: KappaBootstrap
    ac1: MultiRater
    summary: AgreementSummary
    states: Mapping[str, Mapping[str, int]]
    origins: Mapping[str, Mapping[str, int]]
    judges: tuple[JudgeSummary, ...]
    n_questions: int
    versions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    n_held: int = 0
    multi: bool = False
    after_unseal: Mapping[str, AfterUnseal] = field(default_factory=dict)
    weights: Any = None
    ac2: MultiRater | None = None
    design: DesignEstimate | None = None
    why_unweighted: str | None = None
    never: tuple[DesignStratum, ...] = ()
    rates: tuple[Rate, ...] = ()
    marginal: McNemar | StuartMaxwell | None = None
    flips: Mapping[str, FlipRates] = field(default_factory=dict)
    times: Mapping[str, TimeSummary] = field(default_factory=dict)
    paradox: str | None = None
    plan: MoreLabels | str | None = None

    @property
    def mixed_versions(self) -> bool:
        """Whether labels of several schema versions are compared."""
        return len({v for counts in self.versions.values() for v in counts}) > 1


def pair_report(
    store: Store,
    a: str,
    b: str,
    schema: str = "path",
    *,
    unsealed: bool = False,
    weights: Any = None,
    half_width: float = HALF_WIDTH,
    readings: Readings | None = None,
) -> PairReport:
    """Compare two raters' standing labels (made before a reveal, or of unknown origin).

    A person who still has sealed items to label is compared on what they have revealed only,
    unless `unsealed`: a running comparison tells the other's label, item by item. `readings` are
    shared by the pairs of one report, so that no rater's labels are read twice.

    Raises
    ------
    ValueError
        When a rater is not in the database, both are the same, or one of them is the name that
        adjudications stand under.
    """
    if a == b:
        raise ValueError(f"{a!r} cannot be compared with themself: name two raters")
    if ADJUDICATED in (a, b):
        raise ValueError(
            "adjudications are on disagreements only, so κ with them would be of no use: "
            "medoid agreement --judge NAME --truth adjudicated joins them with what people agree on"
        )
    readings = readings or Readings(store)
    laid = lay(store, schema, [a, b], unsealed=unsealed, readings=readings)
    return _report(store, readings, laid, weights, half_width)


def _report(
    store: Store, readings: Readings, laid: Laid, weights: Any, half_width: float
) -> PairReport:
    (a, b), schema = (r.name for r in laid.raters), laid.schema
    kinds = {r.name: r.kind for r in laid.raters}
    categories = laid.names
    first, second = laid.categories(a), laid.categories(b)
    both = [x is not None and y is not None for x, y in zip(first, second, strict=True)]
    shared = [[c for c, n in zip(side, both, strict=True) if n] for side in (first, second)]
    table = confusion_table(first, second, categories=categories)
    kappa = cohen_kappa(first, second, categories=categories, weights=weights)
    clustered = kappa_bootstrap(
        first, second, laid.questions, categories=categories, weights=weights
    )
    summary = agreement_summary(table)
    ac1 = gwet_ac1(shared, categories=categories)
    design, why_not = _design(laid, a, b, both, weights)
    counts = table.table
    people = [r for r in laid.raters if r.kind == "human"]
    return PairReport(
        schema=schema.name,
        raters=(a, b),
        kinds=(kinds[a], kinds[b]),
        table=table,
        kappa=kappa,
        clustered=clustered,
        ac1=ac1,
        summary=summary,
        states={name: laid.states(name) for name in (a, b)},
        origins={name: readings.label_origin_counts(schema.name, name) for name in (a, b)},
        judges=tuple(
            readings.judge_summary(name, schema.name) for name in (a, b) if kinds[name] == "judge"
        ),
        n_questions=len({q for q, n in zip(laid.questions, both, strict=True) if n}),
        versions={name: laid.versions(name) for name in (a, b)},
        n_held=laid.n_held_items,
        multi=schema.multi,
        after_unseal=_after_unseal(store, people, schema.name),
        weights=weights,
        ac2=None if weights is None else gwet_ac2(shared, weights=weights, categories=categories),
        design=design,
        why_unweighted=why_not,
        never=never_sampled(store, laid) if design is not None else (),
        rates=tuple(r for name in (a, b) for r in _rates(laid, name)),
        marginal=mcnemar(int(counts[0, 1]), int(counts[1, 0]))
        if len(categories) == 2
        else stuart_maxwell(table),
        flips={p.name: _flips(laid, p.name, a if p.name == b else b) for p in people}
        if "judge" in kinds.values()
        else {},
        times={p.name: _times(laid, p.name) for p in people},
        paradox=paradox(table, kappa, summary, ac1) if weights is None else None,
        plan=more_labels(kappa, half_width, clustered),
    )


def _design(
    laid: Laid, a: str, b: str, both: Sequence[bool], weights: Any
) -> tuple[DesignEstimate | None, str | None]:
    """Return κ weighted by inverse inclusion probabilities, or why it is not."""
    if not any(both):
        return None, None
    chances = inclusions(laid, both)
    n_outside = sum(p is None for p, here in zip(chances, both, strict=True) if here)
    if n_outside:
        return None, f"{n_outside} of the items were not drawn for the queue"
    found = design_kappa(
        laid.categories(a),
        laid.categories(b),
        chances,
        clusters=laid.questions,
        strata=[p.stratum or () for p in laid.places],
        categories=laid.names,
        weights=weights,
    )
    return found, None


def _rates(laid: Laid, rater: str) -> tuple[Rate, ...]:
    """Return a rater's share of each category; two categories sum to 1, so one of them is told."""
    said = laid.categories(rater)
    given = [c is not None for c in said]
    chances = inclusions(laid, given)
    drawn = all(p is not None for p, here in zip(chances, given, strict=True) if here)
    names = laid.names[1:] if len(laid.names) == 2 else laid.names
    strata = [p.stratum or () for p in laid.places]
    n = sum(given)
    return tuple(
        Rate(
            rater,
            name,
            wilson(sum(c == name for c in said), n),
            design_rate(said, chances, positive=name, clusters=laid.questions, strata=strata)
            if drawn and n
            else None,
        )
        for name in names
    )


def _flips(laid: Laid, person: str, judge: str) -> FlipRates:
    """Return what became of a person's labels on revealed questions after the reveal."""
    seen = [
        (mine, theirs)
        for mine, theirs in zip(laid.labels[person], laid.labels[judge], strict=True)
        if mine is not None and mine.revealed and mine.before_reveal is True
    ]
    return flip_rates(
        [mine.category for mine, _ in seen],
        [mine.changed_to for mine, _ in seen],
        [None if theirs is None else theirs.category for _, theirs in seen],
    )


def _times(laid: Laid, person: str) -> TimeSummary:
    rows = laid.labels[person]
    return time_summary([x.seconds for x in rows if x is not None and x.category is not None])


def _after_unseal(
    store: Store, raters: Iterable[RaterRecord], schema: str
) -> dict[str, AfterUnseal]:
    found = {r.name: store.labels_after_unseal(schema, r.name) for r in raters}
    return {name: counts for name, counts in found.items() if counts is not None}


@dataclass(frozen=True, slots=True)
class Matrix:
    """κ of every two raters under a schema, by their places in `raters`; n stands in each.

    `held` are the raters who still have sealed labels to reveal: they count with the rest only.
    """

    schema: str
    raters: tuple[RaterRecord, ...]
    kappas: Mapping[tuple[int, int], Kappa]
    held: Mapping[str, int]
    several: SeveralReport | None


MOST = 12
"""Raters in a matrix; those with most labels are taken."""


def agreement_matrix(store: Store, schema: str = "path") -> Matrix:
    """Return κ of every two raters with labels under a schema."""
    known = [r for r in store.raters(schema) if r.n_labelled and r.name != ADJUDICATED]
    known = sorted(known, key=lambda r: -r.n_labelled)[:MOST]
    known.sort(key=lambda r: (r.kind == "judge", r.id))
    if not known:
        return Matrix(schema, (), {}, {}, None)
    laid = lay(store, schema, [r.name for r in known])
    said = [laid.categories(r.name) for r in known]
    kappas = {
        (i, j): cohen_kappa(said[i], said[j], categories=laid.names)
        for i in range(len(known))
        for j in range(i + 1, len(known))
    }
    every = several_of(laid) if len(known) > 2 and laid.places else None
    held = {name: n for name, n in laid.n_held.items() if n}
    return Matrix(schema, tuple(known), kappas, held, every)


def default_pairs(store: Store, schema: str = "path") -> tuple[tuple[str, str], ...]:
    """Return the pairs worth printing: every person or reference against every judge.

    Without a judge, every two raters. Raters without a label under the schema are left out.
    """
    raters = [r for r in store.raters(schema) if r.n_labelled and r.name != ADJUDICATED]
    judges = [r for r in raters if r.kind == "judge"]
    others = [r for r in raters if r.kind != "judge"]
    people: list[tuple[RaterRecord, RaterRecord]] = [
        (x, y) for i, x in enumerate(others) for y in others[i + 1 :]
    ]
    pairs = [(x, j) for x in others for j in judges] + people
    if not others:
        pairs = [(x, y) for i, x in enumerate(judges) for y in judges[i + 1 :]]
    return tuple((x.name, y.name) for x, y in pairs)


def read_ratings(path: Path, categories: Sequence[str] | None = None) -> RatingTable:
    """Read a CSV of items × raters: a header with the raters' names, a row per item.

    Raises
    ------
    ValueError
        With file, 1-based line, what was found and what would be right.
    OSError
        When the file cannot be read.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = list(csv.reader(file, strict=True))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8 at byte {error.start + 1}") from error
        except csv.Error as error:
            raise ValueError(f"{path}: not CSV: {error}") from error
    lines = [(n, row) for n, row in enumerate(rows, start=1) if any(c.strip() for c in row)]
    if not lines:
        raise ValueError(f"{path}: empty; a header with the raters' names is right")
    _, header = lines[0]
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise ValueError(
                f"{path}:{number}: {len(row)} cells; the header has {len(header)} columns"
            )
    try:
        return rating_table(header, [row for _, row in lines[1:]], categories=categories)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
