"""Step evidence: for one fact, the nearest fact of every other trace (paper A, B.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.graphs.decoding import SUPPORT_MARGIN
from scoring.graphs.geometry import PoolGeometry, pool_geometry
from scoring.types import Fact, ReasoningGraph


@dataclass(frozen=True, slots=True)
class NearestFact:
    """The fact of another trace that is nearest to the one asked about.

    Attributes
    ----------
    graph, node
        Which trace of the pool, which of its nodes (the first of equally near ones).
    cosine
        In [−1, 1]; 1 = the same direction.
    supports
        Whether the cosine reaches τ.
    fact
        Its text and step where the graph knows its facts, else None.
    """

    graph: int
    node: int
    cosine: float
    supports: bool
    fact: Fact | None


@dataclass(frozen=True, slots=True)
class StepEvidence:
    """What the other traces of a pool say to one fact.

    Attributes
    ----------
    graph, node
        The fact asked about.
    supporting, others
        How many of the other traces hold a similar fact, and how many there are.
    support
        supporting/others, in [0, 1], higher = better supported; None for a pool of one.
    nearest : tuple of NearestFact
        One per other trace, nearest first; equally near ones in the order of the pool.
    tau
        Least cosine that counts as support.
    """

    graph: int
    node: int
    supporting: int
    others: int
    support: float | None
    nearest: tuple[NearestFact, ...]
    tau: float


def step_evidence(
    graphs: Sequence[ReasoningGraph] | PoolGeometry, graph: int, node: int, *, tau: float = 0.9
) -> StepEvidence:
    """Return the nearest fact of every other trace to one fact, with its cosine.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The pool; pass a geometry when asking about many facts of it.
    graph, node : int
        Which fact.
    tau : float
        As for `node_support`.

    Returns
    -------
    StepEvidence

    Raises
    ------
    ValueError
        As `pool_geometry`, for τ outside [−1, 1], and for a graph or node that does not exist.

    Notes
    -----
    ``support`` is the c(v) of `node_support`, with the same margin of 1e-9 below τ. Being
    supported is not being right: traces of one model repeat each other's mistakes.

    References
    ----------
    Paper A, section 3 ("Consensus Context Synthesis") and appendix B.5.

    Examples
    --------
    >>> pool = [ReasoningGraph([[1.0, 0.0]]), ReasoningGraph([[0.0, 1.0], [2.0, 0.0]])]
    >>> e = step_evidence(pool, 0, 0)
    >>> e.supporting, e.others, (e.nearest[0].graph, e.nearest[0].node, e.nearest[0].cosine)
    (1, 1, (1, 1, 1.0))
    """
    if not -1.0 <= tau <= 1.0:
        raise ValueError(f"tau must lie in [-1, 1], not {tau}")
    pool = pool_geometry(graphs)
    if not 0 <= graph < len(pool):
        raise ValueError(f"graph {graph} is not in the pool: choose one of 0..{len(pool) - 1}")
    own = pool.ids[graph]
    if not 0 <= node < len(own):
        raise ValueError(f"node {node} is not in graph {graph}: choose one of 0..{len(own) - 1}")
    column = pool.vectors.columns(own[node : node + 1])
    nearest = []
    for other, ids in enumerate(pool.ids):
        if other == graph:
            continue
        distances = column.rows(ids)[:, 0]
        best = int(np.argmin(distances))
        facts = pool.graphs[other].facts
        nearest.append(
            NearestFact(
                other,
                best,
                float(1.0 - distances[best]),
                bool(distances[best] <= 1.0 - tau + SUPPORT_MARGIN),
                facts[best] if facts else None,
            )
        )
    nearest.sort(key=lambda found: -found.cosine)
    supporting = sum(found.supports for found in nearest)
    others = len(nearest)
    share = supporting / others if others else None
    return StepEvidence(graph, node, supporting, others, share, tuple(nearest), tau)
