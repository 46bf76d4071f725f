"""What stands behind a revealed case: graph with evidence, distances; the map; the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from textual.content import Content

from store import SealedError, open_store
from store.columns import text_hash
from tests.tui.conftest import NO, YES, Spec, build, trace
from tests.tui.running import workbench
from tui.charts import heat_rows, scatter, shade
from tui.graphlines import LANES, Drawn, Node, graph_lines
from tui.screens.distances import DistancesScreen
from tui.screens.graph import GraphScreen, SupportScreen
from tui.screens.sensitivity import SensitivityScreen
from tui.screens.topology import TopologyScreen

SAME = ["Dogs eat kibble.", "The mascot is a dog."]


def world(db: Path) -> None:
    """Four traces of q1, three of which share facts; vectors of all facts at right angles."""
    made = (
        trace([*SAME, "So it eats."], YES),
        trace([*SAME, "It would."], YES),
        trace(["Cats purr.", "No dog."], NO),
        trace([SAME[0], "Cats purr."], NO),
    )
    other = (trace(["One."], YES), trace(["Two."], NO))
    build(
        db, [Spec("q1", "Kibble?", "p1", made, (0, 2), 0), Spec("q2", "Q?", "p1", other, (0, 1), 0)]
    )
    with open_store(db) as store:
        texts = sorted(
            {s.text for p in store.pools() for t in store.pool_traces(p.id) for s in t.trace.steps}
        )
        (embedder_id, *_) = store.embedders()[0]
        rows = np.eye(len(texts), dtype=np.float32)
        store.add_embeddings(
            embedder_id, {text_hash(t): r for t, r in zip(texts, rows, strict=True)}
        )


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_evidence_after_the_reveal_and_structure_before(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    world(tmp_path / "p.db")
    async with workbench(tmp_path / "p.db", size) as desk:
        await desk.open("q1")
        await desk.press("v")
        assert isinstance(desk.app.screen, GraphScreen)
        assert not isinstance(desk.app.screen, SupportScreen)
        assert "supported by" not in desk.text
        assert "uses nothing" in desk.flat
        await desk.press("right")  # along the edge to the node that uses it
        assert "1 uses 0" in desk.flat
        await desk.press("left")
        assert "uses nothing" in desk.flat
        await desk.press("escape", "1", "1", "b", "v")
        assert isinstance(desk.app.screen, SupportScreen)
        shown = desk.flat
        yes_first = "A1 answers yes" in shown
        # "Dogs eat kibble." stands in two of the three other traces, "Cats purr." in one.
        n = 2 if yes_first else 1
        assert f"supported by {n} of 3 other traces (cosine ≥ 0.9)" in shown
        assert "1.00 trace " in shown
        assert desk.text.count(" trace ") == 3  # the nearest of every other trace


async def test_all_evidence_on_one_key(tmp_path: Path) -> None:
    world(tmp_path / "p.db")
    async with workbench(tmp_path / "p.db") as desk:
        await desk.open("q1")
        await desk.press("1", "1", "b", "v", "enter")
        assert desk.app.screen.has_class("-whole")
        await desk.press("enter")
        assert not desk.app.screen.has_class("-whole")


async def test_distances_are_grouped_by_answer(tmp_path: Path) -> None:
    world(tmp_path / "p.db")
    async with workbench(tmp_path / "p.db") as desk:
        await desk.open("q1")
        await desk.press("m")
        assert not isinstance(desk.app.screen, DistancesScreen)  # sealed: no such key
        await desk.press("1", "1", "b", "m")
        assert isinstance(desk.app.screen, DistancesScreen)
        lines = desk.text.splitlines()
        order = [line.split()[:3] for line in lines if " yes " in line or " no " in line]
        assert [row[-1] if "◀" in row else row[1] for row in order[:4]] == [
            "yes",
            "yes",
            "no",
            "no",
        ]
        assert any("┼" in line for line in lines)
        assert "4 traces that vote" in desk.text
        assert "mean distance" in desk.text
        await desk.press("j")
        assert "trace 1: mean distance" in desk.text


async def test_the_map_shows_revealed_cases_only_and_jumps(tmp_path: Path) -> None:
    world(tmp_path / "p.db")
    async with workbench(tmp_path / "p.db") as desk:
        await desk.press("t")
        assert isinstance(desk.app.screen, TopologyScreen)
        assert "none of 2 cases yet: a case shows here once you revealed it (b)" in desk.flat
        await desk.press("escape")
        await desk.open("q1")
        await desk.press("1", "1", "b", "escape", "escape", "escape", "t")
        assert "1 of 2 cases may be shown" in desk.flat
        assert "Kibble?" in desk.text
        assert "Q?" not in desk.text
        assert "mean of all" not in desk.text  # of two pools it would tell the sealed one
        await desk.press("enter")
        assert desk.case.case_id == desk.case_id("q1")


def test_the_store_keeps_the_map_sealed(tmp_path: Path) -> None:
    world(tmp_path / "p.db")
    with open_store(tmp_path / "p.db") as store:
        ana, schema = store.rater("ana").id, store.schema()
        found = store.topology(ana, schema)
        assert (found.cases, found.n_cases, found.origin) == ((), 2, None)
        case = store.cases(ana).rows[0]
        with pytest.raises(SealedError):
            store.case_context(case.case_id, ana, schema)
        judge = replace(schema, seal="judge")
        assert store.topology(ana, judge).cases == ()
        store.case_context(case.case_id, ana, judge)  # opened at that level, which is recorded
        assert [c.case_id for c in store.topology(ana, judge).cases] == [case.case_id]
        assert store.topology(ana, schema).cases == ()


async def test_the_newest_table_is_shown_and_gold_is_held_back(tmp_path: Path) -> None:
    world(tmp_path / "p.db")
    base = {"reading": "anchor/step/chain/concat", "beta": 0.4, "gamma": 5.0, "alpha": 0.8}
    figures = {"accuracy": 0.777, "n": 40, "same_answer": 0.5, "same_medoid": 0.25}
    row = {**base, **figures, "pearson": -0.5, "spearman": -0.4}
    other = {**row, "reading": "anchor/step/premise/concat"}
    group = {
        "dataset": "own",
        "pool": "p1",
        "n_questions": 40,
        "n_gold": 40,
        "sc_accuracy": 0.6,
        "rows": [row, other, {**other, "beta": 1.0}],
        "empty_readings": ["anchor/step/exclude/concat"],
    }
    said = {
        "base": base,
        "grid": "axes",
        "faithfulness": "early answers by m against gold",
        "scoring": 1,
        "embedder": "minilm",
        "decomposition": "none",
        "groups": [group],
    }
    async with workbench(tmp_path / "p.db") as desk:
        await desk.press("y")
        assert isinstance(desk.app.screen, SensitivityScreen)
        assert "medoid sensitivity makes one" in desk.flat
        await desk.press("escape")
        with open_store(tmp_path / "p.db") as store:
            store.record_run("sensitivity", {}, "t", "2026-01-01T00:00:00Z", said)
        await desk.press("y")
        assert "missing premise" in desk.text
        assert "β 1" not in desk.text  # one change at a time
        assert "missing exclude: no trace is left" in desk.flat
        assert ".50" in desk.text
        assert ".78" not in desk.text
        assert "-.50" not in desk.text
        assert "shown when your cases here are done" in desk.flat


def test_shades_and_heat() -> None:
    assert (
        "".join(shade(v, 2.0) for v in (0.0, 0.5, 0.51, 1.0, 1.5, 2.0, float("nan"))) == " ░▒▒▓█?"
    )
    assert heat_rows([[0.0, 1.0], [1.0, 0.0]], [1, 1], wide=2, top=1.0) == [
        "  │██",
        "──┼──",
        "██│  ",
    ]
    assert heat_rows([[0.0]], [1], wide=1, top=0.0) == [" "]


def test_scatter_places_points_and_counts_them() -> None:
    rows = scatter([(0.0, 0.0)] * 12 + [(2.0, 1.0)], 3, 2, here=12)
    assert rows == ["  ◆", "+  "]
    assert scatter([(1.0, 1.0)], 3, 3) == ["   ", " · ", "   "]


def test_a_graph_of_many_lanes_is_drawn_around_the_cursor() -> None:
    n = 2 * LANES + 3
    nodes = [Node(f"n{i}", (), str(i)) for i in range(n)]
    nodes += [Node("end", tuple(range(n)), str(n)), Node("after", (n,), str(n + 1))]
    drawn = Drawn("A", Content(""), tuple(nodes))
    rows = graph_lines(drawn, 80, here=0)
    assert len(rows) == n + 2
    assert "─╮ n0" in rows[0].content.plain
    assert rows[1].content.plain == "  1  │ n1"
    at_the_end = graph_lines(drawn, 80, here=n + 1)
    assert at_the_end[n].content.plain.endswith("─╮ end")
    assert at_the_end[n + 1].content.plain.endswith("◂╯ after")


@pytest.mark.parametrize("n", [1, 30])
def test_a_chain_of_thirty_nodes_is_drawn_whole(n: int) -> None:
    nodes = tuple(Node(f"n{i}", (i - 1,) if i else (), str(i)) for i in range(n))
    rows = graph_lines(Drawn("A", Content(""), nodes), 80)
    assert [row.item for row in rows] == list(range(n))
    assert all(f"n{i}" in row.content.plain for i, row in enumerate(rows))
    assert sum("◂" in row.content.plain for row in rows) == n - 1
