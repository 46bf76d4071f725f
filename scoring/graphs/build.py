"""From a parsed trace to a reasoning graph: which facts, which edges, which conclusions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from scoring.types import Fact, ParseIssue, ReasoningGraph, Trace

FactEdges = Literal["anchor", "all"]
Terminals = Literal["step", "fact"]
Missing = Literal["chain", "premise", "exclude"]
Embed = Mapping[str, ArrayLike] | Callable[[str], ArrayLike]


@dataclass(frozen=True, slots=True)
class GraphStructure:
    """A reasoning graph before its texts are embedded.

    Attributes
    ----------
    facts
        The nodes, in order of their step.
    edges
        Pairs (u, v) of node numbers: v depends on u. Ascending, acyclic (u < v always).
    terminals
        The conclusions, ascending; never empty.
    dropped_steps
        Steps without any fact; their children inherited their parents.
    """

    facts: tuple[Fact, ...]
    edges: tuple[tuple[int, int], ...]
    terminals: tuple[int, ...]
    dropped_steps: tuple[int, ...] = ()


def graph_structure(
    trace: Trace,
    facts: Sequence[Fact] | None = None,
    *,
    fact_edges: FactEdges = "anchor",
    terminals: Terminals = "step",
) -> GraphStructure:
    """Return the nodes, edges and conclusions of a trace.

    Parameters
    ----------
    trace : Trace
        A parsed trace with at least one step.
    facts : sequence of Fact, optional
        The decomposer's atomic facts. They are put in the order of their steps; facts of one step
        keep the order given. None = undecomposed, one fact per step.
    fact_edges : {"anchor", "all"}
        When step j depends on step i: "anchor" draws one edge from the *last* fact of i to every
        fact of j, "all" one from every fact of i.
    terminals : {"step", "fact"}
        "step": all facts of the steps that no other step depends on. "fact": the facts of
        out-degree 0. The two agree for one fact per step and for ``fact_edges="all"``.

    Returns
    -------
    GraphStructure

    Raises
    ------
    ValueError
        For a trace without steps, an empty list of facts, an empty fact, a fact of a step that
        does not exist, a step that depends on itself or on a later one, or an unknown rule.

    Notes
    -----
    A step for which the decomposer gave no fact is left out: whoever depends on it depends on its
    parents instead (and on theirs, where those are missing too). Conclusions are found after
    that, so that a dropped last step hands its role to its parents.

    References
    ----------
    Paper A, section 3 ("Causal Fact Decomposition and DAG Construction").

    Examples
    --------
    >>> from scoring.types import Fact, Step, Trace
    >>> trace = Trace((Step(0, "a and b"), Step(1, "so c", (0,))), "c", None)
    >>> s = graph_structure(trace, [Fact("a", 0), Fact("b", 0), Fact("so c", 1)])
    >>> s.edges, s.terminals
    (((1, 2),), (2,))
    >>> graph_structure(trace, s.facts, fact_edges="all").edges
    ((0, 2), (1, 2))
    """
    if fact_edges not in ("anchor", "all"):
        raise ValueError(f"fact_edges must be 'anchor' or 'all', not {fact_edges!r}")
    if terminals not in ("step", "fact"):
        raise ValueError(f"terminals must be 'step' or 'fact', not {terminals!r}")
    nodes = _ordered_facts(trace, facts)
    of_step: dict[int, list[int]] = {}
    for node, fact in enumerate(nodes):
        of_step.setdefault(fact.step, []).append(node)
    parents = _kept_parents(trace, set(of_step))
    edges = []
    for child, members in of_step.items():
        for parent in parents[child]:
            sources = of_step[parent][-1:] if fact_edges == "anchor" else of_step[parent]
            edges += [(u, v) for u in sources for v in members]
    if terminals == "step":
        used = {p for step in of_step for p in parents[step]}
        ends = [node for step, members in of_step.items() if step not in used for node in members]
    else:
        sources_used = {u for u, _ in edges}
        ends = [node for node in range(len(nodes)) if node not in sources_used]
    dropped = tuple(s.index for s in trace.steps if s.index not in of_step)
    return GraphStructure(nodes, tuple(sorted(edges)), tuple(sorted(ends)), dropped)


def with_missing_rule(trace: Trace, missing: Missing) -> Trace:
    """Return a trace that was read under the rule ``chain`` as another rule reads it.

    Parameters
    ----------
    trace : Trace
        Parsed with ``missing="chain"``.
    missing : {"chain", "premise", "exclude"}
        What a step without any annotation is: a consequence of the step before it, a premise, or
        a reason to leave the trace out (no steps, issue ``unannotated``).

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        For another rule.

    Notes
    -----
    Gives what parsing under that rule gives, except where an unannotated step *without text* was
    dropped between a step and its user: what was inherited through it stays.

    Examples
    --------
    >>> from scoring.types import Step
    >>> trace = Trace((Step(0, "a"), Step(1, "b", (0,), annotated=False)), "c", None)
    >>> with_missing_rule(trace, "premise").steps[1].depends_on
    ()
    >>> with_missing_rule(trace, "exclude").usable
    False
    """
    if missing not in get_args(Missing):
        raise ValueError(f"missing must be 'chain', 'premise' or 'exclude', not {missing!r}")
    if missing == "chain" or trace.unannotated == 0:
        return trace
    if missing == "exclude":
        told = f"{trace.unannotated} of {len(trace.steps)} steps have no annotation"
        return replace(trace, steps=(), issues=(*trace.issues, ParseIssue("unannotated", told)))
    steps = tuple(s if s.annotated else replace(s, depends_on=()) for s in trace.steps)
    return replace(trace, steps=steps)


def build_graph(
    trace: Trace,
    embed: Embed,
    *,
    facts: Sequence[Fact] | None = None,
    fact_edges: FactEdges = "anchor",
    terminals: Terminals = "step",
    answer: Any | EllipsisType = ...,
) -> ReasoningGraph:
    """Return the reasoning graph of a trace.

    Parameters
    ----------
    trace : Trace
        A parsed trace with at least one step.
    embed : mapping or callable
        From a fact's text to its vector, shape (d,). Asked once for every distinct text.
    facts, fact_edges, terminals
        As for `graph_structure`.
    answer : hashable, optional
        In place of the trace's own normalised answer.

    Returns
    -------
    ReasoningGraph
        With facts, answer and terminals set.

    Raises
    ------
    ValueError
        As `graph_structure`, and for a text that has no vector, or one that is not finite, is
        zero, or has another length than the first.

    Examples
    --------
    >>> from scoring.types import Step, Trace
    >>> trace = Trace((Step(0, "a"), Step(1, "so c", (0,))), "c", ("text", "c"))
    >>> g = build_graph(trace, {"a": [1.0, 0.0], "so c": [0.0, 1.0]})
    >>> g.edges, g.terminals, g.answer
    (((0, 1),), (1,), ('text', 'c'))
    """
    s = graph_structure(trace, facts, fact_edges=fact_edges, terminals=terminals)
    vectors: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for node, fact in enumerate(s.facts):
        if fact.text not in vectors:
            vectors[fact.text] = _vector(embed, fact, node)
    width = len(vectors[s.facts[0].text])
    for node, fact in enumerate(s.facts):
        if len(vectors[fact.text]) != width:
            raise ValueError(
                f"the vector of fact {node} has {len(vectors[fact.text])} dimensions, "
                f"that of fact 0 has {width}"
            )
    return ReasoningGraph(
        np.stack([vectors[f.text] for f in s.facts]),
        s.edges,
        s.facts,
        trace.answer if answer is ... else answer,
        s.terminals,
    )


def _vector(embed: Embed, fact: Fact, node: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    if callable(embed):
        found = embed(fact.text)
    elif fact.text in embed:
        found = embed[fact.text]
    else:
        raise ValueError(f"no embedding for fact {node} (step {fact.step}): {fact.text!r}")
    vector = np.asarray(found, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"the embedding of fact {node} (step {fact.step}) must be a vector, "
            f"not an array of shape {vector.shape}"
        )
    if not np.isfinite(vector).all() or not vector.any():
        what = "zero" if np.isfinite(vector).all() else "not finite"
        raise ValueError(
            f"the embedding of fact {node} (step {fact.step}) is {what}: {fact.text!r}"
        )
    return vector


def _ordered_facts(trace: Trace, facts: Sequence[Fact] | None) -> tuple[Fact, ...]:
    """Return the facts by ascending step (stable), checked against the trace."""
    if not trace.usable:
        raise ValueError("the trace has no steps: it is excluded and counted, never scored")
    for place, step in enumerate(trace.steps):
        if step.index != place:
            raise ValueError(f"the step at place {place} says it has index {step.index}")
    if facts is None:
        return tuple(Fact(step.text, step.index) for step in trace.steps)
    if not facts:
        raise ValueError("facts is empty: give at least one, or None for one fact per step")
    for place, fact in enumerate(facts):
        if not 0 <= fact.step < len(trace.steps):
            raise ValueError(
                f"fact {place} belongs to step {fact.step}, outside 0..{len(trace.steps) - 1}"
            )
        if not fact.text.strip():
            raise ValueError(f"fact {place} (step {fact.step}) is empty")
    return tuple(sorted(facts, key=lambda f: f.step))


def _kept_parents(trace: Trace, kept: set[int]) -> dict[int, tuple[int, ...]]:
    """Return every step's parents among the kept steps, looking through the dropped ones."""
    parents: dict[int, tuple[int, ...]] = {}
    for step in trace.steps:
        found: set[int] = set()
        for i in step.depends_on:
            if not 0 <= i < step.index:
                raise ValueError(f"step {step.index} depends on step {i}, which is not before it")
            found.update((i,) if i in kept else parents[i])
        parents[step.index] = tuple(sorted(found))
    return parents
