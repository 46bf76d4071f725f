"""Counterfactual edits as items to judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judges.counterfactual_answerer import reasoning
from judges.counterfactual_judge import counterfactual_content
from judges.item_judge import ItemContent
from pipeline.editing import usable_edit
from pipeline.judged import Chosen, ItemGroup, Which, register
from store import Store
from store.intervention_records import EditingRecord, EditPlace
from store.keys import TraceItemKey
from store.records import PoolRecord, TraceRecord


@dataclass(frozen=True, slots=True)
class _Edit:
    record: TraceRecord
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class EditSource:
    """The edits of every editing that can be used; those with a fault are left out.

    A judge is shown the steps, the step as it was and as edited, and no answers: they come later
    than the edit, may come again from another model, and make an edit neither good nor bad.
    """

    what: str = "edits"
    of_traces: bool = True

    def groups(self, store: Store, chosen: Chosen) -> Iterator[ItemGroup[ItemContent]]:
        """Yield the edits of each pool and editing, by trace and step."""
        for editing in store.editings():
            drawn = store.sampled_edits(editing.id) if chosen.items == "sample" else None
            paths = chosen.paths(store)
            for pool in chosen.pools:
                edits, n_left_out = _edits(store, editing, pool, chosen, drawn, paths)
                keys = tuple(k for k in edits if chosen.keys is None or k in chosen.keys)
                yield ItemGroup(
                    keys, partial(_load, store, editing, pool, chosen, keys), n_left_out
                )

    def nothing(self, items: Which) -> str:
        """Return what to do where there is none."""
        return {
            "all": "no edit to judge: medoid counterfactual makes them",
            "cases": "no edit of the queue's paths to judge: medoid counterfactual makes them",
            "labelled": "no edit to judge: the rater has labelled none of these",
        }.get(
            items,
            "no drawn edit to judge: medoid counterfactual --sample draws some, --all judges "
            "every edit",
        )


def _edits(
    store: Store,
    editing: EditingRecord,
    pool: PoolRecord,
    chosen: Chosen,
    drawn: frozenset[EditPlace] | None = None,
    paths: frozenset[str] | None = None,
) -> tuple[dict[str, _Edit], int]:
    """Return the usable edits of a pool by key, and how many of the chosen have none."""
    places = store.edits(editing.id, pool.id)
    q = chosen.texts[pool.dataset, pool.question_id]
    records = {r.id: r for r in store.pool_traces(pool.id)} if places else {}
    found = {}
    n_left_out = 0
    for (trace_id, step), edit in places.items():
        if drawn is not None and (trace_id, step) not in drawn:
            continue
        record = records[trace_id]
        if paths is not None and record.key not in paths:
            continue
        text = usable_edit(edit, q, reasoning(record.trace))
        if text is None:
            n_left_out += 1
            continue
        parts = (pool.dataset, pool.question_id, pool.pool, record.sample)
        key = TraceItemKey("counterfactual", parts, step=step, editing=editing.name)
        found[str(key)] = _Edit(record, step, text)
    return found, n_left_out


def _load(
    store: Store,
    editing: EditingRecord,
    pool: PoolRecord,
    chosen: Chosen,
    keys: Sequence[str],
) -> Mapping[str, ItemContent]:
    q = chosen.texts[pool.dataset, pool.question_id]
    edits, _ = _edits(store, editing, pool, chosen)
    wanted = {key: edits[key] for key in keys}
    return {
        key: counterfactual_content(q, e.record.trace.steps, e.step, e.text)
        for key, e in wanted.items()
    }


register("counterfactual_judge", EditSource())
