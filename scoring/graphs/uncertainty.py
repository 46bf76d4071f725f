"""Baselines beside GRCS: redundancy, semantic entropy, the graph Laplacian (paper A)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scoring.types import FloatArray, ReasoningGraph

ROUNDING = 1e-9
"""Similarities and eigenvalues this close to a limit are at the limit."""

EIGENVALUE_LIMIT = 0.9
"""Eigenvectors of the Laplacian below it carry what the traces have in common (`Ecc`)."""

Unit = Literal["fact", "step"]
Estimator = Literal["rao", "monte_carlo"]


def redundancy(
    g: ReasoningGraph,
    *,
    source: int | Iterable[int] | None = None,
    sinks: int | Iterable[int] | None = None,
    unit: Unit = "fact",
) -> float:
    """Return the share of a graph's nodes that lie on no path to the conclusion.

    Parameters
    ----------
    g : ReasoningGraph
        The graph.
    source : int or iterable of int, optional
        Where a path must begin. None = anywhere.
    sinks : int or iterable of int, optional
        Where it must end. None = the conclusion: the terminals of the last step that has any,
        where the graph knows its facts, else all terminals.
    unit : {"fact", "step"}
        What is counted. A step is redundant when all its facts are. "step" needs facts.

    Returns
    -------
    float
        In [0, 1]; higher = more of the reasoning is not used. 1 where no path exists.

    Raises
    ------
    ValueError
        For a node outside the graph, no sink at all, or ``unit="step"`` without facts.

    Notes
    -----
    (n − |{v : source →* v →* sink}|) / n; ends of paths are on them. With every node of
    out-degree 0 as a sink nothing in an acyclic graph is redundant, hence the default of the
    *last* step. Where only the last fact of a step carries its edges on (``fact_edges="anchor"``)
    the other facts of every used step count as redundant: count steps there, or build the graph
    with ``fact_edges="all"``.

    References
    ----------
    Da et al. (2025), reasoning topology; paper A, section 4.

    Examples
    --------
    >>> g = ReasoningGraph([[1.0]] * 5, [(0, 1), (1, 4), (0, 2), (2, 3)])
    >>> redundancy(g, source=0, sinks=[4])
    0.4
    """
    if unit not in ("fact", "step"):
        raise ValueError(f"unit must be 'fact' or 'step', not {unit!r}")
    if unit == "step" and not g.facts:
        raise ValueError("unit 'step' needs facts: this graph has none, count facts instead")
    ends = set(_conclusion(g)) if sinks is None else _nodes(sinks, g.n_nodes, "sink")
    if not ends:
        raise ValueError("sinks is empty: name at least one conclusion, or give None")
    used = _reached(ends, g.n_nodes, [(v, u) for u, v in g.edges])
    if source is not None:
        used &= _reached(_nodes(source, g.n_nodes, "source"), g.n_nodes, list(g.edges))
    if unit == "step":
        steps = {f.step for f in g.facts}
        return (len(steps) - len({g.facts[v].step for v in used})) / len(steps)
    return (g.n_nodes - len(used)) / g.n_nodes


def _conclusion(g: ReasoningGraph) -> tuple[int, ...]:
    if not g.facts:
        return g.terminals
    last = max(g.facts[t].step for t in g.terminals)
    return tuple(t for t in g.terminals if g.facts[t].step == last)


def _nodes(given: int | Iterable[int], n: int, name: str) -> set[int]:
    nodes = {int(given)} if isinstance(given, int | np.integer) else {int(v) for v in given}
    for v in sorted(nodes):
        if not 0 <= v < n:
            raise ValueError(f"{name} {v} names a node outside 0..{n - 1}")
    return nodes


def _reached(starts: set[int], n: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Return the starts and every node reachable from them."""
    after: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        after[u].append(v)
    seen, waiting = set(starts), list(starts)
    while waiting:
        for v in after[waiting.pop()]:
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    return seen


def semantic_entropy(
    clusters: Iterable[Hashable | None],
    log_likelihoods: Iterable[float] | None = None,
    *,
    estimator: Estimator = "rao",
) -> float | None:
    """Return the entropy over meanings of sampled answers, in nats.

    Parameters
    ----------
    clusters : iterable of hashable or None, length n
        The meaning (for instance the normalised answer) of every sample; None = unparsed, left
        out.
    log_likelihoods : iterable of float, length n, optional
        Natural log of every sample's sequence probability, finite. None = every sample counts
        the same.
    estimator : {"rao", "monte_carlo"}
        How likelihoods are used: as shares of their sum, or as they are. Without likelihoods
        there is only one way and this is not looked at.

    Returns
    -------
    float or None
        An *uncertainty*: 0 = one meaning. In [0, ln(number of meanings)]; the Monte-Carlo form is
        unbounded, and negative where likelihoods sum to more than 1. None without any sample.

    Raises
    ------
    ValueError
        For lists of unequal length, a likelihood that is not finite, or an unknown estimator.

    Notes
    -----
    "rao": H = −Σ_c p_c ln p_c with p_c the share of samples, or Σ_{s∈c} eˡ / Σ eˡ.
    "monte_carlo": −(1/|C|) Σ_c ln Σ_{s∈c} eˡ over the meanings seen.

    References
    ----------
    Kuhn, Gal and Farquhar (2023), Semantic uncertainty; Farquhar et al. (2024), Detecting
    hallucinations in large language models using semantic entropy. Paper A, section 6.

    Examples
    --------
    >>> round(semantic_entropy([0, 0, 1, 2]), 6)
    1.039721
    >>> round(semantic_entropy([0, 0, 1, 2], [-1, -1.5, -2, -3]), 6)
    0.688234
    """
    if estimator not in ("rao", "monte_carlo"):
        raise ValueError(f"estimator must be 'rao' or 'monte_carlo', not {estimator!r}")
    names = list(clusters)
    logs = [0.0] * len(names) if log_likelihoods is None else [float(x) for x in log_likelihoods]
    if len(logs) != len(names):
        raise ValueError(f"{len(logs)} log-likelihoods for {len(names)} samples: one per sample")
    members: dict[Hashable, list[float]] = {}
    for place, (name, value) in enumerate(zip(names, logs, strict=True)):
        if not math.isfinite(value):
            raise ValueError(f"log-likelihood {place} is {value}: it must be finite")
        if name is not None:
            members.setdefault(name, []).append(value)
    if not members:
        return None
    by_cluster = [_log_sum(values) for values in members.values()]
    if log_likelihoods is not None and estimator == "monte_carlo":
        return -math.fsum(by_cluster) / len(by_cluster)
    whole = _log_sum([x for values in members.values() for x in values])
    shares = [(math.exp(x - whole), x - whole) for x in by_cluster]
    return max(0.0, -math.fsum(p * log_p for p, log_p in shares))


