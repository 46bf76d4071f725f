"""Writing the objects, facts and answers about relations that files hold."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from store import tables as t
from store.columns import utc_now
from store.relation_records import (
    AskingRecord,
    NewFact,
    NewObject,
    NewRelationAnswer,
    RelationAnswerRecord,
    RelationKind,
)
from store.repository.items import ConflictError
from store.repository.label_imports import row_id
from store.repository.relation_sets import SetOutcome, SetWriter
from store.repository.relations import need_asking, read_answers, same_answer


@dataclass
class _Asked:
    record: AskingRecord
    answers: dict[tuple[int, int, int], RelationAnswerRecord]


class RelationBatch:
    """Lines about relations of one import, in its transaction; see `ImportBatch`."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._sets = SetWriter(session)
        self._askings: dict[tuple[int, str], _Asked] = {}

    def kind_of(self, name: str) -> str | None:
        """Return the kind of a set, None where there is none of this name."""
        found = self._sets.find(name)
        return None if found is None else found.kind

    def add_object(self, name: str, kind: RelationKind, new: NewObject) -> SetOutcome:
        """Store an object of a set, which is made where there is none."""
        return self._sets.add_object(self._sets.need(name, kind), new)

    def add_fact(self, name: str, kind: RelationKind, new: NewFact) -> SetOutcome:
        """Store a fact about two objects; they and the set are made where there are none."""
        return self._sets.add_fact(self._sets.need(name, kind), new)

    def add_answer(self, new: NewRelationAnswer) -> SetOutcome:
        """Store an answer to an ordered pair; set, objects and asking are made where needed.

        Raises
        ------
        ConflictError
            When the same pair and repeat has another answer already, the set is of another kind,
            or its name was asked with another prompt.
        """
        if new.a == new.b:
            raise ConflictError(f"set {new.set}: {new.a!r} was asked about itself; two are right")
        of = self._sets.need(new.set, new.kind)
        place = f"{new.asking} on {new.a!r} and {new.b!r} of set {new.set}"
        a, b = (self._sets.named(of, name, make=True) for name in (new.a, new.b))
        asked = self._asking(row_id(of), new)
        row = RelationAnswerRecord(
            a.position, b.position, new.relation, new.outcome, new.repeat, new.text, new.reason
        )
        key = (row.a, row.b, row.repeat)
        before = asked.answers.get(key)
        if before is not None:
            if not same_answer(before, row):
                raise ConflictError(
                    f"{place}, repeat {new.repeat}, is in the database with another answer; give "
                    "this one another repeat or variant"
                )
            return "known"
        self._s.add(
            t.RelationAnswer(
                asking_id=asked.record.id,
                a_id=row_id(a),
                b_id=row_id(b),
                repeat=new.repeat,
                relation=new.relation,
                outcome=new.outcome,
                created_at=utc_now(),
                reason=new.reason,
                text=new.text,
                extra=dict(new.extra) if new.extra else None,
            )
        )
        asked.answers[key] = row
        return "added"

    def _asking(self, set_id: int, new: NewRelationAnswer) -> _Asked:
        known = self._askings.get((set_id, new.asking))
        said = (new.model, new.form, new.prompt_version)
        if known is not None:
            r = known.record
            if (r.model, r.form, r.prompt_version) == said:
                return known
        record = need_asking(self._s, set_id, new.asking, "pairs", *said, None)
        answers = {(r.a, r.b, r.repeat): r for r in read_answers(self._s, record.id)}
        return self._askings.setdefault((set_id, new.asking), _Asked(record, answers))
