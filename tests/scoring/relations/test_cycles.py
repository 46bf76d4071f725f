"""The reviewer's queue, the packing of cycles, and repair."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings

from scoring.relations import Edit, inconsistency, pack_cycles, repair, review_cycles
from tests.scoring.relations.cases import (
    CASES,
    Case,
    acyclic,
    all_pairs,
    flipped,
    graphs,
    noisy51,
)


def test_consistent_answers_leave_nothing_to_review() -> None:
    assert review_cycles(all_pairs(6), 6).items == ()
    assert review_cycles([], 0).items == ()
    assert pack_cycles(all_pairs(6), 6).lower_bound == 0


def test_pairs_come_before_cycles() -> None:
    edges = [(2, 3), (3, 4), (4, 2), (0, 1), (1, 0), (1, 2)]
    found = review_cycles(edges, 5)
    assert [(i.kind, i.nodes) for i in found.items] == [("pair", (0, 1)), ("cycle", (2, 3, 4))]
    assert [len(found.pairs), len(found.cycles)] == [1, 1]
    assert found.items[1].edges == ((2, 3), (3, 4), (4, 2))
    assert found.items[1].edge_breaks == (1, 1, 1)


def test_the_mend_that_breaks_most_comes_first() -> None:
    # (4, 0) closes three triangles over 1, 2 and 3; (7, 5) closes one over 6.
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 0), (5, 6), (6, 7), (7, 5)]
    first, second = review_cycles(edges, 8, order=range(8)).items
    assert (first.reverse, first.breaks, first.nodes) == ((4, 0), 3, (0, 1, 4))
    assert (second.reverse, second.breaks, second.nodes) == ((7, 5), 1, (5, 6, 7))
    assert first.edge_breaks == (1, 1, 3)


def test_a_pair_counts_itself_and_its_triangles() -> None:
    # 1 -> 0 closes 0 -> 1 and 0 -> 2 -> 1.
    (item,) = review_cycles([(0, 1), (1, 0), (0, 2), (2, 1)], 3).items
    assert (item.kind, item.reverse, item.breaks) == ("pair", (1, 0), 2)
    assert item.edge_breaks == (1, 2)


def test_long_cycles_count_those_of_their_length() -> None:
    # Two ways of three statements from 0 to 5, one statement back.
    edges = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 5), (5, 0)]
    (item,) = review_cycles(edges, 6, order=[0, 1, 2, 3, 4, 5]).items
    assert (item.reverse, item.breaks, len(item.nodes)) == ((5, 0), 2, 4)
    assert item.edge_breaks == tuple(2 if e == (5, 0) else 1 for e in item.edges)


def test_repeats_are_one_statement() -> None:
    once = review_cycles([(0, 1), (1, 2), (2, 0)], 3)
    assert review_cycles([(0, 1), (1, 2), (2, 0)] * 2, 3) == once


def test_a_poor_order_may_call_harmless_statements_reverse() -> None:
    assert review_cycles([(0, 1)], 2, order=[1, 0]).items == ()


@pytest.mark.parametrize("p", [0.05, 0.3])
def test_51_objects(p: float) -> None:
    edges = noisy51(p)
    found = review_cycles(edges, 51)
    both = {frozenset(e) for e in edges if (e[1], e[0]) in set(edges)}
    assert len(found.pairs) == len(both)
    assert {frozenset(i.nodes) for i in found.pairs} == both
    assert max(len(i.nodes) for i in found.cycles) == 3
    packed = pack_cycles(edges, 51).lower_bound
    best = {0.05: 140, 0.3: 721}[p]
    assert len(both) <= packed <= best
    # Measured: the greedy packing comes within a few per cent of the minimum on such data.
    assert packed >= 0.95 * best


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_every_item_is_a_shortest_cycle_through_its_reverse_statement(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = graph
    found = review_cycles(edges, n)
    stated = set(edges)
    g = nx.DiGraph(sorted(stated))
    place = {v: k for k, v in enumerate(found.order)}
    for item in found.items:
        u, v = item.reverse
        assert place[u] > place[v]
        assert set(item.edges) <= stated
        assert item.reverse in item.edges
        assert item.nodes[0] == min(item.nodes)
        assert item.edges == tuple(zip(item.nodes, item.nodes[1:] + item.nodes[:1], strict=True))
        assert len(item.nodes) == nx.shortest_path_length(g, v, u) + 1
        if len(item.nodes) <= 3:
            short = nx.simple_cycles(g, length_bound=3)
            through = [c for c in short if (u, v) in zip(c, c[1:] + c[:1], strict=True)]
            assert item.breaks == len(through)
    reverse = {(u, v) for u, v in stated if place[u] > place[v]}
    assert {i.reverse for i in found.items} == {(u, v) for u, v in reverse if nx.has_path(g, v, u)}


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_a_packing_uses_no_answer_twice_and_bounds_the_minimum(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = graph
    packing = pack_cycles(edges, n)
    used = Counter(e for cycle in packing.cycles for e in cycle)
    have = Counter(edges)
    assert all(used[e] <= have[e] for e in used)
    for cycle in packing.cycles:
        assert all(a[1] == b[0] for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        assert len({u for u, _ in cycle}) == len(cycle)
    assert packing.lower_bound == len(packing.cycles) <= inconsistency(edges, n).reverse
    # Greedy until nothing is left: the answers not used hold no cycle.
    assert acyclic((have - used).elements(), n)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_repair_is_minimal_and_certified(case: Case) -> None:
    fixed = repair(case.edges, case.n)
    assert (fixed.cost, fixed.lower_bound, fixed.optimal, fixed.gap) == (
        case.minimum,
        case.minimum,
        True,
        0,
    )
    assert sum(e.answers for e in fixed.edits) == case.minimum
    assert acyclic(fixed.edges, case.n)
    assert fixed.packing is not None
    assert fixed.packing.lower_bound <= case.minimum


def test_repair_by_dropping_and_with_trust() -> None:
    edges = [(0, 1), (0, 1), (1, 0), (1, 1)]
    dropped = repair(edges, 2, mend="drop")
    assert dropped.edits == (Edit((1, 0), 1, None),)
    assert (dropped.edges, dropped.selfloops) == (((0, 1), (0, 1)), 1)
    told = repair(edges, 2, trusted=[(1, 0)])
    assert told.edits == (Edit((0, 1), 2, (1, 0)),)
    assert told.edges == ((1, 0), (1, 0), (1, 0))
    assert told.packing is None
    assert told.optimal
    with pytest.raises(ValueError, match="mend is 'burn'"):
        repair(edges, 2, mend="burn")  # type: ignore[arg-type]


def test_repair_out_of_time_states_its_gap() -> None:
    fixed = repair(noisy51(0.5), 51, time_limit=0.3)
    assert acyclic(fixed.edges, 51)
    assert fixed.gap == fixed.cost - fixed.lower_bound >= 0
    assert fixed.optimal == (fixed.gap == 0)
    assert fixed.packing is not None
    assert 633 <= fixed.packing.lower_bound <= fixed.cost


@settings(deadline=None, max_examples=30)
@given(graphs())
def test_repair_leaves_no_cycle_and_touches_nothing_else(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = graph
    fixed = repair(edges, n)
    changed = [(a, b) for a, b in zip(edges, fixed.edges, strict=True) if a != b]
    assert acyclic(fixed.edges, n)
    assert len(changed) == fixed.cost == inconsistency(edges, n).reverse
    assert all(b == a[::-1] for a, b in changed)
    assert inconsistency(fixed.edges, n).reverse == 0
    assert len(repair(edges, n, mend="drop").edges) == len(edges) - fixed.cost


def test_order_given_by_the_caller_is_checked() -> None:
    with pytest.raises(ValueError, match="exactly once"):
        review_cycles([(0, 1)], 2, order=[0, 0])
    assert review_cycles(flipped(all_pairs(4), [0]), 4, order=range(4)).pairs[0].nodes == (0, 1)
