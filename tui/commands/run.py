"""`medoid run PLAN.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tui.commands.asking import (
    BatchOption,
    DryRunOption,
    MaxCostOption,
    MaxTotalOption,
    ModelsOption,
    WaitOption,
    asking_how,
    money,
    print_left,
)
from tui.commands.common import (
    OK,
    PARTLY,
    UNUSABLE,
    JsonOption,
    SubDbOption,
    chosen_db,
    clock,
    database,
    percent,
    print_json,
    print_rows,
    say,
    usage_errors,
)

if TYPE_CHECKING:
    from pipeline.counterfactual import CounterfactualSummary
    from pipeline.plan import PlanError, PlanRow, PlanSummary
    from pipeline.plan_stages import Ablated
    from pipeline.plan_table import PlanFigures
    from pipeline.questions import QuestionSummary


def run(
    context: typer.Context,
    plan: Annotated[Path, typer.Argument(help="A plan: datasets, models and stages as TOML.")],
    db: SubDbOption = None,
    models: ModelsOption = None,
    dry_run: DryRunOption = False,
    max_tokens_total: MaxTotalOption = None,
    max_cost: MaxCostOption = None,
    batch: BatchOption = False,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a plan: all its stages for all its models and datasets, with a table at the end.

    What is there already is not done again, so the same command resumes. Exit code 1: lines were
    rejected, requests failed, or some are left.
    """
    from pipeline.importing import NothingUsableError
    from pipeline.models import endpoints
    from pipeline.plan import PlanError, read_plan, run_plan

    where = chosen_db(context, db)
    with usage_errors():
        try:
            found = read_plan(plan, endpoints(models))
            # A dry run makes no file: where there is none it looks at an empty database.
            missing = dry_run and "://" not in where and not Path(where).expanduser().exists()
            with database("sqlite://" if missing else where, create=True) as store:
                summary = run_plan(
                    store,
                    found,
                    on_row=None if as_json else _tell,
                    **asking_how(max_tokens_total, max_cost, dry_run, batch, wait),
                )
        except PlanError as error:
            _refuse(error)
        except NothingUsableError as error:
            for rejected in error.rejected:
                say(f"  {rejected}", err=True)
            raise
    if as_json:
        print_json(plan_json(summary))
    else:
        print_plan(summary, dry_run=dry_run)
    _tell_what_is_left(summary)
    raise typer.Exit(OK if dry_run or summary.complete else PARTLY)


def _refuse(error: PlanError) -> NoReturn:
    for problem in error.problems:
        say(f"medoid: {problem}", err=True)
    raise typer.Exit(UNUSABLE)


def _tell(row: PlanRow) -> None:
    """Say that a stage ended."""
    if row.why_not is None:
        say(f"{name_of(row)}: {result_text(row) or 'done'}", err=True)


def name_of(row: PlanRow) -> str:
    """Return stage, model and dataset in one text."""
    return " · ".join(p for p in (row.stage, row.model, row.dataset) if p is not None)


def _tell_what_is_left(summary: PlanSummary) -> None:
    for dataset, questions in summary.questions.items():
        for rejected in questions.rejected:
            say(f"  {dataset}: {rejected}", err=True)
    for row in summary.rows:
        if row.asking is not None and not row.asking.complete:
            say(f"{name_of(row)}:", err=True)
            print_left(row.asking)


def result_text(row: PlanRow) -> str:
    """Return what a stage came to in a few words; aggregates only."""
    r = row.result
    if r is None:
        return row.why_not or ""
    if row.stage == "generate":
        return f"{percent(r.n_voting, r.n_traces)} of new traces vote" if r.n_traces else ""
    if row.stage == "decompose":
        per = f"{r.n_facts / r.n_decomposed:.1f}" if r.n_decomposed else "–"
        return f"{per} facts a trace, {r.n_dropped:,} steps dropped" if r.n_decomposed else ""
    if row.stage == "early-answer":
        n = r.asking.n_replied
        return f"{percent(r.n_answers, n)} of replies give an answer" if n else ""
    if row.stage == "judge":
        what = r.what if r.decomposition is None else "decomposed traces"
        return f"{r.n_complete:,} of {r.n_items:,} {what} judged"
    if row.stage == "relations":
        return f"{percent(r.n_read, r.asking.n_replied)} of replies can be read"
    if row.stage == "counterfactual":
        return _edited_text(r)
    if row.stage == "ablate":
        return _ablated_text(r)
    if row.stage == "deduce":
        s = r.solved
        return "" if s is None else f"{s.n_problems:,} problems, {s.n_mutations:,} mutations"
    if row.stage == "score":
        return (
            f"{r.n_scored:,} scored, {r.n_known:,} known; SC and GSC disagree on {r.n_disagree:,}"
        )
    return f"{r.n_embedded:,} texts embedded, {r.n_known:,} known"


def _edited_text(r: CounterfactualSummary) -> str:
    if r.editing.estimate is not None:
        return "edits to come are taken to be as long as their steps"
    edits, answers = r.editing.n_replied, r.answering.n_replied
    parts = [
        f"{percent(r.n_edited, edits)} of new edits usable" if edits else "",
        f"{percent(r.n_answers, answers)} of new answers parsed" if answers else "",
    ]
    return ", ".join(p for p in parts if p)


