"""Relation sets, ways of asking about them, and what models answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlmodel import Session, col, select

from store import tables as t
from store.columns import canonical, utc_now
from store.engine import Base
from store.keys import is_name
from store.model_records import REPLIED
from store.relation_records import (
    AnswerCounts,
    AskingRecord,
    Asks,
    FactRecord,
    FactUse,
    NewSet,
    ObjectRecord,
    RelationAnswerRecord,
    SetRecord,
    ValueRecord,
)
from store.repository.items import ConflictError
from store.repository.label_imports import row_id
from store.repository.relation_sets import (
    SetOutcome,
    SetWriter,
    decode_truth,
    encode_truth,
    read_facts,
    read_objects,
    read_sets,
)
from store.repository.rows import add_missing


class Relations(Base):
    """Sets and answers. Objects carry their truth: nothing here goes to a sealed screen."""

    def save_relation_set(self, new: NewSet) -> SetOutcome:
        """Store a set whole; the same again is known.

        Raises
        ------
        ConflictError
            When another set has this name, or the set is none. Nothing is stored then.
        """
        with self._write() as s:
            return SetWriter(s).save(new)

    def relation_sets(self) -> tuple[SetRecord, ...]:
        """Return all sets by name."""
        with self._read() as s:
            return read_sets(s)

    def relation_set_named(self, name: str) -> SetRecord:
        """Return the set of a name.

        Raises
        ------
        ValueError
            Naming those that there are.
        """
        with self._read() as s:
            known = {r.name: r for r in read_sets(s)}
        if name not in known:
            there = ", ".join(known) or "none yet"
            raise ValueError(f"no relation set {name!r} in the database; there are: {there}")
        return known[name]

    def relation_objects(self, set_id: int) -> tuple[ObjectRecord, ...]:
        """Return a set's objects in order, with their truth."""
        with self._read() as s:
            return read_objects(s, set_id)

    def relation_facts(self, set_id: int, use: FactUse | None = None) -> tuple[FactRecord, ...]:
        """Return what is true of pairs of a set, or what a model is told, by places."""
        with self._read() as s:
            return read_facts(s, set_id, use)

    def relation_asking(
        self,
        set_id: int,
        name: str,
        *,
        model: str,
        form: str,
        prompt_version: str,
        parameters: Mapping[str, Any],
        asks: Asks = "pairs",
    ) -> AskingRecord:
        """Return the asking of this name about a set, adding it on first use.

        Raises
        ------
        ConflictError
            When the name cannot stand in a key, or belongs to another model, form, prompt or
            parameters.
        """
        with self._write() as s:
            return need_asking(s, set_id, name, asks, model, form, prompt_version, parameters)

    def relation_askings(
        self, set_id: int | None = None, asks: Asks | None = None
    ) -> tuple[AskingRecord, ...]:
        """Return the askings about one set or all, oldest first."""
        clauses = [] if set_id is None else [t.RelationAsking.set_id == set_id]
        if asks is not None:
            clauses.append(t.RelationAsking.asks == asks)
        with self._read() as s:
            return read_askings(s, *clauses)

    def save_relation_answers(self, asking_id: int, rows: Iterable[RelationAnswerRecord]) -> int:
        """Store answers in one transaction; return how many were new.

        What is stored never changes: the same again is known.

        Raises
        ------
        ValueError
            When there is no such pair, or an outcome is no reply.
        ConflictError
            When another answer to the same pair and repeat is there. Nothing is stored then.
        """
        with self._write() as s:
            n_new = add_answers(s, asking_id, rows)
        self._let_others_write()
        return n_new

    def relation_answers(self, asking_id: int) -> tuple[RelationAnswerRecord, ...]:
        """Return the answers of an asking, those without a relation too, by pair and repeat."""
        with self._read() as s:
            return read_answers(s, asking_id)

    def relation_counts(self, asking_id: int) -> AnswerCounts:
        """Return how the answers of an asking ended."""
        answer = t.RelationAnswer
        with self._read() as s:
            rows = s.exec(
                select(answer.a_id, answer.b_id, answer.relation, answer.outcome).where(
                    answer.asking_id == asking_id
                )
            ).all()
        read = [(a, b) for a, b, relation, _ in rows if relation is not None]
        outcomes = Counter(outcome for *_, outcome in rows)
        return AnswerCounts(len(rows), len(read), len(set(read)), dict(sorted(outcomes.items())))

    def save_relation_values(self, asking_id: int, rows: Iterable[ValueRecord]) -> int:
        """Store what a model says of objects themselves, as `save_relation_answers` does."""
        with self._write() as s:
            n_new = _add_values(s, asking_id, rows)
        self._let_others_write()
        return n_new

    def relation_values(self, asking_id: int) -> tuple[ValueRecord, ...]:
        """Return what a model said of the objects of a set, by object and repeat."""
        with self._read() as s:
            return _read_values(s, asking_id)


