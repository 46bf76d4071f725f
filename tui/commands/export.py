"""`medoid export labels`, `items` and `scores`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    hand_out,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)

if TYPE_CHECKING:
    from store import Store

app = typer.Typer(help="Write labels, items or scores as JSONL or CSV.", no_args_is_help=True)
OutOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file; standard output if not given.")
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="jsonl or csv; else as the file is called.")
]


@app.command("labels")
def labels(
    context: typer.Context,
    db: SubDbOption = None,
    output: OutOption = None,
    file_format: FormatOption = None,
    schema: Annotated[str | None, typer.Option(help="Labels of this schema only.")] = None,
    rater: Annotated[str | None, typer.Option(help="Labels of this rater only.")] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Every row ever added, not only what stands.")
    ] = False,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write labels with every field; importing them where they came from changes nothing.

    What stands, and the last label from before the reveal where that is another. One's own labels
    (--rater NAME) are not sealed; those of judges and other raters need --unseal.
    """
    from pipeline.exporting import label_lines
    from pipeline.sealing import is_own, known_rater
    from pipeline.sealing import unseal as log_unseal

    with usage_errors(), database(chosen_db(context, db)) as store:
        chosen = _format(file_format, output)
        _check_output(store, output, as_json)
        record = None if rater is None else known_rater(store, rater)
        if schema is not None:
            store.schema(schema)
        if not is_own(record, whoever_asks()):
            whose = "all raters" if record is None else f"{record.kind} {record.name}"
            log_unseal(
                store,
                f"exporting labels of {whose}",
                whoever_asks(),
                wanted=unseal,
                hint="; --rater NAME exports your own",
            )
        lines = label_lines(store, chosen, schema=schema, rater=rater, history=history)
        n = _write(lines, output) - (chosen == "csv")
    _print_done("labels", n, output, as_json)


@app.command("items")
def items(
    context: typer.Context,
    db: SubDbOption = None,
    output: OutOption = None,
    file_format: FormatOption = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the items with their keys, places and cases.

    Strata and inclusion probabilities come with them once every person has revealed every
    question, or with --unseal.
    """
    from pipeline.exporting import item_lines

    with usage_errors(), database(chosen_db(context, db)) as store:
        chosen = _format(file_format, output)
        _check_output(store, output, as_json)
        sealed = store.design_is_sealed()
        if sealed and unseal:
            store.record_unseal("exporting items with strata and probabilities", whoever_asks())
        n = _write(item_lines(store, chosen, design=unseal or not sealed), output)
        n -= chosen == "csv"
    _print_done("items", n, output, as_json)
    if sealed and not unseal:
        say("strata, inclusion probabilities and edited steps are sealed and left out", err=True)


@app.command("scores")
def scores(
    context: typer.Context,
    db: SubDbOption = None,
    output: OutOption = None,
    file_format: FormatOption = None,
    scoring: Annotated[
        int | None, typer.Option(help="Which scoring; the primary one if not given.")
    ] = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the scores of every question with their provenance. Sealed: needs --unseal.

    medoid score --show prints what all questions say together, which is not sealed.
    """
    from pipeline.exporting import score_lines
    from pipeline.sealing import unseal as log_unseal

    with usage_errors(), database(chosen_db(context, db)) as store:
        chosen = _format(file_format, output)
        _check_output(store, output, as_json)
        log_unseal(
            store,
            "exporting scores of single questions",
            whoever_asks(),
            wanted=unseal,
            hint="; medoid score --show prints sums, which are not sealed",
        )
        n = _write(score_lines(store, chosen, scoring=scoring), output) - (chosen == "csv")
    _print_done("scores", n, output, as_json)


def _format(wanted: str | None, output: Path | None) -> Literal["jsonl", "csv"]:
    if wanted is None:
        return "csv" if output is not None and output.suffix.lower() == ".csv" else "jsonl"
    if wanted == "jsonl":
        return "jsonl"
    if wanted == "csv":
        return "csv"
    raise ValueError(f"--format is {wanted!r}; jsonl or csv is right")


def _check_output(store: Store, output: Path | None, as_json: bool) -> None:
    if output is None and as_json:
        raise ValueError("--json goes with -o FILE: without it the export is what is printed")
    if output is None or store.file is None or not output.exists():
        return
    if any(output.samefile(f) for f in store.file.parent.glob(store.file.name + "*")):
        raise ValueError(f"{output} is the database: give another file")


def _write(lines: Iterable[str], output: Path | None) -> int:
    n = 0
    if output is not None:
        with output.open("w", encoding="utf-8", newline="") as file:
            for line in lines:
                file.write(line)
                n += 1
        return n
    for line in lines:
        hand_out(line)
        n += 1
    return n


def _print_done(what: str, n: int, output: Path | None, as_json: bool) -> None:
    if output is None:
        return
    if as_json:
        print_json({what: n, "file": str(output)})
    else:
        say(f"{n} {what} written to {output}")
