"""How deductive consistency falls with the number of hops: decay, and which hops count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from scoring.deduction.exact import Number, exact

DecayNorm = Literal["table", "equation", "per_hop"]
"""How hops are scaled before the line is fitted."""

MIN_SHARE = Fraction(1, 5)
"""A hop counts while its observations exceed this share of the first hop's."""


def decay(hop_means: Sequence[Number | None], *, norm: DecayNorm = "table") -> float | None:
    """Return the decay of consistency over hops: the negative slope of the fitted line.

    Parameters
    ----------
    hop_means : sequence
        Mean consistency at hop 1, 2, …, H, each in [0, 1]; None where a hop has none.
    norm : {"table", "equation", "per_hop"}
        x of hop h: h/H; (h - 1)/(H - 1); or h itself.

    Returns
    -------
    float or None
        0 for an ideal reasoner, positive when consistency falls. None with fewer than two means.

    Raises
    ------
    ValueError
        When a mean is outside [0, 1] or the norm unknown.

    Notes
    -----
    ``-Σ (x_h - x̄)(m_h - m̄) / Σ (x_h - x̄)²``, summed exactly (a float counts as the decimal that
    prints as it). ``table`` gives all 32 decays published for GSM8K to the printed digit.
    ``equation`` is the formula as printed, with hops from 0: (H - 1)/H times that. Because x is
    scaled by H, values for different H cannot be compared; ``per_hop`` is the loss per hop.
    The decays published for SynDeduct (tables 1 and 2) follow from none of the three.

    References
    ----------
    Paper C, section 3.2 (last equation) and table 11.

    Examples
    --------
    >>> decay([0.89, 0.8274, 0.7909, 0.7669, 0.7079])
    0.21235
    >>> decay([1, 1, 1]), decay([0.9]) is None
    (0.0, True)
    """
    if norm not in ("table", "equation", "per_hop"):
        raise ValueError(f"norm={norm!r} must be 'table', 'equation' or 'per_hop'")
    points = []
    for h, mean in enumerate(hop_means, start=1):
        if mean is not None:
            value = mean if isinstance(mean, Fraction) else exact(mean, f"the mean of hop {h}")
            if not 0 <= value <= 1:
                raise ValueError(f"the mean of hop {h} is {mean}: it must be in [0, 1]")
            points.append((h, value))
    if len(points) < 2:
        return None
    scale = {"table": len(hop_means), "equation": len(hop_means) - 1, "per_hop": 1}[norm]
    return float(-_slope(points) * scale)


def kept_hops(counts: Mapping[tuple[int, int], int], *, min_share: Number = MIN_SHARE) -> int:
    """Return H: hops 1..H have enough observations to be averaged.

    Parameters
    ----------
    counts
        Observations per cell (k, l).
    min_share
        Hop h is kept while n(1, h)/n(1, 1) exceeds it; 0 keeps every hop the one-step prefix
        reaches without a gap.

    Returns
    -------
    int
        0 when the cell (1, 1) is empty: the rule has nothing to compare with.

    Raises
    ------
    ValueError
        When the share is outside [0, 1).

    References
    ----------
    Paper C, section 5.3 (H1).

    Examples
    --------
    >>> kept_hops({(1, h): 10 * (13 - h) for h in range(1, 13)})
    10
    """
    share = exact(min_share, "min_share")
    if not 0 <= share < 1:
        raise ValueError(f"min_share is {min_share}: it must be in [0, 1)")
    first = counts.get((1, 1), 0)
    h = 0
    while first and Fraction(counts.get((1, h + 1), 0), first) > share:
        h += 1
    return h


def _slope(points: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return the least-squares slope of y against x."""
    n = len(points)
    x_mean = Fraction(sum(x for x, _ in points), n)
    y_mean = sum((y for _, y in points), Fraction(0)) / n
    above = sum(((x - x_mean) * (y - y_mean) for x, y in points), Fraction(0))
    return above / sum(((x - x_mean) ** 2 for x, _ in points), Fraction(0))