def need_asking(
    s: Session,
    set_id: int,
    name: str,
    asks: Asks,
    model: str,
    form: str,
    prompt_version: str,
    parameters: Mapping[str, Any] | None,
) -> AskingRecord:
    """Return an asking by set, use and name, adding it on first use, in an open session.

    `parameters` None: those of the one that is there, whatever they are.
    """
    of = s.get_one(t.RelationSet, set_id)
    for part in (name, model):
        if not is_name(part):
            raise ConflictError(f"asking {part!r}: a name without control characters is right")
    asking = t.RelationAsking
    same = (asking.set_id == set_id, asking.asks == asks, asking.name == name)
    wanted: dict[str, Any] = {"model": model, "form": form, "prompt_version": prompt_version}
    if parameters is not None:
        wanted["parameters"] = dict(parameters)
    if s.exec(select(asking.id).where(*same)).first() is None:
        key = {"set_id": set_id, "asks": asks, "name": name, "created_at": utc_now()}
        add_missing(s, asking, [{**key, "parameters": {}, **wanted}])
    (found,) = read_askings(s, *same)
    other = [k for k, v in wanted.items() if canonical(getattr(found, k)) != canonical(v)]
    if other:
        raise ConflictError(
            f"{name} was asked about set {of.name} with another {', '.join(other)}: "
            "give this one another name"
        )
    return found


def read_askings(s: Session, *clauses: Any) -> tuple[AskingRecord, ...]:
    """Return askings, oldest first, in an open session."""
    rows = s.exec(
        select(t.RelationAsking, t.RelationSet)
        .join(t.RelationSet, col(t.RelationSet.id) == col(t.RelationAsking.set_id))
        .where(*clauses)
        .order_by(col(t.RelationAsking.id))
    ).all()
    return tuple(
        AskingRecord(
            id=row_id(r),
            set_id=r.set_id,
            set=of.name,
            kind=of.kind,  # type: ignore[arg-type]  # constrained by the table
            asks=r.asks,  # type: ignore[arg-type]
            name=r.name,
            model=r.model,
            form=r.form,
            prompt_version=r.prompt_version,
            parameters=r.parameters,
        )
        for r, of in rows
    )


def _checked_asking(s: Session, asking_id: int, asks: Asks) -> tuple[t.RelationAsking, list[int]]:
    """Return an asking and the ids of its set's objects by place."""
    asking = s.get_one(t.RelationAsking, asking_id)
    if asking.asks != asks:
        raise ValueError(f"{asking.name} asked about {asking.asks}, not {asks}")
    return asking, [o.id for o in read_objects(s, asking.set_id)]


def _check_reply(outcome: str, read: object, what: str) -> None:
    if outcome not in REPLIED:
        raise ValueError(
            f"{what} ended as {outcome!r}, which is no reply; one of {', '.join(REPLIED)} is right"
        )
    if read is not None and outcome != "ok":
        raise ValueError(f"{what} was read although it ended as {outcome!r}")


