"""How far a set of ordering answers contradicts itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from scoring.relations._edges import (
    BoolArray,
    Edge,
    Edges,
    checked_edges,
    checked_size,
    count_matrix,
    reverse_edges,
    trusted_closure,
)
from scoring.relations.energy import energy_order
from scoring.relations.exact import exact_order
from scoring.relations.order import (
    component_blocks,
    component_order,
    degree_keys,
    in_degree_order,
    local_order,
    tie_range,
)

Method = Literal["in_degree", "scc", "local", "exact", "energy"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """An order of the objects and the answers against it.

    Attributes
    ----------
    score
        2 reverse / edges; 0 = consistent, 1 = no better than a coin for the best order; a poor
        order's score may exceed 1. None when there is no edge.
    reverse
        Answers against the order.
    reverse_edges
        These answers as (u, v), "u before v", sorted, repeats kept.
    edges
        Answers used, self-loops left out.
    order
        Objects from first to last.
    coverage
        edges / (n(n - 1)); above 1 when pairs were asked more than once; None for n < 2.
    lower_bound
        `exact`: reverse answers that every order has at least; else None.
    proved
        `exact`: whether `reverse` is the minimum; else None.
    selfloops
        Answers about an object and itself, dropped.
    tie_range
        `in_degree`, `scc`, `energy`: least and greatest score over the given and 200 random
        numberings of the objects, which decide among ties; None for other methods or no edge.
    energy, energy_optimum, energy_trace
        `energy`: energy reached, least energy possible (linear programming), energy over the
        iterations; else None.
    tied
        `energy`: objects whose coordinate another object shares (within 0.01); else None.
    method
        The method that made it.
    """

    score: float | None
    reverse: int
    reverse_edges: tuple[Edge, ...]
    edges: int
    order: tuple[int, ...]
    coverage: float | None
    lower_bound: int | None
    proved: bool | None
    selfloops: int
    tie_range: tuple[float, float] | None
    energy: float | None
    energy_optimum: float | None
    energy_trace: tuple[float, ...] | None
    tied: int | None
    method: Method

    @property
    def fraction(self) -> float | None:
        """Reverse / edges; with a complete trusted order this is the error rate."""
        return self.reverse / self.edges if self.edges else None

    @property
    def literal(self) -> float | None:
        """Reverse / (n(n - 1)/2), the paper's printed formula; None without an edge."""
        n = len(self.order)
        return self.reverse / (n * (n - 1) / 2) if self.edges else None

    @property
    def lower_score(self) -> float | None:
        """2 lower_bound / edges: no order scores less; None for other methods or no edge."""
        return None if self.lower_bound is None else _score(self.lower_bound, self.edges)

    @property
    def why_undefined(self) -> str | None:
        """The reason when there is no score, else None."""
        return None if self.edges else "no answer to score"


def inconsistency(
    edges: Edges,
    n: int,
    *,
    method: Method = "exact",
    trusted: Edges = (),
    time_limit: float = 10.0,
    seed: int = 0,
) -> Inconsistency:
    """Score the contradictions in answers "u comes before v".

    Parameters
    ----------
    edges : iterable of (u, v)
        A multiset of answers about objects 0..n-1; self-loops are dropped and counted.
    n : int
        Number of objects.
    method : {"exact", "local", "scc", "in_degree", "energy"}
        How the order is found. `exact` does not depend on how objects are numbered.
    trusted : iterable of (u, v)
        Relations known to be true; the order keeps them and they are not counted as answers.
    time_limit : float
        Seconds for `exact`, positive; after that the best order and the proved bound are given.
    seed : int
        For the random start of `energy` and the numberings of `tie_range`.

    Returns
    -------
    Inconsistency

    Raises
    ------
    ValueError
        On an edge outside 0..n-1, contradictory trusted edges, an unknown method or a time limit
        that is not positive.

    Notes
    -----
    score = 2 rev(order)/|E|; lower is better. `exact`: minimum feedback arc set. `scc`: components
    in topological order, inside one by in-degree - out-degree. `in_degree`: the paper's ranking.
    `local`: insertion search from both. `energy`: see `energy_order`. Trusted edges lie between the
    two cases the paper gives: with none the score is its inconsistency, with a complete order
    `fraction` is its error rate.

    References
    ----------
    Paper B, sections 3 and 4.6, appendix A.2.

    Examples
    --------
    >>> r = inconsistency([(0, 1), (1, 2), (2, 0), (0, 2)], 3)
    >>> r.score, r.reverse, r.order, r.reverse_edges, r.proved
    (0.5, 1, (0, 1, 2), ((2, 0),), True)
    >>> inconsistency([(0, 1), (1, 0)], 2, trusted=[(1, 0)]).order
    (1, 0)
    """
    size = checked_size(n)
    if method not in METHODS:
        raise ValueError(f"method is {method!r}: it must be one of {', '.join(METHODS)}")
    if not time_limit > 0:
        raise ValueError(f"time_limit is {time_limit}: it must be a positive number of seconds")
    kept, loops = checked_edges(edges, size)
    known = trusted_closure(trusted, size)
    found = _ordered(kept, size, known, method, time_limit, seed)
    total = len(kept)
    reverse = reverse_edges(kept, found.order)
    return Inconsistency(
        score=_score(len(reverse), total),
        reverse=len(reverse),
        reverse_edges=reverse,
        edges=total,
        order=found.order,
        coverage=total / (size * (size - 1)) if size > 1 else None,
        lower_bound=found.lower_bound,
        proved=found.proved,
        selfloops=loops,
        tie_range=_tie_scores(found.ties, len(reverse), total),
        energy=found.energy,
        energy_optimum=found.optimum,
        energy_trace=found.trace,
        tied=found.tied,
        method=method,
    )


def _tie_scores(
    ties: tuple[int, int] | None, reverse: int, edges: int
) -> tuple[float, float] | None:
    """Return the scores of the range, the given numbering's own included."""
    if ties is None or not edges:
        return None
    return 2 * min(ties[0], reverse) / edges, 2 * max(ties[1], reverse) / edges


def _score(reverse: int, edges: int) -> float | None:
    return 2 * reverse / edges if edges else None


@dataclass(frozen=True, slots=True)
class _Found:
    """What a method found; what it does not compute is None."""

    order: tuple[int, ...]
    lower_bound: int | None = None
    proved: bool | None = None
    ties: tuple[int, int] | None = None
    energy: float | None = None
    optimum: float | None = None
    trace: tuple[float, ...] | None = None
    tied: int | None = None


def _ordered(
    edges: tuple[Edge, ...],
    n: int,
    known: BoolArray,
    method: Method,
    time_limit: float,
    seed: int,
) -> _Found:
    """Return what the method finds."""
    counts = count_matrix(edges, n)
    if method == "exact":
        best = exact_order(counts, known, time_limit)
        return _Found(best.order, best.lower_bound, best.proved)
    if method == "local":
        return _Found(tuple(local_order(counts, known)))
    whole = [list(range(n))] if n else []
    if method == "energy":
        placed = energy_order(edges, n, known, seed)
        ties = tie_range(counts, placed.keys, whole, known, seed)
        return _Found(
            placed.order,
            ties=ties,
            energy=placed.energy,
            optimum=placed.optimum,
            trace=placed.trace,
            tied=placed.tied,
        )
    keys = degree_keys(counts, net=method == "scc")
    blocks = component_blocks(counts, known) if method == "scc" else whole
    order = (component_order if method == "scc" else in_degree_order)(counts, known)
    return _Found(tuple(order), ties=tie_range(counts, keys, blocks, known, seed))
