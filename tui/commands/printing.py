"""Reports as plain text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pipeline.agreement import PairReport
from pipeline.faithfulness import FaithfulnessReport
from pipeline.figures import HALF_WIDTH, more_labels, paradox
from pipeline.report import ProjectReport
from scoring.agreement import ConfusionTable, Kappa, PairAgreement
from store.records import JudgeSummary
from tui.commands.agreement_lines import interval as interval
from tui.commands.agreement_lines import number as number
from tui.commands.agreement_lines import (
    pair_extras_json,
    plan_json,
    print_beside_pair,
    print_paradox,
    print_plan,
)
from tui.commands.common import percent, say

CONTRADICTIONS = {
    "faithful_with_wrong_step": "faithful with a wrong step",
    "spurious_without_step": "spurious without one",
}


def print_table(table: ConfusionTable, raters: tuple[str, str]) -> None:
    """Print a confusion table: rows the first rater, columns the second."""
    names = [str(c) for c in table.categories]
    counts = [[int(x) for x in row] for row in table.table]
    wide = max([len(n) for n in names] + [4])
    widths = [max(len(n), 6) for n in names]
    say(f"rows {raters[0]}, columns {raters[1]}")
    say("  " + " " * wide + "".join(f"  {n:>{w}}" for n, w in zip(names, widths, strict=True)))
    for name, row in zip(names, counts, strict=True):
        cells = "".join(f"  {x:>{w}}" for x, w in zip(row, widths, strict=True))
        say(f"  {name:<{wide}}{cells}")


def print_kappa(kappa: Kappa, weights: Any = None) -> None:
    """Print kappa with its errors and interval, or why it is undefined."""
    named = weights if weights is None or isinstance(weights, str) else "the file's"
    name = "Cohen's κ" if named is None else f"Cohen's κ ({named} weights)"
    if kappa.value is None:
        say(f"{name} undefined: {kappa.why_undefined}")
        return
    say(
        f"{name} {number(kappa.value)}   SE {number(kappa.se)}   "
        f"{100 * kappa.level:.0f} % interval {interval(kappa.ci)}"
    )
    if kappa.ci is None:
        say("  no interval: the standard error of such a table is 0, which would claim certainty")
    test = "" if kappa.z is None else f"   z {kappa.z:.2f} (SE under κ = 0: {number(kappa.se0)})"
    say(
        f"  1 = full agreement, 0 = as by chance   observed {number(kappa.observed)}   "
        f"by chance {number(kappa.expected)}{test}"
    )


def print_rated_pair(pair: PairAgreement, weights: Any, half_width: float = HALF_WIDTH) -> None:
    """Print one pair of a plain ratings table."""
    a, b = pair.raters
    say(f"{a} against {b}: n {pair.kappa.n}, dropped {pair.kappa.dropped} (one has no label)")
    print_table(pair.table, pair.raters)
    print_kappa(pair.kappa, weights)
    _print_beside(pair.ac1, pair.summary)
    if weights is None:
        print_paradox(paradox(pair.table, pair.kappa, pair.summary, pair.ac1))
    print_plan(more_labels(pair.kappa, half_width))


def _print_beside(ac1: Any, summary: Any) -> None:
    line = f"  AC1 {number(ac1.value)}   PABAK {number(summary.pabak)}"
    if summary.prevalence_index is not None:
        line += (
            f"   prevalence index {number(summary.prevalence_index, 2)}"
            f"   bias index {number(summary.bias_index, 2)}"
        )
    say(line)


def print_pair(report: PairReport) -> None:
    """Print one pair of raters of a project."""
    (a, b), (kind_a, kind_b) = report.raters, report.kinds
    say(
        f"{kind_a} {a} against {kind_b} {b}, schema {report.schema}: "
        f"n {report.kappa.n} items of {report.n_questions} questions, "
        f"dropped {report.kappa.dropped}"
    )
    if report.n_held:
        say(
            f"  {report.n_held} labels left out: sealed until their question is revealed, or all "
            "are labelled (--unseal counts them, and is logged)"
        )
    if report.mixed_versions:
        for name, counts in report.versions.items():
            mixed = ", ".join(f"{n} under version {v}" for v, n in counts.items())
            if mixed:
                say(f"  schema versions are mixed: {name} labelled {mixed}")
    if report.multi:
        say("  several categories may hold: only the same set of categories agrees")
    for name, states in report.states.items():
        if states:
            say(f"  {name}: " + ", ".join(f"{n} {state}" for state, n in states.items()))
    kinds = dict(zip(report.raters, report.kinds, strict=True))
    for name, origins in report.origins.items():
        if kinds[name] == "judge":
            continue
        parts = [f"{n} {k.replace('_', '-')}" for k, n in origins.items() if n]
        if parts:
            left_out = " (post-reveal ones are left out)" if origins.get("post_reveal") else ""
            say(f"  labels of {name}: {', '.join(parts)}{left_out}")
    print_after_unseal(report)
    print_table(report.table, report.raters)
    print_kappa(report.kappa, report.weights)
    boot = report.clustered
    if report.kappa.value is not None:
        if boot.ci is None:
            say(f"  no interval over questions: {boot.why_no_interval}")
        else:
            drawn = f"{boot.replicates} replicates over {boot.clusters} questions"
            lost = f", {boot.undefined} undefined" if boot.undefined else ""
            say(f"  clustered by question: {interval(boot.ci)} ({drawn}{lost})")
        _print_beside(report.ac1, report.summary)
        print_beside_pair(report)
    for judge in report.judges:
        print_judge(judge)


def print_after_unseal(report: PairReport) -> None:
    """Print how many labels were made after a look behind the seal, and whose look was first."""
    for name, counts in report.after_unseal.items():
        look = counts.first
        by = look.who if look.rater in (None, look.who) else f"{look.who} as {look.rater}"
        say(
            f"  {counts.n} of {counts.n_labels} labels made here by {name} are from after a look "
            f"behind the seal (--unseal; first {look.created_at[:10]}, by {by}); they count"
        )


def print_judge(judge: JudgeSummary) -> None:
    """Print how a judge's verdicts look by themselves."""
    counts = ", ".join(f"{n} {c}" for c, n in sorted(judge.counts.items()))
    why = " (unsure: no category had most of the votes)" if judge.tied else ""
    say(
        f"judge {judge.rater}: {judge.n} verdicts: {counts}; unparsed {judge.unparsed}, "
        f"tied {judge.tied}{why}"
    )
    total = sum(judge.self_contradictions.values())
    parts = ", ".join(
        f"{n} {CONTRADICTIONS.get(k, k)}" for k, n in judge.self_contradictions.items()
    )
    if judge.self_contradictions:
        say(f"  contradicts itself in {total} ({percent(total, judge.n)}): {parts}")
    if judge.step_out_of_range:
        say(f"  {judge.step_out_of_range} wrong-step numbers name no step")


