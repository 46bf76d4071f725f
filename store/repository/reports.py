"""Overview, the revealed case, and what agreement is computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer
from store.engine import Base, SealedError
from store.records import (
    FaithfulnessRow,
    JudgeSummary,
    LabelPair,
    OverviewRow,
    RankedTrace,
    RevealedCase,
    SchemaRecord,
    Verdict,
)
from store.repository.cases import is_revealed, read_case
from store.repository.queue import decided_paths
from store.repository.scores import _scoring_record, read_pool_score


class Reports(Base):
    """Aggregates, and the one door behind the seal."""

    def overview(self, rater_id: int | None) -> tuple[OverviewRow, ...]:
        """Return a row per dataset and pool name; the rater's own progress where one is given."""
        group = (col(t.Question.dataset), col(t.Pool.name))
        with self._read() as s:
            traces = _by_group(s, _trace_counts(), group)
            scores = _by_group(s, _score_counts(), group)
            cases = _by_group(s, _case_counts(), group)
            mine = {} if rater_id is None else _by_group(s, _my_counts(rater_id), group)
        rows = []
        for (dataset, pool), counts in traces.items():
            n_cases, n_items = cases.get((dataset, pool), (0, 0))
            n_done, n_items_done = mine.get((dataset, pool), (0, 0))
            progress: tuple[int, ...] = (n_cases, n_done, n_items, n_items_done)
            scored = scores.get((dataset, pool), (0,) * 5)
            rows.append(OverviewRow(dataset, pool, *counts, *scored, *progress))
        return tuple(rows)

    def revealed_case(self, case_id: int, rater_id: int, schema: SchemaRecord) -> RevealedCase:
        """Return what the seal hid.

        Raises
        ------
        SealedError
            When this rater has not revealed the case's question.
        """
        with self._read() as s:
            case = s.get_one(t.AuditCase, case_id)
            pool = s.get_one(t.Pool, case.pool_id)
            question = s.get_one(t.Question, pool.question_id)
            if schema.seal != "open" and not is_revealed(s, rater_id, question.id or 0):
                raise SealedError(f"case {case_id} is sealed for this rater")
            scoring = s.exec(select(t.Scoring).where(t.Scoring.is_primary)).one()
            score = read_pool_score(s, scoring.id or 0, case.pool_id)
            if score is None:
                raise ValueError(f"pool {pool.name} is not scored under the primary scoring")
            view = read_case(s, case_id, rater_id, schema)
            samples = {
                row.id: row
                for row in s.exec(select(t.Trace).where(t.Trace.pool_id == case.pool_id))
            }
            ranking = tuple(
                RankedTrace(
                    rank=x.rank,
                    trace_id=x.trace_id,
                    sample=samples[x.trace_id].sample,
                    answer=decode_answer(samples[x.trace_id].answer),
                    score=x.score,
                    centrality_share=x.centrality_share,
                    consensus=x.consensus,
                    node_support=x.node_support,
                    is_medoid=x.trace_id == score.medoid_trace_id,
                )
                for x in score.traces
            )
            return RevealedCase(
                case=view,
                gold=decode_answer(question.gold),
                gold_text=question.gold_text,
                stratum=case.stratum,
                inclusion_probability=case.inclusion_probability,
                score=score,
                scoring=_scoring_record(s, scoring),
                ranking=ranking,
                verdicts=_verdicts(s, [p.item_id for p in view.paths], rater_id, schema.id),
            )

    def label_pairs(self, schema: str, rater_a: str, rater_b: str) -> tuple[LabelPair, ...]:
        """Return both raters' standing labels on every item that either has touched.

        A label counts as it stood before the rater's reveal; labels imported without that fact
        count as they are.
        """
        with self._read() as s:
            a = _standing_labels(s, schema, rater_a)
            b = _standing_labels(s, schema, rater_b)
            keys: dict[int, tuple[str, str, float | None]] = {}
            rows = s.exec(
                select(
                    t.Item,
                    t.Question.external_id,
                    t.Question.dataset,
                    t.CaseItem.inclusion_probability,
                )
                .join(t.Question, col(t.Question.id) == col(t.Item.question_id))
                .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id), isouter=True)
                .where(col(t.Item.id).in_(_touched_items(schema, rater_a, rater_b)))
            ).all()
            for item, external, dataset, weight in rows:
                keys[item.id or 0] = (item.key, f"{dataset}/{external}", weight)
        pairs = []
        for item_id, (key, question, probability) in sorted(keys.items()):
            x, y = a.get(item_id), b.get(item_id)
            if x is None and y is None:
                continue
            pairs.append(
                LabelPair(
                    item=key,
                    question=question,
                    a=x.category if x else None,
                    b=y.category if y else None,
                    a_state=x.state if x else None,  # type: ignore[arg-type]
                    b_state=y.state if y else None,  # type: ignore[arg-type]
                    inclusion_probability=probability,
                )
            )
        return tuple(pairs)

    def label_origin_counts(self, schema: str, rater: str) -> Mapping[str, int]:
        """Count a rater's standing labels by before_reveal: pre_reveal, unknown, post_reveal."""
        with self._read() as s:
            rows = _standing_labels(s, schema, rater).values()
            post = _post_reveal_count(s, schema, rater)
        counts = Counter(
            "unknown" if r.before_reveal is None else "pre_reveal"
            for r in rows
            if r.state == "labelled"
        )
        return {
            "pre_reveal": counts["pre_reveal"],
            "unknown": counts["unknown"],
            "post_reveal": post,
        }

    def judge_summary(self, rater: str, schema: str = "path") -> JudgeSummary:
        """Return how a judge's verdicts look by themselves: an aggregate, never a listing."""
        with self._read() as s:
            rows = list(_standing_labels(s, schema, rater).values())
            flags: Counter[str] = Counter()
            details = {
                d.label_id: d.flags
                for d in s.exec(
                    select(t.VerdictDetail)
                    .join(t.Label, col(t.Label.id) == col(t.VerdictDetail.label_id))
                    .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
                    .where(t.Rater.name == rater)
                )
            }
        for row in rows:
            flags.update(details.get(row.id or 0, []))
        return JudgeSummary(
            rater=rater,
            n=len(rows),
            counts=dict(Counter(r.category for r in rows if r.category is not None)),
            self_contradictions={
                k: flags[k] for k in ("faithful_with_wrong_step", "spurious_without_step")
            },
            step_out_of_range=flags["step_out_of_range"],
            unparsed=sum(r.state == "unparsed" for r in rows),
        )

    def faithfulness(self, rater: str, schema: str = "path") -> tuple[FaithfulnessRow, ...]:
        """Derive question-level faithfulness of SC and GSC from one rater's path labels.

        GSC is faithful when the medoid's path is; SC when most of its labelled supporters are; a
        tie or none is undefined.
        """
        with self._read() as s:
            labels = _standing_labels(s, schema, rater)
            by_trace = {
                item.trace_id: labels[item.id or 0].category
                for item in s.exec(
                    select(t.Item).where(col(t.Item.id).in_(_touched_items(schema, rater)))
                )
                if item.id in labels
            }
            rows = s.exec(
                select(t.QuestionScore, t.Pool, t.Question)
                .join(t.Scoring, col(t.Scoring.id) == col(t.QuestionScore.scoring_id))
                .join(t.Pool, col(t.Pool.id) == col(t.QuestionScore.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .join(t.AuditCase, col(t.AuditCase.pool_id) == col(t.Pool.id))
                .where(t.Scoring.is_primary)
                .order_by(col(t.Question.dataset), col(t.Question.external_id), col(t.Pool.name))
            ).all()
            return tuple(_faithfulness_row(s, by_trace, *row) for row in rows)


def _faithfulness_row(
    s: Session,
    by_trace: Mapping[int | None, str | None],
    score: t.QuestionScore,
    pool: t.Pool,
    question: t.Question,
) -> FaithfulnessRow:
    supporters = [
        trace
        for trace in s.exec(
            select(t.Trace)
            .join(t.TraceScore, col(t.TraceScore.trace_id) == col(t.Trace.id))
            .where(t.TraceScore.question_score_id == score.id)
        )
        if score.sc_answer is not None and trace.answer == score.sc_answer
    ]
    votes = [by_trace[x.id] for x in supporters if by_trace.get(x.id) is not None]
    sound = sum(v == "faithful" for v in votes)
    medoid = by_trace.get(score.medoid_trace_id)
    return FaithfulnessRow(
        dataset=question.dataset,
        question_id=question.external_id,
        pool=pool.name,
        disagree=score.disagree,
        sc_faithful=None if 2 * sound == len(votes) else 2 * sound > len(votes),
        sc_labelled=len(votes),
        sc_supporters=len(supporters),
        gsc_faithful=None if medoid is None else medoid == "faithful",
        extra={"sc_correct": score.sc_correct, "gsc_correct": score.gsc_correct},
    )


def _by_group(
    s: Session, query: Any, group: tuple[Any, Any]
) -> dict[tuple[str, str], tuple[int, ...]]:
    rows = s.execute(query.add_columns(*group).group_by(*group).order_by(*group))
    return {(r[-2], r[-1]): tuple(int(v or 0) for v in r[:-2]) for r in rows}


def _trace_counts() -> Any:
    """Count by pool first: a pool has one question, so a group has as many of both."""
    trace = t.Trace
    pools = (
        plain_select(
            col(trace.pool_id).label("pool_id"),
            func.count().label("n"),
            func.count().filter(col(trace.n_steps) > 0).label("usable"),
            func.count().filter(col(trace.parsed)).label("parsed"),
            func.count().filter(col(trace.strict)).label("strict"),
            func.sum(col(trace.n_unannotated)).label("unannotated"),
            func.sum(col(trace.n_steps)).label("steps"),
        )
        .group_by(col(trace.pool_id))
        .subquery()
    )
    sums = (func.sum(c) for c in pools.c if c.name != "pool_id")
    return (
        plain_select(func.count(), *sums)
        .select_from(pools)
        .join(t.Pool, col(t.Pool.id) == pools.c.pool_id)
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
    )


def _score_counts() -> Any:
    score: Any = t.QuestionScore
    return (
        plain_select(
            func.count(col(score.id)),
            func.count(score.sc_correct),
            func.count(col(score.id)).filter(score.sc_correct),
            func.count(col(score.id)).filter(score.gsc_correct),
            func.count(col(score.id)).filter(col(score.disagree)),
        )
        .select_from(score)
        .join(t.Scoring, col(t.Scoring.id) == col(score.scoring_id))
        .join(t.Pool, col(t.Pool.id) == col(score.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        .where(col(t.Scoring.is_primary))
    )


def _case_counts() -> Any:
    sizes = (
        plain_select(col(t.CaseItem.case_id).label("case_id"), func.count().label("n"))
        .group_by(col(t.CaseItem.case_id))
        .subquery()
    )
    return _of_cases(plain_select(func.count(), func.sum(sizes.c.n)), sizes)


def _my_counts(rater_id: int) -> Any:
    mine = decided_paths(rater_id).subquery()
    done = func.count().filter(mine.c.n_decided == mine.c.n_items)
    return _of_cases(plain_select(done, func.sum(mine.c.n_decided)), mine)


def _of_cases(query: Any, cases: Any) -> Any:
    return (
        query.select_from(cases)
        .join(t.AuditCase, col(t.AuditCase.id) == cases.c.case_id)
        .join(t.Pool, col(t.Pool.id) == col(t.AuditCase.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
    )


def _touched_items(schema: str, *raters: str) -> Any:
    return (
        select(col(t.Label.item_id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .join(t.LabelSchema, col(t.LabelSchema.id) == col(t.Label.schema_id))
        .where(col(t.Rater.name).in_(raters), t.LabelSchema.name == schema)
    )


def _standing(schema: str, rater: str, *clauses: Any) -> Any:
    return (
        select(func.max(col(t.Label.id)).label("id"))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .join(t.LabelSchema, col(t.LabelSchema.id) == col(t.Label.schema_id))
        .where(t.Rater.name == rater, t.LabelSchema.name == schema, *clauses)
        .group_by(col(t.Label.item_id))
        .subquery()
    )


def _standing_labels(s: Session, schema: str, rater: str) -> dict[int, t.Label]:
    """Each item's newest label not made after a reveal, open ones left out."""
    newest = _standing(schema, rater, col(t.Label.before_reveal).is_not(False))
    rows = s.exec(
        select(t.Label).join(newest, newest.c.id == col(t.Label.id)).where(t.Label.state != "open")
    )
    return {r.item_id: r for r in rows}


def _post_reveal_count(s: Session, schema: str, rater: str) -> int:
    newest = _standing(schema, rater)
    return s.exec(
        select(func.count())
        .select_from(t.Label)
        .join(newest, newest.c.id == col(t.Label.id))
        .where(t.Label.state == "labelled", col(t.Label.before_reveal).is_(False))
    ).one()


def _verdicts(
    s: Session, item_ids: list[int], rater_id: int, schema_id: int
) -> tuple[Verdict, ...]:
    newest = (
        select(func.max(col(t.Label.id)).label("id"))
        .where(
            col(t.Label.item_id).in_(item_ids),
            t.Label.rater_id != rater_id,
            t.Label.schema_id == schema_id,
        )
        .group_by(col(t.Label.rater_id), col(t.Label.item_id))
        .subquery()
    )
    rows = s.exec(
        select(t.Label, t.Rater, t.VerdictDetail)
        .join(newest, newest.c.id == col(t.Label.id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .join(t.VerdictDetail, col(t.VerdictDetail.label_id) == col(t.Label.id), isouter=True)
        .where(t.Label.state != "open")
        .order_by(col(t.Rater.kind), col(t.Rater.id))
    ).all()
    out = []
    for label, rater, detail in rows:
        out.append(
            Verdict(
                item_id=label.item_id,
                rater=rater.name,
                rater_kind=rater.kind,  # type: ignore[arg-type]
                state=label.state,  # type: ignore[arg-type]
                category=label.category,
                first_wrong_step=label.first_wrong_step,
                rationale=(detail.rationale if detail else None) or label.note,
                prompt_version=detail.prompt_version if detail else None,
                flags=tuple(detail.flags) if detail else (),
            )
        )
    return tuple(out)
