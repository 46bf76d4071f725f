"""Figures of paper B from the counts and tables they come from."""

from __future__ import annotations

import pytest

from scoring.relations import inconsistency, score_correlation
from tests.scoring.relations.cases import all_pairs

# Table 2, temporal sets: printed per cent, and reverse answers of all answers (380 questions).
TEMPORAL = {
    "GPT-4o": (("4.21", 8, 380), ("13.68", 26, 380), ("1.07", 2, 375)),
    "o1-mini": (("21.93", 41, 374), ("36.84", 70, 380), ("14.48", 27, 373)),
    "DeepSeek-V3": (("8.42", 16, 380), ("18.47", 35, 379), ("4.22", 8, 379)),
    "DeepSeek-R1": (("3.68", 7, 380), ("9.50", 18, 379), ("1.05", 2, 380)),
    "o4-mini": (("14.74", 28, 380), ("14.74", 28, 380), ("3.68", 7, 380)),
    "DeepSeek-V2-16B": (("56.38", 106, 376), ("83.73", 157, 375), ("64.36", 121, 376)),
    "Llama-3-8B": (("23.94", 45, 376), ("25.93", 49, 378), ("27.03", 50, 370)),
    "R1-Llama-8B": (("55.79", 106, 380), ("55.79", 106, 380), ("32.11", 61, 380)),
    "Qwen2-7B": (("23.22", 44, 379), ("56.08", 106, 378), ("50.13", 95, 379)),
    "R1-Qwen-7B": (("63.68", 121, 380), ("61.05", 116, 380), ("49.60", 94, 379)),
    "Qwen3-30B": (("60.00", 114, 380), ("67.37", 128, 380), ("64.21", 122, 380)),
    "Qwen3-235B": (("21.16", 40, 378), ("57.14", 108, 378), ("62.96", 119, 378)),
}


@pytest.mark.parametrize(
    ("printed", "reverse", "answered"),
    [
        pytest.param(*cell, id=f"{m}-{s}")
        for m, row in TEMPORAL.items()
        for s, cell in enumerate(row)
    ],
)
def test_table_2_from_its_counts(printed: str, reverse: int, answered: int) -> None:
    """As many pairs answered both ways as reverse answers; the last answers missing."""
    asked = sorted(all_pairs(20))
    edges = [(v, u) if k % 2 and k // 2 < reverse else (u, v) for k, (u, v) in enumerate(asked)]
    r = inconsistency(edges[:answered], 20)
    assert (r.reverse, r.edges) == (reverse, answered)
    assert r.score is not None
    assert f"{100 * r.score:.2f}" == printed


def row(text: str) -> list[float]:
    return [float(x) for x in text.split()]


# Tables 2 and 3, and table 4, per model: Art, Ancient, Recent, City x y, State x y; then XY x y, Center x y, Ordered x y.
GRAPH = {
    "GPT-4o": row("4.21 13.68 1.07 0 0 0.9 1.9 0 0 4.74 3.68 72.73 72.19"),
    "o1-mini": row("21.93 36.84 14.48 4.7 3.7 2.3 2.7 0.53 0.53 0.53 0 6.32 6.32"),
    "V3": row("8.42 18.47 4.22 0 1.1 0.4 0.9"),
    "R1": row("3.68 9.5 1.05 0 1.1 0.4 0.9 0 0 0 0 26.7 26.16"),
    "V2": row("56.38 83.73 64.36 82.4 59.4 89.7 68.5 80.21 80.75 75.79 67.37 82.98 75.07"),
    "Llama": row("23.94 25.93 27.03 82.2 25.5 88.2 24 59.47 30.08 61.74 43.97 76.19 76.88"),
    "R1-L": row("55.79 55.79 32.11 37.7 23.2 35.4 28.7 29.55 22.11 17.37 10.58 79.79 72.78"),
    "Qwen2": row("23.22 56.08 50.13 83.9 17.9 73.8 20.7 64.91 61.74 58.38 60.75 73.6 83.7"),
    "R1-Q": row("63.68 61.05 49.6 62.6 43.5 58.4 35.7 27.37 30.77 23.16 14.78 55.14 57.3"),
}
ENERGY = {
    "GPT-4o": row("5.79 14.21 4.74 0 0 2.59 3.53 0 0 2.63 3.68 75.79 74.21"),
    "o1-mini": row("18.95 38.42 20.53 2.63 2.63 2.27 2.67 0.53 0.53 0.53 0 5.26 6.32"),
    "V3": row("8.42 17.89 4.74 0 1.05 1.88 2.27"),
    "R1": row("3.68 10.53 1.05 0 1.05 0.55 1.02 0 0 0 0 28.95 29.47"),
    "V2": row("75.26 102.11 112.11 102.63 79.47 99.06 81.88 83.16 79.47 74.74 76.84 85.79 73.16"),
    "Llama": row("45.26 26.32 33.68 85.26 26.32 89.57 25.41 57.37 28.42 64.21 45.26 82.11 84.74"),
    "R1-L": row("60 54.21 32.63 36.84 24.21 38.9 31.69 26.84 21.58 15.26 8.95 81.05 75.26"),
    "Qwen2": row("23.68 57.89 48.42 81.58 17.37 73.41 15.84 62.11 60 64.74 67.89 80.53 85.79"),
    "R1-Q": row("66.32 67.37 57.37 63.16 42.63 58.51 35.92 27.89 30 21.58 15.26 58.42 62.63"),
}


def test_graph_and_energy_scores_correlate_as_published() -> None:
    """r = .982, without DeepSeek-V3's fictional map, whose two tables do not match."""
    graph = [x for m in GRAPH for x in GRAPH[m]]
    energy = [x for m in GRAPH for x in ENERGY[m]]
    r = score_correlation(graph, energy)
    assert r.n == 111
    assert r.pearson is not None
    assert round(r.pearson, 3) == 0.982


def test_every_column_correlates_at_least_as_published() -> None:
    for column in range(13):
        models = [m for m in GRAPH if column < len(GRAPH[m])]
        r = score_correlation(
            [GRAPH[m][column] for m in models], [ENERGY[m][column] for m in models]
        )
        assert r.pearson is not None
        assert round(r.pearson, 2) >= 0.93
