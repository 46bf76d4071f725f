"""The judge report as text: the verdict first, then the evidence it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pipeline.validating import JudgeValidation
from scoring.agreement import AltTest, Drift, FirstWrongStep, JudgeRates, Stability, UseVerdict
from store.compare_records import ADJUDICATED
from tui.commands.agreement_lines import (
    interval,
    number,
    p_value,
    plain,
    print_never,
    share,
    wrapped,
)
from tui.commands.common import say
from tui.commands.printing import print_judge, print_kappa, print_table

ANSWERS = {True: "YES", False: "NO", None: "NOT SHOWN"}
USES = {
    "ranking items": "its verdicts say which items a human should look at first",
    "estimating a rate, corrected": "its rate may be reported as corrected below",
    "replacing a human": "its verdict may stand for one annotator's",
}
MISSING = {
    "stability": "agreement with itself",
    "drift": "change between versions",
    "steps": "first wrong step",
    "alt_test": "alternative annotator test",
}


def print_validation(v: JudgeValidation) -> None:
    """Print a judge's report."""
    r = v.report
    truth = "people's labels, adjudicated" if v.truth.name == ADJUDICATED else v.truth.name
    say(f"judge {v.judge} against {truth}, schema {v.schema}: may its verdicts be trusted?")
    say(
        f"  {r.kappa.n} items of {v.n_questions} questions carry both; it judged {v.n_judged}; "
        f"positive = {v.positive}"
    )
    print_truth(v)
    say()
    wrapped(in_short(r.verdict.uses))
    for use in r.verdict.uses:
        _print_use(use)
    rules = ", ".join(
        f"{f.name.replace('_', ' ')} {getattr(r.verdict.rules, f.name):g}"
        for f in fields(r.verdict.rules)
    )
    wrapped(f"thresholds (choices of ours, no law; --rule NAME=VALUE changes one): {rules}")
    say()
    print_table(r.table, ("the truth", v.judge))
    print_kappa(r.kappa)
    if r.kappa.value is not None:
        boot = r.clustered
        ci = interval(boot.ci) if boot.ci else f"none: {boot.why_no_interval}"
        say(
            f"  clustered by question: {ci}   AC1 {number(r.ac1.value)}   "
            f"PABAK {number(r.summary.pabak)}"
        )
    for score in r.categories:
        say(f"  {score.category}: precision {share(score.precision)}")
        say(f"  {' ' * len(str(score.category))}  recall    {share(score.recall)}")
    if r.rates is not None:
        print_rates(v, r.rates)
    print_replies(v)
    if r.stability is not None:
        print_stability(r.stability)
    if r.drift is not None:
        print_drift(r.drift, v.compared_with or "")
    if r.steps is not None:
        print_steps(r.steps)
    if r.alt_test is not None:
        print_alt_test(r.alt_test)
    for part, why in v.not_measured.items():
        say(f"not measured: {MISSING[part]} ({why})")
    say(f"medoid {v.tool_version}, prompt {', '.join(v.prompts) or 'unknown'}")


def print_truth(v: JudgeValidation) -> None:
    """Print what the truth is made of, and what was left out."""
    t = v.truth
    if t.name == ADJUDICATED:
        say(
            f"  truth: {t.n_adjudicated} items adjudicated, else what all of "
            f"{', '.join(v.humans)} agree on"
        )
        if t.n_open:
            wrapped(
                f"{t.n_open} items in dispute are left out: they are the harder ones, so the judge "
                "looks better than it is (adjudicate them, or name one person with --truth)"
            )
        if t.n_against_judge:
            wrapped(
                f"{t.n_against_judge} of the adjudications settle a dispute with a judge: where only "
                "those were looked at again, people's slips that agree with the judge stay, and "
                "the judge looks better than it is"
            )
    if v.n_held:
        say(
            f"  {v.n_held} labels left out: sealed until their question is revealed, or all are "
            "labelled (--unseal counts them, and is logged)"
        )
    if v.why_unweighted is not None:
        say(f"  rates are not weighted by inclusion probabilities: {v.why_unweighted}")
    print_never(v.never)


def in_short(uses: Sequence[UseVerdict]) -> str:
    """Return the verdict in one sentence."""
    by_answer: dict[bool | None, list[str]] = {}
    for use in uses:
        by_answer.setdefault(use.allowed, []).append(use.use)
    parts = [f"trust it for: {', '.join(by_answer.get(True, ['nothing yet']))}"]
    if False in by_answer:
        parts.append(f"not for: {', '.join(by_answer[False])}")
    if None in by_answer:
        parts.append(f"too little evidence on: {', '.join(by_answer[None])}")
    return "; ".join(parts)


def _print_use(use: UseVerdict) -> None:
    say(f"  {ANSWERS[use.allowed]:<11}{use.use} ({USES.get(use.use, use.use)})")
    wrapped(use.evidence, " " * 13)


