"""What `medoid agreement` prints of each criterion of a decomposition, and as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pipeline.criteria_agreement import CriteriaReport, CriterionAgreement
from tui.commands.agreement_lines import interval, number
from tui.commands.common import say
from tui.commands.printing import kappa_json, print_table, table_json


def print_criteria(report: CriteriaReport) -> None:
    """Print κ and the table of each criterion."""
    if report.decompositions:
        say("by criterion (the table above pools them; those of one trace are not independent)")
    else:
        say("by category, whether it holds (those of one item are not independent)")
    if len(report.decompositions) > 1:
        names = ", ".join(report.decompositions)
        say(f"  of {len(report.decompositions)} decompositions together: {names}")
    for one in report.criteria:
        _print_criterion(one, report.raters)


def _print_criterion(one: CriterionAgreement, raters: tuple[str, str]) -> None:
    kappa, boot = one.kappa, one.clustered
    say(
        f"{one.criterion.replace('_', ' ')}: n {kappa.n} items of {one.n_questions} questions, "
        f"left out {kappa.dropped}"
    )
    for name, states in one.states.items():
        if states:
            say(f"  {name}: " + ", ".join(f"{n} {state}" for state, n in states.items()))
    if not kappa.n:
        say(f"  κ undefined: {kappa.why_undefined}")
        return
    print_table(one.table, raters)
    if kappa.value is None:
        say(f"  κ undefined: {kappa.why_undefined}")
        return
    say(
        f"  κ {number(kappa.value)}   SE {number(kappa.se)}   "
        f"{100 * kappa.level:.0f} % interval {interval(kappa.ci)}   "
        f"observed {number(kappa.observed)}   by chance {number(kappa.expected)}"
    )
    if boot.ci is None:
        say(f"  no interval over questions: {boot.why_no_interval}")
    else:
        say(f"  clustered by question: {interval(boot.ci)}")


def criteria_json(report: CriteriaReport | None) -> dict[str, Any] | None:
    """Return the criteria as plain values, by criterion; None where nothing is judged by them."""
    if report is None:
        return None
    return {
        "decompositions": list(report.decompositions),
        "criteria": {
            one.criterion: {
                "confusion": table_json(one.table),
                "kappa": kappa_json(one.kappa),
                "kappa_clustered": asdict(one.clustered),
                "n_questions": one.n_questions,
                "states": {name: dict(states) for name, states in one.states.items()},
            }
            for one in report.criteria
        },
    }
