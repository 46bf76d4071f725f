"""Completions judged value by value: the cells that every measure of deduction is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pipeline.deducing.reading import Context, contexts, read_numbers
from scoring.deduction import (
    Cell,
    Propagation,
    Verdict,
    cells_of,
    check_template,
    judge_values,
    propagation,
)
from scoring.deduction.exact import Number
from scoring.deduction.template import HopUnit
from store import Store
from store.deduction_records import NUMBERS, ORIGINAL, CompletionRecord, ReadingRecord, SolverRecord


@dataclass(frozen=True)
class Response:
    """One completion with what it states, and what the reference has.

    `reading` is None where its reader has not read it, or could not: then nothing is known, and it
    is counted apart rather than as missing values.
    """

    solver: str
    completion: CompletionRecord
    about: Context
    original: Mapping[str, Fraction]
    reading: ReadingRecord | None

    @property
    def problem(self) -> str:
        """Its problem's name."""
        return self.about.problem.name

    @property
    def synthetic(self) -> bool:
        """Whether it is a SynDeduct question."""
        return self.about.problem.only_k is not None

    @property
    def is_original(self) -> bool:
        """Whether it is about a word problem's own numbers."""
        return self.about.mutation.number == ORIGINAL and not self.synthetic

    @property
    def stated(self) -> Mapping[str, Fraction]:
        """The values it states."""
        return {} if self.reading is None else self.reading.values

    def verdicts(self, *, hops: HopUnit = "steps", tolerance: Number = 0) -> tuple[Verdict, ...]:
        """Return how each value compares with the reference's."""
        copied = None if self.about.mutation.number == ORIGINAL else self.original
        return judge_values(
            self.about.mutation.values,
            self.stated,
            self.about.template.stated_in,
            self.completion.k,
            original=copied,
            hops=hops,
            tolerance=tolerance,
        )

    def cells(self, *, hops: HopUnit = "steps", tolerance: Number = 0) -> tuple[Cell, ...]:
        """Return its observations."""
        return cells_of(
            self.verdicts(hops=hops, tolerance=tolerance),
            self.completion.k,
            problem=self.problem,
            mutation=self.about.mutation.number,
            answer=self.about.template.answer,
        )

    @cached_property
    def final(self) -> bool | None:
        """Whether its final answer is right; None where it states none."""
        answer = self.about.template.answer
        return next((v.right for v in self.verdicts() if v.variable == answer), None)

    def spread(self) -> Propagation:
        """Return where its wrong values come from."""
        return propagation(self.about.template.code, self.about.mutation.inputs, self.verdicts())


def chosen_reader(store: Store, solver: SolverRecord, wanted: str | None) -> str:
    """Return whose readings count: the one asked for, else a model's, else ours.

    Of several models it is the one that could read most; one that could read nothing is none.

    Raises
    ------
    ValueError
        When nobody of that name has read this solver's completions.
    """
    known = store.readers(solver.id)
    if wanted is not None:
        if wanted not in known:
            there = ", ".join(known) or "none yet"
            raise ValueError(f"no reader {wanted!r} of {solver.name!r}; there are: {there}")
        return wanted
    return next((r for r, n in known.items() if n and r != NUMBERS), NUMBERS)


def responses(
    store: Store,
    solver: SolverRecord,
    reader: str,
    *,
    about: Mapping[int, Context] | None = None,
    problems: Collection[str] | None = None,
    ids: Sequence[int] | None = None,
) -> Iterator[Response]:
    """Yield a solver's completions with one reader's values, those of some problems where given.

    Our own reader reads first what it has not read yet.
    """
    if reader == NUMBERS:
        read_numbers(store, solver)
    known = contexts(store) if about is None else about
    readings = store.readings(solver.id, reader)
    originals: dict[int, Mapping[str, Fraction]] = {}
    for completion in store.completions(solver.id, ids=ids):
        context = known.get(completion.mutation_id)
        if context is None or (problems is not None and context.problem.name not in problems):
            continue
        place = context.mutation.template_id
        if place not in originals:
            originals[place] = check_template(context.template).values
        reading = readings.get(completion.id)
        if reading is not None and reading.reason and completion.text.strip():
            reading = None
        yield Response(solver.name, completion, context, originals[place], reading)


__all__ = ["Response", "chosen_reader", "responses"]
