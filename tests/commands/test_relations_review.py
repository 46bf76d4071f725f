"""`medoid relations review`: what becomes a queue, twice the same, and nothing sealed told."""

from __future__ import annotations

import pytest

from store import open_store
from tests.commands.planted import DB
from tests.definitions.running import medoid
from tests.store.relation_world import FILMS, answer, ask


@pytest.fixture(autouse=True)
def _answered() -> None:
    with open_store(DB) as store:
        asking = ask(store)
        answer(
            store,
            asking,
            {(0, 1): "before", (1, 0): "before", (0, 2): "before", (2, 3): "before"},
        )


def test_contradictions_become_a_queue_and_a_second_run_changes_nothing() -> None:
    ran = medoid("relations", "review", "--pairs", "3", "--json")
    (row,) = ran.json["reviews"]
    assert (ran.code, row["set"], row["asked"]) == (0, FILMS.name, "m")
    assert (row["contradictions"], row["queued"], row["new"], row["pairs"]) == (1, 1, 1, 3)
    assert row["by_axis"] == {"time": 1}
    with open_store(DB) as store:
        ana = store.rater("ana").id
        queue = store.relation_queue(ana)
        assert len(store.relation_queue(ana, "pair")) == 3
        assert {x.label.rater for x in store.export_labels(schema="cycle")} == {"truth"}
    (again,) = medoid("relations", "review", "--pairs", "3", "--json").json["reviews"]
    assert (again["queued"], again["new"], again["withdrawn"]) == (1, 0, 0)
    with open_store(DB) as store:
        assert store.relation_queue(store.rater("ana").id) == queue


def test_it_is_said_in_words_and_tells_nothing_of_the_truth() -> None:
    ran = medoid("relations", "review")
    assert (ran.code, "films/old · m: 1 contradictions" in ran.out) == (0, True)
    assert ran.out.endswith("review them in the workbench: medoid, then o, then enter on a line\n")
    assert not [o for o in FILMS.objects if f"{o.truth:g}" in ran.out]
    assert "edge" not in ran.out


def test_a_name_nobody_asked_under_is_refused() -> None:
    ran = medoid("relations", "review", "--name", "odd")
    assert (ran.code, "nobody called 'odd' was asked" in ran.err) == (2, True)
