"""A report on deduction as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.deducing.error_report import SolverErrors
    from pipeline.deducing.report import DeductionReport, Scored


def deduction_json(report: DeductionReport) -> dict[str, Any]:
    """Return a report as plain values; undefined numbers are null."""
    rules = asdict(report.rules)
    share = rules.pop("min_share")
    return {
        "solvers": [
            {"name": s.name, "model": s.model, "prompt_version": s.prompt_version,
             "parameters": dict(s.parameters)}
            for s in report.solvers
        ],
        "rules": {**rules, "min_share": None if share is None else float(share)},
        "problems": len(report.problems),
        "passed": dict(report.passed),
        "dropped": {name: dict(reasons) for name, reasons in report.dropped.items()},
        "not_asked": report.not_asked,
        "scores": [scored_json(s) for s in report.scores],
        "styles": [
            {"solver": c.solver, "style": c.style, **asdict(c.comparison)} for c in report.styles
        ],
        "readers": [{**asdict(r), "agreement": r.agreement} for r in report.readers],
    }  # fmt: skip


def scored_json(s: Scored) -> dict[str, Any]:
    """Return one solver in one style as plain values."""
    m = s.memory
    return {
        "solver": s.solver,
        "style": s.style,
        "kind": s.kind,
        "reader": s.reader,
        "solutions": s.n,
        "unread": s.n_unread,
        "problems": s.n_problems,
        "outcomes": dict(s.outcomes),
        "ways": dict(s.ways),
        "exact": asdict(s.exact),
        "within": None if s.within is None else asdict(s.within),
        "decays": dict(s.decays),
        "coverage": asdict(s.coverage),
        "cons": [asdict(p) for p in s.prefixes],
        "final": asdict(s.final),
        "memory": None if m is None else asdict(m),
        "groups": {str(g): n for g, n in s.groups.items()},
        "statuses": dict(s.statuses),
        "propagated": s.propagated,
        "wrong": s.n_wrong,
        "first_wrong_step": {str(k): n for k, n in s.first_wrong.items()},
    }


def errors_json(e: SolverErrors) -> dict[str, Any]:
    """Return the rates of error categories in one solver's replies as plain values."""
    return {
        "solver": e.solver,
        "rater": e.rater,
        "labelled": e.n_labelled,
        "undecided": e.n_undecided,
        "without_group": e.n_without_group,
        "rates": [asdict(r) for r in e.rates],
    }
