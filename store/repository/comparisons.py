"""Labels of one rater as they count for a comparison, and the third label on a disagreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import utc_now
from store.compare_records import ADJUDICATED, Adjudication, DesignStratum, StandingLabel
from store.engine import Base
from store.errors import SealedError
from store.keys import TraceItemKey
from store.records import LabelState, SchemaRecord, Verdict
from store.repository.choices import checked_choice
from store.repository.label_imports import row_id
from store.repository.labels import check_item
from store.repository.relation_seen import is_item_revealed, revealed_item_ids
from store.repository.reports import is_held, place_of, standing_labels
from store.repository.revealed import verdicts_on
from store.repository.rows import chunks, is_sampled, label_hash, latest_label_id, need_schema
from store.repository.seen import Freed, is_revealed

TARGET = "target_half_width"
"""The parameter of a design whose queue is ordered toward a target."""


class Comparisons(Base):
    """What a comparison of raters rests on. All of it is sealed: see `pipeline.sealing`."""

    def standing(self, schema: str, rater: str) -> tuple[StandingLabel, ...]:
        """Return a rater's labels under a schema as they count for a comparison, by item.

        One that was imported without the fact counts as it is; one made after the reveal only as
        what its rater changed to.
        """
        with self._read() as s:
            newest = need_schema(s, schema)
            labels = standing_labels(s, schema, rater)
            changed = standing_labels(s, schema, rater, after_reveal=True)
            freed = Freed.by(s, rater)
            seconds = _seconds(s, schema, rater)
            flags = _flags(s, schema, rater)
            planned = {d.id for d in s.exec(select(t.Design)) if TARGET in d.parameters}
            found = []
            for part in chunks(sorted(labels)):
                rows: Any = s.execute(_placed(part))
                for item in rows:
                    dataset, external_id = place_of(item, item if item.external_id else None)
                    label = labels[item.id]
                    after = changed.get(item.id)
                    category, state = _counted(newest, label.category, label.state)
                    found.append(
                        StandingLabel(
                            item=item.key,
                            item_id=item.id,
                            dataset=dataset,
                            question_id=external_id,
                            case=item.case_id,
                            state=state,
                            category=category,
                            first_wrong_step=label.first_wrong_step,
                            version=label.schema_version,
                            before_reveal=label.before_reveal,
                            held=is_held(label, item, freed),
                            revealed=freed.holds(item),
                            changed_to=None
                            if after is None
                            else _counted(newest, after.category, after.state)[0],
                            seconds=seconds.get(item.id),
                            stratum=item.stratum,
                            inclusion_probability=item.probability,
                            case_probability=item.case_probability,
                            planned=item.design_id in planned,
                            pool=_pool_of(item.key),
                            flags=flags.get(row_id(label), ()),
                        )
                    )
        return tuple(found)

    def revealed_questions(self, rater_id: int) -> frozenset[str]:
        """Return the questions a rater has looked behind the seal of, as DATASET/QUESTION."""
        with self._read() as s:
            rows = s.exec(
                select(t.Question.dataset, t.Question.external_id)
                .join(t.Reveal, col(t.Reveal.question_id) == col(t.Question.id))
                .where(t.Reveal.rater_id == rater_id)
            )
            return frozenset(f"{dataset}/{question}" for dataset, question in rows)

    def revealed_items(self, rater_id: int) -> frozenset[int]:
        """Return the ids of the items without a question that a rater has revealed."""
        with self._read() as s:
            return frozenset(revealed_item_ids(s, rater_id))

    def said_on(self, item_id: int, viewer_id: int, schema: SchemaRecord) -> tuple[Verdict, ...]:
        """Return what every rater says of an item, the viewer too.

        Raises
        ------
        SealedError
            When the schema's level is not ``open`` and the viewer has not revealed the question, or
            the item where it has none.
        """
        with self._read() as s:
            _check_seen(s, s.get_one(t.Item, item_id), viewer_id, schema)
            return verdicts_on(s, [item_id], 0, schema.name)

    def adjudicate(
        self,
        item_id: int,
        adjudicator_id: int,
        schema: SchemaRecord,
        *,
        reason: str,
        state: LabelState = "labelled",
        category: str | None = None,
        categories: Sequence[str] | None = None,
        first_wrong_step: int | None = None,
    ) -> Adjudication:
        """Append a third label on an item; what the raters said stays as it is.

        It stands under the reference rater `ADJUDICATED`, and names who decided, what everybody
        had said, and why. Another adjudication is another row, and the newest stands.

        Raises
        ------
        ValueError
            Without a reason, when the schema has no such category, or the first wrong step does
            not fit.
        SealedError
            While the item is sealed for the adjudicator.
        """
        if not reason.strip():
            raise ValueError("an adjudication needs a reason: why is this label right")
        choice = checked_choice(schema, state, category, categories, first_wrong_step)
        with self._write() as s:
            item = s.get_one(t.Item, item_id)
            _check_seen(s, item, adjudicator_id, schema)
            check_item(s, item, schema, choice)
            reference = _reference(s)
            said = verdicts_on(s, [item_id], row_id(reference), schema.name)
            between = [[v.rater, v.category or v.state] for v in said]
            extra = {
                "adjudicator": s.get_one(t.Rater, adjudicator_id).name,
                "between": between,
            }
            row = t.Label(
                item_id=item_id,
                schema_name=schema.name,
                schema_version=schema.version,
                rater_id=row_id(reference),
                act="label",
                state=choice.state,
                category=choice.category,
                categories=choice.categories,
                first_wrong_step=choice.first_wrong_step,
                note=reason.strip(),
                seal="open",
                before_reveal=None,
                supersedes=latest_label_id(s, row_id(reference), schema.name, item_id),
                created_at=utc_now(),
            )
            row.content_hash = label_hash(row, {"extra": extra})
            s.add(row)
            s.flush()
            s.add(t.VerdictDetail(label_id=row_id(row), flags=[], extra=extra))
            return _adjudication(item.key, row, extra)

    def adjudications(self, schema: str = "path") -> tuple[Adjudication, ...]:
        """Return the adjudications that stand, by item."""
        with self._read() as s:
            standing = standing_labels(s, schema, ADJUDICATED)
            found = []
            for part in chunks(sorted(standing)):
                named = s.exec(select(t.Item.id, t.Item.key).where(col(t.Item.id).in_(part)))
                keys = dict(named.all())
                ids = [row_id(standing[i]) for i in part]
                details = {
                    d.label_id: d.extra
                    for d in s.exec(
                        select(t.VerdictDetail).where(col(t.VerdictDetail.label_id).in_(ids))
                    )
                }
                found += [
                    _adjudication(keys[i], standing[i], details.get(row_id(standing[i])) or {})
                    for i in part
                ]
        return tuple(sorted(found, key=lambda a: a.item))

    def design_strata(self) -> tuple[DesignStratum, ...]:
        """Return the strata of the primary scoring's questions with how many became cases.

        Totals over whole datasets and pools: which question is in which stratum is not told.
        """
        group = (col(t.Question.dataset), col(t.Pool.name), col(t.QuestionScore.disagree))
        with self._read() as s:
            rows = s.execute(
                plain_select(
                    *group,
                    func.count(),
                    func.count(col(t.AuditCase.id)),
                )
                .select_from(t.QuestionScore)
                .join(t.Scoring, col(t.Scoring.id) == col(t.QuestionScore.scoring_id))
                .join(t.Pool, col(t.Pool.id) == col(t.QuestionScore.pool_id))
                .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
                .join(t.AuditCase, col(t.AuditCase.pool_id) == col(t.Pool.id), isouter=True)
                .where(col(t.Scoring.is_primary), col(t.QuestionScore.medoid_trace_id).is_not(None))
                .group_by(*group)
                .order_by(*group[:2], group[2].desc())
            ).all()
        return tuple(
            DesignStratum(dataset, pool, "disagreement" if disagree else "agreement", n, n_cases)
            for dataset, pool, disagree, n, n_cases in rows
        )


def _placed(ids: Sequence[int]) -> Any:
    """Select items with how they came to be drawn: columns, as 100,000 entities take seconds."""
    samples = (t.CaseItem, t.DecompositionSample, t.RelationSample, t.DeductionSample)
    chances = [col(sample.inclusion_probability) for sample in samples]
    columns: tuple[Any, ...] = (
        *(col(c) for c in (t.Item.id, t.Item.key, t.Item.kind, t.Item.question_id)),
        *(col(c) for c in (t.Item.cluster, t.Question.dataset, t.Question.external_id)),
        col(t.AuditCase.id).label("case_id"),
        col(t.AuditCase.stratum),
        col(t.AuditCase.design_id),
        col(t.AuditCase.inclusion_probability).label("case_probability"),
        func.coalesce(*chances).label("probability"),
    )
    return (
        plain_select(*columns)
        .select_from(t.Item)
        .join(t.Question, col(t.Question.id) == col(t.Item.question_id), isouter=True)
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id), isouter=True)
        .join(t.AuditCase, col(t.AuditCase.id) == col(t.CaseItem.case_id), isouter=True)
        .join(t.DecompositionSample, is_sampled(), isouter=True)
        .join(t.RelationSample, col(t.RelationSample.item_id) == col(t.Item.id), isouter=True)
        .join(t.DeductionSample, col(t.DeductionSample.item_id) == col(t.Item.id), isouter=True)
        .where(col(t.Item.id).in_(ids))
        .order_by(col(t.Item.id))
    )


def _pool_of(key: str) -> str | None:
    try:
        return TraceItemKey.parse(key).trace[2]
    except ValueError:  # an item of no trace
        return None


def _counted(newest: SchemaRecord, category: str | None, state: Any) -> tuple[str | None, Any]:
    if category is None:
        return None, state
    return (newest.in_order(category), state) if newest.holds(category) else (None, "outdated")


def _seconds(s: Session, schema: str, rater: str) -> dict[int, float]:
    rows = s.execute(
        plain_select(col(t.Label.item_id), func.sum(col(t.Label.active_seconds)))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(
            col(t.Rater.name) == rater,
            col(t.Label.schema_name) == schema,
            col(t.Label.before_reveal).is_not(False),
            col(t.Label.active_seconds).is_not(None),
        )
        .group_by(col(t.Label.item_id))
    )
    return {item: float(total) for item, total in rows}


def _flags(s: Session, schema: str, rater: str) -> dict[int, tuple[str, ...]]:
    rows = s.exec(
        select(t.VerdictDetail.label_id, t.VerdictDetail.flags)
        .join(t.Label, col(t.Label.id) == col(t.VerdictDetail.label_id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(t.Rater.name == rater, t.Label.schema_name == schema)
    )
    return {label: tuple(flags) for label, flags in rows if flags}


def _check_seen(s: Session, item: t.Item, viewer_id: int, schema: SchemaRecord) -> None:
    """Refuse what is sealed; a question's reveal frees no criterion."""
    if schema.seal == "open":
        return
    question = item.question_id
    if question is None:
        seen = is_item_revealed(s, viewer_id, row_id(item))
    else:
        seen = item.kind != "criterion" and is_revealed(s, viewer_id, question)
    if not seen:
        what = "it" if question is None else "its question"
        raise SealedError(f"{item.key} is sealed for this rater: reveal {what} first")


def _reference(s: Session) -> t.Rater:
    row = s.exec(select(t.Rater).where(t.Rater.name == ADJUDICATED)).one_or_none()
    if row is None:
        row = t.Rater(name=ADJUDICATED, kind="reference")
        s.add(row)
        s.flush()
    if row.kind != "reference":
        raise ValueError(
            f"rater {ADJUDICATED!r} is a {row.kind} here, so adjudications have no name to stand "
            "under: export that rater's labels under another name"
        )
    return row


def _adjudication(key: str, row: t.Label, extra: Mapping[str, Any]) -> Adjudication:
    said = extra.get("between")
    pairs = [p for p in said if isinstance(p, list) and len(p) == 2] if said else []
    adjudicator = extra.get("adjudicator")
    return Adjudication(
        item=key,
        state=row.state,  # type: ignore[arg-type]  # constrained by the table
        category=row.category,
        first_wrong_step=row.first_wrong_step,
        reason=row.note or "",
        adjudicator=adjudicator if isinstance(adjudicator, str) else None,
        between=tuple((str(rater), str(word)) for rater, word in pairs),
        created_at=row.created_at,
    )
