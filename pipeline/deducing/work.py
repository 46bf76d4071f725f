"""What a solver is asked: which templates are its, which mutations, after how many given steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.deducing.importing import known_problems
from scoring.deduction import Template
from store import Store
from store.deduction_records import (
    FIRST_STYLE,
    MutationRecord,
    ProblemRecord,
    TemplateRecord,
)

Templates = Literal["auto", "own", "shared"]
"""Whose solutions are gone on with: the model's own, those of no model, or own where there are."""

Place = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to ask: a mutation after its first k steps, as they are given."""

    mutation_id: int
    k: int
    style: str
    question: str
    prefix: str

    @property
    def place(self) -> Place:
        """Under what it is stored."""
        return self.mutation_id, self.k, self.style

    def with_prefix(self, text: str) -> Asked:
        """Return the same with the steps told otherwise."""
        return replace(self, prefix=text)


def solver_templates(
    store: Store, solver: str, templates: Templates = "auto"
) -> tuple[Literal["own", "shared"], tuple[TemplateRecord, ...]]:
    """Return whose templates a solver is asked with, and all of them, those that failed too."""
    own = store.templates(solver) if templates != "shared" else ()
    if templates == "own" or own:
        return "own", own
    return "shared", store.templates("")


class SolverWork:
    """The problems, mutations and prefixes that one solver is asked about."""

    def __init__(
        self,
        store: Store,
        solver: str,
        problems: Sequence[str] | None = None,
        templates: Templates = "auto",
        mutations: int | None = None,
        k_max: int | None = None,
    ) -> None:
        self.solver = solver
        self._most, self._k_max = mutations, k_max
        wanted = known_problems(store, problems)
        self._known = {p.name: p for p in store.problems()}
        whose, found = solver_templates(store, solver, templates)
        self.templates: Literal["own", "shared"] = whose
        by_problem = {t.problem: t for t in found}
        mutated = store.mutations([t.id for t in found if t.passed])
        self.left_out: Counter[str] = Counter()
        self._chosen: list[tuple[ProblemRecord, Template, list[MutationRecord]]] = []
        for name in wanted:
            record = by_problem.get(name)
            reason = _why_not(record, mutated)
            if reason or record is None or record.template is None:
                self.left_out[reason] += 1
                continue
            rows = [m for m in mutated[record.id] if mutations is None or m.number < mutations]
            self._chosen.append((self._known[name], record.template, rows))
        if not self._chosen:
            why = ", ".join(f"{n} {reason}" for reason, n in self.left_out.items())
            raise ValueError(f"nothing to ask: medoid deduce make makes mutations ({why})")

    @property
    def n_problems(self) -> int:
        """Problems asked about."""
        return len(self._chosen)

    @property
    def n_mutations(self) -> int:
        """Mutations asked about, the originals left out."""
        return sum(m.number >= 0 for _, _, rows in self._chosen for m in rows)

    def asked(self, style: str = FIRST_STYLE) -> Iterator[Asked]:
        """Yield everything that is asked in a style, the steps as the template has them.

        A prefix is asked where a step behind it states a variable for the first time. Without
        given steps there is no style but the original.
        """
        for problem, template, rows in self._chosen:
            for mutation in rows:
                for k in self.lengths(problem, template):
                    if k == 0 and style != FIRST_STYLE:
                        continue
                    yield Asked(mutation.id, k, style, mutation.question, mutation.prefix(k))

    def lengths(self, problem: ProblemRecord, template: Template) -> list[int]:
        """Return after how many given steps a problem is asked."""
        if problem.only_k is not None:
            return [problem.only_k]
        last = max(template.stated_in.values(), default=0)
        most = last - 1 if self._k_max is None else min(self._k_max, last - 1)
        return list(range(most + 1))


def _why_not(record: TemplateRecord | None, mutated: dict[int, tuple[MutationRecord, ...]]) -> str:
    if record is None:
        return "without a template"
    if not record.passed:
        return "failed a check"
    return "" if record.id in mutated else "not mutated"


__all__ = ["Asked", "Place", "SolverWork", "Templates", "solver_templates"]
