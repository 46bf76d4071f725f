"""The shared geometry of a pool: distinct fact vectors, their cosines, graphs in canonical form.

Everything that compares the graphs of one pool reads cosines from here, so that equal facts are
one vector, equal graphs are one form, and neither is computed twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.types import FloatArray, ReasoningGraph

IntArray = NDArray[np.intp]

DENSE_LIMIT = 4096
"""Up to this many distinct vectors all their cosines are kept (8 bytes each: 128 MiB)."""

BLOCK_CELLS = 2**21
"""Distances are worked on in blocks of at most about this many cells (16 MiB each)."""

KEY_COLUMNS = 32
"""About this many columns are hashed at first to find equal vectors."""

ZERO_MEAN = 1e-12
"""A mean of vectors shorter than this share of their mean length has no direction."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorSet:
    """Distinct vectors by number, and their cosine distances.

    Attributes
    ----------
    unit : ndarray, shape (D, d)
        The vectors at unit length; a row of zeros has no direction.
    dense : ndarray, shape (D, D), or None
        1 − cosine, in [0, 2], zero diagonal, symmetric (numpy computes one triangle of a product
        with its own transpose and mirrors it). None for more than `DENSE_LIMIT` vectors:
        `columns` then multiplies on demand.
    """

    unit: FloatArray
    dense: FloatArray | None

    def columns(self, cols: IntArray) -> Columns:
        """Return the distances of any vectors to these, ready to be gathered by row."""
        if self.dense is None:
            return Columns(self, cols, self.unit[cols].T, gathered=False)
        table = np.ascontiguousarray(self.dense.take(cols, axis=0).T)  # symmetric; rows are faster
        return Columns(self, cols, table, gathered=True)

    def near(self, limit: float) -> Iterator[NDArray[np.bool_]]:
        """Yield, in chunks of rows, which vectors are within `limit` of which, shape (rows, D)."""
        if self.dense is not None:
            yield self.dense <= limit
            return
        step = max(1, BLOCK_CELLS // len(self.unit))
        for low in range(0, len(self.unit), step):
            block = self.unit[low : low + step] @ self.unit.T
            _to_distance(block)
            yield block <= limit


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Distances to a fixed list of vectors: gathered already, or to be multiplied by row."""

    of: VectorSet
    cols: IntArray
    table: FloatArray
    gathered: bool

    def rows(self, rows: IntArray) -> FloatArray:
        """Return 1 − cosine of every row's vector with every column's, shape (rows, cols)."""
        if self.gathered:
            return self.table.take(rows, axis=0)
        block: FloatArray = self.of.unit[rows] @ self.table
        _to_distance(block)
        block[rows[:, None] == self.cols[None, :]] = 0.0
        return block


@dataclass(frozen=True, slots=True, eq=False)
class PoolGeometry:
    """A pool of graphs reduced to what comparisons need.

    Graphs that differ only in the order of their nodes or edges share one *form*. Forms are
    ordered by size (largest first) and then by content, never by place in the pool: every result
    is therefore the same to the bit for any order of the pool. Vectors are numbered by content.

    Attributes
    ----------
    form : ndarray of int, shape (N,)
        The form of every graph.
    nodes : ndarray of int
        Vector numbers of every form's nodes, ascending inside a form; form f owns
        ``nodes[node_at[f]:node_at[f + 1]]``.
    sources, targets : ndarray of int
        Both ends of every form's edges as places in ``nodes``; ``edge_at`` delimits forms.
    vectors : VectorSet
        The distinct node vectors.
    conclusions : ndarray, shape (F, F)
        Cosine of the forms' mean terminal vectors. Exactly 1 for equal means; 0 where a mean has
        no direction (antipodal terminals).
    ids : tuple of ndarray
        Vector number of every node of every graph, in the graph's own order.
    graphs : tuple of ReasoningGraph
        The pool itself.
    """

    form: IntArray
    nodes: IntArray
    node_at: IntArray
    sources: IntArray
    targets: IntArray
    edge_at: IntArray
    vectors: VectorSet
    conclusions: FloatArray
    ids: tuple[IntArray, ...]
    graphs: tuple[ReasoningGraph, ...]

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.graphs)

    @property
    def n_forms(self) -> int:
        """Number of graphs that differ in more than the order of nodes and edges."""
        return len(self.node_at) - 1


def pool_geometry(graphs: Sequence[ReasoningGraph] | PoolGeometry) -> PoolGeometry:
    """Return the geometry of a pool; compute it once and pass it to several functions.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph, or PoolGeometry
        At least one graph, all embedded in the same number of dimensions. A geometry is returned
        as it is.

    Returns
    -------
    PoolGeometry

    Raises
    ------
    ValueError
        For an empty pool, something that is not a ReasoningGraph, or unequal dimensions.

    Notes
    -----
    Vectors are told apart by their bytes (−0.0 counts as 0.0). One product of the distinct unit
    vectors with themselves gives all cosines in float64; they are clipped to [−1, 1]. With D
    distinct vectors of d dimensions this takes 8·D·(D + 2d) bytes at its peak, for
    D <= `DENSE_LIMIT`, and 8·2·D·d beyond (more where facts repeat: all nodes are stacked once).

    Examples
    --------
    >>> from scoring.types import ReasoningGraph
    >>> g = ReasoningGraph([[1.0, 0.0], [0.0, 1.0]], [(0, 1)])
    >>> h = ReasoningGraph([[0.0, 1.0], [1.0, 0.0]], [(1, 0)])
    >>> pool_geometry([g, h]).form.tolist()
    [0, 0]
    """
    if isinstance(graphs, PoolGeometry):
        return graphs
    pool = tuple(graphs)
    _check_pool(pool)
    rows = np.concatenate([g.embeddings for g in pool])
    rows += 0.0  # -0.0 becomes 0.0, so that equal vectors have equal bytes
    first, ids = distinct_rows(rows)
    distinct = rows[first]
    del rows
    lengths = row_lengths(distinct)
    if not 1e-100 < lengths.max() < 1e100:  # sums could overflow; a power of two is exact
        np.ldexp(distinct, -int(np.frexp(np.abs(distinct).max())[1]), out=distinct)
        lengths = row_lengths(distinct)
    sizes = np.array([g.n_nodes for g in pool])
    starts = np.concatenate(([0], np.cumsum(sizes)))
    forms = _forms(pool, ids, sizes, starts, len(first))
    conclusions = _conclusions(distinct, lengths, forms.terminals, forms.terminal_at)
    return PoolGeometry(
        forms.form,
        forms.nodes,
        forms.node_at,
        forms.sources,
        forms.targets,
        forms.edge_at,
        vector_set(unit_rows(distinct, lengths, out=distinct)),
        conclusions,
        tuple(np.split(ids, starts[1:-1])),
        pool,
    )


def _check_pool(pool: tuple[ReasoningGraph, ...]) -> None:
    if not pool:
        raise ValueError("the pool is empty: give at least one graph")
    for place, g in enumerate(pool):
        if not isinstance(g, ReasoningGraph):
            raise ValueError(f"graph {place} is a {type(g).__name__}, not a ReasoningGraph")
        if g.embeddings.shape[1] != pool[0].embeddings.shape[1]:
            raise ValueError(
                f"graph {place} is embedded in {g.embeddings.shape[1]} dimensions, "
                f"graph 0 in {pool[0].embeddings.shape[1]}: a pool never mixes embedders"
            )


def distinct_rows(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """Return (first place of every distinct row, number of every row), in order of content."""
    stride = max(1, rows.shape[1] // KEY_COLUMNS)
    for some in (rows[:, ::stride], rows):  # a few columns tell dense embeddings apart
        _, first, number = np.unique(_row_keys(some), return_index=True, return_inverse=True)
        twins = np.flatnonzero(first[number] != np.arange(len(rows)))
        if np.array_equal(rows[twins], rows[first[number[twins]]]):
            return first, number
    return _distinct_by_bytes(rows)


def _row_keys(rows: FloatArray) -> NDArray[np.uint64]:
    """Return a 64-bit key of every row's bytes: linear in the mixed words, modulo 2^64.

    Equal rows have equal keys whatever surrounds them. Unequal rows may collide (by chance, once
    in 2^64); `distinct_rows` compares the rows themselves.
    """
    words = np.ascontiguousarray(rows).view(np.uint64)
    mixed = words ^ (words >> np.uint64(32))
    steps = np.arange(1, rows.shape[1] + 1, dtype=np.uint64)
    factors = (steps * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(0xD1B54A32D192ED03)
    factors ^= factors >> np.uint64(29)
    factors *= np.uint64(0xBF58476D1CE4E5B9)
    keys: NDArray[np.uint64] = mixed @ (factors | np.uint64(1))
    return keys


def _distinct_by_bytes(rows: FloatArray) -> tuple[IntArray, IntArray]:
    contents = [row.tobytes() for row in rows]
    number = {content: k for k, content in enumerate(sorted(set(contents)))}
    inverse = np.array([number[content] for content in contents])
    return np.unique(inverse, return_index=True)[1], inverse


def vector_set(unit: FloatArray) -> VectorSet:
    """Return the geometry of distinct unit rows; a row of zeros is at cosine 0 from all others."""
    if len(unit) > DENSE_LIMIT:
        return VectorSet(unit, None)
    dense = unit @ unit.T
    _to_distance(dense)
    np.fill_diagonal(dense, 0.0)
    return VectorSet(unit, dense)


def row_lengths(vectors: FloatArray) -> FloatArray:
    """Return the Euclidean length of every row, also where squares leave float64's range."""
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    risky = ~((lengths > 1e-140) & (lengths < 1e140))
    if risky.any():
        rows = vectors[risky]
        largest = np.abs(rows).max(axis=1)
        rows /= np.where(largest > 0.0, largest, 1.0)[:, None]
        lengths[risky] = largest * np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths


def unit_rows(
    vectors: FloatArray, lengths: FloatArray | None = None, out: FloatArray | None = None
) -> FloatArray:
    """Return every row divided by its length (into `out`, if given); rows of zeros stay."""
    if lengths is None:
        lengths = row_lengths(vectors)
    return np.divide(vectors, np.where(lengths > 0.0, lengths, 1.0)[:, None], out=out)


def _to_distance(cosines: FloatArray) -> None:
    """Turn cosines into 1 − cosine clipped to [0, 2], in place."""
    np.clip(cosines, -1.0, 1.0, out=cosines)
    np.subtract(1.0, cosines, out=cosines)


@dataclass(frozen=True, slots=True, eq=False)
class _Forms:
    form: IntArray
    nodes: IntArray
    node_at: IntArray
    sources: IntArray
    targets: IntArray
    edge_at: IntArray
    terminals: IntArray
    terminal_at: IntArray


def _forms(
    pool: tuple[ReasoningGraph, ...],
    ids: IntArray,
    sizes: IntArray,
    starts: IntArray,
    n_vectors: int,
) -> _Forms:
    """Return the distinct graphs, their nodes and edges sorted by vector number."""
    graph = np.repeat(np.arange(len(pool)), sizes)
    nodes = np.sort(graph * n_vectors + ids)
    n_edges = np.array([g.n_edges for g in pool])
    ends = np.fromiter(
        itertools.chain.from_iterable(itertools.chain.from_iterable(g.edges for g in pool)),
        dtype=np.intp,
        count=2 * int(n_edges.sum()),
    ).reshape(-1, 2)
    owner = np.repeat(np.arange(len(pool)), n_edges)
    end_ids = ids[ends + starts[owner][:, None]]
    edges = np.sort((owner * n_vectors + end_ids[:, 0]) * n_vectors + end_ids[:, 1])
    n_ends = np.array([len(g.terminals) for g in pool])
    last = np.fromiter(itertools.chain.from_iterable(g.terminals for g in pool), dtype=np.intp)
    last_owner = np.repeat(np.arange(len(pool)), n_ends)
    terminals = np.sort(last_owner * n_vectors + ids[last + starts[last_owner]])

    nodes -= graph * n_vectors
    edges -= owner * n_vectors * n_vectors
    terminals -= last_owner * n_vectors
    of_nodes = np.split(nodes, starts[1:-1])
    of_edges = np.split(edges, np.cumsum(n_edges)[:-1])
    of_ends = np.split(terminals, np.cumsum(n_ends)[:-1])
    keys = [
        (-len(v), -len(e), v.tobytes(), e.tobytes(), t.tobytes())
        for v, e, t in zip(of_nodes, of_edges, of_ends, strict=True)
    ]
    place = {key: i for i, key in reversed(list(enumerate(keys)))}
    ordered = sorted(place)
    number = {key: f for f, key in enumerate(ordered)}
    chosen = [place[key] for key in ordered]
    node_at = _offsets(sizes[chosen])
    edge_at = _offsets(n_edges[chosen])
    flat_nodes = np.concatenate([of_nodes[i] for i in chosen])
    flat_edges = np.concatenate([of_edges[i] for i in chosen])
    node_keys = np.repeat(np.arange(len(chosen)), sizes[chosen]) * n_vectors + flat_nodes
    base = np.repeat(np.arange(len(chosen)), n_edges[chosen]) * n_vectors
    return _Forms(
        np.array([number[key] for key in keys]),
        flat_nodes,
        node_at,
        np.searchsorted(node_keys, base + flat_edges // n_vectors),
        np.searchsorted(node_keys, base + flat_edges % n_vectors),
        edge_at,
        np.concatenate([of_ends[i] for i in chosen]),
        _offsets(n_ends[chosen]),
    )


def _offsets(counts: IntArray) -> IntArray:
    return np.concatenate(([0], np.cumsum(counts)))


def _conclusions(
    distinct: FloatArray, lengths: FloatArray, terminals: IntArray, at: IntArray
) -> FloatArray:
    """Return the cosines of the forms' mean terminal vectors (unnormalised), shape (F, F)."""
    vectors = distinct[terminals]
    counts = np.diff(at)
    bounds = itertools.pairwise(at.tolist())
    means = np.stack([vectors[a:b].sum(axis=0) for a, b in bounds]) / counts[:, None]
    typical = np.add.reduceat(lengths[terminals], at[:-1]) / counts
    means[row_lengths(means) <= ZERO_MEAN * typical] = 0.0
    first, number = distinct_rows(means)
    unit = unit_rows(means[first])
    cosines = unit @ unit.T
    np.clip(cosines, -1.0, 1.0, out=cosines)
    np.fill_diagonal(cosines, 1.0)
    cosines = np.minimum(cosines, cosines.T)
    return cosines[np.ix_(number, number)]
