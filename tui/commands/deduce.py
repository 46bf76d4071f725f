"""`medoid deduce import`, `make`, `synthesize` and `list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands import deduce_ask, deduce_list, deduce_score
from tui.commands.asking import (
    BaseUrlOption,
    DrawOption,
    DryRunOption,
    FormOption,
    KeyEnvOption,
    LimitOption,
    MaxCostOption,
    MaxTokensOption,
    MaxTotalOption,
    ModelsOption,
    SamplingSeedOption,
    TemperatureOption,
    TopPOption,
    asking_how,
    chosen_endpoint,
    chosen_form,
    print_asked,
    print_left,
)
from tui.commands.common import (
    OK,
    PARTLY,
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    fail,
    print_json,
    say,
    usage_errors,
)
from tui.commands.drawing import draw_replies

if TYPE_CHECKING:
    from pipeline.deducing.importing import ProblemsImported
    from pipeline.deducing.making import MakeSummary
    from pipeline.deducing.mutating import MutatedSummary

app = typer.Typer(
    help="Deduction: consistency over given steps and hops, on problems nobody has memorised.",
    no_args_is_help=True,
)
app.command("ask")(deduce_ask.ask)
app.command("extract")(deduce_ask.extract)
app.command("score")(deduce_score.score)
app.command("list")(deduce_list.list_)

ProblemOption = deduce_ask.ProblemOption


@app.command("import")
def import_(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Problems as TOML or JSON, GSM-Symbolic templates, or folders of them."
        ),
    ] = None,
    db: SubDbOption = None,
    own: Annotated[
        bool, typer.Option("--own", help="Take the twelve problems that come with medoid.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read problems with their templates; each is checked, and kept with what was found.

    Exit code 1: a problem could not be read. One that fails a check is kept, but neither mutated
    nor asked. Exit code 2: no problem could be read.
    """
    if bool(files) == own:
        fail("give files of problems, or --own for those that come with medoid")
    with usage_errors(), database(chosen_db(context, db), create=True) as store:
        from pipeline.deducing.importing import OWN_PROBLEMS, import_problems

        done = import_problems(store, [OWN_PROBLEMS] if own else files or [])
    if as_json:
        print_json(imported_json(done))
    else:
        print_imported(done)
    for line in done.rejected:
        say(f"  {line}", err=True)
    if not done.checked:
        fail("no problem could be read")
    raise typer.Exit(PARTLY if done.rejected else OK)


def print_imported(done: ProblemsImported) -> None:
    """Print what an import of problems did, and why problems failed."""
    known = len(done.checked) - done.n_added
    say(f"problems {done.n_added:,} added, {known:,} known already")
    say(f"         {done.n_passed:,} of {len(done.checked):,} pass every check")
    for one in done.checked:
        for failure in one.failures:
            say(f"         {one.problem}: {failure.code.replace('_', ' ')}: {failure.message}")
        for note in one.notes:
            say(f"         {one.problem}: {note}")
    if done.rejected:
        say(f"rejected {len(done.rejected):,}; the others are kept:", err=True)


def imported_json(done: ProblemsImported) -> dict[str, Any]:
    """Return an import of problems as plain values."""
    return {
        "added": done.n_added,
        "passed": done.n_passed,
        "reasons": done.reasons,
        "problems": [
            {
                "problem": c.problem,
                "failures": [{"code": f.code, "message": f.message} for f in c.failures],
                "notes": list(c.notes),
            }
            for c in done.checked
        ],
        "rejected": [{"file": r.file, "line": r.line, "message": r.message} for r in done.rejected],
    }


