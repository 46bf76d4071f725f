"""Replies to deduction problems to label: a seeded sample, one's own progress, one reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, exists
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.deduction_records import (
    DeductionFilter,
    DeductionQueueRead,
    DeductionRow,
    DeductionText,
    DeductionView,
    mutation_label,
)
from store.engine import Base
from store.model_records import SampleMade
from store.records import Progress
from store.repository.deduction_rows import (
    key_of,
    make_items,
    own_labels,
    text_of,
    text_rows,
)
from store.repository.drawing import Candidate, Drawn, draw, make_room
from store.repository.relation_seen import is_item_revealed
from store.repository.rows import chunks, label_record, latest_label, need_schema

SCHEMA = "deduction"
"""The label schema of replies."""

_COMPLETION: Any = t.DeductionCompletion
_ITEM: Any = t.DeductionItem
_SAMPLE: Any = t.DeductionSample


class DeductionQueue(Base):
    """Items of replies, the sample of them, one's own progress, and one reply as it is sealed."""

    def deduction_items(self, completion_ids: Sequence[int]) -> dict[int, int]:
        """Return the items of completions, completion → item, making those that are not there.

        One whose key stands for another completion already has none.
        """
        with self._write() as s:
            return make_items(s, completion_ids)

    def make_deduction_sample(
        self, n: int = 50, seed: int = 0, *, solver: str | None = None
    ) -> SampleMade:
        """Draw n replies to be labelled, and make their items; of one solver where it is given.

        As `make_counterfactual_sample` draws edits: each with probability n/N, and of one solver's
        replies to one mutation no more than their share rounded up. What anybody but a judge has
        labelled stays; others of an earlier draw are withdrawn.

        Raises
        ------
        ValueError
            When n is less than 1.
        """
        if n < 1:
            raise ValueError(f"a sample of {n} replies; at least 1 is right")
        with self._write() as s:
            population, n_left_out = _population(s, solver)
            drawn = draw(population, n, seed, "deduction sample")
            items = make_items(s, sorted(drawn))
            chosen = {items[c]: d for c, d in drawn.items()}
            room = make_room(_sampled(s, solver), _labelled(s), chosen)
            for part in chunks(room.withdrawn):
                s.execute(delete(_SAMPLE).where(_SAMPLE.item_id.in_(part)))
            parameters = {"n": n, "seed": seed, "population": len(population)}
            for item, one in sorted(chosen.items(), key=lambda d: d[1].random_key):
                s.add(
                    t.DeductionSample(
                        item_id=item,
                        inclusion_probability=one.probability,
                        random_key=one.random_key,
                        parameters=parameters,
                    )
                )
        return SampleMade(
            n_population=len(population),
            n_left_out=n_left_out,
            n_new=len(chosen),
            n_same=room.n_same,
            n_kept=room.n_kept,
            n_withdrawn=room.n_gone,
            probability=min(n / len(population), 1.0) if population else None,
        )

    def deduction_queue(
        self,
        rater_id: int,
        *,
        show: DeductionFilter = "all",
        solver: str | None = None,
        style: str | None = None,
        schema: str = SCHEMA,
    ) -> DeductionQueueRead:
        """Return the sampled replies in their random order, with this rater's own progress."""
        with self._read() as s:
            decided, flagged = own_labels(s, rater_id, schema)
            query = text_rows(exists(decided), exists(flagged)).join(
                _SAMPLE, _SAMPLE.item_id == _ITEM.item_id
            )
            if solver is not None:
                query = query.where(col(t.DeductionSolver.name) == solver)
            if style is not None:
                query = query.where(_COMPLETION.style == style)
            rows = s.execute(query.order_by(_SAMPLE.random_key, _SAMPLE.item_id)).all()
        every = [DeductionRow(text_of(r), decided=bool(r[-2]), flagged=bool(r[-1])) for r in rows]
        return DeductionQueueRead(
            tuple(r for r in every if _is_kept(r, show)), len(every), sum(r.decided for r in every)
        )

    def deduction_texts(self, completion_ids: Sequence[int]) -> dict[int, DeductionText]:
        """Return what a sealed rater, or a judge, is shown of completions, by completion."""
        found: dict[int, DeductionText] = {}
        with self._read() as s:
            for part in chunks(list(completion_ids)):
                rows = s.execute(text_rows().where(_COMPLETION.id.in_(part))).all()
                found.update((r.id, text_of(r)) for r in rows)
        return found

    def deduction_view(self, item_id: int, rater_id: int, schema: str = SCHEMA) -> DeductionView:
        """Return one reply to label, with the rater's own label and whether they revealed it."""
        with self._read() as s:
            row = s.execute(text_rows().where(_ITEM.item_id == item_id)).one()
            label = latest_label(s, rater_id, schema, item_id)
            newest = need_schema(s, schema)
            text = text_of(row)
            return DeductionView(
                text,
                None if label is None else label_record(label, text.item, newest),
                is_item_revealed(s, rater_id, item_id),
            )

    def deduction_labels(
        self, rater_id: int, schema: str = SCHEMA
    ) -> dict[tuple[str, str], tuple[int, int]]:
        """Return by solver and style how many replies are sampled, and how many this rater decided."""
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        with self._read() as s:
            decided, _ = own_labels(s, rater_id, schema)
            query = text_rows(exists(decided)).join(_SAMPLE, _SAMPLE.item_id == _ITEM.item_id)
            for r in s.execute(query):
                n, done = counts.get((r.solver, r.style), (0, 0))
                counts[r.solver, r.style] = (n + 1, done + bool(r[-1]))
        return counts

    def last_deduction(self, rater_id: int, schema: str = SCHEMA) -> int | None:
        """Return the item of this rater's last act on a sampled reply; imports are none."""
        with self._read() as s:
            return s.exec(
                select(t.Label.item_id)
                .join(_SAMPLE, _SAMPLE.item_id == col(t.Label.item_id))
                .where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    t.Label.act != "import",
                )
                .order_by(col(t.Label.id).desc())
                .limit(1)
            ).first()


