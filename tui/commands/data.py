"""`medoid import` and `embed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tui.commands.common import (
    OK,
    PARTLY,
    JsonOption,
    SubDbOption,
    chosen_db,
    database,
    fail,
    percent,
    print_json,
    progress_printer,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.importing import NothingUsableError
    from store.exchange.lines import Rejected


DecompositionOption = Annotated[
    str, typer.Option(help="Whose facts: a decomposition's name, or none (a step is a fact).")
]

LABELS = {
    "added": "added",
    "changed": "changed",
    "known": "unchanged",
    "superseded": "there already, superseded by a later import or label",
}
"""What became of label lines, in words."""

OUTCOMES = {"added": "added", "known": "known already", "completed": "given what they lacked"}
"""What became of lines about relations, in words."""


def import_(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Trace, question, label, item, relation or Faithful-COT JSONL files; CSV files of "
            "labels, items or a set of objects; with --mapping, question files (JSONL or CSV)."
        ),
    ],
    db: SubDbOption = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="Dataset of files that do not name one; the file's stem if not given."),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(help="Pool of traces that name neither pool nor model; else the stem."),
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            help="The files hold questions, in this form: native, gsm8k, strategyqa, boolq, medqa, "
            "gpqa or aime."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of gpqa's shuffled options.  [default: 0]")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="All or nothing: keep no line when one is rejected.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read traces, questions, labels and relations. Known lines are passed over; rejected ones are listed.

    Exit code 0: every line used or known; 1: some rejected; 2: nothing usable.
    """
    if mapping is not None or seed is not None:
        from tui.commands.questions import import_by_mapping

        chosen = chosen_db(context, db)
        import_by_mapping(
            chosen, files, mapping, dataset, pool=pool, seed=seed, strict=strict, as_json=as_json
        )
    from pipeline.importing import NothingUsableError, import_files
    from pipeline.version import TOOL_VERSION
    from store.columns import utc_now

    started = utc_now()
    for path in files:
        with usage_errors(), path.open("rb"):
            pass
    with usage_errors(), database(chosen_db(context, db), create=True) as store:
        try:
            summary = import_files(
                store,
                files,
                dataset=dataset,
                pool=pool,
                strict=strict,
                on_progress=progress_printer(),
            )
        except NothingUsableError as error:
            print_unusable(error, as_json)
        counts = {k: v for k, v in summary.as_json().items() if k != "rejected"}
        store.record_run(
            "import",
            {"files": [p.name for p in files], "dataset": dataset, "pool": pool, "strict": strict},
            TOOL_VERSION,
            started,
            {**counts, "rejected": len(summary.rejected)},
        )
    if as_json:
        print_json(summary.as_json())
    else:
        _print_import(summary, strict)
    raise typer.Exit(PARTLY if summary.rejected else OK)


def print_unusable(error: NothingUsableError, as_json: bool) -> NoReturn:
    """List every rejected line of an import that kept nothing, and end with 2."""
    if as_json:
        rows = [{"file": r.file, "line": r.line, "message": r.message} for r in error.rejected]
        print_json({"error": str(error), "rejected": rows})
    for rejected in error.rejected:
        say(f"  {rejected}", err=True)
    fail(str(error))


def _print_import(summary: Any, strict: bool) -> None:
    added = summary.traces["added"]
    if summary.traces:
        say(f"traces   {added} added, {summary.traces['known']} known already")
    if added:
        say(
            f"         {percent(summary.n_strict, added)} follow the format to the letter, "
            f"{percent(summary.n_usable, added)} have steps, "
            f"{percent(summary.n_parsed, added)} an answer, "
            f"{percent(summary.n_voting, added)} both"
        )
        say(
            f"         {summary.n_steps} steps, "
            f"{percent(summary.n_unannotated_steps, summary.n_steps)} without an annotation"
        )
        for code, n in summary.issues.most_common():
            say(f"         {code:<28}{n:>7}  {percent(n, added)} of traces")
    if summary.labels:
        told = (f"{n} {LABELS[outcome]}" for outcome, n in summary.labels.items())
        say("labels   " + ", ".join(told))
    if summary.items:
        say("items    " + ", ".join(f"{n} {outcome}" for outcome, n in summary.items.items()))
    if summary.questions:
        print_questions(summary.questions)
    for what, counts in summary.relations.items():
        say(f"{what:<9}" + ", ".join(f"{n} {OUTCOMES[o]}" for o, n in counts.items()))
    if summary.n_unread:
        say(
            f"         {summary.n_unread} of them without a relation: kept, and counted as unusable"
        )
    print_rejected(summary.rejected, strict)


