"""Pools, embeddings and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, update
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer, decode_trace, encode_answer
from store.columns import content_hash
from store.engine import Base
from store.keys import path_key, sample_order
from store.records import (
    MetricRecord,
    PoolRecord,
    PoolScore,
    ScoringRecord,
    TraceRecord,
    TraceScoreRecord,
)
from store.repository.noted import flags_of, metrics_of, noted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 500


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def trace_record(row: t.Trace, dataset: str, question: str, pool: str) -> TraceRecord:
    """Return what callers see of a trace row."""
    return TraceRecord(
        id=row.id or 0,
        key=path_key(dataset, question, pool, row.sample),
        sample=row.sample,
        form=row.form,
        source=row.source,
        trace=decode_trace(row.steps, row.answer_text, row.answer, row.issues),
        source_hash=row.source_hash,
    )


class Scores(Base):
    """What the scoring stages read and write."""

    def pools(self) -> tuple[PoolRecord, ...]:
        """Return every pool, in order of dataset, question and pool name."""
        with self._read() as s:
            rows = s.exec(
                select(t.Pool, t.Question)
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .order_by(col(t.Question.dataset), col(t.Question.external_id), col(t.Pool.name))
            ).all()
        return tuple(
            PoolRecord(
                p.id or 0,
                q.dataset,
                q.external_id,
                q.text,
                p.name,
                decode_answer(q.gold),
                p.model,
                p.variant,
                p.parameters,
            )
            for p, q in rows
        )

    def pool_traces(self, pool_id: int) -> tuple[TraceRecord, ...]:
        """Return a pool's traces in sample order (the order in which answers are "seen")."""
        with self._read() as s:
            pool, question = s.exec(
                select(t.Pool, t.Question)
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .where(t.Pool.id == pool_id)
            ).one()
            rows = s.exec(select(t.Trace).where(t.Trace.pool_id == pool_id)).all()
        return tuple(
            trace_record(r, question.dataset, question.external_id, pool.name)
            for r in sorted(rows, key=lambda r: sample_order(r.sample))
        )

    def pool_samples(self, pool: str) -> dict[int, frozenset[str]]:
        """Return question id → samples of the pools of one name, without reading the traces."""
        found: dict[int, set[str]] = {}
        with self._read() as s:
            rows = s.exec(
                select(t.Pool.question_id, t.Trace.sample)
                .join(t.Trace, col(t.Trace.pool_id) == col(t.Pool.id))
                .where(t.Pool.name == pool)
            )
            for question_id, sample in rows:
                found.setdefault(question_id, set()).add(sample)
        return {question_id: frozenset(samples) for question_id, samples in found.items()}

    def embedder(self, name: str, revision: str, dimension: int) -> int:
        """Return the id of an embedder revision, adding it on first use."""
        with self._write() as s:
            row = s.exec(
                select(t.Embedder).where(t.Embedder.name == name, t.Embedder.revision == revision)
            ).one_or_none()
            if row is None:
                row = t.Embedder(name=name, revision=revision, dimension=dimension)
                s.add(row)
                s.flush()
            if row.dimension != dimension:
                raise ValueError(
                    f"embedder {name} at {revision} has {row.dimension} dimensions in the "
                    f"database, not {dimension}"
                )
            return row.id or 0

    def embedders(self) -> tuple[tuple[int, str, str, int], ...]:
        """Return (id, name, revision, dimension) of every embedder, oldest first."""
        with self._read() as s:
            rows = s.exec(select(t.Embedder).order_by(col(t.Embedder.id))).all()
        return tuple((r.id or 0, r.name, r.revision, r.dimension) for r in rows)

    def known_embeddings(self, embedder_id: int, hashes: Iterable[str]) -> set[str]:
        """Return which of the text hashes have a stored vector."""
        known: set[str] = set()
        with self._read() as s:
            for chunk in _chunks(sorted(set(hashes))):
                known.update(
                    s.exec(
                        select(t.Embedding.text_hash).where(
                            t.Embedding.embedder_id == embedder_id,
                            col(t.Embedding.text_hash).in_(chunk),
                        )
                    )
                )
        return known

    def add_embeddings(self, embedder_id: int, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store float32 vectors by text hash; those known already are left alone."""
        known = self.known_embeddings(embedder_id, vectors)
        rows = [
            {"embedder_id": embedder_id, "text_hash": h, "vector": v.astype("<f4").tobytes()}
            for h, v in vectors.items()
            if h not in known
        ]
        if rows:
            with self._write() as s:
                s.execute(insert(t.Embedding).prefix_with("OR IGNORE", dialect="sqlite"), rows)

    def embeddings(self, embedder_id: int, hashes: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the stored float32 vectors of the text hashes; missing ones are left out."""
        import numpy as np

        out: dict[str, NDArray[np.float32]] = {}
        with self._read() as s:
            for chunk in _chunks(sorted(set(hashes))):
                for digest, blob in s.exec(
                    select(t.Embedding.text_hash, t.Embedding.vector).where(
                        t.Embedding.embedder_id == embedder_id,
                        col(t.Embedding.text_hash).in_(chunk),
                    )
                ):
                    out[digest] = np.frombuffer(blob, dtype="<f4")
        return out

    def scoring(
        self,
        embedder_id: int,
        parameters: Mapping[str, Any],
        tool_version: str,
        *,
        decomposition: str = "none",
        primary: bool | None = None,
    ) -> ScoringRecord:
        """Return the scoring with these parameters, adding it on first use.

        The first scoring of a project is its primary one; `primary=True` moves the title here.
        """
        key = content_hash({"embedder": embedder_id, "decomposition": decomposition, **parameters})
        with self._write() as s:
            row = s.exec(select(t.Scoring).where(t.Scoring.key == key)).one_or_none()
            first = s.exec(select(t.Scoring.id).where(t.Scoring.is_primary)).first() is None
            if row is None:
                row = t.Scoring(
                    key=key,
                    embedder_id=embedder_id,
                    decomposition=decomposition,
                    parameters=dict(parameters),
                    tool_version=tool_version,
                )
            if primary or (primary is None and first):
                s.execute(update(t.Scoring).values(is_primary=False))
                row.is_primary = True
            s.add(row)
            s.flush()
            return _scoring_record(s, row)

    def primary_scoring(self) -> ScoringRecord | None:
        """Return the scoring whose medoids make the audit's cases, None before any scoring."""
        with self._read() as s:
            row = s.exec(select(t.Scoring).where(t.Scoring.is_primary)).one_or_none()
            return None if row is None else _scoring_record(s, row)

    def scorings(self) -> tuple[ScoringRecord, ...]:
        """Return every scoring, oldest first."""
        with self._read() as s:
            rows = s.exec(select(t.Scoring).order_by(col(t.Scoring.id))).all()
            return tuple(_scoring_record(s, row) for row in rows)

    def score_hashes(self, scoring_id: int) -> dict[int, str]:
        """Return the input hash of every pool scored under a scoring."""
        with self._read() as s:
            rows = s.exec(
                select(t.QuestionScore.pool_id, t.QuestionScore.input_hash).where(
                    t.QuestionScore.scoring_id == scoring_id
                )
            ).all()
        return dict(rows)

    def known_metrics(self, scoring_id: int) -> dict[int, dict[str, MetricRecord]]:
        """Return the further metrics of every pool scored under a scoring, by name."""
        with self._read() as s:
            rows = s.exec(
                select(t.QuestionScore.pool_id, t.QuestionScore.flags).where(
                    t.QuestionScore.scoring_id == scoring_id
                )
            ).all()
        return {pool_id: metrics_of(said) for pool_id, said in rows}

    def save_pool_scores(self, scoring_id: int, scores: Iterable[PoolScore]) -> None:
        """Store pools' scores, replacing earlier ones of the same scoring."""
        with self._write() as s:
            for score in scores:
                _replace_score(s, scoring_id, score)

    def pool_score(self, scoring_id: int, pool_id: int) -> PoolScore | None:
        """Return one pool's scores with those of its traces, ranked."""
        with self._read() as s:
            return read_pool_score(s, scoring_id, pool_id)

    def pool_scores(self, scoring_id: int) -> tuple[PoolScore, ...]:
        """Return all pools' scores, without their traces."""
        with self._read() as s:
            rows = s.exec(
                select(t.QuestionScore)
                .where(t.QuestionScore.scoring_id == scoring_id)
                .order_by(col(t.QuestionScore.pool_id))
            ).all()
        return tuple(_pool_score(r, ()) for r in rows)

    def n_unscored_pools(self, scoring_id: int) -> int:
        """Count pools without a score under a scoring."""
        with self._read() as s:
            pools = s.exec(select(func.count()).select_from(t.Pool)).one()
            scored = s.exec(
                select(func.count())
                .select_from(t.QuestionScore)
                .where(t.QuestionScore.scoring_id == scoring_id)
            ).one()
        return pools - scored


def _scoring_record(s: Session, row: t.Scoring) -> ScoringRecord:
    embedder = s.get_one(t.Embedder, row.embedder_id)
    return ScoringRecord(
        id=row.id or 0,
        key=row.key,
        decomposition=row.decomposition,
        embedder=embedder.name,
        embedder_revision=embedder.revision,
        parameters=row.parameters,
        tool_version=row.tool_version,
        is_primary=row.is_primary,
    )


def _replace_score(s: Session, scoring_id: int, score: PoolScore) -> None:
    old = s.exec(
        select(t.QuestionScore.id).where(
            t.QuestionScore.scoring_id == scoring_id, t.QuestionScore.pool_id == score.pool_id
        )
    ).one_or_none()
    if old is not None:
        s.execute(delete(t.TraceScore).where(col(t.TraceScore.question_score_id) == old))
        s.execute(delete(t.QuestionScore).where(col(t.QuestionScore.id) == old))
    row = t.QuestionScore(
        scoring_id=scoring_id,
        pool_id=score.pool_id,
        input_hash=score.input_hash,
        n_traces=score.n_traces,
        n_used=score.n_used,
        excluded=dict(score.excluded),
        sc_answer=encode_answer(score.sc_answer),
        sc_counts=[[encode_answer(a), n] for a, n in score.sc_counts],
        sc_tied=score.sc_tied,
        gsc_answer=encode_answer(score.gsc_answer),
        medoid_trace_id=score.medoid_trace_id,
        disagree=score.disagree,
        sc_correct=score.sc_correct,
        gsc_correct=score.gsc_correct,
        grcs=score.grcs,
        divergence=score.divergence,
        dispersion=score.dispersion,
        entropy=score.entropy,
        flags=noted(score.flags, score.metrics),
    )
    s.add(row)
    s.flush()
    rows = [
        {
            "question_score_id": row.id,
            "trace_id": x.trace_id,
            "rank": x.rank,
            "score": x.score,
            "centrality": x.centrality,
            "centrality_share": x.centrality_share,
            "consensus": x.consensus,
            "node_support": list(x.node_support),
        }
        for x in score.traces
    ]
    if rows:
        s.execute(insert(t.TraceScore), rows)


def read_pool_score(s: Session, scoring_id: int, pool_id: int) -> PoolScore | None:
    """Read one pool's scores inside an open session."""
    row = s.exec(
        select(t.QuestionScore).where(
            t.QuestionScore.scoring_id == scoring_id, t.QuestionScore.pool_id == pool_id
        )
    ).one_or_none()
    if row is None:
        return None
    traces = s.exec(
        select(t.TraceScore)
        .where(t.TraceScore.question_score_id == row.id)
        .order_by(col(t.TraceScore.rank))
    ).all()
    return _pool_score(
        row,
        tuple(
            TraceScoreRecord(
                x.trace_id,
                x.rank,
                x.score,
                x.centrality,
                x.centrality_share,
                x.consensus,
                tuple(x.node_support),
            )
            for x in traces
        ),
    )


def _pool_score(row: t.QuestionScore, traces: tuple[TraceScoreRecord, ...]) -> PoolScore:
    counts = []
    for encoded, n in row.sc_counts:
        answer = decode_answer(encoded)
        if answer is not None:
            counts.append((answer, n))
    return PoolScore(
        pool_id=row.pool_id,
        input_hash=row.input_hash,
        n_traces=row.n_traces,
        n_used=row.n_used,
        excluded=row.excluded,
        sc_answer=decode_answer(row.sc_answer),
        sc_counts=tuple(counts),
        sc_tied=row.sc_tied,
        gsc_answer=decode_answer(row.gsc_answer),
        medoid_trace_id=row.medoid_trace_id,
        disagree=row.disagree,
        sc_correct=row.sc_correct,
        gsc_correct=row.gsc_correct,
        grcs=row.grcs,
        divergence=row.divergence,
        dispersion=row.dispersion,
        entropy=row.entropy,
        flags=flags_of(row.flags),
        traces=traces,
        metrics=metrics_of(row.flags),
    )


__all__ = ["Scores", "read_pool_score", "trace_record"]
