"""Edited steps to label: a seeded sample, in an order that tells nothing, sealed where it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, delete, exists, func, not_, or_, true
from sqlalchemy import select as plain_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer, decode_steps
from store.errors import SealedError
from store.intervention_records import (
    UNEDITED,
    AnswersWith,
    CounterfactualRunRecord,
    EditFilter,
    EditPlace,
    EditQueue,
    EditRow,
    EditView,
)
from store.keys import TraceItemKey, sample_order
from store.model_records import SampleMade
from store.records import Progress
from store.repository.counterfactuals import editing_record, read_runs
from store.repository.drawing import Candidate, Drawn, Room, draw, make_room
from store.repository.items import ConflictError, Items, TraceItems
from store.repository.rows import (
    is_decided,
    is_sampled_edit,
    is_standing,
    label_record,
    latest_label,
    need_schema,
    outdated_categories,
)

SCHEMA = "counterfactual"

_SAMPLE: Any = t.CounterfactualSample
_EDIT: Any = t.CounterfactualEdit


class CounterfactualQueue(Items):
    """The sample of an editing's edits, one's own progress in it, and one edit in its trace.

    `sealed` says that the rater must not learn which trace is the medoid. Edits are made of the
    medoids alone unless asked for otherwise; so while a case of the pool is not revealed by them,
    none of its edits is shown, unless every path of the case was edited too.
    """

    def make_counterfactual_sample(
        self, editing_id: int, n: int = 50, seed: int = 0, pools: Sequence[int] | None = None
    ) -> SampleMade:
        """Draw n edits to be labelled, and make their items; of some pools where they are given.

        As `make_decomposition_sample` draws traces: each with probability n/N, no pool more than
        its share rounded up. An edit that anybody but a judge has labelled stays; others of an
        earlier draw are withdrawn.

        Raises
        ------
        ValueError
            When n is less than 1.
        """
        if n < 1:
            raise ValueError(f"a sample of {n} edits; at least 1 is right")
        with self._write() as s:
            s.get_one(t.CounterfactualEditing, editing_id)
            population, n_left_out = _population(s, editing_id, pools)
            drawn = draw(population, n, seed, "counterfactual sample")
            keys = {c.ident: c.key for c in population}
            room = _make_room(s, editing_id, drawn)
            parameters = {"n": n, "seed": seed, "population": len(population)}
            items = TraceItems(s)
            for place, one in sorted(drawn.items(), key=lambda d: d[1].random_key):
                s.add(
                    t.CounterfactualSample(
                        editing_id=editing_id,
                        trace_id=place[0],
                        step=place[1],
                        inclusion_probability=one.probability,
                        random_key=one.random_key,
                        parameters=parameters,
                    )
                )
                items.find(keys[place])
        return SampleMade(
            n_population=len(population),
            n_left_out=n_left_out,
            n_new=len(drawn),
            n_same=room.n_same,
            n_kept=room.n_kept,
            n_withdrawn=room.n_gone,
            probability=min(n / len(population), 1.0) if population else None,
        )

    def sampled_edits(self, editing_id: int) -> frozenset[EditPlace]:
        """Return which of an editing's edits were drawn to be labelled."""
        with self._read() as s:
            rows = s.execute(
                plain_select(_SAMPLE.trace_id, _SAMPLE.step).where(_SAMPLE.editing_id == editing_id)
            )
            return frozenset((trace, step) for trace, step in rows)

    def edit_queue(
        self,
        editing_id: int,
        rater_id: int,
        *,
        sealed: bool,
        show: EditFilter = "all",
        schema: str = SCHEMA,
    ) -> EditQueue:
        """Return the sampled edits in their random order, with this rater's own progress."""
        with self._read() as s:
            rows = s.execute(_rows(s, editing_id, rater_id, schema, sealed)).all()
        open_rows = [_row(r) for r in rows if r[-1]]
        return EditQueue(
            tuple(r for r in open_rows if _is_kept(r, show)),
            len(rows),
            sum(r.decided for r in open_rows),
            len(rows) - len(open_rows),
        )

    def edit_view(
        self,
        editing_id: int,
        place: EditPlace,
        rater_id: int,
        *,
        sealed: bool,
        schema: str = SCHEMA,
    ) -> EditView:
        """Return an edited step in its trace, and the rater's own label.

        Raises
        ------
        SealedError
            While it would tell the rater which trace is the medoid.
        ConflictError
            When the step has no edit.
        """
        trace_id, step = place
        with self._read() as s:
            edit = s.get(t.CounterfactualEdit, (editing_id, trace_id, step))
            if edit is None or edit.text is None:
                raise ConflictError(f"step {step} of trace {trace_id} has no edit to label")
            trace = s.get_one(t.Trace, trace_id)
            pool = s.get_one(t.Pool, trace.pool_id)
            if not s.execute(
                plain_select(_is_open(pool.id, pool.question_id, editing_id, rater_id, sealed))
            ).scalar_one():
                raise SealedError(
                    "an edit of this trace would tell which path of its case is the medoid: "
                    "label and reveal the case first"
                )
            question = s.get_one(t.Question, pool.question_id)
            editing = editing_record(s.get_one(t.CounterfactualEditing, editing_id))
            names = (question.dataset, question.external_id, pool.name, trace.sample)
            key = TraceItemKey("counterfactual", names, step=step, editing=editing.name)
        (ref,) = self._refs([key])
        with self._read() as s:
            run = _newest_run(s, editing_id, trace_id)
            label = latest_label(s, rater_id, schema, ref.item_id)
            newest = need_schema(s, schema)
            return EditView(
                editing=editing,
                run=run,
                item_id=ref.item_id,
                item=ref.key,
                trace_id=trace_id,
                step=step,
                dataset=question.dataset,
                question_id=question.external_id,
                question=question.text,
                options=question.options,
                pool=pool.name,
                sample=trace.sample,
                steps=decode_steps(trace.steps),
                text=edit.text,
                before=_answers_with(s, run, trace_id, UNEDITED),
                after=_answers_with(s, run, trace_id, step),
                label=None if label is None else label_record(label, ref.key, newest),
            )

    def last_edit(self, rater_id: int, schema: str = SCHEMA) -> tuple[int, EditPlace] | None:
        """Return editing and place of this rater's last act on a sampled edit; imports are none."""
        item = t.Item
        with self._read() as s:
            found = s.exec(
                select(item.editing_id, item.trace_id, item.step)
                .join(t.Label, col(t.Label.item_id) == col(item.id))
                .join(_SAMPLE, is_sampled_edit())
                .where(
                    t.Label.rater_id == rater_id,
                    t.Label.schema_name == schema,
                    t.Label.act != "import",
                    item.kind == "counterfactual",
                )
                .order_by(col(t.Label.id).desc())
                .limit(1)
            ).first()
        return None if found is None else (found[0] or 0, (found[1] or 0, found[2] or 0))


