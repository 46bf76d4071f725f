"""The metrics of a pool beside GRCS, by name: which there are, and their values with n."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scoring.graphs.agreement import cota, embedding_cota
from scoring.graphs.ged import EdgeEmbedding, PairwiseCosts
from scoring.graphs.geometry import PoolGeometry
from scoring.graphs.solvers import Solver
from scoring.graphs.topo import topo_distances, topo_summary
from scoring.graphs.uncertainty import (
    Laplacian,
    laplacian,
    redundancy,
    semantic_entropy,
)
from scoring.types import FloatArray

CHEAP = (
    "semantic_entropy",
    "eigv",
    "deg",
    "ecc",
    "redundancy",
    "topo_uq_unit",
    "topo_uq_unit_anchor",
    "cota",
)
"""Metrics that cost little beside the distances: they are computed with every score."""

DEAR = ("topo_uq", "topo_uq_anchor", "cota_model")
"""Metrics that need matchings of their own, or a model."""

ALL = (*CHEAP, *DEAR)

Entail = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""From (premise, hypothesis) pairs to entailment scores in [0, 1]."""


@dataclass(frozen=True, slots=True)
class PoolMetric:
    """A metric of one pool.

    Attributes
    ----------
    value
        Its value, None where undefined; `METRICS` has orientation and range.
    n
        Graphs it was computed from.
    n_pairs
        Pairs of graphs used, 0 where it is no matter of pairs.
    flags
        What a reader should know: those of the function that computed it.
    why_undefined
        The reason, None where there is a value.
    detail
        Further numbers: ``mean_distance`` of Topo-UQ, ``uncertainty`` (1 − CoTA), ``by_trace``
        of redundancy.
    """

    value: float | None
    n: int
    n_pairs: int = 0
    flags: tuple[str, ...] = ()
    why_undefined: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class PoolParts(NamedTuple):
    """What the metrics of a pool are computed from; see `pool_metrics`."""

    geometry: PoolGeometry
    costs: PairwiseCosts
    distances: FloatArray
    medoid: int
    edge_embedding: EdgeEmbedding
    solver: Solver
    entail: Entail | None


