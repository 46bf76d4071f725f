"""How many items to label for an interval of a wanted width."""

from __future__ import annotations

from math import ceil

from scoring.agreement._coding import normal_quantile


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
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence is {prevalence!r}: it lies between 0 and 1, both excluded")
    if not half_width > 0:
        raise ValueError(f"half_width is {half_width!r}: it must be above 0, e.g. 0.1")
    odds = prevalence / (1 - prevalence)
    lowest = -min(odds, 1 / odds)
    if not lowest <= kappa < 1:
        raise ValueError(
            f"kappa is {kappa!r}: with prevalence {prevalence} it lies between {lowest:.3f} and 1 "
            "(1 excluded: full agreement has no sampling error to plan for)"
        )
    q = (1 - kappa) * (
        (1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * prevalence * (1 - prevalence))
    )
    return max(ceil(z**2 * q / half_width**2), 2)
