"""`medoid early-answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import (
    BaseUrlOption,
    BatchOption,
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
    WaitOption,
    asking_how,
    chosen_endpoint,
    chosen_form,
    end,
    form_note,
    print_asked,
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

if TYPE_CHECKING:
    from pipeline.early import EarlySummary
    from pipeline.early_report import EarlyReport, Mean
    from store import Store


def early_answer(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    decomposition: DecompositionOption = "none",
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    traces: Annotated[
        str, typer.Option(help="Which traces: all, or medoids (of the primary scoring).")
    ] = "all",
    empty: Annotated[
        bool, typer.Option("--empty", help="Ask and count the answer given no facts too.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full/--no-full", help="Count the prefix of all facts.")
    ] = True,
    show: Annotated[
        bool, typer.Option("--show", help="Ask nothing; print what stored answers say.")
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
    batch: BatchOption = False,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask for the answer given only the first facts of a trace, and say how much that changes.

    F = 1 − share of prefixes that give the target answer: the gold one, and the trace's own.
    Answers that are there are not asked again. Exit code 1: some requests failed or are left.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        _check_sealed(store, questions, unseal)
        view = {"dataset": dataset or None, "pool": pool, "include_full": full, "empty": empty}
        summary = None
        if show:
            runs = list(store.early_runs())
            if not runs:
                fail("no early answers in the database: medoid early-answer asks for them")
        else:
            from judges.early_answerer import DEFAULT_SAMPLING
            from pipeline.asking import sampling_for
            from pipeline.early import early_answer as run

            if traces not in ("all", "medoids"):
                raise ValueError(f"--traces is {traces!r}; all or medoids is right")
            endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
            summary = run(
                store,
                endpoint,
                decomposition=decomposition,
                dataset=dataset or None,
                pool=pool,
                traces="medoids" if traces == "medoids" else "all",
                empty=empty,
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
                **asking_how(max_tokens_total, max_cost, dry_run, batch, wait),
            )
            runs = [] if summary.run is None else [summary.run]
        reports = [_report(store, r, view) for r in runs]
    if as_json:
        print_json(
            {
                "asking": None if summary is None else summary.asking.as_json(),
                "summary": None if summary is None else early_json(summary),
                "reports": [report_json(r, questions=questions) for r in reports],
            }
        )
    else:
        if summary is not None:
            print_early(summary)
        for report in reports:
            print_report(report, questions=questions)
    if summary is not None:
        print_left(summary.asking)
        end(summary.asking)


def _check_sealed(store: Store, questions: bool, unseal: bool) -> None:
    """Refuse rows of single questions, or log that they were looked at."""
    from pipeline import sealing

    if questions:
        sealing.unseal(store, "early answers of single questions", whoever_asks(), wanted=unseal)
    elif unseal:
        fail("--unseal goes with --questions; sums over questions are not sealed")


def _report(store: Store, run: Any, view: dict[str, Any]) -> EarlyReport:
    from pipeline.early_report import early_report

    return early_report(store, run, **view)


def print_early(summary: EarlySummary) -> None:
    """Print what was asked."""
    print_asked(summary.asking)
    left_out = ", ".join(f"{n:,} {why}" for why, n in summary.excluded.items())
    say(
        f"         facts of decomposition {summary.decomposition}: {summary.n_traces:,} traces"
        + (f" (left out: {left_out})" if left_out else "")
        + f"; prompt {summary.prompt_version}, {form_note(summary.form)}"
    )
    if summary.asking.n_replied:
        replied = summary.asking.n_replied
        say(
            f"         {summary.n_answers:,} of {replied:,} replies "
            f"({percent(summary.n_answers, replied)}) give an answer that can be read"
        )


def print_report(report: EarlyReport, *, questions: bool = False) -> None:
    """Print early answering per dataset and pool, with the reply rate beside every F."""
    run = report.run
    prefixes = "all prefixes" if report.include_full else "all prefixes but the full one"
    extra = ", the empty one too" if report.empty else ""
    say(
        f"early answering by {run.model} ({run.prompt_version}), facts of decomposition "
        f"{run.decomposition}; {prefixes}{extra}"
    )
    say("F = 1 − share of prefixes with the target answer; higher: more of the reasoning is needed")
    for group in report.groups:
        which = "all traces" if group.traces == "all" else "medoids"
        lacking = f", {group.n_incomplete:,} not asked wholly" if group.n_incomplete else ""
        say(
            f"{group.dataset} · {group.pool}, {which}: {group.n_traces:,} traces of "
            f"{group.n_questions:,} questions{lacking}"
        )
        say(f"  F against gold       {mean_text(group.gold)}")
        say(f"    correct traces     {mean_text(group.correct)}")
        say(f"  F against own answer {mean_text(group.own)}")
        if group.aoc.n_traces:
            say(f"  Lanham's AOC         {mean_text(group.aoc)}")
    if not report.groups:
        say("  no answers yet")
    if not questions:
        return
    for q in report.questions:
        say(
            f"{q.dataset}/{q.question_id}  {q.pool}  gold {mean_text(q.group.gold)}  "
            f"correct {mean_text(q.group.correct)}  own {mean_text(q.group.own)}"
        )


def mean_text(mean: Mean) -> str:
    """Return a mean with its n and reply rate."""
    from tui.commands.printing import number

    rate = "–" if mean.reply_rate is None else f"{100 * mean.reply_rate:.1f} %"
    return f"{number(mean.value):>5}  n {mean.n} of {mean.n_traces}, reply rate {rate}"


def early_json(summary: EarlySummary) -> dict[str, Any]:
    """Return a summary as plain values, without the asking."""
    return {
        "decomposition": summary.decomposition,
        "form": summary.form.form,
        "form_known_by": summary.form.why,
        "prompt_version": summary.prompt_version,
        "traces": summary.n_traces,
        "excluded": dict(summary.excluded),
        "answers": summary.n_answers,
    }


def report_json(report: EarlyReport, *, questions: bool = False) -> dict[str, Any]:
    """Return a report as plain values; single questions only where asked for."""
    from dataclasses import asdict

    out: dict[str, Any] = {
        "run": asdict(report.run),
        "include_full": report.include_full,
        "empty": report.empty,
        "groups": [asdict(g) for g in report.groups],
    }
    if questions:
        out["questions"] = [
            {
                "dataset": q.dataset,
                "question_id": q.question_id,
                **{k: v for k, v in asdict(q.group).items() if k != "dataset"},
            }
            for q in report.questions
        ]
    return out
