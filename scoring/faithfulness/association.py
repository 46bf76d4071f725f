"""Does a metric go with faithfulness: the defined bootstrap over questions and traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.faithfulness.correlation import (
    METHODS,
    Correlations,
    correlations,
    paired,
    row_correlations,
)
from scoring.graphs.coherence import Bins, checked_distances, histogram_entropy
from scoring.types import FloatArray

IntArray = NDArray[np.intp]
TraceMetric = Callable[[int, IntArray], float | None]
"""From a question's number and the numbers of some of its traces to the metric of these alone."""

Statistic = Literal["grcs", "divergence", "dispersion", "variance", "entropy"]


@dataclass(frozen=True, slots=True)
class BootstrapSummary:
    """A correlation over bootstrap replicates; None where no replicate is defined.

    Attributes
    ----------
    mean
        Mean of the defined replicates, in [−1, 1].
    low, high
        Their percentile interval.
    used, dropped
        Defined replicates, and those left out because a side was constant (or fewer than two
        pairs were left).
    values
        Every replicate in order, None where dropped.
    """

    mean: float | None
    low: float | None
    high: float | None
    used: int
    dropped: int
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class CorrelationBootstrap:
    """Correlations of a metric with faithfulness over the same replicates.

    Attributes
    ----------
    pearson, spearman, kendall
        By method.
    point
        The correlations over all questions and traces, without resampling.
    questions
        Questions with a faithfulness and a metric over all their traces.
    left_out
        The others.
    replicates, draws, traces
        Replicates, questions drawn in each (None: lists were given), and traces of each (None:
        all).
    level
        Share of the replicates between `low` and `high`.
    flags
        ``more_draws_than_questions``: drawing more than there are makes the interval too narrow.
    """

    pearson: BootstrapSummary
    spearman: BootstrapSummary
    kendall: BootstrapSummary
    point: Correlations
    questions: int
    left_out: int
    replicates: int
    draws: int | None
    traces: int | None
    level: float
    flags: tuple[str, ...] = ()


