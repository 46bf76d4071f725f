"""Ablated pools: sampled with the reasoning of one trace, a medoid, forbidden."""

from __future__ import annotations

from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.engine import Base
from store.intervention_records import AblationRecord
from store.repository.cases import case_query
from store.repository.items import ConflictError
from store.repository.rows import add_missing
from store.repository.seen import wording


def link_ablation(
    s: Session, pool_id: int, medoid_trace_id: int, source_hash: str, scoring_key: str
) -> None:
    """Record which trace's reasoning is forbidden in a pool; again the same changes nothing.

    Raises
    ------
    ConflictError
        When another was, or another text of it.
    """
    row = s.get(t.AblationPool, pool_id)
    if row is None:
        values = {
            "pool_id": pool_id,
            "medoid_trace_id": medoid_trace_id,
            "source_hash": source_hash,
            "scoring_key": scoring_key,
            "created_at": utc_now(),
        }
        add_missing(s, t.AblationPool, [values])
        row = s.get_one(t.AblationPool, pool_id)
    if (row.medoid_trace_id, row.source_hash) != (medoid_trace_id, source_hash):
        raise ConflictError(
            "the pool was sampled with another reasoning forbidden: "
            "give these alternatives a pool of their own with --variant NAME"
        )


class Ablations(Base):
    """What was forbidden in which pool."""

    def ablations(self) -> dict[int, AblationRecord]:
        """Return all ablated pools by pool id."""
        with self._read() as s:
            rows = s.exec(
                select(t.AblationPool, t.Trace.pool_id).join(
                    t.Trace, col(t.Trace.id) == col(t.AblationPool.medoid_trace_id)
                )
            ).all()
        return {
            r.pool_id: AblationRecord(
                r.pool_id, r.medoid_trace_id, source, r.source_hash, r.scoring_key
            )
            for r, source in rows
        }

    def shown_pools(self, rater_id: int, *, sealed: bool) -> frozenset[int]:
        """Return the ablated pools whose medoid and gold this rater may know.

        Those are the pools of questions that they have revealed, or that no case asks about, be
        it under another dataset's name. Not `sealed`, they are all.
        """
        question = (col(t.Question.id), col(t.Question.text), col(t.Question.options))
        ablated = (
            plain_select(col(t.AblationPool.pool_id), *question)
            .join(t.Pool, col(t.Pool.id) == col(t.AblationPool.pool_id))
            .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        )
        revealed = select(t.Reveal.question_id).where(t.Reveal.rater_id == rater_id)
        with self._read() as s:
            pools = s.execute(ablated).all()
            if not sealed:
                return frozenset(pool for pool, *_ in pools)
            seen = set(s.exec(revealed))
            asked = {wording(r.text, r.options) for r in s.exec(case_query(t.Question))}
        return frozenset(
            pool
            for pool, ident, text, options in pools
            if ident in seen or wording(text, options) not in asked
        )
