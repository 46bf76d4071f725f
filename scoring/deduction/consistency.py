"""Deductive consistency over prefixes and hops, with its means, base and decay."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scoring.deduction.cells import Cell
from scoring.deduction.decay import MIN_SHARE, DecayNorm, decay, kept_hops
from scoring.deduction.exact import Number

Missing = Literal["wrong", "skip"]
"""What a variable without a stated value counts as."""


@dataclass(frozen=True, slots=True)
class CellMean:
    """DedCons(k, l): the share of right variables at hop l after k steps.

    Attributes
    ----------
    k, l
    right
        Variables with the right value.
    n
        Variables counted.
    missing
        Variables the responses state no value for (counted in `n` unless skipped).
    value
        right/n in [0, 1], 1 = ideal; None when n is 0.
    """

    k: int
    l: int  # noqa: E741 - the paper's letter
    right: int
    n: int
    missing: int
    value: float | None


@dataclass(frozen=True, slots=True)
class HopMean:
    """Consistency at one hop, over prefixes.

    Attributes
    ----------
    hop
    mean
        Unweighted mean of DedCons(k, hop) over the prefixes that have it; None when none has.
    se
        Population standard deviation over the prefixes / √prefixes; None with fewer than two.
    prefixes
        Prefixes averaged.
    n
        Variables behind them.
    kept
        Whether the hop has enough observations to count for decay.
    """

    hop: int
    mean: float | None
    se: float | None
    prefixes: int
    n: int
    kept: bool


@dataclass(frozen=True, slots=True)
class PrefixMean:
    """Consistency at one prefix length, over the kept hops; fields as in `HopMean`."""

    k: int
    mean: float | None
    se: float | None
    hops: int
    n: int


@dataclass(frozen=True, slots=True)
class DedCons:
    """Deductive consistency of one model in one style.

    Attributes
    ----------
    cells
        One per (k, l) with observations, sorted; those below `k_min` too.
    hops
        Means per hop, from 1 to the last one observed.
    prefixes
        Means per prefix length.
    base
        Mean of hop 1, in [0, 1], 1 = ideal; None when there is none.
    decay
        See `decay`; over hops 1..`kept`; None when undefined.
    kept
        Number of hops kept (H).
    k_min
        Shortest prefix that counts in means, base and decay.
    n, missing
        Variables counted in the means, and those of them without a stated value.
    why_undefined
        Why base or decay is None, else None.
    """

    cells: tuple[CellMean, ...]
    hops: tuple[HopMean, ...]
    prefixes: tuple[PrefixMean, ...]
    base: float | None
    decay: float | None
    kept: int
    k_min: int
    n: int
    missing: int
    why_undefined: str | None


@dataclass(frozen=True, slots=True)
class Consistency:
    """Cons(d, k): the share of right variables or steps of one response.

    Attributes
    ----------
    value
        right/n in [0, 1], 1 = ideal; None when there is nothing to count.
    right, n, missing
        Counts, in the chosen unit.
    why_undefined
        The reason when the value is None.
    """

    value: float | None
    right: int
    n: int
    missing: int
    why_undefined: str | None


def ded_cons(
    cells: Iterable[Cell | tuple[int, int, bool | None]],
    *,
    k_min: int = 1,
    missing: Missing = "wrong",
    norm: DecayNorm = "table",
    min_share: Number | None = MIN_SHARE,
) -> DedCons:
    """Return deductive consistency by prefix and hop, with its means, base and decay.

    Parameters
    ----------
    cells : iterable of Cell or (k, l, right)
        One per variable checked.
    k_min
        Shortest prefix that counts in means, base and decay; the paper's tables start at 1.
    missing : {"wrong", "skip"}
        What a variable without a value counts as.
    norm
        Scale of decay, see `decay`.
    min_share
        A hop h is kept while n(1, h)/n(1, 1) exceeds it; None keeps all.

    Returns
    -------
    DedCons

    Raises
    ------
    ValueError
        When an option is unknown or a cell has k < 0 or l < 1.

    Notes
    -----
    DedCons(k, l) = right variables / variables first stated in step k + l. The mean of a hop is
    the unweighted mean over prefixes, so a prefix with few observations weighs as much as one
    with many. Observations, not responses, are counted for the rule on hops, also missing ones.

    References
    ----------
    Paper C, sections 3.2 and 5.3; tables 6, 12 and 18 to 21.

    Examples
    --------
    >>> d = ded_cons([(1, 1, True), (1, 1, True), (1, 2, True), (1, 2, None), (2, 1, False)])
    >>> d.base, round(d.hops[0].se, 4), d.decay, d.missing
    (0.5, 0.3536, 0.0, 1)
    """
    if missing not in ("wrong", "skip"):
        raise ValueError(f"missing={missing!r} must be 'wrong' or 'skip'")
    if k_min < 0:
        raise ValueError(f"k_min is {k_min}: it must be at least 0")
    table, seen = _tabulated(cells, missing)
    used = [c for c in table if c.k >= k_min]
    last = max((c.l for c in used), default=0)
    kept = last if min_share is None else min(kept_hops(seen, min_share=min_share), last)
    hops = tuple(_hop_mean(h, used, h <= kept) for h in range(1, last + 1))
    lengths = sorted({c.k for c in used})
    means = [_exact_mean([c for c in used if c.l == h]) for h in range(1, kept + 1)]
    base = hops[0].mean if hops else None
    slope = decay(means, norm=norm)
    return DedCons(
        cells=table,
        hops=hops,
        prefixes=tuple(_prefix_mean(k, used, kept) for k in lengths),
        base=base,
        decay=slope,
        kept=kept,
        k_min=k_min,
        n=sum(c.n for c in used),
        missing=sum(c.missing for c in used),
        why_undefined=_why(base, slope, last, kept),
    )


def cons(
    cells: Iterable[Cell],
    *,
    k: int = 0,
    unit: Literal["variable", "step"] = "variable",
    missing: Missing = "wrong",
) -> Consistency:
    """Return the consistency of one response, Cons(d, k); with k = 0 it is Cons(d).

    Parameters
    ----------
    cells
        Cells of responses to one problem; only those with this k count.
    k
        Steps given as prefix.
    unit : {"variable", "step"}
        What is counted. A step is right when every variable it states first is; it is missing
        when none of them is stated.
    missing : {"wrong", "skip"}
        What a variable without a value counts as.

    Returns
    -------
    Consistency

    References
    ----------
    Paper C, section 3.1.

    Examples
    --------
    >>> cons([Cell(0, 1, True), Cell(0, 1, False), Cell(0, 2, True)]).value
    0.6666666666666666
    >>> cons([Cell(0, 1, True), Cell(0, 1, False), Cell(0, 2, True)], unit="step").value
    0.5
    """
    if unit not in ("variable", "step") or missing not in ("wrong", "skip"):
        raise ValueError(f"unit={unit!r} or missing={missing!r} is unknown")
    flags: list[bool | None]
    chosen = [c for c in cells if c.k == k]
    if unit == "variable":
        flags = [c.right for c in chosen]
    else:
        steps: dict[tuple[str, int, int], list[bool | None]] = defaultdict(list)
        for c in chosen:
            steps[c.problem, c.mutation, c.l].append(c.right)
        flags = [_step_flag(f, missing) for f in steps.values()]
    absent = sum(f is None for f in flags)
    n = len(flags) - (absent if missing == "skip" else 0)
    right = sum(f is True for f in flags)
    why = None if n else f"no variable to check after {k} steps"
    return Consistency(right / n if n else None, right, n, absent, why)


def _tabulated(
    cells: Iterable[Cell | tuple[int, int, bool | None]], missing: Missing
) -> tuple[tuple[CellMean, ...], Mapping[tuple[int, int], int]]:
    """Return the table, and the observations per cell with the missing ones."""
    right: dict[tuple[int, int], int] = defaultdict(int)
    absent: dict[tuple[int, int], int] = defaultdict(int)
    seen: dict[tuple[int, int], int] = defaultdict(int)
    for one in cells:
        cell = one if isinstance(one, Cell) else Cell(*one)
        place = (cell.k, cell.l)
        seen[place] += 1
        right[place] += cell.right is True
        absent[place] += cell.right is None
    table = []
    for k, hop in sorted(seen):
        gone = absent[k, hop]
        n = seen[k, hop] - (gone if missing == "skip" else 0)
        value = right[k, hop] / n if n else None
        table.append(CellMean(k, hop, right[k, hop], n, gone, value))
    return tuple(table), seen


def _shares(cells: Sequence[CellMean]) -> list[Fraction]:
    return [Fraction(c.right, c.n) for c in cells if c.n]


def _exact_mean(cells: Sequence[CellMean]) -> Fraction | None:
    shares = _shares(cells)
    return sum(shares, Fraction(0)) / len(shares) if shares else None


def _standard_error(cells: Sequence[CellMean]) -> float | None:
    """Return the population standard deviation over the cells / √cells."""
    shares, mean = _shares(cells), _exact_mean(cells)
    if mean is None or len(shares) < 2:
        return None
    variance = sum(((s - mean) ** 2 for s in shares), Fraction(0)) / len(shares)
    return math.sqrt(variance / len(shares))


def _hop_mean(hop: int, used: Sequence[CellMean], kept: bool) -> HopMean:
    mine = [c for c in used if c.l == hop and c.n]
    mean = _exact_mean(mine)
    return HopMean(
        hop=hop,
        mean=None if mean is None else float(mean),
        se=_standard_error(mine),
        prefixes=len(mine),
        n=sum(c.n for c in mine),
        kept=kept,
    )


def _prefix_mean(k: int, used: Sequence[CellMean], kept: int) -> PrefixMean:
    mine = [c for c in used if c.k == k and c.l <= kept and c.n]
    mean = _exact_mean(mine)
    return PrefixMean(
        k=k,
        mean=None if mean is None else float(mean),
        se=_standard_error(mine),
        hops=len(mine),
        n=sum(c.n for c in mine),
    )


def _step_flag(flags: Sequence[bool | None], missing: Missing) -> bool | None:
    given = [f for f in flags if f is not None]
    if not given:
        return None
    return all(given) and (missing == "skip" or len(given) == len(flags))


def _why(base: float | None, slope: float | None, last: int, kept: int) -> str | None:
    if not last:
        return "no cell with a prefix long enough"
    if base is None:
        return "no variable was checked at hop 1"
    if slope is None:
        return f"decay needs two hops with enough observations; there are {kept}"
    return None