def add_answers(s: Session, asking_id: int, rows: Iterable[RelationAnswerRecord]) -> int:
    """Add answers that are not there, in an open session; see `save_relation_answers`."""
    asking, ids = _checked_asking(s, asking_id, "pairs")
    known = {(r.a, r.b, r.repeat): r for r in read_answers(s, asking_id)}
    missing: list[dict[str, Any]] = []
    for row in rows:
        pair = f"pair {row.a}, {row.b}"
        if row.a == row.b or not (0 <= row.a < len(ids) and 0 <= row.b < len(ids)):
            raise ValueError(f"{pair}: two different objects from 0 to {len(ids) - 1} are right")
        _check_reply(row.outcome, row.relation, pair)
        before = known.get((row.a, row.b, row.repeat))
        if before is None:
            known[row.a, row.b, row.repeat] = row
            missing.append(
                {
                    "asking_id": asking_id,
                    "a_id": ids[row.a],
                    "b_id": ids[row.b],
                    "repeat": row.repeat,
                    "relation": row.relation,
                    **_reply_values(row),
                }
            )
        elif not same_answer(before, row):
            raise ConflictError(
                f"{asking.name} has another answer to {pair}, repeat {row.repeat} already"
            )
    return add_missing(s, t.RelationAnswer, missing)


def same_answer(a: RelationAnswerRecord, b: RelationAnswerRecord) -> bool:
    """Return whether two answers say the same; a text that one does not have is not compared."""
    texts = (a.text, b.text)
    return a.relation == b.relation and (None in texts or texts[0] == texts[1])


def _reply_values(row: RelationAnswerRecord | ValueRecord) -> dict[str, Any]:
    return {
        "outcome": row.outcome,
        "reply_key": row.reply_key,
        "created_at": utc_now(),
        "reason": row.reason,
        "text": row.text,
        "extra": dict(row.extra) if row.extra else None,
    }


def _said(row: t.RelationAnswer | t.RelationValue) -> dict[str, Any]:
    names: Sequence[str] = ("outcome", "repeat", "text", "reason", "reply_key", "extra")
    return {name: getattr(row, name) for name in names}


def read_answers(s: Session, asking_id: int, *clauses: Any) -> tuple[RelationAnswerRecord, ...]:
    """Return answers of an asking by places and repeat, in an open session."""
    asking = s.get_one(t.RelationAsking, asking_id)
    places = {o.id: o.position for o in read_objects(s, asking.set_id)}
    rows = s.exec(
        select(t.RelationAnswer).where(t.RelationAnswer.asking_id == asking_id, *clauses)
    ).all()
    found = [
        RelationAnswerRecord(places[r.a_id], places[r.b_id], r.relation, **_said(r)) for r in rows
    ]
    return tuple(sorted(found, key=lambda r: (r.a, r.b, r.repeat)))


def _add_values(s: Session, asking_id: int, rows: Iterable[ValueRecord]) -> int:
    asking, ids = _checked_asking(s, asking_id, "objects")
    known = {(r.object, r.repeat): r for r in _read_values(s, asking_id)}
    missing: list[dict[str, Any]] = []
    for row in rows:
        what = f"object {row.object}"
        if not 0 <= row.object < len(ids):
            raise ValueError(f"{what}: objects are numbered from 0 to {len(ids) - 1}")
        _check_reply(row.outcome, row.value, what)
        before = known.get((row.object, row.repeat))
        if before is None:
            known[row.object, row.repeat] = row
            missing.append(
                {
                    "asking_id": asking_id,
                    "object_id": ids[row.object],
                    "repeat": row.repeat,
                    "value": encode_truth(row.value, what),
                    **_reply_values(row),
                }
            )
        elif (before.value, before.text) != (row.value, row.text):
            raise ConflictError(
                f"{asking.name} has another answer to {what}, repeat {row.repeat} already"
            )
    return add_missing(s, t.RelationValue, missing)


def _read_values(s: Session, asking_id: int) -> tuple[ValueRecord, ...]:
    asking = s.get_one(t.RelationAsking, asking_id)
    places = {o.id: o.position for o in read_objects(s, asking.set_id)}
    rows = s.exec(select(t.RelationValue).where(t.RelationValue.asking_id == asking_id)).all()
    found = [ValueRecord(places[r.object_id], decode_truth(r.value), **_said(r)) for r in rows]
    return tuple(sorted(found, key=lambda r: (r.object, r.repeat)))
