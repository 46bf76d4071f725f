"""`medoid import --mapping`: question files."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import typer

from tui.commands.common import (
    OK,
    PARTLY,
    database,
    fail,
    print_json,
    progress_printer,
    say,
    usage_errors,
)
from tui.commands.data import print_questions, print_rejected, print_unusable


def import_by_mapping(
    db: str,
    files: list[Path],
    mapping: str | None,
    dataset: str | None,
    *,
    pool: str | None,
    seed: int | None,
    strict: bool,
    as_json: bool,
) -> NoReturn:
    """Import question files and end with 0, 1 or 2."""
    from pipeline.importing import NothingUsableError
    from pipeline.questions import import_questions
    from pipeline.version import TOOL_VERSION
    from store.columns import utc_now
    from store.exchange.questions import mapping_of

    started = utc_now()
    if mapping is None or (seed is not None and mapping != "gpqa"):
        fail("--seed orders the options of gpqa's questions; --mapping gpqa goes with it")
    if pool is not None:
        fail("--pool names the pool of traces; a file read with --mapping has none")
    with usage_errors():
        mapping_of(mapping)
        for path in files:
            with path.open("rb"):
                pass
    with usage_errors(), database(db, create=True) as store:
        try:
            summary = import_questions(
                store,
                files,
                mapping,
                dataset=dataset,
                seed=seed or 0,
                strict=strict,
                on_progress=progress_printer(),
            )
        except NothingUsableError as error:
            print_unusable(error, as_json)
        said = summary.as_json()
        parameters = {"mapping": mapping, "dataset": dataset, "seed": seed or 0, "strict": strict}
        store.record_run(
            "import",
            {"files": [p.name for p in files], **parameters},
            TOOL_VERSION,
            started,
            {**said, "rejected": len(summary.rejected)},
        )
    if as_json:
        print_json(said)
    else:
        print_questions(summary.questions)
        kinds = ", ".join(f"{n} {kind}" for kind, n in summary.kinds.most_common())
        if kinds:
            say(f"           answers: {kinds}; {summary.n_without_gold} without a gold answer")
        print_rejected(summary.rejected, strict)
    raise typer.Exit(PARTLY if summary.rejected else OK)
