"""`medoid deduce ask` and `extract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import (
    BaseUrlOption,
    BatchOption,
    DryRunOption,
    FormOption,
    KeyEnvOption,
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
)
from tui.commands.common import (
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    print_json,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.deducing.reading import ExtractSummary
    from pipeline.deducing.solving import SentHow, SolveSummary

ProblemOption = Annotated[
    list[str] | None, typer.Option(help="Which problems; all if not given.  (repeatable)")
]
SolverOption = Annotated[
    list[str] | None, typer.Option(help="Which solvers; all if not given.  (repeatable)")
]
ReaderOption = Annotated[
    str | None,
    typer.Option(
        help="Whose reading of the values counts: numbers (our own) or an extractor's name; "
        "the extractor's if not given, where there is one."
    ),
]
TemplatesOption = Annotated[
    str,
    typer.Option(
        help="Gone on with are the model's own solutions (own), those of no model (shared), or "
        "own where there are any (auto)."
    ),
]


def ask(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of this solver; the model's if not given.")
    ] = None,
    problem: ProblemOption = None,
    templates: TemplatesOption = "auto",
    mutations: Annotated[
        int | None, typer.Option("-n", "--mutations", min=0, help="Of each problem at most.")
    ] = None,
    k_max: Annotated[int | None, typer.Option(min=0, help="Given steps at most.")] = None,
    style: Annotated[
        list[str] | None,
        typer.Option(
            help="How given steps are told: original, plain, axioms, effect_first.  (repeatable)"
        ),
    ] = None,
    paraphraser: Annotated[
        str | None,
        typer.Option(help="Which model tells them otherwise; the solver if not given."),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            help="Send given steps as the assistant's unfinished message (assistant), quoted, or "
            "as the server was found to take them (auto)."
        ),
    ] = "auto",
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
    """Ask a model to solve every mutation, from nothing and from its first k steps.

    The original problems are asked too. What was asked under this name is not asked again. --form
    is that of the paraphraser: solutions are always free text. Exit code 1: some requests failed
    or are left.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        from judges.solver import DEFAULT_SAMPLING
        from pipeline.asking import sampling_for
        from pipeline.deducing.solving import solve

        for value, known, option in (
            (templates, ("auto", "own", "shared"), "--templates"),
            (prefix, ("auto", "assistant", "quoted"), "--prefix"),
        ):
            if value not in known:
                raise ValueError(f"{option} is {value!r}; {', '.join(known)} are right")
        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        other = None
        if paraphraser is not None:
            other, _ = chosen_form(chosen_endpoint(paraphraser, models, base_url, key_env), form)
        summary = solve(
            store,
            endpoint,
            name=name,
            problems=problem,
            templates=templates,  # type: ignore[arg-type]  # checked above
            mutations=mutations,
            k_max=k_max,
            styles=tuple(dict.fromkeys(style)) if style else ("original",),
            paraphraser=other,
            paraphraser_form=chosen,
            sending=prefix,  # type: ignore[arg-type]
            sampling=sampling_for(
                endpoint,
                DEFAULT_SAMPLING,
                temperature=temperature,
                top_p=top_p,
                max_tokens=max_tokens,
                seed=sampling_seed,
            ),
            **asking_how(max_tokens_total, max_cost, dry_run, batch, wait),
        )
    if as_json:
        print_json(solve_json(summary))
    else:
        print_solved(summary)
    askings = [a for a in (summary.paraphrasing, summary.asking) if a is not None]
    for asking in askings:
        print_left(asking)
    end(*askings)


