"""What a plan's run came to, a row per dataset and model: aggregates, as every rater may see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from store import Store
from store.records import OverviewRow

if TYPE_CHECKING:
    from pipeline.plan import Plan, PlanRow


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """One dataset and model.

    Traces, answers and scores are those in the database of the model's pools (``MODEL`` and
    ``MODEL@VARIANT``), whenever they were made; None where nothing is scored. `sc_correct` and
    `gsc_correct` are of the `n_gold` scored questions with gold, None where that could be turned into
    the gold of one of them (see `FEW`). `grcs` is the mean over pools
    under the primary scoring, 0 to 1, 1 = all traces alike. `early` is the mean early-answering
    faithfulness (target: the trace's own answer) of the newest early-answer run.

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
    overview = store.overview(None)
    grcs, early = _grcs(store), _early(store)
    found = []
    for dataset in plan.datasets:
        for model in models:
            own = [
                r for r in overview if r.dataset == dataset and r.pool.partition("@")[0] == model
            ]
            pools = {r.pool for r in own}
            found.append(
                _figures(
                    dataset,
                    model,
                    own,
                    [v for p in pools for v in grcs.get((dataset, p), ())],
                    [v for p in pools for v in early.get((dataset, p), ())],
                    [r for r in rows if (r.dataset, r.model) == (dataset, model)],
                )
            )
    return tuple(found)


def _figures(
    dataset: str,
    model: str,
    own: Sequence[OverviewRow],
    grcs: Sequence[float],
    early: Sequence[tuple[float, int]],
    rows: Sequence[PlanRow],
) -> PlanFigures:
    askings = [r.asking for r in rows if r.asking is not None]
    costs = [a.cost for a in askings if a.cost is not None]
    n_scored, n_gold = sum(r.n_scored for r in own), sum(r.n_gold for r in own)
    right = [sum(r.sc_correct for r in own), sum(r.gsc_correct for r in own)]
    told = n_gold >= FEW and all(0 < n < n_gold for n in right)
    weight = sum(n for _, n in early)
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
        grcs=sum(grcs) / len(grcs) if grcs else None,
        early=sum(v * n for v, n in early) / weight if weight else None,
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


def _grcs(store: Store) -> dict[tuple[str, str], list[float]]:
    """Return the coherence of every pool under the primary scoring, by dataset and pool name."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    primary = store.primary_scoring()
    if primary is not None:
        pools = {p.id: (p.dataset, p.pool) for p in store.pools()}
        for score in store.pool_scores(primary.id):
            if score.grcs is not None and score.pool_id in pools:
                found[pools[score.pool_id]].append(score.grcs)
    return dict(found)


def _early(store: Store) -> dict[tuple[str, str], list[tuple[float, int]]]:
    """Return mean early-answering faithfulness and its n by dataset and pool name."""
    from pipeline.early_report import early_report

    runs = store.early_runs()
    if not runs:
        return {}
    found: defaultdict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    for group in early_report(store, max(runs, key=lambda r: r.id)).groups:
        if group.traces == "all" and group.own.value is not None:
            found[group.dataset, group.pool].append((group.own.value, group.own.n))
    return dict(found)