def print_questions(counts: Mapping[str, int]) -> None:
    """Print what became of questions."""
    n = {"added": 0, "known": 0, **counts}
    say(f"questions  {n['added']} added, {n['known']} known already")
    if n.get("completed"):
        say(f"           {n['completed']} known ones were given the gold or the fields they lacked")


def print_rejected(rejected: Sequence[Rejected], strict: bool) -> None:
    """List the rejected lines of an import."""
    if rejected:
        kept = "nothing was kept (--strict)" if strict else "the others are kept"
        say(f"rejected {len(rejected)}; {kept}:", err=True)
    for line in rejected:
        say(f"  {line}", err=True)


def embed(
    context: typer.Context,
    db: SubDbOption = None,
    embedder: Annotated[str, typer.Option(help="Which embedder.")] = "minilm",
    decomposition: DecompositionOption = "none",
    as_json: JsonOption = False,
) -> None:
    """Embed every distinct fact text that has no vector yet (a step is a fact, or decomposed).

    Only that: medoid score embeds what it needs by itself. A second run embeds nothing.
    """
    from dataclasses import asdict

    from pipeline.embedding import embed as run
    from pipeline.version import TOOL_VERSION
    from store.columns import utc_now

    started = utc_now()
    with usage_errors(), database(chosen_db(context, db)) as store:
        summary = run(store, embedder, decomposition=decomposition, on_progress=progress_printer())
        if not summary.n_facts:
            raise ValueError(
                "nothing to embed: no trace has facts; medoid import or generate first"
            )
        if summary.n_embedded:
            said = {"embedder": embedder, "decomposition": decomposition}
            store.record_run("embed", said, TOOL_VERSION, started, asdict(summary))
    if as_json:
        print_json(asdict(summary))
        return
    print_embedding(summary)


def print_embedding(e: Any) -> None:
    """Print what embedding did."""
    say(
        f"embedded {e.n_embedded:,} texts ({e.n_known:,} known); {e.n_facts:,} facts are "
        f"{e.n_distinct:,} distinct texts, {e.n_facts - e.n_distinct:,} repeat one of them; "
        f"{e.embedder} {e.revision[:19]}…"
    )
    if e.n_embedded:
        speed = f", {e.n_embedded / e.encode_seconds:,.0f} a second" if e.encode_seconds else ""
        say(
            f"         {e.encode_seconds:.1f} s{speed}, and {e.load_seconds:.1f} s to load the model"
        )
    if e.n_truncated:
        say(
            f"         {e.n_truncated} texts are longer than the model reads: only their start counts"
        )


def reasons(excluded: Mapping[str, int]) -> str:
    """Return in brackets what was left out and why, nothing where nothing was."""
    if not excluded:
        return ""
    return " (left out: " + ", ".join(f"{n} {why}" for why, n in excluded.items()) + ")"


def print_items(made: Any) -> None:
    """Print what making items did."""
    cases = made.cases
    say(
        f"cases    {cases.n_new} new with {cases.n_new_items} paths, {cases.n_same} as before, "
        f"{cases.n_kept} kept because they hold labels, {cases.n_withdrawn} withdrawn"
    )
    all_taken = made.n_disagreements_drawn == made.n_disagreements
    taken = "all taken" if all_taken else f"{made.n_disagreements_drawn} drawn"
    say(
        f"         {made.n_disagreements} disagreements, {taken}; "
        f"{made.n_agreements_drawn} of {made.n_agreements} agreements drawn"
    )
    if made.n_without_paths:
        say(f"         {made.n_without_paths} disagreements have no path of SC's to judge: no case")
    plan = made.plan
    if plan is not None:
        told = "–" if plan.half_width is None else f"±{plan.half_width:.3f}"
        say(
            f"         all {plan.n_cases} labelled, a rate is known to {told} or better "
            f"(wanted ±{plan.wanted:g}), if the rates expected are right"
        )
        if not plan.reached:
            say(f"         no queue reaches it: there are only {plan.n_questions} questions")
    for stratum in made.strata_never_sampled:
        say(f"         stratum never sampled: {stratum}; labels say nothing about it")