def deduction_progress(s: Session, rater_id: int, schema: str) -> Progress:
    """Return a rater's progress over the sampled replies, each a case by itself."""
    decided, _ = own_labels(s, rater_id, schema)
    query = plain_select(exists(decided)).select_from(_SAMPLE)
    flags = s.execute(query.join(t.Item, col(t.Item.id) == _SAMPLE.item_id)).scalars().all()
    return Progress(len(flags), sum(map(bool, flags)), len(flags), sum(map(bool, flags)))


def _population(s: Session, solver: str | None) -> tuple[list[Candidate[int]], int]:
    """Return the replies that can be labelled, and how many completions have none."""
    query = text_rows().order_by(_COMPLETION.id)
    if solver is not None:
        query = query.where(col(t.DeductionSolver.name) == solver)
    rows = s.execute(query).all()
    found: dict[str, Candidate[int]] = {}
    for r in rows:
        if r.text.strip():
            pool = (r.solver, r.problem, mutation_label(r.number))
            found.setdefault(key_of(r), Candidate(r.id, pool, key_of(r)))
    return sorted(found.values(), key=lambda c: c.key), len(rows) - len(found)


def _sampled(s: Session, solver: str | None) -> list[tuple[int, Drawn]]:
    query = text_rows(_SAMPLE.inclusion_probability, _SAMPLE.random_key).join(
        _SAMPLE, _SAMPLE.item_id == _ITEM.item_id
    )
    if solver is not None:
        query = query.where(col(t.DeductionSolver.name) == solver)
    return [(r.item_id, Drawn(r.inclusion_probability, r.random_key)) for r in s.execute(query)]


def _labelled(s: Session) -> set[int]:
    rows = s.exec(
        select(t.Label.item_id)
        .join(t.DeductionItem, _ITEM.item_id == col(t.Label.item_id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(t.Rater.kind != "judge")
        .distinct()
    )
    return set(rows)


def _is_kept(row: DeductionRow, show: DeductionFilter) -> bool:
    if show == "flagged":
        return row.flagged
    return show == "all" or row.decided == (show == "done")


__all__ = ["SCHEMA", "DeductionQueue", "deduction_progress"]
