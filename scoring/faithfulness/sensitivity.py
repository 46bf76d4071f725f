"""Sensitivity: how far results hang on β, γ, α and on our readings of the paper."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from scoring.faithfulness.correlation import Correlations, correlations
from scoring.graphs.coherence import coherence
from scoring.graphs.decoding import TIE_MARGIN, graph_self_consistency
from scoring.graphs.ged import EdgeEmbedding, PairwiseCosts, pairwise_costs
from scoring.graphs.geometry import PoolGeometry, pool_geometry
from scoring.graphs.solvers import Solver
from scoring.types import FloatArray, ReasoningGraph

BETAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
GAMMAS = (0.5, 1.0, 2.5, 5.0, 10.0, 20.0)
ALPHAS = (0.0, 0.2, 0.5, 0.7, 0.8, 1.0)

Grid = Literal["axes", "full"]
Faithfulness = float | None | Sequence[float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One question's pool under one reading of the paper.

    Attributes
    ----------
    name
        For instance ``"anchor/step/chain"``: fact edges, terminals, missing annotations.
    graphs
        The electorate: usable graphs with their answers.
    edge_embedding
        Also a reading.
    faithfulness
        The medoid's, whichever trace a cell makes the medoid; or one value per graph, from which
        a cell takes its own medoid's.
    """

    name: str
    graphs: Sequence[ReasoningGraph]
    edge_embedding: EdgeEmbedding = "concat"
    faithfulness: Faithfulness = None


@dataclass(frozen=True, slots=True, eq=False)
class SensitivityQuestion:
    """One question: its pool under every reading, and its gold answer (None = unknown)."""

    readings: Sequence[Reading]
    gold: Hashable | None = None


class Setting(NamedTuple):
    """A cell of the grid."""

    reading: str
    beta: float
    gamma: float
    alpha: float


@dataclass(frozen=True, slots=True)
class SensitivityCell:
    """What comes out under one setting.

    Attributes
    ----------
    setting
        Reading, β, γ, α.
    correlation
        Of GRCS (a coherence) with the medoid's faithfulness over questions; α matters to it only
        where faithfulness is given per graph.
    accuracy
        Share of questions whose GSC answer is gold, in [0, 1]; None without gold.
    n_accuracy
        Questions with gold.
    same_answer
        Share of questions whose GSC answer is the base setting's, in [0, 1], over those with
        graphs under the base reading; None where there are none.
    same_medoid
        Share of questions whose medoid is the same trace, over pools that hold the same number of
        traces as the base's; None where none does.
    n
        Questions that have this reading with at least one graph.
    """

    setting: Setting
    correlation: Correlations
    accuracy: float | None
    n_accuracy: int
    same_answer: float | None
    same_medoid: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SensitivityTable:
    """All cells, the base setting's first.

    Attributes
    ----------
    base
        The setting others are compared with: the first reading and the base β, γ, α.
    cells
        One per setting.
    matchings
        Pools matched; cells and readings with the same edges share one.
    questions
        Questions given.
    """

    base: Setting
    cells: tuple[SensitivityCell, ...]
    matchings: int
    questions: int

    def cell(
        self,
        *,
        reading: str | None = None,
        beta: float | None = None,
        gamma: float | None = None,
        alpha: float | None = None,
    ) -> SensitivityCell:
        """Return one cell; what is not named is the base's. KeyError where it was not computed."""
        given = (reading, beta, gamma, alpha)
        wanted = Setting(*(b if g is None else g for g, b in zip(given, self.base, strict=True)))  # type: ignore[arg-type]
        for cell in self.cells:
            if cell.setting == wanted:
                return cell
        raise KeyError(f"no cell {wanted}")


@dataclass(slots=True)
class _Column:
    """What one setting collects over questions."""

    grcs: list[float | None] = field(default_factory=list)
    faithfulness: list[float | None] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    same_answer: list[bool] = field(default_factory=list)
    same_medoid: list[bool] = field(default_factory=list)


