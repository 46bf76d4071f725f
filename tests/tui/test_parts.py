"""Charts, words, registry, clock, walking order, layout of a path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.content import Content

from store import StoreError
from store.records import PathView
from tests.tui.conftest import YES, trace
from tests.tui.running import workbench
from tui import wording
from tui.actions import ACTIONS, FOOTER_MAX, actions_of, bindings_of, footer_of, key_text
from tui.app import MedoidApp
from tui.charts import arcs, arcs_between, bar, support_glyph
from tui.pathlines import path_rows
from tui.rater import default_rater
from tui.screens.help import HelpScreen, help_lines
from tui.session import ActiveClock, FileGuard
from tui.text import cells

SCREENS = (
    "overview",
    "queue",
    "case",
    "revealed",
    "raw",
    "graph",
    "help",
    "samples",
    "facts",
    "edits",
    "ablations",
    "ablation",
    "runs",
    "topology",
    "sensitivity",
    "support",
    "distances",
)


def test_support_glyphs_change_at_the_quarters() -> None:
    shares = (1.0, 0.75, 0.7499, 0.5, 0.4999, 0.25, 0.2499, 0.001, 0.0, None, float("nan"))
    assert "".join(support_glyph(s) for s in shares) == "●●◕◕◔◔○○◌––"
    assert support_glyph(0.75 - 1e-12) == "●"


def test_bars() -> None:
    assert [bar(v, 8) for v in (0.0, 1 / 64, 0.5, 1.0, 1.2, -0.3, None)] == [
        "",
        "▏",
        "████",
        "████████",
        "████████",
        "",
        "",
    ]


def test_arcs_of_a_small_graph() -> None:
    rows = arcs([(), (0,), (), (1, 2), (0, 3)])
    assert rows == ["─╮      ", "◂┼─╮    ", "─│─│─╮  ", "◂│─┴─┴─╮", "◂┴─────╯"]
    assert arcs_between(rows, 1) == " │ │    "
    assert arcs([(), ()]) == ["", ""]


def test_shares_and_percentages() -> None:
    assert [wording.share(v) for v in (0.0, 0.004, 0.5, 0.999, 1.0, 1.25, -0.5, None)] == [
        ".00",
        ".00",
        ".50",
        "1.00",
        "1.00",
        "1.25",
        "-.50",
        "–",
    ]
    assert wording.share(float("nan")) == "–"


def test_errors_say_what_would_help() -> None:
    assert wording.error(RuntimeError("database is locked")) == (
        "another program is writing to the database: press the key again (database is locked)"
    )
    assert wording.error(StoreError("no folder")) == "no folder"
    assert wording.error(ValueError("\x1b[2J")) == "\\x1b[2J"


@pytest.mark.parametrize("screen", SCREENS)
def test_footers_are_short_and_have_their_handlers(screen: str) -> None:
    shown = footer_of(screen)
    assert 1 <= len(shown) <= FOOTER_MAX
    line = "  ·  ".join(f"{key} {label}" for key, label in shown)
    assert cells(line) <= 78


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_means_two_things_on_a_screen(screen: str) -> None:
    keys = [key for action in actions_of(screen) for key in action.keys]
    assert len(keys) == len(set(keys))
    assert len(bindings_of(screen)) == len(keys)


def test_every_action_has_its_method() -> None:
    from tui.screens.ablations import AblationScreen, AblationsScreen
    from tui.screens.case import CaseScreen
    from tui.screens.distances import DistancesScreen
    from tui.screens.edits import EditsScreen
    from tui.screens.facts import FactsScreen
    from tui.screens.graph import GraphScreen, SupportScreen
    from tui.screens.overview import OverviewScreen
    from tui.screens.queue import QueueScreen
    from tui.screens.revealed import RevealedScreen
    from tui.screens.runs import RunsScreen
    from tui.screens.samples import SamplesScreen
    from tui.screens.sensitivity import SensitivityScreen
    from tui.screens.sheets import RawScreen
    from tui.screens.topology import TopologyScreen

    classes = (
        OverviewScreen,
        QueueScreen,
        CaseScreen,
        RevealedScreen,
        RawScreen,
        GraphScreen,
        HelpScreen,
        SamplesScreen,
        FactsScreen,
        EditsScreen,
        AblationsScreen,
        AblationScreen,
        RunsScreen,
        TopologyScreen,
        SensitivityScreen,
        SupportScreen,
        DistancesScreen,
    )
    assert [c.NAME for c in classes] == list(SCREENS)
    for cls in classes:
        for action in actions_of(cls.NAME):
            owner = MedoidApp if action.name.startswith("app.") else cls
            name = action.name.removeprefix("app.").partition("(")[0]
            assert callable(getattr(owner, f"action_{name}")), (cls, action)


@pytest.mark.parametrize("width", [50, 78, 100])
def test_help_lists_every_key_of_the_registry(width: int) -> None:
    lines = [line.plain for line in help_lines("case", width)]
    assert max(map(cells, lines)) <= width
    told = " ".join(" ".join(lines).split())
    for action in ACTIONS:
        assert action.help in told
        for key in ("0-9",) if action.digit else action.keys:
            assert key_text(key) in told.split()


async def test_help_shows_guideline_and_keys(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.open("q1")
        await desk.press("question_mark")
        assert "Judge the steps, not the answer." in desk.flat
        seen = [desk.flat]
        for _ in range(24):
            await desk.press("pagedown")
            seen.append(desk.flat)
        for told in ("Read the figures again.", "Go on labelling.", "Go back to the paths."):
            assert any(told in text for text in seen)
        await desk.press("home", "escape")
        assert desk.app.screen is desk.case


async def test_palette_offers_the_registry(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q1")
        await desk.press("ctrl+p", *"label", "space", *"spur")
        assert "label spurious (2)" in desk.text
        await desk.press("down", "enter")
        await desk.settle()
        assert case.case is not None
        first = case.case.paths[0].label
        assert first is not None
        assert first.category == "spurious"


def test_idle_time_counts_for_a_minute_at_most() -> None:
    now = [0.0]
    clock = ActiveClock(lambda: now[0])
    for moment in (10.0, 15.0, 500.0):
        now[0] = moment
        clock.tick()
    now[0] = 502.0
    assert clock.read() == 77.0
    clock.start()
    now[0] = 505.5
    assert clock.read() == 3.5


def test_the_guard_notices_another_file(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.write_text("x")
    guard = FileGuard(file)
    guard.check()
    other = tmp_path / "b.db"
    other.write_text("x")
    os.replace(other, file)
    with pytest.raises(StoreError, match="nothing was saved"):
        guard.check()


def _path(steps: list[str]) -> PathView:
    made = trace(steps, YES)
    return PathView(1, "path:a/b/c/0", 1, made.steps, "yes", YES, (), "steps", {}, None)


def test_a_path_is_laid_out_with_marks() -> None:
    path = _path(["Ice floats.", "Water is denser than ice is.", "So it floats."])
    lines = [row.content.plain for row in path_rows(path, 24, wrong=1)]
    assert lines == [
        "  0  Ice floats.",
        " ✗1  Water is denser  ⟵0",
        "     than ice is.",
        "  2  So it floats.    ⟵?",
        "  3∴ yes",
    ]
    marked = path_rows(path, 24, wrong=1, marks={1: Content("a")})
    assert [row.content.plain for row in marked] == [
        lines[0],
        " ✗1a Water is denser  ⟵0",
        *lines[2:],
    ]
    shown = [row.content.plain for row in path_rows(path, 40, support=(0.8, 0.5, None))]
    assert [line[:8] for line in shown[:3]] == ["  0  ● I", "  1  ◕ W", "  2  – S"]


def test_long_steps_are_never_cut() -> None:
    word = "x" * 300
    path = _path([word, "short"])
    rows = path_rows(path, 30)
    assert "".join(r.content.plain[5:].split("⟵")[0] for r in rows if r.item == 0) == word
    assert all(cells(r.content) <= 30 for r in rows)


async def test_a_narrow_terminal_shows_one_side_at_a_time(db: Path) -> None:
    async with workbench(db, (50, 20)) as desk:
        await desk.open("q4")
        assert ("▸ A" in desk.text, " B · " in desk.text) == (True, False)
        await desk.press("tab")
        assert ("▸ B" in desk.text, " A · " in desk.text) == (True, False)


async def test_a_step_longer_than_the_pane_can_be_read_to_its_end(db: Path) -> None:
    async with workbench(db) as desk:
        case = await desk.open("q4")
        if len(case.path.steps) == 1:  # type: ignore[union-attr]
            await desk.press("tab")
        seen = []
        for _ in range(12):
            seen.append(desk.text)
            await desk.press("j")
        assert "2  end" in desk.text
        assert "∴ no" in desk.text
        assert any("1  A step" in text for text in seen)


async def test_a_database_that_cannot_be_opened_ends_the_app(tmp_path: Path) -> None:
    bad = tmp_path / "bad.db"
    bad.write_text("this is no database, only text of some length " * 40)
    app = MedoidApp(bad, rater="ana")
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.return_code == 2


async def test_a_judges_name_is_no_rater(db: Path) -> None:
    app = MedoidApp(db, rater="judge-zed")
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.return_code == 2


def test_the_rater_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDOID_RATER", " eve ")
    assert default_rater() == "eve"
    monkeypatch.delenv("MEDOID_RATER")
    monkeypatch.setenv("LOGNAME", "kim")
    assert default_rater() == "kim"
