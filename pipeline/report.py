"""What a project holds, in aggregates: what `medoid demo` prints without a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.agreement import PairReport, default_pairs, pair_report
from pipeline.laying import Readings
from store import Store
from store.records import JudgeSummary, OverviewRow, RaterRecord, ScoringRecord


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """Pools, scoring, raters and agreement of a project; no single label or verdict."""

    overview: tuple[OverviewRow, ...]
    scoring: ScoringRecord | None
    raters: tuple[RaterRecord, ...]
    judges: tuple[JudgeSummary, ...]
    pairs: tuple[PairReport, ...]


def project_report(store: Store) -> ProjectReport:
    """Return the report of a project: aggregates over all labels, sealed ones included."""
    raters = store.raters()
    read = Readings(store)
    return ProjectReport(
        overview=store.overview(None),
        scoring=store.primary_scoring(),
        raters=raters,
        judges=tuple(read.judge_summary(r.name, "path") for r in raters if r.kind == "judge"),
        pairs=tuple(
            pair_report(store, a, b, unsealed=True, readings=read) for a, b in default_pairs(store)
        ),
    )
