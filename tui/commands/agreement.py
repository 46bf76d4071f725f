"""`medoid agreement`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    fail,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)


def agreement(
    context: typer.Context,
    raters: Annotated[
        list[str] | None,
        typer.Argument(help="Two raters; all people against all judges if not given."),
    ] = None,
    db: SubDbOption = None,
    ratings: Annotated[
        Path | None,
        typer.Option(help="A CSV of items × raters (header: raters' names); no project needed."),
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="All categories in order, comma-separated (with --ratings).")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="linear or quadratic, over the declared --categories (with --ratings)."),
    ] = None,
    schema: Annotated[str, typer.Option(help="Which label schema.")] = "path",
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print confusion tables and Cohen's κ with its errors, interval, n and what was left out.

    In a project, labels made before the reveal count, and imported ones of unknown origin. While
    a person has sealed items left to label, only what they have revealed is compared with theirs.
    """
    from pipeline.agreement import default_pairs, pair_report, read_ratings
    from tui.commands.printing import pair_json, print_pair, print_rated_pair, rated_pair_json

    if ratings is not None:
        from scoring.agreement import pairwise_agreement

        with usage_errors():
            if raters:
                raise ValueError("name raters, or give --ratings, not both")
            if weights not in (None, "linear", "quadratic"):
                raise ValueError(f"--weights is {weights!r}; linear or quadratic is right")
            declared = None if categories is None else [c.strip() for c in categories.split(",")]
            table = read_ratings(ratings, declared)
            found = pairwise_agreement(
                table,
                weights=weights,
            )
        if as_json:
            print_json(
                {
                    "file": ratings.name,
                    "items": table.n_items,
                    "categories": list(table.categories),
                    "read_as_missing": dict(table.missing),
                    "weights": weights,
                    "pairs": [rated_pair_json(p) for p in found],
                }
            )
            return
        say(f"{ratings.name}: {table.n_items} items, {len(table.raters)} raters")
        if table.missing:
            cells = ", ".join(f"{word or 'empty'!r} {n}" for word, n in table.missing)
            say(f"read as no label: {cells}")
        for pair in found:
            say()
            print_rated_pair(pair, weights)
        return
    if categories is not None or weights is not None:
        fail("--categories and --weights go with --ratings; a project's schema declares its own")
    if raters and len(raters) != 2:
        fail(f"{len(raters)} raters named; two are right, or none for all pairs")
    with usage_errors(), database(chosen_db(context, db)) as store:
        pairs = [(raters[0], raters[1])] if raters else list(default_pairs(store, schema))
        if not pairs:
            fail("fewer than two raters have labels: label some items, or import labels")
        if unseal:
            named = "; ".join(f"{a}, {b}" for a, b in pairs)
            store.record_unseal(f"agreement of {named} on {schema}", whoever_asks())
        reports = [pair_report(store, a, b, schema, unsealed=unseal) for a, b in pairs]
    if as_json:
        print_json({"pairs": [pair_json(r) for r in reports]})
        return
    for i, report in enumerate(reports):
        if i:
            say()
        print_pair(report)
