"""What `medoid agreement` prints beside κ, and its reports as plain values."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from pipeline.agreement import PairReport, Rate
from pipeline.figures import MoreLabels
from pipeline.several import SeveralReport
from scoring.agreement import (
    DesignEstimate,
    FlipRates,
    McNemar,
    MultiRater,
    Proportion,
    StuartMaxwell,
    TimeSummary,
)
from store.compare_records import DesignStratum
from tui.commands.common import say

WIDTH = 88


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for a reader, a dash when undefined."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ci: tuple[float, float] | None, digits: int = 3) -> str:
    """Return an interval for a reader, a dash when there is none."""
    return "–" if ci is None else f"{ci[0]:.{digits}f} to {ci[1]:.{digits}f}"


def p_value(p: float | None) -> str:
    """Return a p-value for a reader; one too small for three digits is told as such."""
    if p is None:
        return "–"
    return "p < .001" if p < 0.001 else f"p {p:.3f}"


def share(found: Proportion) -> str:
    """Return a share with its counts and Wilson interval."""
    if found.value is None:
        return "– (of none)"
    return f"{found.value:.3f} [{interval(found.ci)}] ({found.k} of {found.n})"


def wrapped(text: str, indent: str = "  ") -> None:
    """Print a text over several lines, each after the same indent."""
    kept = text.replace(" %", "\u00a0%")  # no line begins with the sign of a share
    for line in textwrap.wrap(kept, WIDTH - len(indent)):
        say(indent + line.replace("\u00a0%", " %"))


def print_paradox(text: str | None) -> None:
    """Print why κ is low though the raters agree, where it is so."""
    if text is not None:
        wrapped(text)


def print_beside_pair(report: PairReport) -> None:
    """Print what stands beside κ of two raters of a project."""
    if report.ac2 is not None:
        say(f"  AC2 {number(report.ac2.value)} (the same weights)")
    print_paradox(report.paradox)
    _print_marginal(report.marginal, report.raters)
    _print_design("κ", report.design, report.why_unweighted, report.kappa.value)
    print_never(report.never)
    _print_rates(report.rates)
    for name, flips in report.flips.items():
        _print_flips(name, flips)
    for name, times in report.times.items():
        _print_times(name, times)
    print_plan(report.plan)


def _print_marginal(test: McNemar | StuartMaxwell | None, raters: tuple[str, str]) -> None:
    if test is None or test.why_undefined is not None:
        return
    if isinstance(test, McNemar):
        say(
            f"  do both use the categories equally often? McNemar exact {p_value(test.exact_p)}, "
            f"mid-p {p_value(test.mid_p)}"
        )
    else:
        say(
            "  do both use the categories equally often? Stuart–Maxwell "
            f"χ² {number(test.statistic, 2)}, {test.df} df, {p_value(test.p)}"
        )


def _print_design(
    what: str, found: DesignEstimate | None, why_not: str | None, raw: float | None
) -> None:
    if found is None:
        if why_not is not None:
            say(f"  not weighted by inclusion probabilities: {why_not}")
        return
    if found.value is None:
        say(
            f"  {what} weighted by inverse inclusion probabilities undefined: {found.why_undefined}"
        )
        return
    ci = f"interval {interval(found.ci)}" if found.ci else f"no interval: {found.why_no_interval}"
    say(
        f"  {what} weighted by inverse inclusion probabilities {number(found.value)} "
        f"(raw {number(raw)})   {ci}   worth {found.effective_n:.0f} of {found.n} labels"
    )


def print_never(never: tuple[DesignStratum, ...]) -> None:
    """Name the strata that a figure says nothing about."""
    for d in never:
        say(f"  never sampled: {d.name} of {d.dataset} · {d.pool} ({d.n} questions)")


def _print_rates(rates: tuple[Rate, ...]) -> None:
    for r in rates:
        if r.raw.value is None:
            continue
        told = f"  {r.rater}: {r.category} {number(r.raw.value)} of {r.raw.n} labels"
        if r.raw.ci is not None:
            told += f", {interval(r.raw.ci)}"
        w = r.weighted
        if w is not None and w.value is not None:
            by = f", {interval(w.ci)} by question" if w.ci else ""
            told += f"; weighted by inclusion {number(w.value)}{by}"
        wrapped(told.strip())


def _print_flips(name: str, flips: FlipRates) -> None:
    if not flips.n:
        return
    say(f"  after the reveal {name} changed to the judge's label: {share(flips.toward)}")
    say(f"    away from it: {share(flips.away)}; to a third: {flips.n_other}")


def _print_times(name: str, times: TimeSummary) -> None:
    if times.median is None:
        return
    say(
        f"  {name} took {times.median:.0f} s a label (median; quartiles "
        f"{number(times.lower_quartile, 0)} and {number(times.upper_quartile, 0)}; "
        f"{times.n} labels timed)"
    )


def print_plan(plan: MoreLabels | str | None) -> None:
    """Print how many more labels an interval takes."""
    if not isinstance(plan, MoreLabels):
        if plan is not None:
            say(f"  how many more labels: {plan}")
        return
    whose = "by question" if plan.by_question else "by item"
    goal = f"κ {plan.kappa:.2f} ± {plan.half_width:g}"
    if plan.more:
        say(
            f"  about {plan.more} more labels for {goal} ({plan.needed} in all; now "
            f"± {plan.half_width_now:.2f} {whose})"
        )
    else:
        say(f"  enough labels for {goal} (now ± {plan.half_width_now:.2f} {whose})")


def print_several(report: SeveralReport) -> None:
    """Print the coefficients of all raters at once."""
    say(
        f"all {len(report.raters)} raters: {report.n_rated} items with two labels or more, "
        f"{report.n_all} with all"
    )
    _print_multi("Fleiss' κ", report.fleiss)
    alpha = report.alpha
    name = f"Krippendorff's α ({report.measure})"
    if alpha.value is None:
        say(f"  {name} undefined: {alpha.why_undefined}")
    else:
        ci = interval(alpha.ci) if alpha.ci else f"none: {alpha.why_no_interval}"
        say(
            f"  {name} {number(alpha.value)}   {100 * alpha.confidence:.0f} % interval {ci} "
            f"(bootstrap over {alpha.clusters})"
        )
    _print_multi("Gwet's AC1", report.ac1)
    if report.ac2 is not None:
        _print_multi("Gwet's AC2", report.ac2)


def _print_multi(name: str, found: MultiRater) -> None:
    if found.value is None:
        say(f"  {name} undefined: {found.why_undefined}")
        return
    say(
        f"  {name} {number(found.value)}   SE {number(found.se)}   "
        f"{100 * found.level:.0f} % interval {interval(found.ci)}   "
        f"observed {number(found.observed)}   by chance {number(found.expected)}"
    )


def plain(value: Any) -> Any:
    """Return a result as plain values for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {k if isinstance(k, str) else str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "_asdict"):
        return {k: plain(v) for k, v in value._asdict().items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    return value


def pair_extras_json(report: PairReport) -> dict[str, Any]:
    """Return what stands beside κ of two raters as plain values."""
    return {
        "weights": plain(report.weights),
        "ac2": plain(report.ac2),
        "weighted_by_inclusion": plain(report.design),
        "why_unweighted": report.why_unweighted,
        "strata_never_sampled": [asdict(d) for d in report.never],
        "rates": [asdict(r) for r in report.rates],
        "marginal_test": plain(report.marginal),
        "flips": plain(report.flips),
        "seconds_per_label": plain(report.times),
        "paradox": report.paradox,
        "plan": plan_json(report.plan),
    }


def plan_json(plan: MoreLabels | str | None) -> dict[str, Any]:
    """Return how many more labels an interval takes as plain values."""
    if isinstance(plan, MoreLabels):
        return {**plain(plan), "more": plan.more}
    return {"why_not": plan}
