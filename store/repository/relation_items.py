"""Pair and cycle items: made from answers, with stable keys; the review queue and the sample."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, exists
from sqlmodel import Session, col, select

from store import tables as t
from store.columns import canonical
from store.engine import Base
from store.keys import RELATION_KINDS, RelationItemKey, is_name
from store.model_records import SampleMade
from store.relation_records import MOST_EDGES, AskingRecord, Contradiction, ReviewMade
from store.repository.drawing import Candidate, Drawn, draw, make_room
from store.repository.items import ConflictError, Edges, StoredItem, register_maker
from store.repository.label_imports import row_id
from store.repository.relation_sets import read_objects
from store.repository.relations import read_askings
from store.repository.rows import chunks

_CLOSED = ("time", "x", "y", "inverse")
"""Axes whose statements lead round, so that any of them may stand first."""

Edge = tuple[int, int]
Named = tuple[tuple[str, str], ...]


def cycle_hash(edges: Named) -> str:
    """Return what tells one cycle of a set, a name it was asked under and an axis from another."""
    said = canonical([list(e) for e in edges]).encode("ascii")
    return hashlib.sha256(said).hexdigest()[:16]


def first_place(axis: str, edges: Named) -> int:
    """Return which edge stands first: a hash decides, so that its place tells nothing.

    Objects stand in the order of their file, often that of the truth; a cycle that began with the
    smallest of them would have its right statements first.
    """
    if axis not in _CLOSED:
        return 0
    return min(range(len(edges)), key=lambda k: cycle_hash((edges[k],)))


class RelationItemMaker:
    """Pair and cycle items by key, in an open session."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def find(self, key: str, edges: Edges | None = None) -> StoredItem:
        """Return the item of a key; a pair is made when it was answered, a cycle by its statements.

        Raises
        ------
        ConflictError
            When the key is of another form, or names no answer, or a cycle that is not there.
        """
        try:
            parts = RelationItemKey.parse(key)
        except ValueError as error:
            raise ConflictError(str(error)) from error
        if edges is not None:
            return self._by_edges(parts, edges)
        found = self.stored(str(parts))
        if found is not None:
            return found
        if parts.kind == "cycle":
            raise ConflictError(
                f"{key} names no cycle in the database: import its answers and items first, or "
                "make its review"
            )
        asking = self._asking(parts)
        names = {o.name: o.id for o in read_objects(self._s, asking.set_id)}
        edge = tuple(names.get(n, 0) for n in parts.rest)
        answer = t.RelationAnswer
        said = answer.asking_id == asking.id, answer.a_id == edge[0], answer.b_id == edge[1]
        if (
            self._s.exec(
                select(answer.repeat).where(*said, col(answer.relation).is_not(None))
            ).first()
            is None
        ):
            raise ConflictError(f"{key} names no answer with a relation: import its answers first")
        return self.make(str(parts), asking, None, [(edge[0], edge[1])])

    def stored(self, key: str) -> StoredItem | None:
        """Return the item of a key that is there."""
        if not is_name(key):
            return None
        row = self._s.exec(select(t.Item.id, t.Item.kind).where(t.Item.key == key)).first()
        return None if row is None else StoredItem(row[0] or 0, key, row[1], 0, 0)

    def _asking(self, parts: RelationItemKey) -> AskingRecord:
        found = is_name(parts.set + parts.asking) and read_askings(
            self._s,
            t.RelationSet.name == parts.set,
            t.RelationAsking.name == parts.asking,
            t.RelationAsking.asks == "pairs",
        )
        if not found:
            raise ConflictError(
                f"{parts} names no relations in the database: import its answers first"
            )
        return found[0]

    def _by_edges(self, parts: RelationItemKey, edges: Edges) -> StoredItem:
        """Return an item by its key and statements, as a file gives both."""
        if parts.kind == "pair":
            if list(edges) != [parts.rest]:
                raise ConflictError(f"{parts} is the key of another edge than {list(edges)}")
            return self.find(str(parts))
        if not 2 <= len(edges) <= MOST_EDGES or cycle_hash(tuple(edges)) != parts.rest[1]:
            raise ConflictError(
                f"{parts} is the key of other edges than {[list(e) for e in edges]}"
            )
        asking = self._asking(parts)
        names = {o.name: o.id for o in read_objects(self._s, asking.set_id)}
        unknown = [n for e in edges for n in e if n not in names]
        if unknown:
            raise ConflictError(f"set {parts.set} has no object {unknown[0]!r}")
        placed = [(names[a], names[b]) for a, b in edges]
        return self.stored(str(parts)) or self.make(str(parts), asking, parts.rest[0], placed)

    def make(
        self, key: str, asking: AskingRecord, axis: str | None, edges: Sequence[Edge]
    ) -> StoredItem:
        """Add an item with its statements, objects by id."""
        kind = key.partition(":")[0]
        item = t.Item(key=key, kind=kind, cluster=asking.cluster)
        self._s.add(item)
        self._s.flush()
        ident = row_id(item)
        self._s.add(t.RelationItem(item_id=ident, asking_id=asking.id, axis=axis))
        self._s.flush()
        for place, (a, b) in enumerate(edges):
            self._s.add(t.RelationEdge(item_id=ident, position=place, a_id=a, b_id=b))
        self._s.flush()
        return StoredItem(ident, key, kind, 0, 0, made=True)


