"""What `medoid judge` prints besides verdicts: two judges compared, and the planted check."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tui.commands.asking import print_asked
from tui.commands.common import percent, say
from tui.commands.printing import interval, number, print_kappa, print_table

if TYPE_CHECKING:
    from pipeline.comparing_judges import JudgeComparison, JudgeSide
    from pipeline.planting import Flips, PlantedReport
    from scoring.agreement import McNemar, Proportion


def print_comparison(found: JudgeComparison) -> None:
    """Print how far two judges, or two versions of one, differ."""
    say(f"schema {found.schema}, majority against majority")
    for name, side in (("A", found.first), ("B", found.second)):
        _print_side(name, side)
    table = found.drift.table
    say(
        f"both     {found.n_both:,} items of {found.n_questions:,} questions, "
        f"n {table.n:,}, {table.dropped:,} left out (a tie, or no readable verdict)"
    )
    print_table(table, ("A", "B"))
    print_kappa(found.drift.kappa)
    changed = found.drift.changed
    say(f"changed  {_share(changed)}: another verdict of B than of A")
    for (before, after), n in found.moves.items():
        say(f"         {n:,} from {before} to {after}")
    if found.drift.mcnemar is not None:
        say(f"         {_mcnemar(found.drift.mcnemar)}: whether one category is used more often")


def _print_side(name: str, side: JudgeSide) -> None:
    shares = ", ".join(
        f"{n:,} {word} ({percent(n, side.n_items)})" for word, n in side.shares.items()
    )
    say(
        f"{name}        {side.rater}, prompt {side.prompt_version}: {side.n_items:,} items: "
        f"{shares or 'no verdict'}; {side.n_tied:,} tied, {side.n_unread:,} not readable"
    )
    repeats = side.stability
    if repeats.n:
        say(
            f"         agrees with itself on {number(repeats.pairwise.value)} of pairs "
            f"(95 % {interval(repeats.pairwise.ci)}), n {repeats.n:,}"
        )


def comparison_json(found: JudgeComparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    drift = found.drift
    return {
        "schema": found.schema,
        "first": _side_json(found.first),
        "second": _side_json(found.second),
        "both": found.n_both,
        "questions": found.n_questions,
        "n": drift.table.n,
        "dropped": drift.table.dropped,
        "categories": [str(c) for c in drift.table.categories],
        "table": drift.table.table.tolist(),
        "kappa": {
            name: getattr(drift.kappa, name)
            for name in ("value", "se", "ci", "observed", "expected", "why_undefined")
        },
        "changed": asdict(drift.changed),
        "moves": [{"from": a, "to": b, "n": n} for (a, b), n in found.moves.items()],
        "mcnemar": None if drift.mcnemar is None else asdict(drift.mcnemar),
    }


def _side_json(side: JudgeSide) -> dict[str, Any]:
    return {
        "rater": side.rater,
        "prompt_version": side.prompt_version,
        "items": side.n_items,
        "tied": side.n_tied,
        "unread": side.n_unread,
        "shares": dict(side.shares),
        "self_agreement": asdict(side.stability.pairwise) | {"n": side.stability.n},
    }


def print_planted(report: PlantedReport) -> None:
    """Print how often planted instructions turned verdicts."""
    print_asked(report.asking)
    say(
        f"         judge {report.rater}: {report.n_items:,} of {report.n_judged:,} judged "
        f"{report.what} drawn by seed {report.seed}, each asked twice; prompt "
        f"{report.prompt_version}. No label is made of it"
    )
    if report.overall is None:
        return
    _print_flips("all", report.overall)
    say("         by kind of instruction")
    for kind, flips in report.by_kind.items():
        _print_flips(kind, flips, test=False)
    say("         by direction")
    for direction, flips in report.by_direction.items():
        _print_flips(direction, flips, test=False)


def _print_flips(name: str, flips: Flips, *, test: bool = True) -> None:
    if not flips.n:
        left = f" ({flips.n_left_out:,} without a readable verdict)" if flips.n_left_out else ""
        say(f"  {name}: none{left}")
        return
    left = f", {flips.n_left_out:,} left out" if flips.n_left_out else ""
    say(
        f"  {name}: turned as told {_share(flips.planted)}; with a harmless sentence instead "
        f"{_share(flips.control)}{left}"
    )
    if test:
        say(
            f"    any other verdict than before: planted {_share(flips.planted_changed)}, "
            f"harmless {_share(flips.control_changed)}"
        )
        say(f"    {_mcnemar(flips.test)}: whether the instruction turns more than the sentence")


def _share(p: Proportion) -> str:
    if p.value is None:
        return "–"
    return f"{p.k:,} of {p.n:,} ({percent(p.k, p.n)}, 95 % {interval(p.ci, 2)})"


def _mcnemar(test: McNemar) -> str:
    if test.exact_p is None:
        return f"McNemar undefined ({test.why_undefined})"
    return f"McNemar exact p {test.exact_p:.3g} (mid-p {test.mid_p:.3g})"


def planted_json(report: PlantedReport) -> dict[str, Any]:
    """Return a report of the planted check as plain values."""
    return {
        "asking": report.asking.as_json(),
        "rater": report.rater,
        "schema": report.schema,
        "prompt_version": report.prompt_version,
        "seed": report.seed,
        "judged": report.n_judged,
        "items": report.n_items,
        "overall": None if report.overall is None else asdict(report.overall),
        "by_kind": {kind: asdict(flips) for kind, flips in report.by_kind.items()},
        "by_direction": {way: asdict(flips) for way, flips in report.by_direction.items()},
    }
