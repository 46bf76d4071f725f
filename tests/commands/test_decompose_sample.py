"""`medoid decompose --sample`: which decomposed traces people label."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import open_store
from tests.definitions.running import DB, medoid
from tests.store.models_world import decomposed, pools_of


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(DB) as store:
        pools_of(store, [4, 6])
        decomposed(store)


def sampled() -> list[int]:
    with open_store(DB) as store:
        made = store.decompositions()[0].id
        return [r.trace_id for r in store.decomposition_rows(made, store.rater("ana").id).rows]


def test_a_seeded_sample_is_drawn_and_nothing_is_asked() -> None:
    ran = medoid("decompose", "--sample", "4", "--seed", "3")
    assert ran.code == 0
    assert "decomposition split: 4 of 10 traces with facts to label" in ran.out
    assert "each with probability 0.4 (seed 3)" in ran.out
    first = sampled()
    assert len(first) == 4
    again = medoid("decompose", "--sample", "4", "--seed", "3", "--json")
    assert (again.json["n_same"], again.json["n_new"]) == (4, 0)
    assert sampled() == first
    other = medoid("decompose", "--sample", "4", "--seed", "4", "--json").json
    assert other["n_new"] + other["n_same"] == 4
    assert (other["decomposition"], other["probability"], other["n_sampled"]) == ("split", 0.4, 4)


def test_which_decomposition_must_be_clear() -> None:
    with open_store(DB) as store:
        decomposed(store, "other")
    ran = medoid("decompose", "--sample", "4")
    assert (ran.code, ran.out) == (2, "")
    assert "say which decomposition with --name; there are: split, other" in ran.err
    assert medoid("decompose", "--sample", "4", "--name", "other").code == 0
    assert sampled() == []
    ran = medoid("decompose", "--sample", "4", "--name", "odd")
    assert (ran.code, "there are: split, other" in ran.err) == (2, True)
    assert medoid("decompose", "--sample", "0", "--name", "split").code == 2


def test_what_people_labelled_stays() -> None:
    assert medoid("decompose", "--sample", "10").code == 0
    with open_store(DB) as store:
        trace = sampled()[0]
        made = store.decompositions()[0].id
        for ref in store.criterion_items(made, trace):
            schema = store.schema("decomposition")
            store.commit_label(store.rater("ana").id, ref.item_id, schema, category="yes")
    for seed in range(6):
        drawn = medoid("decompose", "--sample", "1", "--seed", str(seed), "--json").json
        assert trace in sampled()
        assert drawn["n_kept"] == 1 or drawn["n_same"] + drawn["n_new"] == 1
