"""Sensitivity: every cell is what the plain functions give, from one matching per edge rule."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

from scoring.faithfulness import (
    ALPHAS,
    BETAS,
    GAMMAS,
    Reading,
    SensitivityQuestion,
    Setting,
    correlations,
    sensitivity,
)
from scoring.faithfulness.sensitivity import _medoid, _with_conclusions
from scoring.graphs import (
    ReasoningGraph,
    coherence,
    graph_self_consistency,
    pairwise_costs,
    pairwise_distances,
    pool_geometry,
)


def chain(rng: np.random.Generator, answer: str) -> ReasoningGraph:
    n = int(rng.integers(2, 6))
    edges = [(int(rng.integers(v)), v) for v in range(1, n)]
    return ReasoningGraph(rng.normal(size=(n, 4)) + 0.7, edges, answer=answer)


def pool(seed: int, size: int = 6) -> list[ReasoningGraph]:
    rng = np.random.default_rng(seed)
    graphs = [chain(rng, "abc"[int(rng.integers(3))]) for _ in range(size - 1)]
    return [*graphs, graphs[0]]


def ended(g: ReasoningGraph, terminals: list[int]) -> ReasoningGraph:
    return ReasoningGraph(g.embeddings, g.edges, answer=g.answer, terminals=terminals)


def test_the_papers_grids() -> None:
    assert BETAS == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert GAMMAS == (0.5, 1.0, 2.5, 5.0, 10.0, 20.0)
    assert ALPHAS == (0.0, 0.2, 0.5, 0.7, 0.8, 1.0)


@pytest.mark.parametrize(("grid", "cells"), [("axes", 16), ("full", 216)])
def test_number_of_cells(grid: Literal["axes", "full"], cells: int) -> None:
    table = sensitivity([SensitivityQuestion([Reading("r", pool(0))])], grid=grid)
    settings = [c.setting for c in table.cells]
    assert len(settings) == len(set(settings)) == cells
    assert settings[0] == table.base == Setting("r", 0.4, 5.0, 0.8)
    assert table.matchings == 1


def test_every_cell_is_what_the_plain_functions_give() -> None:
    seeds, golds = range(7), "abcabca"
    f = [[0.1 * ((i + q) % 7) for i in range(6)] for q in seeds]
    questions = [
        SensitivityQuestion([Reading("r", pool(q), faithfulness=f[q])], gold=golds[q])
        for q in seeds
    ]
    table = sensitivity(
        questions, betas=(0.0, 0.4, 1.0), gammas=(0.5, 5.0), alphas=(0.0, 0.8, 1.0), grid="full"
    )
    assert len(table.cells) == 18
    base: list[int] = []
    for cell in table.cells:
        _, beta, gamma, alpha = cell.setting
        grcs, medoids, answers = [], [], []
        for q in seeds:
            d = pairwise_distances(pool(q), beta=beta, gamma=gamma)
            r = graph_self_consistency(pool(q), d, alpha=alpha)
            grcs.append(coherence(d).grcs)
            medoids.append(r.medoid)
            answers.append(r.answer)
        base = base or medoids
        assert cell.correlation == correlations(
            grcs, [f[q][m] for q, m in zip(seeds, medoids, strict=True)]
        )
        right = sum(a == g for a, g in zip(answers, golds, strict=True))
        assert (cell.accuracy, cell.n_accuracy, cell.n) == (right / 7, 7, 7)
        same = sum(a == b for a, b in zip(medoids, base, strict=True))
        assert cell.same_medoid == same / 7
    assert table.cells[0].same_answer == 1.0
    assert min(c.same_medoid or 0 for c in table.cells) < 1  # the grid does change choices


def test_readings_that_differ_in_terminals_share_one_matching() -> None:
    plain = pool(3)
    last = [ended(g, [0]) for g in plain]
    table = sensitivity(
        [SensitivityQuestion([Reading("end", plain), Reading("start", last)], gold="a")]
    )
    assert table.matchings == 1
    alone = sensitivity([SensitivityQuestion([Reading("start", last)], gold="a")])
    for cell in alone.cells:
        shared = table.cell(
            reading="start", beta=cell.setting.beta, gamma=cell.setting.gamma,
            alpha=cell.setting.alpha,
        )  # fmt: skip
        assert shared.accuracy == cell.accuracy
        assert shared.n == cell.n


@pytest.mark.parametrize("split", [False, True])
def test_borrowed_matchings_give_the_distances_of_their_own(split: bool) -> None:
    """Also where one rule tells graphs apart that the other does not."""
    plain = pool(4)
    other = [ended(g, [0 if i < 5 else 1]) for i, g in enumerate(plain)]
    a, b = (plain, other) if split else (other, plain)
    assert pool_geometry(plain).n_forms != pool_geometry(other).n_forms
    borrowed = _with_conclusions(pairwise_costs(a), pool_geometry(b))
    np.testing.assert_allclose(borrowed.distances(), pairwise_distances(b), atol=1e-15)


def test_other_edges_or_another_edge_embedding_need_their_own_matching() -> None:
    plain = pool(5)
    bare = [ReasoningGraph(g.embeddings, answer=g.answer) for g in plain]
    readings = [Reading("a", plain), Reading("b", bare), Reading("c", plain, "mean")]
    table = sensitivity([SensitivityQuestion(readings)] * 2)
    assert (table.matchings, table.questions) == (6, 2)
    assert len(table.cells) == 48
    d = pairwise_distances(plain, edge_embedding="mean")
    grcs = coherence(d).grcs
    f = SensitivityQuestion([Reading("c", plain, "mean", 0.5)])
    g = SensitivityQuestion([Reading("c", bare, "mean", 0.7)])
    cell = sensitivity([f, g]).cell()
    assert cell.correlation == correlations(
        [grcs, coherence(pairwise_distances(bare)).grcs], [0.5, 0.7]
    )


def test_questions_are_taken_one_at_a_time() -> None:
    alive: list[int] = []

    def questions() -> Iterator[SensitivityQuestion]:
        for seed in range(3):
            alive.append(seed)
            yield SensitivityQuestion([Reading("r", pool(seed), faithfulness=seed / 3)])

    table = sensitivity(questions())
    assert (table.questions, alive) == (3, [0, 1, 2])
    assert table.cells[0].correlation.n == 3
    assert (table.cells[0].accuracy, table.cells[0].n_accuracy) == (None, 0)


def test_pools_of_other_sizes_are_not_compared_by_medoid() -> None:
    whole = pool(6)
    table = sensitivity([SensitivityQuestion([Reading("a", whole), Reading("b", whole[:4])])])
    assert table.cell(reading="a").same_medoid == 1.0
    assert table.cell(reading="b").same_medoid is None
    assert table.cell(reading="b").same_answer in (0.0, 1.0)


def test_scores_a_rounding_apart_tie_to_the_first() -> None:
    nothing = np.zeros(2)
    assert _medoid(np.array([1.0 - 1e-13, 1.0]), nothing, 1.0) == 0
    assert _medoid(np.array([1.0 - 1e-9, 1.0]), nothing, 1.0) == 1


def test_a_pool_of_one_and_an_empty_pool() -> None:
    one = [SensitivityQuestion([Reading("r", pool(0)[:1], faithfulness=0.5)], gold="z")]
    cell = sensitivity(one).cell()
    assert (cell.accuracy, cell.correlation.n, cell.correlation.dropped) == (0.0, 0, 1)
    none = sensitivity([*one, SensitivityQuestion([Reading("r", [])], gold="z")])
    assert (none.questions, none.cell().n) == (2, 1)


def test_a_question_without_graphs_under_the_base_is_not_compared() -> None:
    first = SensitivityQuestion([Reading("r", pool(0)), Reading("s", pool(0))], gold="a")
    second = SensitivityQuestion([Reading("r", []), Reading("s", pool(1))], gold="a")
    table = sensitivity([first, second])
    assert (table.cell().n, table.cell(reading="s").n) == (1, 2)
    assert table.cell(reading="s").same_answer == 1.0
    assert table.cell(reading="s").n_accuracy == 2


@pytest.mark.parametrize(
    ("questions", "arguments", "message"),
    [
        ([], {}, "there is no question"),
        ([SensitivityQuestion([])], {}, "question 0 has no reading"),
        (
            [SensitivityQuestion([Reading("r", pool(0)), Reading("r", pool(0))])], {},
            "question 0 has reading 'r' twice",
        ),
        (
            [SensitivityQuestion([Reading("r", pool(0), faithfulness=[0.5])])], {},
            "question 0, reading 'r': 1 faithfulness values for 6 graphs",
        ),
        ([SensitivityQuestion([Reading("r", pool(0))])], {"grid": "all"}, "grid must be"),
        ([SensitivityQuestion([Reading("r", pool(0))])], {"alphas": [2.0]}, "alpha must lie"),
        ([SensitivityQuestion([Reading("r", pool(0))])], {"betas": [-1.0]}, "beta must lie"),
    ],
)  # fmt: skip
def test_sensitivity_refuses(
    questions: list[SensitivityQuestion], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sensitivity(questions, **arguments)


def test_a_cell_outside_the_grid_is_a_key_error() -> None:
    table = sensitivity([SensitivityQuestion([Reading("r", pool(0))])])
    with pytest.raises(KeyError, match="no cell"):
        table.cell(beta=0.2, gamma=0.5)
