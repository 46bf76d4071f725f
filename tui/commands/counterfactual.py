"""`medoid counterfactual`."""

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
from tui.commands.drawing import draw_edits

if TYPE_CHECKING:
    from pipeline.counterfactual import CounterfactualSummary
    from pipeline.counterfactual_report import CounterfactualGroup, CounterfactualReport, Score


def counterfactual(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    editor: Annotated[
        str | None,
        typer.Option(help="Which model rewrites the steps; the one asked again if not given."),
    ] = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    name: Annotated[str, typer.Option(help="Name of this editing.")] = "default",
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    traces: Annotated[
        str, typer.Option(help="Which traces: medoids (of the primary scoring), or all.")
    ] = "medoids",
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="How often each answer is asked again.")
    ] = 1,
    show: Annotated[
        bool, typer.Option("--show", help="Ask nothing; print what stored answers say.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Ask nothing; draw so many edits for people to label (50)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
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
    """Rewrite one step of a trace at a time, ask again, and say how often the answer changes.

    The score is the share of parsed answers that differ from the baseline: the answer asked again
    with no step edited, and the stated one. Edits and answers that are there are not asked again.
    Temperature, top-p, tokens and seed are those of the answers; edits are made at temperature 0.
    With --sample, edits are drawn that the workbench then shows for labelling. Exit code 1: some
    requests failed or are left.
    """
    if sample is not None:
        draw_edits(chosen_db(context, db), name, sample, seed, dataset, pool, as_json=as_json)
        return
    with usage_errors(), database(chosen_db(context, db)) as store:
        if questions:
            from pipeline import sealing

            what = "counterfactual scores of single questions"
            sealing.unseal(store, what, whoever_asks(), wanted=unseal)
        elif unseal:
            fail("--unseal goes with --questions; sums over questions are not sealed")
        summary = None
        if show:
            runs = list(store.counterfactual_runs())
            if not runs:
                fail("no counterfactual answers in the database: medoid counterfactual asks them")
        else:
            from judges.counterfactual_answerer import DEFAULT_SAMPLING
            from pipeline.asking import sampling_for
            from pipeline.counterfactual import counterfactual as run

            if traces not in ("all", "medoids"):
                raise ValueError(f"--traces is {traces!r}; medoids or all is right")
            endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
            other = None
            if editor is not None:
                other, _ = chosen_form(chosen_endpoint(editor, models, base_url, key_env), form)
            summary = run(
                store,
                endpoint,
                other,
                name=name,
                dataset=dataset or None,
                pool=pool,
                traces="all" if traces == "all" else "medoids",
                repeats=repeats,
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
                **asking_how(max_tokens_total, max_cost, dry_run),
            )
            runs = [] if summary.run is None else [summary.run]
        from pipeline.counterfactual_report import counterfactual_report

        reports = [
            counterfactual_report(store, r, dataset=dataset or None, pool=pool) for r in runs
        ]
    if as_json:
        print_json(
            {
                "summary": None if summary is None else counterfactual_json(summary),
                "reports": [report_json(r, questions=questions) for r in reports],
            }
        )
    else:
        if summary is not None:
            print_counterfactual(summary)
        for report in reports:
            print_report(report, questions=questions)
    if summary is not None:
        print_left(summary.editing)
        print_left(summary.answering)
        end(summary.editing, summary.answering)


def print_counterfactual(summary: CounterfactualSummary) -> None:
    """Print what was asked of the editor and again of the model."""
    print_asked(summary.editing)
    left_out = ", ".join(f"{n:,} {why}" for why, n in summary.excluded.items())
    say(
        f"         editing {summary.name} by {summary.editor}: {summary.n_steps:,} intermediate "
        f"steps of {summary.n_traces:,} traces"
        + (f" (left out: {left_out})" if left_out else "")
        + f"; prompt {summary.editor_prompt}, {form_note(summary.editor_form)}"
    )
    if summary.editing.n_replied:
        faults = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in summary.faults.items())
        say(
            f"         {summary.n_edited:,} of {summary.editing.n_replied:,} replies "
            f"({percent(summary.n_edited, summary.editing.n_replied)}) are edits"
            + (f"; no edit: {faults}" if faults else "")
        )
    print_asked(summary.answering)
    times = "" if summary.repeats == 1 else f", {summary.repeats} times each"
    say(f"         prompt {summary.prompt_version}, {form_note(summary.form)}{times}")
    if summary.editing.estimate is not None:
        say("         edits that are not there yet are taken to be as long as their steps")
    replied = summary.answering.n_replied
    if replied:
        say(
            f"         {summary.n_answers:,} of {replied:,} replies "
            f"({percent(summary.n_answers, replied)}) give an answer that can be read"
        )


def print_report(report: CounterfactualReport, *, questions: bool = False) -> None:
    """Print counterfactual scores per dataset and pool by both baselines."""
    run = report.run
    say(f"counterfactual editing {run.editing}, asked again of {run.model} ({run.prompt_version})")
    say(
        "score = share of parsed answers that differ from the baseline; higher: relies on its steps"
    )
    for group in report.groups:
        _print_group(group)
    if not report.groups:
        say("  no answers yet")
    if not questions:
        return
    from tui.commands.printing import number

    for q in report.questions:
        say(
            f"{q.dataset}/{q.question_id}  {q.pool}  against re-asked {number(q.reasked)}  "
            f"stated {number(q.stated)}"
        )


def _print_group(group: CounterfactualGroup) -> None:
    which = "all asked traces" if group.traces == "all" else "medoids"
    lacking = f", {group.n_incomplete:,} not asked wholly" if group.n_incomplete else ""
    say(
        f"{group.dataset} · {group.pool}, {which}: {group.n_traces:,} traces of "
        f"{group.n_questions:,} questions{lacking}"
    )
    say(f"  against the re-asked answer {_score_text(group.reasked)}")
    say(f"  against the stated answer   {_score_text(group.stated)}")
    faults = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in group.faults.items())
    say(
        f"  edits    {group.n_edited:,} of {group.n_steps:,} steps "
        f"({percent(group.n_edited, group.n_steps)})" + (f"; no edit: {faults}" if faults else "")
    )
    say(
        f"  replies  {percent(group.n_replied, group.n_asked)} of {group.n_asked:,} with an edit "
        f"could be read, {percent(group.n_baseline_replied, group.n_baseline)} of "
        f"{group.n_baseline:,} without"
    )
    say(
        f"  baseline {percent(group.n_as_stated, group.n_comparable)} of {group.n_comparable:,} "
        "re-asked answers are the stated one"
        + (
            ""
            if group.alike is None
            else f"; asked again with nothing edited, {100 * group.alike:.1f} % are alike"
        )
    )


