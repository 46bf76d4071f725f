"""Pairs and cycles to label: shown sealed, revealed; the queue and a rater's own progress in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.errors import SealedError
from store.keys import RELATION_KINDS
from store.label_records import LabelRecord, Progress, SchemaRecord
from store.relation_records import (
    CaseEdge,
    ItemRevealCheck,
    RelationCase,
    RelationFilter,
    RelationRow,
    RelationTruth,
    SaidAnswer,
    ShownObject,
)
from store.repository.cases import labels_of
from store.repository.label_imports import row_id
from store.repository.relation_seen import (
    edges_of,
    is_implied,
    object_names,
    record_item_look,
    record_item_reveals,
    revealed_item_ids,
    shown_objects,
)
from store.repository.relation_sets import decode_truth, read_sets
from store.repository.relations import read_askings
from store.repository.revealed import login_name, verdicts_on
from store.repository.rows import chunks, label_record, need_schema

SCHEMAS = ("pair", "cycle", "cycle-cause")
"""The schemas of pairs and cycles that ship."""


class RelationCases(Base):
    """What a labelling screen for relations needs.

    A reveal is an act on one item, or several, each decided before. Since it shows what is true of
    their objects, other items count as seen with it: see `relation_seen`. Nobody's word on those is
    shown before they are revealed themselves.
    """

    def relation_queue(
        self,
        rater_id: int,
        schema: str = "cycle",
        *,
        asking_id: int | None = None,
        show: RelationFilter = "all",
    ) -> tuple[RelationRow, ...]:
        """Return the items of a schema's kind to label: cycles in the order of the review, pairs in
        their random order, one asking after another."""
        with self._read() as s:
            record = need_schema(s, schema)
            rows = _queue(s, rater_id, record, asking_id)
        return tuple(r for r in rows if _is_kept(r, show))

    def relation_case(
        self, item_id: int, rater_id: int, schemas: Sequence[str] = SCHEMAS
    ) -> RelationCase:
        """Return an item as a sealed rater sees it.

        Raises
        ------
        ValueError
            When the item is no pair or cycle.
        """
        with self._read() as s:
            return _read_case(s, item_id, rater_id, schemas)

    def relation_reveal_check(
        self, item_ids: Sequence[int], rater_id: int, schema: SchemaRecord
    ) -> ItemRevealCheck:
        """Return whether this rater may reveal items, and what that would do to others."""
        with self._read() as s:
            return _reveal_check(s, item_ids, rater_id, schema)

    def reveal_relations(self, item_ids: Sequence[int], rater_id: int, schema: SchemaRecord) -> int:
        """Record that this rater looks behind the seal of items; return how many are new.

        Raises
        ------
        SealedError
            While one of them is undecided under the schema. None is revealed then.
        """
        with self._write() as s:
            if not _all_decided(s, item_ids, rater_id, schema):
                raise SealedError("an item is not labelled yet: label it, or skip it, first")
            return record_item_reveals(s, rater_id, item_ids)

    def relation_truth(
        self,
        item_id: int,
        rater_id: int,
        schema: SchemaRecord,
        schemas: Sequence[str] = SCHEMAS,
    ) -> RelationTruth:
        """Return what the schema's seal level lets this rater see: truth, repair, verdicts.

        ``full`` shows it after the rater's reveal only. ``open`` shows all at once, which is
        recorded as a reveal; ``judge`` shows truth and repair at once, which is recorded too, and
        the verdicts after the reveal.

        Raises
        ------
        SealedError
            Under ``full``, when this rater has not revealed the item.
        """
        with self._read() as s:
            revealed = item_id in revealed_item_ids(s, rater_id)
        if not revealed and schema.seal == "full":
            raise SealedError(f"item {item_id} is sealed for this rater")
        if not revealed:
            with self._write() as s:
                if schema.seal == "open":
                    record_item_reveals(s, rater_id, [item_id])
                else:
                    record_item_look(s, rater_id, item_id, login_name())
        with self._read() as s:
            shown = revealed or schema.seal == "open"
            return _read_truth(s, item_id, rater_id, schemas, shown)

    def relation_statements(self, keys: Sequence[str]) -> tuple[RelationCase, ...]:
        """Return items as a judge may be shown them: nobody's label, never the truth."""
        with self._read() as s:
            return tuple(_read_case(s, i, None, ()) for i in _ids(s, keys))

    def relation_truths(
        self, keys: Sequence[str]
    ) -> tuple[
        tuple[RelationCase, Mapping[str, ShownObject], Mapping[tuple[str, str], str | None]], ...
    ]:
        """Return items with what is true of their objects and pairs: for stages, never a screen."""
        found = []
        with self._read() as s:
            for ident in _ids(s, keys):
                case = _read_case(s, ident, None, ())
                objects, facts, _ = _true(s, case, edges_of(s, [ident])[ident])
                found.append((case, objects, facts))
        return tuple(found)

    def last_relation(self, rater_id: int, schema: str = "cycle") -> int | None:
        """Return the item of this rater's last act under a schema of pairs or cycles."""
        with self._read() as s:
            return s.exec(
                select(t.Label.item_id)
                .join(t.RelationItem, col(t.RelationItem.item_id) == col(t.Label.item_id))
                .where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    t.Label.act != "import",
                )
                .order_by(col(t.Label.id).desc())
                .limit(1)
            ).first()