def _find(s: Session, key: str, edges: Edges | None) -> StoredItem:
    return RelationItemMaker(s).find(key, edges)


for _kind in RELATION_KINDS:
    register_maker(_kind, _find)


class RelationItems(Base):
    """The review of contradictions and the sample of stated pairs."""

    def save_relation_review(
        self,
        asking_id: int,
        found: Sequence[Contradiction],
        parameters: Mapping[str, Any] | None = None,
    ) -> ReviewMade:
        """Make the items of contradictions, in the order given, and let them be the queue.

        Those of an earlier review that are not found now leave it, unless somebody but a judge has
        labelled them: they come last.

        Raises
        ------
        ValueError
            When a contradiction has fewer than two edges, or more than the categories can name.
        """
        with self._write() as s:
            (asking,) = read_askings(s, t.RelationAsking.id == asking_id)
            objects = read_objects(s, asking.set_id)
            ids, names = [o.id for o in objects], [o.name for o in objects]
            rows: dict[int, dict[str, Any]] = {}
            maker = RelationItemMaker(s)
            for one in found:
                item_id, row = _reviewed(maker, asking, ids, names, one)
                rows.setdefault(item_id, row)
            old = _in_review(s, asking_id)
            labelled = _labelled(s, set(old) - set(rows))
            kept = [i for i in old if i in labelled]
            s.execute(
                delete(t.RelationReview).where(col(t.RelationReview.item_id).in_(_of(asking_id)))
            )
            said = dict(parameters or {})
            for rank, (item_id, row) in enumerate(rows.items()):
                s.add(t.RelationReview(item_id=item_id, rank=rank, parameters=said, **row))
            for rank, item_id in enumerate(kept, start=len(rows)):
                s.add(t.RelationReview(item_id=item_id, rank=rank, **old[item_id]))
        gone = len(old) - len(kept) - len(set(old) & set(rows))
        return ReviewMade(len(rows) + len(kept), len(set(rows) - set(old)), len(kept), gone)

    def make_relation_sample(self, asking_id: int, n: int = 50, seed: int = 0) -> SampleMade:
        """Draw n of the pairs that have an answer, each with the same probability, to be labelled.

        What anybody but a judge has labelled of an earlier draw stays; the rest is withdrawn.

        Raises
        ------
        ValueError
            When n is less than 1.
        """
        if n < 1:
            raise ValueError(f"a sample of {n} pairs; at least 1 is right")
        with self._write() as s:
            (asking,) = read_askings(s, t.RelationAsking.id == asking_id)
            population, n_left_out = _stated_pairs(s, asking)
            drawn = draw(population, n, seed, "relation sample")
            sample: Any = t.RelationSample
            old = {
                key: (ident, Drawn(probability, place))
                for key, ident, probability, place in s.exec(
                    select(t.Item.key, t.Item.id, sample.inclusion_probability, sample.random_key)
                    .join(sample, sample.item_id == col(t.Item.id))
                    .where(col(t.Item.id).in_(_of(asking_id)))
                )
            }
            labelled = _labelled(s, {ident or 0 for ident, _ in old.values()})
            sampled = [(key, d) for key, (_, d) in old.items()]
            room = make_room(sampled, {k for k, (i, _) in old.items() if i in labelled}, drawn)
            for key in room.withdrawn:
                s.execute(delete(sample).where(sample.item_id == old[key][0]))
            maker = RelationItemMaker(s)
            said = {"n": n, "seed": seed, "population": len(population)}
            for key, one in sorted(drawn.items(), key=lambda d: d[1].random_key):
                s.add(
                    sample(
                        item_id=maker.find(key).id,
                        inclusion_probability=one.probability,
                        random_key=one.random_key,
                        parameters=said,
                    )
                )
        return SampleMade(
            n_population=len(population),
            n_left_out=n_left_out,
            n_new=len(drawn),
            n_same=room.n_same,
            n_kept=room.n_kept,
            n_withdrawn=room.n_gone,
            probability=min(n / len(population), 1.0) if population else None,
        )

    def relation_item_keys(self, kind: str) -> tuple[str, ...]:
        """Return the pair or cycle items that stand in a queue, by key: an order that tells nothing."""
        queue: Any = t.RelationReview if kind == "cycle" else t.RelationSample
        with self._read() as s:
            return tuple(
                s.exec(
                    select(t.Item.key)
                    .join(queue, queue.item_id == col(t.Item.id))
                    .where(t.Item.kind == kind)
                    .order_by(col(t.Item.key))
                )
            )


