"""Alignment with few truths: known cases, then what must hold of every one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.relations import align
from scoring.relations.align import Until
from tests.scoring.relations.cases import NOISY_20, acyclic, all_pairs, flipped, graphs, noisy51

BACKWARDS = [4, 3, 2, 1, 0]


def test_consistent_answers_need_no_fact_even_when_wrong() -> None:
    r = align(all_pairs(5), 5, BACKWARDS)
    assert (r.facts_asked, r.edges_deduced, r.edges_kept, r.rounds) == (0, 0, 10, 0)
    assert r.consistent
    assert r.distance == 10


def test_wholly_wrong_answers_need_one_fact_per_neighbouring_pair() -> None:
    r = align(all_pairs(5), 5, BACKWARDS, until="aligned")
    assert sorted(r.facts) == [(1, 0), (2, 1), (3, 2), (4, 3)]
    assert (r.facts_asked, r.edges_deduced, r.edges_kept, r.changed) == (4, 6, 0, 20)
    assert r.aligned
    assert r.order == tuple(BACKWARDS)


@pytest.mark.parametrize("until", ["consistent", "aligned"])
def test_one_contradiction_takes_one_fact(until: Until) -> None:
    r = align(flipped(all_pairs(5), [6]), 5, range(5), until=until)
    assert r.facts == ((1, 3),)
    assert (r.edges_deduced, r.edges_kept, r.changed, r.distance) == (0, 9, 1, 0)
    assert r.edges == tuple(all_pairs(5))


@pytest.mark.parametrize("until", ["consistent", "aligned"])
def test_a_tenth_of_the_answers_wrong(until: Until) -> None:
    r = align(NOISY_20, 20, range(20), until=until)
    assert (r.reverse_left, r.distance) == (0, 0)
    # An independent implementation asked 42.
    assert r.facts_asked <= 63
    assert r.facts_asked + r.edges_deduced + r.edges_kept == 190


def test_51_objects() -> None:
    r = align(noisy51(0.05), 51, range(51), until="aligned")
    assert (r.reverse_left, r.distance) == (0, 0)
    # As in table 7, the counts are of the 1275 pairs; 136 of them were answered both ways.
    assert r.facts_asked + r.edges_deduced + r.edges_kept == 1275
    assert r.facts_asked <= 140


def test_unanswered_pairs_are_learnt_but_not_kept() -> None:
    r = align([], 3, [2, 0, 1], until="aligned")
    assert r.order == (2, 0, 1)
    assert r.edges_kept == 0
    assert r.facts_asked <= 2


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="until is 'done'"):
        align([], 2, [0, 1], until="done")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"truth \(0, 0\)"):
        align([], 2, [0, 0])
    with pytest.raises(ValueError, match="edge 1"):
        align([(0, 2)], 2, [0, 1])


@settings(deadline=None, max_examples=50)
@given(graphs(), st.data(), st.sampled_from(["consistent", "aligned"]))
def test_what_holds_of_every_alignment(
    graph: tuple[int, list[tuple[int, int]]], data: st.DataObject, until: Until
) -> None:
    n, edges = graph
    truth = data.draw(st.permutations(range(n)))
    r = align(edges, n, truth, until=until)
    place = {v: k for k, v in enumerate(truth)}
    assert all(place[u] < place[v] for u, v in (*r.facts, *r.deduced))
    assert len(set(r.facts)) == len(r.facts)
    assert acyclic(r.edges, n)
    assert r.reverse_left == sum(r.order.index(u) > r.order.index(v) for u, v in r.edges) == 0
    assert len(r.edges) == len(edges)
    assert all({*a} == {*b} for a, b in zip(r.edges, edges, strict=True))
    settled = {frozenset(e) for e in (*r.facts, *r.deduced)}
    untouched = [(a, b) for a, b in zip(r.edges, edges, strict=True) if frozenset(b) not in settled]
    assert all(a == b for a, b in untouched)
    assert r.changed == sum(a != b for a, b in zip(r.edges, edges, strict=True))
    if until == "aligned":
        assert r.order == tuple(truth)
