"""The energy method: optimum, descent, ties."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from scoring.relations import inconsistency
from tests.scoring.relations.cases import CASES, Case, all_pairs, graphs, noisy51


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_known_optimum(case: Case) -> None:
    r = inconsistency(case.edges, case.n, method="energy")
    assert r.energy_optimum == case.energy
    assert r.energy is not None
    assert -1e-9 <= r.energy - case.energy <= 0.01


@pytest.mark.parametrize(("p", "optimum"), [(0.05, 762), (0.2, 1579)])
def test_51_objects_with_noise(p: float, optimum: int) -> None:
    r = inconsistency(noisy51(p), 51, method="energy")
    assert r.energy_optimum == optimum
    assert r.energy is not None
    assert optimum <= r.energy <= optimum * 1.001
    # What an independent descent of the same kind came to, give or take another start.
    assert r.reverse == pytest.approx({762: 158, 1579: 563}[optimum], abs=10)


def test_trace_ends_at_its_least_value_when_consistent() -> None:
    r = inconsistency(all_pairs(8), 8, method="energy")
    assert r.energy_trace is not None
    assert (r.energy, r.score, r.tied) == (0.0, 0.0, 0)
    assert r.energy_trace[-1] == 0.0
    assert r.energy_trace[0] > 0
    assert min(r.energy_trace) == r.energy


def test_the_best_coordinates_passed_are_kept() -> None:
    r = inconsistency(noisy51(0.1)[:400], 51, method="energy")
    assert r.energy_trace is not None
    assert r.energy == pytest.approx(min(r.energy_trace), rel=1e-12)
    assert len(r.energy_trace) <= 2001


def test_objects_that_nothing_separates_are_tied() -> None:
    # 1 and 2 are both one after 0 and one before 3, and never compared: one place for both.
    edges = [(0, 1), (0, 1), (1, 3), (1, 3), (0, 2), (0, 2), (2, 3), (2, 3), (3, 0)]
    r = inconsistency(edges, 4, method="energy")
    # 3 is 2 after 0 when all else holds, which costs 1 + 2 for the answer that says otherwise.
    assert r.energy_optimum == 3.0
    assert r.reverse_edges == ((3, 0),)
    assert r.tied == 2
    assert r.tie_range == (2 / 9, 2 / 9)


def test_the_seed_is_all_that_varies() -> None:
    edges = noisy51(0.3)[:300]
    a, b = (inconsistency(edges, 51, method="energy", seed=4) for _ in range(2))
    c = inconsistency(edges, 51, method="energy", seed=5)
    assert a == b
    assert a.energy_trace != c.energy_trace
    assert a.energy_optimum == c.energy_optimum


@settings(deadline=None, max_examples=15)
@given(graphs(6))
def test_energy_lies_between_the_optimum_and_one_per_answer(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = graph
    r = inconsistency(edges, n, method="energy")
    exact = inconsistency(edges, n)
    assert r.energy is not None
    assert r.energy_optimum is not None
    # All objects in one place cost 1 per answer; each reverse answer costs at least 1 anywhere.
    assert exact.reverse <= r.energy_optimum <= len(edges)
    assert r.energy_optimum - 1e-9 <= r.energy <= r.energy_optimum + 0.05
    assert r.reverse >= exact.reverse
