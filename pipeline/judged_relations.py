"""Stated pairs, cycles of statements, and what made an edge of one wrong, as items to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judges.item_judge import ItemContent
from judges.relation_judge import StatedRelation, cause_content, cycle_content, pair_content
from pipeline.judged import ListedSource, register
from pipeline.relation_review import StatedEdge, shown_case
from pipeline.relation_truth import category_of, edge_truths
from store import Store
from store.relation_records import RelationCase

ASKED = {
    "temporal": "Whether the first came before or after the second.",
    "spatial": "In which direction the first lies from the second.",
    "contradiction": "In which direction the first lies from the second.",
    "kinship": "What the first is to the second: the first is the … of the second.",
}
"""What was asked of each two things, by kind of set."""


def asked_text(store: Store, case: RelationCase) -> str:
    """Return what the model was asked, what counts, and what it was told."""
    shown = shown_case(store, case)
    lines = [ASKED[case.set.kind]]
    if shown.about:
        lines.append(f"What counts: {shown.about}")
    if shown.told:
        lines += ["This was told:", *(f"- {line}" for line in shown.told)]
    return "\n".join(lines)


def _statement(stated: StatedEdge) -> StatedRelation:
    reply = next((x.text for x in stated.behind if x.text and x.text.strip()), None)
    return StatedRelation(stated.edge.a, stated.edge.b, stated.words, reply)


def _statements(store: Store, case: RelationCase) -> list[StatedRelation]:
    return [_statement(e) for e in shown_case(store, case).edges]


def _pairs(store: Store, keys: Sequence[str]) -> Mapping[str, ItemContent]:
    return {
        case.item: pair_content(_statements(store, case)[0], asked_text(store, case))
        for case in store.relation_statements(keys)
    }


def _cycles(store: Store, keys: Sequence[str]) -> Mapping[str, ItemContent]:
    return {
        case.item: cycle_content(_statements(store, case), asked_text(store, case))
        for case in store.relation_statements(keys)
    }


def _causes(store: Store, keys: Sequence[str]) -> Mapping[str, ItemContent]:
    wrong = _wrong_edges(store, keys)
    return {
        case.item: cause_content(
            _statements(store, case),
            wrong[case.item],
            asked_text(store, case),
            _facts(store, case),
        )
        for case in store.relation_statements([k for k in keys if k in wrong])
    }


def _cause_keys(store: Store) -> Sequence[str]:
    """Return the cycles of which an edge is known to be wrong, and the reply behind it is known."""
    keys = store.relation_item_keys("cycle")
    wrong = _wrong_edges(store, keys)
    found = []
    for case in store.relation_statements([k for k in keys if k in wrong]):
        if _statements(store, case)[wrong[case.item] - 1].reply is not None:
            found.append(case.item)
    return found


def _wrong_edges(store: Store, keys: Sequence[str]) -> dict[str, int]:
    """Return the first edge that is wrong by the truth, counted from 1, where the truth tells it."""
    found = {}
    for case, objects, facts in store.relation_truths(keys):
        word = category_of("cycle", edge_truths(case, objects, facts))
        if word is not None and word != "none":
            found[case.item] = int(word.removeprefix("edge"))
    return found


def _facts(store: Store, case: RelationCase) -> str:
    """Return what the same model said of the case's objects when asked for each by itself."""
    names = {n for e in case.edges for n in (e.a, e.b)}
    objects = {o.position: o.name for o in store.relation_objects(case.set.id)}
    lines = []
    for asking in store.relation_askings(case.set.id, "objects"):
        if asking.model == case.asking.model:
            for row in store.relation_values(asking.id):
                if objects[row.object] in names and row.value is not None:
                    said = row.value if isinstance(row.value, tuple) else (row.value,)
                    lines.append(f"{objects[row.object]}: {', '.join(f'{v:g}' for v in said)}")
            break
    return "\n".join(lines)


register(
    "pair_judge",
    ListedSource(
        "stated pairs",
        lambda store: store.relation_item_keys("pair"),
        _pairs,
        "medoid relations review --pairs draws some",
    ),
)
register(
    "cycle_judge",
    ListedSource(
        "cycles",
        lambda store: store.relation_item_keys("cycle"),
        _cycles,
        "medoid relations review finds them",
    ),
)
register(
    "cause_judge",
    ListedSource(
        "cycles with an edge known to be wrong",
        _cause_keys,
        _causes,
        "medoid relations review finds cycles, and import brings the truth of their objects",
    ),
)