def correlation_bootstrap(
    metric: Sequence[float | None],
    faithfulness: Sequence[float | None],
    *,
    index_lists: Iterable[Sequence[int]] | None = None,
    replicates: int = 1000,
    questions: int = 20,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> CorrelationBootstrap:
    """Bootstrap the correlation of a metric with faithfulness over questions.

    Parameters
    ----------
    metric, faithfulness : sequence of float or None, length n
        One pair per question; None = undefined.
    index_lists : iterable of sequence of int, optional
        The questions of every replicate, in place of drawing them. A question of these that is
        undefined is left out of its replicate.
    replicates, questions : int
        How many replicates, and how many questions each draws *with* replacement.
    seed : int or numpy Generator
        Where the random numbers come from.
    level : float
        Share of the replicates between the two percentiles, in (0, 1).

    Returns
    -------
    CorrelationBootstrap

    Raises
    ------
    ValueError
        As `correlations`, and for a question outside 0..n−1 or a parameter out of its range.

    Notes
    -----
    mean and (1 ∓ level)/2 percentiles (linear between order statistics) of the replicates in
    which neither side is constant. The metric of a question is fixed here; `trace_bootstrap` also
    resamples the traces behind it, as the paper does.

    References
    ----------
    Paper A, section 4 (1,000 resamples of 20 questions).

    Examples
    --------
    >>> r = correlation_bootstrap([0.5, 0.6, 0.7], [0.9, 0.6, 0.5],
    ...                           index_lists=[[0, 1, 2], [1, 1, 1]])
    >>> round(r.pearson.mean, 4), r.pearson.used, r.pearson.dropped
    (-0.9608, 1, 1)
    """
    _check_level(level)
    u, f = paired(metric, faithfulness)
    usable = np.flatnonzero(~(np.isnan(u) | np.isnan(f)))
    if index_lists is None:
        _check_positive(replicates=replicates, questions=questions)
        rng = np.random.default_rng(seed)
        drawn = _draw(usable, replicates, questions, rng)
        count: int | None = questions
    else:
        drawn = [_checked_list(k, picked, len(u)) for k, picked in enumerate(index_lists)]
        count = None
    summaries = _summaries([(u[picked], f[picked]) for picked in drawn], level)
    return CorrelationBootstrap(
        *summaries, correlations(metric, faithfulness), len(usable), len(u) - len(usable),
        len(drawn), count, None, level, _flags(count, len(usable)),
    )  # fmt: skip


def trace_bootstrap(
    metric: TraceMetric,
    faithfulness: Sequence[float | None],
    pool_sizes: Sequence[int],
    *,
    replicates: int = 1000,
    questions: int = 20,
    traces: int = 10,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> CorrelationBootstrap:
    """Bootstrap the correlation over questions and over the traces behind the metric.

    Parameters
    ----------
    metric : callable
        From a question's number and an ascending array of trace numbers to the metric of these
        traces alone, None when undefined; `distance_metric` makes one from distance matrices.
    faithfulness : sequence of float or None, length n
        The medoid's faithfulness in the *full* pool of each question; it is not recomputed.
    pool_sizes : sequence of int, length n
        Traces per question.
    replicates, questions, seed, level
        As for `correlation_bootstrap`.
    traces : int
        Traces drawn *without* replacement for every question drawn; all of a smaller pool.

    Returns
    -------
    CorrelationBootstrap

    Raises
    ------
    ValueError
        For lists of unequal length or a parameter out of its range.

    Notes
    -----
    A question drawn twice in a replicate gets two draws of traces. The draws depend on the seed,
    the pool sizes and on which questions have a faithfulness, not on the metric: metrics compared
    under one seed see the same draws.

    References
    ----------
    Paper A, section 4 (1,000 resamples of 20 questions with 10 responses each).

    Examples
    --------
    >>> import numpy as np
    >>> near, mid, far = (np.full((4, 4), d) * (1 - np.eye(4)) for d in (0.1, 0.5, 0.9))
    >>> r = trace_bootstrap(distance_metric([near, mid, far]), [0.2, 0.5, 0.8], [4, 4, 4],
    ...                     replicates=50, questions=3, traces=2)
    >>> r.spearman.high, r.spearman.used + r.spearman.dropped
    (-1.0, 50)
    """
    _check_level(level)
    _check_positive(replicates=replicates, questions=questions, traces=traces)
    if len(pool_sizes) != len(faithfulness):
        raise ValueError(f"{len(pool_sizes)} pool sizes for {len(faithfulness)} questions")
    whole = [metric(q, np.arange(size)) for q, size in enumerate(pool_sizes)]
    _, f = paired(whole, faithfulness)
    drawable = np.flatnonzero(~np.isnan(f) & (np.asarray(pool_sizes) > 0))
    rng = np.random.default_rng(seed)
    rows = []
    for picked in _draw(drawable, replicates, questions, rng):
        u = np.array(
            [metric(int(q), _some_traces(pool_sizes[q], traces, rng)) for q in picked],
            dtype=np.float64,
        )
        rows.append((u, f[picked]))
    point = correlations(whole, faithfulness)
    return CorrelationBootstrap(
        *_summaries(rows, level), point, point.n, point.dropped,
        replicates, questions, traces, level, _flags(questions, point.n),
    )  # fmt: skip


def distance_metric(
    distances: Sequence[ArrayLike], statistic: Statistic = "grcs", *, bins: Bins = "fd"
) -> TraceMetric:
    """Return a metric for `trace_bootstrap` from every question's distance matrix.

    Parameters
    ----------
    distances : sequence of array_like, shape (N, N) each
        One matrix per question, from `pairwise_distances` (or `topo_distances`).
    statistic : {"grcs", "divergence", "dispersion", "variance", "entropy"}
        As the fields of `Coherence`, with their orientation and range; the variance of
        `topo_distances` is Topo-UQ.
    bins : {"fd", "sturges"}
        For "entropy".

    Returns
    -------
    callable
        None for fewer than two traces.

    Raises
    ------
    ValueError
        For another statistic, or what is not a distance matrix.

    Examples
    --------
    >>> import numpy as np
    >>> metric = distance_metric([[[0.0, 0.5], [0.5, 0.0]]])
    >>> round(metric(0, np.array([0, 1])), 4), metric(0, np.array([1]))
    (0.6667, None)
    """
    if statistic not in get_args(Statistic):
        raise ValueError(f"statistic must be one of {get_args(Statistic)}, not {statistic!r}")
    matrices = [checked_distances(d) for d in distances]
    upper = {n: np.triu_indices(n, 1) for n in range(2, max(map(len, matrices), default=0) + 1)}

    def metric(question: int, chosen: IntArray) -> float | None:
        if len(chosen) < 2:
            return None
        rows, cols = upper[len(chosen)]
        return _statistic(matrices[question][chosen[rows], chosen[cols]], statistic, bins)

    return metric


def _statistic(values: FloatArray, statistic: Statistic, bins: Bins) -> float:
    if statistic == "entropy":
        return histogram_entropy(values, bins=bins)
    base = float(values[0])  # deviations from it keep equal distances exact
    off = values - base
    if statistic == "variance":
        return float(off.var())
    if statistic == "dispersion":
        return float(off.std())
    divergence = base + float(off.mean())
    return divergence if statistic == "divergence" else 1.0 / (1.0 + divergence)


def _draw(
    usable: IntArray, replicates: int, questions: int, rng: np.random.Generator
) -> list[IntArray]:
    if len(usable) == 0:
        return [usable] * replicates
    return list(usable[rng.integers(len(usable), size=(replicates, questions))])


def _some_traces(size: int, traces: int, rng: np.random.Generator) -> IntArray:
    return np.sort(rng.permutation(size)[:traces])


def _summaries(
    rows: Sequence[tuple[FloatArray, FloatArray]], level: float
) -> tuple[BootstrapSummary, BootstrapSummary, BootstrapSummary]:
    """Return the summary of each method over replicates of any lengths."""
    values = np.full((len(rows), len(METHODS)), np.nan)
    by_length: dict[int, list[tuple[int, FloatArray, FloatArray]]] = {}
    for place, (u, f) in enumerate(rows):
        keep = ~(np.isnan(u) | np.isnan(f))
        by_length.setdefault(int(keep.sum()), []).append((place, u[keep], f[keep]))
    for length, group in by_length.items():
        if length >= 2:
            places = [place for place, _, _ in group]
            values[places] = row_correlations(
                np.stack([u for _, u, _ in group]), np.stack([f for _, _, f in group])
            )
    pearson, spearman, kendall = (_summary(column, level) for column in values.T)
    return pearson, spearman, kendall


def _summary(values: FloatArray, level: float) -> BootstrapSummary:
    defined = values[~np.isnan(values)]
    listed = tuple(None if math.isnan(v) else v for v in values.tolist())
    dropped = len(values) - len(defined)
    if len(defined) == 0:
        return BootstrapSummary(None, None, None, 0, dropped, listed)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    centre = math.fsum(defined) / len(defined)
    return BootstrapSummary(centre, float(low), float(high), len(defined), dropped, listed)


def _checked_list(k: int, picked: Sequence[int], n: int) -> IntArray:
    chosen = np.asarray(picked, dtype=np.intp).reshape(-1)
    bad = chosen[(chosen < 0) | (chosen >= n)]
    if bad.size:
        raise ValueError(f"index list {k} names question {bad[0]}: choose from 0..{n - 1}")
    return chosen


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, not {level}")


def _check_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name} is {value}: at least 1 is needed")


def _flags(draws: int | None, questions: int) -> tuple[str, ...]:
    return ("more_draws_than_questions",) if draws is not None and draws > questions else ()
