"""Coherence and entropy: closed forms, numpy's histogram, degenerate and refused input."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.graphs import coherence, histogram_entropy


def matrix(values: list[float], n: int) -> np.ndarray:
    out = np.zeros((n, n))
    out[np.triu_indices(n, 1)] = values
    return out + out.T


def test_three_distances() -> None:
    c = coherence(matrix([0.2, 0.4, 0.6], 3))
    assert c.divergence == pytest.approx(0.4, abs=1e-15)
    assert c.grcs == pytest.approx(1 / 1.4, abs=1e-15)
    assert c.dispersion == pytest.approx(math.sqrt(0.08 / 3), abs=1e-15)
    assert c.n == 3


def test_equal_distances_have_no_dispersion_to_the_bit() -> None:
    c = coherence(matrix([0.1] * 6, 4))
    assert (c.divergence, c.dispersion, c.entropy, c.n_bins, c.flags) == (0.1, 0.0, 0.0, 1, ())


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_graphs_leave_everything_undefined(n: int) -> None:
    c = coherence(np.zeros((n, n)))
    assert (c.grcs, c.divergence, c.dispersion, c.entropy) == (None, None, None, None)
    assert (c.n, c.n_bins, c.flags) == (n, 0, ("fewer_than_two",))


def test_two_graphs_have_one_distance() -> None:
    c = coherence(matrix([0.5], 2))
    assert (c.divergence, c.dispersion, c.entropy, c.n_bins) == (0.5, 0.0, 0.0, 1)


@given(st.permutations(range(6)), st.integers(0, 1000))
def test_order_of_the_graphs_changes_no_bit(order: list[int], seed: int) -> None:
    d = matrix(np.random.default_rng(seed).random(15).tolist(), 6)
    assert coherence(d[np.ix_(order, order)]) == coherence(d)


@pytest.mark.parametrize("bins", ["fd", "sturges"])
@given(st.lists(st.floats(0, 1.4), min_size=2, max_size=60))
def test_entropy_is_that_of_numpys_histogram(
    bins: Literal["fd", "sturges"], values: list[float]
) -> None:
    low, high = np.percentile(values, [25, 75])
    if np.ptp(values) < 1e-9 or high - low < 1e-6:
        return
    counts = np.histogram(values, bins=bins)[0]
    p = counts[counts > 0] / counts.sum()
    assert histogram_entropy(values, bins=bins) == pytest.approx(-(p * np.log(p)).sum(), abs=1e-12)


def test_sturges_on_eight_values() -> None:
    assert histogram_entropy(range(8), bins="sturges") == pytest.approx(math.log(4), abs=1e-12)


def test_zero_iqr_with_a_range_is_one_bin_and_flagged() -> None:
    d = matrix([0.0] * 14 + [1.0], 6)
    c = coherence(d)
    assert (c.entropy, c.n_bins, c.flags) == (0.0, 1, ("iqr_zero",))
    assert coherence(d, bins="sturges").flags == ()


def test_rounding_noise_is_not_spread_over_bins() -> None:
    noisy = [0.7, 0.7 + 1e-16, 0.7 + 2e-16, 0.7 - 1e-16]
    assert histogram_entropy(noisy) == 0.0
    c = coherence(matrix([*noisy, 1.2, 0.7], 4))
    assert (c.entropy, c.n_bins, c.flags) == (0.0, 1, ("iqr_zero",))


def test_very_many_bins_are_counted_without_being_allocated() -> None:
    values = [0.5, 0.5 + 1e-9, 0.5 + 2e-9, 0.5 + 3e-9, 1.4]
    # Bins are 2.34e-9 wide: three values share the first, each of the others is alone.
    want = -(0.6 * math.log(0.6) + 0.4 * math.log(0.2))
    assert histogram_entropy(values) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "values is empty"),
        ([0.1, math.nan], "value 1 is nan"),
        ([[0.1]], "one-dimensional"),
    ],
)
def test_bad_values_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        histogram_entropy(values)


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0.0, 1.0]], r"square matrix, not of shape \(1, 2\)"),
        ([0.0], r"square matrix, not of shape \(1,\)"),
        ([[0.0, math.nan], [math.nan, 0.0]], r"distance \(0, 1\) is nan: .* finite"),
        ([[0.0, math.inf], [math.inf, 0.0]], r"distance \(0, 1\) is inf: .* finite"),
        ([[0.0, 0.5], [0.6, 0.0]], r"distance \(0, 1\) is 0.5: .* symmetric"),
        ([[0.0, -0.5], [-0.5, 0.0]], r"distance \(0, 1\) is -0.5: .* negative"),
        ([[0.0, 0.5], [0.5, 0.2]], r"distance \(1, 1\) is 0.2: the diagonal"),
    ],
)
def test_what_is_no_distance_matrix_is_refused(distances: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coherence(distances)


def test_unknown_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="bins must be 'fd' or 'sturges', not 'auto'"):
        histogram_entropy([1.0], bins="auto")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bins must be"):
        coherence([[0.0]], bins="auto")  # type: ignore[arg-type]