def pool_metrics(
    geometry: PoolGeometry,
    costs: PairwiseCosts,
    distances: ArrayLike,
    medoid: int,
    names: Iterable[str] = CHEAP,
    *,
    edge_embedding: EdgeEmbedding = "concat",
    solver: Solver = "auto",
    entail: Entail | None = None,
) -> dict[str, PoolMetric]:
    """Return the named metrics of a pool, computed from what its scores needed anyway.

    Parameters
    ----------
    geometry : PoolGeometry
        Of the electorate, from `pool_geometry`.
    costs : PairwiseCosts
        From `pairwise_costs` under the same `edge_embedding`.
    distances : array_like, shape (N, N)
        The pool's SS-GED distances.
    medoid : int
        Place of the medoid: the anchor of the ``_anchor`` metrics.
    names : iterable of str
        Among `ALL`.
    edge_embedding, solver
        As for `pairwise_distances`.
    entail : callable, optional
        From (premise, hypothesis) texts to scores in [0, 1]; ``cota_model`` needs it.

    Returns
    -------
    dict
        By name, in the order given.

    Raises
    ------
    ValueError
        For an unknown name, ``cota_model`` without `entail` or without facts, or scores of
        `entail` that are not in [0, 1].

    Notes
    -----
    - ``semantic_entropy``: meanings are the normalised answers; every trace counts the same.
    - ``eigv``, ``deg``, ``ecc``: the Laplacian of W = max(0, 1 − d).
    - ``redundancy``: mean over traces of the share of *steps* on no path to the conclusion.
    - ``topo_uq…``: at semantic or ``unit`` cost, over all pairs or from the medoid (``anchor``).
    - ``cota``: entailment is max(0, cosine); ``cota_model``: an entailment model's probability,
      e(a, b) with a the premise and b what may follow from it; every distinct pair is asked once.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    parts = PoolParts(geometry, costs, matrix, medoid, edge_embedding, solver, entail)
    wanted = tuple(names)
    for name in wanted:
        if name not in ALL:
            raise ValueError(f"no metric {name!r}: choose among {', '.join(ALL)}")
    shared: dict[str, Any] = {}
    return {name: _metric(name, parts, shared) for name in wanted}


def _metric(name: str, parts: PoolParts, shared: dict[str, Any]) -> PoolMetric:
    n = len(parts.geometry)
    if name == "semantic_entropy":
        return _semantic_entropy([g.answer for g in parts.geometry.graphs])
    if name in ("eigv", "deg", "ecc"):
        if "laplacian" not in shared:
            shared["laplacian"] = laplacian(np.maximum(0.0, 1.0 - parts.distances))
        return _spectral(shared["laplacian"], name)
    if name == "redundancy":
        return _redundancy(parts.geometry)
    if name.startswith("topo_uq"):
        cost = "unit" if "unit" in name else "semantic"
        if cost not in shared:
            shared[cost] = (
                parts.costs.edit_costs()
                if cost == "unit"
                else topo_distances(
                    parts.geometry, edge_embedding=parts.edge_embedding, solver=parts.solver
                )
            )
        found = topo_summary(shared[cost], anchor=parts.medoid if "anchor" in name else None)
        detail = {"mean_distance": found.mean_distance}
        return PoolMetric(found.value, n, found.n_pairs, (), found.why_undefined, detail)
    if name == "cota":
        return _cota(embedding_cota(parts.geometry), n)
    return _cota(cota(_entailment(parts)), n)


def _few(n: int) -> str:
    return f"{n} graph{'' if n == 1 else 's'}: at least two are needed"


def _semantic_entropy(answers: Sequence[Hashable | None]) -> PoolMetric:
    n = sum(a is not None for a in answers)
    value = semantic_entropy(answers)
    why = None if value is not None else "no trace has an answer"
    return PoolMetric(value, n, 0, (), why, {"meanings": len(set(answers) - {None})})


def _spectral(found: Laplacian, name: str) -> PoolMetric:
    value = getattr(found, name)
    pairs = found.n * (found.n - 1) // 2
    return PoolMetric(
        value, found.n, pairs, found.flags, None if value is not None else _few(found.n)
    )


def _redundancy(geometry: PoolGeometry) -> PoolMetric:
    shares = [redundancy(g, unit="step" if g.facts else "fact") for g in geometry.graphs]
    return PoolMetric(
        math.fsum(shares) / len(shares), len(shares), 0, (), None, {"by_trace": shares}
    )


def _cota(agreement: float | None, n: int) -> PoolMetric:
    pairs = n * (n - 1) // 2
    if agreement is None:
        return PoolMetric(None, n, pairs, (), _few(n))
    return PoolMetric(agreement, n, pairs, (), None, {"uncertainty": 1.0 - agreement})


def _entailment(parts: PoolParts) -> list[tuple[FloatArray, FloatArray]]:
    """Ask the entailment model about every distinct ordered pair of texts, once."""
    graphs = parts.geometry.graphs
    if parts.entail is None:
        raise ValueError("cota_model needs an entailment model: none was given")
    if not all(g.facts for g in graphs):
        raise ValueError("cota_model needs the texts of the facts: a graph has none")
    texts = [[f.text for f in g.facts] for g in graphs]
    asked: dict[tuple[str, str], int] = {}
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            for x in a:
                for y in b:
                    asked.setdefault((x, y), len(asked))
                    asked.setdefault((y, x), len(asked))
    scores = np.asarray(parts.entail(list(asked)) if asked else [], dtype=np.float64)
    if scores.shape != (len(asked),) or not ((scores >= 0.0) & (scores <= 1.0)).all():
        raise ValueError("the entailment model must give one score in [0, 1] for every pair")

    def block(a: list[str], b: list[str]) -> FloatArray:
        return np.array([[scores[asked[x, y]] for y in b] for x in a])

    return [(block(a, b), block(b, a)) for i, a in enumerate(texts) for b in texts[i + 1 :]]
