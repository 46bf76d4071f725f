"""The stages of a plan: each takes its keys to the stage it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pipeline.asking import AskSummary, How
from pipeline.plan_reading import Plan, PlanDataset, PlanStage
from pipeline.progress import silent
from store import Store

if TYPE_CHECKING:
    from judges.endpoint import Endpoint
    from pipeline.ablating import AblateSummary
    from pipeline.early import EarlySummary


@dataclass(frozen=True, slots=True)
class StageCall:
    """A stage on a dataset, or on all where it asks nobody or its items belong to no dataset."""

    store: Store
    plan: Plan
    stage: PlanStage
    dataset: PlanDataset | None
    how: How = field(default_factory=How)


@dataclass(frozen=True, slots=True)
class Ablated:
    """Alternatives, and the early answers that go with them; None where none were asked for."""

    sampled: AblateSummary
    answered: EarlySummary | None

    @property
    def askings(self) -> tuple[AskSummary, ...]:
        """How the requests of both ended."""
        early = () if self.answered is None else (self.answered.asking,)
        return (*self.sampled.askings, *early)


def editing_name(stage: PlanStage) -> str:
    """Return what a stage's editing is called: after the editor, so that models never share one."""
    given = stage.parameters
    return str(given.get("name") or given.get("editor") or stage.model)


def of_no_dataset(store: Store, stage: PlanStage) -> bool:
    """Tell whether a stage's items belong to no dataset: it is run once then, without a limit.

    Raises
    ------
    ValueError
        When there is no such schema, or nothing that it judges.
    """
    from pipeline.judging import CRITERIA_SCHEMA

    if stage.stage == "deduce":
        return True
    schema = stage.parameters.get("schema", "path")
    if stage.stage != "judge" or schema == CRITERIA_SCHEMA:
        return False
    from pipeline.judging_items import shown_by

    return not shown_by(store.schema(schema)).of_traces


def run_stage(call: StageCall) -> Any:
    """Run one stage; return its own summary.

    Raises
    ------
    ValueError
        When what the stage works on is not there.
    Interrupted
        On Ctrl-C.
    """
    return _STAGES[call.stage.stage](call)


def askings_of(result: Any) -> tuple[AskSummary, ...]:
    """Return how the requests of a stage ended, none for a stage that asks nobody."""
    several = getattr(result, "askings", None)
    if several is not None:
        return tuple(several)
    one = getattr(result, "asking", None)
    return () if one is None else (one,)


def _asking(call: StageCall) -> dict[str, Any]:
    """Return what all asking stages take of the plan."""
    from pipeline.asking import sampling_for

    given = dict(call.stage.parameters)
    form = given.pop("form", None)
    endpoint = _endpoint(call, call.stage.model or "", form)
    drawn = {k: given.pop(k, None) for k in ("temperature", "top_p", "max_tokens")}
    drawn["seed"] = given.pop("sampling_seed", None)
    return {
        "endpoint": endpoint,
        "dataset": None if call.dataset is None else call.dataset.name,
        "form": None if form == "auto" else form,
        "sampling": sampling_for(endpoint, _default_sampling(call.stage.stage), **drawn),
        **given,
        **call.how,
    }


def _endpoint(call: StageCall, name: str, form: str | None) -> Endpoint:
    found = call.plan.endpoints[name]
    return replace(found, structured="auto") if form == "auto" else found


def _limited(call: StageCall) -> dict[str, Any]:
    limit, seed = (None, None) if call.dataset is None else (call.dataset.limit, call.dataset.seed)
    return {**_asking(call), "limit": limit, "seed": seed}


def _default_sampling(stage: str) -> Any:
    from judges import (
        ablator,
        counterfactual_answerer,
        decomposer,
        early_answerer,
        generator,
        path_judge,
        relation_asker,
        solver,
    )

    return {
        "generate": generator,
        "decompose": decomposer,
        "early-answer": early_answerer,
        "counterfactual": counterfactual_answerer,
        "ablate": ablator,
        "deduce": solver,
        "judge": path_judge,
        "relations": relation_asker,
    }[stage].DEFAULT_SAMPLING


