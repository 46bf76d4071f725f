"""`medoid schema list`, `show`, `add` and `version`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    hand_out,
    print_json,
    say,
    usage_errors,
)

app = typer.Typer(help="List, show, add and change label schemas.", no_args_is_help=True)
FileArgument = Annotated[Path, typer.Argument(help="A schema as TOML; medoid schema show is one.")]


@app.command("list")
def list_(context: typer.Context, db: SubDbOption = None, as_json: JsonOption = False) -> None:
    """List every version of every schema."""
    with usage_errors(), database(chosen_db(context, db)) as store:
        found = store.schemas()
    if as_json:
        print_json([_plain(s) for s in found])
        return
    for s in found:
        several = "several of" if s.multi else "one of"
        say(
            f"{s.name:<16}{s.version:>3}  {s.item_kind:<14}  seal {s.seal:<5}  "
            f"{several} {', '.join(c.name for c in s.categories)}"
        )


@app.command("show")
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Which schema.")],
    db: SubDbOption = None,
    version: Annotated[int | None, typer.Option(help="Which version; else the newest.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a schema as TOML: change it and hand it to medoid schema version."""
    from store.exchange.schemas import schema_text, spec_of

    with usage_errors(), database(chosen_db(context, db)) as store:
        found = store.schema(name, version)
    if as_json:
        print_json(_plain(found))
        return
    for line in schema_text(spec_of(found)).splitlines(keepends=True):
        hand_out(line)


@app.command("add")
def add(
    context: typer.Context, file: FileArgument, db: SubDbOption = None, as_json: JsonOption = False
) -> None:
    """Add a schema under a new name."""
    from store.exchange.schemas import read_schema

    with usage_errors():
        spec = read_schema(file)
        with database(chosen_db(context, db), create=True) as store:
            made = store.add_schema(spec)
    _print_made(made, as_json)


@app.command("version")
def version_(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A TOML file, or the name of a schema with --seal.")],
    db: SubDbOption = None,
    seal: Annotated[
        str | None, typer.Option(help="Another seal level: open, judge or full.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the next version of a schema; labels keep the version they were made under."""
    from store.exchange.schemas import read_schema, spec_of

    with usage_errors(), database(chosen_db(context, db)) as store:
        if what in {s.name for s in store.schemas()}:
            if seal is None:
                raise ValueError(f"{what} is a schema: give a TOML file, or --seal LEVEL")
            spec = spec_of(store.schema(what))
        else:
            spec = read_schema(Path(what))
        if seal is not None:
            changes: dict[str, Any] = {"seal": seal}
            spec = replace(spec, **changes)
        made = store.version_schema(spec)
    _print_made(made, as_json)


def _plain(schema: Any) -> dict[str, Any]:
    return {k: v for k, v in asdict(schema).items() if k != "id"}


def _print_made(made: Any, as_json: bool) -> None:
    if as_json:
        print_json(_plain(made))
    else:
        say(f"schema {made.name} version {made.version}, seal {made.seal}")
