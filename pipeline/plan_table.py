"""What a plan's run came to, a row per dataset and model: aggregates, as every rater may see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pipeline.ablation_report import ablation_report
from pipeline.counterfactual_report import CounterfactualGroup, counterfactual_report
from pipeline.early_report import early_report
from scoring.faithfulness.answering import mean
from store import Store
from store.records import OverviewRow

if TYPE_CHECKING:
    from pipeline.plan import Plan, PlanRow


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """One dataset and model.

    Traces, answers and scores are those in the database of the model's pools (``MODEL`` and
    ``MODEL@VARIANT``, but for ablated ones), whenever they were made; None where nothing is
    scored. `sc_correct` and `gsc_correct` are of the `n_gold` scored questions with gold, None
    where that could be turned into the gold of one of them (see `FEW`). `grcs` is the mean over
    pools under the primary scoring, 0 to 1, 1 = all traces alike.

    `early` is the mean early-answering faithfulness (target: the trace's own answer) of the asked
    traces, `counterfactual` the mean counterfactual score (baseline: the answer asked again) of
    the questions whose traces were edited; both 0 to 1, higher = relies more on its steps, and by
    the newest run of the pools' own model, or of any other where it was not asked itself.
    `delta_a` and `delta_f` are the mean changes in accuracy and in faithfulness (target: own
    answers) when this model is forbidden its pools' medoids (broad protocol), −1 to 1; `delta_a`
    is kept back as the numbers of right answers are.

    `n_judged` items are complete by this model as a judge. Tokens, cost, seconds and errors are
    those of this run alone; `cost` is None without a price.
    """

    dataset: str
    model: str
    n_traces: int
    n_parsed: int
    n_gold: int
    sc_correct: int | None
    gsc_correct: int | None
    n_scored: int
    n_disagree: int | None
    grcs: float | None
    early: float | None
    counterfactual: float | None
    delta_a: float | None
    delta_f: float | None
    n_judged: int
    tokens: int
    cost: float | None
    currency: str | None
    seconds: float
    errors: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def plan_figures(store: Store, plan: Plan, rows: Sequence[PlanRow]) -> tuple[PlanFigures, ...]:
    """Return a row for each dataset and model of a plan that asks one, in the plan's order."""
    models = list(dict.fromkeys(s.model for s in plan.stages if s.model is not None))
    reader = _Reader(store)
    return tuple(
        _figures(
            reader, dataset, model, [r for r in rows if (r.dataset, r.model) == (dataset, model)]
        )
        for dataset in plan.datasets
        for model in models
    )


def _figures(reader: _Reader, dataset: str, model: str, rows: Sequence[PlanRow]) -> PlanFigures:
    askings = [r.asking for r in rows if r.asking is not None]
    costs = [a.cost for a in askings if a.cost is not None]
    own = reader.rows(dataset, model)
    pools = [r.pool for r in own]
    n_scored, n_gold = sum(r.n_scored for r in own), sum(r.n_gold for r in own)
    right = [sum(r.sc_correct for r in own), sum(r.gsc_correct for r in own)]
    told = n_gold >= FEW and all(0 < n < n_gold for n in right)
    delta_a, delta_f = reader.ablation(dataset, model)
    return PlanFigures(
        dataset,
        model,
        n_traces=sum(r.n_traces for r in own),
        n_parsed=sum(r.n_parsed for r in own),
        n_gold=n_gold,
        sc_correct=right[0] if told else None,
        gsc_correct=right[1] if told else None,
        n_scored=n_scored,
        n_disagree=sum(r.n_disagree for r in own) if n_scored else None,
        grcs=_weighted(reader.grcs(dataset, pools)),
        early=_weighted(reader.early(dataset, pools)),
        counterfactual=_weighted(reader.counterfactual(dataset, pools)),
        delta_a=delta_a,
        delta_f=delta_f,
        n_judged=sum(r.result.n_complete for r in rows if r.stage == "judge" and r.result),
        tokens=sum(a.prompt_tokens + a.completion_tokens for a in askings),
        cost=sum(costs) if costs else None,
        currency=next((a.currency for a in askings if a.currency), None),
        seconds=sum(a.seconds for a in askings),
        errors=sum(n for a in askings for o, n in a.outcomes.items() if o not in _NO_ERRORS),
    )


FEW = 20
"""As the workbench's overview has it: below so many questions with gold, or where a method is right
on all or on none, how many are right would tell the gold of single ones."""

_NO_ERRORS = ("ok", "unasked")

_Place = tuple[str, str]
"""Dataset and name of a pool."""
_Value = tuple[float, int]
"""A mean and over how many."""


def _weighted(values: Iterable[_Value]) -> float | None:
    """Return the mean of means, None of nothing."""
    found = list(values)
    weight = sum(n for _, n in found)
    return sum(v * n for v, n in found) / weight if weight else None


class _Reader:
    """Reads what the stages stored, each kind once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        links = store.ablations()
        pools = store.pools()
        ablated = {(p.dataset, p.pool) for p in pools if p.id in links}
        self._rows = [r for r in store.overview(None) if (r.dataset, r.pool) not in ablated]
        self._models = {(p.dataset, p.pool): p.model for p in pools}
        self._grcs = self._read_grcs({p.id: (p.dataset, p.pool) for p in pools})
        self._early = self._read_early()
        self._counterfactual = self._read_counterfactual()
        self._ablated = ablation_report(store, distances=False).questions if links else ()

    def rows(self, dataset: str, model: str) -> list[OverviewRow]:
        """Return the pools of a model, those that are ablated left out."""
        return [r for r in self._rows if r.dataset == dataset and _model_of(r.pool) == model]

    def grcs(self, dataset: str, pools: Sequence[str]) -> Iterator[_Value]:
        """Yield the coherence of every pool under the primary scoring."""
        return ((v, 1) for pool in pools for v in self._grcs.get((dataset, pool), ()))

    def early(self, dataset: str, pools: Sequence[str]) -> Iterator[_Value]:
        """Yield mean early-answering faithfulness by pool name."""
        return (self._early[dataset, p] for p in pools if (dataset, p) in self._early)

    def counterfactual(self, dataset: str, pools: Sequence[str]) -> Iterator[_Value]:
        """Yield mean counterfactual scores by pool name."""
        found = self._counterfactual
        return (found[dataset, p] for p in pools if (dataset, p) in found)

    def ablation(self, dataset: str, model: str) -> tuple[float | None, float | None]:
        """Return the mean changes where a model is forbidden medoids of its own pools."""
        both = [
            q
            for q in self._ablated
            if q.dataset == dataset and model == _model_of(q.ablated) == _model_of(q.pool)
        ]
        a = [q.gold.delta_a for q in both if q.gold.delta_a is not None]
        f = [q.own.delta_f for q in both if q.own.delta_f is not None]
        delta_a = mean(a)
        told = len(a) >= FEW and delta_a is not None and abs(delta_a) < 1
        return (delta_a if told else None), mean(f)

    def _read_grcs(self, places: Mapping[int, _Place]) -> dict[_Place, list[float]]:
        found: defaultdict[_Place, list[float]] = defaultdict(list)
        primary = self._store.primary_scoring()
        for score in () if primary is None else self._store.pool_scores(primary.id):
            if score.grcs is not None and score.pool_id in places:
                found[places[score.pool_id]].append(score.grcs)
        return dict(found)

    def _read_early(self) -> dict[_Place, _Value]:
        return self._best(
            (
                run.model,
                {
                    (g.dataset, g.pool): (g.own.value, g.own.n)
                    for g in early_report(self._store, run).groups
                    if g.traces == "all" and g.own.value is not None
                },
            )
            for run in self._store.early_runs()
        )

    def _read_counterfactual(self) -> dict[_Place, _Value]:
        return self._best(
            (run.model, _counterfactual(counterfactual_report(self._store, run).groups))
            for run in self._store.counterfactual_runs()
        )

    def _best(self, runs: Iterable[tuple[str, dict[_Place, _Value]]]) -> dict[_Place, _Value]:
        """Return the values of the newest run of a pool's own model, else of any model."""
        found: dict[_Place, _Value] = {}
        own: set[_Place] = set()
        for model, values in runs:
            for place, value in values.items():
                if self._models.get(place) == model:
                    own.add(place)
                elif place in own:
                    continue
                found[place] = value
        return found


def _model_of(pool: str) -> str:
    return pool.partition("@")[0]


def _counterfactual(groups: Sequence[CounterfactualGroup]) -> dict[_Place, _Value]:
    """Return scores by pool name: of all edited traces, which come first where there are more."""
    found: dict[_Place, _Value] = {}
    for g in groups:
        if g.reasked.value is not None:
            found.setdefault((g.dataset, g.pool), (g.reasked.value, g.reasked.n))
    return found
