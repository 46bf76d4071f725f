"""The agreement report: two raters' labels, or a plain table of ratings."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.sealing import is_running, known_rater
from scoring.agreement import (
    AgreementSummary,
    ConfusionTable,
    Kappa,
    KappaBootstrap,
    MultiRater,
    RatingTable,
    agreement_summary,
    cohen_kappa,
    confusion_table,
    gwet_ac1,
    kappa_bootstrap,
    rating_table,
)
from store import Store
from store.records import AfterUnseal, JudgeSummary, LabelPair, RaterRecord


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

    @property
    def mixed_versions(self) -> bool:
        """Whether labels of several schema versions are compared."""
        return len({v for counts in self.versions.values() for v in counts}) > 1


def pair_report(
    store: Store, a: str, b: str, schema: str = "path", *, unsealed: bool = False
) -> PairReport:
    """Compare two raters' standing labels (made before a reveal, or of unknown origin).

    A person who still has sealed items to label is compared on what they have revealed only,
    unless `unsealed`: a running comparison tells the other's label, item by item.

    Raises
    ------
    ValueError
        When a rater is not in the database, or both are the same.
    """
    known = {name: known_rater(store, name) for name in (a, b)}
    if a == b:
        raise ValueError(f"{a!r} cannot be compared with themself: name two raters")
    record = store.schema(schema)
    found = store.label_pairs(schema, a, b)
    running = [not unsealed and is_running(store, known[name], schema) for name in (a, b)]
    n_held = sum((running[0] and p.a_held) or (running[1] and p.b_held) for p in found)
    pairs = [_without_held(p, *running) for p in found]
    # An item with nothing but a held label would tell, by its being here, what the other has not.
    pairs = [p for p in pairs if {p.a_state, p.b_state} not in ({"held"}, {"held", None})]
    categories = list(record.names)
    if record.multi:
        said = {c for p in pairs for c in (p.a, p.b) if c is not None}
        categories += sorted(said - set(categories))
    first = [p.a for p in pairs]
    second = [p.b for p in pairs]
    both = [p for p in pairs if p.a is not None and p.b is not None]
    return PairReport(
        schema=schema,
        raters=(a, b),
        kinds=(known[a].kind, known[b].kind),
        table=confusion_table(first, second, categories=categories),
        kappa=cohen_kappa(first, second, categories=categories),
        clustered=kappa_bootstrap(
            first, second, [p.question for p in pairs], categories=categories
        ),
        ac1=gwet_ac1([[p.a for p in both], [p.b for p in both]], categories=categories),
        summary=agreement_summary(confusion_table(first, second, categories=categories)),
        states={
            a: _states([p.a_state for p in pairs]),
            b: _states([p.b_state for p in pairs]),
        },
        origins={name: store.label_origin_counts(schema, name) for name in (a, b)},
        judges=tuple(
            store.judge_summary(name, schema) for name in (a, b) if known[name].kind == "judge"
        ),
        n_questions=len({p.question for p in both}),
        versions={
            a: _versions([p.a_version for p in pairs]),
            b: _versions([p.b_version for p in pairs]),
        },
        n_held=n_held,
        multi=record.multi,
        after_unseal=_after_unseal(store, known.values(), schema),
    )


def _after_unseal(
    store: Store, raters: Iterable[RaterRecord], schema: str
) -> dict[str, AfterUnseal]:
    people = [r.name for r in raters if r.kind == "human"]
    found = {name: store.labels_after_unseal(schema, name) for name in people}
    return {name: counts for name, counts in found.items() if counts is not None}


def _without_held(pair: LabelPair, a_running: bool, b_running: bool) -> LabelPair:
    """Return a pair without a label that is held; the other's counts as if it were alone."""
    if a_running and pair.a_held:
        pair = replace(pair, a=None, a_state="held", a_version=None)
    if b_running and pair.b_held:
        pair = replace(pair, b=None, b_state="held", b_version=None)
    return pair


def _versions(versions: Sequence[int | None]) -> dict[int, int]:
    return dict(sorted(Counter(v for v in versions if v is not None).items()))


def _states(states: Sequence[str | None]) -> dict[str, int]:
    return dict(Counter("not labelled" if s is None else s for s in states if s != "labelled"))


def default_pairs(store: Store, schema: str = "path") -> tuple[tuple[str, str], ...]:
    """Return the pairs worth printing: every person or reference against every judge.

    Without a judge, every two raters. Raters without a label under the schema are left out.
    """
    raters = [r for r in store.raters(schema) if r.n_labelled]
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