def _of(asking_id: int) -> Any:
    return select(t.RelationItem.item_id).where(t.RelationItem.asking_id == asking_id)


def _reviewed(
    maker: RelationItemMaker,
    asking: AskingRecord,
    ids: Sequence[int],
    names: Sequence[str],
    found: Contradiction,
) -> tuple[int, dict[str, Any]]:
    """Return the item of a contradiction, and its row in the queue."""
    n = len(found.edges)
    if not 2 <= n <= MOST_EDGES or len(found.edge_breaks) != n:
        raise ValueError(f"a cycle of {n} edges; from 2 to {MOST_EDGES} can be labelled")
    named = tuple((names[a], names[b]) for a, b in found.edges)
    start = first_place(found.axis, named)
    turn = [(start + k) % n for k in range(n)]
    edges = tuple(named[k] for k in turn)
    key = RelationItemKey("cycle", asking.set, asking.name, (found.axis, cycle_hash(edges)))
    placed = [found.edges[k] for k in turn]
    item = maker.stored(str(key)) or maker.make(
        str(key), asking, found.axis, [(ids[a], ids[b]) for a, b in placed]
    )
    return item.id, {
        "breaks": found.breaks,
        "suspect": None if found.suspect is None else turn.index(found.suspect),
        "edge_breaks": [found.edge_breaks[k] for k in turn],
    }


def _in_review(s: Session, asking_id: int) -> dict[int, dict[str, Any]]:
    rows = s.exec(
        select(t.RelationReview)
        .where(col(t.RelationReview.item_id).in_(_of(asking_id)))
        .order_by(col(t.RelationReview.rank))
    ).all()
    names = ("breaks", "suspect", "edge_breaks", "parameters")
    return {r.item_id: {name: getattr(r, name) for name in names} for r in rows}


def _labelled(s: Session, item_ids: Iterable[int]) -> set[int]:
    """Return those of some items that anybody but a judge or a reference has labelled."""
    found: set[int] = set()
    by_people = exists().where(
        col(t.Rater.id) == col(t.Label.rater_id), col(t.Rater.kind) == "human"
    )
    for part in chunks(sorted(set(item_ids))):
        found |= set(
            s.exec(select(t.Label.item_id).where(col(t.Label.item_id).in_(part), by_people))
        )
    return found


def _stated_pairs(s: Session, asking: AskingRecord) -> tuple[list[Candidate[str]], int]:
    """Return the pairs with a relation by key, and how many asked ones have none."""
    names = {o.id: o.name for o in read_objects(s, asking.set_id)}
    answer = t.RelationAnswer
    rows = s.exec(
        select(answer.a_id, answer.b_id, answer.relation).where(answer.asking_id == asking.id)
    ).all()
    read = {(a, b) for a, b, relation in rows if relation is not None}
    keys = sorted(
        str(RelationItemKey("pair", asking.set, asking.name, (names[a], names[b]))) for a, b in read
    )
    group = (asking.set, asking.name, "")
    return [Candidate(k, group, k) for k in keys], len({(a, b) for a, b, _ in rows}) - len(read)
