"""Deduction problems, their templates with sanity checks, and their mutations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from store import tables as t
from store.codec import decode_numbers, decode_template, encode_numbers, encode_template
from store.columns import canonical, content_hash, utc_now
from store.deduction_records import MutationRecord, ProblemRecord, TemplateRecord
from store.engine import Base
from store.keys import is_name
from store.repository.items import ConflictError
from store.repository.rows import add_missing, chunks

if TYPE_CHECKING:  # the workbench labels without numpy, which scoring needs
    from scoring.deduction import Mutation, SanityFailure, Template


class DeductionProblems(Base):
    """What can be asked: problems, templates that passed, mutations."""

    def add_problem(
        self,
        name: str,
        question: str,
        gold: Fraction | None,
        *,
        source: str = "",
        extra: Mapping[str, Any] | None = None,
    ) -> ProblemRecord:
        """Return the problem of this name, adding it on first use.

        Raises
        ------
        ValueError
            When the name cannot stand in a key.
        ConflictError
            When another question or gold stands under it.
        """
        if not is_name(name):
            raise ValueError(f"problem {name!r}: a name without control characters is right")
        with self._write() as s:
            row = _problem(s, name)
            if row is None:
                values = {
                    "name": name,
                    "source": source,
                    "created_at": utc_now(),
                    "question": question,
                    "gold": None if gold is None else str(gold),
                    "extra": dict(extra) if extra else None,
                }
                add_missing(s, t.DeductionProblem, [values])
                row = _problem(s, name)
            if row is None:
                raise RuntimeError(f"problem {name!r} is not there after it was added")
            found = problem_record(row)
        for what, ours, theirs in (
            ("question", question, found.question),
            ("answer", gold, found.gold),
        ):
            if ours != theirs:
                raise ConflictError(
                    f"problem {name!r} is in the database with another {what}: give this one "
                    "another name"
                )
        return found

    def problems(self) -> tuple[ProblemRecord, ...]:
        """Return all problems, oldest first."""
        with self._read() as s:
            problem = t.DeductionProblem
            rows = s.exec(select(problem).order_by(col(problem.id))).all()
            return tuple(problem_record(r) for r in rows)

    def add_template(
        self,
        problem: str,
        template: Template | None,
        failures: Sequence[SanityFailure] = (),
        *,
        solver: str = "",
        solution: str | None = None,
        made_by: Mapping[str, Any] | None = None,
    ) -> TemplateRecord:
        """Store an attempt at a problem's template; the same as the newest one is known.

        Raises
        ------
        ValueError
            When there is no such problem.
        ConflictError
            When another template of it passed: what was asked rests on that one.
        """
        said = None if template is None else encode_template(template)
        rows = [[f.code, f.message] for f in failures]
        digest = content_hash([said, rows, solution])
        passed = template is not None and not failures
        with self._write() as s:
            found = _problem(s, problem)
            if found is None:
                raise ValueError(f"no problem {problem!r} in the database")
            before = _attempts(s, col(t.DeductionProblem.name) == problem, solver=solver)
            standing = _standing(before)
            if standing is not None and standing[1].content_hash == digest:
                return standing[0]
            if standing is not None and standing[0].passed:
                raise ConflictError(
                    f"problem {problem!r} has another template that passed its checks"
                    + (f" (by {solver})" if solver else "")
                    + ": give this one another name"
                )
            values = {
                "problem_id": found.id,
                "solver": solver,
                "attempt": len(before),
                "passed": passed,
                "content_hash": digest,
                "created_at": utc_now(),
                "made_by": dict(made_by or {}),
                "failures": rows,
                "template": said,
                "solution": solution,
            }
            add_missing(s, t.DeductionTemplate, [values])
            after = _attempts(s, col(t.DeductionProblem.name) == problem, solver=solver)
        return after[-1][0]

    def templates(self, solver: str | None = None) -> tuple[TemplateRecord, ...]:
        """Return the standing template of each problem and solver: the one that passed, else the
        newest attempt. With a solver only those of its own solutions; ``""``: those of no solver."""
        with self._read() as s:
            found = _attempts(s, solver=solver)
        groups: dict[tuple[str, str], list[tuple[TemplateRecord, t.DeductionTemplate]]] = {}
        for record, row in found:
            groups.setdefault((record.problem, record.solver), []).append((record, row))
        standing = (_standing(rows) for rows in groups.values())
        return tuple(chosen[0] for chosen in standing if chosen is not None)

    def save_mutations(
        self, template_id: int, items: Iterable[Mutation], parameters: Mapping[str, Any]
    ) -> int:
        """Store mutations, the original (`ORIGINAL`) among them; return how many were new.

        Raises
        ------
        ConflictError
            When one of these numbers is there with other values (another seed or range).
        """
        new = {m.index: m for m in items}
        with self._write() as s:
            known = {
                r.number: r
                for r in s.exec(
                    select(t.DeductionMutation).where(
                        t.DeductionMutation.template_id == template_id
                    )
                )
            }
            for number in known.keys() & new.keys():
                if known[number].inputs != encode_numbers(new[number].inputs):
                    raise ConflictError(
                        f"mutation {number} of problem {new[number].problem!r} is in the database "
                        "with other numbers: they were drawn with another seed or other limits, "
                        f"{canonical(known[number].parameters)}"
                    )
            rows = [
                {
                    "template_id": template_id,
                    "number": m.index,
                    "created_at": utc_now(),
                    "parameters": dict(parameters),
                    "inputs": encode_numbers(m.inputs),
                    "numbers": encode_numbers(m.values),
                    "question": m.question,
                    "steps": list(m.steps),
                }
                for m in sorted(new.values(), key=lambda m: m.index)
                if m.index not in known
            ]
            return add_missing(s, t.DeductionMutation, rows)

    def mutations(self, template_ids: Sequence[int]) -> dict[int, tuple[MutationRecord, ...]]:
        """Return the mutations of templates by template id, the original first, then by number."""
        out: dict[int, list[MutationRecord]] = {}
        with self._read() as s:
            for part in chunks(sorted(set(template_ids))):
                clause = col(t.DeductionMutation.template_id).in_(part)
                for record in read_mutations(s, clause):
                    out.setdefault(record.template_id, []).append(record)
        return {ident: tuple(rows) for ident, rows in out.items()}

    def mutation_counts(self) -> dict[int, int]:
        """Return how many mutations each template has, the original left out."""
        mutation = t.DeductionMutation
        query = (
            select(mutation.template_id, func.count())
            .where(mutation.number >= 0)
            .group_by(col(mutation.template_id))
        )
        with self._read() as s:
            return {int(ident): int(n) for ident, n in s.exec(query)}


def _problem(s: Session, name: str) -> t.DeductionProblem | None:
    return s.exec(select(t.DeductionProblem).where(t.DeductionProblem.name == name)).one_or_none()


def problem_record(row: t.DeductionProblem) -> ProblemRecord:
    """Return what callers see of a problem."""
    return ProblemRecord(
        id=row.id or 0,
        name=row.name,
        question=row.question,
        gold=None if row.gold is None else Fraction(row.gold),
        source=row.source,
        extra=row.extra or {},
        created_at=row.created_at,
    )


_Attempt = tuple[TemplateRecord, t.DeductionTemplate]


def _attempts(s: Session, *clauses: Any, solver: str | None = None) -> list[_Attempt]:
    template, problem = t.DeductionTemplate, t.DeductionProblem
    query = (
        select(template, problem.name)
        .join(problem, col(problem.id) == col(template.problem_id))
        .where(*clauses)
        .order_by(col(problem.id), col(template.solver), col(template.attempt))
    )
    if solver is not None:
        query = query.where(template.solver == solver)
    return [(template_record(row, name), row) for row, name in s.exec(query)]


def template_record(row: t.DeductionTemplate, problem: str) -> TemplateRecord:
    """Return what callers see of a template."""
    from scoring.deduction import SanityFailure

    said = row.template
    return TemplateRecord(
        id=row.id or 0,
        problem=problem,
        solver=row.solver,
        attempt=row.attempt,
        template=None if said is None else decode_template(said),
        failures=tuple(SanityFailure(code, message) for code, message in row.failures),
        solution=row.solution,
        made_by=row.made_by,
        created_at=row.created_at,
    )


def _standing(attempts: Sequence[_Attempt]) -> _Attempt | None:
    """Return the attempt that passed, else the newest."""
    passed = next((a for a in attempts if a[0].passed), None)
    return passed or (attempts[-1] if attempts else None)


def read_mutations(s: Session, *clauses: Any) -> list[MutationRecord]:
    """Return mutations by template and number, inside an open session."""
    mutation, template, problem = t.DeductionMutation, t.DeductionTemplate, t.DeductionProblem
    rows = s.exec(
        select(mutation, template.solver, problem.name)
        .join(template, col(template.id) == col(mutation.template_id))
        .join(problem, col(problem.id) == col(template.problem_id))
        .where(*clauses)
        .order_by(col(mutation.template_id), col(mutation.number))
    )
    return [
        MutationRecord(
            id=row.id or 0,
            template_id=row.template_id,
            problem=name,
            solver=solver,
            number=row.number,
            inputs=decode_numbers(row.inputs),
            values=decode_numbers(row.numbers),
            question=row.question,
            steps=tuple(row.steps),
            parameters=row.parameters,
        )
        for row, solver, name in rows
    ]


__all__ = ["DeductionProblems", "problem_record", "read_mutations", "template_record"]
