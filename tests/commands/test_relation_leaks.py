"""No command tells a sealed reviewer of relations what is true, repaired or judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.relation_truth import label_truth
from store import open_store
from store.label_records import Category, NewLabel, SchemaSpec
from store.relation_records import Contradiction
from tests.commands.planted import DB
from tests.definitions.running import medoid
from tests.store.relation_world import FILMS, answer, ask

SECRETS = {
    "truth": "1777.25",
    "how the source writes it": "STATEDWORD",
    "category": "VERDICTWORD",
    "rationale": "RATIONALEWORD",
    "repair": "0.0987654",
}
SET = replace(
    FILMS,
    objects=tuple(
        replace(o, truth=1777.25 + k, stated="STATEDWORD") for k, o in enumerate(FILMS.objects)
    ),
)


@pytest.fixture(autouse=True)
def _planted() -> None:
    """Two cycles and two pairs: ana has labelled one of each, a judge and the truth all."""
    with open_store(DB) as store:
        old = store.schema("cycle")
        categories = (*old.categories, Category("v", SECRETS["category"]))
        store.version_schema(SchemaSpec("cycle", "cycle", old.question, old.guideline, categories))
        asking = ask(store, SET)
        answer(store, asking, {(a, b): "before" for a in range(4) for b in range(4) if a != b})
        store.save_relation_review(
            asking,
            [
                Contradiction("time", ((0, 1), (1, 0)), 1, 0, (987654, 1)),
                Contradiction("time", ((2, 3), (3, 2)), 1, 0, (987654, 1)),
            ],
        )
        store.make_relation_sample(asking, 2)
        ana = store.rater("ana").id
        for schema, category in (("cycle", SECRETS["category"]), ("pair", "wrong")):
            rows = store.relation_queue(ana, schema)
            with store.importing() as batch:
                for row in rows:
                    batch.add_label(
                        NewLabel(
                            row.item, schema, "judge", "judge", "labelled", category,
                            rationale=SECRETS["rationale"],
                        )
                    )  # fmt: skip
            own = "edge1" if schema == "cycle" else "right"
            store.commit_label(ana, rows[0].item_id, store.schema(schema), category=own)
        label_truth(store)


CALLS = [
    ["items", "list"],
    ["items", "list", "--rater", "ana"],
    ["items", "list", "--verdicts", "--rater", "ana"],
    ["items", "export"],
    ["export", "items"],
    ["export", "items", "--format", "csv"],
    ["export", "labels"],
    ["export", "labels", "--rater", "ana"],
    ["export", "labels", "--rater", "judge"],
    ["export", "labels", "--rater", "truth"],
    ["export", "labels", "--schema", "cycle", "--format", "csv"],
    *(
        ["agreement", *rest, "--schema", schema]
        for schema in ("cycle", "pair")
        for rest in (
            [],
            ["ana", "judge"],
            ["ana", "truth"],
            ["--judge", "judge", "--truth", "ana"],
            ["--judge", "judge", "--truth", "truth"],
        )
    ),
    ["import", "wrong.csv", "--dataset", SET.name],
    ["import", "wrong.jsonl"],
    ["schema", "list"],
    ["doctor"],
]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_nothing_sealed_is_told(call: list[str], form: list[str]) -> None:
    Path("wrong.csv").write_text("name,year\nRan,1\nUp,STATED\n", encoding="utf-8")
    row = {"set": SET.name, "model": "m", "a": "Ran", "b": "Up", "relation": "after"}
    Path("wrong.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    ran = medoid(*call, *form)
    said = ran.out + ran.err
    # A schema's categories are words of its guideline, and no verdict.
    named = call[0] in ("schema", "agreement")
    found = [w for w, word in SECRETS.items() if word in said and not (named and w == "category")]
    assert found == []
    with open_store(DB) as store:
        assert store.unseals() == ()


@pytest.mark.parametrize("schema", ["cycle", "pair"])
@pytest.mark.parametrize("other", ["judge", "truth"])
def test_a_running_comparison_does_not_follow_ones_last_label(schema: str, other: str) -> None:
    """Two labels that agree and disagree with the other's leave the same table."""
    told = []
    for category in ("edge1", "edge2") if schema == "cycle" else ("right", "wrong"):
        with open_store(DB) as store:
            ana = store.rater("ana").id
            first = store.relation_queue(ana, schema)[0]
            store.commit_label(ana, first.item_id, store.schema(schema), category=category)
        found = medoid("agreement", "ana", other, "--schema", schema, "--json").json["pairs"][0]
        told.append((found["confusion"], found["held"]))
    assert told[0] == told[1]
    assert told[0][0]["n"] == 0