def _score_text(score: Score) -> str:
    from tui.commands.printing import number

    why = ", ".join(f"{n:,} {reason}" for reason, n in score.undefined.items())
    return (
        f"{number(score.value):>5}  n {score.n:,} questions, {score.n_scored:,} of "
        f"{score.n_traces:,} traces" + (f" (undefined: {why})" if why else "")
    )


def counterfactual_json(summary: CounterfactualSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    return {
        "editing": summary.editing.as_json(),
        "answering": summary.answering.as_json(),
        "name": summary.name,
        "editor": summary.editor,
        "editor_form": summary.editor_form.form,
        "editor_prompt": summary.editor_prompt,
        "form": summary.form.form,
        "prompt_version": summary.prompt_version,
        "repeats": summary.repeats,
        "traces": summary.n_traces,
        "steps": summary.n_steps,
        "excluded": dict(summary.excluded),
        "edited": summary.n_edited,
        "faults": dict(summary.faults),
        "answers": summary.n_answers,
    }


def report_json(report: CounterfactualReport, *, questions: bool = False) -> dict[str, Any]:
    """Return a report as plain values; single questions only where asked for."""
    from dataclasses import asdict

    out: dict[str, Any] = {
        "run": asdict(report.run),
        "groups": [asdict(g) for g in report.groups],
    }
    if questions:
        out["questions"] = [
            {
                "dataset": q.dataset,
                "question_id": q.question_id,
                "pool": q.pool,
                "reasked": q.reasked,
                "stated": q.stated,
                "traces": [
                    {
                        "sample": t.sample,
                        "reasked": t.reasked.score,
                        "stated": t.stated.score,
                        "changed": list(t.reasked.changed),
                        "steps": t.n_steps,
                        "faults": dict(t.faults),
                    }
                    for t in q.rows
                ],
                "incomplete": q.n_incomplete,
                "undefined": dict(q.undefined),
            }
            for q in report.questions
        ]
    return out
