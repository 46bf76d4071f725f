"""What a rater has seen of a question: revealed, or its gold and votes at seal level ``judge``."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from store import tables as t
from store.columns import folded
from store.repository.relation_seen import Knowledge, knowledge_of_item, revealed_item_ids

Wording = tuple[str, tuple[str, ...]]

LOOKED = "shown at seal level judge: question "
"""How an entry of the log begins that a rater saw gold, votes and scores of a question so."""


def wording_key(text: str) -> str:
    """Return a text without what two copies of it may differ in: case, spaces, Unicode's forms.

    >>> wording_key("Is it\\n ﬁne？") == wording_key("is  IT fine?")
    True
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return "".join(text.casefold().split())


def options_key(options: Any) -> tuple[str, ...]:
    """Return a question's options without their letters, their order and forms of writing."""
    if options is None:
        return ()
    if isinstance(options, dict):
        options = list(options.values())
    said = options if isinstance(options, list) else [options]
    return tuple(sorted(wording_key(folded(str(o))) for o in said))


def same_questions(s: Session, question_id: int) -> list[int]:
    """Return the ids of the questions that read the same, in whichever dataset; this one too.

    Case, white space and Unicode's forms of one character do not matter, nor does the order of
    options. Other options do: one wording with other options is another question.
    """
    question = s.get_one(t.Question, question_id)
    wanted = wording_key(folded(question.text))
    rows = s.connection().execute(select(t.QuestionSearch.question_id, t.QuestionSearch.folded))
    alike = [i for i, text in rows if wording_key(text.rpartition("\x1f")[2]) == wanted]
    options = s.exec(
        select(t.Question.id, t.Question.options).where(col(t.Question.id).in_(alike))
    ).all()
    key = options_key(question.options)
    found = {ident for ident, stated in options if ident and options_key(stated) == key}
    return sorted(found | {question_id})


def is_revealed(s: Session, rater_id: int, question_id: int) -> bool:
    """Return whether this rater has looked behind the seal of a question."""
    found = select(t.Reveal.id).where(
        t.Reveal.rater_id == rater_id, t.Reveal.question_id == question_id
    )
    return s.exec(found).first() is not None


def has_looked(s: Session, rater_id: int, question_id: int) -> bool:
    """Return whether this rater saw a question's gold and votes at seal level ``judge``."""
    name = s.get_one(t.Rater, rater_id).name
    found = select(t.Unseal.id).where(
        t.Unseal.rater == name, t.Unseal.what == f"{LOOKED}{question_id}"
    )
    return s.exec(found).first() is not None


def knowledge(s: Session, rater_id: int, item: t.Item) -> Knowledge:
    """Return what a rater knows of an item when a label on it is made now."""
    question = item.question_id
    if question is None:
        return knowledge_of_item(s, rater_id, item)
    return Knowledge(is_revealed(s, rater_id, question), has_looked(s, rater_id, question))


@dataclass(frozen=True, slots=True)
class Freed:
    """What one rater has revealed: questions, and items that have none, by id."""

    questions: frozenset[int]
    items: frozenset[int]

    @classmethod
    def by(cls, s: Session, rater: str) -> Freed:
        """Return what a rater of this name has revealed."""
        ident = s.exec(select(t.Rater.id).where(t.Rater.name == rater)).first()
        if ident is None:
            return cls(frozenset(), frozenset())
        questions = s.exec(select(t.Reveal.question_id).where(t.Reveal.rater_id == ident))
        return cls(frozenset(questions), frozenset(revealed_item_ids(s, ident)))

    def holds(self, item: t.Item) -> bool:
        """Return whether the rater has revealed an item, or its question."""
        if item.question_id is None:
            return item.id in self.items
        return item.question_id in self.questions


def looked_at(s: Session, rater_id: int) -> set[int]:
    """Return the questions whose gold and votes this rater saw at seal level ``judge``."""
    name = s.get_one(t.Rater, rater_id).name
    found = s.exec(
        select(t.Unseal.what).where(
            t.Unseal.rater == name, col(t.Unseal.what).startswith(LOOKED, autoescape=True)
        )
    )
    return {int(what.removeprefix(LOOKED)) for what in found}


def record_reveal(s: Session, rater_id: int, questions: Iterable[int]) -> None:
    """Record, once each, that a rater has seen questions; callers name those that read the same."""
    for question in questions:
        if not is_revealed(s, rater_id, question):
            s.add(t.Reveal(rater_id=rater_id, question_id=question))


def record_look(s: Session, rater_id: int, questions: Iterable[int], who: str) -> None:
    """Record, once each, that a rater saw gold and votes of questions at seal level ``judge``."""
    name = s.get_one(t.Rater, rater_id).name
    for question in questions:
        if not has_looked(s, rater_id, question):
            s.add(t.Unseal(what=f"{LOOKED}{question}", rater=name, who=who))


class Seen:
    """Who has seen which wording, for questions that an import brings after it was seen."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._revealed: dict[Wording, set[int]] = defaultdict(set)
        self._looked: dict[Wording, dict[int, str]] = defaultdict(dict)
        revealed = session.exec(
            select(t.Reveal.rater_id, t.Question).join(
                t.Question, col(t.Question.id) == col(t.Reveal.question_id)
            )
        )
        for rater, question in revealed:
            self._revealed[wording(question.text, question.options)].add(rater)
        ids = {r.name: r.id or 0 for r in session.exec(select(t.Rater))}
        looks = select(t.Unseal).where(col(t.Unseal.what).startswith(LOOKED))
        for entry in session.exec(looks).all():
            seen = session.get(t.Question, int(entry.what.removeprefix(LOOKED)))
            if seen is not None and entry.rater in ids:
                self._looked[wording(seen.text, seen.options)][ids[entry.rater]] = entry.who

    def note(self, question_id: int, text: str, options: Any) -> None:
        """Record for a new question what raters saw of one that reads the same."""
        key = wording(text, options)
        for rater in self._revealed.get(key, ()):
            record_reveal(self._s, rater, [question_id])
        for rater, who in self._looked.get(key, {}).items():
            record_look(self._s, rater, [question_id], who)


def wording(text: str, options: Any) -> Wording:
    """Return what questions that read the same have in common."""
    return wording_key(folded(text)), options_key(options)
