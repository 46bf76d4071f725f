"""The agreement screens under Pilot: what they show, to whom, and what adjudicating writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store import Store, open_store
from store.records import NewLabel
from tests.tui.conftest import JUDGE, RATIONALE, Desk
from tui.app import MedoidApp


@pytest.fixture
def labelled(db: Path) -> Iterator[Store]:
    """Ana has labelled every path of q3 spurious and revealed it; the judge says faithful."""
    with open_store(db) as store:
        ana, path = store.rater("ana").id, store.schema()
        for row in store.cases(ana).rows:
            if row.question_id == "q3":
                for p in store.case(row.case_id, ana, path).paths:
                    store.commit_label(
                        ana, p.item_id, path, category="spurious", first_wrong_step=1
                    )
                store.reveal(row.case_id, ana, path)
        yield store


async def test_from_the_overview_to_a_decision(
    labelled: Store, db: Path, size: tuple[int, int]
) -> None:
    app = MedoidApp(db, rater="ana")
    async with app.run_test(size=size) as pilot:
        desk = Desk(app, pilot)
        await desk.settle()
        await desk.press("a")
        assert f"ana · {JUDGE} (judge)" in desk.flat
        await desk.press("enter")
        assert "κ is undefined" not in desk.flat
        assert "may this judge be trusted for" in desk.flat
        await desk.press("enter")
        assert "2 disagreements in 2, 2 undecided" in desk.flat
        assert "3 questions still sealed for you" in desk.flat
        assert RATIONALE in desk.flat
        await desk.press("a", "2")
        await desk.press("enter")  # the step that ana named stands there already
        await desk.press("enter")  # without a reason
        assert "needs a reason" in desk.flat
        assert labelled.adjudications() == ()
        await desk.press("a", "2", "enter", *"no", "enter")
        assert "the raters' labels stay" in desk.flat
        (made,) = labelled.adjudications()
        assert (made.category, made.first_wrong_step, made.reason, made.adjudicator) == (
            "spurious",
            1,
            "no",
            "ana",
        )
        assert set(made.between) == {("ana", "spurious"), (JUDGE, "faithful")}
        assert {r.category for r in labelled.standing("path", "ana")} == {"spurious"}
        await desk.press("down")
        assert "spurious ✗1 faithful" in desk.flat
        await desk.press("enter")
        assert desk.case.case is not None
        assert desk.case.case.question_id == "q3"
        await desk.press("escape")
        assert "own/q3" in desk.flat


async def test_who_has_revealed_nothing_sees_no_single_label(labelled: Store, db: Path) -> None:
    labelled.rater("eve")
    with labelled.importing() as batch:
        for row in labelled.standing("path", JUDGE):
            batch.add_label(NewLabel(row.item, "path", "bob", "human", "labelled", "spurious"))
    app = MedoidApp(db, rater="eve")
    async with app.run_test(size=(80, 24)) as pilot:
        desk = Desk(app, pilot)
        await desk.settle()
        await desk.press("a", "enter", "enter")
        assert "nothing is open to you yet" in desk.flat
        assert "questions still sealed" in desk.flat
        assert RATIONALE not in desk.flat
        assert "own/q" not in desk.flat
        await desk.press("a", "2")
        assert labelled.adjudications() == ()


async def test_a_sealed_rater_is_told_what_is_left_out(store: Store, db: Path) -> None:
    """Ana's sealed label moves nothing on the screens but the number of what is held."""
    ana, path = store.rater("ana").id, store.schema()
    first = store.cases(ana).rows[0].case_id
    item = store.case(first, ana, path).paths[0].item_id
    seen = []
    for label in ("faithful", "spurious"):
        store.commit_label(ana, item, path, category=label)
        app = MedoidApp(db, rater="ana")
        async with app.run_test(size=(80, 24)) as pilot:
            desk = Desk(app, pilot)
            await desk.settle()
            await desk.press("a")
            matrix = desk.text
            await desk.press("enter")
            pair = desk.text
            await desk.press("enter")
            seen.append((matrix, pair, desk.text))
    assert seen[0] == seen[1]
    assert "1 label of ana left out" in " ".join(seen[0][0].split())


async def test_the_audit_counts_what_the_viewer_has_revealed(labelled: Store, db: Path) -> None:
    app = MedoidApp(db, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        desk = Desk(app, pilot)
        await desk.settle()
        await desk.press("a", "w")
        assert "labels of ana" in desk.flat
        assert "own · p1 0 disagreements in 1" in desk.flat
        assert "4 questions sealed for you and left out" in desk.flat
        await desk.press("s")
        assert f"labels of {JUDGE}" in desk.flat
        assert "4 questions sealed for you and left out" in desk.flat


async def test_without_labels_it_says_what_to_do(db: Path) -> None:
    app = MedoidApp(db, rater="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        desk = Desk(app, pilot)
        await desk.settle()
        await desk.press("a", "enter")
        assert "fewer than two raters have labels" in desk.flat
        await desk.press("s")
        assert "no other schema has labels" in desk.flat
        await desk.press("question_mark")
        assert "Agreement" in desk.flat
