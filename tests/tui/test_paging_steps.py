"""Page keys inside a step that is taller than its pane, and what keeps the view in place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from tests.tui.conftest import NO, YES, Spec, build, trace
from tests.tui.running import workbench
from tui.widgets.lines import Lines, Row

HEIGHT = 10


class _Pane(App[None]):
    """One pane of lines."""

    CSS = "Lines { overflow-x: hidden; scrollbar-gutter: stable; }"

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self._sizes = sizes

    def compose(self) -> ComposeResult:
        yield Lines()

    def on_mount(self) -> None:
        self.query_one(Lines).show(self.build, cursor=0, key="steps")

    def build(self, _width: int) -> list[Row]:
        rows = [
            Row(Content(f"  {item}.{n}"), item, n == 0)
            for item, size in enumerate(self._sizes)
            for n in range(size)
        ]
        return [*rows, Row(Content("  end"))]


@asynccontextmanager
async def pane(*sizes: int) -> AsyncIterator[Lines]:
    app = _Pane(sizes)
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        await pilot.pause()
        yield app.query_one(Lines)


def seen(lines: Lines) -> tuple[int | None, int]:
    """Return the cursor's item and the first line in view."""
    return lines.cursor, lines.scroll_offset.y


async def test_a_tall_step_is_read_through_and_then_left() -> None:
    async with pane(2, 35, 3) as lines:
        places = []
        for _ in range(7):
            lines.page(1)
            places.append(seen(lines))
        # Lines 2 to 36 are step 1's; the pane is ten lines high, a screenful nine.
        assert places == [(1, 2), (1, 11), (1, 20), (1, 29), (2, 30), (2, 31), (2, 31)]
        lines.select(1)
        assert seen(lines) == (1, 31)


async def test_page_up_comes_to_the_end_of_a_tall_step_first() -> None:
    async with pane(2, 35, 3) as lines:
        lines.bottom()
        assert seen(lines) == (2, 31)
        places = []
        for _ in range(6):
            lines.page(-1)
            places.append(seen(lines))
        assert places == [(1, 27), (1, 18), (1, 9), (1, 0), (0, 0), (0, 0)]


async def test_every_line_is_seen_either_way() -> None:
    async with pane(1, 23, 4, 12, 1, 1, 30) as lines:
        whole = set(range(len(lines.rows)))
        for by in (1, -1):
            shown = set[int]()
            for _ in range(20):
                top = lines.scroll_offset.y
                shown |= set(range(top, top + HEIGHT))
                lines.page(by)
            assert whole <= shown


async def test_steps_that_fit_are_paged_as_before() -> None:
    async with pane(*(1,) * 30) as lines:
        places = []
        for _ in range(5):
            lines.page(1)
            places.append(lines.cursor)
        assert places == [9, 18, 27, 29, 29]
        for _ in range(5):
            lines.page(-1)
            places.append(lines.cursor)
        assert places[5:] == [20, 11, 2, 0, 0]


async def test_drawing_again_leaves_the_view_inside_a_tall_step() -> None:
    async with pane(2, 35, 3) as lines:
        lines.page(1)
        lines.page(1)
        assert seen(lines) == (1, 11)
        app = lines.app
        assert isinstance(app, _Pane)
        lines.show(app.build, cursor=1, key="steps")
        assert seen(lines) == (1, 11)
        lines.show(app.build, cursor=0, key="steps")
        assert seen(lines) == (0, 0)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_long_step_of_a_case(tmp_path: Path, size: tuple[int, int]) -> None:
    db = tmp_path / "tall.db"
    words = " ".join(f"word{i:03}" for i in range(400))
    made = (trace(["first", words, "last"], NO), trace(["other", "end"], YES))
    build(db, [Spec("q", "Q?", "p1", made, (0, 1), 1)])
    async with workbench(db, size) as desk:
        case = await desk.open("q")
        shown = [desk.text]
        while case.lines().cursor not in (2, 3):  # the last step, or the answer under it
            await desk.press("pagedown")
            shown.append(desk.text)
            assert len(shown) < 60
        for i in range(400):
            assert any(f"word{i:03}" in text for text in shown)
        await desk.press("pageup")
        assert case.lines().cursor == 1
        assert "word399" in desk.text
        await desk.press("pageup", "w")
        assert "word399" not in desk.text
        assert "word000" not in desk.text
        assert case.wrong_step(case.path) == 1  # type: ignore[arg-type]
