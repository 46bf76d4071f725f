"""Reviewing contradictions: which statement is wrong and why, the seal, undo, going on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.relation_review import make_review
from store import Store, open_store
from store.label_records import NewLabel
from store.relation_records import AskingRecord
from tests.tui.conftest import HOSTILE, RATIONALE, Desk
from tests.tui.related import SECRET, WRITTEN, build_related
from tests.tui.running import workbench
from tui.relationlist import asking_of_item, find_start
from tui.screens.disagreements import DisagreementsScreen
from tui.screens.relations import RelationsScreen
from tui.screens.review import ReviewScreen
from tui.screens.setviews import MatrixScreen, OrderScreen
from tui.text import cells

Size = tuple[int, int]
JUDGE = "judge-zed"
PLANTED = (JUDGE, RATIONALE, WRITTEN, "1871", SECRET, "truth ", "repair", "true: ")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("review") / "ready.db"
    build_related(path)
    with open_store(path) as store:
        for asking in store.relation_askings():
            make_review(store, asking)
            store.make_relation_sample(asking.id, 4)
        keys = store.relation_item_keys("cycle")
        with store.importing() as batch:
            for key in keys:
                for schema, said in (("cycle", "edge2"), ("cycle-cause", "swapped objects")):
                    batch.add_label(
                        NewLabel(
                            key, schema, JUDGE, "judge", "labelled", said,
                            rationale=f"{RATIONALE} {HOSTILE}",
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


def asking(store: Store, name: str = "events") -> AskingRecord:
    return next(a for a in store.relation_askings() if a.set == name)


def queue(store: Store, name: str = "events", rater: str = "ana") -> list[int]:
    rows = store.relation_queue(store.rater(rater).id, asking_id=asking(store, name).id)
    return [r.item_id for r in rows]


def review(desk: Desk) -> ReviewScreen:
    assert isinstance(desk.app.screen, ReviewScreen)
    return desk.app.screen


def said(store: Store, schema: str, rater: str = "ana") -> list[str]:
    rows = store.export_labels(rater=rater, schema=schema)
    return [str(x.label.category or x.label.state) for x in rows]


# --- what is drawn -----------------------------------------------------------------------------


async def test_a_pair_answered_both_ways_comes_first_with_the_models_own_words(
    db: Path, store: Store, size: Size
) -> None:
    assert len(queue(store)) == 2
    async with workbench(db, size) as desk:
        await desk.press("o", "enter")
        assert review(desk)
        lines = desk.text.splitlines()
        assert "events ▸ time ▸ 1/2 open" in lines[0]
        assert "sealed" in lines[0]
        assert lines[1].strip() in ("Ark ─1 before─▸ Cog", "Cog ─1 before─▸ Ark")
        assert lines[3].strip().strip("└─┘") == "2 before"
        assert desk.text.count("both ways: contradict") == 2
        assert desk.text.count("this way   before") == 2
        assert desk.text.count("other way  before") == 2
        assert "I think the answer is [before] \\x1b[2J, of course." in desk.flat
        assert "which is wrong: 1 edge1 2 edge2 0 none s unsure" in desk.flat
        assert "\x1b" not in desk.text
        assert all(cells(line) <= size[0] for line in lines)
        await desk.press("n")
        # 0 before 1 before 2 before 0: the last of these is answered both ways.
        assert desk.text.count("both ways: agree") == 2
        assert desk.text.count("both ways: contradict") == 1
        assert desk.text.count("─▸") >= 2
        assert "Boat" in desk.text
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())


async def test_findings_of_a_family_are_drawn_as_they_were_stated(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "j", "j", "enter")
        seen = set()
        for _ in queue(store, "family"):
            top = desk.text.splitlines()[0]
            seen |= {t for t in ("not inverse", "at odds", "two genders") if t in top}
            if "at odds" in top:
                assert "▴" in desk.text
                assert desk.text.count(" of─") >= 2
            await desk.press("n")
        assert seen == {"not inverse", "at odds", "two genders"}
        assert "aunt of" in desk.text or "son of" in desk.text


async def test_the_light_theme_shows_the_same(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "enter")
        dark = desk.text
        desk.app.theme = "textual-light"
        await desk.settle()
        assert desk.text == dark


async def test_the_guideline_is_that_of_the_question(db: Path) -> None:
    async with workbench(db, (120, 40)) as desk:
        await desk.press("o", "enter")
        assert "Count the edges from the top." in desk.flat.replace("│ ", "")
        await desk.press("1")
        assert "Look at its whole reply." in desk.flat.replace("│ ", "")
        await desk.press("1")
        assert "Count the edges from the top." in desk.flat.replace("│ ", "")


# --- labels ------------------------------------------------------------------------------------


async def test_a_digit_says_which_is_wrong_and_the_next_why(db: Path, store: Store) -> None:
    first, second = queue(store)
    async with workbench(db) as desk:
        await desk.press("o", "enter")
        assert review(desk).item_id == first
        await desk.press("3")
        assert "3 names nothing here: 1, 2, 0, or s for cannot tell" in desk.text
        await desk.press("1")
        assert review(desk).item_id == first
        assert "✗before" in desk.text
        assert "why is 1 wrong: 1 fact" in desk.text
        assert said(store, "cycle") == ["edge1"]
        await desk.press("3")
        assert review(desk).item_id == second
        assert "saved: why, finding 1 swapped objects" in desk.flat
        await desk.press("2", "s")
        assert "that was the last finding: esc goes back" in desk.text
        await desk.press("1")
        assert "all are decided" in desk.text
        await desk.press("escape")
        assert isinstance(desk.app.screen, RelationsScreen)
        line = next(x for x in desk.text.splitlines() if "events · " in x)
        assert line.split()[-2:] == ["2", "2"]
    assert said(store, "cycle") == ["edge1", "edge2"]
    assert said(store, "cycle-cause") == ["swapped objects", "unsure"]
    labels = [x.label for x in store.export_labels(rater="ana")]
    assert {(x.seal, x.before_reveal) for x in labels} == {("full", True)}


async def test_none_and_cannot_tell_need_no_cause(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "enter", "0")
        assert review(desk).item_id == queue(store)[1]
        await desk.press("tab")
        assert "why is asked once an edge is called wrong" in desk.text
        await desk.press("s")
        assert "that was the last finding" in desk.text
    assert sorted(said(store, "cycle")) == ["none", "unsure"]
    assert said(store, "cycle-cause") == []


async def test_undo_goes_back_to_the_finding_and_its_question(db: Path, store: Store) -> None:
    first = queue(store)[0]
    async with workbench(db) as desk:
        await desk.press("o", "enter", "1", "2")
        await desk.press("u")
        assert review(desk).item_id == first
        assert "why is 1 wrong" in desk.text
        assert "undone: answer preference → not labelled" in desk.text
        await desk.press("u")
        assert "which is wrong" in desk.text
        assert "undone: edge1 → not labelled" in desk.text
        await desk.press("ctrl+r")
        assert "done again: not labelled → edge1" in desk.text
        await desk.press("escape", "u")
        assert "undone" in desk.text
    assert said(store, "cycle") in (["open"], [])


async def test_skip_flag_comment_and_change(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "enter", "!")
        assert "flagged" in desk.text
        await desk.press("c")
        await desk.press(*"odd", "enter")
        assert "comment: odd" in desk.text
        await desk.press("x")
        assert review(desk).item_id == queue(store)[1]
        await desk.press("f", "f", "f")
        assert "1/1 flagged" in desk.text
        await desk.press("2", "1", "p", "1")
        assert "why is 1 wrong" in desk.text
    history = [x.label.category or x.label.state for x in store.export_labels(
        rater="ana", schema="cycle", history=True)]  # fmt: skip
    assert history[-3:] == ["skipped", "edge2", "edge1"]
    (label,) = [x.label for x in store.export_labels(rater="ana", schema="cycle")]
    assert (label.flagged, label.note) == (True, "odd")


async def test_single_statements_are_labelled_on_the_same_screen(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        await desk.press("o", "enter", "d")
        assert "one statement ▸ 1/4 open" in desk.text
        assert "is it right: 1 right 2 wrong 3 unsure" in desk.flat
        await desk.press("2")
        assert "2/4 open" in desk.text
        await desk.press("d")
        assert "time ▸ 1/2" in desk.text
    assert said(store, "pair") == ["wrong"]


def test_one_goes_on_where_one_stopped(store: Store) -> None:
    ana, ask = store.rater("ana").id, asking(store)
    first, second = queue(store)
    assert find_start(store, ana, ask)[1] == first
    store.commit_label(ana, first, store.schema("cycle"), category="edge1")
    findings, start = find_start(store, ana, ask)
    assert start == second
    assert [r.item_id for r in findings.rows] == [second]
    store.commit_label(ana, second, store.schema("cycle"), state="skipped")
    findings, start = find_start(store, ana, ask)
    assert (findings.show, start) == ("all", first)


# --- the seal ----------------------------------------------------------------------------------


async def test_nothing_behind_the_seal_is_shown_before_the_label(
    db: Path, store: Store, size: Size
) -> None:
    keys = ["r", "escape", "j", "b", "n", "m", "escape", "o", "escape", "f", "f", "d", "n", "d"]
    async with workbench(db, size) as desk:
        await desk.press("o")
        for row in range(3):
            await desk.press("enter")
            for key in [*keys, "t", "escape"]:
                await desk.press(key)
                shown = desk.text.replace("true places, errors and repair are", "")
                for planted in PLANTED:
                    assert planted not in shown, (row, key)
            while not isinstance(desk.app.screen, RelationsScreen):
                await desk.press("escape")
            await desk.press("j")


async def test_the_reveal_shows_truth_repair_and_verdict_after_the_label(
    db: Path, store: Store, size: Size
) -> None:
    async with workbench(db, size) as desk:
        await desk.press("o", "enter", "b")
        assert "label this finding before the reveal, or skip it" in desk.text
        await desk.press("1", "1", "p", "b")
        if "will count as labelled after the reveal" in desk.flat:
            await desk.press("y")
        assert "revealed" in desk.text.splitlines()[0]
        assert desk.text.count("truth ✓") == 1
        assert desk.text.count("truth ✗ after") == 1
        assert desk.text.count("repair turns it") == 1
        assert f"{WRITTEN}-0" in desk.text
        assert f"{JUDGE} edge2" in desk.flat
        assert RATIONALE in desk.text
        assert "\x1b" not in desk.text
        await desk.press("b")
        assert "nothing is sealed here any more" in desk.text
        await desk.press("2")
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())
    rows = [x.label for x in store.export_labels(rater="ana", schema="cycle", history=True)]
    assert [(r.category, r.before_reveal) for r in rows] == [("edge1", True), ("edge2", False)]
    bob = store.rater("bob").id
    assert not store.relation_case(queue(store)[0], bob).revealed


async def test_a_whole_set_is_revealed_once_every_finding_is_decided(
    db: Path, store: Store
) -> None:
    ana = store.rater("ana").id
    async with workbench(db) as desk:
        await desk.press("o", "b")
        assert "6 findings of this set to decide before the reveal" in desk.flat
        for schema in ("cycle", "pair"):
            for row in store.relation_queue(ana, schema, asking_id=asking(store).id):
                store.commit_label(ana, row.item_id, store.schema(schema), state="skipped")
        await desk.press("o")
        assert isinstance(desk.app.screen, OrderScreen)
        assert "sealed" in desk.text.splitlines()[0]
        await desk.press("escape", "b")
        assert "revealed: o shows true places" in desk.text
        await desk.press("o")
        assert "true place" in desk.text
        await desk.press("escape", "m")
        assert isinstance(desk.app.screen, MatrixScreen)
        assert "not true" in desk.text
        await desk.press("escape", "j", "o")
        assert "true place " not in desk.text.replace("true places", "")  # another set is sealed


# --- around it ---------------------------------------------------------------------------------


async def test_f_finds_what_to_review(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    build_related(path)
    async with workbench(path) as desk:
        await desk.press("o", "enter")
        assert "nothing here was chosen to review yet: f finds" in desk.flat
        await desk.press("f")
        assert "2 found, 2 to review (2 new): enter reviews them" in desk.flat
        await desk.press("enter")
        assert review(desk).findings.n_all == 2
        await desk.press("escape", "f")
        assert "2 found, 2 to review (0 new)" in desk.flat


async def test_a_disagreement_about_a_cycle_opens_it(db: Path, store: Store) -> None:
    first = queue(store)[0]
    ana = store.rater("ana").id
    store.commit_label(ana, first, store.schema("cycle"), category="edge1")
    store.reveal_relations([first], ana, store.schema("cycle"))
    async with workbench(db) as desk:
        screen = DisagreementsScreen(desk.app.session, ("ana", JUDGE), "cycle")
        await desk.app.push_screen(screen)
        await desk.settle()
        assert "edge1" in desk.text
        assert "edge2" in desk.text
        await desk.press("enter")
        assert review(desk).item_id == first
        await desk.press("escape")
        assert isinstance(desk.app.screen, DisagreementsScreen)


def test_an_items_key_names_its_set_and_queue(store: Store) -> None:
    key = store.relation_case(queue(store)[0], store.rater("ana").id).item
    assert asking_of_item(store, key) == (asking(store), "cycle")
    pair = store.relation_item_keys("pair")[0]
    found = asking_of_item(store, pair)
    assert found is not None
    assert found[1] == "pair"
    assert asking_of_item(store, "path:own/q1/p1/0") is None
    assert asking_of_item(store, "cycle:none/m/x/0") is None
