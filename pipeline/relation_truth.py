"""What is true of a reviewed pair or cycle, and truth as a rater that labels are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.relation_review import WORDS_OF_AXIS, StatedEdge, stated_edge
from pipeline.relation_view import word_kind
from store import Store
from store.label_records import NewLabel, SchemaRecord
from store.relation_records import RelationCase, RelationTruth, ShownObject

TRUTH = "truth"
"""The reference rater under whose name the truth of a set labels its pairs and cycles."""

_OPPOSITE = {"time": "after", "x": "east of", "y": "north of"}


@dataclass(frozen=True, slots=True)
class EdgeTruth:
    """Whether an edge is right, None where nothing tells; `true` is the right word, if known."""

    number: int
    right: bool | None
    true: str | None


@dataclass(frozen=True, slots=True)
class ReviewTruth:
    """What the seal hid of a case: for a screen, after the rater's reveal.

    `first_wrong` is the truth's own label ("edge2", "none", "right", "wrong"), None where the truth
    does not decide it.
    """

    truth: RelationTruth
    edges: tuple[EdgeTruth, ...]
    first_wrong: str | None


def review_truth(store: Store, item_id: int, rater_id: int, schema: SchemaRecord) -> ReviewTruth:
    """Return truth, repair and verdicts of a case.

    Raises
    ------
    SealedError
        While the case is sealed for this rater.
    """
    found = store.relation_truth(item_id, rater_id, schema)
    edges = edge_truths(found.case, found.objects, found.facts)
    return ReviewTruth(found, edges, category_of(found.case.kind, edges))


def edge_truths(
    case: RelationCase,
    objects: Mapping[str, ShownObject],
    facts: Mapping[tuple[str, str], str | None],
) -> tuple[EdgeTruth, ...]:
    """Hold a case's edges against the truth of its objects, or the true words of its pairs."""
    return tuple(_edge_truth(case, stated_edge(case, e), objects, facts) for e in case.edges)


def _edge_truth(
    case: RelationCase,
    stated: StatedEdge,
    objects: Mapping[str, ShownObject],
    facts: Mapping[tuple[str, str], str | None],
) -> EdgeTruth:
    edge = stated.edge
    if case.set.kind == "kinship":
        true = facts.get((edge.a, edge.b))
        return EdgeTruth(edge.number, None if true is None else stated.words == true, true)
    a, b = objects[edge.a].truth, objects[edge.b].truth
    if case.axis is not None:
        k = 1 if case.axis == "y" else 0
        first = a[k] if isinstance(a, tuple) else a
        second = b[k] if isinstance(b, tuple) else b
        if first is None or second is None or first == second:
            return EdgeTruth(edge.number, None, None)
        words = WORDS_OF_AXIS if first < second else _OPPOSITE
        return EdgeTruth(edge.number, first < second, words[case.axis])
    true = _true_word(case, a, b)
    return EdgeTruth(edge.number, None if true is None else stated.words == true, true)


def _true_word(case: RelationCase, a: object, b: object) -> str | None:
    from scoring.relations import quadrant

    if isinstance(a, tuple) and isinstance(b, tuple):
        return quadrant(a, b)
    if isinstance(a, float) and isinstance(b, float) and word_kind(case.set.kind) == "time":
        return None if a == b else "before" if a < b else "after"
    return None


def category_of(kind: str, edges: tuple[EdgeTruth, ...]) -> str | None:
    """Return the truth's label: the first wrong edge, as the schema asks for it.

    None where an edge before it is undecided, for that one might be the first.
    """
    if kind == "pair":
        return {True: "right", False: "wrong"}.get(edges[0].right)  # type: ignore[arg-type]
    for edge in edges:
        if edge.right is None:
            return None
        if not edge.right:
            return f"edge{edge.number}"
    return "none"


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """Of `n` items, `n_decided` have a label by the truth, `n_new` of them a new one."""

    n: int
    n_decided: int
    n_new: int


def label_truth(store: Store) -> TruthSummary:
    """Let the truth label the items of the queues, as a reference rater whose word is sealed.

    Labels are compared with it as with a judge. A second time changes nothing; objects whose truth
    was brought later decide more.
    """
    n = n_new = 0
    labels = []
    for kind in ("pair", "cycle"):
        for case, objects, facts in store.relation_truths(store.relation_item_keys(kind)):
            n += 1
            category = category_of(kind, edge_truths(case, objects, facts))
            if category is not None:
                labels.append(NewLabel(case.item, kind, TRUTH, "reference", "labelled", category))
    for start in range(0, len(labels), 100):
        with store.importing() as batch:
            for label in labels[start : start + 100]:
                n_new += batch.add_label(label) in ("added", "changed")
    return TruthSummary(n, len(labels), n_new)
