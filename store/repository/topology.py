"""The cases on the topology map, as far as the seal lets their scores be seen."""

from __future__ import annotations

from sqlalchemy import func
from sqlmodel import col, select

from store import tables as t
from store.engine import Base
from store.records import SchemaRecord, TopologyCase, TopologyRows
from store.repository.noted import flags_of
from store.repository.seen import looked_at

LEAST = 5
"""Scored pools that a mean told beside sealed ones is over, at least."""


class Topology(Base):
    """Divergence and entropy under the primary scoring."""

    def topology(
        self,
        rater_id: int,
        schema: SchemaRecord,
        *,
        dataset: str | None = None,
        pool: str | None = None,
    ) -> TopologyRows:
        """Return divergence and entropy of the cases whose scores this rater may see.

        Those are the cases of revealed questions, and under ``judge``, which hides no scores, of
        those they have looked at: whoever opens a case has that recorded, the map shows no more. The
        origin is a mean over all scored pools of the dataset and name, as any sum may be told; None
        where those are few and some are sealed.
        """
        with self._read() as s:
            scoring = s.exec(select(t.Scoring).where(t.Scoring.is_primary)).one_or_none()
            if scoring is None:
                return TopologyRows((), 0, None, 0)
            joined = (
                select(t.QuestionScore, t.Pool, t.Question, t.AuditCase)
                .join(t.Pool, col(t.Pool.id) == col(t.QuestionScore.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .join(t.AuditCase, col(t.AuditCase.pool_id) == col(t.Pool.id))
                .where(t.QuestionScore.scoring_id == scoring.id)
                .order_by(col(t.AuditCase.random_key), col(t.AuditCase.id))
            )
            means = (
                select(
                    func.avg(t.QuestionScore.divergence),
                    func.avg(t.QuestionScore.entropy),
                    func.count(col(t.QuestionScore.entropy)),
                )
                .join(t.Pool, col(t.Pool.id) == col(t.QuestionScore.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .where(t.QuestionScore.scoring_id == scoring.id)
            )
            if dataset is not None:
                joined = joined.where(t.Question.dataset == dataset)
                means = means.where(t.Question.dataset == dataset)
            if pool is not None:
                joined = joined.where(t.Pool.name == pool)
                means = means.where(t.Pool.name == pool)
            rows = s.exec(joined).all()
            x, y, n = s.exec(means).one()
            seen = set(s.exec(select(t.Reveal.question_id).where(t.Reveal.rater_id == rater_id)))
            if schema.seal == "judge":
                seen |= looked_at(s, rater_id)
        shown = tuple(
            _case(score, pool_row, question, case)
            for score, pool_row, question, case in rows
            if question.id in seen
        )
        # A mean over few would tell the scores of those that are sealed.
        told = n >= LEAST or len(shown) == len(rows)
        origin = (float(x), float(y)) if told and x is not None and y is not None else None
        return TopologyRows(shown, len(rows), origin, int(n))


def _case(
    score: t.QuestionScore, pool: t.Pool, question: t.Question, case: t.AuditCase
) -> TopologyCase:
    return TopologyCase(
        case.id or 0,
        question.dataset,
        question.external_id,
        question.text,
        pool.name,
        score.grcs,
        score.divergence,
        score.dispersion,
        score.entropy,
        score.n_used,
        score.disagree,
        flags_of(score.flags),
    )
