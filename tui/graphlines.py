"""Reasoning graphs in lines: a lane for every node that is used, and what a node hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from store.records import PathView
from tui import wording
from tui.charts import arcs, arcs_between, support_glyph
from tui.text import cut, hang, one_line, safe, wrap
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from pipeline.pool_view import PoolView, ViewedTrace
    from scoring.graphs import StepEvidence

LANES = 12
"""So many lanes are drawn at most; of a graph with more, those of the node under the cursor."""

SUPPORT_STYLE = ((0.75, "$success"), (0.25, "$warning"), (-1.0, "$error"))
"""Colour beside the glyph, which says it by itself."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a drawn graph. `support` None: not to be seen, or undefined."""

    text: str
    parents: tuple[int, ...]
    number: str
    annotated: bool = True
    terminal: bool = False
    support: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A graph to draw; `supported` says whether support may be seen."""

    name: str
    title: Content
    nodes: tuple[Node, ...]
    supported: bool = False
    trace_id: int | None = None

    def children(self, node: int) -> tuple[int, ...]:
        """Return the nodes that depend on a node."""
        return tuple(i for i, n in enumerate(self.nodes) if node in n.parents)


def steps_drawn(
    name: str, title: Content, path: PathView, support: Sequence[float | None] | None = None
) -> Drawn:
    """Return a path's steps as a graph: structure only, unless support is given."""
    used = {p for step in path.steps for p in step.depends_on}
    nodes = tuple(
        Node(
            s.text,
            s.depends_on,
            str(s.index),
            s.annotated,
            s.index not in used,
            None if support is None else support[s.index],
        )
        for s in path.steps
    )
    return Drawn(name, title, nodes, support is not None, path.trace_id)


def facts_drawn(name: str, title: Content, trace: ViewedTrace, path: PathView) -> Drawn:
    """Return a scored trace's facts as a graph, with their support."""
    per_step: dict[int, int] = {}
    nodes = []
    many = len(trace.nodes) != len({n.step for n in trace.nodes})
    for node in trace.nodes:
        place = per_step[node.step] = per_step.get(node.step, -1) + 1
        annotated = node.step >= len(path.steps) or path.steps[node.step].annotated
        number = f"{node.step}{_letter(place)}" if many else str(node.step)
        nodes.append(Node(node.text, node.parents, number, annotated, node.terminal, node.support))
    return Drawn(name, title, tuple(nodes), True, trace.trace_id)


def _letter(place: int) -> str:
    """Return the letter of a step's fact.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', '.27')
    """
    return chr(ord("a") + place) if place < 26 else f".{place + 1}"


def graph_lines(drawn: Drawn, width: int, *, first: int = 0, here: int | None = None) -> list[Row]:
    """Lay out a graph, one node a paragraph; node i is item ``first + i``.

    Where more than `LANES` lanes would be needed only those of the node `here` are drawn.
    """
    if not drawn.nodes:
        return [Row(Content(" no steps"))]
    lanes = arcs([n.parents for n in drawn.nodes])
    if len(lanes[0]) > 2 * LANES:
        lanes = arcs(
            [() if here is None else _near(drawn, i, here) for i in range(len(drawn.nodes))]
        )
    digits = max(len(n.number) for n in drawn.nodes)
    rows: list[Row] = []
    for i, node in enumerate(drawn.nodes):
        glyph = Content("")
        if drawn.supported:
            glyph = Content(" ") + Content.styled(
                support_glyph(node.support), _colour(node.support)
            )
        number = Content.styled(f" {node.number:>{digits}}", "bold") + glyph + Content(" ")
        marks = ("" if node.annotated else "? ") + ("∴ " if node.terminal else "")
        room = max(width - len(number.plain) - len(lanes[i]) - 1, 10)
        text = wrap(Content(marks) + safe(node.text, newlines=True), room)
        below = " " * len(number.plain) + arcs_between(lanes, i) + " "
        for k, line in enumerate(text):
            lead = number + Content(lanes[i] + " ") if k == 0 else Content(below)
            rows.append(Row(lead + line, first + i, k == 0))
    return rows


def too_many(drawn: Drawn) -> bool:
    """Return whether a graph is drawn around the cursor only."""
    return bool(drawn.nodes) and len(arcs([n.parents for n in drawn.nodes])[0]) > 2 * LANES


def _near(drawn: Drawn, node: int, here: int) -> tuple[int, ...]:
    """Return the parents of a node whose lanes touch `here`."""
    parents = drawn.nodes[node].parents
    return parents if node == here else tuple(p for p in parents if p == here)


def _colour(share: float | None) -> str:
    if share is None:
        return ""
    return next(style for least, style in SUPPORT_STYLE if share >= least)


def node_lines(
    drawn: Drawn, node: int, width: int, *, view: PoolView | None = None, limit: int | None = 4
) -> list[Content]:
    """Say what a node hangs on, what hangs on it and, where it may be seen, what supports it."""
    chosen = drawn.nodes[node]
    told = [
        f"uses {_names(drawn, chosen.parents)}" if chosen.parents else "a premise: uses nothing",
        f"used by {_names(drawn, drawn.children(node))}"
        if drawn.children(node)
        else "used by nothing",
    ]
    if chosen.terminal:
        told.append("a conclusion")
    head = Content.styled(f" {drawn.name} {chosen.number} ", "bold")
    lines = hang(head, Content("  ·  ".join(told)), width)
    if view is not None and drawn.trace_id is not None:
        found = view.evidence(drawn.trace_id, node)
        if found is not None:
            lines += evidence_lines(view, found, width, limit=limit)
    return lines


def _names(drawn: Drawn, nodes: Sequence[int]) -> str:
    return ", ".join(drawn.nodes[i].number for i in nodes)


def evidence_lines(
    view: PoolView, found: StepEvidence, width: int, *, limit: int | None = None
) -> list[Content]:
    """Say how many other traces hold a fact, and the nearest fact of each, nearest first."""
    if found.others == 0:
        return [Content(" no other trace has a vote: support is undefined")]
    lines = [
        Content(
            f" {support_glyph(found.support)} supported by {found.supporting} of {found.others} "
            f"other traces (cosine ≥ {found.tau:g})"
        )
    ]
    for near in found.nearest[:limit]:
        other = view.traces[near.graph]
        text = other.nodes[near.node].text
        mark = "✓" if near.supports else " "
        head = (
            Content(f" {mark} {near.cosine:5.2f} trace ")
            + safe(other.sample)
            + Content(" (")
            + cut(wording.answer(other.answer), 14)
            + Content("): ")
        )
        if limit is None:
            lines += hang(head, safe(text, newlines=True), width)
        else:
            lines.append(cut(head + one_line(text), width))
    return [cut(line, width) for line in lines]
