"""`medoid items make`, `list`, `faithfulness` and `audit`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands import export
from tui.commands.common import (
    JsonOption,
    RaterOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)
from tui.commands.data import print_items

if TYPE_CHECKING:
    from store import Store

app = typer.Typer(help="Make, list and write the items to label.", no_args_is_help=True)


@app.command("make")
def make(
    context: typer.Context,
    db: SubDbOption = None,
    k: Annotated[int, typer.Option(help="Paths per answer of a disagreement case.")] = 3,
    agreements: Annotated[
        float, typer.Option(help="Share of agreement cases to sample, 0 to 1.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    target_half_width: Annotated[
        float | None,
        typer.Option(
            help="Draw as many cases as a rate's interval of this half-width takes, in the order "
            "that reaches it soonest; in place of --agreements."
        ),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STRATUM=RATE",
            help="With --target-half-width: the rate expected among disagreement or agreement "
            "cases, as in agreement=.1; .5 where not given.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make path items for all disagreements and a sample of agreements.

    Or, with --target-half-width, a queue that may be left at any time: whatever is labelled by
    then is the best sample of its size. Which stratum a place belongs to is not told by it.
    """
    from pipeline.sampling import Design, make_items
    from pipeline.targeting import Target

    with usage_errors(), database(chosen_db(context, db)) as store:
        target = None
        if target_half_width is not None:
            target = Target(target_half_width, _rates(expect or []))
        elif expect:
            raise ValueError("--expect goes with --target-half-width")
        made = make_items(store, Design(k=k, agreements=agreements, seed=seed, target=target))
    if as_json:
        print_json(asdict(made))
    else:
        print_items(made)


def _rates(given: list[str]) -> dict[str, float]:
    found = {}
    for text in given:
        name, _, rate = text.partition("=")
        try:
            found[name] = float(rate)
        except ValueError as error:
            raise ValueError(f"--expect is {text!r}; agreement=.1 is right") from error
    return found


app.command("export")(export.items)


@app.command("list")
def list_(
    context: typer.Context,
    db: SubDbOption = None,
    rater: RaterOption = None,
    verdicts: Annotated[
        bool, typer.Option("--verdicts", help="With everybody's labels; needs --unseal.")
    ] = False,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the cases in queue order; with --rater, that rater's progress.

    Without --verdicts, nothing that the seal hides is listed.
    """
    from pipeline.sealing import unseal as log_unseal
    from store.records import CaseRow

    rows: list[CaseRow] = []
    said: dict[str, list[dict[str, Any]]] = {}
    with usage_errors(), database(chosen_db(context, db)) as store:
        if verdicts:
            log_unseal(store, "listing verdicts", rater, wanted=unseal)
            said = _verdicts(store)
        ids = {r.name: r.id for r in store.raters()}
        rater_id = 0 if rater is None else ids.get(rater, 0)
        cursor = None
        while True:
            page = store.cases(rater_id, after=cursor, limit=500)
            rows.extend(page.rows)
            if page.cursor is None:
                break
            cursor = page.cursor
    if as_json:
        more = [{"verdicts": said.get(_case_key(r), [])} if verdicts else {} for r in rows]
        print_json([{**asdict(r), **m} for r, m in zip(rows, more, strict=True)])
        return
    for row in rows:
        mark = "!" if row.flagged else " "
        say(
            f"{row.position:>6} {row.n_mine}/{row.n_items}{mark} "
            f"{row.dataset}/{row.question_id}  {row.pool}  {row.question[:80]}"
        )
        for verdict in said.get(_case_key(row), []):
            say("         {item}  {rater}: {said}".format(**verdict))
    if not rows:
        say("no cases of traces yet: medoid score makes them (relations: medoid, then o)")


def _case_key(row: Any) -> str:
    from store.keys import path_key

    return path_key(row.dataset, row.question_id, row.pool, "")


def _verdicts(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Return what everybody says of the paths, by case."""
    found: dict[str, list[dict[str, Any]]] = {}
    for exported in store.export_labels(schema="path"):
        label = exported.label
        found.setdefault(label.item.rpartition("/")[0] + "/", []).append(
            {
                "item": label.item,
                "rater": label.rater,
                "rater_kind": label.rater_kind,
                "said": label.category or label.state,
                "before_reveal": label.before_reveal,
            }
        )
    return found


@app.command("faithfulness")
def faithfulness(
    context: typer.Context,
    db: SubDbOption = None,
    rater: RaterOption = None,
    schema: Annotated[str, typer.Option(help="Which path schema.")] = "path",
    questions: Annotated[
        bool, typer.Option("--questions", help="A line for each question, too.")
    ] = False,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print how faithful SC and GSC are by one rater's path labels, and how many stand behind it.

    GSC is faithful when its medoid's path is, SC when most of its labelled supporters are. While
    a person has sealed paths to label, only questions they have revealed count.
    """
    from pipeline.faithfulness import faithfulness_report
    from pipeline.sealing import is_own, known_rater
    from pipeline.sealing import unseal as log_unseal
    from tui.commands.printing import print_faithfulness

    with usage_errors(), database(chosen_db(context, db)) as store:
        if rater is None:
            raise ValueError("--rater is missing: whose labels?")
        record = known_rater(store, rater)
        if questions and not is_own(record, whoever_asks()):
            log_unseal(
                store,
                f"listing questions by the labels of {record.kind} {rater}",
                whoever_asks(),
                wanted=unseal,
            )
        elif unseal:
            store.record_unseal(f"faithfulness by the labels of {rater}", whoever_asks())
        report = faithfulness_report(store, rater, schema, unsealed=unseal)
    if as_json:
        document = asdict(report)
        if not questions:
            del document["rows"]
        print_json(document)
    else:
        print_faithfulness(report, questions=questions)


@app.command("audit")
def audit(
    context: typer.Context,
    db: SubDbOption = None,
    rater: RaterOption = None,
    schema: Annotated[str, typer.Option(help="Which path schema.")] = "path",
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print how many of the questions that SC alone, or GSC alone, gets right rest on sound paths.

    By dataset and pool, by question and by path, with tests. While a person has sealed paths to
    label, only questions they have revealed count.
    """
    from pipeline.audit import audit_report
    from tui.commands.agreement_lines import plain
    from tui.commands.audit_lines import print_audit

    with usage_errors(), database(chosen_db(context, db)) as store:
        if rater is None:
            raise ValueError("--rater is missing: whose labels?")
        if unseal:
            store.record_unseal(f"audit by the labels of {rater}", whoever_asks())
        report = audit_report(store, rater, schema, unsealed=unseal)
    if as_json:
        print_json(plain(report))
    else:
        print_audit(report)
