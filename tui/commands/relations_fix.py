"""`medoid relations fix`, `align` and `map`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from tui.commands.relations_ask import NamesOption, SetsOption
from tui.commands.relations_score import SeedOption, TimeOption

if TYPE_CHECKING:
    from pipeline.relation_repair import SetFix
    from pipeline.relation_view import AskedSet
    from store import Store


def fix(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    drop: Annotated[
        bool, typer.Option("--drop", help="Drop wrong answers in place of turning them round.")
    ] = False,
    time_limit: TimeOption = 10.0,
    trusted_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the true pairs that are kept (needs --unseal)."),
    ] = 0.0,
    seed: SeedOption = 0,
    edits: Annotated[
        bool, typer.Option("--edits", help="Show every edit (needs --unseal).")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the mended answers, JSONL (needs --unseal)."),
    ] = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make answers consistent by the fewest edits, and say what is proved of their number.

    Certificate: optimal, or by how many edits the repair could be too long at most. Kinship answers
    are dropped (--drop), never turned round.
    """
    from pipeline import sealing
    from pipeline.relation_repair import fix_set
    from pipeline.relation_scores import HowScored
    from tui.commands.relation_fix_lines import fix_json, print_fix

    shows = edits or output is not None or trusted_share > 0
    with usage_errors(), database(chosen_db(context, db)) as store:
        if shows or unseal:
            sealing.unseal(store, "mended answers", whoever_asks(), wanted=unseal)
        how = HowScored(time_limit=time_limit, trusted_share=trusted_share, seed=seed)
        asked = _asked(store, sets, names)
        if not drop and sets is None:
            kept = [a for a in asked if a.kind != "kinship"]
            for a in asked:
                if a.kind == "kinship":
                    say(f"{a.name}: left out, kinship answers are mended by --drop", err=True)
            asked = kept
        found = [fix_set(a, "drop" if drop else "reverse", how) for a in asked]
        if output is not None:
            _write(output, found)
    if as_json:
        print_json({"fixes": [fix_json(f, edits=edits) for f in found]})
        return
    for f in found:
        print_fix(f, edits=edits)
    if output is not None:
        say(f"{sum(len(f.answers) for f in found):,} answers written to {output}")


def _asked(store: Store, sets: list[str] | None, names: list[str] | None) -> list[AskedSet]:
    from pipeline.relation_view import asked_set, chosen_askings

    return [asked_set(store, a) for a in chosen_askings(store, sets or (), names or ())]


def _write(path: Path, found: list[SetFix]) -> None:
    """Write mended answers as lines that can be imported again, under a name of their own."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for f in found:
            asking, objects = f.asked.asking, f.asked.objects
            for a in f.answers:
                row = {
                    "set": f.asked.set.name,
                    "kind": f.asked.kind,
                    "a": objects[a.a],
                    "b": objects[a.b],
                    "model": asking.name,
                    "variant": "fixed" if f.mend == "reverse" else "dropped",
                    "prompt_version": asking.prompt_version or None,
                    "repeat": a.repeat,
                    "relation": a.mended,
                    "said": a.said,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def align(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="Show every fact that is asked (needs --unseal).")
    ] = False,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Align answers with the truth by asking as few facts as it takes.

    Two ways: until the answers are consistent, and until the order is the true one. Told for each:
    facts asked, pairs deduced from them by transitivity, pairs left as the model said.
    """
    from pipeline import sealing
    from pipeline.relation_repair import align_set
    from tui.commands.relation_fix_lines import align_json, print_align

    with usage_errors(), database(chosen_db(context, db)) as store:
        if facts or unseal:
            sealing.unseal(store, "facts of an alignment", whoever_asks(), wanted=unseal)
        found: list[Any] = []
        for asked in _asked(store, sets, names):
            why = next((a.why_no_truth for a in asked.axes if a.values is None), "")
            if not asked.axes:
                why = "a family has no order"
            if sets is None and why:
                say(f"{asked.name}: left out, {why}", err=True)
                continue
            found.append((asked, align_set(asked)))
        if not found:
            fail("no set with an order and a truth was asked about")
    if as_json:
        print_json(
            {"alignments": [align_json(a, f, facts=facts, unsealed=unseal) for a, f in found]}
        )
        return
    for asked, axes in found:
        print_align(asked, axes, facts=facts, unsealed=unseal)


def map_(
    context: typer.Context,
    db: SubDbOption = None,
    sets: SetsOption = None,
    names: NamesOption = None,
    time_limit: TimeOption = 10.0,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the order or the map that the answers make beside the true one (needs --unseal).

    Kendall's τ of each axis with the truth: 1 = the true order, 0 = unrelated, -1 = reversed.
    """
    from pipeline import sealing
    from pipeline.relation_repair import map_set
    from pipeline.relation_scores import HowScored
    from tui.commands.relation_fix_lines import map_json, print_map

    with usage_errors(), database(chosen_db(context, db)) as store:
        sealing.unseal(store, "the order of objects", whoever_asks(), wanted=unseal)
        how = HowScored(time_limit=time_limit)
        asked = [a for a in _asked(store, sets, names) if a.axes or sets is not None]
        if not asked:
            fail("no set with an order was asked about")
        found = [map_set(a, how) for a in asked]
    if as_json:
        print_json({"maps": [map_json(f) for f in found]})
        return
    for f in found:
        print_map(f)
