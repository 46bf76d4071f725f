"""What helps to read a case: a long question unfolded, one side wide, indentation, notes, marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content

from scoring.types import ParseIssue
from store import Store, open_store
from store.records import PathView
from tests.tui.conftest import GOLD, NO, YES, Desk, Spec, build, label_of, trace
from tests.tui.running import workbench
from tui.pathlines import answer_place, path_rows
from tui.screens.overview import OverviewScreen
from tui.steplabels import mismatch
from tui.text import wrap

PASSAGE = " ".join(f"word{i}" for i in range(180)) + " ends here"


@pytest.fixture
def passage(tmp_path: Path) -> Path:
    """Return a project whose only question is a long passage."""
    path = tmp_path / "passage.db"
    made = tuple(trace([f"Way {i}.", "So."], (NO, YES)[i]) for i in range(2))
    build(path, [Spec("p", PASSAGE, "p1", made, (0, 1), 1)])
    return path


def words(desk: Desk) -> set[int]:
    """Return which words of the passage stand on the screen."""
    return {i for i in range(180) if f"word{i} " in desk.flat + " "}


async def test_a_long_question_is_read_in_full_at_80_by_24(passage: Path) -> None:
    async with workbench(passage) as desk:
        await desk.open("p")
        folded = words(desk)
        assert "… (o: all)" in desk.text
        assert 179 not in folded
        await desk.press("o")
        seen = words(desk)
        assert len(seen) > 2 * len(folded)
        assert "… (j: more)" in desk.text
        for _ in range(12):
            await desk.press("j")
            seen |= words(desk)
        assert seen == set(range(180))
        assert "ends here" in desk.flat
        assert "Way 0." in desk.text  # the sides stay, and a digit labels what is on the screen
        await desk.press("o")
        assert words(desk) == folded


async def test_a_short_question_unfolded_leaves_j_to_the_steps(db: Path) -> None:
    async with workbench(db) as desk:
        screen = await desk.open("q1")
        await desk.press("o")
        assert "that is the whole question" in desk.text
        await desk.press("j")
        assert screen.lines().cursor == 1


async def test_one_side_takes_the_whole_width(db: Path, size: tuple[int, int]) -> None:
    async with workbench(db, size) as desk:
        screen = await desk.open("q1")
        both = screen.lines().size.width
        await desk.press("z")
        wide = screen.lines().size.width
        assert wide > 1.8 * both
        assert not screen.query_one("#side-1").display
        await desk.press("tab")
        assert screen.lines().id == "side-1"
        assert screen.lines().size.width == wide
        assert not screen.query_one("#side-0").display
        await desk.press("z")
        assert screen.lines().size.width == both


def test_wrapped_lines_stand_under_their_own_beginning() -> None:
    text = "- one two three\n    if a then b\n12. three four five\nplain goes on at once"
    assert [line.plain for line in wrap(Content(text), 12)] == [
        "- one two",
        "  three",
        "    if a",
        "    then b",
        "12. three",
        "    four",
        "    five",
        "plain goes",
        "on at once",
    ]


def path_with(issues: tuple[ParseIssue, ...]) -> PathView:
    made = trace(["Ice floats.", "It does.", "So."], YES, issues)
    return PathView(1, "path:a/b/c/0", 1, made.steps, "yes", YES, made.issues, "steps", {}, None)


def test_a_broken_reference_is_told_from_none() -> None:
    broken = ParseIssue("references_all_dropped", "dropped", 0)
    partly = ParseIssue("reference_forward", "step 1 names step 7", 1)
    twice = ParseIssue("reference_duplicate", "step 1 names 0 twice", 1)
    plain = [r.content.plain for r in path_rows(path_with((twice,)), 30)]
    noted = [r.content.plain for r in path_rows(path_with((broken, partly)), 30)]
    assert [line.split()[-1] for line in plain[:3]] == ["floats.", "⟵0", "⟵?"]
    assert [line.split()[-1] for line in noted[:3]] == ["⟵△", "⟵0△", "⟵?"]


def test_shifted_numbers_are_said_below_the_path() -> None:
    shifted = ParseIssue("numbering_from_one", "shifted")
    rows = [r.content.plain for r in path_rows(path_with((shifted, shifted)), 60)]
    assert rows[-1] == " △ numbered from 1 by the model"


# --- the answer as the first wrong thing -----------------------------------------------------


async def test_the_answer_is_marked_where_every_step_holds(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        screen = await desk.open("q1")
        path = screen.path
        assert path is not None
        assert answer_place(path) == 3
        await desk.press("end", "w")
        assert "the answer (3) is marked first wrong" in desk.text
        await desk.press("2")
        label = label_of(store, "ana", path.item_id)
        assert label is not None
        assert (label.category, label.first_wrong_step) == ("spurious", 3)
        assert mismatch(store.schema(), 3, {}, label) is None


async def test_the_answer_is_marked_by_its_number_and_is_no_step(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        screen = await desk.open("q1")
        await desk.press("f")
        assert "0 to 3 (3: the answer)" in desk.text
        await desk.press("3")
        assert screen.lines().cursor == 3
        assert screen.path is not None
        assert screen.marks == {screen.path.item_id: 3}
        await desk.press("s", "end")
        assert "the answer is no step" in desk.text
        await desk.press("1")
        assert store.step_labels(store.rater("ana").id, screen.path.item_id) == {}


def test_the_store_takes_the_answer_and_nothing_beyond(db: Path) -> None:
    with open_store(db) as store:
        rater, schema = store.rater("ana").id, store.schema()
        page = store.cases(rater)
        case = next(r for r in page.rows if r.question_id == "q3")
        path = store.case(case.case_id, rater, schema).paths[0]
        assert len(path.steps) == 2
        with pytest.raises(ValueError, match="first wrong step 3 names neither a step nor"):
            store.commit_label(rater, path.item_id, schema, category="spurious", first_wrong_step=3)
        made = store.commit_label(
            rater, path.item_id, schema, category="spurious", first_wrong_step=2
        )
        assert made.first_wrong_step == 2


# --- marks that were not saved ---------------------------------------------------------------


@pytest.mark.parametrize("key", ["escape", "ctrl+q"])
async def test_a_mark_without_a_digit_is_asked_about(db: Path, key: str) -> None:
    async with workbench(db) as desk:
        screen = await desk.open("q1")
        await desk.press("j", "w", "tab")  # the mark is on the side that is left
        item = next(iter(screen.marks))
        await desk.press(key)
        assert "A path 1: step 1" in desk.flat
        assert desk.app.is_running
        await desk.press("n")
        assert desk.app.screen is screen
        assert screen.marks == {item: 1}
        await desk.press(key, "y")
        if key == "escape":
            assert isinstance(desk.app.screen, OverviewScreen)
        else:
            assert desk.app._exit


async def test_without_marks_leaving_asks_nothing(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("escape")
        assert isinstance(desk.app.screen, OverviewScreen)
        assert GOLD not in desk.text
