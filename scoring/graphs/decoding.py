"""Which answer a pool stands for: majority vote (SC) and graph self-consistency (GSC)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoring.graphs.coherence import checked_distances
from scoring.graphs.ged import pairwise_distances
from scoring.graphs.geometry import PoolGeometry, pool_geometry
from scoring.types import FloatArray, ReasoningGraph

SUPPORT_MARGIN = 1e-9
"""A cosine this little below τ still supports: rounding must not decide."""

TIE_MARGIN = 1e-12
"""Scores this close, and centralities this close to 0, differ by rounding only."""


@dataclass(frozen=True, slots=True)
class Vote:
    """A majority vote.

    Attributes
    ----------
    answer
        The winner, or None when nobody voted.
    counts
        Votes per answer, in order of first appearance.
    tied
        Whether another answer had as many votes.
    """

    answer: Any
    counts: dict[Any, int] = field(default_factory=dict)
    tied: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Gsc:
    """A pool decoded by its medoid.

    Attributes
    ----------
    medoid
        Place of the graph with the highest score, the lowest on ties.
    answer
        Its answer.
    scores : ndarray, shape (N,)
        α·centrality share + (1−α)·consensus; higher = better supported. At most 1.
    centrality : ndarray, shape (N,)
        Summed similarity to the other graphs, in [−β(N−1), N−1].
    consensus : ndarray, shape (N,)
        Weighted mean of node support, in [0, 1].
    node_support : tuple of ndarray
        For every graph the share of the other graphs that have such a fact, in [0, 1] per node.
    tied
        Whether another graph's score equals the medoid's.
    flags
        Among ``nonpositive_centrality``, ``single_trace``, ``tied_medoid``.
    """

    medoid: int
    answer: Any
    scores: FloatArray
    centrality: FloatArray
    consensus: FloatArray
    node_support: tuple[FloatArray, ...]
    tied: bool
    flags: tuple[str, ...]


def self_consistency(answers: Iterable[Hashable | None]) -> Vote:
    """Return the majority vote over normalised answers.

    Parameters
    ----------
    answers : iterable of hashable or None
        In sampling order; equal answers must compare equal. None (unparsed) never votes.

    Returns
    -------
    Vote
        Ties go to the answer seen first and are marked. Nobody voted: ``Vote(None, {}, False)``.

    Raises
    ------
    ValueError
        For an answer that cannot be hashed.

    Notes
    -----
    argmax over answers of the number of traces that gave it.

    References
    ----------
    Paper A, section 3 (SC, after Wang et al.).

    Examples
    --------
    >>> self_consistency(["B", "A", None, "A", "B"])
    Vote(answer='B', counts={'B': 2, 'A': 2}, tied=True)
    """
    counts: dict[Any, int] = {}
    for place, answer in enumerate(answers):
        if answer is None:
            continue
        try:
            counts[answer] = counts.get(answer, 0) + 1
        except TypeError:
            raise ValueError(
                f"answer {place} is {answer!r}: answers must be hashable normal forms"
            ) from None
    if not counts:
        return Vote(None, {}, False)
    most = max(counts.values())
    winners = [answer for answer, votes in counts.items() if votes == most]
    return Vote(winners[0], counts, len(winners) > 1)


def node_support(
    graphs: Sequence[ReasoningGraph] | PoolGeometry, *, tau: float = 0.9
) -> tuple[FloatArray, ...]:
    """Return, for every node, the share of the other graphs that have a similar node.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The pool, at least one graph.
    tau : float
        Least cosine that counts as the same fact, in [−1, 1]; compared with a margin of 1e-9.

    Returns
    -------
    tuple of ndarray
        One array per graph, one value in [0, 1] per node; NaN for a pool of one graph.

    Raises
    ------
    ValueError
        As `pool_geometry`, and for τ out of its range.

    Notes
    -----
    c(v) = |{j ≠ i : some u in G_j has cos(u, v) >= τ}| / (N − 1).

    References
    ----------
    Paper A, section 3 ("Consensus Context Synthesis") and appendix B.5.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], [(0, 1)])
    >>> h = ReasoningGraph([[1.0, 0.1]], [])
    >>> [c.tolist() for c in node_support([g, h])]
    [[1.0, 0.0], [1.0]]
    """
    if not -1.0 <= tau <= 1.0:
        raise ValueError(f"tau must lie in [-1, 1], not {tau}")
    pool = pool_geometry(graphs)
    others = len(pool) - 1
    if others == 0:
        return tuple(np.full(len(ids), np.nan) for ids in pool.ids)
    graphs_of_form = np.bincount(pool.form, minlength=pool.n_forms)
    supporters = np.concatenate(
        [
            np.logical_or.reduceat(near.take(pool.nodes, axis=1), pool.node_at[:-1], axis=1)
            @ graphs_of_form
            for near in pool.vectors.near(1.0 - tau + SUPPORT_MARGIN)
        ]
    )
    # Every graph supports its own nodes: cos(v, v) = 1 >= τ.
    return tuple((supporters[ids] - 1.0) / others for ids in pool.ids)


def graph_self_consistency(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
    distances: ArrayLike | None = None,
    *,
    alpha: float = 0.8,
    tau: float = 0.9,
    terminal_weight: float = 2.0,
) -> Gsc:
    """Return the pool's medoid: the graph most central and best supported by the others.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        The electorate: usable graphs with an answer. At least one.
    distances : array_like, shape (N, N), optional
        From `pairwise_distances`; computed with its defaults when None.
    alpha : float
        Weight of centrality against consensus, in [0, 1].
    tau : float
        As for `node_support`.
    terminal_weight : float
        Weight of a conclusion in the consensus, > 0; other nodes weigh 1.

    Returns
    -------
    Gsc

    Raises
    ------
    ValueError
        For an empty pool, distances that are not a distance matrix of these graphs, or a
        parameter out of its range.

    Notes
    -----
    With S = 1 − d::

        C(i) = Σ_{j≠i} S(i, j),   P(i) = Σ_v w(v)·c(v) / Σ_v w(v)
        score(i) = α·C(i)/max C + (1 − α)·P(i),   medoid = argmax

    Where max C <= 0 the ratio would reward the least central graph: the centrality term is then 0
    for all (``nonpositive_centrality``). A pool of one has centrality 0, everything else
    undefined (NaN), and is its own medoid (``single_trace``).

    Ties: sums are rounded once (``math.fsum``), so they do not depend on order, and graphs that
    are equal up to the order of their nodes score the same *to the bit*. Different graphs can
    still tie mathematically and differ in the last bits by machine: scores within `TIE_MARGIN` of
    the highest are one tie, the lowest place wins, and it is flagged.

    References
    ----------
    Paper A, section 3 ("Consensus Context Synthesis") and appendix B.5.

    Examples
    --------
    >>> a = ReasoningGraph([[1.0, 0.0]], [], answer="a")
    >>> b = ReasoningGraph([[0.0, 1.0]], [], answer="b")
    >>> r = graph_self_consistency([b, a, a])
    >>> r.medoid, r.answer, r.scores.round(4).tolist(), r.tied
    (1, 'a', [0.0064, 0.9, 0.9], True)
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha must lie in [0, 1], not {alpha}")
    if not (terminal_weight > 0.0 and math.isfinite(terminal_weight)):
        raise ValueError(f"terminal_weight must be finite and > 0, not {terminal_weight}")
    pool = pool_geometry(graphs)
    n = len(pool)
    matrix = pairwise_distances(pool) if distances is None else checked_distances(distances, n)
    support = node_support(pool, tau=tau)
    centrality = np.array([_centrality(matrix[i], i) for i in range(n)])
    consensus = np.array(
        [_consensus(g, c, terminal_weight) for g, c in zip(pool.graphs, support, strict=True)]
    )
    flags = []
    highest = float(centrality.max())
    if highest <= TIE_MARGIN:
        flags.append("nonpositive_centrality")
        share = np.zeros(n)
    else:
        share = centrality / highest
    if n == 1:
        flags.append("single_trace")
        return Gsc(
            0, pool.graphs[0].answer, np.full(1, np.nan), centrality, consensus, support, False,
            tuple(flags),
        )  # fmt: skip
    scores = alpha * share + (1.0 - alpha) * consensus
    best = np.flatnonzero(scores >= scores.max() - TIE_MARGIN)
    tied = len(best) > 1
    if tied:
        flags.append("tied_medoid")
    medoid = int(best[0])
    return Gsc(
        medoid, pool.graphs[medoid].answer, scores, centrality, consensus, support, tied,
        tuple(flags),
    )  # fmt: skip


def _centrality(row: FloatArray, i: int) -> float:
    """C(i) = Σ_{j≠i} (1 − d(i, j)), rounded once."""
    return math.fsum(1.0 - d for j, d in enumerate(row.tolist()) if j != i)


def _consensus(g: ReasoningGraph, support: FloatArray, terminal_weight: float) -> float:
    """P = Σ w·c / Σ w with w = terminal_weight on conclusions and 1 elsewhere."""
    weights = np.ones(g.n_nodes)
    weights[list(g.terminals)] = terminal_weight
    return math.fsum(weights * support) / math.fsum(weights)