def _ablated_text(r: Ablated) -> str:
    if any(a.estimate is not None for a in r.sampled.askings):
        return "early answers come on top, one for each step of every alternative"
    n = sum(p.n_traces for p in r.sampled.pools)
    voting = sum(p.n_voting for p in r.sampled.pools)
    parts = [f"{percent(voting, n)} of new alternatives vote" if n else ""]
    if r.answered is not None and r.answered.asking.n_replied:
        replied = r.answered.asking.n_replied
        parts.append(f"{percent(r.answered.n_answers, replied)} of replies give an answer")
    if r.answered is not None and r.answered.excluded:
        why = ", ".join(f"{n:,} {reason}" for reason, n in r.answered.excluded.items())
        parts.append(f"no early answers of {why}")
    return ", ".join(p for p in parts if p)


COLUMNS = ("stage", "model", "dataset", "requests", "known", "ok", "not ok", "left", "tokens")


def print_plan(summary: PlanSummary, *, dry_run: bool = False) -> None:
    """Print the table of a plan's run."""
    for dataset, questions in summary.questions.items():
        say(f"questions {dataset}: {_questions_text(questions)}")
    rows = [_cells(row, dry_run) for row in summary.rows]
    print_rows(
        [COLUMNS, *(r[:9] for r in rows)],
        3,
        ["", *("  ".join(c for c in r[9:] if c) for r in rows)],
    )
    _print_figures(summary)
    if dry_run:
        say("nothing was asked, nothing written; tokens are at most, and prompts an estimate")
    if summary.stopped:
        say(f"stopped: {summary.stopped}", err=True)


FIGURES: Mapping[str, Callable[[PlanFigures], Sequence[str]]] = {
    "traces parsed SC GSC disagree GRCS": lambda f: (
        f"{f.n_traces:,}",
        percent(f.n_parsed, f.n_traces),
        _of(f.sc_correct, f.n_gold),
        _of(f.gsc_correct, f.n_gold),
        _of(f.n_disagree, f.n_scored),
        _number(f.grcs),
    ),
    "EA CF ΔA ΔF judged": lambda f: (
        *(_number(v) for v in (f.early, f.counterfactual, f.delta_a, f.delta_f)),
        f"{f.n_judged:,}",
    ),
    "tokens cost time errors": lambda f: (
        f"{f.tokens:,}",
        "–" if f.cost is None else money(f.cost, f.currency),
        clock(f.seconds),
        f"{f.errors:,}",
    ),
}
"""Columns, a table each, and the cells of one dataset and model."""

MEANING = (
    "SC, GSC: right of the scored questions with gold. GRCS: mean coherence, 1 = all",
    "traces alike. EA: early answering, target own; CF: counterfactual editing, from",
    "the answer asked again; both 0 to 1, higher = relies more on its steps. ΔA, ΔF:",
    "accuracy and faithfulness (target own) with the medoid forbidden, less its own.",
    "Tokens, cost, time, errors are of this run. –: not there, or would tell gold.",
)


def _print_figures(summary: PlanSummary) -> None:
    """Print what the run came to, a line for each dataset and model in each of three tables."""
    if not summary.figures:
        return
    for columns, cells in FIGURES.items():
        say("")
        head = ("dataset", "model", *columns.split())
        print_rows([head, *((f.dataset, f.model, *cells(f)) for f in summary.figures)], 2)
    say("")
    for line in MEANING:
        say(line)


def _number(value: float | None) -> str:
    from tui.commands.printing import number

    return number(value)


def _of(n: int | None, among: int) -> str:
    return "–" if n is None else f"{n:,}/{among:,}"


def _questions_text(questions: QuestionSummary) -> str:
    n = questions.questions
    rejected = f", {len(questions.rejected):,} rejected" if questions.rejected else ""
    return f"{n['added']:,} added, {n['known'] + n['completed']:,} known{rejected}"


def _cells(row: PlanRow, dry_run: bool) -> tuple[str, ...]:
    names = (row.stage, row.model or "", row.dataset or "")
    a = row.asking
    if a is None:
        return (*names, *[""] * 6, result_text(row))
    ok = a.outcomes.get("ok", 0)
    if dry_run and a.estimate is not None:
        e = a.estimate
        most = "–" if e.max_completion_tokens is None else e.prompt_tokens + e.max_completion_tokens
        tokens = most if isinstance(most, str) else f"{most:,}"
        cost = "" if e.cost is None else money(e.cost, a.currency)
        return (
            *names,
            f"{e.n_requests:,}",
            f"{a.n_known + e.n_cached:,}",
            "",
            "",
            f"{e.n_to_ask:,}",
            tokens,
            cost,
            result_text(row) if row.stage in ("counterfactual", "ablate") else "",
        )
    cost = "" if a.cost is None else f"{money(a.cost, a.currency)}, "
    return (
        *names,
        f"{a.n_requests:,}",
        f"{a.n_known:,}",
        f"{ok:,}",
        f"{a.n_replied - ok:,}",
        f"{a.n_left:,}",
        f"{a.prompt_tokens + a.completion_tokens:,}",
        f"{cost}{clock(a.seconds)}",
        result_text(row),
    )


def plan_json(summary: PlanSummary) -> dict[str, Any]:
    """Return a run as plain values."""
    return {
        "questions": {name: q.as_json() for name, q in summary.questions.items()},
        "rows": [
            {
                "stage": row.stage,
                "model": row.model,
                "dataset": row.dataset,
                "asking": None if row.asking is None else row.asking.as_json(),
                "why_not": row.why_not,
                "result": result_text(row),
            }
            for row in summary.rows
        ],
        "figures": [figures.as_json() for figures in summary.figures],
        "stopped": summary.stopped,
        "complete": summary.complete,
    }
