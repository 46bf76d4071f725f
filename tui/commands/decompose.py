"""`medoid decompose`."""

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
    chosen_db,
    database,
    percent,
    print_json,
    say,
    usage_errors,
)
from tui.commands.drawing import draw_sample

if TYPE_CHECKING:
    from pipeline.comparing import DecompositionComparison
    from pipeline.decomposing import DecomposeSummary


def decompose(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the decomposition; the model's if not given.")
    ] = None,
    dataset: DatasetOption = None,
    pool: PoolOption = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Ask nothing; compare the decompositions there are.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Ask nothing; draw so many decomposed traces for people to label (50)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
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
    """Split the steps of traces into atomic facts.

    Traces decomposed under this name are not asked again. With --sample, traces are drawn that
    the workbench then shows for labelling; those that people labelled before stay. Exit code 1: some requests failed or
    are left.
    """
    if compare:
        _compare(context, db, dataset, pool, as_json)
        return
    if sample is not None:
        draw_sample(chosen_db(context, db), name or model, sample, seed, as_json=as_json)
        return
    from judges.decomposer import DEFAULT_SAMPLING
    from pipeline.asking import sampling_for
    from pipeline.decomposing import decompose as run

    with usage_errors(), database(chosen_db(context, db)) as store:
        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        summary = run(
            store,
            endpoint,
            name=name,
            dataset=dataset or None,
            pool=pool,
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
        print_json(decompose_json(summary))
    else:
        print_decomposed(summary)
    print_left(summary.asking)
    end(summary.asking)


def print_decomposed(summary: DecomposeSummary) -> None:
    """Print what the decomposer made of the traces."""
    print_asked(summary.asking)
    say(
        f"         decomposition {summary.name}: {summary.n_traces:,} traces, "
        f"{summary.n_stepless:,} without steps; prompt {summary.prompt_version}, "
        f"{form_note(summary.form)}"
    )
    done = summary.n_decomposed
    if summary.asking.n_replied:
        say(
            f"facts    {done:,} of {summary.asking.n_replied:,} traces have facts, "
            f"{_per(summary.n_facts, done)} each; {summary.n_dropped:,} of {summary.n_steps:,} "
            f"steps ({percent(summary.n_dropped, summary.n_steps)}) got none; "
            f"{summary.n_invented:,} statements name a step that is not there"
        )


def _per(n: int, of: int, digits: int = 2) -> str:
    return f"{n / of:.{digits}f}" if of else "–"


def decompose_json(summary: DecomposeSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    counts = ("traces", "stepless", "decomposed", "facts", "steps", "dropped", "invented")
    return {
        "asking": summary.asking.as_json(),
        "decomposition": summary.name,
        "form": summary.form.form,
        "form_known_by": summary.form.why,
        "prompt_version": summary.prompt_version,
        **{name: getattr(summary, f"n_{name}") for name in counts},
    }


def _compare(
    context: typer.Context,
    db: str | None,
    dataset: list[str] | None,
    pool: str | None,
    as_json: bool,
) -> None:
    from pipeline.comparing import compare_decompositions

    with usage_errors(), database(chosen_db(context, db)) as store:
        found = compare_decompositions(store, dataset=dataset or None, pool=pool)
    if as_json:
        print_json(comparison_json(found))
    else:
        print_comparison(found)


def print_comparison(found: DecompositionComparison) -> None:
    """Print the decompositions side by side, and how GRCS goes together across questions."""
    from tui.commands.printing import number

    wide = max([13, *(len(f.name) for f in found.figures)])
    say(
        f"{'decomposition':<{wide}}  {'traces':>7}  {'facts/trace':>11}  {'edges/fact':>10}  "
        f"{'steps dropped':>15}  {'invented':>8}  {'scored':>6}"
    )
    for f in found.figures:
        dropped = f"{f.n_dropped:,} ({percent(f.n_dropped, f.n_steps)})"
        say(
            f"{f.name:<{wide}}  {f.n_with_facts:>7,}  {number(f.facts_per_trace, 2):>11}  "
            f"{number(f.edges_per_fact, 2):>10}  {dropped:>15}  {f.n_invented:>8,}  "
            f"{f.n_scored:>6,}"
        )
    say("traces have facts; edges as by rule anchor; scored counts pools with a coherence")
    if not found.correlations:
        return
    say("GRCS (coherence; 1: all traces alike) across questions:")
    for c in found.correlations:
        if c.why_undefined is not None:
            say(f"  {c.a} and {c.b}: –  ({c.why_undefined})")
        else:
            say(
                f"  {c.a} and {c.b}: Pearson {number(c.pearson)}, "
                f"Spearman {number(c.spearman)}, n {c.n}"
            )


def comparison_json(found: DecompositionComparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    from dataclasses import asdict

    return {
        "scoring": None if found.scoring is None else asdict(found.scoring),
        "decompositions": [
            {
                **asdict(f),
                "facts_per_trace": f.facts_per_trace,
                "edges_per_fact": f.edges_per_fact,
            }
            for f in found.figures
        ],
        "grcs": [asdict(c) for c in found.correlations],
    }
