"""`medoid ablate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import (
    BaseUrlOption,
    DatasetOption,
    DrawOption,
    DryRunOption,
    FormOption,
    KeyEnvOption,
    LimitOption,
    MaxCostOption,
    MaxTokensOption,
    MaxTotalOption,
    ModelOption,
    ModelsOption,
    PoolOption,
    SamplingSeedOption,
    TemperatureOption,
    TopPOption,
    asking_how,
    chosen_endpoint,
    chosen_form,
    end,
    print_left,
)
from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    fail,
    percent,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)
from tui.commands.data import DecompositionOption
from tui.commands.early import early_json, print_early
from tui.commands.generate import generate_json, print_generated

if TYPE_CHECKING:
    from pipeline.ablating import AblateSummary
    from pipeline.ablation_report import AblationGroup, AblationReport
    from pipeline.early import EarlySummary
    from scoring.faithfulness import AblationSummary
    from store import Store


def ablate(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    protocol: Annotated[
        str,
        typer.Option(help="broad (all questions) or targeted (GSC right, SC wrong)."),
    ] = "broad",
    n: Annotated[int, typer.Option("-n", "--n", min=1, help="Alternatives per question.")] = 20,
    length: Annotated[str, typer.Option(help="short (3–6 steps) or long (10–20).")] = "short",
    variant: Annotated[
        str | None, typer.Option(help="Name of this sampling: the pool is MODEL@ablate-VARIANT.")
    ] = None,
    early: Annotated[
        bool,
        typer.Option(
            "--early/--no-early",
            help="Ask for the early answers of alternatives and medoids, which F needs.",
        ),
    ] = True,
    decomposition: DecompositionOption = "none",
    show: Annotated[
        bool, typer.Option("--show", help="Ask nothing; print what is stored.")
    ] = False,
    questions: Annotated[
        bool, typer.Option("--questions", help="A row for each question (needs --unseal).")
    ] = False,
    unseal: UnsealOption = False,
    form: FormOption = None,
    temperature: TemperatureOption = None,
    top_p: TopPOption = None,
    max_tokens: MaxTokensOption = None,
    sampling_seed: SamplingSeedOption = None,
    dry_run: DryRunOption = False,
    max_tokens_total: MaxTotalOption = None,
    max_cost: MaxCostOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sample traces with the medoid's reasoning forbidden, and say what is left without it.

    AA and AF are accuracy and faithfulness of the alternatives, OA and OF those of the medoid, MD
    its distance from them. The alternatives are a pool like any; samples and early answers that
    are there are not asked again. Sampling options are those of the alternatives (temperature
    0.7). Exit code 1: some requests failed or are left.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        if questions:
            from pipeline import sealing

            what = "medoid ablation of single questions"
            sealing.unseal(store, what, whoever_asks(), wanted=unseal)
        elif unseal:
            fail("--unseal goes with --questions; sums over questions are not sealed")
        if protocol not in ("broad", "targeted"):
            raise ValueError(f"--protocol is {protocol!r}; broad or targeted is right")
        which: Any = protocol
        summary, answered = None, None
        if not show:
            from judges.ablator import DEFAULT_SAMPLING
            from pipeline.ablating import ablate as run
            from pipeline.ablating import answer_early
            from pipeline.asking import sampling_for

            if length not in ("short", "long"):
                raise ValueError(f"--length is {length!r}; short or long is right")
            endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
            how = asking_how(max_tokens_total, max_cost, dry_run)
            summary = run(
                store,
                endpoint,
                dataset=dataset or None,
                pool=pool,
                protocol=which,
                n=n,
                variant=variant,
                length="long" if length == "long" else "short",
                form=chosen,
                sampling=sampling_for(
                    endpoint,
                    DEFAULT_SAMPLING,
                    temperature=temperature,
                    top_p=top_p,
                    max_tokens=max_tokens,
                    seed=sampling_seed,
                ),
                limit=limit,
                seed=draw,
                **how,
            )
            stopped = any(a.stopped for a in summary.askings)
            if early and not dry_run and not stopped:
                answered = answer_early(
                    store, endpoint, summary, decomposition=decomposition, form=chosen, **how
                )
        report = _report(store, which, dataset, pool, answered, needed=show)
    if as_json:
        print_json(
            {
                "summary": None if summary is None else ablate_json(summary),
                "early_answers": None
                if answered is None
                else {"asking": answered.asking.as_json(), **early_json(answered)},
                "report": None if report is None else report_json(report, questions=questions),
            }
        )
    else:
        _print_all(summary, answered, report, questions=questions, early=early, dry_run=dry_run)
    if summary is not None:
        askings = [*summary.askings, *([answered.asking] if answered else [])]
        for asking in askings:
            print_left(asking)
        end(*askings)


def _report(
    store: Store,
    protocol: Any,
    dataset: list[str] | None,
    pool: str | None,
    answered: EarlySummary | None,
    *,
    needed: bool,
) -> AblationReport | None:
    from pipeline.ablation_report import ablation_report

    if not needed and not store.ablations():
        return None
    run = None if answered is None else answered.run
    return ablation_report(store, run, protocol=protocol, dataset=dataset or None, pool=pool)


def _print_all(
    summary: AblateSummary | None,
    answered: EarlySummary | None,
    report: AblationReport | None,
    *,
    questions: bool,
    early: bool,
    dry_run: bool,
) -> None:
    if summary is not None:
        for part in summary.pools:
            print_generated(part)
            say(f"         each forbids the medoid of pool {summary.sources[part.pool]}")
        left_out = ", ".join(f"{n:,} {why}" for why, n in summary.excluded.items())
        if left_out:
            say(f"         questions left out: {left_out}")
        if early and dry_run:
            say("         early answers come on top: one for each step of every alternative")
    if answered is not None:
        print_early(answered)
    elif summary is not None and not dry_run:
        say("         F needs early answers: the same command without --no-early asks for them")
    if report is not None:
        print_report(report, questions=questions)


def print_report(report: AblationReport, *, questions: bool = False) -> None:
    """Print medoid ablation per dataset and ablated pool."""
    by = "no early answers yet" if report.run is None else f"F by {report.run.model}"
    say(f"medoid ablation, {report.protocol} protocol; {by}")
    say("Δ = ablated mean − the medoid's own; MD = share of characters not in common, by LCS")
    for group in report.groups:
        _print_group(group, report.protocol)
    if not questions:
        return
    from tui.commands.printing import number

    for q in report.questions:
        g, o = q.gold, q.own
        say(
            f"{q.dataset}/{q.question_id}  {q.ablated}  AA {number(g.aa, 2)}  OA {number(g.oa, 0)}"
            f"  AF {number(g.af, 2)}  OF {number(g.of, 2)}  own AF {number(o.af, 2)}  "
            f"OF {number(o.of, 2)}  MD {number(g.md, 2)}  n {q.n}"
        )


def _print_group(group: AblationGroup, protocol: str) -> None:
    from tui.commands.printing import number

    say(
        f"{group.dataset} · {group.ablated} (medoids of {group.pool}): {group.n_questions:,} "
        f"questions, {group.n_alternatives:,} alternatives, "
        f"{percent(group.n_parsed, group.n_alternatives)} with an answer, "
        f"{percent(group.n_early, group.n_alternatives)} with early answers"
    )
    excluded = ", ".join(f"{n:,} {why}" for why, n in group.excluded.items())
    if excluded:
        say(f"  left out by the protocol: {excluded}")
    lacking = ", ".join(f"{n:,} {why}" for why, n in group.lacking.items())
    if lacking:
        say(f"  without ΔA or ΔF: {lacking}")
    gold, own = group.gold, group.own
    say(f"  AA {number(gold.aa)}   OA {number(gold.oa)}   ΔA {number(gold.delta_a)}")
    _print_target("gold", gold)
    _print_target("own answer", own)
    say(f"  MD {number(gold.md)} (difflib {number(group.md_difflib)})")
    if protocol == "targeted":
        say("  OA is 1 by the choice of questions")


def _print_target(name: str, s: AblationSummary) -> None:
    from tui.commands.printing import number

    say(
        f"  F against {name}: AF {number(s.af)}   OF {number(s.of)}   ΔF {number(s.delta_f)}   "
        f"ΔF<0 {_share(s.share_f_lower)}   ΔA=0 and ΔF<0 {_share(s.share_a_same_f_lower)} "
        f"of {s.n_both:,}"
    )
    r = s.regression
    if r.why_undefined is not None:
        say(f"    ΔF on ΔA: –  ({r.why_undefined})")
    else:
        say(
            f"    ΔF on ΔA: slope {number(r.slope)}, r {number(r.r)}, p {number(r.p, 4)}, n {r.n:,}"
        )
        if r.warning:
            say(f"    note: {r.warning}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def ablate_json(summary: AblateSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    return {
        "protocol": summary.protocol,
        "pools": [
            {**generate_json(part), "of": summary.sources[part.pool]} for part in summary.pools
        ],
        "questions": summary.n_questions,
        "n": summary.n,
        "excluded": dict(summary.excluded),
    }


def report_json(report: AblationReport, *, questions: bool = False) -> dict[str, Any]:
    """Return a report as plain values; single questions only where asked for."""
    from dataclasses import asdict

    out: dict[str, Any] = {
        "protocol": report.protocol,
        "run": None if report.run is None else asdict(report.run),
        "groups": [asdict(g) for g in report.groups],
    }
    if questions:
        out["questions"] = [asdict(q) for q in report.questions]
    return out