@app.command("make")
def make(
    context: typer.Context,
    db: SubDbOption = None,
    mutations: Annotated[
        int, typer.Option("-n", "--mutations", min=0, help="Mutations of each problem.")
    ] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the mutations.")] = 0,
    low: Annotated[int, typer.Option(help="Least value where a problem gives no range.")] = 1,
    high: Annotated[int, typer.Option(help="Greatest value where it gives none.")] = 100,
    tries: Annotated[int, typer.Option(min=1, help="Draws for a mutation at most.")] = 1000,
    problem: ProblemOption = None,
    model: Annotated[
        str | None,
        typer.Option(help="Make templates from this model's own solutions first."),
    ] = None,
    maker: Annotated[
        str | None,
        typer.Option(help="Which model makes templates and programs; the same if not given."),
    ] = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the solver; the model's if not given.")
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Take over the questions of this dataset first.  (repeatable)"),
    ] = None,
    limit: LimitOption = None,
    draw: DrawOption = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Try again what failed a check before.")
    ] = False,
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
    """Draw mutations of every problem that passed its checks.

    With --model, templates are made first: the model solves each problem, and where it is right,
    the numbers are taken out of its solution and a program is written that works them out. Every
    check is run, and what fails is kept with its reason. Exit code 1: requests failed or are left.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        from pipeline.deducing.making import add_questions, make_templates
        from pipeline.deducing.mutating import Limits, mutate_problems

        taken = None
        if dataset:
            taken = add_questions(store, dataset, limit=limit, seed=draw)
        made = None
        if model is not None or base_url:
            from judges.solver import DEFAULT_SAMPLING
            from pipeline.asking import sampling_for

            endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
            other = None
            if maker is not None:
                other, _ = chosen_form(chosen_endpoint(maker, models, base_url, key_env), form)
            made = make_templates(
                store,
                endpoint,
                other,
                name=name,
                problems=problem,
                retry=retry,
                form=chosen,
                sampling=sampling_for(
                    endpoint,
                    DEFAULT_SAMPLING,
                    temperature=temperature,
                    top_p=top_p,
                    max_tokens=max_tokens,
                    seed=sampling_seed,
                ),
                **asking_how(max_tokens_total, max_cost, dry_run),
            )
        mutated = None
        if not dry_run and any(t.passed for t in store.templates()):
            limits = Limits(seed, low, high, tries)
            mutated = mutate_problems(store, n=mutations, limits=limits, problems=problem)
        elif made is None and not dry_run:
            fail("no problem passed its checks: medoid deduce list --failed says why")
    if as_json:
        print_json({"taken": taken, "made": made_json(made), "mutated": mutated_json(mutated)})
    else:
        _print_made(taken, made, mutated)
    left = False
    for asking in made.askings if made else ():
        print_left(asking)
        left |= not asking.complete
    raise typer.Exit(PARTLY if left else OK)


def _print_made(
    taken: tuple[int, int] | None, made: MakeSummary | None, mutated: MutatedSummary | None
) -> None:
    if taken is not None:
        aside = f"; {taken[1]:,} without a number as gold" if taken[1] else ""
        say(f"problems {taken[0]:,} questions taken over{aside}")
    if made is not None:
        for asking in made.askings:
            if asking.n_requests or asking.estimate is not None:
                print_asked(asking)
        model, *prompts = made.makers
        say(
            f"templates of {made.solver}'s own solutions: {made.n_passed:,} of "
            f"{made.n_problems - made.n_known:,} new ones pass every check, {made.n_known:,} were "
            f"tried before; made by {model} ({', '.join(prompts)})"
        )
        for code, n in made.reasons.items():
            say(f"         {n:,} failed: {code.replace('_', ' ')}")
        for problem, failures in made.failures.items():
            for line in deduce_list.told(failures, unsealed=False):
                say(f"         {problem}: {line}")
    if mutated is not None:
        say(
            f"mutations {mutated.n_new:,} new, {mutated.n_known:,} known, of "
            f"{mutated.n_templates:,} templates; the originals stand beside them"
        )
        drawn = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in mutated.rejected.items())
        if drawn:
            say(f"         draws rejected: {drawn}")
        for problem, n in mutated.short.items():
            say(f"         {problem}: only {n:,}; --tries allows more draws, ranges wider ones")
        for problem, why in mutated.failed.items():
            say(f"         {problem}: none: {why}")


def made_json(made: MakeSummary | None) -> dict[str, Any] | None:
    """Return what making templates did as plain values."""
    if made is None:
        return None
    return {
        "askings": [a.as_json() for a in made.askings],
        "solver": made.solver,
        "makers": list(made.makers),
        "problems": made.n_problems,
        "known": made.n_known,
        "passed": made.n_passed,
        "reasons": dict(made.reasons),
        "failures": {p: deduce_list.told(f, unsealed=False) for p, f in made.failures.items()},
    }


def mutated_json(mutated: MutatedSummary | None) -> dict[str, Any] | None:
    """Return what mutating did as plain values."""
    if mutated is None:
        return None
    return {
        "templates": mutated.n_templates,
        "new": mutated.n_new,
        "known": mutated.n_known,
        "rejected": dict(mutated.rejected),
        "short": dict(mutated.short),
        "failed": dict(mutated.failed),
    }


@app.command("sample")
def sample(
    context: typer.Context,
    db: SubDbOption = None,
    n: Annotated[int, typer.Option("-n", min=1, help="So many replies.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    solver: Annotated[
        str | None, typer.Option(help="Of this solver only; of all if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw replies for people to label by their errors (schema deduction).

    A judge labels the same: medoid judge --schema deduction. Expected values and verdicts of drawn
    replies are sealed for a person until they have labelled and revealed them.
    """
    draw_replies(chosen_db(context, db), solver, n, seed, as_json=as_json)


