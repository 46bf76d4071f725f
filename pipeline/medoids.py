"""The medoids of the primary scoring."""

from __future__ import annotations

from collections.abc import Iterable

from store import Store
from store.records import PoolRecord, PoolScore, ScoringRecord


def primary_scores(store: Store) -> tuple[ScoringRecord, dict[int, PoolScore]]:
    """Return the primary scoring and its scores by pool id.

    Raises
    ------
    ValueError
        When nothing is scored yet.
    """
    scoring = store.primary_scoring()
    if scoring is None:
        raise ValueError("nothing is scored yet, so there are no medoids: run medoid score first")
    return scoring, {s.pool_id: s for s in store.pool_scores(scoring.id)}


def medoids_of(store: Store, pools: Iterable[PoolRecord]) -> dict[int, int]:
    """Return pool id → trace id of its medoid, of those pools that have one.

    Raises
    ------
    ValueError
        When nothing is scored yet.
    """
    _, scores = primary_scores(store)
    wanted = {p.id for p in pools}
    return {
        i: s.medoid_trace_id
        for i, s in scores.items()
        if i in wanted and s.medoid_trace_id is not None
    }
