"""Choosing the cases and paths worth a human's time, with their inclusion probabilities."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.targeting import Target, TargetPlan, draw_targeted
from scoring.types import NormalForm
from store import CasesMade, NewCase, Store
from store.records import PoolRecord, PoolScore, TraceRecord


@dataclass(frozen=True, slots=True)
class Design:
    """A sampling design.

    For every disagreement case `k` paths with SC's answer and `k` with GSC's, or fewer so that
    both sides have the same number; the medoid is always among GSC's. Of the agreement cases a
    share `agreements` is drawn, two paths of the one answer each, the medoid among them. With a
    `target`, as many of both are drawn as it takes, in an order that reaches it soonest (see
    `targeting`), and `agreements` says nothing.
    """

    k: int = 3
    agreements: float = 0.25
    seed: int = 0
    target: Target | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, not {self.k}")
        if not 0 <= self.agreements <= 1:
            raise ValueError(f"agreements is a share from 0 to 1, not {self.agreements}")

    @property
    def parameters(self) -> dict[str, Any]:
        """What the design is stored by."""
        if self.target is None:
            return {"k": self.k, "agreements": self.agreements, "seed": self.seed}
        expected = {f"expected_{k}": v for k, v in sorted(self.target.expected.items())}
        return {
            "k": self.k,
            "seed": self.seed,
            "target_half_width": self.target.half_width,
            **expected,
        }


@dataclass(frozen=True, slots=True)
class ItemsSummary:
    """What `make_items` found and made. Strata never sampled are named.

    `n_without_paths` disagreements make no case: none of SC's voters has steps to judge.
    `plan` says what a targeted queue reaches, None where there is no target.
    """

    n_disagreements: int
    n_disagreements_drawn: int
    n_agreements: int
    n_agreements_drawn: int
    cases: CasesMade
    strata_never_sampled: tuple[str, ...]
    n_without_paths: int = 0
    plan: TargetPlan | None = None


def make_items(store: Store, design: Design | None = None) -> ItemsSummary:
    """Make path items for the primary scoring's disagreements and a sample of its agreements.

    Raises
    ------
    ValueError
        When nothing is scored yet.
    """
    design = design or Design()
    scoring = store.primary_scoring()
    if scoring is None:
        raise ValueError("nothing is scored yet: run medoid score first")
    pools = {p.id: p for p in store.pools()}
    scores = [s for s in store.pool_scores(scoring.id) if s.medoid_trace_id is not None]
    disagree = [s for s in scores if s.disagree]
    agree = [s for s in scores if not s.disagree]
    drawn, plan = _drawn(disagree, agree, design, pools)
    new = []
    without = 0
    for row, p, place in drawn:
        pool = pools[row.pool_id]
        traces = store.pool_traces(row.pool_id)
        full = store.pool_score(scoring.id, row.pool_id) or row
        rng = random.Random(f"{design.seed}\x1f{pool.dataset}\x1f{pool.question_id}\x1f{pool.pool}")
        items = _choose(full, traces, design.k if row.disagree else 2, rng)
        if not items:
            without += 1
            continue
        stratum = "disagreement" if row.disagree else "agreement"
        new.append(NewCase(row.pool_id, stratum, p, tuple((k, p * q) for k, q in items), place))
    made = store.make_cases(scoring.id, design.parameters, new)
    n_disagree = sum(row.disagree for row, _, _ in drawn)
    n_agree = len(drawn) - n_disagree
    counts = (("disagreement", len(disagree), n_disagree), ("agreement", len(agree), n_agree))
    return ItemsSummary(
        n_disagreements=len(disagree),
        n_disagreements_drawn=n_disagree,
        n_agreements=len(agree),
        n_agreements_drawn=n_agree,
        cases=made,
        strata_never_sampled=tuple(name for name, n, m in counts if n and not m),
        n_without_paths=without,
        plan=plan,
    )


def _drawn(
    disagree: list[PoolScore],
    agree: list[PoolScore],
    design: Design,
    pools: Mapping[int, PoolRecord],
) -> tuple[list[tuple[PoolScore, float, int | None]], TargetPlan | None]:
    """Return the cases with their probabilities and places, and what a target comes to."""
    if design.target is not None:
        rows, plan = draw_targeted([*disagree, *agree], pools, design.target, design.seed)
        return [*rows], plan
    chosen, probability = _draw(agree, design, pools)
    found: list[tuple[PoolScore, float, int | None]] = [(s, 1.0, None) for s in disagree]
    return [*found, *((s, probability, None) for s in chosen)], None


def _draw(
    agree: list[PoolScore], design: Design, pools: Mapping[int, PoolRecord]
) -> tuple[list[PoolScore], float]:
    """Draw the agreement cases without replacement; return them and their probability."""
    n = round(design.agreements * len(agree))
    if n == 0:
        return [], 0.0
    ordered = sorted(agree, key=lambda s: repr(pools[s.pool_id]))
    chosen = random.Random(f"{design.seed}\x1fagreements").sample(ordered, n)
    return chosen, n / len(agree)


def _choose(
    score: PoolScore, traces: tuple[TraceRecord, ...], k: int, rng: random.Random
) -> list[tuple[str, float]]:
    """Return (item key, probability given the case) of the case's paths."""
    voting = {t.trace_id for t in score.traces}
    keys = {r.id: r.key for r in traces}

    def supporters(answer: NormalForm | None) -> list[int]:
        return [r.id for r in traces if r.id in voting and r.trace.answer == answer]

    medoid = score.medoid_trace_id
    gsc = [i for i in supporters(score.gsc_answer) if i != medoid]
    if not score.disagree:
        others = _sample(gsc, k - 1, rng)
        return [(keys[i], q) for i, q in [*_certain(medoid), *others]]
    sc = supporters(score.sc_answer)
    if not sc:  # under electorate `any` the vote may be won by traces without steps
        return []
    k = min(k, len(sc), len(gsc) + 1)
    rows = [*_certain(medoid), *_sample(gsc, k - 1, rng), *_sample(sc, k, rng)]
    return [(keys[i], q) for i, q in rows]


def _certain(medoid: int | None) -> list[tuple[int, float]]:
    return [] if medoid is None else [(medoid, 1.0)]


def _sample(ids: list[int], n: int, rng: random.Random) -> list[tuple[int, float]]:
    n = min(n, len(ids))
    return [(i, n / len(ids)) for i in rng.sample(ids, n)] if n else []