def sensitivity(
    questions: Iterable[SensitivityQuestion],
    *,
    betas: Sequence[float] = BETAS,
    gammas: Sequence[float] = GAMMAS,
    alphas: Sequence[float] = ALPHAS,
    base: tuple[float, float, float] = (0.4, 5.0, 0.8),
    grid: Grid = "axes",
    tau: float = 0.9,
    terminal_weight: float = 2.0,
    solver: Solver = "auto",
) -> SensitivityTable:
    """Return correlation and GSC accuracy over a grid of parameters and readings.

    Parameters
    ----------
    questions : iterable of SensitivityQuestion
        Taken one at a time: a generator keeps only one question's embeddings in memory.
    betas, gammas, alphas : sequence of float
        The grids.
    base : (float, float, float)
        β, γ, α everything is compared with; added to the grids where it is missing.
    grid : {"axes", "full"}
        Vary one parameter at a time around the base (the paper's tables), or all combinations.
    tau, terminal_weight, solver
        As for `graph_self_consistency` and `pairwise_distances`.

    Returns
    -------
    SensitivityTable

    Raises
    ------
    ValueError
        For no question, one without readings or with a reading named twice, faithfulness values
        that do not match the graphs, or a parameter out of its range.

    Notes
    -----
    The base reading is the first reading of the first question. The costly part, the matching,
    depends on nodes and edges alone: it is done once for every set of edges, and β, γ, α and the
    terminal rule reuse it. Correlations are over the full pools, without resampling
    (`correlation_bootstrap` gives intervals).

    References
    ----------
    Paper A, appendices C.5 and C.6.

    Examples
    --------
    >>> a, b = ReasoningGraph([[1.0, 0.0]], answer="a"), ReasoningGraph([[0.0, 1.0]], answer="b")
    >>> table = sensitivity([SensitivityQuestion([Reading("chain", [b, a, a])], gold="a")])
    >>> len(table.cells), table.matchings, table.cell(beta=1.0).accuracy
    (16, 1, 1.0)
    """
    if grid not in ("axes", "full"):
        raise ValueError(f"grid must be 'axes' or 'full', not {grid!r}")
    for alpha in (*alphas, base[2]):
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], not {alpha}")
    points = _grid_points(betas, gammas, alphas, base, grid)
    columns: dict[Setting, _Column] = {}
    start: Setting | None = None
    matchings = count = 0
    for count, question in enumerate(questions, start=1):
        _check_question(question, count - 1)
        start = start or Setting(question.readings[0].name, *base)
        decoded, matched = _decode_all(question, points, (tau, terminal_weight), solver)
        matchings += matched
        for setting, found in decoded.items():
            column = columns.setdefault(setting, _Column())
            _collect(column, found, decoded.get(start), question.gold)
    if start is None:
        raise ValueError("there is no question: give at least one")
    ordered = sorted(columns, key=lambda setting: setting != start)
    return SensitivityTable(
        start, tuple(_cell(setting, columns[setting]) for setting in ordered), matchings, count
    )


def _grid_points(
    betas: Sequence[float],
    gammas: Sequence[float],
    alphas: Sequence[float],
    base: tuple[float, float, float],
    grid: Grid,
) -> dict[tuple[float, float], list[float]]:
    """Return the α to try for every (β, γ), the base first."""
    b, g, a = base
    points = {(b, g): list(dict.fromkeys((a, *alphas)))}
    if grid == "full":
        pairs = [(x, y) for x in (b, *betas) for y in (g, *gammas)]
        return points | dict.fromkeys(pairs, points[b, g])
    for pair in [(x, g) for x in betas] + [(b, y) for y in gammas]:
        points.setdefault(pair, [a])
    return points


def _check_question(question: SensitivityQuestion, place: int) -> None:
    names = [r.name for r in question.readings]
    if not names:
        raise ValueError(f"question {place} has no reading: give at least one")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"question {place} has reading {twice!r} twice")
    for r in question.readings:
        if isinstance(r.faithfulness, Sequence) and len(r.faithfulness) != len(r.graphs):
            raise ValueError(
                f"question {place}, reading {r.name!r}: {len(r.faithfulness)} faithfulness values "
                f"for {len(r.graphs)} graphs"
            )


class _Decoded(NamedTuple):
    grcs: float | None
    medoid: int
    answer: Hashable | None
    faithfulness: float | None
    n: int


