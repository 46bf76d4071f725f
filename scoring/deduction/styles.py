"""Does the wording of the prefix matter: two styles compared over the same cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.deduction.cells import Cell
from scoring.types import FloatArray

STYLES = ("original", "plain", "axioms", "effect_first")
"""Styles of the prefix: the model's own, a plain paraphrase, axioms, effect before cause."""


@dataclass(frozen=True, slots=True)
class TTest:
    """A two-sided t-test; every field None when undefined, with the reason."""

    t: float | None
    df: float | None
    p: float | None
    why_undefined: str | None


@dataclass(frozen=True, slots=True)
class StyleComparison:
    """Two styles over the same observations.

    Attributes
    ----------
    mean_a, mean_b
        Means of the paired observations; None without any.
    difference
        mean_a - mean_b.
    paired
        Paired t-test, n - 1 degrees of freedom.
    welch
        Welch's test, which ignores the pairing.
    cohens_d
        difference / pooled standard deviation (ddof 1); None when undefined.
    n
        Pairs used.
    dropped
        Pairs left out because a side is None.
    """

    mean_a: float | None
    mean_b: float | None
    difference: float | None
    paired: TTest
    welch: TTest
    cohens_d: float | None
    n: int
    dropped: int


def compare_styles(
    a: Sequence[float | bool | None], b: Sequence[float | bool | None]
) -> StyleComparison:
    """Compare paired observations of two styles.

    Parameters
    ----------
    a, b : sequence
        One value per observation in the same order, e.g. right or not; None = missing.

    Returns
    -------
    StyleComparison
        Tests are undefined with fewer than two pairs, or without any spread.

    Raises
    ------
    ValueError
        When the lengths differ or a value is not finite.

    Notes
    -----
    With differences d: t = mean(d)/(sd(d)/√n). Welch: (ā - b̄)/√(s²_a/n + s²_b/n) with
    Satterthwaite's degrees of freedom. Cohen's d = (ā - b̄)/√((s²_a + s²_b)/2). Observations of
    one problem are not independent, so these p-values are too small when problems are few: read
    them with the effect size.

    References
    ----------
    Paper C, sections 5.3 (H3) and A.2. Cohen (1988), Statistical power analysis, chapter 2.

    Examples
    --------
    >>> c = compare_styles([1] * 80 + [0] * 20, [0] * 25 + [1] * 75)
    >>> round(c.paired.t, 6), round(c.welch.t, 6), round(c.cohens_d, 6)
    (0.743689, 0.843937, 0.119351)
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} observations against {len(b)}: they must be paired")
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    x: FloatArray = np.array([p[0] for p in pairs], dtype=np.float64)
    y: FloatArray = np.array([p[1] for p in pairs], dtype=np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("an observation is not finite: give a number or None")
    n, dropped = len(pairs), len(a) - len(pairs)
    if n < 2:
        none = TTest(None, None, None, f"a test needs two pairs, there are {n}")
        if n == 0:
            return StyleComparison(None, None, None, none, none, None, n, dropped)
        first, second = float(x[0]), float(y[0])
        return StyleComparison(first, second, first - second, none, none, None, n, dropped)
    gap = float(x.mean() - y.mean())
    va, vb = float(x.var(ddof=1)), float(y.var(ddof=1))
    pooled = math.sqrt((va + vb) / 2)
    return StyleComparison(
        mean_a=float(x.mean()),
        mean_b=float(y.mean()),
        difference=gap,
        paired=_paired(x - y),
        welch=_welch(gap, va / n, vb / n, n),
        cohens_d=gap / pooled if pooled else None,
        n=n,
        dropped=dropped,
    )


def paired_observations(
    a: Iterable[Cell], b: Iterable[Cell], *, k_min: int = 1
) -> tuple[list[bool], list[bool]]:
    """Return the observations that two styles share, in the same order.

    Parameters
    ----------
    a, b
        Cells of the two styles; problem, mutation, k and variable name an observation.
    k_min
        Shortest prefix that counts: without a prefix there is no style.

    Returns
    -------
    a, b : list of bool
        Whether each is right; a missing variable is wrong.

    Raises
    ------
    ValueError
        When a style has two cells for one observation.

    Examples
    --------
    >>> paired_observations([Cell(1, 1, True, "x")], [Cell(1, 1, None, "x")])
    ([True], [False])
    """
    first, second = _by_place(a, k_min), _by_place(b, k_min)
    common = [place for place in first if place in second]
    return [first[p] for p in common], [second[p] for p in common]


def _by_place(cells: Iterable[Cell], k_min: int) -> dict[tuple[str, int, int, str], bool]:
    out: dict[tuple[str, int, int, str], bool] = {}
    for c in cells:
        place = (c.problem, c.mutation, c.k, c.variable)
        if place in out:
            raise ValueError(f"two cells for {place}: one observation per style")
        if c.k >= k_min:
            out[place] = c.right is True
    return out


def _paired(d: FloatArray) -> TTest:
    """Test the mean difference: t = mean/(sd/√n) with n - 1 degrees of freedom."""
    spread = float(d.std(ddof=1))
    if spread == 0:
        return TTest(None, None, None, "every pair differs by the same amount")
    return _two_sided(float(d.mean()) / (spread / math.sqrt(len(d))), float(len(d) - 1))


def _welch(gap: float, va: float, vb: float, n: int) -> TTest:
    """Welch's t from the squared standard errors of both means."""
    if va + vb == 0:
        return TTest(None, None, None, "neither side varies")
    df = (va + vb) ** 2 / ((va**2 + vb**2) / (n - 1))
    return _two_sided(gap / math.sqrt(va + vb), df)


def _two_sided(t: float, df: float) -> TTest:
    from scipy.stats import t as student

    return TTest(t, df, float(2 * student.sf(abs(t), df)), None)
