"""The `medoid` command. Heavy libraries are imported by the command that needs them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tui.commands import (
    ablate,
    agreement,
    association,
    batch,
    counterfactual,
    data,
    decompose,
    deduce,
    doctor,
    early,
    export,
    generate,
    items,
    judge,
    relations,
    run,
    schema,
    score,
    sensitivity,
    workbench,
)
from tui.commands.common import DbOption, RaterOption, fail

app = typer.Typer(
    name="medoid",
    help="Decide whether a language model's reasoning can be trusted. "
    "Without a command it opens the workbench.",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from pipeline.version import TOOL_VERSION

        typer.echo(f"medoid {TOOL_VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main_callback(
    context: typer.Context,
    db: DbOption = "medoid.db",
    rater: RaterOption = None,
    schema: workbench.SchemaOption = None,
    _version_: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Open the workbench when no command is given."""
    context.obj = db
    if context.invoked_subcommand is None:
        workbench.open_workbench(db, rater, schema)
    elif schema is not None:
        fail("--schema is the workbench's here; a command takes its own, after its name")


app.command("demo")(workbench.demo)
app.command("import")(data.import_)
app.command("generate")(generate.generate)
app.command("decompose")(decompose.decompose)
app.command("embed")(data.embed)
app.command("score")(score.score)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("early-answer")(early.early_answer)
app.command("counterfactual")(counterfactual.counterfactual)
app.command("ablate")(ablate.ablate)
app.command("association")(association.association)
app.command("judge")(judge.judge)
app.add_typer(relations.app, name="relations")
app.command("run")(run.run)
app.command("doctor")(doctor.doctor)
app.add_typer(batch.app, name="batch")
app.add_typer(deduce.app, name="deduce")
app.add_typer(items.app, name="items")
app.add_typer(schema.app, name="schema")
app.add_typer(export.app, name="export")
app.command("agreement")(agreement.agreement)


def main() -> None:
    """Run the command line; an interruption ends with 130."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        typer.echo("interrupted; what was saved is kept", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