def _decode_all(
    question: SensitivityQuestion,
    points: dict[tuple[float, float], list[float]],
    consensus: tuple[float, float],
    solver: Solver,
) -> tuple[dict[Setting, _Decoded], int]:
    """Return what every setting makes of one question, and how many matchings that took."""
    decoded: dict[Setting, _Decoded] = {}
    done: list[tuple[Reading, PoolGeometry, PairwiseCosts]] = []
    for reading in question.readings:
        if not reading.graphs:
            continue
        pool = pool_geometry(reading.graphs)
        alike = next((d for d in done if _same_matching(d[0], reading)), None)
        if alike is None:
            costs = pairwise_costs(pool, edge_embedding=reading.edge_embedding, solver=solver)
            done.append((reading, pool, costs))
        else:
            costs = _with_conclusions(alike[2], pool)
        for (beta, gamma, alpha), found in _decode(reading, pool, costs, points, consensus):
            decoded[Setting(reading.name, beta, gamma, alpha)] = found
    return decoded, len(done)


def _same_matching(a: Reading, b: Reading) -> bool:
    """Return whether two readings differ at most in their terminals and answers."""
    return (
        a.edge_embedding == b.edge_embedding
        and len(a.graphs) == len(b.graphs)
        and all(
            set(g.edges) == set(h.edges) and np.array_equal(g.embeddings, h.embeddings)
            for g, h in zip(a.graphs, b.graphs, strict=True)
        )
    )


def _with_conclusions(costs: PairwiseCosts, pool: PoolGeometry) -> PairwiseCosts:
    """Return the costs matched for one reading with the conclusions of another."""
    first = np.unique(pool.form, return_index=True)[1]  # a graph of every form
    cells = np.ix_(costs.form[first], costs.form[first])
    return PairwiseCosts(
        costs.node_cost[cells],
        costs.edge_cost[cells],
        costs.nged[cells],
        pool.conclusions,
        pool.form,
    )


def _decode(
    reading: Reading,
    pool: PoolGeometry,
    costs: PairwiseCosts,
    points: dict[tuple[float, float], list[float]],
    consensus: tuple[float, float],
) -> Iterator[tuple[tuple[float, float, float], _Decoded]]:
    tau, weight = consensus
    shared: FloatArray | None = None
    for (beta, gamma), alphas in points.items():
        distances = costs.distances(beta=beta, gamma=gamma)
        grcs = coherence(distances).grcs
        if shared is None:  # consensus does not depend on the distances
            gsc = graph_self_consistency(pool, distances, tau=tau, terminal_weight=weight)
            shared = gsc.consensus
        share = _centrality_share(distances)
        for alpha in alphas:
            medoid = _medoid(share, shared, alpha)
            f = reading.faithfulness
            value = f[medoid] if isinstance(f, Sequence) else f
            answer = pool.graphs[medoid].answer
            yield (beta, gamma, alpha), _Decoded(grcs, medoid, answer, value, len(pool))


def _centrality_share(distances: FloatArray) -> FloatArray:
    """Return C/max C, or zeros where no graph is central."""
    n = len(distances)
    centrality = np.array(
        [math.fsum(1.0 - d for j, d in enumerate(row) if j != i)
         for i, row in enumerate(distances.tolist())]
    )  # fmt: skip
    highest = float(centrality.max())
    return np.zeros(n) if highest <= TIE_MARGIN else centrality / highest


def _medoid(share: FloatArray, consensus: FloatArray, alpha: float) -> int:
    if len(share) == 1:
        return 0
    scores = alpha * share + (1.0 - alpha) * consensus
    return int(np.flatnonzero(scores >= scores.max() - TIE_MARGIN)[0])


def _collect(
    column: _Column, found: _Decoded, base: _Decoded | None, gold: Hashable | None
) -> None:
    column.grcs.append(found.grcs)
    column.faithfulness.append(found.faithfulness)
    if gold is not None:
        column.right.append(found.answer == gold)
    if base is None:  # the base reading leaves this question without graphs
        return
    column.same_answer.append(found.answer == base.answer)
    if found.n == base.n:
        column.same_medoid.append(found.medoid == base.medoid)


def _cell(setting: Setting, column: _Column) -> SensitivityCell:
    return SensitivityCell(
        setting,
        correlations(column.grcs, column.faithfulness),
        _share(column.right),
        len(column.right),
        _share(column.same_answer),
        _share(column.same_medoid),
        len(column.grcs),
    )


def _share(truths: Sequence[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None
