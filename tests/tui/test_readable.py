"""What a reader needs is drawn: line breaks, the ends of names, whole errors, comments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.content import Content

from store import Store
from store.records import OverviewRow, PathView, SealLevel
from tests.tui.conftest import NO, YES, Spec, build, label_of, trace
from tests.tui.running import workbench
from tui.graphlines import graph_lines, steps_drawn
from tui.overviewlines import accuracy_shown
from tui.pathlines import path_rows
from tui.text import cells, cut_middle

ROW = OverviewRow(
    "own", "p", 40, 400, 400, 400, 400, 0, 1200, 40, 40, 30, 20, 5, 10, 3, 40, 12
)  # fmt: skip


def _path(text: str) -> PathView:
    made = trace([text, "So yes."], YES)
    return PathView(1, "path:a/b/c/0", 1, made.steps, "yes", YES, (), "steps", {}, None)


def test_a_newline_in_a_step_breaks_the_line_and_escapes_stay() -> None:
    path = _path("x = 1\r\ny = 2\n\x1b[2J\u202e")
    assert [row.content.plain for row in path_rows(path, 40)][:3] == [
        "  0  x = 1",
        "     y = 2",
        "     \\x1b[2J<U+202E>",
    ]
    graph = graph_lines(steps_drawn("A", Content(""), path), 40)
    assert [row.content.plain for row in graph][:3] == [
        " 0 ─╮ x = 1",
        "    │ y = 2",
        "    │ \\x1b[2J<U+202E>",
    ]
    assert [row.item for row in graph] == [0, 0, 0, 1]


async def test_case_and_reveal_and_graph_draw_line_breaks(tmp_path: Path) -> None:
    db = tmp_path / "lines.db"
    made = (trace(["first half\nsecond half", "end"], NO), trace(["other", "end"], YES))
    build(db, [Spec("q", "Q?", "p1", made, (0, 1), 1)])
    async with workbench(db) as desk:
        await desk.open("q")
        seen = [desk.text]
        await desk.press("1", "1", "b")
        for _ in range(4):
            await desk.press("pagedown")
        seen.append(desk.text)
        await desk.press("v")
        seen.append(desk.text)
    for text in seen:
        assert "\\n" not in text
        lines = text.splitlines()
        at = next(i for i, line in enumerate(lines) if "first half" in line)
        column = lines[at].index("first half")
        assert lines[at + 1][column:].startswith("second half")


@pytest.mark.parametrize(
    ("changes", "seal", "shown"),
    [
        ({}, "full", True),
        ({"n_gold": 20, "sc_correct": 19, "gsc_correct": 1}, "full", True),
        ({"n_gold": 19, "sc_correct": 10, "gsc_correct": 10}, "full", False),
        ({"sc_correct": 40}, "full", False),
        ({"gsc_correct": 0}, "full", False),
        ({"n_gold": 1, "sc_correct": 1, "gsc_correct": 0, "n_cases_done": 10}, "full", True),
        ({"n_gold": 1, "sc_correct": 1, "gsc_correct": 0, "n_cases_done": 9}, "full", False),
        ({"n_gold": 1, "sc_correct": 1, "gsc_correct": 0}, "judge", True),
        ({"n_gold": 1, "sc_correct": 1, "gsc_correct": 0}, "open", True),
    ],
)
def test_accuracy_is_hidden_where_it_gives_gold_away(
    changes: dict[str, int], seal: SealLevel, shown: bool
) -> None:
    assert accuracy_shown(replace(ROW, **changes), seal) is shown  # type: ignore[arg-type]


async def test_the_overview_shows_shares_once_the_row_is_done(db: Path) -> None:
    async with workbench(db) as desk:
        assert "own · p2 1 2 100 % – – 1 0/1" in desk.flat
        assert "SC, GSC: shown when your cases of this row are revealed or done" in desk.flat
        await desk.open("q1", "p2")
        await desk.press("1", "1", "escape")
        await desk.press("g", "j")
        assert "own · p2 1 2 100 % .00 1.00 1 1/1" in desk.flat
        assert "own · p1 4 13 100 % – – 3 0/4" in desk.flat
        assert "SC, GSC: share right of 1 with gold" in desk.flat


async def test_the_same_label_after_the_reveal_is_said_to_save_nothing(
    db: Path, store: Store
) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        await desk.press("1", "x")
        first, second = case.case.paths  # type: ignore[union-attr]
        saved = desk.app.session.saved_at
        await desk.press("b", "e", "x")
        assert "unchanged: nothing was saved" in desk.text
        await desk.press("tab", "e", "1")
        assert "unchanged: nothing was saved" in desk.text
        assert "second row" not in desk.text
        assert desk.app.session.saved_at == saved
        history = store.label_history
        rater = store.rater("ana").id
        assert [len(history(rater, p.item_id)) for p in (first, second)] == [1, 1]


async def test_the_same_step_label_again_is_said_to_save_nothing(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("s", "1", "k")
        saved = desk.app.session.saved_at
        await desk.press("1")
        assert "unchanged: nothing was saved" in desk.text
        assert desk.app.session.saved_at == saved
        await desk.press("k", "2")
        assert "unchanged" not in desk.text


@pytest.mark.parametrize("name", ["a?b.db", "a#b.db", "a%20b.db"])
async def test_a_vanished_file_is_noticed_whatever_its_name(tmp_path: Path, name: str) -> None:
    db = tmp_path / name
    build(db)
    async with workbench(db, (200, 30)) as desk:
        assert name in desk.text
        await desk.open("q1")
        db.rename(tmp_path / "moved")
        await desk.press("1")
        assert "○ NOT SAVED" in desk.text
        assert f"Put it back: {db}" in desk.text


async def test_comments_are_marked_and_shown_after_the_reveal(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q2")
        path = case.path
        assert path is not None
        assert "✎" not in desk.text
        await desk.press("c", *"odd", "enter")
        assert "path 1 of 1 · not labelled · ✎" in desk.text
        stands = label_of(store, "ana", path.item_id)
        assert stands is not None
        assert stands.note == "odd"
        await desk.press("tab", "s", "c", *"why", "enter", "s")
        assert desk.text.count("✎") == 2
        await desk.press("1", "1", "b")
        assert "✎ A1 you: “odd”" in desk.text
        assert "✎ B1 step 0 you: “why”" in desk.text


def test_a_long_name_loses_its_middle() -> None:
    line = Content("gsm8k · qwen2.5-coder-0.5b-instruct-a")
    assert cut_middle(line, 21).plain == "gsm8k · qw…instruct-a"
    assert cut_middle(line, 40) == line
    assert [cells(cut_middle(Content("日本語日本語"), n)) for n in (1, 2, 5, 12)] == [1, 1, 5, 12]


async def test_pools_whose_names_begin_alike_are_told_apart(tmp_path: Path) -> None:
    db = tmp_path / "alike.db"
    pools = [f"qwen2.5-coder-0.5b-instruct-shots{n}" for n in "48"]
    made = (trace(["a"], YES), trace(["b"], NO))
    build(db, [Spec("q", "Q?", pool, made, (0, 1), 0) for pool in pools])
    async with workbench(db) as desk:
        rows = [line for line in desk.text.splitlines() if "0/1" in line]
        assert [row.lstrip(" ▸").split("  ")[0] for row in rows] == [
            "own · qwen2.5-c…-instruct-shots4",
            "own · qwen2.5-c…-instruct-shots8",
        ]
        assert "own · qwen2.5-coder-0.5b-instruct-shots4" in desk.flat


async def test_an_error_is_read_to_its_end_at_80_columns(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("(sqlite3.OperationalError) database is locked")

    async with workbench(db) as desk:
        await desk.open("q1")
        before = desk.text.splitlines()
        with monkeypatch.context() as patch:
            patch.setattr(Store, "commit_label", locked)
            await desk.press("2")
        assert (
            "NOT DONE: another program is writing to the database: press the key again "
            "((sqlite3.OperationalError) database is locked)" in desk.flat
        )
        assert desk.text.splitlines()[-2:] == before[-2:]
        await desk.press("2")
        assert "NOT DONE" not in desk.text
        assert len(desk.text.splitlines()) == len(before)


async def test_undo_takes_a_pending_mark_back_first(db: Path, store: Store) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        first = case.path
        assert first is not None
        await desk.press("1", "j", "w", "u")
        assert "the mark is taken back: it was not saved yet" in desk.text
        assert case.marks == {}
        stands = label_of(store, "ana", first.item_id)
        assert stands is not None
        assert stands.category == "faithful"
        await desk.press("u")
        assert case.path == replace(first, label=case.path.label)  # type: ignore[union-attr]
        stands = label_of(store, "ana", first.item_id)
        assert stands is not None
        assert stands.state == "open"


async def test_undo_after_a_mark_and_a_step_label_is_about_the_step(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        path = case.path
        assert path is not None
        await desk.press("s", "w", "2", "u")
        assert case.step_labels(path)[0].state == "open"
