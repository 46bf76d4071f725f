"""κ of a person against a judge on the criteria of decomposed traces."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.agreement import default_pairs, pair_report
from pipeline.criteria_agreement import criteria_report
from store import Store, open_store
from store.keys import CRITERIA
from store.records import Category, NewLabel, SchemaSpec
from tests.definitions.running import medoid
from tests.store.models_world import decomposed, pools_of

HUMAN = ("yes yes no", "yes no no", "no no unsure", "yes yes yes")
JUDGE = ("yes yes no", "yes yes no", "yes no no", "yes yes yes")
"""What each says of the three criteria of four traces."""


def judge(store: Store, keys: Sequence[str]) -> None:
    with store.importing() as batch:
        for key, said in zip(keys, JUDGE, strict=True):
            for criterion, category in zip(CRITERIA, said.split(), strict=True):
                item = f"criterion:{key.removeprefix('path:')}/split/{criterion}"
                batch.add_label(
                    NewLabel(item, "decomposition", "gemma", "judge", "labelled", category)
                )


def people(store: Store, split: int, ids: Sequence[int], rater: str = "ana") -> None:
    schema = store.schema("decomposition")
    for trace_id, said in zip(ids, HUMAN, strict=False):
        refs = store.criterion_items(split, trace_id)
        for ref, word in zip(refs, said.split(), strict=True):
            unsure = word == "unsure"
            store.commit_label(
                store.rater(rater).id,
                ref.item_id,
                schema,
                state="unsure" if unsure else "labelled",
                category=None if unsure else word,
            )


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, int, list[int]]:
    path = tmp_path / "medoid.db"
    with open_store(path) as store:
        ids = [i for pool in pools_of(store, [2, 2]) for i in pool]
        split = decomposed(store)
        store.make_decomposition_sample(split, 50, 0)
        keys = [r.key for pool in store.pools() for r in store.pool_traces(pool.id)]
        judge(store, keys)
    return path, split, ids


def test_kappa_on_criteria_by_hand(project: tuple[Path, int, list[int]]) -> None:
    path, split, ids = project
    with open_store(path) as store:
        people(store, split, ids)
        assert default_pairs(store, "decomposition") == (("ana", "gemma"),)
        report = pair_report(store, "ana", "gemma", "decomposition")
    # 11 items that both labelled: yes/yes 6, yes/no 0, no/yes 2, no/no 3
    assert report.table.table.tolist() == [[6, 0], [2, 3]]
    po, pe = 9 / 11, (6 * 8 + 5 * 3) / 121
    assert report.kappa.value == pytest.approx((po - pe) / (1 - pe))
    assert report.states["ana"] == {"unsure": 1}
    assert (report.n_held, report.n_questions) == (0, 2)
    assert report.origins["ana"] == {"pre_reveal": 11, "unknown": 0, "post_reveal": 0}


def test_while_the_sample_is_not_done_nothing_is_compared(
    project: tuple[Path, int, list[int]],
) -> None:
    path, split, ids = project
    with open_store(path) as store:
        people(store, split, ids[:3])
        report = pair_report(store, "ana", "gemma", "decomposition")
        assert int(report.table.table.sum()) == 0
        assert report.kappa.value is None
        assert report.n_held == 9
        people(store, split, ids)
        assert pair_report(store, "ana", "gemma", "decomposition").n_held == 0


def test_the_command_prints_it(
    project: tuple[Path, int, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, split, ids = project
    monkeypatch.chdir(path.parent)
    assert os.path.exists("medoid.db")
    with open_store(path) as store:
        people(store, split, ids)
    ran = medoid("agreement", "--schema", "decomposition")
    assert ran.code == 0
    assert "0.6" in ran.out
    pair = medoid("agreement", "ana", "gemma", "--schema", "decomposition", "--json").json["pairs"][
        0
    ]
    po, pe = 9 / 11, (6 * 8 + 5 * 3) / 121
    assert pair["kappa"]["value"] == pytest.approx((po - pe) / (1 - pe))
    assert pair["schema"] == "decomposition"


def test_each_criterion_by_hand(project: tuple[Path, int, list[int]]) -> None:
    path, split, ids = project
    with open_store(path) as store:
        people(store, split, ids)
        report = criteria_report(store, "ana", "gemma")
        pooled = pair_report(store, "ana", "gemma", "decomposition").table.table
        assert criteria_report(store, "ana", "gemma", "path") is None
    assert report is not None
    assert report.decompositions == ("split",)
    atomic, invented, kept = report.criteria
    assert [c.criterion for c in report.criteria] == list(CRITERIA)
    # atomic: the judge says yes to all; observed and expected are 3/4
    assert atomic.table.table.tolist() == [[3, 0], [1, 0]]
    assert (atomic.kappa.value, atomic.kappa.n, atomic.kappa.dropped) == (0, 4, 0)
    # nothing invented: observed 3/4, by chance (2·3 + 2·1)/16 = 1/2
    assert invented.table.table.tolist() == [[2, 0], [1, 1]]
    assert invented.kappa.value == pytest.approx(0.5)
    # dependencies kept: the unsure one is left out
    assert kept.table.table.tolist() == [[1, 0], [0, 2]]
    assert (kept.kappa.value, kept.kappa.n, kept.kappa.dropped) == (1, 3, 1)
    assert kept.states == {"ana": {"unsure": 1}, "gemma": {}}
    assert (kept.n_questions, invented.n_questions) == (2, 2)
    assert (atomic.table.table + invented.table.table + kept.table.table == pooled).all()


def test_no_criterion_is_told_while_the_sample_is_not_done(
    project: tuple[Path, int, list[int]],
) -> None:
    path, split, ids = project
    with open_store(path) as store:
        people(store, split, ids[:3])
        report = criteria_report(store, "ana", "gemma")
        open_ = criteria_report(store, "ana", "gemma", unsealed=True)
    assert report is not None
    assert open_ is not None
    assert [int(c.table.table.sum()) for c in report.criteria] == [0, 0, 0]
    assert [c.states["ana"] for c in report.criteria] == [{"held": 3, "not labelled": 1}] * 3
    assert [int(c.table.table.sum()) for c in open_.criteria] == [3, 3, 2]


def test_the_command_prints_each_criterion(
    project: tuple[Path, int, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, split, ids = project
    monkeypatch.chdir(path.parent)
    with open_store(path) as store:
        people(store, split, ids)
    lines = medoid("agreement", "ana", "gemma", "--schema", "decomposition").out.splitlines()
    assert "atomic: n 4 items of 2 questions, left out 0" in lines
    kept = lines.index("dependencies kept: n 3 items of 2 questions, left out 1")
    assert lines[kept + 1] == "  ana: 1 unsure"
    assert lines[kept + 6].startswith("  κ 1.000 ")
    assert "judge gemma: 12 verdicts: 4 no, 8 yes; unparsed 0, tied 0" in lines
    told = medoid("agreement", "ana", "gemma", "--schema", "decomposition", "--json").json
    each = told["pairs"][0]["by_criterion"]["criteria"]
    assert list(each) == list(CRITERIA)
    assert each["nothing_invented"]["kappa"]["value"] == pytest.approx(0.5)
    assert each["nothing_invented"]["confusion"]["table"] == [[2, 0], [1, 1]]
    assert each["dependencies_kept"]["kappa"]["dropped"] == 1


def test_another_decompositions_sample_holds_nothing_back(
    project: tuple[Path, int, list[int]],
) -> None:
    path, split, ids = project
    with open_store(path) as store:
        other = decomposed(store, "other")
        store.make_decomposition_sample(other, 50, 0)
        people(store, split, ids)
        finished = pair_report(store, "ana", "gemma", "decomposition")
        assert (int(finished.table.table.sum()), finished.n_held) == (11, 0)
        people(store, other, ids[:2])
        begun = pair_report(store, "ana", "gemma", "decomposition")
        report = criteria_report(store, "ana", "gemma")
    # What is labelled of the other one, whose sample is not done, stays apart.
    assert (int(begun.table.table.sum()), begun.n_held) == (11, 6)
    assert report is not None
    assert report.decompositions == ("split",)


FAULTS = SchemaSpec(
    "faults",
    "path",
    "Which faults?",
    "Look.",
    (Category("1", "sum"), Category("2", "step"), Category("3", "none", excludes_others=True)),
    multi=True,
)


def test_each_of_several_categories_is_a_criterion(store: Store) -> None:
    pools_of(store, [2, 1])
    keys = [r.key for pool in store.pools() for r in store.pool_traces(pool.id)]
    store.add_schema(FAULTS)
    said = {"ana": ("sum+step", "sum", "none"), "gemma": ("sum", "sum", "step")}
    with store.importing() as batch:
        for rater, kind in (("ana", "human"), ("gemma", "judge")):
            for key, category in zip(keys, said[rater], strict=False):
                batch.add_label(NewLabel(key, "faults", rater, kind, "labelled", category))  # type: ignore[arg-type]
    report = criteria_report(store, "ana", "gemma", "faults")
    assert report is not None
    found = {c.criterion: [[int(x) for x in r] for r in c.table.table] for c in report.criteria}
    assert found == {"sum": [[2, 0], [0, 1]], "step": [[0, 1], [1, 1]], "none": [[0, 1], [0, 2]]}
    assert report.criteria[0].kappa.value == 1.0
    assert criteria_report(store, "ana", "gemma", "path") is None
