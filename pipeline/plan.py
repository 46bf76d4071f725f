"""Running a plan: datasets, then stages, each of them resumable."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pipeline.asking import AskSummary, How
from pipeline.budgets import together
from pipeline.plan_checks import check_stages
from pipeline.plan_reading import Plan, PlanDataset, PlanError, PlanStage, read_plan
from pipeline.plan_sets import missing_sets, save_sets, set_problems
from pipeline.plan_stages import StageCall, askings_of, of_no_dataset, run_stage
from pipeline.plan_table import PlanFigures, plan_figures
from pipeline.progress import silent
from pipeline.questions import QuestionSummary, import_questions
from store import Store, open_store

if TYPE_CHECKING:
    from judges.client import Budget


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One stage of one model on one dataset (or on all: where it asks nobody, or judges what belongs
    to no dataset).

    `asking` is of all that the stage asked, None for a stage that asks nobody. `result` is the stage's own summary, None where
    it was not run; `why_not` says why.
    """

    stage: str
    model: str | None
    dataset: str | None
    asking: AskSummary | None = None
    result: Any = None
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What running a plan did: questions per dataset, then a row per stage, model and dataset.

    `figures` is what it all came to by dataset and model, empty for a dry run.
    """

    questions: Mapping[str, QuestionSummary] = field(default_factory=dict)
    rows: tuple[PlanRow, ...] = ()
    stopped: str | None = None
    figures: tuple[PlanFigures, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing was rejected, failed or is left."""
        asked = all(r.asking is None or r.asking.complete for r in self.rows)
        ran = all(r.why_not is None for r in self.rows)
        return asked and ran and not any(q.rejected for q in self.questions.values())


def run_plan(
    store: Store,
    plan: Plan,
    *,
    on_row: Callable[[PlanRow], None] | None = None,
    **how: Unpack[How],
) -> PlanSummary:
    """Run every stage of a plan in order; what is there already is not done again.

    A stage that is stopped (budget, a server that refuses everything) ends the run: later stages
    would work on half of it. With `dry_run` nothing is asked or written; a stage whose input does
    not exist yet says so.

    Raises
    ------
    PlanError
        When the plan does not fit the database or the environment; nothing was asked then.
    Interrupted
        On Ctrl-C.
    """
    check_plan(store, plan)
    with _planned_store(store, plan, how) as (used, questions):
        return _Run(used, plan, questions, on_row or _nothing, how).all()


def _nothing(_row: PlanRow) -> None:
    """Ignore a row."""


def check_plan(store: Store, plan: Plan) -> None:
    """Refuse a plan that names what is not there: datasets, decompositions, raters, keys.

    Raises
    ------
    PlanError
        With every fault.
    """
    problems = []
    there = set(store.question_counts())
    for dataset in plan.datasets.values():
        if not dataset.files and dataset.name not in there:
            problems.append(
                f"[datasets.{dataset.name}]: not in the database; give it files = [...]"
            )
    problems += set_problems(store, plan.sets)
    problems += check_stages(store, plan)
    if problems:
        raise PlanError([f"{plan.path}: {p}" for p in problems])


@contextmanager
def _planned_store(
    store: Store, plan: Plan, how: How
) -> Iterator[tuple[Store, dict[str, QuestionSummary]]]:
    """Give the store with the plan's questions in it.

    A dry run writes nothing: where the questions are not there yet it gets a store of its own,
    which is thrown away.
    """
    if not how.get("dry_run"):
        yield store, _import_all(store, plan, how)
        return
    counts = store.question_counts()
    if all(name in counts for name in plan.datasets) and not missing_sets(store, plan.sets):
        yield store, {}
        return
    with (
        tempfile.TemporaryDirectory(prefix="medoid-") as folder,
        open_store(Path(folder) / "plan.db") as scratch,
    ):
        yield scratch, _import_all(scratch, plan, how)


def _import_all(store: Store, plan: Plan, how: How) -> dict[str, QuestionSummary]:
    save_sets(store, plan.sets)
    found = {}
    for dataset in plan.datasets.values():
        if not dataset.files:
            continue
        found[dataset.name] = import_questions(
            store,
            dataset.files,
            dataset.mapping,
            dataset=dataset.name,
            seed=dataset.seed or 0,
            on_progress=how.get("on_progress", silent),
        )
        if dataset.name not in store.question_counts():
            raise PlanError(
                [
                    f"{plan.path}: [datasets.{dataset.name}]: its files name other datasets; "
                    "name it as they do"
                ]
            )
    return found


class _Run:
    """A plan at work."""

    def __init__(
        self,
        store: Store,
        plan: Plan,
        questions: Mapping[str, QuestionSummary],
        on_row: Callable[[PlanRow], None],
        how: How,
    ) -> None:
        self._store = store
        self._plan = plan
        self._questions = questions
        self._on_row = on_row
        self._how = how
        self._tokens = 0
        self._cost = 0.0
        self._stopped: str | None = None

    def all(self) -> PlanSummary:
        """Run every stage."""
        rows = []
        for stage in self._plan.stages:
            for row in self._rows(stage):
                rows.append(row)
                self._on_row(row)
        figures: tuple[PlanFigures, ...] = ()
        if not self._how.get("dry_run", False):
            figures = plan_figures(self._store, self._plan, rows)
        return PlanSummary(self._questions, tuple(rows), self._stopped, figures)

    def _rows(self, stage: PlanStage) -> Iterator[PlanRow]:
        if stage.model is None or of_no_dataset(self._store, stage):
            yield self._one(stage, None)
            return
        for name in stage.datasets:
            yield self._one(stage, self._plan.datasets[name])
        for name in stage.sets:
            yield self._one(stage, PlanDataset(name))

    def _one(self, stage: PlanStage, dataset: PlanDataset | None) -> PlanRow:
        row = PlanRow(stage.stage, stage.model, dataset.name if dataset else None)
        if self._stopped is not None:
            return replace(row, why_not="not run: an earlier stage was stopped")
        dry_run = self._how.get("dry_run", False)
        if stage.model is None and dry_run:
            return replace(row, why_not="asks nobody")
        how: How = {**self._how, "budget": self._budget()}
        try:
            result = run_stage(StageCall(self._store, self._plan, stage, dataset, how))
        except ValueError as error:
            # The plan fits, so this is about what earlier stages left: nothing, in a dry run.
            if not dry_run:
                raise
            return replace(row, why_not=f"not known before the stages before it ran ({error})")
        askings = askings_of(result)
        for asking in askings:
            self._tokens += asking.prompt_tokens + asking.completion_tokens
            self._cost += asking.cost or 0.0
            self._stopped = self._stopped or asking.stopped
        if not askings:
            return replace(row, result=result)
        whole = askings[0] if len(askings) == 1 else together(stage.stage, askings)
        return replace(row, asking=whole, result=result)

    def _budget(self) -> Budget | None:
        """Return what is left of the bounds of the plan and of the caller."""
        from judges.client import Budget

        given = self._how.get("budget") or Budget()
        tokens = [b for b in (self._plan.max_tokens, given.max_tokens) if b is not None]
        costs = [b for b in (self._plan.max_cost, given.max_cost) if b is not None]
        if not tokens and not costs:
            return None
        return Budget(
            max_tokens=max(min(tokens) - self._tokens, 0) if tokens else None,
            max_cost=max(min(costs) - self._cost, 0.0) if costs else None,
        )


__all__ = [
    "Plan",
    "PlanDataset",
    "PlanError",
    "PlanRow",
    "PlanStage",
    "PlanSummary",
    "check_plan",
    "read_plan",
    "run_plan",
]