def print_solved(summary: SolveSummary) -> None:
    """Print what was asked of a solver, and of its paraphraser."""
    if summary.paraphrasing is not None:
        print_asked(summary.paraphrasing)
        faults = ", ".join(f"{n:,} {why}" for why, n in summary.faults.items())
        if faults:
            say(f"         no paraphrase: {faults}")
    print_asked(summary.asking)
    left_out = ", ".join(f"{n:,} {why}" for why, n in summary.left_out.items())
    say(
        f"         solver {summary.solver} ({summary.model}, {summary.prompt_version}) on "
        f"{summary.n_problems:,} problems with {summary.n_mutations:,} mutations and their "
        f"originals, {'its own solutions' if summary.templates == 'own' else 'shared templates'}"
        + (f"; left out: {left_out}" if left_out else "")
    )
    say(f"         styles {', '.join(summary.styles)}; given steps {sent_note(summary.sent)}")
    if summary.n_read:
        say(f"         {summary.n_read:,} solutions read by our number reader")


def sent_note(sent: SentHow) -> str:
    """Return how given steps are sent, for a reader."""
    way = {
        "assistant": "as the assistant's unfinished message",
        "quoted": "quoted in the question",
    }[sent.way]
    why = {
        "found": "as found out before",
        "probed": "the server was just looked at",
        "unknown": "assumed: medoid doctor finds it out",
    }.get(sent.why, "")
    return way + (f" ({why})" if why else "")


def solve_json(summary: SolveSummary) -> dict[str, Any]:
    """Return what asking a solver did as plain values."""
    paraphrasing = summary.paraphrasing
    return {
        "asking": summary.asking.as_json(),
        "paraphrasing": None if paraphrasing is None else paraphrasing.as_json(),
        "faults": dict(summary.faults),
        "solver": summary.solver,
        "model": summary.model,
        "prompt_version": summary.prompt_version,
        "prefix": summary.sent.way,
        "prefix_known": summary.sent.why,
        "styles": list(summary.styles),
        "templates": summary.templates,
        "problems": summary.n_problems,
        "mutations": summary.n_mutations,
        "left_out": dict(summary.left_out),
        "read": summary.n_read,
    }


def extract(
    context: typer.Context,
    db: SubDbOption = None,
    solver: SolverOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of this reader; the model's if not given.")
    ] = None,
    form: FormOption = None,
    max_tokens: MaxTokensOption = None,
    dry_run: DryRunOption = False,
    max_tokens_total: MaxTotalOption = None,
    max_cost: MaxCostOption = None,
    batch: BatchOption = False,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Let a model look up which values solutions state; the expected ones are never sent.

    Our own number reader reads every solution as it comes; medoid deduce score compares the two.
    What was read under this name is not asked again. Exit code 1: some requests failed or are
    left.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        from judges.extractor import DEFAULT_SAMPLING
        from pipeline.asking import sampling_for
        from pipeline.budgets import rest_of
        from pipeline.deducing.reading import extract as run
        from pipeline.deducing.report import chosen_solvers

        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        how = asking_how(max_tokens_total, max_cost, dry_run, batch, wait)
        sampling = sampling_for(endpoint, DEFAULT_SAMPLING, max_tokens=max_tokens)
        done: list[ExtractSummary] = []
        for record in chosen_solvers(store, solver):
            rest = rest_of(how, *(d.asking for d in done))
            done.append(
                run(store, endpoint, record, name=name, form=chosen, sampling=sampling, **rest)
            )
    if as_json:
        print_json({"solvers": [extract_json(d) for d in done]})
    else:
        for d in done:
            print_asked(d.asking)
            blank = f"; {d.n_blank:,} solutions have no text" if d.n_blank else ""
            say(
                f"         values of {d.solver} read by {d.reader} ({d.prompt_version}), "
                f"{form_note(d.form)}{blank}"
            )
    for d in done:
        print_left(d.asking)
    end(*(d.asking for d in done))


def extract_json(done: ExtractSummary) -> dict[str, Any]:
    """Return what extraction did as plain values."""
    return {
        "asking": done.asking.as_json(),
        "solver": done.solver,
        "reader": done.reader,
        "prompt_version": done.prompt_version,
        "form": done.form.form,
        "blank": done.n_blank,
    }