def print_rates(v: JudgeValidation, rates: JudgeRates) -> None:
    """Print error rates and the rate, raw and corrected."""
    errors = rates.errors
    say(f"errors, {v.positive} as positive")
    say(f"  sensitivity {share(errors.sensitivity)}   specificity {share(errors.specificity)}")
    if v.weighted:
        c = rates.clustered
        say(
            f"  by question and inclusion: sensitivity {number(c.sensitivity.value)} "
            f"[{interval(c.sensitivity.ci)}]   specificity {number(c.specificity.value)} "
            f"[{interval(c.specificity.ci)}]"
        )
    say(f"rate of {v.positive}")
    say(f"  people, on the labelled items {share(rates.human)}")
    say(f"  judge, on all it judged       {share(rates.judge)}: not a rate to report")
    found = rates.corrected
    if found is None or found.value is None:
        why = "no verdict" if found is None else found.why_undefined
        wrapped(f"corrected: undefined, {why}")
    else:
        say(
            f"  corrected for its errors      {number(found.value)} [{interval(found.ci)}] delta, "
            f"[{interval(found.adjusted_ci)}] Lang–Reiczigel"
        )
        boot = rates.bootstrap
        ci = f"[{interval(boot.ci)}]" if boot.ci else f"no interval: {boot.why_no_interval}"
        say(f"    by bootstrap over questions {number(boot.value)} {ci}")
    ppi = rates.powered
    if ppi.value is None:
        wrapped(f"prediction-powered: undefined, {ppi.why_undefined}")
    else:
        say(
            f"  prediction-powered (PPI++)    {number(ppi.value)} [{interval(ppi.ci)}]   "
            f"weight of the judge {number(ppi.lam, 2)}"
        )


def print_replies(v: JudgeValidation) -> None:
    """Print replies without a verdict as a rate of their own."""
    failures = v.report.parse_failures
    if failures is None:
        return
    other = ", ".join(f"{n} {word}" for word, n in v.outcomes.items() if word != "ok")
    say(f"replies without a verdict {share(failures)}" + (f": {other}" if other else ""))
    print_judge(v.summary)


def print_stability(s: Stability) -> None:
    """Print how far the judge agrees with itself."""
    if s.why_undefined is not None:
        say(f"agreement with itself undefined: {s.why_undefined}")
        return
    least, most = s.repeats or (0, 0)
    times = f"{least}" if least == most else f"{least} to {most}"
    say(
        f"agreement with itself {number(s.pairwise.value)} [{interval(s.pairwise.ci)}] of pairs, "
        f"{s.n} items asked {times} times; all alike on {share(s.unanimous)}"
    )
    say("  at temperature 0 this is 1 by construction, and no evidence")


def print_drift(d: Drift, before: str) -> None:
    """Print what changed against an earlier version."""
    say(f"against {before}: {share(d.changed)} of the verdicts changed; κ {number(d.kappa.value)}")
    test = d.mcnemar
    if test is not None and test.why_undefined is None:
        say(
            f"  did the rate move? McNemar exact {p_value(test.exact_p)}, mid-p {p_value(test.mid_p)}"
        )
    elif test is None and d.stuart_maxwell.why_undefined is None:
        say(f"  did the rates move? Stuart–Maxwell {p_value(d.stuart_maxwell.p)}")


def print_steps(s: FirstWrongStep) -> None:
    """Print agreement on the first wrong step."""
    say(
        f"first wrong step, both call the path wrong: the same {share(s.exact)}, within one step "
        f"{share(s.within_one)}"
    )
    say(
        f"  {s.n_unnamed} of {s.n_both_wrong} without a step named; κ on sound or not "
        f"{number(s.kappa.value)}"
    )


def print_alt_test(t: AltTest) -> None:
    """Print the alternative annotator test."""
    if t.omega is None:
        say(f"alternative annotator test undefined: {t.why_undefined}")
        return
    say(
        f"alternative annotator test: ω {number(t.omega, 2)} (½ passes), ρ {number(t.rho, 2)}, "
        f"ε {t.epsilon:g}, {t.n_items} items"
    )
    for h in t.humans:
        told = h.why_untested or f"{p_value(h.p)}{', beaten' if h.rejected else ''}"
        say(
            f"  in place of {h.name}: judge at least as close on {number(h.judge_wins, 2)}, "
            f"{h.name} on {number(h.human_wins, 2)} of {h.n} items; {told}"
        )
    for warning in t.warnings:
        wrapped(f"note: {warning}")


def validation_json(v: JudgeValidation) -> dict[str, Any]:
    """Return a judge's report as plain values; single items are left out."""
    document: dict[str, Any] = plain(v)
    for name in ("categories", "steps"):
        del document["truth"][name]
    repeats = document["report"]["stability"]
    if repeats is not None:
        del repeats["items"]
    return document