def _generate(call: StageCall) -> Any:
    from pipeline.generating import generate

    return generate(call.store, **_limited(call))


def _decompose(call: StageCall) -> Any:
    from pipeline.decomposing import decompose

    return decompose(call.store, **_limited(call))


def _early_answer(call: StageCall) -> Any:
    from pipeline.early import early_answer

    return early_answer(call.store, **_limited(call))


def _counterfactual(call: StageCall) -> Any:
    from pipeline.counterfactual import counterfactual

    given = _limited(call)
    name = given.pop("editor", None)
    editor = None if name is None else _endpoint(call, name, call.stage.parameters.get("form"))
    given["name"] = editing_name(call.stage)
    return counterfactual(call.store, given.pop("endpoint"), editor, **given)


def _ablate(call: StageCall) -> Ablated:
    from pipeline.ablating import ablate, answer_early

    given = _limited(call)
    early = given.pop("early", True)
    facts = {k: given.pop(k) for k in ("decomposition",) if k in given}
    sampled = ablate(call.store, **given)
    stopped = any(a.stopped is not None for a in sampled.askings)
    if not early or stopped or call.how.get("dry_run"):
        return Ablated(sampled, None)
    answered = answer_early(
        call.store, given["endpoint"], sampled, form=given["form"], **facts, **call.how
    )
    return Ablated(sampled, answered)


def _deduce(call: StageCall) -> Any:
    from pipeline.deducing.staging import OWN, deduce_stage

    given = _asking(call)
    given.pop("dataset")
    form = call.stage.parameters.get("form")
    for key in ("maker", "paraphraser", "extractor"):
        if key in given:
            given[key] = _endpoint(call, given[key], form)
    named = given.pop("problems", OWN)
    problems = None if named == OWN else call.plan.path.parent / named
    return deduce_stage(call.store, given.pop("endpoint"), problems=problems, **given)


def _judge(call: StageCall) -> Any:
    from pipeline.judging import judge

    limited = _limited(call)
    draw = limited.pop("seed")
    seed = call.stage.parameters.get("seed", 0)
    return judge(call.store, **limited, draw=draw, seed=seed)


def _relations(call: StageCall) -> Any:
    from pipeline.plan_sets import ask_set

    given = _asking(call)
    return ask_set(call.store, given.pop("dataset"), given)


def _embed(call: StageCall) -> Any:
    from pipeline.embedding import embed

    given = dict(call.stage.parameters)
    return embed(
        call.store,
        given.pop("embedder", "minilm"),
        on_progress=call.how.get("on_progress", silent),
        **given,
    )


def _score(call: StageCall) -> Any:
    from pipeline.sampling import Design, make_items
    from pipeline.scoring import ScoreParameters, chosen_metrics, score

    given = dict(call.stage.parameters)
    design = Design(**{k: given.pop(k) for k in ("k", "agreements", "seed") if k in given})
    items = given.pop("items", True)
    common = {k: given.pop(k) for k in ("embedder", "decomposition", "primary") if k in given}
    if not common.get("primary", True):
        common.pop("primary")
    entailment = given.pop("entailment", None)
    names = chosen_metrics(given.pop("metrics", "cheap"), entailment)
    summary = score(
        call.store,
        metrics=names,
        entailment=entailment,
        workers=given.pop("workers", 1),
        parameters=ScoreParameters(**given),
        on_progress=call.how.get("on_progress", silent),
        **common,
    )
    if items and summary.scoring.is_primary:
        make_items(call.store, design)
    return summary


_STAGES: Mapping[str, Callable[[StageCall], Any]] = {
    "generate": _generate,
    "decompose": _decompose,
    "embed": _embed,
    "score": _score,
    "early-answer": _early_answer,
    "counterfactual": _counterfactual,
    "ablate": _ablate,
    "deduce": _deduce,
    "judge": _judge,
    "relations": _relations,
}
