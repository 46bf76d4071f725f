"""What large graphs and many questions take: peak memory, each in a process of its own.

    python -m benchmarks.large [--nodes 80 300 1000] [--graphs 20] [--questions 1000]

For each size a pool of graphs is matched and decoded; then many questions are scored one after
the other through the store, as `medoid score` does, and the growth of memory between the first
hundred and the last is shown: embeddings of questions that are done must not stay.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

MIB = 2**20


def peak() -> float:
    """Return this process's peak memory in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def resident() -> float:
    """Return this process's memory at present in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MIB


def one_pool(nodes: int, graphs: int, dims: int, tell: Any) -> None:
    """Match and decode one pool; tell seconds, peak and what the input itself takes."""
    from scoring.graphs import (
        ReasoningGraph,
        graph_self_consistency,
        pairwise_distances,
        pool_geometry,
    )

    rng = np.random.default_rng(0)
    pool = [
        ReasoningGraph(
            rng.normal(size=(nodes, dims)), [(int(rng.integers(v)), v) for v in range(1, nodes)]
        )
        for _ in range(graphs)
    ]
    small = pool[:2]
    pairwise_distances([ReasoningGraph(g.embeddings[:5]) for g in small])  # what loading takes
    before, start = peak(), time.perf_counter()
    geometry = pool_geometry(pool)
    graph_self_consistency(geometry, pairwise_distances(geometry))
    tell.put((time.perf_counter() - start, before, peak()))


def many_questions(questions: int, graphs: int, dims: int, tell: Any) -> None:
    """Score many questions in this process, telling memory every hundred."""
    from pipeline.scoring import score
    from scoring.types import Step, Trace
    from store import open_store
    from store.columns import text_hash
    from store.records import NewQuestion, NewTrace

    rng = np.random.default_rng(0)
    marks: list[float] = []
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "b.db") as store:
        texts: list[str] = []
        for q in range(questions):
            with store.importing() as batch:
                question = NewQuestion("d", f"q{q}", f"Question {q}?", "yes", ("boolean", True))
                for i in range(graphs):
                    steps = tuple(
                        Step(k, f"fact {q} {i} {k}", (k - 1,) if k else ()) for k in range(12)
                    )
                    texts += [s.text for s in steps]
                    answer = ("boolean", bool(i % 2))
                    made = Trace(steps, "yes", answer)
                    batch.add_trace(
                        NewTrace(
                            question, "p", "m", None, str(i), "steps", {"i": i}, made, True, "b"
                        )
                    )
        from judges.embedders import embedder_info

        info = embedder_info("minilm")
        embedder = store.embedder("minilm", info.revision, info.dimension)
        for at in range(0, len(texts), 5000):
            part = texts[at : at + 5000]
            vectors = rng.normal(size=(len(part), dims)).astype(np.float32)
            store.add_embeddings(
                embedder, {text_hash(t): v for t, v in zip(part, vectors, strict=True)}
            )
        held = len(texts) * dims * 8 / MIB
        del texts

        def note(event: Any) -> None:
            if event.stage == "score" and event.done % 100 < 20:
                marks.append(resident())

        start = time.perf_counter()
        score(store, on_progress=note)
        tell.put((time.perf_counter() - start, marks, held))


def elsewhere(target: Any, *arguments: Any) -> Any:
    """Run in a process of its own, so that peaks do not mix."""
    context = multiprocessing.get_context("spawn")
    tell = context.Queue()
    process = context.Process(target=target, args=(*arguments, tell))
    process.start()
    told = tell.get()
    process.join()
    return told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, nargs="*", default=[80, 300, 1000])
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--questions", type=int, default=1000)
    args = parser.parse_args()
    for nodes in args.nodes:
        seconds, before, after = elsewhere(one_pool, nodes, args.graphs, args.dims)
        d = nodes * args.graphs
        dense = 8 * d * (d + 2 * args.dims) / MIB if d <= 4096 else 8 * 2 * d * args.dims / MIB
        print(
            f"{args.graphs} graphs x {nodes:,} nodes: {seconds:7.2f} s, {after - before:6.0f} MiB "
            f"above {before:.0f} (stated for the cosines: {dense:.0f} MiB)"
        )
    if args.questions:
        seconds, marks, held = elsewhere(many_questions, args.questions, args.graphs, args.dims)
        print(
            f"{args.questions:,} questions x {args.graphs} traces in one process: {seconds:.1f} s; "
            f"memory {marks[0]:.0f} MiB after the first 100, {marks[-1]:.0f} MiB after the last; "
            f"all embeddings in float64 would be {held:.0f} MiB"
        )


if __name__ == "__main__":
    main()
