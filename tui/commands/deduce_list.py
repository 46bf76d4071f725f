"""`medoid deduce list`."""

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
from tui.commands.deduce_ask import ProblemOption, ReaderOption, SolverOption
from tui.commands.deduce_score import list_responses

if TYPE_CHECKING:
    from scoring.deduction import SanityFailure

TELLING = frozenset(["wrong_answer", "factual_differs", "literal_differs"])
"""Failed checks whose message holds an expected value."""


def told(failures: tuple[SanityFailure, ...], *, unsealed: bool) -> list[str]:
    """Return failed checks for a reader: what was found only where no expected value is in it."""
    return [
        f.code.replace("_", " ")
        + (f": {f.message}" if unsealed or f.code not in TELLING else " (--unseal says more)")
        for f in failures
    ]


def list_(
    context: typer.Context,
    db: SubDbOption = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only problems whose template failed a check.")
    ] = False,
    responses: Annotated[
        bool,
        typer.Option("--responses", help="Every response, value by value (needs --unseal)."),
    ] = False,
    solver: SolverOption = None,
    problem: ProblemOption = None,
    reader: ReaderOption = None,
    unseal: UnsealOption = False,
    as_json: JsonOption = False,
) -> None:
    """List problems: their template, checks, mutations, and how much was asked of whom."""
    with usage_errors(), database(chosen_db(context, db)) as store:
        from pipeline import sealing

        if responses:
            what = "values of single responses"
            sealing.unseal(store, what, whoever_asks(), wanted=unseal)
            list_responses(store, solver, problem, reader, as_json=as_json)
            return
        if unseal:
            sealing.unseal(store, "expected values of problems", whoever_asks(), wanted=True)
        rows = _problem_rows(store, problem, failed=failed, unsealed=unseal)
    if as_json:
        print_json({"problems": rows})
        return
    for row in rows:
        whose = f" of {row['solver']}" if row["solver"] else ""
        state = "passed" if row["passed"] else "failed" if row["attempts"] else "no template"
        asked = ", ".join(f"{n:,} by {who}" for who, n in row["asked"].items())
        say(
            f"{row['problem']}{whose}  {state}  {row['steps']} steps  {row['mutations']:,} mutations"
            + (f"  asked {asked}" if asked else "")
        )
        for line in row["failures"]:
            say(f"    {line}")
    if not rows:
        say("no problem" + (" whose template failed" if failed else ": medoid deduce import"))


def _problem_rows(
    store: Any, problems: list[str] | None, *, failed: bool, unsealed: bool
) -> list[dict[str, Any]]:
    from collections import Counter

    from pipeline.deducing.importing import known_problems

    wanted = set(known_problems(store, problems))
    counts = store.mutation_counts()
    templates = [t for t in store.templates() if t.problem in wanted]
    mutations = store.mutations([t.id for t in templates])
    of = {m.id: t for t, rows in mutations.items() for m in rows}
    asked: dict[int, Counter[str]] = {t.id: Counter() for t in templates}
    for solver in store.solvers():
        for mutation, _, _ in store.completion_places(solver.id):
            if mutation in of:
                asked[of[mutation]][solver.name] += 1
    with_template = {t.problem for t in templates}
    rows: list[dict[str, Any]] = [
        {
            "problem": t.problem,
            "solver": t.solver,
            "passed": t.passed,
            "attempts": t.attempt + 1,
            "steps": len(t.template.steps) if t.template else 0,
            "mutations": counts.get(t.id, 0),
            "asked": dict(asked[t.id]),
            "failures": told(t.failures, unsealed=unsealed),
        }
        for t in templates
        if not failed or not t.passed
    ]
    rows += [
        {"problem": p.name, "solver": "", "passed": False, "attempts": 0, "steps": 0,
         "mutations": 0, "asked": {}, "failures": []}
        for p in store.problems()
        if p.name in wanted and p.name not in with_template and not failed
    ]  # fmt: skip
    return rows
