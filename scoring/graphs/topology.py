"""The topology map: where each question lies between agreement and disorder (paper A, C.8)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from scoring.graphs.coherence import ROUNDING, Coherence

Regime = Literal["confident", "multi-path", "noisy", "confused"]
REGIMES: tuple[Regime, ...] = ("confident", "multi-path", "noisy", "confused")


@dataclass(frozen=True, slots=True)
class TopologyPoint:
    """One question on the map.

    Attributes
    ----------
    model
        Whose pool it is.
    divergence, entropy
        x and y, both >= 0; None where undefined.
    regime
        The quarter it lies in, None where a coordinate is undefined.
    flags
        Those of its `Coherence`: under ``iqr_zero`` the entropy means little.
    """

    model: Hashable
    divergence: float | None
    entropy: float | None
    regime: Regime | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelTopology:
    """One model's questions taken together.

    Attributes
    ----------
    model
        Its name.
    mean
        Mean (divergence, entropy) of its defined points, None without any.
    counts
        Questions per regime, in the order of `REGIMES`.
    n, undefined
        Questions on the map, and left off it.
    """

    model: Hashable
    mean: tuple[float, float] | None
    counts: dict[Regime, int]
    n: int
    undefined: int


@dataclass(frozen=True, slots=True)
class TopologyMap:
    """The map: x = divergence, y = entropy.

    Attributes
    ----------
    origin
        What divides low from high on both axes.
    reference
        The model whose mean the origin is; None = it was given, or is the mean of all points.
    points
        One per question, in the order given.
    models
        One summary per model, in order of first appearance.
    """

    origin: tuple[float, float]
    reference: Hashable | None
    points: tuple[TopologyPoint, ...]
    models: tuple[ModelTopology, ...]


def topology_regime(divergence: float, entropy: float, origin: tuple[float, float]) -> Regime:
    """Return the quarter of the map a question lies in.

    Parameters
    ----------
    divergence, entropy : float
        Of the question's pool, >= 0.
    origin : (float, float)
        The divergence and entropy that divide low from high.

    Returns
    -------
    str
        low/low "confident", low/high "multi-path", high/low "noisy", high/high "confused"
        (divergence first).

    Raises
    ------
    ValueError
        For a number that is not finite.

    Notes
    -----
    High means above the origin by more than rounding (1e-12); a value on it is low.

    References
    ----------
    Paper A, appendix C.8.

    Examples
    --------
    >>> topology_regime(0.2, 1.4, (0.3, 1.0))
    'multi-path'
    """
    for name, value in (
        ("divergence", divergence), ("entropy", entropy),
        ("the origin's divergence", origin[0]), ("the origin's entropy", origin[1]),
    ):  # fmt: skip
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value}: it must be finite")
    far, varied = (
        value > limit + ROUNDING * max(1.0, abs(limit))
        for value, limit in ((divergence, origin[0]), (entropy, origin[1]))
    )
    return REGIMES[2 * far + varied]


def topology_map(
    coherences: Iterable[Coherence],
    models: Iterable[Hashable] | None = None,
    *,
    reference: Hashable | None = None,
    origin: tuple[float, float] | None = None,
) -> TopologyMap:
    """Place questions on the map of divergence against entropy.

    Parameters
    ----------
    coherences : iterable of Coherence
        One per question and pool; undefined ones are kept and counted, off the map.
    models : iterable of hashable, optional
        The model of each. None = one model, named None.
    reference : hashable, optional
        The model whose mean divergence and mean entropy are the origin (the paper takes its
        smallest). None = the mean of all points.
    origin : (float, float), optional
        The origin itself, in place of a reference.

    Returns
    -------
    TopologyMap
        Regimes are relative to the origin: "confident" is *more* so than the reference, not
        right.

    Raises
    ------
    ValueError
        For lists of unequal length, both a reference and an origin, a reference without any
        defined point, or no defined point at all and no origin.

    Notes
    -----
    See `topology_regime`. x and y are undefined together (fewer than two graphs).

    References
    ----------
    Paper A, appendix C.8.

    Examples
    --------
    >>> from scoring.graphs.coherence import coherence
    >>> near, far = coherence([[0, 0.1], [0.1, 0]]), coherence([[0, 0.9], [0.9, 0]])
    >>> m = topology_map([near, far], ["small", "large"], reference="small")
    >>> m.origin, [p.regime for p in m.points]
    ((0.1, 0.0), ['confident', 'noisy'])
    """
    found = tuple(coherences)
    names = [None] * len(found) if models is None else list(models)
    if len(names) != len(found):
        raise ValueError(f"{len(names)} models for {len(found)} questions: name one for each")
    if origin is None:
        origin = _reference_mean(found, names, reference)
    elif reference is not None:
        raise ValueError(f"both reference {reference!r} and an origin are given: choose one")
    points = tuple(_point(c, name, origin) for c, name in zip(found, names, strict=True))
    summaries = (_summary(name, points) for name in dict.fromkeys(names))
    return TopologyMap(origin, reference, points, tuple(summaries))


def _reference_mean(
    found: Sequence[Coherence], names: Sequence[Hashable], reference: Hashable | None
) -> tuple[float, float]:
    chosen = [
        c for c, name in zip(found, names, strict=True) if reference is None or name == reference
    ]
    mean = _mean([(c.divergence, c.entropy) for c in chosen])
    if mean is None:
        who = "no question" if reference is None else f"no question of reference {reference!r}"
        raise ValueError(f"{who} has a defined divergence and entropy: give an origin")
    return mean


def _mean(places: Iterable[tuple[float | None, float | None]]) -> tuple[float, float] | None:
    known = [(x, y) for x, y in places if x is not None and y is not None]
    if not known:
        return None
    n = len(known)
    return math.fsum(x for x, _ in known) / n, math.fsum(y for _, y in known) / n


def _point(c: Coherence, model: Hashable, origin: tuple[float, float]) -> TopologyPoint:
    known = c.divergence is not None and c.entropy is not None
    regime = topology_regime(c.divergence, c.entropy, origin) if known else None  # type: ignore[arg-type]
    return TopologyPoint(model, c.divergence, c.entropy, regime, c.flags)


def _summary(model: Hashable, points: Sequence[TopologyPoint]) -> ModelTopology:
    own = [p for p in points if p.model == model]
    counts = {regime: sum(p.regime == regime for p in own) for regime in REGIMES}
    n = sum(counts.values())
    return ModelTopology(
        model, _mean([(p.divergence, p.entropy) for p in own]), counts, n, len(own) - n
    )
