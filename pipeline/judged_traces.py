"""Paths and steps as items to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from judges.item_judge import ItemContent
from judges.questions import QuestionText
from judges.step_judge import step_content, trace_content
from pipeline.judged import Chosen, ItemGroup, PathContent, Which, register
from scoring.types import Trace
from store import Store
from store.keys import TraceItemKey, split_path_key
from store.records import PoolRecord, TraceRecord


@dataclass(frozen=True, slots=True)
class PathSource:
    """Whole paths; `content` makes what is shown of one."""

    content: Callable[[QuestionText, Trace], Any]
    what: str = "paths"
    of_traces: bool = True

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[Any]]:
        """Yield the paths of each pool that have steps."""
        wanted = chosen.keys if chosen.keys is not None else chosen.paths(store)
        for pool, found in _traces(store, chosen.pools, wanted):
            judged = tuple(r.key for r in found if r.trace.usable)
            load = partial(self._load, store, pool, judged, chosen)
            yield ItemGroup(judged, load, len(found) - len(judged))

    def _load(
        self, store: Store, pool: PoolRecord, keys: Sequence[str], chosen: Chosen
    ) -> Mapping[str, Any]:
        q = chosen.texts[pool.dataset, pool.question_id]
        records = {r.key: r for r in store.pool_traces(pool.id)}
        return {key: self.content(q, records[key].trace) for key in keys}

    def nothing(self, items: Which) -> str:
        """Return what to do where there is none."""
        return {
            "all": "no trace to judge: none has steps",
            "labelled": "no path to judge: the rater has labelled none of these",
        }.get(
            items,
            "no path to judge in the queue: medoid score makes cases, --all judges every trace",
        )


@dataclass(frozen=True, slots=True)
class StepSource:
    """The steps of paths, each an item."""

    what: str = "steps"
    of_traces: bool = True

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[ItemContent]]:
        """Yield the steps of each pool's paths, in order."""
        paths = chosen.paths(store) if chosen.keys is None else None
        for pool, found in _traces(store, chosen.pools, paths):
            steps = [
                str(TraceItemKey("step", split_path_key(r.key), step=s.index))
                for r in found
                for s in r.trace.steps
            ]
            judged = tuple(k for k in steps if chosen.keys is None or k in chosen.keys)
            load = partial(self._load, store, pool, judged, chosen)
            yield ItemGroup(judged, load, sum(not r.trace.steps for r in found))

    def _load(
        self, store: Store, pool: PoolRecord, keys: Sequence[str], chosen: Chosen
    ) -> Mapping[str, ItemContent]:
        q = chosen.texts[pool.dataset, pool.question_id]
        traces = {split_path_key(r.key): r.trace for r in store.pool_traces(pool.id)}
        parts = {key: TraceItemKey.parse(key) for key in keys}
        return {key: step_content(q, traces[p.trace], p.step or 0) for key, p in parts.items()}

    def nothing(self, items: Which) -> str:
        """Return what to do where there is none."""
        return {
            "all": "no step to judge: no trace has any",
            "labelled": "no step to judge: the rater has labelled none of these",
        }.get(
            items,
            "no step to judge in the queue's paths: medoid score makes cases, --all judges the "
            "steps of every trace",
        )


def _traces(
    store: Store, pools: Sequence[PoolRecord], wanted: frozenset[str] | None
) -> Iterator[tuple[PoolRecord, list[TraceRecord]]]:
    for pool in pools:
        yield (
            pool,
            [r for r in store.pool_traces(pool.id) if wanted is None or r.key in wanted],
        )


SHIPPED_PATHS = PathSource(PathContent)
"""Paths for the judge of the schema that ships."""

register("trace_judge", PathSource(trace_content))
register("step_judge", StepSource())
