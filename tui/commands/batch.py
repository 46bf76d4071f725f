"""`medoid batch status` and `cancel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.asking import BaseUrlOption, KeyEnvOption, ModelOption, ModelsOption
from tui.commands.common import (
    OK,
    PARTLY,
    JsonOption,
    SubDbOption,
    chosen_db,
    clock,
    database,
    print_json,
    print_rows,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pathlib import Path

    from judges.endpoint import Endpoint
    from pipeline.batches import BatchRow

app = typer.Typer(help="See how batches stand, and end one early.", no_args_is_help=True)


@app.command("status")
def status(
    context: typer.Context,
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    ended: Annotated[
        int, typer.Option("--ended", min=0, help="Show so many of those that ended, too.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show the batches that were submitted and not collected yet, as their servers tell of them.

    Nothing is collected: the command that submitted a batch does that. Exit code 1: a server could
    not be asked.
    """
    from pipeline.batches import batch_rows

    with usage_errors():
        known = _endpoints(model, models, base_url, key_env)
        with database(chosen_db(context, db)) as store:
            rows = batch_rows(store, known, ended=ended)
    if as_json:
        print_json([row.as_json() for row in rows])
    else:
        _print_batches(rows)
    raise typer.Exit(PARTLY if any(row.problem for row in rows) else OK)


@app.command("cancel")
def cancel(
    context: typer.Context,
    batch: Annotated[str, typer.Argument(help="The batch's id, as medoid batch status shows it.")],
    db: SubDbOption = None,
    model: ModelOption = None,
    models: ModelsOption = None,
    base_url: BaseUrlOption = None,
    key_env: KeyEnvOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the server to end a batch early.

    What it has answered by then is not lost: the command that submitted it collects that, and
    submits the rest anew.
    """
    from pipeline.batches import cancel_batch

    with usage_errors():
        known = _endpoints(model, models, base_url, key_env)
        with database(chosen_db(context, db)) as store:
            row = cancel_batch(store, known, batch)
    if as_json:
        print_json(row.as_json())
        return
    say(f"batch {row.id}: {row.status}, {row.completed:,} of {row.total:,} requests were answered")
    say(f"medoid {row.stage}, called as before, collects those; without --batch it asks the rest")


def _endpoints(
    model: str | None, models: Path | None, base_url: list[str] | None, key_env: str | None
) -> list[Endpoint]:
    """Return the models that may be asked: all that are described where none is named."""
    from pipeline.models import endpoints, find_endpoint

    if model is None and not base_url and key_env is None:
        return list(endpoints(models).values())
    return [find_endpoint(model, models=models, base_url=base_url or (), key_env=key_env)]


def _print_batches(rows: Sequence[BatchRow]) -> None:
    if not rows:
        say("no open batches: --batch submits some, --ended N shows those that ended")
        return
    head = ("batch", "stage", "model", "state", "done", "failed", "of", "age")
    lines = [
        (
            row.id or "–",
            row.stage,
            row.model,
            row.status + ("" if row.is_open else " *"),
            f"{row.completed:,}",
            f"{row.failed:,}",
            f"{row.total:,}",
            clock(row.age),
        )
        for row in rows
    ]
    print_rows([head, *lines], 4)
    if any(not row.is_open for row in rows):
        say("* collected, or given up: nothing more comes")
    for row in rows:
        if row.problem:
            say(f"  {row.id or 'run ' + str(row.run)}: {row.problem}", err=True)