def relation_progress(s: Session, rater_id: int, record: SchemaRecord) -> Progress:
    """Return a rater's progress over a queue of pairs or cycles, each a case by itself."""
    rows = _queue(s, rater_id, record, None)
    n_decided = sum(r.decided for r in rows)
    return Progress(len(rows), n_decided, len(rows), n_decided)


def _queued(kind: str, asking_id: int | None) -> Any:
    queue: Any = t.RelationReview if kind == "cycle" else t.RelationSample
    order = queue.rank if kind == "cycle" else queue.random_key
    query = (
        select(t.Item, t.RelationItem)
        .join(t.RelationItem, col(t.RelationItem.item_id) == col(t.Item.id))
        .join(queue, queue.item_id == col(t.Item.id))
        .where(t.Item.kind == kind)
    )
    if asking_id is not None:
        query = query.where(t.RelationItem.asking_id == asking_id)
    return query.order_by(col(t.RelationItem.asking_id), order, col(t.Item.key))


def _queue(
    s: Session, rater_id: int, record: SchemaRecord, asking_id: int | None
) -> list[RelationRow]:
    if record.item_kind not in RELATION_KINDS:
        raise ValueError(
            f"schema {record.name} is for {record.item_kind} items; one of pairs or cycles is right"
        )
    rows = s.exec(_queued(record.item_kind, asking_id)).all()
    ids = [row_id(item) for item, _ in rows]
    askings = {a.id: a for a in read_askings(s)}
    edges, labels = edges_of(s, ids), _labels(s, rater_id, record.name, ids)
    names = object_names(s, {o for of in edges.values() for e in of for o in e})
    revealed = revealed_item_ids(s, rater_id)
    shown = shown_objects(s, revealed)
    found = []
    for position, (item, place) in enumerate(rows, start=1):
        ident, asking = row_id(item), askings[place.asking_id]
        label = labels.get(ident)
        objects = dict.fromkeys(names[o] for e in edges[ident] for o in e)
        found.append(
            RelationRow(
                item_id=ident,
                item=item.key,
                position=position,
                set=asking.set,
                set_kind=asking.kind,
                asking=asking.name,
                axis=place.axis,
                objects=tuple(objects),
                n_edges=len(edges[ident]),
                decided=label is not None and label_record(label, item.key, record).decided,
                flagged=label is not None and label.flagged,
                revealed=ident in revealed,
                seen=is_implied(edges[ident], shown),
            )
        )
    return found


def _is_kept(row: RelationRow, show: RelationFilter) -> bool:
    if show == "flagged":
        return row.flagged
    return show == "all" or row.decided == (show == "done")


def _labels(s: Session, rater_id: int, schema: str, ids: Sequence[int]) -> dict[int, t.Label]:
    found: dict[int, t.Label] = {}
    for part in chunks(ids):
        found.update(labels_of(s, rater_id, schema, list(part)))
    return found


def _ids(s: Session, keys: Sequence[str]) -> list[int]:
    """Return the ids of pair and cycle items, in the order of their keys."""
    found: dict[str, int] = {}
    for part in chunks(list(keys)):
        rows = s.exec(
            select(t.Item.key, t.Item.id)
            .join(t.RelationItem, col(t.RelationItem.item_id) == col(t.Item.id))
            .where(col(t.Item.key).in_(part))
        )
        found.update((key, ident or 0) for key, ident in rows)
    return [found[key] for key in keys if key in found]


def _read_case(
    s: Session, item_id: int, rater_id: int | None, schemas: Sequence[str]
) -> RelationCase:
    """Read an item as a rater sees it; without a rater, nobody's labels and reveals."""
    item = s.get_one(t.Item, item_id)
    place = s.get(t.RelationItem, item_id)
    if place is None:
        raise ValueError(f"{item.key} is a {item.kind}; a pair or a cycle is right")
    (asking,) = read_askings(s, t.RelationAsking.id == place.asking_id)
    (of,) = read_sets(s, t.RelationSet.id == asking.set_id)
    pairs = edges_of(s, [item_id])[item_id]
    names = object_names(s, {o for e in pairs for o in e})
    said = _said(s, asking.id, names)
    edges = tuple(
        CaseEdge(number, names[a], names[b], said.get((a, b), ()), said.get((b, a), ()))
        for number, (a, b) in enumerate(pairs, start=1)
    )
    labels: dict[str, LabelRecord | None] = {}
    for schema in schemas:
        newest = need_schema(s, schema)
        if newest.item_kind == item.kind and rater_id is not None:
            row = labels_of(s, rater_id, schema, [item_id]).get(item_id)
            labels[schema] = None if row is None else label_record(row, item.key, newest)
    revealed = set() if rater_id is None else revealed_item_ids(s, rater_id)
    return RelationCase(
        item_id=item_id,
        item=item.key,
        kind=item.kind,  # type: ignore[arg-type]  # what has a row in relation_item
        set=of,
        asking=asking,
        axis=place.axis,
        edges=edges,
        labels=labels,
        revealed=item_id in revealed,
        seen=is_implied(pairs, shown_objects(s, revealed)),
    )


