"""A comparison that is still running tells nothing; mixed versions and sets are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.agreement import default_pairs, pair_report
from pipeline.sealing import is_own, is_running, known_rater
from store import Store, open_store
from store.exchange.schemas import spec_of
from store.records import RaterRecord
from tests.store.test_label_machine import ERRORS
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
def project(tmp_path: Path) -> Iterator[Store]:
    """Two questions of four paths; a judge that calls the first path of each spurious."""
    with open_store(tmp_path / "p.db") as store:
        small_project(store, 2)
        add_labels(
            store,
            [
                new_label(key_of(f"q{q}", str(k)), "judge", "faithful" if k else "spurious")
                for q in range(2)
                for k in range(3)
            ],
        )
        yield store


def test_sealed_labels_are_held_until_the_reveal_or_the_end(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    first, second = case_ids(project, ana)
    decide(project, first, ana)
    held = pair_report(project, "ana", "judge")
    assert (held.n_held, held.kappa.n, held.table.n) == (4, 0, 0)
    assert held.states == {"ana": {"held": 3, "not labelled": 3}, "judge": {}}
    assert pair_report(project, "judge", "ana").n_held == 4
    assert pair_report(project, "ana", "judge", unsealed=True).kappa.n == 3
    project.reveal(first, ana, path)
    assert pair_report(project, "ana", "judge").kappa.n == 3
    project.commit_label(ana, item_ids(project, second, ana)[0], path, category="faithful")
    assert (pair_report(project, "ana", "judge").n_held, held.mixed_versions) == (1, False)
    decide(project, second, ana)
    done = pair_report(project, "ana", "judge")
    assert (done.n_held, done.kappa.n) == (0, 6)


def test_labels_from_elsewhere_are_compared_at_once(project: Store) -> None:
    add_labels(project, [new_label(key_of("q0", "0"), "ana", rater_kind="human")])
    report = pair_report(project, "ana", "judge")
    assert (report.kappa.n, report.n_held) == (1, 0)


def test_only_people_with_sealed_items_left_are_running(project: Store) -> None:
    ana = project.rater("ana")
    assert is_running(project, ana, "path")
    assert not is_running(project, project.rater("judge", "judge"), "path")
    project.version_schema(replace(spec_of(project.schema()), seal="open"))
    assert not is_running(project, ana, "path")


def test_ones_own_is_what_a_person_names_unless_they_said_who_they_are() -> None:
    ana, judge = RaterRecord(1, "ana", "human"), RaterRecord(2, "judge", "judge")
    assert [is_own(ana, me) for me in (None, "", "ana", "bob")] == [True, True, True, False]
    assert not any(is_own(r, me) for r in (judge, None) for me in (None, "judge"))


def test_asking_for_a_rater_makes_none(project: Store) -> None:
    with pytest.raises(ValueError, match="no rater 'eve' in the database; there are: judge"):
        known_rater(project, "eve")
    assert [r.name for r in project.raters()] == ["judge"]


def test_mixed_versions_are_named(project: Store) -> None:
    project.version_schema(replace(spec_of(project.schema()), question="Sound?"))
    add_labels(
        project,
        [
            new_label(key_of("q0", "0"), "ana", rater_kind="human"),
            new_label(key_of("q0", "1"), "ana", rater_kind="human", schema_version=1),
        ],
    )
    report = pair_report(project, "ana", "judge")
    assert report.versions == {"ana": {1: 1, 2: 1}, "judge": {1: 6}}
    assert report.mixed_versions
    assert report.kappa.n == 2


def test_sets_agree_only_as_a_whole(project: Store) -> None:
    project.add_schema(ERRORS)
    keys = [key_of("q0", str(k)) for k in range(4)]
    for rater, words in (
        ("ana", ("sum", "sum+logic", "none", "sum")),
        ("bob", ("sum", "logic+sum", "none", "sum+logic")),
    ):
        add_labels(
            project,
            [
                replace(new_label(k, rater, w, rater_kind="human"), schema="errors")
                for k, w in zip(keys, words, strict=True)
            ],
        )
    report = pair_report(project, "ana", "bob", "errors")
    assert report.multi
    assert list(report.table.categories) == ["sum", "logic", "none", "sum+logic"]
    assert report.table.table.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    # observed 3/4; by chance (2·1 + 0 + 1·1 + 1·2)/16 = 5/16
    assert report.kappa.value == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))
    assert default_pairs(project, "errors") == (("ana", "bob"),)
    assert default_pairs(project) == ()
