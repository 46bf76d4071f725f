"""From stored traces to the texts and structures that are embedded and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoring.types import Fact, Step, Trace
from store import Store
from store.model_records import NO_DECOMPOSITION
from store.records import TraceRecord

UNDECOMPOSED = NO_DECOMPOSITION
"""The name of the decomposition that is none: one fact per step."""


def fact_text(step: Step) -> str:
    """Return what a step states: its sentence and, where it has one, its code line."""
    return step.text if step.code is None else f"{step.text}\n{step.code}"


def undecomposed(trace: Trace) -> tuple[Fact, ...]:
    """Return one fact per step (decomposition ``none``)."""
    return tuple(Fact(fact_text(step), step.index) for step in trace.steps)


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """The facts of a pool's traces by trace id; `missing` says why a trace has none."""

    facts: Mapping[int, tuple[Fact, ...]]
    missing: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class FactSource:
    """Where facts come from: a decomposition of the project's, or the steps themselves."""

    store: Store
    name: str = UNDECOMPOSED
    decomposition_id: int | None = None

    def of_pool(self, pool_id: int, traces: Iterable[TraceRecord]) -> PoolFacts:
        """Return the facts of a pool's traces.

        A trace that was not decomposed yet, or whose decomposition came to nothing, has none.
        """
        facts: dict[int, tuple[Fact, ...]] = {}
        missing: dict[int, str] = {}
        rows = (
            {}
            if self.decomposition_id is None
            else self.store.decomposed(self.decomposition_id, pool_id)
        )
        for record in traces:
            if not record.trace.usable:
                missing[record.id] = "no steps"
            elif self.decomposition_id is None:
                facts[record.id] = undecomposed(record.trace)
            elif record.id not in rows:
                missing[record.id] = "not decomposed"
            elif rows[record.id].facts:
                facts[record.id] = tuple(rows[record.id].facts)
            else:
                missing[record.id] = f"decomposition {rows[record.id].outcome}"
        return PoolFacts(facts, missing)


def fact_source(store: Store, name: str = UNDECOMPOSED) -> FactSource:
    """Return the facts of a decomposition by its name; ``none`` takes every step for one.

    Raises
    ------
    ValueError
        Naming the decompositions that there are.
    """
    if name == UNDECOMPOSED:
        return FactSource(store)
    known = {d.name: d.id for d in store.decompositions()}
    if name not in known:
        there = ", ".join((UNDECOMPOSED, *known))
        raise ValueError(f"no decomposition {name!r} in the database; there are: {there}")
    return FactSource(store, name, known[name])