def _said(
    s: Session, asking_id: int, names: dict[int, str]
) -> dict[tuple[int, int], tuple[SaidAnswer, ...]]:
    """Return what was said of pairs of some objects, repeats in order."""
    answer = t.RelationAnswer
    rows = s.exec(
        select(answer)
        .where(
            answer.asking_id == asking_id,
            col(answer.a_id).in_(names),
            col(answer.b_id).in_(names),
        )
        .order_by(col(answer.repeat))
    ).all()
    found: dict[tuple[int, int], list[SaidAnswer]] = {}
    for r in rows:
        found.setdefault((r.a_id, r.b_id), []).append(
            SaidAnswer(
                names[r.a_id],
                names[r.b_id],
                r.repeat,
                r.relation,
                r.outcome,  # type: ignore[arg-type]  # constrained by the table
                r.text,
                r.reason,
            )
        )
    return {pair: tuple(of) for pair, of in found.items()}


def _all_decided(s: Session, item_ids: Sequence[int], rater_id: int, schema: SchemaRecord) -> bool:
    newest = need_schema(s, schema.name)
    labels = _labels(s, rater_id, schema.name, item_ids)
    return all(i in labels and label_record(labels[i], "", newest).decided for i in item_ids)


def _reveal_check(
    s: Session, item_ids: Sequence[int], rater_id: int, schema: SchemaRecord
) -> ItemRevealCheck:
    revealed = revealed_item_ids(s, rater_id)
    before = shown_objects(s, revealed)
    after = shown_objects(s, revealed | set(item_ids))
    n_left = 0
    for name in ("cycle", "pair"):
        record = schema if schema.item_kind == name else need_schema(s, name)
        rows = [r for r in _queue(s, rater_id, record, None) if not r.decided]
        edges = edges_of(s, [r.item_id for r in rows])
        n_left += sum(
            is_implied(edges[r.item_id], after) and not is_implied(edges[r.item_id], before)
            for r in rows
            if r.item_id not in item_ids
        )
    return ItemRevealCheck(_all_decided(s, item_ids, rater_id, schema), n_left)


def _read_truth(
    s: Session, item_id: int, rater_id: int, schemas: Sequence[str], shown: bool
) -> RelationTruth:
    case = _read_case(s, item_id, rater_id, schemas)
    pairs = edges_of(s, [item_id])[item_id]
    objects, facts, also_accept = _true(s, case, pairs)
    place = s.get(t.RelationReview, item_id)
    number = None if place is None or place.suspect is None else place.suspect + 1
    return RelationTruth(
        case=replace(case, revealed=case.revealed or shown),
        objects=objects,
        facts=facts,
        also_accept=also_accept,
        suspect=number,
        breaks=None if place is None else place.breaks,
        edge_breaks=() if place is None else tuple(place.edge_breaks),
        verdicts={
            name: verdicts_on(s, [item_id], rater_id, name) if shown else () for name in case.labels
        },
    )


def _true(
    s: Session, case: RelationCase, pairs: Sequence[tuple[int, int]]
) -> tuple[dict[str, ShownObject], dict[tuple[str, str], str | None], dict[tuple[str, str], str]]:
    """Return what is true of an item's objects, the true words of its pairs, and looser ones."""
    names = object_names(s, {o for e in pairs for o in e})
    thing, fact = t.RelationObject, t.RelationFact
    both = {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}
    facts = [
        f
        for f in s.exec(select(fact).where(fact.set_id == case.set.id, fact.use == "truth"))
        if (f.a_id, f.b_id) in both
    ]
    loose = [f for f in facts if f.extra and f.extra.get("also_accept")]
    return (
        {
            o.name: ShownObject(o.name, decode_truth(o.truth), o.stated)
            for o in s.exec(select(thing).where(col(thing.id).in_(names)))
        },
        {(names[f.a_id], names[f.b_id]): f.relation for f in facts},
        {(names[f.a_id], names[f.b_id]): str((f.extra or {})["also_accept"]) for f in loose},
    )
