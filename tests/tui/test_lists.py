"""Overview and queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store, open_store
from tests.tui.conftest import specs
from tests.tui.running import workbench
from tui.caselist import CaseList, Query
from tui.screens.case import CaseScreen
from tui.screens.overview import OverviewScreen
from tui.screens.queue import QueueScreen

Size = tuple[int, int]


async def test_overview_shows_figures_and_the_next_step(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        assert "rater: ana" in desk.text
        assert "own · p1 4 13 100 % – – 3 0/4" in desk.flat
        assert "own · p2 1 2 100 % – – 1 0/1" in desk.flat
        assert "next: 4 cases in own wait for you enter: start there" in desk.flat
        assert "minilm@01234567 · one fact per step · β=0.4 γ=5.0 α=0.8 τ=0.9" in desk.flat
        await desk.press("j")
        assert "next: 1 case in own waits for you" in desk.flat
        await desk.press("enter")
        assert desk.case.case is not None
        assert (desk.case.case.question_id, desk.case.case.pool) == ("q1", "p2")


async def test_an_empty_database_says_what_to_run(tmp_path: Path, size: Size) -> None:
    async with workbench(tmp_path / "new.db", size) as desk:
        assert "medoid import FILE…" in desk.text
        assert "medoid score" in desk.text
        await desk.press("enter", "c", "j")
        assert isinstance(desk.app.screen, OverviewScreen)


async def test_traces_without_scores_are_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "unscored.db"
    from scoring.types import Step, Trace
    from store.records import NewQuestion, NewTrace

    with open_store(path) as store, store.importing() as batch:
        made = Trace((Step(0, "one"),), None, None)
        question = NewQuestion("raw", "1", "?")
        batch.add_trace(NewTrace(question, "p", None, None, "0", "text", "one", made, True, "t"))
    async with workbench(path) as desk:
        assert "no scores yet; run medoid score" in desk.flat
        assert "raw · p 1 1 0 % – – – –" in desk.flat


async def test_queue_filters_searches_and_sorts(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("c")
        assert "all: 4 cases · random" in desk.flat
        await desk.press("f", "f")
        assert "flagged: 0 cases" in desk.flat
        assert "no case is flagged" in desk.flat
        await desk.press("f")
        assert "unlabelled: 4 cases" in desk.flat
        await desk.press("slash", *"agree", "enter")
        assert "/agree · unlabelled: 1 case " in desk.flat
        assert "Do they agree?" in desk.text
        await desk.press("o")
        assert "question" in desk.text.splitlines()[0]
        await desk.press("slash", "escape")
        assert isinstance(desk.app.screen, QueueScreen)
        await desk.press("enter")
        assert desk.case.case is not None
        assert desk.case.case.question_id == "q3"
        await desk.press("escape")
        assert isinstance(desk.app.screen, QueueScreen)


async def test_queue_shows_my_progress_and_flags(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("c", "slash", *"agree", "enter")
        line = next(x for x in desk.text.splitlines() if "Do they agree?" in x)
        # How many paths a case has tells whether vote and medoid agree: not before it is begun.
        assert line.split()[-2:] == ["agree?", "–"]
        await desk.press("enter", "exclamation_mark", "1")
        await desk.press("escape")
        assert "1/2" in desk.text
        line = next(x for x in desk.text.splitlines() if "Do they agree?" in x)
        assert line.split()[-3:] == ["agree?", "1/2", "!"]
        await desk.press("enter", "1", "b", "escape", "escape")
        line = next(x for x in desk.text.splitlines() if "Do they agree?" in x)
        assert line.split()[-5:] == ["agree?", "2/2", "✓", "!", "yes"]


async def test_going_back_finds_the_case_that_was_left(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("enter")
        case = desk.case
        first = case.case_id
        assert case.case is not None
        await desk.press(*"1" * len(case.case.paths), "n")
        assert case.case_id != first
        await desk.press("p")
        assert case.case_id == first


def test_pages_are_walked_over_their_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.caselist.PAGE", 2)
    rater = store.rater("ana").id
    whole = [r.case_id for r in store.cases(rater).rows]
    cases = CaseList(store, rater, Query(show="all"))
    cases.take(cases.read())
    walked = [cases.rows[0].case_id]
    while (row := cases.step(1)) is not None:
        walked.append(row.case_id)
        assert len(cases.rows) <= 2
    assert walked == whole
    back = [walked[-1]]
    while (row := cases.step(-1)) is not None:
        back.append(row.case_id)
    assert back == whole[::-1]


def test_cases_of_one_dataset_and_pool(store: Store) -> None:
    rater = store.rater("ana").id
    names = {
        pool: sorted(r.question_id for r in store.cases(rater, dataset="own", pool=pool).rows)
        for pool in ("p1", "p2", "p3")
    }
    assert names == {"p1": ["q1", "q2", "q3", "q4"], "p2": ["q1"], "p3": []}
    assert store.cases(rater, dataset="other").total == 0
    assert store.cases(rater, pool="p1", limit=1).total == 4
    assert len(specs()) == store.cases(rater).total


async def test_the_case_screen_is_reached_from_the_queue(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("c", "j", "enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert desk.case.cases.index == 1
        assert "case 2 of 4" in desk.text
