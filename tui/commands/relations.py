"""`medoid relations sets`, `import`, `make` and `baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands import relations_ask, relations_fix, relations_review, relations_score
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
    from store import Store
    from store.relation_records import NewSet

app = typer.Typer(
    help="Relations between objects: ask a model, measure its contradictions, mend them.",
    no_args_is_help=True,
)

OUTCOMES = {
    "added": "added",
    "known": "known already",
    "completed": "added to the answers about it that were there",
}

TELLS = ("nothing", "values", "center", "chain")


@app.command("sets")
def sets(
    context: typer.Context,
    db: SubDbOption = None,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="List the sets that ship instead; no database.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the sets of objects, and who was asked about them."""
    if shipped:
        _list_shipped(as_json)
        return
    with usage_errors(), database(chosen_db(context, db)) as store:
        rows = [_set_row(store, of) for of in store.relation_sets()]
    if as_json:
        print_json({"sets": rows})
        return
    if not rows:
        say("no sets yet: medoid relations import --shipped NAME, import FILE, or make")
    for row in rows:
        say(
            f"{row['name']}  {row['kind']}, {row['objects']} objects, {row['pairs']:,} ordered pairs"
            f"; {_known(row)}"
        )
        if row["about"]:
            say(f"  what counts: {row['about']}")
        if row["source"]:
            say(f"  source: {row['source']}")
        for asked in row["asked"]:
            what = "pairs" if asked["asks"] == "pairs" else "objects themselves"
            say(
                f"  {asked['name']}: {asked['answers']:,} answers about {what}, "
                f"{asked['read']:,} can be read ({percent(asked['read'], asked['answers'])})"
            )


def _known(row: dict[str, Any]) -> str:
    told = f"{row['told']} statements told" if row["told"] else "nothing told"
    return f"{told}, {'a truth' if row['has_truth'] else 'no truth'}"


def _set_row(store: Store, of: Any) -> dict[str, Any]:
    from pipeline.relation_asking import told_lines
    from pipeline.relation_sets import n_statements

    objects = store.relation_objects(of.id)
    facts = store.relation_facts(of.id, "truth")
    asked = []
    for a in store.relation_askings(of.id):
        if a.asks == "pairs":
            counts = store.relation_counts(a.id)
            n, read = counts.n, counts.n_read
        else:
            values = store.relation_values(a.id)
            n, read = len(values), sum(v.value is not None for v in values)
        asked.append(
            {
                "name": a.name,
                "model": a.model,
                "asks": a.asks,
                "form": a.form,
                "prompt_version": a.prompt_version,
                "answers": n,
                "read": read,
            }
        )
    return {
        "name": of.name,
        "kind": of.kind,
        "objects": of.n_objects,
        "pairs": of.n_pairs,
        "about": str(of.extra.get("about", "")),
        "source": of.source,
        "told": n_statements(told_lines(store, of)),
        "has_truth": bool(facts) or (bool(objects) and all(o.truth is not None for o in objects)),
        "asked": asked,
    }


def _list_shipped(as_json: bool) -> None:
    from pipeline.relation_files import shipped_set, shipped_sets

    rows = []
    for name in shipped_sets():
        made = shipped_set(name)
        rows.append(
            {
                "name": name,
                "kind": made.kind,
                "objects": len(made.objects),
                "about": str((made.extra or {}).get("about", "")),
                "told": _told(made),
                "source": made.source,
            }
        )
    if as_json:
        print_json({"shipped": rows})
        return
    for row in rows:
        about = f", by {row['about']}" if row["about"] else ""
        say(f"{row['name']:<16} {row['kind']}, {row['objects']} objects{about}")
        say(f"  {row['source']}")


