"""Seconds per call at n objects, both orders asked, beside the limits the project sets itself.

    python benchmarks/relations.py [--objects 51] [--noise 0.05 0.2 0.5] [--time-limit 10]

Answers are true with probability 1 - noise, each ordered pair asked once. `plain` is in-degree
ranking and counting in plain Python: what any score costs at least, so that a ratio can be read on
a busy machine. Rounds are interleaved over the ways and the best of each is taken; `exact` runs
once a noise level. The first call of `exact` and `energy` also imports scipy's solvers, which is
measured apart.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.relations import Method, inconsistency, pack_cycles, repair, review_cycles

Edges = list[tuple[int, int]]

LIMITS = {"scc": 0.2, "local": 0.2, "review": 0.2}
"""Seconds at 51 objects."""
EXACT_LIMIT = 2.0
"""Seconds at 51 objects and at most 20 % noise, proved."""


def noisy(n: int, noise: float, seed: int) -> Edges:
    """Both askings of n objects whose order is 0..n-1, each answer wrong with this probability."""
    r = random.Random(1000 + seed)
    edges = []
    for a, b in permutations(range(n), 2):
        u, v = min(a, b), max(a, b)
        edges.append((v, u) if r.random() < noise else (u, v))
    return edges


def plain(edges: Edges, n: int) -> int:
    """Rank by in-degree and count, without numpy."""
    into = [0] * n
    for _, v in edges:
        into[v] += 1
    where = {v: k for k, v in enumerate(sorted(range(n), key=lambda v: (into[v], v)))}
    return sum(where[u] > where[v] for u, v in edges)


def by(method: Method) -> Callable[[Edges, int], object]:
    """Return a way that scores with the method."""
    return lambda edges, n: inconsistency(edges, n, method=method)


WAYS: dict[str, Callable[[Edges, int], object]] = {
    "plain": plain,
    "in_degree": by("in_degree"),
    "scc": by("scc"),
    "local": by("local"),
    "energy": by("energy"),
    "review": review_cycles,
    "packing": pack_cycles,
}


def seconds(way: Callable[[Edges, int], object], edges: Edges, n: int) -> float:
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    way(edges, n)
    return time.perf_counter() - start


def report(n: int, noise: float, rounds: int, seed: int, time_limit: float) -> None:
    """Measure and print one noise level."""
    edges = noisy(n, noise, seed)
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in range(rounds):
        for name, way in WAYS.items():
            best[name] = min(best[name], seconds(way, edges, n))
    print(f"n = {n}, noise {noise:g}")
    for name, took in best.items():
        limit = f"  limit {LIMITS[name]} s" if name in LIMITS else ""
        print(f"  {name:10}{took:9.4f} s {took / best['plain']:8.1f} x plain{limit}")
    start = time.perf_counter()
    exact = inconsistency(edges, n, time_limit=time_limit)
    took = time.perf_counter() - start
    limit = f"limit {EXACT_LIMIT if noise <= 0.2 else time_limit:g} s"
    bounds = f"{exact.lower_bound}..{exact.reverse}"
    state = "proved" if exact.proved else f"within {bounds}, score {exact.lower_score:.4f}.."
    print(
        f"  {'exact':10}{took:9.4f} s  {exact.reverse} reverse, {state} {exact.score:.4f}  {limit}"
    )
    local = inconsistency(edges, n, method="local").reverse
    packed = pack_cycles(edges, n).lower_bound
    print(f"  reverse: packing >= {packed}, local {local}, plain {plain(edges, n)}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--objects", type=int, default=51)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.05, 0.1, 0.2, 0.3, 0.5])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10.0)
    args = parser.parse_args()
    start = time.perf_counter()
    repair([(0, 1), (1, 2), (2, 0)], 3)
    print(f"first exact call, solvers imported: {time.perf_counter() - start:.2f} s")
    for noise in args.noise:
        report(args.objects, noise, args.rounds, args.seed, args.time_limit)


if __name__ == "__main__":
    main()
