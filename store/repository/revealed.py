"""The one door behind the seal, and the log of those who went round it."""

from __future__ import annotations

import getpass

from sqlalchemy import func, or_
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_answer
from store.engine import Base
from store.errors import SealedError
from store.records import RankedTrace, RevealedCase, SchemaRecord, UnsealRecord, Verdict
from store.repository.cases import question_of, read_case
from store.repository.relation_seen import LOOKED_ITEM
from store.repository.scores import _scoring_record, read_pool_score
from store.repository.seen import (
    LOOKED,
    has_looked,
    is_revealed,
    record_look,
    record_reveal,
    same_questions,
)


class Revealed(Base):
    """What the seal hides, for those who may see it."""

    def case_context(self, case_id: int, rater_id: int, schema: SchemaRecord) -> RevealedCase:
        """Return what the schema's seal level lets this rater see of a case.

        ``open`` shows everything; ``judge`` holds back verdicts, rationales and the labels of
        others until the rater has revealed the question; ``full`` holds back all of it. What
        ``open`` shows is recorded as a reveal, so that labels made later, under whichever level,
        count as made after it. What ``judge`` shows is recorded too, so that a label made later
        under ``full`` is known to be made at level ``judge``.

        Raises
        ------
        SealedError
            Under ``full``, when this rater has not revealed the case's question.
        """
        if schema.seal == "open":
            self._record_shown(case_id, rater_id)
        elif schema.seal == "judge":
            self._record_looked(case_id, rater_id)
        with self._read() as s:
            case = s.get_one(t.AuditCase, case_id)
            pool = s.get_one(t.Pool, case.pool_id)
            question = s.get_one(t.Question, pool.question_id)
            shown = schema.seal == "open" or is_revealed(s, rater_id, question.id or 0)
            if not shown and schema.seal == "full":
                raise SealedError(f"case {case_id} is sealed for this rater")
            scoring = s.exec(select(t.Scoring).where(t.Scoring.is_primary)).one()
            score = read_pool_score(s, scoring.id or 0, case.pool_id)
            if score is None:
                raise ValueError(f"pool {pool.name} is not scored under the primary scoring")
            view = read_case(s, case_id, rater_id, schema)
            samples = {
                row.id: row
                for row in s.exec(select(t.Trace).where(t.Trace.pool_id == case.pool_id))
            }
            ranking = tuple(
                RankedTrace(
                    rank=x.rank,
                    trace_id=x.trace_id,
                    sample=samples[x.trace_id].sample,
                    answer=decode_answer(samples[x.trace_id].answer),
                    score=x.score,
                    centrality_share=x.centrality_share,
                    consensus=x.consensus,
                    node_support=x.node_support,
                    is_medoid=x.trace_id == score.medoid_trace_id,
                )
                for x in score.traces
            )
            return RevealedCase(
                case=view,
                gold=decode_answer(question.gold),
                gold_text=question.gold_text,
                stratum=case.stratum,
                inclusion_probability=case.inclusion_probability,
                score=score,
                scoring=_scoring_record(s, scoring),
                ranking=ranking,
                verdicts=verdicts_on(s, [p.item_id for p in view.paths], rater_id, schema.name)
                if shown
                else (),
            )

    def _record_shown(self, case_id: int, rater_id: int) -> None:
        """Record that a case is shown without a seal; the write lock is taken only the first time."""
        with self._read() as s:
            question_id = question_of(s, case_id)
            if is_revealed(s, rater_id, question_id):
                return
        with self._write() as s:
            record_reveal(s, rater_id, same_questions(s, question_id))

    def _record_looked(self, case_id: int, rater_id: int) -> None:
        """Record that gold and votes of a case are shown; once, as above."""
        with self._read() as s:
            question_id = question_of(s, case_id)
            if has_looked(s, rater_id, question_id) or is_revealed(s, rater_id, question_id):
                return
        with self._write() as s:
            record_look(s, rater_id, same_questions(s, question_id), login_name())

    def revealed_case(self, case_id: int, rater_id: int, schema: SchemaRecord) -> RevealedCase:
        """Return all that the seal hid.

        Raises
        ------
        SealedError
            When the level is not ``open`` and this rater has not revealed the case's question.
        """
        with self._read() as s:
            question_id = question_of(s, case_id)
            if schema.seal != "open" and not is_revealed(s, rater_id, question_id):
                raise SealedError(f"case {case_id} is sealed for this rater")
        return self.case_context(case_id, rater_id, schema)

    def record_unseal(self, what: str, rater: str | None = None) -> UnsealRecord:
        """Log that somebody has sealed things listed, under their login name, before they see it.

        `rater` is the rater in whose name they asked, where they gave one.
        """
        with self._write() as s:
            row = t.Unseal(what=what, rater=rater, who=login_name())
            s.add(row)
            s.flush()
            return unseal_record(row)

    def unseals(self) -> tuple[UnsealRecord, ...]:
        """Return the log of commands, oldest first."""
        with self._read() as s:
            what = col(t.Unseal.what)
            commands = ~or_(what.startswith(LOOKED), what.startswith(LOOKED_ITEM))
            rows = s.exec(select(t.Unseal).where(commands).order_by(col(t.Unseal.id)))
            return tuple(unseal_record(r) for r in rows)


def login_name() -> str:
    """Return who is at the keyboard, for the log."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in some containers
        return "unknown"


def unseal_record(row: t.Unseal) -> UnsealRecord:
    """Return what callers see of an entry of the log."""
    return UnsealRecord(row.id or 0, row.what, row.rater, row.who, row.created_at)


def verdicts_on(s: Session, item_ids: list[int], rater_id: int, schema: str) -> tuple[Verdict, ...]:
    """Return what everybody but one rater says of items; the caller checks the seal."""
    newest = (
        select(func.max(col(t.Label.id)).label("id"))
        .where(
            col(t.Label.item_id).in_(item_ids),
            t.Label.rater_id != rater_id,
            t.Label.schema_name == schema,
        )
        .group_by(col(t.Label.rater_id), col(t.Label.item_id))
        .subquery()
    )
    rows = s.exec(
        select(t.Label, t.Rater, t.VerdictDetail)
        .join(newest, newest.c.id == col(t.Label.id))
        .join(t.Rater, col(t.Rater.id) == col(t.Label.rater_id))
        .join(t.VerdictDetail, col(t.VerdictDetail.label_id) == col(t.Label.id), isouter=True)
        .where(t.Label.state != "open")
        .order_by(col(t.Rater.kind), col(t.Rater.id))
    ).all()
    out = []
    for label, rater, detail in rows:
        out.append(
            Verdict(
                item_id=label.item_id,
                rater=rater.name,
                rater_kind=rater.kind,  # type: ignore[arg-type]
                state=label.state,  # type: ignore[arg-type]
                category=label.category,
                first_wrong_step=label.first_wrong_step,
                rationale=(detail.rationale if detail else None) or label.note,
                prompt_version=detail.prompt_version if detail else None,
                flags=tuple(detail.flags) if detail else (),
            )
        )
    return tuple(out)
