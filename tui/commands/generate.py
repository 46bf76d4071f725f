"""`medoid generate`."""

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
    stop_hint,
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
    from pipeline.generating import GenerateSummary


def generate(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    dataset: DatasetOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    n: Annotated[int, typer.Option("-n", "--n", min=1, help="Traces per question.")] = 20,
    length: Annotated[str, typer.Option(help="short (3–6 steps) or long (10–20).")] = "short",
    variant: Annotated[
        str | None, typer.Option(help="Name of this sampling: the pool is MODEL@VARIANT.")
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
    """Sample traces of every question, N each, at temperature 0.7 if not said otherwise.

    Samples that are there are not asked again. Exit code 1: some requests failed or are left.
    """
    from judges.generator import DEFAULT_SAMPLING
    from pipeline.asking import sampling_for
    from pipeline.generating import generate as run

    with usage_errors(), database(chosen_db(context, db)) as store:
        if length not in ("short", "long"):
            raise ValueError(f"--length is {length!r}; short or long is right")
        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        summary = run(
            store,
            endpoint,
            dataset=dataset or None,
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
            **asking_how(max_tokens_total, max_cost, dry_run, batch, wait),
        )
    if as_json:
        print_json(generate_json(summary))
    else:
        print_generated(summary)
    print_left(summary.asking)
    end(summary.asking)


def print_generated(summary: GenerateSummary) -> None:
    """Print what was sampled and how much of it can be read: aggregates only."""
    print_asked(summary.asking)
    say(
        f"         pool {summary.pool}: {summary.n_questions:,} questions × {summary.n}, prompt "
        f"{summary.prompt_version}, {form_note(summary.form)}"
    )
    added = summary.n_traces
    if added:
        say(
            f"traces   {added:,} stored: "
            f"{percent(summary.n_strict, added)} follow the format to the letter, "
            f"{percent(summary.n_usable, added)} have steps, "
            f"{percent(summary.n_parsed, added)} an answer, {percent(summary.n_voting, added)} both"
        )
        for code, count in summary.issues.items():
            say(f"         {code:<28}{count:>7}  {percent(count, added)} of traces")
    hint = stop_hint(summary.asking, summary.form.form)
    if hint is not None:
        say(f"         {hint}")
    if summary.n_elsewhere:
        say(f"         {summary.n_elsewhere:,} were stored by another run meanwhile")


def generate_json(summary: GenerateSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    counts = ("questions", "traces", "elsewhere", "strict", "usable", "parsed", "voting")
    return {
        "asking": summary.asking.as_json(),
        "pool": summary.pool,
        "form": summary.form.form,
        "form_known_by": summary.form.why,
        "prompt_version": summary.prompt_version,
        "n": summary.n,
        **{name: getattr(summary, f"n_{name}") for name in counts},
        "issues": dict(summary.issues),
    }
