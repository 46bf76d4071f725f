"""A revealed pool worked out again: graphs, distances, and what the other traces say to a fact."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.facts import fact_source
from pipeline.pool_scoring import PoolGraphs, ScoreParameters, pool_graphs
from pipeline.spreading import one_blas_thread
from scoring.graphs import StepEvidence, node_support, step_evidence
from scoring.types import NormalForm
from store import Store
from store.records import RevealedCase


@dataclass(frozen=True, slots=True)
class ViewedNode:
    """A fact as a node: its step, what it depends on, whether it is a conclusion, its support."""

    text: str
    step: int
    parents: tuple[int, ...]
    terminal: bool
    support: float | None


@dataclass(frozen=True, slots=True)
class ViewedTrace:
    """A voting trace of the pool with its graph."""

    trace_id: int
    sample: str
    answer: NormalForm | None
    nodes: tuple[ViewedNode, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PoolView:
    """The voting traces of a pool, in the order of their samples, and their SS-GED distances."""

    traces: tuple[ViewedTrace, ...]
    distances: tuple[tuple[float, ...], ...]
    medoid: int | None
    tau: float
    work: PoolGraphs | None = None

    def place(self, trace_id: int) -> int | None:
        """Return where a trace stands, None when it has no vote."""
        return next((i for i, t in enumerate(self.traces) if t.trace_id == trace_id), None)

    def evidence(self, trace_id: int, node: int) -> StepEvidence | None:
        """Return the nearest fact of every other trace to a node, None when there is no such."""
        at = self.place(trace_id)
        if at is None or self.work is None or not 0 <= node < len(self.traces[at].nodes):
            return None
        return step_evidence(self.work.geometry, at, node, tau=self.tau)


def read_pool(store: Store, revealed: RevealedCase) -> PoolView:
    """Return the pool of a case that may be seen: the caller holds what the seal let through.

    Graphs and distances are those of the case's scoring; they are computed from stored vectors in
    some milliseconds and kept nowhere.

    Raises
    ------
    ValueError
        When vectors are missing.
    """
    scoring = revealed.scoring
    parameters = ScoreParameters.of(dict(scoring.parameters))
    pool_id = revealed.score.pool_id
    traces = store.pool_traces(pool_id)
    embedder_id = next(
        i
        for i, name, revision, _ in store.embedders()
        if (name, revision) == (scoring.embedder, scoring.embedder_revision)
    )
    found = fact_source(store, scoring.decomposition).of_pool(pool_id, traces)
    with one_blas_thread():
        work = pool_graphs(store, embedder_id, traces, found, parameters)
        if work is None:
            return PoolView((), (), None, parameters.tau)
        support = node_support(work.geometry, tau=parameters.tau)
    shown = []
    for record, graph, shares in zip(work.used, work.geometry.graphs, support, strict=True):
        parents: list[list[int]] = [[] for _ in graph.facts]
        for u, v in graph.edges:
            parents[v].append(u)
        nodes = tuple(
            ViewedNode(
                fact.text,
                fact.step,
                tuple(parents[v]),
                v in graph.terminals,
                None if shares[v] != shares[v] else float(shares[v]),
            )
            for v, fact in enumerate(graph.facts)
        )
        shown.append(ViewedTrace(record.id, record.sample, record.trace.answer, nodes))
    medoid = revealed.score.medoid_trace_id
    return PoolView(
        tuple(shown),
        tuple(map(tuple, work.distances.tolist())),
        next((i for i, t in enumerate(shown) if t.trace_id == medoid), None),
        parameters.tau,
        work,
    )
