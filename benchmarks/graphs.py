"""How near the floor the graph distances run: ratios in one run, one BLAS thread, float64.

    python -m benchmarks.graphs [--questions 50] [--repeat-facts 0.5]

Ways to the same distances over the same pools, scipy's solver unless lapx is named:
- floor: one Gram product a question, block gathers, one bare assignment per pair and kind, and
  nothing else (no checks, no sums over the matchings, no conclusions, no distances);
- plain: a loop over pairs, each with its own numpy products and scipy assignments, over unit
  vectors, edge vectors and conclusions prepared once a graph;
- ours: `pairwise_distances` as a user calls it, with either solver where lapx is installed;
- ours + medoid: with node support and medoid, as `medoid score` needs them.

Rounds are interleaved and the best of each is taken, so that a busy machine hurts all alike.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import (  # type: ignore[import-untyped]
    threadpool_info,
    threadpool_limits,
)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.graphs import (
    ReasoningGraph,
    assignment_solver,
    graph_self_consistency,
    pairwise_distances,
    pool_geometry,
)

Pool = list[ReasoningGraph]


def make_pool(rng: np.random.Generator, args: argparse.Namespace) -> Pool:
    """Return one question's graphs: facts around a few topics, each depending on earlier ones."""
    topics = rng.normal(size=(12, args.dims))
    stock = [_fact(rng, topics) for _ in range(args.max_nodes)]
    pool = []
    for _ in range(args.graphs):
        n = int(rng.integers(args.min_nodes, args.max_nodes + 1))
        vectors = [
            stock[int(rng.integers(len(stock)))]
            if rng.random() < args.repeat_facts
            else _fact(rng, topics)
            for _ in range(n)
        ]
        edges = [(int(rng.integers(v)), v) for v in range(1, n) if rng.random() < 0.95]
        pool.append(ReasoningGraph(np.stack(vectors), edges))
    return pool


def _fact(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return np.asarray(topics[rng.integers(len(topics))] + rng.normal(size=topics.shape[1]))


def floor(pool: Pool, assign: Callable[..., object]) -> None:
    """One Gram product, block gathers, bare assignments on slices."""
    rows = np.concatenate([g.embeddings for g in pool])
    unit = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    cost = 1.0 - unit @ unit.T
    starts = np.concatenate(([0], np.cumsum([g.n_nodes for g in pool]))).tolist()
    ends = [np.array(g.edges).reshape(-1, 2) + starts[i] for i, g in enumerate(pool)]
    for i in range(len(pool) - 1):
        nodes = cost[starts[i] : starts[i + 1]]
        later = np.concatenate(ends[i + 1 :])
        edges = (
            cost[ends[i][:, 0]].take(later[:, 0], axis=1)
            + cost[ends[i][:, 1]].take(later[:, 1], axis=1)
        ) * 0.5
        at = 0
        for j in range(i + 1, len(pool)):
            assign(nodes[:, starts[j] : starts[j + 1]])
            assign(edges[:, at : at + len(ends[j])])
            at += len(ends[j])


def plain(pool: Pool) -> np.ndarray:
    """Every pair on its own from the formula; only what belongs to one graph is prepared once."""
    ready = [_prepared(g) for g in pool]
    out = np.zeros((len(pool), len(pool)))
    for i, g in enumerate(ready):
        for j in range(i + 1, len(pool)):
            out[i, j] = out[j, i] = _plain_pair(g, ready[j])
    return out


def _prepared(g: ReasoningGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    unit = g.embeddings / np.linalg.norm(g.embeddings, axis=1, keepdims=True)
    ends = np.array(g.edges, dtype=int).reshape(-1, 2)
    edges = np.hstack([unit[ends[:, 0]], unit[ends[:, 1]]]) / np.sqrt(2.0)
    conclusion = g.embeddings[list(g.terminals)].mean(axis=0)
    return unit, edges, conclusion / np.linalg.norm(conclusion)


def _plain_pair(g: tuple[np.ndarray, ...], h: tuple[np.ndarray, ...]) -> float:
    (x, e, s), (y, f, t) = g, h
    edit = _matched(1.0 - x @ y.T) + abs(len(x) - len(y))
    edit += (_matched(1.0 - e @ f.T) if len(e) and len(f) else 0.0) + abs(len(e) - len(f))
    nged = edit / ((len(x) + len(y)) / 2.0)
    return 1.0 - (0.4 * float(s @ t) + 0.6 * float(np.exp(-5.0 * nged**2)))


def _matched(cost: np.ndarray) -> float:
    rows, cols = linear_sum_assignment(cost)
    return float(cost[rows, cols].sum())


def decoded(pool: Pool, solver: str) -> None:
    """Distances and medoid from one geometry, as the pipeline needs them."""
    geometry = pool_geometry(pool)
    distances = pairwise_distances(geometry, solver=solver)  # type: ignore[arg-type]
    graph_self_consistency(geometry, distances)


def best_times(
    ways: dict[str, Callable[[Pool], object]], pools: Sequence[Pool], rounds: int
) -> dict[str, float]:
    """Return the best seconds over all pools, rounds interleaved."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            for pool in pools:
                way(pool)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--min-nodes", type=int, default=6)
    parser.add_argument("--max-nodes", type=int, default=30)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--repeat-facts", type=float, default=0.0, help="share of repeated facts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    pools = [make_pool(rng, args) for _ in range(args.questions)]
    assign = assignment_solver("scipy")
    ways: dict[str, Callable[[Pool], object]] = {
        "floor": lambda pool: floor(pool, assign),
        "plain": plain,
        "ours": lambda pool: pairwise_distances(pool, solver="scipy"),
        "ours + medoid": lambda pool: decoded(pool, "scipy"),
    }
    if importlib.util.find_spec("lap") is not None:
        lapx = assignment_solver("lapx")
        ways["floor, lapx"] = lambda pool: floor(pool, lapx)
        ways["ours, lapx"] = lambda pool: pairwise_distances(pool, solver="lapx")
    with threadpool_limits(1):
        threads = {lib["num_threads"] for lib in threadpool_info()}
        gap = max(
            float(np.abs(plain(p) - pairwise_distances(p, solver="scipy")).max()) for p in pools[:5]
        )
        best = best_times(ways, pools, args.rounds)
    print(
        f"{args.questions} questions x {args.graphs} graphs x {args.min_nodes}-{args.max_nodes} "
        f"nodes x {args.dims} dims, repeats {args.repeat_facts:g}, "
        f"BLAS threads {sorted(threads)}, largest difference plain - ours {gap:.1e}"
    )
    for name, seconds in best.items():
        print(
            f"{name:>14}: {1e3 * seconds / args.questions:7.2f} ms a question, "
            f"{seconds / best['floor']:5.2f} x floor, {best['plain'] / seconds:5.2f} x as fast "
            f"as plain"
        )


if __name__ == "__main__":
    main()
