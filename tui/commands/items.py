"""`medoid items make` and `list`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tui.commands.common import (
    JsonOption,
    RaterOption,
    SubDbOption,
    chosen_db,
    database,
    print_json,
    say,
    usage_errors,
)
from tui.commands.data import print_items

app = typer.Typer(help="Make and list the items to label.", no_args_is_help=True)


@app.command("make")
def make(
    context: typer.Context,
    db: SubDbOption = None,
    k: Annotated[int, typer.Option(help="Paths per answer of a disagreement case.")] = 3,
    agreements: Annotated[
        float, typer.Option(help="Share of agreement cases to sample, 0 to 1.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Make path items for all disagreements and a sample of agreements."""
    from pipeline.sampling import Design, make_items

    with usage_errors(), database(chosen_db(context, db), must_exist=True) as store:
        made = make_items(store, Design(k=k, agreements=agreements, seed=seed))
    if as_json:
        print_json(asdict(made))
    else:
        print_items(made)


@app.command("list")
def list_(
    context: typer.Context,
    db: SubDbOption = None,
    rater: RaterOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the cases in queue order; with --rater, that rater's progress.

    Nothing that the seal hides is listed.
    """
    from store.records import CaseRow

    rows: list[CaseRow] = []
    with usage_errors(), database(chosen_db(context, db), must_exist=True) as store:
        rater_id = 0 if rater is None else store.rater(rater).id
        cursor = None
        while True:
            page = store.cases(rater_id, after=cursor, limit=500)
            rows.extend(page.rows)
            if page.cursor is None:
                break
            cursor = page.cursor
    if as_json:
        print_json([asdict(r) for r in rows])
        return
    for row in rows:
        mark = "!" if row.flagged else " "
        say(
            f"{row.position:>6} {row.n_mine}/{row.n_items}{mark} "
            f"{row.dataset}/{row.question_id}  {row.pool}  {row.question[:80]}"
        )
    if not rows:
        say("no cases yet: medoid score makes them")
