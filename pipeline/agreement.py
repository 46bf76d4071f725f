"""The agreement report: two raters' labels, or a plain table of ratings."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from store.records import JudgeSummary, RaterRecord


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two raters on one schema: table, kappa, interval, and what was left out and why.

    `states` counts, per rater, the items without a category by state ("not labelled" included);
    `origins` the rater's labels by whether they were made before the reveal.
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


def pair_report(store: Store, a: str, b: str, schema: str = "path") -> PairReport:
    """Compare two raters' standing labels (made before a reveal, or of unknown origin).

    Raises
    ------
    ValueError
        When a rater is not in the database, or both are the same.
    """
    known = {r.name: r for r in store.raters()}
    for name in (a, b):
        if name not in known:
            names = ", ".join(known) or "none yet"
            raise ValueError(f"no rater {name!r} in the database; there are: {names}")
    if a == b:
        raise ValueError(f"{a!r} cannot be compared with themself: name two raters")
    categories = [c.name for c in store.schema(schema).categories if c.state == "labelled"]
    pairs = store.label_pairs(schema, a, b)
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
        ac1=gwet_ac1([[p.a for p in both], [p.b for p in both]]),
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
    )


def _states(states: Sequence[str | None]) -> dict[str, int]:
    return dict(Counter("not labelled" if s is None else s for s in states if s != "labelled"))


def default_pairs(store: Store) -> tuple[tuple[str, str], ...]:
    """Return the pairs worth printing: every person or reference against every judge.

    Without a judge, every two raters. Raters without a label are left out.
    """
    raters = [r for r in store.raters() if r.n_labelled]
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
