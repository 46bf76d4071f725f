"""What the judges of relations are shown: a stated pair, a cycle of them, or one reply behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judges.item_judge import Block, ItemContent
from judges.plain import one_line

PAIR_ROLE, CYCLE_ROLE, CAUSE_ROLE = "pair_judge", "cycle_judge", "cause_judge"
MOST_EDGES = 9
"""The categories of the schema that ships count as far."""


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """What a model said of two objects in this order: the relation's words, its reply if kept."""

    a: str
    b: str
    relation: str
    reply: str | None = None

    @property
    def line(self) -> str:
        """The statement in one line."""
        return f"{one_line(self.a)} — {one_line(self.relation)} — {one_line(self.b)}"


def pair_content(stated: StatedRelation, asked: str = "") -> ItemContent:
    """Return what is judged of a pair; `asked` is the question the model was asked, if known."""
    blocks = [Block("asked", asked.strip())] if asked.strip() else []
    blocks.append(Block("relation", stated.line, 0))
    if stated.reply is not None and stated.reply.strip():
        blocks.append(Block("reply", stated.reply.strip()))
    return ItemContent(PAIR_ROLE, tuple(blocks))


def cycle_content(edges: Sequence[StatedRelation], asked: str = "") -> ItemContent:
    """Return what is judged of a cycle: its edges, numbered from 1 as the categories count them.

    Raises
    ------
    ValueError
        For a cycle of fewer than two edges, or more than the categories can name.
    """
    if not 2 <= len(edges) <= MOST_EDGES:
        raise ValueError(f"a cycle of {len(edges)} edges; from 2 to {MOST_EDGES} can be judged")
    lines = [f"edge{n}: {edge.line}" for n, edge in enumerate(edges, start=1)]
    blocks = [Block("asked", asked.strip())] if asked.strip() else []
    blocks.append(Block("edges", "\n".join(lines), 0))
    return ItemContent(CYCLE_ROLE, tuple(blocks))


def cause_content(
    edges: Sequence[StatedRelation], wrong: int, asked: str = "", facts: str = ""
) -> ItemContent:
    """Return what is judged of an edge that is held for wrong: the cycle, that edge, its reply.

    `wrong` counts from 1. `facts` is what the model said when asked for each object itself.

    Raises
    ------
    ValueError
        When there is no such edge, or the model's reply to it is not known.
    """
    cycle = cycle_content(edges, asked)
    if not 1 <= wrong <= len(edges):
        raise ValueError(f"edge{wrong}; the cycle has edges from 1 to {len(edges)}")
    reply = edges[wrong - 1].reply
    if reply is None or not reply.strip():
        raise ValueError(f"the reply behind edge{wrong} is not known: its cause cannot be judged")
    body = reply.strip()
    blocks = [
        *(Block(b.name, b.text) for b in cycle.blocks),
        Block("wrong", f"edge{wrong}: {edges[wrong - 1].line}"),
        Block("reply", body, body.count("\n")),
    ]
    if facts.strip():
        blocks.append(Block("facts", facts.strip()))
    return ItemContent(CAUSE_ROLE, tuple(blocks))
