"""From trace to graph: the rules of the table in DEFINITIONS 1."""

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.graphs import ReasoningGraph, build_graph, graph_structure
from scoring.types import Fact, Step, Trace


def trace(*parents: tuple[int, ...], answer: str = "x") -> Trace:
    steps = tuple(Step(i, f"s{i}", p) for i, p in enumerate(parents))
    return Trace(steps, answer, ("text", answer))


DIAMOND = trace((), (), (0, 1), (2,))
FACTS = [Fact("a", 0), Fact("b", 0), Fact("c", 1), Fact("d", 2), Fact("e", 2), Fact("f", 3)]


def test_undecomposed_is_one_fact_per_step() -> None:
    s = graph_structure(DIAMOND)
    assert s.facts == tuple(Fact(f"s{i}", i) for i in range(4))
    assert s.edges == ((0, 2), (1, 2), (2, 3))
    assert s.terminals == (3,)
    assert s.dropped_steps == ()


def test_anchor_goes_from_the_last_fact_to_every_fact() -> None:
    s = graph_structure(DIAMOND, FACTS)
    assert s.edges == ((1, 3), (1, 4), (2, 3), (2, 4), (4, 5))
    assert s.terminals == (5,)


def test_all_goes_from_every_fact_to_every_fact() -> None:
    s = graph_structure(DIAMOND, FACTS, fact_edges="all")
    assert s.edges == ((0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5))


def test_literal_terminals_count_unused_facts() -> None:
    assert graph_structure(DIAMOND, FACTS, terminals="fact").terminals == (0, 3, 5)
    assert graph_structure(DIAMOND, FACTS, fact_edges="all", terminals="fact").terminals == (5,)


def test_every_fact_of_an_unused_step_is_a_conclusion() -> None:
    facts = [Fact("a", 0), Fact("b", 1), Fact("c", 1)]
    assert graph_structure(trace((), (0,)), facts).terminals == (1, 2)


def test_children_of_a_dropped_step_inherit_its_parents() -> None:
    chain = trace((), (), (0, 1), (2,), (3,))
    facts = [Fact("a", 0), Fact("b", 1), Fact("e", 4)]
    s = graph_structure(chain, facts)
    assert s.edges == ((0, 2), (1, 2))
    assert s.terminals == (2,)
    assert s.dropped_steps == (2, 3)


def test_a_dropped_conclusion_hands_over_to_its_parents() -> None:
    s = graph_structure(trace((), (0,), (1,)), [Fact("a", 0), Fact("b", 1)])
    assert (s.edges, s.terminals, s.dropped_steps) == (((0, 1),), (1,), (2,))


def test_a_dropped_premise_leaves_a_premise() -> None:
    s = graph_structure(trace((), (0,)), [Fact("b", 1)])
    assert (s.edges, s.terminals) == ((), (0,))


def test_facts_are_put_in_the_order_of_their_steps() -> None:
    s = graph_structure(trace((), (0,)), [Fact("z", 1), Fact("a", 0), Fact("b", 0)])
    assert [f.text for f in s.facts] == ["a", "b", "z"]
    assert s.edges == ((1, 2),)


@given(st.data())
def test_structures_are_acyclic_and_end_somewhere(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    parents = [
        tuple(sorted(data.draw(st.sets(st.integers(0, i - 1))))) if i else () for i in range(n)
    ]
    steps = sorted(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12)))
    facts = [Fact(f"f{k}", s) for k, s in enumerate(steps)]
    anchor = graph_structure(trace(*parents), facts)
    every = graph_structure(trace(*parents), facts, fact_edges="all")
    assert set(anchor.edges) <= set(every.edges)
    assert anchor.terminals == every.terminals
    literal = graph_structure(trace(*parents), facts, fact_edges="all", terminals="fact")
    assert literal.terminals == every.terminals
    g: nx.DiGraph[int] = nx.DiGraph(list(every.edges))
    assert nx.is_directed_acyclic_graph(g)
    assert all(anchor.facts[u].step < anchor.facts[v].step for u, v in every.edges)


def test_build_graph_embeds_every_text_once() -> None:
    asked: list[str] = []

    def embed(text: str) -> list[float]:
        asked.append(text)
        return [1.0, float(len(asked))]

    facts = [Fact("same", 0), Fact("other", 1), Fact("same", 1)]
    g = build_graph(trace((), (0,)), embed, facts=facts)
    assert asked == ["same", "other"]
    assert g.embeddings.tolist() == [[1.0, 1.0], [1.0, 2.0], [1.0, 1.0]]
    assert g.facts == tuple(facts)
    assert g.edges == ((0, 1), (0, 2))
    assert g.terminals == (1, 2)
    assert g.answer == ("text", "x")


def test_the_answer_can_be_given() -> None:
    vectors = {"s0": np.ones(3)}
    assert build_graph(trace(()), vectors, answer=None).answer is None
    assert build_graph(trace(()), vectors, answer=("text", "y")).answer == ("text", "y")
    assert isinstance(build_graph(trace(()), vectors), ReasoningGraph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Trace((), None, None),), "no steps"),
        ((DIAMOND, []), "facts is empty"),
        ((DIAMOND, [Fact("a", 4)]), r"fact 0 belongs to step 4, outside 0\.\.3"),
        ((DIAMOND, [Fact("a", 0), Fact(" ", 1)]), r"fact 1 \(step 1\) is empty"),
        ((trace((), (2,), ()),), "step 1 depends on step 2, which is not before it"),
        ((trace((0,)),), "step 0 depends on step 0"),
        ((Trace((Step(1, "a"),), None, None),), "place 0 says it has index 1"),
    ],
)
def test_bad_structures_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph_structure(*arguments)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="fact_edges must be 'anchor' or 'all', not 'none'"):
        graph_structure(DIAMOND, fact_edges="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="terminals must be 'step' or 'fact', not 'last'"):
        graph_structure(DIAMOND, terminals="last")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"s0": [1.0, 0.0]}, r"no embedding for fact 1 \(step 1\): 's1'"),
        ({"s0": [1.0, 0.0], "s1": [1.0]}, "fact 1 has 1 dimensions, that of fact 0 has 2"),
        ({"s0": [0.0, 0.0], "s1": [1.0, 0.0]}, r"fact 0 \(step 0\) is zero: 's0'"),
        ({"s0": [1.0, math.nan], "s1": [1.0, 0.0]}, r"fact 0 \(step 0\) is not finite"),
        ({"s0": [[1.0]], "s1": [[1.0]]}, r"must be a vector, not an array of shape \(1, 1\)"),
    ],
)
def test_bad_vectors_are_refused(vectors: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_graph(trace((), (0,)), vectors)
