"""`medoid relations review`: the contradictions of a model become a queue to label."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    print_json,
    say,
    usage_errors,
)
from tui.commands.relations_ask import NamesOption, SetsOption


def review(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1, help="Contradictions per set and model at most: those whose mend breaks most."
        ),
    ] = 200,
    pairs: Annotated[
        int, typer.Option(min=0, help="Also draw so many stated pairs to be called right or wrong.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find contradictions and put them into the queue; a second run changes nothing.

    Pairs answered both ways first, then a shortest cycle through each other wrong edge; for a family
    pairs that are no inverses, excluded triples, persons of two genders. The truth of the sets,
    where it is known, labels them too, as the rater truth; nothing of it is shown.
    """
    from pipeline.relation_review import make_review
    from pipeline.relation_truth import label_truth
    from pipeline.relation_view import chosen_askings

    rows = []
    with usage_errors(), database(chosen_db(context, db)) as store:
        for asking in chosen_askings(store, sets or (), names or ()):
            made = make_review(store, asking, limit=limit)
            drawn = store.make_relation_sample(asking.id, pairs, seed) if pairs else None
            rows.append(
                {
                    "set": asking.set,
                    "asked": asking.name,
                    "contradictions": made.n_found,
                    "queued": made.made.n,
                    "new": made.made.n_new,
                    "kept": made.made.n_kept,
                    "withdrawn": made.made.n_withdrawn,
                    "too_long": made.n_too_long,
                    "beyond_limit": made.n_beyond,
                    "by_axis": made.n_by_axis,
                    "pairs": None if drawn is None else drawn.n_sampled,
                }
            )
        label_truth(store)
    if as_json:
        print_json({"reviews": rows})
        return
    for row in rows:
        say(f"{row['set']} · {row['asked']}: {row['contradictions']} contradictions")
        say(
            f"  {row['queued']} in the queue ({row['new']} new, {row['kept']} kept for their "
            f"labels, {row['withdrawn']} withdrawn)"
        )
        if row["too_long"] or row["beyond_limit"]:
            say(
                f"  left out: {row['too_long']} with too many edges, {row['beyond_limit']} beyond "
                "the limit"
            )
        if row["pairs"] is not None:
            say(f"  {row['pairs']} stated pairs to be called right or wrong")
    if any(row["queued"] or row["pairs"] for row in rows):
        say("review them in the workbench: medoid, then o, then enter on a line")
