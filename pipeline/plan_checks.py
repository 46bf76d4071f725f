"""Whether the stages of a plan find what they need: in the database, or made by earlier ones."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pipeline.deducing.staging import OWN
from pipeline.facts import UNDECOMPOSED
from pipeline.judging import CRITERIA_SCHEMA
from pipeline.plan_keys import OTHER_MODELS
from pipeline.plan_reading import Plan, PlanStage
from pipeline.plan_stages import of_no_dataset
from pipeline.sealing import known_rater
from store import Store


def check_stages(store: Store, plan: Plan) -> list[str]:
    """Return a line for each thing that stages name or need and that is not there."""
    problems: list[str] = []
    made = _Made(store)
    for stage in plan.stages:
        problems += (f"{stage.place}{p}" for p in made.lacking(stage))
        made.note(stage)
    return [*problems, *_problem_files(plan), *_keys(plan)]


class _Made:
    """What the database and the stages so far have made."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decompositions = {UNDECOMPOSED, *(d.name for d in store.decompositions())}
        self._scored = store.primary_scoring() is not None
        self._edited = bool(store.editings())

    def note(self, stage: PlanStage) -> None:
        """Note what a stage makes."""
        if stage.stage == "decompose" and stage.model is not None:
            self._decompositions.add(stage.parameters.get("name", stage.model))
        self._scored = self._scored or stage.stage == "score"
        self._edited = self._edited or stage.stage == "counterfactual"

    def lacking(self, stage: PlanStage) -> Iterator[str]:
        """Yield what a stage needs and does not find, behind the stage's place."""
        given = stage.parameters
        named = given.get("decomposition", UNDECOMPOSED)
        if named not in self._decompositions:
            yield (
                f" decomposition: {named!r} is neither in the database nor made by an earlier "
                f"stage; there are: {', '.join(sorted(self._decompositions))}"
            )
        if "labelled_by" in given:
            try:
                known_rater(self._store, given["labelled_by"])
            except ValueError as error:
                yield f" labelled_by: {error}"
        if not self._scored and _needs_medoids(stage):
            yield ": medoids are of a scoring; a score stage before it is right"
        if stage.stage == "judge":
            yield from self._schema(stage)

    def _schema(self, stage: PlanStage) -> Iterator[str]:
        from pipeline.judged import SAMPLED_KINDS
        from pipeline.judging_items import shown_by

        name = stage.parameters.get("schema", "path")
        try:
            record = self._store.schema(name)
            if name != CRITERIA_SCHEMA:
                shown_by(record)
        except ValueError as error:
            yield f" schema: {error}"
            return
        if stage.parameters.get("items") == "sample" and record.item_kind not in SAMPLED_KINDS:
            yield (
                f" items: no sample is drawn of {record.item_kind} items; cases, all or labelled "
                "is right"
            )
        if not stage.datasets and not of_no_dataset(self._store, stage):
            yield (
                f": {record.item_kind} items are of datasets, and there are no datasets in the "
                "plan; a table [datasets.NAME] is right"
            )
        if record.item_kind == "counterfactual":
            yield from self._edits(stage)

    def _edits(self, stage: PlanStage) -> Iterator[str]:
        if not self._edited:
            yield ": there are no edits to judge; a counterfactual stage before it is right"
        elif stage.parameters.get("items", "sample") == "sample" and not any(
            self._store.sampled_edits(e.id) for e in self._store.editings()
        ):
            yield (
                ' items: no edits are drawn for people; items = "all" is right, or medoid '
                "counterfactual --sample before it"
            )


def _needs_medoids(stage: PlanStage) -> bool:
    traces = stage.parameters.get("traces")
    if stage.stage == "counterfactual":
        return traces != "all"
    return stage.stage == "ablate" or (stage.stage == "early-answer" and traces == "medoids")


def _problem_files(plan: Plan) -> Iterator[str]:
    """Yield the files of deduction problems that are not there."""
    for stage in plan.stages:
        named = stage.parameters.get("problems", OWN)
        if stage.stage == "deduce" and named != OWN and not (plan.path.parent / named).exists():
            yield f"{stage.place} problems: {plan.path.parent / named}: no such file"


def _keys(plan: Plan) -> Iterator[str]:
    """Yield the models whose key is in no variable."""
    asked = (
        m for s in plan.stages for m in (s.model, *(s.parameters.get(k) for k in OTHER_MODELS))
    )
    for name in dict.fromkeys(m for m in asked if m is not None):
        key_env = plan.endpoints[name].key_env
        if key_env is not None and not os.environ.get(key_env):
            yield f"[models.{name}] key_env: the variable {key_env} is not set"
