"""The review of a model's contradictions: which are shown, in which order, and what each one says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.relation_asking import told_lines
from pipeline.relation_view import AskedSet, asked_set, word_kind
from store import Store
from store.relation_records import (
    MOST_EDGES,
    AskingRecord,
    CaseEdge,
    Contradiction,
    RelationCase,
    ReviewMade,
    SaidAnswer,
)

LIMIT = 200
"""So many contradictions of one asking are put before a reviewer: those whose mend breaks most."""

WORDS_OF_AXIS = {"time": "before", "x": "west of", "y": "south of"}
"""What "a before b" says on an axis."""

BothWays = Literal["agree", "contradict", "one way", "unread"]


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """What making a review did. Of `n_found` contradictions `n_too_long` have more edges than can
    be labelled, and `n_beyond` stand behind the limit; `n_by_axis` counts those put into the queue.
    """

    asking: AskingRecord
    made: ReviewMade
    n_found: int
    n_too_long: int
    n_beyond: int
    n_by_axis: dict[str, int]


def make_review(store: Store, asking: AskingRecord, *, limit: int | None = LIMIT) -> ReviewSummary:
    """Find the contradictions of an asking and make them the queue; a second time changes nothing.

    Raises
    ------
    ValueError
        When the limit is less than 1, or there are no answers.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"a limit of {limit} contradictions; at least 1 is right")
    asked = asked_set(store, asking)
    if not any(a.relation for a in asked.answers):
        raise ValueError(
            f"{asked.name}: no answer has a relation: medoid relations ask (or import) first"
        )
    found = contradictions(asked)
    usable = [c for c in found if len(c.edges) <= MOST_EDGES]
    kept = usable[:limit]
    made = store.save_relation_review(asking.id, kept, {"limit": limit})
    return ReviewSummary(
        asking,
        made,
        len(found),
        len(found) - len(usable),
        len(usable) - len(kept),
        dict(sorted(Counter(c.axis for c in kept).items())),
    )


def contradictions(asked: AskedSet) -> tuple[Contradiction, ...]:
    """Return what contradicts itself in a set of answers, in the order of the review.

    First pairs answered both ways, then cycles (or excluded triples), then persons of two genders;
    each by how many contradictions a mend would break, most first.
    """
    return _of_family(asked) if asked.kind == "kinship" else _of_orders(asked)


def _of_orders(asked: AskedSet) -> tuple[Contradiction, ...]:
    from scoring.relations import review_cycles

    found = []
    for place, axis in enumerate(asked.axes):
        for item in review_cycles(axis.edges, len(asked.objects)).items:
            one = Contradiction(
                axis.name,
                item.edges,
                item.breaks,
                item.edges.index(item.reverse),
                item.edge_breaks,
            )
            found.append((item.kind != "pair", -item.breaks, len(item.nodes), place, one))
    return tuple(one for *_, one in sorted(found, key=lambda f: f[:4]))


def _of_family(asked: AskedSet) -> tuple[Contradiction, ...]:
    """Read the first answer to each pair: words are no multiset."""
    from scoring.relations import kinship_contradictions

    names = [str(k) for k in range(len(asked.objects))]
    first = min((a.repeat for a in asked.answers), default=0)
    said = {(names[a.a], names[a.b]): a.relation for a in asked.answers if a.repeat == first}
    found = kinship_contradictions(said)

    def made(
        axis: str, edges: Sequence[tuple[str, str]], suspect: tuple[str, str] | None
    ) -> Contradiction:
        blame = tuple(found.blame.get(e, 0) for e in edges)
        return Contradiction(
            axis,
            tuple((int(a), int(b)) for a, b in edges),
            max(blame),
            None if suspect is None else edges.index(suspect),
            blame,
        )

    pairs = [made("inverse", ((p.a, p.b), (p.b, p.a)), p.suspect) for p in found.pairs]
    triples = [
        made("triple", ((x.a, x.b), (x.b, x.c), (x.a, x.c)), x.suspect) for x in found.triples
    ]
    genders = [made("gender", _both_genders(g.male, g.female), None) for g in found.genders]
    return (*pairs, *triples, *genders)


