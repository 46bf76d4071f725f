"""`medoid judge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

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
    chosen_db,
    database,
    percent,
    print_json,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.judging import JudgeRunSummary
    from pipeline.planting import PlantedReport
    from scoring.agreement import OrderEffect
    from store.model_records import VotesSettled

FLAGS = {
    "faithful_with_wrong_step": "faithful with a wrong step",
    "spurious_without_step": "spurious without one",
    "step_out_of_range": "a step that is not there",
    "step_with_other_category": "a first wrong step beside a category that takes none",
    "partly_unparsed": "replies without a readable verdict on some of the criteria",
}


def judge(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    rater: Annotated[
        str | None,
        typer.Option(
            "--rater",
            help="Name of the judge; the model's if not given, with the prompt version behind it "
            "where another one judged under that name.",
        ),
    ] = None,
    schema: Annotated[
        str,
        typer.Option(help="Which label schema: path, step, decomposition … or one of your own."),
    ] = "path",
    decomposition: Annotated[
        str | None,
        typer.Option("--decomposition", help="Which one is judged, with --schema decomposition."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Judge every item, not only the queue's paths or the sample."),
    ] = False,
    labelled: Annotated[
        str | None, typer.Option("--labelled", help="Judge what this rater labelled.")
    ] = None,
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    repeats: Annotated[int, typer.Option("-k", "--repeats", min=1, help="Verdicts per item.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the order in which the verdicts are offered.")
    ] = 0,
    panel: Annotated[
        str | None,
        typer.Option("--panel", help="Ask nobody: make the majority of judges this rater's label."),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", help="A judge of the panel or the comparison.  (repeatable)"),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Ask nobody: compare two judges, or two prompt versions of one."
        ),
    ] = False,
    planted: Annotated[
        int | None,
        typer.Option(
            "--planted",
            min=1,
            help="Check on so many judged items whether an instruction in them turns the verdict.",
        ),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="A prompt file of your own; its hash is kept.")
    ] = None,
    prompt_version: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt-version",
            help="Ask with this version of the prompt (a number); with --panel or --compare, whose "
            "verdicts count.  (repeatable)",
        ),
    ] = None,
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
    """Ask a model whether paths are faithful; its majority verdict becomes the judge's label.

    With --schema step it is asked of each step, with --schema decomposition whether the facts of
    the sampled traces are atomic, none is invented, and dependencies are kept; any other schema is
    judged by its own guideline and categories.

    The judge never sees gold, votes, scores or labels. Single verdicts stay sealed: totals are
    printed. Exit code 1: some requests failed or are left.
    """
    versions = tuple(prompt_version or ())
    if compare:
        _compare(chosen_db(context, db), panel, of or [], schema, versions, as_json)
        return
    if panel is not None or of:
        _panel(chosen_db(context, db), panel, of or [], schema, versions, as_json)
        return
    from judges.path_judge import DEFAULT_SAMPLING
    from pipeline.asking import sampling_for
    from pipeline.judging import judge as run
    from pipeline.planting import planted_check

    with usage_errors(), database(chosen_db(context, db)) as store:
        if every and labelled is not None:
            raise ValueError("give --all or --labelled RATER, not both")
        told = _chosen_prompt(prompt, versions)
        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        drawn = sampling_for(
            endpoint,
            DEFAULT_SAMPLING,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=sampling_seed,
        )
        how = asking_how(max_tokens_total, max_cost, dry_run, batch, wait)
        if planted is not None:
            others = (labelled, decomposition, limit, draw)
            if every or repeats != 1 or any(x is not None for x in others):
                raise ValueError(
                    "--planted goes with --schema, --rater, --dataset, --pool, --seed and how the "
                    "model is asked; it draws from all that was judged"
                )
            report = planted_check(
                store,
                endpoint,
                n=planted,
                schema=schema,
                rater=rater,
                dataset=dataset or None,
                pool=pool,
                seed=seed,
                form=chosen,
                sampling=drawn,
                prompt=told,
                **how,
            )
            _end_planted(report, as_json)
        summary = run(
            store,
            endpoint,
            schema=schema,
            decomposition=decomposition,
            rater=rater,
            items="all" if every else "labelled" if labelled is not None else None,
            labelled_by=labelled,
            dataset=dataset or None,
            pool=pool,
            limit=limit,
            draw=draw,
            repeats=repeats,
            seed=seed,
            form=chosen,
            sampling=drawn,
            prompt=told,
            **how,
        )
    if as_json:
        print_json(judge_json(summary))
    else:
        print_judged(summary)
    print_left(summary.asking)
    end(summary.asking)


def _chosen_prompt(prompt: Path | None, versions: tuple[str, ...]) -> Path | int | None:
    """Return which prompt is asked with. ValueError when that is not clear."""
    if prompt is not None and versions:
        raise ValueError("give --prompt FILE or --prompt-version NUMBER, not both")
    if prompt is not None:
        return prompt
    if not versions:
        return None
    if len(versions) > 1 or not versions[0].isascii() or not versions[0].isdecimal():
        raise ValueError(
            f"--prompt-version is {', '.join(versions)}; one number, such as 1, is right where a "
            "model is asked"
        )
    return int(versions[0])


def _end_planted(report: PlantedReport, as_json: bool) -> NoReturn:
    """Print the planted check and end the command."""
    from tui.commands.judges import planted_json, print_planted

    if as_json:
        print_json(planted_json(report))
    else:
        print_planted(report)
    print_left(report.asking)
    end(report.asking)


def _compare(
    db: str,
    panel: str | None,
    of: list[str],
    schema: str,
    versions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare two judges, or two prompt versions of one."""
    from pipeline.comparing_judges import compare_judges
    from tui.commands.judges import comparison_json, print_comparison

    with usage_errors(), database(db) as store:
        if panel is not None:
            raise ValueError("give --compare or --panel NAME, not both")
        found = compare_judges(store, of, schema=schema, prompts=versions)
    if as_json:
        print_json(comparison_json(found))
    else:
        print_comparison(found)


