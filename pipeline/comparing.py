"""Decompositions of one project held against each other (paper A, appendix C.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline.facts import UNDECOMPOSED, fact_source
from pipeline.selecting import chosen_pools, known_datasets
from scoring.faithfulness import correlations
from scoring.graphs.build import graph_structure
from store import Store
from store.records import PoolRecord, ScoringRecord


@dataclass(frozen=True, slots=True)
class DecompositionFigures:
    """One decomposition over the chosen traces.

    `n_traces` traces have steps, `n_with_facts` of them facts; the means are over those, None
    without one. `edges_per_fact` counts one edge per fact and step it depends on (rule
    ``anchor``). Of `n_steps` steps `n_dropped` got no fact; `n_invented` statements named a step
    that does not exist. `n_scored` pools have a coherence under the compared scoring.
    """

    name: str
    model: str | None
    prompt_version: str | None
    n_traces: int
    n_with_facts: int
    n_steps: int
    n_facts: int
    n_edges: int
    n_dropped: int
    n_invented: int
    n_scored: int

    @property
    def facts_per_trace(self) -> float | None:
        """Mean number of facts."""
        return self.n_facts / self.n_with_facts if self.n_with_facts else None

    @property
    def edges_per_fact(self) -> float | None:
        """Edges over facts, all traces together."""
        return self.n_edges / self.n_facts if self.n_facts else None


@dataclass(frozen=True, slots=True)
class GrcsCorrelation:
    """How GRCS goes together across questions under two decompositions; None when undefined."""

    a: str
    b: str
    pearson: float | None
    spearman: float | None
    n: int
    why_undefined: str | None


@dataclass(frozen=True, slots=True)
class DecompositionComparison:
    """Every decomposition, ``none`` first, and every two of them.

    `scoring` are the embedder and parameters under which GRCS is compared, None when nothing is
    scored.
    """

    scoring: ScoringRecord | None
    figures: tuple[DecompositionFigures, ...]
    correlations: tuple[GrcsCorrelation, ...]


def compare_decompositions(
    store: Store, *, dataset: str | Iterable[str] | None = None, pool: str | None = None
) -> DecompositionComparison:
    """Return facts per trace, edges per fact, and the correlation of GRCS, per decomposition.

    GRCS is compared under the embedder and parameters of the primary scoring; a decomposition
    that is not scored under them has none.

    Raises
    ------
    ValueError
        When there are no such traces.
    """
    pools = chosen_pools(store, known_datasets(store, dataset), pool)
    scorings = _alike(store)
    grcs = {
        name: {s.pool_id: s.grcs for s in store.pool_scores(record.id)}
        for name, record in scorings.items()
    }
    names = (UNDECOMPOSED, *(d.name for d in store.decompositions()))
    figures = tuple(_figures(store, name, pools, grcs.get(name, {})) for name in names)
    pairs = tuple(
        _correlation(a, b, pools, grcs.get(a, {}), grcs.get(b, {}))
        for a, b in combinations(names, 2)
    )
    return DecompositionComparison(store.primary_scoring(), figures, pairs)


def _alike(store: Store) -> dict[str, ScoringRecord]:
    """Return, by decomposition, the scorings that differ from the primary one in it alone."""
    primary = store.primary_scoring()
    if primary is None:
        return {}
    same = (primary.embedder, primary.embedder_revision, dict(primary.parameters))
    return {
        s.decomposition: s
        for s in store.scorings()
        if (s.embedder, s.embedder_revision, dict(s.parameters)) == same
    }


def _figures(
    store: Store, name: str, pools: Sequence[PoolRecord], grcs: Mapping[int, float | None]
) -> DecompositionFigures:
    source = fact_source(store, name)
    record = next((d for d in store.decompositions() if d.name == name), None)
    n = dict.fromkeys(("traces", "with_facts", "steps", "facts", "edges", "dropped", "invented"), 0)
    for pool in pools:
        traces = store.pool_traces(pool.id)
        found = source.of_pool(pool.id, traces)
        rows = {} if record is None else store.decomposed(record.id, pool.id)
        for t in traces:
            n["traces"] += t.trace.usable
            row = rows.get(t.id)
            n["invented"] += len(row.invented) if row is not None else 0
            if t.id not in found.facts:
                continue
            structure = graph_structure(t.trace, found.facts[t.id])
            n["with_facts"] += 1
            n["steps"] += len(t.trace.steps)
            n["facts"] += len(structure.facts)
            n["edges"] += len(structure.edges)
            n["dropped"] += len(structure.dropped_steps)
    return DecompositionFigures(
        name=name,
        model=None if record is None else record.model,
        prompt_version=None if record is None else record.prompt_version,
        n_scored=sum(grcs.get(p.id) is not None for p in pools),
        **{f"n_{key}": value for key, value in n.items()},
    )


def _correlation(
    a: str,
    b: str,
    pools: Sequence[PoolRecord],
    of_a: Mapping[int, float | None],
    of_b: Mapping[int, float | None],
) -> GrcsCorrelation:
    for name, side in ((a, of_a), (b, of_b)):
        if not any(side.get(p.id) is not None for p in pools):
            why = f"{name} is not scored under the primary scoring's embedder and parameters"
            return GrcsCorrelation(a, b, None, None, 0, why)
    found = correlations([of_a.get(p.id) for p in pools], [of_b.get(p.id) for p in pools])
    why_not = found.why_undefined
    if why_not is not None:
        why_not = why_not.replace("metric", f"GRCS of {a}").replace("faithfulness", f"GRCS of {b}")
    return GrcsCorrelation(a, b, found.pearson, found.spearman, found.n, why_not)
