"""Running a plan: datasets, then stages, each of them resumable."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pipeline.asking import AskSummary, How
from pipeline.facts import UNDECOMPOSED
from pipeline.plan_reading import Plan, PlanDataset, PlanError, PlanStage, read_plan
from pipeline.plan_table import PlanFigures, plan_figures
from pipeline.progress import silent
from pipeline.questions import QuestionSummary, import_questions
from pipeline.sealing import known_rater
from store import Store, open_store

if TYPE_CHECKING:
    from judges.client import Budget


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One stage of one model on one dataset (or, where it asks nobody, on all).

    `asking` is None for a stage that asks nobody. `result` is the stage's own summary, None where
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
    known = {UNDECOMPOSED, *(d.name for d in store.decompositions())}
    for stage in plan.stages:
        named = stage.parameters.get("decomposition", UNDECOMPOSED)
        if named not in known:
            problems.append(
                f"{stage.place} decomposition: {named!r} is neither in the database nor made by an "
                f"earlier stage; there are: {', '.join(sorted(known))}"
            )
        if stage.stage == "decompose" and stage.model is not None:
            known.add(stage.parameters.get("name", stage.model))
        if "labelled_by" in stage.parameters:
            try:
                known_rater(store, stage.parameters["labelled_by"])
            except ValueError as error:
                problems.append(f"{stage.place} labelled_by: {error}")
    for name in dict.fromkeys(s.model for s in plan.stages if s.model is not None):
        key_env = plan.endpoints[name].key_env
        if key_env is not None and not os.environ.get(key_env):
            problems.append(f"[models.{name}] key_env: the variable {key_env} is not set")
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
    if all(name in counts for name in plan.datasets):
        yield store, {}
        return
    with (
        tempfile.TemporaryDirectory(prefix="medoid-") as folder,
        open_store(Path(folder) / "plan.db") as scratch,
    ):
        yield scratch, _import_all(scratch, plan, how)


def _import_all(store: Store, plan: Plan, how: How) -> dict[str, QuestionSummary]:
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
        if stage.model is None:
            yield self._one(stage, None)
            return
        for name in stage.datasets:
            yield self._one(stage, self._plan.datasets[name])

    def _one(self, stage: PlanStage, dataset: PlanDataset | None) -> PlanRow:
        row = PlanRow(stage.stage, stage.model, dataset.name if dataset else None)
        if self._stopped is not None:
            return replace(row, why_not="not run: an earlier stage was stopped")
        dry_run = self._how.get("dry_run", False)
        if stage.model is None and dry_run:
            return replace(row, why_not="asks nobody")
        try:
            result = _STAGES[stage.stage](self, stage, dataset)
        except ValueError as error:
            # The plan fits, so this is about what earlier stages left: nothing, in a dry run.
            if not dry_run:
                raise
            return replace(row, why_not=f"not known before the stages before it ran ({error})")
        asking = getattr(result, "asking", None)
        if asking is not None:
            self._tokens += asking.prompt_tokens + asking.completion_tokens
            self._cost += asking.cost or 0.0
            self._stopped = asking.stopped
        return replace(row, asking=asking, result=result)

    def _asking(self, stage: PlanStage, dataset: PlanDataset) -> dict[str, Any]:
        """Return what all asking stages take of the plan."""
        from pipeline.asking import sampling_for

        endpoint = self._plan.endpoints[stage.model or ""]
        given = dict(stage.parameters)
        form = given.pop("form", None)
        if form == "auto":
            endpoint, form = replace(endpoint, structured="auto"), None
        drawn = {k: given.pop(k, None) for k in ("temperature", "top_p", "max_tokens")}
        drawn["seed"] = given.pop("sampling_seed", None)
        how: dict[str, Any] = {**self._how, "budget": self._budget()}
        default = _default_sampling(stage.stage)
        return {
            "endpoint": endpoint,
            "dataset": dataset.name,
            "form": form,
            "sampling": sampling_for(endpoint, default, **drawn),
            **given,
            **how,
        }

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

    def generate(self, stage: PlanStage, dataset: PlanDataset) -> Any:
        from pipeline.generating import generate

        return generate(self._store, **self._limited(stage, dataset))

    def decompose(self, stage: PlanStage, dataset: PlanDataset) -> Any:
        from pipeline.decomposing import decompose

        return decompose(self._store, **self._limited(stage, dataset))

    def early_answer(self, stage: PlanStage, dataset: PlanDataset) -> Any:
        from pipeline.early import early_answer

        return early_answer(self._store, **self._limited(stage, dataset))

    def judge(self, stage: PlanStage, dataset: PlanDataset) -> Any:
        from pipeline.judging import judge

        asking = self._asking(stage, dataset)
        return judge(self._store, **asking, limit=dataset.limit, draw=dataset.seed)

    def _limited(self, stage: PlanStage, dataset: PlanDataset) -> dict[str, Any]:
        asking = self._asking(stage, dataset)
        return {**asking, "limit": dataset.limit, "seed": dataset.seed}

    def embed(self, stage: PlanStage, _dataset: PlanDataset | None) -> Any:
        from pipeline.embedding import embed

        given = dict(stage.parameters)
        return embed(
            self._store,
            given.pop("embedder", "minilm"),
            on_progress=self._how.get("on_progress", silent),
            **given,
        )

    def score(self, stage: PlanStage, _dataset: PlanDataset | None) -> Any:
        from pipeline.sampling import Design, make_items
        from pipeline.scoring import ScoreParameters, chosen_metrics, score

        given = dict(stage.parameters)
        design = Design(**{k: given.pop(k) for k in ("k", "agreements", "seed") if k in given})
        items = given.pop("items", True)
        common = {k: given.pop(k) for k in ("embedder", "decomposition", "primary") if k in given}
        if not common.get("primary", True):
            common.pop("primary")
        entailment = given.pop("entailment", None)
        names = chosen_metrics(given.pop("metrics", "cheap"), entailment)
        summary = score(
            self._store,
            metrics=names,
            entailment=entailment,
            workers=given.pop("workers", 1),
            parameters=ScoreParameters(**given),
            on_progress=self._how.get("on_progress", silent),
            **common,
        )
        if items and summary.scoring.is_primary:
            make_items(self._store, design)
        return summary


def _default_sampling(stage: str) -> Any:
    from judges import decomposer, early_answerer, generator, path_judge

    return {
        "generate": generator,
        "decompose": decomposer,
        "early-answer": early_answerer,
        "judge": path_judge,
    }[stage].DEFAULT_SAMPLING


_STAGES: Mapping[str, Callable[[_Run, PlanStage, Any], Any]] = {
    "generate": _Run.generate,
    "decompose": _Run.decompose,
    "embed": _Run.embed,
    "score": _Run.score,
    "early-answer": _Run.early_answer,
    "judge": _Run.judge,
}

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
