"""What `medoid deduce score` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.commands.agreement_lines import number
from tui.commands.common import percent

if TYPE_CHECKING:
    from pipeline.deducing.error_report import SolverErrors
    from pipeline.deducing.report import Compared, DeductionReport, Scored
    from scoring.deduction import DedCons

MAX_COLUMNS = 12
"""Hops of a table at most: what fits into 80 columns."""

GROUPS = {1: "always", 2: "70–99 %", 3: "40–69 %", 4: "1–39 %", 5: "never"}


def report_lines(report: DeductionReport) -> Iterator[str]:
    """Yield the lines of a report."""
    names = ", ".join(s.name for s in report.solvers)
    aside = (
        f"; {report.not_asked:,} more were not asked of every solver" if report.not_asked else ""
    )
    yield f"deduction of {names} on {len(report.problems):,} problems that passed for each{aside}"
    for solver, reasons in report.dropped.items():
        if reasons:
            why = ", ".join(f"{n:,} {code.replace('_', ' ')}" for code, n in reasons.items())
            yield f"  templates of {solver} dropped: {why}"
    rules = report.rules
    yield (
        f"  share of right variables, 0 to 1, 1 = ideal; hops are {rules.hops}, a missing value "
        f"{'is wrong' if rules.missing == 'wrong' else 'is left out'}, means from k = {rules.k_min}"
    )
    for scored in report.scores:
        yield ""
        yield from scored_lines(scored)
    if report.styles:
        yield ""
        yield "styles against the original, over the variables that both were asked for"
        for compared in report.styles:
            yield from _style_lines(compared)
    for r in report.readers:
        yield ""
        yield (
            f"readers of {r.solver}: {r.a} and {r.b} agree on {number(r.agreement)} of the "
            f"variables; {r.same:,} the same value, {r.differ:,} different ones, {r.only_a:,} only "
            f"{r.a}, {r.only_b:,} only {r.b}, {r.neither:,} neither"
        )


def scored_lines(s: Scored) -> Iterator[str]:
    """Yield the lines of one solver in one style."""
    what = "SynDeduct" if s.kind == "syndeduct" else "mutated problems"
    unread = f", {s.n_unread:,} could not be read" if s.n_unread else ""
    yield (
        f"{s.solver} · {s.style} · {what}: {s.n:,} solutions of {s.n_problems:,} problems{unread}; "
        f"values read by {s.reader}"
    )
    ways = ", ".join(f"{n:,} {way}" for way, n in s.ways.items() if way != "none")
    if ways:
        yield f"  given steps sent: {ways}"
    if len(s.outcomes) > 1 or "ok" not in s.outcomes:
        yield "  replies: " + ", ".join(f"{n:,} {o}" for o, n in s.outcomes.items())
    yield from _table(s.exact, "DedCons(k, l), rows k, columns hop l")
    yield from _means(s.exact)
    decays = ", ".join(f"{norm} {number(d)}" for norm, d in s.decays.items())
    yield (
        f"  base {number(s.exact.base)}   decay {number(s.exact.decay)} over {s.exact.kept} hops "
        f"({decays}; 0 = none, not comparable over other hops)"
    )
    if s.exact.why_undefined:
        yield f"  undefined: {s.exact.why_undefined}"
    if s.within is not None:
        yield from _table(s.within, "the same within 5 %")
        yield f"  within 5 %: base {number(s.within.base)}   decay {number(s.within.decay)}"
    for p in s.prefixes:
        name = "Cons(d)" if p.k == 0 else f"Cons(d, {p.k})"
        yield f"  {name:<10} variables {number(p.variables)}   steps {number(p.steps)}   n {p.n:,}"
    c = s.coverage
    yield (
        f"  coverage {number(c.value)} of the reference's variables are stated ({number(c.printed)} "
        f"by the displayed formula; {c.shared:,} of {c.expected:,}, {c.stated:,} stated)"
    )
    yield from _final_lines(s)
    yield from _error_lines(s)


def _table(d: DedCons, title: str) -> Iterator[str]:
    hops = sorted({c.l for c in d.cells})[:MAX_COLUMNS]
    if not hops:
        return
    cells = {(c.k, c.l): c for c in d.cells}
    yield f"  {title}"
    yield "      k  " + "".join(f"{h:>6}" for h in hops)
    for k in sorted({c.k for c in d.cells}):
        row = "".join(f"{number(cells[k, h].value) if (k, h) in cells else '·':>6}" for h in hops)
        yield f"    {k:>3}  {row}"


def _means(d: DedCons) -> Iterator[str]:
    for name, rows in (("hop", d.hops), ("prefix", d.prefixes)):
        if not rows:
            continue
        told = []
        for r in rows[:MAX_COLUMNS]:
            at = getattr(r, "hop", None) or getattr(r, "k", 0)
            left = "" if getattr(r, "kept", True) else " (too few)"
            told.append(f"{at}: {number(r.mean)}±{number(r.se)}{left}")
        yield f"  {name} means ± SE  " + ", ".join(told)


def _final_lines(s: Scored) -> Iterator[str]:
    yield (
        f"  final answers right, nothing given: {number(s.final.value)} "
        f"({s.final.right:,} of {s.final.n:,})"
    )
    m = s.memory
    if m is not None:
        yield (
            f"  original against mutated: final {number(m.final_original.value)} against "
            f"{number(m.final_mutated.value)}, gap {number(m.final_gap)}; base "
            f"{number(m.original.base)} against {number(m.mutated.base)}; {m.problems:,} problems "
            "(a gap above 0: better where it may remember)"
        )
    if s.groups:
        told = ", ".join(f"{n:,} {GROUPS[g]}" for g, n in s.groups.items())
        yield f"  problems by how often they are solved: {told}"


def _error_lines(s: Scored) -> Iterator[str]:
    n = sum(s.statuses.values())
    if not n:
        return
    told = ", ".join(
        f"{s.statuses[k]:,} {k} ({percent(s.statuses[k], n)})"
        for k in ("right", "wrong", "copied", "missing")
        if s.statuses.get(k)
    )
    yield f"  variables: {told}" + (
        "; copied = the original problem's value" if s.statuses.get("copied") else ""
    )
    if s.n_wrong:
        first = ", ".join(f"step {k}: {v:,}" for k, v in s.first_wrong.items())
        yield (
            f"  {number(s.propagated)} of {s.n_wrong:,} wrong values follow from an earlier wrong "
            f"one; first wrong step {first}"
        )


def _style_lines(c: Compared) -> Iterator[str]:
    x = c.comparison
    p = x.paired
    yield (
        f"  {c.solver} · {c.style}: original {number(x.mean_a)}, {c.style} {number(x.mean_b)}, "
        f"difference {number(x.difference)}, n {x.n:,}"
    )
    if p.p is None:
        yield f"    paired t undefined: {p.why_undefined}"
    else:
        yield (
            f"    paired t {p.t:.2f}, p {p.p:.3g}; Welch "
            + ("undefined" if x.welch.p is None else f"t {x.welch.t:.2f}, p {x.welch.p:.3g}")
            + f"; Cohen's d {number(x.cohens_d)}"
        )


def error_lines(e: SolverErrors) -> Iterator[str]:
    """Yield the rates of error categories in one solver's replies."""
    yield ""
    aside = [
        f"{n:,} {what}"
        for n, what in (
            (e.n_undecided, "undecided"),
            (e.n_without_group, "of problems not asked whole"),
        )
        if n
    ]
    yield (
        f"errors of {e.solver} as {e.rater} labelled them, {e.n_labelled:,} replies"
        + (f" ({', '.join(aside)})" if aside else "")
        + ": share of all labelled replies, and of those with a wrong answer"
    )
    for r in e.rates:
        yield (
            f"  problems solved {GROUPS[r.group]:<8} {r.category:<14} {number(r.rate)} "
            f"({r.count:,} of {r.n:,})   {number(r.rate_wrong)} ({r.count_wrong:,} of {r.n_wrong:,})"
        )
    if not e.rates:
        yield "  no labelled reply"
