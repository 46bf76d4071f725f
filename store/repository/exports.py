"""Labels and items as files carry them, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import exists, func
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.keys import TraceItemKey, encode_part, split_cluster
from store.records import ExportedItem, ExportedLabel, NewLabel
from store.repository.cases import case_query
from store.repository.deduction_rows import solver_of
from store.repository.relation_seen import edges_of, object_names
from store.repository.reports import place_of
from store.repository.rows import is_sampled, is_sampled_edit, need_schema

PAGE = 500


class Exports(Base):
    """The export side of the store. What is sealed is for the caller to keep back."""

    def export_labels(
        self, *, schema: str | None = None, rater: str | None = None, history: bool = False
    ) -> Iterator[ExportedLabel]:
        """Yield labels in the order in which they were added.

        Without `history`: each rater's label on an item as it stands, and before it the last one
        from before the reveal, where that is another: agreement is computed from it. With
        `history`, every row. Importing them in this order gives the same standing labels.
        """
        with self._read() as s:
            if schema is not None:
                need_schema(s, schema)
            clauses = [] if schema is None else [t.Label.schema_name == schema]
            if rater is not None:
                clauses.append(t.Rater.name == rater)
            ids = _every_id(s, clauses) if history else _standing_ids(s, clauses)
            for start in range(0, len(ids), PAGE):
                yield from _labels(s, ids[start : start + PAGE])

    def export_items(self) -> Iterator[ExportedItem]:
        """Yield items by key, an order that tells nothing."""
        with self._read() as s:
            keys = s.exec(select(t.Item.key).order_by(col(t.Item.key))).all()
            for start in range(0, len(keys), PAGE):
                part = keys[start : start + PAGE]
                found = [*_items(s, part), *_relation_items(s, part), *_replies(s, part)]
                yield from sorted(found, key=lambda i: i.item)

    def design_is_sealed(self) -> bool:
        """Return whether strata and inclusion probabilities are still hidden from somebody.

        Under a path schema of level ``full`` they are until every person among the raters has
        revealed every question of the queue, and while there is no such person.
        """
        with self._read() as s:
            if need_schema(s, "path").seal != "full":
                return False
            seen = exists().where(
                col(t.Reveal.rater_id) == col(t.Rater.id),
                col(t.Reveal.question_id) == col(t.Question.id),
            )
            people = t.Rater.kind == "human"
            unseen = case_query(t.AuditCase.id).join(t.Rater, people).where(~seen).limit(1)
            nobody = s.exec(select(t.Rater.id).where(people)).first() is None
            return nobody or s.exec(unseen).first() is not None


def _every_id(s: Session, clauses: Sequence[Any]) -> list[int]:
    rows = s.exec(
        select(t.Label.id)
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(*clauses)
        .order_by(col(t.Label.id))
    )
    return [i for i in rows if i is not None]


def _standing_ids(s: Session, clauses: Sequence[Any]) -> list[int]:
    by_item = (col(t.Label.rater_id), col(t.Label.item_id), col(t.Label.schema_name))
    sealed = func.max(col(t.Label.id)).filter(col(t.Label.before_reveal).is_not(False))
    pairs = s.exec(
        select(func.max(col(t.Label.id)), sealed)
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(*clauses)
        .group_by(*by_item)
    ).all()
    bare = set(
        s.exec(
            select(t.Label.id).where(
                t.Label.state == "open", ~col(t.Label.flagged), col(t.Label.note).is_(None)
            )
        )
    )
    kept: set[int] = set()
    for pair in pairs:
        rows = {i for i in pair if i is not None}
        if not rows <= bare:
            kept |= rows
    return sorted(kept)


def _labels(s: Session, ids: Sequence[int]) -> Iterator[ExportedLabel]:
    rows = s.exec(
        select(t.Label, t.Item.key, t.Rater, t.VerdictDetail)
        .join(t.Item, col(t.Item.id) == col(t.Label.item_id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .join(t.VerdictDetail, col(t.VerdictDetail.label_id) == col(t.Label.id), isouter=True)
        .where(col(t.Label.id).in_(ids))
        .order_by(col(t.Label.id))
    ).all()
    for label, key, rater, detail in rows:
        yield ExportedLabel(
            NewLabel(
                item=key,
                schema=label.schema_name,
                rater=rater.name,
                rater_kind=rater.kind,  # type: ignore[arg-type]  # constrained by the table
                state=label.state,  # type: ignore[arg-type]
                category=label.category,
                first_wrong_step=label.first_wrong_step,
                flagged=label.flagged,
                note=label.note,
                rationale=detail.rationale if detail else None,
                raw=detail.raw if detail else None,
                prompt_version=detail.prompt_version if detail else None,
                created_at=label.created_at,
                before_reveal=label.before_reveal,
                seal=label.seal,  # type: ignore[arg-type]
                active_seconds=label.active_seconds,
                extra=detail.extra if detail else None,
                schema_version=label.schema_version,
            ),
            tuple(label.categories or ()),
        )


def _items(s: Session, keys: Sequence[str]) -> Iterator[ExportedItem]:
    rows = s.execute(
        plain_select(t.Item, t.CaseItem, t.AuditCase, t.DecompositionSample, t.CounterfactualSample)
        .join(t.CaseItem, col(t.CaseItem.item_id) == col(t.Item.id), isouter=True)
        .join(t.AuditCase, col(t.AuditCase.id) == col(t.CaseItem.case_id), isouter=True)
        .join(t.DecompositionSample, is_sampled(), isouter=True)
        .join(t.CounterfactualSample, is_sampled_edit(), isouter=True)
        .where(col(t.Item.key).in_(keys), col(t.Item.trace_id).is_not(None))
        .order_by(col(t.Item.key))
    ).all()
    for item, place, case, sampled, edit in rows:
        chosen = place or sampled or edit
        parts = TraceItemKey.parse(item.key)
        yield ExportedItem(
            item=item.key,
            kind=item.kind,
            dataset=parts.trace[0],
            question_id=parts.trace[1],
            pool=parts.trace[2],
            sample=parts.trace[3],
            step=parts.step,
            decomposition=parts.decomposition,
            criterion=parts.criterion,
            case="/".join(map(encode_part, parts.trace[:3])) if case else None,
            stratum=case.stratum if case else None,
            case_inclusion_probability=case.inclusion_probability if case else None,
            inclusion_probability=chosen.inclusion_probability if chosen else None,
            editing=parts.editing,
        )


def _relation_items(s: Session, keys: Sequence[str]) -> Iterator[ExportedItem]:
    rows = s.exec(
        select(t.Item, t.RelationSample)
        .join(t.RelationItem, col(t.RelationItem.item_id) == col(t.Item.id))
        .join(t.RelationSample, col(t.RelationSample.item_id) == col(t.Item.id), isouter=True)
        .where(col(t.Item.key).in_(keys))
    ).all()
    edges = edges_of(s, [item.id or 0 for item, _ in rows])
    names = object_names(s, {o for of in edges.values() for e in of for o in e})
    for item, sampled in rows:
        of, asking = split_cluster(item.cluster or "")
        yield ExportedItem(
            item=item.key,
            kind=item.kind,
            dataset=of,
            question_id=None,
            pool=asking,
            sample=None,
            step=None,
            decomposition=None,
            criterion=None,
            case=None,
            stratum=None,
            case_inclusion_probability=None,
            inclusion_probability=sampled.inclusion_probability if sampled else None,
            edges=tuple((names[a], names[b]) for a, b in edges[item.id or 0]),
        )


def _replies(s: Session, keys: Sequence[str]) -> Iterator[ExportedItem]:
    """Yield replies to deduction problems: as in reports, the problem is in the question's place."""
    rows = s.exec(
        select(t.Item, t.DeductionSample)
        .join(t.DeductionItem, col(t.DeductionItem.item_id) == col(t.Item.id))
        .join(t.DeductionSample, col(t.DeductionSample.item_id) == col(t.Item.id), isouter=True)
        .where(col(t.Item.key).in_(keys))
    ).all()
    for item, sampled in rows:
        kind, problem = place_of(item, None)
        yield ExportedItem(
            item=item.key,
            kind=item.kind,
            dataset=kind,
            question_id=problem,
            pool=solver_of(item.key),
            sample=None,
            step=None,
            decomposition=None,
            criterion=None,
            case=None,
            stratum=None,
            case_inclusion_probability=None,
            inclusion_probability=sampled.inclusion_probability if sampled else None,
        )