@app.command("synthesize")
def synthesize(
    context: typer.Context,
    db: SubDbOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the questions.")] = 0,
    prefixes: Annotated[
        str, typer.Option(help="Numbers of given steps, such as 1-12 or 1,2,4.")
    ] = "1-12",
    lengths: Annotated[str, typer.Option(help="Numbers of hops behind them.")] = "1-12",
    per_cell: Annotated[
        int, typer.Option(min=1, help="Questions for each prefix and length.")
    ] = 10,
    operators: Annotated[str, typer.Option(help="Some of + - * /, without blanks.")] = "+-*",
    distractors: Annotated[int, typer.Option(min=0, help="Rules that nobody needs.")] = 0,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Tell constants and rules in random order.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make SynDeduct questions: arithmetic over random graphs, asked after exactly their steps."""
    with usage_errors(), database(chosen_db(context, db), create=True) as store:
        from pipeline.deducing.mutating import mutate_problems
        from pipeline.deducing.synthetic import make_synthetic

        made = make_synthetic(
            store,
            seed,
            prefixes=numbers_of(prefixes, "--prefixes"),
            lengths=numbers_of(lengths, "--lengths"),
            per_cell=per_cell,
            operators=list(operators),  # type: ignore[arg-type]  # checked there
            distractors=distractors,
            shuffle=shuffle,
        )
        names = [p.name for p in store.problems() if p.extra.get("seed") == seed and p.only_k]
        mutate_problems(store, problems=names or None)
    if as_json:
        print_json({"questions": made.n_questions, "new": made.n_new, "seed": made.seed})
        return
    say(f"SynDeduct {made.n_questions:,} questions of seed {made.seed}, {made.n_new:,} of them new")


def numbers_of(text: str, option: str) -> list[int]:
    """Return the numbers of a list of numbers and ranges.

    >>> numbers_of("1-3,7", "--prefixes")
    [1, 2, 3, 7]
    """
    out: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"{option} is {text!r}; numbers and ranges such as 1-12 are right")
        out += range(int(first), int(last if dash else first) + 1)
    if not out or max(out) > 100:
        raise ValueError(f"{option} is {text!r}; numbers up to 100 are right")
    return list(dict.fromkeys(out))
