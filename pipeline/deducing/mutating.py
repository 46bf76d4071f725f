"""Mutations of every template that passed its checks, the original beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.deducing.importing import known_problems
from scoring.deduction import Mutation, Template, check_template, fill, mutate
from store import Store
from store.deduction_records import ORIGINAL, ProblemRecord, TemplateRecord

TRIES = 1000
"""Draws for one mutation before it is given up: conditions of word problems are narrow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How mutations are drawn, as `scoring.deduction.mutate` takes it."""

    seed: int = 0
    low: int = 1
    high: int = 100
    tries: int = TRIES

    def as_json(self) -> dict[str, int]:
        """Return what is stored beside a mutation."""
        return {"seed": self.seed, "low": self.low, "high": self.high, "max_iter": self.tries}


@dataclass(frozen=True, slots=True)
class MutatedSummary:
    """What mutating did.

    Of `n_templates` that passed, `n_new` mutations (the originals not counted) are new and
    `n_known` were there. `rejected` counts draws by reason, `short` says of which problems fewer
    were found than wanted, `failed` of which none could be drawn and why.
    """

    n_templates: int = 0
    n_new: int = 0
    n_known: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    short: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


def original_of(template: Template) -> Mutation:
    """Return a problem with its own numbers, as one more mutation.

    Raises
    ------
    ValueError
        When the template does not pass its checks.
    """
    report = check_template(template)
    if not report.passed:
        raise ValueError(f"problem {template.problem!r} does not pass its checks")
    inputs = {name: template.factual[name] for name in template.inputs}
    steps = tuple(fill(step, report.values) for step in template.steps)
    question = fill(template.question, report.values)
    return Mutation(template.problem, ORIGINAL, inputs, report.values, question, steps)


def mutate_problems(
    store: Store,
    *,
    n: int = 10,
    limits: Limits | None = None,
    problems: Sequence[str] | None = None,
) -> MutatedSummary:
    """Draw `n` mutations of every template that passed, and store the original beside them.

    The same seed gives the same mutations; more of them can be drawn later. A SynDeduct question
    is its own mutation: only the original is stored.

    Raises
    ------
    ValueError
        When there is no such problem, or no template passed.
    store.ConflictError
        When mutations are there that were drawn with another seed or other limits.
    """
    limits = limits or Limits()
    wanted = set(known_problems(store, problems))
    known = {p.name: p for p in store.problems()}
    templates = [t for t in store.templates() if t.problem in wanted and t.passed]
    if not templates:
        raise ValueError("no problem passed its checks: medoid deduce list --failed says why")
    there = store.mutation_counts()
    rejected: Counter[str] = Counter()
    short: dict[str, int] = {}
    failed: dict[str, str] = {}
    for record in templates:
        try:
            items, tried = _drawn(record, known[record.problem], n, limits)
        except ValueError as error:
            failed[record.problem] = str(error)
            continue
        store.save_mutations(record.id, items, limits.as_json())
        rejected.update(tried)
        if known[record.problem].only_k is None and len(items) - 1 < n:
            short[record.problem] = len(items) - 1
    counts = store.mutation_counts()
    before = sum(there.get(t.id, 0) for t in templates)
    after_all = sum(counts.get(t.id, 0) for t in templates)
    return MutatedSummary(len(templates), after_all - before, before, dict(rejected), short, failed)


def _drawn(
    record: TemplateRecord, problem: ProblemRecord, n: int, limits: Limits
) -> tuple[list[Mutation], Mapping[str, int]]:
    """Return the original and the mutations of one template, and the draws rejected."""
    template = record.template
    if template is None:
        raise ValueError("it has no template")
    items = [original_of(template)]
    if problem.only_k is not None or n == 0:
        return items, {}
    made = mutate(
        template,
        seed=limits.seed,
        n=n,
        low=limits.low,
        high=limits.high,
        max_iter=limits.tries,
    )
    return [*items, *made.items], made.rejected


__all__ = ["TRIES", "Limits", "MutatedSummary", "mutate_problems", "original_of"]
