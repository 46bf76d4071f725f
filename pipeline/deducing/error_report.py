"""Error categories as one rater labelled them, by how often a problem is solved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pipeline.deducing.reading import contexts
from pipeline.deducing.report import Rules, chosen_solvers
from pipeline.deducing.responses import Response, chosen_reader, responses
from pipeline.sealing import known_rater
from scoring.deduction import (
    CATEGORIES,
    ErrorRate,
    LabelledResponse,
    accuracy_group,
    error_rates,
)
from store import Store
from store.deduction_records import FIRST_STYLE, deduction_key

SCHEMA = "deduction"


@dataclass(frozen=True, slots=True)
class SolverErrors:
    """How often each kind of error occurs in one solver's responses, by group of problems.

    `n_labelled` responses carry the rater's label; `n_undecided` of them say unsure or were
    skipped, and count nowhere. `n_without_group` are about problems that were not asked whole
    (k = 0), so that nobody knows how often they are solved.
    """

    solver: str
    rater: str
    rates: tuple[ErrorRate, ...]
    n_labelled: int
    n_undecided: int
    n_without_group: int


def error_report(
    store: Store,
    rater: str,
    *,
    solvers: Sequence[str] | None = None,
    rules: Rules | None = None,
    schema: str = SCHEMA,
    leave_out: Collection[int] = (),
) -> tuple[SolverErrors, ...]:
    """Return the rates of error categories among the responses that a rater labelled.

    Completions to `leave_out`, by id, count in nothing: what is sealed for who looks.

    Raises
    ------
    ValueError
        When there is no such rater or solver, or the schema has none of the categories.
    """
    known_rater(store, rater)
    wanted = [c for c in CATEGORIES if c in store.schema(schema).names]
    if not wanted:
        raise ValueError(f"schema {schema} has none of the categories {', '.join(CATEGORIES)}")
    rules = rules or Rules()
    about = contexts(store)
    labels = {
        row.label.item: (row.label.state, row.categories or (row.label.category or "",))
        for row in store.export_labels(schema=schema, rater=rater)
    }
    found = []
    for solver in chosen_solvers(store, solvers):
        reader = chosen_reader(store, solver, rules.reader)
        every = responses(store, solver, reader, about=about)
        rows = [r for r in every if r.completion.id not in leave_out]
        found.append(_of_solver(solver.name, rater, rows, labels, wanted))
    return tuple(found)


def _of_solver(
    solver: str,
    rater: str,
    rows: Sequence[Response],
    labels: Mapping[str, tuple[str, tuple[str, ...]]],
    wanted: Sequence[str],
) -> SolverErrors:
    groups = _groups(rows)
    labelled: list[LabelledResponse] = []
    n_undecided = n_without_group = n_labelled = 0
    for r in rows:
        state, categories = labels.get(_key(r), ("open", ()))
        if state == "open":
            continue
        n_labelled += 1
        if state != "labelled":
            n_undecided += 1
        elif r.problem not in groups:
            n_without_group += 1
        else:
            errors = frozenset(c for c in categories if c in wanted)
            labelled.append(LabelledResponse(r.final is not True, errors, groups[r.problem]))
    rates = error_rates(labelled, categories=tuple(wanted))
    return SolverErrors(solver, rater, rates, n_labelled, n_undecided, n_without_group)


def _key(r: Response) -> str:
    c = r.completion
    return deduction_key(r.problem, r.solver, r.about.mutation.number, c.k, c.style)


def _groups(rows: Iterable[Response]) -> dict[str, int]:
    """Return each problem's group by the share of its mutations that are solved from nothing."""
    flags: dict[str, list[bool]] = defaultdict(list)
    for r in rows:
        whole = r.completion.k == 0 and r.completion.style == FIRST_STYLE
        if whole and not r.is_original and r.reading is not None:
            flags[r.problem].append(r.final is True)
    return {p: accuracy_group(Fraction(sum(f), len(f))) for p, f in flags.items()}


__all__ = ["SolverErrors", "error_report"]
