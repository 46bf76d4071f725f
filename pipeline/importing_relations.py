"""Relations in an import: answers of models, and sets of objects from CSV."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.exchange.cells import csv_rows
from store.exchange.lines import LineError
from store.exchange.relations import RawAnswer, RawFacts, RawObject, Shape, set_row
from store.relation_records import NewRelationAnswer, RelationKind
from store.repository.relation_imports import RelationBatch

Kinds = Mapping[str, RelationKind]

_ASKED: Mapping[RelationKind, Any] = {
    "temporal": "time",
    "spatial": "quadrant",
    "kinship": "kinship",
    "contradiction": "contradiction",
}
"""What a kind of set is asked in."""


def set_rows(
    path: Path, fields: Sequence[str], separator: str, shape: Shape, name: str
) -> Iterator[tuple[int, RawObject | RawFacts | LineError]]:
    """Yield the rows of a set's CSV with their line numbers.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    for number, cells in csv_rows(path, fields, separator):
        try:
            yield (
                number,
                cells if isinstance(cells, LineError) else set_row(cells, shape, fields, name),
            )
        except LineError as error:
            yield number, error


def guessed_kinds(answers: Iterable[RawAnswer]) -> Kinds:
    """Return each set's kind as its file states it, else the one most of its words belong to."""
    from scoring.relations import axis_word, normal_word

    stated: dict[str, RelationKind] = {}
    words: dict[str, Counter[RelationKind]] = defaultdict(Counter)
    for raw in answers:
        if raw.kind is not None:
            stated.setdefault(raw.set, raw.kind)
        for text in (raw.relation, raw.text):
            if text is None:
                continue
            if axis_word(text, "time") or _names(text, "time"):
                words[raw.set]["temporal"] += 1
            elif axis_word(text, "quadrant") or _names(text, "quadrant"):
                words[raw.set]["spatial"] += 1
            elif normal_word(text) or _names(text, "kinship"):
                words[raw.set]["kinship"] += 1
    guessed = {name: most.most_common(1)[0][0] for name, most in words.items()}
    return {**guessed, **stated}


def _names(text: str, asked: Any) -> bool:
    from judges.relation_reading import words_in

    return bool(words_in(text[-400:], asked))


@dataclass(frozen=True, slots=True)
class Noted:
    """What became of a line: `what` it was (objects, facts, answers) and its outcome.

    `unread`: an answer that was added without a relation.
    """

    what: str
    outcome: str
    unread: bool = False


def add_relation(
    batch: RelationBatch, raw: RawAnswer | RawObject | RawFacts, kinds: Kinds
) -> Noted:
    """Store one line.

    Raises
    ------
    ConflictError
        When it contradicts the database.
    """
    if isinstance(raw, RawObject):
        return Noted("objects", batch.add_object(raw.set, raw.kind, raw.object))
    if isinstance(raw, RawFacts):
        outcomes = {batch.add_fact(raw.set, raw.kind, fact) for fact in raw.facts}
        return Noted("facts", "added" if "added" in outcomes else "known")
    there: Any = batch.kind_of(raw.set)
    answer = _read(raw, raw.kind or there or kinds.get(raw.set))
    outcome = batch.add_answer(answer)
    return Noted("answers", outcome, outcome == "added" and answer.relation is None)


def _read(raw: RawAnswer, kind: RelationKind | None) -> NewRelationAnswer:
    """Return an answer with its word in the vocabulary's form; one without a word is kept."""
    relation, reason = (None, "") if kind is None else _word(raw, kind)
    text = raw.text
    if relation is None and text is None:
        text = raw.relation  # what the file gives for a word is all there is of the reply
    return NewRelationAnswer(
        set=raw.set,
        kind=kind,
        asking=raw.asking,
        model=raw.model,
        form=raw.variant or "",
        prompt_version=raw.prompt_version,
        a=raw.a,
        b=raw.b,
        repeat=raw.repeat,
        relation=relation,
        outcome="invalid" if relation is None else "ok",
        text=text,
        reason=reason,
        extra=raw.extra,
    )


def _word(raw: RawAnswer, kind: RelationKind) -> tuple[str | None, str]:
    from judges.relation_asker import RelationQuestion
    from judges.relation_reading import read_relation
    from judges.requests import Reply

    question = RelationQuestion(raw.a, raw.b, _ASKED[kind])
    if not raw.read:
        found = read_relation(Reply("ok", raw.text or "", _data(raw.text)), question)
        return found.relation, found.reason
    if raw.relation is None:
        return None, "the file gives no relation"
    found = read_relation(Reply("ok", raw.relation, {"relation": raw.relation}), question)
    return found.relation, "" if found.relation else "no word of the vocabulary"


def _data(text: str | None) -> Any:
    """Return the JSON object that a reply is, None when it is none."""
    from store.exchange.lines import parse_object

    stripped = (text or "").strip()
    if not stripped.startswith("{"):
        return None
    try:
        return parse_object(stripped.encode("utf-8", "surrogatepass"))
    except LineError:
        return None
