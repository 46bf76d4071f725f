"""How many labels an interval needs."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.agreement import expected_half_width, kappa_from_table, labels_needed


@pytest.mark.parametrize(("prevalence", "n"), [(0.5, 246), (0.3, 296), (0.1, 705)])
def test_donner_eliasziw(prevalence: float, n: int) -> None:
    """Values of the formula of Donner and Eliasziw (1992) for kappa .6, half-width .1."""
    assert labels_needed(0.6, 0.1, prevalence) == n
    assert labels_needed(0.6, 0.1, 1 - prevalence) == n


@pytest.mark.parametrize("kappa", [-0.2, 0.0, 0.25, 0.6, 0.9])
@pytest.mark.parametrize("prevalence", [0.5, 0.3, 0.2])
def test_the_planned_interval_is_the_one_computed(kappa: float, prevalence: float) -> None:
    """A table with exactly this kappa and prevalence, scaled to n, has the half-width wanted."""
    both, other = prevalence**2, prevalence * (1 - prevalence)
    shares = np.array(
        [
            [both + kappa * other, other * (1 - kappa)],
            [other * (1 - kappa), (1 - prevalence) ** 2 + kappa * other],
        ]
    )
    big = 10_000_000
    k = kappa_from_table(np.rint(shares * big))
    assert k.value == pytest.approx(kappa, abs=1e-6)
    n = labels_needed(kappa, 0.05, prevalence)
    assert k.se is not None
    half_width = 1.959963984540054 * k.se * (big / n) ** 0.5
    assert half_width == pytest.approx(0.05, rel=2 / n + 1e-4)


def test_level_and_small_plans() -> None:
    # Q = 1 at kappa 0, prevalence 1/2: n = z²/h²
    assert labels_needed(0, 0.1, 0.5) == 385
    assert labels_needed(0, 0.1, 0.5, level=0.99) == 664
    assert labels_needed(0.99, 0.9, 0.5) == 2


@pytest.mark.parametrize(
    ("kappa", "half_width", "prevalence", "message"),
    [
        (1, 0.1, 0.5, "kappa is 1"),
        (-0.5, 0.1, 0.1, r"between -0.111 and 1"),
        (0.6, 0, 0.5, "half_width is 0"),
        (0.6, 0.1, 0, "prevalence is 0"),
        (0.6, 0.1, 1, "prevalence is 1"),
        (float("nan"), 0.1, 0.5, "kappa is nan"),
    ],
)
def test_refusals(kappa: float, half_width: float, prevalence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        labels_needed(kappa, half_width, prevalence)


@pytest.mark.parametrize("kappa", [-0.2, 0.0, 0.6, 0.9])
@pytest.mark.parametrize("prevalence", [0.5, 0.2])
def test_half_width_is_the_inverse(kappa: float, prevalence: float) -> None:
    n = labels_needed(kappa, 0.07, prevalence)
    assert expected_half_width(n, kappa, prevalence) <= 0.07
    assert expected_half_width(n - 1, kappa, prevalence) > 0.07


def test_half_width_by_hand() -> None:
    # Q = 1 at kappa 0 and prevalence 1/2: z/sqrt(n)
    assert expected_half_width(100, 0, 0.5) == pytest.approx(0.1959963984540054)
    assert expected_half_width(100, 0, 0.5, level=0.99) == pytest.approx(0.2575829303548901)
    with pytest.raises(ValueError, match="n is 1: an interval needs at least 2 items"):
        expected_half_width(1, 0.6, 0.3)
    with pytest.raises(ValueError, match="kappa is 1"):
        expected_half_width(10, 1, 0.3)
