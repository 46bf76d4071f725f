"""Going on where one stopped: the case, the path and the step of the last act."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import Store, open_store
from store.records import NewLabel
from tests.tui.conftest import NO, YES, Desk, Spec, build, trace
from tests.tui.running import workbench
from tui.screens.case import CaseScreen
from tui.screens.overview import OverviewScreen
from tui.walk import Place

Size = tuple[int, int]
Where = tuple[str, str, Place]


@pytest.fixture
def wide_db(tmp_path: Path) -> Path:
    """Return a project of nine cases of two paths of three steps, in two pools of one name each."""
    path = tmp_path / "wide.db"
    build(path, [_spec(f"w{i}", "p1" if i < 6 else "p2") for i in range(9)])
    return path


def _spec(name: str, pool: str) -> Spec:
    made = tuple(trace([f"{name} {i}", "then", "end"], (NO, YES)[i]) for i in range(2))
    return Spec(name, f"Is it {name}?", pool, made, (0, 1), 1)


def named(question: str) -> str:
    """Return how the overview names a case: by id and wording."""
    return f"{question} “Is it {question}?”"


def _where(desk: Desk) -> Where:
    case = desk.case
    assert case.case is not None
    return case.case.question_id, case.case.pool, case.place


async def _reopened(db: Path, schema: str = "path") -> tuple[Where, bool, int | None, str]:
    """Return where enter leads after reopening: path, at its steps, cursor, the line before."""
    async with workbench(db, schema=schema) as desk:
        said = next(line for line in desk.text.splitlines() if " next: " in line)
        await desk.press("enter")
        return _where(desk), desk.case.stepping, desk.case.lines().cursor, said.strip()


def _order(db: Path, pool: str = "p1") -> list[str]:
    with open_store(db) as store:
        return [r.question_id for r in store.cases(store.rater("ana").id, pool=pool).rows]


async def test_the_last_act_not_the_first_case_begun_is_gone_on_with(
    wide_db: Path, size: Size
) -> None:
    order = _order(wide_db)
    async with workbench(wide_db, size) as desk:
        await desk.press("enter", "1", "n", "n", "n", "1")
        assert _where(desk) == (order[3], "p1", Place(0, 1))
    async with workbench(wide_db, size) as desk:
        assert (
            f"next: {named(order[3])}, B path 1 · 6 cases wait    enter: go on there" in desk.text
        )
        await desk.press("enter")
        assert _where(desk) == (order[3], "p1", Place(0, 1))
        assert "case 4 of 6 · list: unlabelled" in desk.text


async def test_a_case_that_is_done_leads_to_the_next_one_in_order(wide_db: Path) -> None:
    order = _order(wide_db)
    async with workbench(wide_db) as desk:
        await desk.press("enter", "1", "n", "n", "1", "1")
        assert _where(desk)[0] == order[2]
    where, stepping, _, said = await _reopened(wide_db)
    assert where == (order[3], "p1", Place(0, 0))
    assert not stepping
    assert said == f"next: {named(order[3])}, A path 1 · 5 cases wait    enter: go on there"


async def test_after_the_last_case_comes_the_first_that_was_left_out(wide_db: Path) -> None:
    order = _order(wide_db)
    async with workbench(wide_db) as desk:
        await desk.press("enter", *("n",) * 5, "1", "1")
    where, _, _, said = await _reopened(wide_db)
    assert where == (order[0], "p1", Place(0, 0))
    assert said.startswith(f"next: {named(order[0])}, A path 1 · 5 cases wait")


@pytest.mark.parametrize(
    ("keys", "place", "stepping", "cursor", "name"),
    [
        (("s", "1"), Place(0, 0), True, 1, "A path 1 step 1"),
        (("s", "1", "1"), Place(0, 0), True, 2, "A path 1 step 2"),
        (("s", "1", "1", "1"), Place(0, 0), True, 0, "A path 1, its steps"),
        (("s", "j", "j", "1"), Place(0, 0), True, 0, "A path 1 step 0"),
        (("s", "1", "1", "u"), Place(0, 0), True, 1, "A path 1 step 1"),
        (("s", "j", "exclamation_mark"), Place(0, 0), True, 1, "A path 1 step 1"),
        (("s", "1", "s", "exclamation_mark"), Place(0, 0), False, 0, "A path 1"),
        (("tab", "s", "1"), Place(0, 1), True, 1, "B path 1 step 1"),
        (("1", "s", "2"), Place(0, 1), True, 1, "B path 1 step 1"),
        (("1", "tab", "s", "2"), Place(0, 1), False, 0, "B path 1"),
        (("j", "w", "2", "u"), Place(0, 0), False, 1, "A path 1"),
        (("1", "u"), Place(0, 0), False, 0, "A path 1"),
        (("tab", "c", "x", "enter"), Place(0, 1), False, 0, "B path 1"),
        (("x",), Place(0, 1), False, 0, "B path 1"),
    ],
)
async def test_path_and_step_are_those_of_the_last_act(
    wide_db: Path,
    keys: tuple[str, ...],
    place: Place,
    stepping: bool,
    cursor: int,
    name: str,
) -> None:
    first = _order(wide_db)[0]
    async with workbench(wide_db) as desk:
        await desk.press("enter", *keys)
        while not isinstance(desk.app.screen, OverviewScreen):
            await desk.press("escape")
        assert f"next: {named(first)}, {name} · 6 cases wait    enter: go on there" in desk.text
        await desk.press("enter")
        assert _where(desk) == (first, "p1", place)
        assert (desk.case.stepping, desk.case.lines().cursor) == (stepping, cursor)


async def test_finished_steps_ask_for_the_path_again(wide_db: Path) -> None:
    async with workbench(wide_db) as desk:
        await desk.press("enter", "s", "1", "4", "1")
    async with workbench(wide_db) as desk:
        await desk.press("enter")
        assert "all 3 steps labelled: y takes 2 spurious ✗1 s back to the path" in desk.flat
        assert desk.text.splitlines()[-1].startswith(" s back to the path  ·  u undo")


async def test_the_overview_stands_on_the_row_of_the_last_act(wide_db: Path) -> None:
    async with workbench(wide_db) as desk:
        assert "▸ own · p1" in desk.text
        await desk.press("j", "enter", "1")
        where = _where(desk)
        await desk.press("escape", "escape", "k")
        assert "next: 6 cases in own wait for you    enter: start there" in desk.text
        await desk.press("j")
        assert (
            f"next: {named(where[0])}, B path 1 · 3 cases wait    enter: go on there" in desk.text
        )
    async with workbench(wide_db) as desk:
        assert "▸ own · p2" in desk.text
        await desk.press("enter")
        assert _where(desk) == (where[0], "p2", Place(0, 1))


async def test_each_row_remembers_its_own_last_act(wide_db: Path) -> None:
    one, two = _order(wide_db), _order(wide_db, "p2")
    async with workbench(wide_db) as desk:
        await desk.press("enter", "n", "1", "escape", "escape", "j", "enter", "n", "n", "1")
    async with workbench(wide_db) as desk:
        await desk.press("k", "enter")
        assert _where(desk) == (one[1], "p1", Place(0, 1))
        await desk.press("escape", "escape", "j", "enter")
        assert _where(desk) == (two[2], "p2", Place(0, 1))


async def test_a_session_begins_where_one_stopped(wide_db: Path) -> None:
    order = _order(wide_db)
    async with workbench(wide_db) as desk:
        await desk.press("enter", "n", "n", "s", "1")
    async with workbench(wide_db) as desk:
        await desk.press("s", "5", "enter")
        assert _where(desk) == (order[2], "p1", Place(0, 0))
        assert (desk.case.stepping, desk.case.lines().cursor) == (True, 1)


async def test_a_case_on_a_later_page_is_found_with_the_pages_before_it(
    wide_db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.caselist.PAGE", 2)
    order = _order(wide_db)
    async with workbench(wide_db) as desk:
        await desk.press("enter", *("n",) * 4, "1")
    async with workbench(wide_db) as desk:
        await desk.press("enter")
        assert _where(desk) == (order[4], "p1", Place(0, 1))
        assert "case 5 of 6 · list: unlabelled" in desk.text
        walked = []
        for _ in range(4):
            await desk.press("p")
            walked.append(_where(desk)[0])
        assert walked == order[3::-1]
        await desk.press("p")
        assert "this is the first case" in desk.text


async def test_imports_and_other_schemas_are_no_acts_here(wide_db: Path) -> None:
    order = _order(wide_db)
    with open_store(wide_db) as store:
        ana = store.rater("ana").id
        last = store.cases(ana, pool="p1").rows[-1].case_id
        key = store.case(last, ana, store.schema()).paths[0].item
        with store.importing() as batch:
            batch.add_label(NewLabel(key, "path", "ana", "human", "labelled", "faithful"))
    where, _, _, said = await _reopened(wide_db)
    assert where == (order[0], "p1", Place(0, 0))
    assert said == "next: 6 cases in own wait for you    enter: start there"


async def test_a_label_taken_back_on_the_overview_is_gone_on_with(wide_db: Path) -> None:
    order = _order(wide_db)
    async with workbench(wide_db) as desk:
        await desk.press("enter", "1", "1", "enter", "escape", "escape")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert f"next: {named(order[1])}, A path 1 · 5 cases wait" in desk.text
        await desk.press("u")
        assert f"undone: {order[0]} (own · p1), B path 1: faithful → not labelled" in desk.text
        await desk.press("enter")
        assert isinstance(desk.app.screen, CaseScreen)
        assert _where(desk) == (order[0], "p1", Place(0, 1))


async def test_a_path_relabelled_outdated_waits_where_it_was(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("enter", "n", "2")
        where = _where(desk)
    was = store.schema()
    from store.records import Category, SchemaSpec

    kept = tuple(c for c in was.categories if c.name != "spurious")
    store.version_schema(
        SchemaSpec(was.name, "path", was.question, was.guideline, (*kept, Category("4", "wrong")))
    )
    reopened, _, _, _ = await _reopened(db)
    assert reopened == (where[0], where[1], Place(0, 0))
