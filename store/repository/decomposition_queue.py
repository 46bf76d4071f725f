"""Decomposed traces to label: a seeded sample, paged in an order that tells nothing."""

from __future__ import annotations

import json
from typing import Any, Literal

from sqlalchemy import delete, func, tuple_
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.engine import Base
from store.keys import CRITERIA, path_key, sample_order
from store.model_records import DecomposedFilter, DecomposedRow, SampleMade
from store.records import Page, Progress
from store.repository.drawing import Candidate, Drawn, Room, draw, make_room
from store.repository.items import TraceItems, criteria_of
from store.repository.rows import is_decided, is_standing, need_schema, outdated_categories


class DecompositionQueue(Base):
    """The sample of a decomposition and one's own progress in it."""

    def make_decomposition_sample(
        self, decomposition_id: int, n: int = 50, seed: int = 0
    ) -> SampleMade:
        """Draw n decomposed traces to be labelled, and make their criterion items.

        Pools in random order, their traces in random order, and every N/n-th trace from a random
        start: each of the N traces with facts has the same inclusion probability n/N, and no pool
        gets more than its share rounded up. The same seed draws the same traces for two
        decompositions that have split the same traces.

        A trace on whose criteria anybody but a judge has labelled stays in the sample, with the
        probability of the draw it came from; other traces of an earlier draw are withdrawn.

        Raises
        ------
        ValueError
            When n is less than 1.
        """
        if n < 1:
            raise ValueError(f"a sample of {n} traces; at least 1 is right")
        with self._write() as s:
            s.get_one(t.Decomposition, decomposition_id)
            population, n_left_out = _population(s, decomposition_id)
            drawn = draw(population, n, seed, "decomposition sample")
            room = _make_room(s, decomposition_id, drawn)
            rows = [
                t.DecompositionSample(
                    decomposition_id=decomposition_id,
                    trace_id=trace_id,
                    inclusion_probability=one.probability,
                    random_key=one.random_key,
                    parameters={"n": n, "seed": seed, "population": len(population)},
                )
                for trace_id, one in sorted(drawn.items(), key=lambda d: d[1].random_key)
            ]
            s.add_all(rows)
            items = TraceItems(s)
            for row in rows:
                for key in criteria_of(s, decomposition_id, row.trace_id):
                    items.find(str(key))
        return SampleMade(
            n_population=len(population),
            n_left_out=n_left_out,
            n_new=len(rows),
            n_same=room.n_same,
            n_kept=room.n_kept,
            n_withdrawn=room.n_gone,
            probability=min(n / len(population), 1.0) if population else None,
        )

    def decomposition_rows(
        self,
        decomposition_id: int,
        rater_id: int,
        *,
        show: DecomposedFilter = "all",
        after: str | None = None,
        limit: int = 200,
        schema: str = "decomposition",
    ) -> Page[DecomposedRow]:
        """Return one page of the sampled traces, with this rater's own progress."""
        with self._read() as s:
            query = _Sampled(s, decomposition_id, rater_id, schema, show)
            n_before, later = 0, []
            if after is not None:
                n_before, *last = json.loads(after)
                later = [tuple_(*_ORDER) > tuple(last)]
            rows = s.execute(query.rows().where(*later).order_by(*_ORDER).limit(limit + 1)).all()
            page, more = rows[:limit], len(rows) > limit
            cursor = None
            if more:
                sampled = page[-1][0]
                cursor = json.dumps([n_before + limit, sampled.random_key, sampled.trace_id])
            total = s.execute(query.count()).scalar_one()
            return Page(
                tuple(_row(r, n_before + i) for i, r in enumerate(page, start=1)), total, cursor
            )

    def neighbour_decomposed(
        self,
        decomposition_id: int,
        rater_id: int,
        trace_id: int | None = None,
        *,
        direction: Literal["next", "previous"] = "next",
        show: DecomposedFilter = "all",
        schema: str = "decomposition",
    ) -> int | None:
        """Return the trace after or before this one in the sample, None at the end.

        With `trace_id` None, the first (or last). A trace outside the sample has no neighbour.
        """
        forward = direction == "next"
        with self._read() as s:
            query = _Sampled(s, decomposition_id, rater_id, schema, show)
            ids = query.of(col(t.DecompositionSample.trace_id))
            if trace_id is not None:
                here = s.get(t.DecompositionSample, (decomposition_id, trace_id))
                if here is None:
                    return None
                place = (here.random_key, trace_id)
                ids = ids.where(tuple_(*_ORDER) > place if forward else tuple_(*_ORDER) < place)
            order = _ORDER if forward else tuple(c.desc() for c in _ORDER)
            found: int | None = s.execute(ids.order_by(*order).limit(1)).scalar()
            return found

    def decomposition_progress(
        self, decomposition_id: int, rater_id: int, schema: str = "decomposition"
    ) -> Progress:
        """Return how far this rater is with a decomposition's sample; its cases are traces."""
        with self._read() as s:
            return criterion_progress(s, rater_id, schema, decomposition_id)

    def last_decomposed(
        self, rater_id: int, decomposition_id: int | None = None, schema: str = "decomposition"
    ) -> tuple[int, int] | None:
        """Return decomposition and trace of this rater's last act on a sampled trace's criteria.

        A label, skip, flag, comment, undo or redo is an act, an import is none.
        """
        item, sample = t.Item, t.DecompositionSample
        query = (
            select(item.decomposition_id, item.trace_id)
            .join(t.Label, col(t.Label.item_id) == col(item.id))
            .join(
                sample,
                (col(sample.trace_id) == col(item.trace_id))
                & (col(sample.decomposition_id) == col(item.decomposition_id)),
            )
            .where(
                t.Label.rater_id == rater_id,
                t.Label.schema_name == schema,
                t.Label.act != "import",
                item.kind == "criterion",
            )
        )
        if decomposition_id is not None:
            query = query.where(sample.decomposition_id == decomposition_id)
        with self._read() as s:
            found = s.exec(query.order_by(col(t.Label.id).desc()).limit(1)).first()
        return None if found is None else (found[0] or 0, found[1] or 0)


