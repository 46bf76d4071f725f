"""CoTA: how far the steps of two traces entail each other (a baseline of paper A)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scoring.graphs.geometry import BLOCK_CELLS, IntArray, PoolGeometry, pool_geometry
from scoring.types import FloatArray, ReasoningGraph


def cota(pairs: Iterable[tuple[ArrayLike, ArrayLike]]) -> float | None:
    """Return CoTA: how far the steps of two traces entail each other, averaged over pairs.

    Parameters
    ----------
    pairs : iterable of (E_ab, E_ba)
        Entailment scores per pair of traces: E_ab, shape (n, m), of every step of a with every
        step of b; E_ba, shape (m, n), the other way. n, m >= 1.

    Returns
    -------
    float or None
        An *agreement*: 1 = every step is entailed by one of the other trace; uncertainty = 1 − it.
        In [0, 1] for scores in [0, 1]. None without pairs.

    Raises
    ------
    ValueError
        Naming the pair whose matrices do not fit each other or hold a value that is not finite.

    Notes
    -----
    (Σ_i max_j E_ab(i, j) + Σ_j max_i E_ba(j, i)) / (n + m) for a pair; the mean over pairs.

    References
    ----------
    Tanneru et al. (2024), Quantifying uncertainty in natural language explanations of large
    language models. Paper A, section 4 (baseline "CoTA").

    Examples
    --------
    >>> round(cota([([[0.9, 0.1], [0.2, 0.7], [0.3, 0.4]], [[0.8, 0.1, 0.2], [0.2, 0.6, 0.5]])]), 2)
    0.68
    """
    values = [_pair_agreement(a, b, place) for place, (a, b) in enumerate(pairs)]
    return math.fsum(values) / len(values) if values else None


def _pair_agreement(e_ab: ArrayLike, e_ba: ArrayLike, place: int) -> float:
    a, b = np.asarray(e_ab, dtype=np.float64), np.asarray(e_ba, dtype=np.float64)
    if a.ndim != 2 or b.ndim != 2 or a.size == 0 or a.shape != b.shape[::-1]:
        raise ValueError(
            f"pair {place} has matrices of shape {a.shape} and {b.shape}: "
            "give (n, m) and (m, n) with n, m >= 1"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError(f"pair {place} holds an entailment score that is not finite")
    best = itertools.chain(a.max(axis=1).tolist(), b.max(axis=1).tolist())
    return math.fsum(best) / sum(a.shape)


def embedding_entailment(
    graphs: Sequence[ReasoningGraph] | PoolGeometry,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield stand-in entailment scores for `cota`: the cosines of the facts' embeddings.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        At least one graph; i < j over all pairs.

    Yields
    ------
    (E_ab, E_ba)
        max(0, cosine), in [0, 1], and its transpose: a similarity has no direction, so that this
        cannot tell a premise from what follows from it, as an entailment model can.

    Raises
    ------
    ValueError
        As `pool_geometry`.

    Examples
    --------
    >>> g, h = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]]), ReasoningGraph([[1.0, 0.0]])
    >>> round(cota(embedding_entailment([g, h])), 4)
    0.6667
    """
    pool = pool_geometry(graphs)
    for i in range(len(pool) - 1):
        columns = pool.vectors.columns(pool.ids[i])
        for j in range(i + 1, len(pool)):
            scores = np.maximum(0.0, 1.0 - columns.rows(pool.ids[j]))
            yield scores.T, scores


def embedding_cota(graphs: Sequence[ReasoningGraph] | PoolGeometry) -> float | None:
    """Return CoTA with cosines as entailment, the best match of every fact found once a graph.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        At least one graph.

    Returns
    -------
    float or None
        As ``cota(embedding_entailment(graphs))`` up to rounding: an *agreement* in [0, 1]. None
        for fewer than two graphs.

    Raises
    ------
    ValueError
        As `pool_geometry`.

    Notes
    -----
    The best match of a fact in a trace depends on the fact's vector alone, so that a table of
    distinct vectors × graphs holds all that the pairs need.

    Examples
    --------
    >>> g, h = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]]), ReasoningGraph([[1.0, 0.0]])
    >>> round(embedding_cota([g, h]), 4)
    0.6667
    """
    pool = pool_geometry(graphs)
    n = len(pool)
    if n < 2:
        return None
    best = np.stack([_nearest(pool, ids) for ids in pool.ids], axis=1)
    entailed = np.maximum(0.0, 1.0 - best)  # (vectors, graphs)
    sums = np.stack([entailed[ids].sum(axis=0) for ids in pool.ids])  # (graphs, graphs)
    sizes = np.array([len(ids) for ids in pool.ids])
    pairs = (sums + sums.T) / (sizes[:, None] + sizes)
    return math.fsum(pairs[np.triu_indices(n, 1)].tolist()) / (n * (n - 1) // 2)


def _nearest(pool: PoolGeometry, ids: IntArray) -> FloatArray:
    """Return 1 − cosine of every distinct vector with the nearest node of a graph."""
    columns = pool.vectors.columns(np.unique(ids))
    n_vectors = len(pool.vectors.unit)
    step = max(1, BLOCK_CELLS // len(ids))
    parts = [
        columns.rows(np.arange(low, min(low + step, n_vectors))).min(axis=1)
        for low in range(0, n_vectors, step)
    ]
    return np.concatenate(parts)
