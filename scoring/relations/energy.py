"""The energy method: coordinates that satisfy as many stated relations as they can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.relations._edges import BoolArray, Edge, count_matrix, sorted_topologically
from scoring.relations._programs import linear_program, sparse
from scoring.types import FloatArray

STEPS = 2000
RATE = 0.05
TIE_WITHIN = 0.01
"""Coordinates nearer than this are ties: optimal ones coincide in groups, and the descent ends a
few thousandths beside them, while a relation that is kept asks for a distance of 1."""


@dataclass(frozen=True, slots=True, eq=False)
class EnergyOrder:
    """Coordinates found by gradient descent, and how good they could be at best.

    Attributes
    ----------
    order
        Objects by ascending coordinate, then number, never against the trusted edges.
    coordinates
        One per object.
    energy
        Σ max(0, 1 + x_u - x_v) over the answers at these coordinates.
    optimum
        The least energy any coordinates have (that keep trusted objects at least 1 apart).
    trace
        The energy being descended, before the first step and after each; its least value is where
        the coordinates come from.
    keys
        Rank of each object's group of coordinates; ties have equal keys.
    tied
        Objects that share their group with another.
    """

    order: tuple[int, ...]
    coordinates: FloatArray
    energy: float
    optimum: float
    trace: tuple[float, ...]
    keys: tuple[float, ...]
    tied: int


def energy_order(edges: Sequence[Edge], n: int, known: BoolArray, seed: int = 0) -> EnergyOrder:
    """Place the objects on a line by the paper's start and gradient descent.

    Parameters
    ----------
    edges : sequence of (u, v)
        Answers "u before v", no self-loops.
    n : int
        Number of objects.
    known : ndarray of bool, shape (n, n)
        Closure of the trusted edges.
    seed : int
        For the random start.

    Returns
    -------
    EnergyOrder

    Notes
    -----
    E(x) = Σ max(0, 1 + x_u - x_v). Start: objects one after the other at random in [0, 1], mirrored
    at x_j (x_k becomes 1.5 x_j - 0.5 x_k) for each answer about an earlier object j that the place
    contradicts. Then x -= rate ∂E, the rate falling linearly from 0.05 to 0 over 2000 steps (the
    paper gives none), at most until no relation pulls; the best coordinates passed are kept, for a
    hinge's descent is not monotone. Trusted edges pull with the weight of all answers about one
    object, and the result is shifted, object by object, so that each holds with distance 1.

    References
    ----------
    Paper B, section 4.6.
    """
    weights = count_matrix(edges, n).astype(np.float64)
    pulls = weights + known * max(1.0, float((weights + weights.T).sum(axis=1).max(initial=0.0)))
    x, trace = _descend(_sequential_start(edges, n, seed), pulls)
    x = _apart(x, known)
    keys = _groups(x)
    order = sorted_topologically(known, [(float(p), float(v)) for v, p in enumerate(x)])
    return EnergyOrder(
        order=tuple(order),
        coordinates=x,
        energy=_energy(x, weights),
        optimum=_optimum(weights, known),
        trace=tuple(trace),
        keys=keys,
        tied=n - sum(1 for k in set(keys) if keys.count(k) == 1),
    )


def _groups(x: FloatArray) -> tuple[float, ...]:
    """Return the rank of each coordinate's group; neighbours within TIE_WITHIN share a group."""
    by_place = np.argsort(x, kind="stable")
    rank = np.empty(len(x))
    rank[by_place] = np.concatenate(([0], np.cumsum(np.diff(x[by_place]) >= TIE_WITHIN)))[: len(x)]
    return tuple(rank.tolist())


def _energy(x: FloatArray, weights: FloatArray) -> float:
    return float((weights * np.maximum(0.0, 1.0 + x[:, None] - x)).sum())


def _sequential_start(edges: Sequence[Edge], n: int, seed: int) -> FloatArray:
    """Return the paper's start: each new object mirrored at those its answers contradict."""
    earlier: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for u, v in edges:
        new, old = max(u, v), min(u, v)
        earlier[new].append((old, 1 if new == u else -1))
    x: FloatArray = np.random.default_rng(seed).random(n)
    for k in range(n):
        for old, side in earlier[k]:
            # side 1: "k before old"; -1: "old before k".
            if side * (x[k] - x[old]) > 0:
                x[k] = 1.5 * x[old] - 0.5 * x[k]
    return x


def _descend(x: FloatArray, pulls: FloatArray) -> tuple[FloatArray, list[float]]:
    """Return the best coordinates passed and the energy before and after every step."""
    best, best_energy = x, np.inf
    trace: list[float] = []
    for step in range(STEPS + 1):
        gap = 1.0 + x[:, None] - x
        energy = float((pulls * np.maximum(0.0, gap)).sum())
        trace.append(energy)
        if energy < best_energy:
            best, best_energy = x, energy
        active = pulls * (gap > 0)
        slope = active.sum(axis=1) - active.sum(axis=0)
        if step == STEPS or not slope.any():
            break
        x = x - RATE * (1.0 - step / STEPS) * slope
    return best, trace


def _apart(x: FloatArray, known: BoolArray) -> FloatArray:
    """Move objects up until each trusted pair is in order and at least 1 apart."""
    if not known.any():
        return x
    moved = x.copy()
    for v in sorted_topologically(known, [(float(k),) for k in x]):
        before = known[:, v]
        if before.any():
            moved[v] = max(moved[v], float(moved[before].max()) + 1.0)
    return moved


def _optimum(weights: FloatArray, known: BoolArray) -> float:
    """Return min Σ w_e s_e with s_e >= 1 + x_u - x_v, s_e >= 0, x_v - x_u >= 1 where trusted."""
    tails, heads = np.nonzero(weights)
    m, n = len(tails), len(weights)
    if m == 0:
        return 0.0
    # x_v - x_u + s_e >= 1 per kind of answer, then x_v - x_u >= 1 per trusted pair.
    low, high = np.nonzero(known)
    k = len(low)
    rows = np.arange(m + k)
    matrix = sparse(
        np.concatenate([rows, rows, rows[:m]]),
        np.concatenate([tails, low, heads, high, n + np.arange(m)]),
        np.concatenate([-np.ones(m + k), np.ones(m + k), np.ones(m)]),
        (m + k, n + m),
    )
    costs = np.concatenate([np.zeros(n), weights[tails, heads]])
    limits: list[tuple[float | None, float | None]] = [(None, None)] * n + [(0.0, None)] * m
    solved = linear_program(costs, matrix, np.ones(m + k), limits)
    if solved.value is None:
        raise RuntimeError(f"the linear program of {m} answers ended with status {solved.status}")
    # Totally unimodular constraints and whole-number weights: the optimum is a whole number.
    return float(round(solved.value))