_ORDER: tuple[Any, ...] = (
    col(t.DecompositionSample.random_key),
    col(t.DecompositionSample.trace_id),
)


def _population(s: Session, decomposition_id: int) -> tuple[list[Candidate[int]], int]:
    """Return the decomposed traces with facts, in an order of their own, and how many have none."""
    rows = s.execute(
        plain_select(
            col(t.DecomposedTrace.trace_id),
            col(t.DecomposedTrace.n_facts),
            col(t.Question.dataset),
            col(t.Question.external_id),
            col(t.Pool.name),
            col(t.Trace.sample),
        )
        .join(t.Trace, col(t.Trace.id) == col(t.DecomposedTrace.trace_id))
        .join(t.Pool, col(t.Pool.id) == col(t.Trace.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        .where(col(t.DecomposedTrace.decomposition_id) == decomposition_id)
    ).all()
    usable = [r for r in rows if r[1] > 0]
    usable.sort(key=lambda r: ((r[2], r[3], r[4]), sample_order(r[5]), r[5]))
    found = [Candidate(r[0], (r[2], r[3], r[4]), path_key(*r[2:6])) for r in usable]
    return found, len(rows) - len(found)


def _make_room(s: Session, decomposition_id: int, drawn: dict[int, Drawn]) -> Room[int]:
    """Withdraw what is neither drawn nor labelled; take out of `drawn` what stays as it is."""
    sample = t.DecompositionSample
    rows = s.exec(select(sample).where(sample.decomposition_id == decomposition_id)).all()
    old = [(r.trace_id, Drawn(r.inclusion_probability, r.random_key)) for r in rows]
    room = make_room(old, _labelled(s, decomposition_id), drawn)
    for trace_id in room.withdrawn:
        s.execute(
            delete(sample).where(
                col(sample.decomposition_id) == decomposition_id,
                col(sample.trace_id) == trace_id,
            )
        )
    return room


def _labelled(s: Session, decomposition_id: int) -> set[int]:
    found = s.exec(
        select(t.Item.trace_id)
        .join(t.Label, col(t.Label.item_id) == col(t.Item.id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(t.Item.decomposition_id == decomposition_id, t.Rater.kind != "judge")
        .distinct()
    )
    return {trace_id for trace_id in found if trace_id is not None}


def _mine(
    rater_id: int, schema: str, outdated: tuple[str, ...], decomposition_id: int | None
) -> Any:
    """Return a query of my labels on criteria: decomposition, trace, n_decided, n_flagged."""
    item = func.distinct(col(t.Item.id))
    query: Any = (
        select(
            col(t.Item.decomposition_id).label("decomposition_id"),
            col(t.Item.trace_id).label("trace_id"),
            func.count(item).filter(is_decided(t.Label, outdated)).label("n_decided"),
            func.count(item).filter(col(t.Label.flagged)).label("n_flagged"),
        )
        .join(t.Label, col(t.Label.item_id) == col(t.Item.id))
        .where(
            t.Item.kind == "criterion",
            t.Label.rater_id == rater_id,
            t.Label.schema_name == schema,
            is_standing(t.Label),
        )
        .group_by(col(t.Item.decomposition_id), col(t.Item.trace_id))
    )
    if decomposition_id is not None:
        query = query.where(t.Item.decomposition_id == decomposition_id)
    return query.subquery()


class _Sampled:
    """Queries over a decomposition's sampled traces that a filter keeps."""

    def __init__(
        self,
        s: Session,
        decomposition_id: int,
        rater_id: int,
        schema: str,
        show: DecomposedFilter,
    ) -> None:
        self._id = decomposition_id
        mine = _mine(rater_id, schema, outdated_categories(s, schema), decomposition_id)
        self._mine = mine
        self._n_mine = func.coalesce(mine.c.n_decided, 0)
        self._n_flagged = func.coalesce(mine.c.n_flagged, 0)
        kept: dict[DecomposedFilter, list[Any]] = {
            "all": [],
            "unlabelled": [self._n_mine < len(CRITERIA)],
            "done": [self._n_mine >= len(CRITERIA)],
            "flagged": [self._n_flagged > 0],
        }
        self._kept = kept[show]

    def of(self, *what: Any) -> Any:
        """Return a query over the sample."""
        sample = t.DecompositionSample
        return (
            select(*what)
            .select_from(sample)
            .join(self._mine, self._mine.c.trace_id == col(sample.trace_id), isouter=True)
            .where(sample.decomposition_id == self._id, *self._kept)
        )

    def count(self) -> Any:
        """Return the query of how many there are."""
        return self.of(func.count())

    def rows(self) -> Any:
        """Return the query of the lines."""
        sample, facts = t.DecompositionSample, t.DecomposedTrace
        return (
            self.of(
                sample,
                facts.n_facts,
                facts.n_dropped,
                facts.n_invented,
                t.Trace.n_steps,
                t.Trace.sample,
                t.Pool.name,
                t.Question.dataset,
                t.Question.external_id,
                t.Question.text,
                self._n_mine,
                self._n_flagged,
            )
            .join(
                facts,
                (col(facts.trace_id) == col(sample.trace_id))
                & (col(facts.decomposition_id) == col(sample.decomposition_id)),
            )
            .join(t.Trace, col(t.Trace.id) == col(sample.trace_id))
            .join(t.Pool, col(t.Pool.id) == col(t.Trace.pool_id))
            .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        )


def _row(r: Any, position: int) -> DecomposedRow:
    return DecomposedRow(
        trace_id=r[0].trace_id,
        position=position,
        dataset=r[7],
        question_id=r[8],
        question=r[9],
        pool=r[6],
        sample=r[5],
        n_steps=r[4],
        n_facts=r[1],
        n_dropped=r[2],
        n_invented=r[3],
        n_items=len(CRITERIA),
        n_mine=r[10],
        flagged=r[11] > 0,
    )


def criterion_progress(
    s: Session, rater_id: int, schema: str, decomposition_id: int | None = None
) -> Progress:
    """Return a rater's progress over the sampled traces of one decomposition, or of all."""
    need_schema(s, schema)
    mine = _mine(rater_id, schema, outdated_categories(s, schema), decomposition_id)
    sample = t.DecompositionSample
    query: Any = (
        select(
            func.count(),
            func.sum(func.coalesce(mine.c.n_decided, 0)),
            func.count().filter(mine.c.n_decided >= len(CRITERIA)),
        )
        .select_from(sample)
        .join(
            mine,
            (mine.c.trace_id == col(sample.trace_id))
            & (mine.c.decomposition_id == col(sample.decomposition_id)),
            isouter=True,
        )
    )
    if decomposition_id is not None:
        query = query.where(sample.decomposition_id == decomposition_id)
    n_traces, n_decided, n_done = s.exec(query).one()
    return Progress(n_traces * len(CRITERIA), int(n_decided or 0), n_traces, n_done)
