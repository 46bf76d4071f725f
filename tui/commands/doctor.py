"""`medoid doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.asking import BaseUrlOption, KeyEnvOption, ModelsOption, money
from tui.commands.common import (
    OK,
    PARTLY,
    JsonOption,
    SubDbOption,
    chosen_db,
    print_json,
    print_rows,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.checkup import Checkup, ServerCheck


def doctor(
    context: typer.Context,
    db: SubDbOption = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Which models to look at; all if not given.")
    ] = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Longest reply you will ask for: is the time-out enough? A generated trace's if "
            "not given.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check the installation and the database, and find out what the servers can do.

    What is found out about a server is kept in the database, where there is one, so that replies
    are bound by a schema where the server has that. Exit code 1: something does not work.
    """
    from pipeline.checkup import check_up
    from pipeline.models import endpoints, find_endpoint

    with usage_errors():
        if base_url:
            names = model or [None]  # type: ignore[list-item]  # find_endpoint says what is missing
            chosen = [find_endpoint(n, base_url=base_url, key_env=key_env) for n in names]
        elif model:
            chosen = [find_endpoint(n, models=models, key_env=key_env) for n in model]
        else:
            chosen = list(endpoints(models).values())
        found = check_up(chosen_db(context, db), chosen, max_tokens=max_tokens)
    if as_json:
        print_json(checkup_json(found))
    else:
        print_checkup(found)
    raise typer.Exit(OK if found.well else PARTLY)


def print_checkup(found: Checkup) -> None:
    """Print what was found."""
    say(f"medoid    {found.medoid}, Python {found.python}")
    say("packages  " + ", ".join(f"{n} {v or 'missing'}" for n, v in found.packages.items()))
    say(f"embedding {found.embedder}")
    say(f"database  {found.database}")
    _print_usage(found)
    if not found.servers:
        say("models    none described: medoid.toml, --models FILE, or --model with --base-url")
    for server in found.servers:
        _print_server(server)
    for problem in (*found.problems, *found.warnings):
        say(f"  ! {problem}", err=True)


def _print_usage(found: Checkup) -> None:
    """Print what was used: by model and role, then by stage."""
    for model in dict.fromkeys(u.model for u in found.usage):
        rows = [u for u in found.usage if u.model == model]
        unknown = sum(u.unknown_tokens for u in rows)
        lacking = f", {unknown:,} of them without a token count" if unknown else ""
        say(f"usage     {model}: {sum(u.n for u in rows):,} kept replies{lacking}")
        say("          (not ok of them; tokens of prompts and of replies; cost)")
        print_rows(
            [
                ("  role", "replies", "not ok", "prompt", "reply", "cost"),
                *(
                    (
                        f"  {u.role}",
                        f"{u.n:,}",
                        f"{u.n - u.by_outcome.get('ok', 0):,}",
                        f"{u.prompt_tokens:,}",
                        f"{u.completion_tokens:,}",
                        "–" if u.cost is None else money(u.cost, found.currencies.get(model)),
                    )
                    for u in rows
                ),
            ],
            1,
        )
    if found.stages:
        say("stages    that ended; cached: found among kept replies, and paid for once")
        head = ("  stage", "runs", "asked", "cached", "failed")
        counts = [
            (f"  {s.stage}", *(f"{n:,}" for n in (s.n_runs, s.n_asked, s.n_cached, s.n_failed)))
            for s in found.stages
        ]
        print_rows([head, *counts], 1)


def _print_server(server: ServerCheck) -> None:
    say(f"model     {server.name}: {server.model} at {server.base_url}, key {server.key}")
    p = server.probe
    if p is None or not p.reachable:
        notes = () if p is None else p.notes
        say("          does not answer" + "".join(f"; {n}" for n in notes))
        return
    words = {True: "yes", False: "no", None: "could not be told"}
    say(
        f"          model known {words[p.model_known]} · structured replies {words[p.structured]}"
        f"{_KEYWORDS.get(p.schema_keywords or '', '')} · "
        f"tokens reported {words[p.reports_usage]} · continues a prefix "
        f"{words[p.continues_prefix]} · several choices {words[p.several_choices]} · "
        f"{p.seconds:.1f} s"
        + ("" if p.tokens_per_second is None else f" · {p.tokens_per_second:.3g} tokens a second")
    )
    for note in p.notes:
        say(f"          {note}")
    if not server.kept:
        say("          not kept: there is no database yet")


_KEYWORDS = {"plain": " (schemas without bounds: the server refuses those keywords)"}


def checkup_json(found: Checkup) -> dict[str, Any]:
    """Return a checkup as plain values."""
    from dataclasses import asdict

    return {**asdict(found), "well": found.well}
