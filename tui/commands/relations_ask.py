"""`medoid relations ask` and `probe`."""

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

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.asking import How
    from pipeline.relation_asking import RelationSummary
    from store import Store

SetsOption = Annotated[
    list[str] | None, typer.Option("--set", help="Which sets; all if not given.  (repeatable)")
]
NameOption = Annotated[
    str | None,
    typer.Option(help="What the answers are called; the model's name if not given."),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option("--name", help="Whose answers, by name; all if not given.  (repeatable)"),
]


def ask(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    sets: SetsOption = None,
    name: NameOption = None,
    reasoned: Annotated[
        bool,
        typer.Option("--reasoned/--bare", help="Ask for a sentence of reasoning before the word."),
    ] = True,
    order_seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of the order in which the words are offered to each pair."),
    ] = 0,
    fixed_order: Annotated[
        bool, typer.Option("--fixed-order", help="Offer the words in one order to all pairs.")
    ] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each pair is asked.")] = 1,
    prompt_version: Annotated[
        int | None, typer.Option(min=1, help="A version of the prompt; the newest if not given.")
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
    """Ask a model what objects are to each other: every ordered pair, so each pair twice.

    Answers that are there are not asked again. Exit code 1: some requests failed or are left.
    """
    from judges.relation_asker import DEFAULT_SAMPLING
    from pipeline.asking import sampling_for
    from pipeline.relation_asking import ask_relations

    with usage_errors(), database(chosen_db(context, db)) as store:
        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        drawn = sampling_for(
            endpoint,
            DEFAULT_SAMPLING,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=sampling_seed,
        )

        def one(of: str, how: How) -> RelationSummary:
            return ask_relations(
                store,
                endpoint,
                of,
                name=name,
                form=chosen,
                sampling=drawn,
                reasoned=reasoned,
                order_seed=None if fixed_order else order_seed,
                repeats=repeats,
                prompt=prompt_version,
                **how,
            )

        how = asking_how(max_tokens_total, max_cost, dry_run, batch, wait)
        done = _each(_named(store, sets), how, one)
    _tell(done, as_json)


def _named(store: Store, sets: list[str] | None, *, but: str | None = None) -> list[str]:
    """Return the sets that are meant. ValueError where there is none."""
    if sets:
        return [store.relation_set_named(name).name for name in dict.fromkeys(sets)]
    found = [of.name for of in store.relation_sets() if of.kind != but]
    if not found:
        raise ValueError(
            "no sets in the database: medoid relations import --shipped NAME, import FILE, or make"
        )
    return found


def _each(
    sets: list[str], how: How, one: Callable[[str, How], RelationSummary]
) -> list[RelationSummary]:
    """Ask about one set after the other with what is left of the budget; stop where one stops."""
    from pipeline.budgets import rest_of

    done: list[RelationSummary] = []
    for of in sets:
        summary = one(of, rest_of(how, *(d.asking for d in done)))
        done.append(summary)
        if summary.asking.stopped is not None:
            break
    return done


def _tell(done: list[RelationSummary], as_json: bool) -> None:
    if as_json:
        print_json({"sets": [d.as_json() for d in done]})
    else:
        for d in done:
            print_summary(d)
    for d in done:
        print_left(d.asking)
    end(*(d.asking for d in done))


def print_summary(done: RelationSummary) -> None:
    """Print what was asked about one set."""
    say(f"{done.set} ({done.kind}) · {done.name}: {done.n_wanted:,} questions")
    print_asked(done.asking)
    say(f"         prompt {done.prompt_version}, {form_note(done.form)}")
    replied = done.asking.n_replied
    if replied:
        unread = "".join(f"; {n:,} {why}" for why, n in done.reasons.items())
        say(
            f"         {done.n_read:,} of {replied:,} replies ({percent(done.n_read, replied)}) "
            f"can be read{unread}"
        )


def probe(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    sets: SetsOption = None,
    name: NameOption = None,
    show: Annotated[
        bool, typer.Option("--show", help="Ask nothing; hold stored answers against each other.")
    ] = False,
    of: Annotated[
        str | None,
        typer.Option(help="With --show: whose answers about pairs; those of the same name."),
    ] = None,
    within: Annotated[
        float, typer.Option(min=0, help="So many years, degrees or units off still count as right.")
    ] = 1.0,
    objects: Annotated[
        bool, typer.Option("--objects", help="With --show: a row for each object (needs --unseal).")
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
    """Ask for each object's own date or place, to tell wrong facts from wrong reasoning.

    With --show: what the stated facts imply, beside what was answered about pairs.
    """
    if objects and not show:
        fail("--objects goes with --show")
    with usage_errors(), database(chosen_db(context, db)) as store:
        if show:
            _show(store, sets, name, of, within, objects=objects, unseal=unseal, as_json=as_json)
            return
        if unseal:
            fail("--unseal goes with --show")
        from judges.knowledge_prober import DEFAULT_SAMPLING
        from pipeline.asking import sampling_for
        from pipeline.relation_asking import probe_objects

        endpoint, chosen = chosen_form(chosen_endpoint(model, models, base_url, key_env), form)
        drawn = sampling_for(
            endpoint,
            DEFAULT_SAMPLING,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=sampling_seed,
        )

        def one(set_name: str, how: How) -> RelationSummary:
            return probe_objects(
                store, endpoint, set_name, name=name, form=chosen, sampling=drawn, **how
            )

        how = asking_how(max_tokens_total, max_cost, dry_run, batch, wait)
        done = _each(_named(store, sets, but="kinship"), how, one)
    _tell(done, as_json)


def _show(
    store: Store,
    sets: list[str] | None,
    name: str | None,
    of: str | None,
    within: float,
    *,
    objects: bool,
    unseal: bool,
    as_json: bool,
) -> None:
    from pipeline import sealing
    from pipeline.relation_repair import probe_set
    from pipeline.relation_view import asked_set, chosen_askings
    from tui.commands.relation_fix_lines import print_probe, probe_json

    if objects or unseal:
        sealing.unseal(store, "facts stated of objects", whoever_asks(), wanted=unseal)
    found: list[Any] = []
    for probed in chosen_askings(store, sets or (), () if name is None else [name], asks="objects"):
        pairs = of or probed.name
        asked = [a for a in store.relation_askings(probed.set_id, "pairs") if a.name == pairs]
        if not asked:
            raise ValueError(
                f"{pairs} was not asked about the pairs of set {probed.set}: --of names who was"
            )
        found.append(probe_set(store, asked_set(store, asked[0]), probed, within))
    if as_json:
        print_json({"probes": [probe_json(f, objects=objects, unsealed=unseal) for f in found]})
        return
    for f in found:
        print_probe(f, objects=objects, unsealed=unseal)
