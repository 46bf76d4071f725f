"""The overview, and what agreement and faithfulness are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import exists, func, or_
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.keys import split_cluster
from store.records import (
    AfterUnseal,
    FaithfulnessRow,
    JudgeSummary,
    LabelPair,
    OverviewRow,
    SchemaRecord,
)
from store.repository.queue import decided_paths
from store.repository.relation_seen import LOOKED_ITEM
from store.repository.revealed import unseal_record
from store.repository.rows import (
    find_schema,
    is_sampled,
    is_sampled_edit,
    need_schema,
    outdated_categories,
)
from store.repository.seen import LOOKED, Freed

CONTRADICTIONS = ("faithful_with_wrong_step", "spurious_without_step")
"""Flags of verdicts on paths whose category and step do not go together."""

SOUND = "faithful"
"""The path category that faithfulness is derived from."""


class Reports(Base):
    """Aggregates over raters, and both sides of a comparison."""

    def overview(self, rater_id: int | None, schema: str = "path") -> tuple[OverviewRow, ...]:
        """Return a row per dataset and pool name; the rater's own progress where one is given.

        After them stands a row for each dataset with questions that have no trace: its pool is "".
        """
        group = (col(t.Question.dataset), col(t.Pool.name))
        with self._read() as s:
            traces = _by_group(s, _trace_counts(), group)
            scores = _by_group(s, _score_counts(), group)
            cases = _by_group(s, _case_counts(), group)
            waiting = s.exec(_questions_without_pool()).all()
            mine = {}
            if rater_id is not None:
                outdated = outdated_categories(s, schema)
                mine = _by_group(s, _my_counts(decided_paths(rater_id, schema, outdated)), group)
        rows = []
        for (dataset, pool), counts in traces.items():
            n_cases, n_items = cases.get((dataset, pool), (0, 0))
            n_done, n_items_done = mine.get((dataset, pool), (0, 0))
            progress: tuple[int, ...] = (n_cases, n_done, n_items, n_items_done)
            scored = scores.get((dataset, pool), (0,) * 5)
            rows.append(OverviewRow(dataset, pool, *counts, *scored, *progress))
        rows += [OverviewRow(dataset, "", n, *(0,) * 15) for dataset, n in waiting]
        return tuple(rows)

    def label_pairs(self, schema: str, rater_a: str, rater_b: str) -> tuple[LabelPair, ...]:
        """Return both raters' standing labels on every item that either has touched.

        A label counts as it stood before the rater's reveal; labels imported without that fact
        count as they are.
        """
        with self._read() as s:
            newest = find_schema(s, schema)
            if newest is None:
                return ()
            sides = [_Side.of(s, newest, rater) for rater in (rater_a, rater_b)]
            rows = s.exec(
                select(
                    t.Item,
                    t.Question,
                    func.coalesce(
                        col(t.CaseItem.inclusion_probability),
                        col(t.DecompositionSample.inclusion_probability),
                        col(t.CounterfactualSample.inclusion_probability),
                        col(t.RelationSample.inclusion_probability),
                        col(t.DeductionSample.inclusion_probability),
                    ),
                )
                .join(t.Question, col(t.Question.id) == col(t.Item.question_id), isouter=True)
                .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id), isouter=True)
                .join(t.DecompositionSample, is_sampled(), isouter=True)
                .join(t.CounterfactualSample, is_sampled_edit(), isouter=True)
                .join(
                    t.RelationSample,
                    col(t.RelationSample.item_id) == col(t.Item.id),
                    isouter=True,
                )
                .join(
                    t.DeductionSample,
                    col(t.DeductionSample.item_id) == col(t.Item.id),
                    isouter=True,
                )
                .where(col(t.Item.id).in_(_touched_items(schema, rater_a, rater_b)))
                .order_by(col(t.Item.id))
            ).all()
        pairs = []
        for item, question, probability in rows:
            a, b = (side.said(item) for side in sides)
            if a.label is None and b.label is None:
                continue
            pairs.append(
                LabelPair(
                    item=item.key,
                    question="/".join(place_of(item, question)),
                    a=a.category,
                    b=b.category,
                    a_state=a.state,
                    b_state=b.state,
                    inclusion_probability=probability,
                    a_version=a.version,
                    b_version=b.version,
                    a_held=a.held,
                    b_held=b.held,
                )
            )
        return tuple(pairs)

    def label_origin_counts(self, schema: str, rater: str) -> Mapping[str, int]:
        """Count a rater's standing labels by before_reveal: pre_reveal, unknown, post_reveal."""
        with self._read() as s:
            rows = standing_labels(s, schema, rater).values()
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

    def labels_after_unseal(self, schema: str, rater: str) -> AfterUnseal | None:
        """Count a rater's labels made after the first ``--unseal``; None when nobody has looked."""
        with self._read() as s:
            what = col(t.Unseal.what)
            commands = ~or_(what.startswith(LOOKED), what.startswith(LOOKED_ITEM))
            first = s.exec(select(t.Unseal).where(commands).order_by(col(t.Unseal.id))).first()
            if first is None:
                return None
            standing = standing_labels(s, schema, rater).values()
            moments = [
                r.created_at for r in standing if r.state == "labelled" and r.act != "import"
            ]
            return AfterUnseal(
                sum(moment > first.created_at for moment in moments),
                len(moments),
                unseal_record(first),
            )

    def judge_summary(self, rater: str, schema: str = "path") -> JudgeSummary:
        """Return how a judge's verdicts look by themselves: an aggregate, never a listing."""
        with self._read() as s:
            rows = list(standing_labels(s, schema, rater).values())
            flags: Counter[str] = Counter()
            details = {
                d.label_id: d.flags
                for d in s.execute(
                    plain_select(col(t.VerdictDetail.label_id), col(t.VerdictDetail.flags))
                    .join(t.Label, col(t.Label.id) == col(t.VerdictDetail.label_id))
                    .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
                    .where(col(t.Rater.name) == rater)
                )
            }
            contradicting = CONTRADICTIONS if need_schema(s, schema).item_kind == "path" else ()
        for row in rows:
            flags.update(details.get(row.id or 0, []))
        return JudgeSummary(
            rater=rater,
            n=len(rows),
            counts=dict(Counter(r.category for r in rows if r.category is not None)),
            self_contradictions={k: flags[k] for k in contradicting},
            step_out_of_range=flags["step_out_of_range"],
            unparsed=sum(r.state == "unparsed" for r in rows),
            tied=flags["tied_votes"],
        )

    def faithfulness(self, rater: str, schema: str = "path") -> tuple[FaithfulnessRow, ...]:
        """Derive question-level faithfulness of SC and GSC from one rater's path labels.

        GSC is faithful when the medoid's path is; SC when most of its labelled supporters are; a
        tie or none is undefined.

        Raises
        ------
        ValueError
            When the schema has no category faithful.
        """
        with self._read() as s:
            newest = need_schema(s, schema)
            if SOUND not in newest.names or newest.item_kind != "path":
                raise ValueError(f"schema {schema} has no category {SOUND!r} for paths")
            labels = standing_labels(s, schema, rater)
            items = s.exec(
                select(t.Item).where(col(t.Item.id).in_(_touched_items(schema, rater)))
            ).all()
            by_trace: dict[int, str] = {}
            for item in items:
                category = labels[item.id].category if item.id in labels else None
                if item.trace_id and category is not None and newest.holds(category):
                    by_trace[item.trace_id] = category
            freed = Freed.by(s, rater)
            held = {
                i.question_id for i in items if i.id in labels and is_held(labels[i.id], i, freed)
            }
            rows = s.exec(
                select(t.QuestionScore, t.Pool, t.Question, t.AuditCase)
                .join(t.Scoring, col(t.Scoring.id) == col(t.QuestionScore.scoring_id))
                .join(t.Pool, col(t.Pool.id) == col(t.QuestionScore.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .join(t.AuditCase, col(t.AuditCase.pool_id) == col(t.Pool.id))
                .where(t.Scoring.is_primary)
                .order_by(col(t.Question.dataset), col(t.Question.external_id), col(t.Pool.name))
            ).all()
            return tuple(
                replace(
                    _faithfulness_row(s, by_trace, score, pool, question),
                    revealed=question.id in freed.questions,
                    held=question.id in held,
                    inclusion_probability=case.inclusion_probability,
                )
                for score, pool, question, case in rows
            )


@dataclass(frozen=True, slots=True)
class _Said:
    label: t.Label | None
    category: str | None
    state: Any
    version: int | None
    held: bool


@dataclass(frozen=True, slots=True)
class _Side:
    """One rater's labels under a schema, as they count for a comparison."""

    newest: SchemaRecord
    labels: Mapping[int, t.Label]
    freed: Freed

    @classmethod
    def of(cls, s: Session, newest: SchemaRecord, rater: str) -> _Side:
        return cls(newest, standing_labels(s, newest.name, rater), Freed.by(s, rater))

    def said(self, item: t.Item) -> _Said:
        label = self.labels.get(item.id or 0)
        if label is None:
            return _Said(None, None, None, None, False)
        category, state = label.category, label.state
        if category is not None and self.newest.holds(category):
            category = self.newest.in_order(category)
        elif category is not None:
            category, state = None, "outdated"
        held = is_held(label, item, self.freed)
        return _Said(label, category, state, label.schema_version, held)


def place_of(item: t.Item, question: t.Question | None) -> tuple[str, str]:
    """Return dataset and question of an item, else the two parts of its cluster.

    They are a relation set and the name it was asked under, or ``deduction`` and a problem's name.
    """
    if question is not None:
        return question.dataset, question.external_id
    return split_cluster(item.cluster or "")


def is_held(label: t.Label, item: t.Item, freed: Freed) -> bool:
    """Return whether a label was made here, sealed, on what its rater has not revealed.

    A question's reveal tells nothing of what a judge says of a criterion, so it frees none.
    """
    return (
        label.act != "import"
        and label.seal != "open"
        and label.before_reveal is True
        and (item.kind == "criterion" or not freed.holds(item))
    )


def _faithfulness_row(
    s: Session,
    by_trace: Mapping[int, str],
    score: t.QuestionScore,
    pool: t.Pool,
    question: t.Question,
) -> FaithfulnessRow:
    traces = s.exec(
        select(t.Trace.id, t.Trace.answer)
        .join(t.TraceScore, col(t.TraceScore.trace_id) == col(t.Trace.id))
        .where(t.TraceScore.question_score_id == score.id)
    ).all()
    sc = _supporters(traces, score.sc_answer, by_trace)
    gsc = _supporters(traces, score.gsc_answer, by_trace)
    medoid = by_trace.get(score.medoid_trace_id or 0)
    return FaithfulnessRow(
        dataset=question.dataset,
        question_id=question.external_id,
        pool=pool.name,
        disagree=score.disagree,
        sc_faithful=None if 2 * sc.sound == sc.labelled else 2 * sc.sound > sc.labelled,
        sc_labelled=sc.labelled,
        sc_supporters=sc.n,
        gsc_faithful=None if medoid is None else medoid == SOUND,
        extra={"sc_correct": score.sc_correct, "gsc_correct": score.gsc_correct},
        sc_sound=sc.sound,
        gsc_labelled=gsc.labelled,
        gsc_sound=gsc.sound,
        gsc_supporters=gsc.n,
    )


@dataclass(frozen=True, slots=True)
class _Supporters:
    n: int
    labelled: int
    sound: int


def _supporters(
    traces: Sequence[tuple[int | None, Any]], answer: Any, by_trace: Mapping[int, str]
) -> _Supporters:
    """Count the traces that give an answer, those with a category, and those called faithful."""
    ids = [i or 0 for i, said in traces if answer is not None and said == answer]
    said = [by_trace[i] for i in ids if i in by_trace]
    return _Supporters(len(ids), len(said), said.count(SOUND))


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


def _questions_without_pool() -> Any:
    dataset = col(t.Question.dataset)
    return (
        select(dataset, func.count())
        .where(~exists().where(col(t.Pool.question_id) == col(t.Question.id)))
        .group_by(dataset)
        .order_by(dataset)
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


def _my_counts(decided: Any) -> Any:
    mine = decided.subquery()
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
        .where(col(t.Rater.name).in_(raters), t.Label.schema_name == schema)
    )


def _standing(schema: str, rater: str, *clauses: Any) -> Any:
    return (
        select(func.max(col(t.Label.id)).label("id"))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(t.Rater.name == rater, t.Label.schema_name == schema, *clauses)
        .group_by(col(t.Label.item_id))
        .subquery()
    )


def standing_labels(
    s: Session, schema: str, rater: str, *, after_reveal: bool = False
) -> dict[int, t.Label]:
    """Return each item's newest label not made after a reveal, or of those that were.

    Open ones are left out. They are plain rows with a label's columns, as 100,000 entities take
    seconds.
    """
    made_after = col(t.Label.before_reveal).is_(False)
    newest = _standing(schema, rater, made_after if after_reveal else ~made_after)
    columns: Any = t.Label.__table__.c  # type: ignore[attr-defined]  # SQLModel gives it to tables
    rows: Any = s.execute(
        plain_select(*columns)
        .join(newest, newest.c.id == columns.id)
        .where(columns.state != "open")
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