def _panel(
    db: str,
    panel: str | None,
    of: list[str],
    schema: str,
    versions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Settle a panel of judges."""
    from dataclasses import asdict

    from pipeline.panels import settle_panel

    with usage_errors(), database(db) as store:
        if panel is None:
            raise ValueError("--of goes with --panel NAME or --compare")
        if len(versions) > 1:
            raise ValueError("a panel counts one --prompt-version")
        prompt = versions[0] if versions else None
        found = settle_panel(store, panel, of, schema=schema, prompt=prompt)
    if as_json:
        print_json(asdict(found))
        return
    voters = ", ".join(f"{name} ({version})" for name, version in found.voters)
    what = "paths" if schema == "path" else "items"
    say(f"panel    {found.rater}: {voters}; {found.settled.n_items:,} {what}")
    _print_settled(found.settled)


def _print_settled(s: VotesSettled) -> None:
    say(
        f"labels   {s.n_added:,} added, {s.n_changed:,} changed, {s.n_known:,} as before; "
        f"{s.n_tied:,} tied (unsure), {s.n_unparsed:,} without a readable verdict"
    )


def print_judged(summary: JudgeRunSummary) -> None:
    """Print what the judge said: totals, never a single verdict."""
    from tui.commands.printing import number

    print_asked(summary.asking)
    stepless = f", {summary.n_stepless:,} more have no steps" if summary.n_stepless else ""
    if summary.n_factless:
        stepless = f", {summary.n_factless:,} more have no facts"
    what = _what(summary)
    say(
        f"         judge {summary.rater}: {summary.n_items:,} {what} × {summary.repeats}{stepless}; "
        f"prompt {summary.prompt_version}, {form_note(summary.form)}"
    )
    if summary.settled is None:
        return
    n = sum(summary.verdicts.values())
    told = ", ".join(
        f"{count:,} {verdict} ({percent(count, n)})" for verdict, count in summary.verdicts.items()
    )
    say(f"verdicts {n:,} on {summary.n_complete:,} {what}: {told or 'none yet'}")
    for name, counts in summary.criteria.items():
        each = ", ".join(f"{count:,} {word}" for word, count in counts.items())
        say(f"         {name.replace('_', ' ')}: {each or 'none yet'}")
    flags = [f"{c:,} {FLAGS.get(flag, flag)}" for flag, c in summary.flags.items()]
    if flags:
        opening = "contradicting themselves" if summary.decomposition is None else "flagged"
        say(f"         {opening}: " + ", ".join(flags))
    _print_settled(summary.settled)
    agreement = summary.agreement
    if agreement is not None and summary.repeats > 1:
        say(
            f"         self-agreement: {number(agreement.pairwise)} of {agreement.n_pairs:,} pairs "
            f"equal, mean share of the most frequent verdict {number(agreement.share)}, "
            f"n {agreement.n_items:,} {what if summary.decomposition is None else 'criteria'}"
        )
    _print_orders(summary.orders)
    first = summary.first_wrong
    if first is not None:
        say(
            f"traces   {first.n_traces:,} by their steps: {first.n_wrong:,} go wrong at some step, "
            f"{first.n_sound:,} at none, {first.n_open:,} open (a verdict is missing before)"
        )


def _print_orders(orders: OrderEffect | None) -> None:
    """Print whether verdicts follow the order of the words."""
    from tui.commands.printing import number

    if orders is None or not orders.n_verdicts:
        return
    if orders.other_pairs:
        same = (
            f"{number(orders.same)} of {orders.same_pairs:,} in one order"
            if orders.same_pairs
            else "none in one order"
        )
        effect = "" if orders.effect is None else f"; difference {orders.effect:+.3f}"
        say(
            f"         word order: {number(orders.other)} of {orders.other_pairs:,} pairs of repeats "
            f"equal in different orders, {same}{effect} (0 = the order says nothing)"
        )
    say(
        f"         the word offered first was taken in {orders.first_chosen:,} of "
        f"{orders.n_verdicts:,} verdicts, {orders.first_expected:.1f} if the place says nothing"
    )


def orders_json(orders: OrderEffect | None) -> dict[str, Any] | None:
    """Return an order effect as plain values."""
    from dataclasses import asdict

    if orders is None:
        return None
    shares = {n: getattr(orders, n) for n in ("same", "other", "effect", "why_undefined")}
    return {**asdict(orders), **shares}


def _what(summary: JudgeRunSummary) -> str:
    if summary.decomposition is None:
        return summary.what
    return f"traces of decomposition {summary.decomposition}"


def judge_json(summary: JudgeRunSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    from dataclasses import asdict

    agreement, settled = summary.agreement, summary.settled
    return {
        "asking": summary.asking.as_json(),
        "rater": summary.rater,
        "form": summary.form.form,
        "form_known_by": summary.form.why,
        "prompt_version": summary.prompt_version,
        "repeats": summary.repeats,
        "items": summary.n_items,
        "stepless": summary.n_stepless,
        "decomposition": summary.decomposition,
        "factless": summary.n_factless,
        "schema": summary.schema,
        "complete": summary.n_complete,
        "verdicts": dict(summary.verdicts),
        "criteria": {name: dict(counts) for name, counts in summary.criteria.items()},
        "flags": dict(summary.flags),
        "settled": None if settled is None else asdict(settled),
        "first_wrong": None if summary.first_wrong is None else asdict(summary.first_wrong),
        "self_agreement": None if agreement is None else asdict(agreement),
        "word_order": orders_json(summary.orders),
    }
