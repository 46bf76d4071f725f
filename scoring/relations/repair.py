"""The fewest edits that make answers consistent, with a certificate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from scoring.relations._edges import Edge, Edges, checked_edges, checked_size, is_acyclic
from scoring.relations.cycles import CyclePacking, pack_cycles
from scoring.relations.inconsistency import inconsistency

Mend = Literal["reverse", "drop"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One statement to be mended.

    Attributes
    ----------
    edge
        (u, v) as stated.
    answers
        How many answers state it.
    mended
        (v, u), or None when it is dropped.
    """

    edge: Edge
    answers: int
    mended: Edge | None


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits after which the answers fit one order.

    Attributes
    ----------
    edits
        One per reverse statement, sorted.
    edges
        The answers after the edits, in the order given, self-loops left out; acyclic.
    order
        An order that all of them fit.
    cost
        Answers edited.
    lower_bound
        Proved: no repair edits fewer answers.
    optimal
        Whether cost equals the bound.
    packing
        Cycles without a common answer: each needs an edit of its own, so anyone can check that at
        least ``packing.lower_bound`` edits are needed. None with trusted edges, to which the
        packing does not speak.
    selfloops
        Answers about an object and itself, dropped.
    """

    edits: tuple[Edit, ...]
    edges: tuple[Edge, ...]
    order: tuple[int, ...]
    cost: int
    lower_bound: int
    optimal: bool
    packing: CyclePacking | None
    selfloops: int

    @property
    def gap(self) -> int:
        """Cost - lower_bound: by how many edits the repair could be too long at most."""
        return self.cost - self.lower_bound


def repair(
    edges: Edges,
    n: int,
    *,
    trusted: Edges = (),
    mend: Mend = "reverse",
    time_limit: float = 10.0,
) -> Repair:
    """Reverse (or drop) the fewest answers that make the rest fit one order.

    Parameters
    ----------
    edges : iterable of (u, v)
        Answers "u before v" about objects 0..n-1.
    n : int
        Number of objects.
    trusted : iterable of (u, v)
        Relations the order must keep.
    mend : {"reverse", "drop"}
        What happens to a reverse answer.
    time_limit : float
        Seconds for the search, positive.

    Returns
    -------
    Repair

    Raises
    ------
    ValueError
        As `inconsistency`; when `mend` is unknown.

    Notes
    -----
    Reversing the edges against an order makes all edges fit it, hence acyclic; dropping fewer than
    the minimum feedback arc set, or reversing fewer, leaves a cycle.

    References
    ----------
    Paper B, section 4.5.1 and theorem A.8.

    Examples
    --------
    >>> fixed = repair([(0, 1), (1, 2), (2, 0)], 3)
    >>> fixed.edits, fixed.optimal, fixed.packing.lower_bound
    ((Edit(edge=(2, 0), answers=1, mended=(0, 2)),), True, 1)
    """
    if mend not in get_args(Mend):
        raise ValueError(f"mend is {mend!r}: it must be 'reverse' or 'drop'")
    size = checked_size(n)
    known = [(e[0], e[1]) for e in trusted]
    kept, loops = checked_edges(edges, size)
    found = inconsistency(kept, size, trusted=known, time_limit=time_limit)
    wrong = Counter(found.reverse_edges)
    edits = tuple(
        Edit((u, v), times, (v, u) if mend == "reverse" else None)
        for (u, v), times in sorted(wrong.items())
    )
    fixed = tuple(
        (v, u) if (u, v) in wrong else (u, v)
        for u, v in kept
        if mend == "reverse" or (u, v) not in wrong
    )
    if not is_acyclic(fixed, size):
        raise RuntimeError("the repaired answers contain a cycle: the order is not one")
    lower = found.lower_bound or 0
    return Repair(
        edits=edits,
        edges=fixed,
        order=found.order,
        cost=found.reverse,
        lower_bound=lower,
        optimal=found.reverse == lower,
        packing=None if known else pack_cycles(kept, size),
        selfloops=loops,
    )
