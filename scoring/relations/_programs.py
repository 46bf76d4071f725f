"""Linear and integer programs through scipy, which is imported only when one is solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.relations._edges import IntArray
from scoring.types import FloatArray

INFEASIBLE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What the solver returned.

    Attributes
    ----------
    status
        0 optimal, 1 out of time, 2 infeasible, others as scipy has them.
    x
        The best point found, or None.
    value
        Its cost, or None.
    bound
        Proved lower bound of the cost, or minus infinity.
    prices
        Reduced costs at lower bounds (linear programs), else None.
    """

    status: int
    x: FloatArray | None
    value: float | None
    bound: float
    prices: FloatArray | None


def sparse(rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix in compressed rows."""
    from scipy.sparse import coo_array

    return coo_array((values, (rows, columns)), shape=shape).tocsr()


def linear_program(
    costs: FloatArray,
    matrix: Any,
    at_least: FloatArray,
    bounds: Sequence[tuple[float | None, float | None]],
    time_limit: float = math.inf,
) -> Solved:
    """Minimise costs x with matrix x >= at_least within bounds."""
    import scipy.optimize

    # Any: the type stubs know no sparse matrix here, which scipy documents and takes.
    linprog: Any = scipy.optimize.linprog
    limits = {} if math.isinf(time_limit) else {"time_limit": time_limit}
    r = linprog(costs, A_ub=-matrix, b_ub=-at_least, bounds=bounds, method="highs", options=limits)
    if r.status != 0:
        return Solved(int(r.status), None, None, -math.inf, None)
    prices = np.asarray(r.lower.marginals, dtype=np.float64)
    return Solved(0, np.asarray(r.x, dtype=np.float64), float(r.fun), float(r.fun), prices)


def binary_program(
    costs: FloatArray, matrix: Any, at_least: float, at_most_cost: float, time_limit: float
) -> Solved:
    """Minimise costs x over binary x with matrix x >= at_least and costs x <= at_most_cost."""
    import scipy.optimize

    milp: Any = scipy.optimize.milp
    r = milp(
        costs,
        integrality=np.ones(len(costs)),
        bounds=scipy.optimize.Bounds(0.0, 1.0),
        constraints=[
            scipy.optimize.LinearConstraint(matrix, at_least, np.inf),
            scipy.optimize.LinearConstraint(costs[None, :], -np.inf, at_most_cost),
        ],
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    bound = -math.inf if r.mip_dual_bound is None else float(r.mip_dual_bound)
    x: FloatArray | None = None if r.x is None else np.asarray(r.x, dtype=np.float64).round()
    value = None if x is None else float(costs @ x)
    return Solved(int(r.status), x, value, bound if math.isfinite(bound) else -math.inf, None)
