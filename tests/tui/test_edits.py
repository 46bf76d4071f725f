"""Labelling edited steps: the word diff, the answers, the seal, undo, and going on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import SealedError, Store, open_store
from store.records import NewLabel
from tests.tui.conftest import GOLD, HOSTILE_SHOWN, RATIONALE
from tests.tui.conftest import JUDGE as PATH_JUDGE
from tests.tui.edited import build_edited, edits_of, place_of, reveal
from tests.tui.running import workbench
from tui.editlist import find_start
from tui.screens.overview import OverviewScreen
from tui.text import cells
from tui.worddiff import marked, word_runs

Size = tuple[int, int]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edited") / "ready.db"
    build_edited(path)
    with open_store(path) as store, store.importing() as batch:
        for key in ("e0/p1/0/0", "e0/p1/0/1", "e2/p1/1/0"):
            item = f"counterfactual:own/{key}"
            batch.add_label(
                NewLabel(
                    item, "counterfactual", "edit-judge", "judge", "labelled", "implausible",
                    rationale="EDIT-RATIONALE",
                )
            )  # fmt: skip
    return path


@pytest.fixture
def db(ready: Path, tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    path.write_bytes(ready.read_bytes())
    return path


@pytest.fixture
def store(db: Path) -> Iterator[Store]:
    with open_store(db) as opened:
        yield opened


def stands(store: Store, question: str, step: int) -> str:
    ana = store.rater("ana").id
    view = store.edit_view(1, place_of(store, question, step), ana, sealed=False)
    return "-" if view.label is None else str(view.label.category or view.label.state)


# --- what is drawn -----------------------------------------------------------------------------


async def test_the_edited_step_is_a_word_diff_in_its_trace(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("e")
        await edits_of(desk).open(place_of(store, "e0", 1))
        await desk.settle()
        lines = [re.split("[│╭]", line)[0].rstrip() for line in desk.text.splitlines()]
        at = next(i for i, line in enumerate(lines) if "The mascot is the Bulldog." in line)
        assert lines[at] == "    0 The mascot is the Bulldog."
        assert lines[at + 1] == "▸ – 1 Bulldogs are [dogs.]"
        assert lines[at + 2] == "  + 1 Bulldogs are [a breed of goats.]"
        assert lines[at + 3] == "    2 Dogs eat kibble."
        assert lines[at + 4].split() == ["3", "So", "it", "would.", "∴", "left", "out"]
        assert "step 1 was changed; the answer   yes → no   CHANGED (relied on)" in desk.text
        assert "edit: plausible, another fact?   1 distinct   2 implausible" in desk.text
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())


async def test_what_became_of_the_answer_is_said(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("e")
        await edits_of(desk).open(place_of(store, "e0", 0))
        await desk.settle()
        assert "yes → yes   UNCHANGED (not relied on)" in desk.text
        await edits_of(desk).open(place_of(store, "e0", 2))
        await desk.settle()
        assert "yes → none read   NOT COMPARABLE" in desk.text
        await desk.press("r")
        assert "none: no final answer" in desk.text
        assert "editing default by ed, prompt counterfactual_editor-schema/1" in desk.text


async def test_hostile_text_is_shown_as_typed(db: Path, store: Store, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("e")
        await edits_of(desk).open(place_of(store, "e1", 0))
        await desk.settle()
        flat = " ".join(desk.text.replace("│", " ").split())
        assert HOSTILE_SHOWN.split()[3] in flat
        assert "[and more]" in flat
        assert "\x1b" not in desk.text


def test_words_alone_are_marked_whatever_they_are() -> None:
    left, right = word_runs(["a [b] c"], ["A [b] d"])
    assert (marked(left[0]).plain, marked(right[0]).plain) == ("a [b] [c]", "A [b] [d]")
    assert word_runs([], ["x"]) == ([], [[("x", True)]])
    assert word_runs(["same."], ["Same"]) == ([[("same.", False)]], [[("Same", False)]])


# --- labels ------------------------------------------------------------------------------------


async def test_a_digit_saves_and_goes_on_to_the_next_that_waits(db: Path, store: Store) -> None:
    order = [r.place for r in store.edit_queue(1, store.rater("ana").id, sealed=True).rows]
    async with workbench(db) as desk:
        await desk.press("e")
        assert edits_of(desk).place == order[0]
        await desk.press("1")
        assert edits_of(desk).place == order[1]
        assert "saved: edit of step" in desk.text
        assert "distinct" in desk.text
        await desk.press("2", "3", "4")
        assert "that was the last edit: esc goes back" in desk.text
        await desk.press("1")
        assert "all are labelled" in desk.text
        await desk.press("escape")
        assert isinstance(desk.app.screen, OverviewScreen)
    said = [r.decided for r in store.edit_queue(1, store.rater("ana").id, sealed=True).rows]
    assert said == [True] * 4
    labels = [x.label for x in store.export_labels(rater="ana")]
    assert [x.category or x.state for x in labels] == ["distinct", "implausible", "same", "unsure"]
    assert {(x.seal, x.before_reveal) for x in labels} == {("full", True)}


async def test_undo_goes_back_to_the_edit_and_redo_again(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("e")
        first = edits_of(desk).place
        await desk.press("1", "u")
        assert edits_of(desk).place == first
        assert "undone: distinct → not labelled" in desk.text
        await desk.press("ctrl+r")
        assert "done again: not labelled → distinct" in desk.text
        await desk.press("escape", "u")
        assert "undone" in desk.text
    assert [r.decided for r in store.edit_queue(1, store.rater("ana").id, sealed=True).rows] == [
        False,
        False,
        False,
        False,
    ]


async def test_skip_flag_and_comment(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("e", "!")
        assert "flagged" in desk.text
        await desk.press("c")
        await desk.press(*"odd", "enter")
        assert "comment: odd" in desk.text
        await desk.press("x")
        await desk.press("f", "f", "f")
        assert "flagged" in desk.text.splitlines()[0]
        assert len(edits_of(desk).edits.rows) == 1
    (label,) = [x.label for x in store.export_labels(rater="ana")]
    assert (label.state, label.flagged, label.note) == ("skipped", True, "odd")


async def test_an_edit_can_be_labelled_again(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("e")
        place = edits_of(desk).place
        await desk.press("1", "p", "2")
        assert edits_of(desk).place == place
    rows = [x.label.category for x in store.export_labels(rater="ana", history=True)]
    assert rows == ["distinct", "implausible"]


# --- the seal ----------------------------------------------------------------------------------


async def test_nobody_elses_label_gold_or_verdict_is_shown(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("e")
        for key in ("r", "escape", "n", "n", "question_mark"):
            await desk.press(key)
            for planted in ("edit-judge", "EDIT-RATIONALE", PATH_JUDGE, RATIONALE, GOLD):
                assert planted not in desk.text


async def test_an_edit_that_would_name_the_medoid_waits_for_the_reveal(
    db: Path, store: Store
) -> None:
    ana = store.rater("ana").id
    queue = store.edit_queue(1, ana, sealed=True)
    assert (queue.n_all, queue.n_sealed, queue.n_open) == (5, 1, 4)
    assert "e2" not in {r.question_id for r in queue.rows}
    with pytest.raises(SealedError, match="which path of its case is the medoid"):
        store.edit_view(1, place_of(store, "e2", 0), ana, sealed=True)
    async with workbench(db) as desk:
        await desk.press("e", "f")
        seen = set()
        for _ in range(6):
            seen.add("PLANTED words." in desk.text or "Sealed words" in desk.text)
            await desk.press("n")
        assert seen == {False}
    reveal(store, "e2")
    assert store.edit_queue(1, ana, sealed=True).n_sealed == 0
    assert store.edit_queue(1, store.rater("bob").id, sealed=True).n_sealed == 1
    assert store.edit_view(1, place_of(store, "e2", 0), ana, sealed=True).text == "PLANTED words."
    async with workbench(db) as desk:
        await desk.press("e")
        await edits_of(desk).open(place_of(store, "e2", 0))
        await desk.press("1")
    # The reveal told no verdict on an edit: the label counts as sealed.
    labels = [x.label for x in store.export_labels(rater="ana", schema="counterfactual")]
    assert [(x.category, x.before_reveal) for x in labels] == [("distinct", True)]


async def test_when_all_are_sealed_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    build_edited(path, sample=False)
    with open_store(path) as store:
        pool = next(p.id for p in store.pools() if p.question_id == "e2")
        store.make_counterfactual_sample(1, 50, 0, [pool])
    async with workbench(path) as desk:
        await desk.press("e")
        assert "1 edit is sealed: an edit tells which path is the medoid" in desk.text
        assert "nothing to label in this list" in desk.text


# --- where one goes on -------------------------------------------------------------------------


async def test_a_sample_is_drawn_on_demand_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    build_edited(path, sample=False)
    async with workbench(path) as desk:
        await desk.press("e")
        assert "no edits are drawn to be labelled: m draws 50" in desk.text
        await desk.press("m")
        assert "5 of 5 drawn (seed 0)" in desk.text
        await desk.press("m")
        assert "5 edits are drawn already" in desk.text


async def test_without_edits_the_key_says_what_makes_them(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    path.write_bytes(template.read_bytes())
    async with workbench(path) as desk:
        await desk.press("e")
        assert "no step is edited yet: run  medoid counterfactual" in desk.text


def test_one_goes_on_where_one_stopped(store: Store) -> None:
    ana = store.rater("ana").id
    rows = store.edit_queue(1, ana, sealed=True).rows
    schema = store.schema("counterfactual")
    view = store.edit_view(1, rows[1].place, ana, sealed=True)
    store.commit_label(ana, view.item_id, schema, category="same")
    start = find_start(store, ana, sealed=True)
    assert start is not None
    assert start[1] == rows[2].place
    assert store.last_edit(ana) == (1, rows[1].place)
    assert store.progress(ana, "counterfactual").n_decided == 1
    assert store.progress(ana, "counterfactual").n_items == 5


def test_another_draw_keeps_what_is_labelled(store: Store) -> None:
    ana = store.rater("ana").id
    rows = store.edit_queue(1, ana, sealed=True).rows
    view = store.edit_view(1, rows[0].place, ana, sealed=True)
    store.commit_label(ana, view.item_id, store.schema("counterfactual"), category="same")
    again = store.make_counterfactual_sample(1, 1, 7)
    assert (again.n_population, again.probability) == (5, 0.2)
    assert again.n_kept + again.n_new + again.n_same == again.n_sampled
    left = {r.place for r in store.edit_queue(1, ana, sealed=False).rows}
    assert rows[0].place in left
    assert len(left) <= 2
    with pytest.raises(ValueError, match="a sample of 0 edits"):
        store.make_counterfactual_sample(1, 0)