def print_faithfulness(report: FaithfulnessReport, *, questions: bool) -> None:
    """Print derived faithfulness with its coverage."""
    say(f"faithfulness of SC and GSC by the path labels of {report.rater}, schema {report.schema}")
    if report.n_held:
        say(
            f"  {report.n_held} questions left out: sealed until they are revealed, or all paths "
            "are labelled (--unseal counts them, and is logged)"
        )
    if len(report.versions) > 1:
        mixed = ", ".join(f"{n} under version {v}" for v, n in report.versions.items())
        say(f"  schema versions are mixed: {report.rater} labelled {mixed}")
    for group in report.groups:
        say(f"{group.name}: {group.n_questions} questions")
        for name, side in (("SC", group.sc), ("GSC", group.gsc)):
            decided = side.n_faithful + side.n_spurious
            weighted = "" if side.weighted is None else f", weighted {100 * side.weighted:.1f} %"
            tied = f", {side.n_tied} tied" if name == "SC" else ""
            say(
                f"  {name:<4}faithful {side.n_faithful} of {decided} decided "
                f"({percent(side.n_faithful, decided)}{weighted}){tied}, "
                f"{side.n_unlabelled} without a label"
            )
            say(
                f"      paths: {side.n_sound} of {side.n_paths} labelled are faithful "
                f"({percent(side.n_sound, side.n_paths)}), of {side.n_supporters} with the answer"
            )
    if not questions:
        return
    words = {True: "faithful", False: "spurious", None: "–"}
    for row in report.rows:
        say(
            f"{row.dataset}/{row.question_id}  {row.pool}  SC {words[row.sc_faithful]} "
            f"({row.sc_labelled} of {row.sc_supporters} labelled)  GSC {words[row.gsc_faithful]}"
        )


