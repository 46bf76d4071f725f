"""Pools scored in chunks: in this process, in several, or on a Dask cluster, to the same bits."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipeline.facts import UNDECOMPOSED, fact_source
from pipeline.pool_scoring import ScoreParameters, score_pool
from scoring.graphs.solvers import Solver
from store import Store, open_store
from store.records import PoolRecord, PoolScore

if TYPE_CHECKING:
    from scoring.graphs.metrics import Entail

CHUNK = 20
"""Pools in a chunk at most: so many are saved together, and lost together when it is killed."""
CHUNKS_PER_WORKER = 4
DASK_MISSING = "--dask needs the dask extra: from a clone of medoid, pip install '.[dask]'"


@dataclass(frozen=True, slots=True)
class ScoreTask:
    """What every chunk needs besides its pools: a few words, so that workers read their own data.

    `place` is the database's URL, its password included; `solver` is named, for two solvers agree
    but for the last bits.
    """

    place: str
    embedder_id: int
    decomposition: str = UNDECOMPOSED
    parameters: ScoreParameters = field(default_factory=ScoreParameters)
    metrics: tuple[str, ...] = ()
    entailment: str | None = None
    by: dict[str, dict[str, Any]] = field(default_factory=dict)
    solver: Solver = "auto"


@dataclass(frozen=True, slots=True)
class PoolToScore:
    """A pool and the hash of its inputs."""

    pool: PoolRecord
    digest: str


_blas = threading.Lock()
_holders: list[Any] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while anybody in this process is inside.

    The products are small, and on one thread their bits depend on no setting of the machine.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with _blas:
        _holders.append(None if _holders else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _blas:
            limits = next((x for x in _holders if x is not None), None)
            # The one who set the limit may leave first: it is handed on to those who stay.
            _holders.remove(None if None in _holders else limits)
            if not _holders and limits is not None:
                limits.restore_original_limits()


def score_chunk(store: Store, task: ScoreTask, chunk: Sequence[PoolToScore]) -> list[PoolScore]:
    """Score the pools of a chunk."""
    entail: Entail | None = None
    if task.entailment is not None:
        from judges.entailment import open_entailment

        entail = open_entailment(task.entailment)
    source = fact_source(store, task.decomposition)
    scores = []
    with one_blas_thread():
        for item in chunk:
            traces = store.pool_traces(item.pool.id)
            scores.append(
                score_pool(
                    store,
                    task.embedder_id,
                    item.pool,
                    traces,
                    source.of_pool(item.pool.id, traces),
                    item.digest,
                    task.parameters,
                    task.metrics,
                    entail,
                    task.by,
                    task.solver,
                )
            )
    return scores


def score_elsewhere(task: ScoreTask, chunk: Sequence[PoolToScore]) -> list[PoolScore]:
    """Score a chunk in a process of its own, which opens the database for itself."""
    return score_chunk(_store_of(task.place), task, chunk)


@functools.lru_cache(maxsize=2)
def _store_of(place: str) -> Store:
    return open_store(place, create=False)


def chunks(pools: Sequence[PoolToScore], workers: int) -> list[Sequence[PoolToScore]]:
    """Return the pools in chunks, several for every worker.

    >>> [len(c) for c in chunks(list(range(20)), 2)]
    [3, 3, 3, 3, 3, 3, 2]
    """
    size = CHUNK
    if workers > 1:
        size = min(CHUNK, max(1, math.ceil(len(pools) / (workers * CHUNKS_PER_WORKER))))
    return [pools[i : i + size] for i in range(0, len(pools), size)]


def scored_chunks(
    store: Store,
    task: ScoreTask,
    pools: Sequence[PoolToScore],
    *,
    workers: int = 1,
    dask: str | None = None,
) -> Iterator[list[PoolScore]]:
    """Yield the scores of every chunk as it is done, in any order where several work.

    Raises
    ------
    ValueError
        For fewer than one worker, or a cluster that cannot be reached or lacks the extra.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    if dask is not None:
        yield from _on_dask(task, pools, dask)
    elif workers == 1 or len(pools) < 2:
        for chunk in chunks(pools, 1):
            yield score_chunk(store, task, chunk)
    else:
        from joblib import Parallel, delayed

        jobs = (delayed(score_elsewhere)(task, chunk) for chunk in chunks(pools, workers))
        found = Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
        with closing(found):
            yield from found


def _on_dask(
    task: ScoreTask, pools: Sequence[PoolToScore], address: str
) -> Iterator[list[PoolScore]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ValueError(DASK_MISSING) from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no Dask cluster answers at {address}: give a scheduler's address, like "
            f"tcp://HOST:8786 ({error})"
        ) from error
    with client:
        threads = sum(
            w["nthreads"] for w in client.scheduler_info(n_workers=-1)["workers"].values()
        )
        if threads == 0:
            raise ValueError(f"the Dask cluster at {address} has no worker")
        futures = [
            client.submit(score_elsewhere, task, chunk, pure=False)
            for chunk in chunks(pools, max(2, threads))
        ]
        for future in as_completed(futures, loop=client.loop):
            yield future.result()
            future.release()
