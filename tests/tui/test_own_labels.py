"""One's own labels as imported, votes that cannot be misread, questions of several lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.types import NormalForm
from store import Store
from store.records import CaseView, NewLabel
from tests.tui.conftest import HOSTILE, NO, YES, Spec, build, label_of, trace
from tests.tui.running import workbench
from tui.pathlines import question_text
from tui.revealedlines import _all_votes
from tui.text import cells

Size = tuple[int, int]


def _import(store: Store, item: str, category: str, step: int | None) -> None:
    with store.importing() as batch:
        batch.add_label(
            NewLabel(item, "path", "ana", "human", "labelled", category, first_wrong_step=step)
        )


# -- labels that contradict themselves


async def test_an_imported_label_that_contradicts_itself_is_marked(
    db: Path, store: Store, size: Size
) -> None:
    rater = store.rater("ana").id
    case_id = next(r.case_id for r in store.cases(rater).rows if r.question_id == "q3")
    first, second = store.case(case_id, rater, store.schema()).paths
    _import(store, first.item, "faithful", 1)
    _import(store, second.item, "spurious", 1)
    before = [label_of(store, "ana", p.item_id) for p in (first, second)]
    async with workbench(db, size) as desk:
        await desk.open("q3")
        assert "path 1 of 1 · faithful ✗1 ≠" in desk.text
        assert "spurious ✗1 ≠" not in desk.text
        await desk.press("tab", "tab")
        assert "≠ your label says faithful and yet names a first wrong step" in desk.text
        await desk.press("b")
        assert "faithful ✗1 ≠" in desk.text
        assert "≠ you: says faithful and yet names a first wrong step (A1)" in desk.flat
        assert desk.flat.count("≠ you: ") == 1
    assert [label_of(store, "ana", p.item_id) for p in (first, second)] == before
    assert [len(store.label_history(rater, p.item_id)) for p in (first, second)] == [1, 1]


async def test_a_digit_sets_it_right(db: Path, store: Store) -> None:
    rater = store.rater("ana").id
    case_id = next(r.case_id for r in store.cases(rater).rows if r.question_id == "q3")
    first = store.case(case_id, rater, store.schema()).paths[0]
    _import(store, first.item, "faithful", 1)
    async with workbench(db) as desk:
        await desk.open("q3")
        await desk.press("tab", "1")
        assert "≠" not in desk.text
        await desk.press("u")
        assert "undone: A path 1: faithful → faithful ✗1 ≠" in desk.text
    stands = label_of(store, "ana", first.item_id)
    assert stands is not None
    assert (stands.category, stands.first_wrong_step) == ("faithful", 1)


# -- votes


def _number(n: int) -> NormalForm:
    from fractions import Fraction

    return ("number", Fraction(n))


def test_all_votes_cannot_be_misread() -> None:
    counts = [(_number(16), 6), (_number(21), 2), (_number(-3), 1)]
    lines = [line.plain for line in _all_votes(counts, 80)]
    assert lines == [" all votes      16 ×6 · 21 ×2 · -3 ×1"]


@pytest.mark.parametrize("width", [38, 44, 60])
def test_no_line_ends_between_an_answer_and_its_votes(width: int) -> None:
    counts = [(_number(1000 + n), n) for n in range(1, 13)]
    lines = _all_votes(counts, width)
    assert len(lines) > 1
    assert max(map(cells, lines)) <= width
    bodies = [line.plain[16:].rstrip(" ·").split(" · ") for line in lines]
    assert [part for body in bodies for part in body] == [f"{1000 + n} ×{n}" for n in range(1, 13)]


# -- questions of several lines


def _view(question: str, options: object = None) -> CaseView:
    return CaseView(1, "d", "q", question, "auto", options, "p", "full", ((), ()), False, False)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("One.\nTwo.", "One.\nTwo."),
        ("One.\r\nTwo.", "One.\nTwo."),
        ("\n\nOne.\n \n\t\nTwo.\n", "One.\nTwo."),
        ("  if x:\n    y", "  if x:\n    y"),
        ("a\rb\tc\x0bd\x1b[2J\u2028e\x85f", "a\\rb\\tc\\x0bd\\x1b[2J<U+2028>e\\x85f"),
        ("[/x]\n[$accent]", "[/x]\n[$accent]"),
    ],
)
def test_line_breaks_hold_and_other_controls_are_escapes(question: str, shown: str) -> None:
    assert question_text(_view(question)).plain == shown


def test_options_stand_behind_the_question() -> None:
    assert question_text(_view("Which?\nNow.", {"A": "x\ny", "B": "z"})).plain == (
        "Which?\nNow. (options: A) x\ny; B) z)"
    )


async def test_a_question_of_several_lines(tmp_path: Path, size: Size) -> None:
    db = tmp_path / "lines.db"
    made = (trace(["one", "end"], NO), trace(["other", "end"], YES))
    text = f"Ann has 3 jars.\n\nBen has {HOSTILE} shown, as typed.\nHow many?\nFourth.\nFifth."
    build(db, [Spec("q", text, "p1", made, (0, 1), 1)])
    async with workbench(db, size) as desk:
        await desk.open("q")
        lines = desk.text.splitlines()
        assert lines[1] == " Q  Ann has 3 jars."
        assert lines[2].startswith("    Ben has [/x] [CLAIM] [$accent] [ \\x1b[31mred")
        assert "\\n" not in "".join(lines[1:4])
        if size[1] == 24:
            assert lines[3].strip().endswith("end shown, as typed.")
            assert lines[4].strip() == "How many?… (o: all)"
            assert "━" in lines[5]
        else:
            assert [line.strip() for line in lines[4:7]] == ["How many?", "Fourth.", "Fifth."]
            assert "━" in lines[7]
        await desk.press("1", "1", "b")
        assert desk.text.splitlines()[1] == " Q  Ann has 3 jars."
        await desk.press("escape", "escape", "c")
        assert "Ann has 3 jars." in desk.text
        assert "\\n" not in desk.text