def _log_sum(logs: Sequence[float]) -> float:
    """Return ln Σ eˡ without leaving the range of floats."""
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs))


@dataclass(frozen=True, slots=True)
class Laplacian:
    """Spectral uncertainty of a pool; None where fewer than two traces leave nothing to compare.

    Attributes
    ----------
    eigv
        Σ max(0, 1 − λ): a number of meanings that need not be whole. An *uncertainty* in [1, m].
    deg
        1 − mean similarity: an *uncertainty* in [0, (m − 1)/m].
    ecc
        How far the traces lie from their centre in the space of the small eigenvalues: an
        *uncertainty* in [0, √(m − 1)].
    n
        Number of traces, m.
    flags
        ``fewer_than_two`` where everything is undefined.
    """

    eigv: float | None
    deg: float | None
    ecc: float | None
    n: int = 0
    flags: tuple[str, ...] = ()


def laplacian(similarity: ArrayLike) -> Laplacian:
    """Return three uncertainties from the graph Laplacian of a similarity matrix.

    Parameters
    ----------
    similarity : array_like, shape (m, m)
        W between traces: symmetric, in [0, 1], unit diagonal. Similarities that may be negative
        (1 − SS-GED, cosines) have to be clipped at 0 first: as a weight, less than nothing has no
        meaning.

    Returns
    -------
    Laplacian

    Raises
    ------
    ValueError
        Naming the cell that is not finite, outside [0, 1], asymmetric, or not 1 on the diagonal.

    Notes
    -----
    With D the diagonal matrix of W's row sums and L = I − D^−½ W D^−½, eigenvalues λ_k::

        EigV = Σ_k max(0, 1 − λ_k)
        Deg  = trace(m·I − D) / m²
        Ecc  = Frobenius norm of the eigenvectors with λ < 0.9, each centred on its mean

    Whole eigenspaces enter, so that the choice of a basis inside one changes nothing. An
    eigenvalue within 1e-9 of 0.9 does not count as below.

    References
    ----------
    Lin, Trivedi and Sun (2024), Generating with confidence, TMLR. Paper A, section 6.

    Examples
    --------
    >>> r = laplacian([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(r.eigv, 6), round(r.deg, 6), round(r.ecc, 6)
    (2.0, 0.444444, 1.0)
    """
    w = _checked_similarity(similarity)
    m = len(w)
    if m < 2:
        return Laplacian(None, None, None, m, ("fewer_than_two",))
    degree = w.sum(axis=1)
    root = np.sqrt(degree)
    values, vectors = np.linalg.eigh(np.eye(m) - w / (root[:, None] * root[None, :]))
    low = vectors[:, values < EIGENVALUE_LIMIT - ROUNDING]
    return Laplacian(
        max(1.0, math.fsum(np.maximum(0.0, 1.0 - values))),  # λ = 0 is always there
        math.fsum(m - degree) / m**2,
        float(np.linalg.norm(low - low.mean(axis=0))),
        m,
    )


def _checked_similarity(similarity: ArrayLike) -> FloatArray:
    w = np.array(similarity, dtype=np.float64)
    if w.size == 0:
        return np.zeros((0, 0))
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise ValueError(f"similarity must be a square matrix, not of shape {w.shape}")
    off = np.abs(np.diag(w) - 1.0)
    with np.errstate(invalid="ignore"):
        checks = (
            (~np.isfinite(w), "it must be finite"),
            (w < -ROUNDING, "it must not be negative (clip it at 0)"),
            (w > 1.0 + ROUNDING, "it must be at most 1"),
            (np.abs(w - w.T) > ROUNDING, "the matrix must be symmetric (average both directions)"),
            (np.diag(off > ROUNDING), "a trace has similarity 1 with itself"),
        )
    for wrong, rule in checks:
        if wrong.any():
            i, j = (int(x) for x in np.argwhere(wrong)[0])
            raise ValueError(f"similarity ({i}, {j}) is {w[i, j]}: {rule}")
    np.clip(w, 0.0, 1.0, out=w)
    return (w + w.T) / 2.0
