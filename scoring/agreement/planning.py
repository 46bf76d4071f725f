"""How many items to label for an interval of a wanted width."""

from __future__ import annotations

from math import ceil, sqrt

from scoring.agreement._coding import count, normal_quantile


def labels_needed(
    kappa: float, half_width: float, prevalence: float, *, level: float = 0.95
) -> int:
    """Items two raters must both label for an interval kappa ± half_width, two categories.

    Parameters
    ----------
    kappa : float
        The kappa expected, below 1.
    half_width : float
        Half the width of the interval wanted, above 0.
    prevalence : float
        Share of one of the categories, the same for both raters, between 0 and 1.
    level : float
        Confidence level of the interval.

    Returns
    -------
    int
        Number of items, at least 2.

    Raises
    ------
    ValueError
        When kappa is 1 or more, or so low that two raters with this prevalence cannot have it;
        when half_width is not above 0; when prevalence is not between 0 and 1.

    Notes
    -----
    n = z² Q/h², Q = (1 - kappa)[(1 - kappa)(1 - 2 kappa) + kappa (2 - kappa)/(2 π (1 - π))]: the
    large-sample variance under a common prevalence π, the same as Fleiss, Cohen and Everitt's.
    Items of one question depend on each other: plan more when they come in clusters.

    References
    ----------
    Donner and Eliasziw (1992), A goodness-of-fit approach to inference procedures for the kappa
    statistic, Stat. Med. 11.

    Examples
    --------
    >>> labels_needed(0.6, 0.1, 0.3)
    296
    """
    z = normal_quantile(level)
    if not half_width > 0:
        raise ValueError(f"half_width is {half_width!r}: it must be above 0, e.g. 0.1")
    return max(ceil(z**2 * _item_variance(kappa, prevalence) / half_width**2), 2)


def expected_half_width(n: int, kappa: float, prevalence: float, *, level: float = 0.95) -> float:
    """Half the width of the interval of kappa to expect from n items, two categories.

    Parameters
    ----------
    n : int
        Items two raters both label, at least 2.
    kappa, prevalence, level
        As in `labels_needed`.

    Returns
    -------
    float
        h such that the interval is kappa ± h; above 1 when n is far too small.

    Raises
    ------
    ValueError
        As `labels_needed`, and for n below 2.

    Notes
    -----
    h = z sqrt(Q/n), the inverse of `labels_needed`.

    Examples
    --------
    >>> round(expected_half_width(296, 0.6, 0.3), 4)
    0.0998
    """
    items = count(n, "n")
    if items < 2:
        raise ValueError(f"n is {n}: an interval needs at least 2 items")
    return normal_quantile(level) * sqrt(_item_variance(kappa, prevalence) / items)


def _item_variance(kappa: float, prevalence: float) -> float:
    """Q, the large-sample variance of kappa times n."""
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence is {prevalence!r}: it lies between 0 and 1, both excluded")
    odds = prevalence / (1 - prevalence)
    lowest = -min(odds, 1 / odds)
    if not lowest <= kappa < 1:
        raise ValueError(
            f"kappa is {kappa!r}: with prevalence {prevalence} it lies between {lowest:.3f} and 1 "
            "(1 excluded: full agreement has no sampling error to plan for)"
        )
    return (1 - kappa) * (
        (1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * prevalence * (1 - prevalence))
    )