def print_report(report: ProjectReport) -> None:
    """Print a project in aggregates."""
    if not report.overview:
        say("an empty project: medoid import FILE…")
    for row in report.overview:
        if not row.pool:
            say(f"{row.dataset}: {row.n_questions} questions without traces")
            continue
        say(f"{row.dataset} · {row.pool}")
        say(
            f"  {row.n_questions} questions, {row.n_traces} traces; "
            f"{percent(row.n_strict, row.n_traces)} follow the format to the letter, "
            f"{percent(row.n_usable, row.n_traces)} have steps, "
            f"{percent(row.n_parsed, row.n_traces)} an answer"
        )
        say(
            f"  right: SC {row.sc_correct} of {row.n_gold}, GSC {row.gsc_correct} of {row.n_gold};"
            f" they disagree on {row.n_disagree} of {row.n_scored} questions;"
            f" {row.n_cases} cases to label"
        )
    if report.scoring is not None:
        s = report.scoring
        p = s.parameters
        say(
            f"scoring: {s.embedder} {s.embedder_revision[:19]}…, decomposition {s.decomposition}, "
            f"β {p['beta']:g} γ {p['gamma']:g} α {p['alpha']:g} τ {p['tau']:g}, "
            f"medoid {s.tool_version}"
        )
    for rater in report.raters:
        say(f"{rater.kind} {rater.name}: {rater.n_labelled} items with a category")
    shown = {j.rater for pair in report.pairs for j in pair.judges}
    for judge in report.judges:
        if judge.rater not in shown:
            print_judge(judge)
    for pair in report.pairs:
        say()
        print_pair(pair)


def kappa_json(kappa: Kappa) -> dict[str, Any]:
    """Return kappa as plain values."""
    return {**asdict(kappa), "z": kappa.z}


def table_json(table: ConfusionTable) -> dict[str, Any]:
    """Return a confusion table as plain values."""
    return {
        "categories": list(table.categories),
        "table": [[int(x) for x in row] for row in table.table],
        "n": table.n,
        "dropped": table.dropped,
    }


def rated_pair_json(pair: PairAgreement, half_width: float = HALF_WIDTH) -> dict[str, Any]:
    """Return one pair of a plain ratings table as plain values."""
    return {
        "raters": list(pair.raters),
        "confusion": table_json(pair.table),
        "kappa": kappa_json(pair.kappa),
        "ac1": asdict(pair.ac1),
        "summary": asdict(pair.summary),
        "paradox": paradox(pair.table, pair.kappa, pair.summary, pair.ac1),
        "plan": plan_json(more_labels(pair.kappa, half_width)),
    }


def pair_json(report: PairReport) -> dict[str, Any]:
    """Return one pair of raters of a project as plain values."""
    return {
        "schema": report.schema,
        "raters": list(report.raters),
        "kinds": list(report.kinds),
        "n_questions": report.n_questions,
        "confusion": table_json(report.table),
        "kappa": kappa_json(report.kappa),
        "kappa_clustered": asdict(report.clustered),
        "ac1": asdict(report.ac1),
        "summary": asdict(report.summary),
        "states": {k: dict(v) for k, v in report.states.items()},
        "versions": {k: {str(n): m for n, m in v.items()} for k, v in report.versions.items()},
        "held": report.n_held,
        "after_unseal": {
            name: {
                "n": counts.n,
                "n_labels": counts.n_labels,
                "first_look": counts.first.created_at,
                "who": counts.first.who,
                "rater": counts.first.rater,
                "what": counts.first.what,
            }
            for name, counts in report.after_unseal.items()
        },
        "origins": {k: dict(v) for k, v in report.origins.items()},
        "judges": [asdict(j) for j in report.judges],
        **pair_extras_json(report),
    }


def report_json(report: ProjectReport) -> dict[str, Any]:
    """Return a project's report as plain values."""
    return {
        "pools": [asdict(r) for r in report.overview],
        "scoring": None if report.scoring is None else asdict(report.scoring),
        "raters": [asdict(r) for r in report.raters],
        "judges": [asdict(j) for j in report.judges],
        "pairs": [pair_json(p) for p in report.pairs],
    }