def edit_progress(s: Session, rater_id: int, schema: str) -> Progress:
    """Return a rater's progress over the sampled edits of all editings, each a case by itself."""
    decided, _ = _mine(s, rater_id, schema)
    n, n_decided = s.execute(
        plain_select(func.count(), func.count().filter(exists(decided)))
        .select_from(_SAMPLE)
        .join(t.Item, is_sampled_edit())
    ).one()
    return Progress(n, n_decided, n, n_decided)


def _population(
    s: Session, editing_id: int, pools: Sequence[int] | None
) -> tuple[list[Candidate[EditPlace]], int]:
    """Return the edits, in an order of their own, and how many steps have a fault in their place."""
    name = s.get_one(t.CounterfactualEditing, editing_id).name
    rows = s.execute(
        plain_select(
            _EDIT.trace_id,
            _EDIT.step,
            _EDIT.fault,
            col(t.Question.dataset),
            col(t.Question.external_id),
            col(t.Pool.name),
            col(t.Trace.sample),
        )
        .join(t.Trace, col(t.Trace.id) == _EDIT.trace_id)
        .join(t.Pool, col(t.Pool.id) == col(t.Trace.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        .where(
            _EDIT.editing_id == editing_id,
            true() if pools is None else col(t.Pool.id).in_(pools),
        )
    ).all()
    usable = [r for r in rows if r[2] is None]
    usable.sort(key=lambda r: (r[3:6], sample_order(r[6]), r[6], r[1]))
    found = [
        Candidate(
            (r[0], r[1]),
            (r[3], r[4], r[5]),
            str(TraceItemKey("counterfactual", tuple(r[3:7]), step=r[1], editing=name)),
        )
        for r in usable
    ]
    return found, len(rows) - len(found)


def _make_room(s: Session, editing_id: int, drawn: dict[EditPlace, Drawn]) -> Room[EditPlace]:
    """Withdraw what is neither drawn nor labelled; take out of `drawn` what stays as it is."""
    rows = s.exec(select(_SAMPLE).where(_SAMPLE.editing_id == editing_id)).all()
    old = [((r.trace_id, r.step), Drawn(r.inclusion_probability, r.random_key)) for r in rows]
    room = make_room(old, _labelled(s, editing_id), drawn)
    for trace_id, step in room.withdrawn:
        s.execute(
            delete(_SAMPLE).where(
                _SAMPLE.editing_id == editing_id,
                _SAMPLE.trace_id == trace_id,
                _SAMPLE.step == step,
            )
        )
    return room


def _labelled(s: Session, editing_id: int) -> set[EditPlace]:
    found = s.exec(
        select(t.Item.trace_id, t.Item.step)
        .join(t.Label, col(t.Label.item_id) == col(t.Item.id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .where(t.Item.editing_id == editing_id, t.Rater.kind != "judge")
        .distinct()
    )
    return {(trace, step) for trace, step in found if trace is not None and step is not None}


def _is_open(pool_id: Any, question_id: Any, editing_id: Any, rater_id: int, sealed: bool) -> Any:
    """Return the clause that a rater may be shown the edits of a pool's traces."""
    if not sealed:
        return true()
    case, place, item = aliased(t.AuditCase), aliased(t.CaseItem), aliased(t.Item)
    edit, reveal = aliased(t.CounterfactualEdit), aliased(t.Reveal)
    edited = exists(col(edit.step)).where(
        col(edit.editing_id) == editing_id, col(edit.trace_id) == col(item.trace_id)
    )
    telling = (
        exists(col(case.id))
        .where(col(case.pool_id) == pool_id)
        .where(col(place.case_id) == col(case.id), col(item.id) == col(place.item_id))
        .where(not_(edited))
    )
    revealed = exists(col(reveal.id)).where(
        col(reveal.rater_id) == rater_id, col(reveal.question_id) == question_id
    )
    return or_(not_(telling), revealed)


def _mine(s: Session, rater_id: int, schema: str) -> tuple[Any, Any]:
    """Return queries of my standing labels on an outer item: deciding ones, flagged ones."""
    need_schema(s, schema)
    base = select(t.Label.id).where(
        t.Label.item_id == t.Item.id,
        t.Label.rater_id == rater_id,
        t.Label.schema_name == schema,
        is_standing(t.Label),
    )
    base = base.correlate(t.Item)
    return base.where(is_decided(t.Label, outdated_categories(s, schema))), base.where(
        col(t.Label.flagged)
    )


def _rows(s: Session, editing_id: int, rater_id: int, schema: str, sealed: bool) -> Any:
    decided, flagged = _mine(s, rater_id, schema)
    return (
        plain_select(
            _SAMPLE.trace_id,
            _SAMPLE.step,
            col(t.Question.dataset),
            col(t.Question.external_id),
            col(t.Question.text),
            col(t.Pool.name),
            col(t.Trace.sample),
            _EDIT.text,
            exists(decided),
            exists(flagged),
            _is_open(col(t.Pool.id), col(t.Question.id), editing_id, rater_id, sealed),
        )
        .select_from(_SAMPLE)
        .join(
            _EDIT,
            and_(
                _EDIT.editing_id == _SAMPLE.editing_id,
                _EDIT.trace_id == _SAMPLE.trace_id,
                _EDIT.step == _SAMPLE.step,
            ),
        )
        .join(t.Item, is_sampled_edit())
        .join(t.Trace, col(t.Trace.id) == _SAMPLE.trace_id)
        .join(t.Pool, col(t.Pool.id) == col(t.Trace.pool_id))
        .join(t.Question, col(t.Question.id) == col(t.Pool.question_id))
        .where(_SAMPLE.editing_id == editing_id)
        .order_by(_SAMPLE.random_key, _SAMPLE.trace_id, _SAMPLE.step)
    )


def _is_kept(row: EditRow, show: EditFilter) -> bool:
    if show == "flagged":
        return row.flagged
    return show == "all" or row.decided == (show == "done")


def _row(r: Any) -> EditRow:
    return EditRow(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7] or "", bool(r[8]), bool(r[9]))


def _newest_run(s: Session, editing_id: int, trace_id: int) -> CounterfactualRunRecord | None:
    """Return the newest run of an editing that has answers to a trace."""
    answer = t.CounterfactualAnswer
    answered = exists(col(answer.step)).where(
        col(answer.run_id) == col(t.CounterfactualRun.id), col(answer.trace_id) == trace_id
    )
    runs = read_runs(s, t.CounterfactualRun.editing_id == editing_id, answered)
    return runs[-1] if runs else None


def _answers_with(
    s: Session, run: CounterfactualRunRecord | None, trace_id: int, step: int
) -> AnswersWith | None:
    if run is None:
        return None
    answer = t.CounterfactualAnswer
    rows = s.exec(
        select(answer)
        .where(answer.run_id == run.id, answer.trace_id == trace_id, answer.step == step)
        .order_by(col(answer.repeat))
    ).all()
    if not rows:
        return None
    return AnswersWith(tuple(decode_answer(r.answer) for r in rows), tuple(r.reason for r in rows))