@app.command("import")
def import_(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="CSV of objects (name with date, or x and y, or lon and lat), of displacements "
            "(a, b, dx, dy) or of a family's facts (a, relation, b); JSONL of answers."
        ),
    ] = None,
    db: SubDbOption = None,
    shipped: Annotated[
        list[str] | None, typer.Option("--shipped", help="A set that ships.  (repeatable)")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--set", help="The set's name; the file's stem if not given.")
    ] = None,
    about: Annotated[
        str, typer.Option(help='What counts, as the model is told: "the year of birth".')
    ] = "",
    source: Annotated[str, typer.Option(help="Where the values are from; the file's name.")] = "",
    tells: Annotated[
        str | None,
        typer.Option(
            help="What the model is told: nothing, values, center or chain (displacements).  "
            "[default: values of x and y, nothing else]"
        ),
    ] = None,
    center: Annotated[str | None, typer.Option(help="The object the others are told from.")] = None,
    detect: Annotated[
        bool | None,
        typer.Option(
            "--detect/--no-detect",
            help="Offer the word INCONSISTENT.  [default: where displacements contradict]",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Store sets of objects, and answers of models about them.

    A set is taken whole: exit code 2 and every bad line named. Answers are taken line by line: exit
    code 1 where some were rejected.
    """
    from pipeline.relation_files import SetFileError, Wanted, read_set, shipped_set

    chosen, wanted_sets = files or [], shipped or []
    if not chosen and not wanted_sets:
        fail("nothing to import: give files, or --shipped NAME (medoid relations sets --shipped)")
    tables = [p for p in chosen if p.suffix.lower() != ".jsonl"]
    lines = [p for p in chosen if p.suffix.lower() == ".jsonl"]
    if name is not None and len(tables) + len(wanted_sets) != 1:
        fail("--set names one set: give one CSV file with it")
    if center is not None and tells != "center":
        fail("--center goes with --tells center")
    if not tables and (about or source or tells is not None or detect is not None):
        fail("--about, --source, --tells and --detect describe a CSV file: give one with them")
    with usage_errors():
        if tells is not None and tells not in TELLS:
            raise ValueError(f"--tells is {tells!r}; {', '.join(TELLS)} are right")
        wanted = Wanted(about, source, tells, center, detect)  # type: ignore[arg-type]
        try:
            made = [shipped_set(s) for s in wanted_sets]
            made += [read_set(path, name, wanted) for path in tables]
        except SetFileError as error:
            for rejected in error.rejected:
                say(f"  {rejected}", err=True)
            raise
        with database(chosen_db(context, db), create=True) as store:
            outcomes = [(one, store.save_relation_set(one)) for one in made]
            answers = _import_answers(store, lines, as_json) if lines else None
    if as_json:
        print_json(
            {
                "sets": [{**set_json(one), "outcome": done} for one, done in outcomes],
                "answers": None if answers is None else answers.as_json(),
            }
        )
    else:
        for one, done in outcomes:
            say(f"set {one.name}: {OUTCOMES[done]}, {_size(one)}")
        if answers is not None:
            _print_answers(answers)
    raise typer.Exit(PARTLY if answers is not None and answers.rejected else OK)


def _import_answers(store: Store, files: list[Path], as_json: bool) -> Any:
    from pipeline.importing import NothingUsableError, import_files
    from tui.commands.data import print_unusable

    try:
        return import_files(store, files, on_progress=progress_printer())
    except NothingUsableError as error:
        print_unusable(error, as_json)


def _print_answers(summary: Any) -> None:
    for what, counts in summary.relations.items():
        say(f"{what}: " + ", ".join(f"{n:,} {done}" for done, n in counts.items()))
    if summary.rejected:
        say(f"{len(summary.rejected):,} lines were rejected", err=True)
    for rejected in summary.rejected:
        say(f"  {rejected}", err=True)


def _size(made: NewSet) -> str:
    n = len(made.objects)
    return f"{made.kind}, {n} objects, {n * (n - 1):,} ordered pairs, {_told(made)} statements told"


def _told(made: NewSet) -> int:
    from pipeline.relation_sets import n_statements

    return n_statements((made.extra or {}).get("told", ()))


def set_json(made: NewSet) -> dict[str, Any]:
    """Return what a set is, without its truth."""
    n = len(made.objects)
    extra = {k: v for k, v in (made.extra or {}).items() if k != "told"}
    return {
        "name": made.name,
        "kind": made.kind,
        "objects": n,
        "pairs": n * (n - 1),
        "told": _told(made),
        "source": made.source,
        "parameters": extra,
    }


@app.command("make")
def make(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="points, loop or family.")],
    name: Annotated[str, typer.Argument(help="The set's name.")],
    db: SubDbOption = None,
    n: Annotated[int, typer.Option("-n", min=2, help="How many objects or people.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Sets of one seed and size are the same.")] = 0,
    tells: Annotated[
        str | None,
        typer.Option(help="Of points: values, center, chain or nothing.  [default: values]"),
    ] = None,
    center: Annotated[
        int | None,
        typer.Option(min=0, help="With --tells center, its number.  [default: 0]"),
    ] = None,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Of a loop: the control, with nothing false.")
    ] = False,
    generations: Annotated[
        int | None, typer.Option(min=2, help="Of a family.  [default: 4]")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make up a set whose truth is known: points of a plane, a loop of displacements, a family.

    A loop has one false displacement, so that its statements contradict each other; with
    --consistent it is the control. The model is offered the word INCONSISTENT on both.
    """
    from pipeline.relation_sets import family_set, loop_set, point_set
    from store.keys import is_name

    with usage_errors():
        if not is_name(name):
            raise ValueError(f"the set's name is {name!r}; one without control characters is right")
        if tells is not None and tells not in TELLS:
            raise ValueError(f"--tells is {tells!r}; {', '.join(TELLS)} are right")
        if what in ("points", "loop", "family"):
            _refuse_idle(what, tells, center, consistent, generations)
        if what == "points":
            made = point_set(name, n, seed=seed, tells=tells or "values", center=center or 0)  # type: ignore[arg-type]
        elif what == "loop":
            made = loop_set(name, n, seed=seed, contradictory=not consistent)
        elif what == "family":
            made = family_set(name, n, generations=generations or 4, seed=seed)
        else:
            raise ValueError(f"{what!r} cannot be made; points, loop or family is right")
        with database(chosen_db(context, db), create=True) as store:
            done = store.save_relation_set(made)
    if as_json:
        print_json({**set_json(made), "outcome": done})
    else:
        say(f"set {name}: {OUTCOMES[done]}, {_size(made)}")


def _refuse_idle(
    what: str, tells: str | None, center: int | None, consistent: bool, generations: int | None
) -> None:
    """Refuse options that would change nothing of what is made."""
    of = {
        "--tells": (tells is not None, "points"),
        "--center": (center is not None, "points"),
        "--consistent": (consistent, "loop"),
        "--generations": (generations is not None, "family"),
    }
    for option, (given, only) in of.items():
        if given and what != only:
            raise ValueError(f"{option} is for {only}; it changes nothing of {what}")
    if center is not None and tells != "center":
        raise ValueError("--center goes with --tells center")


app.command("ask")(relations_ask.ask)
app.command("probe")(relations_ask.probe)
app.command("score")(relations_score.score)
app.command("compare")(relations_score.compare)
app.command("baseline")(relations_score.baseline)
app.command("fix")(relations_fix.fix)
app.command("align")(relations_fix.align)
app.command("map")(relations_fix.map_)
app.command("review")(relations_review.review)
