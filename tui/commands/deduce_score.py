"""`medoid deduce score`, and the responses that `medoid deduce list` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.common import (
    JsonOption,
    SubDbOption,
    UnsealOption,
    chosen_db,
    database,
    print_json,
    say,
    usage_errors,
    whoever_asks,
)
from tui.commands.deduce_ask import ReaderOption, SolverOption, TemplatesOption

if TYPE_CHECKING:
    from pipeline.deducing.error_report import SolverErrors
    from pipeline.deducing.report import Rules
    from store import Store


def score(
    context: typer.Context,
    db: SubDbOption = None,
    solver: SolverOption = None,
    reader: ReaderOption = None,
    templates: TemplatesOption = "auto",
    hops: Annotated[
        str,
        typer.Option(help="What a hop counts: steps, or only those that state a variable first."),
    ] = "steps",
    missing: Annotated[
        str, typer.Option(help="A variable without a value is wrong, or left out (skip).")
    ] = "wrong",
    k_min: Annotated[int, typer.Option(min=0, help="Shortest prefix that means count.")] = 1,
    norm: Annotated[
        str, typer.Option(help="Scale of decay that is shown first: table, equation or per_hop.")
    ] = "table",
    all_hops: Annotated[
        bool, typer.Option("--all-hops", help="Keep hops with few observations too (20 % rule).")
    ] = False,
    errors: Annotated[
        str | None,
        typer.Option(
            metavar="RATER", help="Add how often each kind of error occurs, as this rater has it."
        ),
    ] = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure deduction: DedCons(k, l), its means, base and decay, and what goes with them.

    Compared are the problems that passed their checks for every solver and that each was asked
    about. Nothing is asked. Replies that were drawn to be labelled count once the person who asks
    ($MEDOID_RATER; every person if not given) has revealed them, or with --unseal.
    """
    with usage_errors(), database(chosen_db(context, db)) as store:
        from pipeline import sealing
        from pipeline.deducing.error_report import error_report
        from pipeline.deducing.report import deduction_report
        from pipeline.deducing.sealed import held_back

        rules = rules_of(hops, missing, k_min, norm, all_hops, reader, templates)
        held = held_back(store, whoever_asks())
        if unseal:
            what = "measures of replies that are still sealed"
            sealing.unseal(store, what, whoever_asks(), wanted=True)
            held = frozenset()
        report = deduction_report(store, solver, rules, leave_out=held)
        found: tuple[SolverErrors, ...] = ()
        if errors is not None:
            found = error_report(store, errors, solvers=solver, rules=rules, leave_out=held)
    if as_json:
        from tui.commands.deduce_json import deduction_json, errors_json

        extra = {} if errors is None else {"errors": [errors_json(e) for e in found]}
        print_json({**deduction_json(report), "n_held": len(held), **extra})
        return
    from tui.commands.deduce_lines import error_lines, report_lines

    for line in report_lines(report):
        say(line)
    for one in found:
        for line in error_lines(one):
            say(line)
    if held:
        say(f"{len(held):,} drawn replies are left out while they are sealed (--unseal, logged)")


def rules_of(
    hops: str,
    missing: str,
    k_min: int,
    norm: str,
    all_hops: bool,
    reader: str | None,
    templates: str,
) -> Rules:
    """Return the rules that the options mean.

    Raises
    ------
    ValueError
        Naming the option that is wrong.
    """
    from pipeline.deducing.report import NORMS, Rules
    from scoring.deduction import MIN_SHARE

    for value, known, option in (
        (hops, ("steps", "variables"), "--hops"),
        (missing, ("wrong", "skip"), "--missing"),
        (norm, NORMS, "--norm"),
        (templates, ("auto", "own", "shared"), "--templates"),
    ):
        if value not in known:
            raise ValueError(f"{option} is {value!r}; {', '.join(known)} are right")
    return Rules(
        hops=hops,  # type: ignore[arg-type]  # checked above
        missing=missing,  # type: ignore[arg-type]
        k_min=k_min,
        min_share=None if all_hops else MIN_SHARE,
        norm=norm,  # type: ignore[arg-type]
        reader=reader,
        templates=templates,  # type: ignore[arg-type]
    )


def list_responses(
    store: Store,
    solvers: list[str] | None,
    problems: list[str] | None,
    reader: str | None,
    *,
    as_json: bool,
) -> None:
    """Print every response with its values: what was expected, what was stated."""
    from pipeline.deducing.importing import known_problems
    from pipeline.deducing.reading import contexts
    from pipeline.deducing.report import chosen_solvers
    from pipeline.deducing.responses import Response, chosen_reader, responses
    from scoring.deduction import format_number
    from store.keys import encode_part

    def row(r: Response) -> dict[str, Any]:
        place = (r.problem, r.solver, r.about.mutation.label, str(r.completion.k))
        style = r.completion.style
        parts = [*place, *([style] if style != "original" else [])]
        return {
            "item": "deduction:" + "/".join(encode_part(p) for p in parts),
            "read": r.reading is not None,
            "outcome": r.completion.outcome,
            "values": [
                {
                    "variable": v.variable,
                    "step": v.step,
                    "hop": v.hop,
                    "expected": format_number(v.expected),
                    "stated": None if v.stated is None else format_number(v.stated),
                    "status": v.status,
                    "origin": spread.get(v.variable),
                }
                for spread in [r.spread().origins]
                for v in r.verdicts()
            ],
        }

    about = contexts(store)
    wanted = set(known_problems(store, problems))
    rows = [
        row(r)
        for s in chosen_solvers(store, solvers)
        for r in responses(store, s, chosen_reader(store, s, reader), about=about, problems=wanted)
    ]
    if as_json:
        print_json({"responses": rows})
        return
    for one in rows:
        say(one["item"] + ("" if one["read"] else "  (not read)"))
        for v in one["values"]:
            stated = "–" if v["stated"] is None else v["stated"]
            origin = f" ({v['origin']})" if v["origin"] else ""
            say(
                f"    step {v['step']} hop {v['hop']}  {v['variable']}  {stated} for "
                f"{v['expected']}  {v['status']}{origin}"
            )
