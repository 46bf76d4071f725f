"""Derived faithfulness of SC and GSC against values counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.faithfulness import Side, faithfulness_report
from store import Store
from store.exchange.schemas import spec_of
from store.records import NewLabel
from tests.store.world import (
    Sealed,
    add_labels,
    add_traces,
    case_ids,
    decide,
    item_ids,
    key_of,
    new_label,
    new_question,
    new_trace,
    score_and_make_cases,
)

SPLIT, ALIKE = (1, 1, 2, 2, 1), (1, 1, 1, 1, 1)
"""SC says 1 (samples 0, 1, 4); the medoid is sample 2, so GSC says 2 (2, 3), or 1 where alike."""

QUESTIONS: dict[str, tuple[tuple[int, ...], float, dict[str, str | None]]] = {
    "q0": (SPLIT, 1.0, {"0": "F", "1": "F", "4": "S", "2": "S", "3": "F"}),
    "q1": (SPLIT, 1.0, {"0": "F", "1": "S", "3": "F"}),
    "q2": (ALIKE, 0.25, {"2": "F", "0": "S", "1": "S"}),
    "q3": (ALIKE, 0.5, {}),
    "q4": (SPLIT, 1.0, {"0": "S", "4": None, "2": "F"}),
}
"""Answers, inclusion probability, and what is said of which sample; None is unsure."""

WORDS = {"F": "faithful", "S": "spurious"}


@pytest.fixture
def project(store: Store) -> Store:
    add_traces(
        store,
        (
            new_trace(new_question(q), str(k), answer=a, steps=(f"{q} {k}", "so"))
            for q, (answers, _, _) in QUESTIONS.items()
            for k, a in enumerate(answers)
        ),
    )
    score_and_make_cases(store, {q: Sealed(probability=p) for q, (_, p, _) in QUESTIONS.items()})
    return store


def said(rater: str, kind: Any) -> list[NewLabel]:
    return [
        new_label(
            key_of(q, sample),
            rater,
            None if word is None else WORDS[word],
            rater_kind=kind,
            state="unsure" if word is None else "labelled",
        )
        for q, (_, _, labels) in QUESTIONS.items()
        for sample, word in labels.items()
    ]


def test_both_sides_with_their_coverage(project: Store) -> None:
    add_labels(project, said("authors", "reference"))
    report = faithfulness_report(project, "authors")
    everything, disagreement, agreement = report.groups
    # SC: q0 faithful (2 of 3), q1 tied, q2 spurious (1 of 3), q3 unlabelled, q4 spurious.
    # By inclusion probability q0 counts 1, q2 4 and q4 1.
    assert (everything.name, everything.n_questions) == ("all", 5)
    assert everything.sc == Side(1, 2, 1, 1, 19, 9, 4, 1 / 3, 1 / 6)
    # GSC: q0 spurious, q2 and q4 faithful; the medoids of q1 and q3 carry no label.
    assert everything.gsc == Side(2, 1, 0, 2, 16, 7, 4, 2 / 3, 5 / 6)
    assert (disagreement.name, disagreement.n_questions) == ("disagreement", 3)
    assert disagreement.sc == Side(1, 1, 1, 0, 9, 6, 3, 0.5, 0.5)
    assert disagreement.gsc == Side(1, 1, 0, 1, 6, 4, 3, 0.5, 0.5)
    assert (agreement.name, agreement.n_questions) == ("agreement", 2)
    assert agreement.sc == Side(0, 1, 0, 1, 10, 3, 1, 0.0, 0.0)
    assert agreement.gsc == Side(1, 0, 0, 1, 10, 3, 1, 1.0, 1.0)
    assert (report.n_held, report.versions) == (0, {1: 13})
    rows = {r.question_id: (r.sc_faithful, r.gsc_faithful) for r in report.rows}
    assert rows == {
        "q0": (True, False),
        "q1": (None, None),
        "q2": (False, True),
        "q3": (None, None),
        "q4": (False, True),
    }


def test_without_a_label_every_share_is_undefined(project: Store) -> None:
    project.rater("nobody", "reference")
    for group in faithfulness_report(project, "nobody").groups:
        for side in (group.sc, group.gsc):
            assert (side.share, side.weighted, side.n_paths) == (None, None, 0)


def test_a_person_who_still_labels_counts_what_is_revealed_or_came_from_elsewhere(
    project: Store,
) -> None:
    ana, path = project.rater("ana").id, project.schema()
    first, second, third, *_ = case_ids(project, ana)
    decide(project, first, ana)
    project.reveal(first, ana, path)
    decide(project, second, ana)
    third_items = [p.item for p in project.case(third, ana, path).paths]
    add_labels(project, [new_label(k, "ana", rater_kind="human") for k in third_items])
    report = faithfulness_report(project, "ana")
    assert (report.groups[0].n_questions, report.n_held) == (2, 3)
    (row,) = report.rows
    assert row.revealed
    opened = faithfulness_report(project, "ana", unsealed=True)
    assert (opened.groups[0].n_questions, opened.n_held, len(opened.rows)) == (5, 0, 5)


def test_whoever_is_done_counts_all_and_lists_what_is_revealed(project: Store) -> None:
    ana, path = project.rater("ana").id, project.schema()
    for case in case_ids(project, ana):
        decide(project, case, ana)
    report = faithfulness_report(project, "ana")
    assert (report.groups[0].n_questions, report.n_held, report.rows) == (5, 0, ())
    project.reveal(case_ids(project, ana)[0], ana, path)
    assert len(faithfulness_report(project, "ana").rows) == 1


def test_at_the_level_judge_the_sides_are_no_secret(project: Store) -> None:
    schema = project.version_schema(replace(spec_of(project.schema()), seal="judge"))
    ana = project.rater("ana").id
    item = item_ids(project, case_ids(project, ana)[0], ana)[0]
    project.commit_label(ana, item, schema, category="faithful")
    report = faithfulness_report(project, "ana")
    assert (report.groups[0].n_questions, report.n_held, len(report.rows)) == (5, 0, 5)


def test_labels_of_several_versions_are_named(project: Store) -> None:
    add_labels(project, said("authors", "reference")[:4])
    project.version_schema(replace(spec_of(project.schema()), question="Sound?"))
    add_labels(project, said("authors", "reference")[4:])
    assert faithfulness_report(project, "authors").versions == {1: 4, 2: 9}


def test_a_schema_without_the_category_faithful_says_so(project: Store) -> None:
    project.rater("ana")
    with pytest.raises(ValueError, match="schema step has no category 'faithful' for paths"):
        faithfulness_report(project, "ana", "step")
    with pytest.raises(ValueError, match="no rater 'eve'"):
        faithfulness_report(project, "eve")
