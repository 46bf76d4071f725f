"""Behind the seal of replies to deduction problems.

Sealed are the reference, its values, what was read of a reply, and everybody's verdicts. The
values of a mutation are the same whatever k, style and solver: whoever saw them once knows them
for all its replies. So they are revealed for a mutation as a whole, once every sampled reply to it
is labelled.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import exists, or_
from sqlalchemy import select as plain_select
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_template
from store.deduction_records import ORIGINAL, DeductionAnswer
from store.engine import Base
from store.errors import SealedError
from store.records import SchemaRecord, Verdict
from store.repository.deduction_problems import read_mutations
from store.repository.deduction_rows import (
    check_schema,
    hidden_values,
    make_items,
    own_labels,
    unrevealed,
)
from store.repository.deductions import reading_record
from store.repository.relation_seen import is_item_revealed, record_item_reveals
from store.repository.revealed import verdicts_on

_COMPLETION: Any = t.DeductionCompletion
_ITEM: Any = t.DeductionItem
_SAMPLE: Any = t.DeductionSample


class DeductionRevealed(Base):
    """The doors behind the seal of replies."""

    def reveal_deduction(self, item_id: int, rater_id: int, schema: SchemaRecord) -> None:
        """Record that this rater looks behind the seal of a reply, and of all to its numbers.

        Raises
        ------
        SealedError
            While they have not labelled it, or another sampled reply to the same numbers.
        """
        check_schema(schema)
        with self._write() as s:
            decided = _decided(s, rater_id, schema.name, item_id)
            if not decided.get(item_id, False):
                raise SealedError("this reply is not labelled yet")
            n_left = sum(not done for done in decided.values())
            if n_left:
                raise SealedError(
                    f"{n_left} more with the same numbers to label first: their values are these"
                )
            record_item_reveals(s, rater_id, decided)

    def deduction_answer(
        self, completion_id: int, rater_id: int, schema: SchemaRecord, *, shown: bool = True
    ) -> DeductionAnswer:
        """Return the reference of a completion, its values, and what was read of the reply.

        What is `shown` is recorded as a reveal of the reply; what is only counted is not.

        Raises
        ------
        SealedError
            Under ``full``, while a sampled reply to the same numbers waits for this rater, or one
            that they labelled is not revealed.
        """
        check_schema(schema)
        with self._read() as s:
            completion = s.get_one(t.DeductionCompletion, completion_id)
            if schema.seal == "full" and completion.mutation_id in hidden_values(s, rater_id):
                raise SealedError("the values of this reply are sealed: label it, then b")
            item = s.exec(
                select(t.DeductionItem.item_id).where(_ITEM.completion_id == completion_id)
            ).first()
            known = item is not None and is_item_revealed(s, rater_id, item)
            answer = _answer(s, completion)
        if shown and not known and schema.seal != "judge":
            with self._write() as s:
                record_item_reveals(s, rater_id, make_items(s, [completion_id]).values())
        return answer

    def deduction_verdicts(
        self, item_id: int, rater_id: int, schema: SchemaRecord
    ) -> tuple[Verdict, ...]:
        """Return what everybody but this rater says of a reply.

        Raises
        ------
        SealedError
            When the level is not ``open`` and they have not revealed it.
        """
        check_schema(schema)
        with self._read() as s:
            if schema.seal != "open" and not is_item_revealed(s, rater_id, item_id):
                raise SealedError("what others say of this reply is sealed: label it, then b")
            return verdicts_on(s, [item_id], rater_id, schema.name)

    def hidden_mutations(self, rater_id: int, schema: SchemaRecord) -> frozenset[int]:
        """Return the mutations whose values this rater must not see yet."""
        if schema.seal != "full":
            return frozenset()
        with self._read() as s:
            return frozenset(hidden_values(s, rater_id))

    def hidden_completions(self, rater_id: int | None, schema: SchemaRecord) -> frozenset[int]:
        """Return the completions that no figure shown to this rater may count yet.

        None stands for who is no rater yet, and so has revealed nothing.
        """
        if schema.seal != "full":
            return frozenset()
        with self._read() as s:
            return frozenset(s.execute(unrevealed(_ITEM.completion_id, rater_id)).scalars())


def _decided(s: Session, rater_id: int, schema: str, item_id: int) -> dict[int, bool]:
    """Return whether a rater decided a reply, and the sampled ones to the same numbers, by item."""
    decided, _ = own_labels(s, rater_id, schema)
    mutation_id = (
        plain_select(_COMPLETION.mutation_id)
        .join(_ITEM, _ITEM.completion_id == _COMPLETION.id)
        .where(_ITEM.item_id == item_id)
        .scalar_subquery()
    )
    rows = s.execute(
        plain_select(_ITEM.item_id, exists(decided))
        .select_from(_ITEM)
        .join(t.Item, col(t.Item.id) == _ITEM.item_id)
        .join(_COMPLETION, _COMPLETION.id == _ITEM.completion_id)
        .outerjoin(_SAMPLE, _SAMPLE.item_id == _ITEM.item_id)
        .where(
            _COMPLETION.mutation_id == mutation_id,
            or_(_SAMPLE.item_id.is_not(None), _ITEM.item_id == item_id),
        )
    )
    return {item: bool(done) for item, done in rows}


def _answer(s: Session, completion: t.DeductionCompletion) -> DeductionAnswer:
    (mutation,) = read_mutations(s, col(t.DeductionMutation.id) == completion.mutation_id)
    template = s.get_one(t.DeductionTemplate, mutation.template_id)
    same = col(t.DeductionMutation.template_id) == mutation.template_id
    own = read_mutations(s, same, col(t.DeductionMutation.number) == ORIGINAL)
    readings = s.exec(
        select(t.DeductionReading)
        .where(t.DeductionReading.completion_id == completion.id)
        .order_by(col(t.DeductionReading.created_at))
    ).all()
    return DeductionAnswer(
        completion_id=completion.id or 0,
        template=decode_template(template.template),
        mutation=mutation,
        original=own[0].values if own else {},
        k=completion.k,
        readings={r.reader: reading_record(r) for r in readings},
    )
