"""Medoid ablation on the screen: the scatter, the seal, the medoid beside an alternative."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import open_store
from tests.tui.conftest import GOLD
from tests.tui.edited import ablation_of, ablations_of, build_ablated, reveal
from tests.tui.running import workbench
from tui.charts import scatter
from tui.text import cells

Size = tuple[int, int]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ablated") / "ready.db"
    build_ablated(path)
    return path


@pytest.fixture
def sealed(ready: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sealed.db"
    path.write_bytes(ready.read_bytes())
    return path


@pytest.fixture
def db(sealed: Path) -> Path:
    with open_store(sealed) as store:
        reveal(store, "e0")
    return sealed


async def test_sealed_questions_are_refused_with_the_reason(sealed: Path, size: Size) -> None:
    async with workbench(sealed, size) as desk:
        await desk.press("m")
        assert "2 questions are sealed, as ΔA tells gold: reveal the case first" in desk.text
        assert "Cats purr" not in desk.text


async def test_only_revealed_questions_are_drawn(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("m")
        found = ablations_of(desk).found
        assert [q.question_id for q in found.questions] == ["e0"]
        assert found.n_hidden == 1
        assert "1 question is sealed, as ΔA tells gold" in desk.text
        assert "e2" not in desk.text
        assert GOLD not in desk.text
        assert all(cells(line) <= size[0] for line in desk.text.splitlines())


async def test_another_raters_reveal_shows_nothing(db: Path) -> None:
    async with workbench(db, rater="bob") as desk:
        await desk.press("m")
        assert "2 questions are sealed" in desk.text


async def test_figures_stand_beside_the_scatter_and_t_turns_the_target(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("m")
        row = next(line for line in desk.text.splitlines() if "e0 · m@ablate" in line)
        # No alternative answers the planted gold, nor does the medoid: AA, OA, ΔA 0; F 1, 1, 0.
        assert row.split()[4:10] == [".00", ".00", ".00", "1.00", "1.00", ".00"]
        assert row.split()[-1] == "2"
        assert "◆" in desk.text
        assert "F against gold" in desk.text
        await desk.press("t")
        assert "F against the own answer" in desk.text
        row = next(line for line in desk.text.splitlines() if "e0 · m@ablate" in line)
        assert row.split()[7:10] == [".00", ".00", ".00"]


async def test_the_targeted_protocol_keeps_what_gsc_alone_has_right(db: Path) -> None:
    async with workbench(db) as desk:
        await desk.press("m", "f")
        assert ablations_of(desk).found.protocol == "targeted"
        assert "ablation ▸ targeted" in desk.text


async def test_enter_puts_the_medoid_beside_an_alternative(db: Path, size: Size) -> None:
    async with workbench(db, size) as desk:
        await desk.press("m", "enter")
        assert ablation_of(desk).alternative == 0
        text = desk.text
        assert "medoid: answers yes" in text
        assert "alternative 1 of 2: answers yes" in text
        line = next(x for x in text.splitlines() if "2 Dogs eat kibble." in x)
        assert "[" not in line.split("│")[0]
        assert "[Cats purr loudly.]" in text
        assert "\x1b" not in text
        assert "MD .60 (difflib .63)" in text
        await desk.press("l")
        assert "alternative 2 of 2: answers no" in desk.text
        await desk.press("l")
        assert "this is the last alternative" in desk.text
        await desk.press("n")
        assert "this is the last question" in desk.text
        await desk.press("escape", "escape")
        assert all(cells(x) <= size[0] for x in text.splitlines())


async def test_without_ablated_pools_the_key_says_what_makes_them(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "plain.db"
    path.write_bytes(template.read_bytes())
    async with workbench(path) as desk:
        await desk.press("m")
        assert "nothing is ablated yet: run  medoid ablate" in desk.text


def test_a_scatter_counts_points_in_a_cell() -> None:
    points = [(0.0, 0.0)] * 12 + [(-1.0, 1.0)] * 2 + [(1.0, -1.0), (0.01, 0.0)]
    assert scatter(points, 9, 5, here=14, reach=1.0) == [
        "2   │    ",
        "    │    ",
        "────+·───",
        "    │    ",
        "    │   ◆",
    ]


values = st.floats(-1, 1)


@given(
    st.lists(st.tuples(values, values), max_size=8),
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(0, 9),
)
def test_a_scatter_has_its_size_and_its_cursor(
    points: list[tuple[float, float]], width: int, height: int, cursor: int
) -> None:
    rows = scatter(points, width, height, here=cursor, reach=1.0)
    assert len(rows) == max(height - (height + 1) % 2, 3)
    assert {len(row) for row in rows} == {max(width - (width + 1) % 2, 3)}
    assert sum(row.count("◆") for row in rows) == (cursor < len(points))
