"""Labels as they count for a comparison, and adjudications beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.exporting import label_lines
from pipeline.importing import import_files
from store import SealedError, Store, open_store
from store.compare_records import ADJUDICATED, Adjudication
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
    """Two questions of four paths, a judge who calls path 0 spurious; ana has revealed q's first."""
    with open_store(tmp_path / "p.db") as store:
        small_project(store, 2)
        add_labels(
            store,
            [
                new_label(
                    key_of(f"q{q}", str(k)),
                    "judge",
                    "faithful" if k else "spurious",
                    rationale="a slip" if not k else None,
                )
                for q in range(2)
                for k in range(3)
            ],
        )
        ana = store.rater("ana").id
        first = case_ids(store, ana)[0]
        decide(store, first, ana)
        store.reveal(first, ana, store.schema())
        yield store


def judged_spurious(store: Store, *, revealed: bool = True) -> tuple[int, str]:
    """Return id and key of the path that the judge calls spurious, of ana's revealed question."""
    seen = store.revealed_questions(store.rater("ana").id)
    for row in store.standing("path", "judge"):
        if row.category == "spurious" and (row.question in seen) == revealed:
            return row.item_id, row.item
    raise LookupError("none")


def test_standing_labels_are_those_before_the_reveal(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    item, key = judged_spurious(project)
    project.commit_label(ana, item, path, category="spurious", first_wrong_step=1)
    rows = {r.item: r for r in project.standing("path", "ana")}
    assert len(rows) == 4
    assert {(r.category, r.before_reveal, r.revealed, r.held) for r in rows.values()} == {
        ("faithful", True, True, False)
    }
    assert rows[key].changed_to == "spurious"
    assert [r.changed_to for k, r in rows.items() if k != key] == [None] * 3
    assert {(r.stratum, r.inclusion_probability, r.pool) for r in rows.values()} == {
        ("disagreement", 1.0, "gen@plain")
    }


def test_labels_on_a_sealed_question_are_held(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    second = case_ids(project, ana)[1]
    project.commit_label(
        ana, item_ids(project, second, ana)[0], path, category="spurious", active_seconds=3.0
    )
    project.commit_label(
        ana, item_ids(project, second, ana)[0], path, category="faithful", active_seconds=4.5
    )
    (row,) = [r for r in project.standing("path", "ana") if not r.revealed]
    assert (row.held, row.category, row.seconds, row.case) == (True, "faithful", 7.5, second)


def test_an_adjudication_is_a_row_of_its_own(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    item, key = judged_spurious(project)
    made = project.adjudicate(
        item, ana, path, category="spurious", first_wrong_step=1, reason=" step 1 is false "
    )
    assert made == Adjudication(
        item=key,
        state="labelled",
        category="spurious",
        first_wrong_step=1,
        reason="step 1 is false",
        adjudicator="ana",
        between=(("ana", "faithful"), ("judge", "spurious")),
        created_at=made.created_at,
    )
    (mine,) = [r for r in project.standing("path", "ana") if r.item == key]
    assert (mine.category, mine.changed_to) == ("faithful", None)
    project.adjudicate(item, ana, path, state="unsure", reason="the text does not say")
    (stands,) = project.adjudications()
    assert (stands.state, stands.category) == ("unsure", None)
    (both,) = [r for r in project.raters() if r.name == ADJUDICATED]
    assert (both.kind, both.n_labelled) == ("reference", 0)
    assert len(project.label_history(both.id, item)) == 2


def test_an_adjudication_needs_a_reason_and_a_choice_of_the_schema(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    item, _ = judged_spurious(project)
    with pytest.raises(ValueError, match="needs a reason"):
        project.adjudicate(item, ana, path, category="spurious", reason="  ")
    with pytest.raises(ValueError, match="odd"):
        project.adjudicate(item, ana, path, category="odd", reason="why")
    with pytest.raises(ValueError, match="names neither"):
        project.adjudicate(item, ana, path, category="spurious", first_wrong_step=9, reason="why")
    assert project.adjudications() == ()


def test_what_is_sealed_is_neither_read_nor_adjudicated(project: Store) -> None:
    path = project.schema()
    item, _ = judged_spurious(project, revealed=False)
    for viewer in ("ana", "eve"):
        ident = project.rater(viewer).id
        with pytest.raises(SealedError):
            project.said_on(item, ident, path)
        with pytest.raises(SealedError):
            project.adjudicate(item, ident, path, category="spurious", reason="why")
    shown, _ = judged_spurious(project)
    said = project.said_on(shown, project.rater("ana").id, path)
    assert [(v.rater, v.category, v.rationale) for v in said] == [
        ("ana", "faithful", None),
        ("judge", "spurious", "a slip"),
    ]


def test_a_person_called_adjudicated_is_not_written_over(project: Store) -> None:
    project.rater(ADJUDICATED)
    item, _ = judged_spurious(project)
    with pytest.raises(ValueError, match="is a human here"):
        project.adjudicate(
            item, project.rater("ana").id, project.schema(), category="spurious", reason="why"
        )


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_exports_carry_adjudications_and_bring_them_back(
    project: Store, tmp_path: Path, form: str
) -> None:
    item, _ = judged_spurious(project)
    project.adjudicate(
        item,
        project.rater("ana").id,
        project.schema(),
        category="spurious",
        first_wrong_step=0,
        reason="=step 0, plainly",
    )
    file = tmp_path / f"labels.{form}"
    file.write_text("".join(label_lines(project, form)), encoding="utf-8")  # type: ignore[arg-type]
    before = project.adjudications()
    again = import_files(project, [file])
    assert project.adjudications() == before
    assert set(again.labels) == {"known"}
    with open_store(tmp_path / "other.db") as other:
        small_project(other, 2)
        import_files(other, [file])
        assert other.adjudications() == before


def test_strata_are_counted_over_whole_pools(project: Store) -> None:
    (row,) = project.design_strata()
    assert (row.dataset, row.pool, row.name, row.n, row.n_cases) == (
        "own",
        "gen@plain",
        "disagreement",
        2,
        2,
    )
