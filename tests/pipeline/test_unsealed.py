"""Labels made after somebody looked behind the seal are counted, and stay in the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.agreement import pair_report
from store import Store, open_store
from tests.definitions.running import medoid
from tests.store.world import (
    add_labels,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    small_project,
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Two questions of four paths; a judge who calls all of them faithful."""
    path = tmp_path / "p.db"
    with open_store(path) as store:
        small_project(store, 2)
        keys = [key_of(f"q{q}", str(k)) for q in range(2) for k in range(4)]
        add_labels(store, [new_label(k, "judge") for k in keys])
    return path


@pytest.fixture
def project(db: Path) -> Iterator[Store]:
    with open_store(db) as store:
        yield store


def counts(store: Store, rater: str = "ana") -> tuple[int, int]:
    found = pair_report(store, rater, "judge").after_unseal[rater]
    return found.n, found.n_labels


def test_while_nobody_looked_there_is_nothing_to_tell(project: Store) -> None:
    decide(project, case_ids(project, 0)[0], project.rater("ana").id)
    assert pair_report(project, "ana", "judge").after_unseal == {}


def test_labels_after_the_first_look_are_counted_and_kept(project: Store) -> None:
    ana, bob = project.rater("ana").id, project.rater("bob").id
    first, second = case_ids(project, ana)
    decide(project, first, ana)
    before = project.record_unseal("listing verdicts", "bob")
    assert counts(project) == (0, 4)
    decide(project, second, ana)
    project.record_unseal("listing verdicts again", None)
    decide(project, first, bob)
    report = pair_report(project, "ana", "judge")
    assert list(report.after_unseal) == ["ana"]
    assert report.after_unseal["ana"].first == before
    assert (counts(project), counts(project, "bob")) == ((4, 8), (4, 4))
    assert (report.kappa.n, report.table.n) == (8, 8)
    assert list(pair_report(project, "ana", "bob").after_unseal) == ["ana", "bob"]


def test_a_label_changed_after_the_look_counts_once(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    first, _ = case_ids(project, ana)
    decide(project, first, ana)
    project.record_unseal("listing verdicts")
    item, other, *_ = item_ids(project, first, ana)
    project.commit_label(ana, item, path, category="spurious")
    project.commit_label(ana, item, path, category="faithful")
    project.commit_label(ana, other, path, state="unsure")
    assert counts(project) == (1, 3)


def test_what_was_imported_or_made_after_the_reveal_does_not_count(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    first, second = case_ids(project, ana)
    decide(project, first, ana)
    project.record_unseal("listing verdicts")
    key = project.case(second, ana, path).paths[0].item
    add_labels(project, [new_label(key, "ana", rater_kind="human", created_at="2999-01-01")])
    project.reveal(first, ana, path)
    project.commit_label(ana, item_ids(project, first, ana)[0], path, category="spurious")
    assert counts(project) == (0, 4)


def test_the_command_tells_how_many_when_and_who(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    with open_store(db) as store:
        ana = store.rater("ana").id
        first, second = case_ids(store, ana)
        decide(store, first, ana)
        moment = store.record_unseal("listing verdicts", "bob").created_at
        decide(store, second, ana)
    told = medoid("agreement", "ana", "judge", "--db", db)
    assert (
        "  4 of 8 labels made here by ana are from after a look behind the seal (--unseal; first "
        f"{moment[:10]}, by root as bob); they count\n"
    ) in told.out
    (pair,) = medoid("agreement", "ana", "judge", "--db", db, "--json").json["pairs"]
    assert pair["after_unseal"] == {
        "ana": {
            "n": 4,
            "n_labels": 8,
            "first_look": moment,
            "who": "root",
            "rater": "bob",
            "what": "listing verdicts",
        }
    }
    assert pair["kappa"]["n"] == 8


def test_the_command_says_nothing_while_nobody_looked(db: Path) -> None:
    with open_store(db) as store:
        ana = store.rater("ana").id
        for case in case_ids(store, ana):
            decide(store, case, ana)
    assert "behind the seal" not in medoid("agreement", "ana", "judge", "--db", db).out
    (pair,) = medoid("agreement", "ana", "judge", "--db", db, "--json").json["pairs"]
    assert pair["after_unseal"] == {}
