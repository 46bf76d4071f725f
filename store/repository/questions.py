"""Questions by themselves, with or without traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import func
from sqlmodel import col, select

from store import tables as t
from store.codec import decode_answer
from store.engine import Base
from store.records import NewQuestion, QuestionRecord
from store.repository.imports import ImportBatch, QuestionOutcome
from store.repository.items import ConflictError

PAGE = 500


class Questions(Base):
    """What the stages that sample reasoning read, and what question files write."""

    def add_questions(
        self, questions: Iterable[NewQuestion], *, kinds_stated: bool = True
    ) -> tuple[QuestionOutcome | ConflictError, ...]:
        """Store questions in one transaction; return what became of each, in their order.

        What contradicts the database is left out and its error returned in its place; see
        `ImportBatch.add_question`.
        """
        outcomes: list[QuestionOutcome | ConflictError] = []
        questions = tuple(questions)
        with self._write() as session:
            batch = ImportBatch(session)
            batch.look_up(questions)
            for question in questions:
                try:
                    outcomes.append(batch.add_question(question, kind_stated=kinds_stated))
                except ConflictError as error:
                    outcomes.append(error)
        return tuple(outcomes)

    def questions(self, dataset: str | None = None) -> Iterator[QuestionRecord]:
        """Yield the questions of a dataset, or all, in the order in which they were added.

        A page at a time, so that no transaction stays open while a stage works.
        """
        last = 0
        while True:
            query = select(t.Question).where(col(t.Question.id) > last)
            if dataset is not None:
                query = query.where(t.Question.dataset == dataset)
            with self._read() as s:
                rows = s.exec(query.order_by(col(t.Question.id)).limit(PAGE)).all()
                page = [_record(row) for row in rows]
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].id

    def question_counts(self) -> Mapping[str, int]:
        """Return dataset → how many questions it has, by name."""
        with self._read() as s:
            rows = s.exec(
                select(t.Question.dataset, func.count())
                .group_by(col(t.Question.dataset))
                .order_by(col(t.Question.dataset))
            ).all()
        return dict(rows)


def _record(row: t.Question) -> QuestionRecord:
    return QuestionRecord(
        id=row.id or 0,
        dataset=row.dataset,
        external_id=row.external_id,
        text=row.text,
        gold=decode_answer(row.gold),
        gold_text=row.gold_text,
        answer_kind=row.answer_kind,  # type: ignore[arg-type]  # written from an AnswerKind
        options=row.options,
        percent=row.percent,
        extra=row.extra or {},
    )