def _both_genders(
    male: Sequence[tuple[str, str]], female: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Return statements of both genders, as many as can be labelled and of each as many as fit."""
    n = min(len(male), max(MOST_EDGES // 2, MOST_EDGES - len(female)))
    edges = dict.fromkeys((*male[:n], *female[: MOST_EDGES - n]))
    return tuple(edges)


@dataclass(frozen=True, slots=True)
class StatedEdge:
    """One edge of a case as it is read out: a `words` b.

    `both_ways` says how the answers to (a, b) and (b, a) go together: they ``agree``,
    ``contradict`` each other, or only ``one way`` has a usable answer. `behind` are the answers
    that state the edge: of an order also those that say it from b's side.
    """

    edge: CaseEdge
    words: str
    both_ways: BothWays
    behind: tuple[SaidAnswer, ...]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """A pair or cycle as a sealed rater sees it, with what counts and what the model was told."""

    case: RelationCase
    edges: tuple[StatedEdge, ...]
    about: str
    told: tuple[str, ...]


def review_case(store: Store, item_id: int, rater_id: int) -> ReviewCase:
    """Return a case of the queue for a screen: nothing of truth, repair or verdicts.

    Raises
    ------
    ValueError
        When the item is no pair or cycle.
    """
    return shown_case(store, store.relation_case(item_id, rater_id))


def shown_case(store: Store, case: RelationCase) -> ReviewCase:
    """Return a case with its edges read out."""
    return ReviewCase(
        case,
        tuple(stated_edge(case, e) for e in case.edges),
        str(case.set.extra.get("about", "")),
        told_lines(store, case.set),
    )


def stated_edge(case: RelationCase, edge: CaseEdge) -> StatedEdge:
    """Return an edge in words, with the answers behind it."""
    if case.axis in WORDS_OF_AXIS:
        return _on_axis(case, edge, case.axis)
    said = next((x.relation for x in edge.there if x.relation is not None), None)
    back = next((x.relation for x in edge.back if x.relation is not None), None)
    return StatedEdge(edge, said or "no relation", _both_words(case, said, back), edge.there)


def _on_axis(case: RelationCase, edge: CaseEdge, axis: str) -> StatedEdge:
    there = [(x, _precedes(case, x, axis)) for x in edge.there]
    back = [(x, _precedes(case, x, axis)) for x in edge.back]
    forward = [said for _, said in there] + [None if s is None else not s for _, s in back]
    read = [said for said in forward if said is not None]
    sides = [any(s is not None for _, s in side) for side in (there, back)]
    both: BothWays = "agree" if all(sides) else "one way"
    if not read:
        both = "unread"
    elif False in read and True in read:
        both = "contradict"
    behind = [x for x, said in there if said is True] + [x for x, said in back if said is False]
    return StatedEdge(edge, WORDS_OF_AXIS[axis], both, tuple(behind))


def _precedes(case: RelationCase, said: SaidAnswer, axis: str) -> bool | None:
    """Return whether an answer says that its first object comes first on the axis."""
    from scoring.relations import axis_edges

    found = axis_edges([(0, 1, said.relation)], word_kind(case.set.kind))
    if not found.sources:
        return None
    return found[axis] == ((0, 1),)


def _both_words(case: RelationCase, there: str | None, back: str | None) -> BothWays:
    from scoring.relations import SELF, WORDS, axis_word, compose

    if there is None or back is None:
        return "unread" if there is back else "one way"
    if case.set.kind == "kinship":
        if there not in WORDS or back not in WORDS:
            return "unread"
        allowed = compose(there, back)
        return "contradict" if allowed is not None and SELF not in allowed else "agree"
    kind = word_kind(case.set.kind)
    first, second = axis_word(there, kind), axis_word(back, kind)
    if first is None or second is None:
        return "agree" if there == back else "contradict"
    return "agree" if _INVERSE[first] == second else "contradict"


_INVERSE = {
    "before": "after",
    "after": "before",
    "northeast": "southwest",
    "southwest": "northeast",
    "northwest": "southeast",
    "southeast": "northwest",
}
