"""Linear assignment solvers: scipy's always, lapx's where it is installed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scoring.types import FloatArray

Solver = Literal["auto", "scipy", "lapx"]
Assign = Callable[[FloatArray], tuple[NDArray[Any], NDArray[Any]]]


def assignment_solver(solver: Solver = "auto") -> Assign:
    """Return a function from a cost matrix to the (rows, columns) of a cheapest assignment.

    Parameters
    ----------
    solver : {"auto", "scipy", "lapx"}
        "auto" takes lapx where it can be imported and scipy elsewhere.

    Returns
    -------
    callable
        Every row or every column (the smaller side) is matched; rows ascend.

    Raises
    ------
    ValueError
        For another name, or for "lapx" where it is not installed.

    Notes
    -----
    Where several assignments are cheapest the solvers may return different ones: their costs
    agree up to rounding, about 1e-15 per matched pair, not to the bit.

    Examples
    --------
    >>> import numpy as np
    >>> rows, cols = assignment_solver("scipy")(np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> cols.tolist()
    [1, 0]
    """
    if solver not in ("auto", "scipy", "lapx"):
        raise ValueError(f"solver must be 'auto', 'scipy' or 'lapx', not {solver!r}")
    lapx = None if solver == "scipy" else _lapx()
    if lapx is not None:
        return lapx
    if solver == "lapx":
        raise ValueError("solver 'lapx' is not installed: install lapx, or use 'auto' or 'scipy'")
    return _scipy()


def solver_here() -> Solver:
    """Return the solver that "auto" takes on this machine, by its name.

    Processes that must agree to the bit are given the name.
    """
    return "scipy" if _lapx() is None else "lapx"


@functools.cache
def _scipy() -> Assign:
    """Return scipy's solver; imported on first use because scipy.optimize is slow to load."""
    assign: Assign = importlib.import_module("scipy.optimize").linear_sum_assignment
    return assign


@functools.cache
def _lapx() -> Assign | None:
    """Return lapx's solver, or None where the module is missing or too old to have it."""
    try:
        lapjvh = importlib.import_module("lap").lapjvh
    except (ImportError, AttributeError):
        return None

    def assign(cost: FloatArray) -> tuple[NDArray[Any], NDArray[Any]]:
        rows, cols = lapjvh(cost, extend_cost=True, return_cost=False)
        return np.asarray(rows), np.asarray(cols)

    return assign
